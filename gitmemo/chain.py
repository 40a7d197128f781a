"""Chains: what became of an entry, decided from the facts of the commits alone.

An entry is the commit that added its file; it lives while the tip's tree has the file. Successors
are followed whatever their own state, to the end: stopping at the first replaced one would show a
reader an answer that was corrected twice. Damage (a circle, a successor that history lacks) is a
value, because a store merged by strangers must still be readable. Never here: git, files, text of
entries. Tests: tests/gitmemo/test_chain.py, against histories of another engine;
tests/laws/test_merged_chains.py, against git.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import NamedTuple

from gitmemo.model import Act, EntryId, Event
from gitmemo.trailers import Message


class Commit(NamedTuple):
    """One commit of main. `time` is the committer's, in seconds; `added` and `removed` are paths
    against the only parent (none for a merge, as `git log` shows it)."""

    id: EntryId
    parents: tuple[EntryId, ...]
    time: int
    author: str
    message: Message
    added: tuple[str, ...]
    removed: tuple[str, ...]


class Trail(NamedTuple):
    """Where a chain leads. `ends` are the living ends (two where two histories replaced one
    entry); `withdrawn` the delete commits at its dead ends; `cycle` and `gaps` (successors that
    history lacks) are damage."""

    ends: tuple[EntryId, ...]
    withdrawn: tuple[EntryId, ...]
    cycle: bool
    gaps: tuple[EntryId, ...]


def is_entry_path(path: str) -> bool:
    """Whether `path` (inside `.mem`) is an entry file, in whatever folder under `entries/`."""
    return path.startswith("entries/") and path.endswith(".md") and len(path) > len("entries/.md")


def claim(commit: Commit) -> str | None:
    """The entry file that `commit` stands for: one of type add or replace that adds exactly one."""
    if commit.message.type not in (Act.ADD, Act.REPLACE):
        return None
    files = [path for path in commit.added if is_entry_path(path)]
    return files[0] if len(files) == 1 else None


def active(commits: Iterable[Commit], files: Container[str]) -> dict[str, EntryId]:
    """Living entries: file -> id. `commits` newest first, `files` those of the tip's tree. Where
    two histories added one file the newest commit stands for it, as in a search of the format."""
    living: dict[str, EntryId] = {}
    for commit in commits:
        file = claim(commit)
        if file is not None and file in files:
            living.setdefault(file, commit.id)
    return living


def successors(events: Iterable[Event]) -> dict[EntryId, tuple[EntryId, ...]]:
    """Replaced entry -> its direct successors, oldest first. `events` newest first."""
    found: dict[EntryId, tuple[EntryId, ...]] = {}
    for event in events:
        if event.act is Act.REPLACE and event.target is not None:
            found[event.target] = (event.id, *found.get(event.target, ()))
    return found


def withdrawals(events: Iterable[Event]) -> dict[EntryId, EntryId]:
    """Withdrawn entry -> the newest commit that withdrew it. `events` newest first."""
    found: dict[EntryId, EntryId] = {}
    for event in events:
        if event.act is Act.DELETE and event.target is not None:
            found.setdefault(event.target, event.id)
    return found


def follow(
    start: EntryId,
    *,
    following: Mapping[EntryId, tuple[EntryId, ...]],
    living: Container[EntryId],
    known: Container[EntryId],
    withdrawn: Mapping[EntryId, EntryId],
) -> Trail:
    """Follow `start` to the living ends of its chain; `known` are the ids of all entries in
    history. A living entry is an end even where a successor exists (the other side of a merge may
    have kept it), and a replacement beats a withdrawal of the same entry."""
    ends: dict[EntryId, None] = {}
    dead: dict[EntryId, None] = {}
    gaps: dict[EntryId, None] = {}
    cycle = False
    done: set[EntryId] = set()
    # Depth first with an explicit stack: chains of foreign stores may be longer than the
    # interpreter's. The second visit of an entry closes it; meeting an open one is a circle.
    open_: set[EntryId] = set()
    stack = [(start, False)]
    while stack:
        at, closing = stack.pop()
        if closing:
            open_.discard(at)
            done.add(at)
        elif at in open_:
            cycle = True
        elif at not in done:
            open_.add(at)
            stack.append((at, True))
            after = following.get(at, ())
            if at in living:
                ends[at] = None
            elif after:
                stack += [(successor, False) for successor in reversed(after)]
            elif at in withdrawn:
                dead[withdrawn[at]] = None
            elif at not in known:
                gaps[at] = None
    return Trail(tuple(ends), tuple(dead), cycle, tuple(gaps))


# -- one whole chain -------------------------------------------------------------------------------


class Family(NamedTuple):
    """All that history says of one chain, both sides of a fork included: its events (withdrawals
    too) newest first, which of its ids are entries, and the living ones, oldest first."""

    events: tuple[Event, ...]
    known: frozenset[EntryId]
    living: tuple[EntryId, ...]


class Standing(NamedTuple):
    """Where an entry stands in its chain; the fields are those of `Entry`."""

    active: bool
    replaced_by: tuple[EntryId, ...]
    current: tuple[EntryId, ...]
    withdrawn: str | None
    faults: tuple[str, ...]


def standing(start: EntryId, family: Family, *, lost: Sequence[EntryId] = ()) -> Standing:
    """Where `start` stands; `lost` are the ids of its chain that are no entries anywhere.

    An end that another one of the chain contests does not count alone: all are `current`, those
    that `start` led to first.
    """
    following = successors(family.events)
    trail = follow(
        start,
        following=following,
        living=frozenset(family.living),
        known=family.known,
        withdrawn=withdrawals(family.events),
    )
    rivals = tuple(end for end in family.living if end not in trail.ends)
    faults = ["forked"] if len(family.living) > 1 else []
    if trail.cycle or _circular(start, family.events):
        faults.append("cycle")
    faults += [f"gap:{id_}" for id_ in lost]
    notes = {event.id: event.note for event in family.events}
    return Standing(
        active=start in trail.ends,
        replaced_by=following.get(start, ()),
        current=(*trail.ends, *rivals) if trail.ends else (),
        withdrawn=None if trail.ends or not trail.withdrawn else notes[trail.withdrawn[0]],
        faults=tuple(faults),
    )


def strangers(family: Family) -> tuple[EntryId, ...]:
    """The ids that the chain names and that are no entries in history, in the chain's order."""
    named: dict[EntryId, None] = {}
    for event in family.events:
        if event.act is not Act.DELETE:
            named[event.id] = None
        if event.target is not None:
            named[event.target] = None
    return tuple(id_ for id_ in named if id_ not in family.known)


def _circular(start: EntryId, events: Iterable[Event]) -> bool:
    """Whether what `start` replaced, and what that replaced, and so on, comes round. Every chain
    with a circle shows it so, because an entry replaces one entry at most."""
    before = {event.id: event.target for event in events if event.act is Act.REPLACE}
    at: EntryId | None = start
    met: set[EntryId] = set()
    while at is not None and at not in met:
        met.add(at)
        at = before.get(at)
    return at is not None


def drawn(events: Sequence[Event]) -> list[Event]:
    """`events` (newest first) so that whatever replaced or withdrew an entry comes before it, as a
    graph is drawn; clocks of two machines may say otherwise. A circle is cut at its newest."""
    waiting = {event.id: event for event in events}
    after: dict[EntryId, set[EntryId]] = {}
    for event in events:
        if event.target is not None and event.target != event.id:
            after.setdefault(event.target, set()).add(event.id)
    order: list[Event] = []
    while waiting:
        left = waiting.keys()
        free = (id_ for id_ in waiting if left.isdisjoint(after.get(id_, ())))
        order.append(waiting.pop(next(free, next(iter(waiting)))))
    return order
