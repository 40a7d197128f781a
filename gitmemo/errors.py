"""Everything that can go wrong in a memory store, by whose fault it is.

    GitMemoError
    ├── CallerError         the call is wrong; the store is fine
    │   ├── InvalidDraft        a field of an entry breaks a rule
    │   ├── InvalidId           not a hash of seven digits or more
    │   ├── UnknownId           no entry has this id
    │   │   └── WithdrawalId    it names the commit that withdrew one
    │   ├── Purged              its text was removed for good
    │   ├── AmbiguousId         several entries start with it
    │   ├── NotActive           replaced or withdrawn before
    │   ├── Duplicate           an active entry says exactly this
    │   └── StaleSnapshot       the page's snapshot is not in the history of main
    ├── StoreError          the store is not in a state that this call can use
    │   ├── NoStore             no `.mem` here
    │   ├── NoProject           no git repository and no `.mem` at or above this folder
    │   ├── TrackedByParent     the code repository tracks files under `.mem`
    │   ├── PlainFolder         `.mem` exists and is not a git repository
    │   ├── LegacyStore         a `.mem` of the time before the marker: read, never written
    │   ├── OtherFormat         a `.mem` whose marker is not known here, such as a newer one
    │   ├── MigrationRefused    an old `.mem` that cannot be migrated as it is
    │   ├── NotPurgeable        other places share its objects
    │   ├── DirtyStore          someone changed files inside `.mem` by hand
    │   └── DamagedStore        history, HEAD or intent record are not what they must be
    └── WorldError          the machine said no
        ├── LockTimeout         another process holds the lock
        ├── UnfinishedPurge     history is rewritten, clearing up was stopped
        └── IoRefused           disk full, no permission, read-only disk, I/O error

Classes carry facts, never prose: words, hints and exit codes are added in one table at the edge
(`heimdall.cli.exits`), and a test walks this tree to prove that no class lacks its row.
Nothing is imported here.
"""


class GitMemoError(Exception):
    """Never raised itself; every subclass is one kind of failure."""

    def facts(self) -> dict[str, object]:
        """The error's own fields by name, for `--json` and for the table of sentences."""
        return dict(vars(self))


class CallerError(GitMemoError):
    """The call is wrong and would be wrong again."""


class InvalidDraft(CallerError):
    """`field` of the entry breaks the rule named by `problem`; `detail` is a number or a value."""

    def __init__(self, field: str, problem: str, detail: str = "") -> None:
        super().__init__(field, problem, detail)
        self.field = field
        self.problem = problem
        self.detail = detail


class InvalidId(CallerError):
    """`text` is not seven to sixty-four hex digits."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class UnknownId(CallerError):
    """No commit of an entry has the id `text`."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class WithdrawalId(UnknownId):
    """`text` names the commit that withdrew the entry `withdrew`."""

    def __init__(self, text: str, withdrew: str) -> None:
        super().__init__(text)
        self.args = (text, withdrew)
        self.withdrew = withdrew


class Purged(CallerError):
    """The entry `entry_id` was purged on `date` (ISO 8601)."""

    def __init__(self, entry_id: str, date: str) -> None:
        super().__init__(entry_id, date)
        self.entry_id = entry_id
        self.date = date


class AmbiguousId(CallerError):
    """More than one object starts with `text`; `candidates` are full hashes."""

    def __init__(self, text: str, candidates: tuple[str, ...]) -> None:
        super().__init__(text, candidates)
        self.text = text
        self.candidates = candidates


class NotActive(CallerError):
    """Entry `entry_id` was replaced (by `successors`, the living ends of its chain if any lives) or
    withdrawn (no successors)."""

    def __init__(self, entry_id: str, successors: tuple[str, ...]) -> None:
        super().__init__(entry_id, successors)
        self.entry_id = entry_id
        self.successors = successors


class Duplicate(CallerError):
    """The active entry `entry_id` has the digest of the one to be written."""

    def __init__(self, entry_id: str, digest: str) -> None:
        super().__init__(entry_id, digest)
        self.entry_id = entry_id
        self.digest = digest


class StaleSnapshot(CallerError):
    """`snapshot` is no ancestor of main: history was rewritten, or it is another store's."""

    def __init__(self, snapshot: str) -> None:
        super().__init__(snapshot)
        self.snapshot = snapshot


class StoreError(GitMemoError):
    """The store cannot take this call as it is."""

    def __init__(self, path: str, detail: str = "") -> None:
        super().__init__(path, detail)
        self.path = path
        self.detail = detail


class NoStore(StoreError):
    """No `.mem` at the project root `path`."""


class NoProject(StoreError):
    """`path` lies in no git repository and no folder above it has a `.mem`."""


class TrackedByParent(StoreError):
    """The code repository at `path` tracks `detail` under `.mem`."""


class PlainFolder(StoreError):
    """`path` exists and is not a git repository."""


class LegacyStore(StoreError):
    """`path` has no marker: an older format, which is read and never written."""


class OtherFormat(StoreError):
    """`path` has the marker `detail`, which nobody here knows."""


class MigrationRefused(StoreError):
    """`path` stays as it is, because of `reason`: moved, conflicts, dirty, leftover-record, at-work
    or marker-missing; `detail` names what."""

    def __init__(self, path: str, reason: str, detail: str = "") -> None:
        super().__init__(path, detail)
        self.reason = reason


class NotPurgeable(StoreError):
    """History in `path` cannot be rewritten for good; `detail` names what stands against it."""


class DirtyStore(StoreError):
    """Files inside `path` differ from its last commit; `detail` names the first ones."""


class DamagedStore(StoreError):
    """`path` breaks a rule of the format; `detail` says which."""


class WorldError(GitMemoError):
    """The machine refused; the same call may succeed later."""


class LockTimeout(WorldError):
    """`path` was held by `holder` (pid and host, or "unknown") for all of `waited_s` seconds;
    `since` is when the lock was taken (ISO 8601), "" where nothing tells."""

    def __init__(self, path: str, holder: str, waited_s: float, since: str = "") -> None:
        super().__init__(path, holder, waited_s, since)
        self.path = path
        self.holder = holder
        self.waited_s = waited_s
        self.since = since


class UnfinishedPurge(WorldError):
    """The entry has left the history of `path`, but old objects are still there: `detail` stopped
    the clearing. The next writer takes it up."""

    def __init__(self, path: str, detail: str) -> None:
        super().__init__(path, detail)
        self.path = path
        self.detail = detail


class IoRefused(WorldError):
    """An operation on `path` failed with errno `code`; nothing was half-done."""

    def __init__(self, path: str, code: int, detail: str) -> None:
        super().__init__(path, code, detail)
        self.path = path
        self.code = code
        self.detail = detail
