"""The derived index, read: a SQLite file inside `.mem/.git` that answers for one commit of main.

It holds nothing that history does not say, so it may be deleted at any time. A reader uses it only
if it is whole and of exactly the commit asked for; otherwise `indexing` makes the same tables in
memory from history, and `searching` gets the same answer from them. Opened read-only and in
rollback mode: a search creates no file, not even a journal. Never here: git, writing.
Tests: tests/gitmemo/test_index.py, tests/laws/test_search_parity.py.
"""

import os
import sqlite3
from binascii import crc32
from collections.abc import Iterable, Sequence
from itertools import chain
from json import dumps, loads

from gitmemo.model import Act, Anchor, EntryId, Event, Found, Kind
from gitmemo.text import iso_date
from gitmemo.values import NamedTuple

FILE = "gitmemo-index.db"
VERSION = 3
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
    links TEXT NOT NULL, seal INTEGER NOT NULL);
CREATE TABLE concerns (path BLOB NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (path, seq))
    WITHOUT ROWID;
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
JSON. Words come split by `text.tokens`; the `ascii` tokenizer only finds the blanks again.
`concerns` has each path that an entry is about, by `text.path_key`. `seal` is `seal_of` the row and
what else is shown of it: SQLite does not notice a byte that turned inside a text."""

WEIGHTS = {"title": 4, "keywords": 3, "summary": 2, "body": 1}
_LOOK_ALIKES = 40
_LOOKED_THROUGH = 500
GARBLED = (ValueError, TypeError, LookupError, ArithmeticError)
"""What damaged rows come to where SQLite itself does not notice them."""


# A chain is what an entry replaced, what that replaced (`up`), and all that came of any of them
# (`family`); `UNION` ends a circle. Written as two walks because each finds its rows by an index.
_FAMILY = """
WITH RECURSIVE up (hit, id) AS (
    SELECT value, value FROM json_each(:ids)
    UNION SELECT up.hit, c.target FROM up CROSS JOIN commits c ON c.id = up.id
    WHERE c.act = 'replace' AND c.target IS NOT NULL AND c.seq <= :at),
family (hit, id) AS (
    SELECT hit, id FROM up
    UNION SELECT family.hit, c.id FROM family CROSS JOIN commits c ON c.target = family.id
    WHERE c.act = 'replace' AND c.seq <= :at)
"""
_FOREVER = 2**62


class Scored(NamedTuple):
    """A hit before its page is cut: the entry's `seq` and what the search found of it."""

    seq: int
    score: float
    coverage: float
    matched: tuple[str, ...]


