"""What is opened by name is a file of a decent size, or an error at once."""

import os
from pathlib import Path

import pytest

from gitmemo import gate


def test_a_file_is_read_and_a_link_to_it_as_well(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"text")
    (tmp_path / "link").symlink_to("file")
    assert gate.read(str(tmp_path / "file")) == gate.read(str(tmp_path / "link")) == b"text"


@pytest.mark.parametrize("what", ["fifo", "folder", "loop", "link-to-fifo", "device", "large"])
def test_whatever_else_is_there_is_an_error_at_once(tmp_path: Path, what: str) -> None:
    path = tmp_path / "it"
    if what == "fifo":
        os.mkfifo(path)
    elif what == "folder":
        path.mkdir()
    elif what == "loop":
        path.symlink_to("it")
    elif what == "link-to-fifo":
        os.mkfifo(tmp_path / "pipe")
        path.symlink_to("pipe")
    elif what == "device":
        path.symlink_to("/dev/zero")
    else:
        path.touch()
        os.truncate(path, gate.TEXT + 1)
    with pytest.raises(OSError, match="it"):
        gate.read(str(path))


def test_nothing_is_added_where_somebody_would_have_to_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="pipe"):
        gate.added(str(tmp_path / "pipe"))
    with gate.added(str(tmp_path / "new")) as file:
        file.write(b"line\n")
    with gate.added(str(tmp_path / "new")) as file:
        file.write(b"more\n")
    assert (tmp_path / "new").read_bytes() == b"line\nmore\n"
