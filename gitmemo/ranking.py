"""Ranking: the format's scores to the letter, and the full-text order built beside them."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gitmemo.model import EntryId, Mode


class Ranked(NamedTuple):
    """What the order of a page needs of a hit. `date` is ISO 8601 text."""

    score: float
    date: str
    id: EntryId


def recency(now_ms: int, epoch_s: int) -> float:
    """The bonus for a young entry: 0.5 up to 30 days, falling to 0 at 180."""
    raise NotImplementedError


def rarity(df: int, n: int) -> float:
    """The weight of a keyword that `df` of `n` hits have."""
    raise NotImplementedError


def scores(
    matched: Sequence[Sequence[str]],
    times: Sequence[int],
    *,
    keywords: Sequence[str],
    now_ms: int,
    mode: Mode,
) -> list[float]:
    """Scores of a whole result set, in its order. `matched[i]` are the query keywords that hit i
    matched, `times[i]` its commit time in seconds; mode TRAILER counts, TRAILER_WEIGHTED weighs."""
    raise NotImplementedError


def matches(keywords: Sequence[str], *, fields: Sequence[str]) -> tuple[str, ...]:
    """The folded `keywords` that are contained in one of the folded `fields`, in order."""
    raise NotImplementedError


def key(hit: Ranked) -> tuple[float, str, str]:
    """Sort key; the best hit is the greatest."""
    return (hit.score, hit.date, hit.id)


def text_score(relevance: float, coverage: float, *, now_ms: int, epoch_s: int) -> float:
    """A full-text score from a positive relevance (bm25, sign turned), coverage and age."""
    raise NotImplementedError


def topics_first(
    order: Sequence[EntryId], links: Mapping[EntryId, Sequence[str]]
) -> list[EntryId]:
    """`order` with each topic moved before the first entry it links. `links`: topic -> hashes,
    full or shortened."""
    raise NotImplementedError
