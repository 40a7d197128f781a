"""Emptying the queue: what a long pass does beside the sink's commit is in the same transaction."""

from pathlib import Path

import pytest

from heimdall.journal.read import open_reader
from heimdall.journal.write import JournalWriter
from heimdall.sinks.tantivy import TantivyWriter
from heimdall.writer import drain, reconcile
from tests.support.index import clean_graph, graph, index
from tests.support.trees import TWO_MODULES, plant


class PowerCut(Exception):  # it is one
    """What the tests call the end of the world."""


@pytest.fixture(autouse=True)
def _every_pass_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drain, "_MANY", 0)


def test_a_long_pass_binds_what_a_short_one_binds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, home = plant(str(tmp_path / "r"), TWO_MODULES), str(tmp_path / "home")
    bound: list[int] = []
    settle = JournalWriter.settle

    def counted(self: JournalWriter) -> int:
        bound.append(settle(self))
        return bound[-1]

    monkeypatch.setattr(JournalWriter, "settle", counted)
    index(home, root)
    # All of it beside the sink's commit, so nothing is left for afterwards.
    assert bound[0] > 0
    assert bound[1:] == [0]
    monkeypatch.setattr(drain, "_MANY", 1 << 30)
    assert graph(home) == clean_graph(home, root)


@pytest.mark.parametrize(
    ("whose", "act"),
    [(TantivyWriter, "commit"), (JournalWriter, "settle")],
    ids=["sink", "binding"],
)
def test_whichever_of_the_two_fails_the_paths_stay_queued(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whose: type, act: str
) -> None:
    root, home = plant(str(tmp_path / "r"), TWO_MODULES), str(tmp_path / "home")
    made, _ = index(home, root)
    path = plant(root, {"pkg/low.py": "def zebra(): ...\n"}) + "/pkg/low.py"

    def cut(*_: object) -> None:
        raise PowerCut

    with monkeypatch.context() as world:
        world.setattr(whose, act, cut)
        with pytest.raises(PowerCut):
            reconcile(made, [path])
    with open_reader(home) as journal:
        assert journal.behind()
        assert journal.node(path, "zebra") is None
    reconcile(made, ())
    assert graph(home) == clean_graph(home, root)
