"""The front of a memory store: search, read, history, write, replace, delete."""

import time
from collections.abc import Callable, Sequence

from gitmemo.model import Draft, Entry, EntryId, Event, Identity, Kind, Mode, Page, Written


class Store:
    """One `.mem`. Made by `init` or `open`."""

    root: str
    path: str

    @staticmethod
    def init(
        root: str,
        *,
        identity: Identity | None = None,
        clock: Callable[[], float] = time.time,
        lock_timeout_s: float = 30.0,
    ) -> "Store":
        """Create `<root>/.mem` where there is none, and open it."""
        raise NotImplementedError

    @staticmethod
    def open(
        root: str,
        *,
        identity: Identity | None = None,
        clock: Callable[[], float] = time.time,
        lock_timeout_s: float = 30.0,
    ) -> "Store":
        """Open `<root>/.mem`; touches nothing."""
        raise NotImplementedError

    def tip(self) -> EntryId:
        """The commit of main."""
        raise NotImplementedError

    def write(self, draft: Draft, *, code_root: str | None = None) -> Written:
        """Add an entry."""
        raise NotImplementedError

    def replace(self, entry_id: str, draft: Draft, *, code_root: str | None = None) -> Written:
        """Put a new entry in the place of an active one, in one commit."""
        raise NotImplementedError

    def delete(self, entry_id: str, reason: str) -> EntryId:
        """Withdraw an active entry."""
        raise NotImplementedError

    def read(self, entry_id: str) -> Entry:
        """One entry, also a replaced or withdrawn one."""
        raise NotImplementedError

    def history(
        self, entry_id: str | None = None, *, limit: int | None = None
    ) -> tuple[Event, ...]:
        """What happened to an entry's chain, or to the store; newest first."""
        raise NotImplementedError

    def search(
        self,
        words: Sequence[str],
        *,
        mode: Mode = Mode.TEXT,
        limit: int = 20,
        skip: int = 0,
        snapshot: str | None = None,
        include_inactive: bool = False,
        kinds: frozenset[Kind] | None = None,
    ) -> Page:
        """A page of hits."""
        raise NotImplementedError
