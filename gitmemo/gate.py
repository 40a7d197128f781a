"""Files opened by name, without trusting that a name names a file.

A store is a folder that anybody may have touched. In the place of a file there may be a FIFO, at
which a plain `open` waits for ever, a device, a folder, or gigabytes of nothing. All of gitmemo
opens here what it reads by name; only what it has just made itself may be opened elsewhere. Links
are followed, as git follows them (HEAD was one in old repositories). Standard library only: a
search comes through here. Tests: tests/gitmemo/test_gate.py, test_damaged.py.
"""

from __future__ import annotations

import errno
import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

TEXT = 64 << 20
"""More than any control file of git holds that is read whole: refs, settings, rules."""

LARGE = 1 << 30
"""More than any index, entry or table of a pack."""

_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC


def opened(path: str, limit: int = LARGE) -> BinaryIO:
    """The regular file `path` of at most `limit` bytes, open for reading; OSError for whatever
    else is there."""
    refuse_odd(path, limit)  # before it is opened: opening a device may do something
    return os.fdopen(_regular(os.open(path, _FLAGS), path), "rb")


def read(path: str, limit: int = TEXT) -> bytes:
    """All bytes of the regular file `path`; OSError as for `opened`."""
    with opened(path, limit) as file:
        return file.read(limit)


def refuse_odd(path: str, limit: int = LARGE) -> None:
    """Raise OSError where `path` is no regular file of at most `limit` bytes."""
    status = os.stat(path)
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "not a file", path)
    if status.st_size > limit:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), path)


def added(path: str) -> BinaryIO:
    """The file `path`, made if need be, open for adding at its end; OSError where that would mean
    to wait for somebody."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC
    return os.fdopen(_regular(os.open(path, flags, 0o666), path), "ab")


def _regular(descriptor: int, path: str) -> int:
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise OSError(errno.EINVAL, "not a file", path)
