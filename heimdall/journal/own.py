"""What one path owns: laying it down whole, and taking it away whole (exact-ownership).

Every function works inside the caller's transaction.
"""

import array
import json
import sqlite3

from heimdall.core.modules import family, tail
from heimdall.journal import schema, sql
from heimdall.journal.values import Commit
from heimdall.model import Depth, Facts


def vanish(db: sqlite3.Connection, owner: int, staying: frozenset[int]) -> None:
    """References to nodes that will be no more go back to pending, in this transaction: at no
    moment does an edge point to nothing."""
    before = {number for (number,) in db.execute(sql.NODE_IDS, schema.span(owner))}
    vanished = [(number,) for number in sorted(before - staying)]
    db.executemany(sql.OWNERS_OF_DST, vanished)
    db.executemany(sql.UNBIND_DST, vanished)


def clear(db: sqlite3.Connection, owner: int, tokens: bytes | None) -> None:
    """Take away all that a path owns but its row."""
    db.execute(sql.DELETE_NODES, schema.span(owner))
    db.execute(sql.DELETE_EDGES, (owner,))
    db.execute(sql.DELETE_BINDINGS, (owner,))
    db.executemany(sql.DELETE_TOKEN, ((token, owner) for token in array.array("q", tokens or b"")))


def describe(db: sqlite3.Connection, owner: int, root: int, entry: Commit, at: int) -> None:
    """Write the path's own row."""
    size, mtime_ns, inode = entry.stat if entry.stat else (None, None, None)
    facts = entry.facts
    unit = kin = exports = None
    if facts is not None and facts.language:
        unit = schema.word(tail(entry.path))
        kin = schema.kin(entry.path, facts, family(facts.language))
        exports = None if facts.exports is None else json.dumps(facts.exports)
    db.execute(
        sql.UPDATE_PATH,
        (
            root,
            entry.digest,
            size,
            mtime_ns,
            inode,
            entry.asked,
            facts.depth if facts else Depth.PATH,
            entry.extractor,
            facts.language if facts else "",
            entry.generation,
            entry.facts.reason if entry.facts else entry.reason,
            at,
            facts.package if facts else "",
            exports,
            unit,
            kin,
            owner,
        ),
    )


def lay_down(db: sqlite3.Connection, owner: int, numbers: dict[str, int], facts: Facts) -> None:
    """Write everything the path owns now. An edge between keys that the facts do not have is an
    extractor's mistake; it becomes the file's own, or pending, and costs nobody else anything.
    """
    own = numbers.get("", schema.span(owner)[0])
    db.executemany(
        sql.INSERT_NODE,
        (
            (
                numbers[node.key],
                place,
                node.key,
                node.kind,
                schema.word(node.name),
                None if node.qualname == node.key else node.qualname,
                *node[4:],
            )
            for place, node in enumerate(facts.nodes)
        ),
    )
    db.executemany(
        sql.INSERT_EDGE,
        (
            (
                owner,
                place,
                numbers.get(src, own),
                schema.RELATION_NUMBERS[relation],
                line,
                None if dst is None else numbers.get(dst),
                module if dst is None else None,
                name if dst is None else None,
                strategy,
                confidence,
            )
            for place, (
                src,
                relation,
                line,
                dst,
                module,
                name,
                strategy,
                confidence,
            ) in enumerate(facts.edges)
        ),
    )
    db.executemany(
        sql.INSERT_BINDING,
        ((owner, place, *binding) for place, binding in enumerate(facts.bindings)),
    )
