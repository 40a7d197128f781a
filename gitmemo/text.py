"""Words: the one home of normalising, of search tokens and of dates as text.

Pure, and first on the path of every search, so it imports next to nothing and compiles what it can
late. A search and an index agree because both call `tokens`/`counts`; nobody else splits words.
Never here: files, ranking, knowledge of entries. Tests: tests/gitmemo/test_text.py.
"""

import re
from collections import Counter
from collections.abc import Iterable, Set
from unicodedata import normalize

# JavaScript's white space, letter for letter: `\s` of Python has U+0085 and U+001C-1F besides and
# lacks U+FEFF, and the format was defined by the JavaScript set.
_JS_SPACE = "\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
JS_SPACE = "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_SPACES = re.compile(f"[{_JS_SPACE}]+")


def norm(s: str) -> str:
    """The format's normal form: NFKC, case folded, white space runs to one space, trimmed."""
    return _SPACES.sub(" ", normalize("NFKC", s).casefold()).strip(" ")


def js_strip(s: str) -> str:
    """`s` without JavaScript white space at both ends."""
    return s.strip(JS_SPACE)


def utf16_len(s: str) -> int:
    """Length in UTF-16 units, in which the format counts."""
    return len(s) if s.isascii() else len(s) + sum(c > "\uffff" for c in s)


def iso_date(epoch_ms: int) -> str:
    """Milliseconds since 1970 as `2026-08-23T11:36:12.123Z`, as JavaScript's toISOString."""
    raise NotImplementedError


def tokens(s: str) -> list[str]:
    """Search tokens of `s` in order, repeated ones repeated."""
    raise NotImplementedError


def counts(s: str, cap: int = 8) -> dict[str, int]:
    """Each token of `s` with how often it occurs, at most `cap`."""
    raise NotImplementedError


def query_tokens(s: str) -> tuple[str, ...]:
    """Distinct tokens of a query in order, without stop words unless nothing else is left."""
    raise NotImplementedError


def within_one_edit(a: str, b: str) -> bool:
    """Whether two words of five letters or more differ by at most one edit."""
    raise NotImplementedError


def near(word: str, vocabulary: Iterable[str]) -> list[str]:
    """The words of `vocabulary` within one edit of `word`, itself left out."""
    raise NotImplementedError


def coverage(query: tuple[str, ...], have: Set[str]) -> float:
    """Share of `query` tokens in `have`, 0.0 to 1.0; a one-edit typo counts as present."""
    raise NotImplementedError
