"""Ranking: the format's scores to the letter, and the full-text order built beside them.

The two trailer modes must give the numbers of every other engine of the format, so their
arithmetic is fixed to the last rounding; `text_score` is ours alone. Time comes in by parameter.
Never here: matching by git or SQLite, pages. Tests: tests/gitmemo/test_ranking.py.
"""

from collections.abc import Mapping, Sequence
from math import floor, log

from gitmemo.model import EntryId, Mode
from gitmemo.values import NamedTuple

YOUNG_DAYS = 30
OLD_DAYS = 180
RECENCY = 0.5
_DAY_MS = 86_400_000


class Ranked(NamedTuple):
    """What the order of a page needs of a hit. `date` is ISO 8601 text."""

    score: float
    date: str
    id: EntryId


def recency(now_ms: int, epoch_s: int) -> float:
    """The bonus for a young entry: 0.5 up to 30 days, falling to 0 at 180."""
    age_days = (now_ms - epoch_s * 1000) / _DAY_MS
    if age_days <= YOUNG_DAYS:
        return RECENCY
    if age_days >= OLD_DAYS:
        return 0.0
    return _round2(RECENCY * (OLD_DAYS - age_days) / (OLD_DAYS - YOUNG_DAYS))


def rarity(df: int, n: int) -> float:
    """The weight of a keyword that `df` of `n` hits have: larger the fewer."""
    if n <= 0:
        return 0.0
    df = min(max(df, 0), n)
    return log(1 + (n - df + 0.5) / (df + 0.5))


def scores(
    matched: Sequence[Sequence[str]],
    times: Sequence[int],
    *,
    keywords: Sequence[str],
    now_ms: int,
    mode: Mode,
) -> list[float]:
    """Scores of a whole result set, in its order. `matched[i]` are the query keywords that hit i
    matched, `times[i]` its commit time in seconds. Mode TRAILER_WEIGHTED weighs each keyword by
    its rarity within this set, any other counts them; both add recency and keep two decimals."""
    sets = [set(words) for words in matched]
    if mode is Mode.TRAILER_WEIGHTED:
        n = len(sets)
        weights = {word: rarity(sum(word in s for s in sets), n) for word in keywords}
    else:
        weights = dict.fromkeys(keywords, 1.0)
    # The sum runs in the order of the query: floating point makes another order another score.
    return [
        _round2(sum(weight for word, weight in weights.items() if word in s) + recency(now_ms, at))
        for s, at in zip(sets, times, strict=True)
    ]


def matches(keywords: Sequence[str], *, fields: Sequence[str]) -> tuple[str, ...]:
    """The folded `keywords` that are contained in one of the folded `fields`, in order. This is
    the format's own rule for its trailer modes, bare substrings included."""
    return tuple(keyword for keyword in keywords if any(keyword in field for field in fields))


def key(hit: Ranked) -> tuple[float, str, str]:
    """Sort key; the best hit is the greatest."""
    return (hit.score, hit.date, hit.id)


def _round2(x: float) -> float:
    return floor(x * 100 + 0.5) / 100


# -- full text -------------------------------------------------------------------------------------


def text_score(relevance: float, coverage: float, *, now_ms: int, epoch_s: int) -> float:
    """A full-text score from a positive relevance (bm25, sign turned), the covered share of the
    query and the age. An entry that has all words outranks one that repeats a few, whatever its
    age: recency only parts equals, by a tenth at most."""
    mild = 1 + 0.2 * recency(now_ms, epoch_s)
    return relevance * (0.1 + 0.9 * coverage * coverage) * mild


def text_most(relevance: float, coverage: float) -> float:
    """What `text_score` gives at most, whatever the age."""
    return relevance * (0.1 + 0.9 * coverage * coverage) * (1 + 0.2 * RECENCY)


def aged(most: float) -> float:
    """What of `text_most` is left to an entry that is too old for a bonus, or a hair more."""
    return most / (1 + 0.2 * RECENCY) * (1 + 1e-9)


def topics_first(order: Sequence[EntryId], links: Mapping[EntryId, Sequence[str]]) -> list[EntryId]:
    """`order` with each topic moved before the first entry it links. `links`: topic -> hashes,
    full or shortened; a topic that links another one below it is not moved by that a second time.
    """
    ranked = list(order)
    for topic in order:
        linked = tuple(links.get(topic, ()))
        if not linked:
            continue
        at = ranked.index(topic)
        first = next((i for i, id_ in enumerate(ranked[:at]) if id_.startswith(linked)), at)
        if first < at:
            ranked.insert(first, ranked.pop(at))
    return ranked
