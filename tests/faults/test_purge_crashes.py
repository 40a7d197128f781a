"""A purge that fails or dies at its n-th step: the next writer finds a store of before or after,
and after means that the text is nowhere."""

import errno
import os
from contextlib import suppress

import pytest

from gitmemo import GitMemoError, Purged, Store, objects, purge
from tests.faults.test_memory_crashes import copied
from tests.gitmemo.test_purge import SECRET, objects_of, places_of, secret_draft, titles
from tests.support.failing import Countdown, FailingOs, Killed, counted, install
from tests.support.memory import assert_sound, draft, git, project, reopened
from tests.support.size import pace

STEPS = ("point", "pack", "keep", "forget", "put_map", "reach", "every")


def filled(folder: object) -> tuple[Store, str]:
    """A store whose purge takes every kind of step: files, refs, a replacement after it."""
    store = project(folder)
    store.write(draft("one"))
    leaked = store.write(secret_draft()).id
    store.write(draft("two"))
    git(store.path, "branch", "side")
    git(store.path, "update-ref", "refs/remotes/origin/main", leaked)
    return store, leaked


def count_all(patch: pytest.MonkeyPatch, countdown: Countdown) -> None:
    install(patch, countdown)
    for room in (purge, objects):
        patch.setattr(room, "os", FailingOs(countdown))
    patch.setattr(objects, "_remove", counted(objects._remove, countdown))
    for name in STEPS:
        step = getattr(objects.Objects, name)
        patch.setattr(objects.Objects, name, counted(step, countdown))


def assert_before_or_after(store: Store, leaked: str) -> bool:
    """Whether it is after: readers see either at once, and the next writer leaves it sound."""
    first = titles(store)
    assert first in (["leaked", "one", "two"], ["one", "two"])
    again = reopened(store, timeout_s=5.0)
    again.write(draft("afterwards"))
    assert titles(again) == ["afterwards", *first]
    assert_sound(again)
    if "leaked" in first:
        assert again.read(leaked).title == "leaked"
        assert "refs/remotes/origin/main" in git(store.path, "show-ref")
        again.purge(leaked)
    with pytest.raises(Purged):
        again.read(leaked)
    assert places_of(again, SECRET) == []
    assert leaked not in objects_of(again.path)
    return "leaked" not in first


def test_a_step_that_the_machine_refuses_leaves_before_or_after(tmp_path: object) -> None:
    (base, leaked), n, ends = filled(f"{tmp_path}/base"), 1 - pace(5), set()

    def refuse() -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    while True:
        n += pace(5)
        store, countdown = copied(base, f"{tmp_path}/{n}"), Countdown(n, refuse)
        with pytest.MonkeyPatch.context() as patch:
            count_all(patch, countdown)
            with suppress(GitMemoError):  # and nothing else may come out
                store.purge(leaked)
        ends.add(assert_before_or_after(store, leaked))
        if not countdown.met:
            break
    assert n > 60
    assert ends == {True, False}


def test_a_purge_that_dies_at_any_step_leaves_before_or_after(tmp_path: object) -> None:
    (base, leaked), n, ends = filled(f"{tmp_path}/base"), 0, set()
    while True:
        n += pace(5)
        store = copied(base, f"{tmp_path}/{n}")
        child = os.fork()
        if child == 0:
            die_at(n, store, leaked)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert code in (0, 9)
        ends.add(assert_before_or_after(store, leaked))
        if code == 0:
            break
    assert n > 60
    assert ends == {True, False}


def die_at(n: int, store: Store, leaked: str) -> None:
    """In a child: no handler runs, no lock file is removed, no buffer is flushed."""
    try:
        with pytest.MonkeyPatch.context() as patch:
            count_all(patch, Countdown(n, lambda: os._exit(9)))
            store.purge(leaked)
    except BaseException:  # noqa: BLE001 -- whatever it is, the parent must see that it happened
        os._exit(7)
    os._exit(0)


def test_a_recovery_that_dies_is_taken_up_by_the_next(tmp_path: object) -> None:
    base, leaked = filled(f"{tmp_path}/base")
    for first in range(50, 110, 12):
        for second in range(8, 50, 14):
            store = copied(base, f"{tmp_path}/{first}-{second}")
            for n, act in (
                (first, lambda one: one.purge(leaked)),
                (second, lambda one: reopened(one, timeout_s=5.0).write(draft("other"))),
            ):
                with pytest.MonkeyPatch.context() as patch, suppress(Killed):
                    count_all(patch, Countdown(n, kill))
                    act(store)
            again = reopened(store, timeout_s=5.0)
            again.write(draft("afterwards"))
            assert_sound(again)
            if "leaked" not in titles(again):
                assert places_of(again, SECRET) == []


def kill() -> None:
    raise Killed


def test_another_engine_writes_between_a_crash_and_the_recovery(tmp_path: object) -> None:
    base, leaked = filled(f"{tmp_path}/base")
    for n in range(3, 120, 9):
        store = copied(base, f"{tmp_path}/{n}")
        with pytest.MonkeyPatch.context() as patch, suppress(Killed):
            count_all(patch, Countdown(n, kill))
            store.purge(leaked)
        if git(store.path, "status", "--porcelain"):
            continue  # then it refuses to write
        git(store.path, "commit", "-q", "--allow-empty", "-m", "by hand")
        by_hand = store.tip()
        assert_before_or_after(store, leaked)
        assert "by hand" in git(store.path, "log", "--format=%s")
        del by_hand
