"""Two ranked lists into one."""

import pytest

from heimdall.core.fuse import PER_FILE, Part, Scored, aside, fuse, merge_parts


def order(memory: list[Scored], code: list[Scored]) -> list[tuple[str, int]]:
    return [(one.source, one.at) for one, _ in fuse(memory, code)]


def test_a_memory_that_fits_stands_before_code_that_covers_no_more() -> None:
    memory = [Scored("memory", 0, 3.0, 0.8)]
    code = [Scored("code", 0, 90.0, 0.8)]
    assert order(memory, code) == [("memory", 0), ("code", 0)]


def test_code_that_fits_stands_before_a_memory_that_does_not() -> None:
    memory = [Scored("memory", 0, 3.0, 0.2)]
    code = [Scored("code", 0, 1.0, 1.0)]
    assert order(memory, code) == [("code", 0), ("memory", 0)]


def test_the_memory_keeps_its_own_order() -> None:
    topic_first = [Scored("memory", 0, 1.0, 0.3), Scored("memory", 1, 2.0, 1.0)]
    code = [Scored("code", 0, 1.0, 0.9)]
    assert order(topic_first, code) == [("memory", 0), ("memory", 1), ("code", 0)]


def test_a_test_counts_half() -> None:
    code = [Scored("code", 0, 2.0, 1.0, aside=True), Scored("code", 1, 1.6, 0.8)]
    assert order([], code) == [("code", 1), ("code", 0)]


def test_nothing_and_nothing_is_nothing() -> None:
    assert fuse([], []) == []


@pytest.mark.parametrize(
    "path",
    [
        "tests/a.py",
        "src/test/java/FooTest.java",
        "pkg/test_a.py",
        "pkg/a_test.go",
        "web/a.test.ts",
        "web/a.spec.tsx",
        "examples/a.py",
        "conftest.py",
    ],
)
def test_tests_and_examples_stand_aside(path: str) -> None:
    assert aside(path)


@pytest.mark.parametrize(
    "path", ["src/a.py", "contest.py", "latest/a.py", "pkg/testament.py", "a/protest.go"]
)
def test_what_only_sounds_like_a_test_does_not(path: str) -> None:
    assert not aside(path)


def test_a_file_lifts_its_definition_and_is_not_shown_twice() -> None:
    merged = merge_parts(
        [Part("a.py", "", 10.0), Part("b.py", "", 8.0)],
        [Part("c.py", "f", 5.0), Part("a.py", "g", 4.0)],
    )
    assert [(part.path, part.key) for part in merged] == [
        ("a.py", "g"),
        ("c.py", "f"),
        ("b.py", ""),
    ]


def test_one_file_does_not_fill_the_answer() -> None:
    merged = merge_parts([], [Part("a.py", f"f{number}", 9.0 - number) for number in range(9)])
    assert len(merged) == PER_FILE
