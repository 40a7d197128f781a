"""The visible steps: whole at once, under git's own locks, known again after a kill."""

import errno
import os
from pathlib import Path

import pytest

from gitmemo import worktree
from gitmemo.errors import LockTimeout
from gitmemo.worktree import INDEX, MAIN
from tests.support.memory import assert_sound, draft, git, project


@pytest.fixture
def git_dir(tmp_path: object) -> str:
    path = f"{tmp_path}/.mem/.git"
    os.makedirs(f"{path}/refs/heads")
    return path


def text(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def test_a_swap_replaces_the_file_and_leaves_nothing(git_dir: str) -> None:
    worktree.prepare(git_dir, MAIN, b"new")
    assert worktree.swap(git_dir, MAIN, timeout_s=0.0)
    assert text(f"{git_dir}/{MAIN}") == "new"
    assert os.listdir(git_dir) == ["refs"]
    assert os.listdir(f"{git_dir}/refs/heads") == ["main"]


def test_a_guard_that_says_no_leaves_everything(git_dir: str) -> None:
    worktree.prepare(git_dir, INDEX, b"old")
    worktree.swap(git_dir, INDEX, timeout_s=0.0)
    worktree.prepare(git_dir, INDEX, b"new")
    locked = []

    def guard() -> bool:
        locked.append(os.path.exists(f"{git_dir}/index.lock"))
        return False

    assert not worktree.swap(git_dir, INDEX, timeout_s=0.0, guard=guard)
    assert locked == [True]
    assert text(f"{git_dir}/index") == "old"
    assert sorted(os.listdir(git_dir)) == ["index", "refs"]


def test_a_lock_of_git_is_waited_for_and_survives_the_sweep(git_dir: str) -> None:
    with open(f"{git_dir}/index.lock", "w", encoding="utf-8") as file:
        file.write("git at work")
    worktree.prepare(git_dir, INDEX, b"new")
    with pytest.raises(LockTimeout):
        worktree.swap(git_dir, INDEX, timeout_s=0.03)
    worktree.sweep(git_dir)
    assert sorted(os.listdir(git_dir)) == ["index.lock", "refs"]


def test_a_lock_that_is_our_own_prepared_file_is_swept(git_dir: str) -> None:
    for name in (INDEX, MAIN):
        worktree.prepare(git_dir, name, b"new")
    os.link(f"{git_dir}/gitmemo-index.tmp", f"{git_dir}/index.lock")
    os.link(f"{git_dir}/gitmemo-ref.tmp", f"{git_dir}/{MAIN}.lock")
    worktree.sweep(git_dir)
    assert os.listdir(git_dir) == ["refs"]
    assert os.listdir(f"{git_dir}/refs/heads") == []


def test_a_file_system_without_hard_links_is_written_to_all_the_same(
    git_dir: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_: object) -> None:
        raise OSError(errno.ENOTSUP, "no links here")

    monkeypatch.setattr(os, "link", no_links)
    mem = os.path.dirname(git_dir)
    worktree.add_file(mem, "entries/2026/a.md", b"a")
    worktree.prepare(git_dir, MAIN, b"new")
    assert worktree.swap(git_dir, MAIN, timeout_s=0.0)
    assert text(f"{mem}/entries/2026/a.md") == "a"
    assert text(f"{git_dir}/{MAIN}") == "new"


def test_an_entry_file_never_replaces_what_is_there(git_dir: str) -> None:
    mem = os.path.dirname(git_dir)
    worktree.add_file(mem, "entries/a.md", b"a")
    with pytest.raises(FileExistsError):
        worktree.add_file(mem, "entries/a.md", b"b")
    assert text(f"{mem}/entries/a.md") == "a"


def test_folders_that_became_empty_go_and_others_stay(git_dir: str) -> None:
    mem = os.path.dirname(git_dir)
    for path in ("entries/2026/01/02/a.md", "entries/2026/01/b.md"):
        worktree.add_file(mem, path, b"x")
    worktree.remove_file(mem, "entries/2026/01/02/a.md")
    assert os.listdir(f"{mem}/entries/2026/01") == ["b.md"]
    worktree.remove_file(mem, "entries/2026/01/b.md")
    worktree.remove_file(mem, "entries/2026/01/b.md")
    assert os.listdir(f"{mem}/entries") == []


@pytest.mark.parametrize("path", ["entries/" + "i-" * 200 + ".md", ".gitmemo-format/x.md"])
def test_a_name_that_no_disk_can_hold_is_removed_by_doing_nothing(
    tmp_path: object, path: str
) -> None:
    store = project(tmp_path)
    worktree.remove_file(store.path, path)
    assert git(store.path, "status", "--porcelain") == ""


SPARE = "gitmemo-index.old"


def indexed(git_dir: str, *contents: bytes) -> None:
    for content in contents:
        worktree.prepare(git_dir, INDEX, content[:7], memoryview(content)[7:])
        assert worktree.swap(git_dir, INDEX, timeout_s=0.0)
        with open(f"{git_dir}/index", "rb") as file:
            assert file.read() == content


@pytest.mark.parametrize("size", [0, 10, 200_000])
def test_an_index_file_is_written_by_changing_the_one_before_it(git_dir: str, size: int) -> None:
    base = os.urandom(size)
    indexed(git_dir, base + b"1", base + b"22")
    before = os.lstat(f"{git_dir}/{SPARE}").st_ino
    indexed(git_dir, base[:5] + b"333" + base[5:], base, b"", base + b"4")
    assert sorted(os.listdir(git_dir)) == [SPARE, "index", "refs"]
    assert before in {os.lstat(f"{git_dir}/{name}").st_ino for name in (SPARE, "index")}


def test_what_stands_in_the_spare_is_never_believed(git_dir: str) -> None:
    indexed(git_dir, b"one" * 50_000, b"two" * 50_000)
    with open(f"{git_dir}/{SPARE}", "r+b") as file:
        file.seek(70_000)
        file.write(os.urandom(300_000))
    indexed(git_dir, b"two" * 50_000 + b"!")


def test_an_index_that_somebody_reads_is_not_written_to(git_dir: str) -> None:
    indexed(git_dir, b"one" * 50_000)
    with open(f"{git_dir}/index", "rb") as reader:
        indexed(git_dir, b"two" * 50_000, b"three" * 50_000, b"four" * 50_000)
        assert reader.read() == b"one" * 50_000


def test_a_spare_that_has_another_name_is_not_written_to(git_dir: str) -> None:
    indexed(git_dir, b"one", b"two")
    os.link(f"{git_dir}/{SPARE}", f"{git_dir}/backup")
    indexed(git_dir, b"three")
    assert text(f"{git_dir}/backup") == "one"
    # As a writer leaves it who is killed between the two steps of a swap.
    os.unlink(f"{git_dir}/{SPARE}")
    os.link(f"{git_dir}/index", f"{git_dir}/{SPARE}")
    worktree.prepare(git_dir, INDEX, b"four")
    assert text(f"{git_dir}/index") == "three"
    worktree.sweep(git_dir)
    assert text(f"{git_dir}/index") == "three"


def test_a_spare_that_is_a_link_or_a_folder_stands_in_nobodys_way(git_dir: str) -> None:
    indexed(git_dir, b"one")
    with open(f"{git_dir}/precious", "w", encoding="utf-8") as file:
        file.write("precious")
    os.symlink("precious", f"{git_dir}/{SPARE}")
    indexed(git_dir, b"two", b"three")
    assert text(f"{git_dir}/precious") == "precious"


def test_git_reads_what_stands_after_many_changes(tmp_path: object) -> None:
    store = project(tmp_path)
    ids = [store.write(draft(f"entry {n}")).id for n in range(4)]
    store.delete(ids[0], "wrong")
    store.replace(ids[2], draft("again"))
    assert os.path.isfile(f"{store.path}/.git/{SPARE}")
    assert_sound(store)
    assert len(git(store.path, "ls-files", "entries").splitlines()) == 4


def test_a_long_reflog_keeps_its_younger_half(tmp_path: Path) -> None:
    git_dir = str(tmp_path)
    lines = [f"{n:040x} {n + 1:040x} a <b> {n} +0000\tcommit: {n}\n" for n in range(1500)]
    for line in lines:
        worktree.log_move(git_dir, line)
    for name in ("HEAD", worktree.MAIN):
        kept = (tmp_path / "logs" / name).read_text().splitlines(keepends=True)
        assert kept == lines[-len(kept) :]
        assert worktree.REFLOG_LIMIT // 2 - 200 < sum(map(len, kept)) <= worktree.REFLOG_LIMIT
