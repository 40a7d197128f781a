"""`heimdall init --git-hooks` as a person and as a program meet it, in real repositories."""

import json
import os
from pathlib import Path

import pytest

from heimdall import githooks
from heimdall.cli import initing
from heimdall.githooks import EVENTS, Hook, Plan, State
from tests.heimdall.cli.conftest import Box, Done


def repository(box: Box) -> Path:
    """An empty repository; its directory of hooks, emptied of git's samples."""
    box.git("init", "-q", "-b", "main", "--template=")
    return box.code / ".git" / "hooks"


def init(box: Box, *arguments: str, cwd: Path | None = None) -> Done:
    return box.heimdall("init", "--git-hooks", *arguments, cwd=cwd)


def everything(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Every file below, with its bytes and mode."""
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mode)
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink()
    }


def script(path: Path, text: bytes, mode: int = 0o755) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text)
    path.chmod(mode)


def test_installed_checked_and_removed_in_a_fresh_repository(box: Box) -> None:
    hooks = repository(box)
    script(hooks / "post-merge", b"#!/bin/sh\nexec true", 0o744)
    before = everything(box.code)
    assert init(box, "--check").code == 1
    done = init(box)
    assert (done.code, done.err) == (0, "")
    assert f"made     {hooks / 'post-commit'}" in done.out
    assert f"edited   {hooks / 'post-merge'}" in done.out
    assert (hooks / "post-merge").stat().st_mode & 0o777 == 0o744
    checked = init(box, "--check", cwd=hooks.parent.parent)
    assert (checked.code, checked.out.count("installed  ")) == (0, len(EVENTS))
    there = everything(box.code)
    assert init(box).out == "all hooks were installed already\n"
    assert everything(box.code) == there
    removed = init(box, "--remove")
    assert (removed.code, removed.err) == (0, "")
    assert everything(box.code) == before
    assert init(box, "--remove").out == "nothing of ours was there\n"


def test_git_runs_what_was_installed(box: Box) -> None:
    repository(box)
    box.home.mkdir()
    (box.code / "sub").mkdir()
    assert init(box, cwd=box.code / "sub").code == 0
    (box.code / "sub" / "a.py").write_text("")
    box.git("add", "-A", cwd=box.code / "sub")
    (line,) = (box.home / "hints.jsonl").read_text().splitlines()
    assert json.loads(line) == {"path": str(box.code), "reason": "post-index-change", "at": 0}


def test_a_dry_run_shows_the_edits_and_makes_none(box: Box) -> None:
    hooks = repository(box)
    script(hooks / "post-merge", b"#!/bin/sh\ntrue\n")
    before = everything(box.code)
    done = init(box, "--dry-run")
    assert done.code == 0
    assert f"--- /dev/null\n+++ {hooks / 'post-commit'}\n" in done.out
    assert f"--- {hooks / 'post-merge'}\n+++ {hooks / 'post-merge'}\n" in done.out
    assert " #!/bin/sh\n+# >>> heimdall" in done.out
    value = init(box, "--dry-run", "--json").json()
    assert value["diff"] + "" == done.out
    assert everything(box.code) == before
    init(box)
    assert "+++ /dev/null" in init(box, "--dry-run", "--remove").out
    assert init(box, "--dry-run").out == "nothing would be edited\n"
    assert init(box, "--check").code == 0


def test_the_answer_as_json_has_a_fixed_form(box: Box) -> None:
    hooks = repository(box)
    script(hooks / "post-commit", b"#!/usr/bin/env python3\n")
    value = init(box, "--json").json()
    assert value["schema"] == "heimdall.init/1"
    assert (value["action"], value["dry_run"], value["mechanism"]) == ("install", False, "files")
    assert (value["root"], value["directory"]) == (str(box.code), str(hooks))
    first, *others = value["hooks"]
    assert first == {
        "event": "post-commit",
        "state": "missing",
        "path": str(hooks / "post-commit"),
        "by_hand": "not-sh",
        "add": "heimdall hint --reason post-commit .",
    }
    assert {one["by_hand"] for one in others} == {None}
    assert value["edited"] == [one["path"] for one in others]


@pytest.mark.parametrize("scope", ["--local", "--global"])
def test_core_hooks_path_is_followed_where_it_is_this_repositorys(box: Box, scope: str) -> None:
    """Of all repositories' hooks nothing is touched."""
    hooks = repository(box)
    box.env["GIT_CONFIG_GLOBAL"] = str(box.top / "gitconfig")
    init(box)
    box.git("config", scope, "core.hooksPath", str(box.code / "tools" / "hooks"))
    script(box.code / "tools" / "hooks" / "post-commit", b"#!/bin/sh\n:\n")
    before = everything(box.code)
    checked = init(box, "--check")
    assert (checked.code, checked.out.count("shadowed  ")) == (1, len(EVENTS))
    done = init(box)
    if scope == "--global":
        assert done.code == 1
        assert "core.hooksPath of all your repositories leads to" in done.err
        assert "heimdall hint --reason post-commit ." in done.err
        assert everything(box.code) == before
    else:
        assert (done.code, done.err) == (0, "")
        assert init(box, "--check").code == 0
    assert init(box, "--remove").code == 0
    assert not any((hooks / event).exists() for event in EVENTS)
    (left,) = (box.code / "tools" / "hooks").iterdir()
    assert left.read_bytes() == b"#!/bin/sh\n:\n"


def test_husky_is_recognised_and_its_own_place_is_named(box: Box) -> None:
    repository(box)
    shims = box.code / ".husky" / "_"
    for event in (*EVENTS, "h"):
        script(shims / event, b'#!/usr/bin/env sh\n. "$(dirname "$0")/h"')
    box.git("config", "core.hooksPath", ".husky/_")
    before = everything(box.code)
    done = init(box)
    assert done.code == 1
    assert "post-commit: husky manages the hooks here; yours live in .husky/post-commit" in done.err
    assert everything(box.code) == before
    for event in EVENTS:
        line = githooks.snippet(event, "husky")
        script(box.code / ".husky" / event, f"npm test\n{line}\n".encode(), 0o644)
    assert init(box, "--check").code == 0
    there = everything(box.code)
    assert (init(box).code, init(box, "--remove").code) == (0, 0)
    assert everything(box.code) == there


def test_a_hook_that_is_a_link_is_not_followed(box: Box) -> None:
    hooks = repository(box)
    script(box.code / "mine.sh", b"#!/bin/sh\n")
    hooks.mkdir()
    (hooks / "post-commit").symlink_to("../../mine.sh")
    done = init(box)
    assert done.code == 1
    assert "is a link" in done.err
    assert (box.code / "mine.sh").read_bytes() == b"#!/bin/sh\n"
    assert (hooks / "post-commit").is_symlink()


def test_a_linked_worktree_shares_the_hooks(box: Box) -> None:
    hooks = repository(box)
    box.git("commit", "-q", "--allow-empty", "-m", "x")
    linked = box.top / "linked"
    box.git("worktree", "add", "-q", str(linked))
    value = init(box, "--json", cwd=linked).json()
    assert (value["root"], value["directory"]) == (str(linked), str(hooks))
    assert init(box, "--check").code == 0


def test_variables_of_a_surrounding_hook_do_not_lead_astray(box: Box) -> None:
    hooks = repository(box)
    other = box.top / "other"
    box.git("init", "-q", "--template=", str(other))
    done = box.heimdall("init", "--git-hooks", GIT_DIR=str(other / ".git"), GIT_WORK_TREE="/")
    assert done.code == 0
    assert sorted(os.listdir(hooks)) == sorted(EVENTS)
    assert not (other / ".git" / "hooks").exists()


def test_where_there_is_no_work_tree_nothing_is_made(box: Box) -> None:
    assert init(box).code == 3
    box.git("init", "-q", "--bare")
    before = everything(box.code)
    assert init(box, "--json").json()["error"]["code"] == "unknown-path"
    assert everything(box.code) == before


@pytest.mark.parametrize(
    "arguments", [[], ["--check"], ["--git-hooks", "--check", "--remove"], ["--git-hooks", "x"]]
)
def test_what_cannot_be_meant_is_refused(box: Box, arguments: list[str]) -> None:
    repository(box)
    assert box.heimdall("init", *arguments).code == 2
    assert not (box.code / ".git" / "hooks").exists()


def test_a_lock_that_somebody_left_is_named(box: Box) -> None:
    hooks = repository(box)
    script(hooks / "post-commit.lock", b"")
    done = init(box)
    assert done.code == 8
    assert "post-commit.lock" in done.err
    (hooks / "post-commit.lock").unlink()
    assert init(box).code == 0


def test_every_reason_has_words_and_something_to_add() -> None:
    for why in initing.WHY:
        plan = Plan("/r", False, "/r", (Hook(EVENTS[0], State.MISSING, "/r/x", why),), ())
        first, *added = initing.by_hand(plan, "install")
        assert "{" not in first
        assert first.isprintable()
        assert all(line.startswith("    ") for line in added)
        assert "heimdall hint" in "".join(added)


def test_the_reasons_are_those_that_a_plan_may_have() -> None:
    with open(githooks.__file__, encoding="utf-8") as file:
        text = file.read()
    kinds = {"missing", "link", "other", "unreadable"}
    assert all(f'"{why}"' in text for why in set(initing.WHY) - kinds)
