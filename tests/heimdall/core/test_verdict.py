"""Evidence in, verdict and reasons out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heimdall.core.rehome import EDITED
from heimdall.core.verdict import COVERED, REASONS, judge
from heimdall.model import AnchorFact, AnchorState, Evidence, Verdict

SAME, DRIFTED, MOVED, MISSING, UNREACHABLE = AnchorState


def evidence(
    *anchors: AnchorFact,
    coverage: float = 1.0,
    content: float | None = 1.0,
    source: str = "memory",
    behind: bool = False,
) -> Evidence:
    return Evidence(source, anchors, coverage, content, index_behind=behind)


def file(state: AnchorState, path: str = "a.py", **more: object) -> AnchorFact:
    return AnchorFact(path, None, state, **more)  # type: ignore[arg-type] # named by the test


def symbol(state: AnchorState, name: str = "f", path: str = "a.py", **more: object) -> AnchorFact:
    return AnchorFact(path, name, state, **more)  # type: ignore[arg-type] # named by the test


def contested(given_: Evidence, *rivals: str) -> Evidence:
    return given_._replace(rivals=rivals or ("ab1",))


STRONG, WEAK, REBUILT, STALE = Verdict.STRONG, Verdict.WEAK, Verdict.REBUILT, Verdict.STALE

CASES = [
    (
        "two truths, both proven",
        contested(evidence(file(SAME)), "ab1", "cd2"),
        WEAK,
        ("contested-by:ab1", "contested-by:cd2", "anchor-same"),
    ),
    (
        "two truths, one moved",
        contested(evidence(file(MOVED, now="b.py"))),
        WEAK,
        ("contested-by:ab1", "moved-identical"),
    ),
    (
        "two truths, one dead",
        contested(evidence(file(MISSING))),
        STALE,
        ("path-missing", "contested-by:ab1"),
    ),
    ("same bytes", evidence(file(SAME)), STRONG, ("anchor-same",)),
    (
        "same bytes, few words",
        evidence(file(SAME), coverage=0.4),
        WEAK,
        ("coverage-low", "anchor-same"),
    ),
    ("exactly the bar", evidence(file(SAME), coverage=COVERED), STRONG, ("anchor-same",)),
    ("edited", evidence(file(DRIFTED)), WEAK, ("anchor-drifted",)),
    (
        "edited elsewhere than the symbol",
        evidence(file(DRIFTED), symbol(SAME)),
        STRONG,
        ("symbols-same",),
    ),
    ("symbol edited", evidence(file(DRIFTED), symbol(DRIFTED)), WEAK, ("symbol-drifted",)),
    (
        "one symbol of two edited",
        evidence(file(DRIFTED), symbol(SAME), symbol(DRIFTED, "g")),
        WEAK,
        ("symbol-drifted",),
    ),
    (
        "symbol gone from a living file",
        evidence(file(DRIFTED), symbol(MISSING)),
        WEAK,
        ("symbol-missing:a.py#f",),
    ),
    (
        "symbol in another file",
        evidence(file(DRIFTED), symbol(MOVED, now="b.py#f")),
        REBUILT,
        ("symbol-moved",),
    ),
    (
        "the file is gone, its symbol lives elsewhere",
        evidence(file(MISSING), symbol(MOVED, now="b.py#f")),
        REBUILT,
        ("symbol-moved",),
    ),
    (
        "symbol seen leaving for another file, where it differs a little",
        evidence(file(DRIFTED), symbol(MOVED, now="b.py#f", similarity=0.8)),
        REBUILT,
        ("symbol-moved-similar:0.80",),
    ),
    ("renamed", evidence(file(MOVED, now="b.py")), REBUILT, ("moved-identical",)),
    (
        "renamed with its symbol",
        evidence(file(MOVED, now="b.py"), symbol(MOVED, now="b.py#f")),
        REBUILT,
        ("moved-identical",),
    ),
    (
        "renamed and edited",
        evidence(file(MOVED, now="b.py", similarity=0.87)),
        REBUILT,
        ("moved-similar:0.87",),
    ),
    (
        "renamed and edited, by how much nobody knows",
        evidence(file(MOVED, now="b.py", similarity=EDITED)),
        REBUILT,
        ("moved-edited",),
    ),
    (
        "renamed and edited around the symbol",
        evidence(file(MOVED, now="b.py", similarity=0.9), symbol(MOVED, now="b.py#f")),
        REBUILT,
        ("moved-similar:0.90",),
    ),
    (
        "renamed, few words",
        evidence(file(MOVED, now="b.py"), coverage=0.1),
        REBUILT,
        ("moved-identical", "coverage-low"),
    ),
    ("gone", evidence(file(MISSING)), STALE, ("path-missing",)),
    (
        "gone, index behind",
        evidence(file(MISSING), behind=True),
        STALE,
        ("path-missing", "index-behind"),
    ),
    (
        "gone to one of two places",
        evidence(file(MISSING, candidates=("x.py", "y.py"))),
        STALE,
        ("path-missing", "moved-ambiguous"),
    ),
    ("all gone", evidence(file(MISSING), file(MISSING, "b.py")), STALE, ("path-missing",)),
    (
        "gone with its symbols",
        evidence(file(MISSING), symbol(MISSING)),
        STALE,
        ("path-missing",),
    ),
    (
        "one dead among living ones",
        evidence(file(SAME), file(MISSING, "b.py")),
        WEAK,
        ("path-missing:b.py",),
    ),
    (
        "one dead among moved ones",
        evidence(file(MOVED, now="c.py"), file(MISSING, "b.py")),
        WEAK,
        ("path-missing:b.py",),
    ),
    (
        "one moved among living ones",
        evidence(file(SAME), file(MOVED, "b.py", now="c.py")),
        REBUILT,
        ("moved-identical",),
    ),
    (
        "one edited among moved ones",
        evidence(file(DRIFTED), file(MOVED, "b.py", now="c.py")),
        WEAK,
        ("anchor-drifted", "moved-identical"),
    ),
    ("not readable", evidence(file(UNREACHABLE)), WEAK, ("unreachable",)),
    (
        "not readable beside a dead one",
        evidence(file(UNREACHABLE), file(MISSING, "b.py")),
        WEAK,
        ("unreachable:a.py", "path-missing:b.py"),
    ),
    (
        "not readable with its symbol",
        evidence(file(UNREACHABLE), symbol(UNREACHABLE)),
        WEAK,
        ("unreachable",),
    ),
    ("became a link", evidence(file(DRIFTED, why="link")), WEAK, ("not-a-file",)),
    ("no path", evidence(content=None), WEAK, ("no-anchor",)),
    ("no path, few words", evidence(coverage=0, content=None), WEAK, ("no-anchor", "coverage-low")),
    (
        "only named, and its content answers",
        evidence(file(SAME, recorded=False), content=0.5),
        STRONG,
        ("content-answers",),
    ),
    (
        "only named, and its content does not answer",
        evidence(file(SAME, recorded=False), content=0.2),
        WEAK,
        ("content-low",),
    ),
    (
        "only named, and no text",
        evidence(file(SAME, recorded=False), content=None),
        WEAK,
        ("not-hashed",),
    ),
    (
        "one pinned and one only named without an answer",
        evidence(file(SAME), file(SAME, "b", recorded=False), content=0.0),
        WEAK,
        ("content-low", "anchor-same"),
    ),
    (
        "one moved and one only named without an answer",
        evidence(file(MOVED, now="c"), file(SAME, "b", recorded=False), content=None),
        WEAK,
        ("not-hashed", "moved-identical"),
    ),
    ("code as indexed", evidence(file(SAME), source="code"), STRONG, ("index-same",)),
    ("code edited since", evidence(file(DRIFTED), source="code"), WEAK, ("index-behind",)),
    (
        "code gone since",
        evidence(file(MISSING), source="code", behind=True),
        STALE,
        ("path-missing", "index-behind"),
    ),
]


@pytest.mark.parametrize(
    ("given_", "verdict", "reasons"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_each_kind_of_evidence_has_its_verdict(
    given_: Evidence, verdict: Verdict, reasons: tuple[str, ...]
) -> None:
    assert judge(given_) == (verdict, reasons)


def test_what_was_replaced_is_removed_whatever_the_disk_says() -> None:
    given_ = evidence(file(SAME))._replace(superseded_by=("abc", "def"))
    assert judge(given_) == (Verdict.REMOVED, ("superseded-by:abc", "superseded-by:def"))


def test_what_was_withdrawn_is_removed_whatever_the_disk_says() -> None:
    assert judge(evidence(file(SAME))._replace(withdrawn=True)) == (
        Verdict.REMOVED,
        ("withdrawn",),
    )


facts = st.builds(
    AnchorFact,
    path=st.sampled_from(["a.py", "b.py"]),
    symbol=st.sampled_from([None, None, "f", "g"]),
    state=st.sampled_from(AnchorState),
    now=st.sampled_from([None, "c.py", "c.py#f"]),
    similarity=st.sampled_from([1.0, 0.99, 0.87, 0.5]),
    recorded=st.booleans(),
    candidates=st.sampled_from([(), ("x", "y")]),
    why=st.sampled_from(["", "", "link"]),
)
shares = st.sampled_from([0.0, 0.3, 0.5, 1.0])
evidences = st.builds(
    Evidence,
    source=st.sampled_from(["memory", "memory", "code"]),
    anchors=st.lists(facts, max_size=4).map(tuple),
    coverage=shares,
    content=st.one_of(st.none(), shares),
    superseded_by=st.sampled_from([(), (), ("abc",)]),
    withdrawn=st.sampled_from([False, False, True]),
    index_behind=st.booleans(),
    rivals=st.sampled_from([(), (), ("ab1",)]),
)


@given(evidences)
def test_a_rival_caps_a_verdict_and_changes_nothing_else(given_: Evidence) -> None:
    alone = judge(given_._replace(rivals=()))
    both = judge(contested(given_))
    dead = alone.verdict in (Verdict.STALE, Verdict.REMOVED)
    assert both.verdict is (alone.verdict if dead else Verdict.WEAK)
    assert set(both.reasons) == {*alone.reasons, "contested-by:ab1"}


@given(evidences)
def test_strong_needs_every_deciding_anchor_in_place(given_: Evidence) -> None:
    pinned = {fact.path for fact in given_.anchors if fact.symbol is not None}
    deciding = [f for f in given_.anchors if f.symbol is not None or f.path not in pinned]
    if judge(given_).verdict is Verdict.STRONG:
        assert deciding
        assert all(fact.state is SAME for fact in deciding)
        assert given_.coverage >= COVERED
        assert all(f.recorded for f in deciding) or (given_.content or 0) >= COVERED


@given(evidences)
def test_stale_needs_every_anchor_gone(given_: Evidence) -> None:
    if judge(given_).verdict is Verdict.STALE:
        assert all(fact.state is MISSING for fact in given_.anchors)


@given(evidences)
def test_a_rebuilt_hit_has_a_moved_anchor_and_no_worse_one(given_: Evidence) -> None:
    if judge(given_).verdict is Verdict.REBUILT:
        pinned = {fact.path for fact in given_.anchors if fact.symbol is not None}
        deciding = [f for f in given_.anchors if f.symbol is not None or f.path not in pinned]
        assert {fact.state for fact in deciding} <= {SAME, MOVED}
        assert any(fact.state is MOVED for fact in deciding)


@given(evidences)
def test_every_reason_is_a_known_one_and_there_is_always_one(given_: Evidence) -> None:
    reasons = judge(given_).reasons
    assert reasons
    assert {reason.partition(":")[0] for reason in reasons} <= set(REASONS)


def test_every_reason_is_given_to_some_evidence() -> None:
    given_ = {reason for case in CASES for reason in case[3]}
    said = {reason.partition(":")[0] for reason in given_} | {"superseded-by", "withdrawn"}
    assert said == set(REASONS)
