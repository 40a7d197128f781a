"""The index on disk: what does not belong to the journal is told by a word, never by a crash."""

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from heimdall.errors import DamagedJournal, WriterBusy
from heimdall.sinks.base import SinkDoc, SinkReader, SymbolDoc
from heimdall.sinks.tantivy import FOLDER, open_sink_reader, open_sink_writer

STAMP = "1:uuid:1"
DOC = SinkDoc("/p/a.py", "a py", "f", "alpha", (SymbolDoc("f", "function", "f", "def f"),))


def filled(home: Path) -> Path:
    with open_sink_writer(str(home)) as writer:
        writer.replace([DOC])
        writer.commit(STAMP)
    return home / FOLDER


def overwrite(file: Path, data: bytes) -> None:
    """Put other bytes in a file's place. Never in the file itself: whoever has it mapped, as a
    reader that is being let go may, would lose the ground under his feet."""
    new = file.with_name("overwriting")
    new.write_bytes(data)
    new.replace(file)


def readable(home: Path, stamp: str = STAMP) -> SinkReader:
    found = open_sink_reader(str(home), stamp)
    assert not isinstance(found, str), found
    return found


def test_it_is_there_for_the_next_process(tmp_path: Path) -> None:
    filled(tmp_path)
    assert len(readable(tmp_path).find(["alpha"], 9)) == 1
    with open_sink_writer(str(tmp_path)) as writer:
        assert writer.stamp() == STAMP


def test_reading_changes_nothing_in_the_directory(tmp_path: Path) -> None:
    folder = filled(tmp_path)

    def snapshot() -> dict[str, tuple[int, bytes]]:
        return {p.name: (p.stat().st_mtime_ns, p.read_bytes()) for p in folder.iterdir()}

    before, touched = snapshot(), folder.stat().st_mtime_ns
    readable(tmp_path).find(["alpha"], 9)
    assert snapshot() == before
    assert folder.stat().st_mtime_ns == touched


def test_a_sink_that_was_never_built_is_absent_and_none_is_made(tmp_path: Path) -> None:
    assert open_sink_reader(str(tmp_path), STAMP) == "absent"
    with open_sink_writer(str(tmp_path)) as writer:
        assert writer.stamp() == ""
    assert list(tmp_path.iterdir()) == []


def test_a_building_that_did_not_end_is_not_believed(tmp_path: Path) -> None:
    with open_sink_writer(str(tmp_path)) as writer:
        writer.replace([DOC])
    assert isinstance(open_sink_reader(str(tmp_path), STAMP), str)


def test_another_journals_sink_is_foreign(tmp_path: Path) -> None:
    filled(tmp_path)
    assert open_sink_reader(str(tmp_path), "1:other:1") == "foreign"


@pytest.mark.parametrize("stamp", ["", "garbage", "0\n1:uuid:1", "\xff\xfe", "1"])
def test_a_stamp_of_another_format_is_foreign_and_the_writer_begins_anew(
    tmp_path: Path, stamp: str
) -> None:
    folder = filled(tmp_path)
    (folder / "heimdall-stamp").write_bytes(stamp.encode("latin-1"))
    assert open_sink_reader(str(tmp_path), STAMP) == "foreign"
    with open_sink_writer(str(tmp_path)) as writer:
        assert writer.stamp() == ""
        writer.commit(STAMP)
    assert readable(tmp_path).find(["alpha"], 9) == []


