"""docs/binding.md lists the rules as they are."""

import re
from pathlib import Path

from heimdall.core import lookup

PAGE = Path(__file__).parents[3] / "docs" / "binding.md"
ROW = re.compile(r"^\| `([a-z-]+)` \| ([0-9.]+) \|", re.MULTILINE)


def test_every_rule_stands_in_the_docs_with_its_confidence() -> None:
    told = {(name, float(share)) for name, share in ROW.findall(PAGE.read_text())}
    rules = {(r.name, r.confidence) for r in vars(lookup).values() if isinstance(r, lookup.Rule)}
    assert told == rules
