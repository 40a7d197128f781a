"""How much of a query a text answers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmemo import query_tokens, tokens
from heimdall.core.coverage import answers


def test_whole_words_count_and_parts_of_words_do_not() -> None:
    assert answers(("art",), "start the party") == 0.0
    assert answers(("art",), "the art of war") == 1.0


def test_identifiers_are_split_at_case_and_underscore() -> None:
    assert answers(("parse", "response"), "def parseHTTPResponse(): ...") == 1.0
    assert answers(("http",), "MAX_HTTP_SIZE = 3") == 1.0


def test_a_later_place_is_found_after_one_inside_another_word() -> None:
    assert answers(("art",), "start start Start artful art") == 1.0


def test_cjk_is_found_by_its_bigrams() -> None:
    assert answers(query_tokens("数据库"), "这个数据库很慢") == 1.0


def test_no_query_is_answered_by_nothing() -> None:
    assert answers((), "anything") == 0.0


def test_half_of_the_words_is_half() -> None:
    assert answers(("cache", "lock"), "the cache") == 0.5


WORDS = "cache Cache LRUCache lru_cache start art Art _ . 2 x2y 数据 库 é ﬁ ß İ HTTP http -"
pieces = st.sampled_from([*WORDS.split(), " ", "\n"])
texts = st.lists(pieces, max_size=12).map("".join)


@given(texts, texts)
def test_the_answer_is_the_share_of_the_texts_own_tokens(text: str, question: str) -> None:
    query = tuple(dict.fromkeys(tokens(question)))
    have = set(tokens(text))
    expected = sum(token in have for token in query) / len(query) if query else 0.0
    assert answers(query, text) == pytest.approx(expected)
