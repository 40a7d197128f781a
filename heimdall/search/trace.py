"""The one trace that a search may leave: which paths the writer should look at again.

Only anchors that moved or died count, and only while the index says something else than the disk,
so that a search of what the writer already knows leaves nothing.
Held by tests/laws/test_search_changes_nothing.py.
"""

import os
from collections.abc import Iterable, Iterator

from heimdall.model import AnchorFact, AnchorState, Evidence, Presence
from heimdall.search.hits import place
from heimdall.search.scene import Scene


def news(scene: Scene, met: Iterable[Evidence]) -> tuple[str, ...]:
    """The absolute paths to hint at, each once. Without an index there is nobody to tell."""
    if scene.knowledge.state == "absent":
        return ()
    told: dict[str, None] = {}
    for evidence in met:
        for fact in evidence.anchors:
            if fact.state in (AnchorState.MISSING, AnchorState.MOVED):
                told.update(dict.fromkeys(_of_anchor(scene, fact, evidence.source)))
    return tuple(told)


def _of_anchor(scene: Scene, fact: AnchorFact, source: str) -> Iterator[str]:
    """The paths of one anchor of which the index is wrong. Where it believes in a remembered file
    that is nowhere to be found, the whole checkout is one of them: the content may be in a file
    that the index has never seen."""
    gone = os.path.normpath(os.path.join(scene.root, fact.path))
    row = scene.knowledge.row(gone)
    if (row is None or row.state is Presence.PRESENT) and not scene.seen(gone).there:
        yield gone
        if row is not None and fact.now is None and source == "memory":
            yield scene.root
    if fact.now is not None:
        new = os.path.join(scene.root, place(fact)[0])
        known = scene.knowledge.row(new)
        if known is None or known.digest != scene.seen(new).digest:
            yield new
