"""An audit of an unchanged tree of ten thousand files, against `git status` on it."""

import os
import subprocess
import sys

from benchmarks.common import BIN, Place, Row, versus

INSIDE = """
import os, sys, time
from heimdall import config, writer
settings = config.load(os.environ, os.path.expanduser("~"))
writer.reconcile(settings, None)
times = []
for _ in range(int(sys.argv[1])):
    started = time.perf_counter()
    writer.reconcile(settings, None)
    times.append(time.perf_counter() - started)
print(sorted(times)[len(times) // 2])
"""


def measure(place: Place, tree: str, runs: int) -> list[Row]:
    """The audit itself as a running daemon does it, and the whole command for information."""
    heimdall = os.path.join(BIN, "heimdall")
    # A state directory of its own: an audit looks at every root that it knows.
    env = {**place.env, "HEIMDALL_HOME": os.path.join(place.top, "audit-home")}
    own = Place(place.top, env)
    own.run([heimdall, "reconcile", tree], tree)
    own.git(tree, "status", "--porcelain")

    def status() -> None:
        subprocess.run(["git", "status", "--porcelain"], cwd=tree, env=env, check=True)

    def command() -> None:
        own.run([heimdall, "reconcile", "--all"], tree)

    whole_s, status_s = versus(command, status, runs)
    inside_s = float(own.run([sys.executable, "-c", INSIDE, str(runs)], tree))
    name = "audit of 10,000 unchanged files"
    return [
        Row(name, inside_s, "git status", status_s, 2.0, "inside a running process"),
        Row(f"{name}, whole command", whole_s, "git status", status_s, None, "starts Python anew"),
    ]
