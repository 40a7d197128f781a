"""The life of an entry, drawn."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from gitmemo import Act, EntryId, Event, Life
from heimdall.cli.life import life_text


def life(*edges: tuple[str, str | None], living: str = "", faults: tuple[str, ...] = ()) -> Life:
    """Events named by a letter, newest first, each with its target; `!` withdraws."""
    events = []
    for name, target in edges:
        act = Act.DELETE if name == "!" else Act.ADD if target is None else Act.REPLACE
        aim = None if target is None else EntryId(target * 40)
        note = "no longer" if act is Act.DELETE else ""
        events.append(Event(EntryId(name * 40), act, "2026-06-04T", name, "", aim, note))
    ends = tuple(EntryId(one * 40) for one in living)
    return Life(EntryId("a" * 40), tuple(events), ends, faults)


def lanes(drawn: str) -> list[str]:
    return [
        line.partition("  2026")[0].replace("a" * 11, "").rstrip() for line in drawn.split("\n")
    ]


@pytest.mark.parametrize(
    ("given_", "wanted"),
    [
        (life(("b", "a"), ("a", None), living="b"), ["* b", "* a"]),
        (life(("!", "a"), ("a", None)), ["x !", "* a", "nothing of it is living"]),
        (
            life(("c", "a"), ("b", "a"), ("a", None), living="bc"),
            ["* c", "| * b", "|/", "* a"],
        ),
        (
            life(("d", "a"), ("c", "b"), ("e", "b"), ("b", "a"), ("a", None), living="cde"),
            ["* d", "| * c", "| | * e", "| |/", "| * b", "|/", "* a"],
        ),
        (
            life(("d", "a"), ("c", "b"), ("e", "a"), ("a", None), ("b", None), living="cde"),
            ["* d", "| * c", "| | * e", "|_|/", "* | a", "  * b"],
        ),
        (life(("b", "z"), living="b"), ["* b"]),
    ],
)
def test_a_life_is_drawn_as_git_draws_a_graph(given_: Life, wanted: list[str]) -> None:
    drawn = []
    for line in life_text(given_).split("\n"):
        head, found, _ = line.partition("  2026-06-04")
        short = head[:-11] if found else head
        drawn.append(short)
    assert drawn == wanted


def test_what_is_wrong_is_said_and_what_is_left_out_too() -> None:
    whole = life(("b", "a"), ("a", None), faults=("forked", "cycle", f"gap:{'9' * 40}"))
    text = life_text(whole, limit=1)
    assert "1 older events are not shown" in text
    assert "more than one end of it is living" in text
    assert "circle" in text
    assert f"it names {'9' * 40}, which is no entry here" in text


@given(title=st.text(max_size=200), sides=st.integers(1, 6))
def test_no_line_is_wider_than_a_terminal_and_no_letter_is_lost(title: str, sides: int) -> None:
    edges = [(chr(ord("b") + n), "a") for n in range(sides)]
    drawn = life(*edges, ("a", None))
    events = tuple(event._replace(title=title) for event in drawn.events)
    text = life_text(drawn._replace(events=events))
    assert all(cell_len(line) <= 80 for line in text.split("\n"))
    assert all(line.isprintable() for line in text.split("\n"))
    shown = "".join(title.split()).encode("utf-8", "replace")
    assert len(text.encode("utf-8", "replace")) >= len(shown)
