"""Stores written by another engine: its searches, its reads and its refusals, recorded."""

import json
import os
from datetime import datetime
from typing import Any

import pytest

import gitmemo
from gitmemo import Mode, Store
from tests.support.memory import GOLDEN, assert_sound, draft, git, golden

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


FURTHER = {"8177844715897290c378bcee96b1ae7b2794eb14": "retry5", "cf4fa33ce": "same_ms"}
"""Links that the other engine resolved to themselves, because it stops after one replacement, and
what their chains come to."""

EXPANDED = [
    (name, case) for name, case in CASES["reads"] if case.get("expand") and "result" in case
]


@pytest.mark.parametrize(("name", "case"), EXPANDED, ids=label)
def test_links_lead_where_the_other_engine_led_and_on_to_the_end(
    stores: dict[str, Store], name: str, case: dict[str, Any]
) -> None:
    store = stores[name]
    links = store.links(store.read(case["hash"]))
    for link, said in zip(links, case["result"]["links"], strict=True):
        assert (link.link, link.active) == (said["link_hash"], said["active"])
        assert bool(link.error) == ("error" in said)
        if link.error:
            continue
        if link.link in FURTHER:
            assert said["resolved_hash"] == link.entry
            assert link.current == (EXPECTED[name]["names"][FURTHER[link.link]],)
            continue
        led = link.entry if link.active or not link.current else link.current[-1]
        assert (led, link.title, link.summary, list(link.keywords), link.kind) == (
            said["resolved_hash"],
            said["title"],
            said["summary"],
            said["keywords"],
            said["kind"],
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


def test_a_merged_history_is_written_to_and_merged_again(tmp_path: object) -> None:
    names = EXPECTED["merged"]["names"]
    left, right = names["AL"], names["AR"]
    now = datetime.fromisoformat(EXPECTED["merged"]["now"]).timestamp()
    store = golden("merged", os.path.join(str(tmp_path), "ours"), now=now)
    other = golden("merged", os.path.join(str(tmp_path), "theirs"), now=now + 60)
    assert rivals(store) == {left: (right,), right: (left,)}
    # Each side goes on from one of the two: now there are two others.
    ours = store.replace(left, draft("alpha, ours")).id
    assert rivals(store) == {ours: (right,), right: (ours,)}
    theirs = other.replace(right, draft("alpha, theirs")).id
    merge(store, other)
    assert rivals(store) == {ours: (theirs,), theirs: (ours,)}
    entry = store.read(names["A"])
    assert (set(entry.current), entry.faults) == ({ours, theirs}, ("forked",))
    assert set(entry.replaced_by) == {left, right}
    assert store.life(ours).events == store.life(right).events
    # One of them is withdrawn, and the chain has one end again, whichever one starts from.
    gone = store.delete(theirs, "ours is true of both")
    assert rivals(store) == {}
    for old in (names["A"], left, ours):
        assert (store.read(old).current, store.read(old).faults) == ((ours,), ())
    assert (store.read(right).current, store.read(right).withdrawn) == ((), "ours is true of both")
    assert store.life(left).events[0].id == gone
    # And once more: what they withdrew meanwhile stays withdrawn, what they wrote is there.
    added = other.write(draft("alpha, new")).id
    merge(store, other)
    assert rivals(store) == {}
    assert store.read(added).active
    assert not store.read(theirs).active
    assert_sound(store)


def rivals(store: Store) -> dict[str, tuple[str, ...]]:
    hits = store.search(["alpha", "merge"], limit=99).hits
    return {hit.id: hit.rivals for hit in hits if hit.rivals}


def merge(store: Store, other: Store) -> None:
    git(store.path, "fetch", "-q", other.path, "main")
    git(store.path, "merge", "-q", "-Xfind-renames=100%", "--no-edit", "FETCH_HEAD")


def test_a_commit_that_shares_its_file_names_the_one_that_stands_for_it(tmp_path: object) -> None:
    names = EXPECTED["merged"]["names"]
    now = datetime.fromisoformat(EXPECTED["merged"]["now"]).timestamp()
    store = golden("merged", tmp_path, now=now)
    for name in ("TL", "TR"):
        entry = store.read(names[name])
        assert (entry.active, entry.current, entry.faults) == (True, (names[name],), ())
    with pytest.raises(gitmemo.NotActive) as refused:
        store.replace(names["TR"], draft("twin"))
    assert refused.value.successors == (names["TL"],)
    new = store.replace(names["TL"], draft("twin")).id
    for name in ("TL", "TR"):
        entry = store.read(names[name])
        assert (entry.active, entry.current) == (False, (new,))


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
