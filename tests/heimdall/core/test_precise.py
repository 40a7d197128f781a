"""What may be shown to a reader who did not ask."""

import pytest

from gitmemo import query_tokens
from heimdall.core.precise import code, memory
from heimdall.model import Verdict

HEAD = "[cache] bound the LRU Cap is 512 entries, evicted by age cache lru eviction"


def test_a_memory_whose_head_holds_the_question_is_shown() -> None:
    assert memory(Verdict.STRONG, query_tokens("what is the cap of the LRU cache"), HEAD)


def test_a_memory_that_shares_a_word_is_not() -> None:
    assert not memory(Verdict.STRONG, query_tokens("clear the browser cache on deploy"), HEAD)


@pytest.mark.parametrize("verdict", [Verdict.WEAK, Verdict.STALE, Verdict.REMOVED])
def test_what_is_not_proven_is_not_shown(verdict: Verdict) -> None:
    assert not memory(verdict, query_tokens("LRU cache"), HEAD)
    assert not code(verdict, "`Cache.evict`", "Cache.evict", "/p/cache.py")


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        ("why does `evict` loop", True),
        ("why does Cache.evict loop", True),
        ("why does evict() loop", True),
        ("when are entries evicted from the cache", False),
        ("evict the tenant", False),
        ("Other.evict is fine", False),
    ],
)
def test_a_definition_is_shown_when_it_is_named_as_code(question: str, shown: bool) -> None:
    assert code(Verdict.STRONG, question, "Cache.evict", "/p/cache.py") is shown


def test_a_file_is_shown_when_it_is_named() -> None:
    assert code(Verdict.STRONG, "look at cache.py please", None, "/p/cache.py")
    assert not code(Verdict.STRONG, "look at the cache", None, "/p/cache.py")
