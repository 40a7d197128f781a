"""Words are whole, folded and the same for index and query."""

import datetime
import re
import subprocess
import sys
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from gitmemo import text

WORDS = st.text("abcdefgh", min_size=1, max_size=9)
NASTY = st.one_of(
    st.text(max_size=40),
    st.sampled_from(
        [
            "parseHTTPResponse",
            "max_size",
            "__init__",
            "ÉcoleMaternelle",
            "修复连接池",
            "x\u200cy",
            "İß",
        ]
    ),
)


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("parseHTTPResponse", "parse http response parsehttpresponse"),
        ("HTTPResponse", "http response httpresponse"),
        ("max_size", "max size maxsize"),
        ("MAX_SIZE", "max size maxsize"),
        ("__init__", "init"),
        ("sha256", "sha256"),
        ("sha256Sum", "sha256 sum sha256sum"),
        ("HTTP2Server", "http2 server http2server"),
        ("3DModel", "3d model 3dmodel"),
        ("x86_64", "x86 64 x8664"),
        ("2026-08-23", "2026 08 23"),
        ("don't", "don t"),
        ("_", ""),
        ("ÉcoleMaternelle", "école maternelle écolematernelle"),
        ("straße", "strasse"),
        ("ＦＵＬＬ ｗｉｄｔｈ", "full width"),
        ("हिन्दी", "हिन्दी"),
        ("修复连接池", "修复 复连 连接 接池"),
        ("猫", "猫"),
        ("コネクション", "コネ ネク クシ ショ ョン"),
        ("的watchdog单", "的 watchdog 单"),
        ("연결 풀", "연결 풀"),
        ("สวัสดี", "สว วั ัส สด ดี"),
    ],
)
def test_a_text_has_these_tokens(written: str, found: str) -> None:
    assert text.tokens(written) == found.split()


@given(st.lists(WORDS, min_size=1, max_size=6))
def test_words_are_never_cut_inside(words: list[str]) -> None:
    assert text.tokens(" ".join(words)) == words


@given(st.lists(WORDS, min_size=2, max_size=5))
def test_an_identifier_gives_its_parts_and_itself_in_every_style(words: list[str]) -> None:
    camel = words[0] + "".join(word.capitalize() for word in words[1:])
    expected = [*words, "".join(words)]
    assert text.tokens("_".join(words)) == expected
    assert text.tokens("_".join(words).upper()) == expected
    if all(len(word) > 1 for word in words[1:]):
        assert text.tokens(camel) == expected


@given(st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF), min_size=2))
def test_a_han_run_gives_its_neighbouring_pairs(run: str) -> None:
    assert text.tokens(run) == [run[i : i + 2] for i in range(len(run) - 1)]


@given(NASTY)
def test_tokens_are_folded_and_free_of_separators(s: str) -> None:
    for token in text.tokens(s):
        assert token
        assert not re.search(r"[\s_]", token)
        assert token == unicodedata.normalize("NFKC", token.casefold())


@given(NASTY)
def test_a_token_searched_for_finds_itself(s: str) -> None:
    have = set(text.tokens(s))
    for token in have:
        assert set(text.tokens(token)) & have


@given(st.lists(NASTY, max_size=30).map(" ".join), st.integers(1, 9))
def test_counts_are_the_tokens_counted_and_capped(s: str, cap: int) -> None:
    found = text.tokens(s)
    assert text.counts(s, cap) == {token: min(cap, found.count(token)) for token in found}


def test_encoded_data_is_not_words() -> None:
    assert text.tokens("a" * 128) == ["a" * 128]
    assert text.tokens("key " + "aB3" * 50) == ["key"]
    assert text.tokens("é" * 129) == []


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("how do I use the parser", ("parser",)),
        ("to be or not to be", ("to", "be", "or", "not")),
        ("retry retry Retry cap", ("retry", "cap")),
        ("", ()),
    ],
)
def test_a_query_keeps_its_telling_words(query: str, found: tuple[str, ...]) -> None:
    assert text.query_tokens(query) == found


# -- typos -----------------------------------------------------------------------------------------

CLOSE = st.text("abc", min_size=0, max_size=8)


@given(CLOSE, CLOSE)
def test_one_edit_is_what_the_library_calls_distance_one(a: str, b: str) -> None:
    close = min(len(a), len(b)) >= 5 and OSA.distance(a, b) <= 1
    assert text.within_one_edit(a, b) == close


