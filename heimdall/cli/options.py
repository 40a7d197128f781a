"""The options of the commands that hooks and agents run all day, said once.

One table drives both ways in: the quick one (`fast`, no typer) and the full one (`commands`, typer
with help), so that they cannot come to disagree; tests/heimdall/cli/test_options.py compares them.
The quick parser understands exact forms only. Whatever else stands on the line (an abbreviation, a
missing value, `--help`) makes it step aside for typer, which explains. Imports nothing heavy.
"""

from collections.abc import Sequence

from gitmemo.values import NamedTuple

FLAG, TEXT, NUMBER, TEXTS = "flag", "text", "number", "texts"
"""How an option is given: alone, with a value, with a whole number, or several times."""


class Option(NamedTuple):
    """One option: the parameter's `name`, its `flags` on the command line, how it is given, its
    help, its `choices` (none: any value), its default (TEXTS: empty), and what its help calls the
    value."""

    name: str
    flags: tuple[str, ...]
    form: str
    help: str
    choices: tuple[str, ...] = ()
    default: object = None
    metavar: str = ""


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
    Option(
        "since",
        ("--since",),
        TEXT,
        "Only memories written since: a date, a moment (UTC where it names no zone), or an age "
        "(12h, 30d, 2w, 6m, 1y).",
        metavar="WHEN",
    ),
    Option(
        "paths",
        ("--path", "-p"),
        TEXTS,
        "Only what concerns this file or folder, seen from here; it need not exist any more. May "
        "be repeated.",
        default=(),
        metavar="PATH",
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


RECONCILE = (
    Option(
        "everything",
        ("--all",),
        FLAG,
        "Every watched project, and the bytes of every file.",
        default=False,
    ),
    Option(
        "dry_run", ("--dry-run",), FLAG, "Say what would be done; change nothing.", default=False
    ),
    Option("as_json", ("--json",), FLAG, "Print one JSON object instead of text.", default=False),
)
"""Every option of `heimdall reconcile`."""

VERIFY = (
    Option(
        "deep", ("--deep",), FLAG, "Read and hash every file, not only look at it.", default=False
    ),
    Option("as_json", ("--json",), FLAG, "Print one JSON object instead of text.", default=False),
)
"""Every option of `heimdall verify`."""


class Parsed(NamedTuple):
    """The words of a command line and the value of every option of the table."""

    words: tuple[str, ...]
    values: dict[str, object]


def parse(argv: Sequence[str], table: Sequence[Option]) -> Parsed | None:
    """`argv` read by `table`; None where it holds anything that needs explaining."""
    # Here and not above: the typer way in reads the table and parses nothing.
    from getopt import GetoptError, gnu_getopt  # noqa: PLC0415

    by_flag = {flag: option for option in table for flag in option.flags}
    if not all(_exact(argument, by_flag) for argument in argv):
        return None
    shorts = "".join(
        flag[1] + ("" if option.form == FLAG else ":")
        for flag, option in by_flag.items()
        if not flag.startswith("--")
    )
    longs = [
        flag[2:] + ("" if option.form == FLAG else "=")
        for flag, option in by_flag.items()
        if flag.startswith("--")
    ]
    try:
        given, words = gnu_getopt(list(argv), shorts, longs)
    except GetoptError:
        return None
    # Under POSIXLY_CORRECT getopt stops at the first word; typer never does.
    if "--" not in argv and any(word.startswith("-") and word != "-" for word in words):
        return None
    values: dict[str, object] = {option.name: option.default for option in table}
    for flag, value in given:
        if not _take(by_flag[flag], value, values):
            return None
    return Parsed(tuple(words), values)


def _exact(argument: str, by_flag: dict[str, Option]) -> bool:
    """Whether a long option is written out: getopt would take an abbreviation, typer does not."""
    name = argument.partition("=")[0]
    return not name.startswith("--") or name == "--" or name in by_flag


def _take(option: Option, given: str, values: dict[str, object]) -> bool:
    """Put the option's value into `values`; False where it is not of its form."""
    if option.form == FLAG:
        values[option.name] = True
        return True
    if option.choices and given not in option.choices:
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
