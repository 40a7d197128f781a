"""The one composition: every act that a command, the MCP server or a test may ask for.

An App is a `Settings` and a current directory; each method is one act and returns a value, or raises
what the rooms below raise. No words for people, no printing, no exit codes. The rooms that write are
imported where they are called: a search is a whole process and must not load git, locks and parsers
in order not to use them. Held by tests/heimdall/test_app.py.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import gitmemo
from heimdall import paths as names
from heimdall.config import Settings
from heimdall.errors import NoJournal, UnknownPath
from heimdall.model import Depth, Drift, PathRow, Presence, Report

if TYPE_CHECKING:
    from gitmemo import Draft, Entry, EntryId, Event, Kind, Place, Store, Written
    from heimdall.journal.read import JournalReader
    from heimdall.journal.values import Counts, Root
    from heimdall.writer import Result

Progress = Callable[[int, int], None]
"""Called with (done, total) while something long runs."""


class Opened(NamedTuple):
    """What `init` did. `store` is the `.mem`; `created` is False where it was there before;
    `index` is None where no indexing was asked for."""

    root: str
    store: str
    created: bool
    index: "Result | None"


class Changes(NamedTuple):
    """What a replacement says anew; None takes the old entry's value. `related` are paths as the
    caller wrote them, `path` or `path#symbol`."""

    title: str | None = None
    summary: str | None = None
    keywords: tuple[str, ...] | None = None
    content: str | None = None
    kind: "Kind | None" = None
    related: tuple[str, ...] | None = None


class Reached(NamedTuple):
    """How deep one path, or the files below one directory, are indexed. `rows` are those of the
    path itself, or below a directory those that did not reach the depth asked of them."""

    path: str
    directory: bool
    counts: dict[str, int]
    rows: tuple[PathRow, ...]


class Standing(NamedTuple):
    """How things are. `journal` is ok, behind or absent; `counts` is None where it is absent."""

    home: str
    journal: str
    roots: "tuple[Root, ...]"
    counts: "Counts | None"
    project: str | None
    store: str | None


class Reconciled(NamedTuple):
    """What a reconcile came to; `registered` are roots that it met for the first time."""

    result: "Result"
    registered: tuple[str, ...]


class App:
    """Everything this program can do, seen from the directory `cwd`."""

    def __init__(self, settings: Settings, cwd: str) -> None:
        self.settings = settings
        self.cwd = cwd

    # -- the question ------------------------------------------------------------------------------

    def search(
        self,
        words: Sequence[str],
        *,
        limit: int = 20,
        skip: int = 0,
        snapshot: str | None = None,
        cursor: str | None = None,
        mode: str = "text",
        precise: bool = False,
        show_all: bool = False,
        kinds: frozenset[str] | None = None,
    ) -> Report:
        """The answer to `words` for the checkout that holds the current directory."""
        from heimdall.search import engine  # noqa: PLC0415 # the other commands do without it

        return engine.search(
            self.settings,
            self.cwd,
            words,
            limit=limit,
            skip=skip,
            snapshot=snapshot,
            cursor=cursor,
            mode=mode,
            precise=precise,
            show_all=show_all,
            kinds=kinds,
        )

    # -- the memory --------------------------------------------------------------------------------

    def init(
        self, *, here: bool = False, index: bool = True, progress: Progress | None = None
    ) -> Opened:
        """Open a memory at the project's root (or `here`) and index the project; twice is once.

        Raises NoProject outside a repository, and what the store and the writer raise.
        """
        raise NotImplementedError

    def write(self, draft: "Draft", related: Sequence[str] = ()) -> "Written":
        """One new entry. `related` are `path` or `path#symbol` as seen from the current directory;
        the symbols of those files that the text names are anchored without being asked."""
        raise NotImplementedError

    def read(self, entry_id: str) -> "Entry":
        """One entry whole, active or not."""
        raise NotImplementedError

    def replace(self, entry_id: str, changes: Changes) -> "Written":
        """Put a new entry in the place of an active one; what `changes` leaves out is inherited."""
        raise NotImplementedError

    def delete(self, entry_id: str, reason: str) -> "EntryId":
        """Withdraw an active entry; the id of the commit that did it."""
        raise NotImplementedError

    def log(self, entry_id: str | None = None, *, limit: int | None = None) -> "tuple[Event, ...]":
        """The life of one entry, or of the store, newest first."""
        raise NotImplementedError

    # -- the index ---------------------------------------------------------------------------------

    def hint(self, paths: Sequence[str], reason: str = "cli") -> int:
        """Say that `paths` may have changed; the number of hints that were written."""
        raise NotImplementedError

    def reconcile(
        self,
        paths: Sequence[str] = (),
        *,
        everything: bool = False,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> Reconciled:
        """Make the index equal to the disk: hints and queue alone, or `paths`, or every root."""
        raise NotImplementedError

    def verify(self, *, deep: bool = False) -> tuple[Drift, ...]:
        """Every place where the index and the disk disagree."""
        raise NotImplementedError

    def depth(self, path: str) -> Reached:
        """How deep `path` is indexed, and why no deeper."""
        raise NotImplementedError

    def graph(
        self, root: str | None = None, *, relative: bool = False
    ) -> Iterator[dict[str, dict[str, object]]]:
        """The whole index, or one root's, line by line in a fixed order."""
        raise NotImplementedError

    def status(self) -> Standing:
        """What is indexed, and whether it is behind."""
        raise NotImplementedError

    def rebuild(self, *, progress: Progress | None = None) -> "Result":
        """Throw the index away and make it again from the disk."""
        raise NotImplementedError
