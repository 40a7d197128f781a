"""The git repository in `.mem`: with `objects` the only room that knows pygit2.

Commits are read here as plain values and written as objects (blob, trees, commit); what becomes
visible of them is the work of `worktree`. Hooks, signing, templates, filters and the environment of
the person have no place where they could act: libgit2 runs no hooks and signs nothing, its search
paths for configuration are emptied below, and a repository is opened by its path alone.
Tests: tests/gitmemo/test_repo.py, with git itself as the oracle.
"""

import errno
import hashlib
import heapq
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import NamedTuple

import pygit2
from pygit2.enums import (
    ConfigLevel,
    FileMode,
    FileStatus,
    Option,
    RepositoryInitFlag,
)

from gitmemo import gate, opening, packing
from gitmemo.errors import DamagedStore, IoRefused, LegacyStore, OtherFormat, PlainFolder
from gitmemo.model import Change, EntryId, Identity

MAIN = "refs/heads/main"
MAP_REF = "refs/gitmemo/map"
MAP_FILE = "map"
MARKER_FILE = ".gitmemo-format"
MARKER = b"2"
_LOOSE_LIMIT = 4  # loose objects in one of 256 folders: about 1,000 in all, 150 writes
_ASK_S = 10.0
_SPLIT = "split-index"
_MISTOLD = "no longer exists"  # the library's word for an index that it may not open
_IDENT = re.compile(r"(.+) <([^<>]+)> \d+ [-+]\d+")
_TREE_ITEM = re.compile(rb"(\d+) ([^\0]+)\0(.{20})", re.DOTALL)
_FOLDER = b"40000"
_ERRNOS = (
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EROFS,
    errno.EACCES,
    errno.EPERM,
    errno.EIO,
    errno.EFBIG,
    errno.EMFILE,
    errno.ENFILE,
    errno.ENAMETOOLONG,
)

# The store belongs to whoever may read its folder: a container's other uid is no reason to fail.
pygit2.option(Option.SET_OWNER_VALIDATION, False)
for _level in (ConfigLevel.GLOBAL, ConfigLevel.XDG, ConfigLevel.SYSTEM, ConfigLevel.PROGRAMDATA):
    pygit2.option(Option.SET_SEARCH_PATH, _level, "")


class Raw(NamedTuple):
    """A commit as read. `time` in seconds; the paths lie under `entries/`, against the only parent
    (none for a merge, as `git log --name-status` shows)."""

    id: EntryId
    parents: tuple[EntryId, ...]
    time: int
    author: str
    message: str
    added: tuple[str, ...]
    removed: tuple[str, ...]
    modified: tuple[str, ...]


