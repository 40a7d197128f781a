"""Faults that other memories had in the field and that no other test here holds.

docs/field-faults.md lists all of them, each with the test that keeps it away.
"""

import os
import sqlite3
import subprocess

import pytest

import gitmemo
from gitmemo import Mode, Store, lock, repo
from gitmemo.index import FILE
from tests.support import foreign
from tests.support.memory import assert_sound, draft, files, git, project, reopened
from tests.support.world import code_repository, photograph, put


def test_a_search_waits_for_no_lock_of_anybody(tmp_path: object) -> None:
    store = project(tmp_path)
    entry = store.write(draft("one"))
    locks = ("index.lock", "HEAD.lock", "config.lock", "packed-refs.lock", "refs/heads/main.lock")
    for name in locks:
        put(os.path.join(store.path, ".git", name), "")
    with lock.hold(store.root, os.path.join(store.path, ".git"), "write", timeout_s=1.0):
        before = files(store.root)
        again = reopened(store, timeout_s=0.0)
        for mode in Mode:
            assert [hit.id for hit in again.search(["memory"], mode=mode).hits] == [entry.id]
        assert again.read(entry.id).active
        assert len(again.history()) == 1
        assert files(store.root) == before


def test_every_lock_left_by_the_dead_at_once_stops_nobody(tmp_path: object) -> None:
    store = project(tmp_path)
    git_dir = os.path.join(store.path, ".git")
    ended = subprocess.Popen(["true"])
    ended.wait()
    held = put(
        os.path.join(store.root, lock.ENGINE_LOCK), f'{{"pid": {ended.pid}, "engine": "gitmemo"}}'
    )
    os.link(held, os.path.join(git_dir, "gitmemo-lock.tmp"))
    for name, own in (("index", "gitmemo-index.tmp"), ("refs/heads/main", "gitmemo-ref.tmp")):
        os.link(put(os.path.join(git_dir, own), "half"), os.path.join(git_dir, f"{name}.lock"))
    put(os.path.join(git_dir, "gitmemo-record.tmp"), "{")
    put(os.path.join(git_dir, "gitmemo-entry.tmp"), "half an entry")
    # No step of a write needs these two, so whoever left them is not waited for either.
    for name in ("config.lock", "HEAD.lock"):
        put(os.path.join(git_dir, name), "")
    reopened(store, timeout_s=1.0).write(draft("one"))
    for name in ("config.lock", "HEAD.lock"):
        os.unlink(os.path.join(git_dir, name))
    assert_sound(store)


def test_the_kernels_lock_file_stays_one_file_for_ever(tmp_path: object) -> None:
    store = project(tmp_path)
    path = os.path.join(store.path, ".git", lock.KERNEL_LOCK)
    store.write(draft("one"))
    inode = os.stat(path).st_ino
    Store.init(store.root)
    reopened(store).write(draft("two"))
    git(store.path, "gc", "-q")
    store.delete(reopened(store).write(draft("three")).id, "r")
    assert os.stat(path).st_ino == inode


def test_the_index_has_no_log_that_a_second_process_could_lose(tmp_path: object) -> None:
    store = project(tmp_path)
    store.write(draft("one"))
    base = sqlite3.connect(os.path.join(store.path, ".git", FILE))
    assert base.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    base.close()
    left = [name for name in os.listdir(os.path.join(store.path, ".git")) if FILE in name]
    assert left == [FILE]


@pytest.mark.parametrize(
    "summary",
    [
        "before\n---\nafter",
        "Mem-Kind: evil\nSigned-off-by: A <a@b>",
        "text\n\nFixes: #1\nCo-authored-by: A <a@b>",
        "# heading\n\n-----\n\n#42",
        "diff --git a/x b/x\n+++ b/x",
        "-- >8 --\n------------------------ >8 ------------------------\nbelow",
    ],
)
def test_no_text_hides_or_joins_the_trailers(tmp_path: object, summary: str) -> None:
    store = project(tmp_path)
    said = draft("#1 ---", summary=summary, content=summary)
    wrote = store.write(said)
    foreign.expect(foreign.Engine(store.root), wrote.id, wrote.file)
    entry = Store.open(store.root).read(wrote.id)
    assert (entry.title, entry.summary, entry.keywords) == (said.title, summary, said.keywords)
    assert store.search(["memory"], mode=Mode.TRAILER).total == 1


