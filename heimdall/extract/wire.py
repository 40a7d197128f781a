"""Extracted values as the pipe between a child and its pool carries them.

Frames of a length and a `marshal` body: both ends are the same interpreter, and plain tuples cross
several times faster than pickled objects. What is unpacked equals what was packed.
"""

import marshal
from itertools import repeat
from typing import Any

from heimdall.extract.read import Extracted
from heimdall.model import Binding, Depth, Edge, Facts, Node, Observed, Presence, Relation, Stat
from heimdall.sinks.base import SinkDoc, SymbolDoc

HEADER = 8
"""Bytes before each body: its length, little-endian."""


def frame(value: Any) -> bytes:
    """One value of marshal's own types, framed."""
    body = marshal.dumps(value)
    return len(body).to_bytes(HEADER, "little") + body


def unframe(buffer: bytearray) -> Any:
    """Take the first whole frame out of `buffer`; None while it is not whole."""
    if len(buffer) < HEADER:
        return None
    end = HEADER + int.from_bytes(buffer[:HEADER], "little")
    if len(buffer) < end:
        return None
    body = bytes(memoryview(buffer)[HEADER:end])
    del buffer[:end]
    return marshal.loads(body)  # noqa: S302 # written by our own child, of the same interpreter


def pack(item: Extracted) -> tuple[object, ...]:
    """An Extracted as plain tuples."""
    seen, found, doc = item.observed, item.facts, item.doc
    return (
        item.path,
        (seen.presence.value, tuple(seen.stat) if seen.stat is not None else None, seen.reason),
        item.digest,
        _pack_facts(found) if found is not None else None,
        (*doc[:-1], list(map(tuple, doc.symbols))) if doc is not None else None,
        item.sketch,
        item.shapes,
    )


def _pack_facts(found: Facts) -> tuple[object, ...]:
    return (
        int(found.depth),
        found.language,
        found.reason,
        found.package,
        found.exports,
        list(map(tuple, found.nodes)),
        [
            (src, _WORDS[id(relation)], line, dst, module, name, strategy, confidence)
            for src, relation, line, dst, module, name, strategy, confidence in found.edges
        ],
        list(map(tuple, found.bindings)),
    )


def unpack(raw: Any) -> Extracted:
    """The Extracted that `pack` took apart."""
    path, (presence, stat, reason), digest, found, doc, outline, told = raw
    seen = Observed(path, Presence(presence), Stat(*stat) if stat is not None else None, reason)
    return Extracted(
        path,
        seen,
        digest,
        _unpack_facts(found) if found is not None else None,
        SinkDoc._make((*doc[:-1], _made(SymbolDoc, doc[-1]))) if doc is not None else None,
        outline,
        told,
    )


_RELATIONS = {relation.value: relation for relation in Relation}
# By identity: the hash of a member of an enumeration is a call of Python.
_WORDS = {id(relation): relation.value for relation in Relation}


def _made(kind: type[Any], raws: Any) -> tuple[Any, ...]:
    """Named tuples of plain ones without a call of Python for each: there are hundreds of
    thousands of them in an index."""
    return tuple(map(tuple.__new__, repeat(kind), raws))


def _unpack_facts(raw: Any) -> Facts:
    depth, language, reason, package, exports, nodes, edges, bindings = raw
    whole = ((src, _RELATIONS[word], *rest) for src, word, *rest in edges)
    return Facts(
        Depth(depth),
        language,
        reason,
        package,
        exports,
        _made(Node, nodes),
        _made(Edge, whole),
        _made(Binding, bindings),
    )
