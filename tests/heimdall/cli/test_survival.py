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


COMMANDS = (
    ("init", "--no-index"),
    ("log",),
    ("search", "budget"),
    ("search", "--json", "budget"),
    ("search", "--limit=3", "budget"),
    ("read", "ID"),
    ("replace", "ID", "--title", "Other"),
    ("write", "--title", "T", "--summary", "S", "-k", "a", "-k", "b"),
    ("delete", "ID", "--reason", "wrong"),
)


def test_every_command_of_the_memory_brings_it_back_and_says_so(project: Box) -> None:
    entry = project.write()
    store, copy = project.code / ".mem", project.code / ".git" / "gitmemo.git"
    for command in COMMANDS:
        clean(project)
        done = project.mem(*(entry if word == "ID" else word for word in command))
        assert done.code == 0, done
        entries = "2 entries" if command[0] == "delete" else "1 entry"
        assert done.err == (
            f"the memory at {store} was gone (git clean?) and is back: {entries}"
            f" (to be rid of it for good, remove {copy} too)\n"
        )
        if command[0] == "replace":
            entry = done.out.split()[0]
    assert project.git("fsck", "--strict", "--no-dangling", cwd=store) == ""
    assert project.mem("log").err == ""


def test_a_search_finds_what_was_cleaned_away(project: Box) -> None:
    entry = project.write()
    clean(project)
    done = project.mem("search", "--json", "budget", cwd=project.code)
    assert [hit["id"] for hit in done.json()["hits"]] == [entry]
    assert done.json()["sources"]["memory"] == "ok"


def test_the_command_may_be_given_anywhere_in_the_project(project: Box) -> None:
    project.write()
    clean(project)
    (project.code / "deep" / "er").mkdir(parents=True)
    assert "is back" in project.mem("log", cwd=project.code / "deep" / "er").err


def test_a_linked_worktree_brings_back_the_shared_store(project: Box) -> None:
    project.write()
    project.git("commit", "-q", "--allow-empty", "-m", "first")
    project.git("worktree", "add", "-q", str(project.top / "linked"))
    clean(project)
    done = project.mem("log", "--json", cwd=project.top / "linked")
    assert "is back: 1 entry" in done.err
    assert len(done.json()["events"]) == 1


def test_a_worktree_with_a_store_of_its_own_has_a_copy_of_its_own(project: Box) -> None:
    project.home.mkdir(exist_ok=True)
    (project.home / "config.toml").write_text("shared_worktrees = false\n")
    project.git("commit", "-q", "--allow-empty", "-m", "first")
    linked = project.top / "linked"
    project.git("worktree", "add", "-q", str(linked))
    assert project.mem("init", "--no-index", cwd=linked).code == 0
    draft = ("--title", "Only here", "--summary", "S", "-k", "a", "-k", "b")
    assert project.mem("write", *draft, cwd=linked).code == 0
    project.git("clean", "-ffdxq", cwd=linked)
    done = project.mem("log", cwd=linked)
    assert str(project.code / ".git" / "worktrees" / "linked" / "gitmemo.git") in done.err
    assert "Only here" in done.out
    assert "Only here" not in project.mem("log").out
    assert project.git("worktree", "list").count("\n") == 2


def test_the_watchman_brings_nothing_back(project: Box) -> None:
    project.write()
    assert project.heimdall("reconcile").code == 0
    clean(project)
    for command in (("status",), ("search", "budget"), ("search", "--limit=3", "budget")):
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
    project.write()
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
    project.write()
    clean(project)
    shutil.rmtree(project.code / ".git" / "gitmemo.git" / "objects")
    refused(project.mem("log", "--json"), project)
    done = project.mem("init", "--no-index", "--json")
    assert done.code == 6
    assert done.json()["error"]["code"] == "damaged-store"
    shutil.move(project.code / ".git" / "gitmemo.git", project.top / "aside")
    assert project.mem("init", "--no-index").code == 0


def test_both_removed_is_gone_for_good(project: Box) -> None:
    project.write()
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
