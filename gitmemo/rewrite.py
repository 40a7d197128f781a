"""History without certain entry files: which commits stay, change or go, decided purely.

The entry file is the unit. It is taken out of every tree that ever held it, so whatever a stranger
did to it (edited it in place, added it on both sides of a merge) goes with it. Then:

- a commit that did nothing else than touch such files is left out;
- one that had put the entry in the place of another becomes a withdrawal of that other one, with a
  neutral reason: left out, it would bring the older entry back to life;
- a replacement of a purged entry replaces what that one had replaced, so that readers of the older
  entry still find the newest; where that one had replaced nothing it becomes an addition;
- any other keeps author, committer, times and message, but for the hashes in `GitMemo-Replaces`
  and `GitMemo-Deletes`. Signatures go: they would be wrong.

Commits are handled as bytes, so that odd encodings, time zones and headers survive. Reading and
storing objects are the caller's, by `read` and `put`. Tests: tests/gitmemo/test_purge.py.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from gitmemo import trailers
from gitmemo.idmap import DROPPED, MOVED, PURGED, Moved
from gitmemo.model import Act, EntryId

REASON = "The entry that had replaced it was purged."
NEUTRAL = b"purge: what this commit said was removed\n"
TREE_ITEM = re.compile(rb"(\d+) ([^\0]+)\0(.{20})", re.DOTALL)
FOLDER = b"40000"
_IDS = re.compile(rb"^(GitMemo-(?:Replaces|Deletes): ?)([0-9a-f]{40})(?=\s*$)", re.MULTILINE)
_REPLACES = re.compile(rb"^GitMemo-Replaces:[^\n]*\n?", re.MULTILINE)
_TYPE = re.compile(rb"^(GitMemo-Type: ?)replace\b", re.MULTILINE)
_UNSIGNED = (b"gpgsig", b"mergetag")


class Commit(NamedTuple):
    """A commit object taken apart; `headers` are its lines after the parents, signatures left
    out."""

    id: str
    tree: str
    parents: tuple[str, ...]
    headers: bytes
    message: bytes


class Rewritten(NamedTuple):
    """What the rewriting came to: `moved` has each commit that is not what it was; `blobs` are the
    contents of the purged files, `withdrawn` the entries (old ids) that are now withdrawn."""

    moved: dict[str, Moved]
    blobs: frozenset[str]
    withdrawn: tuple[EntryId, ...]

    def now(self, commit: str) -> str | None:
        """What `commit` is now; None where nothing is left of it."""
        moved = self.moved.get(commit)
        return commit if moved is None else moved.new

    def count(self, state: str) -> int:
        """How many commits are in this state."""
        return sum(one.state == state for one in self.moved.values())


class Stripped(NamedTuple):
    """A tree without the purged files: its hash (None where nothing is left), and which of them it
    had, path to blob."""

    tree: str | None
    had: dict[str, str]


def parse(commit: str, data: bytes) -> Commit:
    """A commit object's bytes taken apart."""
    head, _, message = data.partition(b"\n\n")
    tree, parents, headers, skipping = "", [], [], False
    for line in head.rstrip(b"\n").split(b"\n"):
        name, _, value = line.partition(b" ")
        if not line.startswith(b" "):  # a line that starts with a blank goes on with a header
            skipping = name.startswith(_UNSIGNED)
        if name == b"tree":
            tree = value.decode()
        elif name == b"parent":
            parents.append(value.decode())
        elif not skipping:
            headers.append(line)
    return Commit(commit, tree, tuple(parents), b"\n".join(headers), message)


def render(tree: str, parents: Iterable[str], headers: bytes, message: bytes) -> bytes:
    """The bytes of a commit object."""
    lines = [f"tree {tree}\n".encode(), *(f"parent {parent}\n".encode() for parent in parents)]
    return b"".join((*lines, headers, b"\n\n", message))


