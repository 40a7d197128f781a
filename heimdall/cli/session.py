"""Where a command meets its process: environment, current directory, streams.

The one place of the commands that reads the environment; everything below gets values. Light enough
for a search: nothing is imported but what a search needs anyway.
"""

import os
import sys

from heimdall import config
from heimdall.app import App
from heimdall.errors import UnknownPath


def open_app() -> App:
    """The App of this process; raises BadConfig, or UnknownPath where the current directory was
    removed under our feet."""
    try:
        cwd = os.getcwd()
    except OSError as error:
        raise UnknownPath(".", "the current directory does not exist any more") from error
    return App(config.load(os.environ, os.path.expanduser("~")), cwd)


def open_memory() -> App:
    """The same for a command of the memory: one that was lost is brought back from its copy first,
    and that is said; where it cannot be, the command goes on without."""
    app = open_app()
    revived = app.revive()
    if revived is None:
        return app
    if revived.trouble is not None:
        from heimdall.cli.exits import explain  # noqa: PLC0415 # only a failure needs words

        why = explain(revived.trouble).message
        warn(f"the memory at {revived.store} is gone and could not be brought back: {why}")
        return app
    entries = "1 entry" if revived.entries == 1 else f"{revived.entries} entries"
    warn(
        f"the memory at {revived.store} was gone (git clean?) and is back: {entries}"
        f" (to be rid of it for good, remove {revived.copy} too)"
    )
    return app


def prepare_streams() -> None:
    """Both streams in UTF-8 whatever the locale. What UTF-8 cannot carry (a path that is no text)
    appears as a backslash escape, which inside a JSON string is the right spelling too."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace")


def pretty(stream: object = None) -> bool:
    """Whether people look at `stream` (default: standard output) in colour."""
    return _terminal(sys.stdout if stream is None else stream)


def _terminal(stream: object) -> bool:
    isatty = getattr(stream, "isatty", None)
    return bool(isatty and isatty()) and os.environ.get("TERM") != "dumb"


def interactive() -> bool:
    """Whether a person can be asked: both what he types and what he is asked are a terminal's."""
    return _terminal(sys.stdin) and _terminal(sys.stderr)


def confirmed(question: str) -> bool:
    """Ask on standard error; only a clear yes is one."""
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def say(text: str) -> None:
    """One block of data on standard output."""
    sys.stdout.write(text if text.endswith("\n") else text + "\n")


def warn(text: str) -> None:
    """One line for people on standard error."""
    sys.stderr.write(text + "\n")