@given(st.text("abc", min_size=5, max_size=8), st.lists(CLOSE, max_size=30))
def test_near_words_are_all_within_one_edit_and_none_is_missed(
    word: str, others: list[str]
) -> None:
    assert text.near(word, others) == [
        other for other in others if other != word and text.within_one_edit(word, other)
    ]


@settings(max_examples=300)
@given(st.text("abcde", min_size=6, max_size=9), st.data())
def test_any_single_edit_of_a_long_word_is_near(word: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(word) - 2))
    edits = {
        word[:at] + word[at + 1 :],
        word[:at] + "z" + word[at:],
        word[:at] + "z" + word[at + 1 :],
        word[:at] + word[at + 1] + word[at] + word[at + 2 :],
    }
    assert set(text.near(word, edits)) == edits - {word}


def test_short_words_must_be_spelled() -> None:
    assert not text.within_one_edit("pool", "poll")
    assert text.within_one_edit("retry", "rerty")
    assert text.near("pool", ["poll"]) == []


def test_coverage_is_the_share_of_words_found_typos_included() -> None:
    have = {"retry", "backoff", "cap"}
    assert text.coverage((), have) == 0.0
    assert text.coverage(("retry", "cap"), have) == 1.0
    assert text.coverage(("retry", "art"), have) == 0.5
    assert text.coverage(("bakcoff", "missing"), have) == 0.5


# -- normal forms and dates ------------------------------------------------------------------------


@given(st.text())
def test_a_normal_form_settles(s: str) -> None:
    # Case folding may open a new composition, so it is the second pass that must change nothing.
    settled = text.norm(text.norm(s))
    assert text.norm(settled) == settled


@given(st.text())
def test_utf16_length_is_that_of_the_encoding(s: str) -> None:
    assert text.utf16_len(s) == len(s.encode("utf-16-le", "surrogatepass")) // 2


def test_white_space_is_javascripts() -> None:
    assert text.js_strip("\ufeff\u3000 a\u0085\u2029") == "a\u0085"
    assert text.norm("a\u001cb\u2028c") == "a\u001cb c"


@given(st.datetimes(min_value=datetime.datetime(1, 1, 1)))
def test_dates_are_those_of_the_calendar(moment: datetime.datetime) -> None:
    moment = moment.replace(microsecond=moment.microsecond // 1000 * 1000)
    ms = (moment - datetime.datetime(1970, 1, 1)) // datetime.timedelta(milliseconds=1)
    assert text.iso_date(ms) == moment.isoformat(timespec="milliseconds") + "Z"


def test_the_words_cost_a_search_no_heavy_import() -> None:
    code = "import sys; import gitmemo.text; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert "gitmemo.text" in loaded
    assert not loaded & {"rapidfuzz", "datetime", "dataclasses", "pathlib", "json", "hashlib"}


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("utf-8 and kebab-case-name", "utf8 kebabcasename"),
        ("2026-08-23", "20260823"),
        ("a - b, --flag, C++", ""),
        ("snake_case plain", ""),
        ("café İstanbul naïve", "cafe istanbul naive"),
        ("cafe\u0301", "cafe"),
        ("修复连接池 的 x单", "池"),
        ("ｷｬｯｼｭ", "ュ"),
        ("русский ёж हिन्दी", ""),
        ("-".join(["ab"] * 99), ""),
    ],
)
def test_an_index_of_memories_knows_other_spellings(written: str, found: str) -> None:
    assert text.further_tokens(written) == found.split()


@given(NASTY)
def test_further_tokens_are_words_like_others(s: str) -> None:
    for token in text.further_tokens(s):
        assert token
        assert not re.search(r"[\s_]", token)


def test_one_sign_is_covered_by_a_pair_that_it_begins() -> None:
    assert text.is_sign("池")
    assert not any(map(text.is_sign, ("a", "é", "池子", "🚀", "")))
    assert text.coverage(("连",), {"连接"}) == 1.0
    assert text.coverage(("接",), {"连接"}) == 0.0


@pytest.mark.parametrize("letter", ["a", "A", "7", "-", "a-", "_", "連", "e\u0301", "\u0301"])
def test_a_megabyte_of_one_letter_is_read_once(letter: str) -> None:
    # Tried again at every letter, this takes hours: the test would not end.
    s = f"utf-8 {letter * 300_000} end"
    assert text.tokens(s)[0] == "utf"
    assert "utf8" in text.further_tokens(s)
