"""Every failure has its row: exit code, sentence, hint. No class and no problem goes without."""

import ast
import os
from collections.abc import Iterator

import pytest

import gitmemo
import heimdall
from heimdall import errors
from heimdall.cli import exits

ROOTS = (gitmemo.GitMemoError, errors.HeimdallError)
ABSTRACT = {
    "GitMemoError",
    "HeimdallError",
    "CallerError",
    "StoreError",
    "WorldError",
    "JournalError",
}


def classes(root: type[Exception]) -> Iterator[type[Exception]]:
    yield root
    for child in root.__subclasses__():
        yield from classes(child)


EVERY = [one for root in ROOTS for one in classes(root)]


def example(kind: type[Exception]) -> gitmemo.GitMemoError | errors.HeimdallError:
    """An error of this kind with plausible facts."""
    count = kind.__init__.__code__.co_argcount - 1
    names = kind.__init__.__code__.co_varnames[1 : 1 + count]
    facts: dict[str, object] = {"candidates": ("a" * 40,), "successors": ("b" * 40,)}
    facts |= {"waited_s": 1.5, "code": 28, "problem": "empty"}
    made = kind(*[facts.get(name, f"<{name}>") for name in names])
    assert isinstance(made, gitmemo.GitMemoError | errors.HeimdallError)
    return made


@pytest.mark.parametrize("kind", EVERY, ids=lambda kind: f"{kind.__module__}.{kind.__name__}")
def test_every_error_class_has_a_row_of_its_own_or_is_never_raised(kind: type[Exception]) -> None:
    assert kind in exits.TABLE or kind.__name__ in ABSTRACT


def test_no_row_is_left_over() -> None:
    assert set(exits.TABLE) <= set(EVERY)


@pytest.mark.parametrize(
    "kind",
    [kind for kind in EVERY if kind.__name__ not in ABSTRACT],
    ids=lambda kind: kind.__name__,
)
def test_every_failure_is_one_sentence_with_a_documented_code(kind: type[Exception]) -> None:
    explained = exits.explain(example(kind))
    assert explained.message
    assert explained.message.isprintable()
    assert explained.hint.isprintable()
    assert "{" not in explained.message + explained.hint
    assert not explained.message.endswith(".")
    assert 1 <= explained.exit_code < 10


def raised_problems() -> Iterator[tuple[str, str]]:
    """Every (file, problem) that is handed to InvalidDraft anywhere in the two packages."""
    for package in (gitmemo, heimdall):
        assert package.__file__ is not None
        for folder, _, files in os.walk(os.path.dirname(package.__file__)):
            for name in files:
                if name.endswith(".py"):
                    yield from _problems_in(os.path.join(folder, name))


def _problems_in(path: str) -> Iterator[tuple[str, str]]:
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and _name(call.func) == "InvalidDraft" and call.args[1:]:
            for part in ast.walk(call.args[1]):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield os.path.basename(path), part.value


def _name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def test_every_problem_of_a_draft_has_its_sentence() -> None:
    raised = {problem for _, problem in raised_problems()}
    assert raised == set(exits.PROBLEMS)


def test_a_sentence_stays_one_line_whatever_the_facts_hold() -> None:
    error = gitmemo.UnknownId("dead\nbeef\x1b[31m" + "x" * 5000)
    explained = exits.explain(error)
    assert "\n" not in explained.message
    assert "\x1b" not in explained.message
    assert len(explained.message) < 400
