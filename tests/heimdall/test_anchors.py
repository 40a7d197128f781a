"""Symbol anchors for a memory that is about to be written."""

import hashlib
from pathlib import Path

import pytest

from gitmemo import Anchor
from heimdall.anchors import anchor_symbols
from heimdall.errors import UnknownPath

CODE = """\
def parse_line(text):
    return text.split()


class Reader:
    @property
    def size(self):
        return 1

    @size.setter
    def size(self, value):
        self._size = value
"""

PARSE_LINE = "def parse_line(text):\n    return text.split()"


@pytest.fixture
def root(tmp_path: Path) -> str:
    (tmp_path / "a.py").write_text(CODE)
    (tmp_path / "b.py").write_text("def helper_two():\n    pass\n")
    (tmp_path / "notes.md").write_text("`parse_line` is described here\n")
    (tmp_path / "blob.bin").write_bytes(b"\0\1\2")
    return str(tmp_path)


def names(found: tuple[Anchor, ...]) -> list[tuple[str, str | None]]:
    return [(anchor.path, anchor.symbol) for anchor in found]


def test_the_hash_is_that_of_the_symbols_own_bytes(root: str) -> None:
    digest = hashlib.sha256(PARSE_LINE.encode()).hexdigest()
    assert anchor_symbols(root, "parse_line splits", ["a.py"]) == (
        Anchor(f"sha256:{digest}", "a.py", "parse_line"),
    )


def test_only_related_files_are_looked_at(root: str) -> None:
    text = "parse_line and helper_two"
    assert names(anchor_symbols(root, text, ["b.py"])) == [("b.py", "helper_two")]


def test_a_property_is_pinned_with_its_setter(root: str) -> None:
    assert names(anchor_symbols(root, "`Reader.size` is plain", ["a.py"])) == [
        ("a.py", "Reader.size"),
        ("a.py", "Reader.size"),
    ]


def test_what_was_asked_for_is_pinned_whether_named_or_not(root: str) -> None:
    found = anchor_symbols(root, "no name here", ["a.py"], {"a.py": ["Reader"]})
    assert names(found) == [("a.py", "Reader")]


def test_what_was_asked_for_and_named_is_pinned_once(root: str) -> None:
    found = anchor_symbols(root, "`parse_line`", ["a.py"], {"a.py": ["parse_line"]})
    assert names(found) == [("a.py", "parse_line")]


@pytest.mark.parametrize(
    ("path", "symbol"),
    [("a.py", "parse_lines"), ("notes.md", "parse_line"), ("nowhere.py", "f"), ("a.py", "")],
)
def test_a_symbol_that_is_not_there_is_an_error(root: str, path: str, symbol: str) -> None:
    with pytest.raises(UnknownPath) as caught:
        anchor_symbols(root, "", [path], {path: [symbol]})
    assert caught.value.path == f"{path}#{symbol}"


def test_files_without_definitions_give_none(root: str) -> None:
    text = "`parse_line` in a folder"
    assert anchor_symbols(root, text, ["notes.md", "blob.bin", ".", "nowhere.py"]) == ()
