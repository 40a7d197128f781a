"""One writer at a time: a kernel lock for ourselves, and the lock file of the existing engine.

The kernel releases the first one with its process, so it can be neither stale nor stolen; it is
never unlinked. The second is a file that another engine judges by the pid inside, so it appears
whole (written aside, then linked) and is removed only while it is still ours. Taken in one order
(mutex, kernel, file) and released in the other. Readers come here never.

A process is not its number: a number is given again. Whether a holder is over is asked of the
process table, with the moment at which the lock was written (`has_ended`), and `is_stale` is the
pure table of what follows. docs/format.md "Locks", docs/decisions/0015, tests/gitmemo/test_lock.py.
"""

import errno
import json
import os
import socket
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
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
_BIRTH_S = 60.0
"""By how much younger than a lock a process must be to be certainly another: the clocks of a file
server and of the process table are two, and what a doubt costs is a wait."""
_FRESH_S = 10.0
# EXDEV: `.mem` itself is a mount, and what is prepared in it lies on another disk than the lock.
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EMLINK, errno.ENOSYS, errno.EXDEV)
_mutexes: dict[str, threading.Lock] = {}
# A child of a fork has none of the threads that could release these.
os.register_at_fork(after_in_child=_mutexes.clear)


class Holder(NamedTuple):
    """What a lock file says: `pid` None where it says nothing usable; `ours` if we wrote it;
    `since` as it is written there, "" where nothing is."""

    pid: int | None
    host: str
    ours: bool
    token: str
    since: str = ""


class Met(NamedTuple):
    """A lock file as it was met: what it says, its inode, when it was written (seconds since 1970),
    its age (negative where the clock has been set back since), whether it is a file of no bytes."""

    holder: Holder
    inode: int
    written_s: float
    age_s: float
    empty: bool


@contextmanager
def hold(root: str, git_dir: str | None, operation: str, *, timeout_s: float) -> Iterator[None]:
    """Hold the store of `root` alone; `git_dir` is `.mem/.git`, None while it does not exist.

    Raises LockTimeout after `timeout_s` seconds, OSError where a lock file cannot be made.
    """
    deadline = time.monotonic() + timeout_s
    mutex = _mutex(os.path.realpath(root))
    path = os.path.join(root, ENGINE_LOCK)
    if not mutex.acquire(timeout=timeout_s):
        raise _timeout(path, _look(path), timeout_s)
    try:
        with _kernel(git_dir, path, deadline, timeout_s) as alone:
            own = git_dir if alone else None
            token = _take_file(path, operation, deadline, timeout_s=timeout_s, git_dir=own)
            try:
                yield
            finally:
                _drop_file(path, token)
    finally:
        mutex.release()


def is_stale(found: Met, *, host: str, ended: bool, alone: bool, timeout_s: float) -> bool:
    """Whether the process behind a lock file is certainly gone.

    `ended` is what the process table of `host` says of the holder. `alone` tells that we hold the
    kernel lock: whoever of ours wrote the file has then ended. For files of the existing engine its
    own rule holds (same host, ended, old enough), and an empty file is one whose writer died
    between creating and filling it. A file from the future is as little fresh as an old one.
    """
    holder = found.holder
    if holder.ours and alone:
        return True
    settled = abs(found.age_s) > max(_FRESH_S, 2 * timeout_s)
    if found.empty:
        return settled
    if holder.pid is None or holder.pid < 1 or holder.host != host:
        return False
    return ended and (settled or holder.ours)


def has_ended(pid: int | None, since_s: float) -> bool:
    """Whether the process that had the number `pid` at `since_s` (seconds since 1970) is over:
    nobody has the number, or a zombie, or somebody who was born later. False in any doubt."""
    if pid is None or pid < 1:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass  # somebody else's; its birth is public all the same
    except OverflowError:
        return False
    import psutil  # noqa: PLC0415 # only who waits for a living number asks for its birth

    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return True
        return bool(process.create_time() > since_s + _BIRTH_S)
    except (psutil.Error, OSError):
        return False


def _mutex(key: str) -> threading.Lock:
    return _mutexes.setdefault(key, threading.Lock())  # one step of the interpreter


