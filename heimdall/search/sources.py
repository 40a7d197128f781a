"""Where an answer comes from: the memory and the code, each for itself.

A source that is missing, damaged or behind says so in its state and gives what it has; it never
takes the other down. The errors that are the caller's own (a stale snapshot) are let through.
Never writes, never judges. Held by tests/heimdall/search/test_engine.py.
"""

import os
from collections.abc import Iterable, Sequence
from itertools import islice

import gitmemo
from gitmemo import Found, Kind, Mode, Place
from gitmemo.values import NamedTuple
from heimdall import paths as names
from heimdall.config import Settings
from heimdall.core import fuse
from heimdall.core.coverage import answers
from heimdall.errors import JournalError
from heimdall.model import Node, PathRow, Presence
from heimdall.search.knowledge import Knowledge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from heimdall.sinks.base import SinkHit

CODE_HITS = 40
"""How many files and how many definitions the code index is asked for, and how many hits of both
together are kept."""


_SINK_STATES = {"absent": "absent", "foreign": "behind"}
"""What a sink that gives no reader says. A foreign one (the journal was made anew, or another
version wrote it) is projected again by the next pass of the writer."""


class Memory(NamedTuple):
    """What the memory found. `error` is kept for the case that nothing else can answer either."""

    state: str
    store: str | None
    snapshot: str | None
    total: int
    hits: tuple[Found, ...]
    error: gitmemo.GitMemoError | None = None


class CodeHit(NamedTuple):
    """A definition, or a file (its node has the key ""), with what the index holds of it."""

    row: PathRow
    node: Node
    score: float
    coverage: float


class Code(NamedTuple):
    """What the code index found, best first."""

    state: str
    hits: tuple[CodeHit, ...]


def personal(settings: Settings) -> Place:
    """The store for work outside any project."""
    home = os.path.join(settings.home, "memory")
    return Place(home, home, None, worktree=False)


def from_memory(
    place: Place,
    words: Sequence[str],
    *,
    mode: Mode,
    limit: int,
    skip: int = 0,
    snapshot: str | None = None,
    show_all: bool = False,
    kinds: frozenset[Kind] | None = None,
    since_s: int | None = None,
    paths: tuple[str, ...] = (),
) -> Memory:
    """A page of the store of `place`. Raises StaleSnapshot, and InvalidId for a snapshot that is no
    hash."""
    try:
        store = gitmemo.Store.open(place.store_root)
        page = store.search(
            words,
            mode=mode,
            limit=limit,
            skip=skip,
            snapshot=snapshot,
            include_inactive=show_all,
            kinds=kinds,
            since_s=since_s,
            paths=paths,
        )
    except gitmemo.NoStore as error:
        return Memory("absent", None, None, 0, (), error)
    except (gitmemo.StoreError, gitmemo.WorldError) as error:
        return Memory("error", None, None, 0, (), error)
    state = "legacy" if page.legacy else "ok"
    return Memory(state, store.path, page.snapshot, page.total, page.hits)


def from_code(
    settings: Settings,
    knowledge: Knowledge,
    root: str,
    query: tuple[str, ...],
    *,
    kinds: frozenset[str] | None = None,
    paths: tuple[str, ...] = (),
) -> Code:
    """What the index of the checkout `root` holds for the tokens of `query`, in the files and
    folders `paths` where some are named."""
    if knowledge.journal is None:
        return Code(knowledge.state, ())
    from heimdall.sinks.tantivy import open_sink_reader  # noqa: PLC0415 # only for an index

    sink = open_sink_reader(settings.home, knowledge.stamp())
    if isinstance(sink, str):
        return Code(_SINK_STATES.get(sink, "error"), ())
    within = [os.path.normpath(os.path.join(root, path)) for path in paths] or [root]
    try:
        files = _best(sink.find(query, CODE_HITS, symbols=False, within=one) for one in within)
        symbols = _best(sink.find(query, CODE_HITS, files=False, within=one) for one in within)
    except JournalError:
        return Code("error", ())
    merged = fuse.merge_parts(
        [fuse.Part(hit.path, "", hit.score) for hit in files],
        [fuse.Part(hit.path, hit.key, hit.score) for hit in symbols],
    )
    hits = (_code_hit(knowledge, root, part, query) for part in merged)
    kept = (hit for hit in hits if hit is not None and (not kinds or hit.node.kind in kinds))
    # Lazily: each hit costs two questions to the journal.
    return Code(knowledge.state, tuple(islice(kept, CODE_HITS)))


def _best(found: "Iterable[list[SinkHit]]") -> "list[SinkHit]":
    """The best of several lists, each hit once."""
    hits = dict.fromkeys(hit for some in found for hit in some)
    return sorted(hits, key=lambda hit: (-hit.score, hit.path, hit.key))[:CODE_HITS]


def _code_hit(
    knowledge: Knowledge, root: str, part: fuse.Part, query: tuple[str, ...]
) -> CodeHit | None:
    """A found document as the journal knows it; None where the journal has dropped it since."""
    row = knowledge.row(part.path)
    node = knowledge.node(part.path, part.key)
    if row is None or node is None or row.state is not Presence.PRESENT:
        return None
    said = f"{names.relative(part.path, root)}\n{node.qualname}\n{node.signature}\n{node.doc}"
    return CodeHit(row, node, part.score, answers(query, said))
