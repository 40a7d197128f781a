"""Binding across files: the edges whose outcome may have changed, and no others.

What waits is in the journal: the paths that were committed, and the answers (tokens) that changed
with them. Paths that asked for such an answer are bound again, which changes their ends and their
tokens and makes nobody else wait: see `heimdall.core.tokens` for the proof. The result is the same
as binding everything (order-independence), and the cost follows what is affected. Runs inside the
caller's transaction, and takes what waited away with it.
"""

import array
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

from heimdall.core.resolve import Resolver, minds_place
from heimdall.journal import schema, sql
from heimdall.journal.view import JournalView, Unit
from heimdall.model import Edge, Relation, Target

_RELATIONS = tuple(Relation(word) for word in schema.RELATIONS)
_ENDS = slice(1, 4)
_QUESTION, _QUESTION_FROM = slice(5, None), slice(4, None)
"""The columns of OUTWARD that an edge's end depends on; where a bare name may mean a member, also
who says it."""

_PENDING = (None, None, None)
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


def misbound(db: sqlite3.Connection) -> list[int]:
    """The numbers of the paths whose edges have other ends than binding everything would give
    them. Changes nothing."""
    view = JournalView(db)
    view.preload()
    binder = _Binder(db, view)
    for (owner,) in db.execute(sql.ALL_OWNERS).fetchall():
        unit = view.unit_of(owner)
        if unit is not None:
            binder.bind(unit)
    return binder.differing()


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
        # A file says the same name again and again, and is bound as often as it says another.
        part = _QUESTION_FROM if minds_place(unit.language) else _QUESTION
        asked = [row[part] for row in rows]
        questions = list(dict.fromkeys(asked))
        settled = self._resolver.settle(unit.path, self._edges(unit, questions))
        ends = dict(zip(questions, map(self._end, settled.targets), strict=True))
        owner = unit.owner
        for row, question in zip(rows, asked, strict=True):
            end = ends[question]
            if end != row[_ENDS]:
                self._bound.append((*end, owner, row[0]))
        self._keep(owner, settled.tokens)

    def write(self) -> int:
        """Write all that changed, and bind no more."""
        # In order of the tables' own keys: the pages are then visited once each.
        self._db.executemany(sql.DELETE_TOKEN, sorted(self._dropped))
        self._db.executemany(sql.INSERT_TOKEN, sorted(self._added))
        self._db.executemany(sql.SET_TOKENS, self._kept)
        self._db.executemany(sql.BIND, self._bound)
        self._resolver.forget()
        return len(self._bound)

    def differing(self) -> list[int]:
        """The numbers of the paths of which something would be written."""
        return sorted({row[3] for row in self._bound} | {owner for _, owner in self._kept})

    def _edges(self, unit: Unit, questions: Iterable[Any]) -> Sequence[Edge]:
        """Questions as the resolver takes them: on what line they are asked makes no difference."""
        keys = {}
        if minds_place(unit.language):
            keys = {number: key for key, number in self._view.numbers(unit.path).items()}
        return [
            Edge(
                keys[src[0]] if src else "", _RELATIONS[relation], 0, None, module, name, how, sure
            )
            for *src, relation, module, name, how, sure in questions
        ]

    def _end(self, target: Target | None) -> tuple[int | None, str | None, float | None]:
        """A target as the columns `dst`, `via` and `sure`."""
        if target is None:
            return _PENDING
        path, key, strategy, confidence = target
        return self._view.numbers(path)[key], strategy, confidence

    def _keep(self, owner: int, tokens: Iterable[str]) -> None:
        known = self._hashes.get
        now = {known(token) or self._hashed(token) for token in tokens}
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
        number = self._hashes[token] = schema.hashed(token)
        return number