class Repo:
    """One open `.mem`. Not shared between threads without the store's lock."""

    def __init__(self, mem: str) -> None:
        self.mem = mem
        self.git_dir = os.path.join(mem, ".git")
        if not os.path.isdir(self.git_dir):
            raise PlainFolder(mem)
        try:
            self._git = opening.opened(mem, self.git_dir)
        except pygit2.GitError as error:
            raise PlainFolder(mem, str(error)) from error
        if os.path.realpath(self._git.path) != os.path.realpath(self.git_dir):
            raise PlainFolder(mem, "the repository lies elsewhere")

    @cached_property
    def _pen(self) -> pygit2.Repository:
        """The same repository for writing objects; what it reads beforehand is read by `_git`."""
        return pygit2.Repository(self.mem)

    # -- commits ---------------------------------------------------------------------------------

    def tip(self) -> EntryId:
        """The commit of main; DamagedStore where there is none."""
        try:
            target = str(self._git.lookup_reference(MAIN).target)
        except (KeyError, pygit2.GitError) as error:
            raise DamagedStore(self.mem, "no-main") from error
        if not self.has(target):
            raise DamagedStore(self.mem, "no-main")
        return EntryId(target)

    def has(self, commit: str) -> bool:
        """Whether `commit` (40 hex digits) is a commit here."""
        try:
            return _as_commit(self._git.get(commit)) is not None
        except (ValueError, pygit2.GitError):
            return False

    def head_is_main(self) -> bool:
        """Whether HEAD names main, as every engine expects at every moment."""
        return self._git.lookup_reference("HEAD").target == MAIN

    def file(self, commit: str, path: str) -> bytes | None:
        """The bytes of `path` in `commit`; None if it has no such file."""
        tree = self._commit(commit).tree
        blob = tree[path] if path in tree else None  # noqa: SIM401 -- a Tree has no get()
        return blob.data if isinstance(blob, pygit2.Blob) else None

    def refuse_other_format(self, commit: str) -> None:
        """Raise LegacyStore where `commit` has no marker, OtherFormat where it has another one than
        is written here."""
        marker = self.file(commit, MARKER_FILE)
        if marker is None:
            raise LegacyStore(self.mem)
        if marker.strip() != MARKER:
            raise OtherFormat(self.mem, marker.decode("utf-8", "replace").strip())

    def files(self, commit: str) -> frozenset[str]:
        """All paths under `entries/` in `commit`."""
        tree = _entries(self._commit(commit))
        return frozenset() if tree is None else frozenset(_blobs(tree, "entries/"))

    def find(self, prefix: str) -> tuple[EntryId, ...]:
        """The commits whose hash starts with `prefix` (seven digits or more)."""
        try:
            found = _as_commit(self._git[prefix])
        except KeyError:
            return ()
        except ValueError:  # ambiguous, which is rare enough to list them slowly
            hits = sorted(str(oid) for oid in self._git if str(oid).startswith(prefix))
            return tuple(EntryId(hit) for hit in hits if self.has(hit))
        return () if found is None else (EntryId(str(found.id)),)

    def id_map(self) -> str:
        """What purges made of ids, as text; empty where nothing was ever purged."""
        try:
            blob = self._git.revparse_single(f"{MAP_REF}:{MAP_FILE}")
        except (KeyError, ValueError, pygit2.GitError):
            return ""
        return blob.read_raw().decode("utf-8", "replace")

    def is_ancestor(self, commit: str, of: str) -> bool:
        """Whether `commit` (40 hex digits) lies in the history of `of`, itself included."""
        return self.has(commit) and (commit == of or self._git.descendant_of(of, commit))

    def raw(self, commit: str) -> Raw:
        """One commit's facts."""
        return self._raw(self._commit(commit))

    def walk(self, tip: str) -> Iterator[Raw]:
        """Commits that changed `entries/`, as `git log <tip> -- entries/` chooses and orders them:
        newest first, and of a merge that took one side as it was only that side."""
        return map(self._raw, _walk(self._commit(tip), "entries"))

    def since(self, base: str, tip: str) -> list[Raw] | None:
        """The commits after `base` up to `tip`, newest first, where `tip` follows from `base` in
        one straight line; None where it does not."""
        commits: list[pygit2.Commit] = []
        commit = self._commit(tip)
        while str(commit.id) != base:
            if len(commit.parent_ids) != 1:
                return None
            commits.append(commit)
            commit = commit.parents[0]
        return [self._raw(commit) for commit in commits]

    def made_by(self, commit: str) -> list[str]:
        """The objects that came with `commit`: itself, its blobs, the folders on their way. At
        least all that its first parent does not have."""
        found = self._commit(commit)
        parent = found.parents[0] if found.parents else None
        names = [commit]
        _new_items(self._git, None if parent is None else parent.tree_id, found.tree_id, names)
        return names

    def last_touch(self, tip: str, path: str) -> EntryId | None:
        """The commit that `git log -1 <tip> -- <path>` shows."""
        touch = next(_walk(self._commit(tip), path), None)
        return None if touch is None else EntryId(str(touch.id))

    def _commit(self, commit: str) -> pygit2.Commit:
        found = _as_commit(self._git.get(commit))
        if found is None:
            raise DamagedStore(self.mem, f"missing-commit:{commit}")
        return found

    def _raw(self, commit: pygit2.Commit) -> Raw:
        added, removed, modified = _changes(self._git, commit)
        try:
            message = commit.raw_message.decode(commit.message_encoding or "utf-8", "replace")
        except LookupError:  # an encoding that Python does not know
            message = commit.raw_message.decode("utf-8", "replace")
        return Raw(
            EntryId(str(commit.id)),
            tuple(EntryId(str(parent)) for parent in commit.parent_ids),
            commit.commit_time,
            f"{commit.author.name} <{commit.author.email}>",
            message,
            added,
            removed,
            modified,
        )

    # -- index, working tree, objects --------------------------------------------------------------

    def dirt(self) -> tuple[str, ...]:
        """Paths in which index or working tree differ from the last commit, ignored ones left
        out. Looks at every file."""
        with refusals(self.mem):
            opening.refuse_odd_rules(self.mem)
            status = self._git.status(untracked_files="all")
        clean = FileStatus.CURRENT | FileStatus.IGNORED
        return tuple(sorted(path for path, flag in status.items() if flag & ~clean))

    def write_commit(self, change: Change, *, base: str, identity: Identity, now_s: int) -> EntryId:
        """Write the objects of `change` on top of `base`, down to the disk; nothing is visible
        yet."""
        with refusals(self.mem):
            made = [(path, self._pen.create_blob(data)) for path, data in change.add]
            edits: dict[str, pygit2.Oid | None] = dict.fromkeys(change.remove)
            edits.update(made)
            trees: list[pygit2.Oid] = []
            root = self._grown(self._commit(base).tree, edits, trees)
            if root is None:
                raise DamagedStore(self.mem, "nothing-left")
            who = pygit2.Signature(identity.name, identity.email, now_s, 0)
            parents: list[str | pygit2.Oid] = [base]
            commit = self._pen.create_commit(None, who, who, change.message, root, parents)
            # As git does it: the objects before the ref that needs them, files and not folders.
            for oid in (*(oid for _, oid in made), *trees, commit):
                self._sync(str(oid))
            return EntryId(str(commit))

    def _sync(self, name: str) -> None:
        """Bring a loose object down to the disk; one that lies in a pack is there already. One that
        was there before is not written again, and may be broken."""
        path = os.path.join(self.git_dir, "objects", name[:2], name[2:])
        with suppress(FileNotFoundError):
            with gate.opened(path) as file:
                os.fsync(file.fileno())
            data = opening.inflated(path)
            if data is None or hashlib.sha1(data, usedforsecurity=False).hexdigest() != name:
                raise DamagedStore(self.mem, f"broken-object:{name}")

    def _grown(
        self,
        tree: pygit2.Tree | None,
        edits: Mapping[str, pygit2.Oid | None],
        made: list[pygit2.Oid],
    ) -> pygit2.Oid | None:
        """`tree` with `edits` (path to blob, or None to remove); None where nothing is left. Only
        the folders on the way are written, which is why entries lie in dated ones; `made` gets
        them."""
        builder = self._pen.TreeBuilder() if tree is None else self._pen.TreeBuilder(tree.id)
        below: dict[str, dict[str, pygit2.Oid | None]] = {}
        for path, oid in edits.items():
            name, slash, rest = path.partition("/")
            if slash:
                below.setdefault(name, {})[rest] = oid
            elif oid is None:
                builder.remove(name)
            else:
                builder.insert(name, oid, FileMode.BLOB)
        for name, inner in below.items():
            child = tree[name] if tree is not None and name in tree else None
            grown = self._grown(child if isinstance(child, pygit2.Tree) else None, inner, made)
            if grown is not None:
                builder.insert(name, grown, FileMode.TREE)
            elif child is not None:
                builder.remove(name)
        if not len(builder):
            return None
        made.append(builder.write())
        return made[-1]

    def blob_id(self, commit: str, path: str) -> str:
        """The hash of the file `path` of `commit`, which must have it."""
        return str(self._commit(commit).tree[path].id)

    def restage(self, commit: str, paths: Sequence[str]) -> None:
        """Make git's index say about `paths` what `commit` says, by the library: for recovery, and
        for index files that the quick way declines. An index that says so already stays as it is,
        whoever may hold its lock."""
        with refusals(self.mem):
            index = self._git.index
            index.read(True)
            tree = self._commit(commit).tree
            before = len(index)
            changed = False
            for path in paths:
                if path not in tree:
                    if path in index:
                        index.remove(path)
                elif path not in index or index[path].id != tree[path].id:
                    blob = tree[path]
                    index.add(pygit2.IndexEntry(path, blob.id, FileMode(blob.filemode)))
                    changed = True
            if changed or len(index) != before:
                index.write()

    def tidy(self) -> None:
        """Pack loose objects where they have become many, and put packs together where they have;
        a full disk only postpones it."""
        try:
            crowd = len(os.listdir(os.path.join(self.git_dir, "objects", "17")))
        except OSError:
            return
        if crowd >= _LOOSE_LIMIT:
            with suppress(pygit2.GitError, OSError, *packing.UNFIT):
                self._pack()
                self._join()

    def _pack(self) -> None:
        loose = list(_loose(os.path.join(self.git_dir, "objects")))
        self._build_pack(name for name, _ in loose)
        # A reader that misses a loose object looks into the packs again before it calls the
        # object missing.
        for _, path in loose:
            os.unlink(path)

    def _join(self) -> None:
        packing.sweep(self.git_dir)
        packs = packing.packs(self.git_dir)
        chosen = packs[: packing.to_join([pack.size for pack in packs])]
        if not chosen or packing.join(self.git_dir, chosen):
            return
        # An object in two packs, as after a kill between two steps: the slow way leaves one.
        self._build_pack(name for pack in chosen for name in pack.names())
        after = {pack.path for pack in packing.packs(self.git_dir)}
        if after - {pack.path for pack in packs}:
            for pack in chosen:
                packing.remove(pack)

    def _build_pack(self, names: Iterable[str]) -> None:
        """A pack of the objects `names`, on the disk before the first that it replaces goes."""
        builder = pygit2.PackBuilder(self._git)
        for name in names:
            builder.add(pygit2.Oid(hex=name))
        pygit2.option(Option.ENABLE_FSYNC_GITDIR, True)
        try:
            builder.write()
        finally:
            pygit2.option(Option.ENABLE_FSYNC_GITDIR, False)


