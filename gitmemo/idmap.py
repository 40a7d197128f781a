"""The map of ids that a purge renamed: old id to new id, or to the fact that it is gone.

A purge gives every commit after the purged one a new hash, and old hashes stand in texts, links,
cursors and people's notes. The map is a text of sorted lines, `<old> <new>`, and for what is gone
`<old> <stand-in> purged <date>` (an entry) or `… dropped <date>` (any other commit); the stand-in
is the commit whose state is nearest, `-` where there is none. Later purges compose: a line always
names a commit that is there now. Pure; where the text is kept is `objects`' business. It holds no
word of any entry. Tests: tests/gitmemo/test_idmap.py.
"""

from collections.abc import Mapping
from typing import NamedTuple

from gitmemo.model import EntryId

MOVED, PURGED, DROPPED = "moved", "purged", "dropped"
_NONE = "-"


class Moved(NamedTuple):
    """What became of the commit `old`: it is `new` now (MOVED), or it is gone since `date` and
    `new` is the commit that stands for its state, None where nothing does."""

    old: EntryId
    new: EntryId | None
    state: str = MOVED
    date: str = ""


def like(text: str, prefix: str) -> tuple[Moved, ...]:
    """The lines of the map `text` whose old id starts with `prefix`."""
    found: list[Moved] = []
    at = 0 if text.startswith(prefix) else text.find(f"\n{prefix}") + 1
    while text.startswith(prefix, at):
        end = text.find("\n", at)
        line = text[at:] if end < 0 else text[at:end]
        moved = _parse(line)
        if moved is not None:
            found.append(moved)
        if end < 0:
            break
        at = end + 1
    return tuple(found)


def compose(text: str, fresh: Mapping[str, Moved]) -> str:
    """The map `text` after one more purge, which did `fresh` to the commits that were there."""
    lines = {one.old: one for one in map(_parse, text.splitlines()) if one is not None}
    for old, one in lines.items():
        then = None if one.new is None else fresh.get(one.new)
        if then is None:
            continue
        # What was gone stays gone since then; only the commit that stands for it has moved on.
        kept = then if one.state == MOVED else one
        lines[old] = Moved(old, then.new, kept.state, kept.date)
    lines.update({one.old: one for one in fresh.values()})
    return "".join(f"{_line(lines[old])}\n" for old in sorted(lines))


def _line(moved: Moved) -> str:
    head = f"{moved.old} {moved.new or _NONE}"
    return head if moved.state == MOVED else f"{head} {moved.state} {moved.date}"


def _parse(line: str) -> Moved | None:
    """A line of the map; None for what is none, so that a stranger's ref stops no reader."""
    old, _, rest = line.partition(" ")
    new, _, rest = rest.partition(" ")
    state, _, date = rest.partition(" ")
    if not old or not new or state not in ("", PURGED, DROPPED):
        return None
    return Moved(EntryId(old), None if new == _NONE else EntryId(new), state or MOVED, date)
