"""Whoever keeps the copy of a store, or brings the store back from it, may die at any step.

The loops go on until a run completes, so a new step in the code is a new case here by itself;
by default they take every second step or fewer (tests/support/size.py).
"""

import os
import shutil
from collections.abc import Callable

import pytest

from gitmemo import Store, survival
from gitmemo.repo import Repo
from tests.support.failing import Countdown, install
from tests.support.memory import assert_sound, draft, git, project, reopened
from tests.support.size import pace


def dies(n: int, act: Callable[[], object]) -> bool:
    """Whether `act`, in a process of its own, came to its n-th step, where it was killed."""
    child = os.fork()
    if child == 0:
        try:
            with pytest.MonkeyPatch.context() as patch:
                install(patch, Countdown(n, lambda: os._exit(9)))
                act()
        except BaseException:  # noqa: BLE001 -- whatever it is, the parent must see that it happened
            os._exit(7)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, 9)
    return code == 9


def filled(folder: object) -> Store:
    store = project(folder)
    for title in ("one", "two"):
        store.write(draft(title))
    return store


def copied(store: Store, folder: str) -> Store:
    shutil.copytree(store.root, folder, symlinks=True)
    return reopened(Store.open(folder)) if os.path.isdir(f"{folder}/.mem") else Store.open(folder)


def standing(root: str) -> survival.Copy:
    return survival.inspect(root, Repo(os.path.join(root, ".mem")))


def assert_usable(root: str, tips: set[str]) -> None:
    """By git's own word the copy is sound and stands for one of `tips`; the next write ends it."""
    git(root, "--git-dir=.git/gitmemo.git", "fsck", "--strict", "--no-dangling")
    assert git(root, "--git-dir=.git/gitmemo.git", "rev-parse", "main").strip() in tips
    assert standing(root).state in ("whole", "behind")
    store = reopened(Store.open(root), timeout_s=5.0)
    store.write(draft("afterwards"))
    assert standing(root).state == "whole"
    assert standing(root).tip == store.tip()
    assert_sound(store)


@pytest.mark.parametrize("pass_", ["own objects", "all objects", "a new pack"])
def test_whoever_keeps_the_copy_may_die_at_any_step(tmp_path: object, pass_: str) -> None:
    base = filled(f"{tmp_path}/base")
    old = base.tip()
    if pass_ != "own objects":
        git(base.path, "commit", "-q", "--allow-empty", "-m", "by a person")
    if pass_ == "a new pack":
        git(base.path, "gc", "-q", "--prune=now")
    git(base.path, "commit", "-q", "--allow-empty", "-m", "the change")
    commit, parent = git(base.path, "rev-parse", "main", "main~1").split()
    n = 0
    while True:
        n += pace(2 if pass_ == "own objects" else 4)
        root = f"{tmp_path}/{n}"
        shutil.copytree(base.root, root)

        def follow(root: str = root) -> None:
            survival.follow(Repo(f"{root}/.mem"), base=parent, commit=commit)  # type: ignore[arg-type] # hashes

        died = dies(n, follow)
        assert_usable(root, {old, commit})
        if not died:
            break
    assert n > 5


def test_whoever_renews_the_copy_may_die_at_any_step(tmp_path: object) -> None:
    base, n = filled(f"{tmp_path}/base"), 0
    while True:
        n += pace(3)
        root = f"{tmp_path}/{n}"
        shutil.copytree(base.root, root)

        def renew(root: str = root) -> None:
            survival.renew(root, Repo(f"{root}/.mem"))

        died = dies(n, renew)
        store = reopened(Store.open(root), timeout_s=5.0)
        store.write(draft("afterwards"))
        assert standing(root).state == "whole"
        assert os.listdir(f"{root}/.git").count("gitmemo.git.gone") == 0 or died
        if not died:
            break
    assert n > 10


def test_whoever_brings_a_store_back_may_die_at_any_step(tmp_path: object) -> None:
    base, n = filled(f"{tmp_path}/base"), 0
    tip = base.tip()
    git(base.root, "clean", "-ffdxq")
    while True:
        n += pace(4)
        root = f"{tmp_path}/{n}"
        shutil.copytree(base.root, root)

        def restore(root: str = root) -> None:
            Store.restore(root, lock_timeout_s=5.0)

        died = dies(n, restore)
        if os.path.lexists(f"{root}/.mem"):  # whole, or not there at all
            assert git(f"{root}/.mem", "status", "--porcelain") == ""
        Store.restore(root, lock_timeout_s=5.0)
        assert Store.open(root).tip() == tip
        assert_usable(root, {tip})
        if not died:
            break
    assert n > 20
