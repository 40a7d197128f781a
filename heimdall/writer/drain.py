"""Emptying the queue: look, decide, read, project, commit, a batch at a time.

Keeps `project-before-commit`: the sink's commit precedes the journal's, so a death between the two
leaves paths queued and never falsely clean. Keeps `generation-guard` by handing back the generation
each path was taken with. What to do with a path is `heimdall.core.decide`'s to say; here it is
done. That a path's outcome depends on nothing but the path now is `clean-rebuild-parity`.

The parser processes work while this one writes: jobs are handed out as they are asked for, and what
comes back is laid down a handful at a time, so few files are in memory at once. Many handfuls make
one batch, which becomes durable together: each commit of the sink leaves a segment, and merging
those costs as much as indexing does. After a long pass references are bound in the last batch's
transaction, while the sink writes its segment.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from heimdall.core.decide import decide, must_read, must_refresh, named_already
from heimdall.extract.pool import Pool
from heimdall.extract.read import Extracted
from heimdall.journal.values import Commit, Queued, Refresh, Retract, Unreadable
from heimdall.journal.write import JournalWriter
from heimdall.model import Action, Depth, Facts, Observed, Outcome, PathRow, Presence, Stat
from heimdall.sinks.base import SinkDoc, SinkWriter
from heimdall.writer.desired import Desired, extractor_of
from heimdall.writer.ground import Ground

FORCED = frozenset({"hash", "project"})
"""Reasons of queue entries that are read even where their stat has not changed: the audit has seen
other bytes under an equal stat, or the sink has lost the document."""

UNFINISHED = frozenset({"changing"})
"""A file that was written to while it was read stays queued; the next pass reads it again."""

_LOOKED_AT = 256
_HANDFUL = 64
_BATCH = 16 * 1024
_BATCH_TEXT = 64 * 1024 * 1024
_PATIENCE_S = 10.0
"""A batch ends with so many paths, so much text, or so long after it began: that much work can be
lost when this process is killed."""

_MANY = 256
"""Paths of a pass from which on binding takes long enough to be done beside the sink's commit."""


class Pass(NamedTuple):
    """The things that one pass works with."""

    journal: JournalWriter
    sink: SinkWriter
    ground: Ground
    desired: Desired
    jobs: int
    now: Callable[[], float]


