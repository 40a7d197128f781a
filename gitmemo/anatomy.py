"""A store's git repository looked at without trusting it: kinds of files, objects, index, tree.

Beside `repo` the one room that knows pygit2, because it looks at what `repo` would refuse to open
or would believe. `oddities` comes first and opens nothing: libgit2 would wait for ever at a FIFO in
the place of a file, and load a file of any size. Everything else gives facts and judges nothing.
Never here: writing, words, entries. Tests: tests/gitmemo/test_checkup.py, test_checkup_fuzz.py.
"""

import hashlib
import os
import re
import stat
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

import pygit2
from pygit2.enums import ObjectType

from gitmemo import opening
from gitmemo.model import Subject

Progress = Callable[[int, int], None]

_LIMITS = (  # what libgit2 reads whole, and how large an honest one may be
    (re.compile(r"objects/[0-9a-f]{2}/[0-9a-f]{38}"), 256 << 20),
    (re.compile(r"index"), 1 << 30),
    (re.compile(r"packed-refs|info/.*|objects/info/.*"), 64 << 20),
    (re.compile(r"config.*|HEAD|[A-Z_]+HEAD|refs/.*|shallow|commondir"), 1 << 20),
)
_NEEDED = {"HEAD": False, "config": False, "objects": True, "refs": True}
_MAYBE = {"index": False, "packed-refs": False, "refs/heads": True, "refs/heads/main": False}
_OWN = "gitmemo"  # our files in the git directory: each has a check of its own
_ITEM = re.compile(rb"(\d+) ([^\0]+)\0(.{20})", re.DOTALL)
_HEX_FOLDER = re.compile(r"[0-9a-f]{2}")
_LINK, _FOLDER, _COMMIT = 0o120000, 0o40000, 0o160000
_PIECE = 1 << 20
_HUGE = 256 << 20  # no file of a store is; one that is differs from what history holds


class Proof(NamedTuple):
    """Of the objects that the refs lead to: how many there are, which are not there, and which do
    not say what their hash says. `spare` are those that nothing leads to; None where the database
    could not be listed."""

    reachable: int
    missing: tuple[str, ...]
    broken: tuple[str, ...]
    spare: int | None


class File(NamedTuple):
    """A file of a tree or an index."""

    mode: int
    oid: str


def kind(path: str) -> str:
    """absent, file, folder, link or other, without opening it; `refused` where nobody may look."""
    try:
        mode = os.lstat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return "absent"
    except OSError:
        return "refused"
    if stat.S_ISREG(mode):
        return "file"
    return "folder" if stat.S_ISDIR(mode) else "link" if stat.S_ISLNK(mode) else "other"


