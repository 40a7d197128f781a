"""The journal as the resolver sees it: what each file makes reachable, asked for once and kept.

One class for both ways of binding: `preload` fetches everything in five sweeps, for when most of
the journal is to be bound; without it each answer is one indexed query, for when one file changed.
The answers are the same. Lives for one settling, during which only the bound ends of edges change,
and those are nothing that it is asked for.
"""

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from heimdall.journal import schema, sql
from heimdall.journal.read import edge
from heimdall.model import Binding, Edge, NodeRef


class Unit(NamedTuple):
    """A file that can be named by others."""

    owner: int
    path: str
    root: str
    language: str
    package: str
    exports: tuple[str, ...] | None
    tail: str
    kin: int


class JournalView:
    """`heimdall.core.resolve.View` over the journal's tables."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._whole = False
        self._units: dict[str, Unit | None] = {}
        self._by_owner: dict[int, Unit] = {}
        self._tails: dict[str, list[str]] = {}
        self._kin: dict[int, list[Unit]] = {}
        self._numbers: dict[str, dict[str, int]] = {}
        self._members: dict[str, dict[str, NodeRef]] = {}
        self._bindings: dict[str, list[Binding]] = {}
        self._bases: dict[str, dict[str, list[Edge]]] = {}

    def preload(self) -> None:
        """Fetch everything that can be asked for, table by table."""
        for row in self._db.execute(sql.UNITS):
            unit = self._learn(row)
            self._tails.setdefault(unit.tail, []).append(unit.path)
            self._kin.setdefault(unit.kin, []).append(unit)
            self._take_members(unit, ())
            self._bindings[unit.path] = []
            self._bases[unit.path] = {}
        for owner, rows in groupby(self._db.execute(sql.ALL_MEMBERS), _owner_of_node):
            if owner in self._by_owner:
                self._take_members(self._by_owner[owner], rows)
        for owner, rows in groupby(self._db.execute(sql.ALL_BINDINGS), _first):
            if owner in self._by_owner:
                path = self._by_owner[owner].path
                self._bindings[path] = [Binding(*row[1:]) for row in rows]
        for owner, rows in groupby(self._db.execute(sql.ALL_INHERITS), _first):
            if owner in self._by_owner:
                self._take_bases(self._by_owner[owner].path, [row[1:] for row in rows])
        self._whole = True

    # -- what the resolver asks --------------------------------------------------------------------

    def root(self, path: str) -> str:
        """The root that owns the path."""
        return self._unit(path).root

    def language(self, path: str) -> str:
        """The language of a present path."""
        return self._unit(path).language

    def package(self, path: str) -> str:
        """What the file declares itself part of."""
        return self._unit(path).package

    def exports(self, path: str) -> tuple[str, ...] | None:
        """The names a star import takes, None for the language's own rule."""
        return self._unit(path).exports

    def tails(self, tail: str) -> Sequence[str]:
        """All present paths with this unit tail."""
        if tail not in self._tails:
            rows = (
                ()
                if self._whole
                else self._db.execute(sql.UNITS_OF_TAIL, (schema.word(tail),)).fetchall()
            )
            self._tails[tail] = [self._learn(row).path for row in rows]
        return self._tails[tail]

    def members(self, path: str) -> Mapping[str, NodeRef]:
        """Qualified name -> its first definition in the file."""
        self.numbers(path)
        return self._members[path]

    def bindings(self, path: str) -> Sequence[Binding]:
        """What the file imports, in its order."""
        if path not in self._bindings:
            rows = self._db.execute(sql.BINDINGS, (self._unit(path).owner,)).fetchall()
            self._bindings[path] = [Binding(*row) for row in rows]
        return self._bindings[path]

    def bases(self, path: str, key: str) -> Sequence[Edge]:
        """The inherits edges of the class `key`, in order, as extracted."""
        if path not in self._bases:
            owner = self._unit(path).owner
            self._take_bases(path, self._db.execute(sql.INHERITS_AS_EXTRACTED, (owner,)).fetchall())
        return self._bases[path].get(key, ())

    def siblings(self, path: str) -> Sequence[str]:
        """Paths of the same root and language in the same directory or Java package."""
        unit = self._unit(path)
        if unit.kin not in self._kin:
            rows = self._db.execute(sql.UNITS_OF_KIN, (unit.kin,)).fetchall()
            self._kin[unit.kin] = [self._learn(row) for row in rows]
        near = self._kin[unit.kin]
        return [other.path for other in near if other[2:4] == unit[2:4]]

    def globals(self, root: str, name: str) -> Sequence[NodeRef]:
        """First definitions so named in the C and C++ files of `root`, at most 17."""
        last = name.rpartition(".")[2]
        rows = self._db.execute(sql.GLOBALS, (last, name, schema.blob(root))).fetchall()
        return [NodeRef(schema.text(path), key, kind) for path, key, kind in rows]

    # -- what settling asks ------------------------------------------------------------------------

    def unit_of(self, owner: int) -> Unit | None:
        """The file with this number, None where it is not one that takes part in binding."""
        if owner not in self._by_owner and not self._whole:
            for row in self._db.execute(sql.UNIT_OF, (owner,)).fetchall():
                self._learn(row)
        return self._by_owner.get(owner)

    def numbers(self, path: str) -> Mapping[str, int]:
        """Key -> number of every node of the file."""
        if path not in self._numbers:
            unit = self._unit(path)
            rows = self._db.execute(sql.MEMBERS, schema.span(unit.owner)).fetchall()
            self._take_members(unit, rows)
        return self._numbers[path]

    # -- keeping -----------------------------------------------------------------------------------

    def _unit(self, path: str) -> Unit:
        """A path's unit. One that is not present has no language and no neighbours."""
        if path not in self._units and not self._whole:
            for row in self._db.execute(sql.UNIT, (schema.blob(path),)).fetchall():
                self._learn(row)
        return self._units.get(path) or Unit(-1, path, "", "", "", None, "", 0)

    def _learn(self, row: Any) -> Unit:
        owner, name, root, language, package, exports, tail, kin = row
        if owner in self._by_owner:
            return self._by_owner[owner]
        names = None if exports is None else tuple(json.loads(exports))
        where = "" if root is None else schema.text(root)
        unit = Unit(
            owner, schema.text(name), where, language, package, names, schema.unword(tail), kin
        )
        self._units[unit.path] = self._by_owner[owner] = unit
        return unit

    def _take_members(self, unit: Unit, rows: Iterable[Any]) -> None:
        numbers: dict[str, int] = {}
        members: dict[str, NodeRef] = {}
        path = unit.path
        for number, key, kind, first in rows:
            numbers[key] = number
            # The first definition of a name has the name itself for its key.
            if first and key:
                members[key] = NodeRef(path, key, kind)
        self._numbers[path], self._members[path] = numbers, members

    def _take_bases(self, path: str, rows: Iterable[Any]) -> None:
        keys = {number: key for key, number in self.numbers(path).items()}
        bases: dict[str, list[Edge]] = {}
        for row in rows:
            found = edge(keys, *row)
            bases.setdefault(found.src, []).append(found)
        self._bases[path] = bases


_first = itemgetter(0)


def _owner_of_node(row: Any) -> int:
    number: int = row[0]
    return number >> schema.KEY_BITS
