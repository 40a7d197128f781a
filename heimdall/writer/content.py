"""The bytes of a file for the writer's own purposes: their hash for an audit, their sketch for
moves. Regular files only, never through a link, never blocking; whatever the disk does is None."""

import hashlib
import os
import stat as modes

from heimdall.core.sketch import sketch

_CHUNK = 1 << 20
_SKETCHED = 1 << 20


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


def sketch_of(path: str) -> bytes:
    """The similarity sketch of the file's first MiB; b"" where it cannot be read."""
    descriptor = _opened(path)
    if descriptor is None:
        return b""
    with open(descriptor, "rb", buffering=0) as file:
        try:
            return sketch(file.read(_SKETCHED))
        except OSError:
            return b""


def _opened(path: str) -> int | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    if modes.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    return None
