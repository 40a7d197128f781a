"""What a purged text is known by: the parts of it that no other text has by chance.

Long lines, lines of one long word, and words that look random (a key in the middle of a sentence
that is told elsewhere in other words). Short sentences and front matter are shared by entries that
have nothing in common. Pure. Tests: tests/gitmemo/test_purge.py.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gitmemo import shapes

LINE, WORD = 24, 12
_MOST = 64
_WORDS = re.compile(rf"[A-Za-z0-9+/_.~=!@#%^&*-]{{{WORD},512}}")
_FRONT = re.compile(rb"\A---\n.*?\n---\n", re.DOTALL)


class Needles(NamedTuple):
    """`lines` are whole lines without their blanks; `parts` may stand anywhere."""

    lines: frozenset[bytes]
    parts: tuple[bytes, ...]

    def in_text(self, data: bytes) -> bool:
        """Whether an object's bytes hold one of them."""
        if any(part in data for part in self.parts):
            return True
        return bool(self.lines) and not self.lines.isdisjoint(
            line.strip() for line in data.split(b"\n")
        )

    def in_file(self, data: bytes) -> bool:
        """Whether any bytes hold one of them, lines as parts too: a file may have other lines."""
        longest = sorted(self.lines, key=len, reverse=True)[:_MOST]
        return any(needle in data for needle in (*self.parts, *longest))


def of(texts: Iterable[bytes], *, given: Sequence[str] = ()) -> Needles:
    """What `texts` (entry files, messages) are known by; `given` words alone where there are any:
    whoever names the secret knows best."""
    if given:
        return Needles(frozenset(), tuple(one.encode() for one in given))
    lines: set[bytes] = set()
    words: dict[str, None] = {}
    for text in texts:
        for raw in _FRONT.sub(b"", text).split(b"\n"):
            line = raw.strip().removeprefix(b"# ")
            if line.startswith(b"GitMemo-"):
                continue
            if len(line) >= LINE or (len(line) >= WORD and b" " not in line):
                lines.add(line)
            for word in _WORDS.findall(line.decode("utf-8", "replace")):
                if shapes.looks_random(word):
                    words[word] = None
    parts = sorted(words, key=len, reverse=True)[:_MOST]
    return Needles(frozenset(lines), tuple(part.encode() for part in parts))
