"""A date, a moment or an age, as people give it."""

from contextlib import suppress
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heimdall.core.since import since
from heimdall.errors import BadArgument

NOW = datetime(2026, 11, 30, 12, 30, 15, 250_000, UTC).timestamp()


def at(*moment: int) -> int:
    return int(datetime(*moment, tzinfo=UTC).timestamp())  # type: ignore[misc,arg-type] # year first


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-30", at(2026, 11, 30)),
        ("20261130", at(2026, 11, 30)),
        (" 2026-11-30 ", at(2026, 11, 30)),
        ("2026-11-30T10:00", at(2026, 11, 30, 10)),
        ("2026-11-30 10:00:05", at(2026, 11, 30, 10, 0, 5)),
        ("2026-11-30T10:00:05Z", at(2026, 11, 30, 10, 0, 5)),
        ("2026-11-30T10:00:05.123Z", at(2026, 11, 30, 10, 0, 6)),
        ("2026-11-30T10:00+02:00", at(2026, 11, 30, 8)),
        ("2026-11-30T00:30-05:00", at(2026, 11, 30, 5, 30)),
        ("2026-W49-1", at(2026, 11, 30)),
        ("1969-12-31T23:59:59Z", -1),
        ("0001-01-01", at(1, 1, 1)),
        ("2999-01-01", at(2999, 1, 1)),
        ("12h", at(2026, 11, 30, 0, 30, 15)),
        ("30d", at(2026, 10, 31, 12, 30, 15)),
        ("2W", at(2026, 11, 16, 12, 30, 15)),
        ("6m", at(2026, 6, 3, 12, 30, 15)),
        ("1y", at(2025, 11, 30, 12, 30, 15)),
        ("0d", at(2026, 11, 30, 12, 30, 15)),
        ("9999999y", int(NOW) - 9_999_999 * 365 * 86_400),
    ],
)
def test_a_moment_is_understood(text: str, moment: int) -> None:
    assert since(text, NOW) == moment


@pytest.mark.parametrize(
    "text",
    [
        *["", " ", "yesterday", "d", "30", "30 d", "-3d", "+3d", "3.5d", "３d", "3s", "3min"],
        *["2026-13-01", "2026-02-30", "30.11.2026", "2026-11-30T25:00", "now", "\0", "99999999d"],
    ],
)
def test_anything_else_is_refused_with_what_was_given(text: str) -> None:
    with pytest.raises(BadArgument) as caught:
        since(text, NOW)
    assert (caught.value.argument, caught.value.value) == ("since", text)


@given(st.text(max_size=12))
def test_no_text_breaks_it(text: str) -> None:
    with suppress(BadArgument):
        assert isinstance(since(text, NOW), int)
