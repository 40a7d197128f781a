"""What the evidence comes to: one verdict, and the reasons for it.

Pure. `judge` walks `RULES` from the top and the first rule that fits decides; the order is the
policy. Whatever is not proven falls through to WEAK at the bottom: STRONG is the one verdict that
needs every one of its conditions, and no rule may reach it from anchors of which one is not SAME.
An entry that another living end of its chain contests is WEAK at best, whatever the rules say.
Nothing here knows where the evidence came from; the performer is `heimdall.search.evidence`.
Held by tests/heimdall/core/test_verdict.py; told to people in docs/verdicts.md, which a test
compares with `REASONS`.
"""

from collections.abc import Callable

from gitmemo.values import NamedTuple
from heimdall.core.rehome import EDITED
from heimdall.model import AnchorFact, AnchorState, Evidence, Judgement, Verdict

COVERED = 0.5
"""The share of a query's tokens that an entry, or content without a recorded hash, must hold before
it may be STRONG."""

REASONS = {
    "anchor-same": "every anchored file has the bytes that were recorded",
    "symbols-same": "the file was edited, every anchored symbol in it has its recorded bytes",
    "content-answers": "nothing was recorded; what the file says now holds the query's words",
    "index-same": "a code hit: the file has the bytes that were indexed",
    "anchor-drifted": "an anchored file has other bytes than were recorded",
    "symbol-drifted": "an anchored symbol has other bytes than were recorded",
    "symbol-missing": "the anchored file is there, the anchored symbol is not",
    "symbol-moved": "an anchored symbol was found in another file, byte for byte",
    "symbol-moved-similar": "an anchored symbol was seen leaving for another place, where it is "
    "not the same byte for byte; how alike follows",
    "moved-identical": "an anchored file was found at another path, byte for byte",
    "moved-similar": "an anchored file was found at another path, edited; how alike follows",
    "moved-edited": "an anchored file was seen moving whole; it was edited before or after",
    "moved-ambiguous": "the content has several equally good new places, which the anchor names",
    "path-missing": "nothing is at the anchored path, and the content was not found elsewhere",
    "not-a-file": "a link, a directory or a device is where the anchored file was",
    "unreachable": "the disk would not say: no permission, an error, or a parent is not mounted",
    "not-hashed": "a related path has no recorded hash and its content does not decide",
    "no-anchor": "the entry names no path at all",
    "coverage-low": "the entry holds less than half of the query's words",
    "content-low": "the file as it is now holds less than half of the query's words",
    "index-behind": "the index has not caught up with the disk: where a thing moved may be unknown",
    "superseded-by": "a later entry has taken its place; the id of the one that holds now follows",
    "withdrawn": "the entry was withdrawn, or the last of those that took its place",
    "contested-by": "merged histories left another living end of its chain; its id follows",
}
"""Every reason that a judgement can carry, by its part before the first colon."""


class _Case(NamedTuple):
    """The evidence, sorted once for all rules. `deciding` are the anchors that speak for the whole:
    symbols where a path has some, else the file; `files` maps each path to its file's fact."""

    evidence: Evidence
    deciding: tuple[AnchorFact, ...]
    files: dict[str, AnchorFact]

    def having(self, state: AnchorState) -> tuple[AnchorFact, ...]:
        """The deciding anchors in this state."""
        return tuple(fact for fact in self.deciding if fact.state is state)


def judge(evidence: Evidence) -> Judgement:
    """The verdict on one hit; reasons most important first, each of them in `REASONS`."""
    case = _sort(evidence)
    for rule in RULES:
        judgement = rule(case)
        if judgement is not None:
            return _contested(judgement, evidence.rivals)
    raise AssertionError("the last rule fits every case")


def _contested(judgement: Judgement, rivals: tuple[str, ...]) -> Judgement:
    """The disk can prove each of two truths of one chain; which of them holds it cannot. What is
    dead stays dead."""
    if not rivals:
        return judgement
    doubts = tuple(f"contested-by:{rival}" for rival in rivals)
    if judgement.verdict in (Verdict.STALE, Verdict.REMOVED):
        return Judgement(judgement.verdict, (*judgement.reasons, *doubts))
    return Judgement(Verdict.WEAK, (*doubts, *judgement.reasons))


