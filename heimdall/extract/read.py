"""One path in, all that the index wants of it out: the gate before every read.

Only regular files are opened, never through a link, never blocking, and what was read is known to
be what lies there: the file is looked at before, at and after the reading. Nothing here decides
what the journal does with the result, and whatever the disk does is a value, not an exception.
"""

import errno
import os
import stat as modes
from hashlib import sha256
from typing import NamedTuple

from heimdall.core.shape import shapes
from heimdall.core.sketch import sketch
from heimdall.disk import HUGE, observe, open_to_read, refused, stat_of
from heimdall.extract.facts import facts
from heimdall.extract.gates import as_utf8
from heimdall.model import Depth, Facts, Node, Observed, Presence, Stat
from heimdall.sinks.base import SinkDoc, project

IN_MEMORY = 64 << 20
"""Larger files are hashed piece by piece and known at depth `file` only."""

FOUND_BY_CONTENT = 256 << 10
"""Bytes of a file without a language (prose, data) up to which its words are searched."""

SKETCHED = 1 << 20
"""First bytes of a file that its sketch is made of."""

_PIECE = 1 << 20
_TRIES = 3


class Extracted(NamedTuple):
    """The result of one job. `digest` is the raw sha256 of the bytes, None where they were not
    read; `facts` and `doc` are None then too. `observed.reason` says why: link, directory, fifo,
    socket, device, `unreadable:<errno name>`, changing. `sketch` is what the file is told by when
    it moves, b"" for an empty or a huge one; `shapes` what its definitions
    are told by."""

    path: str
    observed: Observed
    digest: bytes | None
    facts: Facts | None
    doc: SinkDoc | None
    sketch: bytes = b""
    shapes: bytes = b""


class Content(NamedTuple):
    """A file as it was read: `data` is None where it was too large to keep, and with `digest` None
    nothing was read."""

    observed: Observed
    data: bytes | None
    digest: bytes | None


def extract(path: str, asked: Depth) -> Extracted:
    """Look at `path`, read it, and say what it holds, at most to the depth `asked`."""
    if asked <= Depth.PATH:
        return Extracted(path, observe(path), None, None, None)
    observed, data, digest = content(path)
    if digest is None:
        return Extracted(path, observed, None, None, None)
    found = _huge(path, digest) if data is None else facts(path, data, asked, digest)
    doc = project(path, found, _text(data, found))
    told = shapes(as_utf8(data), found.nodes) if data is not None and len(found.nodes) > 1 else b""
    return Extracted(path, observed, digest, found, doc, _sketch(data), told)


def unparsed(path: str, asked: Depth, reason: str) -> Extracted:
    """What can be said of a file that no child survived: its bytes, at depth `file`, with the
    reason. Nothing is parsed, so this is safe where `extract` was not."""
    observed, data, digest = content(path)
    if digest is None or asked <= Depth.PATH:
        return Extracted(path, observed, None, None, None)
    whole = _huge(path, digest) if data is None else facts(path, data, Depth.FILE, digest)
    found = whole._replace(reason=reason) if asked > Depth.FILE else whole
    doc = project(path, found, "")
    return Extracted(path, observed, digest, found, doc, _sketch(data))


def content(path: str) -> Content:
    """The bytes of a regular file that did not change while they were read; a file that changes
    again and again has the reason `changing`, and is to be tried later."""
    found = Content(observe(path), None, None)
    for _ in range(_TRIES):
        if found.observed.presence is not Presence.PRESENT or found.observed.reason:
            break
        if found.observed.stat is not None and found.observed.stat.size > HUGE:
            return Content(found.observed._replace(reason="huge"), None, None)
        found = _attempt(path, found.observed)
        if found.observed.reason != "changing":
            break
        found = found._replace(observed=observe(path))
    else:
        # It was looked at after the last try too: if it is gone by now, that is the answer.
        if found.observed.presence is Presence.PRESENT:
            return Content(found.observed._replace(reason="changing"), None, None)
    return found


def _attempt(path: str, before: Observed) -> Content:
    try:
        handle = open_to_read(path)
    except OSError as error:
        # A link put in the place of the file just looked at.
        moved = error.errno == errno.ELOOP
        seen = before._replace(reason="changing") if moved else refused(path, error)
        return Content(seen, None, None)
    try:
        data, digest, opened = _take(handle)
    except OSError as error:
        return Content(refused(path, error), None, None)
    finally:
        os.close(handle)
    after = observe(path)
    if after.presence is not Presence.PRESENT or after.reason:
        return Content(after, None, None)
    if digest is None or not (before.stat == opened == after.stat):
        return Content(before._replace(reason="changing"), None, None)
    return Content(after, data, digest)


def _take(handle: int) -> tuple[bytes | None, bytes | None, Stat]:
    """The bytes (None where too many) and their digest (None where the size was not kept)."""
    status = os.fstat(handle)
    if not modes.S_ISREG(status.st_mode):
        return None, None, stat_of(status)
    size = status.st_size
    if size <= IN_MEMORY:
        data = _read(handle, size)
        digest = sha256(data).digest() if len(data) == size else None
        return data, digest, stat_of(status)
    hashed = sha256()
    total = 0
    while total <= size and (piece := os.read(handle, _PIECE)):
        hashed.update(piece)
        total += len(piece)
    return None, hashed.digest() if total == size else None, stat_of(status)


def _read(handle: int, size: int) -> bytes:
    """`size` bytes, fewer where the file ends, one more where it grew: it is not followed."""
    data = os.read(handle, size + 1)
    while len(data) <= size and (piece := os.read(handle, size + 1 - len(data))):
        data += piece
    return data


def _huge(path: str, digest: bytes) -> Facts:
    name = path.rsplit("/", 1)[-1]
    node = Node("", "file", name, "", 1, 1, "", "", digest)
    return Facts(Depth.FILE, "", "huge", "", None, (node,), (), ())


def _sketch(data: bytes | None) -> bytes:
    """What the file is like, whatever it holds: pictures and lists are moved and edited too."""
    return b"" if data is None else sketch(data[:SKETCHED])


def _text(data: bytes | None, found: Facts) -> str:
    """The words by which a file is found: not those of binaries, bundles and large data."""
    if data is None or found.reason in ("binary", "generated", "minified", "huge"):
        return ""
    if not found.language and len(data) > FOUND_BY_CONTENT:
        return ""
    return as_utf8(data).decode("utf-8", "replace")
