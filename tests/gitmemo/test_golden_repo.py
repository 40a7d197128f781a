"""Stores written by another engine: its searches, its reads and its refusals, recorded."""

import json
import os
from datetime import datetime
from typing import Any

import pytest

import gitmemo
from gitmemo import Mode, Store
from tests.support.memory import GOLDEN, golden

MODES = {"count": Mode.TRAILER, "weighted": Mode.TRAILER_WEIGHTED}
REFUSALS = (
    ("single line", gitmemo.InvalidDraft),
    ("1-15", gitmemo.InvalidDraft),
    ("must not be empty", gitmemo.InvalidDraft),
    ("at most 64", gitmemo.InvalidDraft),
    ("non-negative", gitmemo.InvalidDraft),
    ("control characters", gitmemo.InvalidDraft),
    ("no such commit", gitmemo.CallerError),
    ("stale snapshot", gitmemo.StaleSnapshot),
    ("requires a commit hash", gitmemo.InvalidId),
    ("no entry file found", gitmemo.UnknownId),
)


def expected(name: str) -> dict[str, Any]:
    with open(os.path.join(GOLDEN, f"{name}.expected.json"), encoding="utf-8") as file:
        loaded: dict[str, Any] = json.load(file)
    return loaded


EXPECTED = {name: expected(name) for name in ("repo", "merged")}
CASES = {
    what: [(name, case) for name, all_ in EXPECTED.items() for case in all_.get(what, ())]
    for what in ("queries", "reads", "deletable")
}


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Store]:
    made = {}
    for name, all_ in EXPECTED.items():
        now = datetime.fromisoformat(all_["now"]).timestamp()
        made[name] = golden(name, tmp_path_factory.mktemp(name), now=now)
    return made


def label(value: object) -> str:
    return str(value.get("id", value.get("desc"))) if isinstance(value, dict) else str(value)


def refusal(text: str) -> type[Exception]:
    return next(error for stem, error in REFUSALS if stem in text)


def recorded(case: dict[str, Any]) -> dict[str, Any]:
    """The record without the other engine's remarks to its own callers."""
    remarks = ("warning", "diagnostics")
    return {name: value for name, value in case["result"].items() if name not in remarks}


def search(store: Store, case: dict[str, Any]) -> dict[str, Any]:
    """Our answer in the shape of the record."""
    words = case["keywords"]
    if isinstance(words, str):  # the other engine also takes one text with commas
        words = [word for word in map(str.strip, words.split(",")) if word]
    page = store.search(
        words,
        mode=MODES[case["scoring"]],
        limit=case["limit"],
        skip=case.get("skip", 0),
        snapshot=case.get("snapshot"),
    )
    return {
        "snapshot": page.snapshot,
        "total": page.total,
        "next_skip": page.next_skip,
        "results": [
            {
                "hash": hit.id,
                "title": hit.title,
                "date": hit.date,
                "summary": hit.summary,
                "keywords": list(hit.keywords),
                "kind": hit.kind.value,
                "score": hit.score,
                "matched_keywords": list(hit.matched),
            }
            for hit in page.hits
        ],
    }


@pytest.mark.parametrize(("name", "case"), CASES["queries"], ids=label)
def test_a_trailer_search_answers_as_the_other_engine_did(
    stores: dict[str, Store], name: str, case: dict[str, Any]
) -> None:
    if isinstance(case.get("skip", 0), float):
        pytest.skip("a fraction of a page cannot be said to a typed function")
    if "error" in case:
        with pytest.raises(refusal(case["error"])):
            search(stores[name], case)
        return
    assert search(stores[name], case) == recorded(case)


@pytest.mark.parametrize(("name", "case"), CASES["reads"], ids=label)
def test_a_read_gives_what_the_other_engine_gave(
    stores: dict[str, Store], name: str, case: dict[str, Any]
) -> None:
    if "error" in case:
        with pytest.raises(refusal(case["error"])):
            stores[name].read(case["hash"])
        return
    entry = stores[name].read(case["hash"])
    result = case["result"]
    assert (entry.id, entry.file, entry.text, entry.kind) == (
        result["hash"],
        result["file"],
        result["content"],
        result["kind"],
    )


def test_a_chain_is_followed_to_its_end_where_the_other_engine_stopped_after_one_step(
    stores: dict[str, Store],
) -> None:
    names = EXPECTED["repo"]["names"]
    entry = stores["repo"].read(names["retry1"])
    assert not entry.active
    assert entry.current == (names["retry5"],)
    assert entry.replaced_by == (names["retry2"],)


def test_two_histories_that_replaced_one_entry_give_it_two_living_ends(
    stores: dict[str, Store],
) -> None:
    names = EXPECTED["merged"]["names"]
    assert set(stores["merged"].read(names["A"]).current) == {names["AL"], names["AR"]}


@pytest.mark.parametrize("case", [case for _, case in CASES["deletable"]], ids=lambda c: c["name"])
def test_after_a_merge_the_same_entries_can_be_withdrawn(
    tmp_path: object, case: dict[str, Any]
) -> None:
    now = datetime.fromisoformat(EXPECTED["merged"]["now"]).timestamp()
    store = golden("merged", tmp_path, now=now)
    if "error" in case:
        with pytest.raises((gitmemo.NotActive, gitmemo.UnknownId)):
            store.delete(case["hash"], "not needed")
        return
    file = store.read(case["hash"]).file
    assert file == case["delete"]["file"]
    store.delete(case["hash"], "not needed")
    assert not os.path.exists(os.path.join(store.path, file))


@pytest.mark.parametrize("name", EXPECTED)
def test_the_answers_stay_the_same_once_a_writer_has_made_the_index(
    tmp_path: object, name: str
) -> None:
    now = datetime.fromisoformat(EXPECTED[name]["now"]).timestamp()
    store = golden(name, tmp_path, now=now)
    before = EXPECTED[name]["head"]
    store.write(gitmemo.Draft("unrelated", "nothing in common", ("zz1", "zz2"), "zz"))
    for case in EXPECTED[name]["queries"]:
        if "result" in case and not case.get("snapshot"):
            assert search(store, {**case, "snapshot": before}) == recorded(case)
