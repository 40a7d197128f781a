"""`mem purge`: what goes is shown, then asked for, then done and shown.

The one command that destroys; so it is the one that asks. Without a terminal nobody can answer, and
it refuses unless told `--yes`. Held by tests/heimdall/cli/test_purging.py.
"""

import sys
from typing import Annotated

import typer

from gitmemo import PurgeReport
from heimdall.cli import session
from heimdall.cli.exits import ExitCode
from heimdall.cli.render import clean
from heimdall.cli.typed import AsJson
from heimdall.cli.views import Value, dumps
from heimdall.errors import BadArgument


def purge(
    entry_id: Annotated[
        str, typer.Argument(metavar="ID", help="The entry: seven hex digits or more.")
    ],
    *,
    chain: Annotated[
        bool, typer.Option("--chain", help="All versions of it: the same text is often in each.")
    ] = False,
    text: Annotated[
        list[str] | None,
        typer.Option(
            "--text",
            metavar="TEXT|-",
            help="What to look for in the rest of the store, - for a line of standard input; else "
            "the entry's own lines.",
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would go.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> int:
    """Remove a memory's text for good, from all of history.

    For what should never have been written. History is written anew without it, every place that
    could hold it is cleared, and old ids go on naming their entries. A secret that was in it must
    still be changed: whoever read it has it. Exit code 1: the text is still somewhere, as said.

    \b
    Example:
      mem purge 2f1c9a4 --dry-run
      mem purge 2f1c9a4 --chain --yes
    """
    texts = tuple(_line() if one == "-" else one for one in text or ())
    if not all(texts):
        raise BadArgument("--text", "", "is empty")
    app = session.open_memory()
    if not dry_run and not yes:
        if not session.interactive():
            raise BadArgument("--yes", "", "is needed where nobody can be asked")
        session.warn(purged_text(app.purge(entry_id, chain=chain, texts=texts, dry_run=True), True))
        if not session.confirmed("Purge this for good?"):
            session.warn("nothing was changed")
            return ExitCode.REFUSED
    report = app.purge(entry_id, chain=chain, texts=texts, dry_run=dry_run)
    value = purged_value(report, dry_run=dry_run)
    session.say(dumps(value) if as_json else purged_text(report, dry_run))
    found = not dry_run and (report.elsewhere or report.left)
    return ExitCode.FINDINGS if found else ExitCode.OK


def _line() -> str:
    return sys.stdin.readline().rstrip("\r\n") if sys.stdin is not None else ""


def purged_value(report: PurgeReport, *, dry_run: bool) -> Value:
    """What `purge` prints as mem.purge/1."""
    return {
        "schema": "mem.purge/1",
        "dry_run": dry_run,
        "purged": report.ids,
        "files": report.files,
        "date": report.date,
        "rewritten": report.rewritten,
        "left_out": report.left_out,
        "withdrawn": report.withdrawn,
        "refs": [one._asdict() for one in report.refs],
        "tip": report.tip,
        "other_versions": report.family,
        "elsewhere": report.elsewhere,
        "remotes": report.remotes,
        "left": report.left,
    }


def purged_text(report: PurgeReport, dry_run: bool) -> str:
    """What went or would go, then what the reader must know about the rest."""
    would = "would be " if dry_run else ""
    lines = [f"{one}  {would}purged" for one in report.ids]
    lines += [f"file      {clean(path)}" for path in report.files]
    lines.append(
        f"history   {report.rewritten} commits {would}rewritten, {report.left_out} left out"
    )
    if not dry_run:
        lines.append("ids       those from before still name their entries")
    lines += [f"withdrawn {one[:12]}: what had replaced it is purged" for one in report.withdrawn]
    for ref in report.refs:
        act = "removed" if ref.now is None else "moved to the new history"
        lines.append(f"ref       {clean(ref.name)} {would}{act}")
    lines += [f"version   {one[:12]} of the same chain stays (--chain)" for one in report.family]
    lines += [f"elsewhere {one[:12]} holds some of the same text" for one in report.elsewhere]
    lines += [f"left      {clean(path)} must be looked at by hand" for path in report.left]
    for name in report.remotes:
        lines.append(
            f"remote    {clean(name)} may hold it still; push --force there, and know that a "
            "later pull or merge from any clone brings it back"
        )
    return "\n".join(lines)
