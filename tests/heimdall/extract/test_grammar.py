"""Rows are switched off one by one, and whatever decides the facts is in the version."""

import os
import re

import pytest

from heimdall.extract import grammar
from heimdall.extract.captures import CODES
from heimdall.extract.languages import TABLE

HOWTO = os.path.join("docs", "howto", "add-a-language.md")


@pytest.mark.parametrize("language", [row.name for row in TABLE])
def test_every_row_has_a_grammar_and_a_query_that_compiles(language: str) -> None:
    assert isinstance(grammar.grammar(language), grammar.Grammar)


def test_a_query_that_does_not_compile_is_a_reason_and_not_an_error() -> None:
    found = grammar.load("python", "(no_such_node) @call")
    assert isinstance(found, grammar.Disabled)
    assert found.reason == "bad-query"
    assert "no_such_node" in found.detail


def test_a_capture_that_nobody_knows_switches_the_row_off() -> None:
    found = grammar.load("python", "(identifier) @whatever")
    assert isinstance(found, grammar.Disabled)
    assert (found.reason, found.detail) == ("bad-query", "unknown captures: whatever")


def test_a_missing_query_is_a_reason(tmp_path: os.PathLike[str]) -> None:
    with pytest.raises(FileNotFoundError):
        grammar.query_text("python", os.fspath(tmp_path))


def test_the_version_differs_between_languages_and_is_a_dash_without_one() -> None:
    versions = {grammar.extractor(row.name) for row in TABLE}
    assert len(versions) == len(TABLE)
    assert grammar.extractor("") == grammar.extractor("cobol") == "-"


def test_every_capture_is_explained_and_no_other() -> None:
    with open(HOWTO, encoding="utf-8") as file:
        rows = [line for line in file if line.startswith("| `@")]
    explained = [name for row in rows for name in re.findall(r"`@([\w.]+)`", row.split("|")[1])]
    assert sorted(explained) == sorted(CODES)
    assert len(explained) == len(set(explained))
