"""The whole index as lines, in an order that depends on names and content alone.

Two journals that hold the same give the same lines, however and in whatever order they came to hold
it (order-independence, clean-rebuild-parity). Each section is produced path by path, so that a big
journal is not held in memory.
"""

import os
import sqlite3
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from heimdall.journal import schema, sql
from heimdall.model import Depth
from heimdall.paths import node_id, relative, under

Line = dict[str, object]


class _Place(NamedTuple):
    """A path that is in the graph, and the name it has there."""

    owner: int
    shown: str
    depth: Depth


def lines(db: sqlite3.Connection, root: str | None, *, from_root: bool) -> Iterator[Line]:
    """Nodes, then bound edges, then pending ones, then skips."""
    shown = _naming(from_root=from_root)
    places = _places(db, root, shown)
    for place in places:
        yield from _nodes(db, place)
    names = {owner: shown(path, top) for owner, path, top, _ in db.execute(sql.LIVING)}
    for place in places:
        yield from _edges(db, place, names)
    for place in places:
        yield from _pending(db, place)
    wanted = None if root is None else schema.blob(root)
    for path, reason in sorted(
        (shown(path, top), reason)
        for path, top, reason in db.execute(sql.SKIPS_WITH_ROOT, {"root": wanted})
    ):
        yield {"skip": {"path": path, "reason": reason}}


def _naming(*, from_root: bool) -> Callable[[bytes, bytes | None], str]:
    """How a path is named: as it is, or from its own root."""

    def plain(path: bytes, _: bytes | None) -> str:
        return schema.text(path)

    def short(path: bytes, top: bytes | None) -> str:
        name, base = schema.text(path), schema.text(top or b"")
        return relative(name, base) if base and under(name, base) else name

    return short if from_root else plain


def _places(
    db: sqlite3.Connection, root: str | None, shown: Callable[[bytes, bytes | None], str]
) -> list[_Place]:
    """The paths of the graph in the order of their shown names' bytes."""
    wanted = None if root is None else schema.blob(root)
    found = [
        (schema.blob(shown(path, top)), top or b"", _Place(owner, shown(path, top), Depth(depth)))
        for owner, path, top, depth in db.execute(sql.LIVING)
        if wanted is None or top == wanted
    ]
    return [place for _, _, place in sorted(found)]


def _nodes(db: sqlite3.Connection, place: _Place) -> Iterator[Line]:
    rows = db.execute(sql.NODES_OF, schema.span(place.owner)).fetchall()
    if not rows:
        # Known to exist, and no more: the lowest step of the ladder.
        name = os.path.basename(place.shown)
        yield _node(place.shown, ("", "path", name, None, 0, 0, ""))
    for row in rows:
        yield _node(place.shown, row[1:])


def _node(path: str, row: Any) -> Line:
    key, kind, name, qualname, line, end_line, signature = row[:7]
    return {
        "node": {
            "id": node_id(path, key),
            "path": path,
            "kind": kind,
            "name": schema.unword(name),
            "qualname": key if qualname is None else qualname,
            "line": line,
            "end_line": end_line,
            "signature": signature,
        }
    }


def _edges(db: sqlite3.Connection, place: _Place, names: dict[int, str]) -> Iterator[Line]:
    keys = _keys(db, place)
    found = sorted(
        (
            node_id(place.shown, keys[src]),
            schema.RELATIONS[relation],
            line,
            node_id(names[dst >> schema.KEY_BITS], key),
            strategy,
            confidence,
        )
        for src, relation, line, dst, _, _, strategy, confidence, key in db.execute(
            sql.EDGES_OF, (place.owner,)
        )
        if dst is not None
    )
    for src, word, line, end, strategy, confidence in found:
        yield {
            "edge": {
                "src": src,
                "dst": end,
                "relation": word,
                "line": line,
                "strategy": strategy,
                "confidence": confidence,
            }
        }


def _pending(db: sqlite3.Connection, place: _Place) -> Iterator[Line]:
    keys = _keys(db, place)
    found = sorted(
        (
            node_id(place.shown, keys[src]),
            schema.RELATIONS[relation],
            line,
            module or "",
            name or "",
            strategy,
            confidence,
        )
        for src, relation, line, dst, module, name, strategy, confidence, _ in db.execute(
            sql.EDGES_OF, (place.owner,)
        )
        if dst is None
    )
    for src, word, line, module, name, strategy, confidence in found:
        yield {
            "pending": {
                "src": src,
                "module": module,
                "name": name,
                "relation": word,
                "line": line,
                "strategy": strategy,
                "confidence": confidence,
            }
        }


def _keys(db: sqlite3.Connection, place: _Place) -> dict[int, str]:
    return dict(db.execute(sql.NODE_KEYS, schema.span(place.owner)).fetchall())
