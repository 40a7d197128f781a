"""What may be shown to a reader who did not ask: only what can be justified, often nothing.

Pure. Orientation puts its hits before every prompt of an agent; a wrong one costs more than a
missing one. So a memory must hold most of the question's words in its own head (title, summary,
keywords), and its anchors must be proven; a definition must be named in so many words.
Held by tests/heimdall/core/test_precise.py.
"""

from gitmemo import coverage, tokens
from heimdall.core.anchoring import mentions
from heimdall.model import Verdict

BAR = 0.6
"""The share of the question's tokens that a memory's head must hold."""

PROVEN = frozenset({Verdict.STRONG, Verdict.REBUILT})


def memory(verdict: Verdict, query: tuple[str, ...], head: str) -> bool:
    """Whether a memory is justified; `head` is title, summary and keywords."""
    return verdict in PROVEN and coverage(query, set(tokens(head))) >= BAR


def code(verdict: Verdict, question: str, symbol: str | None, path: str) -> bool:
    """Whether a code hit is justified: the question names this definition, dressed as code, or this
    very file. Likeness of words alone never is."""
    if verdict not in PROVEN:
        return False
    if symbol is None:
        return path.rsplit("/", 1)[-1] in question
    own = tuple(symbol.split("."))
    named = (mention.parts for mention in mentions(question) if mention.dressed)
    return any(own[-len(parts) :] == parts for parts in named)
