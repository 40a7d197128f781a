"""The journal, read."""

from collections.abc import Iterator

from heimdall.journal.values import Counts, Move, Neighbour, Root, Skip, Store
from heimdall.model import Node, NodeRef, PathRow


def open_reader(home: str) -> "JournalReader":
    """Raises NoJournal, NewerJournal, DamagedJournal."""
    raise NotImplementedError


class JournalReader:
    """Reads; changes nothing on disk. Use as a context manager or call `close`."""

    def close(self) -> None: ...
    def path(self, path: str) -> PathRow | None:
        raise NotImplementedError

    def paths(self, root: str | None = None) -> Iterator[PathRow]:
        """Every row, also GONE and UNREADABLE ones, by path."""
        raise NotImplementedError

    def nodes(self, path: str) -> tuple[Node, ...]:
        raise NotImplementedError

    def node(self, path: str, key: str) -> Node | None:
        raise NotImplementedError

    def by_digest(self, digest: bytes) -> tuple[str, ...]:
        raise NotImplementedError

    def symbols_by_digest(self, digest: bytes) -> tuple[NodeRef, ...]:
        raise NotImplementedError

    def symbols_named(self, name: str, limit: int) -> tuple[NodeRef, ...]:
        raise NotImplementedError

    def edges_from(self, path: str, key: str) -> tuple[Neighbour, ...]:
        raise NotImplementedError

    def edges_to(self, path: str, key: str) -> tuple[Neighbour, ...]:
        raise NotImplementedError

    def moves_from(self, path: str) -> tuple[Move, ...]:
        raise NotImplementedError

    def roots(self) -> tuple[Root, ...]:
        raise NotImplementedError

    def stores(self) -> tuple[Store, ...]:
        raise NotImplementedError

    def skips(self, root: str | None = None) -> tuple[Skip, ...]:
        raise NotImplementedError

    def counts(self) -> Counts:
        raise NotImplementedError

    def behind(self) -> bool:
        raise NotImplementedError

    def stamp(self) -> str:
        """What the sink's own stamp must name, see `heimdall.sinks.base.matches`."""
        raise NotImplementedError

    def graph(
        self, root: str | None = None, *, relative: bool = False
    ) -> Iterator[dict[str, object]]:
        raise NotImplementedError
