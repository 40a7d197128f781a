"""The acts of `reconcile` and `verify`, and the way to them without typer.

Both are run by hooks and timers, mostly to find that nothing has changed, which takes less time
than loading a command-line library. What the option tables cannot read exactly goes to typer.
Nothing here may import typer or, off a terminal, rich; tests/house/test_imports.py looks.
"""

from collections.abc import Sequence

from heimdall.cli import options, progress, session, views
from heimdall.cli.exits import ExitCode
from heimdall.errors import BadArgument


def quick(command: str, argv: Sequence[str]) -> int | None:
    """`heimdall reconcile` or `heimdall verify` on these arguments; None where they need
    explaining."""
    table = options.RECONCILE if command == "reconcile" else options.VERIFY
    parsed = options.parse(argv, table)
    if parsed is None:
        return None
    given = {name: bool(value) for name, value in parsed.values.items()}
    if command == "reconcile":
        return reconcile(parsed.words, **given)
    return None if parsed.words else verify(**given)


def reconcile(paths: Sequence[str], *, everything: bool, dry_run: bool, as_json: bool) -> int:
    """Make the index equal to the disk, and say what that came to."""
    if everything and paths:
        raise BadArgument("--all", paths[0], "takes no paths")
    with progress.bar("reconciling") as shown:
        done = session.open_app().reconcile(
            tuple(paths), everything=everything, dry_run=dry_run, progress=shown
        )
    session.say(
        views.dumps(views.reconciled_value(done, dry_run=dry_run))
        if as_json
        else views.reconciled_text(done)
    )
    return ExitCode.OK


def verify(*, deep: bool, as_json: bool) -> int:
    """Name what differs; findings are an exit code of their own."""
    drift = session.open_app().verify(deep=deep)
    session.say(
        views.dumps(views.drift_value(drift, deep=deep)) if as_json else views.drift_text(drift)
    )
    return ExitCode.FINDINGS if drift else ExitCode.OK