def git_time(now_s: float) -> int:
    """`now_s` as a time that a commit can carry: from 1970 on, and 32 bits wide, beyond which the
    library starts again from zero."""
    return min(max(int(now_s), 0), 0xFFFFFFFF)


def create(mem: str, change: Change, *, identity: Identity, now_s: int) -> None:
    """Make a repository at `mem`, which must not exist, with `change` as its first commit."""
    with refusals(mem):
        git = blank(mem)
        for path, data in change.add:
            target = os.path.join(mem, path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "xb") as file:
                file.write(data)
            git.index.add(pygit2.IndexEntry(path, git.create_blob(data), FileMode.BLOB))
        git.index.write()
        who = pygit2.Signature(identity.name, identity.email, now_s, 0)
        git.create_commit(MAIN, who, who, change.message, git.index.write_tree(), [])


def blank(mem: str) -> pygit2.Repository:
    """A repository without a commit at `mem`, which must not exist, with the settings of a
    store."""
    flags = RepositoryInitFlag.MKDIR | RepositoryInitFlag.NO_REINIT
    git = pygit2.init_repository(mem, flags=flags, initial_head="main")
    # Other engines run the git program, which reads the person's settings: these of them
    # would change entry files or make every commit fail, the third every write here.
    git.config["core.autocrlf"] = "false"
    git.config["commit.gpgsign"] = "false"
    git.config["core.splitIndex"] = "false"  # an index in two files is unknown to the library
    # An attributes file of the person would do the same by `*.md`; this one is asked first.
    attributes = os.path.join(git.path, "info", "attributes")
    os.makedirs(os.path.dirname(attributes), exist_ok=True)
    with open(attributes, "x", encoding="ascii") as file:
        file.write("* -text -filter -ident -working-tree-encoding\n")
    return git


