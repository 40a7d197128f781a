"""The gate before every read, on real files, pipes and links."""

import os
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import pytest

from heimdall.disk import stat_of
from heimdall.extract import read
from heimdall.extract.read import content, extract, unparsed
from heimdall.model import Depth, Presence

NOBODY = 65534


def test_a_regular_file_gives_its_digest_its_stat_and_its_facts(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_bytes(b"def f(): pass\n")
    found = extract(str(path), Depth.GRAPH)
    status = path.stat()
    assert found.digest == sha256(b"def f(): pass\n").digest()
    assert found.observed.stat == stat_of(status)
    assert found.observed.reason == ""
    assert found.facts is not None
    assert [node.key for node in found.facts.nodes] == ["", "f"]
    assert found.doc is not None
    assert [symbol.key for symbol in found.doc.symbols] == ["f"]


def test_at_depth_path_nothing_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_bytes(b"def f(): pass\n")
    found = extract(str(path), Depth.PATH)
    assert (found.digest, found.facts, found.doc) == (None, None, None)
    assert found.observed.presence is Presence.PRESENT


def special(folder: Path, what: str) -> Path:
    path = folder / "x.py"
    if what == "fifo":
        os.mkfifo(path)
    elif what == "directory":
        path.mkdir()
    elif what == "socket":
        with socket.socket(socket.AF_UNIX) as server:
            os.chdir(folder)
            server.bind("x.py")
    elif what == "link to a file":
        (folder / "target.py").write_bytes(b"x = 1\n")
        path.symlink_to("target.py")
    elif what == "link to itself":
        path.symlink_to("x.py")
    elif what == "link to nothing":
        path.symlink_to("nowhere")
    return path


@pytest.mark.parametrize(
    ("what", "reason"),
    [
        ("fifo", "fifo"),
        ("directory", "directory"),
        ("socket", "socket"),
        ("link to a file", "link"),
        ("link to itself", "link"),
        ("link to nothing", "link"),
    ],
)
def test_what_is_no_regular_file_is_named_and_never_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str, reason: str
) -> None:
    monkeypatch.chdir(tmp_path)
    found = extract(str(special(tmp_path, what)), Depth.GRAPH)
    assert (found.observed.presence, found.observed.reason) == (Presence.PRESENT, reason)
    assert (found.digest, found.facts, found.doc) == (None, None, None)


def test_a_device_is_not_read() -> None:
    assert extract("/dev/zero", Depth.GRAPH).observed.reason == "device"


@pytest.mark.parametrize("name", ["absent.py", "file.py/below.py", "n" * 300 + ".py", "nul\0.py"])
def test_what_is_not_there_is_gone(tmp_path: Path, name: str) -> None:
    (tmp_path / "file.py").write_bytes(b"x = 1\n")
    found = extract(f"{tmp_path}/{name}", Depth.GRAPH)
    assert (found.observed.presence, found.observed.stat) == (Presence.GONE, None)


def as_nobody(path: str) -> str:
    """The presence and reason that a process without rights sees, told through a pipe."""
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        observed = extract(path, Depth.GRAPH).observed
        os.write(into, f"{observed.presence} {observed.reason}".encode())
        os._exit(0)
    os.close(into)
    os.waitpid(child, 0)
    with os.fdopen(out) as file:
        return file.read()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give its rights away")
def test_without_permission_a_path_is_unreadable_and_not_gone() -> None:
    # Not under tmp_path: its parents are closed to others, which would be another test.
    folder = Path("/tmp") / f"heimdall-permission-{os.getpid()}"
    closed, inside = folder / "closed.py", folder / "closed" / "x.py"
    inside.parent.mkdir(parents=True)
    try:
        folder.chmod(0o755)
        for path in (closed, inside):
            path.write_bytes(b"x = 1\n")
        closed.chmod(0)
        inside.parent.chmod(0)
        assert as_nobody(str(closed)) == "unreadable unreadable:EACCES"
        assert as_nobody(str(inside)) == "unreadable unreadable:EACCES"
    finally:
        inside.parent.chmod(0o755)
        for path in (closed, inside):
            path.unlink()
        inside.parent.rmdir()
        folder.rmdir()


