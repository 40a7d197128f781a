"""What a file's content alone forbids: binary, huge, minified and generated files.

Pure; names of files never count, only bytes. A file that does not pass is indexed at depth `file`
with the reason given here, so that nothing is skipped in silence.
"""

import re

HUGE = 4 << 20
"""More source than this is not parsed."""

LONGEST_LINE = 20_000
MEAN_LINE = 500
_HEAD = 8192
_MARKS = re.compile(rb"@generated\b|\bDO NOT EDIT\b|\bCode generated\b", re.IGNORECASE)
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def as_utf8(data: bytes) -> bytes:
    """`data` without a byte order mark, re-coded where it is UTF-16. Lines stay where they are."""
    if data.startswith(b"\xef\xbb\xbf"):
        return data[3:]
    order = _utf16(data)
    return data.decode(order, "replace").encode("utf-8", "replace") if order else data


def binary(data: bytes) -> bool:
    """Whether the text (see `as_utf8`) begins like something that is no text."""
    return b"\0" in data[:_HEAD]


def refusal(data: bytes) -> str:
    """Why this source is not worth parsing: huge, generated, minified, or "" when it is."""
    if len(data) > HUGE:
        return "huge"
    if _MARKS.search(b"\n".join(data[:2048].split(b"\n", 5)[:5])):
        return "generated"
    if len(data) > LONGEST_LINE and _minified(data):
        return "minified"
    return ""


def _minified(data: bytes) -> bool:
    lines = data.count(b"\n") + 1
    if len(data) / lines > MEAN_LINE:
        return True
    return max(map(len, data.split(b"\n"))) > LONGEST_LINE


def _utf16(data: bytes) -> str:
    """The codec of a UTF-16 text, by its mark or by a zero in nearly every other byte."""
    if data.startswith(_UTF16) and not data.startswith(b"\xff\xfe\0\0"):
        return "utf-16"
    head = data[:512]
    if len(head) < 8 or b"\0" not in head:
        return ""
    half = len(head) // 2
    if head[1::2].count(0) > half * 0.9 and not head[0::2].count(0):
        return "utf-16-le"
    if head[0::2].count(0) > half * 0.9 and not head[1::2].count(0):
        return "utf-16-be"
    return ""
