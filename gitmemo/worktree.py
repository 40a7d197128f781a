"""The visible side of `.mem`: entry files, git's index file and the ref file of main.

Standard library only. Whatever needs room on the disk is written aside first (`write_aside`); what
then becomes visible does so by a link or a rename, whole and at once. Git's own protocol is kept:
index and ref are changed while `<file>.lock` exists. Our lock is a second name of the prepared
file, so after a kill it is known by its inode and no other program's lock is ever removed.
Tests: tests/gitmemo/test_worktree.py, tests/faults, tests/races.
"""

import errno
import os
import signal
import stat
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

from gitmemo import gate
from gitmemo.errors import IoRefused, LockTimeout

if sys.platform == "linux":
    import fcntl

MAIN = "refs/heads/main"
INDEX = "index"
_POLL_S = 0.01
_ENTRY_ASIDE = "gitmemo-entry.tmp"
_ASIDES = {INDEX: "gitmemo-index.tmp", MAIN: "gitmemo-ref.tmp"}
_SPARE = "gitmemo-index.old"
_LOG_ASIDE = "gitmemo-log.tmp"
REFLOG_LIMIT = 64 * 1024  # bytes; some 400 changes
_BLOCK = 65536
_NO_FILE = (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG)
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EMLINK, errno.ENOSYS)


@contextmanager
def refusals(path: str) -> Iterator[None]:
    """Turn what the machine refused (no room, no permission) into IoRefused."""
    try:
        yield
    except OSError as error:
        raise IoRefused(path, error.errno or 0, error.strerror or str(error)) from error


def write_aside(git_dir: str, name: str, *data: bytes | memoryview) -> str:
    """Write `data`, piece after piece, to the file `name` in `git_dir`, replacing it, down to the
    disk; its path."""
    path = os.path.join(git_dir, name)
    with suppress(FileNotFoundError):
        os.unlink(path)
    with open(path, "xb") as file:
        file.writelines(data)
        file.flush()
        os.fsync(file.fileno())
    return path


def add_file(mem: str, path: str, data: bytes) -> None:
    """Make the entry file `path` appear whole; FileExistsError if something is there."""
    target = os.path.join(mem, path)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    aside = write_aside(os.path.join(mem, ".git"), _ENTRY_ASIDE, data)
    _second_name(aside, target)
    os.unlink(aside)


def remove_file(mem: str, path: str) -> None:
    """Remove the entry file `path` if it exists, and the folders it leaves empty, as git does."""
    try:
        os.unlink(os.path.join(mem, path))
    except OSError as error:
        # A name that the disk cannot hold names no file, and must not keep a recovery from ending.
        if error.errno not in _NO_FILE:
            raise
    folder = os.path.dirname(path)
    while "/" in folder:
        try:
            os.rmdir(os.path.join(mem, folder))
        except OSError:  # not empty, or gone
            return
        folder = os.path.dirname(folder)


def restore_file(mem: str, path: str, data: bytes) -> None:
    """Make the entry file `path` hold `data`, whatever is there."""
    target = os.path.join(mem, path)
    with suppress(OSError):
        if gate.read(target) == data:
            return
    os.makedirs(os.path.dirname(target), exist_ok=True)
    os.replace(write_aside(os.path.join(mem, ".git"), _ENTRY_ASIDE, data), target)


def prepare(git_dir: str, name: str, *data: bytes | memoryview) -> None:
    """Write the next content of `name` (INDEX or MAIN), piece after piece, aside."""
    if name != INDEX or not _renewed(git_dir, data):
        write_aside(git_dir, _ASIDES[name], *data)


