"""The main of one child process: jobs come in on standard input, results go out on standard output.

A child ends when its input ends. It leaves an interrupt to its parent, and an alarm ends it even
where the parent died and a grammar loops for ever. Nothing but frames is written to its output.
"""

import gc
import os
import signal
import sys

from heimdall.extract.read import extract
from heimdall.extract.wire import frame, pack, unframe
from heimdall.model import Depth

READY = "ready"
_PIECE = 1 << 16
_COLLECT_EVERY = 5000


def main() -> None:
    """Serve until the input ends; the one argument is the seconds after which a job is hopeless."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    patience_s = int(sys.argv[-1])
    # Neither facts nor what they are made from leaves circles behind, and looking for some among
    # all the words that are kept costs as much as parsing a hundred files.
    gc.disable()
    source, sink = 0, os.dup(1)
    os.dup2(2, 1)
    _send(sink, frame(READY))
    buffer = bytearray()
    served = 0
    while piece := os.read(source, _PIECE):
        buffer += piece
        while (job := unframe(buffer)) is not None:
            signal.alarm(patience_s)
            path, asked = job
            _send(sink, frame(pack(extract(path, Depth(asked)))))
            signal.alarm(0)
            served += 1
            if served % _COLLECT_EVERY == 0:
                gc.collect()


def _send(sink: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(sink, view) :]
