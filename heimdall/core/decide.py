"""What reconciling one path comes to, given what the journal holds and what the disk shows.

Pure. The desired state of a path is a function of its bytes, the depth asked and the extractor's
version, and of nothing else (content-oracle); a path is present, gone or unreadable, and only gone
retracts (three-outcomes). Held by tests/heimdall/core/test_decide.py.
"""

from heimdall.model import Action, Depth, Observed, PathRow, Presence, Stat

RACY_MS = 2000
"""A file changed so shortly before it was looked at may have been changed again in the same tick of
its clock; two seconds are the coarsest clock among file systems in use."""


def believable(row: PathRow, stat: Stat | None) -> bool:
    """Whether an equal stat proves equal bytes: it is the one recorded, and it was already old when
    it was recorded."""
    if stat is None or row.stat != stat:
        return False
    return stat.mtime_ns < (row.reconciled_at - RACY_MS) * 1_000_000


def must_read(row: PathRow | None, observed: Observed, *, asked: Depth, extractor: str) -> bool:
    """Whether `decide` needs the digest of the bytes: not where there are none to be read or none
    are wanted, and not where the stat proves that they are those the row was made from."""
    if observed.presence is not Presence.PRESENT or observed.reason or asked is Depth.PATH:
        return False
    if row is None or row.state is Presence.GONE or row.digest is None:
        return True
    if row.asked != asked or row.extractor != extractor:
        return True
    return not believable(row, observed.stat)


def must_refresh(row: PathRow, observed: Observed) -> bool:
    """Whether an UNCHANGED path's row still has to be written: its stat moved, or was recorded too
    early to be believed, or the path could not be read when it was last looked at."""
    return row.state is Presence.UNREADABLE or not believable(row, observed.stat)


def decide(
    row: PathRow | None,
    observed: Observed,
    digest: bytes | None,
    *,
    asked: Depth,
    extractor: str,
) -> Action:
    """The action that makes the journal say what the disk shows; never STALE, which only the
    journal can know.

    `digest` is the sha256 of the bytes, None where `must_read` asks for none. `extractor` is the
    version that would extract the path now.
    """
    if observed.presence is Presence.UNREADABLE:
        return Action.KEPT
    if observed.presence is Presence.GONE:
        known = row is not None and row.state is not Presence.GONE
        return Action.RETRACTED if known else Action.UNCHANGED
    if row is None or row.state is Presence.GONE:
        return Action.INDEXED
    if row.asked != asked or row.extractor != extractor:
        return Action.UPDATED
    return Action.UNCHANGED if _same_content(row, observed, digest) else Action.UPDATED


def _same_content(row: PathRow, observed: Observed, digest: bytes | None) -> bool:
    """Whether the row was made from what is there now."""
    if digest is not None:
        return row.digest == digest
    if observed.reason:
        # Nothing was read now. It is the same if nothing could be read then, for the same reason.
        return row.digest is None and row.reason == observed.reason and row.stat == observed.stat
    # Without a digest the stat has the word: `must_read` has found it believable, or no bytes are
    # wanted at this depth.
    return row.stat == observed.stat


def named_already(row: PathRow | None, seen: Observed, asked: Depth) -> bool:
    """Whether the journal names this thing, with this reason, already."""
    return (
        row is not None
        and row.state is Presence.PRESENT
        and row.reason == seen.reason
        and row.digest is None
        and row.asked == asked
    )
