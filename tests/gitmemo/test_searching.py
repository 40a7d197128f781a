"""What a text search means by finding: words, typos, neighbours in a script, topics, age."""

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmemo import Draft, Kind, Mode, Store
from gitmemo.index import SCHEMA, Index, weighed
from gitmemo.searching import Scope, search
from gitmemo.text import TYPO_LENGTH, near, query_tokens
from tests.support.memory import Clock, project

DAY = 86_400


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    made = project(tmp_path_factory.mktemp("searched"), clock=Clock(step=0.0))
    for title, summary, keywords, content in [
        ("[startup] boots in a second", "Imports are late.", ("startup", "import"), "See lazy.py."),
        ("[art] the drawing module", "Shapes and colours.", ("art", "shapes"), "draw()"),
        ("parseHTTPResponse keeps the body", "max_retry_count is 3.", ("http", "parser"), "x"),
        ("修复连接池泄漏", "连接在异常路径上没有归还。", ("连接池", "泄漏"), "见 pool.py"),
        ("deadline decides", "No cap.", ("deadline", "cap"), "The watermark is in the body only."),
    ]:
        made.write(Draft(title, summary, keywords, content))
    return made


def titles(store: Store, *words: str, **named: object) -> list[str]:
    return [hit.title for hit in store.search(words, **named).hits]  # type: ignore[arg-type] # named


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("art", ["[art] the drawing module"]),
        ("STARTUP", ["[startup] boots in a second"]),
        ("http response", ["parseHTTPResponse keeps the body"]),
        ("parsehttpresponse", ["parseHTTPResponse keeps the body"]),
        ("retry", ["parseHTTPResponse keeps the body"]),
        ("泄漏", ["修复连接池泄漏"]),
        ("watermark", ["deadline decides"]),
        ("deadlin", ["deadline decides"]),
        ("deadlnie", ["deadline decides"]),
        ("deadlines", ["deadline decides"]),
        ("how does the drawing work?", ["[art] the drawing module"]),
        ("nothinglikeit", []),
        ("", []),
        ("' OR 1=1 -- \" * (", []),
    ],
)
def test_words_find_what_a_person_means(store: Store, words: str, found: list[str]) -> None:
    assert titles(store, words) == found


def test_a_bare_substring_is_found_by_the_format_and_not_by_the_text_search(store: Store) -> None:
    assert set(titles(store, "art", mode=Mode.TRAILER)) == {
        "[startup] boots in a second",
        "[art] the drawing module",
    }


def test_a_hit_says_which_words_it_has_and_how_much_of_the_query(store: Store) -> None:
    hit = store.search(["deadline", "watermark unknownword"]).hits[0]
    assert hit.matched == ("deadline", "watermark")
    assert hit.coverage == pytest.approx(2 / 3)


def test_what_has_more_of_the_query_comes_first(store: Store) -> None:
    order = titles(store, "deadline cap import")
    assert order == ["deadline decides", "[startup] boots in a second"]


def test_a_title_counts_more_than_a_body(tmp_path: object) -> None:
    store = project(tmp_path, clock=Clock(step=0.0))
    store.write(Draft("plain", "About nothing.", ("a", "b"), "zebra here"))
    store.write(Draft("zebra", "About nothing.", ("a", "c"), "plain here"))
    assert titles(store, "zebra") == ["zebra", "plain"]


def test_of_equals_the_younger_comes_first(tmp_path: object) -> None:
    clock = Clock(step=0.0)
    store = project(tmp_path, clock=clock)
    for age in (200, 100, 10):
        clock.now -= age * DAY
        store.write(Draft(f"zebra {age}", "The same.", ("a", "b"), "same"))
        clock.now += age * DAY
    assert titles(store, "zebra") == ["zebra 10", "zebra 100", "zebra 200"]


