"""Symbol anchors for a memory that is about to be written.

The performer beside `heimdall.core.anchoring`: reads the related files through the search's gate,
lets `extract` say what they define, and pins what the text names. Whole files are pinned by
gitmemo itself. Never here: the decision which names count. Held by tests/heimdall/test_anchors.py.
"""

import os
from collections.abc import Mapping, Sequence

from gitmemo import Anchor
from heimdall.core.anchoring import Definition, named
from heimdall.errors import UnknownPath
from heimdall.extract.facts import facts
from heimdall.model import Depth
from heimdall.search.disk import look


def anchor_symbols(
    root: str,
    text: str,
    paths: Sequence[str],
    explicit: Mapping[str, Sequence[str]] | None = None,
) -> tuple[Anchor, ...]:
    """The symbols of `paths` (relative to the checkout `root`) that `text` names, pinned.

    `text` is title, summary, keywords and content of the draft, one after the other, with newlines
    between. `explicit` maps a path to qualified names that the author asked for (`--path
    P#symbol`); one that the file does not define raises UnknownPath. All definitions of one
    qualified name in one file are pinned, each by one anchor.
    """
    asked = explicit or {}
    chosen: dict[Anchor, None] = {}
    definitions: list[Definition] = []
    for path in dict.fromkeys((*paths, *asked)):
        defined = _definitions(root, path)
        definitions += defined if path in paths else ()
        for symbol in asked.get(path, ()):
            pinned = [one for one in defined if one.node.qualname == symbol]
            if not pinned:
                raise UnknownPath(f"{path}#{symbol}", "no such symbol")
            chosen.update(dict.fromkeys(map(_anchor, pinned)))
    chosen.update(dict.fromkeys(map(_anchor, named(text, definitions))))
    return tuple(chosen)


def _definitions(root: str, path: str) -> list[Definition]:
    """What a related file defines; nothing for what is not a readable source file."""
    seen = look(os.path.join(root, path))
    if seen.data is None:
        return []
    nodes = facts(path, seen.data, Depth.SYMBOL).nodes
    return [Definition(path, node) for node in nodes if node.key]


def _anchor(definition: Definition) -> Anchor:
    digest = f"sha256:{definition.node.digest.hex()}"
    return Anchor(digest, definition.path, definition.node.qualname)
