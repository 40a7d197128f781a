"""What the working tree looked like when it was last known to equal main: the price of the check
before each write.

A full status looks at every file. What is noted here makes it one `lstat` a folder, for the writer
that noted it and, by two tables in the derived index, for every writer after it. The note is
believed only for the very commit, index file and folders that it names. A folder that has changed,
or is as young as the look at it, is looked at again by itself, against git's index; where that says
anything but "the same", the answer is "look at everything". An edit in place changes no folder: a
full status finds it, once a day, and a change that removes the file compares it first.
Never here: what is done about a tree that is not clean. Tests: tests/gitmemo/test_seen.py.
"""

import hashlib
import os
import sqlite3
import stat
from collections.abc import Callable, Sequence
from contextlib import suppress
from mmap import ACCESS_READ, mmap

from gitmemo import gate, gitindex
from gitmemo.lock import KERNEL_LOCK
from gitmemo.worktree import INDEX

DAY_NS = 24 * 3600 * 10**9
_ODD = (0, 0)  # the stamp of no folder: whatever is there is looked at
_NUMBER = 0x7FFF_FFFF_FFFF_FFFF  # what SQLite can hold of an inode
_SHORT = 0xFFFF_FFFF  # what git's index holds of a number
_SPECIAL = 0xF000  # assumed, extended or unmerged: for git itself to judge
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS seen (tip TEXT NOT NULL, checksum BLOB NOT NULL,"
    " mtime INTEGER NOT NULL, inode INTEGER NOT NULL, looked INTEGER NOT NULL,"
    " folders INTEGER NOT NULL)",
    "CREATE TABLE IF NOT EXISTS seen_folders (path BLOB PRIMARY KEY, mtime INTEGER NOT NULL,"
    " inode INTEGER NOT NULL) WITHOUT ROWID",
)

_Stamp = tuple[int, int]
_Mark = tuple[bytes, int, int]


class Seen:
    """The note of one store. Call everything with the store's lock held."""

    def __init__(self, mem: str) -> None:
        self._mem = mem
        self._index = os.path.join(mem, ".git", INDEX)
        self._tip = ""
        self._mark: _Mark = (b"", 0, 0)
        self._looked = 0
        self._folders: dict[str, _Stamp] = {}
        self._saved = ""  # the tip of the note in the tables that `_unsaved` starts from
        self._unsaved: set[str] = set()

    def holds(self, tip: str, base: sqlite3.Connection) -> bool:
        """Whether index and working tree are known to equal main's commit `tip`; `base` is the
        derived index, in which another writer may have noted more than is known here."""
        if tip != self._tip and not self._load(tip, base):
            return False
        now = self._now()
        if not 0 <= now - self._looked < DAY_NS or not self.index_stands():
            return False
        try:
            odd = [
                folder
                for folder, was, at in zip(
                    self._folders, self._folders.values(), map(os.lstat, self._folders), strict=True
                )
                if (at.st_mtime_ns, at.st_ino & _NUMBER) != was
            ]
            return not odd or self._look_at(odd, now)
        except (OSError, ValueError):
            return False

    def note(self, tip: str, status: Callable[[], Sequence[str]]) -> Sequence[str]:
        """What the full `status` says; if that is nothing, the tree is noted as that of `tip`."""
        self.forget()
        # All stamps are older than the status, so that what happens meanwhile shows afterwards.
        now, mark = self._now(), _mark(self._index)
        walked = os.walk(os.path.join(self._mem, "entries"))
        folders = (self._mem, *(folder for folder, _, _ in walked))
        stamps = {folder: _stamp(folder, now) for folder in folders}
        dirt = status()
        if not dirt:
            self._tip, self._mark, self._looked, self._folders = tip, mark, now, stamps
        return dirt

    def forget(self) -> None:
        """Know nothing."""
        self._tip = self._saved = ""

    def index_stands(self) -> bool:
        """Whether git's index is still the noted one."""
        return _mark(self._index) == self._mark

    def moved(self, tip: str, paths: Sequence[str], checksum: bytes | None) -> None:
        """Main is now `tip` and our own change has touched `paths`, and git's index, which ends
        with `checksum` if that is known. What else may have happened meanwhile in the folders is
        left for the next look."""
        if not self._tip:
            return
        mark = _mark(self._index)
        if checksum is not None and mark[0] != checksum:
            self.forget()
            return
        self._tip, self._mark = tip, mark
        for path in paths:
            folder = os.path.dirname(path)
            while folder:
                self._touched(os.path.join(self._mem, folder))
                folder = os.path.dirname(folder)

    def save(self, base: sqlite3.Connection) -> None:
        """Put into the tables what has changed since they were read or written, within the
        caller's transaction."""
        if not self._tip:
            return
        for statement in _SCHEMA:
            base.execute(statement)
        held = base.execute("SELECT tip FROM seen").fetchone()
        if held is None or held[0] != self._saved:
            base.execute("DELETE FROM seen_folders")
            self._unsaved = set(self._folders)
        names = {folder: os.fsencode(self._inside(folder)) for folder in self._unsaved}
        base.executemany(
            "DELETE FROM seen_folders WHERE path = ?", ((name,) for name in names.values())
        )
        base.executemany(
            "INSERT INTO seen_folders VALUES (?, ?, ?)",
            (
                (name, *self._folders[folder])
                for folder, name in names.items()
                if folder in self._folders
            ),
        )
        base.execute("DELETE FROM seen")
        base.execute(
            "INSERT INTO seen VALUES (?, ?, ?, ?, ?, ?)",
            (self._tip, *self._mark, self._looked, len(self._folders)),
        )
        self._saved, self._unsaved = self._tip, set()

    def _load(self, tip: str, base: sqlite3.Connection) -> bool:
        self.forget()
        try:
            held = base.execute(
                "SELECT checksum, mtime, inode, looked, folders FROM seen WHERE tip = ?", (tip,)
            ).fetchone()
            rows = base.execute("SELECT path, mtime, inode FROM seen_folders").fetchall()
            if held is None or len(rows) != held[4]:
                return False
            checksum, mtime, inode, looked = (
                bytes(held[0]),
                int(held[1]),
                int(held[2]),
                int(held[3]),
            )
            folders = {
                f"{self._mem}/{os.fsdecode(path)}" if path else self._mem: (at, number)
                for path, at, number in rows
            }
        except (sqlite3.Error, TypeError, ValueError):  # no tables yet, or no sense in them
            return False
        self._tip = self._saved = tip
        self._mark, self._looked, self._folders = (checksum, mtime, inode), looked, folders
        self._unsaved = set()
        return True

    def _inside(self, folder: str) -> str:
        return folder[len(self._mem) + 1 :]

    def _now(self) -> int:
        """The time by the clock that stamps the folders, whose ticks may be long ones; 0 where
        there is no such clock, and then every folder is young."""
        path = os.path.join(self._mem, ".git", KERNEL_LOCK)
        with suppress(OSError):
            os.utime(path)
            return os.lstat(path).st_mtime_ns
        return 0

    def _touched(self, folder: str) -> None:
        try:
            at = os.lstat(folder)
        except OSError:
            if self._folders.pop(folder, None) is not None:
                self._unsaved.add(folder)
        else:
            if self._folders.get(folder) != (at.st_mtime_ns, at.st_ino & _NUMBER):
                self._set(folder, _ODD)

    def _set(self, folder: str, stamp: _Stamp) -> None:
        self._folders[folder] = stamp
        self._unsaved.add(folder)

    def _look_at(self, odd: list[str], now: int) -> bool:
        """Whether each folder of `odd`, and each in them that is not known, holds what git's index
        says. Raises OSError and ValueError where that cannot be seen."""
        if self._mem in odd:
            return False
        with gate.opened(self._index) as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
            while odd:
                folder = odd.pop()
                stamp = _stamp(folder, now)
                held = gitindex.folder(data, self._inside(folder))
                if held is None or not _is_like(folder, held):
                    return False
                self._set(folder, stamp)
                inner = (os.path.join(folder, os.fsdecode(name)) for name in held.folders)
                odd += [name for name in inner if name not in self._folders]
        return True


