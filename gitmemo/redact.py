"""Redaction: what looks like a secret is replaced before anything is written.

History keeps every word for ever, so a store must never see a key. What secrets look like, and what
only looks like them, is said in `shapes`; here the text is searched and cut. There is no way to
switch it off. Never here: disk, what to do about secrets that slipped through (`purge`). Tests:
tests/gitmemo/test_redact.py.

Redact first, then validate: a placeholder may be longer than what it replaces.
"""

import re
from collections.abc import Iterator

from gitmemo import shapes
from gitmemo.model import Draft, Redaction

Span = tuple[int, int]
_MARK = "[redacted:"
_AROUND = 512
_LINE_END = re.compile(r"(?<!\\)\n")
_COMMAND = re.compile(r"\b(?:curl|wget)\b")
_BEFORE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
# What a page puts between letters so that a line may break there; between Latin letters and digits
# these say nothing, and a token that was copied with them is still one.
_INVISIBLE = re.compile(r"(?<=[!-~])[\u00ad\u200b-\u200d\u2060\ufeff]+(?=[!-~])")


def redact(draft: Draft) -> tuple[Draft, tuple[Redaction, ...]]:
    """`draft` with secrets replaced by `[redacted:<kind>]`, and what was replaced where. Paths,
    branches and anchors stay as they are: they name things, and must go on naming them."""
    found: list[Redaction] = []

    def clean(text: str, field: str) -> str:
        safe, redactions = redact_text(text, field)
        found.extend(redactions)
        return safe

    safe = draft._replace(
        title=clean(draft.title, "title"),
        summary=clean(draft.summary, "summary"),
        keywords=tuple(clean(keyword, "keywords") for keyword in draft.keywords),
        content=clean(draft.content, "content"),
    )
    return safe, _summed(found)


def redact_text(text: str, field: str) -> tuple[str, tuple[Redaction, ...]]:
    """The same for one text, such as a withdrawal's reason; `field` names it in the report."""
    safe, kinds = _redacted(text)
    plain = _INVISIBLE.sub("", text)
    if plain != text:
        safe_plain, more = _redacted(plain)
        if len(more) > len(kinds):
            safe, kinds = safe_plain, more
    return safe, _summed([Redaction(kind, field, 1) for kind in kinds])


def _redacted(text: str) -> tuple[str, list[str]]:
    """`text` without secrets, and the kind of each that was there."""
    kinds: list[str] = []
    lower = text.lower()
    if "private key" in lower:
        text = _cut(text, shapes.private_keys(text), "private-key", kinds)
    for token in shapes.TOKENS:
        text = _cut(text, _tokens(token, text), token.kind, kinds)
    for rule in shapes.PATTERNS:
        if any(sign in lower for sign in rule.signs):
            text = _cut(text, _places(rule, text), rule.kind, kinds)
    return text, kinds


def _tokens(token: shapes.Token, text: str) -> Iterator[Span]:
    rest = None
    for prefix in token.prefixes:
        at = text.find(prefix)
        while at >= 0:
            end = at + len(prefix)
            if not at or text[at - 1] not in _BEFORE:
                rest = rest or _compiled(token.rest)
                found = rest.match(text, end)
                if found is not None and token.judge(text[at : found.end()]):
                    yield at, found.end()
                    end = found.end()
            at = text.find(prefix, end)


def _places(rule: shapes.Pattern, text: str) -> Iterator[Span]:
    pattern = _compiled(rule.pattern)
    for start, end in _windows(rule, text):
        for found in pattern.finditer(text, start, end):
            secret = found["secret"]
            near = not rule.near or _command(text, found.start()).startswith(rule.near)
            if near and _MARK not in secret and rule.judge(secret):
                yield found.span("secret")


def _windows(rule: shapes.Pattern, text: str) -> Iterator[Span]:
    """The lines around each sign: a pattern is slow, a plain search is not."""
    lower = text.lower()
    if len(lower) != len(text):  # a letter whose small form is two: places no longer agree
        yield 0, len(text)
        return
    signs = sorted(at for sign in rule.signs for at in _all(sign, lower))
    start = end = 0
    for at in signs:
        if at < end - _AROUND:
            continue
        first = text.rfind("\n", 0, max(0, at - _AROUND)) + 1
        last = text.find("\n", at + 2 * _AROUND)
        last = len(text) if last < 0 else last + 1
        if first > end:
            if end:
                yield start, end
            start = first
        end = last
    if end:
        yield start, end


def _all(sign: str, text: str) -> Iterator[int]:
    at = text.find(sign)
    while at >= 0:
        yield at
        at = text.find(sign, at + len(sign))


def _command(text: str, at: int) -> str:
    """What stands before `at` in its command, lines that a backslash joins included."""
    before = _LINE_END.split(text[max(0, at - _AROUND) : at])[-1]
    found = _COMMAND.search(before)
    return "" if found is None else found[0]


def _cut(text: str, spans: Iterator[Span], kind: str, kinds: list[str]) -> str:
    """`text` with the placeholder of `kind` in the place of `spans`; pictures stay whole."""
    pieces: list[str] = []
    pictures: list[Span] | None = None
    done = 0
    for start, end in sorted(spans):
        if pictures is None:
            base64 = "base64," in text
            pictures = (
                [m.span() for m in _compiled(shapes.PICTURE).finditer(text)] if base64 else []
            )
        if start < done or any(a <= start and end <= b for a, b in pictures):
            continue
        kinds.append(kind)
        pieces += [text[done:start], f"{_MARK}{kind}]"]
        done = end
    return "".join((*pieces, text[done:])) if pieces else text


def _compiled(pattern: str) -> re.Pattern[str]:
    # At the first text that shows a sign of it: a hundred patterns cost milliseconds.
    if pattern not in _COMPILED:
        _COMPILED[pattern] = re.compile(pattern)
    return _COMPILED[pattern]


_COMPILED: dict[str, re.Pattern[str]] = {}


def _summed(found: list[Redaction]) -> tuple[Redaction, ...]:
    totals: dict[tuple[str, str], int] = {}
    for kind, field, n in found:
        totals[kind, field] = totals.get((kind, field), 0) + n
    return tuple(Redaction(kind, field, n) for (kind, field), n in totals.items())
