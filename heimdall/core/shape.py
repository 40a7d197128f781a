"""What a definition is told by when it moves: its body without indentation and without its name.

A shape is an identity (equal for bodies that differ in nothing but the white space around their
lines and the definition's own name) and a sample of its lines, by which an edited body is still
known. One-liners have none: they are alike by chance. Pure.
Held by tests/heimdall/core/test_shape.py.
"""

import re
import struct
from array import array
from collections.abc import Iterable, Sequence
from typing import NamedTuple
from zlib import adler32, crc32

from heimdall.model import Node

SAMPLE = 24
"""Lines kept of a definition."""

_LEAST_LINE = 3
_WORD = 0xFFFF
_HEAD = struct.Struct("<BIIH")
_NONE = b"\0"


class Shape(NamedTuple):
    """`identity` is b"" for a definition that has no shape, `lines` how many it has that say
    something, `sample` the smallest of their checksums."""

    identity: bytes
    lines: int
    sample: frozenset[int]


def shapes(text: bytes, nodes: Iterable[Node]) -> bytes:
    """The packed shapes of the definitions of a file, in their order, the file's own left out."""
    lines = [line.strip() for line in text.split(b"\n")]
    sums = [crc32(line) if len(line) >= _LEAST_LINE else 0 for line in lines]
    return b"".join(_packed(lines, sums, node) for node in nodes if node.key)


def _packed(lines: Sequence[bytes], sums: Sequence[int], node: Node) -> bytes:
    if node.end_line <= node.line:
        return _NONE
    own = list(sums[node.line - 1 : node.end_line])
    name = node.name.encode("utf-8", "surrogatepass")
    # Its name stands at its head, and in the body of what calls itself.
    for at, line in enumerate(lines[node.line - 1 : node.end_line]):
        if own[at] and name in line:
            own[at] = crc32(re.sub(rb"\b%s\b" % re.escape(name), b"", line))
    own = [one for one in own if one]
    body = array("I", own).tobytes()
    sample = sorted({one >> 16 for one in own})[:SAMPLE]
    count = min(len(set(own)), _WORD)
    return (
        _HEAD.pack(len(sample) + 1, crc32(body), adler32(body), count)
        + array("H", sample).tobytes()
    )


def split(data: bytes) -> list[bytes]:
    """What `shapes` packed, one by one."""
    found: list[bytes] = []
    at = 0
    while at < len(data):
        end = at + (_HEAD.size + 2 * (data[at] - 1) if data[at] else 1)
        found.append(data[at:end])
        at = end
    return found


def unpacked(data: bytes) -> Shape:
    """One packed shape."""
    if len(data) < _HEAD.size:
        return Shape(b"", 0, frozenset())
    sample = array("H")
    sample.frombytes(data[_HEAD.size :])
    return Shape(data[1:9], _HEAD.unpack_from(data)[3], frozenset(sample))


def likeness(one: Shape, other: Shape) -> float:
    """The share of lines that two bodies have in common (Jaccard), as far as their samples tell."""
    union = sorted(one.sample | other.sample)
    if not one.sample or not other.sample:
        return 0.0
    if len(one.sample) >= SAMPLE or len(other.sample) >= SAMPLE:
        union = union[:SAMPLE]
    return sum(1 for key in union if key in one.sample and key in other.sample) / len(union)
