"""The ends of moves: what came, what went, and what waits for its other end.

A commit that brings a path into being, a retraction, and a commit that puts altogether different
content in the place of another leave a row in `unfollowed`, in their own transaction, so that no
crash lets an end be forgotten. Ends without a counterpart are `loose`: they are found again by
their bytes or by a few pieces of their text, so that looking for one costs the same among a
thousand files as among a hundred thousand. What is matched with what is decided in
`heimdall.writer.moves`. Works inside the caller's transaction.
"""

import sqlite3
from collections.abc import Iterable
from typing import Any, NamedTuple

from heimdall.core.rehome import LIKE
from heimdall.core.sketch import similarity, telling
from heimdall.journal import schema, sql
from heimdall.journal.values import Commit
from heimdall.model import Presence

FRESH_MS = 30 * 24 * 3600 * 1000
"""How long an end waits for its counterpart, but for identical bytes, which are always found."""

MANY = 32
"""Owners of one piece of text that are looked at; what more have in common tells nothing."""


class End(NamedTuple):
    """One end. `gone` is whether nothing is at `path` now; `before` and `sketch_before` are what
    other content displaced there; `read` is the generation of the last
    reading of what is gone, `born` that with which a waiting newcomer came."""

    owner: int
    path: str
    root: str
    gone: bool
    digest: bytes | None
    size: int
    generation: int
    read: int
    born: int = 0
    before: bytes | None = None
    sketch_before: bytes = b""


def displaced(before: bytes, sketch_before: bytes | None, entry: Commit) -> bool:
    """Whether what a path held was not edited but replaced, so that it may be elsewhere now."""
    if entry.digest == before or not sketch_before:
        return False
    return similarity(sketch_before, entry.sketch) < LIKE


class Ends:
    """Questions and changes; see above."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def unfollowed(self) -> tuple[End, ...]:
        """All that came, went or was displaced since `followed`, by path."""
        return tuple(
            End(*_end(row), 0, row[8], bytes(row[9] or b""))
            for row in self._db.execute(sql.UNFOLLOWED)
        )

    def followed(self) -> None:
        """Everything unfollowed has been looked for."""
        self._db.execute(sql.FOLLOWED)

    def anything_gone(self) -> bool:
        """Whether any path is gone, so that what comes may be it."""
        return bool(self._db.execute(sql.ANY_GONE).fetchone()[0])

    def sizes(self) -> dict[str, int]:
        """How many paths each root has, whatever their state."""
        return {schema.text(root): count for root, count in self._db.execute(sql.ROOTS_SIZES)}

    def sketch(self, owner: int) -> bytes:
        """The sketch of what the path holds, or held last."""
        row = self._db.execute(sql.KEPT_SKETCH, (owner,)).fetchone()
        return bytes(row[0] or b"") if row else b""

    def holding(self, digest: bytes) -> tuple[End, ...]:
        """The first of the paths that hold these bytes now."""
        return self._all(self._db.execute(sql.PRESENT_BY_DIGEST, (digest, MANY)))

    def lost(self, digest: bytes) -> tuple[End, ...]:
        """Paths that are gone with these bytes and have led nowhere."""
        return self._all(self._db.execute(sql.GONE_BY_DIGEST, (digest, MANY)))

    def loose(self, sketches: Iterable[bytes]) -> tuple[End, ...]:
        """The waiting ends that share a telling piece with one of these."""
        if not self._db.execute(sql.IS_LOOSE).fetchone()[0]:
            return ()
        owners: dict[tuple[int], None] = {}
        for piece in dict.fromkeys(piece for data in sketches for piece in telling(data)):
            found = self._db.execute(sql.LOOSE_BY_PIECE, (piece, MANY + 1)).fetchall()
            if len(found) <= MANY:
                owners.update(dict.fromkeys(found))
        return self._all(owners)

    def loosen(self, end: End, at: int) -> None:
        """Let an end wait for its counterpart."""
        self.tie([end.owner])
        self._db.execute(sql.LOOSEN, (end.owner, end.generation, at))
        pieces = telling(self.sketch(end.owner))
        self._db.executemany(sql.TELL, ((piece, end.owner) for piece in pieces))

    def tie(self, owners: Iterable[int]) -> None:
        """They wait no longer."""
        rows = [(owner,) for owner in owners]
        self._db.executemany(sql.TIE, rows)
        self._db.executemany(sql.UNTELL, rows)

    def forget(self, before_ms: int) -> None:
        """Let go of what has waited since before this moment."""
        self.tie([owner for (owner,) in self._db.execute(sql.OLD_LOOSE, (before_ms,)).fetchall()])

    def orphaned(self) -> None:
        """Let go of what belongs to paths that are forgotten."""
        for statement in sql.CLEAR_ORPHANS:
            self._db.execute(statement)

    def _all(self, owners: Iterable[tuple[int]]) -> tuple[End, ...]:
        rows = (self._db.execute(sql.END, owner).fetchone() for owner in list(owners))
        return tuple(End(*_end(row), row[8]) for row in rows if row is not None)


def _end(row: Any) -> tuple[int, str, str, bool, bytes | None, int, int, int]:
    owner, path, root, state, digest, size, generation, read = row[:8]
    gone = schema.STATES[state] == Presence.GONE
    return owner, schema.text(path), schema.text(root), gone, digest, size or 0, generation, read
