"""Which row a file belongs to, by its name and first bytes."""

import pytest

from heimdall.extract.languages import TABLE, detect


@pytest.mark.parametrize(
    ("path", "head", "language"),
    [
        ("a/b.py", b"", "python"),
        ("B.PY", b"", "python"),
        ("stub.pyi", b"", "python"),
        ("x.mjs", b"", "javascript"),
        ("x.jsx", b"", "javascript"),
        ("x.ts", b"const a = 1;", "typescript"),
        ("x.d.ts", b"declare var a: string;", "typescript"),
        ("x.tsx", b"", "tsx"),
        ("SConstruct", b"", "python"),
        ("tool", b"#!/usr/bin/env python3\n", "python"),
        ("tool", b"#!/usr/bin/env -S python3.12 -u\n", "python"),
        ("tool", b"#! /usr/local/bin/node\n", "javascript"),
        ("tool", b"#!/bin/sh\n", ""),
        ("README.md", b"# x", ""),
        (".py", b"", ""),
        ("", b"", ""),
    ],
)
def test_a_file_is_known_by_name_and_first_line(path: str, head: bytes, language: str) -> None:
    assert detect(path, head) == language


@pytest.mark.parametrize(
    "head",
    [
        b'<?xml version="1.0"?>\n<!DOCTYPE TS>\n<TS version="2.1">',
        b"\xef\xbb\xbf<!DOCTYPE TS>",
        b"\x47\x40\x11\x10\x00" + b"\xff" * 183 + b"\x47" + b"\xff" * 187,
    ],
)
def test_translations_and_films_called_ts_are_not_typescript(head: bytes) -> None:
    assert detect("film.ts", head) == ""


def test_a_typescript_file_that_begins_with_a_capital_g_is_typescript() -> None:
    assert detect("x.ts", b"Global.start();\n" * 40) == "typescript"


def test_no_suffix_or_name_belongs_to_two_rows() -> None:
    claims = [claim for row in TABLE for claim in (*row.suffixes, *row.filenames, *row.shebangs)]
    assert len(claims) == len(set(claims))