class Rewriting:
    """One walk over history, parents first; `files` are the paths to be taken out, `names` says
    which file an entry is, for the words of a withdrawal."""

    def __init__(
        self,
        *,
        files: frozenset[str],
        names: Mapping[EntryId, str],
        date: str,
        read: Callable[[str], bytes],
        put: Callable[[str, bytes], str],
    ) -> None:
        self._files = files
        self._names = names
        self._date = date
        self._read = read
        self._put = put
        self._trees: dict[tuple[str, str], Stripped] = {}
        self._stripped: dict[str, Stripped] = {}  # by commit
        self._moved: dict[str, Moved] = {}
        self._victims: dict[str, str | None] = {}  # to the entry that each had replaced
        self._withdrawn: list[EntryId] = []

    def run(self, commits: Iterable[Commit]) -> Rewritten:
        """Rewrite `commits`, every one after its parents."""
        for commit in commits:
            self._stripped[commit.id] = self._strip(commit.tree, "")
            moved = self._decide(commit)
            if moved is not None:
                self._moved[commit.id] = moved
        blobs = {blob for one in self._stripped.values() for blob in one.had.values()}
        return Rewritten(self._moved, frozenset(blobs), tuple(self._withdrawn))

    def _decide(self, commit: Commit) -> Moved | None:
        here = self._stripped[commit.id]
        before = [self._stripped[parent] for parent in commit.parents]
        parents = self._parents(commit)
        said = trailers.parse(commit.message.decode("utf-8", "replace"))
        victim = any(all(path not in one.had for one in before) for path in here.had)
        if victim:
            old = said.replaces if said.type is Act.REPLACE else None
            self._victims[commit.id] = self._victims.get(old, old) if old else None
        gone = PURGED if victim else DROPPED
        if len(before) <= 1:
            old_tree = before[0] if before else Stripped(None, {})
            if here.had != old_tree.had and here.tree == old_tree.tree:
                stand_in = parents[0] if parents else None
                return self._gone(commit, stand_in, gone)
        message = self._message(commit, said, victim)
        tree = here.tree or self._put("tree", b"")
        if (tree, parents, message) == (commit.tree, commit.parents, commit.message):
            return None
        new = self._put("commit", render(tree, parents, commit.headers, message))
        if victim:
            return self._gone(commit, new, gone)
        return Moved(EntryId(commit.id), EntryId(new), MOVED)

    def _gone(self, commit: Commit, stand_in: str | None, state: str) -> Moved:
        new = None if stand_in is None else EntryId(stand_in)
        return Moved(EntryId(commit.id), new, state, self._date)

    def _parents(self, commit: Commit) -> tuple[str, ...]:
        now = (self._now(parent) for parent in commit.parents)
        return tuple(dict.fromkeys(parent for parent in now if parent is not None))

    def _now(self, commit: str) -> str | None:
        moved = self._moved.get(commit)
        return commit if moved is None else moved.new

    def _message(self, commit: Commit, said: trailers.Message, victim: bool) -> bytes:
        if victim:
            old = said.replaces if said.type is Act.REPLACE else None
            if old is None or old in self._victims or len(commit.parents) != 1:
                return NEUTRAL
            self._withdrawn.append(old)
            name = self._names.get(old, "").rpartition("/")[2].removesuffix(".md")
            new = self._now(old) or old
            text = trailers.build_delete(entry_name=name or old, reason=REASON, deletes=new)
            return trailers.tidy(text).encode()
        message = commit.message
        if said.type is Act.DELETE and said.deletes in self._victims:
            return NEUTRAL
        if said.type is Act.REPLACE and said.replaces in self._victims:
            heir = self._victims[said.replaces]
            if heir is None:
                return _TYPE.sub(rb"\1add", _REPLACES.sub(b"", message))
            if heir in self._withdrawn:
                self._withdrawn.remove(EntryId(heir))
            message = _REPLACES.sub(f"GitMemo-Replaces: {heir}\n".encode(), message)
        return _IDS.sub(self._renamed, message)

    def _renamed(self, found: re.Match[bytes]) -> bytes:
        new = self._now(found[2].decode())
        return found[0] if new is None else found[1] + new.encode()

    def _strip(self, tree: str, prefix: str) -> Stripped:
        key = (tree, prefix)
        if key not in self._trees:
            self._trees[key] = self._stripped_tree(tree, prefix)
        return self._trees[key]

    def _stripped_tree(self, tree: str, prefix: str) -> Stripped:
        """Only folders on the way to a purged file are opened."""
        if not any(path.startswith(prefix) for path in self._files):
            return Stripped(tree, {})
        kept: list[bytes] = []
        had: dict[str, str] = {}
        data = self._read(tree)
        for item in TREE_ITEM.finditer(data):
            path = prefix + item[2].decode("utf-8", "surrogateescape")
            oid = item[3].hex()
            if item[1] == FOLDER:
                inner = self._strip(oid, f"{path}/")
                had |= inner.had
                if inner.tree is not None and inner.tree != oid:
                    kept.append(b"%b %b\0%b" % (item[1], item[2], bytes.fromhex(inner.tree)))
                elif inner.tree is not None:
                    kept.append(item[0])
            elif path in self._files:
                had[path] = oid
            else:
                kept.append(item[0])
        if not had:
            return Stripped(tree, {})
        return Stripped(self._put("tree", b"".join(kept)) if kept else None, had)
