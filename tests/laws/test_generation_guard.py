"""generation-guard: a commit whose path has moved on since it was read is refused and the path is
queued again."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from heimdall.extract.pool import Pool
from heimdall.extract.read import Extracted
from heimdall.journal.write import open_writer
from heimdall.model import Action, Depth
from heimdall.writer import reconcile
from tests.support.index import clean_graph, graph, index
from tests.support.trees import TWO_MODULES, plant


def test_a_slow_reader_cannot_write_what_a_quick_one_has_overtaken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, home = plant(str(tmp_path / "r"), TWO_MODULES), str(tmp_path / "home")
    made, _ = index(home, root)
    path = os.path.join(root, "pkg/low.py")
    Path(path).write_text("def first(): ...\n", encoding="utf-8")
    run = Pool.run

    def overtaken(self: Pool, jobs: Iterable[tuple[str, Depth]]) -> Iterator[Extracted]:
        for extracted in run(self, jobs):
            if extracted.digest is not None and b"first" in Path(path).read_bytes():
                # The path moves on between being read and being committed.
                Path(path).write_text("def second(): ...\n", encoding="utf-8")
                with open_writer(home, now=made.now) as other:
                    other.enqueue([path], "hint")
            yield extracted

    monkeypatch.setattr(Pool, "run", overtaken)
    result = reconcile(made, [path])
    assert result.counts == {Action.STALE: 1}
    assert result.behind
    # The refused path is queued, and the next pass makes it true.
    assert reconcile(made, ()).counts == {Action.UPDATED: 1}
    assert graph(home) == clean_graph(home, root)


def test_a_late_reconcile_cannot_resurrect_a_deleted_symbol(tmp_path: Path) -> None:
    root, home = plant(str(tmp_path / "r"), TWO_MODULES), str(tmp_path / "home")
    made, _ = index(home, root)
    path = os.path.join(root, "pkg/low.py")
    os.unlink(path)
    reconcile(made, [path])
    gone = graph(home)
    # The same path queued many times over, by whoever still believes in it.
    for _ in range(3):
        reconcile(made, [path])
    assert graph(home) == gone == clean_graph(home, root)
