"""The journal, read: every question that a search, an audit or a status asks.

Nothing here changes a byte on disk (see `connect`). Each answer is read whole and then checked
against what a writer may have done meanwhile; a torn one is read again. Paths and moments are as in
`values`. The statements stand beside the methods that use them, in `sql`.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType

from heimdall.core.decide import RACY_MS
from heimdall.errors import WriterBusy
from heimdall.journal import connect, schema, sql
from heimdall.journal.values import Counts, Move, Neighbour, Queued, Root, Skip, Store, SymbolMove
from heimdall.model import (
    Binding,
    Depth,
    Edge,
    Facts,
    Node,
    NodeRef,
    PathRow,
    Presence,
    Relation,
    Stat,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Self, TypeVar

    _T = TypeVar("_T")
_TRIES = 5


def open_reader(home: str) -> JournalReader:
    """The journal of the state directory `home`.

    Raises NoJournal where nothing was indexed yet, NewerJournal, DamagedJournal, IoRefused.
    """
    path = os.path.join(home, schema.FILE_NAME)
    try:
        return JournalReader(path, connect.open_for_reading(path))
    except sqlite3.OperationalError as error:
        raise connect.refused(path, error) from error


class JournalReader:
    """Answers questions; close it, or use it as a context manager.

    Unless said otherwise, an answer speaks of paths that are PRESENT or UNREADABLE (of which the
    last that was known is kept), and not of those that are GONE.
    """

    def __init__(self, path: str, opened: connect.Opened) -> None:
        self._path = path
        self._db = opened.connection
        self._seen = opened.seen

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # -- paths -------------------------------------------------------------------------------------

    def path(self, path: str) -> PathRow | None:
        """The row of one path, whatever its state; None where it was never seen."""
        rows = self._rows(sql.PATH, (schema.blob(path),))
        return _path_row(rows[0]) if rows else None

    def paths(self, root: str | None = None) -> Iterator[PathRow]:
        """Every row, also of paths that are GONE, in order of their bytes."""
        statement, values = (
            (sql.PATHS, ()) if root is None else (sql.PATHS_OF, (schema.blob(root),))
        )
        return map(_path_row, self._rows(statement, values))

    def proven(
        self, root: str, asked: Depth, versions: Mapping[str, str]
    ) -> tuple[dict[str, tuple[int, int, int]], frozenset[str]]:
        """An audit's quick way past what has not changed, in one question.

        First the paths of `root` for which an equal stat proves that nothing is to be done, with
        that stat (size, mtime_ns, inode): they are indexed to the depth asked by the extractor of
        their language in `versions`, and not racily. Then all other paths that are not GONE.
        """
        proven: dict[str, tuple[int, int, int]] = {}
        others: list[str] = []
        for name, size, mtime_ns, inode, sure in self._rows(
            sql.STATS, _proof(root, asked, versions)
        ):
            path = str(name, "utf-8", "surrogateescape")
            if sure:
                proven[path] = (size, mtime_ns, inode)
            else:
                others.append(path)
        return proven, frozenset(others)

    def languages(self, root: str) -> tuple[str, ...]:
        """The languages of the paths of `root` that are not GONE, "" for those without one."""
        return tuple(row[0] for row in self._rows(sql.LANGUAGES_OF, (schema.blob(root),)))

    def gone(self, root: str) -> tuple[PathRow, ...]:
        """The rows of `root` that are GONE, by path."""
        return tuple(map(_path_row, self._rows(sql.GONE_OF, (schema.blob(root),))))

    def holds(self, directory: str) -> bool:
        """Whether paths beneath `directory` are known that are not GONE."""
        return bool(self._rows(sql.HOLDS, schema.beneath(directory))[0][0])

    def by_digest(self, digest: bytes) -> tuple[str, ...]:
        """The PRESENT paths that held these bytes when they were indexed."""
        return tuple(schema.text(row[0]) for row in self._rows(sql.BY_DIGEST, (digest,)))

    def skips(self, root: str | None = None) -> tuple[Skip, ...]:
        """Every path that is not indexed to the depth asked of it, with its reason."""
        wanted = None if root is None else schema.blob(root)
        rows = self._rows(sql.SKIPS, {"root": wanted})
        return tuple(Skip(schema.text(path), reason) for path, reason in rows)

    def moves_from(self, path: str) -> tuple[Move, ...]:
        """Where the content of `path` was seen to go, latest first."""
        rows = self._rows(sql.MOVES_FROM, (schema.blob(path),))
        return tuple(Move(schema.text(a), schema.text(b), alike, at) for a, b, alike, at in rows)

    def moves_to(self, path: str) -> tuple[Move, ...]:
        """What was seen to come to `path`, or to anything below it, latest first."""
        inside = (schema.blob(f"{path}/"), schema.blob(f"{path}0"))
        rows = self._rows(sql.MOVES_TO, (schema.blob(path), *inside))
        return tuple(Move(schema.text(a), schema.text(b), alike, at) for a, b, alike, at in rows)

    def symbol_moves_from(self, path: str, symbol: str) -> tuple[SymbolMove, ...]:
        """Where a definition of `path` was seen to go by itself, latest first."""
        rows = self._rows(sql.SYMBOL_MOVES_FROM, (schema.blob(path), symbol))
        return tuple(
            SymbolMove(schema.text(old), was, schema.text(new), now, alike, at)
            for old, was, new, now, alike, at in rows
        )

    def sketch(self, path: str) -> bytes:
        """The similarity sketch a path carries, also when it is GONE; b"" for none."""
        rows = self._rows(sql.SKETCH, (schema.blob(path),))
        return bytes(rows[0][0] or b"") if rows else b""

    # -- definitions -------------------------------------------------------------------------------

    def nodes(self, path: str) -> tuple[Node, ...]:
        """The definitions of one file in their order, the file itself first; () if unknown."""
        return tuple(map(_node, self._rows(sql.NODES, (schema.blob(path),))))

    def node(self, path: str, key: str) -> Node | None:
        """One definition, None where the file has none of that key."""
        name = schema.blob(path)
        low = schema.numbers(0, (key,))[key]
        # By its number; through the whole file only where two keys hash alike, or it has none.
        rows = self._rows(sql.NODE_NUMBERED, (low, name, key))
        rows = rows or self._rows(sql.NODE, (name, key))
        return _node(rows[0]) if rows else None

    def symbols_by_digest(self, digest: bytes) -> tuple[NodeRef, ...]:
        """The definitions whose own bytes have this sha256, by path and key; no file nodes."""
        return tuple(map(_ref, self._rows(sql.SYMBOLS_BY_DIGEST, (digest, digest))))

    def symbols_named(self, name: str, limit: int) -> tuple[NodeRef, ...]:
        """The first `limit` definitions with that last name, by path and key; no file nodes."""
        return tuple(map(_ref, self._rows(sql.SYMBOLS_NAMED, (schema.word(name), limit))))

    # -- edges -------------------------------------------------------------------------------------

    def edges_from(self, path: str, key: str) -> tuple[Neighbour, ...]:
        """What the definition refers to, as far as it is bound, in order of appearance."""
        return tuple(map(_neighbour, self._rows(sql.EDGES_FROM, (schema.blob(path), key))))

    def edges_to(self, path: str, key: str) -> tuple[Neighbour, ...]:
        """What refers to the definition, by path and line."""
        return tuple(map(_neighbour, self._rows(sql.EDGES_TO, (schema.blob(path), key))))

    def facts(self, path: str) -> Facts | None:
        """One file's facts as they were committed; None for an unknown, GONE or unread path."""
        return self._stable(lambda: stored_facts(self._db, path, sql.EDGES_AS_EXTRACTED))

    # -- the whole ---------------------------------------------------------------------------------

    def roots(self) -> tuple[Root, ...]:
        """The directories whose files are indexed, by path."""
        return tuple(
            Root(schema.text(path), None if depth is None else Depth(depth), at)
            for path, depth, at in self._rows(sql.ROOTS)
        )

    def stores(self) -> tuple[Store, ...]:
        """Every store that was ever registered, by path."""
        rows = self._rows(sql.STORES)
        return tuple(Store(schema.text(path), schema.text(root), at) for path, root, at in rows)

    def counts(self) -> Counts:
        """The journal in numbers."""
        return self._stable(lambda: _counts(self._db))

    def files_by_root(self) -> dict[str, int]:
        """How many files of each root are there and indexed."""
        rows = self._rows(sql.FILES_BY_ROOT)
        return {str(path, "utf-8", "surrogateescape"): count for path, count in rows}

    def behind(self) -> bool:
        """Whether paths wait to be reconciled, or references to be bound."""
        return bool(self._rows(sql.BEHIND)[0][0])

    def waiting(self) -> tuple[str, ...]:
        """The paths that are queued."""
        return tuple(schema.text(path) for (path,) in self._rows(sql.WAITING))

    def bound(self) -> bool:
        """Whether no reference waits to be bound."""
        return not self._rows(sql.UNBOUND)[0][0]

    def empty(self) -> bool:
        """Whether nothing is known of any path, and none waits."""
        return bool(self._rows(sql.EMPTY)[0][0])

    def sound(self) -> bool:
        """Whether the file is what it must be, page by page. Reads all of it."""
        return bool(self._stable(lambda: connect.sound(self._db)))

    def flaws(self) -> tuple[tuple[str, str], ...]:
        """What no pass can have written, as (path or "", why): `orphan` rows without a living
        owner, edges `astray` that lead to nothing, edges bound `otherwise` than the rules bind
        them. Sweeps over everything."""
        from heimdall.journal import settle  # noqa: PLC0415 # the resolver is loaded to bind

        def ask() -> list[tuple[int | bytes, str]]:
            orphans = [(owner, "orphan") for (owner,) in self._db.execute(sql.ORPHANS)]
            astray = [(path, "astray") for (path,) in self._db.execute(sql.ASTRAY)]
            if orphans or astray or self._db.execute(sql.UNBOUND).fetchone()[0]:
                return [*orphans, *astray]
            return [(owner, "otherwise") for owner in settle.misbound(self._db)]

        return tuple(sorted({(self._named(place), why) for place, why in self._stable(ask)}))

    def _named(self, place: int | bytes) -> str:
        if isinstance(place, bytes):
            return schema.text(place)
        rows = self._rows(sql.PATH_NUMBERED, (place,))
        return schema.text(rows[0][0]) if rows else ""

    def owned(self) -> dict[str, int]:
        """How many definitions each path owns, the file itself among them; none of none."""
        rows = self._rows(sql.OWNED)
        return {name: number for owner, number in rows if (name := self._named(owner))}

    def stamp(self) -> str:
        """What the sink's stamp must match, see `heimdall.sinks.base.matches`."""
        meta = dict(self._rows(sql.STAMP))
        return f"{schema.SCHEMA_VERSION}:{meta['uuid']}:{meta['pass']}"

    def graph(
        self, root: str | None = None, *, relative: bool = False
    ) -> Iterator[dict[str, object]]:
        """The index as lines of `heimdall graph --jsonl`: nodes, edges, pending, skips, each in an
        order that depends on names alone. `relative` names every path from its own root.

        Raises WriterBusy where a writer replaces the file under the reading; asking again helps.
        """
        from heimdall.journal import graph  # noqa: PLC0415 # a search never prints the whole graph

        for number, line in enumerate(graph.lines(self._db, root, from_root=relative)):
            if not number % 1000 and connect.changed(self._path, self._seen):
                raise WriterBusy(self._path, "", 0.0)
            yield line

    # -- reading without tearing -------------------------------------------------------------------

    def _rows(self, statement: str, values: Any = ()) -> list[Any]:
        """All rows of one statement."""
        return self._stable(lambda: self._db.execute(statement, values).fetchall())

    def _stable(self, ask: Callable[[], _T]) -> _T:
        """`ask`'s answer, asked again while a writer has changed the file under it."""
        problem: sqlite3.DatabaseError | None = None
        for _ in range(_TRIES):
            try:
                answer = ask()
            except sqlite3.DatabaseError as error:
                # Either the file is broken, or it was replaced while an immutable reader read it,
                # or the machine says no.
                problem = error
                if not connect.changed(self._path, self._seen):
                    break
            else:
                if not connect.changed(self._path, self._seen):
                    return answer
            self._reopen()
        if problem is None:
            raise WriterBusy(self._path, "", 0.0)
        raise connect.told(self._path, problem) from problem

    def _reopen(self) -> None:
        self._db.close()
        self._db, self._seen = connect.open_for_reading(self._path)


