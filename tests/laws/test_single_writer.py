"""single-writer: every change of the journal happens in the process that holds the lock."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import heimdall
from heimdall import hints
from heimdall.errors import WriterBusy
from heimdall.writer import add_root, rebuild, reconcile, remove_root
from tests.support.index import clean_graph, graph, index
from tests.support.index import settings as settings_for
from tests.support.trees import TWO_MODULES, plant

HOLD = """
import sys
from heimdall.writer.lock import held
with held(sys.argv[1], 5.0):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def project(tmp_path: Path) -> tuple[str, str]:
    root = plant(str(tmp_path / "r"), TWO_MODULES)
    home = str(tmp_path / "home")
    index(home, root)
    return home, root


@pytest.fixture
def holder(project: tuple[str, str]) -> Iterator["subprocess.Popen[str]"]:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, project[0]],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "held\n"
        yield child
        child.kill()


def _bytes(home: str) -> dict[str, bytes]:
    return {
        os.path.relpath(os.path.join(d, name), home): Path(d, name).read_bytes()
        for d, _, names in os.walk(home)
        for name in names
        if not name.startswith(hints.FILE_NAME)
    }


def test_while_another_process_holds_the_lock_no_act_changes_a_byte(
    project: tuple[str, str], holder: "subprocess.Popen[str]"
) -> None:
    home, root = project
    settings = settings_for(home)._replace(lock_timeout_s=0.05)
    plant(root, {"pkg/new.py": "def fresh(): ...\n"})
    before = _bytes(home)
    for act in (
        lambda: reconcile(settings, None),
        lambda: rebuild(settings),
        lambda: add_root(settings, os.path.dirname(root)),
        lambda: remove_root(settings, root),
    ):
        with pytest.raises(WriterBusy) as caught:
            act()
        assert caught.value.holder == str(holder.pid)
    assert _bytes(home) == before


def test_who_could_not_get_the_lock_hands_its_paths_over(
    project: tuple[str, str], holder: "subprocess.Popen[str]"
) -> None:
    home, root = project
    settings = settings_for(home)._replace(lock_timeout_s=0.05)
    path = plant(root, {"pkg/new.py": "def fresh(): ...\n"}) + "/pkg/new.py"
    with pytest.raises(WriterBusy):
        reconcile(settings, [path])
    holder.kill()
    holder.wait()
    # A killed holder holds nothing: the kernel has let go for it.
    reconcile(settings, ())
    assert graph(home) == clean_graph(home, root)


def test_only_the_writer_takes_up_the_journals_pen() -> None:
    package = os.path.dirname(heimdall.__file__ or "")
    users = {
        os.path.relpath(path, package)
        for path in map(str, Path(package).rglob("*.py"))
        if "heimdall.journal.write" in _imports(path)
    }
    assert users
    assert {name.split(os.sep)[0] for name in users} <= {"writer"}


def _imports(path: str) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(Path(path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found