def name_of(fact: AnchorFact) -> str:
    """The anchor as people write it: `path` or `path#symbol`."""
    return fact.path if fact.symbol is None else f"{fact.path}#{fact.symbol}"


def _sort(evidence: Evidence) -> _Case:
    """A file with symbol anchors beside it is judged by its symbols: the file's own fact then only
    tells whether the path is alive."""
    pinned = {fact.path for fact in evidence.anchors if fact.symbol is not None}
    deciding = tuple(
        fact for fact in evidence.anchors if fact.symbol is not None or fact.path not in pinned
    )
    files = {fact.path: fact for fact in evidence.anchors if fact.symbol is None}
    return _Case(evidence, deciding, files)


# -- the rules, in order ---------------------------------------------------------------------------


def _withdrawn(case: _Case) -> Judgement | None:
    """Known dead by its author's own word; no disk can revive it."""
    reasons = tuple(f"superseded-by:{entry}" for entry in case.evidence.superseded_by)
    if case.evidence.withdrawn:
        reasons += ("withdrawn",)
    return Judgement(Verdict.REMOVED, reasons) if reasons else None


def _no_anchor(case: _Case) -> Judgement | None:
    """Nothing to look at: nothing can be proven."""
    if case.evidence.anchors:
        return None
    return Judgement(Verdict.WEAK, ("no-anchor", *_poorly_covered(case)))


def _unreachable(case: _Case) -> Judgement | None:
    """The disk did not answer for one anchor. Whatever the others say, this may be any verdict but
    a good one, and it is not death: an unmounted disk kills nothing."""
    blind = case.having(AnchorState.UNREACHABLE)
    if not blind:
        return None
    return Judgement(Verdict.WEAK, (*_named("unreachable", blind, case), *_troubles(case)))


def _stale(case: _Case) -> Judgement | None:
    """Every anchor is gone, and so is every file that held one. A symbol that vanished from a
    living file is not death: the file's own fact, if there is one, is alive."""
    if any(fact.state is not AnchorState.MISSING for fact in case.evidence.anchors):
        return None
    return Judgement(Verdict.STALE, ("path-missing", *_choices(case), *_behind(case)))


def _wounded(case: _Case) -> Judgement | None:
    """One anchor is dead among living ones: the weakest decides, and is named."""
    dead = case.having(AnchorState.MISSING)
    if not dead:
        return None
    reasons: list[str] = []
    for fact in dead:
        file = case.files.get(fact.path)
        alive = file is not None and file.state is not AnchorState.MISSING
        word = "symbol-missing" if fact.symbol is not None and alive else "path-missing"
        reasons.append(f"{word}:{name_of(fact)}")
    return Judgement(Verdict.WEAK, (*reasons, *_choices(case), *_drifts(case), *_behind(case)))


def _drifted(case: _Case) -> Judgement | None:
    """Something is there and is not what was recorded: plausible, not proven."""
    reasons = _drifts(case)
    if not reasons:
        return None
    return Judgement(Verdict.WEAK, (*reasons, *_moves(case), *_poorly_covered(case)))


def _moved(case: _Case) -> Judgement | None:
    """All anchors live, at least one of them elsewhere. What the query covers does not change where
    the content is, so poor coverage is said and not punished."""
    moves = _moves(case)
    if not moves:
        return None
    doubts = _doubts(case)
    verdict = Verdict.WEAK if doubts else Verdict.REBUILT
    return Judgement(verdict, (*doubts, *moves, *_poorly_covered(case)))


def _proven(case: _Case) -> Judgement | None:
    """Every anchor is SAME here (all other states are dealt with above): by its hash, or, where
    none was recorded, by what its content says now."""
    if _poorly_covered(case) or _doubts(case):
        return None
    return Judgement(Verdict.STRONG, _proofs(case))


def _unproven(case: _Case) -> Judgement | None:
    """The floor: everything is in its place, and something needed for STRONG is not."""
    return Judgement(Verdict.WEAK, (*_poorly_covered(case), *_doubts(case), *_proofs(case)))


RULES: tuple[Callable[[_Case], Judgement | None], ...] = (
    _withdrawn,
    _no_anchor,
    _unreachable,
    _stale,
    _wounded,
    _drifted,
    _moved,
    _proven,
    _unproven,
)
"""The policy. Order matters: each rule may rely on those before it not having fitted."""


