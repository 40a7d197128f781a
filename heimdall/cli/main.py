"""The entries of the two commands, and the last word on every failure.

What must hold here: nothing ever prints a traceback; data goes to standard output and words to
standard error; the exit code is the table's. What runs all day is tried on the quick way first,
and each loads only what it needs itself: a hook that hints after every edit does not wait for the
rooms of the search. Hence no import of this project at the top of this file.
"""

import os
import sys
from collections.abc import Sequence


def mem() -> int:
    """The command `mem`."""
    return _leave(run("mem", sys.argv[1:]))


def heimdall() -> int:
    """The command `heimdall`."""
    return _leave(run("heimdall", sys.argv[1:]))


def run(program: str, argv: Sequence[str]) -> int:
    """One whole command: its work, its output, its exit code."""
    try:
        code = _dispatch(program, argv)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader went away (`mem log | head`): nothing to say.
        code = 141
    except Exception as error:  # noqa: BLE001 # the last resort: a person never sees a traceback
        from heimdall.cli import failure  # noqa: PLC0415 # only a failure needs words

        code = failure.tell(program, error, argv)
    _settle()
    return code


def _dispatch(program: str, argv: Sequence[str]) -> int:
    """The quick way where it is enough, else typer's."""
    quick = None
    if program == "heimdall" and argv[:1] == ["hint"]:
        quick = _hint(argv[1:])
    elif argv[:1] == ["search"]:
        quick = _search(program, argv[1:])
    elif program == "heimdall" and argv[:1] in (["reconcile"], ["verify"]):
        quick = _watch(argv[0], argv[1:])
    if quick is not None:
        return quick
    from heimdall.cli import session, typed  # noqa: PLC0415 # a tenth of a second

    session.prepare_streams()
    return typed.run(program, argv)


def _hint(argv: Sequence[str]) -> int | None:
    """`heimdall hint` by the room of hints alone; None where it needs explaining or an answer."""
    from heimdall import hints  # noqa: PLC0415 # a hint loads this and nothing else

    # Judged before anything is read: standard input can be read only once.
    if not argv or "--json" in argv:
        return None
    return 0 if hints.main(argv) == 0 else None


def _search(program: str, argv: Sequence[str]) -> int | None:
    """`mem search` and `heimdall search` without typer; None where the line needs explaining."""
    import gc  # noqa: PLC0415 # built in

    from heimdall.cli import fast, session  # noqa: PLC0415 # a search loads these, a hint does not

    # A search lives for milliseconds: a collection would only visit what is all still in use.
    gc.disable()
    session.prepare_streams()
    code = fast.search(program, argv)
    gc.enable()
    return code


def _watch(command: str, argv: Sequence[str]) -> int | None:
    """`heimdall reconcile` and `heimdall verify` without typer; None where the line needs
    explaining."""
    from heimdall.cli import session, watch  # noqa: PLC0415 # only these two load the writer here

    session.prepare_streams()
    return watch.quick(command, argv)


def _leave(code: int) -> int:
    """End here after a search or a hint: all is written, nothing is registered to be done at exit,
    and to take the interpreter apart costs a seventh of the whole process."""
    if sys.argv[1:2] in (["search"], ["hint"]):
        os._exit(code)
    return code


def _settle() -> None:
    """Leave nothing in the streams that Python would fail to flush, aloud, after we have ended."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
