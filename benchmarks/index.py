"""A full index at depth graph, against bare tree-sitter parse and capture of the same bytes by two
processes; and what memory and disk it took."""

import os
import shutil
import subprocess
import sys

from benchmarks.common import BIN, Place, Row, versus


def measure(place: Place, code: str, runs: int) -> list[Row]:
    """Index `code` from nothing, `runs` times; the last index stays for the rows that search it."""
    home = place.env["HEIMDALL_HOME"]

    def ours() -> None:
        shutil.rmtree(home, ignore_errors=True)
        place.run([os.path.join(BIN, "heimdall"), "reconcile", code], code)

    def theirs() -> None:
        command = [sys.executable, "-m", "benchmarks.bare", os.path.join(code, "lib")]
        parts = [
            subprocess.Popen([*command, str(n), "2"], env=place.env, stdout=subprocess.DEVNULL)
            for n in range(2)
        ]
        if any(part.wait() for part in parts):
            raise SystemExit("the bare parse failed")

    ours_s, theirs_s = versus(ours, theirs, runs)
    size = sum(os.stat(os.path.join(f, n)).st_size for f, _, names in os.walk(home) for n in names)
    detail = f"whole processes; state {size / 1e6:.0f} MB"
    return [Row("full index, depth graph", ours_s, "parse + capture", theirs_s, 2.0, detail)]
