"""Looking at one path: `lstat` and nothing else.

Keeps `three-outcomes`: a path is present, gone or unreadable, and only the file system's own word
that there is no such entry makes it gone. Whatever else goes wrong (no permission, a stale mount,
an I/O error) is unreadable and retracts nothing. Reading content is `heimdall.extract.read`'s;
whether a directory above is a link or a vanished mount is `heimdall.writer.ground`'s.
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
        return _failed(path, error)
    except ValueError:
        # A NUL or an unencodable character: the operating system cannot hold such a name.
        return Observed(path, Presence.GONE, None, "")
    return seen(path, status)


def seen(path: str, status: os.stat_result) -> Observed:
    """What a successful `lstat` says."""
    stat = Stat(status.st_size, status.st_mtime_ns, status.st_ino)
    return Observed(path, Presence.PRESENT, stat, special(status.st_mode))


def special(mode: int) -> str:
    """Why a thing of this mode is not a regular file; "" where it is one."""
    if modes.S_ISREG(mode):
        return ""
    return next((reason for test, reason in _KINDS if test(mode)), "special")


def _failed(path: str, error: OSError) -> Observed:
    if is_gone(error):
        return Observed(path, Presence.GONE, None, "")
    return Observed(path, Presence.UNREADABLE, None, unreadable(error))


def is_gone(error: OSError) -> bool:
    """Whether the file system says that there is no such entry."""
    return error.errno in _GONE


def unreadable(error: OSError) -> str:
    """The reason that stands in the journal for a path that could not be looked at."""
    return f"unreadable:{errno.errorcode.get(error.errno or 0, 'EIO')}"
