"""Where a page ends: an opaque text that names the snapshot and how much was shown.

Pure. The snapshot keeps pages apart from what is written meanwhile: the store searches the memory
as it was at that commit, and refuses one that is not in its history. So does the moment from which
on was asked, which as an age would move on between two pages. Held by
tests/heimdall/search/test_cursor.py.
"""

from gitmemo.values import NamedTuple
from heimdall.errors import BadArgument

_NONE = "-"
_MOST = 1_000_000


class Cursor(NamedTuple):
    """`snapshot` is a commit of the store, None where no store was searched; `since_s` the second
    from which on was asked, None where all was."""

    snapshot: str | None
    skip: int
    since_s: int | None = None


def write(cursor: Cursor) -> str:
    """The cursor as text."""
    moment = "" if cursor.since_s is None else f":{cursor.since_s}"
    return f"{cursor.snapshot or _NONE}:{cursor.skip}{moment}"


def read(text: str) -> Cursor:
    """The text as a cursor. Raises BadArgument where it is none."""
    snapshot, colon, rest = text.partition(":")
    skip, _, moment = rest.partition(":")
    number = int(skip) if skip.isascii() and skip.isdigit() and len(skip) < 8 else -1
    named = snapshot == _NONE or (len(snapshot) in (40, 64) and _is_hex(snapshot))
    since = moment.removeprefix("-")
    dated = since.isascii() and since.isdigit() and len(since) < 16
    if not colon or not named or not 0 <= number <= _MOST or (":" in rest and not dated):
        raise BadArgument("cursor", text, "not a cursor")
    return Cursor(None if snapshot == _NONE else snapshot, number, int(moment) if dated else None)


def _is_hex(text: str) -> bool:
    return set(text) <= set("0123456789abcdef")
