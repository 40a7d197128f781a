"""A write that also keeps the copy in the code repository, against one that does not."""

import os
import statistics
import sys

from benchmarks import material
from benchmarks.common import Place, Row

ENTRIES = 1_000

INSIDE = """
import sys, time
import gitmemo
import pygit2, portalocker, sqlite3
from gitmemo import survival
stores = [gitmemo.Store.open(root) for root in sys.argv[2:]]
ways = [survival.follow, lambda repo, *, base, commit: None]
times = [[], []]
for number in range(-1, 6):
    for store, way, spent in zip(stores, ways, times):
        survival.follow = way
        draft = gitmemo.Draft(f"bench {sys.argv[1]} {number}", "Measured.", ("bench", f"n{number}"))
        started = time.perf_counter()
        store.write(draft)
        if number >= 0:  # the first of a process reads what it needs
            spent.append(time.perf_counter() - started)
print(*(time for spent in times for time in spent))
"""


def measure(place: Place, runs: int) -> list[Row]:
    """Writes in turn into two stores alike, so that a slower moment of the machine hits both."""
    roots = []
    for name in ("copied", "alone"):
        root = os.path.join(place.top, name)
        os.makedirs(root)
        place.git(root, "init", "-q", "-b", "main")
        material.fill_store(place, root, ENTRIES)
        roots.append(root)
    copied: list[float] = []
    alone: list[float] = []
    for number in range(runs):
        command = [sys.executable, "-c", INSIDE, str(number), *roots]
        times = [float(one) for one in place.run(command, roots[0]).split()]
        copied += times[: len(times) // 2]
        alone += times[len(times) // 2 :]
    return [
        Row(
            "a write with its copy in the code repository",
            statistics.median(copied),
            "without the copy",
            statistics.median(alone),
            1.3,
            f"at {ENTRIES:,} entries, running process",
        )
    ]
