"""Two ranked lists into one.

Pure. Scores of different sources cannot be compared; what can be is the share of the query that a
hit covers and how it stands against the best of its own source. Memory comes first where it fits,
because someone wrote it down on purpose; tests and examples mention everything and answer little.
Held by tests/heimdall/core/test_fuse.py.
"""

from collections.abc import Sequence

from gitmemo.values import NamedTuple

COVERAGE_WEIGHT = 0.7
"""How much of a hit's value is the query's share it covers; the rest is its standing at home."""

MEMORY_FIRST = 0.5
"""From this coverage on, a memory stands before any code that covers the query no better."""

HALF = 0.5
"""What remains of the value of a test or an example."""

PER_FILE = 3
"""Definitions of one file that an answer shows at most."""

FOLDERS = frozenset(
    {
        *("test", "tests", "testing", "__tests__", "testdata", "spec", "specs"),
        *("example", "examples", "demo", "demos", "sample", "samples"),
        *("fixture", "fixtures", "benchmark", "benchmarks"),
    }
)
"""Directories whose files are about the code and not the code."""


class Scored(NamedTuple):
    """One hit of one source before the fusion. `at` finds it again in its source's list; `score` is
    that source's own; `aside` marks tests and examples."""

    source: str
    at: int
    score: float
    coverage: float
    aside: bool = False


class Part(NamedTuple):
    """One found document of the code index: a file (`key` "") or a definition of it."""

    path: str
    key: str
    score: float


def aside(path: str) -> bool:
    """Whether a project-relative path is a test, an example or a benchmark."""
    *folders, name = path.split("/")
    if not FOLDERS.isdisjoint(folders):
        return True
    stem = name.partition(".")[0] if not name.startswith(".") else name
    if name == "conftest.py" or stem.startswith("test_"):
        return True
    if stem.endswith(("_test", "_tests", "_spec", "-test", "-spec", "Test", "Tests")):
        return True
    return ".test." in name or ".spec." in name


def fuse(memory: Sequence[Scored], code: Sequence[Scored]) -> list[tuple[Scored, float]]:
    """Both lists as one, best first, each hit with its value. The memory's own order is kept: it
    knows which topic sums up which entry."""
    valued = _values(memory)
    for at in range(len(valued) - 2, -1, -1):
        one, value = valued[at]
        valued[at] = (one, max(value, valued[at + 1][1]))
    # Stable: equal values keep the order in which the sources gave them, memory first.
    return sorted(valued + _values(code), key=lambda pair: -pair[1])


def _values(hits: Sequence[Scored]) -> list[tuple[Scored, float]]:
    """Each hit of one source with its value."""
    top = max((hit.score for hit in hits), default=0.0)
    return [(hit, _value(hit, hit.score / top if top > 0 else 0.0)) for hit in hits]


def _value(one: Scored, standing: float) -> float:
    value = COVERAGE_WEIGHT * one.coverage + (1.0 - COVERAGE_WEIGHT) * max(0.0, standing)
    if one.source == "memory" and one.coverage >= MEMORY_FIRST:
        value += 1.0 - COVERAGE_WEIGHT
    return value * HALF if one.aside else value


def merge_parts(files: Sequence[Part], symbols: Sequence[Part]) -> list[Part]:
    """The code index's two lists as one without doubles, best first, scores from 0 to 2.

    A file that was found for its content lifts its definitions that were found for their names; it
    stands for itself only where none of them was found.
    """
    file_top = max((part.score for part in files), default=0.0) or 1.0
    symbol_top = max((part.score for part in symbols), default=0.0) or 1.0
    of_file = {part.path: part.score / file_top for part in files}
    shown: dict[str, int] = {}
    merged: list[Part] = []
    for part in symbols:
        count = shown.get(part.path, 0)
        if count < PER_FILE:
            shown[part.path] = count + 1
            lift = of_file.get(part.path, 0.0) if count == 0 else 0.0
            merged.append(part._replace(score=part.score / symbol_top + lift))
    merged += [part._replace(score=of_file[part.path]) for part in files if part.path not in shown]
    return sorted(merged, key=lambda part: (-part.score, part.path, part.key))
