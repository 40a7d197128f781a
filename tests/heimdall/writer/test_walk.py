"""A walk lists what git counts, and names what it passes over."""

import os
import socket
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import settings as rules
from hypothesis import strategies as st

from heimdall.model import Presence
from heimdall.writer.ground import Ground
from heimdall.writer.walk import walk
from tests.support.machine import as_nobody, hand_over, let_in, need_root
from tests.support.trees import git, plant, relative, repository

NAMES = st.sampled_from(["a", "b", "a.py", "b.txt", "build", "x y", "é.py", "-n", "new\nline", "*"])
FILES = st.lists(st.lists(NAMES, min_size=1, max_size=3), min_size=1, max_size=10)
PATTERNS = st.sampled_from(
    [
        "*",
        "!*/",
        "!a.py",
        "a",
        "/a",
        "a/",
        "build/",
        "*.py",
        "!b.txt",
        "**/b",
        "a/**",
        "# c",
        "x\\ y",
    ]
)
IGNORES = st.dictionaries(
    st.sampled_from(["", "a", "b", "build"]), st.lists(PATTERNS, max_size=4), max_size=3
)
quick = rules(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def _counted_by_git(root: str) -> set[str]:
    """The oracle: what the index holds and the disk too, and what `git status` calls untracked."""
    tracked = git(root, "ls-files", "-z").split("\0")
    status = git(root, "status", "--porcelain", "-z", "--untracked-files=all", "--no-renames")
    untracked = [line[3:] for line in status.split("\0") if line.startswith("?? ")]
    names = {name.rstrip("/") for name in [*tracked, *untracked] if name}
    return {name for name in names if os.path.isfile(os.path.join(root, name))}


def _build(root: str, files: list[list[str]], ignores: dict[str, list[str]], seed: int) -> None:
    repository(root, {})
    for number, parts in enumerate(files):
        path = os.path.join(root, *parts)
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "x", encoding="utf-8") as file:
                file.write(str(number))
        except OSError:
            continue
        if (seed >> number) & 1:
            # Tracked although an ignore file may say otherwise.
            git(root, "--literal-pathspecs", "add", "-f", "--", os.path.join(*parts))
    for where, lines in ignores.items():
        directory = os.path.join(root, where)
        if os.path.isdir(directory):
            Path(directory, ".gitignore").write_text("\n".join(lines) + "\n", encoding="utf-8")


@quick
@given(
    files=FILES, ignores=IGNORES, excluded=st.lists(PATTERNS, max_size=2), seed=st.integers(0, 1023)
)
def test_inside_a_repository_exactly_what_git_counts_is_listed(
    tmp_path_factory: pytest.TempPathFactory,
    files: list[list[str]],
    ignores: dict[str, list[str]],
    excluded: list[str],
    seed: int,
) -> None:
    root = str(tmp_path_factory.mktemp("r"))
    _build(root, files, ignores, seed)
    Path(root, ".git/info/exclude").write_text("\n".join(excluded) + "\n", encoding="utf-8")
    expected = _counted_by_git(root)
    listing = walk(root)
    assert relative(list(listing.files), root) == expected
    # One path at a time the answer is the same.
    every = [os.path.join(d, name) for d, _, names in os.walk(root) for name in names]
    outside_git = [path for path in every if "/.git/" not in path]
    looked = Ground([root]).look(outside_git)
    present = [path for path, seen in looked.items() if seen.presence is Presence.PRESENT]
    assert relative(present, root) == expected


@quick
@given(files=FILES, ignores=IGNORES)
@example(files=[["new\nline", "a.py"]], ignores={"": ["*.py"]})
def test_outside_a_repository_ignore_files_mean_what_git_means_by_them(
    tmp_path_factory: pytest.TempPathFactory,
    files: list[list[str]],
    ignores: dict[str, list[str]],
) -> None:
    root = str(tmp_path_factory.mktemp("r"))
    _build(root, files, ignores, 0)
    expected = _counted_by_git(root)
    os.rename(os.path.join(root, ".git"), str(tmp_path_factory.mktemp("g") / "x"))
    listing = walk(root)
    assert relative(list(listing.files), root) == expected
    looked = Ground([root]).look(
        [os.path.join(d, name) for d, _, names in os.walk(root) for name in names]
    )
    present = [path for path, seen in looked.items() if seen.presence is Presence.PRESENT]
    assert relative(present, root) == expected


def test_foreign_trees_are_named_and_not_entered(tmp_path: Path) -> None:
    library = repository(str(tmp_path / "library"), {"lib.c": "int x;"}, commit=True)
    root = repository(str(tmp_path / "r"), {"a.py": "a = 1\n"}, commit=True)
    git(root, "submodule", "--quiet", "add", library, "sub")
    repository(os.path.join(root, "nested"), {"n.py": "n = 1\n"})
    git(root, "worktree", "add", "-q", os.path.join(root, "tree"))
    listing = walk(root)
    assert relative(list(listing.files), root) == {"a.py", ".gitmodules"}
    found = {os.path.relpath(path, root): reason for path, reason in listing.skips.items()}
    assert found == {"sub": "submodule", "nested": "nested-repository", "tree": "worktree"}


def test_a_boundary_is_the_same_thing_looked_at_alone(tmp_path: Path) -> None:
    root = repository(str(tmp_path / "r"), {"a.py": "a = 1\n"})
    nested = repository(os.path.join(root, "nested"), {"n.py": "n = 1\n"})
    seen = Ground([root]).look([nested, os.path.join(nested, "n.py")])
    assert seen[nested].reason == "nested-repository"
    assert seen[os.path.join(nested, "n.py")].presence is Presence.GONE


