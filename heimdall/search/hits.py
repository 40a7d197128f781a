"""A judged thing as a line of the answer.

Values in, a `Hit` out; nothing is looked at and nothing decided here but where the reader is sent.
The fields are those of `mem.search/1` (docs/search.md).
Held by tests/heimdall/search/test_engine.py.
"""

import os

import gitmemo
from gitmemo import Found
from heimdall import paths as names
from heimdall.model import AnchorFact, AnchorState, Evidence, Hit, Judgement
from heimdall.search.sources import CodeHit

_OUT_OF_REACH = frozenset({AnchorState.MISSING, AnchorState.UNREACHABLE})


def of_memory(
    found: Found,
    evidence: Evidence,
    judged: Judgement,
    *,
    store: str | None,
    root: str,
    value: float,
) -> Hit:
    """The line of an entry; `root` is the checkout, the rank is given later."""
    path, symbol = _destination(evidence)
    return Hit(
        rank=0,
        source="memory",
        id=found.id,
        store=store,
        title=found.title,
        summary=found.summary,
        kind=found.kind,
        path=None if path is None else os.path.join(root, path),
        line=None,
        symbol=symbol,
        score=round(value, 4),
        matched=found.matched,
        verdict=judged.verdict,
        reasons=judged.reasons,
        coverage=round(found.coverage, 4),
        content_coverage=_rounded(evidence.content),
        anchors=evidence.anchors,
    )


def of_code(
    found: CodeHit,
    evidence: Evidence,
    judged: Judgement,
    *,
    query: tuple[str, ...],
    value: float,
) -> Hit:
    """The line of a definition, or of a file."""
    node, relative = found.node, evidence.anchors[0].path
    symbol = node.qualname if node.key else None
    said = set(gitmemo.tokens(f"{relative} {node.qualname} {node.signature} {node.doc}"))
    return Hit(
        rank=0,
        source="code",
        id=names.node_id(found.row.path, node.key),
        store=None,
        title=relative if symbol is None else symbol,
        summary=node.doc or node.signature,
        kind=node.kind,
        path=found.row.path,
        line=node.line,
        symbol=symbol,
        score=round(value, 4),
        matched=tuple(token for token in query if token in said),
        verdict=judged.verdict,
        reasons=judged.reasons,
        coverage=round(evidence.coverage, 4),
        content_coverage=_rounded(evidence.content),
        anchors=evidence.anchors,
    )


def place(fact: AnchorFact) -> tuple[str, str | None]:
    """Where an anchor is now, or was: project-relative path and symbol. A `#` is an ordinary
    character of a path, hence the symbol's own name is taken away where it ends the place."""
    if fact.now is None or fact.symbol is None:
        return fact.now or fact.path, fact.symbol
    same = f"#{fact.symbol}"
    if fact.now.endswith(same):
        return fact.now[: -len(same)], fact.symbol
    path, _, symbol = fact.now.partition("#")
    return path, symbol


def _destination(evidence: Evidence) -> tuple[str | None, str | None]:
    """Where the reader should look: the first anchor that lives, symbols before files; else the
    first of all; else nowhere."""
    living = [fact for fact in evidence.anchors if fact.state not in _OUT_OF_REACH]
    facts = sorted(living or evidence.anchors[:1], key=lambda fact: fact.symbol is None)
    return place(facts[0]) if facts else (None, None)


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 4)
