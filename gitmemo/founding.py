"""How a store comes into being: built aside, renamed into place, hidden from the code repository.

Two founders at once end with one store: the rename fails for the second, who then opens what the
first has made. Nothing of a half-built store is ever seen under the name `.mem`.
Tests: tests/gitmemo/test_founding.py.
"""

import errno
import os
import shutil
from contextlib import suppress

from gitmemo import gate, lock, repo
from gitmemo.errors import PlainFolder, TrackedByParent
from gitmemo.model import Change, Identity
from gitmemo.place import STORE_DIR, exclude_file, git_dir_of, locate
from gitmemo.repo import refusals

EXCLUDED = (
    ".mem/",
    ".mem.gitmemo.lock",
    ".mem.gitmemo-migration.json",
    ".mem.gitmemo-old-*",
    ".mem.gitmemo-tmp-*",
)
"""What git must not see of a store; other engines append the same lines."""

FIRST = Change(
    "init",
    ((repo.MARKER_FILE, repo.MARKER + b"\n"), ("entries/.gitkeep", b"")),
    (),
    "init: initialize memory repo (gitmemo format 2)\n",
    None,
)


BUILT_IN = Identity("gitmemo", "gitmemo@localhost")
"""Who commits where git's settings name nobody."""


def identity_at(git_dir: str | None, root: str) -> Identity:
    """Who commits: whom git's settings name in the store's `git_dir`, if there is one already, or
    in the code repository around it, else the built-in identity."""
    places = [git_dir, git_dir_of(root)] if git_dir else [git_dir_of(root)]
    return repo.ambient_identity(*dict.fromkeys(places)) or BUILT_IN


def found(root: str, *, identity: Identity | None, now_s: int, timeout_s: float) -> bool:
    """Make `<root>/.mem` where there is none; whether it was we who made it."""
    mem = os.path.join(root, STORE_DIR)
    made = False
    now_s = repo.git_time(now_s)
    refuse_tracked(root)
    if not os.path.lexists(mem):
        with refusals(root), lock.hold(root, None, "init", timeout_s=timeout_s):
            made = _build(root, mem, identity, now_s)
    if not os.path.isfile(os.path.join(mem, ".git", "HEAD")):
        raise PlainFolder(mem)
    with refusals(root):
        _hide(root)
    return made


def refuse_tracked(root: str) -> None:
    """Raise TrackedByParent where the code repository of `root` tracks anything under `.mem`."""
    path = tracked(root)
    if path is not None:
        raise TrackedByParent(root, path)


def tracked(root: str) -> str | None:
    """The first path at or under `.mem` that the code repository of `root` tracks; None if none."""
    git_dir = git_dir_of(root)
    if git_dir is None:
        return None
    index = os.path.join(git_dir, "index")
    try:
        # Most indexes do not hold these bytes at all, in whatever version they are written; the
        # exact answer needs git and is asked for only then.
        if b"mem" not in gate.read(index, gate.LARGE):
            return None
    except OSError:
        return None
    return repo.tracked_under(index, STORE_DIR)


def _build(root: str, mem: str, identity: Identity | None, now_s: int) -> bool:
    if os.path.lexists(mem):  # the founder before us had the lock
        return False
    sweep(root)
    aside = lock.private_name(root)
    try:
        repo.create(aside, FIRST, identity=identity or identity_at(None, root), now_s=now_s)
        os.rename(aside, mem)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        return False
    finally:
        with suppress(FileNotFoundError):
            shutil.rmtree(aside)
    return True


def sweep(root: str) -> None:
    """Remove what founders left who were killed: their names carry their process ids."""
    for name in os.listdir(root):
        pid, dash, _ = name.removeprefix(lock.PRIVATE).partition("-")
        if not (name.startswith(lock.PRIVATE) and dash and pid.isdecimal()):
            continue
        path = os.path.join(root, name)
        with suppress(FileNotFoundError):  # what a founder who waits for us prepared and took back
            if not lock.has_ended(int(pid), os.lstat(path).st_mtime):
                continue
            if os.path.isdir(path):
                shutil.rmtree(path)
            else:
                os.unlink(path)


def _hide(root: str) -> None:
    place = locate(root)
    path = None if place is None or place.root != root else exclude_file(place)
    if path is None:
        return
    try:
        text = gate.read(path)
    except FileNotFoundError:
        text = b""
    missing = [line for line in EXCLUDED if line.encode() not in text.splitlines()]
    if missing:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        gap = b"" if not text or text.endswith(b"\n") else b"\n"
        with gate.added(path) as file:
            file.write(gap + "".join(f"{line}\n" for line in missing).encode())
