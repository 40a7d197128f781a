"""What each statement costs: the rows it is about, never the whole of a big table."""

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from heimdall.journal import schema, sql
from tests.heimdall.journal import made

SWEEPS = {
    # Asked for the whole, and answered with the whole.
    "ALL_BINDINGS",
    "ALL_INHERITS",
    "ALL_MEMBERS",
    "COUNT_ALL",
    "ORPHANS",
    "OWNED",
    # Only before anything was bound, when the tables are empty.
    "NOTHING_BOUND",
    # Looks for one row of any.
    "BEHIND",
}
BIG = re.compile(r"SCAN (?:TABLE )?(nodes|n|m|edges|e|tokens|t|bindings)\b")
STATEMENTS = {
    name: value
    for name, value in vars(sql).items()
    if name.isupper() and isinstance(value, str) and not name.startswith("_")
}


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    home = tmp_path_factory.mktemp("plans")
    with made.writer(home) as journal:
        made.commit(journal, "/p/a.py", made.facts("a.py", ["f"]))
    connection = sqlite3.connect(home / schema.FILE_NAME)
    yield connection
    connection.close()


def plan(database: sqlite3.Connection, statement: str) -> str:
    names = re.findall(r":(\w+)", statement)
    values = dict.fromkeys(names, b"x") if names else (b"x",) * statement.count("?")
    rows = database.execute(f"EXPLAIN QUERY PLAN {statement}", values).fetchall()
    return "\n".join(row[3] for row in rows)


@pytest.mark.parametrize("name", sorted(STATEMENTS))
def test_no_statement_sweeps_a_big_table(database: sqlite3.Connection, name: str) -> None:
    found = BIG.search(plan(database, STATEMENTS[name]))
    if name not in SWEEPS:
        assert found is None


def test_the_exceptions_are_statements_that_exist(tmp_path: Path) -> None:
    assert set(STATEMENTS) >= SWEEPS
