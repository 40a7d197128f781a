"""The one-line words of a definition: its signature and the first line of its documentation.

Pure text from bytes; both are cut at `LONGEST` characters, so a node stays small whatever the
source does.
"""

import re

LONGEST = 200
_LOOK = 1200
_SPACE = re.compile(r"\s+")
_COMMENT = re.compile(r"(?:^|\s)(?:#|//)[^\n]*")
_STRING = re.compile(
    rb"[\s;]*(?:#[^\n]*\n\s*)*[rRuU]?(\"\"\"|'''|\"|')",
)
_OPENINGS = ("{", ":", "=", ";", "=>")
_STARS = re.compile(r"^\s*(?:///?!?|/?\*+!?|#+|\*)\s?|\*/\s*$")
_SKIP_DOC = re.compile(r"^[\s\-=*_#/~]*$")


def signature(data: bytes, start: int, body: int) -> str:
    """The text of a definition before its body, on one line, without what introduces the body."""
    text = data[start : min(body, start + _LOOK)].decode("utf-8", "ignore")
    if "\n" in text:
        if "#" in text or "//" in text:
            text = _COMMENT.sub(" ", text)
        text = _SPACE.sub(" ", text)
    text = text.strip()
    while text.endswith(_OPENINGS):
        text = (text[:-2] if text.endswith("=>") else text[:-1]).rstrip()
    return text[:LONGEST].rstrip()


def doc_inside(data: bytes, body: int) -> str:
    """The first line of the string that begins a body (or a file, at 0)."""
    if body < 0:
        return ""
    found = _STRING.match(data, body)
    if found is None:
        return ""
    quote = found[1]
    begin = found.end()
    end = data.find(quote, begin)
    text = data[begin : min(end if end >= 0 else len(data), begin + _LOOK)]
    lines = text.decode("utf-8", "ignore").lstrip().split("\n", 1)[0].splitlines()
    return " ".join(lines[0].split())[:LONGEST] if lines else ""


def doc_before(data: bytes, start: int) -> str:
    """The first telling line of the comment that ends just before `start`; with -1 the comment
    that begins the file."""
    if start < 0:
        lines = _leading(data)
    else:
        lines = _preceding(data[max(0, start - 4 * _LOOK) : start].decode("utf-8", "ignore"))
    for line in lines:
        text = _STARS.sub("", _STARS.sub("", line)).strip()
        if text and not _SKIP_DOC.match(text) and not text.startswith(("@", "eslint", "tslint")):
            return _SPACE.sub(" ", text)[:LONGEST]
    return ""


def _preceding(text: str) -> list[str]:
    text = text.rstrip(" \t")
    if text.endswith("\n"):
        text = text[:-1].rstrip("\r \t")
    if text.endswith("*/"):
        begin = text.rfind("/*")
        return text[begin:].splitlines() if begin >= 0 else []
    lines: list[str] = []
    for line in reversed(text.splitlines()):
        bare = line.strip()
        if bare.startswith("//"):
            lines.append(line)
        elif not (bare.startswith(("#[", "@")) and lines == []):
            break
    return lines[::-1]


def _leading(data: bytes) -> list[str]:
    text = data[: 2 * _LOOK].decode("utf-8", "ignore").lstrip()
    if text.startswith("#!"):
        text = text.partition("\n")[2].lstrip()
    if text.startswith("/*"):
        return text[: text.find("*/") + 2].splitlines() if "*/" in text else []
    lines: list[str] = []
    for line in text.splitlines():
        if not line.strip().startswith("//"):
            break
        lines.append(line)
    return lines
