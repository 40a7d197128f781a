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
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from json import dumps, loads

from gitmemo.model import Act, Anchor, EntryId, Event, Found, Kind
from gitmemo.text import dated_path, iso_date, norm, slug
from gitmemo.values import NamedTuple

FILE = "gitmemo-index.db"
VERSION = 4
SCHEMA = f"""
CREATE TABLE meta (
    tip TEXT NOT NULL, straight_from INTEGER NOT NULL,
    living INTEGER NOT NULL, length REAL NOT NULL, shortest REAL);
CREATE TABLE authors (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE commits (
    seq INTEGER PRIMARY KEY, id TEXT NOT NULL, time INTEGER NOT NULL, author INTEGER NOT NULL,
    act TEXT, title TEXT NOT NULL, target TEXT, note TEXT NOT NULL);
CREATE INDEX commits_id ON commits (substr(id, 1, 10));
CREATE INDEX commits_target ON commits (target) WHERE target IS NOT NULL;
CREATE TABLE entries (
    seq INTEGER PRIMARY KEY, time INTEGER NOT NULL, length REAL NOT NULL, kind TEXT NOT NULL,
    until INTEGER, touch TEXT);
CREATE INDEX entries_until ON entries (until) WHERE until IS NOT NULL;
CREATE INDEX entries_topic ON entries (seq) WHERE kind = 'topic';
CREATE TABLE texts (
    seq INTEGER PRIMARY KEY, file TEXT NOT NULL, place INTEGER NOT NULL, digest INTEGER, title TEXT,
    summary TEXT NOT NULL, keywords TEXT NOT NULL, folded TEXT, message TEXT,
    related TEXT NOT NULL, anchors TEXT NOT NULL, links TEXT NOT NULL, seal INTEGER NOT NULL);
CREATE INDEX texts_place ON texts (place);
CREATE INDEX texts_digest ON texts (digest);
CREATE TABLE concerns (path BLOB NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (path, seq))
    WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5 (
    word, content='', columnsize=0, detail='none', tokenize="ascii tokenchars '+-'");
CREATE VIRTUAL TABLE places USING fts5vocab (words, 'instance');
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (words, 'row');
PRAGMA user_version = {VERSION};
"""
"""`seq` counts commits from the oldest; an entry has the `seq` of its commit, and lives from there
until `until`. What a text search reads of many entries (`entries`) lies apart from what it reads of
the few it shows.
`straight_from` is the first commit from which history is one line, so that older states can be
read off; `living` and `length` count what lives now and sum its lengths, `shortest` is the least
length there ever was. `touch` is the last commit that touched the file, empty where that is the
entry's own, NULL where only history knows. Lists are JSON.
Nothing is kept twice: `title` is NULL where it is the commit's; `file` is `short_file`; `folded` is
NULL where the texts say it as they are (`plainly_folded`), `message` where it holds all that is
folded. Of long keys only looked up, a part is kept: `place` is `place_of` the file, `digest` is
`digest_key` of it.
Words come split by `text.tokens` and weighed, each once an entry: `cache+7` is outside the body
too, `cache-2` in the body alone; the `ascii` tokenizer only finds the blanks again. `concerns` has
each path that an entry is about, by `text.path_key`. `seal` is `seal_of` the row and what else is
shown of it: SQLite does not notice a byte that turned inside a text."""

WEIGHTS = {"title": 4, "keywords": 3, "summary": 2, "body": 1}
OUTSIDE, INSIDE, _BEHIND = "+-."
_LOOK_ALIKES = 40
_LOOKED_THROUGH = 500
GARBLED = (ValueError, TypeError, LookupError, ArithmeticError)
"""What damaged rows come to where SQLite itself does not notice them."""


def is_commit(id_: str) -> str:
    """That the commit `c` has the id `id_`, so that its short index is used. The plus keeps SQLite
    from putting the constant in the place of the column, also where the index has it."""
    return f"substr(c.id, 1, 10) = substr({id_}, 1, 10) AND +c.id = {id_}"


_LIKE = "substr(c.id, 1, 10) >= substr(:low, 1, 10) AND c.id >= :low AND c.id < :high"
_LIKE += " AND substr(c.id, 1, 10) <= substr(:high, 1, 10)"


