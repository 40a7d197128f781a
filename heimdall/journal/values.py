"""What goes into the journal and comes out of it, as values.

Only shapes live here; nothing touches a file. Paths are absolute strings as `os.fsdecode` gives
them, moments are milliseconds since the epoch.
"""

from gitmemo.values import NamedTuple
from heimdall.model import Depth, Facts, Stat


class Commit(NamedTuple):
    """Everything the journal shall hold of one path that is there, as it was read once.

    `generation` is the one that `take` gave: if the path has moved on since, the commit is
    refused. `facts` is None for a path that exists and was not read (a device, a directory), with
    `reason` saying why; otherwise the facts' own reason counts. `digest` is the raw sha256 of the
    bytes the facts were made from. `sketch` is what the file is told by, `shapes` what
    its definitions are (`heimdall.core.sketch` and `shape`; b"" for none). `seen_at` is when the
    path was looked at (0: when it is committed); it decides whether a later equal stat may be
    believed.
    """

    path: str
    root: str
    generation: int
    stat: Stat | None
    digest: bytes | None
    asked: Depth
    extractor: str
    facts: Facts | None
    reason: str = ""
    sketch: bytes = b""
    seen_at: int = 0
    shapes: bytes = b""


class Refresh(NamedTuple):
    """A path whose bytes are what the journal holds already: only its stat is written anew."""

    path: str
    generation: int
    stat: Stat
    seen_at: int = 0


class Retract(NamedTuple):
    """A path that is gone: all it owned goes, the row stays with state GONE."""

    path: str
    generation: int


class Unreadable(NamedTuple):
    """A path that could not be looked at: everything known of it is kept, marked unreadable."""

    path: str
    root: str
    generation: int
    reason: str
    seen_at: int = 0


class Queued(NamedTuple):
    """A path that waits to be reconciled, and the generation its commit must name."""

    path: str
    generation: int
    reason: str


class Root(NamedTuple):
    """A directory whose files are indexed; `depth` is its own asked depth, None for the default."""

    path: str
    depth: Depth | None
    added_at: int


class Store(NamedTuple):
    """A `.mem` that a search may span: `path` is the directory, `root` its project."""

    path: str
    root: str
    seen_at: int


class Move(NamedTuple):
    """The content of `old` was found at `new`; `similarity` is 1.0 for identical bytes."""

    old: str
    new: str
    similarity: float
    at: int


class SymbolMove(NamedTuple):
    """The definition `symbol` of the file `old` was found as `now` in the file `new`; `similarity`
    is `rehome.EDITED` for bodies that differ in indentation and their name alone."""

    old: str
    symbol: str
    new: str
    now: str
    similarity: float
    at: int


class Neighbour(NamedTuple):
    """One bound edge seen from one of its ends; `path` and `key` are the other end."""

    path: str
    key: str
    kind: str
    relation: str
    line: int
    strategy: str
    confidence: float


class Skip(NamedTuple):
    """A path that is not indexed to the asked depth, and why."""

    path: str
    reason: str


class Counts(NamedTuple):
    """The journal in numbers. `reasons` maps each skip reason to how many paths carry it."""

    paths: int
    present: int
    gone: int
    unreadable: int
    nodes: int
    edges: int
    pending: int
    queued: int
    roots: int
    reasons: dict[str, int]
