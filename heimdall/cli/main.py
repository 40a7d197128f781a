"""The entries of the two commands, and the last word on every failure.

What must hold here: nothing ever prints a traceback; data goes to standard output and words to
standard error; the exit code is the table's. `search` and `hint` are tried on the quick way first.
Imports nothing but what those two need.
"""

import gc
import os
import sys
from collections.abc import Sequence

import gitmemo
from heimdall.cli import fast, session
from heimdall.errors import HeimdallError


def mem() -> int:
    """The command `mem`."""
    return run("mem", sys.argv[1:])


def heimdall() -> int:
    """The command `heimdall`."""
    return run("heimdall", sys.argv[1:])


def run(program: str, argv: Sequence[str]) -> int:
    """One whole command: its work, its output, its exit code."""
    session.prepare_streams()
    try:
        code = _dispatch(program, argv)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return _unread()
    except (gitmemo.GitMemoError, HeimdallError) as error:
        from heimdall.cli import failure  # noqa: PLC0415 # only a failure needs words

        return failure.tell(program, error, argv)
    except Exception as error:  # noqa: BLE001 # the last resort: a person never sees a traceback
        from heimdall.cli import failure  # noqa: PLC0415 # only a failure needs words

        return failure.unforeseen(program, error, argv)
    return code


def _dispatch(program: str, argv: Sequence[str]) -> int:
    """The quick way where it is enough, else typer's."""
    quick = None
    if argv and argv[0] == "search":
        # A search lives for milliseconds: a collection would only visit what is all still in use.
        gc.disable()
        quick = fast.search(argv[1:])
    elif program == "heimdall" and argv and argv[0] == "hint":
        quick = fast.hint(argv[1:])
    if quick is not None:
        return quick
    gc.enable()
    from heimdall.cli import typed  # noqa: PLC0415 # a tenth of a second that a search cannot spend

    return typed.run(program, argv)


def _unread() -> int:
    """The reader went away (`mem log | head`): nothing to say, and nothing left to flush."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 141