class Handful:
    """What is decided and not yet written."""

    def __init__(self) -> None:
        self.commits: list[Commit] = []
        self.refreshes: list[Refresh] = []
        self.retracts: list[Retract] = []
        self.unreadable: list[Unreadable] = []
        self.drops: list[tuple[str, int]] = []
        self.docs: list[SinkDoc] = []
        self.removals: list[str] = []

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
    """Empties the queue once. Afterwards `counts` and `errors` tell what happened."""

    def __init__(self, work: Pass, progress: Callable[[int, int], None] | None = None) -> None:
        self._work = work
        self._progress = progress
        self._sent: dict[str, _Job] = {}
        self._hand = Handful()
        self._written = 0
        self._text = 0
        self._projected = False
        self._done = 0
        self._total = 0
        self.counts: Counter[Action] = Counter()
        self.errors: list[tuple[str, str]] = []

    def run(self, queue: Sequence[Queued], pool: Pool) -> None:
        """Bring every path of `queue` to rest, or leave it queued with an entry in `errors`."""
        self._total += len(queue)
        found = iter(pool.run(self._jobs(queue)))
        while self._write_batch(found):
            pass

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

    def _judge(self, entry: Queued, seen: Observed, seen_at: int) -> _Job | None:
        """Settle what looking alone settles; the job where bytes are needed."""
        root = self._work.desired.root(entry.path)
        row = self._work.journal.path(entry.path)
        if root is None or seen.presence is Presence.GONE:
            self._leave(entry)
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
            self._hand.drops.append((seen.path, job.queued.generation))
            self.counts[Action.UNCHANGED] += 1

    def _refresh(self, job: _Job, stat: Stat) -> None:
        """The same content under a newer stat."""
        entry = job.queued
        self._hand.refreshes.append(Refresh(entry.path, entry.generation, stat, job.seen_at))

    def _leave(self, entry: Queued) -> None:
        """A path that is not there, or not ours: whatever it owned goes."""
        self._hand.removals.append(entry.path)
        self._hand.retracts.append(Retract(entry.path, entry.generation))

    def _keep(self, entry: Queued, root: str, seen: Observed, seen_at: int) -> None:
        """A path that cannot be looked at keeps what is known of it."""
        self.errors.append((entry.path, seen.reason))
        self._hand.unreadable.append(
            Unreadable(entry.path, root, entry.generation, seen.reason, seen_at)
        )

    def _name(self, job: _Job, seen: Observed) -> None:
        """A thing that is not a regular file, or could not be parsed, is named and not read."""
        entry = job.queued
        self._hand.removals.append(entry.path)
        if named_already(job.row, seen, job.asked) and seen.stat is not None:
            self._refresh(job, seen.stat)
            return
        self._hand.commits.append(
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
            self._leave(entry)
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
            self._hand.docs.append(extracted.doc)
            self._text += len(extracted.doc.content)
        if action is Action.UNCHANGED:
            self._refresh(job, stat)
            return
        self._hand.commits.append(
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
                shapes=extracted.shapes,
                seen_at=job.seen_at,
            )
        )

    # -- from the hand to the disk -----------------------------------------------------------------

    def _write_batch(self, found: Iterator[Extracted]) -> bool:
        """Write down one batch of what is found; False when there is no more.

        The journal's transaction is open from the first handful to the last, and ends after the
        sink's.
        """
        self._written, self._text, self._projected = 0, 0, False
        more = self._gather(found)
        started = time.monotonic()
        with self._work.journal.transaction():
            self._lay_down()
            while more and not self._full(started):
                more = self._gather(found)
                self._lay_down()
            if self._projected:
                last = not more and self._done >= _MANY
                seal(self._work, self._work.journal.settle if last else None)
        return more

    def _gather(self, found: Iterator[Extracted]) -> bool:
        """Take in a handful; False where there was no more to be had."""
        for extracted in found:
            self._take(extracted)
            if len(self._hand) >= _HANDFUL:
                return True
        return False

    def _full(self, started: float) -> bool:
        late = time.monotonic() - started > _PATIENCE_S
        return self._written >= _BATCH or self._text >= _BATCH_TEXT or late

    def _lay_down(self) -> None:
        hand, self._hand = self._hand, Handful()
        if len(hand):
            outcomes = lay_down(self._work, hand)
            self.counts.update(outcome.action for outcome in outcomes)
            self._written += len(hand)
            self._projected |= bool(hand.docs or hand.removals)
            self._done += len(outcomes) + len(hand.drops)
        if self._progress is not None:
            self._progress(self._done, self._total)

    def _now_ms(self) -> int:
        return int(self._work.now() * 1000)


def seal(work: Pass, meanwhile: Callable[[], object] | None = None) -> None:
    """The sink's commit, and its stamp in the transaction that is now free to end. `meanwhile`
    belongs to that transaction too, and is done while the sink writes its segment."""
    stamp = work.journal.next_stamp()
    if meanwhile is None:
        work.sink.commit(stamp)
    else:
        from concurrent.futures import (  # noqa: PLC0415 # slow to load, and few passes are long
            ThreadPoolExecutor,
        )

        # The sink's commit waits for tantivy's own thread; this one lives no longer than that.
        with ThreadPoolExecutor(1) as beside:
            committed = beside.submit(work.sink.commit, stamp)
            meanwhile()
            committed.result()
    work.journal.set_stamp(stamp)


def lay_down(work: Pass, hand: Handful) -> list[Outcome]:
    """Write into the sink and into the open transaction; neither is to be seen before `seal`."""
    journal = work.journal
    if hand.removals or hand.docs:
        work.sink.remove(hand.removals)
        work.sink.replace(hand.docs)
    outcomes = [
        *journal.commit(hand.commits),
        *journal.refresh(hand.refreshes),
        *journal.retract(hand.retracts),
        *journal.keep_unreadable(hand.unreadable),
    ]
    journal.drop(hand.drops)
    return outcomes


def forced(queue: Iterable[Queued]) -> dict[str, str]:
    """The queued paths whose reason must outlive a further hint."""
    return {entry.path: entry.reason for entry in queue if entry.reason in FORCED}
