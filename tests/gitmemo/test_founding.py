"""How a store comes into being, and that a second time changes nothing."""

import os
import subprocess
import sys

import pytest

from gitmemo import Store
from gitmemo.founding import EXCLUDED, found
from gitmemo.lock import PRIVATE
from tests.support.memory import IDENTITY, assert_sound, files, git, project


def test_a_new_store_has_the_layout_of_the_format(tmp_path: object) -> None:
    store = project(tmp_path)
    listed = git(store.path, "ls-tree", "-r", "--name-only", "main").splitlines()
    assert listed == [".gitmemo-format", "entries/.gitkeep"]
    assert git(store.path, "show", "main:.gitmemo-format") == "2\n"
    assert git(store.path, "log", "--format=%s") == (
        "init: initialize memory repo (gitmemo format 2)\n"
    )
    assert_sound(store)


def test_the_code_repository_does_not_see_the_store(tmp_path: object) -> None:
    store = project(tmp_path)
    for name in (".mem.gitmemo.lock", ".mem.gitmemo-old-1", ".mem.gitmemo-tmp-9-ab"):
        with open(os.path.join(store.root, name), "w", encoding="utf-8"):
            pass
    assert git(store.root, "status", "--porcelain") == ""
    with open(os.path.join(store.root, ".git/info/exclude"), encoding="utf-8") as file:
        lines = file.read().splitlines()
    assert [line for line in lines if line in EXCLUDED] == list(EXCLUDED)


def test_lines_of_the_person_stay_and_none_is_doubled(tmp_path: object) -> None:
    root = str(tmp_path)
    git(root, "init", "-q")
    path = f"{root}/.git/info/exclude"
    with open(path, "w", encoding="utf-8") as file:
        file.write("*.o\n.mem/")
    for _ in range(2):
        Store.init(root)
    with open(path, encoding="utf-8") as file:
        assert file.read().splitlines() == ["*.o", *EXCLUDED]


def test_a_second_time_changes_nothing(tmp_path: object) -> None:
    store = project(tmp_path)
    before = files(store.root)
    assert Store.init(store.root).tip() == store.tip()
    assert files(store.root) == before


def test_a_store_outside_of_git_is_a_store(tmp_path: object) -> None:
    store = Store.init(str(tmp_path), identity=IDENTITY)
    assert_sound(store)
    assert os.listdir(store.root) == [".mem"]


def test_the_worktrees_exclude_file_is_the_common_one(tmp_path: object) -> None:
    root = f"{tmp_path}/project"
    os.makedirs(root)
    git(root, "init", "-q", "-b", "main")
    git(root, "commit", "-q", "--allow-empty", "-m", "first")
    git(root, "worktree", "add", "-q", f"{tmp_path}/linked")
    Store.init(f"{tmp_path}/linked")
    assert git(f"{tmp_path}/linked", "status", "--porcelain") == ""


def test_what_a_killed_founder_left_is_cleared_and_a_living_ones_is_not(tmp_path: object) -> None:
    root = str(tmp_path)
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    dead, living = f"{PRIVATE}{ended.pid}-00", f"{PRIVATE}{os.getpid()}-00"
    for name in (dead, living):
        os.makedirs(f"{root}/{name}/.git")
    found(root, identity=IDENTITY, now_s=1_790_000_000, timeout_s=1.0)
    assert sorted(os.listdir(root)) == [".mem", living]


@pytest.mark.skipif(os.getuid() != 0, reason="needs to become another user")
def test_a_folder_that_may_not_be_written_is_refused_with_its_reason(tmp_path: object) -> None:
    code = (
        "import os, sys, gitmemo\n"
        # The interpreter may lie where nobody may look.
        "from gitmemo import founding, store, survival\n"
        "os.setgid(65534); os.setuid(65534)\n"
        "try:\n    gitmemo.Store.init('/root')\n"
        "except gitmemo.IoRefused as refused:\n    print(refused.code)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd="/", check=False
    )
    assert (done.stdout, done.stderr) == ("13\n", "")