@pytest.mark.parametrize("in_git", [True, False])
def test_things_that_are_no_files_are_named(tmp_path: Path, in_git: bool) -> None:
    root = str(tmp_path / "r")
    if in_git:
        repository(root, {".gitignore": "secret\n", "a.py": "a = 1\n"})
    else:
        plant(root, {".gitignore": "secret\n", "a.py": "a = 1\n"})
    os.makedirs(os.path.join(root, "only", "deep"))
    os.mkfifo(os.path.join(root, "only", "deep", "pipe.py"))
    os.mkfifo(os.path.join(root, "secret"))
    os.symlink("loop", os.path.join(root, "loop"))
    os.symlink("/etc", os.path.join(root, "way out"))
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.join(root, "s"))
        listing = walk(root)
        seen = Ground([root]).look(listing.skips)
    found = {os.path.relpath(path, root): reason for path, reason in listing.skips.items()}
    expected = {"only/deep/pipe.py": "fifo", "loop": "link", "way out": "link", "s": "socket"}
    assert found == expected
    assert {os.path.relpath(p, root): one.reason for p, one in seen.items()} == expected
    assert relative(list(listing.files), root) == {".gitignore", "a.py"}


def test_a_link_in_the_place_of_a_directory_takes_its_files_away(tmp_path: Path) -> None:
    root = repository(str(tmp_path / "r"), {"d/f.py": "f = 1\n"}, commit=True)
    os.rename(os.path.join(root, "d"), str(tmp_path / "away"))
    os.symlink(str(tmp_path / "away"), os.path.join(root, "d"))
    assert walk(root).files == {}
    seen = Ground([root]).look([os.path.join(root, "d/f.py")])
    assert seen[os.path.join(root, "d/f.py")].presence is Presence.GONE


def test_a_root_inside_a_directory_that_git_ignores_is_walked_by_its_own_rules(
    tmp_path: Path,
) -> None:
    outer = repository(str(tmp_path / "r"), {".gitignore": "out/\n", "out/p/a.py": "a = 1\n"})
    root = os.path.join(outer, "out", "p")
    assert relative(list(walk(root).files), root) == {"a.py"}


def test_our_own_ignore_file_counts_on_top_of_gits(tmp_path: Path) -> None:
    root = repository(
        str(tmp_path / "r"),
        {
            ".heimdallignore": "vendor/\n*.gen.py\n",
            "vendor/v.py": "v = 1\n",
            "a.py": "a = 1\n",
            "deep/.heimdallignore": "!kept.gen.py\n",
            "deep/kept.gen.py": "k = 1\n",
            "deep/other.gen.py": "o = 1\n",
        },
        commit=True,
    )
    names = {".heimdallignore", "a.py", "deep/.heimdallignore", "deep/kept.gen.py"}
    assert relative(list(walk(root).files), root) == names
    every = [os.path.join(root, name) for name in ("vendor/v.py", "deep/other.gen.py")]
    seen = Ground([root]).look(every)
    assert {one.presence for one in seen.values()} == {Presence.GONE}


def test_the_users_git_environment_cannot_lead_the_walk_astray(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = repository(str(tmp_path / "other"), {"o.py": "o = 1\n"}, commit=True)
    root = repository(str(tmp_path / "r"), {"a.py": "a = 1\n"})
    monkeypatch.setenv("GIT_DIR", os.path.join(other, ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", os.path.join(other, ".git", "index"))
    assert relative(list(walk(root).files), root) == {"a.py"}


def test_a_git_file_that_leads_nowhere_is_no_repository(tmp_path: Path) -> None:
    root = plant(str(tmp_path / "r"), {".git": "gitdir: /nowhere\n", "a.py": "a = 1\n"})
    assert relative(list(walk(root).files), root) == {"a.py"}


def test_a_root_that_is_not_there_says_so(tmp_path: Path) -> None:
    assert walk(str(tmp_path / "no")).failure == "unreadable:ENOENT"


@pytest.mark.parametrize("in_git", [True, False])
def test_a_forbidden_directory_is_closed_and_proves_nothing_gone(
    tmp_path_factory: pytest.TempPathFactory, in_git: bool
) -> None:
    need_root()
    root = os.path.join(let_in(str(tmp_path_factory.mktemp("open"))), "r")
    plant(root, {"a.py": "a = 1\n", "shut/s.py": "s = 1\n", "listless/l.py": "l = 1\n"})
    if in_git:
        git(root, "init", "-q")
    hand_over(root)
    os.chmod(os.path.join(root, "shut"), 0)
    os.chmod(os.path.join(root, "listless"), 0o311)

    def look() -> None:
        listing = walk(root)
        assert relative(list(listing.files), root) == {"a.py"}
        assert relative(list(listing.skips), root) == {"shut", "listless"}
        assert set(listing.skips.values()) == {"unreadable:EACCES"}
        inside = [os.path.join(root, name) for name in ("shut/s.py", "listless/l.py")]
        seen = Ground([root]).look([*inside, os.path.join(root, "shut")])
        assert {one.presence for one in seen.values()} == {Presence.UNREADABLE}

    as_nobody(look)


@pytest.mark.parametrize("in_git", [True, False])
def test_a_tree_deeper_than_the_interpreters_stack_is_walked(tmp_path: Path, in_git: bool) -> None:
    root, name = plant(str(tmp_path / "r"), {".heimdallignore": "*.md\n"}), "d/" * 1100
    here = root
    for _ in range(1100):
        here += "/d"
        os.mkdir(here)
    plant(here, {"f.py": "f = 1\n"})
    if in_git:
        git(root, "init", "-q")
    found = relative(list(walk(root).files), root)
    # What clears up after the tests does recurse.
    subprocess.run(["rm", "-rf", root], check=True)
    assert found == {f"{name}f.py", ".heimdallignore"}
