"""Every command explains itself, answers in JSON, and stands in the README."""

import os
import re

import pytest
import typer

from heimdall.cli.exits import ExitCode
from heimdall.cli.heimdall import app as heimdall_app
from heimdall.cli.mem import app as mem_app

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TREES = {"mem": mem_app, "heimdall": heimdall_app}
COMMANDS = [
    (program, info.name or (info.callback.__name__ if info.callback else ""))
    for program, tree in TREES.items()
    for info in tree.registered_commands
]


def help_of(program: str, command: str, capsys: pytest.CaptureFixture[str]) -> str:
    tree = typer.main.get_command(TREES[program])
    code = tree.main(args=[command, "--help"], prog_name=program, standalone_mode=False)
    assert code in (0, None)
    return capsys.readouterr().out


@pytest.mark.parametrize(("program", "command"), COMMANDS)
def test_every_command_has_help_with_an_example_and_json(
    program: str, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = help_of(program, command, capsys)
    examples = re.split(r"^ +Examples?:$", text, flags=re.MULTILINE)
    assert len(examples) == 2
    assert f"{program} {command}" in examples[1]
    assert "--json" in text


@pytest.mark.parametrize(("program", "command"), COMMANDS)
def test_every_option_and_argument_is_explained(
    program: str, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    tree = typer.main.get_command(TREES[program])
    assert isinstance(tree, typer.core.TyperGroup)
    for parameter in tree.commands[command].params:
        assert getattr(parameter, "help", None), f"{parameter.name} has no help"


@pytest.mark.parametrize(("program", "command"), COMMANDS)
def test_every_command_is_in_the_readme(program: str, command: str) -> None:
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
        assert f"`{command}" in file.read() or command == "search"


def test_the_readme_names_every_exit_code_that_programs_may_rely_on() -> None:
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
        listed = re.search(r"Exit codes: (.*?)\.", file.read(), re.DOTALL)
    assert listed is not None
    numbers = [int(number) for number in re.findall(r"\b\d\b", listed[1])]
    assert numbers == [code for code in ExitCode if code < 10]


def test_every_command_of_the_memory_opens_it_so_that_a_lost_one_comes_back() -> None:
    """`session.open_app` is for the watchman's commands, and for the doctor, who changes nothing;
    the memory's other ones use `open_memory`."""
    watchman = {
        "heimdall.py",
        "roots.py",
        "watch.py",
        "session.py",
        "fast.py",
        "doctor.py",
        "initing.py",
    }
    folder = os.path.join(ROOT, "heimdall", "cli")
    for name in os.listdir(folder):
        if name.endswith(".py") and name not in watchman:
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                assert "open_app" not in file.read(), name
