"""Extraction in child processes that can be killed: the only true time limit.

Exactly one result comes back for every job, whatever happens to the child that had it: a job over
the limit costs its child (reason `timed-out`), a job whose child died twice is `crashed`; both are
known at depth `file` then, and every other job of that child is done by another. The pool starts no
thread and imports nothing into its children from the program that uses it.
"""

import os
import selectors
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator

from heimdall.errors import IoRefused
from heimdall.extract.read import Extracted, extract, unparsed
from heimdall.extract.wire import frame, unframe, unpack
from heimdall.model import Depth

LIMIT_S = 10.0
"""Seconds of a child's time that one file may take."""

_WINDOW = 4
_LONGEST_PATH = 4096
_PATIENCE = 6
_PIECE = 1 << 20
_START_FAILURES = 3
_START_S = 60.0
_CODE = (
    "import sys; sys.path.insert(0, sys.argv[1]); from heimdall.extract.child import main; main()"
)

_Job = tuple[str, Depth]


class Pool:
    """Runs `extract` in child processes; a child over its time limit is killed and replaced.

    `workers` 0 means one for each processor this process may use. Children are started when they
    are needed and live until `close`.
    """

    def __init__(self, workers: int = 0, *, limit_s: float = LIMIT_S) -> None:
        self._workers = workers if workers > 0 else _processors()
        self._limit_s = limit_s
        self._children: list[_Child] = []
        self._selector = selectors.DefaultSelector()
        self._failures = 0

    def run(self, jobs: Iterable[tuple[str, Depth]]) -> Iterator[Extracted]:
        """Results in any order, exactly one for each job; `jobs` is drawn as children get free.
        One `run` at a time. Raises IoRefused where no child can be started."""
        return self._run(iter(jobs))

    def close(self) -> None:
        """End every child."""
        for child in self._children:
            self._selector.unregister(child.output)
            child.end()
        self._children.clear()

    def __enter__(self) -> "Pool":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        self._selector.close()

    def children(self) -> tuple[int, ...]:
        """The process ids of the children that live now."""
        return tuple(child.process.pid for child in self._children)

    # -- handing out -------------------------------------------------------------------------------

    def _run(self, source: Iterator[_Job]) -> Iterator[Extracted]:
        again: deque[_Job] = deque()
        suspects: set[str] = set()
        finished = False
        try:
            while True:
                yield from self._hand_out(source, again, suspects)
                if not any(child.waiting for child in self._children):
                    finished = True
                    return
                yield from self._collect(again, suspects)
        finally:
            if not finished:
                # Left early: what the children are still doing belongs to nobody.
                self.close()

    def _hand_out(
        self, source: Iterator[_Job], again: deque[_Job], suspects: set[str]
    ) -> Iterator[Extracted]:
        """Fill the windows, least busy child first, starting children while all are busy."""
        while True:
            child = self._free()
            if child is None and len(self._children) >= self._workers:
                return
            job = again.popleft() if again else next(source, None)
            if job is None:
                return
            if len(os.fsencode(job[0])) > _LONGEST_PATH:
                # No file has such a name, and a pipe must never be full of jobs.
                yield extract(*job)
                continue
            child = child or self._start()
            if not child.give(job):
                again.appendleft(job)
                yield from self._lost(child, again, suspects)

    def _free(self) -> "_Child | None":
        if not self._children:
            return None
        child = min(self._children, key=lambda one: len(one.waiting))
        if not child.waiting:
            return child
        if len(self._children) < self._workers or len(child.waiting) >= _WINDOW:
            return None
        return child

    def _start(self) -> "_Child":
        child = _Child(self._limit_s)
        self._children.append(child)
        self._selector.register(child.output, selectors.EVENT_READ, child)
        return child

    # -- taking in ---------------------------------------------------------------------------------

    def _collect(self, again: deque[_Job], suspects: set[str]) -> Iterator[Extracted]:
        """Wait for results or for the next deadline."""
        heard = set()
        for key, _ in self._selector.select(self._patience()):
            child: _Child = key.data
            heard.add(child)
            alive, results = child.take()
            if child.ready:
                self._failures = 0
            yield from results
            if not alive:
                yield from self._lost(child, again, suspects)
        # Only who had the chance to be heard, and was silent, can be late: a slow consumer of the
        # results is no fault of a child.
        for child in [one for one in self._children if one not in heard and one.late()]:
            job = child.waiting.popleft()
            again.extendleft(reversed(child.waiting))
            self._drop(child)
            yield unparsed(*job, "timed-out")

    def _patience(self) -> float:
        now = time.monotonic()
        left = [child.due() - now for child in self._children if child.waiting]
        return max(0.0, min(left, default=0.0)) + 0.001

    def _lost(self, child: "_Child", again: deque[_Job], suspects: set[str]) -> Iterator[Extracted]:
        """A child died: whatever it was doing is tried once more, by a child that does nothing
        else first."""
        waiting = list(child.waiting)
        ready = child.ready
        self._drop(child)
        if not ready:
            self._failures += 1
            if self._failures >= _START_FAILURES:
                raise IoRefused(sys.executable, child.process.returncode or 0, "no child starts")
            again.extendleft(reversed(waiting))
            return
        again.extendleft(reversed(waiting[1:]))
        for path, asked in waiting[:1]:
            if path in suspects:
                yield unparsed(path, asked, "crashed")
            else:
                suspects.add(path)
                again.appendleft((path, asked))

    def _drop(self, child: "_Child") -> None:
        if child in self._children:
            self._children.remove(child)
            self._selector.unregister(child.output)
            child.end()


