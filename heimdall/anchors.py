"""Symbol anchors for a memory that is about to be written."""

from collections.abc import Mapping, Sequence

from gitmemo import Anchor


def anchor_symbols(
    root: str,
    text: str,
    paths: Sequence[str],
    explicit: Mapping[str, Sequence[str]] | None = None,
) -> tuple[Anchor, ...]:
    """The symbols of `paths` (relative to the checkout `root`) that `text` names, pinned.

    `text` is title, summary, keywords and content of the draft, one after the other, with newlines
    between. `explicit` maps a path to qualified names that the author asked for (`--path
    P#symbol`); one that the file does not define raises UnknownPath.
    """
    raise NotImplementedError
