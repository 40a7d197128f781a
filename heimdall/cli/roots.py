"""`heimdall roots`: which projects are watched.

The command, and its answer as an object and as lines. Only the index is concerned: no memory is
ever touched from here.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

import typer

from heimdall.app import Reconciled, Rooted
from heimdall.cli import progress, session, views
from heimdall.cli.render import clean
from heimdall.cli.typed import AsJson
from heimdall.config import DEPTHS
from heimdall.errors import BadArgument


class Action(StrEnum):
    """What is done with the list."""

    LIST = "list"
    ADD = "add"
    REMOVE = "remove"


class DepthName(StrEnum):
    """The depths by the names people write."""

    PATH = "path"
    FILE = "file"
    SYMBOL = "symbol"
    GRAPH = "graph"
    MAX = "max"


def roots(
    action: Annotated[Action, typer.Argument(help="What to do.")] = Action.LIST,
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="PATH", help="Directories to add or remove.")
    ] = None,
    depth: Annotated[
        DepthName | None,
        typer.Option("--depth", help="How deep to index what is added; else the default."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the watched projects, add some, or remove some.

    What is added is indexed at once, and again with another --depth. What is removed leaves the
    index; its files and memories stay. A project need not exist any more to be removed.

    \b
    Examples:
      heimdall roots
      heimdall roots add ~/code/service --depth symbol
      heimdall roots remove ~/code/old
    """
    given = paths or []
    if action is not Action.LIST and not given:
        raise BadArgument("PATH", "", f"is needed by {action}")
    if action is Action.LIST and given:
        raise BadArgument("PATH", given[0], "is only for add and remove")
    if action is not Action.ADD and depth is not None:
        raise BadArgument("--depth", depth.value, "is only for add")
    app = session.open_app()
    if action is Action.REMOVE:
        gone = app.remove_roots(given)
        session.say(views.dumps(_removed_value(gone)) if as_json else _removed_text(gone))
    elif action is Action.ADD:
        with progress.bar("indexing") as shown:
            done = app.add_roots(
                given, depth=None if depth is None else DEPTHS[depth], progress=shown
            )
        session.say(views.dumps(_added_value(done)) if as_json else views.reconciled_text(done))
    else:
        known = app.roots()
        session.say(views.dumps(_value(known)) if as_json else _text(known))


def _value(known: Sequence[Rooted]) -> views.Value:
    listed = [
        {
            "path": one.path,
            "depth": None if one.depth is None else one.depth.name.lower(),
            "files": one.files,
            "there": one.there,
        }
        for one in known
    ]
    return {"schema": "heimdall.roots/1", "action": "list", "roots": listed}


def _text(known: Sequence[Rooted]) -> str:
    lines = []
    for one in known:
        depth = f"  depth {one.depth.name.lower()}" if one.depth is not None else ""
        where = "" if one.there else "  not there now: what is indexed of it stays"
        lines.append(f"{one.files:>7} files  {clean(one.path)}{depth}{where}")
    return "\n".join(lines) if lines else "nothing is watched yet; `mem init` in a project does it"


def _added_value(done: Reconciled) -> views.Value:
    return {
        "schema": "heimdall.roots/1",
        "action": "add",
        "registered": done.registered,
        **views.result_value(done.result),
    }


def _removed_value(gone: Sequence[str]) -> views.Value:
    return {"schema": "heimdall.roots/1", "action": "remove", "removed": gone}


def _removed_text(gone: Sequence[str]) -> str:
    return "\n".join(f"no longer watching {clean(path)}" for path in gone)
