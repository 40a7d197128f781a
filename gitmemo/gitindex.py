"""Git's index file as bytes: one entry more, some entries fewer, nothing else touched.

Pure. What grows with a store is its index file; reading it into objects and writing it again costs
a library 13 ms at ten thousand entries, cutting the bytes and hashing them costs two. Versions 2
and 3 are understood; for anything else (`None`) the caller takes the slow way. Extensions are
dropped: they are caches that git rebuilds, and they would be wrong afterwards.
Tests: tests/gitmemo/test_gitindex.py, with git itself as the judge.
"""

import hashlib
import struct
from collections.abc import Iterator, Sequence
from mmap import mmap
from typing import NamedTuple

_FIXED = 62  # ten numbers, the object's hash, the flags
_HEAD = struct.Struct(">4sLL")
_ENTRY = struct.Struct(">10L20sH")
_CACHES = frozenset((b"TREE", b"REUC", b"EOIE", b"IEOT", b"UNTR", b"FSMN"))
_EXTENDED = 0x4000
_MASK = 0xFFFFFFFF
_FAR = 8192  # more than an entry takes whose name a disk can hold

Data = bytes | mmap


class Staged(NamedTuple):
    """A file as the index remembers it; the numbers are those of `os.lstat`."""

    path: str
    object_id: str
    ctime_ns: int
    mtime_ns: int
    dev: int
    inode: int
    uid: int
    gid: int
    size: int


class Kept(NamedTuple):
    """An entry as it stands in the index; `flags` of zero beside the length of the name say that
    nothing is special about it."""

    ctime_s: int
    ctime_ns: int
    mtime_s: int
    mtime_ns: int
    dev: int
    inode: int
    mode: int
    uid: int
    gid: int
    size: int
    object_id: bytes
    flags: int


class Folder(NamedTuple):
    """What the index has directly in one folder: files by name, and the names of folders."""

    files: dict[bytes, Kept]
    folders: frozenset[bytes]


def folder(data: Data, path: str) -> Folder | None:
    """What stands directly under `path`; None where the bytes are not an index known here."""
    try:
        return _folder(data, f"{path}/".encode("utf-8", "surrogateescape"))
    except (struct.error, ValueError, IndexError):
        return None


def _folder(data: Data, prefix: bytes) -> Folder:
    end = _end(data, _head(data)[2])
    files: dict[bytes, Kept] = {}
    folders: set[bytes] = set()
    for start in _starts(data, _first(data, end, prefix), end):
        name = _name(data, start)
        if name.startswith(prefix):
            inner, slash, _ = name[len(prefix) :].partition(b"/")
            if slash:
                folders.add(inner)
            else:
                files[inner] = Kept(*_ENTRY.unpack_from(data, start))
        elif name > prefix:
            break
    return Folder(files, frozenset(folders))


def _first(data: Data, end: int, prefix: bytes) -> int:
    """The first entry below `prefix`, from behind: what is asked about is mostly the last day."""
    position, first = data.rfind(prefix, _HEAD.size, end), end
    while position >= 0:
        start = _at(data, position)
        if start is None:
            return _HEAD.size
        first = start
        low = max(_HEAD.size, position - _FAR)
        position = data.rfind(prefix, low, position + len(prefix) - 1)
    return first


def spliced(data: Data, *, add: Sequence[Staged], remove: Sequence[str]) -> bytes | None:
    """The index file `data` with the entries `add` put in and those of `remove` taken out.

    None where the bytes are not an index that this module knows, an entry to add exists or one to
    remove does not.
    """
    found = pieces(data, add=add, remove=remove)
    return None if found is None else b"".join(found)


def pieces(
    data: Data, *, add: Sequence[Staged], remove: Sequence[str]
) -> tuple[bytes | memoryview, ...] | None:
    """What `spliced` gives, in pieces to be written one after the other: the file is the one thing
    of a write that grows with the store, so it is not copied."""
    try:
        return _pieces(data, add, remove)
    except (struct.error, ValueError, IndexError):
        return None


def _pieces(
    data: Data, add: Sequence[Staged], remove: Sequence[str]
) -> tuple[bytes | memoryview, ...]:
    magic, version, count = _head(data)
    if len({*remove, *(staged.path for staged in add)}) != len(remove) + len(add):
        raise ValueError("a path stands there twice")
    end = _end(data, count)
    cuts: list[tuple[int, int, bytes]] = []
    for path in remove:
        start = _find(data, end, path.encode())
        cuts.append((start, _length(data, start), b""))
    for staged in add:
        name = staged.path.encode()
        cuts.append((_place(data, end, name), 0, _entry(staged)))
    # Of entries that belong at one place, the one to remove stands behind those to add.
    cuts.sort(key=lambda cut: (cut[0], cut[1], cut[2][_FIXED:]))
    found: list[bytes | memoryview] = [_HEAD.pack(magic, version, count + len(add) - len(remove))]
    view, at = memoryview(data), _HEAD.size
    for start, length, entry in cuts:
        found += (view[at:start], entry)
        at = start + length
    found.append(view[at:end])
    checksum = hashlib.sha1(usedforsecurity=False)
    for piece in found:
        checksum.update(piece)
    return (*found, checksum.digest())


