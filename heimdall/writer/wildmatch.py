"""One line of an ignore file as git reads it: which names it speaks of, and what it says.

Pure: bytes in, patterns out. A transcription of what git's own matcher does, byte by byte, because
"nearly git" takes in what a user has shut out: the libraries for this read whitespace, classes and
malformed lines in ways of their own, and refuse some lines that git takes
(docs/decisions/0018-ignore-patterns.md). Git is the oracle in tests/heimdall/writer/test_ignore.py.
"""

import re
import string
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_SPECIAL = re.compile(rb"[*?\[\\]")
_BOM = b"\xef\xbb\xbf"
_SLASH = ord("/")
_CLASSES = {
    "alnum": string.ascii_letters + string.digits,
    "alpha": string.ascii_letters,
    "blank": " \t",
    "cntrl": "".join(map(chr, (*range(32), 127))),
    "digit": string.digits,
    "graph": string.ascii_letters + string.digits + string.punctuation,
    "lower": string.ascii_lowercase,
    "print": string.ascii_letters + string.digits + string.punctuation + " ",
    "punct": string.punctuation,
    "space": " \t\n\r",
    "upper": string.ascii_uppercase,
    "xdigit": string.hexdigits,
}


class Pattern(NamedTuple):
    """`matcher` is for the last part of a name where `whole` is false, else for all of it;
    `ignores` is what it says of what it matches."""

    matcher: re.Pattern[bytes]
    ignores: bool
    whole: bool
    directories_only: bool

    def matches(self, name: bytes, *, is_directory: bool) -> bool:
        """Whether it speaks of `name`, relative to the directory of the ignore file."""
        if self.directories_only and not is_directory:
            return False
        return bool(self.matcher.fullmatch(name if self.whole else name[name.rfind(b"/") + 1 :]))


def patterns(data: bytes) -> tuple[Pattern, ...]:
    """The patterns of an ignore file, in its order; lines that say nothing are left out."""
    lines = data.removeprefix(_BOM).split(b"\n")
    found = (_pattern(line.removesuffix(b"\r").partition(b"\0")[0]) for line in lines)
    return tuple(one for one in found if one is not None)


def _pattern(line: bytes) -> Pattern | None:
    if line.startswith(b"#"):
        return None
    text = _without_trailing_spaces(line)
    ignores = not text.startswith(b"!")
    text = text if ignores else text[1:]
    directories_only = text.endswith(b"/")
    text = text[:-1] if directories_only else text
    whole = b"/" in text
    text = text.removeprefix(b"/") if whole else text
    # What stands before the first special character is compared as it is, and the rest is matched
    # on its own: in `a**/b` two stars stand where a name begins.
    special = _SPECIAL.search(text)
    literal = text[: special.start()] if special else text
    rest = _expression(text[len(literal) :], whole=whole)
    if not text or rest is None:
        return None
    return Pattern(
        re.compile(re.escape(literal) + rest, re.DOTALL), ignores, whole, directories_only
    )


def _without_trailing_spaces(line: bytes) -> bytes:
    """The line up to the spaces at its end, of which a backslash saves one."""
    end = len(line.rstrip(b" "))
    if end == len(line):
        return line
    backslashes = end - len(line[:end].rstrip(b"\\"))
    return line[: end + backslashes % 2]


def _expression(text: bytes, *, whole: bool) -> bytes | None:
    """A glob as a regular expression; None for one that git never finds to match.

    What stands between two stars of a kind is taken where it is first found, and never elsewhere:
    the later star can make up for it. So no pattern takes longer than its names are long.
    """
    # Between stars for many parts, the pieces between stars within one part.
    chunks: list[list[bytes]] = [[b""]]
    for kind, piece in _pieces(text, whole=whole):
        if kind == "bad":
            return None
        if kind == "stars":
            chunks.append([piece])
        elif kind == "star":
            chunks[-1].append(piece)
        else:
            chunks[-1][-1] += piece
    return _at_first(map(_at_first, chunks))


def _at_first(pieces: Iterable[bytes]) -> bytes:
    """The pieces after each other, those between the first and the last of them without a way
    back."""
    first, *others = pieces
    return b"".join((first, *(b"(?>" + one + b")" for one in others[:-1]), *others[-1:]))


_STAR, _PARTS, _ANYTHING = rb"[^/]*?", rb"(?:|.*?/)", rb".*?"


def _pieces(text: bytes, *, whole: bool) -> Iterator[tuple[str, bytes]]:
    """The glob in pieces: `text` of fixed meaning, one `star`, `stars` for any number of parts."""
    at = 0
    while at < len(text):
        byte = text[at : at + 1]
        if byte == b"*":
            end = at + len(text[at:]) - len(text[at:].lstrip(b"*"))
            begins = at == 0 or text[at - 1 : at] == b"/"
            after = text[end : end + 1]
            if whole and end - at > 1 and begins and after == b"/":
                yield "stars", _PARTS
                end += 1
            elif whole and end - at > 1 and begins and (not after or text[end : end + 2] == rb"\/"):
                yield "stars", _ANYTHING
            else:
                yield "star", _STAR
            at = end
        elif byte == b"?":
            yield "text", rb"[^/]"
            at += 1
        elif byte == b"[":
            members, at = _bracket(text, at + 1)
            yield ("text", _one_of(members)) if at else ("bad", b"")
            at = at or len(text)
        elif byte == b"\\":
            yield ("text", re.escape(text[at + 1 : at + 2])) if at + 1 < len(text) else ("bad", b"")
            at += 2
        else:
            yield "text", re.escape(byte)
            at += 1


def _bracket(text: bytes, at: int) -> tuple[set[int], int]:
    """The bytes that the bracket opened before `at` stands for, and where it ends; 0 where it is
    malformed."""
    negated = text[at : at + 1] in (b"!", b"^") and at < len(text)
    at += negated
    members: set[int] = set()
    before, first = 0, True
    while at < len(text) and (first or text[at] != ord("]")):
        first, byte, rest = False, text[at], text[at + 1 :]
        if byte == ord("\\"):
            if not rest:
                return members, 0
            at, byte = at + 1, rest[0]
            members.add(byte)
        elif byte == ord("-") and before and rest and rest[:1] != b"]":
            at += 2 if rest[:1] == b"\\" else 1
            if at >= len(text):
                return members, 0
            members.update(range(before, text[at] + 1))
            byte = 0
        elif byte == ord("[") and rest[:1] == b":" and (end := text.find(b"]", at + 2)) >= 0:
            name = text[at + 2 : end]
            if name.endswith(b":"):
                known = _CLASSES.get(name[:-1].decode("ascii", "replace"))
                if known is None:
                    return members, 0
                members.update(known.encode())
                at, byte = end, 0
            else:
                members.add(byte)
        elif byte == ord("[") and rest[:1] == b":":
            return members, 0
        else:
            members.add(byte)
        before, at = byte, at + 1
    if at >= len(text):
        return members, 0
    return (set(range(256)) - members if negated else members), at + 1


def _one_of(members: Iterable[int]) -> bytes:
    """An expression for one of these bytes, of which a slash is never one."""
    allowed = sorted(set(members) - {_SLASH})
    return b"[" + b"".join(b"\\x%02x" % byte for byte in allowed) + b"]" if allowed else b"(?!)"
