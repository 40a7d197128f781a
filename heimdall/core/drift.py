"""Where the journal and the disk disagree about one path.

Pure; the audit's eye (audit-backstop). A drift is a finding, not yet a decision: what becomes of
the path is decided when it is reconciled, from a new look. Held by
tests/heimdall/core/test_drift.py.
"""

from heimdall.core.decide import believable
from heimdall.model import Depth, Drift, Observed, PathRow, Presence


def drift(
    row: PathRow | None,
    observed: Observed,
    *,
    asked: Depth,
    extractor: str,
    digest: bytes | None = None,
    ignored: bool = False,
) -> Drift | None:
    """The disagreement about one path, None where there is none.

    `digest` is that of the bytes as they are, where they were read: then bytes decide, and a stat
    that moved over equal bytes is no drift. `ignored` is whether the rules pass the path over now.
    """
    why = _why(row, observed, asked, extractor, digest, ignored=ignored)
    return Drift(observed.path, why) if why else None


def doubtful(row: PathRow | None, observed: Observed) -> bool:
    """Whether a path with no drift by its stat still has to be hashed to be sure: its stat is the
    recorded one, but was recorded too soon after the change."""
    return (
        row is not None
        and row.state is Presence.PRESENT
        and row.digest is not None
        and observed.presence is Presence.PRESENT
        and row.stat == observed.stat
        and not believable(row, observed.stat)
    )


def _why(
    row: PathRow | None,
    observed: Observed,
    asked: Depth,
    extractor: str,
    digest: bytes | None,
    *,
    ignored: bool,
) -> str:
    known = row is not None and row.state is not Presence.GONE
    if observed.presence is Presence.GONE or ignored:
        gone = "ignored" if observed.presence is not Presence.GONE else "missing"
        return gone if known else ""
    if observed.presence is Presence.UNREADABLE:
        told = row is not None and (row.state, row.reason) == (observed.presence, observed.reason)
        return "" if told else "unreadable"
    if row is None or row.state is not Presence.PRESENT:
        return "unknown" if row is None else "reappeared"
    if (row.asked, row.extractor) != (asked, extractor):
        return "depth" if row.asked != asked else "extractor"
    return _content(row, observed, digest)


def _content(row: PathRow, observed: Observed, digest: bytes | None) -> str:
    """`changed` where the stat tells it, `hash` where only the bytes do."""
    if observed.reason and row.digest is None and row.reason != observed.reason:
        return "changed"
    if digest is None:
        return "" if row.stat == observed.stat else "changed"
    if row.digest == digest:
        return ""
    return "hash" if row.stat == observed.stat else "changed"
