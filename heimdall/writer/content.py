"""The hash of a file's bytes, for an audit. Regular files only, never through a link, never
blocking; whatever the disk does is None."""

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
    with open(descriptor, "rb", buffering=0) as file:
        try:
            while data := file.read(_CHUNK):
                whole.update(data)
        except OSError:
            return None
    return whole.digest()


def _opened(path: str) -> int | None:
    try:
        descriptor = disk.open_to_read(path)
    except (OSError, ValueError):
        return None
    if modes.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    return None
