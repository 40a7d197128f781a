"""How a store comes into being: built aside, renamed into place, hidden from the code repository.

Two founders at once end with one store: the rename fails for the second, who then opens what the
first has made. Nothing of a half-built store is ever seen under the name `.mem`.
Tests: tests/gitmemo/test_founding.py.
"""

import errno
import os
import shutil
from contextlib import suppress

from gitmemo import lock, repo
from gitmemo.errors import PlainFolder, TrackedByParent
from gitmemo.model import Change, Identity
from gitmemo.place import STORE_DIR, exclude_file, git_dir_of, locate
from gitmemo.worktree import refusals

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


def found(root: str, *, identity: Identity | None, now_s: int, timeout_s: float) -> None:
    """Make `<root>/.mem` where there is none."""
    mem = os.path.join(root, STORE_DIR)
    now_s = repo.git_time(now_s)
    refuse_tracked(root)
    if not os.path.lexists(mem):
        with refusals(root), lock.hold(root, None, "init", timeout_s=timeout_s):
            _build(root, mem, identity, now_s)
    if not os.path.isfile(os.path.join(mem, ".git", "HEAD")):
        raise PlainFolder(mem)
    with refusals(root):
        _hide(root)


def refuse_tracked(root: str) -> None:
    """Raise TrackedByParent where the code repository of `root` tracks anything under `.mem`."""
    git_dir = git_dir_of(root)
    if git_dir is None:
        return
    try:
        with open(os.path.join(git_dir, "index"), "rb") as file:
            # Most indexes do not hold these bytes at all, in whatever version they are written;
            # the exact answer needs git and is asked for only then.
            if b"mem" not in file.read():
                return
    except OSError:
        return
    tracked = repo.tracked_under(root, STORE_DIR)
    if tracked is not None:
        raise TrackedByParent(root, tracked)


def _build(root: str, mem: str, identity: Identity | None, now_s: int) -> None:
    if os.path.lexists(mem):  # the founder before us had the lock
        return
    sweep(root)
    aside = lock.private_name(root)
    try:
        repo.create(aside, FIRST, identity=identity or identity_at(None, root), now_s=now_s)
        os.rename(aside, mem)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
    finally:
        with suppress(FileNotFoundError):
            shutil.rmtree(aside)


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
        with open(path, "rb") as file:
            text = file.read()
    except FileNotFoundError:
        text = b""
    missing = [line for line in EXCLUDED if line.encode() not in text.splitlines()]
    if missing:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        gap = b"" if not text or text.endswith(b"\n") else b"\n"
        with open(path, "ab") as file:
            file.write(gap + "".join(f"{line}\n" for line in missing).encode())
