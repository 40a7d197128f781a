"""A project, a home of its own, and the real commands run in it as processes."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.support.warm import READ_AT_THE_START, Commands

COMMANDS = Commands()
BIN = os.path.dirname(os.path.abspath(sys.executable))


class Done(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """The one object that was printed."""
        return json.loads(self.out)


class Box:
    """A directory for a project beside a home for the state; commands run in the project."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.code = top / "code"
        self.home = top / "home"
        self.code.mkdir()
        self.env = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "HEIMDALL_"))},
            "HOME": str(top / "user"),
            "HEIMDALL_HOME": str(self.home),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "NO_COLOR": "1",
        }

    def run(
        self,
        program: str,
        *arguments: str,
        cwd: Path | None = None,
        stdin: bytes = b"",
        **env: str,
    ) -> Done:
        """One real command, to its end."""
        if not any(name.startswith(READ_AT_THE_START) for name in env):
            at = os.fspath(cwd or self.code)
            ended = COMMANDS.run(program, arguments, cwd=at, env={**self.env, **env}, stdin=stdin)
            return Done(ended.code, ended.out.decode(), ended.err.decode())
        done = subprocess.run(
            [os.path.join(BIN, program), *arguments],
            cwd=cwd or self.code,
            env={**self.env, **env},
            input=stdin,
            capture_output=True,
            check=False,
            timeout=60,
        )
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    def mem(self, *arguments: str, **more: Any) -> Done:
        """`mem …`"""
        return self.run("mem", *arguments, **more)

    def heimdall(self, *arguments: str, **more: Any) -> Done:
        """`heimdall …`"""
        return self.run("heimdall", *arguments, **more)

    def git(self, *arguments: str, cwd: Path | None = None) -> str:
        """Git itself, as the oracle and as the user."""
        who = ["-c", "user.name=t", "-c", "user.email=t@localhost"]
        return subprocess.run(
            ["git", *who, *arguments],
            cwd=cwd or self.code,
            env=self.env,
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        ).stdout

    def write(self, title: str = "Budget", *more: str) -> str:
        """One memory that is fine; its id."""
        draft = ("--title", title, "--summary", "See take.", "-k", "budget", "-k", "retry")
        done = self.mem("write", "--json", *draft, *more)
        assert done.code == 0, done
        entry: str = done.json()["id"]
        return entry

    def tip(self) -> str:
        """The commit of the store."""
        return self.git("rev-parse", "main", cwd=self.code / ".mem").strip()


@pytest.fixture(scope="session", autouse=True)
def _commands() -> Iterator[None]:
    """The loaded process goes with the last test."""
    yield
    COMMANDS.close()


@pytest.fixture
def box(tmp_path: Path) -> Box:
    """An empty folder that is not a git repository."""
    return Box(tmp_path)


@pytest.fixture
def project(box: Box) -> Box:
    """A git repository with one file, a memory store and no index."""
    box.git("init", "-q", "-b", "main")
    (box.code / "budget.py").write_text("def take(n):\n    return n\n")
    assert box.mem("init", "--no-index").code == 0
    return box


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Box:
    """One project for all calls that must change nothing: a file, two entries, one of them
    replaced; `old` and `new` are their ids."""
    box = Box(tmp_path_factory.mktemp("shared"))
    box.git("init", "-q", "-b", "main")
    (box.code / "budget.py").write_text("def take(n):\n    return n\n")
    assert box.mem("init", "--no-index").code == 0
    return box


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Mounts a disk with the given options. Only root may: others skip the test, and so does a
    root without mounts, but never silently where CI is set."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted: list[Path] = []

    def mount(options: str) -> Path:
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0 and (os.geteuid() != 0 or "CI" not in os.environ):
            pytest.skip(f"a disk of its own needs root: {done.stderr.strip()}")
        assert done.returncode == 0, done.stderr
        mounted.append(place)
        return place

    yield mount
    for one in mounted:
        subprocess.run(["umount", "-l", str(one)], check=True)
