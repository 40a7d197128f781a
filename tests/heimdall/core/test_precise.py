"""What may be shown to a reader who did not ask."""

import pytest

from gitmemo import query_tokens
from heimdall.core.precise import PROVEN, fits_code, fits_memory, named
from heimdall.model import Verdict

HEAD = "[cache] bound the LRU Cap is 512 entries, evicted by age cache lru eviction"


def test_a_memory_whose_head_holds_the_question_fits() -> None:
    assert fits_memory(query_tokens("what is the cap of the LRU cache"), HEAD)


def test_a_memory_that_shares_a_word_does_not() -> None:
    assert not fits_memory(query_tokens("clear the browser cache on deploy"), HEAD)


def test_only_two_verdicts_are_proof() -> None:
    assert frozenset({Verdict.STRONG, Verdict.REBUILT}) == PROVEN


@pytest.mark.parametrize(
    ("question", "fits"),
    [
        ("why does `evict` loop", True),
        ("why does Cache.evict loop", True),
        ("why does evict() loop", True),
        ("when are entries evicted from the cache", False),
        ("evict the tenant", False),
        ("Other.evict is fine", False),
    ],
)
def test_a_definition_fits_when_it_is_named_as_code(question: str, fits: bool) -> None:
    assert fits_code(named(question), "Cache.evict", "/p/cache.py") is fits


@pytest.mark.parametrize(
    ("question", "fits"),
    [
        ("look at cache.py please", True),
        ("what is in `src/cache.py`?", True),
        ("look at the cache", False),
        ("look at mycache.py", False),
    ],
)
def test_a_file_fits_when_it_is_named(question: str, fits: bool) -> None:
    assert fits_code(named(question), None, "/p/cache.py") is fits


def test_a_question_in_plain_words_names_nothing() -> None:
    assert not any(named("why is the build slow today. Any idea?"))
