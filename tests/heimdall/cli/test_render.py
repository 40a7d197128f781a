"""What an answer looks like, from values alone."""

import json

from heimdall.cli import render
from heimdall.model import AnchorFact, AnchorState, Hit, Report, Verdict

MEMORY = Hit(
    rank=1,
    source="memory",
    id="a" * 40,
    store="/p/.mem",
    title="Budget\x1b[31m",
    summary="Two\nlines. " + "x" * 400,
    kind="task",
    path="/p/new.py",
    line=None,
    symbol=None,
    score=1.23456789,
    matched=("budget",),
    verdict=Verdict.REBUILT,
    reasons=("moved-identical",),
    coverage=1 / 3,
    content_coverage=None,
    anchors=(AnchorFact("old.py", None, AnchorState.MOVED, "new.py"),),
)
CODE = MEMORY._replace(
    rank=2, source="code", id="/p/a.py#take", store=None, title="take", kind="function",
    path="/p/a.py", line=3, symbol="take", verdict=Verdict.STRONG, reasons=("index-same",),
)  # fmt: skip


def report(*hits: Hit, **changed: str) -> Report:
    base = Report("budget", "f" * 40, len(hits), None, {"memory": "ok", "code": "ok"}, hits)
    return base._replace(**changed)  # type: ignore[arg-type] # a test names real fields


def test_a_hit_takes_two_lines_and_a_memory_its_gist() -> None:
    lines = render.report_text(report(MEMORY, CODE), "/p").splitlines()
    assert lines[0] == "  1  REBUILT  Budget\ufffd[31m  new.py"
    assert lines[1] == "     moved-identical   aaaaaaaaaaaa"
    assert lines[2].startswith("     Two lines. xxx")
    assert len(lines[2]) == 5 + render.GIST
    assert lines[3:] == ["  2  STRONG   take  a.py:3", "     index-same   function"]


def test_the_json_is_the_documented_shape_with_short_numbers() -> None:
    value = json.loads(render.report_json(report(MEMORY)))
    hit = value["hits"][0]
    assert (hit["score"], hit["coverage"], hit["content_coverage"]) == (1.2346, 0.3333, None)
    assert hit["anchors"] == [{"path": "old.py", "symbol": None, "state": "moved", "now": "new.py"}]
    assert set(hit) == set(Hit._fields)


def test_what_is_not_well_is_said_below_the_hits() -> None:
    text = render.report_text(report(), "/p")
    assert text == "nothing found\n"
    behind = report(CODE, next="f:20")._replace(sources={"memory": "absent", "code": "behind"})
    notes = render.report_text(behind, "/p").splitlines()[2:]
    assert [note.partition(" ")[0] for note in notes] == ["1", "memory:", "code:"]
    assert "--cursor f:20" in notes[0]


def test_past_the_last_page_there_is_nothing_more_and_not_nothing() -> None:
    assert render.notes(report()) == ["nothing found"]
    assert render.notes(report()._replace(total=3)) == ["nothing more: 3 in all"]


def test_a_block_of_text_keeps_its_lines_and_nothing_that_moves_a_cursor() -> None:
    assert render.block("a\tb\n\n\x1b[2Jc\r") == "a\tb\n\n\ufffd[2Jc\ufffd"
