"""A hint, as a harness sends it after every edit, against bare Python; and as a git hook appends
it, against a bare shell."""

import os
import subprocess
import sys

from benchmarks.common import BIN, REPOSITORY, Place, Row, versus


def measure(place: Place, code: str, runs: int) -> list[Row]:
    """The command, as a whole process."""

    def ours() -> None:
        command = [os.path.join(BIN, "heimdall"), "hint", "lib/heapq.py"]
        subprocess.run(command, cwd=code, env=place.env, check=True)

    def theirs() -> None:
        subprocess.run([sys.executable, "-c", "pass"], cwd=code, env=place.env, check=True)

    ours_s, theirs_s = versus(ours, theirs, runs)
    row = Row("heimdall hint, whole process", ours_s, "python -c pass", theirs_s, 3.0)
    return [row, git_hook(place, code, runs * 10)]


def git_hook(place: Place, code: str, runs: int) -> Row:
    """One git hook as a process of its own, beside a shell that does nothing."""
    hook = os.path.join(REPOSITORY, "hooks", "post-commit")
    os.makedirs(place.env["HEIMDALL_HOME"], exist_ok=True)

    def ours() -> None:
        subprocess.run([hook], cwd=code, env=place.env, check=True)

    def theirs() -> None:
        subprocess.run(["sh", "-c", ":"], cwd=code, env=place.env, check=True)

    ours_s, theirs_s = versus(ours, theirs, runs)
    detail = "at most 10 ms" if ours_s <= 0.010 else "more than 10 ms"
    return Row("a git hook, whole process", ours_s, "sh -c :", theirs_s, None, detail)
