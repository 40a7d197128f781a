"""The derived index, read: a SQLite file inside `.mem/.git` that answers for one commit of main.

It holds nothing that history does not say, so it may be deleted at any time. A reader uses it only
if it is whole and of exactly the commit asked for; otherwise `indexing` makes the same tables in
memory from history, and `searching` gets the same answer from them. Opened read-only and in
rollback mode: a search creates no file, not even a journal. Never here: git, writing.
Tests: tests/gitmemo/test_index.py, tests/laws/test_search_parity.py.
"""

import os
import sqlite3
from collections.abc import Iterable, Sequence
from json import loads

from gitmemo.model import Act, Anchor, EntryId, Event, Found, Kind
from gitmemo.text import iso_date
from gitmemo.values import NamedTuple

FILE = "gitmemo-index.db"
VERSION = 2
SCHEMA = f"""
CREATE TABLE meta (tip TEXT NOT NULL, straight_from INTEGER NOT NULL);
CREATE TABLE commits (
    seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, time INTEGER NOT NULL, author TEXT NOT NULL,
    act TEXT, title TEXT NOT NULL, target TEXT, note TEXT NOT NULL);
CREATE INDEX commits_target ON commits (target) WHERE target IS NOT NULL;
CREATE TABLE entries (
    seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, file TEXT NOT NULL, until INTEGER,
    touch TEXT, time INTEGER NOT NULL, length REAL NOT NULL, kind TEXT NOT NULL, digest TEXT);
CREATE TABLE texts (
    seq INTEGER PRIMARY KEY, title TEXT NOT NULL, summary TEXT NOT NULL, keywords TEXT NOT NULL,
    folded TEXT NOT NULL, message TEXT NOT NULL, related TEXT NOT NULL, anchors TEXT NOT NULL,
    links TEXT NOT NULL);
CREATE INDEX entries_live ON entries (until, seq, length);
CREATE INDEX entries_file ON entries (file);
CREATE INDEX entries_kind ON entries (kind);
CREATE INDEX entries_digest ON entries (digest);
CREATE VIRTUAL TABLE words USING fts5 (
    title, keywords, summary, body, content='', tokenize='ascii');
CREATE VIRTUAL TABLE places USING fts5vocab (words, 'instance');
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (words, 'row');
PRAGMA user_version = {VERSION};
"""
"""`seq` counts commits from the oldest; a row of `entries` lives from its `seq` until `until`.
What a text search reads of every match lies apart from what it reads of the few it shows.
`straight_from` is the first commit from which history is one line, so that older states can be
read off; `touch` the last commit that touched the file, NULL where only history knows. Lists are
JSON. Words come split by `text.tokens`; the `ascii` tokenizer only finds the blanks again."""

WEIGHTS = {"title": 4, "keywords": 3, "summary": 2, "body": 1}
_LOOK_ALIKES = 300


class Scored(NamedTuple):
    """A hit before its page is cut: the entry's `seq` and what the search found of it."""

    seq: int
    score: float
    coverage: float
    matched: tuple[str, ...]


