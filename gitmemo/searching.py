"""Asking the derived index: the format's trailer search, and full text beside it.

Reads the tables of `index` and nothing else, so it does not know whether they lie in a file or in
memory. What counts is the scope alone: entries outside it change no score, so a page asked for
later, by its snapshot, fits the ones before. Never here: git, files, which index is the right one.
Tests: tests/gitmemo/test_searching.py, test_golden_repo.py, tests/laws/test_search_parity.py.
"""

from collections.abc import Mapping, Sequence
from json import loads
from math import log
from typing import NamedTuple

from gitmemo import ranking
from gitmemo.index import WEIGHTS, Index, Scored
from gitmemo.model import EntryId, Kind, Mode
from gitmemo.text import near, norm, query_tokens

_WEIGHT = "CASE col " + " ".join(f"WHEN '{c}' THEN {w}" for c, w in WEIGHTS.items()) + " END"
_LIVE = "(e.seq <= :at AND (e.until IS NULL OR e.until > :at))"
_EVER = "(e.seq <= :at)"
_SATURATION = 1.2  # how soon repeating a word stops to count (BM25's k1)
_LENGTH_SHARE = 0.5  # how much a long entry is held against it (BM25's b)
_TYPO_WORTH = 0.5


class Scope(NamedTuple):
    """Which entries a search sees: those of the commit `at`, living ones or all, of `kinds`."""

    at: int
    inactive: bool = False
    kinds: frozenset[Kind] | None = None


_Posting = tuple[EntryId, int, str, float, float]
"""One word in one entry: its id, time and kind, the word's weight there, the entry's length. A bare
tuple, because a common word makes thousands of them."""


def search(
    index: Index, words: Sequence[str], *, mode: Mode, scope: Scope, now_ms: int, page: slice
) -> tuple[int, list[Scored]]:
    """How many hits there are, and those of `page`, best first. For the trailer modes `words`
    are keywords in the format's form; for text they are taken apart here. The answer depends on
    history up to `scope.at` and on `now_ms` alone, so that pages of one snapshot fit each other."""
    if mode is Mode.TEXT:
        given = tuple(dict.fromkeys(part for word in words for part in word.split()))
        return _by_text(index, given, scope=scope, now_ms=now_ms, page=page)
    return _by_trailers(index, words, mode=mode, scope=scope, now_ms=now_ms, page=page)


def _by_trailers(
    index: Index, words: Sequence[str], *, mode: Mode, scope: Scope, now_ms: int, page: slice
) -> tuple[int, list[Scored]]:
    """Fixed strings, OR: title, summary or a keyword has one in folded form, as the format asks,
    and some line of the message has one, as `git log --fixed-strings --grep` asks."""
    folded = tuple(dict.fromkeys(map(norm, words)))
    named = {f"k{i}": word for i, word in enumerate(folded)}
    fields = " OR ".join(f"instr(t.folded, :{name})" for name in named)
    grep = " OR ".join(f"instr(t.message, :{name})" for name in named)
    rows = index.base.execute(
        "SELECT e.seq, e.id, e.time, t.folded FROM entries e JOIN texts t USING (seq)"  # noqa: S608 -- names and constants
        f" WHERE {_condition(scope)} AND ({fields}) AND ({grep})",
        {"at": scope.at, **named},
    ).fetchall()
    matched = [ranking.matches(folded, fields=(text,)) for _, _, _, text in rows]
    times = [time for _, _, time, _ in rows]
    scores = ranking.scores(matched, times, keywords=folded, now_ms=now_ms, mode=mode)
    order = sorted(
        (
            (score, time, id_, seq, words_)
            for score, (seq, id_, time, _), words_ in zip(scores, rows, matched, strict=True)
        ),
        reverse=True,
    )
    return len(order), [
        Scored(seq, score, len(words_) / len(folded), words_)
        for score, _, _, seq, words_ in order[page]
    ]


