"""gitmemo: curated outcomes of work as commits of a git repository called `.mem`.

    store = gitmemo.Store.open("/home/me/project")
    store.write(gitmemo.Draft("[cache] bound the LRU", "Cap is 512 entries.", ("cache", "lru")))
    for hit in store.search(["cache"]).hits: ...

This is the front door and the only one: other packages import nothing from the rooms behind
it, but for `values`, which knows nothing of memories.
Names are looked up at their first use, because a search is a whole process and must not pay for
what it never calls; `__all__` is the list of them, and a test compares it with `_HOMES`.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmemo.errors import (
        AmbiguousId,
        CallerError,
        DamagedStore,
        DirtyStore,
        Duplicate,
        GitMemoError,
        InvalidDraft,
        InvalidId,
        IoRefused,
        LegacyStore,
        LockTimeout,
        NoProject,
        NoStore,
        NotActive,
        NotPurgeable,
        PlainFolder,
        Purged,
        StaleSnapshot,
        StoreError,
        TrackedByParent,
        UnfinishedPurge,
        UnknownId,
        WorldError,
    )
    from gitmemo.model import (
        Act,
        Anchor,
        CodeState,
        Draft,
        Entry,
        EntryId,
        Event,
        Found,
        Identity,
        Kind,
        Mode,
        Page,
        PurgeReport,
        Redaction,
        RefChange,
        Written,
    )
    from gitmemo.place import Place, code_state, locate
    from gitmemo.redact import redact_text
    from gitmemo.store import Store
    from gitmemo.text import counts, coverage, norm, query_tokens, tokens, within_one_edit

__all__ = [
    "Act",
    "AmbiguousId",
    "Anchor",
    "CallerError",
    "CodeState",
    "DamagedStore",
    "DirtyStore",
    "Draft",
    "Duplicate",
    "Entry",
    "EntryId",
    "Event",
    "Found",
    "GitMemoError",
    "Identity",
    "InvalidDraft",
    "InvalidId",
    "IoRefused",
    "Kind",
    "LegacyStore",
    "LockTimeout",
    "Mode",
    "NoProject",
    "NoStore",
    "NotActive",
    "NotPurgeable",
    "Page",
    "Place",
    "PlainFolder",
    "PurgeReport",
    "Purged",
    "Redaction",
    "RefChange",
    "StaleSnapshot",
    "Store",
    "StoreError",
    "TrackedByParent",
    "UnfinishedPurge",
    "UnknownId",
    "WorldError",
    "Written",
    "code_state",
    "counts",
    "coverage",
    "locate",
    "norm",
    "query_tokens",
    "redact_text",
    "tokens",
    "within_one_edit",
]

_ROOMS = {
    "errors": (
        "AmbiguousId CallerError DamagedStore DirtyStore Duplicate GitMemoError InvalidDraft"
        " InvalidId IoRefused LegacyStore LockTimeout NoProject NoStore NotActive NotPurgeable"
        " PlainFolder Purged StaleSnapshot StoreError TrackedByParent UnfinishedPurge UnknownId"
        " WorldError"
    ),
    "model": (
        "Act Anchor CodeState Draft Entry EntryId Event Found Identity Kind Mode Page PurgeReport"
        " Redaction RefChange Written"
    ),
    "place": "Place code_state locate",
    "redact": "redact_text",
    "store": "Store",
    "text": "counts coverage norm query_tokens tokens within_one_edit",
}
_HOMES = {name: room for room, names in _ROOMS.items() for name in names.split()}


def __getattr__(name: str) -> object:
    """Import the room of a public name at its first use and keep what it gave."""
    room = _HOMES.get(name)
    if room is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = __import__(f"{__name__}.{room}", fromlist=(name,))
    value = getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
