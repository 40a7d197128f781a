"""The journal's tables, its version, and how values become columns.

One file, `journal.db`, in the state directory. Every node and edge belongs to one path
(exact-ownership): their numbers begin with the path's, so all that a path owns is one range of each
table, and replacing it is two range deletes. A node's number is the path's number in the upper bits
and a hash of its key in the lower ones: it stays the same when other definitions of the file come
and go, so an edge into an edited file stays bound without being touched. Names of files are BLOBs,
because a name need not be text. What is big and seldom asked for lies beside the paths, in `kept`,
so that an audit sweeps over small rows. No index stands here that no question asks for.
"""

import os
from collections.abc import Iterable

from heimdall.model import Facts

FILE_NAME = "journal.db"
"""The journal inside the state directory."""

SCHEMA_VERSION = 3
"""Kept in `PRAGMA user_version`; a higher one is never touched (NewerJournal). Of a lower one only
`sql.CARRIED` survives, the rest is derived from the disk and is derived again."""

KEY_BITS = 40
"""The lower bits of a node's number: 2**23 paths, and a collision every million big files."""

KEY_MASK = (1 << KEY_BITS) - 1
_KEY_BYTES = KEY_BITS // 8

STATES = ("present", "gone", "unreadable")
"""`paths.state` is an index into this; the words are those of `Presence`."""

RELATIONS = ("imports", "calls", "inherits", "uses")
"""`edges.relation` is an index into this; the words are those of `Relation`."""

RELATION_NUMBERS = {relation: number for number, relation in enumerate(RELATIONS)}

EVERYTHING = 0
"""In `unsettled_paths`: every reference of every path waits to be bound. Numbers begin at 1."""

TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE roots (
    id INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE, depth INTEGER, added_at INTEGER NOT NULL);
CREATE TABLE stores (
    path BLOB PRIMARY KEY, root BLOB NOT NULL, seen_at INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE paths (
    id INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE, root INTEGER NOT NULL,
    state INTEGER NOT NULL, hash BLOB, size INTEGER, mtime_ns INTEGER, inode INTEGER,
    asked INTEGER NOT NULL, depth INTEGER NOT NULL, extractor TEXT NOT NULL, language TEXT NOT NULL,
    generation INTEGER NOT NULL, skip_reason TEXT NOT NULL, reconciled_at INTEGER NOT NULL,
    package TEXT NOT NULL, exports TEXT, tail TEXT, kin INTEGER,
    trouble TEXT NOT NULL DEFAULT '');
CREATE TABLE kept (owner INTEGER PRIMARY KEY, sketch BLOB, tokens BLOB, shapes BLOB);
CREATE INDEX paths_hash ON paths (hash) WHERE hash IS NOT NULL;
CREATE INDEX paths_tail ON paths (tail) WHERE tail IS NOT NULL;
CREATE INDEX paths_kin ON paths (kin) WHERE kin IS NOT NULL;
CREATE INDEX paths_reason ON paths (skip_reason) WHERE skip_reason != '';
CREATE TABLE nodes (
    id INTEGER PRIMARY KEY, place INTEGER NOT NULL, key TEXT NOT NULL, kind TEXT NOT NULL,
    name TEXT NOT NULL, qualname TEXT, line INTEGER NOT NULL, end_line INTEGER NOT NULL,
    signature TEXT NOT NULL, doc TEXT NOT NULL, digest BLOB NOT NULL);
CREATE INDEX nodes_name ON nodes (name);
CREATE INDEX nodes_digest ON nodes (substr(digest, 1, 6));
CREATE TABLE edges (
    owner INTEGER NOT NULL, place INTEGER NOT NULL, src INTEGER NOT NULL, relation INTEGER NOT NULL,
    line INTEGER NOT NULL, dst INTEGER, module TEXT, name TEXT, strategy TEXT NOT NULL,
    confidence REAL NOT NULL, via TEXT, sure REAL, PRIMARY KEY (owner, place)) WITHOUT ROWID;
CREATE INDEX edges_dst ON edges (dst) WHERE dst IS NOT NULL;
CREATE VIEW pending_edges AS SELECT * FROM edges WHERE dst IS NULL;
CREATE TABLE bindings (
    owner INTEGER NOT NULL, place INTEGER NOT NULL, name TEXT NOT NULL, module TEXT NOT NULL,
    target TEXT NOT NULL, PRIMARY KEY (owner, place)) WITHOUT ROWID;
CREATE TABLE tokens (
    token INTEGER NOT NULL, owner INTEGER NOT NULL, PRIMARY KEY (token, owner)) WITHOUT ROWID;
CREATE TABLE unsettled_paths (owner INTEGER PRIMARY KEY);
CREATE TABLE unsettled_tokens (token INTEGER PRIMARY KEY);
CREATE TABLE queue (
    generation INTEGER PRIMARY KEY AUTOINCREMENT, path BLOB NOT NULL UNIQUE, reason TEXT NOT NULL);
CREATE TABLE moves (
    old BLOB NOT NULL, new BLOB NOT NULL, similarity REAL NOT NULL, at INTEGER NOT NULL,
    PRIMARY KEY (old, new)) WITHOUT ROWID;
CREATE TABLE unfollowed (
    owner INTEGER PRIMARY KEY, read INTEGER NOT NULL, hash BLOB, sketch BLOB);
CREATE TABLE loose (owner INTEGER PRIMARY KEY, born INTEGER NOT NULL, at INTEGER NOT NULL);
CREATE TABLE telling (
    piece INTEGER NOT NULL, owner INTEGER NOT NULL, PRIMARY KEY (piece, owner)) WITHOUT ROWID;
CREATE INDEX telling_owner ON telling (owner);
CREATE TABLE adrift (
    owner INTEGER NOT NULL, key TEXT NOT NULL, gone INTEGER NOT NULL, kind TEXT NOT NULL,
    name TEXT NOT NULL, shape BLOB NOT NULL, at INTEGER, PRIMARY KEY (owner, key, gone));
CREATE INDEX adrift_identity ON adrift (substr(shape, 2, 8));
CREATE INDEX adrift_name ON adrift (name);
CREATE INDEX adrift_new ON adrift (gone) WHERE at IS NULL;
CREATE TABLE symbol_moves (
    old BLOB NOT NULL, symbol TEXT NOT NULL, new BLOB NOT NULL, now TEXT NOT NULL,
    similarity REAL NOT NULL, at INTEGER NOT NULL,
    PRIMARY KEY (old, symbol, new, now)) WITHOUT ROWID;
CREATE TABLE skips (
    root INTEGER NOT NULL, path BLOB NOT NULL, reason TEXT NOT NULL,
    PRIMARY KEY (root, path)) WITHOUT ROWID;
INSERT INTO meta VALUES ('uuid', lower(hex(randomblob(16))));
INSERT INTO meta VALUES ('pass', 0);
"""


def hashed(name: str, size: int = 8) -> int:
    """A stable number of `size` bytes, signed where it has SQLite's full eight."""
    # Loads OpenSSL, which a search has no use for.
    from hashlib import blake2b  # noqa: PLC0415

    data = name.encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(data, digest_size=size).digest(), "big", signed=size == 8)


