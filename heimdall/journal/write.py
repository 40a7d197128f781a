"""The journal's pen, for the process that holds the writer lock."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from heimdall.journal.read import JournalReader
from heimdall.journal.values import Commit, Move, Queued, Refresh, Retract, Skip, Unreadable
from heimdall.model import Depth, Outcome


def open_writer(home: str, *, now: Callable[[], float]) -> "JournalWriter":
    """Creates (home 0700, files 0600) or migrates; raises NewerJournal, DamagedJournal, IoRefused."""
    raise NotImplementedError


class JournalWriter(JournalReader):
    """Everything a reader can, and the changes. Every method is its own transaction unless it is
    called inside `with writer.transaction():`, which may be nested."""

    @contextmanager
    def transaction(self) -> Iterator[None]:
        raise NotImplementedError
        yield

    def enqueue(self, paths: Iterable[str], reason: str) -> None:
        """Each path gets a new, higher generation."""
        raise NotImplementedError

    def take(self, limit: int, after: int = 0) -> tuple[Queued, ...]:
        """The oldest with a generation above `after`; they stay queued until committed."""
        raise NotImplementedError

    def drop(self, queued: Iterable[tuple[str, int]]) -> None:
        """Take (path, generation) from the queue without a word about the path."""
        raise NotImplementedError

    def commit(self, batch: Sequence[Commit]) -> list[Outcome]:
        """INDEXED, UPDATED or STALE for each."""
        raise NotImplementedError

    def refresh(self, batch: Sequence[Refresh]) -> list[Outcome]:
        """UNCHANGED or STALE for each."""
        raise NotImplementedError

    def retract(self, batch: Sequence[Retract]) -> list[Outcome]:
        """RETRACTED (UNCHANGED if the path was never there) or STALE for each."""
        raise NotImplementedError

    def keep_unreadable(self, batch: Sequence[Unreadable]) -> list[Outcome]:
        """KEPT or STALE for each."""
        raise NotImplementedError

    def settle(self) -> int:
        """Bind what can be bound since the last call; how many edges changed. Crash-safe."""
        raise NotImplementedError

    def sketch(self, path: str) -> bytes:
        """The sketch the row carries (also of a GONE row), b"" for none."""
        raise NotImplementedError

    def add_root(self, path: str, depth: Depth | None = None) -> None:
        raise NotImplementedError

    def remove_root(self, path: str) -> tuple[str, ...]:
        """Forgets the root and all its rows; the paths that a sink must remove."""
        raise NotImplementedError

    def add_store(self, path: str, root: str) -> None:
        raise NotImplementedError

    def remove_store(self, path: str) -> None:
        raise NotImplementedError

    def record_move(self, move: Move) -> None:
        raise NotImplementedError

    def set_skips(self, root: str, skips: Iterable[Skip]) -> None:
        """What a whole walk of `root` passed over; replaces what the last walk said."""
        raise NotImplementedError

    def next_stamp(self) -> str:
        """The stamp to commit the sink under, before `set_stamp` in the journal's transaction."""
        raise NotImplementedError

    def set_stamp(self, stamp: str) -> None:
        raise NotImplementedError

    def prune(self, before_ms: int) -> int:
        """Forget GONE rows and moves older than that; how many rows."""
        raise NotImplementedError
