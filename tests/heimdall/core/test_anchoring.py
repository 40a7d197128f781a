"""Which definitions a text names."""

import pytest

from heimdall.core.anchoring import LIMIT, Definition, mentions, named
from heimdall.model import Node


def definition(qualname: str, path: str = "pkg/store.py", key: str = "") -> Definition:
    name = qualname.rsplit(".", 1)[-1]
    return Definition(
        path, Node(key or qualname, "function", name, qualname, 1, 2, "", "", qualname.encode())
    )


KNOWN = [
    definition("Store"),
    definition("Store.write"),
    definition("Store.commit_all"),
    definition("reconcile"),
    definition("resolve"),
    definition("parseHeader"),
    definition("response", "pkg/net.py"),
    definition("Other.response", "pkg/net.py"),
]


def names(text: str) -> list[str]:
    return [one.node.qualname for one in named(text, KNOWN)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("`write` must hold the lock", ["Store.write"]),
        ("call write() last", ["Store.write"]),
        ("Store.write holds the lock", ["Store.write"]),
        ("store.write holds the lock", ["Store.write"]),
        ("pkg.store.Store.write holds the lock", ["Store.write"]),
        ("self.write holds the lock", ["Store.write"]),
        ("self.write() holds the lock", ["Store.write"]),
        ("commit_all is atomic", ["Store.commit_all"]),
        ("parseHeader folds lines", ["parseHeader"]),
        ("reconcile runs twice", ["reconcile"]),
        ("we resolve it by hand", []),
        ("please write it down", []),
        ("a rewrite of writers", []),
        ("the response was late", []),
        ("`response` was late", ["response", "Other.response"]),
        ("other.store.write", []),
        ("numpy.write is another one", []),
        ("", []),
    ],
)
def test_a_text_names_what_it_names(text: str, found: list[str]) -> None:
    assert names(text) == found


def test_all_definitions_of_one_name_in_one_file_come_together() -> None:
    twice = [definition("C.size"), definition("C.size", key="C.size~2")]
    assert named("`C.size` is cached", twice) == tuple(twice)


def test_a_name_that_many_definitions_share_names_none_of_them() -> None:
    many = [definition(f"C{number}.get_it") for number in range(4)]
    assert named("`get_it` is slow", many) == ()


def test_a_qualified_name_parts_definitions_that_share_their_last_part() -> None:
    many = [definition(f"C{number}.get_it") for number in range(4)]
    assert [one.node.qualname for one in named("`C2.get_it` is slow", many)] == ["C2.get_it"]


def test_the_file_itself_is_never_named() -> None:
    node = Node("", "file", "store_file.py", "store_file.py", 1, 9, "", "", b"")
    assert named("`store_file.py`", [Definition("store_file.py", node)]) == ()


def test_only_so_many_symbols_are_pinned() -> None:
    many = [definition(f"name_{number}") for number in range(LIMIT + 5)]
    text = " ".join(one.node.name for one in many)
    assert [one.node.name for one in named(text, many)] == [one.node.name for one in many[:LIMIT]]


def test_a_name_is_dressed_if_it_is_anywhere() -> None:
    found = {mention.parts: mention.dressed for mention in mentions("a resolve, then `resolve`")}
    assert found[("resolve",)]
    assert not found[("then",)]


@pytest.mark.parametrize("letter", ["`", "A", "a", "_", "a."])
def test_a_megabyte_of_one_letter_is_read_once(letter: str) -> None:
    # Tried again at every letter, this takes hours: the test would not end.
    assert len(mentions(f"one {letter * 1_000_000} end")) >= 2
