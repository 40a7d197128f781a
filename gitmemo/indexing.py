"""The derived index, made: history into the tables of `index`, whole or by what came since.

The same function fills the file and the tables in memory, commit by commit from the oldest, and an
index that was extended equals one that was built (the law of tests/laws/test_search_parity.py).
Only a writer that holds the store's lock touches the file. Never here: searching, writing history.
"""

import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from itertools import zip_longest
from json import dumps, loads

from gitmemo import chain, entry, gate, idmap, legacy, trailers
from gitmemo.errors import GitMemoError
from gitmemo.index import (
    FILE,
    GARBLED,
    SCHEMA,
    VERSION,
    WEIGHTS,
    Index,
    digest_key,
    is_commit,
    odd_beside,
    open_reader,
    place_of,
    plainly_folded,
    seal_of,
    short_file,
    weighed,
    whole_file,
)
from gitmemo.model import Act, Anchor, EntryId, Kind
from gitmemo.repo import Raw, Repo
from gitmemo.text import further_tokens, norm, path_key, tokens

_BUSY_S = 2.0  # readers hold the file for milliseconds; whoever holds it longer is not waited for


def in_memory(repo: Repo, tip: EntryId, *, believed: bool = True) -> Index:
    """The index of `tip` in memory: a copy of the file brought up to date where that is possible
    (and where the file is `believed`), else all of history. Touches no file."""
    base = sqlite3.connect(":memory:", isolation_level=None)
    held = open_reader(repo.git_dir) if believed else None
    if held is not None:
        try:
            missing = _missing(repo, held.tip, tip)
            if missing is not None:
                held.base.backup(base)
                _extend(base, repo, missing, tip)
                return Index(base)
        except (sqlite3.Error, *GARBLED):  # damaged somewhere inside: history knows it all
            base.close()
            base = sqlite3.connect(":memory:", isolation_level=None)
        finally:
            held.close()
    _build(base, repo, tip)
    return Index(base)


def same_as_history(repo: Repo, tip: EntryId) -> bool:
    """Whether readers are told by the index file what history says, down to the last byte; reads
    everything. True also where there is no file that a reader would use. Touches no file."""
    held = open_reader(repo.git_dir)
    if held is None:
        return True
    with closing(held):
        try:
            if not repo.has(held.tip) or not repo.is_ancestor(held.tip, tip):
                return True  # of another history: every reader passes it over
            with closing(_grown_like(held, repo)) as made:
                return _holds(held.base) and all(
                    all(one == other for one, other in zip_longest(*rows))
                    for rows in (
                        [index.base.execute(question) for index in (held, made)]
                        for question in _EVERYTHING
                    )
                )
        except (sqlite3.Error, *GARBLED):
            return False


def _grown_like(held: Index, repo: Repo) -> Index:
    """What `held` should be: built up to where its history is one line, then extended."""
    base = sqlite3.connect(":memory:", isolation_level=None)
    commits = list(repo.walk(held.tip))
    later = commits[: max(0, len(commits) - held.straight_from)] if held.straight_from else []
    _build(base, repo, EntryId(commits[len(later)].id))
    _extend(base, repo, later, held.tip)
    return Index(base)


def _holds(base: sqlite3.Connection) -> bool:
    """Whether SQLite finds its own structures whole, and each word by its name."""
    if base.execute("PRAGMA integrity_check").fetchone() != ("ok",):
        return False
    found = "SELECT count(*) FROM places WHERE term = ?"
    return all(
        base.execute(found, (word,)).fetchone() == (count,)
        for word, count in base.execute("SELECT term, doc FROM vocabulary").fetchall()
    )


_EVERYTHING = (
    "SELECT * FROM meta",
    "SELECT * FROM authors ORDER BY number",
    "SELECT * FROM commits ORDER BY seq",
    "SELECT * FROM entries ORDER BY seq",
    "SELECT * FROM texts ORDER BY seq",
    "SELECT * FROM concerns ORDER BY path, seq",
    "SELECT term, doc FROM places ORDER BY term, doc",
)


