"""`mem`: the memory of the project here. Each command parses, makes one call of the App, renders.

A command whose body wants a decision is in the wrong room.
"""

import sys
from typing import Annotated

import typer

from gitmemo import Draft, Kind, redact_text
from heimdall.app import Changes
from heimdall.cli import (
    doctor,
    fast,
    life,
    migrating,
    options,
    progress,
    purging,
    session,
    topics,
    views,
)
from heimdall.cli.typed import AsJson, act, from_table, new_app
from heimdall.errors import BadArgument

app = new_app(
    "Memories of this project: written once, kept in git, checked against the code when asked.\n\n"
    "Exit codes: 0 fine, 1 findings, 2 usage, 3 not found, 4 conflict, 5 refused, 6 damaged store, "
    "7 lock timeout, 8 the machine refused."
)

CONTENT_LIMIT = 2 * 1024 * 1024
"""Bytes of content that are read at most; the store takes half of it and says so."""

EntryIdText = Annotated[
    str, typer.Argument(metavar="ID", help="The entry: seven hex digits or more.")
]
Keywords = Annotated[
    list[str] | None,
    typer.Option(
        "--keyword", "-k", metavar="WORD", help="A word to find it by; 2 to 12, each with -k."
    ),
]
Paths = Annotated[
    list[str] | None,
    typer.Option(
        "--path",
        "-p",
        metavar="PATH[#SYMBOL]",
        help="A file it is about, seen from here, or one symbol of it. May be repeated.",
    ),
]
KindText = Annotated[
    Kind | None, typer.Option("--kind", help="One outcome, or a page that sums up a subject.")
]
Content = Annotated[
    str | None,
    typer.Option("--content", metavar="FILE|-", help="The body: a file, or - for standard input."),
]


