"""The rows of the reconciler's table: what is known, what is seen, what is done."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heimdall.core.decide import RACY_MS, believable, decide, must_read, must_refresh
from heimdall.model import Action, Depth, Observed, PathRow, Presence, Stat

P = "/p/a.py"
OLD = Stat(10, 1_000_000_000, 7)
LATER_MS = 60_000
SAME, OTHER = b"s" * 32, b"o" * 32
ROW = PathRow(
    P, "/p", Presence.PRESENT, SAME, OLD, Depth.GRAPH, Depth.GRAPH, "x1", "python", 3, "", LATER_MS
)
HERE = Observed(P, Presence.PRESENT, OLD, "")
TOUCHED = HERE._replace(stat=OLD._replace(mtime_ns=OLD.mtime_ns + 1))
GONE = Observed(P, Presence.GONE, None, "")
SHUT = Observed(P, Presence.UNREADABLE, None, "EACCES")
FIFO = Observed(P, Presence.PRESENT, None, "fifo")

TABLE = [
    # (row, seen, digest, action)
    (None, HERE, SAME, Action.INDEXED),
    (None, GONE, None, Action.UNCHANGED),
    (None, SHUT, None, Action.KEPT),
    (None, FIFO, None, Action.INDEXED),
    (ROW, HERE, None, Action.UNCHANGED),
    (ROW, HERE, SAME, Action.UNCHANGED),
    (ROW, HERE, OTHER, Action.UPDATED),
    (ROW, TOUCHED, SAME, Action.UNCHANGED),
    (ROW, TOUCHED, OTHER, Action.UPDATED),
    (ROW, TOUCHED, None, Action.UPDATED),
    (ROW, GONE, None, Action.RETRACTED),
    (ROW, SHUT, None, Action.KEPT),
    (ROW, FIFO, None, Action.UPDATED),
    (ROW._replace(state=Presence.GONE, stat=None), HERE, SAME, Action.INDEXED),
    (ROW._replace(state=Presence.GONE, stat=None), GONE, None, Action.UNCHANGED),
    (ROW._replace(state=Presence.UNREADABLE, reason="EACCES"), HERE, SAME, Action.UNCHANGED),
    (ROW._replace(state=Presence.UNREADABLE, reason="EACCES"), GONE, None, Action.RETRACTED),
    (ROW._replace(state=Presence.UNREADABLE, reason="EACCES"), SHUT, None, Action.KEPT),
    (ROW._replace(asked=Depth.FILE), HERE, SAME, Action.UPDATED),
    (ROW._replace(extractor="x0"), HERE, SAME, Action.UPDATED),
    (ROW._replace(digest=None, stat=None, reason="fifo"), FIFO, None, Action.UNCHANGED),
    (ROW._replace(digest=None, stat=None, reason="socket"), FIFO, None, Action.UPDATED),
]


@pytest.mark.parametrize(("row", "seen", "digest", "action"), TABLE)
def test_each_row_of_the_table(
    row: PathRow | None, seen: Observed, digest: bytes | None, action: Action
) -> None:
    assert decide(row, seen, digest, asked=Depth.GRAPH, extractor="x1") is action


@pytest.mark.parametrize(
    ("row", "seen", "asked", "extractor", "answer"),
    [
        (None, HERE, Depth.GRAPH, "x1", True),
        (None, GONE, Depth.GRAPH, "x1", False),
        (None, SHUT, Depth.GRAPH, "x1", False),
        (None, FIFO, Depth.GRAPH, "x1", False),
        (None, HERE, Depth.PATH, "x1", False),
        (ROW, HERE, Depth.GRAPH, "x1", False),
        (ROW, TOUCHED, Depth.GRAPH, "x1", True),
        (ROW, HERE, Depth.FILE, "x1", True),
        (ROW, HERE, Depth.GRAPH, "x2", True),
        (ROW._replace(state=Presence.GONE), HERE, Depth.GRAPH, "x1", True),
        (ROW._replace(digest=None), HERE, Depth.GRAPH, "x1", True),
    ],
)
def test_bytes_are_read_where_only_they_can_tell(
    row: PathRow | None, seen: Observed, asked: Depth, extractor: str, answer: bool
) -> None:
    assert must_read(row, seen, asked=asked, extractor=extractor) is answer


def test_a_stat_recorded_too_soon_after_the_change_is_not_believed() -> None:
    changed_ms = OLD.mtime_ns // 1_000_000
    assert not believable(ROW._replace(reconciled_at=changed_ms), OLD)
    assert not believable(ROW._replace(reconciled_at=changed_ms + RACY_MS), OLD)
    assert believable(ROW._replace(reconciled_at=changed_ms + RACY_MS + 1), OLD)
    assert must_read(
        ROW._replace(reconciled_at=changed_ms + 1), HERE, asked=Depth.GRAPH, extractor="x1"
    )


def test_a_file_from_the_future_is_always_read() -> None:
    future = OLD._replace(mtime_ns=10**18)
    assert not believable(ROW._replace(stat=future), future)


def test_the_row_is_written_again_where_its_stat_says_less_than_is_known_now() -> None:
    assert must_refresh(ROW, TOUCHED)
    assert must_refresh(ROW._replace(reconciled_at=1000), HERE)
    assert must_refresh(ROW._replace(state=Presence.UNREADABLE), HERE)
    assert not must_refresh(ROW, HERE)


_ROWS = st.one_of(
    st.none(),
    st.builds(
        ROW._replace,
        state=st.sampled_from(Presence),
        digest=st.sampled_from([SAME, OTHER, None]),
        stat=st.sampled_from([OLD, TOUCHED.stat, None]),
        asked=st.sampled_from(Depth),
        reason=st.sampled_from(["", "fifo", "EACCES"]),
    ),
)
_SEEN = st.sampled_from([HERE, TOUCHED, GONE, SHUT, FIFO])


@given(row=_ROWS, seen=_SEEN, digest=st.sampled_from([SAME, OTHER, None]))
def test_only_gone_retracts_and_only_unreadable_keeps(
    row: PathRow | None, seen: Observed, digest: bytes | None
) -> None:
    action = decide(row, seen, digest, asked=Depth.GRAPH, extractor="x1")
    assert (action is Action.KEPT) == (seen.presence is Presence.UNREADABLE)
    if action is Action.RETRACTED:
        assert seen.presence is Presence.GONE
    assert action is not Action.STALE


@given(row=_ROWS, seen=_SEEN)
def test_bytes_that_are_other_than_the_rows_are_never_unchanged(
    row: PathRow | None, seen: Observed
) -> None:
    if seen.presence is Presence.PRESENT and not seen.reason:
        known = row.digest if row else None
        other = OTHER if known == SAME else SAME
        assert decide(row, seen, other, asked=Depth.GRAPH, extractor="x1") in {
            Action.INDEXED,
            Action.UPDATED,
        }
