"""What was about to happen: the record that makes every crash end before or after, never between.

A change is carried out in the order that the existing engine can recover too: record, files, git's
index, main, record dropped. The record is that engine's own file, so each finishes what the other
began. `decide` is pure and holds the rules; `recover` and `carry_out` are the short performers.

Objects and whatever else needs room are written before the step that makes them visible, so a full
disk is met while there is nothing to undo. Tests: tests/gitmemo/test_intent.py, tests/faults.
"""

import json
import os
from collections.abc import Collection
from contextlib import suppress
from enum import StrEnum
from mmap import ACCESS_READ, mmap
from typing import NamedTuple

from gitmemo import gate, worktree
from gitmemo.errors import DamagedStore, GitMemoError
from gitmemo.gitindex import Staged, pieces
from gitmemo.model import Change, EntryId, Identity
from gitmemo.repo import Raw, Repo, refusals
from gitmemo.seen import Seen

RECORD = "gitmemo-transaction.json"
_ASIDE = "gitmemo-record.tmp"
_LIMIT = 16 << 20


class Intent(NamedTuple):
    """The record: main's commit before the change, and the paths that it adds and removes."""

    base: str
    add: tuple[str, ...]
    remove: tuple[str, ...]
    operation: str = ""

    @property
    def paths(self) -> tuple[str, ...]:
        """Every path that the change touches, once."""
        return tuple(dict.fromkeys((*self.add, *self.remove)))


class Way(StrEnum):
    """How an interrupted change ends."""

    BACK = "back"
    FORWARD = "forward"
    MOVED = "moved"
    FOREIGN = "foreign"


class Prepared(NamedTuple):
    """A change whose commit object `commit` is written on top of `base`; `now_s` is its time."""

    commit: EntryId
    base: EntryId
    change: Change
    identity: Identity
    now_s: int


def decide(intent: Intent, tip: Raw, dirt: Collection[str]) -> Way:
    """How the change of `intent` ends, given main's commit and the paths that are not clean.

    BACK: main has not moved, so nothing of it counts. FORWARD: main is the very commit that was
    planned, so all of it counts. MOVED: main is something else. FOREIGN: paths are dirty that
    the plan does not name, and whatever is there belongs to somebody else.
    """
    if not set(dirt) <= set(intent.paths):
        return Way.FOREIGN
    if tip.id == intent.base:
        return Way.BACK
    done = set(tip.added) == set(intent.add) and set(tip.removed) == set(intent.remove)
    if tip.parents == (intent.base,) and done and not tip.modified:
        return Way.FORWARD
    return Way.MOVED


def recover(repo: Repo) -> bool:
    """End what an interrupted writer began; False where there is no record of one.

    Raises DamagedStore where the record is unreadable or does not fit main, with the record left
    for a person to look at; call with the store's lock held.
    """
    worktree.sweep(repo.git_dir)
    intent = read(repo.git_dir)
    if intent is None:
        return False
    tip = repo.raw(repo.tip())
    way = decide(intent, tip, repo.dirt())
    if way in (Way.MOVED, Way.FOREIGN):
        raise DamagedStore(repo.mem, f"interrupted-{way}")
    settle(repo, tip.id, intent)
    drop(repo.git_dir)
    return True


def settle(repo: Repo, commit: str, intent: Intent) -> None:
    """Make files and git's index say about the paths of `intent` what `commit` says: the one act
    of recovery, backwards and forwards, and safe to repeat."""
    with refusals(repo.mem):
        for path in intent.paths:
            data = repo.file(commit, path)
            if data is None:
                worktree.remove_file(repo.mem, path)
            else:
                worktree.restore_file(repo.mem, path, data)
    repo.restage(commit, intent.paths)


def carry_out(
    repo: Repo, prepared: Prepared, *, seen: Seen, created_at: str, timeout_s: float
) -> bool:
    """Make the prepared change visible, or leave everything as it was and raise. False, with
    everything as it was, where main has moved since `prepared` was planned."""
    change = prepared.change
    intent = Intent(
        prepared.base, tuple(path for path, _ in change.add), change.remove, change.operation
    )
    try:
        with refusals(repo.mem):
            write(repo.git_dir, intent, digest=change.digest, created_at=created_at)
            moved = _perform(repo, prepared, seen, timeout_s)
    except GitMemoError:
        seen.forget()
        _undo(repo, intent)
        raise
    if not moved:
        seen.forget()
        _undo(repo, intent)
        return False
    with suppress(OSError):  # it is done: a record that stays is found to be so by the next writer
        drop(repo.git_dir)
    return True


