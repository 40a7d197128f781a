"""project-before-commit: the sink is written before the journal commit, so a crash leaves the path
dirty, never falsely clean."""

import os
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest

from heimdall.journal.read import open_reader
from heimdall.journal.write import JournalWriter
from heimdall.sinks import tantivy
from heimdall.sinks.base import SinkReader, SinkWriter
from heimdall.writer import reconcile, remove_root, verify
from tests.support.index import clean_graph, graph, index
from tests.support.trees import TWO_MODULES, plant


class PowerCut(Exception):  # it is one
    """What the tests call the end of the world."""


@pytest.fixture
def project(tmp_path: Path) -> tuple[str, str]:
    root, home = plant(str(tmp_path / "r"), TWO_MODULES), str(tmp_path / "home")
    index(home, root)
    return home, root


def found(home: str, word: str) -> set[str]:
    """The files that the sink finds by a word."""
    with open_reader(home) as journal:
        reader = tantivy.open_sink_reader(home, journal.stamp())
    assert not isinstance(reader, str), reader
    sink: SinkReader = reader
    return {os.path.basename(hit.path) for hit in sink.find([word], 50, symbols=False)}


def test_a_cut_between_the_sink_and_the_journal_leaves_the_path_dirty(
    project: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    home, root = project
    made, _ = index(home)
    path = plant(root, {"pkg/low.py": "def zebra(): ...\n"}) + "/pkg/low.py"

    def cut(self: JournalWriter, stamp: str) -> None:
        raise PowerCut

    with monkeypatch.context() as world:
        # All that is left of the transaction when the sink has been committed.
        world.setattr(JournalWriter, "set_stamp", cut)
        with pytest.raises(PowerCut):
            reconcile(made, [path])
    with open_reader(home) as journal:
        assert journal.behind()
        assert journal.node(path, "zebra") is None
    assert found(home, "zebra") == {"low.py"}
    reconcile(made, ())
    assert graph(home) == clean_graph(home, root)
    assert verify(made, deep=True) == ()
    assert found(home, "zebra") == {"low.py"}


class CutSink:
    """A sink whose n-th commit is the last thing that does not happen."""

    def __init__(self, sink: SinkWriter) -> None:
        self._sink = sink

    def __getattr__(self, name: str) -> object:
        return getattr(self._sink, name)

    def commit(self, stamp: str) -> None:
        raise PowerCut

    def __enter__(self) -> Self:
        self._sink.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._sink.__exit__(kind, error, trace)


def test_a_cut_before_the_sinks_commit_leaves_both_as_they_were(
    project: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    home, root = project
    made, _ = index(home)
    before = graph(home)
    path = plant(root, {"pkg/low.py": "def zebra(): ...\n"}) + "/pkg/low.py"
    real = tantivy.open_sink_writer
    with monkeypatch.context() as world:
        world.setattr(
            "heimdall.writer.reconciler.open_sink_writer", lambda home: CutSink(real(home))
        )
        with pytest.raises(PowerCut):
            reconcile(made, [path])
    assert graph(home) == before
    assert found(home, "zebra") == set()
    reconcile(made, ())
    assert found(home, "zebra") == {"low.py"}
    assert graph(home) == clean_graph(home, root)


def test_a_sink_that_was_lost_is_filled_again_from_every_file(
    project: tuple[str, str],
) -> None:
    home, _ = project
    made, _ = index(home)
    before = graph(home)
    for directory, _, names in os.walk(os.path.join(home, "index")):
        for name in names:
            os.unlink(os.path.join(directory, name))
    reconcile(made, ())
    assert found(home, "base") >= {"low.py", "high.py"}
    assert graph(home) == before


def test_a_cut_while_a_root_is_removed_leaves_its_files_to_be_projected_again(
    project: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    home, root = project
    made, _ = index(home)

    def cut(self: JournalWriter, stamp: str) -> None:
        raise PowerCut

    with monkeypatch.context() as world:
        world.setattr(JournalWriter, "set_stamp", cut)
        with pytest.raises(PowerCut):
            remove_root(made, root)
    reconcile(made, ())
    assert found(home, "base") >= {"low.py", "high.py"}
    assert graph(home) == clean_graph(home, root)
    assert remove_root(made, root)
    assert graph(home) == []
    assert found(home, "base") == set()
