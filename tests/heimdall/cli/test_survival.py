"""A memory that was cleaned away is back with the next `mem` command, and that is said."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.heimdall.cli.conftest import Box, Done


def clean(box: Box) -> None:
    box.git("clean", "-ffdxq", "-e", "budget.py")
    assert not (box.code / ".mem").exists()


# The quick way in, the long way in, a reader and a writer; tests/house sees that no other command
# opens the memory in another way.
COMMANDS = (
    ("search", "--json", "budget"),
    ("search", "--limit=3", "budget"),
    ("read", "ID"),
    ("delete", "ID", "--reason", "wrong"),
)


def test_every_command_of_the_memory_brings_it_back_and_says_so(project: Box) -> None:
    entry = project.write()
    store, copy = project.code / ".mem", project.code / ".git" / "gitmemo.git"
    for command in COMMANDS:
        clean(project)
        (project.code / "deep" / "er").mkdir(parents=True)
        words = [entry if word == "ID" else word for word in command]
        done = project.mem(*words, cwd=project.code / "deep" / "er")
        assert done.code == 0, done
        assert done.err == (
            f"the memory at {store} was gone (git clean?) and is back: 1 entry"
            f" (to be rid of it for good, remove {copy} too)\n"
        )
        assert entry[:12] in done.out
    assert project.git("fsck", "--strict", "--no-dangling", cwd=store) == ""
    assert project.mem("search", "budget").err == ""


def test_a_linked_worktree_brings_back_the_shared_store(project: Box) -> None:
    project.git("commit", "-q", "--allow-empty", "-m", "first")
    project.git("worktree", "add", "-q", str(project.top / "linked"))
    clean(project)
    done = project.mem("search", "x", cwd=project.top / "linked")
    assert f"the memory at {project.code / '.mem'} was gone" in done.err
    assert "is back: 0 entries" in done.err


def test_a_worktree_with_a_store_of_its_own_has_a_copy_of_its_own(project: Box) -> None:
    project.home.mkdir(exist_ok=True)
    (project.home / "config.toml").write_text("shared_worktrees = false\n")
    project.git("commit", "-q", "--allow-empty", "-m", "first")
    linked = project.top / "linked"
    project.git("worktree", "add", "-q", str(linked))
    assert project.mem("init", "--no-index", cwd=linked).code == 0
    project.git("clean", "-ffdxq", cwd=linked)
    done = project.mem("search", "x", cwd=linked)
    assert str(project.code / ".git" / "worktrees" / "linked" / "gitmemo.git") in done.err
    assert (linked / ".mem" / ".git").is_dir()
    assert project.git("worktree", "list").count("\n") == 2


def test_the_watchman_brings_nothing_back(project: Box) -> None:
    assert project.heimdall("reconcile").code == 0
    clean(project)
    for command in (("search", "budget"), ("search", "--limit=3", "budget")):
        assert project.heimdall(*command).err == ""
    assert not (project.code / ".mem").exists()


def refused(done: Done, box: Box) -> None:
    assert done.code == 3
    error = done.json()["error"]
    assert error["code"] == "no-store"
    assert str(box.code / ".git" / "gitmemo.git") in error["hint"]
    assert "could not be brought back" in done.err


def test_where_it_cannot_come_back_the_command_goes_on_and_says_where_the_copy_is(
    project: Box,
) -> None:
    assert project.heimdall("reconcile").code == 0
    clean(project)
    (project.code / ".mem.gitmemo.lock").write_text('{"pid": 1, "host": "elsewhere"}')
    wait = {"HEIMDALL_LOCK_TIMEOUT_S": "0.05"}
    refused(project.mem("log", "--json", **wait), project)
    done = project.mem("search", "--json", "budget", **wait)
    assert done.code == 0
    assert done.json()["sources"]["memory"] == "absent"
    assert "could not be brought back" in done.err
    os.unlink(project.code / ".mem.gitmemo.lock")
    assert "is back" in project.mem("log").err


def test_a_broken_copy_is_named_with_what_to_do(project: Box) -> None:
    clean(project)
    shutil.rmtree(project.code / ".git" / "gitmemo.git" / "objects")
    refused(project.mem("log", "--json"), project)
    done = project.mem("init", "--no-index", "--json")
    assert done.code == 6
    assert done.json()["error"]["code"] == "damaged-store"
    shutil.move(project.code / ".git" / "gitmemo.git", project.top / "aside")
    assert project.mem("init", "--no-index").code == 0


def test_both_removed_is_gone_for_good(project: Box) -> None:
    clean(project)
    shutil.rmtree(project.code / ".git" / "gitmemo.git")
    done = project.mem("log", "--json")
    assert (done.code, done.err) == (3, "")
    assert done.json()["error"]["hint"] == "`mem init` opens one."


def test_a_read_only_disk_is_no_reason_to_fail_a_search(
    box: Box, tiny_disk: Callable[[str], Path]
) -> None:
    place = tiny_disk("size=8m")
    box.code = place / "code"
    box.code.mkdir()
    box.git("init", "-q", "-b", "main")
    assert box.mem("init").code == 0
    box.write()
    box.git("clean", "-ffdxq")
    subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)
    done = box.mem("search", "--json", "budget")
    assert done.code == 0
    assert "could not be brought back" in done.err
    refused(box.mem("log", "--json"), box)