# A chain is what an entry replaced, what that replaced (`up`), and all that came of any of them
# (`family`); `UNION` ends a circle. Written as two walks because each finds its rows by an index.
_FAMILY = f"""
WITH RECURSIVE up (hit, id) AS (
    SELECT value, value FROM json_each(:ids)
    UNION SELECT up.hit, c.target FROM up CROSS JOIN commits c ON {is_commit("up.id")}
    WHERE c.act = 'replace' AND c.target IS NOT NULL AND c.seq <= :at),
family (hit, id) AS (
    SELECT hit, id FROM up
    UNION SELECT family.hit, c.id FROM family CROSS JOIN commits c ON c.target = family.id
    WHERE c.act = 'replace' AND c.seq <= :at)
"""  # noqa: S608 -- constants
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
            return self.last()
        seq = self.number(commit)
        return seq if seq is not None and seq >= self.straight_from else None

    def number(self, commit: str) -> int | None:
        """The place in history of a commit, also where no state can be read off there."""
        asked = f"SELECT seq FROM commits c WHERE {is_commit('?1')}"  # noqa: S608 -- constants
        row = self.base.execute(asked, (commit,)).fetchone()
        return None if row is None else int(row[0])

    def last(self) -> int:
        """The place in history of the newest commit."""
        return int(self.base.execute("SELECT coalesce(max(seq), 0) FROM commits").fetchone()[0])

    def entries_like(self, prefix: str) -> tuple[EntryId, ...]:
        """Ids of entries, living or not, that start with `prefix`."""
        rows = self.base.execute(
            f"SELECT id FROM commits c JOIN entries USING (seq) WHERE {_LIKE} ORDER BY id",  # noqa: S608 -- constants
            {"low": prefix, "high": prefix + "g"},
        )
        return tuple(EntryId(id_) for (id_,) in rows)

    def commits_like(self, prefix: str) -> tuple[EntryId, ...]:
        """Ids of commits that start with `prefix`."""
        rows = self.base.execute(
            f"SELECT id FROM commits c WHERE {_LIKE} ORDER BY id",  # noqa: S608 -- constants
            {"low": prefix, "high": prefix + "g"},
        )
        return tuple(EntryId(id_) for (id_,) in rows)

    def is_last_word(self, entry_id: str) -> bool | None:
        """Whether `entry_id` is living and the last commit that touched its file; None where only
        history can tell."""
        row = self.base.execute(
            "SELECT until IS NULL, touch FROM entries WHERE seq = ?", (self.number(entry_id),)
        ).fetchone()
        return None if row is None or row[1] is None else bool(row[0]) and row[1] in ("", entry_id)

    def file_of(self, entry_id: str) -> str | None:
        """The file of an entry."""
        row = self.base.execute(
            "SELECT file, coalesce(t.title, c.title) FROM texts t JOIN commits c USING (seq)"
            " WHERE seq = ?",
            (self.number(entry_id),),
        ).fetchone()
        return None if row is None else whole_file(*row)

    def first_digest(self, digest: str) -> EntryId | None:
        """The oldest entry with this digest, living or not."""
        row = self.base.execute(
            "SELECT id FROM texts CROSS JOIN commits USING (seq) WHERE digest = ?"
            " ORDER BY seq LIMIT 1",
            (digest_key(digest),),
        ).fetchone()
        return None if row is None else EntryId(row[0])

    def living_digest(self, digests: Sequence[str], *, but: str | None = None) -> EntryId | None:
        """The newest living entry with one of `digests`, `but` left out."""
        marks = ",".join("?" * len(digests))
        row = self.base.execute(
            "SELECT id FROM texts CROSS JOIN entries USING (seq) CROSS JOIN commits USING (seq)"  # noqa: S608 -- marks only
            f" WHERE digest IN ({marks}) AND until IS NULL AND id IS NOT ?"
            " ORDER BY seq DESC LIMIT 1",
            (*map(digest_key, digests), but),
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
            (count,) = self.base.execute(
                "SELECT sum(doc) FROM vocabulary WHERE term >= ? AND term < ?",
                range_of(word),
            ).fetchone()
            known += [(count, word)] if count else []
        rare: list[str] = []
        named = 0
        for count, word in sorted(known):
            named += count
            if rare and named > _LOOKED_THROUGH:
                break
            rare.append(word)
        shared: Counter[int] = Counter()
        for word in rare:
            for _, entries in self.having(word + OUTSIDE, word + INSIDE):
                shared.update(entries)
        rows = self.base.execute(
            "SELECT id, file, coalesce(t.title, c.title), summary, keywords FROM ("  # noqa: S608 -- constants
            "  SELECT e.seq, value FROM json_each(?) CROSS JOIN entries e"
            "  ON e.seq = CAST(key AS INTEGER) WHERE until IS NULL"
            f"  ORDER BY value DESC, e.seq DESC LIMIT {_LOOK_ALIKES}) s"
            " JOIN texts t USING (seq) JOIN commits c USING (seq) ORDER BY s.value DESC, seq DESC",
            (dumps(shared),),
        )
        return [
            (EntryId(id_), whole_file(file, title), title, summary, tuple(loads(keywords)))
            for id_, file, title, summary, keywords in rows
        ]

    def having(self, low: str, high: str) -> Iterator[tuple[str, list[int]]]:
        """The weighed words from `low` on and before `high`, each with its entries."""
        terms = self.base.execute(
            "SELECT term FROM vocabulary WHERE term >= ? AND term < ?", (low, high)
        ).fetchall()
        for (term,) in terms:
            # One text for thousands of entries, because a row for each costs several times as much.
            row = self.base.execute(
                "SELECT json_group_array(rowid) FROM words WHERE words MATCH ?", (f'"{term}"',)
            ).fetchone()
            yield term, loads(row[0])

    def ids(self, seqs: Iterable[int]) -> dict[int, EntryId]:
        """The ids of commits by their places in history."""
        rows = self.base.execute(
            "SELECT c.seq, c.id FROM json_each(?) j CROSS JOIN commits c ON c.seq = j.value",
            (dumps(list(seqs)),),
        )
        return {seq: EntryId(id_) for seq, id_ in rows}

    def first_word(self, start: str) -> str | None:
        """The first word of the vocabulary that is not before `start`, without its weight."""
        # The table of places, because that of words counts them first.
        row = self.base.execute(
            "SELECT term FROM places WHERE term >= ? LIMIT 1", (start,)
        ).fetchone()
        return None if row is None else word_of(row[0])

    def anchors_of(self, entry_id: str) -> tuple[Anchor, ...]:
        """The anchors of an entry, its own or those it may rely on."""
        row = self.base.execute(
            "SELECT anchors FROM texts WHERE seq = ?", (self.number(entry_id),)
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
            row = self.base.execute(
                "SELECT until FROM entries WHERE seq = ?", (self.number(one),)
            ).fetchone()
            if row is not None and (row[0] is None or row[0] > at):
                ends.append(one)
            else:
                waiting += [next_ for next_ in self.successors(one, at=at) if next_ not in waiting]
        return tuple(ends)

    def events(self) -> list[Event]:
        """All commits of the three acts, newest first."""
        rows = self.base.execute(f"SELECT {_EVENT} WHERE act IS NOT NULL ORDER BY seq DESC")
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
            f"SELECT {_EVENT} WHERE act IS NOT NULL AND c.seq IN ("  # noqa: S608 -- constants
            f" SELECT c.seq FROM json_each(:ids) j CROSS JOIN commits c ON {is_commit('j.value')}"
            " UNION ALL SELECT c.seq FROM json_each(:ids) j CROSS JOIN commits c"
            " ON c.target = j.value AND c.act = 'delete') ORDER BY c.seq DESC",
            {"ids": ids},
        ).fetchall()
        entries = self.base.execute(
            "SELECT c.id, until IS NULL FROM json_each(?) j CROSS JOIN commits c"  # noqa: S608 -- constants
            f" ON {is_commit('j.value')} CROSS JOIN entries e USING (seq) ORDER BY seq",
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
            f"{_FAMILY} SELECT hit, c.id FROM family CROSS JOIN commits c"  # noqa: S608 -- constants
            f" ON {is_commit('family.id')} CROSS JOIN entries e ON e.seq = c.seq"
            " WHERE c.id <> hit AND e.seq <= :at AND (e.until IS NULL OR e.until > :at)"
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
            "SELECT c.id, t.file, coalesce(t.title, c.title) FROM texts own"
            " CROSS JOIN texts t USING (place) CROSS JOIN commits c ON c.seq = t.seq"
            " WHERE own.seq = ? ORDER BY t.seq DESC",
            (self.number(entry_id),),
        ).fetchall()
        files = {EntryId(id_): whole_file(file, title) for id_, file, title in rows}
        return tuple(
            id_
            for id_, file in files.items()
            if id_ != entry_id and file == files[EntryId(entry_id)]
        )

    def card(self, entry_id: str) -> tuple[str, str, tuple[str, ...], Kind] | None:
        """Title, summary, keywords and kind of an entry."""
        row = self.base.execute(
            "SELECT coalesce(t.title, c.title), summary, keywords, kind FROM commits c"
            " JOIN entries USING (seq) JOIN texts t USING (seq) WHERE c.seq = ?",
            (self.number(entry_id),),
        ).fetchone()
        return None if row is None else (row[0], row[1], tuple(loads(row[2])), Kind(row[3]))

    def topics(self) -> list[tuple[EntryId, str, str, tuple[str, ...]]]:
        """Id, title, date and links of each living topic, newest first."""
        rows = self.base.execute(
            "SELECT id, coalesce(t.title, c.title), e.time, links FROM entries e"
            " JOIN texts t USING (seq) JOIN commits c USING (seq)"
            " WHERE kind = 'topic' AND until IS NULL ORDER BY e.seq DESC"
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
        rows = self.base.execute(
            "SELECT id, file, coalesce(t.title, c.title) FROM texts t JOIN commits c USING (seq)"
        )
        return {EntryId(id_): whole_file(short, title) for id_, short, title in rows}

    def found(self, hits: Iterable[Scored], *, at: int) -> tuple[Found, ...]:
        """The hits of a page with all that a reader sees of them."""
        shown = [self._found(hit, at) for hit in hits]
        rivals = self.rivals([one.id for one in shown if one.active], at=at)
        return tuple(
            one._replace(rivals=rivals[one.id]) if one.id in rivals else one for one in shown
        )

    def _found(self, hit: Scored, at: int) -> Found:
        row = self.base.execute(
            "SELECT until, seal, id, file, e.time, kind, coalesce(t.title, c.title), summary,"
            " keywords, related, anchors FROM entries e JOIN texts t USING (seq)"
            " JOIN commits c USING (seq) WHERE seq = ?",
            (hit.seq,),
        ).fetchone()
        if row is None:
            raise sqlite3.DatabaseError("a row that is found is not there")
        until, seal, id_, short, time, kind, title, summary, keywords, related, anchors = row
        file = whole_file(short, title)
        if seal_of((id_, file, time, kind, title, summary, keywords, related, anchors)) != seal:
            raise sqlite3.DatabaseError("a row is not what was written")
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


FOLDED = """coalesce(folded, lower(coalesce(t.title, c.title) || char(10) || summary || char(10)
    || replace(substr(keywords, 3, length(keywords) - 4), '", "', char(10))))"""
"""The folded lines of the texts `t` of the commit `c`."""


def seal_of(shown: Sequence[object]) -> int:
    """A checksum of what an answer shows of an entry."""
    return crc32("\0".join(map(str, shown)).encode("utf-8", "surrogatepass"))


def weighed(word: str, weight: int, *, outside: bool) -> str:
    """A word as the vocabulary has it."""
    return f"{word}{OUTSIDE if outside else INSIDE}{weight}"


def word_of(term: str) -> str:
    """The word of a weighed one."""
    return term.rstrip("0123456789")[:-1]


def weight_of(term: str) -> int:
    """The weight of a weighed word."""
    return int(term[len(word_of(term)) + 1 :])


def range_of(word: str) -> tuple[str, str]:
    """From which weighed word on, and before which, those of `word` lie."""
    return word + OUTSIDE, word + _BEHIND


def plainly_folded(title: str, summary: str, keywords: Sequence[str]) -> bool:
    """Whether `FOLDED` finds the folded lines in these texts as they are."""
    listed = '["' + '", "'.join(keywords) + '"]'
    return dumps(keywords) == listed and all(
        field.isascii() and norm(field) == field.lower() and "\0" not in field
        for field in (title, summary, *keywords)
    )


def place_of(file: str) -> int:
    """A short key of a file's name, by which its rows are found."""
    return crc32(file.encode("utf-8", "surrogatepass"))


def digest_key(digest: str) -> int:
    """A key of a digest: its first fifteen digits, 60 bits."""
    try:
        return int(digest[:15], 16)
    except ValueError:  # no digest, but what another engine wrote in its place
        return -crc32(digest.encode("utf-8", "surrogatepass"))


def short_file(file: str, title: str) -> str:
    """A file's path without what `whole_file` knows, where that gives it back: the folders that
    are in its date, and the letters that are its title's."""
    name = file.rpartition("/")[2]
    for short in (name.removesuffix(f"{slug(title)}.md"), name):
        if whole_file(short, title) == file:
            return short
    return file


def whole_file(short: str, title: str) -> str:
    """The path that was shortened."""
    if "/" in short:
        return short
    return dated_path(f"{short}{slug(title)}.md" if short.endswith("-") else short)


def below(path: bytes) -> tuple[bytes, bytes]:
    """From which key on, and before which, the paths inside the folder of this key lie."""
    return path + b"/", path + b"0"


def odd_beside(path: str) -> tuple[str, ...]:
    """What lies beside an index file where SQLite would look for its journals, and is no file."""
    names = [f"{path}{ending}" for ending in ("-journal", "-wal", "-shm")]
    return tuple(name for name in names if os.path.lexists(name) and not os.path.isfile(name))


def open_reader(git_dir: str) -> Index | None:
    """The index file as it is, for reading; None where there is none that can be used."""
    path = os.path.join(git_dir, FILE)
    if not os.path.isfile(path):
        return None
    name = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    if odd_beside(path):
        return None
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


_EVENT = "id, act, time, title, name, target, note FROM commits c JOIN authors ON number = author"


def _event(row: tuple[str, str, int, str, str, str | None, str]) -> Event:
    id_, act, time, title, author, target, note = row
    aim = None if target is None else EntryId(target)
    return Event(EntryId(id_), Act(act), iso_date(time * 1000), title, author, aim, note)
