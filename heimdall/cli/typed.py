"""The full way in: typer parses and explains, then the act runs outside of it.

A command's function is only called after typer has finished (`act`), so that an interrupt, a closed
pipe or a failure inside an act is judged in `main` alone and not by the library's own handlers.
"""

import functools
import inspect
from collections.abc import Callable, Sequence
from importlib import metadata
from typing import Annotated, ParamSpec, cast

import typer

from heimdall.cli import failure, session
from heimdall.cli.options import FLAG, NUMBER, TEXT, TEXTS, Option

Given = ParamSpec("Given")
Act = Callable[[], int | None]

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
"""The option that every command has."""


def act(function: Callable[Given, int | None]) -> Callable[Given, Act]:
    """Turn a command's function into one that only notes its arguments: typer calls the result,
    `run` calls what that returns."""

    @functools.wraps(function)
    def note(*args: Given.args, **kwargs: Given.kwargs) -> Act:
        return functools.partial(function, *args, **kwargs)

    return note


def new_app(about: str) -> typer.Typer:
    """An empty command tree with this project's habits."""
    app = typer.Typer(
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    shown = typer.Option("--version", help="Show the version and exit.", callback=_version)

    def program(*, version: Annotated[bool, shown] = False) -> None:
        del version

    app.callback(help=about)(program)
    return app


def _version(wanted: bool) -> None:
    if wanted:
        session.say(metadata.version("heimdall-mem"))
        raise typer.Exit


def run(program: str, argv: Sequence[str]) -> int:
    """Parse `argv` and carry out what it says; the exit code."""
    if program == "mem":
        from heimdall.cli.mem import app  # noqa: PLC0415 # one tree per process
    else:
        from heimdall.cli.heimdall import app  # noqa: PLC0415 # one tree per process
    command = typer.main.get_command(app)
    try:
        parsed = command.main(
            args=list(argv) or ["--help"], prog_name=program, standalone_mode=False
        )
    except typer.TyperException as error:
        return failure.usage(program, error.format_message(), argv)
    except typer.Abort as error:
        raise KeyboardInterrupt from error
    if callable(parsed):
        return cast(Act, parsed)() or 0
    return parsed if isinstance(parsed, int) else 0


_ANNOTATIONS: dict[str, type] = {FLAG: bool, NUMBER: int}
_METAVARS = {NUMBER: "N", TEXT: "TEXT", TEXTS: "TEXT"}


def from_table(
    table: Sequence[Option],
    words: str,
    words_help: str,
    carry_out: Callable[[Sequence[str], dict[str, object]], int],
    about: str,
) -> Callable[..., Act]:
    """A typer command with the options of `table` and its positional arguments named `words`."""

    def command(**given: object) -> Act:
        values = dict(given)
        positional = cast(Sequence[str], values.pop(words) or ())
        return functools.partial(carry_out, positional, values)

    first = inspect.Parameter(
        words,
        inspect.Parameter.KEYWORD_ONLY,
        default=typer.Argument(None, help=words_help, metavar=words.upper()),
        annotation=list[str],
    )
    parameters = [first, *(_parameter(option) for option in table)]
    vars(command)["__signature__"] = inspect.Signature(parameters)
    command.__doc__ = about
    command.__annotations__ = {}
    return command


def _parameter(option: Option) -> inspect.Parameter:
    """One row of the table as typer wants it. Choices are checked here, by typer's own words."""
    default = None if option.form == TEXTS else option.default
    annotation: object = _ANNOTATIONS.get(option.form, str)
    if option.form == TEXTS:
        annotation = list[str]
    elif option.default is None:
        annotation = str | None
    callback = _one_of(option.choices) if option.choices else None
    metavar = option.metavar or "|".join(option.choices) or _METAVARS.get(option.form)
    shown = typer.Option(
        default,
        *option.flags,
        help=option.help,
        callback=callback,
        metavar=metavar,
        show_default=option.form in (NUMBER,) or bool(option.choices),
    )
    return inspect.Parameter(
        option.name, inspect.Parameter.KEYWORD_ONLY, default=shown, annotation=annotation
    )


def _one_of(choices: tuple[str, ...]) -> Callable[[str], str]:
    """A check that names the choices."""

    def check(value: str) -> str:
        if value not in choices:
            raise typer.BadParameter(f"{value!r} is not one of {', '.join(choices)}")
        return value

    return check
