"""One memory written into a store of ten thousand entries, against one of a hundred."""

import statistics
import sys

from benchmarks.common import Place, Row

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


def measure(place: Place, small: str, large: str, runs: int) -> list[Row]:
    """The first write of a process, which reads what it needs, and the ones after it."""
    first: dict[str, list[float]] = {small: [], large: []}
    later: dict[str, list[float]] = {small: [], large: []}
    for number in range(runs):
        for root in (small, large):
            command = [sys.executable, "-c", INSIDE, root, f"{number}-{len(first[root])}"]
            times = [float(one) for one in place.run(command, root).split()]
            first[root].append(times[0])
            later[root].extend(times[1:])
    median = statistics.median
    return [
        Row(
            "a write at 10,000 entries, first",
            median(first[large]),
            "at 100",
            median(first[small]),
            2.0,
        ),
        Row(
            "a write at 10,000 entries, later",
            median(later[large]),
            "at 100",
            median(later[small]),
            2.0,
        ),
    ]
