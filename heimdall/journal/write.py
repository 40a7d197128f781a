"""The journal's pen, for the one process that holds the writer lock (single-writer).

exact-ownership: a commit takes away everything that its path owned and lays down what it owns now,
in one transaction with the path's row. generation-guard: a commit that names an older generation
than the queue does is refused. Nothing here decides what a path should be; that is for the
reconciler and `heimdall.core.decide`. Held by tests/heimdall/journal and tests/laws.
"""

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from heimdall.core.tokens import Surface, emits, surface
from heimdall.errors import DamagedJournal, IoRefused
from heimdall.journal import adrift, connect, create, ends, own, schema, sql
from heimdall.journal.read import JournalReader, queued, stored_facts
from heimdall.journal.values import Commit, Move, Queued, Refresh, Retract, Skip, Unreadable
from heimdall.model import Action, Depth, Outcome, Presence
from heimdall.paths import under


def open_writer(home: str, *, now: Callable[[], float]) -> "JournalWriter":
    """The journal of the state directory `home`, made if it is not there (0700, files 0600).

    The caller holds the writer lock; `now` is the clock in seconds. Raises NewerJournal,
    DamagedJournal, IoRefused.
    """
    path = os.path.join(home, schema.FILE_NAME)
    try:
        os.makedirs(home, 0o700, exist_ok=True)
        if os.path.lexists(path) and not os.path.isfile(path):
            raise DamagedJournal(path, "no regular file")
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise IoRefused(path, error.errno or 0, "open") from error
    # SQLite would take a file of a few bytes for an empty database and write over it.
    if os.path.getsize(path) and not os.path.exists(path + "-wal"):
        connect.require_whole(path, os.path.getsize(path))
    connection = sqlite3.connect(path, isolation_level=None, timeout=connect.BUSY_MS / 1000)
    try:
        create.prepare(connection, path)
    except sqlite3.DatabaseError as error:
        connection.close()
        raise connect.told(path, error) from error
    except BaseException:
        connection.close()
        raise
    return JournalWriter(path, connection, now)


