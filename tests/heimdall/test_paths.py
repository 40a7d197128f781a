"""Names of paths: one file, one name."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heimdall import paths
from heimdall.errors import BadArgument

PARTS = st.lists(st.sampled_from(["a", "b", "..", ".", "", "c d", "é", "x\n"]), max_size=6)


@given(PARTS)
def test_a_normal_path_is_absolute_and_normal_again(parts: list[str]) -> None:
    path = paths.normal("/".join(parts) or ".", "/nowhere/at/all")
    assert path.startswith("/")
    assert paths.normal(path, "/elsewhere") == path
    assert not {"..", "."} & set(path.split("/"))


def test_a_link_in_the_parents_is_resolved_and_the_last_part_is_kept(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "f.py").symlink_to("elsewhere")
    (tmp_path / "alias").symlink_to("real")
    found = paths.normal("alias/f.py", str(tmp_path))
    assert found == os.path.join(os.path.realpath(tmp_path), "real", "f.py")


@pytest.mark.parametrize(("path", "problem"), [("", "empty"), ("a\0b", "nul")])
def test_what_no_file_can_be_called_is_refused(path: str, problem: str) -> None:
    with pytest.raises(BadArgument) as caught:
        paths.normal(path, "/")
    assert caught.value.problem == problem


def test_a_tilde_is_an_ordinary_character() -> None:
    assert paths.normal("~/f", "/x") == "/x/~/f"


@pytest.mark.parametrize(
    ("path", "root", "inside"),
    [
        ("/a/b", "/a", True),
        ("/a", "/a", True),
        ("/ab", "/a", False),
        ("/a", "/a/b", False),
        ("/anything", "/", True),
    ],
)
def test_under_compares_whole_parts(path: str, root: str, inside: bool) -> None:
    assert paths.under(path, root) is inside


def test_the_innermost_root_holds_a_path() -> None:
    assert paths.root_of("/a/b/c", ["/a", "/a/b", "/a/bb"]) == "/a/b"
    assert paths.root_of("/x", ["/a"]) is None


@pytest.mark.parametrize(("root", "seen"), [("/", "a/b"), ("/a", "b"), ("/a/b", ".")])
def test_a_path_as_seen_from_its_root(root: str, seen: str) -> None:
    assert paths.relative("/a/b", root) == seen


def test_the_parents_between_a_root_and_a_path() -> None:
    assert paths.parents("/r/a/b/c.py", "/r") == ("/r/a", "/r/a/b")
    assert paths.parents("/a/b", "/") == ("/a",)
    assert paths.parents("/r", "/r") == ()


@pytest.mark.parametrize(
    ("path", "skipped"),
    [
        ("/r/.git/config", True),
        ("/r/a/.mem/entries/x", True),
        ("/r/.gitignore", False),
        ("/r/a.mem", False),
    ],
)
def test_stores_and_version_control_are_never_indexed(path: str, skipped: bool) -> None:
    assert paths.never(path, "/r") is skipped


def test_a_root_may_be_called_anything() -> None:
    assert not paths.never("/x/.mem", "/x/.mem")


def test_ids_are_the_path_or_path_and_key() -> None:
    assert paths.node_id("/a.py", "") == "/a.py"
    assert paths.node_id("/a.py", "C.f~2") == "/a.py#C.f~2"


def test_the_top_of_a_repository_may_be_marked_by_a_file(tmp_path: Path) -> None:
    (tmp_path / "w" / "deep").mkdir(parents=True)
    (tmp_path / "w" / ".git").write_text("gitdir: elsewhere\n")
    assert paths.repository_top(str(tmp_path / "w" / "deep")) == str(tmp_path / "w")
