"""The default sink: a tantivy index in `<state directory>/index`, its only home.

Text arrives as tokens and is cut at white space alone, so a query finds exactly the tokens that
`heimdall.sinks.base.project` made. The stamp lies beside the index and is replaced after tantivy's
own commit: a crash between the two leaves an old stamp over newer documents, whose paths the
journal still has queued. Whatever else does not fit together (another journal's index, another
format, missing or damaged files) is told by the stamp or by a word, never by tantivy's exceptions.
Joins the suite in tests/contracts/test_sinks.py.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType

import tantivy

from heimdall.errors import DamagedJournal, IoRefused, WriterBusy
from heimdall.sinks.base import (
    BOOSTS,
    FILE_FIELDS,
    SYMBOL_FIELDS,
    SinkDoc,
    SinkHit,
    SinkReader,
    SinkWriter,
    matches,
    rows,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self, TypeVar

    _T = TypeVar("_T")

FOLDER = "index"
"""The index inside the state directory."""

FORMAT = "1"
"""Changes with the fields below and with how tokens are made; another one's index is foreign."""

HEAP_BYTES = 64_000_000
"""What the writer may hold before it writes a segment."""

_STAMP = "heimdall-stamp"
_WHITE = "white"
_TRIES = 3
_LOCKS = (".tantivy-meta.lock", ".tantivy-writer.lock")
# What tantivy raises where it notices that something is wrong. Where it does not and panics, see
# `_asked`.
_REFUSALS = (ValueError, OSError)


def open_sink_writer(home: str) -> SinkWriter:
    """The pen of the sink in the state directory `home`, made anew where there is none or where it
    cannot be used (the stamp is "" then). Raises IoRefused, WriterBusy."""
    return TantivyWriter(os.path.join(home, FOLDER))


def open_sink_reader(home: str, stamp: str) -> SinkReader | str:
    """The reading side, for the journal whose stamp is `stamp`.

    A word instead where there is nothing to be believed: `absent` (never built, or its building
    did not end), `foreign` (another journal's, or another format's), `damaged`.
    """
    folder = os.path.join(home, FOLDER)
    found = _read_stamp(folder)
    if not found:
        return "absent" if not os.path.exists(os.path.join(folder, "meta.json")) else "foreign"
    if not matches(found, stamp):
        return "foreign"
    for _ in range(_TRIES):
        # A writer may merge segments away between the reading of the list and their opening.
        index = _opened(folder) or _opened_elsewhere(folder)
        if index is not None:
            return TantivyReader(index, folder, _read_stamp(folder) or found)
    return "damaged"


class TantivyWriter:
    """The one pen. Tantivy's own lock and its memory are taken at the first change."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._index: tantivy.Index | None = None
        self._writer: tantivy.IndexWriter | None = None
        self._stamp = _read_stamp(folder)
        if self._stamp and _opened(folder) is None:
            self._stamp = ""

    def stamp(self) -> str:
        """The stamp of the last commit, "" for a new, foreign or damaged sink."""
        return self._stamp

    def replace(self, docs: Iterable[SinkDoc]) -> None:
        """Put each document in the place of whatever its path had."""
        writer = self._pen()
        for doc in docs:
            name = _escaped(doc.path)
            writer.delete_documents_by_term("path", name)
            folders = _folders(doc.path)
            for row in rows(doc):
                document = tantivy.Document()
                document.add_text("path", name)
                document.add_text("folders", folders)
                document.add_bytes("key", row.key.encode("utf-8", "surrogatepass"))
                for field, words in row.fields.items():
                    if words:
                        document.add_text(field, words)
                writer.add_document(document)

    def remove(self, paths: Iterable[str]) -> None:
        """Take away all that these paths had."""
        for path in paths:
            self._pen().delete_documents_by_term("path", _escaped(path))

    def clear(self) -> None:
        """Take away everything."""
        # `delete_all_documents` would leave what was added since the last commit.
        self._pen().delete_documents_by_query(tantivy.Query.all_query())

    def commit(self, stamp: str) -> None:
        """Make all since the last commit visible, durable, and bound to `stamp`."""
        try:
            self._pen().commit()
            _write_stamp(self._folder, stamp)
        except _REFUSALS as error:
            code = (error.errno or 0) if isinstance(error, OSError) else 0
            raise IoRefused(self._folder, code, str(error)) from error
        self._stamp = stamp

    def rollback(self) -> None:
        """Forget all since the last commit."""
        if self._writer is not None:
            self._writer.rollback()

    def close(self) -> None:
        """Forget what was not committed, let segments that are being merged become one, let go."""
        if self._writer is not None:
            self._writer.rollback()
            self._writer.wait_merging_threads()
        self._writer = self._index = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _pen(self) -> tantivy.IndexWriter:
        """Tantivy's writer; an index that cannot be trusted is first made anew."""
        if self._writer is None:
            index = _opened(self._folder) if self._stamp else None
            self._index = index if index is not None else _anew(self._folder)
            _register(self._index)
            try:
                self._writer = self._index.writer(heap_size=HEAP_BYTES, num_threads=1)
            except ValueError as error:
                raise WriterBusy(self._folder, str(error), 0.0) from error
        return self._writer


