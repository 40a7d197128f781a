"""What lies around a store: the code repository, other stores, locks, leftovers, the machine.

Each function is one check: it looks, touches nothing, and gives the findings that it has; nothing
found means that all is well. Nothing is opened that could make the reader wait. Never here: what is
inside the store's history, words. Tests: tests/gitmemo/test_checkup.py.
"""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator

from gitmemo import founding, lock
from gitmemo.anatomy import kind, small_text
from gitmemo.model import Finding, Health, Identity, Subject
from gitmemo.place import STORE_DIR, exclude_file, git_dir_of, locate

ROOM = 64 << 20
"""Bytes that should be free: a write needs a few thousand, packing as much as the store holds."""

AT_WORK_S = 60.0
"""For so long a lock file of git may belong to a git at work."""

_ASK_S = 10.0
_GIT_PLACES = frozenset({"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE"})
_MIGRATION = f"{STORE_DIR}.gitmemo-migration.json"
_OLD = f"{STORE_DIR}.gitmemo-old-"
_NO_LINKS = frozenset({"vfat", "msdos", "exfat", "vboxsf", "fuse.s3fs"})
_MOUNTS = "/proc/self/mounts"
_OCTAL = re.compile(r"\\([0-7]{3})")


def _found(check: str, state: Health, fault: str, *subjects: Subject) -> Finding:
    return Finding(check, state, fault, subjects)


# -- the code repository around the store ----------------------------------------------------------


def project(root: str) -> Iterator[Finding]:
    """Which project and which store this is about; whether git is there to hide the store from."""
    subjects = (Subject(root), Subject(os.path.join(root, STORE_DIR)))
    git_dir = git_dir_of(root)
    yield Finding("project", Health.OK, "here" if git_dir else "no-git", subjects)


def worktrees(root: str) -> Iterator[Finding]:
    """Linked worktrees of the project that have a store of their own."""
    place = locate(root)
    if place is None or place.common_dir is None:
        return
    strays = []
    if place.worktree and place.store_root != place.root:
        strays.append(Subject(os.path.join(root, STORE_DIR)))
    listed = os.path.join(place.common_dir, "worktrees")
    for name in sorted(os.listdir(listed)) if kind(listed) == "folder" else ():
        dot_git = (small_text(os.path.join(listed, name, "gitdir")) or "").strip()
        store = os.path.join(os.path.dirname(dot_git), STORE_DIR)
        if dot_git and kind(store) != "absent" and not _same(store, os.path.join(root, STORE_DIR)):
            strays.append(Subject(store))
    if strays:
        yield Finding("worktrees", Health.WARN, "second-store", tuple(dict.fromkeys(strays)))


def tracked(root: str) -> Iterator[Finding]:
    """Whether the code repository tracks anything under `.mem`."""
    path = founding.tracked(root) if _has_parent(root) else None
    if path is not None:
        yield _found("tracked", Health.FAIL, "tracked", Subject(path))


def exclude(root: str) -> Iterator[Finding]:
    """The lines that keep the store and what lies beside it out of the code repository."""
    place = locate(root)
    path = None if place is None else exclude_file(place)
    if path is None:
        return
    lines = (small_text(path) or "").splitlines()
    missing = [Subject(path, note=line) for line in founding.EXCLUDED if line not in lines]
    if missing:
        yield Finding("exclude", Health.WARN, "lines-missing", tuple(missing))


def ignored(root: str) -> Iterator[Finding]:
    """Whether `git add -A` in the project would take the store in, whatever the rules say. Git is
    asked: the library overlooks a rule such as `!.mem` that undoes one of another file."""
    if not _has_parent(root) or founding.tracked(root) is not None:
        return
    command = ["git", "-C", root, "check-ignore", "-q", "--no-index", f"{STORE_DIR}/"]
    # Inside a hook these would lead git to another repository than the one that is asked about.
    calm = {name: value for name, value in os.environ.items() if name not in _GIT_PLACES}
    try:
        said = subprocess.run(command, capture_output=True, timeout=_ASK_S, env=calm, check=False)
    except (OSError, subprocess.SubprocessError):
        yield _found("ignored", Health.SKIP, "no-answer")
        return
    if said.returncode == 1:
        yield _found("ignored", Health.WARN, "not-ignored", Subject(STORE_DIR))
    elif said.returncode:
        yield _found("ignored", Health.SKIP, "no-answer")


