"""How alike two texts are, told from a few bytes kept of each.

A sketch is the `SIZE` smallest checksums of a text's distinct lines, blanks around them taken away:
a uniform sample that outlives the bytes, so that a file that is gone can still be compared with one
that is new. Pure.
"""

import struct
from zlib import crc32

SIZE = 64
"""Lines kept of a text; the similarity's error is about one over the root of it."""

_LEAST = 3


def sketch(data: bytes) -> bytes:
    """The sketch of a text: up to 64 ascending checksums of 4 bytes, little end first. Lines of
    fewer than three characters (braces, blanks) say nothing and do not count."""
    lines = {line for line in map(bytes.strip, data.splitlines()) if len(line) >= _LEAST}
    return _packed(sorted(set(map(crc32, lines)))[:SIZE])


def similarity(one: bytes, other: bytes) -> float:
    """The share of lines that the two texts have in common (Jaccard), from 0.0 to 1.0, as well as
    their sketches can tell; 0.0 where either is empty."""
    left, right = set(_unpacked(one)), set(_unpacked(other))
    if not left or not right:
        return 0.0
    # The smallest of the union are a sample of the union; those in both sketches are in both texts.
    union = sorted(left | right)[:SIZE]
    return sum(1 for line in union if line in left and line in right) / len(union)


def _packed(numbers: list[int]) -> bytes:
    return struct.pack(f"<{len(numbers)}I", *numbers)


def _unpacked(data: bytes) -> list[int]:
    return [number for (number,) in struct.iter_unpack("<I", data[: len(data) // 4 * 4])]
