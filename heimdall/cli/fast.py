"""The acts of `search` and `hint`, and the way to a search without typer.

An agent asks before each piece of work, and loading a command-line library costs more than finding
the answer. What the option table cannot read exactly goes to typer instead. Nothing here may import
typer, rich, or a room that writes; tests/house/test_imports.py looks.
"""

import sys
from collections.abc import Callable, Sequence

from gitmemo import Kind
from heimdall import hints
from heimdall.app import App
from heimdall.cli import options, session
from heimdall.errors import BadArgument


def search(program: str, argv: Sequence[str]) -> int | None:
    """`mem search` or `heimdall search` on these arguments; None where they need explaining."""
    parsed = options.parse(argv, options.SEARCH)
    if parsed is None:
        return None
    act = remember if program == "mem" else answer
    return act(parsed.words, parsed.values)


def remember(words: Sequence[str], values: dict[str, object]) -> int:
    """`mem search`: the same, of a memory that is brought back first where it was lost."""
    return answer(words, values, session.open_memory)


def answer(
    words: Sequence[str],
    values: dict[str, object],
    opened: Callable[[], App] = session.open_app,
) -> int:
    """Ask and print; an empty answer is a fine answer, an empty question is not, unless the memory
    is to be listed."""
    if not any(word.strip() for word in words) and not _lists(values):
        raise BadArgument("WORDS", " ".join(words), "is empty")
    if values["cursor"] is not None and (values["skip"] or values["snapshot"] is not None):
        raise BadArgument("--cursor", "", "takes the place of --skip and --snapshot")
    from heimdall.cli import render  # noqa: PLC0415 # a hint prints nothing

    app = opened()
    asked = dict(values)
    as_json = asked.pop("as_json")
    kinds = asked.pop("kinds")
    chosen = frozenset(kinds) if isinstance(kinds, tuple | list) and kinds else None
    paths = tuple(asked.pop("paths") or ())  # type: ignore[arg-type, var-annotated] # typed by the table
    report = app.search(words, kinds=chosen, paths=paths, **asked)  # type: ignore[arg-type] # the same
    if as_json:
        session.say(render.report_json(report))
    elif session.pretty():
        from heimdall.cli import pretty  # noqa: PLC0415 # rich, only on a terminal

        pretty.report(report, app.cwd)
    else:
        session.say(render.report_text(report, app.cwd))
    return 0


def _lists(values: dict[str, object]) -> bool:
    """Whether a question without words has an answer: memories of a kind, a path or a time. Code is
    found by words alone."""
    kinds = set(values["kinds"] or ())  # type: ignore[call-overload] # typed by the table
    if kinds:
        return not kinds.isdisjoint(Kind)
    return bool(values["paths"]) or values["since"] is not None


def append(words: Sequence[str], values: dict[str, object]) -> int:
    """Write the hints; nothing is printed unless asked for."""
    if not words and not values["stdin"]:
        raise BadArgument("PATHS", "", "are needed, or --stdin")
    app = session.open_app()
    paths = list(words)
    if values["stdin"]:
        paths += hints.from_stdin(sys.stdin.buffer.read(), app.cwd)
    count = app.hint(paths, str(values["reason"]))
    if values["as_json"]:
        session.say(f'{{"schema": "heimdall.hint/1", "written": {count}}}')
    return 0