def _has_parent(root: str) -> bool:
    """Whether the project's own git repository can be opened without waiting for anything."""
    git_dir = git_dir_of(root)
    if git_dir is None:
        return False
    kinds = {kind(os.path.join(git_dir, name)) for name in ("HEAD", "config", "index")}
    return kinds <= {"file", "absent"}


def _same(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


# -- locks and leftovers ---------------------------------------------------------------------------


def at_work(root: str) -> str | None:
    """`pid@host` of the living process that holds the store; None where none is known to."""
    holder = _holder(root)
    if holder is None or holder[0] is None or _has_ended(root, holder[0]):
        return None
    return f"{holder[0]}@{holder[1]}" if holder[1] == os.uname().nodename else None


def locked(root: str, mem: str) -> Iterator[Finding]:
    """The lock files of writers: of a living one, or left behind."""
    kernel = os.path.join(mem, ".git", lock.KERNEL_LOCK)
    if kind(kernel) not in ("file", "absent"):
        yield _found("lock", Health.FAIL, "not-a-file", Subject(kernel))
    path = os.path.join(root, lock.ENGINE_LOCK)
    holder = _holder(root)
    if holder is None:
        return
    pid, host = holder
    if pid is None:
        yield _found("lock", Health.WARN, "nobodys", Subject(path))
    elif host != os.uname().nodename:
        yield _found("lock", Health.WARN, "elsewhere", Subject(path, note=f"{pid}@{host}"))
    elif not _has_ended(root, pid):
        yield _found("lock", Health.OK, "held", Subject(path, note=f"{pid}@{host}"))
    else:
        yield _found("lock", Health.WARN, "stale", Subject(path, note=f"{pid}@{host}"))


def _has_ended(root: str, pid: int) -> bool:
    """Whether the process that wrote the lock file beside the store is over."""
    try:
        since_s = os.lstat(os.path.join(root, lock.ENGINE_LOCK)).st_mtime
    except OSError:
        return True
    return lock.has_ended(pid, since_s)


def _holder(root: str) -> tuple[int | None, str] | None:
    """Process and host that the lock file beside the store names; None where there is no file."""
    path = os.path.join(root, lock.ENGINE_LOCK)
    if kind(path) == "absent":
        return None
    try:
        body = json.loads(small_text(path) or "")
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        return None, ""
    pid = body.get("pid")
    usable = isinstance(pid, int) and not isinstance(pid, bool) and 1 < pid < 1 << 31
    return pid if usable else None, str(body.get("host", ""))


def git_locks(mem: str, *, now_s: float) -> Iterator[Finding]:
    """Lock files of git inside the store, and whose they are: one that shares its inode with a
    prepared file of ours was left by a writer of ours."""
    git_dir = os.path.join(mem, ".git")
    ours = {
        os.lstat(os.path.join(git_dir, name)).st_ino
        for name in os.listdir(git_dir)
        if name.startswith("gitmemo-") and name.endswith(".tmp")
    }
    left: dict[str, list[Subject]] = {}
    for folder in ("", "refs/heads"):
        where = os.path.join(git_dir, folder)
        names = sorted(os.listdir(where)) if kind(where) == "folder" else []
        for name in names:
            path = os.path.join(folder, name)
            if name.endswith(".lock") and path != lock.KERNEL_LOCK:
                status = os.lstat(os.path.join(git_dir, path))
                age_s = max(0, int(now_s - status.st_mtime))
                fault = "ours" if status.st_ino in ours else "left" if age_s > AT_WORK_S else "git"
                left.setdefault(fault, []).append(Subject(f".git/{path}", note=f"{age_s} s"))
    states = {"ours": Health.WARN, "left": Health.FAIL, "git": Health.OK}
    for fault, subjects in left.items():
        yield Finding("git-locks", states[fault], fault, tuple(subjects))


def leftovers(root: str, mem: str) -> Iterator[Finding]:
    """Prepared files of killed writers, and stores that were half made, moved away or half swapped.
    Those of living processes do not count."""
    git_dir = os.path.join(mem, ".git")
    names = sorted(os.listdir(git_dir)) if kind(git_dir) == "folder" else []
    temporary = [n for n in names if n.startswith("gitmemo-") and n.endswith(".tmp")]
    if temporary and at_work(root) is None:
        subjects = tuple(Subject(f".git/{name}") for name in temporary)
        yield Finding("leftovers", Health.WARN, "temporary", subjects)
    beside: dict[str, list[Subject]] = {}
    for name in sorted(os.listdir(root)):
        fault = "migration" if name == _MIGRATION else "old" if name.startswith(_OLD) else ""
        if name.startswith(lock.PRIVATE):
            pid = name.removeprefix(lock.PRIVATE).partition("-")[0]
            since_s = os.lstat(os.path.join(root, name)).st_mtime
            numbered = pid.isdecimal() and 1 < int(pid) < 1 << 31
            living = numbered and not lock.has_ended(int(pid), since_s)
            fault = "" if living else "half-made"
        if fault:
            beside.setdefault(fault, []).append(Subject(name))
    for fault, found in beside.items():
        yield Finding("leftovers", Health.WARN, fault, tuple(found))


# -- the machine -----------------------------------------------------------------------------------


def writable(root: str, mem: str) -> Iterator[Finding]:
    """Whether this user could write here, asked of the machine and not tried."""
    git_dir = os.path.join(mem, ".git")
    wanted = (root, mem, git_dir, *(os.path.join(git_dir, n) for n in ("objects", "refs/heads")))
    refused = [path for path in wanted if os.path.lexists(path) and not os.access(path, os.W_OK)]
    if refused:
        subjects = tuple(map(Subject, refused))
        yield Finding("writable", Health.WARN, "read-only", subjects)


def room(mem: str) -> Iterator[Finding]:
    """Whether the disk has room for a write."""
    disk = os.statvfs(mem)
    free = disk.f_bavail * disk.f_frsize
    if free < ROOM:
        yield _found("room", Health.WARN, "little-room", Subject(mem, note=str(free)))
    if disk.f_files and not disk.f_favail:
        yield _found("room", Health.WARN, "no-inodes", Subject(mem))


def clock(newest_s: int, now_s: float) -> Iterator[Finding]:
    """Whether the clock stands before the newest commit."""
    if now_s < newest_s:
        yield _found("clock", Health.WARN, "behind", Subject(note=str(int(newest_s - now_s))))


def identity(root: str, mem: str, given: Identity | None) -> Iterator[Finding]:
    """Whom commits would name."""
    who = given or founding.identity_at(os.path.join(mem, ".git"), root)
    fault = "built-in" if who == founding.BUILT_IN else "named"
    yield _found("identity", Health.OK, fault, Subject(note=f"{who.name} <{who.email}>"))


def git_program() -> Iterator[Finding]:
    """Whether git itself is there: it names the committer, and people and pulls need it."""
    if shutil.which("git") is None:
        yield _found("git-program", Health.WARN, "absent")


def hard_links(mem: str, mounts: str | None = None) -> Iterator[Finding]:
    """Whether the file system is of a kind that has no hard links: there a file's name appears
    before its bytes, so a reader may meet it half. `mounts` is the kernel's list, read if None."""
    text = mounts if mounts is not None else _mounts()
    form = file_system(os.path.realpath(mem), text)
    if form in _NO_LINKS:
        yield _found("hard-links", Health.WARN, "none", Subject(mem, note=form))


def _mounts() -> str:
    try:
        with open(_MOUNTS, encoding="utf-8", errors="surrogateescape") as file:
            return file.read()
    except OSError:
        return ""


def file_system(path: str, mounts: str) -> str:
    """The kind of the file system that holds `path`, by the longest mount point; "" if unknown."""
    best, form = "", ""
    for line in mounts.splitlines():
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        point = _OCTAL.sub(lambda found: chr(int(found[1], 8)), fields[1])
        if f"{path}/".startswith(f"{point.rstrip('/')}/") and len(point) >= len(best):
            best, form = point, fields[2]
    return form
