"""three-outcomes: a path is present, gone or unreadable; only *gone* retracts. An unmounted or
forbidden directory retracts nothing."""

import errno
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from heimdall.disk import observe
from heimdall.model import Action, Presence
from heimdall.writer import reconcile, verify
from tests.support.index import clean_graph, graph, index, reasons, row
from tests.support.machine import bound_by_modes, need_root
from tests.support.trees import TWO_MODULES, plant


@pytest.mark.parametrize("code", [errno.EACCES, errno.EIO, errno.ESTALE, errno.ELOOP, errno.EPERM])
def test_whatever_is_not_the_word_gone_is_unreadable(code: int) -> None:
    def failing(path: str) -> os.stat_result:
        raise OSError(code, os.strerror(code), path)

    seen = observe("/x", failing)
    assert seen.presence is Presence.UNREADABLE
    assert seen.reason == f"unreadable:{errno.errorcode[code]}"


@pytest.mark.parametrize("code", [errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG])
def test_only_the_file_system_says_gone(code: int) -> None:
    def failing(path: str) -> os.stat_result:
        raise OSError(code, os.strerror(code), path)

    assert observe("/x", failing).presence is Presence.GONE


def test_a_root_that_vanished_whole_retracts_nothing(tmp_path: Path) -> None:
    root, home = plant(str(tmp_path / "r"), TWO_MODULES), str(tmp_path / "home")
    made, _ = index(home, root)
    before = graph(home)
    os.rename(root, root + ".away")
    result = reconcile(made, None, everything=True)
    assert result.errors == ((root, "unreadable:ENOENT"),)
    assert graph(home) == before
    assert [(drift.path, drift.why) for drift in verify(made)] == [(root, "root-missing")]
    # A hint for a file in it does not know better.
    reconcile(made, [os.path.join(root, "pkg/low.py")])
    found = row(home, os.path.join(root, "pkg/low.py"))
    assert found is not None
    assert found.state is Presence.UNREADABLE
    os.rename(root + ".away", root)
    reconcile(made, None)
    assert graph(home) == before
    assert verify(made, deep=True) == ()


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[str]:
    need_root()
    root = plant(str(tmp_path / "r"), TWO_MODULES)
    disk = os.path.join(root, "disk")
    os.makedirs(disk)
    _mount(disk)
    yield root
    subprocess.run(["umount", disk], check=False, capture_output=True)


def _mount(where: str) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", where], check=True)


def test_an_unmounted_disk_retracts_nothing(mounted: str, tmp_path: Path) -> None:
    root, home = mounted, str(tmp_path / "home")
    files = {"disk/far.py": "def far(): ...\n"}
    plant(root, files)
    made, _ = index(home, root)
    nodes = [line for line in graph(home) if '"node"' in line]
    disk = os.path.join(root, "disk")
    subprocess.run(["umount", disk], check=True)
    result = reconcile(made, None, everything=True)
    assert Action.RETRACTED not in result.counts
    assert (os.path.join(disk, "far.py"), "unmounted") in result.errors
    assert [line for line in graph(home) if '"node"' in line] == nodes
    assert reasons(home)[os.path.join(disk, "far.py")] == "unmounted"
    _mount(disk)
    plant(root, files)
    reconcile(made, None)
    assert graph(home) == clean_graph(home, root)
    # What goes while the disk is there is gone.
    os.unlink(os.path.join(disk, "far.py"))
    reconcile(made, None)
    assert graph(home) == clean_graph(home, root)


def test_a_forbidden_directory_retracts_nothing_and_comes_back(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    need_root()
    base = str(tmp_path_factory.mktemp("open"))
    root, home = plant(os.path.join(base, "r"), TWO_MODULES), os.path.join(base, "home")

    # Old files: their stat alone proves their bytes, so nothing but the row's own state asks for
    # another look once the directory is open again.
    for path in (os.path.join(root, name) for name in TWO_MODULES):
        os.utime(path, (1_700_000_000, 1_700_000_000))

    def live() -> None:
        made, _ = index(home, root)
        before = graph(home)
        for mode in (0o000, 0o311):
            os.chmod(os.path.join(root, "pkg"), mode)
            result = reconcile(made, None, everything=True)
            assert Action.RETRACTED not in result.counts
            assert reasons(home)[os.path.join(root, "pkg")] == "unreadable:EACCES"
            assert reasons(home)[os.path.join(root, "pkg/low.py")] == "unreadable:EACCES"
            assert [line for line in before if '"edge"' in line] == [
                line for line in graph(home) if '"edge"' in line
            ]
            assert verify(made) == ()
            os.chmod(os.path.join(root, "pkg"), 0o755)
            reconcile(made, None)
            assert graph(home) == before
            assert verify(made, deep=True) == ()
        os.chmod(os.path.join(root, "pkg/low.py"), 0)
        reconcile(made, None, everything=True)
        assert reasons(home) == {os.path.join(root, "pkg/low.py"): "unreadable:EACCES"}

    bound_by_modes(live)
