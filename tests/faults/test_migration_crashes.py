"""A migration that fails or dies at any step: afterwards the store is the old one or the new one.

The swap itself is cut off at every step, the building before it at a pace. Each run ends with what
the next command finds: everything that was there, under the name `.mem`, and nothing left beside.
"""

import errno
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import ModuleType

import pytest

import gitmemo
from gitmemo import GitMemoError, Store, lock, migrate, oldrepo, repo, swap, worktree
from tests.support.failing import Countdown, FailingOs, counted
from tests.support.memory import assert_sound
from tests.support.oldstores import OldStore, opened
from tests.support.size import pace

TITLES = {"one", "two", "three"}
ROOMS: tuple[ModuleType, ...] = (swap, migrate, oldrepo, worktree, repo, lock)
PACE = pace(13)


def install(patch: pytest.MonkeyPatch, countdown: Countdown) -> None:
    """Count every step by which a migration touches the disk."""
    for room in ROOMS:
        patch.setattr(room, "os", FailingOs(countdown))
    for room in (worktree, lock):
        patch.setattr(room, "open", counted(open, countdown), raising=False)
    for name in ("copytree", "rmtree"):
        patch.setattr(shutil, name, counted(getattr(shutil, name), countdown))
    for name in ("write_commit", "dirt", "has"):
        patch.setattr(repo.Repo, name, counted(getattr(repo.Repo, name), countdown))
    for name in ("carry", "show", "lacking", "tips"):
        patch.setattr(oldrepo.OldRepo, name, counted(getattr(oldrepo.OldRepo, name), countdown))


def install_in_swap(patch: pytest.MonkeyPatch, countdown: Countdown) -> None:
    """Count from the first step of the swap on."""
    real = swap.perform

    def perform(*args: str, **named: str) -> swap.Left:
        install(patch, countdown)
        return real(*args, **named)

    patch.setattr(swap, "perform", perform)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> str:
    old = OldStore(tmp_path_factory.mktemp("base"))
    old.entry("one.md", "one")
    old.branch("side")
    old.entry("two.md", "two")
    old.git("checkout", "-q", "main")
    old.entry("three.md", "three")
    return old.root


def copied(base: str, folder: str) -> str:
    shutil.copytree(base, folder)
    return folder


def die_at(
    n: int,
    root: str,
    how: Callable[[pytest.MonkeyPatch, Countdown], None],
    act: Callable[[str], object] = lambda root: opened(root).migrate(),
) -> int:
    """`act`, by default a migration, in a child that ends at its n-th step without a farewell; how
    it ended."""
    child = os.fork()
    if child == 0:
        try:
            with pytest.MonkeyPatch.context() as patch:
                how(patch, Countdown(n, lambda: os._exit(9)))
                act(root)
        except BaseException:  # noqa: BLE001 -- whatever it is, the parent must see that it happened
            os._exit(7)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def commits(store: Store) -> set[str]:
    return {event.title for event in store.history()}


def assert_old_or_new(root: str, way: str, *, thorough: bool = True) -> bool:
    """What `way`, the next command, finds; whether the store is the new one."""
    if way == "init":
        Store.init(root)
    elif way == "write":
        with suppress(gitmemo.LegacyStore):
            opened(root).write(
                gitmemo.Draft("afterwards", "It went on.", ("memory", "test"), "fine")
            )
    else:
        opened(root).migrate()
    store = opened(root)
    new = not store.migration().legacy
    seen = commits(store) - {"afterwards", "init: initialize memory repo"}
    assert seen == TITLES if new else seen == TITLES - {"two"}
    if thorough:
        store.migrate()
        assert commits(store) - {"afterwards"} == TITLES
        assert_sound(store)
    elif new:
        # Who dies with everything done leaves his lock file to the next writer; `init` is none.
        left = {name for name in os.listdir(root) if name.startswith(".mem.")}
        assert left <= {".mem.gitmemo.lock"}
    return new


WAYS = ("init", "write", "migrate")


def test_a_swap_that_dies_at_any_step_leaves_the_old_or_the_new(base: str, tmp_path: Path) -> None:
    n, outcomes = 0, set()
    while True:
        n += 1
        root = copied(base, f"{tmp_path}/{n}")
        ended = die_at(n, root, install_in_swap)
        assert ended in (0, 9)
        outcomes.add(assert_old_or_new(root, WAYS[n % 3], thorough=n % 5 == 0))
        if ended == 0:
            break
    assert n > 20
    assert outcomes == {True, False}


def test_a_migration_that_dies_before_its_swap_leaves_the_old(base: str, tmp_path: Path) -> None:
    n = 1
    while True:
        root = copied(base, f"{tmp_path}/{n}")
        ended = die_at(n, root, install)
        assert ended in (0, 9)
        assert_old_or_new(root, WAYS[n % 3], thorough=n % 2 == 0)
        if ended == 0:
            break
        n += PACE
    assert n > 50


def test_a_step_that_the_machine_refuses_leaves_the_old_or_the_new(
    base: str, tmp_path: Path
) -> None:
    def refuse() -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    n = 0
    while True:
        n += 2
        root, countdown = copied(base, f"{tmp_path}/{n}"), Countdown(n, refuse)
        with pytest.MonkeyPatch.context() as patch:
            install_in_swap(patch, countdown)
            with suppress(GitMemoError):  # and nothing else may come out
                done = opened(root).migrate()
                if done is not None and done.kept is not None:
                    # It could not be looked at, so it was not removed, and the person is told.
                    assert done.why
                    shutil.rmtree(done.kept)
        left = [name for name in os.listdir(root) if name.startswith(".mem.")]
        assert os.path.isdir(f"{root}/.mem"), left
        assert_old_or_new(root, WAYS[n % 3], thorough=n % 6 == 0)
        if not countdown.met:
            break
    assert n > 20


def test_a_recovery_that_dies_is_taken_up_by_the_next(base: str, tmp_path: Path) -> None:
    for first in (4, 9, 13):
        for second in (2, 5, 8):
            root = copied(base, f"{tmp_path}/{first}-{second}")
            die_at(first, root, install_in_swap)
            die_at(second, root, install, lambda root: migrate.recover(root, timeout_s=5.0))
            assert_old_or_new(root, "init")
