"""One memory written into a large store, against one of a hundred entries: by a running process, by
a process for the first time, and as the whole command."""

import os
import statistics
import sys

from benchmarks.common import BIN, Place, Row, versus

INSIDE = """
import sys, time
import gitmemo
import pygit2, portalocker, sqlite3
store = gitmemo.Store.open(sys.argv[1])
times = []
for number in range(3):
    draft = gitmemo.Draft(f"bench {sys.argv[2]}-{number}", "Measured.", ("bench", f"n{number}"))
    started = time.perf_counter()
    store.write(draft)
    times.append(time.perf_counter() - started)
print(*times)
"""


def measure(
    place: Place, small: str, large: str, count: int, runs: int, *, promise: float
) -> list[Row]:
    """Each pair is taken in turn, so that a slower moment of the machine hits both."""
    first: dict[str, list[float]] = {small: [], large: []}
    later: dict[str, list[float]] = {small: [], large: []}
    for number in range(runs):
        for root in (small, large):
            command = [sys.executable, "-c", INSIDE, root, f"{count}-{number}"]
            times = [float(one) for one in place.run(command, root).split()]
            first[root].append(times[0])
            later[root].extend(times[1:])
    turn = iter(range(10**6))

    def whole(root: str) -> None:
        title = f"whole {count}-{next(turn)}"
        what = ("--title", title, "--summary", "Measured.", "-k", "bench", "-k", "whole")
        place.run([os.path.join(BIN, "mem"), "write", *what], root)

    large_s, small_s = versus(lambda: whole(large), lambda: whole(small), runs)
    median = statistics.median
    name = f"a write at {count:,} entries"
    return [
        Row(f"{name}, first", median(first[large]), "at 100", median(first[small]), promise),
        Row(f"{name}, later", median(later[large]), "at 100", median(later[small]), promise),
        Row(f"{name}, `mem write`", large_s, "at 100", small_s, promise, "whole processes"),
    ]
