"""What an ignore file means, with git as the oracle: in a repository and out of one."""

import os
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import settings as rules
from hypothesis import strategies as st

from heimdall.model import Presence
from heimdall.writer.ground import Ground
from heimdall.writer.walk import walk
from heimdall.writer.wildmatch import patterns
from tests.support.trees import plant, relative

NAMES = ["a", "b", "A", "ab", "#a", "!a", " a", "a ", "a\\", "[a]", "é", "a.b", "*", "x y", "a\tb"]
NAMES += ["-", "]", "^a", "abc", "a\nb", "\x0cq", "a\u2028"]
BRACKETS = ["[ab]", "[!a]", "[^a]", "[a-c]", "[[:alpha:]]", "[[:space:]]", "[]a]", "[!]a]", "[a"]
BRACKETS += ["[\\]a]", "[a\\-c]", "[--0]", "[z-a]", "[\\!a]", "[!^]", "[*]", "[a/b]", "[[:x:]]"]
PIECES = ["a", "b", "A", "*", "?", "**", "/", "**/", "/**", "/**/", "a/", "/a", "\\a", "\\*", "\\ "]
PIECES += [" ", "#", "!", "\\#", "\\!", ".", "]", "é", "\t", "\\", "-", "\x0c", "\u2028", "^"]
LINE = st.tuples(
    st.sampled_from(["", "", "", "!", "/"]),
    st.lists(st.sampled_from(PIECES + BRACKETS), min_size=1, max_size=4).map("".join),
    st.sampled_from(["", "", "", "/", " ", "  ", "\\ ", "\t", "\r"]),
).map("".join)
FILE = st.tuples(
    st.sampled_from(["", "", "\ufeff"]),
    st.lists(LINE, max_size=3),
    st.sampled_from(["\n", "\r\n"]),
).map(lambda parts: (parts[0] + parts[2].join([*parts[1], ""])).encode())
EXAMPLES = 400 if os.environ.get("TESTS_FULL") else 40
many = rules(max_examples=EXAMPLES, deadline=None)


class World(NamedTuple):
    """One tree of hostile names, a git directory that tracks nothing of it and one that tracks
    some, and a home."""

    tree: str
    nothing: str
    some: str
    home: str

    def git(self, directory: str, *arguments: str) -> str:
        environment = {"PATH": os.environ["PATH"], "HOME": self.home, "GIT_CONFIG_NOSYSTEM": "1"}
        command = ["git", f"--git-dir={directory}", f"--work-tree={self.tree}", *arguments]
        done = subprocess.run(
            command, cwd=self.tree, env=environment, capture_output=True, check=True
        )
        return os.fsdecode(done.stdout)

    def counted(self, directory: str) -> set[str]:
        """The oracle."""
        listed = self.git(directory, "ls-files", "-z", "-c", "-o", "--exclude-standard")
        return {name for name in listed.split("\0") if name}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    top = tmp_path_factory.mktemp("ignore")
    made = World(*(str(top / name) for name in ("tree", "nothing", "some", "home")))
    choose = random.Random(1)
    for above in NAMES:
        for name in choose.sample(NAMES, 6):
            deeper = f"{name}/{choose.choice(NAMES)}" if choose.random() < 0.3 else name
            plant(made.tree, {f"{above}/{deeper}": ""})
    plant(made.tree, dict.fromkeys(("f", "c", "#", "!b"), ""))
    plant(made.home, {".config/git/ignore": ""})
    for directory in (made.nothing, made.some):
        subprocess.run(["git", "init", "-q", "--bare", directory], check=True)
        made.git(directory, "config", "core.bare", "false")
    made.git(made.some, "--literal-pathspecs", "add", "-f", "A", "a ", "[a]", "f")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", made.home)
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        patch.delenv("XDG_CONFIG_HOME", raising=False)
        yield made


def _one_by_one(tree: str) -> set[str]:
    every = [os.path.join(d, name) for d, _, names in os.walk(tree) for name in names]
    looked = Ground([tree]).look([path for path in every if f"{tree}/.git/" not in path])
    return relative([p for p, seen in looked.items() if seen.presence is Presence.PRESENT], tree)


@many
@given(top=FILE, inner=FILE, users=FILE, tracked=st.booleans())
@example(top=b"a**/b\n!\n/\n", inner=b"\\", users=b"", tracked=False)
@example(top=b"*\n!*/\n!a\n", inner=b"*\n", users=b"!b\n", tracked=True)
def test_ignore_files_mean_what_git_means_by_them(
    world: World, top: bytes, inner: bytes, users: bytes, tracked: bool
) -> None:
    Path(world.tree, ".gitignore").write_bytes(top)
    Path(world.tree, "a", ".gitignore").write_bytes(inner)
    Path(world.home, ".config/git/ignore").write_bytes(users)
    directory = world.some if tracked else world.nothing
    expected = world.counted(directory)
    if not tracked:
        assert relative(list(walk(world.tree).files), world.tree) == expected
        assert _one_by_one(world.tree) == expected
        return
    os.rename(directory, os.path.join(world.tree, ".git"))
    try:
        assert relative(list(walk(world.tree).files), world.tree) == expected
        assert _one_by_one(world.tree) == expected
    finally:
        os.rename(os.path.join(world.tree, ".git"), directory)


@many
@given(top=FILE, inner=FILE)
def test_our_own_ignore_file_is_read_as_git_reads_its_own(
    world: World, top: bytes, inner: bytes
) -> None:
    Path(world.home, ".config/git/ignore").write_bytes(b"")
    places = [(".", top), ("a", inner)]
    for place, data in places:
        Path(world.tree, place, ".gitignore").write_bytes(data)
    expected = world.counted(world.nothing)
    for place, _ in places:
        os.rename(f"{world.tree}/{place}/.gitignore", f"{world.tree}/{place}/.heimdallignore")
    try:
        found = relative(list(walk(world.tree).files), world.tree)
        # The names of the ignore files themselves may be spoken of too.
        visible = {name for name in expected if "ignore" not in name}
        assert {name for name in found if "ignore" not in name} == visible
    finally:
        for place, _ in places:
            os.unlink(f"{world.tree}/{place}/.heimdallignore")


def test_a_hostile_pattern_ends() -> None:
    name = b"a" * 200 + b"/" + b"a/" * 900 + b"c"
    for line in (b"*a" * 60 + b"b", b"/" + b"**/a/" * 60 + b"b", b"/" + b"*/**/a*" * 40):
        (one,) = patterns(line)
        # Tried in every way there is, it would outlast the suite's own limit by ages.
        assert not one.matches(name, is_directory=False)
