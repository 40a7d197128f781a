"""The paths that a search is kept to: as they are asked, as the store names them, and as they were.

A path need not exist: old memories name old paths. Where the writer saw a file go from one place to
another, what is remembered of the old place is asked for as well, and kept if its content is at the
new one now. Never writes. Held by tests/heimdall/search/test_filters.py.
"""

import os
from collections.abc import Sequence

from gitmemo import Found
from heimdall import paths as names
from heimdall.errors import BadArgument
from heimdall.model import Evidence
from heimdall.search.hits import place
from heimdall.search.knowledge import Knowledge

MOVES = 64
"""Moves that are followed back at most, of all paths of a question together."""


def project_paths(texts: Sequence[str], cwd: str, root: str) -> tuple[str, ...]:
    """Paths as seen from `cwd`, as seen from `root`; "." is the project. One that goes through a
    link is asked by both of its names. Raises BadArgument for what is no path of the project."""
    found: dict[str, None] = {}
    for text in texts:
        if not text.strip() or "\0" in text:
            raise BadArgument("path", text, "nul" if "\0" in text else "empty")
        written = os.path.normpath(os.path.join(cwd, text))
        own = [
            names.relative(path, top)
            for path, top in (
                (written, os.path.normpath(root)),
                (names.normal(text, cwd), os.path.realpath(root)),
            )
            if names.under(path, top)
        ]
        if not own:
            raise BadArgument("path", text, "lies outside of the project")
        found.update(dict.fromkeys(own))
    return tuple(found)


def formers(knowledge: Knowledge, root: str, paths: Sequence[str]) -> tuple[str, ...]:
    """Where the writer saw the files at and below `paths` come from; without those paths."""
    asked = [os.path.normpath(os.path.join(root, path)) for path in paths if path != "."]
    waiting, met = list(asked), set(asked)
    for here in waiting:
        for move in knowledge.moves_to(here):
            if move.old not in met and len(met) < MOVES and names.under(move.old, root):
                met.add(move.old)
                waiting.append(move.old)
    return tuple(names.relative(path, root) for path in waiting[len(asked) :])


def concerns(found: Found, evidence: Evidence, paths: Sequence[str], former: Sequence[str]) -> bool:
    """Whether an entry is about one of `paths`, and not only about a place that had another content
    before: the content that it is about must be where it was asked for."""
    named = {*found.related_paths, *(anchor.path for anchor in found.anchors)}
    if not any(_within(path, former) for path in named) or any(_within(p, paths) for p in named):
        return True
    return any(fact.now and _within(place(fact)[0], paths) for fact in evidence.anchors)


def _within(path: str, folders: Sequence[str]) -> bool:
    return any(folder == "." or names.under(path, folder) for folder in folders)