@app.command()
@act
def init(
    here: Annotated[
        bool, typer.Option("--here", help="In this very folder, also outside a git repository.")
    ] = False,
    no_index: Annotated[
        bool, typer.Option("--no-index", help="Open the memory only; index nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Open a memory for this project and index its code.

    Safe to repeat: what is there stays, and the index is brought up to date.

    \b
    Example:
      cd my-project && mem init
    """
    with progress.bar("indexing") as shown:
        opened = session.open_memory().init(here=here, index=not no_index, progress=shown)
    session.say(views.dumps(views.opened_value(opened)) if as_json else views.opened_text(opened))


@app.command()
@act
def write(
    *,
    title: Annotated[
        str, typer.Option("--title", metavar="TEXT", help="What was learned, in one line.")
    ],
    summary: Annotated[
        str, typer.Option("--summary", metavar="TEXT", help="What to know before acting on it.")
    ],
    keyword: Keywords = None,
    path: Paths = None,
    kind: KindText = None,
    content: Content = None,
    as_json: AsJson = False,
) -> None:
    """Write one memory, as one commit.

    Files given with --path are pinned by their content, and so are the symbols of theirs that the
    text names; a search then says whether they still hold. Secrets are replaced before anything
    is written. Prints the new id.

    \b
    Example:
      mem write --title "Retry budget is per host" --summary "See Budget.take." \\
                -k retry -k budget --path src/net/budget.py#Budget.take
    """
    draft = Draft(title, summary, tuple(keyword or ()), _body(content) or "", kind)
    app_ = session.open_memory()
    written = app_.write(draft, tuple(path or ()))
    stale = app_.stale_links(written.id) if kind is Kind.TOPIC else ()
    topics.say_written(written, stale, as_json=as_json)


@app.command()
@act
def read(
    entry_id: EntryIdText,
    expand: Annotated[
        bool, typer.Option("--expand", help="With what became of the entries that it links.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show one memory whole, also a replaced or withdrawn one.

    With --expand each [[hash]] in it is followed, over any number of replacements, to what holds
    today.

    \b
    Examples:
      mem read 2f1c9a4
      mem read 2f1c9a4 --expand
    """
    if expand:
        entry, links = session.open_memory().expanded(entry_id)
    else:
        entry, links = session.open_memory().read(entry_id), None
    if as_json:
        more = {} if links is None else {"links": topics.links_value(links)}
        session.say(views.dumps({**views.entry_value(entry), **more}))
    else:
        session.say(views.entry_text(entry) + topics.links_text(links, page=entry.id))


@app.command()
@act
def replace(
    entry_id: EntryIdText,
    *,
    title: Annotated[
        str | None, typer.Option("--title", metavar="TEXT", help="The new title.")
    ] = None,
    summary: Annotated[
        str | None, typer.Option("--summary", metavar="TEXT", help="The new summary.")
    ] = None,
    keyword: Keywords = None,
    path: Paths = None,
    no_paths: Annotated[bool, typer.Option("--no-paths", help="It is about no file.")] = False,
    kind: KindText = None,
    content: Content = None,
    as_json: AsJson = False,
) -> None:
    """Put a corrected memory in the place of an active one.

    One commit. What is not given is taken over from the old one; its paths are pinned anew, as
    they are now. The old one stays readable and never ranks again.

    \b
    Example:
      mem replace 2f1c9a4 --summary "The budget is per host and per method."
    """
    if no_paths and path:
        raise BadArgument("--no-paths", "", "contradicts --path")
    changes = Changes(
        title,
        summary,
        None if keyword is None else tuple(keyword),
        _body(content),
        kind,
        () if no_paths else None if path is None else tuple(path),
    )
    app_ = session.open_memory()
    written = app_.replace(entry_id, changes)
    topics.say_written(written, app_.stale_links(written.id), as_json=as_json)


@app.command()
@act
def delete(
    entry_id: EntryIdText,
    reason: Annotated[
        str, typer.Option("--reason", metavar="TEXT", help="Why it no longer holds.")
    ],
    as_json: AsJson = False,
) -> None:
    """Withdraw a memory: it stays in the history and never ranks again.

    \b
    Example:
      mem delete 2f1c9a4 --reason "The budget was removed."
    """
    commit = session.open_memory().delete(entry_id, reason)
    # A pure function of the text: what the store has replaced in it, told again.
    redactions = redact_text(reason, "reason")[1]
    value = views.deleted_value(commit, entry_id, redactions)
    shown = views.deleted_text(commit, entry_id, redactions)
    session.say(views.dumps(value) if as_json else shown)


@app.command()
@act
def log(
    entry_id: Annotated[
        str | None, typer.Argument(metavar="ID", help="One entry's life; else the store's.")
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", "-n", metavar="N", min=1, help="At most so many events."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List what was written, replaced and withdrawn, newest first.

    With ID, the whole life of one memory is drawn: what it replaced, what replaced it, both sides
    where histories were merged.

    \b
    Examples:
      mem log -n 20
      mem log 2f1c9a4
    """
    if entry_id is not None:
        whole = session.open_memory().life(entry_id)
        say = life.life_value if as_json else life.life_text
        session.say(say(whole, limit=limit))
        return
    events = session.open_memory().log(limit=limit)
    session.say(views.dumps(views.events_value(events)) if as_json else views.events_text(events))


app.command(name="topics")(act(topics.topics))
app.command(name="doctor")(act(doctor.doctor))
app.command(name="purge")(act(purging.purge))
app.command(name="migrate")(act(migrating.migrate))
app.command(name="search")(
    from_table(
        options.SEARCH,
        "words",
        "Words or a sentence.",
        fast.remember,
        """Ask the memory and the code; every hit has a verdict.

        The disk is looked at now. STRONG holds as it stands; WEAK is plausible and not proven;
        REBUILT was found elsewhere; STALE points nowhere any more; REMOVED (with --all) is known
        to be dead. With --path, --since or --kind there need be no words: the memory then lists
        what it has, the newest first.

        \b
        Examples:
          mem search why do retries stop early
          mem search --path src/net --since 30d
          mem search --precise "retry budget" --json
        """,
    )
)


def _body(content: str | None) -> str | None:
    """The text of a file or of standard input; None where none was named."""
    if content is None:
        return None
    try:
        if content == "-" and sys.stdin is None:
            raise BadArgument("--content", content, "is closed")
        if content == "-":
            data = sys.stdin.buffer.read(CONTENT_LIMIT)
        else:
            with open(content, "rb") as file:
                data = file.read(CONTENT_LIMIT)
    except OSError as error:
        raise BadArgument("--content", content, (error.strerror or "").lower()) from error
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.end >= len(data) - 3 and len(data) == CONTENT_LIMIT:
            return data.decode("utf-8", "ignore")
        raise BadArgument("--content", content, "is not UTF-8 text") from error