def _perform(repo: Repo, prepared: Prepared, seen: Seen, timeout_s: float) -> bool:
    change, git_dir = prepared.change, repo.git_dir
    for path, data in change.add:
        worktree.add_file(repo.mem, path, data)
    for path in change.remove:
        worktree.remove_file(repo.mem, path)
    quick = _next_index(repo, prepared)
    # Both aside before either is swapped: from the first swap on nothing needs room any more.
    if quick is not None:
        worktree.prepare(git_dir, worktree.INDEX, *quick)
    worktree.prepare(git_dir, worktree.MAIN, f"{prepared.commit}\n".encode())
    if quick is not None:
        if not worktree.swap(git_dir, worktree.INDEX, timeout_s=timeout_s, guard=seen.index_stands):
            return False  # somebody staged something meanwhile
    else:
        repo.restage(prepared.commit, [*dict(change.add), *change.remove])
    moved = worktree.swap(
        git_dir,
        worktree.MAIN,
        timeout_s=timeout_s,
        # Where a store was taken away and came back meanwhile, main is the same, its objects not.
        guard=lambda: repo.tip() == prepared.base and repo.has(prepared.commit),
    )
    if moved:
        checksum = None if quick is None else bytes(quick[-1])
        seen.moved(prepared.commit, [*dict(change.add), *change.remove], checksum)
        worktree.log_move(git_dir, _reflog_line(prepared))
    return moved


def _next_index(repo: Repo, prepared: Prepared) -> tuple[bytes | memoryview, ...] | None:
    with gate.opened(os.path.join(repo.git_dir, worktree.INDEX)) as file:
        # Mapped and not read: of a large store it is megabytes, of which a few bytes are new.
        old = mmap(file.fileno(), 0, access=ACCESS_READ)
    add = [
        Staged(path, repo.blob_id(prepared.commit, path), **worktree.stats(repo.mem, path))
        for path, _ in prepared.change.add
    ]
    return pieces(old, add=add, remove=prepared.change.remove)


def _undo(repo: Repo, intent: Intent) -> None:
    """Back to what main says, as far as the machine lets us: what is left, the record lets the
    next writer finish, so a second failure here hides nothing and loses nothing."""
    with suppress(GitMemoError), refusals(repo.mem):
        worktree.sweep(repo.git_dir)
        settle(repo, repo.tip(), intent)
        drop(repo.git_dir)


def _reflog_line(prepared: Prepared) -> str:
    who = f"{prepared.identity.name} <{prepared.identity.email}>"
    subject = prepared.change.message.split("\n", 1)[0]
    return f"{prepared.base} {prepared.commit} {who} {prepared.now_s} +0000\tcommit: {subject}\n"


def write(git_dir: str, intent: Intent, *, digest: str | None, created_at: str) -> None:
    """Put the record in place, whole, down to the disk."""
    body: dict[str, object] = {
        "operationId": os.urandom(16).hex(),
        "operation": "write" if intent.operation == "add" else intent.operation,
        "phase": "prepared",
        "baseHead": intent.base,
        "add": list(intent.add),
        "delete": list(intent.remove),
    }
    if digest is not None:
        body["digest"] = digest
    body["createdAt"] = created_at
    data = (json.dumps(body, indent=2, ensure_ascii=False) + "\n").encode()
    os.replace(worktree.write_aside(git_dir, _ASIDE, data), os.path.join(git_dir, RECORD))


def read(git_dir: str) -> Intent | None:
    """The record, None if there is none; DamagedStore if it cannot be read as one."""
    path = os.path.join(git_dir, RECORD)
    try:
        text = gate.read(path, _LIMIT).decode()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise DamagedStore(path, "unreadable-record") from error
    try:
        body = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DamagedStore(path, "unreadable-record") from error
    if not isinstance(body, dict) or not isinstance(body.get("baseHead"), str):
        raise DamagedStore(path, "unreadable-record")
    add, remove = _entries(body.get("add")), _entries(body.get("delete"))
    if add is None or remove is None:
        raise DamagedStore(path, "unreadable-record")
    return Intent(body["baseHead"], add, remove, str(body.get("operation", "")))


def drop(git_dir: str) -> None:
    """Remove the record: the change is over."""
    with suppress(FileNotFoundError):
        os.unlink(os.path.join(git_dir, RECORD))


def _entries(paths: object) -> tuple[str, ...] | None:
    """`paths` where recovery may write and remove all of them: below `entries/`, nowhere else."""
    if not isinstance(paths, list):
        return None
    inside = [
        path
        for path in paths
        if isinstance(path, str) and path.startswith("entries/") and ".." not in path.split("/")
    ]
    return tuple(inside) if len(inside) == len(paths) else None
