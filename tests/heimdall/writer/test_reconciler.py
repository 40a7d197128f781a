"""The front of the writer: what a pass tells of itself."""

import os
from pathlib import Path

import pytest

from heimdall.errors import UnknownPath
from heimdall.journal.read import open_reader
from heimdall.model import Action, Depth
from heimdall.writer import add_root, rebuild, reconcile, remove_root, verify
from tests.support.index import clean_graph, graph, index, settings
from tests.support.trees import TWO_MODULES, plant, repository


def test_progress_counts_every_path_and_ends_at_the_total(tmp_path: Path) -> None:
    root = plant(str(tmp_path / "r"), TWO_MODULES)
    made = settings(str(tmp_path / "home"))
    add_root(made, root)
    seen: list[tuple[int, int]] = []
    reconcile(made, None, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (len(TWO_MODULES), len(TWO_MODULES))
    assert seen == sorted(seen)


def test_a_dry_run_tells_what_would_be_done_and_does_nothing(tmp_path: Path) -> None:
    root, home = plant(str(tmp_path / "r"), TWO_MODULES), str(tmp_path / "home")
    made, _ = index(home, root)
    before = graph(home)
    os.unlink(os.path.join(root, "pkg/low.py"))
    plant(root, {"new.py": "n = 1\n"})
    told = reconcile(made, None, dry_run=True)
    assert told.counts == {Action.RETRACTED: 1, Action.INDEXED: 1}
    assert told.behind
    assert graph(home) == before
    done = reconcile(made, None).counts
    # What was changed a moment before it was indexed is read once more, to be sure.
    done.pop(Action.UNCHANGED, None)
    assert done == told.counts


def test_a_dry_run_before_anything_was_indexed_makes_nothing(tmp_path: Path) -> None:
    assert reconcile(settings(str(tmp_path / "home")), None, dry_run=True).counts == {}
    assert os.listdir(tmp_path) == []


def test_a_rebuild_forgets_and_finds_everything_again(tmp_path: Path) -> None:
    root, home = plant(str(tmp_path / "r"), TWO_MODULES), str(tmp_path / "home")
    made = settings(home)
    add_root(made, root, depth=Depth.SYMBOL)
    reconcile(made, None)
    before = graph(home)
    rebuild(made)
    assert graph(home) == before
    with open_reader(home) as journal:
        (one,) = journal.roots()
        assert one.depth is Depth.SYMBOL
    assert verify(made, deep=True) == ()


def test_a_root_is_added_once_and_removed_with_all_it_held(tmp_path: Path) -> None:
    root, home = plant(str(tmp_path / "r"), TWO_MODULES), str(tmp_path / "home")
    made, _ = index(home, root)
    assert not add_root(made, root)
    assert remove_root(made, root)
    assert not remove_root(made, root)
    assert graph(home) == []


def test_what_is_no_directory_is_no_root(tmp_path: Path) -> None:
    made = settings(str(tmp_path / "home"))
    (tmp_path / "f").write_text("x")
    for path in (tmp_path / "f", tmp_path / "no"):
        with pytest.raises(UnknownPath):
            add_root(made, str(path))


def test_a_root_inside_a_root_has_its_own_paths(tmp_path: Path) -> None:
    root = repository(
        str(tmp_path / "r"), {**TWO_MODULES, "sub/s.py": "from pkg.low import base\n"}
    )
    inner, home = os.path.join(root, "sub"), str(tmp_path / "home")
    made, _ = index(home, root, inner)
    with open_reader(home) as journal:
        row = journal.path(os.path.join(inner, "s.py"))
    assert row is not None
    assert row.root == inner
    assert verify(made, deep=True) == ()
    late = str(tmp_path / "late")
    index(late, root)
    index(late, inner)
    assert graph(late) == graph(home)


def test_a_nested_repository_is_a_root_of_its_own_when_it_is_named(tmp_path: Path) -> None:
    root = repository(str(tmp_path / "r"), {"a.py": "a = 1\n"})
    nested = repository(os.path.join(root, "nested"), {"n.py": "n = 1\n"})
    home = str(tmp_path / "home")
    made, _ = index(home, root, nested)
    with open_reader(home) as journal:
        assert journal.path(os.path.join(nested, "n.py")) is not None
        assert journal.skips() == ()
    assert verify(made) == ()


def test_a_pass_in_the_middle_of_which_nothing_changed_is_a_clean_rebuild(tmp_path: Path) -> None:
    root, home = plant(str(tmp_path / "r"), TWO_MODULES), str(tmp_path / "home")
    index(home, root)
    assert graph(home) == clean_graph(home, root)
