"""What is nearly the same and what only is about the same; the bounds lie between the two."""

import json
from pathlib import Path
from typing import Any

import pytest

from gitmemo import Draft
from gitmemo.likeness import head, likeness
from tests.support.memory import project

Said = tuple[str, str, tuple[str, ...]]

with open(Path(__file__).with_name("look_alikes.json"), encoding="utf-8") as _file:
    _TABLE = json.load(_file)


def _said(one: dict[str, Any]) -> Said:
    return one["title"], one["summary"], tuple(one["keywords"])


_PAIRS = {row["pair"]: (_said(row["one"]), _said(row["other"])) for row in _TABLE}
NEAR: dict[str, tuple[Said, Said]] = {
    row["pair"]: _PAIRS[row["pair"]] for row in _TABLE if row["near"]
}
DIFFERENT = {name: pair for name, pair in _PAIRS.items() if name not in NEAR}


@pytest.mark.parametrize("name", NEAR)
def test_who_says_the_same_again_is_near(name: str) -> None:
    one, other = (head(*said) for said in NEAR[name])
    assert likeness(one, other) > 0.5
    assert likeness(other, one) == likeness(one, other)


@pytest.mark.parametrize("name", DIFFERENT)
def test_another_fact_about_the_same_is_not(name: str) -> None:
    one, other = (head(*said) for said in DIFFERENT[name])
    assert likeness(one, other) == likeness(other, one) == 0.0


def test_of_all_entries_of_the_table_only_those_of_one_fact_are_near() -> None:
    heads = [(name, head(*said)) for name, pair in (NEAR | DIFFERENT).items() for said in pair]
    near = {
        (one, other)
        for at, (one, first) in enumerate(heads)
        for other, second in heads[at + 1 :]
        if likeness(first, second)
    }
    of_one_fact = {
        ("reworded lightly", "same subject, another question"),
        ("Korean, a word more", "Korean, two facts"),
    }
    assert near == {(name, name) for name in NEAR} | of_one_fact


def test_empty_heads_are_like_nothing() -> None:
    assert likeness(head("", "", ()), head("", "", ())) == 0.0
    assert likeness(head("!!", "??", ()), head("a title", "of words", ("x", "y"))) == 0.0


@pytest.mark.parametrize("name", NEAR)
def test_a_write_names_the_one_that_says_it_already(tmp_path: Path, name: str) -> None:
    store = project(tmp_path)
    (title, summary, keywords), again = NEAR[name]
    first = store.write(Draft(title, summary, keywords, "a"))
    other = store.write(Draft("something else", "Entirely.", ("other", "thing"), "b"))
    second = store.write(Draft(*again, "c"))
    assert (first.similar, other.similar, second.similar) == ((), (), (first.id,))


def test_a_replacement_names_others_and_not_the_one_it_replaces(tmp_path: Path) -> None:
    store = project(tmp_path)
    (title, summary, keywords), again = NEAR["another number"]
    first = store.write(Draft(title, summary, keywords, "a"))
    assert store.replace(first.id, Draft(*again, "b")).similar == ()
    third = store.write(Draft(title, summary, keywords, "c"))
    assert len(third.similar) == 1
    fourth = store.replace(third.id, Draft(title, summary, keywords, "d"))
    assert fourth.similar == third.similar


def test_the_near_one_is_found_among_many_about_the_same(tmp_path: Path) -> None:
    store = project(tmp_path)
    (title, summary, keywords), again = NEAR["another number"]
    first = store.write(Draft(title, summary, keywords, "a"))
    for n in range(60):
        store.write(Draft(f"[cache] note{n} on it", f"Says fact{n}.", ("cache", "limit"), f"b{n}"))
    assert first.id in store.write(Draft(*again, "c")).similar
