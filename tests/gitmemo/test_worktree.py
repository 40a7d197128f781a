"""The visible steps: whole at once, under git's own locks, known again after a kill."""

import errno
import os

import pytest

from gitmemo import worktree
from gitmemo.errors import LockTimeout
from gitmemo.worktree import INDEX, MAIN, Seen
from tests.support.memory import draft, git, project


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


def test_a_clean_tree_is_believed_until_a_folder_or_the_index_changes(tmp_path: object) -> None:
    store = project(tmp_path)
    wrote = store.write(draft("one"))
    seen = Seen(store.path)
    assert not seen.holds()
    seen.note()
    assert seen.holds()
    git(store.path, "rm", "-q", "--cached", wrote.file)
    assert not seen.holds()
    git(store.path, "add", wrote.file)
    seen.note()
    with open(f"{store.path}/entries/stray.md", "w", encoding="utf-8"):
        pass
    assert not seen.holds()
    seen.moved(["entries/stray.md"])
    assert seen.holds()
    seen.forget()
    assert not seen.holds()


@pytest.mark.parametrize("path", ["entries/" + "i-" * 200 + ".md", ".gitmemo-format/x.md"])
def test_a_name_that_no_disk_can_hold_is_removed_by_doing_nothing(
    tmp_path: object, path: str
) -> None:
    store = project(tmp_path)
    worktree.remove_file(store.path, path)
    assert git(store.path, "status", "--porcelain") == ""


def test_an_index_without_a_checksum_is_known_by_its_file(tmp_path: object) -> None:
    store = project(tmp_path)
    index = f"{store.path}/.git/index"
    with open(index, "rb") as file:
        data = file.read()
    with open(index, "wb") as file:
        file.write(data[:-20] + b"\0" * 20)
    seen = Seen(store.path)
    seen.note()
    assert seen.holds()
    with open(f"{index}.new", "wb") as file:
        file.write(b"other" + b"\0" * 20)
    os.replace(f"{index}.new", index)
    assert not seen.holds()
