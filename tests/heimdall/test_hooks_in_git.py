"""Real git with the hooks installed: after each operation that a hook sees, the hints name the work
tree, and a pass that looks at nothing but hints makes the index equal to the disk."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from heimdall import edits, githooks, hints, hookground
from heimdall.model import Depth
from heimdall.writer import add_root, reconcile, verify
from tests.support import machine
from tests.support.index import settings

COMMIT, CHECKOUT, MERGE, REWRITE, PATCH, INDEX = githooks.EVENTS

Act = Callable[["World"], None]


class World:
    """A repository at `top` with three commits on two branches, under watch; git as a person runs
    it, with a state directory that the hooks find."""

    def __init__(self, tmp_path: Path) -> None:
        self.tmp = tmp_path
        self.home = tmp_path / "state"
        self.top = tmp_path / "top"
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path / "user"),
            "HEIMDALL_HOME": str(self.home),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_EDITOR": "true",
            "GIT_ALLOW_PROTOCOL": "file",
            **{f"GIT_{who}_NAME": "t" for who in ("AUTHOR", "COMMITTER")},
            **{f"GIT_{who}_EMAIL": "t@localhost" for who in ("AUTHOR", "COMMITTER")},
        }

    def begin(self) -> None:
        self.top.mkdir()
        self.git("init", "-q", "-b", "main")
        self.write("a.py", "def a(): ...\n")
        self.write("d/b.py", "def b(): ...\n")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "first")
        self.git("switch", "-q", "-c", "side")
        self.write("side.py", "def side(): ...\n")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "side")
        self.git("switch", "-q", "main")

    def git(self, *arguments: str, at: Path | None = None, **env: str) -> str:
        return subprocess.run(
            ["git", *arguments],
            cwd=at or self.top,
            env={**self.env, **env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=True,
            text=True,
        ).stdout

    def write(self, name: str, text: str) -> None:
        path = self.top / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    def diverge(self) -> None:
        """One more commit on main, so that the branches differ."""
        self.write("main.py", "def main(): ...\n")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "main")

    def install(self, at: Path | None = None) -> None:
        plan = githooks.install(hookground.look(str(at or self.top), self.env))
        edits.apply(plan.edits)
        assert not any(one.why for one in plan.hooks)

    def watch(self, *roots: Path) -> None:
        """From here on hints count: the state directory is there and the index is true."""
        made = settings(str(self.home))
        for root in roots or (self.top,):
            # No deeper: what matters here is which paths are looked at, not what is in them.
            add_root(made, str(root), depth=Depth.FILE)
        reconcile(made, None)
        assert self.hints() == set()

    def hints(self) -> set[tuple[str, str]]:
        """What waits to be taken, as (path, reason)."""
        try:
            text = (self.home / hints.FILE_NAME).read_text()
        except FileNotFoundError:
            return set()
        values = [json.loads(line) for line in text.splitlines()]
        return {(value["path"], value["reason"]) for value in values}

    def settled(self) -> bool:
        """Whether a pass over nothing but the hints leaves no drift."""
        made = settings(str(self.home))
        reconcile(made, [])
        return verify(made, deep=True) == ()


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> World:
    """What all begin with, made once."""
    made = World(tmp_path_factory.mktemp("first"))
    made.begin()
    return made


@pytest.fixture
def world(first: World, tmp_path: Path) -> World:
    made = World(tmp_path)
    shutil.copytree(first.top, made.top)
    return made


def edit(world: World) -> None:
    world.write("a.py", "def a(): return 2\n")
    world.write("d/new.py", "def new(): ...\n")


def staged(world: World) -> None:
    edit(world)
    world.git("add", "-A")


def stashed(world: World) -> None:
    staged(world)
    world.git("stash", "-q")


def patch(world: World) -> None:
    world.diverge()
    world.git("format-patch", "-q", "-1", "side", "-o", str(world.tmp))


def nothing(world: World) -> None:
    """No preparation."""


MATRIX: dict[str, tuple[Act, list[str], set[str]]] = {
    "add": (edit, ["add", "-A"], {INDEX}),
    "rm": (nothing, ["rm", "-q", "a.py"], {INDEX}),
    "mv": (nothing, ["mv", "a.py", "z.py"], {INDEX}),
    "commit": (staged, ["commit", "-q", "-m", "x"], {COMMIT}),
    "commit -a": (edit, ["commit", "-q", "-a", "-m", "x"], {COMMIT, INDEX}),
    "amend": (staged, ["commit", "-q", "--amend", "-m", "x"], {COMMIT, REWRITE}),
    "switch": (nothing, ["switch", "-q", "side"], {CHECKOUT, INDEX}),
    "checkout of a file": (edit, ["checkout", "-q", "HEAD", "--", "a.py"], {CHECKOUT, INDEX}),
    "restore": (edit, ["restore", "a.py"], {CHECKOUT, INDEX}),
    "merge ff": (nothing, ["merge", "-q", "side"], {MERGE, INDEX}),
    "merge": (World.diverge, ["merge", "-q", "side"], {MERGE, INDEX}),
    "pull": (nothing, ["pull", "-q", ".", "side"], {MERGE, INDEX}),
    "reset --hard": (staged, ["reset", "-q", "--hard"], {INDEX}),
    "reset --hard to a commit": (nothing, ["reset", "-q", "--hard", "side"], {INDEX}),
    "stash push": (edit, ["stash", "-q"], {INDEX}),
    "stash pop": (stashed, ["stash", "pop", "-q"], {INDEX}),
    "cherry-pick": (World.diverge, ["cherry-pick", "side"], {COMMIT, INDEX}),
    "revert": (World.diverge, ["revert", "--no-edit", "HEAD"], {COMMIT, INDEX}),
    "rebase": (World.diverge, ["rebase", "-q", "side"], {CHECKOUT, COMMIT, REWRITE, INDEX}),
    "am": (patch, ["am", "-q", "../0001-side.patch"], {PATCH, INDEX}),
    "sparse-checkout": (nothing, ["sparse-checkout", "set", "--no-cone", "a.py"], {INDEX}),
}


@pytest.mark.parametrize("operation", MATRIX)
def test_what_git_does_to_the_work_tree_is_hinted_at(world: World, operation: str) -> None:
    prepare, command, events = MATRIX[operation]
    prepare(world)
    world.watch()
    world.install()
    if prepare is edit:
        # What a person edited by hand no hook has seen; only git's own part is looked for here.
        reconcile(settings(str(world.home)), None)
    world.git(*command)
    said = world.hints()
    assert {path for path, _ in said} == {str(world.top)}
    assert {reason for _, reason in said} >= events
    assert world.settled()
    assert world.hints() == set()


@pytest.mark.parametrize("command", [["clean", "-fdq"], ["apply", "../0001-side.patch"]])
def test_what_no_hook_sees_is_found_by_the_audit(world: World, command: list[str]) -> None:
    patch(world)
    edit(world)
    world.watch()
    world.install()
    world.git(*command)
    assert world.hints() == set()
    made = settings(str(world.home))
    assert verify(made) != ()
    reconcile(made, None)
    assert verify(made, deep=True) == ()


def test_a_pass_hints_at_nothing_itself(world: World) -> None:
    world.watch()
    world.install()
    os.utime(world.top / "a.py")
    reconcile(settings(str(world.home)), None, everything=True)
    assert world.hints() == set()


def test_a_linked_worktree_names_itself(world: World) -> None:
    linked = world.tmp / "linked"
    world.watch()
    world.install()
    world.git("worktree", "add", "-q", str(linked), "side")
    assert (str(linked), CHECKOUT) in world.hints()
    world.settled()
    world.watch(linked)
    (linked / "more.py").write_text("def more(): ...\n")
    world.git("add", "-A", at=linked)
    world.git("commit", "-q", "-m", "there", at=linked)
    assert world.hints() == {(str(linked), INDEX), (str(linked), COMMIT)}
    assert world.settled()
    there = hookground.look(str(linked), world.env)
    assert githooks.install(there).edits == ()


def test_a_submodule_names_itself(world: World) -> None:
    other = world.tmp / "other"
    shutil.copytree(world.top, other)
    world.git("submodule", "--quiet", "add", str(other), "sub")
    sub = world.top / "sub"
    world.git("commit", "-q", "-m", "sub")
    world.git("switch", "-q", "-c", "moved")
    world.git("checkout", "-q", "origin/side", at=sub)
    world.git("commit", "-q", "-a", "-m", "moved")
    world.watch(world.top, sub)
    world.install()
    world.install(sub)
    world.git("switch", "-q", "main")
    assert {path for path, _ in world.hints()} == {str(world.top)}
    world.git("submodule", "--quiet", "update")
    assert (str(sub), CHECKOUT) in world.hints()
    assert not (sub / "side.py").exists()
    assert world.settled()


def test_a_bare_repository_is_passed_over(world: World) -> None:
    bare = world.tmp / "bare.git"
    world.git("clone", "-q", "--bare", str(world.top), str(bare))
    for event in githooks.EVENTS:
        (bare / "hooks" / event).write_bytes(githooks.whole_file(event))
        (bare / "hooks" / event).chmod(0o755)
    world.watch()
    world.git("read-tree", "HEAD", at=bare)
    assert (bare / "index").exists()
    assert world.hints() == set()
    world.git("worktree", "add", "-q", str(world.tmp / "linked"), "side", at=bare)
    assert {path for path, _ in world.hints()} == {str(world.tmp / "linked")}


def test_variables_that_point_at_the_repository_are_no_trouble(world: World) -> None:
    world.watch()
    world.install()
    edit(world)
    exported = {"GIT_DIR": str(world.top / ".git"), "GIT_WORK_TREE": str(world.top)}
    world.git("add", "-A", at=world.top / "d", **exported)
    assert world.hints() == {(str(world.top), INDEX)}
    index = str(world.tmp / "index")
    world.git("read-tree", "HEAD", at=world.top, GIT_INDEX_FILE=index)
    world.git("commit", "-q", "-m", "x", at=world.top, **exported)
    assert world.settled()


def test_a_link_to_the_work_tree_is_seen_through(world: World) -> None:
    (world.tmp / "link").symlink_to(world.top)
    world.watch()
    world.install()
    edit(world)
    world.git("add", "-A", at=world.tmp / "link", PWD=str(world.tmp / "link"))
    assert world.hints() == {(str(world.top), INDEX)}


def test_what_git_prints_and_how_it_ends_is_as_without_hooks(world: World) -> None:
    """Also where the state directory is missing, or may not be written to."""

    def told() -> tuple[str, str]:
        return world.git("checkout", "side"), world.git("checkout", "main")

    before = told()
    world.install()
    assert told() == before  # no state directory yet
    assert not world.home.exists()
    world.watch()
    assert told() == before
    assert world.git("status", "--porcelain") == ""


def test_a_state_directory_that_may_not_be_written_stops_nothing(world: World) -> None:
    world.install()
    world.home.mkdir()
    world.home.chmod(0o555)

    def act() -> None:
        world.git("switch", "-q", "side")

    machine.bound_by_modes(act)
    assert list(world.home.iterdir()) == []
    assert (world.top / "side.py").exists()
