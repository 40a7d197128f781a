"""Packs of git put together: few files, and no byte copied more often than the store doubles.

Objects are copied as they lie in their packs. What a delta refers to is in the same pack and moves
with it, so nothing is unpacked, compared or compressed again; a library that builds a pack anew
does all three and needs seconds at ten thousand entries. Each file copied is first proved by its
own checksum. Only the library's pack files of version 2 with an index of version 2 are understood,
and packs that git was told something about (`.keep` and its kin) are left alone.

A pack is complete on the disk before those it replaces go, and its index, by which readers find it,
comes last and goes first. A reader at work looks into the folder again before it calls an object
missing. Never here: loose objects, which `repo` packs. Tests: tests/gitmemo/test_packing.py.
"""

import hashlib
import os
import struct
import time
from collections.abc import Sequence
from contextlib import suppress
from mmap import ACCESS_READ, mmap
from typing import NamedTuple

from gitmemo import gate

FACTOR = 2
LIMIT = 2**31 - 1  # what an index holds of a place in a pack without a table of large ones
_ORPHAN_S = 24 * 3600.0
_PACK = struct.Struct(">4sLL")
_INDEX = b"\xfftOc\0\0\0\2"
_FANOUT = struct.Struct(">256L")
_SPECIAL = (".keep", ".promisor", ".mtimes")
_PARTS = (".idx", ".pack", ".rev", ".bitmap")
_ASIDE = ("gitmemo-pack.tmp", "gitmemo-idx.tmp")
_COPY = 1 << 20
UNFIT = (ValueError, LookupError, struct.error)
"""What a table comes to that says what is not so."""


class Known(NamedTuple):
    """A pack: its path without an ending, its size, and the bytes of its index file."""

    path: str
    size: int
    table: bytes

    @property
    def objects(self) -> int:
        """How many objects it has."""
        return int.from_bytes(self.table[1028:1032], "big")

    def names(self) -> list[str]:
        """The hashes of its objects."""
        return [self.table[at : at + 20].hex() for at in range(1032, 1032 + 20 * self.objects, 20)]


def to_join(sizes: Sequence[int]) -> int:
    """How many of the smallest packs become one; `sizes` ascend. Each pack is then at least
    FACTOR times as large as all smaller ones together."""
    total, count = 0, 0
    for size in sizes:
        if count and (size >= FACTOR * total or total + size > LIMIT):
            break
        total, count = total + size, count + 1
    return count if count > 1 else 0


def packs(git_dir: str) -> list[Known]:
    """The packs that may be put together, the smallest first; none where git keeps an index over
    all packs, which would name files that are gone."""
    folder = os.path.join(git_dir, "objects", "pack")
    names = set(os.listdir(folder))
    if "multi-pack-index" in names:
        return []
    found = []
    for name in names:
        stem, ending = os.path.splitext(name)
        if ending != ".idx" or any(f"{stem}{special}" in names for special in _SPECIAL):
            continue
        path = os.path.join(folder, stem)
        table = gate.read(f"{path}.idx", gate.LARGE)
        if table.startswith(_INDEX) and f"{stem}.pack" in names:
            found.append(Known(path, os.stat(f"{path}.pack").st_size, table))
    return sorted(found, key=lambda pack: (pack.size, pack.path))


def joined_index(parts: Sequence[Known], checksum: bytes) -> bytes | None:
    """The index of a pack, with `checksum` at its end, that holds the bodies of `parts` one after
    the other; None where an object stands in two of them or a place does not fit."""
    records: list[bytes] = []
    shift = 0
    for part in parts:
        table, count = part.table, part.objects
        names, sums = 8 + 1024, 8 + 1024 + 20 * count
        places = struct.unpack_from(f">{count}L", table, sums + 4 * count)
        if len(table) != 8 + 1024 + 28 * count + 40:  # with a table of large places
            return None
        records += [
            table[names + 20 * n : names + 20 * n + 20]
            + table[sums + 4 * n : sums + 4 * n + 4]
            + (place + shift).to_bytes(4, "big")
            for n, place in enumerate(places)
        ]
        shift += part.size - _PACK.size - 20
    records.sort()
    firsts = [0] * 256
    last = b""
    for record in records:
        if record.startswith(last) and last:
            return None
        last = record[:20]
        firsts[record[0]] += 1
    total = 0
    for byte, count in enumerate(firsts):
        total += count
        firsts[byte] = total
    data = b"".join(
        (
            _INDEX,
            _FANOUT.pack(*firsts),
            *(record[:20] for record in records),
            *(record[20:24] for record in records),
            *(record[24:] for record in records),
            checksum,
        )
    )
    return data + hashlib.sha1(data, usedforsecurity=False).digest()


def join(git_dir: str, parts: Sequence[Known]) -> bool:
    """Put `parts` into one pack and remove them; False, and nothing done, where they are not whole
    or not of the kind that can be copied. Raises OSError where the machine refuses."""
    pack, index = (os.path.join(git_dir, name) for name in _ASIDE)
    try:
        checksum = _copy(parts, pack)
        data = None if checksum is None else joined_index(parts, checksum)
        if checksum is None or data is None:
            return False
        with open(index, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        folder = os.path.join(git_dir, "objects", "pack")
        new = os.path.join(folder, f"pack-{checksum.hex()}")
        for path in (pack, index):
            os.chmod(path, 0o444)
        os.replace(pack, f"{new}.pack")
        os.replace(index, f"{new}.idx")
        _sync_folder(folder)
    finally:
        for path in (pack, index):
            with suppress(FileNotFoundError):
                os.unlink(path)
    for part in parts:
        remove(part)
    return True


def remove(pack: Known) -> None:
    """Remove a pack whose objects lie elsewhere."""
    for ending in _PARTS:
        with suppress(FileNotFoundError):
            os.unlink(f"{pack.path}{ending}")


def sweep(git_dir: str) -> None:
    """Remove packs that never got an index because their writer was killed. Those of the last day
    may belong to a git at work."""
    folder = os.path.join(git_dir, "objects", "pack")
    for name in os.listdir(folder):
        stem, ending = os.path.splitext(os.path.join(folder, name))
        if ending == ".pack" and not os.path.exists(f"{stem}.idx"):
            with suppress(FileNotFoundError):
                if time.time() - os.stat(f"{stem}.pack").st_mtime > _ORPHAN_S:
                    os.unlink(f"{stem}.pack")


def _copy(parts: Sequence[Known], target: str) -> bytes | None:
    """Write the bodies of `parts` into one pack file; its checksum. None where a part is not what
    its own checksum says, or of another version."""
    whole = hashlib.sha1(usedforsecurity=False)
    with open(target, "wb") as out:
        head = _PACK.pack(b"PACK", 2, sum(part.objects for part in parts))
        whole.update(head)
        out.write(head)
        for part in parts:
            with (
                gate.opened(f"{part.path}.pack", LIMIT) as file,
                mmap(file.fileno(), 0, access=ACCESS_READ) as data,
                memoryview(data) as view,
            ):
                end = len(view) - 20
                own = hashlib.sha1(view[: _PACK.size], usedforsecurity=False)
                if _PACK.unpack_from(view) != (b"PACK", 2, part.objects):
                    return None
                for start in range(_PACK.size, end, _COPY):
                    with view[start : min(start + _COPY, end)] as piece:
                        own.update(piece)
                        whole.update(piece)
                        out.write(piece)
                if not bytes(view[end:]) == own.digest() == part.table[-40:-20]:
                    return None
        out.write(whole.digest())
        out.flush()
        os.fsync(out.fileno())
    return whole.digest()


def _sync_folder(folder: str) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
