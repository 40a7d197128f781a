"""A failure, told: one sentence for people, one object for programs, a file for us.

Loaded only once something has gone wrong. An unforeseen exception is a fault of this program: its
traceback goes to a file in the state directory and is never shown.
"""

import contextlib
import errno
import json
import os
import traceback
from collections.abc import Sequence

import gitmemo
from heimdall import config, errors
from heimdall.cli import session
from heimdall.cli.exits import ExitCode, Explained, explain, one_line

_MACHINE = frozenset(
    {
        errno.ENOSPC,
        errno.EDQUOT,
        errno.EACCES,
        errno.EPERM,
        errno.EROFS,
        errno.EIO,
        errno.EMFILE,
        errno.ENFILE,
    }
)
"""The machine's own refusals: an OSError with one of these is nobody's bug."""


def tell(program: str, error: Exception, argv: Sequence[str]) -> int:
    """Say what went wrong; the exit code. What no row foresees is our own fault."""
    # Standard output itself may be what failed, with its last words still in it.
    with contextlib.suppress(OSError):
        session.prepare_streams()
    if isinstance(error, gitmemo.GitMemoError | errors.HeimdallError):
        return show(program, explain(error), argv)
    return unforeseen(program, error, argv)


def usage(program: str, message: str, argv: Sequence[str]) -> int:
    """Say what the command line got wrong; exit code 2."""
    hint = f"`{program} --help` lists the commands, each with its own --help."
    explained = Explained(ExitCode.USAGE, "usage", one_line(message), hint, retryable=False)
    return show(program, explained, argv)


def unforeseen(program: str, error: Exception, argv: Sequence[str]) -> int:
    """The machine's refusal by its own row; anything else as our fault, with its trace on file."""
    if isinstance(error, OSError) and error.errno in _MACHINE:
        where = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else "output"
        return show(program, explain(errors.IoRefused(where, error.errno or 0, "")), argv)
    place = _keep(error)
    hint = f"The details are in {place}; please report them." if place else "Please report it."
    message = f"something went wrong inside this program ({type(error).__name__})"
    return show(
        program,
        Explained(ExitCode.UNFORESEEN, "unforeseen", message, hint, retryable=False),
        argv,
    )


def show(program: str, explained: Explained, argv: Sequence[str]) -> int:
    """Print the failure in the form that was asked for."""
    # The sentence must come out even where standard output is what failed.
    with contextlib.suppress(OSError, ValueError):
        if wants_json(argv):
            facts = {
                "code": explained.code,
                "message": explained.message,
                "hint": explained.hint,
                "retryable": explained.retryable,
            }
            session.say(json.dumps({"error": facts}, ensure_ascii=False))
        else:
            session.warn(f"{program}: {explained.message}")
            if explained.hint:
                session.warn(f"  {explained.hint}")
    return int(explained.exit_code)


def wants_json(argv: Sequence[str]) -> bool:
    """Whether `--json` stands among the options."""
    options = argv[: argv.index("--")] if "--" in argv else argv
    return "--json" in options


def _keep(error: Exception) -> str:
    """Write the traceback beside the state, over the last one; its path, "" where none is."""
    try:
        home = config.load(os.environ, os.path.expanduser("~")).home
        os.makedirs(home, mode=0o700, exist_ok=True)
        path = os.path.join(home, "crash.txt")
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
        descriptor = os.open(path, flags, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write("".join(traceback.format_exception(error)))
    except (OSError, errors.HeimdallError):
        return ""
    return path
