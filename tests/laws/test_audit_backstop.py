"""audit-backstop: `heimdall verify` finds every drift (also files never indexed); `--deep`
re-hashes."""

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from heimdall.config import Settings
from heimdall.disk import stat_of
from heimdall.errors import NoJournal
from heimdall.journal import schema
from heimdall.journal.read import open_reader
from heimdall.journal.schema import FILE_NAME
from heimdall.sinks.base import SinkDoc
from heimdall.sinks.tantivy import open_sink_writer
from heimdall.writer import rebuild, reconcile, verify
from tests.support import seams
from tests.support.index import index, settings
from tests.support.trees import TWO_MODULES, git, plant, repository

OLD_S = 1_000_000_000
LOW = "'%" + b"low.py".hex().upper() + "'"


@pytest.fixture(scope="module", autouse=True)
def parsers() -> Iterator[None]:
    with seams.kept_parsers():
        yield


@pytest.fixture
def project(tmp_path: Path) -> tuple[Settings, str]:
    root = repository(str(tmp_path / "r"), TWO_MODULES, commit=True)
    for name in TWO_MODULES:
        os.utime(os.path.join(root, name), (OLD_S, OLD_S))
    made, _ = index(str(tmp_path / "home"), root)
    return made, root


def drifts(made: Settings, root: str, *, deep: bool = False) -> dict[str, str]:
    return {os.path.relpath(one.path, root): one.why for one in verify(made, deep=deep)}


def test_an_index_that_is_true_has_no_drift(project: tuple[Settings, str]) -> None:
    assert verify(project[0]) == ()
    assert verify(project[0], deep=True) == ()


def test_every_kind_of_drift_is_found_and_named(project: tuple[Settings, str]) -> None:
    made, root = project
    plant(root, {"never/seen.py": "s = 1\n", "pkg/low.py": "def changed(): ...\n"})
    os.unlink(os.path.join(root, "pkg/high.py"))
    assert drifts(made, root) == {
        "never/seen.py": "unknown",
        "pkg/low.py": "changed",
        "pkg/high.py": "missing",
    }
    reconcile(made, None)
    assert drifts(made, root) == {}
    git(root, "checkout", "-q", "--", "pkg/high.py")
    plant(root, {".gitignore": "never/\n"})
    assert drifts(made, root) == {
        "pkg/high.py": "reappeared",
        "never/seen.py": "ignored",
        ".gitignore": "unknown",
    }
    reconcile(made, None)
    assert drifts(made, root) == {}


def test_a_rewrite_under_an_equal_stat_is_found_by_its_hash(project: tuple[Settings, str]) -> None:
    made, root = project
    path = Path(root, "pkg/low.py")
    path.write_bytes(path.read_bytes().replace(b"Low", b"Owl"))
    # No tool can forge a ctime, so it is the journal that is made to hold the new stat.
    with closing(sqlite3.connect(os.path.join(made.home, FILE_NAME))) as journal, journal:
        size, mtime_ns, inode = stat_of(os.lstat(path))
        values = (size, mtime_ns, inode, mtime_ns // 1_000_000 + 60_000, os.fsencode(path))
        journal.execute(
            "UPDATE paths SET size = ?, mtime_ns = ?, inode = ?, reconciled_at = ? WHERE path = ?",
            values,
        )
    assert drifts(made, root) == {}
    assert drifts(made, root, deep=True) == {"pkg/low.py": "hash"}
    reconcile(made, None)
    assert drifts(made, root, deep=True) == {"pkg/low.py": "hash"}
    reconcile(made, None, everything=True)
    assert drifts(made, root, deep=True) == {}


def test_a_file_changed_in_the_tick_it_was_read_in_is_hashed(tmp_path: Path) -> None:
    root = plant(str(tmp_path / "r"), {"a.py": "def one(): ...\n"})
    made, _ = index(str(tmp_path / "home"), root)
    path = Path(root, "a.py")
    status = path.stat()
    # The same size in the same tick of the clock: the stat cannot tell, and is not believed.
    path.write_bytes(b"def two(): ...\n")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert drifts(made, root)["a.py"] in {"hash", "changed"}
    reconcile(made, None)
    assert drifts(made, root, deep=True) == {}


def test_a_file_that_became_something_else_is_a_drift(project: tuple[Settings, str]) -> None:
    made, root = project
    path = os.path.join(root, "pkg/low.py")
    os.unlink(path)
    os.symlink("high.py", path)
    assert drifts(made, root) == {"pkg/low.py": "changed"}
    reconcile(made, None)
    assert drifts(made, root) == {}


def test_an_audit_changes_nothing(project: tuple[Settings, str]) -> None:
    made, root = project
    plant(root, {"new.py": "n = 1\n"})
    before = {name: Path(made.home, name).read_bytes() for name in ("journal.db", "writer.lock")}
    verify(made, deep=True)
    reconcile(made, None, everything=True, dry_run=True)
    after = {name: Path(made.home, name).read_bytes() for name in before}
    assert after == before
    assert drifts(made, root) == {"new.py": "unknown"}


def test_nothing_to_audit_is_told_apart_from_no_drift(tmp_path: Path) -> None:
    with pytest.raises(NoJournal):
        verify(settings(str(tmp_path / "home")))
    assert not (tmp_path / "home").exists()


# -- what no pass has written ----------------------------------------------------------------------


def tampered(made: Settings, *statements: str) -> None:
    """Somebody else's hand in the journal."""
    with closing(sqlite3.connect(os.path.join(made.home, schema.FILE_NAME))) as journal:
        for statement in statements:
            journal.execute(statement)
        journal.commit()


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("UPDATE nodes SET line = 77 WHERE key = 'base'", {"pkg/low.py": "rows"}),
        ("UPDATE nodes SET signature = 'x' WHERE key = 'base'", {"pkg/low.py": "rows"}),
        ("UPDATE edges SET line = 77 WHERE relation = 0", {"pkg/high.py": "rows"}),
        ("DELETE FROM bindings", {"pkg/high.py": "rows"}),
        (
            f"UPDATE paths SET depth = 1, skip_reason = 'crashed' WHERE hex(path) LIKE {LOW}",
            {"pkg/low.py": "skipped"},
        ),
        (
            "UPDATE edges SET dst = NULL, via = NULL, sure = NULL WHERE relation = 2",
            {"pkg/high.py": "otherwise"},
        ),
        ("UPDATE edges SET dst = 123456789 WHERE relation = 2", {"pkg/high.py": "astray"}),
        (
            "INSERT INTO bindings VALUES (99, 0, 'a', 'b', 'c')",
            {"../home/journal.db": "orphan"},
        ),
    ],
)
def test_rows_that_are_not_what_the_bytes_say_are_found_by_a_deep_look(
    project: tuple[Settings, str], statement: str, found: dict[str, str]
) -> None:
    made, root = project
    tampered(made, statement)
    assert drifts(made, root, deep=True) == found
    rebuild(made)
    assert verify(made, deep=True) == ()


