"""Chains: what became of an entry, from the facts of the commits alone."""

from collections.abc import Container, Iterable, Mapping
from typing import NamedTuple

from gitmemo.model import EntryId
from gitmemo.trailers import Message


class Commit(NamedTuple):
    """One commit of main. `time` is the committer's, in seconds; `added` and `removed` are paths
    against the first parent (none for a merge, as `git log` shows)."""

    id: EntryId
    parents: tuple[EntryId, ...]
    time: int
    author: str
    message: Message
    added: tuple[str, ...]
    removed: tuple[str, ...]


class Trail(NamedTuple):
    """Where a chain leads. `ends` are the living ends; `withdrawn` the delete commits met at dead
    ends; `cycle` and `gaps` (successors named but not in history) are damage, as values."""

    ends: tuple[EntryId, ...]
    withdrawn: tuple[EntryId, ...]
    cycle: bool
    gaps: tuple[EntryId, ...]


def claim(commit: Commit) -> str | None:
    """The entry file that `commit` stands for: of type add or replace, adding exactly one."""
    raise NotImplementedError


def active(commits: Iterable[Commit], files: Container[str]) -> dict[str, EntryId]:
    """Living entries: file -> id. `commits` newest first; `files` those of the tip's tree."""
    raise NotImplementedError


def successors(commits: Iterable[Commit]) -> dict[EntryId, tuple[EntryId, ...]]:
    """Replaced entry -> its direct successors, oldest first."""
    raise NotImplementedError


def withdrawals(commits: Iterable[Commit]) -> dict[EntryId, EntryId]:
    """Withdrawn entry -> the (newest) commit that withdrew it."""
    raise NotImplementedError


def follow(
    start: EntryId,
    *,
    following: Mapping[EntryId, tuple[EntryId, ...]],
    living: Container[EntryId],
    known: Container[EntryId],
    withdrawn: Mapping[EntryId, EntryId],
) -> Trail:
    """Follow `start` to the living ends of its chain. `known` are all ids of entries in history."""
    raise NotImplementedError