# -- the words of the reasons ----------------------------------------------------------------------


def _named(word: str, facts: tuple[AnchorFact, ...], case: _Case) -> tuple[str, ...]:
    """`word` alone where it is true of every deciding anchor, else with each one's name."""
    if len(facts) == len(case.deciding):
        return (word,)
    return tuple(f"{word}:{name_of(fact)}" for fact in facts)


def _troubles(case: _Case) -> tuple[str, ...]:
    """What else is wrong beside an unreachable anchor."""
    missing = tuple(f"path-missing:{name_of(fact)}" for fact in case.having(AnchorState.MISSING))
    return (*missing, *_drifts(case))


def _drifts(case: _Case) -> tuple[str, ...]:
    """Why the drifted ones drifted, each reason once, in a fixed order."""
    drifted = case.having(AnchorState.DRIFTED)
    if case.evidence.source == "code":
        return ("index-behind",) if drifted else ()
    found: list[str] = []
    if any(fact.why for fact in drifted):
        found.append("not-a-file")
    if any(fact.symbol is not None and not fact.why for fact in drifted):
        found.append("symbol-drifted")
    if any(fact.symbol is None and not fact.why for fact in drifted):
        found.append("anchor-drifted")
    return tuple(found)


def _moves(case: _Case) -> tuple[str, ...]:
    """How the moved ones were found, each way once, in the order of the anchors."""
    found: dict[str, None] = {}
    for fact in case.having(AnchorState.MOVED):
        file = case.files.get(fact.path)
        followed = fact.symbol is None or (
            file is not None
            and file.state is AnchorState.MOVED
            and fact.now == f"{file.now}#{fact.symbol}"
        )
        if not followed:
            alike = fact.similarity
            found["symbol-moved" if alike >= 1.0 else f"symbol-moved-similar:{alike:.2f}"] = None
            continue
        alike = min(fact.similarity, file.similarity if file is not None else 1.0)
        found[_likeness(alike)] = None
    return tuple(found)


def _likeness(similarity: float) -> str:
    """How a file is like the one that was recorded; a share of 1.00 is said of nothing."""
    if similarity >= 1.0:
        return "moved-identical"
    if similarity >= EDITED:
        return "moved-edited"
    return f"moved-similar:{min(similarity, 0.99):.2f}"


def _choices(case: _Case) -> tuple[str, ...]:
    """That several equally good places were found and none was chosen."""
    return ("moved-ambiguous",) if any(f.candidates for f in case.evidence.anchors) else ()


def _behind(case: _Case) -> tuple[str, ...]:
    """That a missing thing may yet be found once the index has caught up."""
    return ("index-behind",) if case.evidence.index_behind else ()


def _doubts(case: _Case) -> tuple[str, ...]:
    """Why an anchor in its place proves nothing: it has no hash, and its content does not decide.
    Exact bytes need no words; words are all that an entry without hashes has."""
    in_place = case.having(AnchorState.SAME)
    if all(fact.recorded for fact in in_place):
        return ()
    content = case.evidence.content
    if content is None:
        return ("not-hashed",)
    return ("content-low",) if content < COVERED else ()


def _poorly_covered(case: _Case) -> tuple[str, ...]:
    return () if case.evidence.coverage >= COVERED else ("coverage-low",)


def _proofs(case: _Case) -> tuple[str, ...]:
    """What holds, of anchors that are all SAME."""
    if case.evidence.source == "code":
        return ("index-same",)
    found: list[str] = []
    recorded = [fact for fact in case.deciding if fact.recorded]
    if any(_edited_around(fact, case) for fact in recorded):
        found.append("symbols-same")
    if any(not _edited_around(fact, case) for fact in recorded):
        found.append("anchor-same")
    content = case.evidence.content
    if len(recorded) < len(case.deciding) and content is not None and content >= COVERED:
        found.append("content-answers")
    return tuple(found)


def _edited_around(fact: AnchorFact, case: _Case) -> bool:
    """Whether this is a symbol that held while its file was edited elsewhere."""
    file = case.files.get(fact.path)
    return fact.symbol is not None and file is not None and file.state is not AnchorState.SAME
