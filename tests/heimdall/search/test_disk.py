"""The gate before every byte that a verdict rests on."""

import hashlib
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from heimdall.search import disk
from heimdall.search.disk import look, text_of


def test_a_regular_file_is_read_and_hashed(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"hello")
    seen = look(str(file))
    assert seen == (True, "", hashlib.sha256(b"hello").digest(), b"hello", 5)


def test_nothing_is_gone(tmp_path: Path) -> None:
    assert look(str(tmp_path / "a")).there is False


def test_below_a_file_nothing_can_be(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("")
    assert look(str(tmp_path / "a" / "b")).there is False


def test_a_name_with_nul_is_gone() -> None:
    assert look("/a\0b").there is False


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert look(str(tmp_path / "b")) == (True, "link", None, None, 0)


def test_a_link_to_itself_is_a_link(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "a")
    assert look(str(tmp_path / "a")).why == "link"


def test_a_directory_is_something_else(tmp_path: Path) -> None:
    assert look(str(tmp_path)).why == "directory"


def test_a_fifo_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a")
    assert look(str(tmp_path / "a")).why == "fifo"


def test_a_socket_is_something_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("a")
        assert look(str(tmp_path / "a")).why == "socket"


def test_behind_a_dangling_link_nobody_can_see(tmp_path: Path) -> None:
    (tmp_path / "data").symlink_to(tmp_path / "unmounted")
    seen = look(str(tmp_path / "data" / "deep" / "a"))
    assert seen.there is None


def test_a_file_beyond_the_cap_is_hashed_and_not_kept(tmp_path: Path) -> None:
    data = b"x" * (disk.KEPT + 1)
    (tmp_path / "a").write_bytes(data)
    seen = look(str(tmp_path / "a"))
    assert (seen.digest, seen.data) == (hashlib.sha256(data).digest(), None)


def test_a_larger_file_than_was_asked_for_is_only_there(tmp_path: Path) -> None:
    with (tmp_path / "a").open("wb") as file:
        file.truncate(300 * 1024 * 1024)
    assert look(str(tmp_path / "a"), most=1000) == (True, "", None, None, 300 * 1024 * 1024)


def test_a_forbidden_directory_is_unreachable_not_gone(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "a").write_text("x")
    inner.chmod(0)
    for folder in (tmp_path, *tmp_path.parents[:3]):
        folder.chmod(0o755)
    program = (
        "import os, sys; from heimdall.search.disk import look;"
        "os.getuid() or os.setuid(65534); print(look(sys.argv[1])[:2])"
    )
    try:
        done = subprocess.run(
            [sys.executable, "-c", program, str(inner / "a")],
            capture_output=True,
            text=True,
            check=False,
            cwd=Path(__file__).parents[3],
        )
    finally:
        inner.chmod(0o755)
    assert done.stdout.strip() == "(None, 'EACCES')", done.stderr


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"abc", "abc"),
        ("数".encode(), "数"),
        ("a数".encode("utf-16"), "a数"),
        (b"a\0b", None),
        (b"a\xffb", "a\ufffdb"),
    ],
)
def test_content_is_text_or_none(data: bytes, text: str | None) -> None:
    assert text_of(data) == text