def up_to_date(repo: Repo, tip: EntryId) -> Index:
    """The index file at `tip`, made or brought up to date; in memory where the disk refuses. Call
    with the store's lock held."""
    path = os.path.join(repo.git_dir, FILE)
    try:
        for name in odd_beside(path):
            os.unlink(name)
        if os.path.lexists(path) and not os.path.isfile(path):
            os.unlink(path)
    except OSError:  # a folder, or no permission
        return in_memory(repo, tip)
    if _is_of_old(path):
        _remove(path)  # emptied and filled again it would keep its size, and it is larger
    for attempt in (1, 2):
        try:
            return _written(path, repo, tip)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_ERROR:
                break  # no room, no permission, busy: the file may be right, so it stays
            _remove(path)
        except sqlite3.DatabaseError:  # damaged: derived data is thrown away and made again
            _remove(path)
        if attempt == 2:
            break
    return in_memory(repo, tip)


def _is_of_old(path: str) -> bool:
    """Whether the tables are of another version, by the number in the head of the file."""
    with suppress(OSError), gate.opened(path) as file:
        head = file.read(64)
        version = int.from_bytes(head[60:], "big")
        return head.startswith(b"SQLite format 3\0") and version not in (0, VERSION)
    return False


def advance(
    index: Index, repo: Repo, tip: EntryId, *, also: Callable[[sqlite3.Connection], None]
) -> None:
    """Bring an index from `up_to_date` on to `tip`, and let `also` write in the same transaction.
    It is derived and the change is done: where the machine refuses, readers walk the missing
    commit and the next writer tries again."""
    with suppress(sqlite3.Error, GitMemoError, OSError):
        missing = _missing(repo, index.tip, tip)
        if missing is None:
            return
        index.base.execute("BEGIN IMMEDIATE")
        try:
            _extend(index.base, repo, missing, tip)
            also(index.base)
            index.base.execute("COMMIT")
        except (sqlite3.Error, GitMemoError, OSError):
            index.base.execute("ROLLBACK")
            raise


def _written(path: str, repo: Repo, tip: EntryId) -> Index:
    base = sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None)
    try:
        base.execute("PRAGMA synchronous = NORMAL")
        version = base.execute("PRAGMA user_version").fetchone()[0]
        base.execute("BEGIN IMMEDIATE")
        held = base.execute("SELECT tip FROM meta").fetchone() if version == VERSION else None
        missing = None if held is None else _missing(repo, held[0], tip)
        if missing is None:
            _clear(base)
            _build(base, repo, tip)
        elif held is not None and held[0] != tip:
            _extend(base, repo, missing, tip)
        base.execute("COMMIT")
        return Index(base)
    except BaseException:
        base.close()
        raise


def _missing(repo: Repo, base: str, tip: EntryId) -> list[Raw] | None:
    """The commits after `base`, newest first, where adding them gives the index of `tip`."""
    if base == tip:
        return []
    if not repo.has(base):
        return None
    found = repo.since(base, tip)
    # What touched no entry is not in the walk of history either, and takes no number.
    return found and [raw for raw in found if raw.added or raw.removed or raw.modified]


def _clear(base: sqlite3.Connection) -> None:
    names = [
        name
        for (name,) in base.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        )
    ]
    # A virtual table takes its shadows along, and the two vocabularies go before what they show.
    own = [name for name in names if not name.startswith("words_")]
    for name in sorted(own, key=lambda name: name == "words"):
        base.execute(f'DROP TABLE "{name}"')


def _remove(path: str) -> None:
    for name in (path, f"{path}-journal"):
        with suppress(FileNotFoundError):
            os.unlink(name)


