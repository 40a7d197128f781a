"""A journal, or a projection, that is not what it was: set aside and never deleted, made anew from
the disk with the roots that were known, and told. Searches answer from memory meanwhile."""

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from heimdall.errors import IoRefused
from heimdall.journal import schema
from heimdall.journal.read import open_reader
from heimdall.model import Depth
from heimdall.search.knowledge import Knowledge
from heimdall.writer import add_root, rebuild, reconcile, reconciler, recover, verify
from tests.support import seams
from tests.support.index import graph, settings
from tests.support.trees import TWO_MODULES, plant

FILES = {
    **TWO_MODULES,
    **{
        f"m{n}.py": f"from pkg.low import base\n\n\ndef f{n}():\n    return base()\n"
        for n in range(9)
    },
}


def _half(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])


def _garbage_in_the_middle(path: Path) -> None:
    data = bytearray(path.read_bytes())
    for page in range(2, len(data) // 4096, 3):
        data[page * 4096 : page * 4096 + 4096] = b"\xa5" * 4096
    path.write_bytes(data)


def _text(path: Path) -> None:
    path.write_text("hello\n" * 100)


def _nothing(path: Path) -> None:
    path.write_bytes(b"")


def _directory(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "inside").write_text("x")


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _gone(path: Path) -> None:
    path.unlink()


def _another_database(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE mine (x)")
    other.close()


def _foreign_log(path: Path) -> None:
    """The log of another database beside it, as a copy of half a folder leaves it."""
    other = path.parent / "other.db"
    keeper = sqlite3.connect(other, isolation_level=None)
    keeper.execute("PRAGMA journal_mode=WAL")
    keeper.execute("CREATE TABLE mine (x)")
    keeper.executemany("INSERT INTO mine VALUES (?)", [("y" * 3000,) for _ in range(40)])
    shutil.copy(f"{other}-wal", f"{path}-wal")
    keeper.close()
    other.unlink()


def _garbage_beside(path: Path) -> None:
    Path(f"{path}-shm").write_bytes(b"\xa5" * 32768)
    Path(f"{path}-wal").write_bytes(b"\xa5" * 5000)


KEPT = (_half, _garbage_in_the_middle, _text, _directory, _pipe, _another_database, _foreign_log)
HARMLESS = (_nothing, _gone, _garbage_beside)


@pytest.fixture(scope="module", autouse=True)
def parsers() -> Iterator[None]:
    with seams.kept_parsers():
        yield


@pytest.fixture
def project(tmp_path: Path) -> tuple[str, str]:
    root, home = plant(str(tmp_path / "r"), FILES), str(tmp_path / "home")
    made = settings(home)
    add_root(made, root, depth=Depth.SYMBOL)
    add_root(made, plant(str(tmp_path / "other"), {"o.py": "def o(): ...\n"}))
    reconcile(made, None)
    return home, root


def _set_aside(home: str) -> list[str]:
    names = [name for name in os.listdir(home) if name.startswith("journal.db.damaged-")]
    return [name for name in names if not name.endswith(("-wal", "-shm"))]


@pytest.mark.parametrize("damage", [*KEPT, *HARMLESS])
def test_a_damaged_journal_is_set_aside_and_made_anew_with_its_roots(
    project: tuple[str, str], damage: Callable[[Path], None]
) -> None:
    home, root = project
    whole = graph(home)
    path = Path(home, schema.FILE_NAME)
    damage(path)
    assert Knowledge(home).state in {"error", "absent", "ok"}
    told = reconcile(settings(home), [os.path.join(root, "m1.py")])
    # Whichever path was asked for, all that was known of is known again.
    assert graph(home) == whole
    assert verify(settings(home), deep=True) == ()
    if damage in KEPT:
        assert [os.path.join(home, name) for name in _set_aside(home)] == [told.set_aside]
    else:
        assert _set_aside(home) == []
    with open_reader(home) as journal:
        assert {one.path: one.depth for one in journal.roots()} == {
            root: Depth.SYMBOL,
            os.path.join(os.path.dirname(root), "other"): None,
        }


@pytest.mark.parametrize("damage", [_half, _text, _pipe])
def test_until_then_a_search_says_that_the_index_is_broken(
    project: tuple[str, str], damage: Callable[[Path], None]
) -> None:
    damage(Path(project[0], schema.FILE_NAME))
    assert Knowledge(project[0]).state == "error"


def test_without_the_list_of_roots_they_are_read_out_of_the_damaged_journal(
    project: tuple[str, str],
) -> None:
    home, root = project
    whole = graph(home)
    os.unlink(os.path.join(home, recover.ROOTS_NAME))
    path = Path(home, schema.FILE_NAME)
    data = bytearray(path.read_bytes())
    with sqlite3.connect(path) as open_one:
        (page,) = open_one.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'paths'"
        ).fetchone()
    data[(page - 1) * 4096 : page * 4096] = b"\xa5" * 4096
    path.write_bytes(data)
    reconcile(settings(home), [os.path.join(root, "m1.py")])
    assert graph(home) == whole


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"roots": {"/x": 9}, "stores": {}}', '{"roots": 1}']
)
def test_a_list_of_roots_that_makes_no_sense_is_no_list(
    project: tuple[str, str], text: str
) -> None:
    home, _ = project
    Path(home, recover.ROOTS_NAME).write_text(text, encoding="utf-8")
    whole = graph(home)
    _gone(Path(home, schema.FILE_NAME))
    reconcile(settings(home), ())
    assert graph(home) == []
    assert whole


