"""One pass of the reconciler, from hints to a settled journal: the front of this package.

Keeps `single-writer`: whatever changes the journal or the sink happens inside `held`. A pass is
always the same: take hints, walk what has to be walked, queue what disagrees, empty the queue,
follow moves, settle. Each step leaves a state from which the next pass goes on, so that being
killed between any two of them costs time and nothing else.
"""

import contextlib
import gc
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from heimdall import hints
from heimdall.config import Settings
from heimdall.errors import DamagedJournal, NoJournal, UnknownPath, WriterBusy
from heimdall.extract.pool import Pool
from heimdall.journal.read import open_reader
from heimdall.journal.values import Skip
from heimdall.journal.write import JournalWriter
from heimdall.model import Action, Depth, PathRow, Presence
from heimdall.paths import under
from heimdall.sinks.base import SinkWriter, continues
from heimdall.sinks.tantivy import open_sink_writer
from heimdall.writer import intake, recover
from heimdall.writer.audit import MOUNT, Audit, mounts_of, verify
from heimdall.writer.desired import Desired
from heimdall.writer.drain import Drain, Pass, forced
from heimdall.writer.follow import follow
from heimdall.writer.ground import Ground, is_lost
from heimdall.writer.lock import held
from heimdall.writer.walk import Listing, walk

Progress = Callable[[int, int], None]

_EVERYTHING = 1 << 40
_ROUNDS = 8

_REMEMBERED_MS = 180 * 24 * 3600 * 1000
"""How long a path that is gone is remembered, so that it can be followed if it comes up again."""


class Result(NamedTuple):
    """What one pass came to. `counts` maps each action that occurred to its number of paths;
    `errors` are (path, reason) of what could not be looked at or read; `roots` are the roots that
    were walked; `moves` the number of moves that were found; `behind` whether work is left;
    `set_aside` where a damaged journal lies now, "" if there was none; `backup` a copy of the
    journal that was there before, "" where none was made or needed any more."""

    counts: dict[Action, int]
    errors: tuple[tuple[str, str], ...]
    roots: tuple[str, ...]
    moves: int = 0
    behind: bool = False
    set_aside: str = ""
    backup: str = ""