def _build(base: sqlite3.Connection, repo: Repo, tip: EntryId) -> None:
    for statement in SCHEMA.split(";"):
        if statement.strip():
            base.execute(statement)
    commits = list(repo.walk(tip))
    straight = _straight(commits)
    files = repo.files(tip)
    start = 0 if straight else len(commits)
    base.execute("INSERT INTO meta VALUES (?, ?, 0, 0, NULL)", (tip, start))
    _add_commits(base, repo, commits[::-1])
    if not straight:
        living = chain.active(map(_commit, commits), files)
        base.execute("CREATE TEMP TABLE living (id TEXT PRIMARY KEY)")
        base.executemany("INSERT INTO living VALUES (?)", ((id_,) for id_ in living.values()))
        base.execute("UPDATE entries SET touch = NULL")
        base.execute(
            "UPDATE entries SET until = CASE WHEN seq IN (SELECT seq FROM living"
            " JOIN commits USING (id)) THEN NULL ELSE seq END"
        )
        base.execute("DROP TABLE living")
        count_living(base)


def count_living(base: sqlite3.Connection) -> None:
    """Put into `meta` what the entries sum up to."""
    base.execute(
        "UPDATE meta SET (living, length) ="
        " (SELECT count(*), total(length) FROM entries WHERE until IS NULL),"
        " shortest = (SELECT min(length) FROM entries)"
    )


def _straight(commits: Sequence[Raw]) -> bool:
    """Whether the walk that gave `commits` followed one line: it forks at merges and nowhere else,
    and a merge that took one side whole is not among them."""
    return all(len(commit.parents) <= 1 for commit in commits)


def _extend(base: sqlite3.Connection, repo: Repo, missing: Sequence[Raw], tip: EntryId) -> None:
    _add_commits(base, repo, missing[::-1])
    base.execute("UPDATE meta SET tip = ?", (tip,))


def _add_commits(base: sqlite3.Connection, repo: Repo, commits: Sequence[Raw]) -> None:
    """Add `commits`, oldest first, each following the ones before it."""
    seq = base.execute("SELECT coalesce(max(seq), 0) FROM commits").fetchone()[0]
    for raw in commits:
        seq += 1
        message = trailers.parse(raw.message)
        target = message.replaces if message.type is Act.REPLACE else message.deletes
        base.execute(
            "INSERT INTO commits VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                seq,
                raw.id,
                raw.time,
                author(base, raw.author),
                message.type,
                message.subject,
                target if message.type in (Act.REPLACE, Act.DELETE) else None,
                message.summary if message.type is Act.DELETE else "",
            ),
        )
        for path in (*raw.removed, *raw.added):
            for one, length in _living_of(base, path):
                base.execute("UPDATE entries SET until = ? WHERE seq = ?", (seq, one))
                base.execute("UPDATE meta SET living = living - 1, length = length - ?", (length,))
        for path in raw.modified:
            for one, _ in _living_of(base, path):
                base.execute("UPDATE entries SET touch = ? WHERE seq = ?", (raw.id, one))
        file = chain.claim(_commit(raw))
        if file is not None:
            add_entry(base, repo, raw, message, file=file, seq=seq)


def author(base: sqlite3.Connection, name: str) -> int:
    """The number of an author, who gets the next one where there is none."""
    asked = "SELECT number FROM authors WHERE name = ?"
    known = base.execute(asked, (name,)).fetchone()
    if known is None:
        base.execute("INSERT INTO authors (name) VALUES (?)", (name,))
        known = base.execute(asked, (name,)).fetchone()
    return int(known[0])


def _living_of(base: sqlite3.Connection, file: str) -> list[tuple[int, float]]:
    """The `seq` and length of the living entries of `file`."""
    rows = base.execute(
        "SELECT seq, length, file, coalesce(t.title, c.title) FROM texts t"
        " CROSS JOIN entries USING (seq) CROSS JOIN commits c USING (seq)"
        " WHERE place = ? AND until IS NULL",
        (place_of(file),),
    ).fetchall()
    return [(seq, length) for seq, length, *own in rows if whole_file(*own) == file]


