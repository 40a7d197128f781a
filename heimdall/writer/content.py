"""The hash of a file's bytes, for an audit. Regular files only, never through a link, never
blocking, and only of one version: a file that was changed while it was read has none. Whatever the
disk does is None."""

import hashlib
import os
import stat as modes

from heimdall import disk

_CHUNK = 1 << 20


def digest_of(path: str) -> bytes | None:
    """The raw sha256 of the file's bytes now; None where it is no readable regular file."""
    descriptor = _opened(path)
    if descriptor is None:
        return None
    whole = hashlib.sha256()
    try:
        before = disk.stat_of(os.fstat(descriptor))
        left = before.size
        # Not past its end: a file may grow faster than it is read.
        while left >= 0 and (data := os.read(descriptor, min(_CHUNK, left + 1))):
            whole.update(data)
            left -= len(data)
        after = disk.stat_of(os.fstat(descriptor))
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return whole.digest() if not left and before == after else None


def _opened(path: str) -> int | None:
    try:
        descriptor = disk.open_to_read(path)
    except (OSError, ValueError):
        return None
    status = os.fstat(descriptor)
    if modes.S_ISREG(status.st_mode) and status.st_size <= disk.HUGE:
        return descriptor
    os.close(descriptor)
    return None
