"""The life of one entry, as `mem log ID` prints it: a graph for people, mem.log/1 for programs.

Newest first, as `git log --graph` draws: a star for an entry, a cross for a withdrawal, a lane for
each side of a fork. No line is wider than 80 columns while the lanes leave room. Pure.
Tests: tests/heimdall/cli/test_life.py.
"""

from collections.abc import Iterator, Sequence

from rich.cells import cell_len, chop_cells

from gitmemo import Act, EntryId, Event, Life
from heimdall.cli import views
from heimdall.cli.render import clean

WIDTH = 80
_SHORT = 12
_LEAST = 24
"""Columns that a title gets however many lanes there are."""


def life_value(life: Life, *, limit: int | None = None) -> str:
    """The life as mem.log/1."""
    more = {"entry": life.id, "living": life.living, "faults": life.faults}
    return views.dumps({**views.events_value(life.events[:limit]), **more})


def life_text(life: Life, *, limit: int | None = None) -> str:
    """The life as a graph, and what is wrong with the chain in words."""
    lines = list(_graph(life.events[:limit], frozenset(life.living)))
    if limit is not None and len(life.events) > limit:
        lines.append(f"{len(life.events) - limit} older events are not shown")
    if not life.living:
        lines.append("nothing of it is living")
    lines += [views.fault_text(fault) for fault in life.faults]
    return "\n".join(lines)


def _graph(events: Sequence[Event], living: frozenset[EntryId]) -> Iterator[str]:
    """The events with their lanes; each lane waits for the entry that its last event replaced or
    withdrew. A lane without anything to wait for stays empty."""
    left = {event.id for event in events}
    lanes: list[EntryId | None] = []
    for event in events:
        left.discard(event.id)
        mine = [at for at, awaited in enumerate(lanes) if awaited == event.id]
        if not mine:
            mine = [len(lanes)]
            lanes.append(event.id)
        for at in mine[:0:-1]:
            yield _joined(lanes, mine[0], at)
            del lanes[at]
        mark = "x" if event.act is Act.DELETE else "*"
        margin = _margin(lanes, mine[0], mark)
        lanes[mine[0]] = event.target if event.target in left else None
        while lanes and lanes[-1] is None:
            lanes.pop()
        head = f"{event.id[:_SHORT]}  {event.date[:10]}  {event.act:<7}  "
        room = max(_LEAST, WIDTH - len(margin) - 1 - len(head))
        below = _margin(lanes).ljust(len(margin))
        for line in _wrapped(_said(event, event.id in living), room):
            yield f"{margin} {head}{line}"
            margin, head = below, " " * len(head)


def _margin(lanes: Sequence[EntryId | None], at: int = -1, mark: str = "") -> str:
    return " ".join(
        mark if lane == at else "|" if awaited else " " for lane, awaited in enumerate(lanes)
    )


def _joined(lanes: Sequence[EntryId | None], into: int, at: int) -> str:
    """The line on which the lane `at` runs into the lane `into`, and those behind it move up."""
    line = list(" ".join("|" if awaited else " " for awaited in lanes[:at]) + " ")
    for lane in range(into, at - 1):
        line[2 * lane + 1] = "_"
    line[2 * at - 1] = "/"
    return "".join(line) + "".join(" /" if awaited else "  " for awaited in lanes[at + 1 :])


def _said(event: Event, lives: bool) -> str:
    """What an event says: the reason of a withdrawal, else a title."""
    text = event.note or "without a reason" if event.act is Act.DELETE else event.title
    return clean(" ".join(text.split())) + (" (living)" if lives else "")


def _wrapped(text: str, room: int) -> list[str]:
    """`text` in lines of at most `room` columns, cut between words where that is possible."""
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if cell_len(longer) <= room:
            lines[-1] = longer
            continue
        if not lines[-1]:
            lines.pop()
        lines += chop_cells(word, room)
    return lines