def test_a_topic_comes_before_the_entries_it_sums_up(tmp_path: object) -> None:
    store = project(tmp_path, clock=Clock(step=0.0))
    first = store.write(Draft("zebra zebra zebra", "zebra", ("zebra", "b"), "zebra"))
    store.write(Draft("a subject", "One zebra.", ("x", "y"), f"[[{first.id[:9]}]]", Kind.TOPIC))
    assert titles(store, "zebra") == ["a subject", "zebra zebra zebra"]
    assert titles(store, "zebra", kinds=frozenset({Kind.TASK})) == ["zebra zebra zebra"]
    assert titles(store, "zebra", kinds=frozenset({Kind.TOPIC})) == ["a subject"]


def test_superseded_entries_neither_rank_nor_count(tmp_path: object) -> None:
    store = project(tmp_path, clock=Clock(step=0.0))
    kept = store.write(Draft("zebra", "Of the zoo.", ("zebra", "b"), "x"))
    alone = store.search(["zebra"]).hits[0].score
    old = store.write(Draft("zebra again", "Of the zoo.", ("zebra", "c"), "x"))
    store.delete(old.id, "wrong")
    assert [(hit.id, hit.score) for hit in store.search(["zebra"]).hits] == [(kept.id, alone)]
    # A word that only a dead entry has is a typo like any other.
    assert store.search(["again"]).total == 0


LETTERS = "abeéñж"


@given(
    st.sets(st.text(LETTERS, min_size=4, max_size=7), min_size=1, max_size=30),
    st.text(LETTERS, min_size=TYPO_LENGTH, max_size=6),
)
def test_every_word_one_edit_away_is_found_and_no_other(words: set[str], typo: str) -> None:
    """The walk through the vocabulary equals the look at all of it."""
    words.discard(typo)
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as base:
        base.executescript(SCHEMA)
        base.execute("INSERT INTO meta VALUES ('', 0, ?, ?, 1)", (len(words), len(words)))
        for seq, word in enumerate(sorted(words), 1):
            base.execute(
                "INSERT INTO commits VALUES (?, ?, 0, 1, NULL, '', NULL, '')", (seq, f"{seq:040x}")
            )
            base.execute("INSERT INTO entries VALUES (?, 0, 1, 'task', NULL, '')", (seq,))
            term = weighed(word, 1, outside=seq % 2 == 0)
            base.execute("INSERT INTO words (rowid, word) VALUES (?, ?)", (seq, term))
        base.execute("INSERT INTO commits VALUES (99, ?, 0, 1, NULL, '', NULL, '')", ("f" * 40,))
        count, _ = search(
            Index(base),
            [typo],
            mode=Mode.TEXT,
            scope=Scope(99),
            now_ms=0,
            page=slice(0, 20),
        )
    query = query_tokens(typo)
    wanted = {word for word in words for token in query if word in near(token, words)}
    assert query != (typo,) or count == len(wanted)


def test_the_first_page_is_the_head_of_all_pages(tmp_path: Path) -> None:
    """Scoring ends early where nothing better can come; what comes must be the same."""
    made = project(tmp_path, clock=Clock(step=3600.0))
    words = ("alpha", "beta", "gamma", "delta")
    chance = random.Random(5)
    topics: list[str] = []
    for number in range(60):
        some = " ".join(chance.sample(words, chance.randint(1, 3)))
        links = f"see {chance.choice(topics)}" if topics and number % 9 == 0 else ""
        kind = Kind.TOPIC if number % 9 == 0 else Kind.TASK
        draft = Draft(f"{some} n{number}", "It is.", ("k", f"k{number}"), f"{some} {links}", kind)
        topics.append(made.write(draft).id)
    for asked in (["alpha beta gamma delta"], ["alpha beta"], ["delta"]):
        whole = [hit.id for hit in made.search(asked, limit=100).hits]
        pages = [
            hit.id
            for skip in range(0, len(whole), 7)
            for hit in made.search(asked, limit=7, skip=skip).hits
        ]
        assert pages == whole
