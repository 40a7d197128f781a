"""The options of `search` and `hint`, said once.

One table drives both ways in: the quick one (`fast`, no typer) and the full one (`commands`, typer
with help), so that they cannot come to disagree; tests/heimdall/cli/test_options.py compares them.
The quick parser understands exact forms only. Whatever else stands on the line (an abbreviation, a
missing value, `--help`) makes it step aside for typer, which explains. Imports nothing heavy.
"""

from collections.abc import Sequence
from typing import NamedTuple

FLAG, TEXT, NUMBER, TEXTS = "flag", "text", "number", "texts"
"""How an option is given: alone, with a value, with a whole number, or several times."""


class Option(NamedTuple):
    """One option: the parameter's `name`, its `flags` on the command line, how it is given, its
    help, its `choices` (none: any value), its default (TEXTS: empty)."""

    name: str
    flags: tuple[str, ...]
    form: str
    help: str
    choices: tuple[str, ...] = ()
    default: object = None


MODES = ("text", "trailer", "trailer-weighted")
"""How a search reads the memory."""

SEARCH = (
    Option(
        "mode",
        ("--mode",),
        TEXT,
        "How the memory is read: full text, or the words as fixed strings on the trailers.",
        choices=MODES,
        default="text",
    ),
    Option(
        "precise",
        ("--precise",),
        FLAG,
        "Only what can be justified; often nothing.",
        default=False,
    ),
    Option(
        "show_all",
        ("--all",),
        FLAG,
        "Also what was replaced, withdrawn or is known to be dead.",
        default=False,
    ),
    Option(
        "limit",
        ("--limit", "-n"),
        NUMBER,
        "At most so many hits, 1 to 100.",
        default=20,
    ),
    Option("skip", ("--skip",), NUMBER, "Leave out the first hits.", default=0),
    Option("snapshot", ("--snapshot",), TEXT, "Search the memory as it was at this commit."),
    Option("cursor", ("--cursor",), TEXT, "The `next` of the page before."),
    Option(
        "kinds",
        ("--kind",),
        TEXTS,
        "Only hits of this kind: task, topic, file, class, function, … May be repeated.",
        default=(),
    ),
    Option("as_json", ("--json",), FLAG, "Print the answer as mem.search/1.", default=False),
)
"""Every option of `mem search` and `heimdall search`."""

HINT = (
    Option(
        "stdin",
        ("--stdin",),
        FLAG,
        "Read paths from standard input: a line or NUL each, or a hook's JSON.",
        default=False,
    ),
    Option("reason", ("--reason",), TEXT, "A word for whoever reads the log.", default="hook"),
    Option("as_json", ("--json",), FLAG, "Print how many hints were written.", default=False),
)
"""Every option of `heimdall hint`."""


class Parsed(NamedTuple):
    """The words of a command line and the value of every option of the table."""

    words: tuple[str, ...]
    values: dict[str, object]


def parse(argv: Sequence[str], table: Sequence[Option]) -> Parsed | None:
    """`argv` read by `table`; None where it holds anything that needs explaining."""
    by_flag = {flag: option for option in table for flag in option.flags}
    values: dict[str, object] = {option.name: option.default for option in table}
    words: list[str] = []
    rest = iter(argv)
    for argument in rest:
        if argument == "--":
            words.extend(rest)
            break
        if argument == "-" or not argument.startswith("-"):
            words.append(argument)
            continue
        flag, given = _split(argument)
        option = by_flag.get(flag)
        if option is None or (option.form == FLAG and given is not None):
            return None
        if option.form != FLAG and given is None:
            given = next(rest, None)
        if not _take(option, given, values):
            return None
    return Parsed(tuple(words), values)


def _split(argument: str) -> tuple[str, str | None]:
    """`--name=value` and `-nVALUE` into flag and value."""
    if argument.startswith("--"):
        flag, equals, value = argument.partition("=")
        return flag, value if equals else None
    return argument[:2], argument[2:] or None


def _take(option: Option, given: str | None, values: dict[str, object]) -> bool:
    """Put the option's value into `values`; False where it is missing or not of its form."""
    if option.form == FLAG:
        values[option.name] = True
        return True
    if given is None or (option.choices and given not in option.choices):
        return False
    if option.form == NUMBER:
        if not (given.isascii() and given.isdigit() and len(given) < 10):
            return False
        values[option.name] = int(given)
    elif option.form == TEXTS:
        earlier = values[option.name]
        values[option.name] = (*earlier, given) if isinstance(earlier, tuple) else (given,)
    else:
        values[option.name] = given
    return True