def queued(connection: sqlite3.Connection, limit: int, after: int) -> tuple[Queued, ...]:
    """The oldest `limit` of the queue above the generation `after`."""
    rows = connection.execute(sql.TAKE, (after, limit)).fetchall()
    return tuple(Queued(schema.text(path), number, reason) for path, number, reason in rows)


# -- rows as values --------------------------------------------------------------------------------


def _proof(root: str, asked: Depth, versions: Mapping[str, str]) -> dict[str, object]:
    import json  # noqa: PLC0415 # a search has no use for it

    return {
        "root": schema.blob(root),
        "asked": int(asked),
        "racy_ms": RACY_MS,
        "versions": json.dumps(dict(versions)),
    }


def _path_row(row: Any) -> PathRow:
    (path, root, state, digest, size, mtime_ns, inode, asked, depth, *rest) = row
    extractor, language, generation, reason, at = rest
    return PathRow(
        schema.text(path),
        "" if root is None else schema.text(root),
        Presence(schema.STATES[state]),
        digest,
        None if size is None else Stat(size, mtime_ns, inode),
        Depth(asked),
        Depth(depth),
        extractor,
        language,
        generation,
        reason,
        at,
    )


def _node(row: Any) -> Node:
    key, kind, name, qualname, *rest = row
    return Node(key, kind, schema.unword(name), key if qualname is None else qualname, *rest)