def reconcile(
    settings: Settings,
    paths: Sequence[str] | None = None,
    *,
    everything: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> Result:
    """Make the journal equal to the disk.

    `paths` None walks every root and compares stats; with `everything` bytes are hashed too, so
    that a rewrite under an equal stat is found; a sequence looks at these paths (normal; a
    directory means all below it). Hints and whatever is queued are always taken along.
    `progress(done, total)` counts paths. `dry_run` changes nothing and tells what would be done.

    Raises `UnknownPath` for a path that no root holds, `WriterBusy` where another writer holds the
    lock for too long (it finds the paths as hints), and what the journal and the disk raise. A
    damaged journal is set aside and made anew from the disk, with the same roots.
    """
    if dry_run:
        return _dry(settings, paths, everything=everything)

    def act() -> Result:
        with _writing(settings) as (journal, sink):
            return _Reconciler(settings, journal, sink, progress).run(paths, deep=everything)

    try:
        return _twice(settings, act)
    except WriterBusy:
        # Hand over: whoever holds the lock looks for hints before letting go of it.
        hints.append(settings.home, paths or (), "handed-over", at_ms=_ms(settings))
        raise


def rebuild(settings: Settings, *, progress: Progress | None = None) -> Result:
    """Throw the journal's rows and the sink away and index every root again. Roots, stores and
    settings stay; what was known of paths that are gone is forgotten. A copy of the journal is kept
    until the new one has been verified; whoever is killed in between leaves a journal that waits to
    be filled, and the copy."""

    def act() -> Result:
        with _writing(settings) as (journal, sink):
            copy = recover.backup(settings, journal)
            # Hints stay until all that they name is queued, whoever dies before.
            hinted = recover.ask_for_all(settings, journal)
            _forget(journal, sink)
            one = _Reconciler(settings, journal, sink, progress)
            done = one.run(() if hinted else None, deep=False)
        return done._replace(backup=copy)

    done = _twice(settings, act)
    if done.errors or done.behind or verify(settings):
        return done
    recover.drop_backups(settings.home)
    return done._replace(backup="")


def _forget(journal: JournalWriter, sink: SinkWriter) -> None:
    """Empty the journal of all but what people told it, and the sink."""
    _doubt(journal, journal.paths())
    stamp = journal.next_stamp()
    sink.clear()
    sink.commit(stamp)
    with journal.transaction():
        journal.wipe()
        journal.set_stamp(stamp)


def _twice(settings: Settings, act: Callable[[], Result]) -> Result:
    """`act`, once more where the journal turned out to be damaged and was set aside."""
    try:
        return act()
    except DamagedJournal:
        return act()._replace(set_aside=recover.last_aside(settings.home))


def add_root(settings: Settings, path: str, *, depth: Depth | None = None) -> bool:
    """Put a directory (normal) under watch, or change its depth; the next `reconcile` indexes it.
    False if it was there with this depth. Raises `UnknownPath` where it is no directory."""
    if not os.path.isdir(path) or os.path.islink(path):
        raise UnknownPath(path, "is not a directory")
    with held(settings.home, settings.lock_timeout_s), recover.journal_of(settings) as journal:
        if any(root.path == path and root.depth == depth for root in journal.roots()):
            return False
        journal.add_root(path, depth)
        return True


def remove_root(settings: Settings, path: str) -> bool:
    """Take a directory and all its rows out of the index; False if it was not a root."""
    with _writing(settings) as (journal, sink):
        if all(root.path != path for root in journal.roots()):
            return False
        _doubt(journal, journal.paths(path))
        stamp = journal.next_stamp()
        with journal.transaction():
            sink.remove(journal.remove_root(path))
            sink.commit(stamp)
            journal.set_stamp(stamp)
        journal.settle()
        return True


def _doubt(journal: JournalWriter, rows: Iterable[PathRow]) -> None:
    """Queue what the sink is about to lose: if we die between its commit and the journal's, the
    journal must not believe that the sink still has it."""
    journal.enqueue([row.path for row in rows if row.state is Presence.PRESENT], "project")


# -- the world a pass works in ---------------------------------------------------------------------


@contextlib.contextmanager
def _writing(settings: Settings) -> Iterator[tuple[JournalWriter, SinkWriter]]:
    """The lock, the journal's pen and the sink's; a disk that refuses is one kind of error."""
    with (
        held(settings.home, settings.lock_timeout_s),
        recover.journal_of(settings) as journal,
        open_sink_writer(settings.home) as sink,
    ):
        yield journal, sink


@contextlib.contextmanager
def _no_collector() -> Iterator[None]:
    """Without the search for reference cycles: a full index makes millions of small values, none
    of them in a cycle, and looking for cycles among them costs a fifth of this process's time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class _Reconciler:
    """One pass; made for it and thrown away with it."""

    def __init__(
        self,
        settings: Settings,
        journal: JournalWriter,
        sink: SinkWriter,
        progress: Progress | None,
    ) -> None:
        self._settings = settings
        self._journal = journal
        self._sink = sink
        self._desired = Desired(journal.roots(), settings.depth)
        self._ground = Ground(self._desired.roots, mounts_of(journal))
        self._drain = Drain(
            Pass(journal, sink, self._ground, self._desired, settings.jobs, settings.now), progress
        )
        self._walked: dict[str, None] = {}
        self._errors: list[tuple[str, str]] = []

    def run(self, wanted: Sequence[str] | None, *, deep: bool) -> Result:
        """Hints, walks, queue, moves, binding."""
        self._mend_sink()
        if wanted is None:
            for root in self._desired.roots:
                self._walk(root, root, deep=deep)
        else:
            outside = self._sort_in(wanted, "asked")
            if outside:
                raise UnknownPath(outside[0], "lies in no indexed project")
        with _no_collector(), Pool(self._settings.jobs) as pool:
            for _ in range(_ROUNDS):
                self._take_hints()
                # What this pass has tried and could not finish waits for the next one.
                tried = {path for path, _ in self._drain.errors}
                queue = self._journal.take(_EVERYTHING)
                self._drain.run([entry for entry in queue if entry.path not in tried], pool)
                # Somebody who could not wait for the lock has left hints behind.
                if not self._hints_wait():
                    break
        moved = follow(self._journal, self._now())
        with _no_collector():
            self._journal.settle()
        if deep:
            self._journal.prune(self._now() - _REMEMBERED_MS)
        return self._result(moved)

    # -- what has to be looked at ------------------------------------------------------------------

    def _take_hints(self) -> None:
        wanted, done = intake.taken(self._journal, self._settings.home)
        if wanted:
            self._sort_in(wanted, "hint")
        # Only now are they as safe in the queue as they were in their file.
        done()

    def _sort_in(self, wanted: Iterable[str], reason: str) -> list[str]:
        """Queue paths and walk trees; the paths that are nobody's."""
        sorted_in = intake.sort(wanted, self._desired, self._journal.holds)
        self._enqueue(sorted_in.single, reason)
        for root, directory in dict.fromkeys(sorted_in.trees):
            self._walk(root, directory, deep=False)
        return sorted_in.outside

    def _walk(self, root: str, directory: str, *, deep: bool) -> None:
        audit = Audit(self._journal, self._desired, root)
        listing = walk(root, None if directory == root else directory, meanwhile=audit.fetch)
        if directory == root:
            self._walked[root] = None
        if listing.failure:
            self._errors.append((directory, listing.failure))
            return
        self._ground.learn(listing)
        found = audit.compare(listing, deep=deep)
        self._enqueue(found.paths, "audit")
        self._enqueue(found.rewritten, "hash")
        if directory == root:
            self._remember_mounts(root, listing)

    def _enqueue(self, found: Iterable[str], reason: str) -> None:
        """Queue paths; one that must be read is not turned into one that need not."""
        wanted = list(found)
        if not wanted:
            return
        kept = forced(self._journal.take(_EVERYTHING)) if reason not in ("hash", "project") else {}
        for strong in set(kept.values()):
            self._journal.enqueue([p for p in wanted if kept.get(p) == strong], strong)
        self._journal.enqueue([path for path in wanted if path not in kept], reason)

    def _remember_mounts(self, root: str, listing: Listing) -> None:
        known = [skip.path for skip in self._journal.skips(root) if skip.reason == MOUNT]
        found = set(listing.mounts) | {path for path in known if is_lost(path)}
        if found != set(known):
            self._journal.set_skips(root, [Skip(path, MOUNT) for path in sorted(found)])

    def _mend_sink(self) -> None:
        """A sink that is not this journal's is emptied and filled again from every file."""
        if continues(self._sink.stamp(), self._journal.stamp()):
            return
        # In this order: once the sink is stamped, only the queue knows what it lacks.
        _doubt(self._journal, self._journal.paths())
        self._sink.clear()
        self._sink.commit(self._journal.stamp())

    # -- afterwards --------------------------------------------------------------------------------

    def _hints_wait(self) -> bool:
        stores = [store.path for store in self._journal.stores()]
        return hints.waiting(self._settings.home, intake.fallbacks(stores)) > 0

    def _result(self, moved: int) -> Result:
        errors = (*self._errors, *self._drain.errors)
        return Result(
            dict(self._drain.counts),
            tuple(dict.fromkeys(errors)),
            tuple(self._walked),
            moved,
            self._journal.behind(),
            self._journal.aside,
        )

    def _now(self) -> int:
        return _ms(self._settings)


# -- a dry run -------------------------------------------------------------------------------------

_WOULD = {
    "unknown": Action.INDEXED,
    "reappeared": Action.INDEXED,
    "missing": Action.RETRACTED,
    "ignored": Action.RETRACTED,
    "unreadable": Action.KEPT,
}


def _dry(settings: Settings, paths: Sequence[str] | None, *, everything: bool) -> Result:
    """What a pass over these paths (None: every root) would do, told by an audit."""
    try:
        with open_reader(settings.home) as journal:
            roots = tuple(root.path for root in journal.roots())
            behind = journal.behind()
        drifts = verify(settings, deep=everything)
    except NoJournal:
        return Result({}, (), ())
    if paths is not None:
        drifts = tuple(drift for drift in drifts if any(under(drift.path, path) for path in paths))
    counts = Counter(_WOULD.get(drift.why, Action.UPDATED) for drift in drifts)
    errors = tuple((drift.path, drift.why) for drift in drifts if drift.why == "unreadable")
    return Result(dict(counts), errors, roots, 0, behind or bool(drifts))


def _ms(settings: Settings) -> int:
    return int(settings.now() * 1000)
