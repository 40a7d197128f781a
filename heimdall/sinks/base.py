"""The seam between the journal and whatever makes it searchable.

A sink holds one document per file and one per definition, found by tokens and by nothing else. It
is a projection: it may be thrown away at any time and built again, and what it holds is bound to a
journal by a stamp. `project` (pure, run in the extraction's child processes) makes the documents;
two protocols of a few methods each are the whole seam, and tests/contracts/test_sinks.py is the
suite that every sink joins.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import TracebackType

from gitmemo.values import NamedTuple, Protocol
from heimdall.model import Facts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

CAP = 8
"""How often one token of a file's text counts at most: more says nothing about what it is for."""

PATH_PARTS = 4
"""How many last parts of a path a file is found by: enough for package, folder and name, and never
the place where the tree happens to lie."""

BOOSTS: Mapping[str, float] = {
    "symbol_names": 3.0,
    "file_names": 2.0,
    "file_defined": 1.5,
    "symbol_text": 1.0,
    "file_content": 0.8,
}
"""The fields that are searched, and what a token found there is worth: what a thing is called says
more of it than what is written about it, and that more than what it is made of."""

SYMBOL_FIELDS = tuple(name for name in BOOSTS if name.startswith("symbol_"))
FILE_FIELDS = tuple(name for name in BOOSTS if name.startswith("file_"))


class SymbolDoc(NamedTuple):
    """One definition: `names` are the tokens of its qualified name, `text` those of its signature
    and documentation, joined by single spaces."""

    key: str
    kind: str
    names: str
    text: str


class SinkDoc(NamedTuple):
    """All that a search finds one file by. Every string is tokens joined by single spaces.

    `names` are the tokens of the path's last `PATH_PARTS` parts, `defined` those of the names
    defined in the file, `content` those of the whole text, each at most `CAP` times.
    """

    path: str
    names: str
    defined: str
    content: str
    symbols: tuple[SymbolDoc, ...]


class SinkHit(NamedTuple):
    """One found document; `key` is "" for the file itself. Higher scores are better; scores of one
    answer can be compared with each other and with nothing else."""

    path: str
    key: str
    score: float
    is_symbol: bool


class Row(NamedTuple):
    """One document as a sink stores it: `fields` maps names of `BOOSTS` to tokens."""

    key: str
    fields: dict[str, str]


class SinkWriter(Protocol):
    """The one pen. Laws: `replace` puts exactly this document in the place of all that the path
    had; doing it twice is doing it once; nothing is seen by readers before `commit`; `rollback`
    forgets everything since; `commit` stores the stamp together with the documents."""

    def stamp(self) -> str:
        """The stamp of the last commit, "" for a new, foreign or damaged sink."""

    def replace(self, docs: Iterable[SinkDoc]) -> None:
        """Put each document in the place of whatever its path had."""

    def remove(self, paths: Iterable[str]) -> None:
        """Take away all that these paths had; unknown paths cost nothing."""

    def clear(self) -> None:
        """Take away everything."""

    def commit(self, stamp: str) -> None:
        """Make all since the last commit visible, durable, and bound to `stamp`."""

    def rollback(self) -> None:
        """Forget all since the last commit."""

    def close(self) -> None:
        """Forget what was not committed and let go of the sink."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


class SinkReader(Protocol):
    """The reading side: sees the last commit as it was when the reader was opened."""

    def stamp(self) -> str:
        """The stamp of the commit that is being read."""

    def find(
        self,
        tokens: Sequence[str],
        limit: int,
        *,
        symbols: bool = True,
        files: bool = True,
        within: str = "",
    ) -> list[SinkHit]:
        """The best `limit` documents that hold any of `tokens`, best first, equal scores by path
        and key. `within` keeps that file, or what lies under that directory ("" for everywhere).
        Raises DamagedJournal where the sink turns out to be broken."""

    def size(self, path: str = "") -> int:
        """How many documents there are, or how many of one path. Raises as `find` does."""


def project(path: str, facts: Facts, text: str) -> SinkDoc:
    """The documents of one file: `text` is its decoded content ("" where it is not to be found by
    content). Pure; depends on the path's last parts only, never on where the tree lies."""
    from gitmemo import counts, tokens  # noqa: PLC0415 # a search asks this room and projects nothing

    parts: dict[str, str] = {}
    symbols: list[SymbolDoc] = []
    for key, kind, _, qualname, _, _, signature, doc, _ in facts.nodes:
        if not key:
            continue
        steps = qualname.split(".")
        for part in steps:
            if part not in parts:
                # Names share their beginnings: each part is cut once.
                parts[part] = " ".join(tokens(part))
        names = " ".join([cut for part in steps if (cut := parts[part])])
        symbols.append(SymbolDoc(key, kind, names, " ".join(tokens(f"{signature} {doc}"))))
    words = counts(text, cap=CAP) if text else {}
    return SinkDoc(
        path,
        " ".join(tokens(" ".join(path.split("/")[-PATH_PARTS:]))),
        " ".join(dict.fromkeys(" ".join(parts.values()).split())),
        "".join([f"{word} " * number for word, number in words.items()])[:-1],
        tuple(symbols),
    )


def rows(doc: SinkDoc) -> Iterator[Row]:
    """The documents a sink stores for one file: the file's own, then its definitions'."""
    yield Row(
        "",
        {"file_names": doc.names, "file_defined": doc.defined, "file_content": doc.content},
    )
    for symbol in doc.symbols:
        yield Row(symbol.key, {"symbol_names": symbol.names, "symbol_text": symbol.text})


def matches(sink_stamp: str, journal_stamp: str) -> bool:
    """Whether a reader may believe the sink: the same journal, format and tokens; the pass may
    differ by one, since the sink is committed before the journal."""
    return sink_stamp.rpartition(":")[0] == journal_stamp.rpartition(":")[0] != ""


def continues(sink_stamp: str, journal_stamp: str) -> bool:
    """Whether the writer may go on with the sink: equal, or exactly one pass ahead of the journal
    (the process died between the two commits; the paths of that pass are still queued)."""
    if not matches(sink_stamp, journal_stamp):
        return False
    ahead = int(sink_stamp.rpartition(":")[2]) - int(journal_stamp.rpartition(":")[2])
    return ahead in (0, 1)
