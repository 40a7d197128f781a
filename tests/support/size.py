"""How much of what could be tried for ever is tried by default, and what TESTS_FULL makes of it.

What stays the same is every kind of case; what shrinks is how densely a long row of like cases is
taken: evenly spread over the whole row, the same ones each time, never only its beginning.
"""

import os

FULL = bool(os.environ.get("TESTS_FULL"))
"""Everything is wanted, whatever time it takes."""


def pace(short: int) -> int:
    """Every how-manieth case to take."""
    return 1 if FULL else short


def examples(short: int) -> int:
    """How many examples of a law to look for."""
    return 20 * short if FULL else short
