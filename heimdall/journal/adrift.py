"""Definitions that vanished from their file, or appeared in one, until they are matched.

They are written down in the transaction of the commit that took or brought them, like the ends of
whole files in `heimdall.journal.ends`. A definition is found again by what its body is told by, or
by its name. What is matched with what is decided in `heimdall.writer.symbols`. Works inside the
caller's transaction.
"""

import sqlite3
from collections.abc import Iterable
from typing import NamedTuple

from heimdall.core.shape import Shape, split, unpacked
from heimdall.journal import schema, sql
from heimdall.journal.values import Commit, SymbolMove

MANY = 32
"""Definitions of one name or body that are looked at; what more share tells nothing."""


class Symbol(NamedTuple):
    """A definition that is adrift; `row` is its row, `root` its root's number."""

    row: int
    path: str
    root: int
    key: str
    gone: bool
    kind: str
    name: str
    shape: Shape


def note(db: sqlite3.Connection, owner: int, entry: Commit | None) -> None:
    """Write down which definitions vanish from a path, and which appear there, with this commit
    (None: a retraction). To be called before the path's rows are taken away."""
    before = _defined(db, owner)
    nodes = entry.facts.nodes if entry is not None and entry.facts is not None else ()
    keys = {node.key for node in nodes}
    rows = [
        (owner, key, 1, kind, name, shape) for key, kind, name, shape in before if key not in keys
    ]
    if entry is not None and not keys <= {key for key, *_ in before} | {""}:
        known = {key for key, *_ in before}
        named = (node for node in nodes if node.key)
        rows += [
            (owner, node.key, 0, node.kind, schema.word(node.name), shape)
            for node, shape in zip(named, split(entry.shapes), strict=False)
            if node.key not in known
        ]
    # Only what has a body of its own, and is the one of its name, can be told from others.
    db.executemany(sql.DRIFT, (row for row in rows if len(row[5]) > 1 and "~" not in row[1]))


def _defined(db: sqlite3.Connection, owner: int) -> list[tuple[str, str, str | bytes, bytes]]:
    rows = db.execute(sql.DEFINED, schema.span(owner)).fetchall()
    kept = db.execute(sql.KEPT_SHAPES, (owner,)).fetchone() if rows else None
    shapes = split(bytes(kept[0] or b"")) if kept else []
    return [
        (key, kind, name, shape) for (key, kind, name), shape in zip(rows, shapes, strict=False)
    ]


class Adrift:
    """Questions and changes; see above."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def brought(self, owner: int) -> None:
        """All definitions of a path that is new are new."""
        found = _defined(self._db, owner)
        rows = ((owner, key, 0, kind, name, shape) for key, kind, name, shape in found)
        self._db.executemany(sql.DRIFT, (row for row in rows if len(row[5]) > 1))

    def stayed(self, old: int, new: int) -> None:
        """A file moved: what stands in both moved with it and is not adrift."""
        kept = self._db.execute(sql.ADRIFT_OF, (old, 1)).fetchall()
        found = set(kept).intersection(self._db.execute(sql.ADRIFT_OF, (new, 0)).fetchall())
        for owner, gone in ((old, 1), (new, 0)):
            self._db.executemany(sql.STAYED, ((owner, key, gone) for (key,) in found))

    def anything_gone(self) -> bool:
        """Whether any definition that vanished waits for its new place."""
        return bool(self._db.execute(sql.ANY_ADRIFT).fetchone()[0])

    def new(self, *, gone: bool) -> tuple[Symbol, ...]:
        """Those that vanished, or appeared, since `seen`."""
        return self._symbols(sql.ADRIFT_NEW, (gone,))

    def like(self, symbol: Symbol) -> tuple[Symbol, ...]:
        """The other ends that have its body or its name; none of what too many have."""
        other = not symbol.gone
        same = self._symbols(sql.ADRIFT_LIKE, (symbol.shape.identity, other, MANY + 1))
        named = self._symbols(sql.ADRIFT_NAMED, (schema.word(symbol.name), other, MANY + 1))
        found = (*(same if len(same) <= MANY else ()), *(named if len(named) <= MANY else ()))
        return tuple(dict.fromkeys(one for one in found if one.root == symbol.root))

    def seen(self, at: int) -> None:
        """Whatever is adrift has been looked for, and waits."""
        self._db.execute(sql.ADRIFT_SEEN, (at,))

    def ashore(self, rows: Iterable[int]) -> None:
        """They are matched and wait no longer."""
        self._db.executemany(sql.ASHORE, ((row,) for row in rows))

    def record(self, move: SymbolMove) -> None:
        """Remember where a definition went."""
        old, symbol, new, now, alike, at = move
        row = (schema.blob(old), symbol, schema.blob(new), now, alike, at)
        self._db.execute(sql.RECORD_SYMBOL_MOVE, row)

    def forget(self, waiting_ms: int, moves_ms: int) -> None:
        """Let go of what has waited, and of moves that were seen, since before these moments."""
        self._db.execute(sql.OLD_ADRIFT, (waiting_ms,))
        self._db.execute(sql.OLD_SYMBOL_MOVES, (moves_ms,))

    def _symbols(self, statement: str, values: tuple[object, ...]) -> tuple[Symbol, ...]:
        return tuple(
            Symbol(
                row,
                schema.text(path),
                root,
                key,
                bool(gone),
                kind,
                schema.unword(name),
                unpacked(shape),
            )
            for row, path, root, key, gone, kind, name, shape in self._db.execute(statement, values)
        )
