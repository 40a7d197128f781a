"""How a repository of git is opened, so that the library neither waits nor loops nor crashes in it.

The library (1.9) reads for ever at a loose object that is cut off, waits at a FIFO in the place of
a file of git's own, and reads beyond the end of a table of packs that lies. So whoever opens a
repository does it here: files that the library would open by name are looked at first, tables of
packs are proved by the checksum at their end, and loose objects are inflated here and not there.
Never here: what the objects say. Tests: tests/gitmemo/test_damaged.py.
"""

import hashlib
import os
import re
import stat
import zlib
from collections.abc import Iterator
from contextlib import suppress

import pygit2

from gitmemo import gate
from gitmemo.errors import DamagedStore

_READ_WHOLE = (
    *("HEAD", "config", "commondir", "packed-refs", "shallow", "info/exclude", "info/attributes"),
    *("info/grafts", "objects/info/alternates", "objects/info/commit-graph"),
)
_RULES = frozenset((".gitignore", ".gitattributes"))
_PACK_PART = re.compile(r"multi-pack-index|pack-.*\.(?:pack|idx)")
_INFLATED = 256 << 20  # an honest object is smaller by far
_PIECE = 1 << 20
_AFTER_PACKS = 2  # the library asks packs (2) first and its own reader of loose objects (1) last
_HEADER = re.compile(rb"(commit|tree|blob|tag) \d+\0")
_FORMS = {b"commit": 1, b"tree": 2, b"blob": 3, b"tag": 4}
_proved: set[tuple[str, int, int, int]] = set()


def opened(folder: str, git_dir: str) -> pygit2.Repository:
    """The repository at `folder` whose git directory is `git_dir`, for reading objects: to write
    one the library asks its first source of them alone, which is one of ours. Raises DamagedStore
    where it holds something at which the library would not come to an end, GitError where it is
    none."""
    odd = next(_odd(git_dir), None)
    if odd is not None:
        raise DamagedStore(folder, f"odd-file:{odd}")
    git = pygit2.Repository(folder)
    git.odb.add_backend(_Loose(os.path.join(git_dir, "objects")), _AFTER_PACKS)
    return git


def refuse_odd_rules(mem: str) -> None:
    """Raise DamagedStore where a file of rules below `mem`, each of which a status reads, is not
    a file."""
    for folder, folders, names in os.walk(mem):
        if folder == mem and ".git" in folders:
            folders.remove(".git")
        for name in _RULES.intersection(names):
            path = os.path.join(folder, name)
            if not _fits(path, gate.TEXT):
                raise DamagedStore(mem, f"odd-file:{os.path.relpath(path, mem)}")


def inflated(path: str) -> bytes | None:
    """What the loose object file `path` holds, header and all; None where it is not whole, holds
    more than that, or is no file. Raises FileNotFoundError."""
    try:
        with gate.opened(path) as file:
            inflater = zlib.decompressobj()
            found = []
            size = 0
            while not inflater.eof:
                piece = inflater.unconsumed_tail or file.read(_PIECE)
                found.append(inflater.decompress(piece, _PIECE))
                size += len(found[-1])
                if not piece or size > _INFLATED:
                    return None
            return None if inflater.unused_data or file.read(1) else b"".join(found)
    except FileNotFoundError:
        raise
    except (OSError, zlib.error):
        return None


