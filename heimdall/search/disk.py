"""The disk as it is at this moment: the gate before every byte that a verdict rests on.

Only regular files are read, never through a link in their own place, never blocking on a FIFO; a
file beyond `KEPT` is hashed in pieces and its bytes are not kept. Every answer is a value: gone,
unreachable, something else, or the digest of what lies there. Nothing here writes, and nothing
believes a stat. Held by tests/heimdall/search/test_disk.py.
"""

import errno
import hashlib
import os
import stat as modes

from gitmemo.values import NamedTuple
from heimdall.disk import HUGE, is_gone, open_to_read, special, stat_of

KEPT = 4 * 1024 * 1024
"""Bytes up to which content is kept for a closer look; larger files are only hashed."""

_CHUNK = 1024 * 1024


class Seen(NamedTuple):
    """What is at a path. `there` is False where nothing is, None where the disk would not say;
    `why` then names the error, or says what is there instead of a regular file ("" for one).
    `digest` is the raw sha256 of a regular file's bytes, `data` those bytes where they are few."""

    there: bool | None
    why: str = ""
    digest: bytes | None = None
    data: bytes | None = None
    size: int = 0


def look(path: str, *, most: int | None = None) -> Seen:
    """Look at `path` and read it, if it is a regular file (of at most `most` bytes, where that is
    given: a larger one is there, and that is all that is said of it)."""
    try:
        status = os.lstat(path)
    except OSError as error:
        return _failed(path, error)
    except ValueError:
        return Seen(False)
    if not modes.S_ISREG(status.st_mode):
        return Seen(True, special(status.st_mode))
    if status.st_size > min(HUGE, status.st_size if most is None else most):
        # Of what nobody waits to have read, nothing is known, not even that it is lost.
        there = True if most is not None else None
        return Seen(there, "" if there else "huge", size=status.st_size)
    try:
        return _read(path)
    except OSError as error:
        return _failed(path, error)


def text_of(data: bytes) -> str | None:
    """Content as text; None where it is none. Broken UTF-8 is read around, UTF-16 by its mark."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace")
    if b"\0" in data[:8192]:
        return None
    return data.decode("utf-8", "replace")


def _read(path: str) -> Seen:
    """The bytes of what was a regular file a moment ago; it is asked again once it is open."""
    handle = open_to_read(path)
    try:
        before = os.fstat(handle)
        if not modes.S_ISREG(before.st_mode):
            return Seen(True, special(before.st_mode))
        digest, kept = hashlib.sha256(), []
        size = 0
        while chunk := os.read(handle, _CHUNK):
            digest.update(chunk)
            size += len(chunk)
            if size <= KEPT:
                kept.append(chunk)
        after = os.fstat(handle)
    finally:
        os.close(handle)
    if stat_of(before) != stat_of(after):
        # Half of one version and half of another prove nothing.
        return Seen(None, "changing")
    data = b"".join(kept) if size <= KEPT else None
    return Seen(True, "", digest.digest(), data, size)


def _failed(path: str, error: OSError) -> Seen:
    """Gone only by the file system's own word, and only where no dangling link stands above: behind
    one may be a disk that is not mounted."""
    code = error.errno or 0
    if code == errno.ELOOP and os.path.islink(path):
        return Seen(True, "link")
    if not is_gone(error):
        return Seen(None, errno.errorcode.get(code, "EIO"))
    above = os.path.dirname(path)
    while above not in ("/", "") and not os.path.lexists(above):
        above = os.path.dirname(above)
    if os.path.islink(above) and not os.path.exists(above):
        return Seen(None, "ENOENT")
    return Seen(False)
