"""Every fault of other indexers that is told of has its test, and every test named there exists."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROW = re.compile(r"^\| (\d+) \| .+ \| .+ \| `([\w/]+\.py)::(test_\w+)` \|$", re.MULTILINE)
FAULTS = 31


def test_every_fault_of_other_indexers_names_a_test_that_exists() -> None:
    rows = ROW.findall((ROOT / "docs" / "index-faults.md").read_text(encoding="utf-8"))
    assert [int(number) for number, _, _ in rows] == list(range(1, FAULTS + 1))
    for _, path, name in rows:
        code = (ROOT / "tests" / path).read_text(encoding="utf-8")
        assert re.search(rf"^def {name}\(", code, re.MULTILINE), f"{path}::{name}"
