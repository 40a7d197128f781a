"""Packs put together: git finds every object again, also while it happens and after a kill."""

import os
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmemo import Store, packing
from gitmemo import repo as repo_room
from gitmemo.packing import FACTOR, to_join
from gitmemo.repo import Repo
from tests.support.failing import Countdown, counted
from tests.support.memory import Clock, assert_sound, draft, git, project, reopened


def packed(folder: object, packs: int = 3, writes: int = 2) -> Store:
    """A store whose objects lie in `packs` packs and nowhere else."""
    store = project(folder, clock=Clock(step=50_000.0))
    for n in range(packs):
        for m in range(writes):
            store.write(draft(f"entry {n}-{m}"))
        Repo(store.path)._pack()
    return store


def pack_folder(store: Store) -> str:
    return os.path.join(store.path, ".git", "objects", "pack")


def names(store: Store, ending: str = ".pack") -> list[str]:
    return [name for name in os.listdir(pack_folder(store)) if name.endswith(ending)]


def objects(store: Store) -> set[str]:
    return set(git(store.path, "cat-file", "--batch-check", "--batch-all-objects").splitlines())


def join_all(store: Store) -> bool:
    git_dir = f"{store.path}/.git"
    return packing.join(git_dir, packing.packs(git_dir))


@given(st.lists(st.integers(1, 10**6), max_size=12).map(sorted))
def test_after_a_joining_each_pack_is_larger_than_all_smaller_ones(sizes: list[int]) -> None:
    count = to_join(sizes)
    assert count != 1
    total = sum(sizes[:count]) if count else (sizes or [0])[0]
    rest = sizes[max(count, 1) :]
    assert not rest or rest[0] >= FACTOR * total
    assert all(size < FACTOR * sum(sizes[:n]) for n, size in enumerate(sizes[:count]) if n)


def test_a_byte_is_copied_as_often_as_the_store_doubles() -> None:
    sizes: list[int] = []
    copied = 0
    for _ in range(1000):
        sizes = sorted([*sizes, 1])
        count = to_join(sizes)
        copied += sum(sizes[:count])
        sizes = sorted([sum(sizes[:count]), *sizes[count:]]) if count else sizes
        assert len(sizes) <= 10
    assert copied < 1000 * 10


def test_what_does_not_fit_an_index_is_left_apart() -> None:
    large = packing.LIMIT - 5
    assert to_join([large, large]) == 0
    assert to_join([3, 3, large, large]) == 2


def test_git_finds_every_object_in_the_pack_that_took_their_place(tmp_path: object) -> None:
    store = packed(tmp_path)
    before = objects(store)
    assert join_all(store)
    assert len(names(store)) == len(names(store, ".idx")) == 1
    assert objects(store) == before
    git(store.path, "verify-pack", *(f"{pack_folder(store)}/{n}" for n in names(store, ".idx")))
    with open(f"{pack_folder(store)}/{names(store)[0]}", "rb") as file:
        index = f"{tmp_path}/again.idx"
        subprocess.run(
            ["git", "index-pack", "--strict", "-o", index, file.name], check=True, cwd=store.path
        )
    with open(index, "rb") as wanted, open(f"{file.name[:-5]}.idx", "rb") as ours:
        assert ours.read() == wanted.read()
    assert reopened(store).write(draft("next"))
    assert_sound(store)


def test_a_store_written_for_long_keeps_few_packs(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repo_room, "_LOOSE_LIMIT", 0)
    store = project(tmp_path, clock=Clock(step=50_000.0))
    os.makedirs(f"{store.path}/.git/objects/17", exist_ok=True)
    for n in range(40):
        store.write(draft(f"entry {n}"))
        assert len(names(store)) <= 6
    assert git(store.path, "count-objects").startswith("0 objects")
    assert_sound(store)


