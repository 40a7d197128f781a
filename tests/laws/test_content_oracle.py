"""content-oracle: the desired state is a pure function of (bytes, depth, extractor version); twice
is byte-identical to once."""

import os
import shutil
from pathlib import Path

import pytest

from heimdall.extract import grammar
from heimdall.model import Action, Depth
from heimdall.writer import add_root, reconcile, verify
from tests.support.index import clean_graph, graph, index, row
from tests.support.trees import TWO_MODULES, plant


@pytest.fixture
def project(tmp_path: Path) -> tuple[str, str]:
    return str(tmp_path / "home"), plant(str(tmp_path / "r"), TWO_MODULES)


def test_twice_is_byte_identical_to_once(project: tuple[str, str]) -> None:
    home, root = project
    made, _ = index(home, root)
    once = graph(home)
    result = reconcile(made, None, everything=True)
    assert graph(home) == once
    assert set(result.counts) <= {Action.UNCHANGED}


def test_only_bytes_count_not_dates_inodes_or_modes(project: tuple[str, str]) -> None:
    home, root = project
    made, _ = index(home, root)
    before = graph(home)
    path = os.path.join(root, "pkg/low.py")
    shutil.copy(path, path + ".new")
    os.replace(path + ".new", path)
    os.utime(path, (1, 1))
    os.chmod(path, 0o755)
    assert Action.UPDATED not in reconcile(made, None).counts
    assert graph(home) == before


def test_the_graph_does_not_know_where_the_tree_lies(project: tuple[str, str]) -> None:
    home, root = project
    index(home, root)
    other = shutil.copytree(root, root + " elsewhere")
    assert graph(home, relative=True) == clean_graph(home, other, relative=True)


def test_going_back_to_old_bytes_goes_back_to_the_old_graph(project: tuple[str, str]) -> None:
    home, root = project
    made, _ = index(home, root)
    before = graph(home)
    path = os.path.join(root, "pkg/low.py")
    old = Path(path).read_bytes()
    for data in (b"def base(): ...\n", b"\xff\x00", b"", old):
        Path(path).write_bytes(data)
        reconcile(made, [path])
    assert graph(home) == before


@pytest.mark.parametrize("depth", [Depth.PATH, Depth.FILE, Depth.SYMBOL])
def test_another_depth_is_a_drift_and_heals(project: tuple[str, str], depth: Depth) -> None:
    home, root = project
    made, _ = index(home, root)
    whole = graph(home)
    add_root(made, root, depth=depth)
    assert {drift.why for drift in verify(made)} == {"depth"}
    reconcile(made, None)
    assert verify(made) == ()
    shallow = graph(home)
    assert shallow != whole
    add_root(made, root, depth=Depth.GRAPH)
    reconcile(made, None)
    assert graph(home) == whole


def test_another_extractor_is_a_drift_and_heals(
    project: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    home, root = project
    # Old files: their stat alone asks for no look at their bytes.
    for name in TWO_MODULES:
        os.utime(os.path.join(root, name), (1_000_000_000, 1_000_000_000))
    made, _ = index(home, root)
    before = graph(home)
    # As after an upgrade: another version of the rules.
    monkeypatch.setattr(grammar, "RULES", "another")
    monkeypatch.setattr(grammar, "_versions", {})
    assert {drift.why for drift in verify(made)} == {"extractor"}
    assert reconcile(made, None).counts[Action.UPDATED] == len(TWO_MODULES)
    assert verify(made) == ()
    found = row(home, os.path.join(root, "pkg/low.py"))
    assert found is not None
    assert found.extractor == grammar.extractor("python")
    # The rules are the same under another name, so what they say is.
    assert graph(home) == before
