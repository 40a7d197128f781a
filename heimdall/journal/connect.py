"""Opening the journal to read it, without changing a byte on the disk.

A WAL database cannot be opened plainly by a reader that must leave no trace: SQLite would lay down
`-wal` and `-shm` beside it. So where no `-wal` waits, the file is opened `immutable`, and whoever
reads asks `changed` afterwards whether the answer may be believed; where one waits (a writer is at
work, or was killed), it is opened `mode=ro`, which takes part in the locking. On a disk that allows
not even that, `immutable` shows the last checkpoint.
Held by tests/heimdall/journal/test_connect.py.
"""

import errno
import os
import sqlite3
import stat as modes

from gitmemo.values import NamedTuple
from heimdall.errors import DamagedJournal, IoRefused, NewerJournal, NoJournal
from heimdall.journal import schema, sql

BUSY_MS = 5000
"""How long a reader waits for a checkpoint, and a writer for a reader."""

_MAGIC = b"SQLite format 3\0"
_HEADER = 100


_ERRNO = {
    sqlite3.SQLITE_PERM: errno.EACCES,
    sqlite3.SQLITE_BUSY: errno.EBUSY,
    sqlite3.SQLITE_LOCKED: errno.EBUSY,
    sqlite3.SQLITE_READONLY: errno.EROFS,
    sqlite3.SQLITE_IOERR: errno.EIO,
    sqlite3.SQLITE_FULL: errno.ENOSPC,
    sqlite3.SQLITE_CANTOPEN: errno.EACCES,
    sqlite3.SQLITE_NOMEM: errno.ENOMEM,
    sqlite3.SQLITE_PROTOCOL: errno.EBUSY,
}


def refused(path: str, error: sqlite3.OperationalError) -> IoRefused:
    """SQLite's refusal as the system's own: its primary result code as an errno (0: none fits)."""
    code = getattr(error, "sqlite_errorcode", 0)
    return IoRefused(path, _ERRNO.get(code & 0xFF, 0), str(error))


def told(path: str, error: sqlite3.Error) -> DamagedJournal | IoRefused:
    """By whose fault SQLite complains: the machine's, or else the file is not what it was."""
    if getattr(error, "sqlite_errorcode", 0) & 0xFF in _ERRNO:
        return IoRefused(path, _ERRNO[error.sqlite_errorcode & 0xFF], str(error))
    return DamagedJournal(path, str(error))


def sound(connection: sqlite3.Connection) -> bool:
    """Whether every page is what it must be, and the tables are this version's. Reads it all."""
    try:
        whole = connection.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok"
        return whole and _tables(connection) == _expected()
    except sqlite3.DatabaseError:
        return False


def _tables(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    return sorted(connection.execute(sql.TABLES).fetchall())


def _expected() -> list[tuple[str, str]]:
    empty = sqlite3.connect(":memory:")
    try:
        empty.executescript(schema.TABLES)
        return _tables(empty)
    finally:
        empty.close()


class Seen(NamedTuple):
    """What tells one state of the file from another."""

    mtime_ns: int
    size: int
    inode: int
    wal: int


class Opened(NamedTuple):
    """A connection; `seen` is what to compare with later, None where SQLite's own locks guard."""

    connection: sqlite3.Connection
    seen: Seen | None


def look(path: str) -> Seen:
    """The state of the file at `path` now; raises NoJournal where there is nothing, DamagedJournal
    where there is no file."""
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NoJournal(path) from error
    except OSError as error:
        raise IoRefused(path, error.errno or 0, "stat") from error
    if not modes.S_ISREG(found.st_mode):
        # A pipe would never be opened, and never read to its end.
        raise DamagedJournal(path, "no regular file")
    if not found.st_size and not _size(path + "-wal"):
        raise NoJournal(path)
    return Seen(found.st_mtime_ns, found.st_size, found.st_ino, _size(path + "-wal"))


def changed(path: str, seen: Seen | None) -> bool:
    """Whether what was read under `seen` may have been torn or is out of date."""
    if seen is None:
        return False
    try:
        return look(path) != seen
    except NoJournal:
        return True


def open_for_reading(path: str) -> Opened:
    """A connection that reads. Raises NoJournal, NewerJournal, DamagedJournal, IoRefused."""
    seen = look(path)
    if not seen.wal:
        require_whole(path, seen.size)
        return Opened(_checked(path, "immutable=1"), seen)
    try:
        return Opened(_checked(path, "mode=ro"), None)
    except sqlite3.OperationalError:
        # The disk forbids the `-shm` that reading a WAL needs: the last checkpoint must do.
        return Opened(_checked(path, "mode=ro&immutable=1"), None)


def version(connection: sqlite3.Connection, path: str) -> int:
    """The journal's version, 0 for one without tables. Raises NewerJournal, DamagedJournal."""
    found: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if found > schema.SCHEMA_VERSION:
        raise NewerJournal(path, str(found))
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if bool(tables) != bool(found):
        raise DamagedJournal(path, "tables without a version")
    return found


def uri(path: str, query: str) -> str:
    """A file name as SQLite's URI; a name may hold every character that means something there."""
    for character in "%?#":
        path = path.replace(character, f"%{ord(character):02x}")
    return f"file:{path}?{query}"


def _checked(path: str, query: str) -> sqlite3.Connection:
    """Connect and prove that it is a journal of ours; OperationalError is left to the caller."""
    connection = sqlite3.connect(
        uri(path, query), uri=True, isolation_level=None, timeout=BUSY_MS / 1000
    )
    try:
        connection.execute("PRAGMA query_only=1")
        found = version(connection, path)
    except sqlite3.OperationalError:
        connection.close()
        raise
    except sqlite3.DatabaseError as error:
        connection.close()
        raise DamagedJournal(path, str(error)) from error
    except (NewerJournal, DamagedJournal):
        connection.close()
        raise
    if found != schema.SCHEMA_VERSION:
        # An older one holds nothing that this version can read; the next writer makes it anew.
        connection.close()
        raise NoJournal(path, str(found or ""))
    return connection


def require_whole(path: str, size: int) -> None:
    """Raise DamagedJournal where the file is not SQLite or shorter than its own header says."""
    try:
        with open(path, "rb") as file:
            head = file.read(_HEADER)
    except OSError as error:
        raise IoRefused(path, error.errno or 0, "read") from error
    if len(head) < _HEADER or not head.startswith(_MAGIC):
        raise DamagedJournal(path, "not SQLite")
    page = int.from_bytes(head[16:18], "big")
    page = 65536 if page == 1 else page
    if page * int.from_bytes(head[28:32], "big") > size:
        raise DamagedJournal(path, "truncated")


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
