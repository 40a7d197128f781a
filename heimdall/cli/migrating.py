"""`mem migrate`: what would become of a memory of an old format, and the act itself.

The command, its JSON and its text. Without `--apply` it only looks; nothing else in this program
ever migrates. Tests: tests/heimdall/cli/test_migrating.py.
"""

from typing import Annotated

import typer

import gitmemo
from gitmemo import Migrated, Migration
from heimdall.cli import session, views
from heimdall.cli.exits import ExitCode
from heimdall.cli.render import clean
from heimdall.cli.typed import AsJson
from heimdall.errors import BadArgument

SHOWN = 20
"""How many entries, warnings and the like are listed for people; the JSON has all."""


def migrate(
    *,
    apply: Annotated[bool, typer.Option("--apply", help="Do it; without this, only look.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only look, which is the default.")
    ] = False,
    out: Annotated[
        str | None,
        typer.Option("--out", metavar="FILE", help="Also write the whole report there as JSON."),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Show what would become of a memory of an old format; with --apply, migrate it.

    Every entry of every branch becomes one commit on main, with its old date; old hashes stay
    readable. Where one entry has different contents on different branches nothing is done (exit
    code 1): which one holds is for a person to say.

    \b
    Example:
      mem migrate
      mem migrate --apply
    """
    if apply and dry_run:
        raise BadArgument("--dry-run", "", "contradicts --apply")
    app = session.open_memory()
    report = app.migration(finish=apply)
    if out is not None:
        _write(out, report)
    blocked = bool(report.conflicts)
    done = None
    if apply and not blocked:
        done = app.migrate(report)
        if done is None:  # there is nothing to do, perhaps because somebody did it meanwhile
            report = app.migration()
    if as_json:
        session.say(views.dumps(migration_value(report, done)))
    else:
        session.say(migration_text(report, done))
    return ExitCode.FINDINGS if blocked else ExitCode.OK


def _write(path: str, report: Migration) -> None:
    try:
        with open(path, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(views.dumps(gitmemo.dry_run(report)) + "\n")
    except OSError as error:
        raise BadArgument("--out", path, (error.strerror or "").lower()) from error


def migration_value(report: Migration, done: Migrated | None) -> views.Value:
    """The report as mem.migrate/1: that of the format's other engines, and what they do not say."""
    return {
        "schema": "mem.migrate/1",
        **gitmemo.dry_run(report),
        "doubles": [{"leftOut": one, "sameAs": other} for one, other in report.doubles],
        "secrets": [
            {"source": f"{one.source.branch}:{one.source.path}", "kinds": one.secrets}
            for one in report.entries
            if one.secrets
        ],
        "applied": None if done is None else done._asdict(),
    }


def migration_text(report: Migration, done: Migrated | None) -> str:
    """The report for people."""
    if not report.legacy:
        return f"{clean(report.mem)} has the present format; there is nothing to migrate"
    if done is not None:
        return _done_text(report, done)
    lines = [f"{clean(report.mem)} is a memory of an old format", ""]
    for branch, _ in report.tips:
        own = [one for one in report.entries if one.source.branch == branch]
        lines.append(f"branch    {clean(branch)}: {_count(len(own), 'entry', 'entries')} to take")
        lines += [f"          {one.source.commit[:12]}  {clean(one.said.title)}" for one in own[:3]]
        if len(own) > 3:
            lines.append(f"          … and {len(own) - 3} more")
    lines += [
        "",
        f"found     {_count(report.found, 'file', 'files')} on all branches",
        f"becomes   {_count(len(report.entries), 'entry', 'entries')} on main",
    ]
    lines += _listed("same      ", [f"{one} as {other}" for one, other in report.doubles])
    lines += _listed("warning   ", report.warnings)
    lines += _listed("secret    ", _secrets(report))
    for conflict in report.conflicts:
        lines.append(f"conflict  {clean(conflict.path)}")
        lines += [
            f"          {clean(one.branch)}@{one.commit[:12]}  {one.digest[:12]}"
            for one in conflict.variants
        ]
    if report.conflicts:
        lines += [
            "",
            "nothing can be migrated while these differ: make them equal, or delete the branch",
            "whose version no longer holds (`git -C .mem branch -D …`), then look again",
        ]
    else:
        lines += ["", "nothing was changed; `mem migrate --apply` does it"]
    return "\n".join(lines)


def _done_text(report: Migration, done: Migrated) -> str:
    lines = [
        f"migrated {_count(done.entries, 'entry', 'entries')}"
        f" from {_count(len(done.branches), 'branch', 'branches')}",
        f"old hashes stay readable; their branches are kept below {done.backup}/",
    ]
    if done.kept is not None:
        why = ", ".join(map(clean, done.why[:5]))
        lines.append(
            f"the old folder stays at {clean(done.kept)}, for what no history holds: {why}"
        )
    lines += _listed("secret    ", _secrets(report))
    return "\n".join(lines)


def _secrets(report: Migration) -> list[str]:
    return [
        f"{one.source.branch}:{one.source.path} holds {', '.join(one.secrets)};"
        " it is taken over as it is"
        for one in report.entries
        if one.secrets
    ]


def _listed(head: str, texts: "list[str] | tuple[str, ...]") -> list[str]:
    lines = [f"{head}{clean(text)}" for text in texts[:SHOWN]]
    more = len(texts) - SHOWN
    return [*lines, f"{head}… and {more} more"] if more > 0 else lines


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