class TantivyReader:
    """The reading side: the last commit as it was when it was opened."""

    def __init__(self, index: tantivy.Index, folder: str, stamp: str) -> None:
        self._folder = folder
        self._schema = index.schema
        self._searcher = index.searcher()
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
        """The best `limit` documents by BM25 over the fields, each worth its boost. Raises
        DamagedJournal where bytes of the index are not what they were."""
        fields = (*(SYMBOL_FIELDS if symbols else ()), *(FILE_FIELDS if files else ()))
        words = dict.fromkeys(token for token in tokens if token)
        if not words or not fields or limit <= 0:
            return []
        query = tantivy.Query.boolean_query(
            [
                (tantivy.Occur.Should, self._term(field, token))
                for field in fields
                for token in words
            ]
        )
        if within:
            query = tantivy.Query.boolean_query(
                [(tantivy.Occur.Must, query), (tantivy.Occur.Must, self._inside(within))]
            )
        # More than asked for, so that of equal scores the names decide and not the order in which
        # they were written.
        hits = _asked(lambda: self._search(query, limit))
        if isinstance(hits, str):
            raise DamagedJournal(self._folder, hits)
        return sorted(hits, key=lambda hit: (-hit.score, hit.path, hit.key))[:limit]

    def size(self, path: str = "") -> int:
        """How many documents there are, or how many of one path. Raises DamagedJournal."""
        if not path:
            return int(self._searcher.num_docs)
        query = self._plain("path", _escaped(path))
        found = _asked(lambda: self._searcher.search(query, limit=1, count=True))
        if isinstance(found, str):
            raise DamagedJournal(self._folder, found)
        # The binding has it, its stub has not.
        return int(getattr(found, "count", 0))

    def _search(self, query: tantivy.Query, limit: int) -> list[SinkHit]:
        found = self._searcher.search(query, limit=limit + 32, count=False).hits
        # A document costs more to fetch than to find, and below the last score none is wanted.
        least = found[limit - 1][0] if len(found) >= limit else 0.0
        return [self._hit(float(score), at) for score, at in found if score >= least]

    def _term(self, field: str, token: str) -> tantivy.Query:
        term = tantivy.Query.term_query(self._schema, field, token, index_option="freq")
        boost = BOOSTS[field]
        return term if boost == 1.0 else tantivy.Query.boost_query(term, boost)

    def _inside(self, folder: str) -> tantivy.Query:
        name = _folder_word(folder.rstrip("/") or "/")
        inside = tantivy.Query.boolean_query(
            [
                (tantivy.Occur.Should, self._plain("folders", name)),
                (tantivy.Occur.Should, self._plain("path", _escaped(folder))),
            ]
        )
        return tantivy.Query.const_score_query(inside, 0.0)

    def _plain(self, field: str, word: str) -> tantivy.Query:
        return tantivy.Query.term_query(self._schema, field, word, index_option="basic")

    def _hit(self, score: float, address: tantivy.DocAddress) -> SinkHit:
        document = self._searcher.doc(address)
        key = bytes(document.get_first("key") or b"").decode("utf-8", "surrogatepass")
        return SinkHit(_unescaped(document.get_first("path") or ""), key, score, bool(key))


# -- the index on disk -----------------------------------------------------------------------------


