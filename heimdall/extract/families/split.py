"""Cutting source text at the top level: outside brackets, braces, and strings.

Shared by the families. One scan, no recursion; brackets that do not match are forgiven.
"""

import re

_TOKEN = re.compile(
    r"\"\"\".*?\"\"\"|'''.*?'''|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
    r"|[\[({]|[\])}]|=>|->|==|!=|<=|>=|:=|::|[,:=;|<>]|#[^\n]*|//[^\n]*|/\*.*?\*/",
    re.DOTALL,
)
_OPEN = frozenset("([{")
_CLOSE = frozenset(")]}")
_OPEN_ANGLED = _OPEN | {"<"}
_CLOSE_ANGLED = _CLOSE | {">"}


def split(text: str, separator: str) -> list[str]:
    """The parts of `text` between separators of one token (`,`, `=`, `:`, `|`) that stand at the
    top level; stripped. A text without separators is one part."""
    parts: list[str] = []
    depth = 0
    begin = 0
    for found in _TOKEN.finditer(text):
        token = found[0]
        if token in _OPEN:
            depth += 1
        elif token in _CLOSE:
            depth -= 1
        elif depth == 0 and token == separator:
            parts.append(text[begin : found.start()].strip())
            begin = found.end()
    parts.append(text[begin:].strip())
    return parts


def split_angled(text: str, separator: str) -> list[str]:
    """As `split`, with `<…>` as brackets too: for languages with generic types."""
    parts: list[str] = []
    depth = 0
    begin = 0
    for found in _TOKEN.finditer(text):
        token = found[0]
        if token in _OPEN_ANGLED:
            depth += 1
        elif token in _CLOSE_ANGLED:
            depth -= 1
        elif depth <= 0 and token == separator:
            parts.append(text[begin : found.start()].strip())
            begin = found.end()
    parts.append(text[begin:].strip())
    return parts


def inner(text: str) -> str:
    """The text inside one pair of outer brackets, if it has them."""
    text = text.strip()
    if text[:1] in _OPEN:
        text = text[1:]
        if text[-1:] in _CLOSE:
            text = text[:-1]
    return text


_LITERAL = re.compile(
    rb"\"\"\"(?:\\.|[^\\])*?\"\"\"|'''(?:\\.|[^\\])*?'''"
    rb"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|#[^\n]*",
    re.DOTALL,
)


def code_end(text: bytes) -> int:
    """Where the code of `text` ends when comments after `#` and white space at its end are left
    out; strings are known, so a `#` in one is code."""
    end = 0
    begin = 0
    for found in _LITERAL.finditer(text):
        between = text[begin : found.start()].rstrip()
        end = begin + len(between) if between else end
        begin = found.end()
        if not found[0].startswith(b"#"):
            end = begin
    between = text[begin:].rstrip()
    return begin + len(between) if between else end
