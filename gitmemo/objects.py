"""All objects and refs of a repository: for a purge, which must know and touch every one of them.

Beside `repo` the other room that knows pygit2. `repo` reads and writes one commit at a time; here
the whole store of objects is walked, packed anew and cleared of what nothing reaches. Never here:
which objects those are to be. Tests: tests/gitmemo/test_purge.py, with git as the oracle.
"""

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress

import pygit2
from pygit2.enums import ObjectType, Option, SortMode

from gitmemo import opening, rewrite
from gitmemo.repo import MAP_FILE, refusals

_ASIDE = "gitmemo-pack"
_LINK = b"160000"  # a commit of another repository
_KINDS = {"blob": ObjectType.BLOB, "tree": ObjectType.TREE, "commit": ObjectType.COMMIT}
_NAMES = {kind: name for name, kind in _KINDS.items()}
LOGS = "logs"
LEFTOVERS = (
    LOGS,
    "ORIG_HEAD",
    "FETCH_HEAD",
    "AUTO_MERGE",
    "COMMIT_EDITMSG",
    "MERGE_MSG",
    "SQUASH_MSG",
    "TAG_EDITMSG",
    "NOTES_EDITMSG",
    "GITGUI_MSG",
    "gc.log",
    "lost-found",
)
"""What git keeps of past work beside objects and refs: all of it is a comfort, and any of it may
quote or hold a purged text."""

UNFINISHED = (
    "MERGE_HEAD",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "REBASE_HEAD",
    "BISECT_LOG",
    "rebase-merge",
    "rebase-apply",
    "sequencer",
)
"""What git leaves while a person is in the middle of something."""


