"""The writer lock: `writer.lock` in the home, kernel-released, held by one process at a time.

Keeps `single-writer`: nothing opens the journal for writing but under `held`. The kernel drops the
lock when its holder dies, however it dies; the file's text (the holder's pid) is for people and is
never believed. The only importer of portalocker in this package.
"""

import contextlib
import os
import time
from collections.abc import Iterator

import portalocker

from heimdall.errors import IoRefused, WriterBusy

LOCK_NAME = "writer.lock"
_PAUSE_S = 0.05


@contextlib.contextmanager
def held(home: str, timeout_s: float) -> Iterator[None]:
    """Hold the writer lock of `home` (made 0700 if it is not there) while the body runs.

    Waits up to `timeout_s` seconds, then raises `WriterBusy` with the holder's pid as its text.
    `IoRefused` where the home or the file cannot be made.
    """
    path = os.path.join(home, LOCK_NAME)
    descriptor = _open(home, path)
    try:
        _acquire(descriptor, path, timeout_s)
        _sign(descriptor)
        # Closing the descriptor releases the lock; the file stays, because a lock on an unlinked
        # file would exclude nobody.
        yield
    finally:
        os.close(descriptor)


def _open(home: str, path: str) -> int:
    try:
        os.makedirs(home, mode=0o700, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise IoRefused(path, error.errno or 0, os.strerror(error.errno or 0)) from error


def _acquire(descriptor: int, path: str, timeout_s: float) -> None:
    started = time.monotonic()
    while True:
        try:
            portalocker.lock(descriptor, portalocker.LOCK_EX | portalocker.LOCK_NB)
        except portalocker.AlreadyLocked as error:
            waited = time.monotonic() - started
            if waited >= timeout_s:
                raise WriterBusy(path, _holder(descriptor), waited) from error
            time.sleep(min(_PAUSE_S, timeout_s - waited))
        except portalocker.LockException as error:
            raise IoRefused(path, 0, str(error)) from error
        else:
            return


def _sign(descriptor: int) -> None:
    """Leave our pid for whoever waits. A disk too full for ten bytes must not stop the writer."""
    with contextlib.suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)


def _holder(descriptor: int) -> str:
    try:
        return os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
    except OSError:
        return ""
