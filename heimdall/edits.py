"""Changes of files that belong to somebody else: planned, shown as a diff, carried out.

A plan is made from what was read, and nothing here decides what a file should say. Carried out,
each file is replaced in one rename, keeps its mode, and is left alone where it is no longer what
was planned on. The new bytes are written to `<file>.lock`, which nobody may have made before: that
keeps two of us apart, and for git's own configuration it is git's own rule. Held by
tests/heimdall/test_edits.py.
"""

import contextlib
import difflib
import os
from collections.abc import Sequence

from gitmemo.values import NamedTuple
from heimdall.errors import IoRefused


class Edit(NamedTuple):
    """One file: `old` is what was read (None: there is none), `new` what it becomes (None: it is
    removed), `mode` the permissions of the new file."""

    path: str
    old: bytes | None
    new: bytes | None
    mode: int = 0o644


def diff(edits: Sequence[Edit]) -> str:
    """The edits as a unified diff; bytes that are no text carry surrogates."""
    return "".join(_one(edit) for edit in edits)


def apply(edits: Sequence[Edit]) -> None:
    """Carry the edits out in their order. Raises `IoRefused` at the first that cannot be; those
    before it stand, and planning again goes on from there."""
    for edit in edits:
        try:
            _carry_out(edit)
        except OSError as error:
            raise IoRefused(error.filename or edit.path, error.errno or 0, "edit") from error


def _one(edit: Edit) -> str:
    old, new = (_lines(data) for data in (edit.old, edit.new))
    before = "/dev/null" if edit.old is None else edit.path
    after = "/dev/null" if edit.new is None else edit.path
    lines = difflib.unified_diff(old, new, before, after)
    # A last line without its end would run into what follows.
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def _lines(data: bytes | None) -> list[str]:
    """The lines with their ends; a line ends at a newline and at nothing else."""
    parts = (data or b"").split(b"\n")
    ended = [part + b"\n" for part in parts[:-1]]
    return [os.fsdecode(line) for line in (*ended, *parts[-1:]) if line]


def _carry_out(edit: Edit) -> None:
    os.makedirs(os.path.dirname(edit.path), exist_ok=True)
    lock = edit.path + ".lock"
    # A new file gets what the umask leaves of its mode, an old one keeps its own.
    handle = os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, edit.mode)
    try:
        with open(handle, "wb") as file:
            file.write(edit.new or b"")
            if edit.old is not None:
                os.fchmod(handle, edit.mode)
        _expect(edit.path, edit.old)
        if edit.new is None:
            os.unlink(edit.path)
        else:
            os.replace(lock, edit.path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(lock)


def _expect(path: str, old: bytes | None) -> None:
    """Raise where the file is not what was planned on."""
    now = None
    with contextlib.suppress(FileNotFoundError):
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(handle, "rb") as file:
            now = file.read()
    if now != old:
        raise IoRefused(path, 0, "it was changed in this moment by somebody else")