def ambient_identity(*git_dirs: str | None) -> Identity | None:
    """Whom git's own settings name as the committer in the first of `git_dirs` (None: in no
    repository) that names one; None where nobody is named, or git is not there to be asked.

    Git is asked because only it knows all that may be included from where. It merely prints: what
    it would guess from the machine's name is declined.
    """
    import subprocess  # noqa: PLC0415 # only a writer asks, once

    for git_dir in git_dirs:
        # Named outright, so that no repository of the environment answers in its place.
        where = [] if git_dir is None else [f"--git-dir={git_dir}"]
        command = ["git", *where, "-c", "user.useConfigOnly=true", "var", "GIT_COMMITTER_IDENT"]
        with suppress(OSError, subprocess.SubprocessError):
            asked = subprocess.run(command, capture_output=True, timeout=_ASK_S, check=True)
            found = _IDENT.fullmatch(asked.stdout.decode("utf-8", "replace").strip())
            if found is not None:
                return Identity(found[1], found[2])
    return None


def tracked_under(index_file: str, name: str) -> str | None:
    """The first path at or under `name` that git's `index_file` holds; None if none, or where it
    cannot be read. Nothing else of a repository that is not ours is opened."""
    try:
        gate.refuse_odd(index_file)
        index = _Index(index_file)
        return next((e.path for e in index if f"{e.path}/".startswith(f"{name}/")), None)
    except (OSError, ValueError, pygit2.GitError):
        return None


class _Index(pygit2.Index):
    """An index that could not be opened goes without a word."""

    def __del__(self) -> None:
        if hasattr(self, "_index"):
            super().__del__()


@contextmanager
def refusals(path: str) -> Iterator[None]:
    """Turn what the machine refused into IoRefused, and what else git reports into DamagedStore."""
    try:
        yield
    except (OSError, pygit2.GitError, KeyError, ValueError) as error:
        # The library raises OSError without a number: then only its text tells what happened.
        named = next((code for code in _ERRNOS if os.strerror(code) in str(error)), 0)
        code = getattr(error, "errno", None) or named
        if not code and _MISTOLD in str(error) and os.path.exists(f"{path}/.git/index"):
            code = errno.EMFILE  # what is there could not be opened
        if code:
            raise IoRefused(path, code, os.strerror(code)) from error
        raise DamagedStore(path, _SPLIT if "'link'" in str(error) else str(error)) from error


