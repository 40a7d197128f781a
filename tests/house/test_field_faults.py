"""Every fault that the documentation speaks of has its test, and every test named there exists."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROW = re.compile(r"^\| (\d+) \| .+ \| .+ \| `([\w/]+\.py)::(test_\w+)` \|$", re.MULTILINE)
FAULTS = 57


def test_every_fault_of_others_names_a_test_that_exists() -> None:
    text = (ROOT / "docs" / "field-faults.md").read_text(encoding="utf-8")
    rows = ROW.findall(text)
    assert [int(number) for number, _, _ in rows] == list(range(1, FAULTS + 1))
    for _, path, name in rows:
        code = (ROOT / "tests" / path).read_text(encoding="utf-8")
        assert re.search(rf"^def {name}\(", code, re.MULTILINE), f"{path}::{name}"