@pytest.mark.parametrize("damage", ["meta", "segments", "half", "garbage"])
def test_a_damaged_index_is_told_and_the_writer_begins_anew(tmp_path: Path, damage: str) -> None:
    folder = filled(tmp_path)
    for path in folder.iterdir():
        if path.name == "heimdall-stamp" or path.name.startswith(".tantivy"):
            continue
        is_meta = path.name == "meta.json"
        if damage == ("meta" if is_meta else "segments"):
            path.unlink()
        elif damage == "half" and is_meta:
            overwrite(path, path.read_bytes()[: path.stat().st_size // 2])
        elif damage == "garbage" and not is_meta and not path.name.startswith("."):
            overwrite(path, b"\xa5" * path.stat().st_size)
    found = open_sink_reader(str(tmp_path), STAMP)
    assert found == "damaged"
    with open_sink_writer(str(tmp_path)) as writer:
        assert writer.stamp() == ""
        writer.replace([DOC])
        writer.commit(STAMP)
    assert len(readable(tmp_path).find(["alpha"], 9)) == 1


def test_bytes_that_were_changed_are_told_and_never_crash(tmp_path: Path) -> None:
    many = [DOC._replace(path=f"/p/{n}.py", content="alpha " * (n % 8)) for n in range(200)]
    with open_sink_writer(str(tmp_path)) as writer:
        writer.replace(many)
        writer.commit(STAMP)
    chance, told = random.Random(5), 0
    # The stored documents: their lengths are checked. Changed postings can send tantivy through
    # billions of positions, which no caller can stop.
    files = sorted(p for p in (tmp_path / FOLDER).iterdir() if p.suffix == ".store")
    for _ in range(30):
        file = chance.choice(files)
        whole = file.read_bytes()
        hurt = bytearray(whole)
        hurt[chance.randrange(len(hurt))] ^= 0xFF
        overwrite(file, bytes(hurt))
        reader = open_sink_reader(str(tmp_path), STAMP)
        try:
            if isinstance(reader, str):
                told += 1
            else:
                reader.find(["alpha"], 50)
        except DamagedJournal:
            told += 1
        overwrite(file, whole)
    assert told > 0
    assert len(readable(tmp_path).find(["f"], 999)) == 400


def test_a_folder_that_holds_something_else_is_replaced(tmp_path: Path) -> None:
    folder = tmp_path / FOLDER
    folder.mkdir()
    (folder / "theirs").write_text("x")
    assert open_sink_reader(str(tmp_path), STAMP) == "absent"
    filled(tmp_path)
    assert not (folder / "theirs").exists()


def test_a_second_pen_is_told_that_the_first_is_at_work(tmp_path: Path) -> None:
    with open_sink_writer(str(tmp_path)) as first, open_sink_writer(str(tmp_path)) as second:
        first.replace([DOC])
        first.commit(STAMP)
        late = open_sink_writer(str(tmp_path))
        with pytest.raises(WriterBusy):
            late.replace([DOC])
        assert second.stamp() == ""


def test_a_killed_writer_leaves_the_last_commit_and_no_lock(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys\n"
        "from tests.heimdall.sinks.test_tantivy_sink import DOC, STAMP, open_sink_writer\n"
        "writer = open_sink_writer(sys.argv[1])\n"
        "writer.replace([DOC]); writer.commit(STAMP)\n"
        "writer.replace([DOC._replace(path='/p/killed', content='killed')])\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    reader = readable(tmp_path)
    assert len(reader.find(["alpha"], 9)) == 1
    assert reader.find(["killed"], 9) == []
    with open_sink_writer(str(tmp_path)) as writer:
        assert writer.stamp() == STAMP
        writer.replace([DOC])
        writer.commit("1:uuid:2")


_AS_NOBODY = """
import hashlib, os, random, shutil, sys, tempfile
from heimdall.sinks.tantivy import open_sink_reader
os.setuid(65534)
reader = open_sink_reader(sys.argv[1], sys.argv[2])
print(reader if isinstance(reader, str) else len(reader.find(["alpha"], 9)))
"""


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody who may not write")
def test_a_sink_that_may_not_be_written_can_be_read(tmp_path: Path) -> None:
    home = Path("/tmp") / f"heimdall-sink-read-only-{os.getpid()}"
    try:
        folder = filled(home)
        home.chmod(0o755)
        folder.chmod(0o555)
        for path in folder.iterdir():
            path.chmod(0o444)
        result = subprocess.run(
            [sys.executable, "-c", _AS_NOBODY, str(home), STAMP],
            capture_output=True,
            text=True,
            check=True,
        )
        assert result.stdout == "1\n"
    finally:
        shutil.rmtree(home)
