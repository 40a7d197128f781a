"""Binding across files: the edges whose outcome may have changed, and no others.

What waits is in the journal: the paths that were committed, and the answers (tokens) that changed
with them. Paths that asked for such an answer are bound again, which changes their ends and their
tokens and makes nobody else wait: see `heimdall.core.tokens` for the proof. The result is the same
as binding everything (order-independence), and the cost follows what is affected. Runs inside the
caller's transaction, and takes what waited away with it.
"""

import array
import sqlite3
from collections.abc import Iterable
from typing import Any

from heimdall.core.resolve import Resolver
from heimdall.journal import schema, sql
from heimdall.journal.view import JournalView, Unit
from heimdall.model import Edge, Relation, Target

_RELATIONS = tuple(Relation(word) for word in schema.RELATIONS)
_SHARE = 4
"""Where more than one path in this many is to be bound, everything is fetched at once."""


def settle(db: sqlite3.Connection) -> int:
    """Bind what waits; the answer is how many edges have another end than before."""
    owners = _waiting(db)
    view = JournalView(db)
    if len(owners) * _SHARE > db.execute(sql.COUNT_OWNERS).fetchone()[0]:
        view.preload()
    binder = _Binder(db, view)
    for owner in owners:
        unit = view.unit_of(owner)
        if unit is not None:
            binder.bind(unit)
    changed = binder.write()
    db.execute(sql.SETTLED_PATHS)
    db.execute(sql.SETTLED_TOKENS)
    return changed


def _waiting(db: sqlite3.Connection) -> list[int]:
    """The numbers of the paths to be bound, in order."""
    waiting = {owner for (owner,) in db.execute(sql.UNSETTLED_PATHS)}
    if schema.EVERYTHING in waiting:
        return [owner for (owner,) in db.execute(sql.ALL_OWNERS)]
    waiting.update(owner for (owner,) in db.execute(sql.OWNERS_OF_TOKENS))
    return sorted(waiting)


class _Binder:
    """Collects what changes, so that it is written in few, sorted sweeps."""

    def __init__(self, db: sqlite3.Connection, view: JournalView) -> None:
        self._db = db
        self._view = view
        self._resolver = Resolver(view)
        self._hashes: dict[str, int] = {}
        self._bound: list[tuple[int | None, str | None, float | None, int, int]] = []
        self._dropped: list[tuple[int, int]] = []
        self._added: list[tuple[int, int]] = []
        self._kept: list[tuple[bytes | None, int]] = []

    def bind(self, unit: Unit) -> None:
        """Bind the outward edges of one path anew."""
        rows = self._db.execute(sql.OUTWARD, (unit.owner,)).fetchall()
        keys = {number: key for key, number in self._view.numbers(unit.path).items()}
        edges = tuple(
            Edge(keys[src], _RELATIONS[relation], line, None, module, name, strategy, sure)
            for _, src, relation, line, module, name, strategy, sure, *_ in rows
        )
        settled = self._resolver.settle(unit.path, edges)
        for row, target in zip(rows, settled.targets, strict=True):
            self._compare(unit.owner, row, target)
        self._keep(unit.owner, settled.tokens)

    def write(self) -> int:
        """Write all that changed."""
        # In order of the tables' own keys: the pages are then visited once each.
        self._db.executemany(sql.DELETE_TOKEN, sorted(self._dropped))
        self._db.executemany(sql.INSERT_TOKEN, sorted(self._added))
        self._db.executemany(sql.SET_TOKENS, self._kept)
        self._db.executemany(sql.BIND, self._bound)
        return len(self._bound)

    def _compare(self, owner: int, row: Any, target: Target | None) -> None:
        place, before = row[0], row[8:]
        now: tuple[int | None, str | None, float | None] = (None, None, None)
        if target is not None:
            number = self._view.numbers(target.path)[target.key]
            now = (number, target.strategy, target.confidence)
        if now != before:
            self._bound.append((*now, owner, place))

    def _keep(self, owner: int, tokens: Iterable[str]) -> None:
        now = {self._hashed(token) for token in tokens}
        stored = self._db.execute(sql.TOKENS_OF, (owner,)).fetchone()[0]
        before = set(array.array("q", stored or b""))
        if now == before:
            return
        self._dropped.extend((token, owner) for token in before - now)
        self._added.extend((token, owner) for token in now - before)
        packed = array.array("q", sorted(now)).tobytes()
        self._kept.append((packed or None, owner))

    def _hashed(self, token: str) -> int:
        """A token's number. Two tokens of one number cost a binding too many, never too few."""
        number = self._hashes.get(token)
        if number is None:
            number = self._hashes[token] = schema.hashed(token)
        return number
