"""The values of a memory store: frozen, comparable, without behaviour.

They are named tuples and not dataclasses because a search is a whole process: thirty data classes
cost it several milliseconds before its first line runs (docs/decisions/0003). Nothing is imported
here but the standard library's typing and enum; nothing here touches a file.
"""

from __future__ import annotations

from enum import StrEnum

from gitmemo.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NewType

    EntryId = NewType("EntryId", str)
else:
    EntryId = str
"""Forty lower-case hex digits: the hash of the commit that added the entry."""


class Kind(StrEnum):
    """What an entry is: one outcome, or a page that sums up a subject."""

    TASK = "task"
    TOPIC = "topic"


class Act(StrEnum):
    """What a commit of the store does, as its `GitMemo-Type` says."""

    ADD = "add"
    REPLACE = "replace"
    DELETE = "delete"


class Mode(StrEnum):
    """How a search reads: full text, or fixed strings on the trailers (two scorings)."""

    TEXT = "text"
    TRAILER = "trailer"
    TRAILER_WEIGHTED = "trailer-weighted"


class Anchor(NamedTuple):
    """What a memory is about, pinned by content.

    `hash` is `sha256:` and 64 hex digits, of the file's bytes or, with a `symbol`, of that
    symbol's own bytes; `path` is project-relative, POSIX; `symbol` is a qualified name.
    """

    hash: str
    path: str
    symbol: str | None = None


class Identity(NamedTuple):
    """Who commits."""

    name: str
    email: str


class CodeState(NamedTuple):
    """Where the code stood: branch name, `detached:<sha>` or `unknown`; 40 hex or `unknown`."""

    branch: str = "unknown"
    commit: str = "unknown"


class Draft(NamedTuple):
    """An entry as its author hands it in. `anchors` are symbol anchors that the caller computed;
    the store adds a file anchor for each related path that is a readable file."""

    title: str
    summary: str
    keywords: tuple[str, ...]
    content: str = ""
    kind: Kind | None = None
    related_paths: tuple[str, ...] = ()
    related_branches: tuple[str, ...] = ()
    anchors: tuple[Anchor, ...] = ()


class Entry(NamedTuple):
    """An entry as the store holds it. `date` is ISO 8601 in UTC (`…Z`), the commit's own time;
    `text` is the whole entry file; an entry is `active` while no later commit removed its file.
    `replaced_by` are direct successors, `current` the living end of the chain (its own id where it
    is active, none where the chain was withdrawn; two where two histories replaced one entry of
    it, its own first). `faults` say what is wrong with the chain: `forked` (more than one living
    end), `cycle`, `gap:<hash>` (an id that it names and that is no entry)."""

    id: EntryId
    file: str
    title: str
    summary: str
    keywords: tuple[str, ...]
    kind: Kind
    date: str
    digest: str
    content: str
    text: str
    code: CodeState
    related_paths: tuple[str, ...]
    related_branches: tuple[str, ...]
    anchors: tuple[Anchor, ...]
    active: bool
    replaces: EntryId | None
    replaced_by: tuple[EntryId, ...]
    current: tuple[EntryId, ...]
    withdrawn: str | None
    author: str
    faults: tuple[str, ...] = ()


class Found(NamedTuple):
    """One hit of a search inside one store. `matched` are query words as given. `replaced_by` are
    direct successors of a hit that is not active, `current` the living ends of its chain; `rivals`
    of one that is active the other living ends, where merged histories left more than one."""

    id: EntryId
    file: str
    title: str
    summary: str
    keywords: tuple[str, ...]
    kind: Kind
    date: str
    score: float
    matched: tuple[str, ...]
    coverage: float
    related_paths: tuple[str, ...]
    anchors: tuple[Anchor, ...]
    active: bool
    replaced_by: tuple[EntryId, ...]
    current: tuple[EntryId, ...] = ()
    rivals: tuple[EntryId, ...] = ()


class Page(NamedTuple):
    """A page of hits. `snapshot` is the commit of main that was searched; `next_skip` is the next
    page's start or None. `legacy` tells that the store is of an older format: it was read as it is,
    at its HEAD, and cannot be written."""

    snapshot: EntryId
    total: int
    next_skip: int | None
    hits: tuple[Found, ...]
    legacy: bool = False


class Redaction(NamedTuple):
    """A secret that was replaced before anything was written: its kind, its field, how often."""

    kind: str
    field: str
    count: int  # type: ignore[assignment]  # hides tuple.count, which nobody calls on a report


class Written(NamedTuple):
    """What a write or replace did."""

    id: EntryId
    file: str
    redactions: tuple[Redaction, ...]
    similar: tuple[EntryId, ...]


class RefChange(NamedTuple):
    """A ref that a purge moved to the new history, or removed (None)."""

    name: str
    now: EntryId | None


class PurgeReport(NamedTuple):
    """What a purge did, or would do. `ids` are the purged entries and `files` theirs; commits were
    `rewritten` or `left_out`; `withdrawn` are entries (old ids) whose replacement went, `family`
    other versions of the purged one; `elsewhere` are entries (or objects) that hold the same text,
    `remotes` repositories that may, `left` places that could not be cleared of it."""

    ids: tuple[EntryId, ...]
    files: tuple[str, ...]
    date: str
    rewritten: int
    left_out: int
    withdrawn: tuple[EntryId, ...]
    refs: tuple[RefChange, ...]
    tip: EntryId
    family: tuple[EntryId, ...]
    elsewhere: tuple[str, ...]
    remotes: tuple[str, ...]
    left: tuple[str, ...]


class Event(NamedTuple):
    """One commit in an entry's life, or in the store's. `target` is the entry it replaced or
    withdrew; `note` the reason of a withdrawal."""

    id: EntryId
    act: Act
    date: str
    title: str
    author: str
    target: EntryId | None
    note: str


class Life(NamedTuple):
    """The life of one entry: all events of its chain, newest first, both sides of a fork included;
    its `living` ends, oldest first; `faults` as in `Entry`."""

    id: EntryId
    events: tuple[Event, ...]
    living: tuple[EntryId, ...]
    faults: tuple[str, ...]


class Health(StrEnum):
    """How a check ended. WARN: it works, and somebody should know. FAIL: something is lost, wrong
    or refused until somebody acts. SKIP: it could not be asked here."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"
    SKIP = "skip"


class Subject(NamedTuple):
    """What a finding is about, as far as it applies: a path, an id, and a value."""

    path: str = ""
    id: str = ""
    note: str = ""


class Finding(NamedTuple):
    """What one check of a store found. `fault` names it for programs; an OK check has none, or one
    that is only to be known. Words and advice belong to whoever shows it."""

    check: str
    state: Health
    fault: str = ""
    subjects: tuple[Subject, ...] = ()


class Change(NamedTuple):
    """What one commit will do to `.mem`: files to add with their bytes, files to remove, and the
    message. Decided purely, carried out by the store."""

    operation: str
    add: tuple[tuple[str, bytes], ...]
    remove: tuple[str, ...]
    message: str
    digest: str | None
