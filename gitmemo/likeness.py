"""How much two entries say the same, in the words of their heads: title, summary, keywords.

Pure. Two heads are near where nearly all their words are the same, or where the titles say the same
and the shorter head adds little of its own; so a long summary of a known fact is near a short one,
and two facts about one file are not. A word counts as another where they are one edit apart (typos,
most plurals), and a number counts as any number: what changed from 512 to 1024 is the same subject,
and one of the two is wrong. The bounds lie between the pairs of tests/gitmemo/test_likeness.py.
"""

from collections.abc import Set

from gitmemo.text import STOP_WORDS, TYPO_LENGTH, tokens, within_one_edit
from gitmemo.values import NamedTuple

TITLES = 0.55
"""The share of all title words that two titles must have in common."""

HEADS = 0.7
"""The share of the shorter head's words that the other must have."""

FEW = 5
"""Fewer words than this are in too many other heads to tell anything."""

ALL = 0.65
"""The share of all words of both heads that is enough whatever the titles say."""

_NUMBER = "#"


class Head(NamedTuple):
    """The words of an entry: those of its title, and of all its head."""

    title: frozenset[str]
    words: frozenset[str]


def head(title: str, summary: str, keywords: tuple[str, ...]) -> Head:
    """The head of an entry, ready to be compared."""
    return Head(_telling(title), _telling("\n".join((title, summary, *keywords))))


def likeness(one: Head, other: Head) -> float:
    """How much alike two heads are, up to 1.0; 0.0 where they are not near."""
    shared = _common(one.words, other.words)
    whole = _share(shared, len(one.words) + len(other.words) - shared)
    least = min(len(one.words), len(other.words))
    part = _share(shared, least) if least >= FEW else 0.0
    same = _common(one.title, other.title)
    titles = _share(same, len(one.title) + len(other.title) - same)
    by_title = titles * part if titles >= TITLES and part >= HEADS else 0.0
    return max(by_title, whole if whole >= ALL else 0.0)


def _share(count: int, of: int) -> float:
    return count / of if of else 0.0


def _telling(text: str) -> frozenset[str]:
    found = {_NUMBER if word[0].isdigit() else word for word in tokens(text)}
    return frozenset(found - STOP_WORDS or found)


def _common(one: Set[str], other: Set[str]) -> int:
    """How many words two sets share, each used once."""
    count = len(one & other)
    left: dict[str, set[str]] = {}
    for word in other - one:
        if len(word) >= TYPO_LENGTH:
            for end in _ends(word):
                left.setdefault(end, set()).add(word)
    for word in sorted(one - other) if left else ():
        # One edit of five letters or more leaves the first two or the last two as they are.
        close = (near for end in _ends(word) for near in left.get(end, ()))
        twin = min((near for near in close if within_one_edit(word, near)), default=None)
        if twin is not None:
            for end in _ends(twin):
                left[end].discard(twin)
            count += 1
    return count


def _ends(word: str) -> tuple[str, str]:
    return f"{word[:2]}-", f"-{word[-2:]}"