class _Loose(pygit2.OdbBackend):
    """Reads loose objects in the library's place, which hashes what it gets: what it is given for
    a broken one is not what the hash says, so that the library itself reports it."""

    def __init__(self, objects: str) -> None:
        super().__init__()
        self._objects = objects

    def read_cb(self, oid: pygit2.Oid) -> tuple[int, bytes]:
        name = str(oid)
        try:
            data = inflated(os.path.join(self._objects, name[:2], name[2:]))
        except OSError:
            raise KeyError(name) from None
        head = None if data is None else _HEADER.match(data)
        if data is None or head is None:
            return _FORMS[b"blob"], name.encode()
        return _FORMS[head[1]], data[head.end() :]

    def read_prefix_cb(self, prefix: str) -> tuple[int, bytes, pygit2.Oid]:
        """The one that starts with `prefix`; where there are several the library finds them too,
        before it reads."""
        text = str(prefix)
        if len(text) == 40:
            oid = pygit2.Oid(hex=text)
            form, data = self.read_cb(oid)
            if data == text.encode():
                raise pygit2.GitError(f"broken loose object {oid}")
            return form, data, oid
        try:
            names = os.listdir(os.path.join(self._objects, text[:2]))
        except OSError:
            raise KeyError(text) from None
        found = [name for name in names if len(name) == 38 and name.startswith(text[2:])]
        if len(found) != 1:
            raise KeyError(text)
        oid = pygit2.Oid(hex=text[:2] + found[0])
        form, data = self.read_cb(oid)
        if data == str(oid).encode():  # here the library would go on to its own reader
            raise pygit2.GitError(f"broken loose object {oid}")
        return form, data, oid

    # The library asks everyone everything. For the rest its own readers, which only look at the
    # first bytes of a loose object, are good enough.

    def read_header_cb(self, oid: pygit2.Oid) -> tuple[int, int]:
        raise KeyError(str(oid))

    def exists_cb(self, _oid: pygit2.Oid) -> bool:
        return False

    def exists_prefix_cb(self, prefix: str) -> pygit2.Oid:
        raise KeyError(str(prefix))

    def write_cb(self, oid: pygit2.Oid, _data: bytes, _form: int) -> None:
        raise KeyError(str(oid))

    def refresh_cb(self) -> None:
        return

    def __iter__(self) -> Iterator[pygit2.Oid]:
        return iter(())


def _odd(git_dir: str) -> Iterator[str]:
    """What the library would open, or believe, and must not."""
    for name in _READ_WHOLE:
        if not _fits(os.path.join(git_dir, name), gate.TEXT):
            yield name
    if not _fits(os.path.join(git_dir, "index"), gate.LARGE):
        yield "index"
    yield from _odd_refs(git_dir, "refs")
    packs = os.path.join(git_dir, "objects", "pack")
    with suppress(OSError):
        for name in os.listdir(packs):
            if _PACK_PART.fullmatch(name) and not _is_pack_part(os.path.join(packs, name)):
                yield f"objects/pack/{name}"


def _odd_refs(git_dir: str, folder: str) -> Iterator[str]:
    with suppress(OSError), os.scandir(os.path.join(git_dir, folder)) as found:
        for item in found:
            if item.is_dir(follow_symlinks=False):
                yield from _odd_refs(git_dir, f"{folder}/{item.name}")
            elif not _fits(item.path, gate.TEXT):
                yield f"{folder}/{item.name}"


def _fits(path: str, limit: int) -> bool:
    """Whether the library may open `path`: nothing, a folder, and what nobody may read end in an
    error of its own at once."""
    try:
        status = os.stat(path)
    except OSError:
        return True
    if stat.S_ISREG(status.st_mode):
        return status.st_size <= limit
    return stat.S_ISDIR(status.st_mode)


def _is_pack_part(path: str) -> bool:
    """A pack is proved object by object when it is read; what tells where they lie is not."""
    if path.endswith(".pack"):
        return _fits(path, 1 << 62)
    try:
        status = os.stat(path)
        mark = (path, status.st_ino, status.st_mtime_ns, status.st_size)
        if mark in _proved:
            return True
        data = gate.read(path, gate.LARGE)
    except FileNotFoundError:  # put together with others meanwhile
        return True
    except OSError:
        return False
    whole = hashlib.sha1(memoryview(data)[:-20], usedforsecurity=False).digest() == data[-20:]
    if whole:
        _proved.add(mark)
    return whole
