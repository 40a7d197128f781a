"""Emptying the queue: look, decide, read, project, commit, a batch at a time.

Keeps `project-before-commit`: the sink's commit precedes the journal's, so a death between the two
leaves paths queued and never falsely clean. Keeps `generation-guard` by handing back the generation
each path was taken with. What to do with a path is `heimdall.core.decide`'s to say; here it is
done. That a path's outcome depends on nothing but the path now is `clean-rebuild-parity`.

The parser processes work while this one writes: jobs are handed out as they are asked for, so no
more is in memory than the pool's own window and one batch.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from heimdall.core.decide import decide, must_read, must_refresh
from heimdall.extract.pool import Pool
from heimdall.extract.read import Extracted
from heimdall.journal.values import Commit, Queued, Refresh, Retract, Unreadable
from heimdall.journal.write import JournalWriter
from heimdall.model import Action, Depth, Facts, Observed, Outcome, PathRow, Presence, Stat
from heimdall.sinks.base import SinkDoc, SinkWriter
from heimdall.writer.desired import Desired, extractor_of
from heimdall.writer.ground import OUTSIDE, Ground
from heimdall.writer.moves import Arrival, Departure

FORCED = frozenset({"hash", "project"})
"""Reasons of queue entries that are read even where their stat has not changed: the audit has seen
other bytes under an equal stat, or the sink has lost the document."""

UNFINISHED = frozenset({"changing"})
"""A file that was written to while it was read stays queued; the next pass reads it again."""

_LOOKED_AT = 256
_BATCH = 1024
_BATCH_TEXT = 8 * 1024 * 1024
_PATIENCE_S = 5.0


class Pass(NamedTuple):
    """The things that one pass works with."""

    journal: JournalWriter
    sink: SinkWriter
    ground: Ground
    desired: Desired
    jobs: int
    now: Callable[[], float]


class Batch:
    """What is decided and not yet written."""

    def __init__(self) -> None:
        self.commits: list[Commit] = []
        self.refreshes: list[Refresh] = []
        self.retracts: list[Retract] = []
        self.unreadable: list[Unreadable] = []
        self.drops: list[tuple[str, int]] = []
        self.docs: list[SinkDoc] = []
        self.removals: list[str] = []
        self.text = 0

    def __len__(self) -> int:
        return (
            len(self.commits)
            + len(self.refreshes)
            + len(self.retracts)
            + len(self.unreadable)
            + len(self.drops)
        )


class _Job(NamedTuple):
    """A path that is being read, with what was known when it was sent."""

    queued: Queued
    row: PathRow | None
    root: str
    asked: Depth
    seen_at: int


class Drain:
    """Empties the queue once. Afterwards `counts`, `errors`, `arrivals` and `departures` tell what
    happened."""

    def __init__(self, work: Pass, progress: Callable[[int, int], None] | None = None) -> None:
        self._work = work
        self._progress = progress
        self._sent: dict[str, _Job] = {}
        self._batch = Batch()
        self._since = time.monotonic()
        self._done = 0
        self._total = 0
        self.counts: Counter[Action] = Counter()
        self.errors: list[tuple[str, str]] = []
        self.arrivals: list[Arrival] = []
        self.departures: list[Departure] = []

    def run(self, queue: Sequence[Queued], pool: Pool) -> None:
        """Bring every path of `queue` to rest, or leave it queued with an entry in `errors`."""
        self._total += len(queue)
        for extracted in pool.run(self._jobs(queue)):
            self._take(extracted)
            self._flush_if_full()
        self._flush()

    # -- from the queue to the pool ----------------------------------------------------------------

    def _jobs(self, queue: Sequence[Queued]) -> Iterator[tuple[str, Depth]]:
        """Look at everything; hand out only what has to be read."""
        for start in range(0, len(queue), _LOOKED_AT):
            part = queue[start : start + _LOOKED_AT]
            seen_at = self._now_ms()
            seen = self._work.ground.look([entry.path for entry in part])
            for entry in part:
                job = self._judge(entry, seen[entry.path], seen_at)
                if job is not None:
                    self._sent[entry.path] = job
                    yield entry.path, job.asked
            self._flush_if_full()

    def _judge(self, entry: Queued, seen: Observed, seen_at: int) -> _Job | None:
        """Settle what looking alone settles; the job where bytes are needed."""
        root = self._work.desired.root(entry.path)
        row = self._work.journal.path(entry.path)
        if root is None or seen.presence is Presence.GONE:
            self._leave(entry, row, nobodys=seen.reason == OUTSIDE)
            return None
        if seen.presence is Presence.UNREADABLE:
            self._keep(entry, root, seen, seen_at)
            return None
        asked = self._work.desired.depth(root)
        job = _Job(entry, row, root, asked, seen_at)
        if seen.reason:
            self._name(job, seen)
            return None
        extractor = extractor_of(row.language if row else "", asked)
        if entry.reason in FORCED or must_read(row, seen, asked=asked, extractor=extractor):
            return job
        self._unread(job, seen, extractor)
        return None

    def _unread(self, job: _Job, seen: Observed, extractor: str) -> None:
        """A regular file whose bytes are known, or not wanted at this depth."""
        action = decide(job.row, seen, None, asked=job.asked, extractor=extractor)
        if action is not Action.UNCHANGED or job.row is None or seen.stat is None:
            self._name(job, seen)
        elif must_refresh(job.row, seen):
            self._refresh(job, seen.stat)
        else:
            self._batch.drops.append((seen.path, job.queued.generation))
            self.counts[Action.UNCHANGED] += 1

    def _refresh(self, job: _Job, stat: Stat) -> None:
        """The same content under a newer stat."""
        entry = job.queued
        self._batch.refreshes.append(Refresh(entry.path, entry.generation, stat, job.seen_at))

    def _leave(self, entry: Queued, row: PathRow | None, *, nobodys: bool) -> None:
        """A path that is not there, or not ours: whatever it owned goes."""
        if row is not None and row.state is not Presence.GONE and not nobodys:
            sketch = self._work.journal.sketch(entry.path)
            self.departures.append(
                Departure(entry.path, row.root, row.digest, sketch, row.generation)
            )
        self._batch.removals.append(entry.path)
        self._batch.retracts.append(Retract(entry.path, entry.generation))

    def _keep(self, entry: Queued, root: str, seen: Observed, seen_at: int) -> None:
        """A path that cannot be looked at keeps what is known of it."""
        self.errors.append((entry.path, seen.reason))
        self._batch.unreadable.append(
            Unreadable(entry.path, root, entry.generation, seen.reason, seen_at)
        )

    def _name(self, job: _Job, seen: Observed) -> None:
        """A thing that is not a regular file, or could not be parsed, is named and not read."""
        entry = job.queued
        self._batch.removals.append(entry.path)
        if named_already(job.row, seen, job.asked) and seen.stat is not None:
            self._refresh(job, seen.stat)
            return
        self._batch.commits.append(
            Commit(
                path=entry.path,
                root=job.root,
                generation=entry.generation,
                stat=seen.stat,
                digest=None,
                asked=job.asked,
                extractor=extractor_of(job.row.language if job.row else "", job.asked),
                facts=None,
                reason=seen.reason,
                seen_at=job.seen_at,
            )
        )

    # -- from the pool to the batch ----------------------------------------------------------------

    def _take(self, extracted: Extracted) -> None:
        job = self._sent.pop(extracted.path)
        entry, seen = job.queued, extracted.observed
        if seen.presence is Presence.GONE:
            self._leave(entry, job.row, nobodys=False)
        elif seen.presence is Presence.UNREADABLE:
            self._keep(entry, job.root, seen, job.seen_at)
        elif seen.reason in UNFINISHED or seen.stat is None:
            self.errors.append((entry.path, seen.reason))
        elif extracted.facts is None:
            self._name(job, seen)
        else:
            self._adopt(job, extracted, extracted.facts, seen.stat)

    def _adopt(self, job: _Job, extracted: Extracted, facts: Facts, stat: Stat) -> None:
        """Bytes were read: a new truth, or the old one with a new stat."""
        entry, seen = job.queued, extracted.observed
        extractor = extractor_of(facts.language, job.asked)
        action = decide(job.row, seen, extracted.digest, asked=job.asked, extractor=extractor)
        if extracted.doc is not None and (
            action is not Action.UNCHANGED or entry.reason == "project"
        ):
            self._batch.docs.append(extracted.doc)
            self._batch.text += len(extracted.doc.content)
        if action is Action.UNCHANGED:
            self._refresh(job, stat)
            return
        if job.row is None or job.row.state is Presence.GONE:
            self.arrivals.append(
                Arrival(entry.path, job.root, extracted.digest, extracted.sketch, stat.size)
            )
        self._batch.commits.append(
            Commit(
                path=entry.path,
                root=job.root,
                generation=entry.generation,
                stat=stat,
                digest=extracted.digest,
                asked=job.asked,
                extractor=extractor,
                facts=facts,
                sketch=extracted.sketch,
                seen_at=job.seen_at,
            )
        )

    # -- from the batch to the disk ----------------------------------------------------------------

    def _flush_if_full(self) -> None:
        batch = self._batch
        late = time.monotonic() - self._since > _PATIENCE_S
        if len(batch) >= _BATCH or batch.text >= _BATCH_TEXT or (late and len(batch)):
            self._flush()

    def _flush(self) -> None:
        batch, self._batch = self._batch, Batch()
        self._since = time.monotonic()
        if len(batch):
            outcomes = write(self._work, batch)
            self.counts.update(outcome.action for outcome in outcomes)
            self._done += len(outcomes) + len(batch.drops)
        if self._progress is not None:
            self._progress(self._done, self._total)

    def _now_ms(self) -> int:
        return int(self._work.now() * 1000)


def write(work: Pass, batch: Batch) -> list[Outcome]:
    """The sink first, then the journal, in one transaction."""
    journal = work.journal
    stamp = journal.next_stamp()
    if batch.docs or batch.removals:
        work.sink.remove(batch.removals)
        work.sink.replace(batch.docs)
        work.sink.commit(stamp)
    with journal.transaction():
        outcomes = [
            *journal.commit(batch.commits),
            *journal.refresh(batch.refreshes),
            *journal.retract(batch.retracts),
            *journal.keep_unreadable(batch.unreadable),
        ]
        journal.drop(batch.drops)
        if batch.docs or batch.removals:
            journal.set_stamp(stamp)
    return outcomes


def named_already(row: PathRow | None, seen: Observed, asked: Depth) -> bool:
    """Whether the journal names this thing, with this reason, already."""
    return (
        row is not None
        and row.state is Presence.PRESENT
        and row.reason == seen.reason
        and row.digest is None
        and row.asked == asked
    )


def forced(queue: Iterable[Queued]) -> dict[str, str]:
    """The queued paths whose reason must outlive a further hint."""
    return {entry.path: entry.reason for entry in queue if entry.reason in FORCED}