def numbers(owner: int, keys: Iterable[str]) -> dict[str, int]:
    """The number of each key of one file: a function of the set of keys alone.

    Where two keys hash alike the later one in order of spelling takes the next free number, so the
    answer never depends on where in the file they stand. The file's own node has the number 0.
    """
    from hashlib import blake2b  # noqa: PLC0415 # as in `hashed`

    base = owner << KEY_BITS
    taken: dict[int, str] = {}
    for key in sorted(set(keys)):
        # `hashed`, written out: an index has a hundred thousand keys.
        data = key.encode("utf-8", "surrogatepass")
        low = int.from_bytes(blake2b(data, digest_size=_KEY_BYTES).digest(), "big") if key else 0
        while low in taken:
            low = (low + 1) & KEY_MASK
        taken[low] = key
    return {key: base | low for low, key in taken.items()}


def span(owner: int) -> tuple[int, int]:
    """The first and the last number that a node of this path can have."""
    return owner << KEY_BITS, (owner << KEY_BITS) | KEY_MASK


def kin(path: str, facts: Facts, family: str) -> int:
    """A number shared by the files that see each other without an import: a Java package's, or a
    directory's of one language."""
    shared = facts.package if family == "java" else os.path.dirname(path)
    return hashed(f"{facts.language}\n{shared}")


def blob(path: str) -> bytes:
    """A file name as the journal keeps it: its own bytes."""
    return os.fsencode(path)


def text(path: bytes) -> str:
    """A file name as the program speaks of it."""
    return os.fsdecode(path)


def word(name: str) -> str | bytes:
    """A part of a file name for a column of texts: its bytes where it is none."""
    if name.isascii():
        return name
    data = os.fsencode(name)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data


def unword(column: str | bytes) -> str:
    """What `word` was given."""
    return column if isinstance(column, str) else os.fsdecode(column)


def beneath(path: str) -> tuple[bytes, bytes]:
    """The half-open range of BLOBs that are names beneath the directory `path`."""
    stem = blob(path).rstrip(b"/")
    return stem + b"/", stem + b"0"
