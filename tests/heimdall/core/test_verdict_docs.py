"""docs/verdicts.md says what the code does."""

import re
from pathlib import Path

from heimdall.core.verdict import REASONS
from heimdall.model import AnchorState, Verdict

PAGE = (Path(__file__).parents[3] / "docs" / "verdicts.md").read_text(encoding="utf-8")


def test_every_reason_has_its_row_with_the_codes_own_words_and_no_row_is_left_over() -> None:
    section = PAGE.split("## Reasons")[1].split("\n## ")[0]
    rows = dict(re.findall(r"^\| `([a-z-]+)` \| (.+) \|$", section, re.MULTILINE))
    assert rows == REASONS


def test_every_verdict_has_its_row_and_no_row_is_left_over() -> None:
    section = PAGE.split("## How")[0]
    assert re.findall(r"^\| `([A-Z]+)` \|", section, re.MULTILINE) == list(Verdict)


def test_every_state_of_an_anchor_is_named() -> None:
    section = PAGE.split("## Anchor states")[1]
    assert set(re.findall(r"`([a-z]+)`", section)) >= set(AnchorState)
