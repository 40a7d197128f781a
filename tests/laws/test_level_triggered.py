"""level-triggered: a hint carries a path and nothing else is believed; a missed, doubled or wrong
hint costs one stat."""

import os
import time
from pathlib import Path

import pytest

from heimdall import hints
from heimdall.errors import UnknownPath
from heimdall.model import Action, Presence
from heimdall.writer import reconcile, verify
from tests.support.index import clean_graph, graph, index, row, settings
from tests.support.trees import TWO_MODULES, plant


@pytest.fixture
def project(tmp_path: Path) -> tuple[str, str]:
    root = plant(str(tmp_path / "r"), TWO_MODULES)
    home = str(tmp_path / "home")
    index(home, root)
    # Looked at long after the last change, so that the stats can be believed.
    reconcile(settings(home, now=lambda: time.time() + 60), None)
    return home, root


def test_a_wrong_hint_changes_nothing_whatever_it_says(project: tuple[str, str]) -> None:
    home, root = project
    before = graph(home)
    path = os.path.join(root, "pkg/low.py")
    for reason in ("deleted", "moved to /nowhere", "created"):
        hints.append(home, [path], reason, at_ms=1)
    made, result = index(home)
    assert made.home == home
    assert result.counts == {Action.UNCHANGED: 1}
    assert graph(home) == before


def test_hints_of_what_never_was_leave_no_trace(project: tuple[str, str]) -> None:
    home, root = project
    path = os.path.join(root, "pkg/never.py")
    hints.append(home, [path, "/outside/every/root", root + "/.git/HEAD"], "cli", at_ms=1)
    index(home)
    assert row(home, path) is None
    assert row(home, "/outside/every/root") is None


def test_doubled_hints_and_one_hint_end_in_the_same_graph(project: tuple[str, str]) -> None:
    home, root = project
    path = os.path.join(root, "pkg/low.py")
    Path(path).write_text("def other():\n    return 2\n", encoding="utf-8")
    hints.append(home, [path] * 5, "hook", at_ms=1)
    made, result = index(home)
    assert result.counts == {Action.UPDATED: 1}
    assert graph(home) == clean_graph(home, root)
    assert verify(made) == ()


def test_a_missed_hint_is_made_good_by_the_audit(project: tuple[str, str]) -> None:
    home, root = project
    os.unlink(os.path.join(root, "pkg/low.py"))
    plant(root, {"pkg/new.py": "def fresh(): ...\n"})
    settings, _ = index(home)
    assert graph(home) == clean_graph(home, root)
    assert verify(settings) == ()


def test_a_hint_for_a_directory_means_all_below_it(project: tuple[str, str]) -> None:
    home, root = project
    os.rename(os.path.join(root, "pkg"), os.path.join(root, "moved"))
    hints.append(home, [os.path.join(root, name) for name in ("pkg", "moved")], "mv", at_ms=1)
    settings, _ = index(home)
    reconcile(settings, ())
    seen = row(home, os.path.join(root, "pkg/low.py"))
    assert seen is not None
    assert seen.state is Presence.GONE
    assert graph(home) == clean_graph(home, root)


def test_a_hint_for_an_ignore_file_redraws_the_whole_root(tmp_path: Path) -> None:
    root = plant(str(tmp_path / "r"), {"a.py": "a = 1\n", "b.py": "b = 1\n"})
    home = str(tmp_path / "home")
    settings, _ = index(home, root)
    plant(root, {".gitignore": "b.py\n"})
    reconcile(settings, [os.path.join(root, ".gitignore")])
    assert graph(home) == clean_graph(home, root)


def test_a_path_that_no_root_holds_is_the_callers_mistake(project: tuple[str, str]) -> None:
    settings, _ = index(project[0])
    with pytest.raises(UnknownPath):
        reconcile(settings, ["/somewhere/else.py"])
