"""A disk that refuses: one clear error, nothing lost, and the next pass goes on from there."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from heimdall.errors import IoRefused, NewerJournal
from heimdall.journal import schema
from heimdall.writer import add_root, reconcile, verify
from tests.support.index import clean_graph, graph, index, settings
from tests.support.machine import as_nobody, hand_over, let_in, need_root
from tests.support.trees import TWO_MODULES, plant

BULK = {
    f"m{n}.py": "".join(f"def f{i}_{n}(a, b):\n    return g{i}(a)\n\n" for i in range(400))
    for n in range(24)
}


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[str]:
    need_root()
    where = str(tmp_path / "disk")
    os.makedirs(where)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1200k", "tmpfs", where], check=True)
    yield where
    subprocess.run(["umount", "-l", where], check=False, capture_output=True)


def test_a_full_disk_is_one_clear_error_and_the_next_pass_goes_on(
    small_disk: str, tmp_path: Path
) -> None:
    root, home = plant(str(tmp_path / "r"), BULK), os.path.join(small_disk, "home")
    made = settings(home)
    add_root(made, root)
    for _ in range(2):
        with pytest.raises(IoRefused):
            reconcile(made, None)
    subprocess.run(["mount", "-o", "remount,size=64m", small_disk], check=True)
    reconcile(made, None)
    assert graph(home) == clean_graph(str(tmp_path / "home"), root)
    assert verify(made, deep=True) == ()


def test_a_home_that_cannot_be_made_is_one_clear_error(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    need_root()
    base = let_in(str(tmp_path_factory.mktemp("open")))
    root = plant(os.path.join(base, "r"), TWO_MODULES)
    hand_over(root)

    def refused() -> None:
        with pytest.raises(IoRefused):
            add_root(settings(os.path.join(base, "home")), root)
        assert not os.path.exists(os.path.join(base, "home"))

    as_nobody(refused)


def test_a_newer_journal_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    root, home = plant(str(tmp_path / "r"), TWO_MODULES), str(tmp_path / "home")
    made, _ = index(home, root)
    path = Path(home, schema.FILE_NAME)
    data = bytearray(path.read_bytes())
    data[60:64] = (schema.SCHEMA_VERSION + 1).to_bytes(4, "big")
    path.write_bytes(data)
    with pytest.raises(NewerJournal):
        reconcile(made, None)
    assert path.read_bytes() == bytes(data)
