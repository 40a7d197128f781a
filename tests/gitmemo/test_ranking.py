"""Scores and order, against every recorded search of another engine and by their own laws."""

import datetime
import json
import os
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmemo import chain, ranking, text, trailers
from gitmemo.model import EntryId, Mode

GOLDEN = os.path.join(os.path.dirname(os.path.dirname(__file__)), "golden", "gitmemo")
NOW = 1_792_022_400_000
DAY_S = 86_400
Json = dict[str, Any]


def expected(name: str) -> Json:
    with open(os.path.join(GOLDEN, f"{name}.expected.json"), encoding="utf-8") as file:
        found: Json = json.load(file)
    return found


REPO = expected("repo")
QUERIES = [query for query in REPO["queries"] if "result" in query and "snapshot" not in query]


def history() -> list[chain.Commit]:
    """The recorded commits as values, newest first; no git is needed for these."""
    found = []
    for record in reversed(REPO["commits"]):
        changes = [change.split("\t") for change in record["changes"]]
        found.append(
            chain.Commit(
                id=EntryId(record["hash"]),
                parents=(),
                time=record["committer_time"],
                author=record["author"],
                message=trailers.parse(record["message"]),
                added=tuple(path for letter, path in changes if letter == "A"),
                removed=tuple(path for letter, path in changes if letter == "D"),
            )
        )
    return found


COMMITS = history()
MESSAGES = {record["hash"]: record["message"] for record in REPO["commits"]}


def search(keywords: list[str], mode: Mode, now_ms: int) -> list[Json]:
    """The format's search, put together from the pure rooms: the model of what a store answers."""
    folded = tuple(dict.fromkeys(map(text.norm, keywords)))
    living = set(chain.active(COMMITS, set(REPO["active_files"])).values())
    hits = []
    for commit in COMMITS:
        message = commit.message
        lines = MESSAGES[commit.id]
        if commit.id not in living or not any(word in lines for word in folded):
            continue
        fields = [text.norm(s) for s in (message.subject, message.summary, *message.keywords)]
        matched = ranking.matches(folded, fields=fields)
        if matched:
            hits.append((commit, matched))
    found = ranking.scores(
        [matched for _, matched in hits],
        [commit.time for commit, _ in hits],
        keywords=folded,
        now_ms=now_ms,
        mode=mode,
    )
    rows = [
        (ranking.Ranked(score, text.iso_date(commit.time * 1000), commit.id), commit, matched)
        for score, (commit, matched) in zip(found, hits, strict=True)
    ]
    rows.sort(key=lambda row: ranking.key(row[0]), reverse=True)
    return [
        {
            "hash": commit.id,
            "title": commit.message.subject,
            "date": ranked.date,
            "summary": commit.message.summary,
            "keywords": list(commit.message.keywords),
            "kind": commit.message.kind.value,
            "score": ranked.score,
            "matched_keywords": list(matched),
        }
        for ranked, commit, matched in rows
    ]


def epoch_ms(iso: str) -> int:
    return int(datetime.datetime.fromisoformat(iso).timestamp() * 1000)


@pytest.mark.parametrize("query", QUERIES, ids=[query["id"] for query in QUERIES])
def test_every_recorded_search_is_answered_the_same(query: Json) -> None:
    mode = {"count": Mode.TRAILER, "weighted": Mode.TRAILER_WEIGHTED}[query["scoring"]]
    keywords = query["keywords"]
    if isinstance(keywords, str):  # that engine also takes a comma list
        keywords = [word for word in keywords.split(",") if word.strip()]
    found = search(keywords, mode, epoch_ms(REPO["now"]))
    skip = query.get("skip", 0)
    assert len(found) == query["result"]["total"]
    assert found[skip : skip + query["limit"]] == query["result"]["results"]


# -- laws ------------------------------------------------------------------------------------------