def _is_like(folder: str, held: gitindex.Folder) -> bool:
    files = folders = 0
    with os.scandir(os.fsencode(folder)) as found:
        for item in found:
            if item.is_dir(follow_symlinks=False):
                folders += 1
                if item.name not in held.folders:
                    return False
            else:
                files += 1
                kept = held.files.get(item.name)
                if kept is None or not _is_file(item, kept):
                    return False
    return files == len(held.files) and folders == len(held.folders)


def _is_file(item: os.DirEntry[bytes], kept: gitindex.Kept) -> bool:
    at = item.stat(follow_symlinks=False)
    executable = bool(at.st_mode & stat.S_IXUSR)
    if not stat.S_ISREG(at.st_mode) or kept.mode != (0o100755 if executable else 0o100644):
        return False
    if kept.flags & _SPECIAL:
        return False
    if (
        at.st_size & _SHORT == kept.size
        and at.st_ino & _SHORT == kept.inode
        and divmod(at.st_mtime_ns, 10**9) == (kept.mtime_s, kept.mtime_ns)
        and divmod(at.st_ctime_ns, 10**9) == (kept.ctime_s, kept.ctime_ns)
    ):
        return True
    data = gate.read(os.fsdecode(item.path), gate.LARGE)
    digest = hashlib.sha1(b"blob %d\0" % len(data), usedforsecurity=False)
    digest.update(data)
    return digest.digest() == kept.object_id


def _stamp(folder: str, now: int) -> _Stamp:
    """The stamp by which `folder`, looked at after `now`, is known again; none if it is as young
    as that, for what happens to it in the same tick will not show."""
    try:
        at = os.lstat(folder)
    except OSError:
        return _ODD
    return (at.st_mtime_ns, at.st_ino & _NUMBER) if at.st_mtime_ns < now else _ODD


def _mark(index: str) -> _Mark:
    """The index's own checksum, which tells its content without reading it, and which file that
    is: git may be told to leave the checksum out."""
    with suppress(OSError), gate.opened(index) as file:
        at = os.fstat(file.fileno())
        file.seek(-20, os.SEEK_END)
        return file.read(), at.st_mtime_ns, at.st_ino & _NUMBER
    return b"", 0, 0
