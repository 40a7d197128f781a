"""What a text search means by finding: words, typos, neighbours in a script, topics, age."""

import pytest

from gitmemo import Draft, Kind, Mode, Store
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
