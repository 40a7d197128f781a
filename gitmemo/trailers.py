"""Commit messages of a store: fields to text and text to fields.

The trailers are what another engine reads, so their letters are binding: a name outside
`GitMemo-[A-Za-z0-9-]+`, a folded line or a foreign last line hides the entry from search. `parse`
takes any message of any engine and never raises. Our own extension is `GitMemo-Anchor`, written
after the last `GitMemo-Search-Text`, where every reader tolerates it. Never here: git itself,
files, the choice of what to write. Tests: tests/gitmemo/test_trailers.py, with git as the oracle.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from gitmemo.model import Act, Anchor, EntryId, Kind
from gitmemo.text import JS_SPACE, js_strip, norm


class Message(NamedTuple):
    """A commit message's fields. `type` is None where it is none of the three acts; `digest` is
    without its `sha256:`; `search_text` holds the folded lines as written. `replaces` and
    `deletes` are as written: only history knows whether they name an entry."""

    subject: str
    summary: str
    type: Act | None
    kind: Kind
    legacy: bool
    keywords: tuple[str, ...]
    digest: str | None
    search_text: tuple[str, ...]
    replaces: EntryId | None
    deletes: EntryId | None
    anchors: tuple[Anchor, ...]


# -- writing ---------------------------------------------------------------------------------------


def build(
    *,
    title: str,
    summary: str,
    keywords: Sequence[str],
    digest: str,
    kind: Kind = Kind.TASK,
    legacy: bool = False,
    replaces: str | None = None,
    anchors: Sequence[Anchor] = (),
) -> str:
    """The message of an ADD, or of a REPLACE where `replaces` (40 hex) is given. `digest` is 64
    hex digits without prefix; a replacement is never legacy."""
    acts = (
        ["GitMemo-Type: add"]
        if replaces is None
        else ["GitMemo-Type: replace", f"GitMemo-Replaces: {replaces}"]
    )
    lines = [title, "", summary, "", *acts]
    if kind is Kind.TOPIC:
        lines.append("GitMemo-Kind: topic")
    if legacy and replaces is None:
        lines.append("GitMemo-Legacy: true")
    lines += [f"GitMemo-Keyword: {keyword}" for keyword in keywords]
    lines.append(f"GitMemo-Digest: sha256:{digest}")
    lines += [f"GitMemo-Search-Text: {norm(s)}" for s in (title, summary, *keywords)]
    lines += [f"GitMemo-Anchor: {anchor_text(anchor)}" for anchor in anchors]
    return "\n".join([*lines, ""])


def build_delete(*, entry_name: str, reason: str, deletes: str) -> str:
    """The message of a DELETE; `entry_name` is the file's base name without `.md`, `deletes` the
    40 hex digits of the entry."""
    head = f"delete: withdraw {entry_name}\n\n{reason}\n\n"
    return f"{head}GitMemo-Type: delete\nGitMemo-Deletes: {deletes}\n"


def tidy(message: str) -> str:
    """`message` as `git commit` stores it: no blanks at line ends, no run of empty lines, one
    newline at the end. A store written without the git program then reads like one written with
    it, byte for byte."""
    kept: list[str] = []
    for line in (raw.rstrip(" \t\r") for raw in message.split("\n")):
        if line or (kept and kept[-1]):
            kept.append(line)
    return "\n".join(kept).rstrip("\n") + "\n" if any(kept) else ""


# -- reading ---------------------------------------------------------------------------------------

_TRAILER = re.compile(r"GitMemo-([A-Za-z0-9-]+): ?(.*)", re.DOTALL)
_GAPS = re.compile(r"\n{3,}")
_ACTS = {act.value: act for act in Act}


def parse(message: str) -> Message:
    """The fields of any commit message; never raises.

    The block is read from the end upwards, over empty lines and trailer lines, so a foreign line
    below it makes all of it summary: every reader of the format agrees on that. Of a name that
    has one value the first counts.
    """
    lines = message.replace("\r\n", "\n").split("\n")
    start = len(lines)
    values: list[tuple[str, str]] = []
    while start > 1:
        line = js_strip(lines[start - 1])
        trailer = _TRAILER.match(line)
        if trailer:
            values.append((trailer[1], trailer[2]))
        elif line:
            break
        start -= 1
    values.reverse()
    first = dict(reversed(values))
    digest = first.get("Digest")
    return Message(
        subject=js_strip(lines[0]),
        summary=js_strip(_GAPS.sub("\n\n", "\n".join(lines[1:start]))),
        type=_ACTS.get(first.get("Type", "")),
        kind=Kind.TOPIC if first.get("Kind") == "topic" else Kind.TASK,
        legacy=first.get("Legacy") == "true",
        keywords=tuple(value for name, value in values if name == "Keyword"),
        digest=digest.removeprefix("sha256:") if digest is not None else None,
        search_text=tuple(value for name, value in values if name == "Search-Text"),
        replaces=EntryId(first["Replaces"]) if "Replaces" in first else None,
        deletes=EntryId(first["Deletes"]) if "Deletes" in first else None,
        anchors=tuple(
            anchor
            for name, value in values
            if name == "Anchor" and (anchor := parse_anchor(value)) is not None
        ),
    )


# -- anchors ---------------------------------------------------------------------------------------

# What would break the line or the grammar: the escape and the separator themselves, controls, the
# other line ends, and bytes that were no UTF-8 (`os.fsdecode` keeps them as U+DC80 to U+DCFF).
_UNSAFE = r"%\x00-\x1f\x7f-\x9f\u2028\u2029\udc80-\udcff"
_EDGE = rf"\A[{JS_SPACE}]|[{JS_SPACE}]\Z"  # readers trim the line, and one space ends the hash
_UNSAFE_IN_PATH = re.compile(rf"[#{_UNSAFE}]|{_EDGE}")
_UNSAFE_IN_SYMBOL = re.compile(rf"[{_UNSAFE}]|{_EDGE}")
_ESCAPES = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_ANCHOR = re.compile(r"(sha256:[0-9a-f]{64}) ([^#]+)(?:#(.+))?")


def anchor_text(anchor: Anchor) -> str:
    """`sha256:<hex> <path>[#<symbol>]`, one line whatever path and symbol hold.

    In the path `%`, `#`, control characters, line ends, blanks at its ends and undecodable bytes
    are percent-encoded, in the symbol the same without `#` (a private method is `Box.#open`); so
    the first `#` is always the separator.
    """
    text = f"{anchor.hash} {_UNSAFE_IN_PATH.sub(_escape, anchor.path)}"
    if anchor.symbol is None:
        return text
    return f"{text}#{_UNSAFE_IN_SYMBOL.sub(_escape, anchor.symbol)}"


def parse_anchor(text: str) -> Anchor | None:
    """The anchor that `text` writes; None for anybody else's spelling, and for a path that leaves
    the project: an anchor of a foreign store must not make its reader open just any file."""
    found = _ANCHOR.fullmatch(text)
    if not found:
        return None
    path = _ESCAPES.sub(_unescape, found[2])
    if path.startswith("/") or "\0" in path or ".." in path.split("/"):
        return None
    symbol = found[3]
    return Anchor(found[1], path, None if symbol is None else _ESCAPES.sub(_unescape, symbol))


def _escape(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "surrogateescape"))


def _unescape(found: re.Match[str]) -> str:
    return bytes.fromhex(found[0].replace("%", "")).decode("utf-8", "surrogateescape")