class Index:
    """The tables, wherever they lie."""

    def __init__(self, base: sqlite3.Connection) -> None:
        self.base = base
        tip, straight_from = base.execute("SELECT tip, straight_from FROM meta").fetchone()
        self.tip = EntryId(tip)
        self._straight_from = int(straight_from)

    def close(self) -> None:
        """Let go of the file."""
        self.base.close()

    def seq_of(self, commit: str) -> int | None:
        """The place in history of `commit` (40 hex digits), if its state can be read off here."""
        if commit == self.tip:
            last = self.base.execute("SELECT coalesce(max(seq), 0) FROM commits").fetchone()
            return int(last[0])
        row = self.base.execute("SELECT seq FROM commits WHERE id = ?", (commit,)).fetchone()
        return int(row[0]) if row is not None and row[0] >= self._straight_from else None

    def entries_like(self, prefix: str) -> tuple[EntryId, ...]:
        """Ids of entries, living or not, that start with `prefix`."""
        rows = self.base.execute(
            "SELECT id FROM entries WHERE id >= ? AND id < ? ORDER BY id", (prefix, prefix + "g")
        )
        return tuple(EntryId(id_) for (id_,) in rows)

    def commits_like(self, prefix: str) -> tuple[EntryId, ...]:
        """Ids of commits that start with `prefix`."""
        rows = self.base.execute(
            "SELECT id FROM commits WHERE id >= ? AND id < ? ORDER BY id", (prefix, prefix + "g")
        )
        return tuple(EntryId(id_) for (id_,) in rows)

    def is_last_word(self, entry_id: str) -> bool | None:
        """Whether `entry_id` is living and the last commit that touched its file; None where only
        history can tell."""
        row = self.base.execute(
            "SELECT until IS NULL, touch FROM entries WHERE id = ?", (entry_id,)
        ).fetchone()
        return None if row is None or row[1] is None else bool(row[0]) and row[1] == entry_id

    def living_digest(self, digests: Sequence[str], *, but: str | None = None) -> EntryId | None:
        """The newest living entry with one of `digests`, `but` left out."""
        marks = ",".join("?" * len(digests))
        # The plus keeps SQLite from walking everything that lives instead of the few of the digest.
        row = self.base.execute(
            f"SELECT id FROM entries WHERE digest IN ({marks}) AND +until IS NULL AND id IS NOT ?"  # noqa: S608 -- marks only
            " ORDER BY seq DESC LIMIT 1",
            (*digests, but),
        ).fetchone()
        return None if row is None else EntryId(row[0])

    def sharing_rare(
        self, words: Sequence[str], share: float
    ) -> list[tuple[EntryId, str, str, str, tuple[str, ...]]]:
        """Id, file, title, summary and keywords of living entries that could have at least `share`
        of `words`: such an entry has one of the few rarest ones, whichever it lacks. Of very many
        the newest are given."""
        seen = {
            word: self.base.execute("SELECT doc FROM vocabulary WHERE term = ?", (word,)).fetchone()
            for word in words
        }
        rare = sorted(words, key=lambda word: (seen[word] or (0,))[0])
        rare = rare[: int(len(words) * (1 - share)) + 1]
        marks = ",".join("?" * len(rare))
        rows = self.base.execute(
            f"SELECT id, file, title, summary, keywords FROM entries JOIN texts USING (seq)"  # noqa: S608 -- marks and constants
            f" WHERE until IS NULL AND seq IN"
            f" (SELECT doc FROM places WHERE term IN ({marks}) AND col <> 'body')"
            f" ORDER BY seq DESC LIMIT {_LOOK_ALIKES}",
            rare,
        )
        return [
            (EntryId(id_), file, title, summary, tuple(loads(keywords)))
            for id_, file, title, summary, keywords in rows
        ]

    def anchors_of(self, entry_id: str) -> tuple[Anchor, ...]:
        """The anchors of an entry, its own or those it may rely on."""
        row = self.base.execute(
            "SELECT anchors FROM entries JOIN texts USING (seq) WHERE id = ?", (entry_id,)
        ).fetchone()
        return () if row is None else _anchors(row[0])

    def successors(self, entry_id: str, *, at: int | None = None) -> tuple[EntryId, ...]:
        """Entries that replaced `entry_id` directly, oldest first, by the commit `at`."""
        rows = self.base.execute(
            "SELECT id FROM commits WHERE target = ? AND act = 'replace' AND seq <= ? ORDER BY seq",
            (entry_id, 2**62 if at is None else at),
        )
        return tuple(EntryId(id_) for (id_,) in rows)

    def events(self) -> list[Event]:
        """All commits of the three acts, newest first."""
        rows = self.base.execute(
            "SELECT id, act, time, title, author, target, note FROM commits"
            " WHERE act IS NOT NULL ORDER BY seq DESC"
        )
        return [
            Event(
                EntryId(id_),
                Act(act),
                iso_date(time * 1000),
                title,
                author,
                None if target is None else EntryId(target),
                note,
            )
            for id_, act, time, title, author, target, note in rows
        ]

    def entry_ids(self, *, living: bool) -> frozenset[EntryId]:
        """Ids of all entries, or of the living ones."""
        rows = self.base.execute(f"SELECT id FROM entries{' WHERE until IS NULL' * living}")  # noqa: S608 -- a constant
        return frozenset(EntryId(id_) for (id_,) in rows)

    def entry_files(self) -> dict[EntryId, str]:
        """The file of every entry, living or not."""
        rows = self.base.execute("SELECT id, file FROM entries")
        return {EntryId(id_): file for id_, file in rows}

    def found(self, hits: Iterable[Scored], *, at: int) -> tuple[Found, ...]:
        """The hits of a page with all that a reader sees of them."""
        return tuple(self._found(hit, at) for hit in hits)

    def _found(self, hit: Scored, at: int) -> Found:
        id_, file, until, time, kind, title, summary, keywords, related, anchors = (
            self.base.execute(
                "SELECT id, file, until, time, kind, title, summary, keywords, related, anchors"
                " FROM entries JOIN texts USING (seq) WHERE seq = ?",
                (hit.seq,),
            ).fetchone()
        )
        active = until is None or until > at
        return Found(
            id=EntryId(id_),
            file=file,
            title=title,
            summary=summary,
            keywords=tuple(loads(keywords)),
            kind=Kind(kind),
            date=iso_date(time * 1000),
            score=hit.score,
            matched=hit.matched,
            coverage=hit.coverage,
            related_paths=tuple(loads(related)),
            anchors=_anchors(anchors),
            active=active,
            replaced_by=() if active else self.successors(id_, at=at),
        )


def open_reader(git_dir: str) -> Index | None:
    """The index file as it is, for reading; None where there is none that can be used."""
    path = os.path.join(git_dir, FILE)
    if not os.path.isfile(path):
        return None
    name = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    try:
        base = sqlite3.connect(f"file:{name}?mode=ro", uri=True, timeout=2.0, isolation_level=None)
    except (sqlite3.Error, UnicodeEncodeError):  # a folder whose name is no UTF-8
        return None
    try:
        # One read transaction for the whole question: a writer may commit, or make the tables
        # anew, while it is asked.
        base.execute("BEGIN")
        if base.execute("PRAGMA user_version").fetchone()[0] == VERSION:
            return Index(base)
    except (sqlite3.Error, TypeError):  # damaged, or cut off before its first row
        pass
    base.close()
    return None


def _anchors(text: str) -> tuple[Anchor, ...]:
    return tuple(Anchor(*fields) for fields in loads(text))