class Index:
    """The tables, wherever they lie. `legacy` tells that they are of a store without marker."""

    legacy = False

    def __init__(self, base: sqlite3.Connection) -> None:
        self.base = base
        tip, straight_from = base.execute("SELECT tip, straight_from FROM meta").fetchone()
        self.tip = EntryId(tip)
        self.straight_from = int(straight_from)

    def close(self) -> None:
        """Let go of the file."""
        self.base.close()

    def seq_of(self, commit: str) -> int | None:
        """The place in history of `commit` (40 hex digits), if its state can be read off here."""
        if commit == self.tip:
            last = self.base.execute("SELECT coalesce(max(seq), 0) FROM commits").fetchone()
            return int(last[0])
        row = self.base.execute("SELECT seq FROM commits WHERE id = ?", (commit,)).fetchone()
        return int(row[0]) if row is not None and row[0] >= self.straight_from else None

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
        self, words: Iterable[str]
    ) -> list[tuple[EntryId, str, str, str, tuple[str, ...]]]:
        """Id, file, title, summary and keywords of the living entries that have the most of the
        rarest of `words` outside their bodies: of the words that few entries have, as many as
        name not too many entries together. Of equals the newest."""
        known = []
        for word in words:
            row = self.base.execute("SELECT doc FROM vocabulary WHERE term = ?", (word,)).fetchone()
            known += [(row[0], word)] if row else []
        rare: list[str] = []
        named = 0
        for count, word in sorted(known):
            named += count
            if rare and named > _LOOKED_THROUGH:
                break
            rare.append(word)
        marks = ",".join("?" * len(rare))
        rows = self.base.execute(
            "SELECT id, file, title, summary, keywords FROM ("  # noqa: S608 -- marks and constants
            "  SELECT doc, count(DISTINCT term) AS shared FROM places"
            f" WHERE term IN ({marks}) AND col <> 'body' GROUP BY doc)"
            " JOIN entries ON entries.seq = doc JOIN texts USING (seq)"
            f" WHERE until IS NULL ORDER BY shared DESC, doc DESC LIMIT {_LOOK_ALIKES}",
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
            (entry_id, _FOREVER if at is None else at),
        )
        return tuple(EntryId(id_) for (id_,) in rows)

    def _living_ends(self, entry_id: str, at: int) -> tuple[EntryId, ...]:
        """What has taken the place of `entry_id` by the commit `at`, over any number of steps."""
        ends: list[EntryId] = []
        waiting = list(self.successors(entry_id, at=at))
        for one in waiting:
            row = self.base.execute("SELECT until FROM entries WHERE id = ?", (one,)).fetchone()
            if row is not None and (row[0] is None or row[0] > at):
                ends.append(one)
            else:
                waiting += [next_ for next_ in self.successors(one, at=at) if next_ not in waiting]
        return tuple(ends)

    def events(self) -> list[Event]:
        """All commits of the three acts, newest first."""
        rows = self.base.execute(
            f"SELECT {_EVENT} FROM commits WHERE act IS NOT NULL ORDER BY seq DESC"  # noqa: S608 -- constants
        )
        return [_event(row) for row in rows]

    def family(
        self, entry_id: str
    ) -> tuple[tuple[Event, ...], frozenset[EntryId], tuple[EntryId, ...]]:
        """The chain of `entry_id`: its events newest first, which of its ids are entries here, and
        the living ones, oldest first. Costs what the chain has, not what the store has."""
        asked = {"ids": dumps([entry_id]), "at": _FOREVER}
        members = self.base.execute(f"{_FAMILY} SELECT id FROM family", asked).fetchall()  # noqa: S608 -- constants
        ids = dumps([id_ for (id_,) in members])
        events = self.base.execute(
            f"SELECT {_EVENT} FROM commits WHERE act IS NOT NULL AND (id IN"  # noqa: S608 -- constants
            " (SELECT value FROM json_each(:ids)) OR (act = 'delete' AND target IN"
            " (SELECT value FROM json_each(:ids)))) ORDER BY seq DESC",
            {"ids": ids},
        ).fetchall()
        entries = self.base.execute(
            "SELECT e.id, until IS NULL FROM json_each(?) j CROSS JOIN entries e ON e.id = j.value"
            " ORDER BY seq",
            (ids,),
        ).fetchall()
        return (
            tuple(_event(row) for row in events),
            frozenset(EntryId(id_) for id_, _ in entries),
            tuple(EntryId(id_) for id_, lives in entries if lives),
        )

    def rivals(self, living: Sequence[str], *, at: int) -> dict[str, tuple[EntryId, ...]]:
        """Of entries that live at `at`: the other living ones of their chains, oldest first; those
        that have none are left out."""
        rows = self.base.execute(
            f"{_FAMILY} SELECT hit, e.id FROM family CROSS JOIN entries e ON e.id = family.id"  # noqa: S608 -- constants
            " WHERE e.id <> hit AND e.seq <= :at AND (e.until IS NULL OR e.until > :at)"
            " ORDER BY e.seq",
            {"ids": dumps(living), "at": at},
        )
        found: dict[str, tuple[EntryId, ...]] = {}
        for hit, id_ in rows:
            found[hit] = (*found.get(hit, ()), EntryId(id_))
        return found

    def twins(self, entry_id: str) -> tuple[EntryId, ...]:
        """Entries whose commits added the very file that `entry_id` did, as two sides of a merge
        may; newest first."""
        rows = self.base.execute(
            "SELECT id FROM entries WHERE file = (SELECT file FROM entries WHERE id = :id)"
            " AND id <> :id ORDER BY seq DESC",
            {"id": entry_id},
        )
        return tuple(EntryId(id_) for (id_,) in rows)

    def card(self, entry_id: str) -> tuple[str, str, tuple[str, ...], Kind] | None:
        """Title, summary, keywords and kind of an entry."""
        row = self.base.execute(
            "SELECT title, summary, keywords, kind FROM entries JOIN texts USING (seq)"
            " WHERE id = ?",
            (entry_id,),
        ).fetchone()
        return None if row is None else (row[0], row[1], tuple(loads(row[2])), Kind(row[3]))

    def topics(self) -> list[tuple[EntryId, str, str, tuple[str, ...]]]:
        """Id, title, date and links of each living topic, newest first."""
        rows = self.base.execute(
            "SELECT id, title, time, links FROM entries JOIN texts USING (seq)"
            " WHERE kind = 'topic' AND until IS NULL ORDER BY seq DESC"
        )
        return [
            (EntryId(id_), title, iso_date(time * 1000), tuple(loads(links)))
            for id_, title, time, links in rows
        ]

    def linked(self, topics: Sequence[int]) -> dict[int, list[str]]:
        """Of topics, by `seq`: the hashes that they link, and the ids of whatever came of those."""
        rows = self.base.execute(
            "SELECT seq, links FROM json_each(?) j CROSS JOIN texts ON seq = j.value",
            (dumps(topics),),
        )
        found: dict[int, list[str]] = {seq: loads(links) for seq, links in rows}
        # Few links name what was replaced since, and only those are followed.
        later = self.base.execute(
            "WITH RECURSIVE later (hash, id) AS ("
            " SELECT l.value, c.id FROM json_each(?) l CROSS JOIN commits c"
            " ON c.target >= l.value AND c.target < l.value || 'g' WHERE c.act = 'replace'"
            " UNION SELECT later.hash, c.id FROM later CROSS JOIN commits c"
            " ON c.target = later.id WHERE c.act = 'replace') SELECT hash, id FROM later",
            (dumps(list(set(chain.from_iterable(found.values())))),),
        )
        came: dict[str, list[str]] = {}
        for hash_, id_ in later:
            came.setdefault(hash_, []).append(id_)
        if came:
            for seq, links in found.items():
                found[seq] = links + [id_ for link in links for id_ in came.get(link, ())]
        return found

    def living(self) -> list[Scored]:
        """Every living entry, newest first, as a hit that nobody asked for."""
        rows = self.base.execute("SELECT seq FROM entries WHERE until IS NULL ORDER BY seq DESC")
        return [Scored(seq, 0.0, 0.0, ()) for (seq,) in rows]

    def entry_files(self) -> dict[EntryId, str]:
        """The file of every entry, living or not."""
        rows = self.base.execute("SELECT id, file FROM entries")
        return {EntryId(id_): file for id_, file in rows}

    def found(self, hits: Iterable[Scored], *, at: int) -> tuple[Found, ...]:
        """The hits of a page with all that a reader sees of them."""
        shown = [self._found(hit, at) for hit in hits]
        rivals = self.rivals([one.id for one in shown if one.active], at=at)
        return tuple(
            one._replace(rivals=rivals[one.id]) if one.id in rivals else one for one in shown
        )

    def _found(self, hit: Scored, at: int) -> Found:
        until, seal, *shown = self.base.execute(
            "SELECT until, seal, id, file, time, kind, title, summary, keywords, related, anchors"
            " FROM entries JOIN texts USING (seq) WHERE seq = ?",
            (hit.seq,),
        ).fetchone() or (None, None)
        if not shown or seal_of(shown) != seal:
            raise sqlite3.DatabaseError("a row is not what was written")
        id_, file, time, kind, title, summary, keywords, related, anchors = shown
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
            current=() if active else self._living_ends(id_, at),
        )


def seal_of(shown: Sequence[object]) -> int:
    """A checksum of what an answer shows of an entry."""
    return crc32("\0".join(map(str, shown)).encode("utf-8", "surrogatepass"))


def below(path: bytes) -> tuple[bytes, bytes]:
    """From which key on, and before which, the paths inside the folder of this key lie."""
    return path + b"/", path + b"0"


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
        base.execute("PRAGMA cell_size_check = ON")
        base.execute("BEGIN")
        if base.execute("PRAGMA user_version").fetchone()[0] == VERSION:
            return Index(base)
    except (sqlite3.Error, *GARBLED):  # damaged, or cut off before its first row
        pass
    base.close()
    return None


def _anchors(text: str) -> tuple[Anchor, ...]:
    return tuple(Anchor(*fields) for fields in loads(text))


_EVENT = "id, act, time, title, author, target, note"


def _event(row: tuple[str, str, int, str, str, str | None, str]) -> Event:
    id_, act, time, title, author, target, note = row
    aim = None if target is None else EntryId(target)
    return Event(EntryId(id_), Act(act), iso_date(time * 1000), title, author, aim, note)
