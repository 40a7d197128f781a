"""A writer that fails or dies at its n-th step: afterwards the store is before or after.

Twice judged: by the next writer of ours, and by the recovery rule of the existing engine, made
anew from the format's description with the git program (tests/support/foreign.py). The loops go on
until a run completes, so a new step in the code is a new case here by itself; by default they take
every second step or fewer (tests/support/size.py).
"""

import errno
import os
import resource
import shutil
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

import pytest

from gitmemo import Draft, GitMemoError, Store
from gitmemo.intent import RECORD
from gitmemo.lock import ENGINE_LOCK
from tests.support.failing import Countdown, Killed, install
from tests.support.foreign import Engine
from tests.support.memory import IDENTITY, Clock, assert_sound, draft, git, project, reopened
from tests.support.size import pace

Act = Callable[[Store], object]


class Case(NamedTuple):
    """What is done to a store with two entries, and the titles that live afterwards."""

    act: Act
    after: frozenset[str]


BEFORE = frozenset({"one", "two"})
CASES = {
    "write": Case(lambda store: store.write(draft("three")), BEFORE | {"three"}),
    "replace": Case(
        lambda store: store.replace(entry_id(store, "one"), draft("three")),
        frozenset({"two", "three"}),
    ),
    "delete": Case(lambda store: store.delete(entry_id(store, "one"), "wrong"), frozenset({"two"})),
}


def entry_id(store: Store, title: str) -> str:
    return next(hit.id for hit in store.search(["memory"]).hits if hit.title == title)


def titles(store: Store) -> frozenset[str]:
    return frozenset(hit.title for hit in store.search(["memory"], limit=1000).hits)


def filled(folder: object) -> Store:
    store = project(folder)
    store.write(draft("one"))
    store.write(draft("two"))
    return store


def copied(store: Store, folder: str) -> Store:
    """The same store at another place, so that every step starts from the same state."""
    shutil.copytree(store.root, folder)
    return Store.open(folder, clock=Clock(), lock_timeout_s=5.0)


def assert_before_or_after(store: Store, case: Case) -> None:
    """Readers see one of the two states at once; the next writer leaves a sound store of it."""
    seen = titles(store)
    assert seen in (BEFORE, case.after)
    again = reopened(store, timeout_s=5.0)
    again.write(draft("afterwards"))
    assert titles(again) == seen | {"afterwards"}
    assert_sound(again)


def test_a_step_that_the_machine_refuses_leaves_before_or_after(tmp_path: object) -> None:
    # A replacement takes every step that a write and a withdrawal take.
    base, case, n = filled(f"{tmp_path}/base"), CASES["replace"], 0

    def refuse() -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    while True:
        n += pace(3)
        store, countdown = copied(base, f"{tmp_path}/{n}"), Countdown(n, refuse)
        with pytest.MonkeyPatch.context() as patch:
            install(patch, countdown)
            with suppress(GitMemoError):  # and nothing else may come out
                case.act(store)
        assert_before_or_after(store, case)
        if not countdown.met:
            break
    assert n > 30


@pytest.mark.parametrize("name", CASES)
def test_a_writer_that_dies_at_any_step_leaves_before_or_after(tmp_path: object, name: str) -> None:
    # A replacement takes every step that the other two take: they are tried less densely.
    base, case, n = filled(f"{tmp_path}/base"), CASES[name], 0
    stride, ways = pace(2 if name == "replace" else 5), set[str]()
    while True:
        n += stride
        store = copied(base, f"{tmp_path}/{n}")
        child = os.fork()
        if child == 0:
            die_at(n, store, case.act)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) in (0, 9)
        if name == "replace":
            ways.add(other_engine(store, case))
        assert_before_or_after(store, case)
        if os.waitstatus_to_exitcode(status) == 0:
            break
    assert n > 30
    assert titles(store) == case.after | {"afterwards"}
    if name == "replace":
        assert ways == {"none", "back", "forward", "locked"}


