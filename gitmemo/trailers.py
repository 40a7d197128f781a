"""Commit messages: fields to text and back."""

from collections.abc import Sequence
from typing import NamedTuple

from gitmemo.model import Act, Anchor, EntryId, Kind


class Message(NamedTuple):
    """A commit message's fields. `type` is None where it is none of the three acts; `digest` is 64
    hex digits without prefix; `search_text` the folded lines as written."""

    subject: str
    summary: str
    type: Act | None
    kind: Kind
    legacy: bool
    keywords: tuple[str, ...]
    digest: str | None
    search_text: tuple[str, ...]
    replaces: EntryId | None
    deletes: EntryId | None
    anchors: tuple[Anchor, ...]


def build(
    *,
    title: str,
    summary: str,
    keywords: Sequence[str],
    digest: str,
    kind: Kind = Kind.TASK,
    legacy: bool = False,
    replaces: str | None = None,
    anchors: Sequence[Anchor] = (),
) -> str:
    """The message of an ADD, or of a REPLACE where `replaces` is given. `digest` is bare hex."""
    raise NotImplementedError


def build_delete(*, entry_name: str, reason: str, deletes: str) -> str:
    """The message of a DELETE; `entry_name` is the file's base name without `.md`."""
    raise NotImplementedError


def tidy(message: str) -> str:
    """`message` as `git commit` would store it (trailing blanks, blank runs, one last newline)."""
    raise NotImplementedError


def parse(message: str) -> Message:
    """The fields of any commit message; never raises."""
    raise NotImplementedError


def anchor_text(anchor: Anchor) -> str:
    """`sha256:<hex> <path>[#<symbol>]`, one line whatever the path holds."""
    raise NotImplementedError


def parse_anchor(text: str) -> Anchor | None:
    """The anchor that `text` writes, None for anybody else's spelling."""
    raise NotImplementedError
