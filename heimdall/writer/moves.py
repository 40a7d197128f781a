"""What went where: a path that is gone, and the same or nearly the same content at another.

Only what a reader may later call REBUILT is recorded: identical bytes wherever they arrived, or one
similar newcomer that no other rivals. The order does not matter: the new place may be seen in the
same pass, in an earlier or in a later one. The choice is pure; `heimdall.writer.reconciler` fetches
the candidates and records the result.
"""

from collections.abc import Iterable, Sequence
from os.path import basename, splitext
from typing import NamedTuple

from heimdall.core.sketch import similarity
from heimdall.journal.values import Move

LIKE = 0.5
"""The least share of common lines that makes a move (git's own bar)."""

MARGIN = 0.1
"""How much better than its rivals a similar place must be."""

LEAST_BYTES = 16
"""Smaller files are alike by chance."""

NAMED = 8
"""How many identical places are recorded of one path at most."""


class Departure(NamedTuple):
    """A path that is gone, with what it held when it was last read, at `generation`."""

    path: str
    root: str
    digest: bytes | None
    sketch: bytes
    generation: int = 0


class Arrival(NamedTuple):
    """A path that holds something now, of `size` bytes."""

    path: str
    root: str
    digest: bytes | None
    sketch: bytes
    size: int


def moves(
    departures: Iterable[Departure], arrivals: Iterable[Arrival], at: int
) -> tuple[Move, ...]:
    """For each departure its moves: every identical arrival (its namesakes alone, if it has any),
    else the one similar arrival of its root, if one stands out."""
    places = list({arrival.path: arrival for arrival in arrivals}.values())
    by_digest: dict[bytes, list[Arrival]] = {}
    for arrival in places:
        if arrival.digest is not None and arrival.size >= LEAST_BYTES:
            by_digest.setdefault(arrival.digest, []).append(arrival)
    found: list[Move] = []
    for gone in departures:
        same = [a for a in by_digest.get(gone.digest or b"", ()) if a.path != gone.path]
        if same:
            found += [Move(gone.path, a.path, 1.0, at) for a in _namesakes(gone.path, same)]
        elif (like := _alike(gone, places)) is not None:
            found.append(Move(gone.path, like[0].path, round(like[1], 4), at))
    return tuple(found)


def comparable(gone: Departure, path: str, root: str) -> bool:
    """Whether a file can be the other edited: of the same root, and the same kind by its name, or
    of the same name as another kind (`a.js`, `a.mjs`)."""
    old, new = splitext(basename(gone.path)), splitext(basename(path))
    same_kind = old[1] == new[1] or old[0] == new[0]
    return gone.root == root and gone.path != path and same_kind


def _namesakes(path: str, same: Sequence[Arrival]) -> Sequence[Arrival]:
    name = basename(path)
    kept = [arrival for arrival in same if basename(arrival.path) == name]
    return sorted(kept or same, key=lambda arrival: arrival.path)[:NAMED]


def _alike(gone: Departure, arrivals: Iterable[Arrival]) -> tuple[Arrival, float] | None:
    """The arrival that is like the departure and clearly more so than every other; of several that
    are about as like, the one that kept the name."""
    if not gone.sketch:
        return None
    scored = [
        (similarity(gone.sketch, arrival.sketch), arrival)
        for arrival in arrivals
        if comparable(gone, arrival.path, arrival.root)
    ]
    scored.sort(key=lambda pair: (-pair[0], pair[1].path))
    if not scored or scored[0][0] < LIKE:
        return None
    near = [pair for pair in scored if pair[0] > scored[0][0] - MARGIN]
    if len(near) > 1:
        near = [pair for pair in near if basename(pair[1].path) == basename(gone.path)]
    return (near[0][1], near[0][0]) if len(near) == 1 else None
