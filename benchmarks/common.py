"""What every row needs: a private place, processes, a stopwatch, a line of the table."""

import contextlib
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

REPOSITORY = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BIN = os.path.dirname(os.path.abspath(sys.executable))


class Row(NamedTuple):
    """One line of the table: what was done, how long ours and the yardstick took (median seconds),
    what the yardstick is, and the most that the ratio may be (None: for information). A row of
    sizes has bytes in the place of seconds."""

    name: str
    ours_s: float
    yardstick: str
    theirs_s: float
    promise: float | None
    detail: str = ""
    unit: str = "s"

    @property
    def ratio(self) -> float:
        """How many times the yardstick."""
        return self.ours_s / self.theirs_s


class Place(NamedTuple):
    """A private directory, its own home, and the environment of everything run in it."""

    top: str
    env: dict[str, str]

    def run(self, command: Sequence[str], cwd: str, data: bytes | None = None) -> bytes:
        """One process to its end; raises where it fails."""
        done = subprocess.run(
            command, cwd=cwd, env=self.env, input=data, capture_output=True, check=False
        )
        if done.returncode != 0:
            raise SystemExit(f"{command}: {done.returncode}\n{done.stderr.decode()[-2000:]}")
        return done.stdout

    def git(self, cwd: str, *arguments: str, data: bytes | None = None) -> bytes:
        """Git, untouched by the user's configuration."""
        return self.run(["git", "-c", "gc.auto=0", *arguments], cwd, data)

    def command(self, cwd: str, program: str, *arguments: str) -> bytes:
        """One of our commands."""
        return self.run([os.path.join(BIN, program), *arguments], cwd)


@contextlib.contextmanager
def private_place() -> Iterator[Place]:
    """A directory that is gone afterwards."""
    top = os.path.realpath(tempfile.mkdtemp(prefix="heimdall-bench-"))
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "HEIMDALL_"))}
    who = {"NAME": "bench", "EMAIL": "bench@localhost"}
    env = {
        **kept,
        "HOME": os.path.join(top, "home"),
        "HEIMDALL_HOME": os.path.join(top, "home", ".heimdall"),
        "HEIMDALL_JOBS": "2",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        **{f"GIT_{role}_{key}": v for role in ("AUTHOR", "COMMITTER") for key, v in who.items()},
        "PYTHONPATH": REPOSITORY,
    }
    os.makedirs(env["HOME"])
    try:
        yield Place(top, env)
    finally:
        shutil.rmtree(top, ignore_errors=True)


def seconds(act: Callable[[], object]) -> float:
    """How long one call takes."""
    started = time.perf_counter()
    act()
    return time.perf_counter() - started


def versus(
    ours: Callable[[], object], theirs: Callable[[], object], runs: int
) -> tuple[float, float]:
    """The medians of both, run in turn so that a slower moment of the machine hits both."""
    pairs = [(seconds(ours), seconds(theirs)) for _ in range(runs)]
    return statistics.median(one for one, _ in pairs), statistics.median(two for _, two in pairs)


def note(text: str) -> None:
    """What is going on, for whoever waits."""
    sys.stderr.write(f"  {text}\n")
    sys.stderr.flush()
