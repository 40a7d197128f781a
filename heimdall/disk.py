"""Looking at one path, and opening it to read: the one gate before every file of the user's.

Keeps `three-outcomes`: a path is present, gone or unreadable, and only the file system's own word
that there is no such entry makes it gone. Whatever else goes wrong (no permission, a stale mount,
an I/O error) is unreadable and retracts nothing. Opening never follows a link in the file's own
place and never waits for a FIFO's other end. What is done with the bytes is for
`heimdall.extract.read` and `heimdall.search.disk`; whether a directory above is a link or a mount
that vanished, for `heimdall.writer.ground`.
"""

import errno
import os
import stat as modes
from collections.abc import Callable

from heimdall.model import Observed, Presence, Stat

Lstat = Callable[[str], os.stat_result]

# ENAMETOOLONG: no such entry can exist. ELOOP is not here: a loop of links above the path may be a
# mount gone wrong, and the path may come back.
_GONE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG})

_MOST = (1 << 63) - 1

HUGE = 1 << 30
"""A file of more bytes than this (most are sparse) is named and never read."""

_READING = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

_KINDS = (
    (modes.S_ISLNK, "link"),
    (modes.S_ISDIR, "directory"),
    (modes.S_ISFIFO, "fifo"),
    (modes.S_ISSOCK, "socket"),
    (modes.S_ISCHR, "device"),
    (modes.S_ISBLK, "device"),
)


def observe(path: str, lstat: Lstat = os.lstat) -> Observed:
    """`path` as it is now: PRESENT with its `Stat` (and a reason where it is not a regular file),
    GONE, or UNREADABLE with `unreadable:<errno name>`."""
    try:
        status = lstat(path)
    except OSError as error:
        return refused(path, error)
    except ValueError:
        # A NUL or an unencodable character: the operating system cannot hold such a name.
        return Observed(path, Presence.GONE, None, "")
    return seen(path, status)


def seen(path: str, status: os.stat_result) -> Observed:
    """What a successful `lstat` says."""
    return Observed(path, Presence.PRESENT, stat_of(status), special(status.st_mode))


def stat_of(status: os.stat_result) -> Stat:
    """What is kept of a stat."""
    return Stat(*raw_stat(status))


def raw_stat(status: os.stat_result) -> tuple[int, int, int]:
    """The fields of a `Stat`. Anybody can set an mtime back, nobody a ctime, so the later of the
    two counts: it moves with every change of the bytes, unless the mtime lies in the future, and
    such a one is never believed. Cut to what a database can hold."""
    changed = max(status.st_mtime_ns, status.st_ctime_ns)
    return status.st_size, max(-_MOST, min(changed, _MOST)), status.st_ino & _MOST


def open_to_read(path: str) -> int:
    """A descriptor on `path` itself, a thing of any kind but a link: `fstat` it before reading.
    Raises OSError as `os.open` does, with ELOOP for a link."""
    return os.open(path, _READING)


def special(mode: int) -> str:
    """Why a thing of this mode is not a regular file; "" where it is one."""
    if modes.S_ISREG(mode):
        return ""
    return next((reason for test, reason in _KINDS if test(mode)), "special")


def refused(path: str, error: OSError) -> Observed:
    """What a failed look or read says."""
    if is_gone(error):
        return Observed(path, Presence.GONE, None, "")
    return Observed(path, Presence.UNREADABLE, None, unreadable(error))


def is_gone(error: OSError) -> bool:
    """Whether the file system says that there is no such entry."""
    return error.errno in _GONE


def unreadable(error: OSError) -> str:
    """The reason that stands in the journal for a path that could not be looked at."""
    return f"unreadable:{errno.errorcode.get(error.errno or 0, 'EIO')}"
