"""Edits: shown as they will be, carried out whole or not at all."""

import os
import subprocess
from pathlib import Path

import pytest

from heimdall import edits
from heimdall.edits import Edit
from heimdall.errors import IoRefused


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


def test_edits_are_carried_out_and_leave_nothing_else(tmp_path: Path) -> None:
    old, gone, new = tmp_path / "old", tmp_path / "gone", tmp_path / "sub" / "new"
    old.write_bytes(b"1\n")
    old.chmod(0o776)
    gone.write_bytes(b"2")
    edits.apply(
        [
            Edit(str(old), b"1\n", b"\xff", 0o776),
            Edit(str(gone), b"2", None),
            Edit(str(new), None, b"3", 0o755),
        ]
    )
    assert (names(tmp_path), names(tmp_path / "sub")) == (["old", "sub"], ["new"])
    assert (old.read_bytes(), old.stat().st_mode & 0o777) == (b"\xff", 0o776)
    umask = os.umask(0)
    os.umask(umask)
    assert (new.read_bytes(), new.stat().st_mode & 0o777) == (b"3", 0o755 & ~umask)


@pytest.mark.parametrize("now", [b"changed", None, "link", "directory"])
def test_a_file_that_is_no_longer_what_was_planned_on_is_left_alone(
    tmp_path: Path, now: bytes | str | None
) -> None:
    file = tmp_path / "file"
    (tmp_path / "target").write_bytes(b"old")
    if isinstance(now, bytes):
        file.write_bytes(now)
    elif now == "link":
        file.symlink_to("target")
    elif now == "directory":
        file.mkdir()
    before = names(tmp_path)
    for new in (b"new", None):
        with pytest.raises(IoRefused):
            edits.apply([Edit(str(file), b"old", new)])
    assert names(tmp_path) == before
    assert (tmp_path / "target").read_bytes() == b"old"
    assert now is not None or not file.exists()


def test_a_file_that_came_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"")
    with pytest.raises(IoRefused):
        edits.apply([Edit(str(file), None, b"new")])
    assert file.read_bytes() == b""


def test_who_holds_the_lock_is_waited_for_by_nobody_and_keeps_it(tmp_path: Path) -> None:
    file, lock = tmp_path / "config", tmp_path / "config.lock"
    file.write_bytes(b"old")
    lock.write_bytes(b"git's")
    with pytest.raises(IoRefused) as refused:
        edits.apply([Edit(str(file), b"old", b"new")])
    assert refused.value.path == str(lock)
    assert (file.read_bytes(), lock.read_bytes()) == (b"old", b"git's")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"a\nb\n", b"a\nx\r\nb\n"),
        (b"a", b"a\nx"),
        (b"a\x0cb\xe2\x80\xa8c\n", b"a\x0cb\xe2\x80\xa8d\n"),
        (None, b"#!/bin/sh\nx\n"),
        (b"\xff\n", None),
    ],
)
def test_a_shown_diff_is_what_patch_would_do(
    tmp_path: Path, old: bytes | None, new: bytes | None
) -> None:
    if old is not None:
        (tmp_path / "file").write_bytes(old)
    text = os.fsencode(edits.diff([Edit("a/file", old, new)]).replace(" a/file", " b/file", 1))
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    apply = ["git", "-C", str(tmp_path), "apply", "--whitespace=nowarn", "-"]
    subprocess.run(apply, input=text, check=True)
    assert (new is None) is not (tmp_path / "file").exists()
    assert new is None or (tmp_path / "file").read_bytes() == new
