"""The derived index, made: history into the tables of `index`, whole or by what came since.

The same function fills the file and the tables in memory, commit by commit from the oldest, and an
index that was extended equals one that was built (the law of tests/laws/test_search_parity.py).
Only a writer that holds the store's lock touches the file. Never here: searching, writing history.
"""

import os
import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from json import dumps, loads

from gitmemo import chain, entry, idmap, trailers
from gitmemo.errors import GitMemoError
from gitmemo.index import FILE, SCHEMA, VERSION, WEIGHTS, Index, open_reader
from gitmemo.model import Act, Anchor, EntryId, Kind
from gitmemo.objects import read_map
from gitmemo.repo import Raw, Repo
from gitmemo.text import norm, tokens

_BUSY_S = 2.0  # readers hold the file for milliseconds; whoever holds it longer is not waited for


def in_memory(repo: Repo, tip: EntryId) -> Index:
    """The index of `tip` in memory: a copy of the file brought up to date where that is possible,
    else all of history. Touches no file."""
    base = sqlite3.connect(":memory:", isolation_level=None)
    held = open_reader(repo.git_dir)
    if held is not None:
        try:
            missing = _missing(repo, held.tip, tip)
            if missing is not None:
                held.base.backup(base)
                _extend(base, repo, missing, tip)
                return Index(base)
        except sqlite3.Error:  # damaged somewhere inside: history knows it all
            base.close()
            base = sqlite3.connect(":memory:", isolation_level=None)
        finally:
            held.close()
    _build(base, repo, tip)
    return Index(base)


def up_to_date(repo: Repo, tip: EntryId) -> Index:
    """The index file at `tip`, made or brought up to date; in memory where the disk refuses. Call
    with the store's lock held."""
    path = os.path.join(repo.git_dir, FILE)
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


def advance(index: Index, repo: Repo, tip: EntryId) -> None:
    """Bring an index from `up_to_date` on to `tip`. It is derived and the change is done: where
    the machine refuses, readers walk the missing commit and the next writer tries again."""
    with suppress(sqlite3.Error, GitMemoError, OSError):
        missing = _missing(repo, index.tip, tip)
        if missing is None:
            return
        index.base.execute("BEGIN IMMEDIATE")
        try:
            _extend(index.base, repo, missing, tip)
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
    return repo.since(base, tip)


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
    _add_commits(base, repo, commits[::-1])
    if not straight:
        living = chain.active(map(_commit, commits), files)
        base.execute("CREATE TEMP TABLE living (id TEXT PRIMARY KEY)")
        base.executemany("INSERT INTO living VALUES (?)", ((id_,) for id_ in living.values()))
        base.execute("UPDATE entries SET touch = NULL")
        base.execute(
            "UPDATE entries SET until = CASE WHEN id IN (SELECT id FROM living)"
            " THEN NULL ELSE seq END"
        )
        base.execute("DROP TABLE living")
    start = 0 if straight else len(commits)
    base.execute("INSERT INTO meta VALUES (?, ?)", (tip, start))


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
                raw.author,
                message.type,
                message.subject,
                target if message.type in (Act.REPLACE, Act.DELETE) else None,
                message.summary if message.type is Act.DELETE else "",
            ),
        )
        for path in (*raw.removed, *raw.added):
            base.execute(
                "UPDATE entries SET until = ? WHERE file = ? AND until IS NULL", (seq, path)
            )
        for path in raw.modified:
            base.execute(
                "UPDATE entries SET touch = ? WHERE file = ? AND until IS NULL", (raw.id, path)
            )
        file = chain.claim(_commit(raw))
        if file is not None:
            _add_entry(base, repo, raw, message, file=file, seq=seq)


def _add_entry(
    base: sqlite3.Connection,
    repo: Repo,
    raw: Raw,
    message: trailers.Message,
    *,
    file: str,
    seq: int,
) -> None:
    said = entry.parse(repo.file(raw.id, file) or b"", digest=message.digest)
    texts = {
        "title": message.subject,
        "keywords": "\n".join(message.keywords),
        "summary": message.summary,
        "body": said.content,
    }
    words = {field: tokens(text) for field, text in texts.items()}
    length = sum(WEIGHTS[field] * len(found) for field, found in words.items())
    folded = (message.subject, message.summary, *message.keywords)
    anchors = message.anchors or said.anchors or _inherited(base, message, said.related_paths)
    base.execute(
        "INSERT INTO entries VALUES (?, ?, ?, NULL, ?, ?, ?, ?, ?)",
        (
            seq,
            raw.id,
            file,
            raw.id,
            raw.time,
            float(length),
            message.kind.value,
            message.digest,
        ),
    )
    base.execute(
        "INSERT INTO texts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            seq,
            message.subject,
            message.summary,
            dumps(message.keywords),
            "\n".join(map(norm, folded)),
            raw.message,
            dumps(said.related_paths),
            dumps(anchors),
            dumps(_linked(repo, said.content) if message.kind is Kind.TOPIC else ()),
        ),
    )
    base.execute(
        "INSERT INTO words (rowid, title, keywords, summary, body) VALUES (?, ?, ?, ?, ?)",
        (seq, *(" ".join(words[field]) for field in WEIGHTS)),
    )


def _linked(repo: Repo, content: str) -> tuple[str, ...]:
    """The links of a topic by what a purge has made of their ids."""
    renamed = read_map(repo.git_dir)
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
        "SELECT anchors FROM entries JOIN texts USING (seq) WHERE id = ?", (message.replaces,)
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
