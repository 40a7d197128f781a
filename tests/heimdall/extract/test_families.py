"""How families read the text of one capture: the spellings, and silence for nonsense."""

import importlib
import pkgutil
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heimdall.extract import families
from heimdall.extract.families import javascript, python
from heimdall.extract.families.base import Family, Import
from heimdall.extract.families.split import code_end, inner, split, split_angled
from heimdall.extract.languages import TABLE

FAMILIES = sorted({row.family for row in TABLE})


def test_every_family_module_is_some_rows() -> None:
    shared = {"base", "split"}
    modules = {module.name for module in pkgutil.iter_modules(families.__path__)} - shared
    assert set(FAMILIES) <= modules
    for name in modules & set(FAMILIES):
        module = importlib.import_module(f"heimdall.extract.families.{name}")
        assert isinstance(module.FAMILY, Family)


SCRAPS = st.one_of(
    st.text(max_size=60),
    st.lists(
        st.sampled_from(
            re.split(
                " ",
                "import from as a b.c ( ) { } [ ] , = : * ... ' \" # // /* export default require "
                "new \n x self this <T> -> :: ; | & && func impl use",
            )
        ),
        max_size=25,
    ).map(" ".join),
)


@pytest.mark.parametrize("name", FAMILIES)
@given(SCRAPS)
def test_no_scrap_of_text_breaks_a_family(name: str, text: str) -> None:
    kin = families.family(name)
    assert all(isinstance(item, Import) for item in kin.imports(text))
    assert all(isinstance(part, str) for pair in kin.params(text) for part in pair)
    assert all(target for target, _, _ in kin.assign(text))
    assert kin.name_parts(text or "x")
    assert isinstance(kin.type_name(text), str)
    kin.is_constant(text, text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import a", [("a", "a", "")]),
        ("import a.b as c", [("c", "a.b", "")]),
        ("import a.b", [("a", "a", ""), ("", "a.b", "")]),
        ("from a import b as c, d", [("c", "a", "b"), ("d", "a", "d")]),
        ("from . import (\n  a,  # why\n  b,\n)", [("a", ".", "a"), ("b", ".", "b")]),
        ("from .. a import b", [("b", "..a", "b")]),
        ("from importlib import x", [("x", "importlib", "x")]),
        ("from .import x", [("x", ".", "x")]),
        ("from a import*", [("*", "a", "*")]),
        ("from a import", []),
        ("import", []),
    ],
)
def test_python_imports(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert [item[:3] for item in python.imports(text)] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("X", "X"),
        ("'a.X'", "a.X"),
        ("Optional[X]", "X"),
        ("t.Optional['X']", "X"),
        ("X | None", "X"),
        ("None | X", "X"),
        ("X | Y", ""),
        ("Stack[int]", "Stack"),
        ("type[X]", ""),
        ("Callable[[int], X]", "Callable"),
        ("lambda: 0", ""),
    ],
)
def test_python_annotations_promise_one_class_or_none(text: str, expected: str) -> None:
    assert python.type_name(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(self, a, *, b)", [("self", ""), ("a", ""), ("b", "")]),
        ("(a: X = f(1, 2), *r: Y, **k)", [("a", "X"), ("r", ""), ("k", "")]),
        ("(a={1: 2}, /, b='x,y')", [("a", ""), ("b", "")]),
        ("(a,  # one, two\n b)", [("a", ""), ("b", "")]),
    ],
)
def test_python_parameters(text: str, expected: list[tuple[str, str]]) -> None:
    assert python.params(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import 'x'", [("", "x", "")]),
        ("import a, * as b from 'x'", [("a", "x", "default"), ("b", "x", "")]),
        ("import type { A } from 'x'", [("A", "x", "A")]),
        ("import { default as a, type B as C } from 'x'", [("a", "x", "default"), ("C", "x", "B")]),
        ("import a = require('x')", [("a", "x", "")]),
        ("a = require('x').b", [("a", "x", "b")]),
        ("{ a: b, c = 1 } = require('x')", [("b", "x", "a"), ("c", "x", "c")]),
        ("require('x')", [("", "x", "")]),
        ("import('x')", [("", "x", "")]),
        ("import(name)", []),
        ("export * from 'x'", [("*", "x", "*")]),
        ("export { a as b } from 'x'", [("b", "x", "a")]),
        ("module.exports = A", [("default", "", "A")]),
    ],
)
def test_javascript_imports(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert [item[:3] for item in javascript.imports(text)] == expected


def test_text_is_cut_outside_brackets_and_strings_only() -> None:
    assert split("a, (b, c), 'd, e', [f, {g: h, i: j}]", ",") == [
        "a",
        "(b, c)",
        "'d, e'",
        "[f, {g: h, i: j}]",
    ]
    assert split_angled("a: Map<K, V>, b", ",") == ["a: Map<K, V>", "b"]
    assert inner(" (a) ") == "a"


@given(st.lists(st.sampled_from([b"x = 1", b"# c", b"'# s'", b'"""\n# t"""', b"\n", b" "])))
def test_code_ends_where_only_comments_and_space_follow(parts: list[bytes]) -> None:
    text = b"".join(parts)
    end = code_end(text)
    assert 0 <= end <= len(text)
    rest = text[end:].split(b"\n")
    assert all(not line.strip() or line.strip().startswith(b"#") for line in rest)