def small_text(path: str, limit: int = 1 << 20) -> str | None:
    """The text of a regular file, cut at `limit` bytes; None for anything else. Waits for nobody
    and follows no link."""
    try:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with open(os.open(path, flags), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return None
            return file.read(limit).decode("utf-8", "surrogateescape")
    except OSError:
        return None


def oddities(git_dir: str) -> tuple[Subject, ...]:
    """What in `git_dir` git could not open as what it must be, by path and reason. Follows links
    as git would, opens nothing."""
    found = [
        Subject(name, note="absent") for name in _NEEDED if not os.path.lexists(f"{git_dir}/{name}")
    ]
    met: set[tuple[int, int]] = set()
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(os.path.join(git_dir, folder)) as scan:
                names = sorted(item.name for item in scan)
        except OSError as error:
            found.append(Subject(folder or ".", note=_reason(error)))
            continue
        for name in names:
            path = f"{folder}/{name}" if folder else name
            if path.startswith(_OWN) or path == "hooks":
                continue
            try:
                status = os.stat(os.path.join(git_dir, path))
            except OSError as error:
                found.append(Subject(path, note=_reason(error)))
                continue
            here = (status.st_dev, status.st_ino)
            if stat.S_ISDIR(status.st_mode) and here not in met:
                met.add(here)
                waiting.append(path)
            problem = _odd(git_dir, path, status)
            if problem:
                found.append(Subject(path, note=problem))
    return tuple(sorted(found))


def _odd(git_dir: str, path: str, status: os.stat_result) -> str:
    folder, file = stat.S_ISDIR(status.st_mode), stat.S_ISREG(status.st_mode)
    if not folder and not file:
        return "not-a-file"
    wanted = _NEEDED.get(path, _MAYBE.get(path))
    if wanted is not None and wanted is not folder:
        return "not-a-folder" if wanted else "not-a-file"
    if file and not os.access(os.path.join(git_dir, path), os.R_OK):
        return "permission"
    limit = next((limit for pattern, limit in _LIMITS if pattern.fullmatch(path)), None)
    return "huge" if file and limit is not None and status.st_size > limit else ""


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower().replace(" ", "-")


def broken_loose(git_dir: str) -> tuple[Subject, ...]:
    """Loose objects that do not say what their name says, as zlib and SHA-1 see it. The library
    must not be asked: at a loose object that is cut off it reads for ever."""
    objects = os.path.join(git_dir, "objects")
    found = []
    for folder in sorted(os.listdir(objects)):
        where = os.path.join(objects, folder)
        if not _HEX_FOLDER.fullmatch(folder) or not os.path.isdir(where):
            continue
        for name in sorted(os.listdir(where)):
            path = os.path.join(where, name)
            if len(name) == 38 and _inflated_hash(path) != folder + name:
                found.append(Subject(f".git/objects/{folder}/{name}", folder + name))
    return tuple(found)


def _inflated_hash(path: str) -> str | None:
    """SHA-1 of what a compressed file holds; None where it is not whole, or more than that."""
    try:
        data = opening.inflated(path)
    except OSError:
        return None
    return None if data is None else hashlib.sha1(data, usedforsecurity=False).hexdigest()


class Body:
    """The repository of a store, open. Only after `oddities` found none."""

    def __init__(self, mem: str) -> None:
        self._git = opening.opened(mem, os.path.join(mem, ".git"))

    def refs(self) -> dict[str, str]:
        """Every ref with the object that it names; "" where it names none. A file that is no ref
        is passed over by the library, so the folders are looked through as well."""
        found = {}
        listed = ["HEAD", *self._git.listall_references()]
        for name in dict.fromkeys((*listed, *_ref_files(self._git.path))):
            try:
                found[name] = str(self._git.lookup_reference(name).resolve().target)
            except (KeyError, ValueError, pygit2.GitError):
                found[name] = ""
        return found

    def prove(
        self,
        tips: Sequence[str],
        progress: Progress | None = None,
        *,
        known_broken: Collection[str] = (),
    ) -> Proof:
        """Read and hash every object that `tips` lead to but those `known_broken`. The library
        compares hashes while it reads: its strict verification, which is its default and is not
        switched off here."""
        odb = self._git.odb
        met = set(tips)
        waiting = list(met)
        missing, broken = [], []
        done = 0
        while waiting:
            name = waiting.pop()
            if name in known_broken:
                continue
            done += 1
            if progress is not None and done % 500 == 0:
                progress(done, done + len(waiting))
            try:
                form, data = odb.read(pygit2.Oid(hex=name))
                below = _below(int(form), data)
            except KeyError:
                missing.append(name)
                continue
            except (ValueError, OSError, MemoryError, pygit2.GitError):
                broken.append(name)
                continue
            for one in below:
                if one not in met:
                    met.add(one)
                    waiting.append(one)
        spare: int | None = None
        try:
            spare = sum(str(oid) not in met for oid in odb)
        except (ValueError, OSError, pygit2.GitError):
            spare = None
        return Proof(done, tuple(sorted(missing)), tuple(sorted(broken)), spare)

    def tree(self, commit: str) -> dict[str, File]:
        """Every file of `commit` by path."""
        _, data = self._git.odb.read(pygit2.Oid(hex=commit))
        return dict(self._files(data[5:45].decode(), ""))

    def _files(self, tree: str, prefix: str) -> Iterator[tuple[str, File]]:
        _, data = self._git.odb.read(pygit2.Oid(hex=tree))
        for mode, name, oid in _ITEM.findall(data):
            path = prefix + name.decode("utf-8", "surrogateescape")
            if int(mode, 8) == _FOLDER:
                yield from self._files(oid.hex(), f"{path}/")
            else:
                yield path, File(int(mode, 8), oid.hex())

    def staged(self) -> dict[str, File]:
        """What git's index holds; a path that stands there in several stages has mode 0."""
        found: dict[str, File] = {}
        for entry in self._git.index:
            path = os.fsdecode(entry.path)
            clash = path in found
            found[path] = File(0 if clash else int(entry.mode), str(entry.id))
        return found

    def ignores(self, path: str) -> bool:
        """Whether git is told to ignore `path`."""
        return bool(self._git.path_is_ignored(path))

    def minds_modes(self) -> bool:
        """Whether git looks at the executable bit of files."""
        try:
            return bool(self._git.config.get_bool("core.filemode"))
        except KeyError:
            return True


def _ref_files(git_dir: str) -> list[str]:
    """The names of the ref files that lie there one by one."""
    found = []
    for folder, _, names in os.walk(os.path.join(git_dir, "refs")):
        where = os.path.relpath(folder, git_dir)
        found += [os.path.join(where, name) for name in names if not name.endswith(".lock")]
    return found


def _below(form: int, data: bytes) -> list[str]:
    """The objects that an object names."""
    if form == ObjectType.TREE:
        return [oid.hex() for mode, _, oid in _ITEM.findall(data) if int(mode, 8) != _COMMIT]
    if form == ObjectType.COMMIT:
        head = data.partition(b"\n\n")[0].split(b"\n")
        return [line[-40:].decode() for line in head if line.startswith((b"tree ", b"parent "))]
    return [data[7:47].decode()] if form == ObjectType.TAG else []


def present(mem: str) -> tuple[dict[str, os.stat_result], tuple[Subject, ...]]:
    """Every file in the working tree of `mem` by path, and the folders that cannot be looked into.
    Follows no link."""
    found: dict[str, os.stat_result] = {}
    troubles: list[Subject] = []
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(os.path.join(mem, folder)) as scan:
                for item in scan:
                    path = f"{folder}/{item.name}" if folder else item.name
                    if path == ".git":
                        continue
                    if item.is_dir(follow_symlinks=False):
                        waiting.append(path)
                    else:
                        found[path] = item.stat(follow_symlinks=False)
        except OSError as error:
            troubles.append(Subject(folder or ".", note=_reason(error)))
    return found, tuple(troubles)


def blob_hash(mem: str, path: str, status: os.stat_result) -> str | None:
    """The hash that git would give the file as it is, all bytes read; None where it is no file or
    cannot be read."""
    full = os.path.join(mem, path)
    if stat.S_ISLNK(status.st_mode):
        target = os.fsencode(os.readlink(full))
        return hashlib.sha1(b"blob %d\0" % len(target) + target, usedforsecurity=False).hexdigest()
    if not stat.S_ISREG(status.st_mode) or status.st_size > _HUGE:
        return None
    try:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with open(os.open(full, flags), "rb") as file:
            size = os.fstat(file.fileno()).st_size
            said = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
            while piece := file.read(_PIECE):
                said.update(piece)
            return said.hexdigest()
    except OSError:
        return None


def differing(
    mem: str,
    wanted: Mapping[str, File],
    found: Mapping[str, os.stat_result],
    *,
    modes: bool,
) -> Iterator[Subject]:
    """Files of `wanted` that the working tree lacks or holds otherwise."""
    for path, file in wanted.items():
        status = found.get(path)
        if status is None:
            yield Subject(path, note="gone")
        elif blob_hash(mem, path, status) != file.oid or _form(status, modes) != _form_of(
            file, modes
        ):
            yield Subject(path, note="changed")


def _form(status: os.stat_result, modes: bool) -> int:
    if stat.S_ISLNK(status.st_mode):
        return _LINK
    return 0o100755 if modes and status.st_mode & 0o100 else 0o100644


def _form_of(file: File, modes: bool) -> int:
    if file.mode == _LINK:
        return _LINK
    return 0o100755 if modes and file.mode & 0o100 else 0o100644