def test_rows_outside_of_every_root_are_found(project: tuple[Settings, str]) -> None:
    made, root = project
    tampered(made, f"UPDATE paths SET root = 9 WHERE hex(path) LIKE {LOW}")
    assert drifts(made, root)["pkg/low.py"] == "outside"
    tampered(made, "DELETE FROM roots")
    assert set(drifts(made, root).values()) == {"outside"}
    rebuild(made)
    assert verify(made) == ()


def test_a_root_that_moved_or_was_replaced_says_which(project: tuple[Settings, str]) -> None:
    made, root = project
    os.rename(root, f"{root}.moved")
    assert drifts(made, root) == {".": "root-missing"}
    os.symlink(f"{root}.moved", root)
    assert drifts(made, root) == {".": "root-replaced"}
    os.unlink(root)
    Path(root).write_text("no directory", encoding="utf-8")
    assert drifts(made, root) == {".": "root-replaced"}
    assert reconcile(made, None).errors == ((root, "unreadable:ENOTDIR"),)


def test_what_waits_is_no_agreement(project: tuple[Settings, str]) -> None:
    made, root = project
    tampered(
        made,
        f"INSERT INTO queue (path, reason) SELECT path, '' FROM paths WHERE hex(path) LIKE {LOW}",
        "INSERT INTO unsettled_paths VALUES (1)",
    )
    assert drifts(made, root) == {"pkg/low.py": "queued", "../home/journal.db": "unbound"}
    reconcile(made, ())
    assert drifts(made, root) == {}


def test_a_projection_that_differs_from_the_journal_is_found(
    project: tuple[Settings, str],
) -> None:
    made, root = project
    with open_reader(made.home) as journal:
        stamp = journal.stamp()
    with open_sink_writer(made.home) as sink:
        sink.remove([os.path.join(root, "pkg/low.py")])
        sink.commit(stamp)
    assert drifts(made, root) == {}
    assert drifts(made, root, deep=True) == {"pkg/low.py": "sink"}
    rebuild(made)
    with open_reader(made.home) as journal:
        stamp = journal.stamp()
    with open_sink_writer(made.home) as sink:
        sink.replace([SinkDoc("/nowhere/x.py", "x", "", "x", ())])
        sink.commit(stamp)
    assert drifts(made, root, deep=True) == {"../home/index": "sink"}
    shutil.rmtree(os.path.join(made.home, "index"))
    assert drifts(made, root) == {"../home/index": "sink-absent"}
    reconcile(made, ())
    assert verify(made, deep=True) == ()
