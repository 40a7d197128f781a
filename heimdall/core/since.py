"""When something was written at the earliest: a date, a moment, or an age, as people give it.

Pure; the clock comes in. Dates are read by the standard library's ISO 8601; what names no zone is
UTC, in which the memory shows its own dates. Held by tests/heimdall/core/test_since.py.
"""

from heimdall.errors import BadArgument

_HOUR = 3600
AGES = {"h": _HOUR, "d": 24 * _HOUR, "w": 168 * _HOUR, "m": 30 * 24 * _HOUR, "y": 365 * 24 * _HOUR}
"""Seconds of each unit of an age; a month has thirty days, a year 365."""

_PROBLEM = "is neither a date such as 2026-11-30 nor an age such as 12h, 30d, 2w, 6m or 1y"


def since(text: str, now_s: float) -> int:
    """The first second that is not before `text`. Raises BadArgument where it says no moment."""
    asked = text.strip()
    number, unit = asked[:-1], asked[-1:].lower()
    if unit in AGES and number.isascii() and number.isdigit() and len(number) < 8:
        return int(now_s) - int(number) * AGES[unit]
    from datetime import UTC, datetime  # noqa: PLC0415 # only a search by date needs the calendar

    try:
        moment = datetime.fromisoformat(asked)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        # Rounded up: an entry's own date has no parts of a second.
        return -int(-moment.timestamp() // 1)
    except (ValueError, OverflowError) as error:
        raise BadArgument("since", text, _PROBLEM) from error
