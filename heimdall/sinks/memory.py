"""The sink that leaves no trace: for dry runs, and for whoever wants the tantivy sink's answers
without its files. The same documents give the same set of hits; the scores are its own. Joins the
suite in tests/contracts/test_sinks.py.
"""

import math
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import NamedTuple, Self

from heimdall.sinks.base import BOOSTS, FILE_FIELDS, SYMBOL_FIELDS, SinkDoc, SinkHit, rows

_Counts = dict[str, int]


class _Stored(NamedTuple):
    """One document: field -> token -> how often."""

    path: str
    key: str
    fields: dict[str, _Counts]


class MemorySink:
    """A sink's writer and, by `reader`, its reader."""

    def __init__(self) -> None:
        self._committed: dict[str, tuple[_Stored, ...]] = {}
        self._pending: dict[str, tuple[_Stored, ...]] = {}
        self._stamp = ""

    def stamp(self) -> str:
        """The stamp of the last commit, "" before the first."""
        return self._stamp

    def replace(self, docs: Iterable[SinkDoc]) -> None:
        """Put each document in the place of whatever its path had."""
        for doc in docs:
            self._pending[doc.path] = tuple(
                _Stored(doc.path, row.key, {name: _counts(row.fields[name]) for name in row.fields})
                for row in rows(doc)
            )

    def remove(self, paths: Iterable[str]) -> None:
        """Take away all that these paths had."""
        for path in paths:
            self._pending.pop(path, None)

    def clear(self) -> None:
        """Take away everything."""
        self._pending = {}

    def commit(self, stamp: str) -> None:
        """Show readers what was done."""
        self._committed, self._stamp = dict(self._pending), stamp

    def rollback(self) -> None:
        """Forget all since the last commit."""
        self._pending = dict(self._committed)

    def close(self) -> None:
        """Forget what was not committed."""
        self.rollback()

    def reader(self) -> "MemoryReader":
        """The last commit, as it is now and stays."""
        return MemoryReader(self._committed, self._stamp)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class MemoryReader:
    """The reading side of a `MemorySink`."""

    def __init__(self, stored: dict[str, tuple[_Stored, ...]], stamp: str) -> None:
        self._stored = [one for path in sorted(stored) for one in stored[path]]
        self._stamp = stamp

    def stamp(self) -> str:
        """The stamp of the commit that is being read."""
        return self._stamp

    def find(
        self,
        tokens: Sequence[str],
        limit: int,
        *,
        symbols: bool = True,
        files: bool = True,
        within: str = "",
    ) -> list[SinkHit]:
        """The best documents that hold any of `tokens`: each token counts by its rarity, its field
        and, with diminishing returns, its number."""
        fields = (*(SYMBOL_FIELDS if symbols else ()), *(FILE_FIELDS if files else ()))
        prefix = within.rstrip("/") + "/"
        hits = [
            SinkHit(one.path, one.key, score, bool(one.key))
            for one in self._stored
            if not within or one.path == within or one.path.startswith(prefix)
            if (score := self._score(one, tokens, fields)) > 0
        ]
        return sorted(hits, key=lambda hit: (-hit.score, hit.path, hit.key))[:limit]

    def size(self, path: str = "") -> int:
        """How many documents there are, or how many of one path."""
        return sum(not path or one.path == path for one in self._stored)

    def _score(self, one: _Stored, tokens: Sequence[str], fields: Sequence[str]) -> float:
        score = 0.0
        for name in fields:
            for token in dict.fromkeys(tokens):
                number = one.fields.get(name, {}).get(token, 0)
                if number:
                    score += BOOSTS[name] * self._rarity(name, token) * number / (number + 1.2)
        return score

    def _rarity(self, name: str, token: str) -> float:
        holding = sum(1 for one in self._stored if token in one.fields.get(name, {}))
        return math.log(1 + len(self._stored) / max(1, holding))


def _counts(words: str) -> _Counts:
    found: _Counts = {}
    for word in words.split():
        found[word] = found.get(word, 0) + 1
    return found
