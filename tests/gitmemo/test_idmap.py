"""The map of renamed ids: found by any prefix, and true after any number of purges."""

from hypothesis import given
from hypothesis import strategies as st

from gitmemo.idmap import DROPPED, MOVED, PURGED, Moved, compose, like
from gitmemo.model import EntryId


def moved(old: str, new: str | None, state: str = MOVED, date: str = "") -> tuple[str, Moved]:
    return old, Moved(EntryId(old), None if new is None else EntryId(new), state, date)


FIRST = dict(
    [moved("aa1", "bb1"), moved("aa2", "bb0", PURGED, "2026"), moved("ab3", None, DROPPED, "x")]
)


def test_lines_are_found_by_prefix() -> None:
    text = compose("", FIRST)
    assert text == "aa1 bb1\naa2 bb0 purged 2026\nab3 - dropped x\n"
    assert like(text, "aa") == (FIRST["aa1"], FIRST["aa2"])
    assert like(text, "ab3") == (FIRST["ab3"],)
    assert like(text, "a1") == like(text, "bb") == like("", "aa") == ()


def test_a_later_purge_carries_old_lines_on() -> None:
    later = dict([moved("bb1", "cc1"), moved("bb0", "cc0", PURGED, "2027")])
    text = compose(compose("", FIRST), later)
    assert like(text, "aa1") == (Moved(EntryId("aa1"), EntryId("cc1")),)
    assert like(text, "aa2") == (Moved(EntryId("aa2"), EntryId("cc0"), PURGED, "2026"),)
    gone = compose(text, dict([moved("cc1", "cc0", PURGED, "2028")]))
    assert like(gone, "aa1") == (Moved(EntryId("aa1"), EntryId("cc0"), PURGED, "2028"),)


@given(st.text(alphabet="ab1 -\npurged", max_size=80), st.text(alphabet="ab1", min_size=1))
def test_a_strangers_text_stops_no_reader(text: str, prefix: str) -> None:
    assert all(one.old.startswith(prefix) for one in like(text, prefix))
    compose(text, FIRST)
