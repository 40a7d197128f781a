"""The cursor as text."""

import pytest

from heimdall.errors import BadArgument
from heimdall.search.cursor import Cursor, read, write


@pytest.mark.parametrize("cursor", [Cursor("a" * 40, 20), Cursor(None, 0), Cursor("0" * 64, 7)])
def test_a_cursor_is_read_as_it_was_written(cursor: Cursor) -> None:
    assert read(write(cursor)) == cursor


@pytest.mark.parametrize(
    "text", ["", ":", "x", "-", "-:", "-:x", "-:-1", "abc:3", "A" * 40 + ":3", "-:99999999", "-:²"]
)
def test_what_is_no_cursor_is_refused(text: str) -> None:
    with pytest.raises(BadArgument):
        read(text)
