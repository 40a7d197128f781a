"""The moment of a migration: the old folder steps aside, the new one takes its name.

Two renames cannot be one, so a journal beside `.mem` says what was about to happen, in the form of
the format's other engines; each recovers what the other began. What is done about it depends on
which of the three folders exist, not on the phase that was written last:

    .mem  old   new (tmp)
    yes   no    any          nothing happened, or all of it: the new folder is rubbish, if there
    no    yes   any          between: the old one goes back
    no    no    yes          the new one is all there is, and was checked before the journal
    yes   yes   no           all happened: the old one goes, once all it holds is in the new one
    yes   yes   yes          somebody made another `.mem` in between: refused, for a person

Call with the store's lock held. Never here: what is in the folders. Tests: tests/gitmemo/
test_migrate.py, tests/faults/test_migration_crashes.py.
"""

import json
import os
import shutil
from contextlib import suppress
from itertools import count
from typing import NamedTuple

from gitmemo import gate, worktree
from gitmemo.errors import DamagedStore, GitMemoError, PlainFolder
from gitmemo.oldrepo import OldRepo
from gitmemo.place import STORE_DIR

JOURNAL = ".mem.gitmemo-migration.json"
OLD = ".mem.gitmemo-old-"
TMP = ".mem.gitmemo-tmp-"


class Swap(NamedTuple):
    """A swap under way below one root: the base names of the two other folders."""

    old: str
    tmp: str


class Left(NamedTuple):
    """What became of the old folder: its path where it was kept, and what it holds besides."""

    kept: str | None
    why: tuple[str, ...]


def free_old(root: str, stamp: str) -> str:
    """A name beside `.mem` for a former one, which nobody has: `stamp`, where it is taken with a
    number."""
    names = (f"{OLD}{stamp}{f'-{n}' if n else ''}" for n in count())
    paths = (os.path.join(root, name) for name in names)
    return next(path for path in paths if not os.path.lexists(path))


def pending(root: str) -> bool:
    """Whether a swap was begun and not ended."""
    return os.path.lexists(os.path.join(root, JOURNAL))


def perform(root: str, tmp: str, *, old: str, operation: str, created_at: str) -> Left:
    """Put the folder `tmp` in the place of `.mem`; `old` and `tmp` are base names."""
    mem = os.path.join(root, STORE_DIR)
    body = {
        "operationId": operation,
        "sourceDir": mem,
        "targetDir": mem,
        "oldDir": os.path.join(root, old),
        "tmpDir": os.path.join(root, tmp),
        "phase": "prepared",
        "createdAt": created_at,
    }
    _write(root, body)
    os.rename(mem, os.path.join(root, old))
    _write(root, {**body, "phase": "old-renamed"})
    os.rename(os.path.join(root, tmp), mem)
    _sync(root)
    _write(root, {**body, "phase": "new-installed"})
    return _finish(root, Swap(old, tmp))


def recover(root: str) -> bool:
    """End a swap that was interrupted; False where there is none. Raises DamagedStore where the
    journal is unreadable or two stores claim the place."""
    swap = _read(root)
    if swap is None:
        return False
    mem, old, tmp = (os.path.join(root, name) for name in (STORE_DIR, swap.old, swap.tmp))
    here, aside = os.path.lexists(mem), os.path.lexists(old)
    if here and aside and os.path.lexists(tmp):
        raise DamagedStore(os.path.join(root, JOURNAL), "migration-doubled")
    if here and aside:
        _finish(root, swap)
        return True
    if aside:
        os.rename(old, mem)
        _sync(root)
    elif not here and os.path.lexists(tmp):
        os.rename(tmp, mem)
        _sync(root)
    _remove(tmp)
    _drop(root)
    return True


def _finish(root: str, swap: Swap) -> Left:
    """Remove the old folder where the new one holds all of it; else it stays, and the swap is over
    all the same."""
    mem, old = os.path.join(root, STORE_DIR), os.path.join(root, swap.old)
    why = _only_there(old, mem)
    if not why:
        # First it stops being a store, in one step; half a store is never under its name.
        os.rename(old, os.path.join(root, swap.tmp))
        _remove(os.path.join(root, swap.tmp))
    _drop(root)
    return Left(old if why else None, why)


def _only_there(old: str, mem: str) -> tuple[str, ...]:
    """What the folder `old` holds and the store `mem` does not."""
    new = OldRepo(mem)
    if not new.is_present_format():
        raise DamagedStore(mem, "migration-doubled")
    try:
        gone = OldRepo(old)
    except PlainFolder:  # another engine was removing it, which it does after its own check
        return (".git",)
    try:
        lacking = gone.lacking(new)
        extras = gone.extras()
    except (OSError, KeyError, ValueError, GitMemoError):
        return (".git",)
    return (f"{lacking} objects",) if lacking else extras


def _write(root: str, body: dict[str, str]) -> None:
    data = (json.dumps(body, indent=2, ensure_ascii=False) + "\n").encode(
        "utf-8", "surrogateescape"
    )
    # Named like other private files, so that a sweep knows whether its writer is gone.
    name = f"{TMP}{os.getpid()}-journal"
    try:
        os.replace(worktree.write_aside(root, name, data), os.path.join(root, JOURNAL))
    except OSError:
        with suppress(OSError):
            os.unlink(os.path.join(root, name))
        raise
    _sync(root)


def _read(root: str) -> Swap | None:
    path = os.path.join(root, JOURNAL)
    try:
        body = json.loads(gate.read(path))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise DamagedStore(path, "unreadable-record") from error
    # Base names: the project may have been moved since, and nothing outside of it is touched.
    named = [body.get(key) if isinstance(body, dict) else None for key in ("oldDir", "tmpDir")]
    old, tmp = (os.path.basename(name) if isinstance(name, str) else "" for name in named)
    if not (old.startswith(OLD) and tmp.startswith(TMP)):
        raise DamagedStore(path, "unreadable-record")
    return Swap(old, tmp)


def _remove(folder: str) -> None:
    if os.path.islink(folder) or os.path.isfile(folder):
        os.unlink(folder)
    elif os.path.isdir(folder):
        shutil.rmtree(folder)


def _drop(root: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(os.path.join(root, JOURNAL))


def _sync(folder: str) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