@contextmanager
def growing(path: Path) -> Iterator[None]:
    """Someone who writes into `path` all the time."""
    stop = threading.Event()
    started = threading.Event()

    def write() -> None:
        with path.open("ab", buffering=0) as file:
            while not stop.is_set():
                file.write(b"x = 1\n")
                started.set()

    writer = threading.Thread(target=write)
    writer.start()
    started.wait()
    try:
        yield
    finally:
        stop.set()
        writer.join()


def test_a_file_that_grows_while_it_is_read_is_changing_or_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_bytes(b"y = 2\n" * 10_000)
    switch = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with growing(path):
            seen = [content(str(path)) for _ in range(50)]
    finally:
        sys.setswitchinterval(switch)
    for found in seen:
        if found.digest is None:
            assert found.observed.reason == "changing"
        else:
            assert found.data is not None
            assert found.observed.stat is not None
            assert len(found.data) == found.observed.stat.size
            assert sha256(found.data).digest() == found.digest
    assert {found.observed.reason for found in seen} <= {"changing", ""}


def test_a_file_that_grows_at_every_read_is_changing_and_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.py"
    path.write_bytes(b"x = 1\n")
    real, reads = os.read, []

    def read_beside_a_writer(handle: int, length: int) -> bytes:
        reads.append(length)
        with path.open("ab") as file:
            file.write(b"x = 1\n")
        return real(handle, length)

    monkeypatch.setattr(os, "read", read_beside_a_writer)
    found = extract(str(path), Depth.GRAPH)
    assert (found.observed.presence, found.observed.reason) == (Presence.PRESENT, "changing")
    assert (found.digest, found.facts, found.doc) == (None, None, None)
    assert len(reads) < 10


def test_files_that_come_and_go_are_present_gone_or_changing(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    stop = threading.Event()

    def flicker() -> None:
        while not stop.is_set():
            path.write_bytes(b"x = 1\n")
            path.unlink()

    thread = threading.Thread(target=flicker)
    thread.start()
    try:
        seen = [extract(str(path), Depth.GRAPH).observed for _ in range(300)]
    finally:
        stop.set()
        thread.join()
    assert {(one.presence, one.reason) for one in seen} <= {
        (Presence.PRESENT, ""),
        (Presence.PRESENT, "changing"),
        (Presence.GONE, ""),
    }


def test_a_file_of_300_megabytes_is_hashed_in_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = 300 << 20
    path = tmp_path / "x.py"
    with path.open("wb") as file:
        file.truncate(size)
    pieces: list[int] = []
    real = os.read

    def watched(handle: int, length: int) -> bytes:
        pieces.append(length)
        return real(handle, length)

    monkeypatch.setattr(os, "read", watched)
    found = extract(str(path), Depth.GRAPH)
    assert max(pieces) <= 1 << 20
    assert found.facts is not None
    assert (found.facts.depth, found.facts.reason) == (Depth.FILE, "huge")
    hashed = sha256()
    for _ in range(300):
        hashed.update(bytes(1 << 20))
    assert found.digest == hashed.digest()


def test_names_that_are_no_utf8_and_names_with_newlines_are_read(tmp_path: Path) -> None:
    for name in (b"caf\xe9.py", b"two\nlines.py", "日本.py".encode()):
        path = os.path.join(os.fsencode(tmp_path), name)
        with open(path, "wb") as file:
            file.write(b"def f(): pass\n")
        found = extract(os.fsdecode(path), Depth.GRAPH)
        assert found.facts is not None
        assert [node.key for node in found.facts.nodes] == ["", "f"]


def test_what_cannot_be_parsed_in_time_still_has_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_bytes(b"def f(): pass\n")
    found = unparsed(str(path), Depth.GRAPH, "timed-out")
    assert found.digest == sha256(b"def f(): pass\n").digest()
    assert found.facts is not None
    assert (found.facts.depth, found.facts.reason) == (Depth.FILE, "timed-out")
    assert found.facts.language == "python"


def test_prose_is_found_by_its_words_and_a_heap_of_data_is_not(tmp_path: Path) -> None:
    prose, heap = tmp_path / "README.md", tmp_path / "heap.csv"
    prose.write_bytes(b"remarkable words\n")
    heap.write_bytes(b"remarkable,words\n" * (read.FOUND_BY_CONTENT // 16))
    found = [extract(str(path), Depth.GRAPH).doc for path in (prose, heap)]
    assert ["remarkable" in doc.content for doc in found if doc is not None] == [True, False]