def add_entry(
    base: sqlite3.Connection,
    repo: Repo,
    raw: Raw,
    message: trailers.Message,
    *,
    file: str,
    seq: int,
    said: entry.EntryFile | None = None,
) -> None:
    """Add the entry that `raw` stands for; `said` is what its file says, where the caller knows
    better than `entry.parse`."""
    said = said or entry.parse(repo.file(raw.id, file) or b"", digest=message.digest)
    if message.legacy:
        said = said._replace(related_paths=legacy.project_paths(said.related_paths))
    texts = {
        "title": message.subject,
        "keywords": "\n".join(message.keywords),
        "summary": message.summary,
        "body": said.content,
    }
    words = {field: tokens(text) for field, text in texts.items()}
    length = float(sum(WEIGHTS[field] * len(found) for field, found in words.items()))
    weights: Counter[str] = Counter()
    outside: set[str] = set()
    for field, text in texts.items():
        for word in (*words[field], *further_tokens(text)):
            weights[word] += WEIGHTS[field]
            if field != "body":
                outside.add(word)
    anchors = message.anchors or said.anchors or _inherited(base, message, said.related_paths)
    base.execute(
        "INSERT INTO entries VALUES (?, ?, ?, ?, NULL, '')",
        (seq, raw.time, length, message.kind.value),
    )
    base.execute(
        "UPDATE meta SET living = living + 1, length = length + ?1,"
        " shortest = min(coalesce(shortest, ?1), ?1)",
        (length,),
    )
    keywords, related, pinned = map(dumps, (message.keywords, said.related_paths, anchors))
    shown = (
        *(raw.id, file, raw.time, message.kind.value),
        *(message.subject, message.summary, keywords, related, pinned),
    )
    subject = base.execute("SELECT title FROM commits WHERE seq = ?", (seq,)).fetchone()
    folded = [norm(text) for text in (message.subject, message.summary, *message.keywords)]
    plain = plainly_folded(message.subject, message.summary, message.keywords)
    base.execute(
        "INSERT INTO texts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(seq, short_file(file, message.subject), place_of(file)),
            None if message.digest is None else digest_key(message.digest),
            None if subject == (message.subject,) else message.subject,
            *(message.summary, keywords),
            None if plain else "\n".join(folded),
            None if all(field in raw.message for field in folded) else raw.message,
            *(related, pinned),
            dumps(_linked(repo, said.content) if message.kind is Kind.TOPIC else ()),
            seal_of(shown),
        ),
    )
    paths = {path_key(path) for path in (*said.related_paths, *(one.path for one in anchors))}
    base.executemany("INSERT INTO concerns VALUES (?, ?)", ((path, seq) for path in paths))
    base.execute(
        "INSERT INTO words (rowid, word) VALUES (?, ?)",
        (
            seq,
            " ".join(weighed(word, n, outside=word in outside) for word, n in weights.items()),
        ),
    )


def _linked(repo: Repo, content: str) -> tuple[str, ...]:
    """The links of a topic by what a purge has made of their ids."""
    renamed = repo.id_map()
    found = ((link, idmap.like(renamed, link)) for link in entry.links(content))
    return tuple((now[0].new or link) if len(now) == 1 else link for link, now in found)


def _inherited(
    base: sqlite3.Connection, message: trailers.Message, related: Sequence[str]
) -> tuple[Anchor, ...]:
    """The anchors of the replaced entry for paths that are still related: an engine that knows no
    anchors drops them, and history keeps them."""
    if message.type is not Act.REPLACE or message.replaces is None or not related:
        return ()
    row = base.execute(
        "SELECT anchors FROM commits c CROSS JOIN texts USING (seq)"  # noqa: S608 -- constants
        f" WHERE {is_commit('?1')}",
        (message.replaces,),
    ).fetchone()
    if row is None:
        return ()
    anchors = (Anchor(*fields) for fields in loads(row[0]))
    return tuple(anchor for anchor in anchors if anchor.path in related)


def _commit(raw: Raw) -> chain.Commit:
    return chain.Commit(
        raw.id,
        raw.parents,
        raw.time,
        raw.author,
        trailers.parse(raw.message),
        raw.added,
        raw.removed,
    )