def _head(data: Data) -> tuple[bytes, int, int]:
    magic, version, count = _HEAD.unpack_from(data)
    if magic != b"DIRC" or version not in (2, 3):
        raise ValueError("not a version 2 or 3 index")
    return magic, version, count


def _entry(staged: Staged) -> bytes:
    name = staged.path.encode()
    seconds = (*divmod(staged.ctime_ns, 10**9), *divmod(staged.mtime_ns, 10**9))
    numbers = (*seconds, staged.dev, staged.inode, 0o100644, staged.uid, staged.gid, staged.size)
    fixed = _ENTRY.pack(
        *(number & _MASK for number in numbers),
        bytes.fromhex(staged.object_id),
        min(len(name), 0xFFF),
    )
    return fixed + name + b"\0" * (8 - (_FIXED + len(name)) % 8)


def _name(data: Data, start: int) -> bytes:
    flags = data[start + 60] << 8 | data[start + 61]
    if flags & _EXTENDED:
        return data[start + 64 : _zero(data, start + 64)]
    return data[start + _FIXED : _zero(data, start + _FIXED)]


def _zero(data: Data, start: int) -> int:
    found = data.find(b"\0", start)
    if found < 0:
        raise ValueError("a name without an end")
    return found


def _length(data: Data, start: int) -> int:
    fixed = 64 if data[start + 60] & _EXTENDED >> 8 else _FIXED
    length = _zero(data, start + fixed) - start
    return length + 8 - length % 8


def _starts(data: Data, start: int, end: int) -> Iterator[int]:
    while start < end:
        yield start
        start += _length(data, start)


def _at(data: Data, position: int) -> int | None:
    """The start of the entry whose name begins at `position`; None if that is no entry's name."""
    start = position - _FIXED
    if start < _HEAD.size or (start - _HEAD.size) % 8:
        return None
    flags = data[start + 60] << 8 | data[start + 61]
    named = data.find(b"\0", position) - position
    return start if flags & 0xFFF == min(named, 0xFFF) and not flags & _EXTENDED else None


def _find(data: Data, end: int, name: bytes) -> int:
    start = _at(data, data.find(name + b"\0", _HEAD.size, end))
    if start is not None:
        return start
    for start in _starts(data, _HEAD.size, end):
        if _name(data, start) == name:
            return start
    raise ValueError("no such entry")


def _place(data: Data, end: int, name: bytes) -> int:
    """Where `name` belongs in the sorted entries, which end at `end`.

    An entry usually comes last in its day's folder, or is the first of its day and last in its
    month; so the closest folder that has any is looked for from behind, and the walk of the whole
    file is only the way out.
    """
    start, folder = _HEAD.size, name
    while b"/" in folder:
        folder = folder[: folder.rindex(b"/")]
        last = _at(data, data.rfind(folder + b"/", _HEAD.size, end))
        if last is not None:
            early = _name(data, last) < name
            start = last if early else _first(data, end, folder + b"/")
            break
    for place in _starts(data, start, end):
        found = _name(data, place)
        if found == name:
            raise ValueError("an entry of this name exists")
        if found > name:
            return place
    return end


def _end(data: Data, count: int) -> int:
    """Where the entries end: before the extensions (all of them caches) and the checksum."""
    stop = len(data) - 20
    start = data.rfind(b"entries/", 0, stop) - _FIXED
    looks_right = start >= _HEAD.size and not (start - _HEAD.size) % 8
    # Without extensions, as we write it, the last entry ends the file. No name in an extension
    # does: the cache of untracked files, the one with names of folders, ends with tables.
    if looks_right and start + _length(data, start) == stop:
        return stop
    if looks_right and data.find(b"UNTR") < 0:
        while start < stop and not _only_caches(data, start, stop):
            start += _length(data, start)
        if start == stop or _only_caches(data, start, stop):
            return start
    start = _HEAD.size
    for _ in range(count):
        start += _length(data, start)
    if start != stop and not _only_caches(data, start, stop):
        raise ValueError("an extension that is not a cache")
    return start


def _only_caches(data: Data, start: int, stop: int) -> bool:
    while start < stop:
        if data[start : start + 4] not in _CACHES:
            return False
        start += 8 + int.from_bytes(data[start + 4 : start + 8], "big")
    return start == stop
