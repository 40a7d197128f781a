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
        MigrationRefused,
        NoProject,
        NoStore,
        NotActive,
        NotPurgeable,
        OtherFormat,
        PlainFolder,
        Purged,
        StaleSnapshot,
        StoreError,
        TrackedByParent,
        UnfinishedPurge,
        UnknownId,
        WithdrawalId,
        WorldError,
    )
    from gitmemo.legacy import Migrated, Migration, dry_run
    from gitmemo.model import (
        Act,
        Anchor,
        CodeState,
        Draft,
        Entry,
        EntryId,
        Event,
        Finding,
        Found,
        Health,
        Identity,
        Kind,
        Life,
        Mode,
        Page,
        PurgeReport,
        Redaction,
        RefChange,
        Subject,
        Written,
    )
    from gitmemo.place import Place, code_state, copy_dir, is_gone, locate
    from gitmemo.redact import redact_text
    from gitmemo.store import Store, check
    from gitmemo.text import (
        counts,
        coverage,
        further_tokens,
        norm,
        query_tokens,
        tokens,
        within_one_edit,
    )
    from gitmemo.topics import Link, LinkState, Topic, stale

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
    "Finding",
    "Found",
    "GitMemoError",
    "Health",
    "Identity",
    "InvalidDraft",
    "InvalidId",
    "IoRefused",
    "Kind",
    "LegacyStore",
    "Life",
    "Link",
    "LinkState",
    "LockTimeout",
    "Migrated",
    "Migration",
    "MigrationRefused",
    "Mode",
    "NoProject",
    "NoStore",
    "NotActive",
    "NotPurgeable",
    "OtherFormat",
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
    "Subject",
    "Topic",
    "TrackedByParent",
    "UnfinishedPurge",
    "UnknownId",
    "WithdrawalId",
    "WorldError",
    "Written",
    "check",
    "code_state",
    "copy_dir",
    "counts",
    "coverage",
    "dry_run",
    "further_tokens",
    "is_gone",
    "locate",
    "norm",
    "query_tokens",
    "redact_text",
    "stale",
    "tokens",
    "within_one_edit",
]

_ROOMS = {
    "errors": (
        "AmbiguousId CallerError DamagedStore DirtyStore Duplicate GitMemoError InvalidDraft"
        " InvalidId IoRefused LegacyStore LockTimeout MigrationRefused NoProject NoStore NotActive"
        " NotPurgeable OtherFormat PlainFolder Purged StaleSnapshot StoreError TrackedByParent"
        " UnfinishedPurge UnknownId WithdrawalId"
        " WorldError"
    ),
    "legacy": "Migrated Migration dry_run",
    "model": (
        "Act Anchor CodeState Draft Entry EntryId Event Finding Found Health Identity Kind Life"
        " Mode Page PurgeReport Redaction RefChange Subject Written"
    ),
    "place": "Place code_state copy_dir is_gone locate",
    "redact": "redact_text",
    "store": "Store check",
    "text": "counts coverage further_tokens norm query_tokens tokens within_one_edit",
    "topics": "Link LinkState Topic stale",
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
