"""The help of every command, as people read it: `python -m tests.heimdall.cli.golden` writes
tests/golden/cli/help.txt anew, and the difference is for a person to read."""

import os

import typer

from heimdall.cli.heimdall import app as heimdall_app
from heimdall.cli.mem import app as mem_app

FILE = os.path.join(os.path.dirname(__file__), *[os.pardir] * 2, "golden", "cli", "help.txt")
TREES = {"mem": mem_app, "heimdall": heimdall_app}


def text() -> str:
    """All help texts, a hundred columns wide whatever the terminal."""
    parts = []
    for program, app in TREES.items():
        tree = typer.main.get_command(app)
        assert isinstance(tree, typer.core.TyperGroup)
        context = tree.make_context(program, ["--help"], resilient_parsing=True, terminal_width=100)
        parts.append(f"$ {program} --help\n{tree.get_help(context)}\n")
        for name, command in tree.commands.items():
            inner = command.make_context(
                name, [], parent=context, resilient_parsing=True, terminal_width=100
            )
            parts.append(f"$ {program} {name} --help\n{command.get_help(inner)}\n")
    return "\n".join(parts)


def main() -> None:
    """Write the file."""
    with open(FILE, "w", encoding="utf-8") as file:
        file.write(text())


if __name__ == "__main__":
    main()
