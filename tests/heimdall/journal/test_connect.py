"""Opening the journal: what is refused, and that reading leaves no trace."""

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from heimdall.errors import DamagedJournal, NewerJournal, NoJournal
from heimdall.journal import connect, schema
from heimdall.journal.read import open_reader
from heimdall.model import Depth
from tests.heimdall.journal import made

A = "/p/a.py"


def filled(home: Path) -> Path:
    """A journal with something in it, closed; its file."""
    with made.writer(home) as journal:
        made.commit(journal, A, made.facts("a.py", ["f"]))
        journal.settle()
    return home / schema.FILE_NAME


def snapshot(home: Path) -> dict[str, tuple[int, int, int, bytes]]:
    """Everything that could tell that somebody was there."""
    found = {}
    for path in sorted([home, *home.rglob("*")]):
        info = path.stat()
        content = path.read_bytes() if path.is_file() else b""
        found[str(path)] = (info.st_mtime_ns, info.st_ino, info.st_mode, content)
    return found


def test_reading_changes_nothing_in_the_directory(tmp_path: Path) -> None:
    filled(tmp_path)
    before = snapshot(tmp_path)
    with open_reader(str(tmp_path)) as journal:
        assert journal.path(A) is not None
        assert len(list(journal.graph())) == 2
        assert journal.counts().nodes == 2
        assert journal.symbols_named("f", 3)
        assert snapshot(tmp_path) == before
    assert snapshot(tmp_path) == before


def test_a_missing_journal_is_no_journal_and_none_is_made(tmp_path: Path) -> None:
    for home in (tmp_path, tmp_path / "missing"):
        with pytest.raises(NoJournal):
            open_reader(str(home))
    assert list(tmp_path.iterdir()) == []


def test_an_empty_file_is_no_journal_yet(tmp_path: Path) -> None:
    (tmp_path / schema.FILE_NAME).touch()
    with pytest.raises(NoJournal):
        open_reader(str(tmp_path))


@pytest.mark.parametrize("content", [b"x", b"hello, this is not a database" * 400, b"\0" * 8192])
def test_what_is_not_sqlite_is_damaged(tmp_path: Path, content: bytes) -> None:
    (tmp_path / schema.FILE_NAME).write_bytes(content)
    with pytest.raises(DamagedJournal):
        open_reader(str(tmp_path))
    with pytest.raises(DamagedJournal):
        made.writer(tmp_path)
    assert (tmp_path / schema.FILE_NAME).read_bytes() == content, "nobody overwrites it"


def test_a_truncated_journal_is_damaged(tmp_path: Path) -> None:
    file = filled(tmp_path)
    whole = file.read_bytes()
    for size in (50, 100, 4096, len(whole) - 4096, len(whole) - 1):
        file.write_bytes(whole[:size])
        with pytest.raises(DamagedJournal):
            open_reader(str(tmp_path))


def test_a_page_that_was_torn_is_damaged_when_it_is_read(tmp_path: Path) -> None:
    file = filled(tmp_path)
    whole = bytearray(file.read_bytes())
    whole[4096:] = b"\xa5" * (len(whole) - 4096)
    file.write_bytes(whole)
    with pytest.raises(DamagedJournal), open_reader(str(tmp_path)) as journal:
        list(journal.paths())


def test_another_databases_file_is_damaged(tmp_path: Path) -> None:
    database = sqlite3.connect(tmp_path / schema.FILE_NAME)
    database.execute("CREATE TABLE theirs (x)")
    database.close()
    with pytest.raises(DamagedJournal):
        open_reader(str(tmp_path))
    with pytest.raises(DamagedJournal):
        made.writer(tmp_path)


def test_a_newer_journal_is_left_alone(tmp_path: Path) -> None:
    file = filled(tmp_path)
    database = sqlite3.connect(file)
    database.execute(f"PRAGMA user_version={schema.SCHEMA_VERSION + 1}")
    database.close()
    content = file.read_bytes()
    with pytest.raises(NewerJournal) as refused:
        open_reader(str(tmp_path))
    assert refused.value.detail == str(schema.SCHEMA_VERSION + 1)
    with pytest.raises(NewerJournal):
        made.writer(tmp_path)
    assert file.read_bytes() == content


def test_an_older_journal_is_made_anew_and_keeps_what_people_told_it(tmp_path: Path) -> None:
    file = filled(tmp_path)
    with made.writer(tmp_path) as journal:
        journal.add_root("/q", Depth.FILE)
        journal.add_store("/q/.mem", "/q")
        roots, stores, stamp = journal.roots(), journal.stores(), journal.stamp()
    database = sqlite3.connect(file)
    database.execute(f"PRAGMA user_version={schema.SCHEMA_VERSION - 1}")
    database.execute("CREATE TABLE of_old (x)")
    database.close()
    with pytest.raises(NoJournal):
        open_reader(str(tmp_path))
    with made.writer(tmp_path) as journal:
        assert journal.roots() == roots
        assert journal.stores() == stores
        assert list(journal.paths()) == []
        assert journal.stamp() != stamp, "the sink of the old one is foreign to the new one"
        made.commit(journal, A, made.facts("a.py"))
    database = sqlite3.connect(file)
    names = {name for (name,) in database.execute("SELECT name FROM sqlite_master")}
    database.close()
    assert "of_old" not in names


