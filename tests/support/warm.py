"""The two commands as processes, forked from one that has loaded already what they load.

A command here is a process of its own, with its own streams, directory, environment and end. What
it is spared is the start of Python and of the libraries: nine tenths of its time, and the same
every time. What is about that start itself (what a search loads, how a locale is taken, a signal
on the way) has to start the real program.

The loaded process has one thread and has opened no store: each fork of it is a clean beginning.
"""

import atexit
import contextlib
import gc
import importlib
import io
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from typing import NamedTuple, NoReturn

from heimdall.cli import main

READ_AT_THE_START = ("PYTHON", "LC_", "LANG")
"""Beginnings of the names of variables that only a start of Python looks at."""

_TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_MESSAGE = 128 * 1024


class Ended(NamedTuple):
    """How a command ended; a negative code is the signal that killed it."""

    code: int
    out: bytes
    err: bytes


class Commands:
    """Runs commands, one after the other, by a loaded process that is started when needed."""

    def __init__(self) -> None:
        self._loaded: tuple[subprocess.Popen[bytes], socket.socket] | None = None

    def run(
        self,
        program: str,
        arguments: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        stdin: bytes = b"",
        timeout_s: float = 60.0,
    ) -> Ended:
        """One command to its end, as `subprocess.run` would run it."""
        if self._loaded is None:
            self._loaded = _start()
        _, line = self._loaded
        message = json.dumps([program, list(arguments), cwd, dict(env)]).encode()
        with contextlib.ExitStack() as stack:
            files = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(3)]
            files[0].write(stdin)
            files[0].seek(0)
            line.settimeout(timeout_s)
            try:
                socket.send_fds(line, [message], [file.fileno() for file in files])
                code = int(line.recv(64))
            except BaseException:
                self.close()
                raise
            for file in files:
                file.seek(0)
            return Ended(code, files[1].read(), files[2].read())

    def close(self) -> None:
        """End the loaded process, and with it the command that it may be waiting for."""
        if self._loaded is not None:
            process, line = self._loaded
            line.close()
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            self._loaded = None


def _start() -> tuple[subprocess.Popen[bytes], socket.socket]:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.warm", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            cwd=_TOP,
            # Nobody's home is looked into before a command comes with its own.
            env={**os.environ, "HOME": "/nonexistent", "PYTHONPATH": _TOP},
            start_new_session=True,
        )
    return process, ours


# -- the loaded process ----------------------------------------------------------------------------


def _load() -> None:
    """Everything that some command imports, also what the libraries put off until they are used."""
    for room in ("app", "writer", "search", "cli.failure", "cli.mem", "cli.heimdall"):
        importlib.import_module(f"heimdall.{room}")
    importlib.import_module("gitmemo.store")
    for library in ("pygit2", "portalocker", "tantivy", "tree_sitter", "rapidfuzz"):
        importlib.import_module(library)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        for program in ("mem", "heimdall"):
            main.run(program, ["log", "--limit", "1", "--no-such-option"])


def _serve(line: socket.socket) -> None:
    """Fork for each wish that comes, and answer with how the fork ended."""
    gc.freeze()  # no fork need look for garbage in what was here before it
    while True:
        message, streams, _, _ = socket.recv_fds(line, _MESSAGE, 3)
        if not message:
            return
        program, arguments, cwd, env = json.loads(message)
        child = os.fork()
        if child == 0:
            line.close()
            _become(program, arguments, cwd, env, streams)
        for stream in streams:
            os.close(stream)
        line.send(b"%d" % os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def _become(
    program: str, arguments: list[str], cwd: str, env: dict[str, str], streams: list[int]
) -> NoReturn:
    """Be the command in this process, from its first line to its exit code."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    sys.argv = [program, *arguments]
    code = 1
    try:
        code = main.mem() if program == "mem" else main.heimdall()
    except BaseException:  # noqa: BLE001 -- as Python does with what nobody caught
        traceback.print_exc()
    finally:
        # All that an exit does, but for taking apart what this process did not build.
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    _load()
    _serve(socket.socket(fileno=int(sys.argv[1])))