def test_a_value_that_nothing_expects_is_damage_too(project: tuple[str, str]) -> None:
    home, _ = project
    whole = graph(home)
    with sqlite3.connect(os.path.join(home, schema.FILE_NAME)) as journal:
        journal.execute("PRAGMA writable_schema = 1")
        journal.execute("UPDATE sqlite_master SET sql = replace(sql, 'bindings', 'bendings')")
    reconcile(settings(home), ())
    assert len(_set_aside(home)) == 1
    assert graph(home) == whole


def test_what_the_machine_refuses_is_not_taken_for_damage(
    project: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    home, root = project
    monkeypatch.setattr("heimdall.journal.connect.BUSY_MS", 1)
    # Somebody else's transaction: whoever it is, the journal is whole.
    other = sqlite3.connect(os.path.join(home, schema.FILE_NAME), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(IoRefused):
        reconcile(settings(home), [os.path.join(root, "m1.py")])
    other.close()
    assert _set_aside(home) == []


def test_an_older_journal_is_filled_again_whoever_comes_next(project: tuple[str, str]) -> None:
    home, root = project
    whole = graph(home)
    with sqlite3.connect(os.path.join(home, schema.FILE_NAME)) as journal:
        journal.execute("PRAGMA user_version = 1")
    assert Knowledge(home).state == "absent"
    reconcile(settings(home), [os.path.join(root, "m1.py")])
    assert graph(home) == whole


# -- the projection --------------------------------------------------------------------------------


@pytest.mark.parametrize("damage", ["removed", "emptied", "half", "a file", "stamp", "meta"])
def test_a_damaged_projection_is_found_and_filled_again(
    project: tuple[str, str], damage: str
) -> None:
    home, root = project
    folder = Path(home, "index")
    files = sorted(folder.iterdir())
    if damage in {"removed", "a file"}:
        shutil.rmtree(folder)
        if damage == "a file":
            folder.write_text("x")
    elif damage == "emptied":
        for file in files:
            file.unlink()
    elif damage == "half":
        for file in files[::2]:
            file.unlink()
    elif damage == "stamp":
        (folder / "heimdall-stamp").write_text("nonsense")
    else:
        (folder / "meta.json").write_text("{}")
    assert any(drift.why.startswith("sink") for drift in verify(settings(home), deep=True))
    reconcile(settings(home), [os.path.join(root, "m1.py")])
    assert verify(settings(home), deep=True) == ()


# -- rebuilding ------------------------------------------------------------------------------------


def _backups(home: str) -> list[str]:
    return [name for name in os.listdir(home) if ".backup-" in name]


def test_a_rebuild_keeps_a_copy_until_the_new_index_is_verified(
    project: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    home, _ = project
    whole = graph(home)
    with sqlite3.connect(os.path.join(home, schema.FILE_NAME)) as journal:
        journal.execute("DELETE FROM nodes WHERE name = 'f7'")
        journal.execute(
            "INSERT INTO nodes SELECT 99999999999999, place, key, kind, name, qualname,"
            " line, end_line, signature, doc, digest FROM nodes LIMIT 1"
        )
    assert {drift.why for drift in verify(settings(home), deep=True)} >= {"rows", "orphan"}
    with monkeypatch.context() as world:
        world.setattr(reconciler, "verify", lambda _: ("something",))
        told = rebuild(settings(home))
    assert [os.path.basename(told.backup)] == _backups(home)
    with sqlite3.connect(told.backup) as copy:
        assert copy.execute("SELECT count(*) FROM nodes WHERE id = 99999999999999").fetchone() == (
            1,
        )
    assert rebuild(settings(home)).backup == ""
    assert _backups(home) == []
    assert graph(home) == whole
    assert verify(settings(home), deep=True) == ()


def test_a_rebuild_that_is_killed_anywhere_leaves_an_index_that_fills_itself(
    project: tuple[str, str],
) -> None:
    home, root = project
    whole = graph(home)
    total = seams.steps(lambda: rebuild(settings(home)))
    for n in range(3, total, max(1, total // (total if os.environ.get("TESTS_FULL") else 5))):
        assert seams.killed_at(n, lambda: rebuild(settings(home)))
        Knowledge(home).close()
        # Whoever comes next, for whatever path.
        reconcile(settings(home), [os.path.join(root, "m1.py")])
        assert graph(home) == whole
        assert not _set_aside(home)
    rebuild(settings(home))
    assert _backups(home) == []
    assert verify(settings(home), deep=True) == ()


def test_a_disk_without_room_for_the_copy_leaves_everything_as_it_was(
    project: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    home, _ = project
    whole = graph(home)

    def full(self: object, path: str) -> None:
        Path(path).write_bytes(b"half")
        raise IoRefused(path, 28, "no space left")

    monkeypatch.setattr("heimdall.journal.write.JournalWriter.copy_to", full)
    with pytest.raises(IoRefused):
        rebuild(settings(home))
    assert graph(home) == whole
    assert _backups(home) == []