def test_what_the_code_repository_adds_and_cleans_is_never_the_store(tmp_path: object) -> None:
    root = code_repository(f"{tmp_path}/project")
    store = Store.init(root)
    entry = store.write(draft("one"))
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "everything")
    assert ".mem" not in git(root, "ls-tree", "-r", "--name-only", "HEAD")
    git(root, "stash", "-q", "--all", check=False)
    git(root, "clean", "-q", "-fdx")
    git(root, "reset", "-q", "--hard")
    assert Store.open(root).read(entry.id).active
    assert_sound(store)


def test_a_store_in_the_middle_of_a_merge_is_searched_and_not_written(tmp_path: object) -> None:
    store = project(tmp_path)
    one = store.write(draft("one"))
    git(store.path, "branch", "side")
    git(store.path, "checkout", "-q", "side")
    foreign.commit(store.path, "theirs\n", add={one.file: "theirs\n"})
    git(store.path, "checkout", "-q", "main")
    foreign.commit(store.path, "ours\n", add={one.file: "ours\n"})
    git(store.path, "merge", "-q", "side", check=False)
    with open(os.path.join(store.path, one.file), encoding="utf-8") as file:
        assert "<<<<<<<" in file.read()
    before = git(store.path, "rev-parse", "main")
    again = reopened(store)
    assert again.search(["memory"]).total == 1
    with pytest.raises(gitmemo.DirtyStore):
        again.write(draft("two"))
    assert git(store.path, "rev-parse", "main") == before
    git(store.path, "merge", "--abort")
    reopened(store).write(draft("two"))


@pytest.mark.parametrize("there", [True, False])
def test_an_entry_that_git_was_told_to_overlook_is_not_lost(tmp_path: object, there: bool) -> None:
    store = project(tmp_path)
    one = store.write(draft("one"))
    git(store.path, "update-index", "--skip-worktree", one.file)
    if not there:
        os.unlink(os.path.join(store.path, one.file))
        with pytest.raises(gitmemo.GitMemoError):
            reopened(store).replace(one.id, draft("two"))
        assert store.read(one.id).active
        git(store.path, "update-index", "--no-skip-worktree", one.file)
        git(store.path, "checkout", "-q", "--", one.file)
    two = reopened(store).replace(one.id, draft("two"))
    assert store.read(one.id).current == (two.id,)
    assert_sound(store)


def test_a_git_that_does_not_answer_keeps_nobody_from_writing(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = f"{tmp_path}/project"
    os.makedirs(root)
    put(f"{tmp_path}/bin/git", "#!/bin/sh\nexec sleep 60\n", 0o755)
    with monkeypatch.context() as patch:
        patch.setattr(repo, "_ASK_S", 0.2)
        patch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
        wrote = Store.init(root).write(draft("one"))
    store = Store.open(root)
    assert store.read(wrote.id).author == "gitmemo <gitmemo@localhost>"
    assert_sound(store)


def test_one_refused_write_holds_up_no_other(tmp_path: object) -> None:
    store = project(tmp_path)
    one = store.write(draft("one"))
    for refused in (draft("one"), draft(""), draft("x", related_paths=("../out",))):
        with pytest.raises(gitmemo.CallerError):
            store.write(refused)
        store.delete(store.write(draft("between")).id, "r")
    with pytest.raises(gitmemo.CallerError):
        store.replace("0" * 40, draft("y"))
    assert store.read(one.id).active
    assert_sound(store)


def test_two_spellings_of_one_folder_are_one_store(tmp_path: object) -> None:
    root = code_repository(f"{tmp_path}/project")
    os.symlink(root, f"{tmp_path}/link")
    one = Store.init(f"{tmp_path}/link").write(draft("one"))
    store = Store.open(f"{tmp_path}/../{os.path.basename(str(tmp_path))}/project")
    linked = Store.open(f"{tmp_path}/link", lock_timeout_s=0.05)
    with (
        lock.hold(root, f"{root}/.mem/.git", "write", timeout_s=1.0),
        pytest.raises(gitmemo.LockTimeout),
    ):
        linked.write(draft("two"))
    assert store.read(one.id).active
    with pytest.raises(gitmemo.Duplicate):
        store.write(draft("one"))


def test_nothing_of_ours_is_installed_in_the_code_repository(tmp_path: object) -> None:
    root = code_repository(f"{tmp_path}/project")
    before = photograph(f"{root}/.git")
    store = Store.init(root)
    store.replace(store.write(draft("one")).id, draft("two"))
    assert photograph(f"{root}/.git") == before
