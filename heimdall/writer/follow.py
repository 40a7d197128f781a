"""Fetching what `moves` chooses from, and recording its choice.

A departure is compared with what arrived in this pass and with what the journal has come to know
since the path was last seen; an arrival is compared with the paths that were gone before. So either
may come first.
"""

from collections.abc import Sequence
from os.path import splitext

from heimdall.journal.values import Move
from heimdall.journal.write import JournalWriter
from heimdall.model import PathRow, Presence
from heimdall.writer.moves import Arrival, Departure, comparable, moves

_PAIRS = 200_000
"""More comparisons of sketches than this are not worth a guess: a tree was replaced."""


def follow(
    journal: JournalWriter,
    departures: Sequence[Departure],
    arrivals: Sequence[Arrival],
    at: int,
) -> int:
    """Record where departed content went; the number of moves. `at` in milliseconds."""
    if not departures and not arrivals:
        return 0
    found = list(moves(departures, [*arrivals, *_identical(journal, departures)], at))
    settled = {move.old for move in found}
    restless = [gone for gone in departures if gone.path not in settled]
    found += moves(restless, [*arrivals, *_newer(journal, restless)], at)
    found += _late(journal, arrivals, {gone.path for gone in departures}, at)
    with journal.transaction():
        for move in found:
            journal.record_move(move)
    return len(found)


def _identical(journal: JournalWriter, departures: Sequence[Departure]) -> list[Arrival]:
    """The paths that hold the departures' bytes now, whenever they came."""
    digests = {gone.digest for gone in departures if gone.digest is not None}
    return [
        Arrival(row.path, row.root, row.digest, b"", _size(row))
        for digest in sorted(digests)
        for path in journal.by_digest(digest)
        if (row := journal.path(path)) is not None
    ]


def _newer(journal: JournalWriter, departures: Sequence[Departure]) -> list[Arrival]:
    """Paths of the departures' roots that may be one of them edited, and came after it."""
    found: dict[str, Arrival] = {}
    for root in sorted({gone.root for gone in departures if gone.sketch}):
        mine = [gone for gone in departures if gone.root == root and gone.sketch]
        present = [r for r in journal.paths(root) if r.state is Presence.PRESENT]
        if len(mine) * len(present) > _PAIRS:
            continue
        for row in present:
            if any(_newer_kin(gone, row) for gone in mine):
                found[row.path] = _arrival(journal, row)
    return list(found.values())


def _late(
    journal: JournalWriter, arrivals: Sequence[Arrival], departed: set[str], at: int
) -> list[Move]:
    """Moves from paths that were gone before this pass and have led nowhere until now."""
    found: list[Move] = []
    for root in sorted({arrival.root for arrival in arrivals}):
        mine = [arrival for arrival in arrivals if arrival.root == root]
        digests = {arrival.digest for arrival in mine}
        kinds = {splitext(arrival.path)[1] for arrival in mine}
        candidates = [
            row
            for row in journal.gone(root)
            if row.path not in departed
            and (row.digest in digests or splitext(row.path)[1] in kinds)
            and not journal.moves_from(row.path)
        ]
        if len(mine) * len(candidates) <= _PAIRS:
            found += moves([_departure(journal, row) for row in candidates], mine, at)
    return found


def _departure(journal: JournalWriter, row: PathRow) -> Departure:
    return Departure(row.path, row.root, row.digest, journal.sketch(row.path), row.generation)


def _newer_kin(gone: Departure, row: PathRow) -> bool:
    return row.generation > gone.generation and comparable(gone, row.path, row.root)


def _arrival(journal: JournalWriter, row: PathRow) -> Arrival:
    return Arrival(row.path, row.root, row.digest, journal.sketch(row.path), _size(row))


def _size(row: PathRow) -> int:
    return 0 if row.stat is None else row.stat.size
