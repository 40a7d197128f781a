"""The quick parser and typer read one table: where the quick one answers, both answer alike."""

import functools

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from heimdall.cli import options, watch
from heimdall.cli.heimdall import app as heimdall_app
from heimdall.cli.mem import app as mem_app

TREES = {"mem": mem_app, "heimdall": heimdall_app}


def by_typer(program: str, command: str, argv: list[str]) -> options.Parsed | None:
    """What typer makes of the arguments; None where it refuses them."""
    tree = typer.main.get_command(TREES[program])
    try:
        act = tree.main(args=[command, *argv], prog_name=program, standalone_mode=False)
    except typer.TyperException:
        return None
    if not isinstance(act, functools.partial):
        return None
    words, values = act.args
    plain = {name: tuple(v) if isinstance(v, list) else v for name, v in values.items()}
    for option in table(command):
        if option.form == options.TEXTS and plain[option.name] is None:
            plain[option.name] = ()
    return options.Parsed(tuple(words), plain)


def table(command: str) -> tuple[options.Option, ...]:
    return options.SEARCH if command == "search" else options.HINT


LINES = [
    ["retry"],
    ["retry", "budget", "--json"],
    ["--json", "retry", "--precise", "budget"],
    ["-n", "5", "retry"],
    ["-n5", "retry"],
    ["--limit=5", "retry"],
    ["--mode", "trailer", "retry"],
    ["--mode=trailer-weighted", "retry"],
    ["--kind", "task", "--kind=topic", "retry"],
    ["--skip", "20", "--snapshot", "a" * 40, "retry"],
    ["--cursor", "abc", "retry"],
    ["--all", "--", "--json", "-n"],
    ["-", "retry"],
    ["缓存", "naïve café"],
    ["--path", "a.py", "-p", "b", "-pc", "--since=30d"],
]


@pytest.mark.parametrize("argv", LINES, ids=" ".join)
@pytest.mark.parametrize("program", ["mem", "heimdall"])
def test_both_ways_in_read_a_line_alike(program: str, argv: list[str]) -> None:
    quick = options.parse(argv, options.SEARCH)
    assert quick is not None
    assert quick == by_typer(program, "search", argv)


@given(
    st.lists(
        st.sampled_from(
            [
                *(flag for option in options.SEARCH for flag in option.flags),
                *["5", "-5", "x", "--mode=trailer", "--mode=odd", "--limit=", "-n=3", "--json=1"],
                *["--prec", "-", "--", "", "--kind=task", "-nx", "-jn", "7.5", "text"],
            ]
        ),
        max_size=6,
    )
)
def test_where_the_quick_way_answers_typer_agrees(argv: list[str]) -> None:
    quick = options.parse(argv, options.SEARCH)
    if quick is not None:
        assert by_typer("mem", "search", argv) == quick


@pytest.mark.parametrize(
    "argv",
    [
        ["--help"],
        ["-h"],
        ["--unknown", "x"],
        ["--prec", "x"],
        ["-n"],
        ["-n", "five", "x"],
        ["--limit=-1", "x"],
        ["--mode", "odd", "x"],
        ["--json=yes", "x"],
    ],
)
def test_what_needs_explaining_is_left_to_typer(argv: list[str]) -> None:
    assert options.parse(argv, options.SEARCH) is None


@pytest.mark.parametrize("argv", [["a.py", "b.py"], ["--stdin"], ["--json", "--", "--stdin"]])
def test_hints_are_read_alike_too(argv: list[str]) -> None:
    assert options.parse(argv, options.HINT) == by_typer("heimdall", "hint", argv)


@pytest.mark.parametrize(
    ("command", "argv"),
    [
        ("reconcile", []),
        ("reconcile", ["--all"]),
        ("reconcile", ["--dry-run", "src", "--json", "a b"]),
        ("reconcile", ["--", "--all"]),
        ("verify", []),
        ("verify", ["--deep", "--json"]),
    ],
)
def test_the_index_is_asked_alike_too(command: str, argv: list[str]) -> None:
    table = options.RECONCILE if command == "reconcile" else options.VERIFY
    quick = options.parse(argv, table)
    assert quick is not None
    tree = typer.main.get_command(heimdall_app)
    act = tree.main(args=[command, *argv], prog_name="heimdall", standalone_mode=False)
    given = dict(act.keywords)
    assert quick.words == tuple(given.pop("paths", None) or ())
    assert quick.values == given


@pytest.mark.parametrize("argv", [["--help"], ["--unknown"], ["--deep=1"], ["a-path"]])
def test_what_needs_explaining_of_a_verify_is_left_to_typer(argv: list[str]) -> None:
    assert watch.quick("verify", argv) is None
