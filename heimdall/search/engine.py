"""One question, answered: find in each source, fuse, look, judge, filter."""

from collections.abc import Sequence

from heimdall.config import Settings
from heimdall.model import Report


def search(
    settings: Settings,
    cwd: str,
    words: Sequence[str],
    *,
    limit: int = 20,
    skip: int = 0,
    snapshot: str | None = None,
    cursor: str | None = None,
    mode: str = "text",
    precise: bool = False,
    show_all: bool = False,
    kinds: frozenset[str] | None = None,
    sources: frozenset[str] | None = None,
    hint: bool = True,
) -> Report:
    """Answer `words` for the checkout that holds `cwd`.

    `mode` is text, trailer or trailer-weighted (`gitmemo.Mode`); the trailer modes ask the memory
    alone. `cursor` is a former report's `next` and takes the place of `skip` and `snapshot`.
    `kinds` keeps hits of these kinds (task, topic, function, class, …), `sources` asks only these.
    `hint=False` leaves no trace at all.

    Raises BadArgument for a cursor or mode that cannot be read, and the store's StaleSnapshot.
    A source that is missing or damaged is named in the report and never fails the search.
    """
    raise NotImplementedError