@given(st.integers(-400, 400), st.integers(0, 400))
def test_an_older_entry_never_gets_a_larger_bonus(age: int, older: int) -> None:
    young = ranking.recency(NOW, NOW // 1000 - age * DAY_S)
    old = ranking.recency(NOW, NOW // 1000 - (age + older) * DAY_S)
    assert 0.0 <= old <= young <= 0.5


@given(st.integers(1, 50), st.integers(0, 50))
def test_a_rarer_keyword_never_weighs_less(df: int, more: int) -> None:
    assert ranking.rarity(df, 100) >= ranking.rarity(df + more, 100) > 0.0


@given(st.lists(st.sets(st.sampled_from("abc"), min_size=1), min_size=1, max_size=6))
def test_one_more_matched_keyword_never_lowers_a_count(matched: list[set[str]]) -> None:
    at = [NOW // 1000] * len(matched)

    def count(sets: list[set[str]]) -> list[float]:
        words = [sorted(s) for s in sets]
        return ranking.scores(words, at, keywords="abc", now_ms=NOW, mode=Mode.TRAILER)

    fuller = count([s | {"a"} for s in matched])
    assert all(more >= less for more, less in zip(fuller, count(matched), strict=True))


def test_the_order_is_score_then_date_then_hash_all_falling() -> None:
    rows = [
        ranking.Ranked(1.0, "2026-01-01T00:00:00.000Z", EntryId("b")),
        ranking.Ranked(1.0, "2026-01-01T00:00:00.000Z", EntryId("a")),
        ranking.Ranked(1.0, "2025-01-01T00:00:00.000Z", EntryId("c")),
        ranking.Ranked(0.5, "2027-01-01T00:00:00.000Z", EntryId("d")),
    ]
    assert sorted([rows[2], *rows[:2], rows[3]], key=ranking.key, reverse=True) == rows


# -- full text -------------------------------------------------------------------------------------


@given(st.floats(0.1, 50), st.floats(0, 1), st.floats(0, 1), st.integers(0, 900))
def test_more_coverage_never_lowers_a_text_score(
    relevance: float, some: float, more: float, age: int
) -> None:
    less, full = sorted((some, more))
    at = NOW // 1000 - age * DAY_S

    def score(coverage: float) -> float:
        return ranking.text_score(relevance, coverage, now_ms=NOW, epoch_s=at)

    assert 0 < score(less) <= score(full)


def test_age_parts_equals_and_does_not_beat_a_better_match() -> None:
    young, old = NOW // 1000, NOW // 1000 - 900 * DAY_S
    assert ranking.text_score(5, 1, now_ms=NOW, epoch_s=young) > ranking.text_score(
        5, 1, now_ms=NOW, epoch_s=old
    )
    assert ranking.text_score(6, 1, now_ms=NOW, epoch_s=old) > ranking.text_score(
        5, 1, now_ms=NOW, epoch_s=young
    )
    assert ranking.text_score(5, 1, now_ms=NOW, epoch_s=old) > ranking.text_score(
        5, 0.5, now_ms=NOW, epoch_s=young
    )


def test_a_topic_comes_before_the_entries_it_links() -> None:
    a, b, topic, c = (EntryId(letter * 40) for letter in "abdc")
    order = [a, b, topic, c]
    assert ranking.topics_first(order, {topic: ("b" * 7,)}) == [a, topic, b, c]
    assert ranking.topics_first(order, {topic: ("c" * 40, "9" * 7)}) == order
    assert ranking.topics_first(order, {}) == order


@given(st.permutations([EntryId(letter * 40) for letter in "abcdef"]), st.data())
def test_moving_topics_up_loses_and_doubles_nothing(
    order: list[EntryId], data: st.DataObject
) -> None:
    links = data.draw(
        st.dictionaries(st.sampled_from(order), st.lists(st.sampled_from(order), max_size=3))
    )
    moved = ranking.topics_first(order, links)
    assert sorted(moved) == sorted(order)
    others = [id_ for id_ in order if not links.get(id_)]
    assert [id_ for id_ in moved if id_ in others] == others
