"""What may be shown to a reader who did not ask: only what can be justified, often nothing.

Pure. Orientation puts its hits before every prompt of an agent; a wrong one costs more than a
missing one. So a memory must hold most of the question's words in its own head (title, summary,
keywords) and a definition must be named in so many words; then the disk must prove it.
Held by tests/heimdall/core/test_precise.py.
"""

from typing import NamedTuple

from gitmemo import coverage, further_tokens, tokens
from heimdall.core.anchoring import mentions
from heimdall.model import Verdict

BAR = 0.6
"""The share of the question's tokens that a memory's head must hold."""

PROVEN = frozenset({Verdict.STRONG, Verdict.REBUILT})
"""The verdicts that justify a hit."""


class Named(NamedTuple):
    """What a question names as code: dotted names in their parts, and names of files."""

    symbols: frozenset[tuple[str, ...]]
    files: frozenset[str]


def named(question: str) -> Named:
    """What `question` names: identifiers dressed as code, and words that end like a file."""
    words = (word.strip("`'\"()[]{},;:?!").rsplit("/", 1)[-1] for word in question.split())
    files = frozenset(word for word in words if "." in word.strip("."))
    symbols = (mention.parts for mention in mentions(question) if mention.dressed)
    return Named(frozenset(symbols), files)


def fits_memory(query: tuple[str, ...], head: str) -> bool:
    """Whether a memory answers the question; `head` is title, summary and keywords."""
    return coverage(query, {*tokens(head), *further_tokens(head)}) >= BAR


def fits_code(names: Named, symbol: str | None, path: str) -> bool:
    """Whether this very definition, or this very file, was named. Likeness of words never is."""
    if symbol is None:
        return path.rsplit("/", 1)[-1] in names.files
    own = tuple(symbol.split("."))
    return any(own[-len(parts) :] == parts for parts in names.symbols)
