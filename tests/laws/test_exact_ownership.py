"""exact-ownership: every node and edge belongs to one path; a commit replaces all of that path's
rows in one transaction."""

import os
import sqlite3
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as rules
from hypothesis import strategies as st

from heimdall.extract.facts import facts
from heimdall.journal import schema
from heimdall.journal.read import open_reader
from heimdall.model import Depth
from heimdall.writer import reconcile
from tests.support.index import index
from tests.support.trees import TWO_MODULES, plant

TEXTS = st.lists(
    st.sampled_from(
        [
            "def a(): return b()\n",
            "def b(): return a()\n",
            "class C:\n    def a(self): return self.b()\n    def b(self): ...\n",
            "from m0 import a as other\nother()\n",
            "X: int = 1\n",
        ]
    ),
    max_size=4,
).map("".join)
EDITS = st.lists(st.tuples(st.integers(0, 2), st.one_of(st.none(), TEXTS)), max_size=6)


@rules(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(edits=EDITS)
def test_after_any_edits_each_path_owns_exactly_what_its_bytes_say(
    tmp_path_factory: pytest.TempPathFactory, edits: list[tuple[int, str | None]]
) -> None:
    base = tmp_path_factory.mktemp("law")
    root, home = plant(str(base / "r"), {"m0.py": "def a(): ...\n"}), str(base / "home")
    made, _ = index(home, root)
    for number, text in edits:
        path = os.path.join(root, f"m{number}.py")
        if text is not None:
            Path(path).write_text(text, encoding="utf-8")
        elif os.path.exists(path):
            os.unlink(path)
        reconcile(made, [path])
    with open_reader(home) as journal:
        for path in (os.path.join(root, f"m{number}.py") for number in range(3)):
            expected = (
                facts(path, Path(path).read_bytes(), Depth.GRAPH).nodes
                if os.path.exists(path)
                else ()
            )
            assert journal.nodes(path) == expected
    _no_orphans(home)


def _no_orphans(home: str) -> None:
    """No row of any table belongs to a path that is not there, or to two."""
    database = sqlite3.connect(f"file:{home}/{schema.FILE_NAME}?mode=ro", uri=True)
    owners = {row[0] for row in database.execute("SELECT id FROM paths WHERE state != 1")}
    nodes = {row[0] for row in database.execute("SELECT id FROM nodes")}
    assert {number >> schema.KEY_BITS for number in nodes} <= owners
    for owner, src, dst in database.execute("SELECT owner, src, dst FROM edges"):
        assert owner in owners
        assert src >> schema.KEY_BITS == owner
        assert dst is None or dst in nodes
    for table in ("bindings", "tokens"):
        assert {row[0] for row in database.execute(f"SELECT owner FROM {table}")} <= owners
    database.close()


def test_a_definition_removed_from_a_living_file_is_gone_with_all_its_edges(
    tmp_path: Path,
) -> None:
    root, home = plant(str(tmp_path / "r"), TWO_MODULES), str(tmp_path / "home")
    made, _ = index(home, root)
    path = plant(root, {"pkg/low.py": "def base():\n    return 1\n"}) + "/pkg/low.py"
    reconcile(made, [path])
    with open_reader(home) as journal:
        assert journal.node(path, "Low") is None
        assert journal.edges_to(path, "Low") == ()
        assert journal.edges_to(path, "base") != ()
    _no_orphans(home)


def test_of_what_a_file_said_before_an_edit_nothing_is_left(tmp_path: Path) -> None:
    root, home = plant(str(tmp_path / "r"), TWO_MODULES), str(tmp_path / "home")
    made, _ = index(home, root)
    path = os.path.join(root, "pkg/high.py")
    for text in ("import pkg.low as low\nlow.base()\n", "", "class High: ...\n"):
        Path(path).write_text(text, encoding="utf-8")
        reconcile(made, [path])
        with open_reader(home) as journal:
            assert journal.facts(path) == facts(path, text.encode(), Depth.GRAPH)
    _no_orphans(home)
