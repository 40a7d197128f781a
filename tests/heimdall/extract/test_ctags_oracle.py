"""Definitions of Go, Rust, Java, C and C++ against universal-ctags, over the golden sources."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from heimdall.extract.facts import facts
from heimdall.model import Depth
from tests.heimdall.extract import golden

CTAGS = shutil.which("ctags")
# ctags' kinds that are definitions to us too. Fields, variables and packages are not.
KINDS = {
    "go": {"func", "struct", "interface", "type", "talias", "const", "methodSpec"},
    "rust": {
        *("function", "method", "struct", "enum", "enumerator", "interface", "module", "typedef"),
        *("macro", "constant"),
    },
    "java": {"class", "interface", "enum", "enumConstant", "method", "annotation"},
    "c": {"function", "struct", "union", "enum", "enumerator", "typedef", "macro"},
    "cpp": {
        *("function", "class", "struct", "union", "enum", "enumerator", "typedef", "macro"),
        "namespace",
    },
}
CASES = [
    case
    for case in golden.cases()
    if case.split("-")[0] in KINDS and case.split("-")[1].removesuffix(".case") == "definitions"
]


def by_ctags(path: Path, language: str) -> set[tuple[str, int]]:
    assert CTAGS is not None
    command = [CTAGS, "--output-format=json", "--fields=+neKZ", "--sort=no", "-f", "-", str(path)]
    lines = subprocess.run(command, capture_output=True, check=True).stdout.splitlines()
    found = set()
    for line in lines:
        tag = json.loads(line)
        if tag.get("_type") != "tag" or tag.get("kind") not in KINDS[language]:
            continue
        # Go's scopes begin with the package, which every definition of the file shares.
        scope = tag.get("scope", "") if tag.get("scopeKind") != "package" else ""
        scope = scope.removeprefix("srv.").replace("::", ".")
        name = tag["name"].replace("operator ==", "operator==")
        found.add((f"{scope}.{name}" if scope else name, tag["line"]))
    return {(name, line) for name, line in found if "__anon" not in name and "<" not in name}


def spans(path: Path) -> dict[str, tuple[int, int]]:
    nodes = facts(str(path), path.read_bytes(), Depth.SYMBOL).nodes[1:]
    return {node.qualname: (node.line, node.end_line) for node in nodes}


# What only we call a definition: a variable that holds a function, constants, and what this old
# ctags does not know (records; methods of nameless classes).
OURS_ALONE: dict[str, set[str]] = {
    "go": {"handler", "Pair.Key"},
    "rust": {"MAX", "COUNT", "Draw.X"},
    "java": {"A.MAX", "A.Rec", "A.go.run"},
    "c": set(),
    "cpp": set(),
}
# What only ctags does: it takes the last type parameter for the receiver; and `mod sub;` names a
# file, it defines nothing here.
CTAGS_ALONE = {"go": {"V.Key"}, "rust": {"sub"}}


@pytest.mark.skipif(CTAGS is None and "CI" not in os.environ, reason="universal-ctags is missing")
@pytest.mark.parametrize("case", CASES)
def test_definitions_are_those_that_ctags_finds(case: str, tmp_path: Path) -> None:
    name, source, _ = golden.load(case)
    path = tmp_path / name
    path.write_text(source)
    language = case.partition("-")[0]
    ours, theirs = spans(path), by_ctags(path, language)
    assert ours.keys() - {name for name, _ in theirs} == OURS_ALONE[language]
    assert {name for name, _ in theirs} - ours.keys() == CTAGS_ALONE.get(language, set())
    # A definition begins with its annotations or its keyword, ctags points to the name.
    outside = [tag for tag in theirs if tag[0] in ours and not _holds(ours[tag[0]], tag[1])]
    assert outside == []


def _holds(span: tuple[int, int], line: int) -> bool:
    return span[0] <= line <= span[1]