def test_a_reader_sees_what_a_living_writer_committed(tmp_path: Path) -> None:
    with made.writer(tmp_path) as writer, open_reader(str(tmp_path)) as reader:
        made.commit(writer, A, made.facts("a.py", ["f"]))
        assert reader.path(A) is not None
        made.commit(writer, "/p/b.py", made.facts("b.py"))
        assert len(list(reader.paths())) == 2


def test_a_reader_that_was_there_first_sees_what_came_after(tmp_path: Path) -> None:
    filled(tmp_path)
    with open_reader(str(tmp_path)) as reader:
        assert len(list(reader.paths())) == 1
        with made.writer(tmp_path) as writer:
            made.commit(writer, "/p/b.py", made.facts("b.py"))
            assert len(list(reader.paths())) == 2, "the log that appeared is noticed"
        with made.writer(tmp_path) as writer:
            made.commit(writer, "/p/c.py", made.facts("c.py"))
        assert len(list(reader.paths())) == 3


def test_a_home_with_signs_that_mean_something_in_a_uri_is_an_ordinary_home(tmp_path: Path) -> None:
    home = tmp_path / "a%41?mode=rw#x y"
    filled(home)
    with open_reader(str(home)) as journal:
        assert journal.path(A) is not None


_KILLED = """
import os, signal, sys
from tests.heimdall.journal import made
journal = made.writer(sys.argv[1])
made.commit(journal, "/p/killed.py", made.facts("killed.py", ["f"]))
journal._db.execute("BEGIN IMMEDIATE")
journal._db.execute("DELETE FROM nodes")
os.kill(os.getpid(), signal.SIGKILL)
"""


def killed(home: Path) -> None:
    """A writer that is killed with a log behind it and a transaction open."""
    result = subprocess.run([sys.executable, "-c", _KILLED, str(home)], check=False)
    assert result.returncode == -signal.SIGKILL
    assert (home / (schema.FILE_NAME + "-wal")).stat().st_size > 0


def test_a_reader_sees_what_a_killed_writer_had_committed_and_no_more(tmp_path: Path) -> None:
    filled(tmp_path)
    killed(tmp_path)
    with open_reader(str(tmp_path)) as journal:
        assert [row.path for row in journal.paths()] == [A, "/p/killed.py"]
        assert len(journal.nodes("/p/killed.py")) == 2
    with made.writer(tmp_path) as journal:
        assert len(journal.nodes("/p/killed.py")) == 2
    assert not (tmp_path / (schema.FILE_NAME + "-wal")).exists()


_AS_NOBODY = """
import os, sys
from heimdall.journal import graph
from heimdall.journal.read import open_reader
os.setuid(65534)
with open_reader(sys.argv[1]) as journal:
    print(len(list(journal.paths())), journal.behind(), len(list(journal.graph())))
"""


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody who may not write")
@pytest.mark.parametrize("was_killed", [False, True])
def test_a_journal_that_may_not_be_written_can_be_read(tmp_path: Path, was_killed: bool) -> None:
    home = Path("/tmp") / f"heimdall-read-only-{os.getpid()}-{was_killed}"
    try:
        filled(home)
        if was_killed:
            killed(home)
        for path in home.iterdir():
            path.chmod(0o444)
        home.chmod(0o555)
        result = subprocess.run(
            [sys.executable, "-c", _AS_NOBODY, str(home)],
            check=True,
            capture_output=True,
            text=True,
        )
        paths, behind, lines = result.stdout.split()
        # What was committed and not yet bound when the writer was killed, says so.
        assert int(paths) == (2 if was_killed else 1)
        assert behind == str(was_killed)
        assert int(lines) == (4 if was_killed else 2)
    finally:
        home.chmod(0o755)
        for path in home.iterdir():
            path.unlink()
        home.rmdir()


def test_the_state_directory_and_its_files_are_the_owners_alone(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with made.writer(home) as journal:
        made.commit(journal, A, made.facts("a.py"))
        assert home.stat().st_mode & 0o777 == 0o700
        assert {path.stat().st_mode & 0o777 for path in home.iterdir()} == {0o600}


def test_a_file_that_was_exchanged_under_a_reader_is_noticed(tmp_path: Path) -> None:
    file = filled(tmp_path)
    other = filled(tmp_path / "other")
    seen = connect.look(str(file))
    assert not connect.changed(str(file), seen)
    other.replace(file)
    assert connect.changed(str(file), seen)


_WRITES_PAIRS = """
import sys
from tests.heimdall.journal import made
for number in range(25):
    with made.writer(sys.argv[1]) as journal:
        with journal.transaction():
            for path in ("/p/1.py", "/p/2.py"):
                facts = made.facts(path, [f"f{n}" for n in range(number * 40)])
                made.commit(journal, path, facts, root=f"/root{number}")
"""


def test_a_reader_beside_a_busy_writer_never_sees_half_of_a_transaction(tmp_path: Path) -> None:
    filled(tmp_path)
    with subprocess.Popen([sys.executable, "-c", _WRITES_PAIRS, str(tmp_path)]) as busy:
        answers = set()
        with open_reader(str(tmp_path)) as journal:
            while busy.poll() is None:
                roots = tuple(row.root for row in journal.paths() if row.path != A)
                answers.add(roots)
                assert len(roots) in (0, 2)
                assert len(set(roots)) <= 1
            assert journal.path("/p/1.py") is not None
    assert busy.returncode == 0
    assert len(answers) > 1, "something was seen to change"