def test_readers_at_work_find_what_moves_under_them(tmp_path: object) -> None:
    store = packed(tmp_path, packs=4)
    all_objects = sorted(line.split()[0] for line in objects(store))
    library = Repo(store.path)
    library.raw(store.tip())
    command = ["git", "-C", store.path, "cat-file", "--batch-check"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as reader:

        def ask(name: str) -> str:
            assert reader.stdin is not None
            assert reader.stdout is not None
            reader.stdin.write(f"{name}\n")
            reader.stdin.flush()
            return reader.stdout.readline()

        assert "missing" not in ask(all_objects[0])
        for round_ in range(2):
            assert join_all(store)
            store.write(draft(f"more {round_}"))
            Repo(store.path)._pack()
            assert [name for name in all_objects if "missing" in ask(name)] == []
            assert len(list(library.walk(library.tip()))) == int(
                git(store.path, "rev-list", "--count", "main", "--", "entries")
            )
    assert reader.returncode == 0


def test_a_writer_killed_while_packs_are_put_together_loses_nothing(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = packed(f"{tmp_path}/base")
    before, n = objects(base), 0
    while True:
        n += 1
        shutil.copytree(base.root, f"{tmp_path}/{n}", symlinks=True)
        store = Store.open(f"{tmp_path}/{n}", clock=Clock())
        child = os.fork()
        if child == 0:
            try:
                with pytest.MonkeyPatch.context() as patch:
                    install(patch, Countdown(n, lambda: os._exit(9)))
                    Repo(store.path)._join()
            except BaseException:  # noqa: BLE001 -- the parent must see that it happened
                os._exit(7)
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert status in (0, 9)
        assert objects(store) == before
        assert git(store.path, "fsck", "--strict", "--no-dangling") == ""
        reopened(store).write(draft("next"))  # sweeps what was left
        Repo(store.path)._pack()
        Repo(store.path)._join()
        assert before <= objects(store)
        assert_sound(store)
        if status == 0:
            break
    assert n > 10


def install(patch: pytest.MonkeyPatch, countdown: Countdown) -> None:
    real, steps = os, ("replace", "unlink", "fsync", "chmod")

    class Failing:
        def __getattr__(self, name: str) -> object:
            found = getattr(real, name)
            return counted(found, countdown) if name in steps else found

    patch.setattr(packing, "os", Failing())
    patch.setattr(packing, "open", counted(open, countdown), raising=False)


def test_an_object_in_two_packs_ends_in_one(tmp_path: object) -> None:
    store = packed(tmp_path)
    before = objects(store)
    kept = f"{tmp_path}/kept"
    shutil.copytree(pack_folder(store), kept)
    assert join_all(store)
    for name in os.listdir(kept):
        if not os.path.exists(f"{pack_folder(store)}/{name}"):
            shutil.copy(f"{kept}/{name}", pack_folder(store))
    assert not join_all(store)
    for _ in range(3):
        Repo(store.path)._join()
    assert len(names(store)) == 1
    assert objects(store) == before
    assert_sound(store)


def test_a_damaged_pack_is_neither_copied_nor_removed(tmp_path: object) -> None:
    store = packed(tmp_path)
    path = f"{pack_folder(store)}/{names(store)[0]}"
    os.chmod(path, 0o644)
    with open(path, "r+b") as file:
        file.seek(60)
        byte = file.read(1)
        file.seek(60)
        file.write(bytes([byte[0] ^ 1]))
    before = sorted(os.listdir(pack_folder(store)))
    assert not join_all(store)
    Repo(store.path).tidy()
    assert sorted(os.listdir(pack_folder(store))) == before


@pytest.mark.parametrize("ending", [".keep", ".promisor"])
def test_a_pack_that_git_was_told_something_about_stays(tmp_path: object, ending: str) -> None:
    store = packed(tmp_path)
    kept = names(store)[0]
    with open(f"{pack_folder(store)}/{kept[:-5]}{ending}", "wb"):
        pass
    assert kept[:-5] not in {os.path.basename(p.path) for p in packing.packs(f"{store.path}/.git")}
    assert join_all(store)
    assert kept in names(store)


def test_an_index_over_all_packs_is_respected(tmp_path: object) -> None:
    store = packed(tmp_path)
    git(store.path, "multi-pack-index", "write")
    before = sorted(names(store))
    Repo(store.path)._join()
    assert sorted(names(store)) == before


def test_a_pack_that_never_got_an_index_goes_after_a_day(tmp_path: object) -> None:
    store = packed(tmp_path)
    paths = [f"{pack_folder(store)}/pack-{digit * 40}.pack" for digit in "12"]
    for path in paths:
        with open(path, "wb") as file:
            file.write(b"PACK")
    os.utime(paths[0], (0, 0))
    packing.sweep(f"{store.path}/.git")
    assert [os.path.exists(path) for path in paths] == [False, True]