class _Child:
    """One process with the jobs that it was given and has not answered, oldest first."""

    def __init__(self, limit_s: float) -> None:
        home = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        patience = str(max(1, round(limit_s * _PATIENCE)) + 1)
        # -P: the folder that the user stands in may hold a re.py of its own.
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-c", _CODE, home, patience],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.input = self.process.stdin.fileno()
        self.output = self.process.stdout.fileno()
        self.waiting: deque[_Job] = deque()
        self.ready = False
        self._limit_s = limit_s
        self._buffer = bytearray()
        self._since = time.monotonic()
        self._spent = 0.0

    def give(self, job: _Job) -> bool:
        """Hand over a job; False when the child is dead."""
        if not self.waiting:
            self._begin()
        try:
            os.write(self.input, frame((job[0], int(job[1]))))
        except BrokenPipeError:
            return False
        self.waiting.append(job)
        return True

    def take(self) -> tuple[bool, list[Extracted]]:
        """What it has answered, and whether it still lives."""
        piece = os.read(self.output, _PIECE)
        self._buffer += piece
        results = []
        while (raw := unframe(self._buffer)) is not None:
            if self.ready:
                self.waiting.popleft()
                results.append(unpack(raw))
            self.ready = True
        self._begin()
        return bool(piece), results

    def _begin(self) -> None:
        self._since = time.monotonic()
        self._spent = _cpu_s(self.process.pid) or 0.0

    def due(self) -> float:
        """When to look again whether it is late."""
        now = time.monotonic()
        limit = self._since + self._limit_s
        return limit if now < limit else now + self._limit_s / 4

    def late(self) -> bool:
        """Whether its oldest job has had its time: by its own clock where the machine tells it, so
        that a busy machine does not condemn a file; by the wall in the end."""
        if not self.waiting:
            return False
        passed = time.monotonic() - self._since
        if not self.ready:
            return passed >= _START_S
        if passed < self._limit_s:
            return False
        spent = _cpu_s(self.process.pid)
        own = passed if spent is None else spent - self._spent
        return own >= self._limit_s * 0.9 or passed >= self._limit_s * _PATIENCE

    def end(self) -> None:
        """Kill it and wait for its end."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()


def _processors() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        # Not every system binds processes to processors.
        return os.cpu_count() or 1


def _cpu_s(pid: int) -> float | None:
    """The seconds of processor that a process has used, or None where the machine keeps it to
    itself."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