def _by_text(
    index: Index, given: Sequence[str], *, scope: Scope, now_ms: int, page: slice
) -> tuple[int, list[Scored]]:
    """Whole words, OR: BM25 over the fields, weighed, within the scope alone; then how much of the
    query an entry has, and a little of its age. Words that nothing has are taken for typos."""
    tokens = query_tokens(" ".join(given))
    postings = {token: _postings(index, token, scope) for token in tokens}
    for token in tokens:
        if not postings[token]:
            postings[token] = _misspelled(index, token, scope)
    count, mean = _population(index, scope)
    relevance: dict[int, float] = {}
    present: dict[int, int] = {}
    known: dict[int, _Posting] = {}
    for found in postings.values():
        rarity = log(1 + (count - len(found) + 0.5) / (len(found) + 0.5)) * (1 + _SATURATION)
        for seq, posting in found.items():
            weight, length = posting[3], posting[4]
            damped = _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * length / mean)
            relevance[seq] = relevance.get(seq, 0.0) + rarity * weight / (weight + damped)
            present[seq] = present.get(seq, 0) + 1
            known[seq] = posting
    score, all_ = ranking.text_score, len(tokens)
    order = sorted(
        (
            (
                score(relevance[seq], present[seq] / all_, now_ms=now_ms, epoch_s=time),
                time,
                id_,
                seq,
            )
            for seq, (id_, time, kind, _, _) in known.items()
            if scope.kinds is None or kind in scope.kinds
        ),
        reverse=True,
    )
    order = _topics_first(index, order, known)
    words = {word: [t for t in query_tokens(word) if t in postings] for word in given}
    return len(order), [
        Scored(
            seq,
            score_,
            present[seq] / all_,
            tuple(word for word, own in words.items() if any(seq in postings[t] for t in own)),
        )
        for score_, _, _, seq in order[page]
    ]


def _topics_first(
    index: Index,
    order: list[tuple[float, int, EntryId, int]],
    known: Mapping[int, _Posting],
) -> list[tuple[float, int, EntryId, int]]:
    topics = [(id_, seq) for _, _, id_, seq in order if known[seq][2] == Kind.TOPIC]
    if not topics:
        return order
    links = {
        id_: loads(
            index.base.execute("SELECT links FROM texts WHERE seq = ?", (seq,)).fetchone()[0]
        )
        for id_, seq in topics
    }
    by_id = {hit[2]: hit for hit in order}
    return [by_id[id_] for id_ in ranking.topics_first([hit[2] for hit in order], links)]


def _postings(index: Index, token: str, scope: Scope) -> dict[int, _Posting]:
    """Entries in scope that have `token`: how much, by field, and how long they are."""
    rows = index.base.execute(
        "SELECT e.seq, e.id, e.time, e.kind, p.weight, e.length FROM"  # noqa: S608 -- constants
        f" (SELECT doc, sum({_WEIGHT}) AS weight FROM places p WHERE term = :term GROUP BY doc) p"
        f" CROSS JOIN entries e ON e.seq = p.doc WHERE {_condition(scope, kinds=False)}",
        {"term": token, "at": scope.at},
    )
    return {row[0]: row[1:] for row in rows}


def _misspelled(index: Index, token: str, scope: Scope) -> dict[int, _Posting]:
    """Entries that have a word one edit away from `token`, which no entry in scope has."""
    terms = (term for (term,) in index.base.execute("SELECT term FROM vocabulary"))
    found: dict[int, _Posting] = {}
    for other in near(token, terms):
        for seq, (id_, time, kind, weight, length) in _postings(index, other, scope).items():
            if seq not in found or found[seq][3] < weight * _TYPO_WORTH:
                found[seq] = (id_, time, kind, weight * _TYPO_WORTH, length)
    return found


def _population(index: Index, scope: Scope) -> tuple[int, float]:
    """How many entries are in scope, and their mean length, never zero."""
    count, length = index.base.execute(
        f"SELECT count(*), total(length) FROM entries e WHERE {_condition(scope, kinds=False)}",  # noqa: S608 -- constants
        {"at": scope.at},
    ).fetchone()
    return count, max(1.0, length / max(1, count))


def _condition(scope: Scope, *, kinds: bool = True) -> str:
    alive = _EVER if scope.inactive else _LIVE
    if scope.kinds is None or not kinds:
        return alive
    return f"{alive} AND e.kind IN ({','.join(repr(kind.value) for kind in sorted(scope.kinds))})"
