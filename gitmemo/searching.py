"""Asking the derived index: the format's trailer search, and full text beside it.

Reads the tables of `index` and nothing else, so it does not know whether they lie in a file or in
memory. What counts is the scope alone: entries outside it change no score, so a page asked for
later, by its snapshot, fits the ones before. Never here: git, files, which index is the right one.
Tests: tests/gitmemo/test_searching.py, test_golden_repo.py, tests/laws/test_search_parity.py.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from heapq import nlargest
from itertools import chain
from math import log

from gitmemo import ranking
from gitmemo.index import FOLDED, Index, Scored, below, range_of, weight_of
from gitmemo.model import EntryId, Kind, Mode
from gitmemo.text import TYPO_LENGTH, is_sign, near, norm, query_tokens
from gitmemo.values import NamedTuple

_LIVE = "(e.seq <= :at AND (e.until IS NULL OR e.until > :at))"
_EVER = "(e.seq <= :at)"
_SATURATION = 1.2  # how soon repeating a word stops to count (BM25's k1)
_LENGTH_SHARE = 0.5  # how much a long entry is held against it (BM25's b)
_TYPO_WORTH = 0.5
_LAST_LETTER = "\u1fff"
"""The alphabets end here; behind it are scripts whose words are searched by pairs of signs."""


class Scope(NamedTuple):
    """Which entries a search sees: those of the commit `at`, living ones or all. Of these it gives
    only the ones of `kinds`, written at `since_s` or later, that concern one of `paths` (keys of
    `text.path_key`; a folder stands for all below it)."""

    at: int
    inactive: bool = False
    kinds: frozenset[Kind] | None = None
    since_s: int | None = None
    paths: tuple[bytes, ...] = ()

    @property
    def narrowed(self) -> bool:
        """Whether less is given than what is seen."""
        return self.kinds is not None or self.since_s is not None or bool(self.paths)


_BATCH = 64  # how many entries are scored before it is seen whether the next can matter

_Weights = dict[int, float]
"""How much of one word each entry has, by `seq`."""


def search(
    index: Index, words: Sequence[str], *, mode: Mode, scope: Scope, now_ms: int, page: slice
) -> tuple[int, list[Scored]]:
    """How many hits there are, and those of `page`, best first. For the trailer modes `words`
    are keywords in the format's form; for text they are taken apart here. The answer depends on
    history up to `scope.at` and on `now_ms` alone, so that pages of one snapshot fit each other.
    Without words a narrowed scope is listed, the newest first, in every mode."""
    if scope.narrowed and not any(word.strip() for word in words):
        return _listed(index, scope, page)
    if mode is Mode.TEXT:
        given = tuple(dict.fromkeys(part for word in words for part in word.split()))
        return _by_text(index, given, scope=scope, now_ms=now_ms, page=page)
    return _by_trailers(index, words, mode=mode, scope=scope, now_ms=now_ms, page=page)


def _listed(index: Index, scope: Scope, page: slice) -> tuple[int, list[Scored]]:
    """What the scope gives. Nothing was asked, so nothing is left uncovered."""
    condition, named = _condition(scope)
    rows = index.base.execute(
        f"SELECT seq FROM entries e WHERE {condition} ORDER BY time DESC, seq DESC",  # noqa: S608 -- constants
        named,
    ).fetchall()
    return len(rows), [Scored(seq, 0.0, 1.0, ()) for (seq,) in rows[page]]


def _by_trailers(
    index: Index, words: Sequence[str], *, mode: Mode, scope: Scope, now_ms: int, page: slice
) -> tuple[int, list[Scored]]:
    """Fixed strings, OR: title, summary or a keyword has one in folded form, as the format asks,
    and some line of the message has one, as `git log --fixed-strings --grep` asks."""
    folded = tuple(dict.fromkeys(map(norm, words)))
    named = {f"k{i}": word for i, word in enumerate(folded)}
    fields = " OR ".join(f"instr(line, :{name})" for name in named)
    grep = " OR ".join(f"instr(message, :{name})" for name in named)
    condition, values = _condition(scope)
    rows = index.base.execute(
        f"SELECT seq, id, time, line FROM (SELECT e.seq, id, e.time, {FOLDED} AS line, message"  # noqa: S608 -- names and constants
        " FROM entries e JOIN texts t USING (seq) JOIN commits c USING (seq)"
        f" WHERE {condition} LIMIT -1) WHERE ({fields}) AND (message IS NULL OR {grep})",
        {**values, **named},
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
    outside = _outside(index, scope)
    found = {token: _weights(index, token, outside) for token in tokens}
    for token in tokens:
        if not found[token]:
            found[token] = _misspelled(index, token, outside)
    present = Counter(chain.from_iterable(found.values()))
    if scope.narrowed:
        condition, values = _condition(scope)
        rows = index.base.execute(f"SELECT seq FROM entries e WHERE {condition}", values)  # noqa: S608 -- constants
        present = Counter({seq: present[seq] for (seq,) in rows if seq in present})
    best = _best(index, found, present, scope=scope, now_ms=now_ms, count=page.stop)
    words = {word: [t for t in query_tokens(word) if t in found] for word in given}
    return len(present), [
        Scored(
            seq,
            score,
            present[seq] / len(tokens),
            tuple(word for word, own in words.items() if any(seq in found[t] for t in own)),
        )
        for score, _, _, seq in best[page]
    ]


_Scored = tuple[float, int, int]
"""Score, time and `seq` of a hit."""

_Ranked = tuple[float, int, EntryId, int]
"""What orders hits: score, time, id; and the `seq`. A bare tuple, because a common word makes
thousands of them."""


def _best(
    index: Index,
    found: Mapping[str, _Weights],
    present: Mapping[int, int],
    *,
    scope: Scope,
    now_ms: int,
    count: int | None,
) -> list[_Ranked]:
    """The best `count` of the entries in `present` (which says how many of the words each has), and
    maybe more, in order. What an entry would score if it were the shortest and young is known
    without looking at it. Those that could score most come first, until none can be enough."""
    if not present:
        return []
    population, mean, shortest = _population(index, scope)
    rarities = {
        token: log(1 + (population - len(has) + 0.5) / (len(has) + 0.5)) * (1 + _SATURATION)
        for token, has in found.items()
    }
    words = [(has, rarities[token]) for token, has in found.items()]
    topics = [seq for seq in _topics(index) if seq in present]
    scored: list[_Scored] = []
    least: list[float] = []  # the best scores so far, the least of them first
    floor = 0.0  # what is below is not on the page
    damped = _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * shortest / mean)
    for most, entries in _reaching(words, present, damped=damped):
        if most < floor:
            break
        since = now_ms // 1000 - ranking.OLD_DAYS * 86_400 if ranking.aged(most) < floor else None
        fresh = _scored(
            index, entries, words, present, mean=mean, now_ms=now_ms, floor=floor, since_s=since
        )
        scored += fresh
        if count is not None:
            least = sorted(nlargest(count, (*least, *(score for score, _, _ in fresh))))
            floor = least[0] if len(least) == count else 0.0
    scored = [hit for hit in scored if hit[0] >= floor]
    # A topic goes before what it links, however low it stands itself.
    known = {seq for _, _, seq in scored}
    later = [seq for seq in topics if seq not in known]
    scored += _scored(index, later, words, present, mean=mean, now_ms=now_ms)
    ids = index.ids(seq for _, _, seq in scored)
    order = sorted(((score, time, ids[seq], seq) for score, time, seq in scored), reverse=True)
    return _topics_first(index, order, topics)


def _reaching(
    words: Sequence[tuple[_Weights, float]], present: Mapping[int, int], *, damped: float
) -> Iterator[tuple[float, list[int]]]:
    """The entries in `present` in portions, and what those of a portion can score at most, falling;
    a hair more, for what rounding may take away."""
    reach: dict[int, float] = {}
    for has, rarity in words:
        most = {weight: rarity * weight / (weight + damped) for weight in set(has.values())}
        if reach:
            for seq, weight in has.items():
                reach[seq] = reach.get(seq, 0.0) + most[weight]
        else:
            reach = {seq: most[weight] for seq, weight in has.items()}
    worth = [ranking.text_most(1 + 1e-9, n / len(words)) for n in range(len(words) + 1)]
    groups: defaultdict[float, list[int]] = defaultdict(list)
    for seq, has_of in present.items():
        groups[reach[seq] * worth[has_of]].append(seq)
    portion: list[int] = []
    most_of = 0.0
    for most_of_group in sorted(groups, reverse=True):
        if len(portion) >= _BATCH:
            yield most_of, portion
            portion = []
        if not portion:
            most_of = most_of_group
        portion += groups[most_of_group]
    if portion:
        yield most_of, portion


def _scored(
    index: Index,
    entries: Sequence[int],
    words: Sequence[tuple[_Weights, float]],
    present: Mapping[int, int],
    *,
    mean: float,
    now_ms: int,
    floor: float = 0.0,
    since_s: int | None = None,
) -> list[_Scored]:
    """These entries with their scores; `present` says how many of the words each has. Some that
    are below the `floor` are left out, and those older than `since_s`."""
    scored: list[_Scored] = []
    rows = index.base.execute(
        "SELECT seq, time, length FROM json_each(?) j CROSS JOIN entries ON seq = j.value"
        " WHERE ?2 IS NULL OR time >= ?2",
        (f"[{','.join(map(str, entries))}]", since_s),
    )
    shares = [n / len(words) for n in range(len(words) + 1)]
    # A hair less than what reaches the floor, for what rounding may add.
    enough = {share: floor / ranking.text_most(1.0, share) * (1 - 1e-9) for share in shares}
    for seq, time, length in rows:
        damped = _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * length / mean)
        relevance = 0.0
        for has, rarity in words:
            weight = has.get(seq)
            if weight is not None:
                relevance += rarity * weight / (weight + damped)
        share = shares[present[seq]]
        if relevance >= enough[share]:
            score = ranking.text_score(relevance, share, now_ms=now_ms, epoch_s=time)
            scored.append((score, time, seq))
    return scored


def _topics_first(index: Index, order: list[_Ranked], topics: Sequence[int]) -> list[_Ranked]:
    if not topics:
        return order
    ids = {seq: id_ for _, _, id_, seq in order}
    links = {ids[seq]: linked for seq, linked in index.linked(topics).items()}
    by_id = {hit[2]: hit for hit in order}
    return [by_id[id_] for id_ in ranking.topics_first([hit[2] for hit in order], links)]


def _weights(index: Index, token: str, outside: Set[int]) -> _Weights:
    """The entries in scope that have `token`, and how much of it, by field."""
    has: _Weights = {}
    if is_sign(token):
        for term, entries in index.having(token, f"{token}\U0010ffff"):
            for seq in entries:
                has[seq] = has.get(seq, 0) + weight_of(term)
    else:
        for term, entries in index.having(*range_of(token)):
            has.update(dict.fromkeys(entries, weight_of(term)))
    if outside:
        for seq in outside & has.keys():
            del has[seq]
    return has


def _outside(index: Index, scope: Scope) -> Set[int]:
    """The entries that the scope does not see: few, in a store that is not asked for its past."""
    rows = index.base.execute("SELECT seq FROM entries WHERE seq > ?", (scope.at,)).fetchall()
    if not scope.inactive:
        rows += index.base.execute("SELECT seq FROM entries WHERE until <= ?", (scope.at,))
    return {seq for (seq,) in rows}


def _topics(index: Index) -> list[int]:
    """The topics, in scope or not."""
    rows = index.base.execute("SELECT seq FROM entries WHERE kind = 'topic'")
    return [seq for (seq,) in rows]


def _misspelled(index: Index, token: str, outside: Set[int]) -> _Weights:
    """Entries that have a word one edit away from `token`, which no entry in scope has."""
    found: _Weights = {}
    for other in near(token, _alike(index, token)) if len(token) >= TYPO_LENGTH else ():
        for seq, weight in _weights(index, other, outside).items():
            found[seq] = max(found.get(seq, 0.0), weight * _TYPO_WORTH)
    return found


def _alike(index: Index, token: str) -> set[str]:
    """The words of the vocabulary that are one edit away from `token`. They are made and looked up,
    letter for letter as the vocabulary goes on, because to read all of it costs more than the rest
    of a search."""
    made: set[str] = set()
    for at in range(len(token) + 1):
        head, tail = token[:at], token[at:]
        letters = _going_on(index, head)
        if not letters:
            made.add(head + tail[1:])  # its last letter may be the one too many
            break
        made.update((head + tail[1:], head + tail[1:2] + tail[:1] + tail[2:]))
        made.update(head + letter + rest for letter in letters for rest in (tail, tail[1:]))
    return {word for word in made if index.first_word(word) == word}


def _going_on(index: Index, head: str) -> list[str]:
    """The letters with which the words that begin with `head` go on."""
    letters: list[str] = []
    word = index.first_word(range_of(head)[1])
    while word is not None and word.startswith(head) and word[len(head)] <= _LAST_LETTER:
        letters.append(word[len(head)])
        word = index.first_word(head + chr(ord(letters[-1]) + 1))
    return letters


def _population(index: Index, scope: Scope) -> tuple[int, float, float]:
    """How many entries are in scope, their mean length, never zero, and a length that none is
    below."""
    count, length, shortest = index.base.execute(
        "SELECT living, length, coalesce(shortest, 0) FROM meta"
    ).fetchone()
    if scope.inactive or scope.at < index.last():
        count, length = index.base.execute(
            f"SELECT count(*), total(length) FROM entries e WHERE {_seen(scope)}",  # noqa: S608 -- constants
            {"at": scope.at},
        ).fetchone()
    return count, max(1.0, length / max(1, count)), shortest


def _seen(scope: Scope) -> str:
    """What the scope sees, as a condition on `e` with the name `at`."""
    return _EVER if scope.inactive else _LIVE


def _condition(scope: Scope) -> tuple[str, dict[str, object]]:
    """What the scope gives, as a condition on `e` with its names and their values."""
    parts, values = [_seen(scope)], dict[str, object](at=scope.at)
    if scope.kinds is not None:
        kinds = ",".join(repr(kind.value) for kind in sorted(scope.kinds))
        parts.append(f"e.kind IN ({kinds})")
    if scope.since_s is not None:
        parts.append("e.time >= :since")
        values["since"] = scope.since_s
    if scope.paths:
        about = " OR ".join(
            f"path = :path{n} OR path >= :from{n} AND path < :to{n}" if path else "1"
            for n, path in enumerate(scope.paths)
        )
        parts.append(f"e.seq IN (SELECT seq FROM concerns WHERE {about})")  # noqa: S608 -- names
        for n, path in enumerate(scope.paths):
            values[f"path{n}"] = path
            values[f"from{n}"], values[f"to{n}"] = below(path)
    return " AND ".join(parts), values