def _ref(row: Any) -> NodeRef:
    return NodeRef(schema.text(row[0]), row[1], row[2])


def _neighbour(row: Any) -> Neighbour:
    path, key, kind, relation, line, strategy, confidence = row
    word = schema.RELATIONS[relation]
    return Neighbour(schema.text(path), key, kind, word, line, strategy, confidence)


def _counts(db: sqlite3.Connection) -> Counts:
    states = dict(db.execute(sql.COUNT_STATES).fetchall())
    nodes, edges, bound, waiting, roots = db.execute(sql.COUNT_ALL).fetchone()
    reasons = dict(db.execute(sql.COUNT_REASONS).fetchall())
    present, gone, unreadable = (states.get(number, 0) for number in range(3))
    return Counts(
        paths=present + gone + unreadable,
        present=present,
        gone=gone,
        unreadable=unreadable,
        nodes=nodes,
        edges=bound,
        pending=edges - bound,
        queued=waiting,
        roots=roots,
        reasons=reasons,
    )


def stored_facts(db: sqlite3.Connection, path: str, edges_statement: str) -> Facts | None:
    """One file's facts with the edges that the statement gives; None where it has no nodes."""
    row = db.execute(sql.FACTS, (schema.blob(path),)).fetchone()
    if row is None:
        return None
    owner, depth, language, reason, package, exports = row
    nodes = tuple(map(_node, db.execute(sql.NODES, (schema.blob(path),)).fetchall()))
    if not nodes:
        return None
    keys = dict(db.execute(sql.NODE_KEYS, schema.span(owner)).fetchall())
    edges = tuple(edge(keys, *row) for row in db.execute(edges_statement, (owner,)).fetchall())
    bindings = db.execute(sql.BINDINGS, (owner,)).fetchall()
    return Facts(
        Depth(depth),
        language,
        reason,
        package,
        None if exports is None else _listed(exports),
        nodes,
        edges,
        tuple(Binding(*binding) for binding in bindings),
    )


def _listed(names: str) -> tuple[str, ...]:
    import json  # noqa: PLC0415 # few files list what they export, and a search asks for none

    return tuple(json.loads(names))


def edge(  # noqa: PLR0917 # one row of EDGES_AS_EXTRACTED, in its order
    keys: dict[int, str],
    src: int,
    relation: int,
    line: int,
    dst: int | None,
    module: str | None,
    name: str | None,
    strategy: str,
    confidence: float,
) -> Edge:
    """An edge as it was extracted: `keys` are the numbers of this file's own nodes."""
    word = Relation(schema.RELATIONS[relation])
    if module is None and dst is not None:
        return Edge(keys[src], word, line, keys[dst], "", "", strategy, confidence)
    return Edge(keys[src], word, line, None, module or "", name or "", strategy, confidence)
