"""What the index can tell a search, and that it may have nothing to tell.

One wrapper around the journal's reader: an index that is absent, newer or damaged answers every
question with nothing and says so in `state`, so that no room of the search needs to care. Answers
are clues, never proof: whoever builds a verdict on one looks at the disk first.
Held by tests/heimdall/search/test_knowledge.py.
"""

from __future__ import annotations

from collections.abc import Callable

from heimdall import hints
from heimdall.errors import JournalError, NoJournal, WorldError
from heimdall.journal.read import open_reader
from heimdall.model import Node, NodeRef, PathRow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from heimdall.journal.read import JournalReader
    from heimdall.journal.values import Move, SymbolMove

    _T = TypeVar("_T")


class Knowledge:
    """The journal of one state directory, as far as it can be read. `state` is ok, behind, absent
    or error, and may turn into error while it is asked."""

    def __init__(self, home: str, others: tuple[str, ...] = ()) -> None:
        """`others` are further files of hints than the home's own, see `heimdall.hints`."""
        self._rows: dict[str, PathRow | None] = {}
        self.journal: JournalReader | None = None
        try:
            self.journal = open_reader(home)
            waits = self.journal.behind() or hints.waiting(home, others) > 0
            self.state = "behind" if waits else "ok"
        except NoJournal:
            self.state = "absent"
        except (JournalError, WorldError):
            self._fail()

    def row(self, path: str) -> PathRow | None:
        """What the journal holds of a path; asked once per search."""
        if path not in self._rows:
            self._rows[path] = self._ask(lambda journal: journal.path(path), None)
        return self._rows[path]

    def nodes(self, path: str) -> tuple[Node, ...]:
        """The definitions of a file as it was indexed."""
        return self._ask(lambda journal: journal.nodes(path), ())

    def node(self, path: str, key: str) -> Node | None:
        """One definition as it was indexed."""
        return self._ask(lambda journal: journal.node(path, key), None)

    def by_digest(self, digest: bytes) -> tuple[str, ...]:
        """Where these bytes were when the index last looked."""
        return self._ask(lambda journal: journal.by_digest(digest), ())

    def symbols_by_digest(self, digest: bytes) -> tuple[NodeRef, ...]:
        """Where a definition of these bytes was when the index last looked."""
        return self._ask(lambda journal: journal.symbols_by_digest(digest), ())

    def moves_from(self, path: str) -> tuple[Move, ...]:
        """Where the writer saw a path's content go."""
        return self._ask(lambda journal: journal.moves_from(path), ())

    def moves_to(self, path: str) -> tuple[Move, ...]:
        """What the writer saw come to a path, or into a folder."""
        return self._ask(lambda journal: journal.moves_to(path), ())

    def symbol_moves_from(self, path: str, symbol: str) -> tuple[SymbolMove, ...]:
        """Where the writer saw a definition go."""
        return self._ask(lambda journal: journal.symbol_moves_from(path, symbol), ())

    def sketch(self, path: str) -> bytes:
        """What a path's text is told by when its bytes are gone; b"" for none."""
        return self._ask(lambda journal: journal.sketch(path), b"")

    def stamp(self) -> str:
        """What the sink's stamp must match; "" matches none."""
        return self._ask(lambda journal: journal.stamp(), "")

    def close(self) -> None:
        """Let go of the journal."""
        if self.journal is not None:
            self.journal.close()

    def _ask(self, question: Callable[[JournalReader], _T], nothing: _T) -> _T:
        if self.journal is None:
            return nothing
        try:
            return question(self.journal)
        except (JournalError, WorldError):
            self._fail()
            return nothing

    def _fail(self) -> None:
        """Damaged, newer or refused: nothing more is asked of it in this search."""
        journal, self.journal, self.state = self.journal, None, "error"
        if journal is not None:
            journal.close()
