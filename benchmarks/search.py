"""`mem search` as a whole process over ten thousand memories and the standard library; and against
git's own log: a search in a running process, and the whole command where there is only memory."""

import os
import subprocess
import sys
from functools import partial

from benchmarks.common import BIN, Place, Row, versus
from benchmarks.material import questions, vocabulary

WARM = """
import statistics, sys, time
import gitmemo
store = gitmemo.Store.open(sys.argv[1])
times = []
for _ in range(int(sys.argv[3]) + 1):
    started = time.perf_counter()
    store.search([sys.argv[2]])
    times.append(time.perf_counter() - started)
print(statistics.median(times[1:]))
"""
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
    return [worst, *(row for word in WORDS for row in _against_log(place, code, word, runs))]


def _against_log(place: Place, code: str, word: str, runs: int) -> list[Row]:
    store = os.path.join(code, ".mem")
    command = ["git", "log", "main", "--fixed-strings", f"--grep={word}", "--format=%H %s"]
    # A home of its own, without an index of the code: git's log does not look at code either.
    home = os.path.join(place.top, "memory-only")
    alone = Place(place.top, {**place.env, "HEIMDALL_HOME": home})

    def log() -> None:
        subprocess.run(command, cwd=store, env=place.env, stdout=subprocess.DEVNULL, check=True)

    rows = []
    name = "git log --fixed-strings --grep"
    for mode in ("text", "trailer"):
        asked = [word] if mode == "text" else ["--mode", mode, word]
        ours = partial(_quiet, alone, code, "mem", "search", *asked)
        ours_s, theirs_s = versus(ours, log, runs)
        rows.append(Row(f"mem search, mode {mode}", ours_s, name, theirs_s, 1.0, word))
    warm_s = float(place.run([sys.executable, "-c", WARM, code, word, str(runs)], code))
    _, theirs_s = versus(lambda: None, log, runs)
    return [*rows, Row("search in a running process", warm_s, name, theirs_s, 0.1, word)]


def _quiet(place: Place, code: str, program: str, *arguments: str) -> None:
    command = [os.path.join(BIN, program), *arguments]
    subprocess.run(command, cwd=code, env=place.env, stdout=subprocess.DEVNULL, check=True)


def _python(place: Place, code: str) -> None:
    subprocess.run([sys.executable, "-c", "pass"], cwd=code, env=place.env, check=True)