def _as_commit(found: object) -> pygit2.Commit | None:
    return found if isinstance(found, pygit2.Commit) else None


def _walk(tip: pygit2.Commit, path: str) -> Iterator[pygit2.Commit]:
    """Commits as `git log <tip> -- <path>` shows them: by commit time, those left out that changed
    nothing there; of a merge that is the same as one parent there, only that parent is followed."""
    ticket = 0
    waiting = [(-tip.commit_time, ticket, tip)]
    met = {tip.id}
    while waiting:
        _, _, commit = heapq.heappop(waiting)
        here = _at(commit, path)
        parents = commit.parents
        same = next((parent for parent in parents if _at(parent, path) == here), None)
        if same is not None:
            parents = [same]
        elif parents or here is not None:
            yield commit
        for parent in parents:
            if parent.id not in met:
                met.add(parent.id)
                ticket += 1
                heapq.heappush(waiting, (-parent.commit_time, ticket, parent))


def _at(commit: pygit2.Commit, path: str) -> pygit2.Oid | None:
    tree = commit.tree
    return tree[path].id if path in tree else None


def _changes(
    git: pygit2.Repository, commit: pygit2.Commit
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Added, removed and modified paths under `entries/`; none for a merge."""
    parents = commit.parents
    if len(parents) > 1:
        return (), (), ()
    new = _at(commit, "entries")
    old = _at(parents[0], "entries") if parents else None
    added: list[str] = []
    removed: list[str] = []
    modified: list[str] = []
    for path, before, after in _differing(git, old, new, "entries/"):
        (modified if before and after else added if after else removed).append(path)
    return tuple(added), tuple(removed), tuple(modified)


def _differing(
    git: pygit2.Repository, old: pygit2.Oid | None, new: pygit2.Oid | None, prefix: str
) -> Iterator[tuple[str, bool, bool]]:
    """Files in which two trees differ, and on which sides they are. Descends only where the hashes
    differ; the library's own diff visits every folder, 24 ms at ten thousand entries."""
    before, after = _items(git, old), _items(git, new)
    for name in sorted({name for name, _ in before.items() ^ after.items()}):
        was, now = before.get(name), after.get(name)
        was_folder = was is not None and was[0] == _FOLDER
        now_folder = now is not None and now[0] == _FOLDER
        path = prefix + name.decode("utf-8", "surrogateescape")
        if (was is not None and not was_folder) or (now is not None and not now_folder):
            yield path, was is not None and not was_folder, now is not None and not now_folder
        if was_folder or now_folder:
            yield from _differing(
                git,
                pygit2.Oid(raw=was[1]) if was is not None and was_folder else None,
                pygit2.Oid(raw=now[1]) if now is not None and now_folder else None,
                f"{path}/",
            )


def _new_items(
    git: pygit2.Repository, old: pygit2.Oid | None, new: pygit2.Oid, names: list[str]
) -> None:
    """Into `names`: the tree `new`, and below it what `old` does not have at the same place."""
    names.append(str(new))
    before = _items(git, old)
    for name, (mode, oid) in _items(git, new).items():
        was = before.get(name)
        if was == (mode, oid):
            continue
        if mode == _FOLDER:
            below = pygit2.Oid(raw=was[1]) if was is not None and was[0] == _FOLDER else None
            _new_items(git, below, pygit2.Oid(raw=oid), names)
        else:
            names.append(oid.hex())


def _items(git: pygit2.Repository, tree: pygit2.Oid | None) -> dict[bytes, tuple[bytes, bytes]]:
    """A tree's names with mode and hash; empty for none and for what is no tree."""
    if tree is None or not isinstance(found := git[tree], pygit2.Tree):
        return {}
    return {name: (mode, oid) for mode, name, oid in _TREE_ITEM.findall(found.read_raw())}


def _entries(commit: pygit2.Commit) -> pygit2.Tree | None:
    tree = commit.tree
    entries = tree["entries"] if "entries" in tree else None  # noqa: SIM401 -- no get() there
    return entries if isinstance(entries, pygit2.Tree) else None


def _blobs(tree: pygit2.Tree, prefix: str) -> Iterator[str]:
    for item in tree:
        if isinstance(item, pygit2.Tree):
            yield from _blobs(item, f"{prefix}{item.name}/")
        else:
            yield f"{prefix}{item.name}"


def _loose(objects: str) -> Iterator[tuple[str, str]]:
    for folder in sorted(os.listdir(objects)):
        if len(folder) == 2:
            for name in os.listdir(os.path.join(objects, folder)):
                if len(name) == 38:
                    yield folder + name, os.path.join(objects, folder, name)