def _schema() -> tantivy.Schema:
    """One field per boost, the path to replace by, the folders to stay within, the key to show."""
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("path", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("folders", tokenizer_name=_WHITE, index_option="basic")
    builder.add_bytes_field("key", stored=True, indexed=False)
    for name in BOOSTS:
        builder.add_text_field(name, tokenizer_name=_WHITE, index_option="freq")
    return builder.build()


def _opened(folder: str) -> tantivy.Index | None:
    """The index that lies there, None where it cannot be opened."""
    index = _asked(lambda: tantivy.Index.open(folder))
    return None if isinstance(index, str) else index


def _asked(ask: Callable[[], _T]) -> _T | str:
    """`ask`'s answer, or what tantivy says of a damaged index."""
    try:
        return ask()
    except _REFUSALS as error:
        return str(error) or "refused"
    except BaseException as error:
        # Where bytes were changed that it believes in, tantivy panics, and that arrives as an
        # exception which is no Exception and has no public name.
        if type(error).__name__ != "PanicException":
            raise
        return str(error) or "panic"


def _opened_elsewhere(folder: str) -> tantivy.Index | None:
    """The same where the disk may not be written: opening takes a lock file, so it is opened in a
    temporary directory of links, which is gone before anybody searches."""
    if os.access(folder, os.W_OK):
        return None
    import tempfile  # noqa: PLC0415 # only a read-only disk pays for it

    try:
        with tempfile.TemporaryDirectory() as shadow:
            for name in os.listdir(folder):
                if name not in _LOCKS:
                    os.symlink(os.path.join(folder, name), os.path.join(shadow, name))
            return _opened(shadow)
    except OSError:
        return None


def _anew(folder: str) -> tantivy.Index:
    """An empty index in place of whatever lies there."""
    import shutil  # noqa: PLC0415 # a search opens this room and never clears it

    try:
        if os.path.isdir(folder) and not os.path.islink(folder):
            shutil.rmtree(folder)
        else:
            os.unlink(folder)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise IoRefused(folder, error.errno or 0, "rmtree") from error
    try:
        os.makedirs(folder, 0o700)
        return tantivy.Index(_schema(), path=folder)
    except _REFUSALS as error:
        raise IoRefused(folder, 0, str(error)) from error


def _register(index: tantivy.Index) -> None:
    white = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
    index.register_tokenizer(_WHITE, white)


def _read_stamp(folder: str) -> str:
    """The stamp beside the index, "" where there is none of this format."""
    try:
        with open(os.path.join(folder, _STAMP), "rb") as file:
            data = file.read(1000)
        written, _, stamp = data.decode("ascii").partition("\n")
    except (OSError, UnicodeDecodeError):
        return ""
    return stamp if written == FORMAT else ""


def _write_stamp(folder: str, stamp: str) -> None:
    """Replace the stamp whole: a reader sees the old one or the new one.

    It is not forced to the disk, as the journal's commit is not: where the machine dies, an old
    stamp, or none, has the sink filled again."""
    path = os.path.join(folder, _STAMP)
    handle = os.open(path + ".new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with open(handle, "wb") as file:
        file.write(f"{FORMAT}\n{stamp}".encode("ascii"))
    os.replace(path + ".new", path)


# -- names -----------------------------------------------------------------------------------------


def _escaped(path: str) -> str:
    """A path as text that tantivy can hold: a byte that is no UTF-8 becomes NUL and two digits, for
    NUL is the one character that no path has."""
    if path.isascii():
        return path
    return "".join(f"\0{ord(c) - 0xDC00:02x}" if "\udc80" <= c <= "\udcff" else c for c in path)


def _unescaped(name: str) -> str:
    first, *rest = name.split("\0")
    return first + "".join(chr(0xDC00 + int(part[:2], 16)) + part[2:] for part in rest)


def _folders(path: str) -> str:
    """One word for each directory that holds the path."""
    words, end = [_folder_word("/")], path.rfind("/")
    while end > 0:
        words.append(_folder_word(path[:end]))
        end = path.rfind("/", 0, end)
    return " ".join(words)


def _folder_word(folder: str) -> str:
    from hashlib import blake2b  # noqa: PLC0415 # only a search within a folder needs it

    return blake2b(os.fsencode(folder), digest_size=8).hexdigest()
