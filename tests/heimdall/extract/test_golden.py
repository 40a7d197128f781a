"""The golden cases say what they said before; see `golden` for how they are written anew."""

import pytest

from heimdall.extract.languages import TABLE
from tests.heimdall.extract import golden


@pytest.mark.parametrize("case", golden.cases())
def test_a_golden_case_gives_the_facts_it_gave_before(case: str) -> None:
    name, source, expected = golden.load(case)
    assert golden.told(name, source) == expected


def test_every_language_of_the_table_has_a_golden_case() -> None:
    told = {golden.load(case)[2].split(" ")[0] for case in golden.cases()}
    assert {row.name for row in TABLE} <= told
