"""Topic pages and the links in them: what a link came to, and which links no longer hold.

A page says `[[hash]]` for its evidence and stays as it was written, while the evidence is replaced
and withdrawn. Decided here from where each linked entry stands; nothing is rewritten. Never here:
git, the index, finding what a hash names. Tests: tests/gitmemo/test_topics.py,
tests/laws/test_merged_chains.py.
"""

from collections.abc import Sequence
from enum import StrEnum

from gitmemo.model import EntryId, Kind
from gitmemo.values import NamedTuple


class LinkState(StrEnum):
    """What became of the entry that a link names."""

    FRESH = "fresh"
    REPLACED = "replaced"
    WITHDRAWN = "withdrawn"
    CONTESTED = "contested"
    GONE = "gone"
    UNKNOWN = "unknown"
    AMBIGUOUS = "ambiguous"


class Link(NamedTuple):
    """A link of a page. `link` is as written, in lower case; `entry` what it names and `active`
    whether that may be replaced or withdrawn by this id; `current` the living ends of its chain,
    two or more where they contest each other. Title, summary, keywords and kind are those of the
    last of `current`, or of the entry itself where it lives or nothing took its place. `withdrawn`
    is the reason of a withdrawal; `error` is "", "unknown" or "ambiguous"."""

    link: str
    entry: EntryId | None
    active: bool
    current: tuple[EntryId, ...]
    title: str
    summary: str
    keywords: tuple[str, ...]
    kind: Kind | None
    withdrawn: str | None
    error: str

    @property
    def state(self) -> LinkState:
        """What to say of it in one word."""
        if self.error:
            return LinkState(self.error)
        if len(self.current) > 1:
            return LinkState.CONTESTED
        if self.active or self.entry in self.current:
            return LinkState.FRESH
        if self.current:
            return LinkState.REPLACED
        return LinkState.GONE if self.withdrawn is None else LinkState.WITHDRAWN


class Topic(NamedTuple):
    """A living page. `stale` are those of its `links` that no longer hold."""

    id: EntryId
    title: str
    date: str
    links: tuple[Link, ...]
    stale: tuple[Link, ...]


def dangling(link: str, error: str) -> Link:
    """A link that names no entry, or more than one."""
    return Link(link, None, False, (), "", "", (), None, None, error)


def stale(links: Sequence[Link], *, page: EntryId) -> tuple[Link, ...]:
    """The links of `page` that no longer hold; one that leads to the page itself (from a former
    version of it) does."""
    return tuple(
        link for link in links if link.state is not LinkState.FRESH and link.current != (page,)
    )


def topic(page: EntryId, *, title: str, date: str, links: tuple[Link, ...]) -> Topic:
    """The page with what became of its links."""
    return Topic(page, title, date, links, stale(links, page=page))
