"""One writer at a time: a kernel lock for ourselves, and the lock file of the existing engine.

The kernel releases the first one with its process, so it can be neither stale nor stolen; it is
never unlinked. The second is a file that another engine judges by the pid inside, so it appears
whole (written aside, then linked) and is removed only while it is still ours. Taken in one order
(mutex, kernel, file) and released in the other. Readers come here never.
"""

import errno
import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

import portalocker

from gitmemo.errors import LockTimeout

ENGINE_LOCK = ".mem.gitmemo.lock"
KERNEL_LOCK = "gitmemo.lock"
PRIVATE = ".mem.gitmemo-tmp-"
_ASIDE = "gitmemo-lock.tmp"
_US = "gitmemo"
_POLL_S = 0.01
_READ_LIMIT = 65536
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EMLINK, errno.ENOSYS)
_mutexes: dict[str, threading.Lock] = {}
_mutexes_guard = threading.Lock()


class Holder(NamedTuple):
    """What a lock file says: `pid` None where it says nothing usable; `ours` if we wrote it."""

    pid: int | None
    host: str
    ours: bool
    token: str


class Met(NamedTuple):
    """A lock file as it was met: what it says, its inode, its age in seconds, its size."""

    holder: Holder
    inode: int
    age_s: float
    size: int


@contextmanager
def hold(root: str, git_dir: str | None, operation: str, *, timeout_s: float) -> Iterator[None]:
    """Hold the store of `root` alone; `git_dir` is `.mem/.git`, None while it does not exist.

    Raises LockTimeout after `timeout_s` seconds, OSError where a lock file cannot be made.
    """
    deadline = time.monotonic() + timeout_s
    mutex = _mutex(os.path.realpath(root))
    path = os.path.join(root, ENGINE_LOCK)
    if not mutex.acquire(timeout=timeout_s):
        raise LockTimeout(path, f"{os.getpid()}@{socket.gethostname()}", timeout_s)
    try:
        with _kernel(git_dir, path, deadline, timeout_s):
            token = _take_file(path, operation, deadline, timeout_s=timeout_s, git_dir=git_dir)
            try:
                yield
            finally:
                _drop_file(path, token)
    finally:
        mutex.release()


def is_stale(found: Met, *, host: str, alive: bool, alone: bool, timeout_s: float) -> bool:
    """Whether the process behind a lock file is certainly gone.

    `alone` tells that we hold the kernel lock: whoever of ours wrote the file has then ended. For
    files of the existing engine its own rule holds (same host, dead pid, old enough), and an empty
    file is one whose writer died between creating and filling it.
    """
    limit = max(10.0, 2 * timeout_s)
    holder = found.holder
    if holder.ours:
        return alone or (holder.host == host and not alive)
    if found.size == 0:
        return found.age_s > limit
    if holder.pid is None or holder.pid <= 1 or holder.host != host:
        return False
    return not alive and found.age_s > limit


def _mutex(key: str) -> threading.Lock:
    with _mutexes_guard:
        return _mutexes.setdefault(key, threading.Lock())


@contextmanager
def _kernel(
    git_dir: str | None, engine_path: str, deadline: float, timeout_s: float
) -> Iterator[None]:
    if git_dir is None:
        yield
        return
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
    # Opened once and never unlinked: a new inode under the same name would admit a second holder.
    path = os.path.join(git_dir, KERNEL_LOCK)
    while True:
        with os.fdopen(os.open(path, flags, 0o644), "r+b", buffering=0) as file:
            while not _try_kernel(file.fileno()):
                if time.monotonic() >= deadline:
                    holder = _look(engine_path)
                    raise LockTimeout(engine_path if holder else path, _named(holder), timeout_s)
                time.sleep(_POLL_S)
            if not _stands(path, file.fileno()):
                continue
            # Closing the only descriptor releases the lock, also when this process is killed.
            yield
            return


def _stands(path: str, descriptor: int) -> bool:
    """Whether the open lock file is the one that has the name. While we waited, a cleaner may have
    taken the store away and it may have come back: then this lock is one that nobody else asks for.
    """
    try:
        named, own = os.stat(path), os.fstat(descriptor)
    except FileNotFoundError:
        return False
    return (named.st_dev, named.st_ino) == (own.st_dev, own.st_ino)


