"""How alike two files are, told from a few bytes kept of each.

A file is cut as git cuts it to find renames: into lines, long ones every 64 bytes. A sketch keeps
the checksums of the `SIZE` pieces with the smallest ones, with the bytes that each makes up: all
pieces of most files, a uniform sample of those of a large one. It outlives the bytes, so that a
file that is gone can still be compared with one that is new. Pure.
Held by tests/heimdall/core/test_sketch.py, with git as the judge.
"""

import re
from array import array
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple
from zlib import crc32

SIZE = 256
"""Pieces kept of a file. Up to so many the likeness is exact, above its error is about six in a
hundred, and less the more alike the two are."""

TELLING = 8
"""Pieces by which a file is looked up among many."""

_PIECE = re.compile(rb"[^\n]{0,63}\n|[^\n]{1,64}")
_MOST = 0xFFFF
_HEAD = 4
_EACH = 6
_NO_END = 1 << 32


class Sketch(NamedTuple):
    """A sketch, unpacked: the bytes of the whole file, the largest checksum that its sample reaches
    to, the bytes of the sample, and those of each piece by its checksum."""

    total: int
    reach: int
    sampled: int
    weights: Mapping[int, int]


def sketch(data: bytes) -> bytes:
    """The sketch of a file's bytes; b"" for an empty one. Line ends of both kinds are equal."""
    pieces = Counter(_PIECE.findall(data.replace(b"\r\n", b"\n")))
    weights: dict[int, int] = {}
    total = 0
    for piece, count in pieces.items():
        weight = len(piece) * count
        total += weight
        key = crc32(piece)
        weights[key] = weights.get(key, 0) + weight
    kept = sorted(weights)[:SIZE]
    if not kept:
        return b""
    sizes = array("H", (min(weights[key], _MOST) for key in kept))
    return total.to_bytes(_HEAD, "little") + array("I", kept).tobytes() + sizes.tobytes()


def unpacked(data: bytes) -> Sketch:
    """What `sketch` packed; an empty one for anything else."""
    count = (len(data) - _HEAD) // _EACH
    if count <= 0:
        return Sketch(0, 0, 0, {})
    keys, sizes = array("I"), array("H")
    keys.frombytes(data[_HEAD : _HEAD + 4 * count])
    sizes.frombytes(data[_HEAD + 4 * count : _HEAD + _EACH * count])
    reach = keys[-1] if count >= SIZE else _NO_END
    total = int.from_bytes(data[:_HEAD], "little")
    return Sketch(total, reach, sum(sizes), dict(zip(keys, sizes, strict=True)))


def likeness(one: Sketch, other: Sketch) -> float:
    """The share of the larger file that stands in both, from 0.0 to 1.0: git's own measure."""
    larger = max(one.total, other.total)
    if not one.total or not other.total or min(one.total, other.total) * 8 < larger:
        return 0.0
    reach = min(one.reach, other.reach)
    left, right = one.weights, other.weights
    if len(left) > len(right):
        left, right = right, left
    # Up to `reach` both are whole, so that what is missing there is missing in the file.
    common = sum(min(left[key], right[key]) for key in left.keys() & right.keys() if key <= reach)
    sampled = _within(one, reach) + _within(other, reach)
    if not sampled:
        return 0.0
    return min(1.0, common * (one.total + other.total) / sampled / larger)


def similarity(one: bytes, other: bytes) -> float:
    """The likeness of two files by their packed sketches."""
    return likeness(unpacked(one), unpacked(other))


def telling(data: bytes) -> tuple[int, ...]:
    """The checksums by which a sketch is looked up: two files that are half alike share some."""
    count = min(max(0, (len(data) - _HEAD) // _EACH), TELLING)
    keys = array("I")
    keys.frombytes(data[_HEAD : _HEAD + 4 * count])
    return tuple(keys)


def _within(whole: Sketch, reach: int) -> int:
    if whole.reach <= reach:
        return whole.sampled
    return sum(weight for key, weight in whole.weights.items() if key <= reach)
