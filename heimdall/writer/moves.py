"""What went where: content that left its path, and the same or nearly the same at another.

Pure. A departure is matched as git matches renames, with one difference: where git takes the first
of several equal places, all of them are recorded, and who reads them knows that none was chosen.
Identical bytes come first, then the pairs that are most alike; what is about as like is parted by
its name and by where the rest of its folder went. `heimdall.writer.follow` fetches both ends and
records the result. Held by tests/heimdall/writer/test_moves.py and, with git as the judge, by
tests/laws/test_moves_like_git.py.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from os.path import basename, dirname
from typing import NamedTuple

from heimdall.core.rehome import LIKE
from heimdall.core.sketch import Sketch, likeness, unpacked
from heimdall.journal.values import Move

MARGIN = 0.03
"""How much better than its rivals a similar place must be, or have something else for it."""

NAMED_LIKE = 0.75
"""Above this a file that alone kept its name is it, whatever else is like it (git's own bar)."""

LEAST_BYTES = 16
"""Smaller files are alike by chance, unless name or folder speaks for them."""

NAMED = 8
"""How many places are recorded of one path at most."""

COMMON = 32
"""A piece of text that stands in more of the new files says nothing about which of them it is."""

_TELLING = 96
_CANDIDATES = 8


class Departure(NamedTuple):
    """Content that is no longer at `path`: the path is gone, or holds something altogether
    different (`displaced`). `generation` is that of its last reading; `late` marks what went in an
    earlier pass."""

    path: str
    root: str
    digest: bytes | None
    sketch: bytes
    generation: int = 0
    late: bool = False
    displaced: bool = False


class Arrival(NamedTuple):
    """Content that is at `path` now. `born` is the generation with which it came to be there;
    `late` marks what came in an earlier pass, `displaced` what took the place of other content,
    `old` what has long been there."""

    path: str
    root: str
    digest: bytes | None
    sketch: bytes
    size: int
    born: int = 0
    late: bool = False
    displaced: bool = False
    old: bool = False


class _Found(NamedTuple):
    gone: Departure
    places: tuple[Arrival, ...]
    alike: float


def moves(
    departures: Iterable[Departure], arrivals: Iterable[Arrival], at: int
) -> tuple[Move, ...]:
    """For each departure its moves: one where it is clear, else one to each equal place."""
    leaving = list({gone.path: gone for gone in departures}.values())
    coming = list({arrival.path: arrival for arrival in arrivals}.values())
    sure, doubtful, rest = _identical(leaving, coming)
    taken = {arrival.path for found in sure for arrival in found.places}
    coming = [one for one in coming if not (one.old or one.displaced or one.path in taken)]
    for found in _similar([gone for gone in rest if not gone.displaced], coming, _folders(sure)):
        (sure if len(found.places) == 1 else doubtful).append(found)
    folders = _folders(sure)
    for found in doubtful:
        sure.append(_parted(found, folders))
    return tuple(
        Move(found.gone.path, place.path, round(found.alike, 4), at)
        for found in sorted(sure, key=lambda one: one.gone.path)
        for place in found.places[:NAMED]
    )


# -- the same bytes --------------------------------------------------------------------------------


def _identical(
    departures: Sequence[Departure], arrivals: Sequence[Arrival]
) -> tuple[list[_Found], list[_Found], list[Departure]]:
    """What is clear by bytes, what is not, and what has no equal anywhere."""
    by_digest: dict[bytes, list[Arrival]] = {}
    for arrival in arrivals:
        if arrival.digest is not None:
            by_digest.setdefault(arrival.digest, []).append(arrival)
    sure: list[_Found] = []
    doubtful: list[_Found] = []
    rest: list[Departure] = []
    for gone in departures:
        same = [one for one in by_digest.get(gone.digest or b"", ()) if _may_hold(gone, one)]
        same = [one for one in same if not one.old] or same
        if len(same) > 1:
            same = _namesakes(gone.path, same) or same
        if not same:
            rest.append(gone)
        elif len(same) == 1 and (same[0].size >= LEAST_BYTES or _named_alike(gone, same[0])):
            sure.append(_Found(gone, tuple(same), 1.0))
        else:
            doubtful.append(_Found(gone, tuple(sorted(same)), 1.0))
    return sure, doubtful, rest


def _may_hold(gone: Departure, place: Arrival) -> bool:
    if gone.path == place.path or (gone.late and place.late):
        return False
    # What was overwritten and has long stood elsewhere too was a copy, and went nowhere.
    return not (gone.displaced and (place.old or place.late))


def _named_alike(gone: Departure, place: Arrival) -> bool:
    return place.size > 0 and basename(gone.path) == basename(place.path)


def _namesakes(path: str, places: Sequence[Arrival]) -> list[Arrival]:
    name = basename(path)
    return [place for place in places if basename(place.path) == name]


# -- nearly the same -------------------------------------------------------------------------------


def _similar(
    departures: Sequence[Departure], arrivals: Sequence[Arrival], folders: Mapping[str, str]
) -> list[_Found]:
    """The most alike first, each place once: as git does it, but for what is about as like."""
    pairs = _pairs(departures, arrivals)
    order = sorted(
        ((alike, gone, place) for gone, places in pairs.items() for place, alike in places.items()),
        key=lambda pair: (-_rank(*pair), -pair[0], pair[1].path, pair[2].path),
    )
    rivals_of: dict[str, list[tuple[float, Departure]]] = {}
    for alike, gone, place in order:
        rivals_of.setdefault(place.path, []).append((alike, gone))
    done: set[str] = set()
    taken: set[str] = set()
    found: list[_Found] = []
    for _, gone, place in order:
        if gone.path in done or place.path in taken:
            continue
        done.add(gone.path)
        free = {one: alike for one, alike in pairs[gone].items() if one.path not in taken}
        top = free[place]
        near = [
            one
            for one, alike in free.items()
            if one == place
            or (
                alike > top - MARGIN
                and not _belongs_elsewhere(gone, alike, rivals_of[one.path], done)
            )
        ]
        one = _parted(_Found(gone, tuple(sorted(near)), top), folders)
        if len(one.places) > 1 and top >= NAMED_LIKE:
            one = one._replace(places=tuple(_only_namesake(gone, near) or near))
        if len(one.places) == 1:
            taken.add(one.places[0].path)
            one = one._replace(alike=min(free[one.places[0]], 0.9999))
        found.append(one)
    return found


def _rank(alike: float, gone: Departure, place: Arrival) -> float:
    """Likeness, with a little for a kept name: it parts what is equally like."""
    return alike + (MARGIN if basename(gone.path) == basename(place.path) else 0.0)


def _belongs_elsewhere(
    gone: Departure, alike: float, claims: Iterable[tuple[float, Departure]], done: set[str]
) -> bool:
    """Whether another departure that is still without a place is clearly more like this place."""
    return any(
        claim > alike + MARGIN and other.path != gone.path and other.path not in done
        for claim, other in claims
    )


def _only_namesake(gone: Departure, near: Sequence[Arrival]) -> list[Arrival]:
    kept = _namesakes(gone.path, near)
    return kept if len(kept) == 1 else []


def _pairs(
    departures: Sequence[Departure], arrivals: Sequence[Arrival]
) -> dict[Departure, dict[Arrival, float]]:
    """The pairs that are alike, found by the rarest pieces of text that they share: the cost grows
    with the number of files, and not with that of pairs."""
    looks = {place: unpacked(place.sketch) for place in arrivals}
    holders: dict[int, list[Arrival]] = {}
    named: dict[str, list[Arrival]] = {}
    for place, look in looks.items():
        named.setdefault(basename(place.path), []).append(place)
        for key in look.weights:
            holders.setdefault(key, []).append(place)
    found: dict[Departure, dict[Arrival, float]] = {}
    for gone in departures:
        look = unpacked(gone.sketch)
        kept = {
            place: alike
            for place in _likely(gone, look, holders, named)
            if _may_be(gone, place) and (alike := likeness(look, looks[place])) >= LIKE
        }
        if kept:
            found[gone] = kept
    return found


def _likely(
    gone: Departure,
    look: Sketch,
    holders: Mapping[int, Sequence[Arrival]],
    named: Mapping[str, Sequence[Arrival]],
) -> Iterable[Arrival]:
    shared = [(len(holders[key]), key) for key in look.weights if key in holders]
    shared.sort()
    votes: Counter[Arrival] = Counter()
    for count, key in shared[:_TELLING]:
        if count > COMMON:
            break
        for place in holders[key]:
            votes[place] += look.weights[key]
    best = sorted(votes.items(), key=lambda vote: (-vote[1], vote[0].path))[:_CANDIDATES]
    namesakes = named.get(basename(gone.path), ())[:COMMON]
    return dict.fromkeys([*(place for place, _ in best), *namesakes])


def _may_be(gone: Departure, place: Arrival) -> bool:
    """Whether a file can be the other edited: of one root, and it came when the other was last
    seen or later."""
    if gone.root != place.root or gone.path == place.path or (gone.late and place.late):
        return False
    return not place.late or place.born > gone.generation


# -- where a folder went ---------------------------------------------------------------------------


def _folders(found: Iterable[_Found]) -> dict[str, str]:
    """Where most of what left a folder went, for it and for the folders around it."""
    votes: dict[str, Counter[str]] = {}
    for one in found:
        if len(one.places) != 1:
            continue
        old, new = dirname(one.gone.path), dirname(one.places[0].path)
        votes.setdefault(old, Counter())[new] += 1
        while old != new and basename(old) == basename(new) and basename(old):
            old, new = dirname(old), dirname(new)
            votes.setdefault(old, Counter())[new] += 1
    return {old: max(sorted(new), key=lambda one: new[one]) for old, new in votes.items()}


def _parted(found: _Found, folders: Mapping[str, str]) -> _Found:
    """The one of equal places that lies where the rest of the folder went; else all of them, but
    for files too small to be told apart, which are nowhere."""
    if not found.places:
        return found
    above, below = dirname(found.gone.path), basename(found.gone.path)
    while above and above != "/":
        if above in folders:
            wanted = f"{folders[above]}/{below}"
            lies = [one for one in found.places if one.path == wanted]
            if lies:
                return found._replace(places=tuple(lies))
        above, below = dirname(above), f"{basename(above)}/{below}"
    if found.alike >= 1.0 and found.places[0].size < LEAST_BYTES:
        return found._replace(places=())
    return found