def _renewed(git_dir: str, data: Sequence[bytes | memoryview]) -> bool:
    """Make the index file before the present one, kept as a spare, hold `data` and stand aside;
    False where that cannot be.

    What stood in it is not believed: it is compared, and blocks that differ are written. Two
    indexes of a store differ in a block or two, so this writes and syncs as much at a hundred
    thousand entries as at a hundred. A file that has another name (that of the index itself, if
    a writer was killed in between) or that anybody still reads is never written to.
    """
    aside = os.path.join(git_dir, _ASIDES[INDEX])
    try:
        os.rename(os.path.join(git_dir, _SPARE), aside)
        descriptor = os.open(aside, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    with open(descriptor, "r+b", buffering=0):
        status = os.fstat(descriptor)
        if not (stat.S_ISREG(status.st_mode) and status.st_nlink == 1 and _unread(descriptor)):
            return False
        at = 0
        for piece in data:
            for start in range(0, len(piece), _BLOCK):
                block = bytes(piece[start : start + _BLOCK])
                if os.pread(descriptor, len(block), at) != block:
                    os.pwrite(descriptor, block, at)
                at += len(block)
        os.ftruncate(descriptor, at)
        os.fsync(descriptor)
    return True


def _unread(descriptor: int) -> bool:
    """Whether nobody else has the file open or mapped: only then the kernel gives a lease on it.
    Nobody can open it afterwards by the name of the index, which it has lost."""
    if sys.platform != "linux":  # no such lease elsewhere: there, every index is written whole
        return False
    try:
        # Whoever opened it by its own name in this moment would make the kernel send us a signal:
        # one that is ignored, and not the usual one, which ends a process.
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except OSError:
        return False
    return True


def swap(
    git_dir: str, name: str, *, timeout_s: float, guard: Callable[[], bool] = lambda: True
) -> bool:
    """Put the prepared file in the place of `name`; False, and nothing done, where `guard`, asked
    while git's lock is held, says no. Raises LockTimeout where another program holds that lock."""
    source = os.path.join(git_dir, _ASIDES[name])
    target = os.path.join(git_dir, name)
    lock = f"{target}.lock"
    _take(source, lock, timeout_s)
    if not guard():
        os.unlink(lock)
        os.unlink(source)
        return False
    if name == INDEX:
        _keep_spare(git_dir, target)
    os.replace(lock, target)
    os.unlink(source)
    if name == MAIN:  # from here on the change is a promise; before, the record is enough
        _sync_folder(os.path.dirname(target))
    return True


def _keep_spare(git_dir: str, index: str) -> None:
    """Keep the index that is about to be replaced under a second name, for `_renewed`."""
    spare = os.path.join(git_dir, _SPARE)
    with suppress(FileNotFoundError):
        os.unlink(spare)
    with suppress(OSError):  # no hard links here, or no index yet: then there is no spare
        os.link(index, spare)


def drop_spare(git_dir: str) -> None:
    """Remove the index before the present one: it names files that a purge has taken away."""
    with suppress(FileNotFoundError):
        os.unlink(os.path.join(git_dir, _SPARE))


def sweep(git_dir: str) -> None:
    """Remove what a killed process of ours left: prepared files, and the locks of git that are
    second names of them. Call with the store's lock held."""
    for aside in os.listdir(git_dir):
        if not (aside.startswith("gitmemo-") and aside.endswith(".tmp")):
            continue
        path = os.path.join(git_dir, aside)
        inode = _inode(path)
        for name, own in _ASIDES.items():
            lock = os.path.join(git_dir, f"{name}.lock")
            if aside == own and _inode(lock) == inode:
                os.unlink(lock)
        os.unlink(path)


def log_move(git_dir: str, line: str) -> None:
    """Add `line` to the reflogs of HEAD and main. They are a comfort: without room they stay, and
    what they say of long ago is in history too, so of a long one only the younger half is kept."""
    for name in ("HEAD", MAIN):
        path = os.path.join(git_dir, "logs", name)
        with suppress(OSError):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with gate.added(path) as file:
                file.write(line.encode())
                long = file.tell() > REFLOG_LIMIT
            if long:
                data = gate.read(path)
                younger = data[data.index(b"\n", len(data) // 2) + 1 :]
                os.replace(write_aside(git_dir, _LOG_ASIDE, younger), path)


def stats(mem: str, path: str) -> Mapping[str, int]:
    """The numbers of an entry file that git's index keeps."""
    status = os.lstat(os.path.join(mem, path))
    return {
        "ctime_ns": status.st_ctime_ns,
        "mtime_ns": status.st_mtime_ns,
        "dev": status.st_dev,
        "inode": status.st_ino,
        "uid": status.st_uid,
        "gid": status.st_gid,
        "size": status.st_size,
    }


def _take(source: str, lock: str, timeout_s: float) -> None:
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            _second_name(source, lock)
        except FileExistsError:
            if time.monotonic() >= deadline:
                raise LockTimeout(lock, "unknown", timeout_s) from None
            time.sleep(_POLL_S)
        else:
            return


def _second_name(source: str, target: str) -> None:
    """Give `source` the second name `target`, which must not exist; where the file system has no
    hard links, write its bytes under it instead."""
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        with open(source, "rb") as prepared, open(target, "xb") as file:
            file.write(prepared.read())


def _sync_folder(folder: str) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _inode(path: str) -> int | None:
    try:
        return os.lstat(path).st_ino
    except OSError:
        return None
