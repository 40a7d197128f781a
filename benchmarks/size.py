"""What ten thousand memories take on the disk when they are written one by one, by one process and
with no packing by hand: bytes an entry, as they stand in the files and as blocks of the disk."""

import os
import sys

from benchmarks.common import Place, Row

PROMISE = 3 * 1024
COUNT = 10_000
INSIDE = """
import sys
import gitmemo
from benchmarks.material import HOUR_MS, LAST_MS, drafts
count, now_s = int(sys.argv[2]), 0.0
store = gitmemo.Store.init(sys.argv[1], clock=lambda: now_s)
for number, draft in enumerate(drafts(count)):
    now_s = (LAST_MS - (count - number) * HOUR_MS) / 1000
    store.write(draft)
"""


def measure(place: Place) -> list[Row]:
    """The repository, promised in bytes; then what lies where."""
    root = os.path.join(place.top, "written")
    os.makedirs(root)
    place.git(root, "init", "-q", "-b", "main")
    place.run([sys.executable, "-c", INSIDE, root, str(COUNT)], root)
    git_dir = os.path.join(root, ".mem", ".git")
    derived = [os.path.join(git_dir, "gitmemo-index.db")]
    entries = os.path.join(root, ".mem", "entries")
    parts = {
        "repository": (_below(git_dir), PROMISE),
        "repository without the derived index": (_below(git_dir, but=derived), None),
        "of it objects": (_below(os.path.join(git_dir, "objects")), None),
        "of it git's index and the one before": (
            [os.path.join(git_dir, name) for name in ("index", "gitmemo-index.old")],
            None,
        ),
        "of it reflogs": (_below(os.path.join(git_dir, "logs")), None),
        "derived index": (derived, None),
        "entry files": (_below(entries), None),
        "all of .mem": (_below(os.path.join(root, ".mem")), None),
    }
    rows = []
    for name, (paths, promise) in parts.items():
        stats = [os.lstat(path) for path in paths]
        bytes_ = sum(at.st_size for at in stats) / COUNT
        blocks = sum(at.st_blocks * 512 for at in stats) / COUNT
        limit = None if promise is None else 1.0
        for measure_, size, most in (("bytes", bytes_, limit), ("blocks", blocks, None)):
            row = (f"{name}, {measure_}", size, "3 KB an entry", float(PROMISE))
            rows.append(Row(*row, most, f"after {COUNT:,} writes", "B"))
    return rows


def _below(folder: str, but: list[str] | None = None) -> list[str]:
    """Files and folders at and below `folder`."""
    found = [folder]
    for place, folders, names in os.walk(folder):
        found += (os.path.join(place, name) for name in (*folders, *names))
    return [path for path in found if path not in (but or [])]
