"""`mem topics`, and what other commands print of links: in `read --expand` and after a write.

Text is for people and pipes: one line a link, its state first. Tests:
tests/heimdall/cli/test_topics.py.
"""

from collections.abc import Sequence
from typing import Annotated

import typer

from gitmemo import EntryId, Link, LinkState, Topic, Written, stale
from heimdall.cli import session, views
from heimdall.cli.exits import ExitCode
from heimdall.cli.render import clean
from heimdall.cli.typed import AsJson

_SHORT = 12


def topics(
    check: Annotated[
        bool, typer.Option("--check", help="Exit with 1 where a link no longer holds.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """List the topic pages, newest first, and which of their links no longer hold.

    A link is stale once its entry was replaced or withdrawn, contested where two histories each
    replaced it, and dangling where it names nothing. `mem replace` brings a page up to date.

    \b
    Examples:
      mem topics
      mem topics --check
    """
    found = session.open_memory().topics()
    session.say(views.dumps(topics_value(found)) if as_json else topics_text(found))
    return ExitCode.FINDINGS if check and any(one.stale for one in found) else ExitCode.OK


def topics_value(found: Sequence[Topic]) -> views.Value:
    """The pages as mem.topics/1; `stale` are links by their text."""
    return {
        "schema": "mem.topics/1",
        "topics": [
            {
                "id": one.id,
                "title": one.title,
                "date": one.date,
                "fresh": not one.stale,
                "links": links_value(one.links),
                "stale": [link.link for link in one.stale],
            }
            for one in found
        ],
    }


def topics_text(found: Sequence[Topic]) -> str:
    """A line for each page and, below it, one for each link that no longer holds."""
    lines: list[str] = []
    for one in found:
        lines.append(f"{one.id[:_SHORT]}  {one.date[:10]}  {_freshness(one)}  {clean(one.title)}")
        lines += [f"    {link_text(link)}" for link in one.stale]
    return "\n".join(lines) if lines else "there are no topics yet"


def _freshness(one: Topic) -> str:
    if not one.stale:
        return "fresh"
    return f"{len(one.stale)} of {len(one.links)} links no longer hold"


def links_value(links: Sequence[Link]) -> list[views.Value]:
    """Links as JSON, with their state in one word."""
    return [{**link._asdict(), "state": link.state} for link in links]


def links_text(links: Sequence[Link] | None, *, page: EntryId) -> str:
    """The links below an entry, each with what its entry says today; "" where none were asked
    for."""
    if links is None:
        return ""
    old = {link.link for link in stale(links, page=page)}
    lines = ["", "", "links" if links else "links     none"]
    for link in links:
        note = "" if link.link in old or link.state is LinkState.FRESH else "  (this page)"
        lines.append(f"  {link_text(link)}{note}")
        if link.summary:
            lines.append(f"      {_one_line(link.summary)}")
    return "\n".join(lines)


def link_text(link: Link) -> str:
    """One link: what became of it, and where to go instead."""
    head = f"{link.link[:_SHORT]:<{_SHORT}}  {link.state:<9}"
    title = clean(link.title)
    match link.state:
        case LinkState.FRESH:
            return f"{head}  {title}"
        case LinkState.WITHDRAWN:
            return f"{head}  {title}: {_one_line(link.withdrawn or '')}"
        case LinkState.GONE:
            return f"{head}  {title}: its file was removed, and no commit says why"
        case LinkState.UNKNOWN:
            return f"{head}  no entry has this id"
        case LinkState.AMBIGUOUS:
            return f"{head}  more than one entry starts with it"
    now = " and ".join(end[:_SHORT] for end in link.current)
    return f"{head}  now {now}  {title}"


def say_written(written: Written, bad: Sequence[Link], *, as_json: bool) -> None:
    """What a write did; links of a page that do not hold are said beside it and change nothing."""
    if as_json:
        more = {"links": links_value(bad)} if bad else {}
        session.say(views.dumps({**views.written_value(written), **more}))
        return
    session.say(views.written_text(written))
    for link in bad:
        session.warn(f"link {link_text(link)}")


def _one_line(text: str) -> str:
    return clean(" ".join(text.split()))