class JournalWriter(JournalReader):
    """Everything a reader can, and the changes.

    Every method is a transaction of its own unless it is called inside `with transaction():`.
    """

    def __init__(self, path: str, connection: sqlite3.Connection, now: Callable[[], float]) -> None:
        super().__init__(path, connect.Opened(connection, None))
        self._now = now
        self._nesting = 0
        self._root_ids: dict[str, int] = {}
        self.aside = ""
        """The damaged journal in whose place this one was made."""

    def close(self) -> None:
        """Fold the log into the file, so that readers need no lock, and let go."""
        try:
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.DatabaseError:
            # A reader is at work or the disk is full: the log stays, and readers know what to do.
            # Or the file is damaged, which whoever closes it has been told or will be.
            pass
        finally:
            self._db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing; inner ones join the outermost. Raises IoRefused if the disk refuses."""
        if self._nesting:
            yield
            return
        self._execute("BEGIN IMMEDIATE")
        self._nesting = 1
        try:
            yield
            self._execute("COMMIT")
        except BaseException:
            self._root_ids.clear()
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise
        finally:
            self._nesting = 0

    # -- the queue ---------------------------------------------------------------------------------

    def enqueue(self, paths: Iterable[str], reason: str) -> None:
        """Give each path a new generation, higher than any before: what is being read of it now
        will be refused, and it will be looked at again."""
        with self.transaction():
            self._db.executemany(sql.ENQUEUE, ((schema.blob(path), reason) for path in paths))

    def take(self, limit: int, after: int = 0) -> tuple[Queued, ...]:
        """The oldest `limit` with a generation above `after`, oldest first. They stay queued until
        they are committed, retracted, kept, refreshed or dropped."""
        return queued(self._db, limit, after)

    def drop(self, entries: Iterable[tuple[str, int]]) -> None:
        """Take (path, generation) from the queue without a word about the path."""
        with self.transaction():
            rows = ((schema.blob(path), generation) for path, generation in entries)
            self._db.executemany(sql.DEQUEUE, rows)

    # -- one path's outcome ------------------------------------------------------------------------

    def commit(self, batch: Sequence[Commit]) -> list[Outcome]:
        """Make each path own exactly what its commit says: INDEXED, UPDATED, or STALE and queued
        again where it has moved on. Rows of other paths that pointed to what is no longer there go
        back to pending at once, and wait to be settled."""
        with self.transaction():
            return [self._commit(entry) for entry in batch]

    def refresh(self, batch: Sequence[Refresh]) -> list[Outcome]:
        """Write a new stat over unchanged bytes: UNCHANGED, or STALE. A path without a row is
        STALE: there is nothing to refresh."""
        with self.transaction():
            return [self._refresh(entry) for entry in batch]

    def retract(self, batch: Sequence[Retract]) -> list[Outcome]:
        """Take away all that the paths owned: RETRACTED, UNCHANGED where there was nothing, or
        STALE. A path that was never there leaves no row."""
        with self.transaction():
            return [self._retract(entry) for entry in batch]

    def keep_unreadable(self, batch: Sequence[Unreadable]) -> list[Outcome]:
        """Mark paths that could not be looked at, keeping what is known (three-outcomes): KEPT, or
        STALE."""
        with self.transaction():
            return [self._keep(entry) for entry in batch]

    def settle(self) -> int:
        """Bind every reference whose target may have changed since the last call; the answer is how
        many edges changed. What is still to be settled is in the journal itself, so a crash between
        a commit and this loses nothing."""
        from heimdall.journal import settle  # noqa: PLC0415 # the resolver is loaded to bind

        with self.transaction():
            return settle.settle(self._db)

    # -- registry ----------------------------------------------------------------------------------

    def add_root(self, path: str, depth: Depth | None = None) -> None:
        """Register a root, or change its depth. Paths of an outer root that lie beneath it become
        its own, and every reference is bound anew, for edges never leave their root."""
        with self.transaction():
            at = int(self._now() * 1000)
            known = self._db.execute(sql.ROOT_ID, (schema.blob(path),)).fetchone()
            self._db.execute(sql.ADD_ROOT, (schema.blob(path), depth, at))
            if known is None:
                self._adopt(path)

    def remove_root(self, path: str) -> tuple[str, ...]:
        """Forget a root and all its paths; the answer is what a sink must remove."""
        with self.transaction():
            row = self._db.execute(sql.ROOT_ID, (schema.blob(path),)).fetchone()
            if row is None:
                return ()
            owned = self._db.execute(sql.PATHS_OF_ROOT, row).fetchall()
            for owner, _, tokens in owned:
                own.clear(self._db, owner, tokens)
                self._db.execute(sql.DELETE_KEPT, (owner,))
                self._db.execute(sql.DELETE_PATH, (owner,))
            self.ends.orphaned()
            self._db.execute(sql.DELETE_SKIPS, row)
            self._db.execute(sql.DELETE_ROOT, row)
            self._root_ids.clear()
            return tuple(schema.text(name) for _, name, _ in owned)

    def wipe(self) -> None:
        """Forget all but roots and stores, whoever owned it."""
        with self.transaction():
            for statement in sql.WIPE:
                self._db.execute(statement)

    def add_store(self, path: str, root: str) -> None:
        """Register the store `path` (a `.mem` directory) of the project `root`."""
        with self.transaction():
            at = int(self._now() * 1000)
            self._db.execute(sql.ADD_STORE, (schema.blob(path), schema.blob(root), at))

    def remove_store(self, path: str) -> None:
        """Forget a store."""
        with self.transaction():
            self._db.execute(sql.REMOVE_STORE, (schema.blob(path),))

    def record_move(self, move: Move) -> None:
        """Remember where a path's content went."""
        old, new = schema.blob(move.old), schema.blob(move.new)
        with self.transaction():
            self._db.execute(sql.RECORD_MOVE, (old, new, move.similarity, move.at))

    @property
    def ends(self) -> ends.Ends:
        """What came and went and was not followed yet; used inside `transaction`."""
        return ends.Ends(self._db)

    @property
    def adrift(self) -> adrift.Adrift:
        """The definitions that vanished or appeared; used inside `transaction`."""
        return adrift.Adrift(self._db)

    def set_skips(self, root: str, skips: Iterable[Skip]) -> None:
        """What a whole walk of `root` passed over, in place of what the last one did."""
        with self.transaction():
            number = self._root_id(root)
            self._db.execute(sql.DELETE_SKIPS, (number,))
            rows = ((number, schema.blob(skip.path), skip.reason) for skip in skips)
            self._db.executemany(sql.INSERT_SKIP, rows)

    # -- the sink's stamp --------------------------------------------------------------------------

    def next_stamp(self) -> str:
        """The stamp for the sink's commit of this pass. The sink commits first, then the journal
        with `set_stamp`: a crash between the two leaves the sink one pass ahead and the pass's
        paths queued, never the other way round (project-before-commit)."""
        head, _, number = self.stamp().rpartition(":")
        return f"{head}:{int(number) + 1}"

    def set_stamp(self, stamp: str) -> None:
        """Record, in the transaction of the pass, the stamp under which the sink was committed."""
        with self.transaction():
            self._db.execute(sql.SET_PASS, (int(stamp.rpartition(":")[2]),))

    def prune(self, before_ms: int) -> int:
        """Forget GONE paths and moves older than `before_ms`; the answer is how many paths."""
        with self.transaction():
            owners = self._db.execute(sql.OLD_PATHS, (before_ms,)).fetchall()
            self._db.executemany(sql.DELETE_KEPT, owners)
            self._db.executemany(sql.DELETE_PATH, owners)
            self._db.execute(sql.OLD_MOVES, (before_ms,))
            fresh = int(self._now() * 1000) - ends.FRESH_MS
            self.ends.forget(fresh)
            self.adrift.forget(fresh, before_ms)
            return len(owners)

    # -- performing --------------------------------------------------------------------------------

    def copy_to(self, path: str) -> None:
        """The whole journal as it is now, in a file of its own. Raises IoRefused."""
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        other = sqlite3.connect(path)
        try:
            self._db.backup(other)
        except sqlite3.DatabaseError as error:
            raise connect.told(path, error) from error
        finally:
            other.close()

    def _execute(self, statement: str) -> None:
        try:
            self._db.execute(statement)
        except sqlite3.DatabaseError as error:
            raise connect.told(self._path, error) from error

    def _root_id(self, root: str) -> int:
        """The number of a root, registered at need."""
        if root not in self._root_ids:
            name = schema.blob(root)
            if self._db.execute(sql.ROOT_ID, (name,)).fetchone() is None:
                self._db.execute(sql.ADD_ROOT, (name, None, int(self._now() * 1000)))
            self._root_ids[root] = self._db.execute(sql.ROOT_ID, (name,)).fetchone()[0]
        return self._root_ids[root]

    def _adopt(self, path: str) -> None:
        """Give a new root the paths beneath it that belong to roots around it."""
        first, last = schema.beneath(path)
        new = self._root_id(path)
        for number, name in self._db.execute(sql.ROOT_IDS).fetchall():
            if number != new and under(path, schema.text(name)):
                values = {"new": new, "old": number, "first": first, "last": last}
                if self._db.execute(sql.ADOPT, values).rowcount:
                    self._db.execute(sql.UNSETTLE_PATH, (schema.EVERYTHING,))

    def _stale(self, name: bytes, generation: int) -> bool:
        """generation-guard. The queue's number is the newest; without one, the row's is. A path
        that has moved on and is not queued is queued, so that a refusal is never the last word."""
        waiting, known = self._db.execute(sql.GENERATION, {"path": name}).fetchone()
        if generation == (known if waiting is None else waiting):
            return False
        if waiting is None:
            self._db.execute(sql.ENQUEUE, (name, "stale"))
        return True

    def _commit(self, entry: Commit) -> Outcome:
        name = schema.blob(entry.path)
        if self._stale(name, entry.generation):
            return Outcome(entry.path, Action.STALE, "generation")
        row = self._db.execute(sql.OWNER, (name,)).fetchone()
        fresh = row is None or schema.STATES[row[1]] == Presence.GONE
        root = self._root_id(entry.root)
        if row is None:
            if self._db.execute(sql.NOTHING_BOUND).fetchone()[0]:
                self._db.execute(sql.UNSETTLE_PATH, (schema.EVERYTHING,))
            owner = self._db.execute(sql.INSERT_PATH, (name, root)).lastrowid or 0
            self._announce(entry.path, None, entry)
        else:
            owner = row[0]
            self._announce(entry.path, self._surface(entry.path, row[3]), entry)
        numbers = (
            schema.numbers(owner, (node.key for node in entry.facts.nodes)) if (entry.facts) else {}
        )
        if row is not None:
            if not fresh:
                adrift.note(self._db, owner, entry)
            own.vanish(self._db, owner, frozenset(numbers.values()))
            own.clear(self._db, owner, row[2])
        if fresh:
            self._db.execute(sql.UNFOLLOW, (owner, 0, None, None))
        elif row[4] is not None and ends.displaced(row[4], row[5], entry):
            self._db.execute(sql.UNFOLLOW, (owner, row[6], row[4], row[5]))
        reason = entry.facts.reason if entry.facts else entry.reason
        own.describe(self._db, owner, root, entry, self._moment(entry.seen_at))
        self._db.execute(sql.KEEP, (owner, entry.sketch or None, entry.shapes or None))
        if entry.facts is not None:
            own.lay_down(self._db, owner, numbers, entry.facts)
        self._db.execute(sql.UNSETTLE_PATH, (owner,))
        self._db.execute(sql.DEQUEUE, (name, entry.generation))
        return Outcome(entry.path, Action.INDEXED if fresh else Action.UPDATED, reason)

    def _refresh(self, entry: Refresh) -> Outcome:
        name = schema.blob(entry.path)
        if self._stale(name, entry.generation):
            return Outcome(entry.path, Action.STALE, "generation")
        size, mtime_ns, inode = entry.stat
        at = self._moment(entry.seen_at)
        values = (size, mtime_ns, inode, entry.generation, at, name)
        if not self._db.execute(sql.REFRESH_PATH, values).rowcount:
            self._db.execute(sql.ENQUEUE, (name, "stale"))
            return Outcome(entry.path, Action.STALE, "unknown")
        self._db.execute(sql.DEQUEUE, (name, entry.generation))
        return Outcome(entry.path, Action.UNCHANGED, "")

    def _retract(self, entry: Retract) -> Outcome:
        name = schema.blob(entry.path)
        if self._stale(name, entry.generation):
            return Outcome(entry.path, Action.STALE, "generation")
        row = self._db.execute(sql.OWNER, (name,)).fetchone()
        self._db.execute(sql.DEQUEUE, (name, entry.generation))
        if row is None or schema.STATES[row[1]] == Presence.GONE:
            return Outcome(entry.path, Action.UNCHANGED, "")
        owner, _, tokens, root = row[:4]
        self._announce(entry.path, self._surface(entry.path, root), None)
        adrift.note(self._db, owner, None)
        own.vanish(self._db, owner, frozenset())
        own.clear(self._db, owner, tokens)
        self._db.execute(sql.RETRACT_PATH, (entry.generation, self._moment(0), owner))
        self._db.execute(sql.UNFOLLOW, (owner, row[6], None, None))
        self._db.execute(sql.FORGET_TOKENS, (owner,))
        return Outcome(entry.path, Action.RETRACTED, "")

    def _keep(self, entry: Unreadable) -> Outcome:
        name = schema.blob(entry.path)
        if self._stale(name, entry.generation):
            return Outcome(entry.path, Action.STALE, "generation")
        if self._db.execute(sql.OWNER, (name,)).fetchone() is None:
            self._db.execute(sql.INSERT_PATH, (name, self._root_id(entry.root)))
        at = self._moment(entry.seen_at)
        self._db.execute(sql.KEEP_PATH, (entry.generation, entry.reason, at, name))
        self._db.execute(sql.DEQUEUE, (name, entry.generation))
        return Outcome(entry.path, Action.KEPT, entry.reason)

    def _moment(self, seen_at: int) -> int:
        return seen_at or int(self._now() * 1000)

    # -- what a path owns --------------------------------------------------------------------------

    def _surface(self, path: str, root: bytes | None) -> Surface | None:
        """What other files' references could depend on in the path as it is stored."""
        if self._everything_waits():
            return None
        facts = stored_facts(self._db, path, sql.INHERITS_AS_EXTRACTED)
        return surface(schema.text(root or b""), facts) if facts else None

    def _announce(self, path: str, before: Surface | None, entry: Commit | None) -> None:
        """Note the answers that change with this path. Pointless while everything waits."""
        if self._everything_waits():
            return
        after = surface(entry.root, entry.facts) if entry and entry.facts else None
        tokens = ((schema.hashed(token),) for token in emits(path, before, after))
        self._db.executemany(sql.UNSETTLE_TOKEN, tokens)

    def _everything_waits(self) -> bool:
        return self._db.execute(sql.EVERYTHING_WAITS).fetchone() is not None
