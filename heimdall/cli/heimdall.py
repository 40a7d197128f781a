"""`heimdall`: the index of the code. Each command parses, makes one call of the App, renders.

A command whose body wants a decision is in the wrong room.
"""

import sys
from typing import Annotated

import typer

from heimdall.cli import fast, initing, options, progress, roots, session, views, watch
from heimdall.cli.typed import AsJson, act, from_table, new_app

app = new_app(
    "The index of the code on this machine, and whether it agrees with the disk.\n\n"
    "Exit codes: 0 fine, 1 findings, 2 usage, 3 not found, 6 damaged index, 7 lock timeout, "
    "8 the machine refused."
)


@app.command()
@act
def reconcile(
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="PATH", help="Only these; none: the project here."),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Every watched project, and the bytes of every file.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be done; change nothing.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Make the index equal to the disk.

    Without arguments every file of the project here is looked at; with --all every file of every
    watched project is hashed, so that a rewrite under an equal size and time is found too. What
    hints named is looked at each time. The project here and every directory that is named are
    watched from then on.

    \b
    Examples:
      heimdall reconcile
      heimdall reconcile --all
      heimdall reconcile src/net
    """
    return watch.reconcile(paths or (), everything=everything, dry_run=dry_run, as_json=as_json)


@app.command()
@act
def verify(
    deep: Annotated[
        bool, typer.Option("--deep", help="Read and hash every file, not only look at it.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Name every place where the index and the disk disagree; exit 1 if there is one.

    \b
    Example:
      heimdall verify --deep
    """
    return watch.verify(deep=deep, as_json=as_json)


@app.command()
@act
def depth(
    path: Annotated[str, typer.Argument(metavar="PATH", help="A file or a directory.")],
    as_json: AsJson = False,
) -> None:
    """Show how deep a path is indexed, and why no deeper.

    \b
    Example:
      heimdall depth src/net/budget.py
    """
    reached = session.open_app().depth(path)
    session.say(
        views.dumps(views.reached_value(reached)) if as_json else views.reached_text(reached)
    )


@app.command()
@act
def graph(
    as_lines: Annotated[
        bool,
        typer.Option(
            "--jsonl", "--json", help="One JSON object a line; the only form.", show_default=False
        ),
    ] = True,
    root: Annotated[
        str | None, typer.Option("--root", metavar="DIR", help="One watched project only.")
    ] = None,
    relative: Annotated[
        bool, typer.Option("--relative", help="Paths and ids seen from the project's root.")
    ] = False,
) -> None:
    """Print the whole index, one JSON object a line, in a fixed order.

    \b
    Example:
      heimdall graph --jsonl --root . --relative
    """
    del as_lines
    lines = session.open_app().graph(root, relative=relative)
    for line in views.graph_lines(lines):
        sys.stdout.write(line)


@app.command()
@act
def status(as_json: AsJson = False) -> None:
    """Show what is watched and indexed, and whether the index is behind.

    \b
    Example:
      heimdall status
    """
    standing = session.open_app().status()
    session.say(
        views.dumps(views.standing_value(standing)) if as_json else views.standing_text(standing)
    )


@app.command()
@act
def rebuild(as_json: AsJson = False) -> None:
    """Throw the index away and make it again from the disk. Memories are not touched.

    \b
    Example:
      heimdall rebuild
    """
    with progress.bar("rebuilding") as shown:
        result = session.open_app().rebuild(progress=shown)
    session.say(views.dumps(views.rebuilt_value(result)) if as_json else views.result_text(result))


app.command(name="roots")(act(roots.roots))
app.command(name="init")(act(initing.init))

app.command(name="hint")(
    from_table(
        options.HINT,
        "paths",
        "Files or directories that may have changed.",
        fast.append,
        """Say that paths may have changed; the next reconcile looks at them.

        Nothing else is believed of a hint, so a wrong or doubled one costs nothing. Prints nothing.

        \b
        Examples:
          heimdall hint src/net/budget.py
          git diff --name-only -z HEAD~1 | heimdall hint --stdin
        """,
    )
)

app.command(name="search")(
    from_table(
        options.SEARCH,
        "words",
        "Words or a sentence.",
        fast.answer,
        """The same as `mem search`.

        \b
        Example:
          heimdall search --kind function retry budget
        """,
    )
)
