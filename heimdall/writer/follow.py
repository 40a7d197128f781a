"""Fetching what `moves` chooses from, and recording its choice.

What came and went is in the journal, not in this process's memory, so a pass that was killed before
it came here is made up for by the next. Each end is compared with the other ends of the pass and,
by bytes and by pieces of text, with those that came or went before: either may be seen first. The
first reading of a root is no arrival of anything.
Held by tests/heimdall/writer/test_moves.py.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from heimdall.journal.ends import End, Ends
from heimdall.journal.values import Move
from heimdall.journal.write import JournalWriter
from heimdall.writer.moves import Arrival, Departure, moves
from heimdall.writer.symbols import follow_symbols


def follow(journal: JournalWriter, at: int) -> int:
    """Record where departed content went; the number of moves. `at` in milliseconds."""
    with journal.transaction():
        ends = journal.ends
        found = ends.unfollowed()
        leaving = [end for end in found if end.gone or end.before is not None]
        coming = [end for end in found if not end.gone]
        found_moves = _follow(journal, leaving, coming, at)
        clear = _clear(found_moves)
        followed = {move.old for move in found_moves} | set(clear.values())
        first = _first(ends, found)
        owners = {end.path: end.owner for end in found}
        whole = {
            owners[old]: owners[new]
            for old, new in clear.items()
            if old in owners and new in owners
        }
        fresh = [end.owner for end in coming if end.before is None and end.root not in first]
        follow_symbols(journal.adrift, fresh, whole, at)
        for end in found:
            if end.before is None:
                if end.path in followed or end.root in first:
                    ends.tie([end.owner])
                else:
                    ends.loosen(end, at)
        ends.followed()
        return len({move.old for move in found_moves})


def _follow(
    journal: JournalWriter, leaving: Sequence[End], coming: Sequence[End], at: int
) -> tuple[Move, ...]:
    """Record the moves of whole files."""
    ends = journal.ends
    if not leaving and not ends.anything_gone():
        return ()
    departures = [_departure(ends, end) for end in leaving]
    arrivals = [_arrival(ends, end) for end in coming]
    known = {end.path for end in (*leaving, *coming)}
    # What came in the same pass has the first claim; a copy made long before is a second best.
    found = moves(departures, arrivals, at)
    over = {move.old for move in found} | set(_clear(found).values())
    departures = [gone for gone in departures if gone.path not in over]
    arrivals = [place for place in arrivals if place.path not in over]
    earlier = _earlier(ends, departures, arrivals, known)
    departures += [_departure(ends, end, late=True) for end in earlier if end.gone]
    arrivals += [_arrival(ends, end, late=True) for end in earlier if not end.gone]
    found += moves(departures, arrivals, at)
    for move in found:
        journal.record_move(move)
    over = {move.old for move in found} | set(_clear(found).values())
    ends.tie([end.owner for end in earlier if end.path in over])
    return found


def _clear(found: Sequence[Move]) -> dict[str, str]:
    """What went to one place. Of several equal ones none is taken: they may yet be another's."""
    places = Counter(move.old for move in found)
    return {move.old: move.new for move in found if places[move.old] == 1}


def _earlier(
    ends: Ends, departures: Sequence[Departure], arrivals: Sequence[Arrival], known: set[str]
) -> list[End]:
    """The ends of earlier passes that may be the other end of one of these."""
    found: dict[str, End] = {}
    for digest in dict.fromkeys(gone.digest for gone in departures):
        for end in ends.holding(digest) if digest else ():
            found[end.path] = end
    for digest in dict.fromkeys(place.digest for place in arrivals):
        for end in ends.lost(digest) if digest else ():
            found[end.path] = end
    for end in ends.loose(gone.sketch for gone in departures if not gone.displaced):
        if not end.gone:
            found.setdefault(end.path, end)
    for end in ends.loose(place.sketch for place in arrivals if not place.displaced):
        if end.gone:
            found.setdefault(end.path, end)
    return [end for path, end in found.items() if path not in known]


def _first(ends: Ends, found: Iterable[End]) -> set[str]:
    """The roots that were read for the first time: all their paths came at once."""
    came = Counter(end.root for end in found if end.before is None)
    sizes = ends.sizes()
    return {root for root, count in came.items() if count >= sizes.get(root, 0)}


def _departure(ends: Ends, end: End, *, late: bool = False) -> Departure:
    if end.before is not None:
        sketch = end.sketch_before
        return Departure(end.path, end.root, end.before, sketch, end.read, displaced=True)
    return Departure(end.path, end.root, end.digest, ends.sketch(end.owner), end.read, late=late)


def _arrival(ends: Ends, end: End, *, late: bool = False) -> Arrival:
    return Arrival(
        end.path,
        end.root,
        end.digest,
        ends.sketch(end.owner),
        end.size,
        born=end.born,
        late=late,
        displaced=end.before is not None,
        old=late and not end.born,
    )