def other_engine(store: Store, case: Case) -> str:
    """How the existing engine ends what was begun, in a copy: it must never be at a loss."""
    if not os.path.exists(os.path.join(store.path, ".git", RECORD)):
        return "none"
    engine = Engine(f"{store.root}-theirs")
    shutil.copytree(store.root, engine.root)
    for lock in ("index.lock", "refs/heads/main.lock"):
        if os.path.exists(os.path.join(engine.git_dir, lock)):
            return "locked"  # as after a git that was killed there; the next of ours removes it
    way = engine.recover()
    engine.refuse_unfit()
    assert titles(Store.open(engine.root)) == (case.after if way == "forward" else BEFORE)
    if os.path.exists(f"{engine.root}/.mem.gitmemo.lock"):
        os.unlink(f"{engine.root}/.mem.gitmemo.lock")
    engine.write("theirs")
    assert_sound(Store.open(engine.root), swept=False)
    shutil.rmtree(engine.root)
    return way


def die_at(n: int, store: Store, act: Act) -> None:
    """In a child: no handler runs, no lock file is removed, no buffer is flushed."""
    try:
        with pytest.MonkeyPatch.context() as patch:
            install(patch, Countdown(n, lambda: os._exit(9)))
            act(store)
    except BaseException:  # noqa: BLE001 -- whatever it is, the parent must see that it happened
        os._exit(7)
    os._exit(0)


def test_a_recovery_that_dies_at_any_step_is_taken_up_by_the_next(tmp_path: object) -> None:
    base, case = filled(f"{tmp_path}/base"), CASES["replace"]
    for first in range(40, 100, 9):
        for second in range(4, 28, 4):
            store = copied(base, f"{tmp_path}/{first}-{second}")
            for n, act in ((first, case.act), (second, write_other)):
                with pytest.MonkeyPatch.context() as patch:
                    install(patch, Countdown(n, kill))
                    try:
                        act(store)
                    except Killed:
                        continue
            again = reopened(store, timeout_s=5.0)
            seen = titles(again) - {"other"}
            assert seen in (BEFORE, case.after)
            again.write(draft("afterwards"))
            assert_sound(again)


def kill() -> None:
    raise Killed


def write_other(store: Store) -> None:
    reopened(store, timeout_s=5.0).write(Draft("other", "Another one.", ("memory", "x"), "o"))


# -- founding --------------------------------------------------------------------------------------


def test_a_founder_that_fails_or_dies_at_any_step_is_followed_by_the_next(
    tmp_path: object,
) -> None:
    n = 0
    while True:
        n += pace(2)
        for how in ("dies", "is refused") if n % 3 == 0 else ("dies",):
            root = f"{tmp_path}/{n}-{how}"
            os.makedirs(root)
            git(root, "init", "-q", "-b", "main")
            met = found_until(n, root, dies=how == "dies")
            store = Store.init(root, identity=IDENTITY, clock=Clock(), lock_timeout_s=5.0)
            store.write(draft("afterwards"))
            assert git(root, "status", "--porcelain") == ""
            # What could not be tidied up is tidied when its process has ended.
            assert_sound(store, swept=how == "dies")
            assert not os.path.exists(f"{root}/{ENGINE_LOCK}")
        if not met:
            break
    assert n > 20


def found_until(n: int, root: str, *, dies: bool) -> bool:
    """Found a store at `root` up to the n-th step; whether it came to that."""

    def refuse() -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    countdown = Countdown(n, (lambda: os._exit(9)) if dies else refuse)
    if dies and (child := os.fork()):
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    try:
        with pytest.MonkeyPatch.context() as patch:
            install(patch, countdown)
            with suppress(GitMemoError):
                Store.init(root, identity=IDENTITY, clock=Clock(), lock_timeout_s=5.0)
    except BaseException:
        if dies:
            os._exit(7)
        raise
    if dies:
        os._exit(0)
    return countdown.met


# -- killed by the machine, in the middle of a write to a file -----------------------------------


def test_a_writer_that_is_killed_in_the_middle_of_any_file_leaves_before_or_after(
    tmp_path: object,
) -> None:
    # The kernel ends it at the byte that passes a limit: in an object, an index, a database.
    base, case, killed = filled(f"{tmp_path}/base"), CASES["replace"], 0
    for limit in (0, 60, 150, 300, 700, 1500, 4000, 4096, 8000, 8192, 40_000, 200_000):
        store = copied(base, f"{tmp_path}/{limit}")
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            try:
                case.act(store)
            finally:
                os._exit(0)
        status = os.waitpid(child, 0)[1]
        killed += os.WIFSIGNALED(status)
        assert_before_or_after(store, case)
    assert killed > 5
