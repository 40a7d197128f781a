"""`mem search` as a whole process over ten thousand memories and the standard library, and `--mode
trailer` against git's own log."""

import os
import subprocess
import sys

from benchmarks.common import BIN, Place, Row, versus
from benchmarks.material import questions, vocabulary

WORDS = ("number4711", "case512", vocabulary()[30])


def measure(place: Place, code: str, runs: int) -> list[Row]:
    """One row for each kind of question, the worst one counts; and the trailer mode."""
    rows = []
    for question in questions():
        ours_s, theirs_s = versus(
            lambda asked=question: _quiet(place, code, "mem", "search", asked),  # type: ignore[misc] # bound now
            lambda: _python(place, code),
            runs,
        )
        rows.append(
            Row("mem search, whole process", ours_s, "python -c pass", theirs_s, 6.0, question)
        )
    worst = max(rows, key=lambda row: row.ratio)
    return [worst, *_trailers(place, code, runs)]


def _trailers(place: Place, code: str, runs: int) -> list[Row]:
    store = os.path.join(code, ".mem")
    rows = []
    for word in WORDS:
        log = ["git", "log", "main", "--fixed-strings", f"--grep={word}", "--format=%H %s"]
        ours_s, theirs_s = versus(
            lambda asked=word: _quiet(place, code, "mem", "search", "--mode", "trailer", asked),  # type: ignore[misc] # bound now
            lambda asked=log: subprocess.run(  # type: ignore[misc] # bound now
                asked, cwd=store, env=place.env, stdout=subprocess.DEVNULL, check=True
            ),
            runs,
        )
        rows.append(
            Row(
                "mem search --mode trailer",
                ours_s,
                "git log --fixed-strings --grep",
                theirs_s,
                None,
                word,
            )
        )
    return rows


def _quiet(place: Place, code: str, program: str, *arguments: str) -> None:
    command = [os.path.join(BIN, program), *arguments]
    subprocess.run(command, cwd=code, env=place.env, stdout=subprocess.DEVNULL, check=True)


def _python(place: Place, code: str) -> None:
    subprocess.run([sys.executable, "-c", "pass"], cwd=code, env=place.env, check=True)
