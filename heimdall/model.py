"""The watchman's values: frozen, comparable, without behaviour.

Named tuples and not dataclasses, because a search is a whole process and pays for every class it
defines (docs/decisions/0003). Paths are absolute strings as `os.fsdecode` gives them; lines are
1-based. Nothing is imported but the standard library's enum and typing; nothing touches a file.
"""

from enum import IntEnum, StrEnum

from gitmemo.values import NamedTuple


class Depth(IntEnum):
    """How much the index knows of a path; each level includes those before."""

    PATH = 0
    FILE = 1
    SYMBOL = 2
    GRAPH = 3


class Presence(StrEnum):
    """The three outcomes of looking at a path. Only GONE retracts."""

    PRESENT = "present"
    GONE = "gone"
    UNREADABLE = "unreadable"


class Relation(StrEnum):
    """What an edge says of its two ends."""

    IMPORTS = "imports"
    CALLS = "calls"
    INHERITS = "inherits"
    USES = "uses"


# -- what is on the disk ---------------------------------------------------------------------------


class Stat(NamedTuple):
    """What `lstat` told of a regular file. `mtime_ns` is when it was changed last: the later of its
    mtime and its ctime, see `heimdall.disk`."""

    size: int
    mtime_ns: int
    inode: int


class Observed(NamedTuple):
    """A path as it was when looked at. `stat` is there when PRESENT; `reason` says why the path is
    not a readable regular file, or why its content was not read ("" when it was)."""

    path: str
    presence: Presence
    stat: Stat | None
    reason: str


# -- what a file says (made by `extract`, from bytes alone) ----------------------------------------


class Node(NamedTuple):
    """A definition. `key` names it inside its file: the qualified name, with `~2`, `~3` for later
    ones of the same name; the file itself has the key "" and kind `file`. `digest` is the raw
    sha256 of the definition's own bytes (32 bytes)."""

    key: str
    kind: str
    name: str
    qualname: str
    line: int
    end_line: int
    signature: str
    doc: str
    digest: bytes


class Edge(NamedTuple):
    """A reference from the definition `src` (a key in this file).

    Either it is bound inside the file (`dst` is a key of this file) or it points outside: `dst` is
    None and `module` and `name` say where to look, as the language spells it: `module` is the
    foreign unit ("a.b", "./util", "crate::x", "stdio.h"; "" for this file's own package), `name`
    a dotted path inside it ("" for the unit itself). `strategy` says how it was, or is to be,
    bound; an outward edge stays pending until the resolver finds exactly one target.
    """

    src: str
    relation: Relation
    line: int
    dst: str | None
    module: str
    name: str
    strategy: str
    confidence: float


class Binding(NamedTuple):
    """A name that this file makes reachable by importing it: `from a import x as y` binds `y` to
    `x` of `a`; `import a.b` binds `a` to the unit `a`; a star import has the name `*`."""

    name: str
    module: str
    target: str


class Facts(NamedTuple):
    """All that one file's bytes say, at some depth: a pure function of (bytes, depth, extractor).

    `nodes[0]` is the file's own node. `package` is what the file declares itself part of (Java's
    package, Go's package clause), else "". `exports` are the names a star import takes, or None
    for the language's own rule. `reason` tells why `depth` is less than was asked ("" if not).
    `words` are what a search finds the file by: see `heimdall.sinks.base`.
    """

    depth: Depth
    language: str
    reason: str
    package: str
    exports: tuple[str, ...] | None
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    bindings: tuple[Binding, ...]


# -- what the journal holds ------------------------------------------------------------------------


class PathRow(NamedTuple):
    """One path as the journal knows it. `digest` is the raw sha256 of the bytes that were indexed,
    None for a path at depth PATH; `asked` the depth wanted of it, `depth` the one reached."""

    path: str
    root: str
    state: Presence
    digest: bytes | None
    stat: Stat | None
    asked: Depth
    depth: Depth
    extractor: str
    language: str
    generation: int
    reason: str
    reconciled_at: int


class NodeRef(NamedTuple):
    """A definition anywhere in the index."""

    path: str
    key: str
    kind: str


class Target(NamedTuple):
    """Where the resolver bound an outward edge, and by which rule."""

    path: str
    key: str
    strategy: str
    confidence: float


class Drift(NamedTuple):
    """One place where the index and the disk disagree: `why` is one of the words that
    docs/journal.md explains (missing, reappeared, unknown, changed, hash, …)."""

    path: str
    why: str


class Action(StrEnum):
    """What reconciling one path came to."""

    INDEXED = "indexed"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    RETRACTED = "retracted"
    KEPT = "kept"
    STALE = "stale"


class Outcome(NamedTuple):
    """The result of reconciling one path; `reason` explains KEPT (could not be read) and a depth
    that was not reached."""

    path: str
    action: Action
    reason: str


# -- what a search answers -------------------------------------------------------------------------


class Verdict(StrEnum):
    """What the disk says of a hit at this moment."""

    STRONG = "STRONG"
    WEAK = "WEAK"
    REBUILT = "REBUILT"
    STALE = "STALE"
    REMOVED = "REMOVED"


class AnchorState(StrEnum):
    """What became of one anchored path or symbol."""

    SAME = "same"
    DRIFTED = "drifted"
    MOVED = "moved"
    MISSING = "missing"
    UNREACHABLE = "unreachable"


class AnchorFact(NamedTuple):
    """One anchor, looked at now. `path` is project-relative; `now` is where a moved one is
    (project-relative, with `#symbol` for a symbol). `recorded` is False where the entry names a
    path without a hash; `similarity` is 1.0 for identical bytes; `candidates` are equally good new
    places, none of which was chosen; `why` says what is at the path instead of a regular file
    (link, directory, fifo, socket, device), "" where there is one."""

    path: str
    symbol: str | None
    state: AnchorState
    now: str | None = None
    similarity: float = 1.0
    recorded: bool = True
    candidates: tuple[str, ...] = ()
    why: str = ""


class Evidence(NamedTuple):
    """All that a verdict may depend on. `content` is the share of the query that the anchored
    content as it is now answers (None where no content could be read); `rivals` are the other
    living ends of an entry's chain."""

    source: str
    anchors: tuple[AnchorFact, ...]
    coverage: float
    content: float | None
    superseded_by: tuple[str, ...] = ()
    withdrawn: bool = False
    index_behind: bool = False
    rivals: tuple[str, ...] = ()


class Judgement(NamedTuple):
    """A verdict with its machine-readable reasons, most important first."""

    verdict: Verdict
    reasons: tuple[str, ...]


class Hit(NamedTuple):
    """One line of an answer; fields as in `mem.search/1` (docs/search.md)."""

    rank: int
    source: str
    id: str
    store: str | None
    title: str
    summary: str
    kind: str
    path: str | None
    line: int | None
    symbol: str | None
    score: float
    matched: tuple[str, ...]
    verdict: Verdict
    reasons: tuple[str, ...]
    coverage: float
    content_coverage: float | None
    anchors: tuple[AnchorFact, ...]


class Report(NamedTuple):
    """The answer to one search. `sources` maps each source to ok, behind, absent, error or
    (a memory of an old format) legacy; `next`
    is the cursor of the following page."""

    query: str
    snapshot: str | None
    total: int
    next: str | None
    sources: dict[str, str]
    hits: tuple[Hit, ...]