def _try_kernel(descriptor: int) -> bool:
    try:
        portalocker.lock(descriptor, portalocker.LOCK_EX | portalocker.LOCK_NB)
    except portalocker.AlreadyLocked:
        return False
    return True


def _take_file(
    path: str, operation: str, deadline: float, *, timeout_s: float, git_dir: str | None
) -> str:
    token = os.urandom(16).hex()
    host = socket.gethostname()
    body = {
        "pid": os.getpid(),
        "host": host,
        "startedAt": time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime()),
        "operation": operation,
        "operationId": token,
        "engine": _US,
    }
    data = (json.dumps(body, indent=2) + "\n").encode()
    alone = git_dir is not None
    # Alone, the file aside has one name, and what a killed process left there is overwritten; a
    # founder has only a name of his own, which git is told to ignore.
    aside = os.path.join(git_dir, _ASIDE) if git_dir else private_name(os.path.dirname(path))
    while not _create_whole(path, data, aside):
        found = _look(path)
        if found is None:
            continue  # released between the attempt and the look
        alive = is_alive(found.holder.pid)
        if is_stale(found, host=host, alive=alive, alone=alone, timeout_s=timeout_s):
            _break(path, found, aside)
        elif time.monotonic() >= deadline:
            raise LockTimeout(path, _named(found), timeout_s)
        else:
            time.sleep(_POLL_S)
    return token


def private_name(root: str) -> str:
    """A name beside `.mem` that nobody else uses and that git is told to ignore."""
    return os.path.join(root, f"{PRIVATE}{os.getpid()}-{os.urandom(4).hex()}")


def _create_whole(path: str, data: bytes, aside: str) -> bool:
    """Make `path` appear with all its bytes at once; False if it exists already."""
    try:
        with open(aside, "wb") as file:
            file.write(data)
        os.link(aside, path)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        return _create_plain(path, data)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(aside)
    return True


def _create_plain(path: str, data: bytes) -> bool:
    """The same on a file system without hard links, where the name appears before the bytes."""
    try:
        with open(path, "xb") as file:
            file.write(data)
    except FileExistsError:
        return False
    return True


def _look(path: str) -> Met | None:
    """The lock file as it is now; None if there is none."""
    try:
        status = os.lstat(path)
        text = _read(path)
    except FileNotFoundError:
        return None
    return Met(_parse(text), status.st_ino, time.time() - status.st_mtime, status.st_size)


def _read(path: str) -> str:
    """What the lock file says; of what is no file, or not ours to read, that it says nothing."""
    try:
        # A link is not followed and a FIFO not waited for: neither was made by an engine.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with open(os.open(path, flags), encoding="utf-8", errors="replace") as file:
            return file.read(_READ_LIMIT)
    except FileNotFoundError:
        raise
    except OSError:
        return "unreadable"


def _parse(text: str) -> Holder:
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        return Holder(None, "", ours=False, token="")
    pid = body.get("pid")
    return Holder(
        pid if isinstance(pid, int) and not isinstance(pid, bool) else None,
        str(body.get("host", "")),
        ours=body.get("engine") == _US,
        token=str(body.get("operationId", "")),
    )


def _named(found: Met | None) -> str:
    if found is None or found.holder.pid is None:
        return "unknown"
    return f"{found.holder.pid}@{found.holder.host}"


def is_alive(pid: int | None) -> bool:
    """Whether a process has this id here; True where nobody can tell."""
    if pid is None or pid <= 0:
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _break(path: str, judged: Met, aside: str) -> None:
    """Remove the judged lock file and no other: between look and removal another may have come."""
    try:
        os.rename(path, aside)
    except FileNotFoundError:
        return
    if os.lstat(aside).st_ino != judged.inode:
        with suppress(FileExistsError):
            os.link(aside, path)
    os.unlink(aside)


def _drop_file(path: str, token: str) -> None:
    """Remove our lock file, unless someone broke it and holds his own by now. Where that fails the
    next of us, who holds the kernel lock, knows it for ours and removes it."""
    with suppress(OSError):
        found = _look(path)
        if found is not None and found.holder.token == token:
            os.unlink(path)