@contextmanager
def _kernel(
    git_dir: str | None, engine_path: str, deadline: float, timeout_s: float
) -> Iterator[bool]:
    """Hold the kernel's lock; False where there is none to hold: no store yet, or a file system
    that knows no such locks, where the engine's file alone stands between two writers."""
    if git_dir is None:
        yield False
        return
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
    # Opened once and never unlinked: a new inode under the same name would admit a second holder.
    path = os.path.join(git_dir, KERNEL_LOCK)
    while True:
        with os.fdopen(os.open(path, flags, 0o644), "r+b", buffering=0) as file:
            try:
                if not (_try_kernel(file.fileno()) or _queue(file.fileno(), deadline)):
                    found = _look(engine_path)
                    raise _timeout(engine_path if found else path, found, timeout_s)
            except portalocker.LockException:
                yield False
                return
            try:
                if not _stands(path, file.fileno()):
                    continue
                yield True
                return
            finally:
                # Said aloud, because a child that was forked meanwhile has the descriptor too. A
                # killed process releases it by ending.
                portalocker.unlock(file.fileno())


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


def _queue(descriptor: int, deadline: float) -> bool:
    """Wait for the kernel lock until `deadline`, in the kernel's own queue: by asking again and
    again whoever has just let go is the first to ask, and of forty writers some starve."""
    twin = os.dup(descriptor)
    guard, granted = threading.Lock(), threading.Event()
    gave_up, failed = False, list[portalocker.LockException]()

    def wait() -> None:
        try:
            portalocker.lock(twin, portalocker.LOCK_EX)
        except portalocker.LockException as error:
            failed.append(error)
        with guard:
            if gave_up and not failed:
                portalocker.unlock(twin)
            granted.set()
        os.close(twin)

    # Nothing can call back a thread that waits there; it lets go of what it gets too late.
    threading.Thread(target=wait, daemon=True).start()
    try:
        granted.wait(max(0.0, deadline - time.monotonic()))
    finally:
        with guard:
            gave_up = not granted.is_set()
    if failed:
        raise failed[0]
    return not gave_up


def _take_file(
    path: str, operation: str, deadline: float, *, timeout_s: float, git_dir: str | None
) -> str:
    token = os.urandom(16).hex()
    host = socket.gethostname()
    body = {
        "pid": os.getpid(),
        "host": host,
        "startedAt": _iso(time.time()),
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
        holder = found.holder
        known = alone and holder.ours  # as a dead one's: its process need not be looked for
        ended = not known and holder.host == host and has_ended(holder.pid, found.written_s)
        if is_stale(found, host=host, ended=ended, alone=alone, timeout_s=timeout_s):
            _break(path, found, aside)
        elif time.monotonic() >= deadline:
            raise _timeout(path, found, timeout_s)
        else:
            time.sleep(_POLL_S)
    return token


def private_name(root: str) -> str:
    """A name beside `.mem` that nobody else uses and that git is told to ignore."""
    return os.path.join(root, f"{PRIVATE}{os.getpid()}-{os.urandom(4).hex()}")


def _create_whole(path: str, data: bytes, aside: str) -> bool:
    """Make `path` appear with all its bytes at once; False if it exists already."""
    try:
        with suppress(FileNotFoundError):
            os.unlink(aside)
        with open(aside, "xb") as file:
            file.write(data)
        os.link(aside, path)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        return _create_plain(path, data)
    finally:
        with suppress(OSError):  # a lock that was taken must not be lost by what only tidies up
            os.unlink(aside)
    return True


def _create_plain(path: str, data: bytes) -> bool:
    """The same on a file system without hard links, where the name appears before the bytes."""
    try:
        with open(path, "xb", buffering=0) as file:
            try:
                file.write(data)
            except OSError:  # no room: an empty lock would be waited for
                os.unlink(path)
                raise
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
    holder = _parse(text)
    empty = stat.S_ISREG(status.st_mode) and status.st_size == 0
    # Two clocks tell when it was written, and the later one accuses nobody of being too young.
    written_s = max(status.st_mtime, _seconds(holder.since))
    return Met(holder, status.st_ino, written_s, time.time() - status.st_mtime, empty)


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
        since=str(body.get("startedAt", "")),
    )


def _timeout(path: str, found: Met | None, waited_s: float) -> LockTimeout:
    if found is None:
        return LockTimeout(path, "unknown", waited_s)
    holder = found.holder
    named = "unknown" if holder.pid is None else f"{holder.pid}@{holder.host}"
    return LockTimeout(path, named, waited_s, holder.since or _iso(found.written_s))


def _iso(seconds: float) -> str:
    moment = datetime.fromtimestamp(0, UTC) + timedelta(seconds=seconds)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03}Z"


def _seconds(date: str) -> float:
    """The seconds since 1970 of an ISO date; 0 where it is none."""
    try:
        return datetime.fromisoformat(date).timestamp()
    except (ValueError, OverflowError, OSError):
        return 0.0


def _break(path: str, judged: Met, aside: str) -> None:
    """Remove the judged lock file and no other: between look and removal another may have come."""
    try:
        os.rename(path, aside)
    except FileNotFoundError:
        return
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        aside = private_name(os.path.dirname(path))
        os.rename(path, aside)
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