class Objects:
    """The objects and refs of one git directory, as they are when it is opened."""

    def __init__(self, git_dir: str) -> None:
        self.git_dir = git_dir
        with refusals(git_dir):
            self._git = opening.opened(git_dir, git_dir)
            self._pen = pygit2.Repository(git_dir)

    # -- reading ---------------------------------------------------------------------------------

    def refs(self) -> dict[str, str]:
        """Every ref but HEAD, and what it names, whatever kind of object that is."""
        found: dict[str, str] = {}
        for name in self._git.listall_references():
            target = self._git.lookup_reference(name).resolve().target
            found[name] = str(target)
        return found

    def remotes(self) -> tuple[str, ...]:
        """The names of the repositories that this one fetches from or pushes to."""
        return tuple(name for name in self._git.remotes.names() if name)

    def kind(self, oid: str) -> str:
        """`commit`, `tree`, `blob` or `tag`."""
        return _NAMES.get(ObjectType(self._git.read(oid)[0]), "tag")

    def read(self, oid: str) -> bytes:
        """The bytes of an object."""
        data: bytes = self._git.read(oid)[1]
        return data

    def commits(self, tips: Iterable[str]) -> Iterator[rewrite.Commit]:
        """The commits that `tips` reach, every one after its parents."""
        walker = self._git.walk(None, SortMode.TOPOLOGICAL | SortMode.REVERSE)
        for tip in tips:
            walker.push(tip)
        for commit in walker:
            yield rewrite.parse(str(commit.id), self.read(str(commit.id)))

    def reach(self, tips: Iterable[str], known: Iterable[str] = ()) -> set[str]:
        """Every object that `tips` reach, themselves included, those in `known` left out."""
        waiting, met, outside = list(tips), set[str](), frozenset(known)
        while waiting:
            oid = waiting.pop()
            if oid in met or oid in outside:
                continue
            met.add(oid)
            type_, data = self._git.read(oid)
            kind = ObjectType(type_)
            if kind is ObjectType.COMMIT:
                commit = rewrite.parse(oid, data)
                waiting += [commit.tree, *commit.parents]
            elif kind is ObjectType.TAG:
                waiting.append(data[len(b"object ") : data.index(b"\n")].decode())
            elif kind is ObjectType.TREE:
                for mode, _, raw in rewrite.TREE_ITEM.findall(data):
                    if mode == rewrite.FOLDER:
                        waiting.append(raw.hex())
                    elif mode != _LINK:
                        met.add(raw.hex())
        return met

    def every(self) -> set[str]:
        """Every object that lies here, reached or not."""
        return {str(oid) for oid in self._git}

    # -- writing ---------------------------------------------------------------------------------

    def put(self, kind: str, data: bytes) -> str:
        """Store an object; its hash."""
        return str(self._pen.write(_KINDS[kind], data))

    def put_map(self, text: str, *, who: bytes) -> str:
        """Store the map of ids as a commit of its own, whose author line is `who`; its hash."""
        blob = self.put("blob", text.encode())
        tree = self.put("tree", b"100644 %b\0%b" % (MAP_FILE.encode(), bytes.fromhex(blob)))
        headers = b"author %b\ncommitter %b" % (who, who)
        return self.put("commit", rewrite.render(tree, (), headers, b"map of renamed ids\n"))

    def point(self, name: str, oid: str | None) -> None:
        """Make the ref `name` name `oid`; with None, remove it."""
        if oid is not None:
            self._git.references.create(name, oid, force=True)
        elif name in self._git.references:
            self._git.references.delete(name)

    def pack(self, oids: Iterable[str]) -> str:
        """Write `oids` into one new pack, down to the disk; its name."""
        aside = os.path.join(self.git_dir, _ASIDE)
        shutil.rmtree(aside, ignore_errors=True)
        os.mkdir(aside)
        builder = pygit2.PackBuilder(self._git)
        for oid in sorted(oids):
            builder.add(pygit2.Oid(hex=oid))
        pygit2.option(Option.ENABLE_FSYNC_GITDIR, True)
        try:
            builder.write(aside)
        finally:
            pygit2.option(Option.ENABLE_FSYNC_GITDIR, False)
        (name,) = (one.removesuffix(".pack") for one in os.listdir(aside) if one.endswith(".pack"))
        folder = os.path.join(self.git_dir, "objects", "pack")
        os.makedirs(folder, exist_ok=True)
        for suffix in (
            ".pack",
            ".idx",
        ):  # a pack counts from the moment at which its index is there
            os.replace(os.path.join(aside, name + suffix), os.path.join(folder, name + suffix))
        os.rmdir(aside)
        return name

    def has_pack(self, pack: str) -> bool:
        """Whether `pack` is there, whole."""
        return os.path.isfile(os.path.join(self.git_dir, "objects", "pack", f"{pack}.idx"))

    def keep(self, pack: str) -> None:
        """Remove every object that does not lie in `pack`, and every list of objects: git makes
        them again where it wants them."""
        shutil.rmtree(os.path.join(self.git_dir, _ASIDE), ignore_errors=True)
        objects = os.path.join(self.git_dir, "objects")
        for name in os.listdir(objects):
            path = os.path.join(objects, name)
            if name == "pack":
                for one in os.listdir(path):
                    if one not in (f"{pack}.pack", f"{pack}.idx"):
                        _remove(os.path.join(path, one))
            else:
                _remove(path)
        # Where git looks to know a repository by.
        os.makedirs(os.path.join(objects, "info"), exist_ok=True)

    def forget(self) -> None:
        """Remove what git noted of past work."""
        for name in LEFTOVERS:
            _remove(os.path.join(self.git_dir, name))


def obstacle(git_dir: str) -> str | None:
    """Why history here cannot be rewritten for good: other places share its objects or its work."""
    there = os.path.join
    if _lists(there(git_dir, "worktrees")):
        return "worktrees"
    if os.path.lexists(there(git_dir, "objects", "info", "alternates")):
        return "alternates"
    if os.path.lexists(there(git_dir, "info", "grafts")):
        return "grafts"
    if any(name.endswith(".promisor") for name in _lists(there(git_dir, "objects", "pack"))):
        return "partial"
    if any(os.path.lexists(there(git_dir, name)) for name in UNFINISHED):
        return "unfinished"
    return None


def _lists(folder: str) -> list[str]:
    with suppress(FileNotFoundError, NotADirectoryError):
        return os.listdir(folder)
    return []


def _remove(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        with suppress(FileNotFoundError):
            os.unlink(path)
