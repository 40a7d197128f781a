"""Each word that an audit can say, and when it says nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heimdall.core.decide import decide
from heimdall.core.drift import doubtful, drift
from heimdall.model import Action, Depth, Observed, PathRow, Presence, Stat

P = "/p/a.py"
OLD = Stat(10, 1_000_000_000, 7)
SAME, OTHER = b"s" * 32, b"o" * 32
ROW = PathRow(
    P, "/p", Presence.PRESENT, SAME, OLD, Depth.GRAPH, Depth.GRAPH, "x1", "python", 3, "", 60_000
)
HERE = Observed(P, Presence.PRESENT, OLD, "")
TOUCHED = HERE._replace(stat=OLD._replace(mtime_ns=5))
GONE = Observed(P, Presence.GONE, None, "")
SHUT = Observed(P, Presence.UNREADABLE, None, "EACCES")
ROW_GONE = ROW._replace(state=Presence.GONE)
ROW_SHUT = ROW._replace(state=Presence.UNREADABLE, reason="EACCES")


@pytest.mark.parametrize(
    ("row", "seen", "digest", "why"),
    [
        (ROW, GONE, None, "missing"),
        (ROW_SHUT, GONE, None, "missing"),
        (ROW_GONE, GONE, None, None),
        (None, GONE, None, None),
        (None, HERE, None, "unknown"),
        (ROW_GONE, HERE, None, "reappeared"),
        (ROW_SHUT, HERE, None, "reappeared"),
        (ROW, SHUT, None, "unreadable"),
        (None, SHUT, None, "unreadable"),
        (ROW_SHUT, SHUT, None, None),
        (ROW_SHUT, SHUT._replace(reason="EIO"), None, "unreadable"),
        (ROW, HERE, None, None),
        (ROW, TOUCHED, None, "changed"),
        (ROW, TOUCHED, SAME, None),
        (ROW, TOUCHED, OTHER, "changed"),
        (ROW, HERE, SAME, None),
        (ROW, HERE, OTHER, "hash"),
        (ROW._replace(asked=Depth.FILE), HERE, None, "depth"),
        (ROW._replace(extractor="x0"), HERE, None, "extractor"),
        (
            ROW._replace(digest=None, stat=None, reason="fifo"),
            Observed(P, Presence.PRESENT, None, "socket"),
            None,
            "changed",
        ),
    ],
)
def test_each_word(
    row: PathRow | None, seen: Observed, digest: bytes | None, why: str | None
) -> None:
    found = drift(row, seen, asked=Depth.GRAPH, extractor="x1", digest=digest)
    assert (found.why if found else None) == why
    assert found is None or found.path == P


def test_a_path_that_is_passed_over_now_is_drift_only_where_it_is_indexed() -> None:
    def why(row: PathRow | None, seen: Observed) -> str | None:
        found = drift(row, seen, asked=Depth.GRAPH, extractor="x1", ignored=True)
        return found.why if found else None

    assert why(ROW, HERE) == "ignored"
    assert why(None, HERE) is None
    assert why(ROW_GONE, HERE) is None
    assert why(ROW, GONE) == "missing"


def test_a_stat_recorded_too_soon_is_doubtful() -> None:
    assert doubtful(ROW._replace(reconciled_at=1000), HERE)
    assert not doubtful(ROW, HERE)
    assert not doubtful(ROW, TOUCHED), "that is drift already"
    assert not doubtful(None, HERE)


@given(
    row=st.sampled_from([None, ROW, ROW_GONE, ROW_SHUT, ROW._replace(extractor="x0")]),
    seen=st.sampled_from([HERE, TOUCHED, GONE, SHUT]),
    digest=st.sampled_from([SAME, OTHER]),
)
def test_what_drifts_by_bytes_is_what_reconciling_would_change(
    row: PathRow | None, seen: Observed, digest: bytes
) -> None:
    read = digest if seen.presence is Presence.PRESENT else None
    found = drift(row, seen, asked=Depth.GRAPH, extractor="x1", digest=read)
    action = decide(row, seen, read, asked=Depth.GRAPH, extractor="x1")
    if found is None:
        assert action in {Action.UNCHANGED, Action.KEPT}
    else:
        told_again = found.why == "reappeared" and row is not None and row.digest == digest
        assert action is not Action.UNCHANGED or told_again
