"""Chains: what became of an entry, decided from the facts of the commits alone.

An entry is the commit that added its file; it lives while the tip's tree has the file. Successors
are followed whatever their own state, to the end: stopping at the first replaced one would show a
reader an answer that was corrected twice. Damage (a circle, a successor that history lacks) is a
value, because a store merged by strangers must still be readable. Never here: git, files, text of
entries. Tests: tests/gitmemo/test_chain.py, against histories of another engine.
"""

from collections.abc import Container, Iterable, Mapping
from typing import NamedTuple

from gitmemo.model import Act, EntryId
from gitmemo.trailers import Message


class Commit(NamedTuple):
    """One commit of main. `time` is the committer's, in seconds; `added` and `removed` are paths
    against the only parent (none for a merge, as `git log` shows it)."""

    id: EntryId
    parents: tuple[EntryId, ...]
    time: int
    author: str
    message: Message
    added: tuple[str, ...]
    removed: tuple[str, ...]


class Trail(NamedTuple):
    """Where a chain leads. `ends` are the living ends (two where two histories replaced one
    entry); `withdrawn` the delete commits at its dead ends; `cycle` and `gaps` (successors that
    history lacks) are damage."""

    ends: tuple[EntryId, ...]
    withdrawn: tuple[EntryId, ...]
    cycle: bool
    gaps: tuple[EntryId, ...]


def is_entry_path(path: str) -> bool:
    """Whether `path` (inside `.mem`) is an entry file, in whatever folder under `entries/`."""
    return path.startswith("entries/") and path.endswith(".md") and len(path) > len("entries/.md")


def claim(commit: Commit) -> str | None:
    """The entry file that `commit` stands for: one of type add or replace that adds exactly one."""
    if commit.message.type not in (Act.ADD, Act.REPLACE):
        return None
    files = [path for path in commit.added if is_entry_path(path)]
    return files[0] if len(files) == 1 else None


def active(commits: Iterable[Commit], files: Container[str]) -> dict[str, EntryId]:
    """Living entries: file -> id. `commits` newest first, `files` those of the tip's tree. Where
    two histories added one file the newest commit stands for it, as in a search of the format."""
    living: dict[str, EntryId] = {}
    for commit in commits:
        file = claim(commit)
        if file is not None and file in files:
            living.setdefault(file, commit.id)
    return living


def successors(commits: Iterable[Commit]) -> dict[EntryId, tuple[EntryId, ...]]:
    """Replaced entry -> its direct successors, oldest first. `commits` newest first."""
    found: dict[EntryId, tuple[EntryId, ...]] = {}
    for commit in commits:
        old = commit.message.replaces
        if commit.message.type is Act.REPLACE and old is not None:
            found[old] = (commit.id, *found.get(old, ()))
    return found


def withdrawals(commits: Iterable[Commit]) -> dict[EntryId, EntryId]:
    """Withdrawn entry -> the newest commit that withdrew it. `commits` newest first."""
    found: dict[EntryId, EntryId] = {}
    for commit in commits:
        target = commit.message.deletes
        if commit.message.type is Act.DELETE and target is not None:
            found.setdefault(target, commit.id)
    return found


def follow(
    start: EntryId,
    *,
    following: Mapping[EntryId, tuple[EntryId, ...]],
    living: Container[EntryId],
    known: Container[EntryId],
    withdrawn: Mapping[EntryId, EntryId],
) -> Trail:
    """Follow `start` to the living ends of its chain; `known` are the ids of all entries in
    history. A living entry is an end even where a successor exists (the other side of a merge may
    have kept it), and a replacement beats a withdrawal of the same entry."""
    ends: dict[EntryId, None] = {}
    dead: dict[EntryId, None] = {}
    gaps: dict[EntryId, None] = {}
    cycle = False
    done: set[EntryId] = set()
    # Depth first with an explicit stack: chains of foreign stores may be longer than the
    # interpreter's. The second visit of an entry closes it; meeting an open one is a circle.
    open_: set[EntryId] = set()
    stack = [(start, False)]
    while stack:
        at, closing = stack.pop()
        if closing:
            open_.discard(at)
            done.add(at)
        elif at in open_:
            cycle = True
        elif at not in done:
            open_.add(at)
            stack.append((at, True))
            after = following.get(at, ())
            if at in living:
                ends[at] = None
            elif after:
                stack += [(successor, False) for successor in reversed(after)]
            elif at in withdrawn:
                dead[withdrawn[at]] = None
            elif at not in known:
                gaps[at] = None
    return Trail(tuple(ends), tuple(dead), cycle, tuple(gaps))
