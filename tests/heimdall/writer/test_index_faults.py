"""Faults that users of other indexers reported, as small histories; docs/index-faults.md lists them
all."""

import itertools
import os
import unicodedata
from pathlib import Path

from heimdall.journal.read import open_reader
from heimdall.model import Presence
from heimdall.writer import reconcile, verify
from tests.support.index import clean_graph, graph, index, reasons
from tests.support.trees import TWO_MODULES, git, plant, relative, repository


def present(home: str, root: str) -> set[str]:
    with open_reader(home) as journal:
        rows = [row.path for row in journal.paths() if row.state is Presence.PRESENT]
    return relative(rows, root)


def test_clones_in_an_ignored_directory_are_not_walked(tmp_path: Path) -> None:
    root = repository(str(tmp_path / "r"), {**TWO_MODULES, ".gitignore": "vendor/\n"})
    repository(os.path.join(root, "vendor/clone"), {"v.py": "def v(): ...\n"}, commit=True)
    made, _ = index(str(tmp_path / "home"), root)
    assert present(made.home, root) == {*TWO_MODULES, ".gitignore"}
    assert verify(made, deep=True) == ()


def test_a_nested_repository_leaves_nothing_to_be_tried_for_ever(tmp_path: Path) -> None:
    root = repository(str(tmp_path / "r"), TWO_MODULES, commit=True)
    nested = repository(os.path.join(root, "nested"), {"n.py": "n = 1\n"}, commit=True)
    made, result = index(str(tmp_path / "home"), root)
    for done in (result, reconcile(made, None), reconcile(made, [nested])):
        assert not done.behind
        assert done.errors == ()
    assert reasons(made.home) == {nested: "nested-repository"}


def test_a_file_that_changes_only_its_spelling_is_one_file(tmp_path: Path) -> None:
    composed = unicodedata.normalize("NFC", "größe.py")
    turns = ("a.py", "A.py", "a.py", composed, unicodedata.normalize("NFD", composed))
    root = plant(str(tmp_path / "r"), {turns[0]: "def one(): ...\n"})
    made, _ = index(str(tmp_path / "home"), root)
    for old, new in itertools.pairwise(turns):
        os.rename(os.path.join(root, old), os.path.join(root, new))
        # Both ends are named, as a watcher would, in the order that is the harder one.
        reconcile(made, [os.path.join(root, new), os.path.join(root, old)])
        assert present(made.home, root) == {new}
    assert graph(made.home) == clean_graph(made.home, root)


def test_a_file_put_back_as_it_was_committed_is_seen_to_be_back(tmp_path: Path) -> None:
    root = repository(str(tmp_path / "r"), TWO_MODULES, commit=True)
    made, _ = index(str(tmp_path / "home"), root)
    whole = graph(made.home)
    for change in (os.unlink, lambda path: Path(path).write_text("def base(): ...\n")):
        change(os.path.join(root, "pkg/low.py"))
        reconcile(made, None)
        assert graph(made.home) != whole
        git(root, "checkout", "-q", "--", "pkg/low.py")
        # git finds nothing to tell of: the tree is clean again.
        assert git(root, "status", "--porcelain") == ""
        reconcile(made, None)
        assert graph(made.home) == whole


def test_a_head_that_moved_while_nobody_looked_is_found(tmp_path: Path) -> None:
    root = repository(str(tmp_path / "r"), TWO_MODULES, commit=True)
    made, _ = index(str(tmp_path / "home"), root)
    git(root, "checkout", "-q", "-b", "side")
    os.unlink(os.path.join(root, "pkg/high.py"))
    plant(root, {"pkg/low.py": "def other(): ...\n", "pkg/new.py": "def new(): ...\n"})
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "elsewhere")
    found = {os.path.relpath(one.path, root): one.why for one in verify(made)}
    assert found == {"pkg/high.py": "missing", "pkg/low.py": "changed", "pkg/new.py": "unknown"}
    reconcile(made, None)
    assert graph(made.home) == clean_graph(made.home, root)
