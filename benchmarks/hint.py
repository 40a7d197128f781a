"""A hint, as a hook sends it after every edit, against bare Python."""

import os
import subprocess
import sys

from benchmarks.common import BIN, Place, Row, versus


def measure(place: Place, code: str, runs: int) -> list[Row]:
    """The command, as a whole process."""

    def ours() -> None:
        command = [os.path.join(BIN, "heimdall"), "hint", "lib/heapq.py"]
        subprocess.run(command, cwd=code, env=place.env, check=True)

    def theirs() -> None:
        subprocess.run([sys.executable, "-c", "pass"], cwd=code, env=place.env, check=True)

    ours_s, theirs_s = versus(ours, theirs, runs)
    return [Row("heimdall hint, whole process", ours_s, "python -c pass", theirs_s, 3.0)]
