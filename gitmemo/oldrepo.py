"""An old store as git sees it: every branch, every object, and whatever else lies in its folder.

Beside `repo` the only room that knows pygit2. It reads the old repository and carries its objects
into a new one; it never writes into the old. `lacking` is the invariant of every migration: before
the old folder goes, the new repository holds each object of it, readable. Never here: what an entry
says, the swap of the two folders. Tests: tests/gitmemo/test_migrate.py, with git as the oracle.
"""

import os
import shutil
from contextlib import suppress

import pygit2
from pygit2.enums import ConfigLevel, FileStatus, RepositoryState, ResetMode

from gitmemo import opening
from gitmemo.chain import is_entry_path
from gitmemo.errors import DamagedStore
from gitmemo.model import EntryId
from gitmemo.repo import MAIN, MARKER, MARKER_FILE, Raw, Repo

BACKUP = "refs/gitmemo/backup"
KEPT = "refs/gitmemo/kept"
HEAD = "HEAD"
_HEADS = "refs/heads/"
_USUAL = frozenset(
    """
    HEAD config description index objects refs logs hooks info packed-refs branches gc.log gc.pid
    COMMIT_EDITMSG ORIG_HEAD FETCH_HEAD AUTO_MERGE
    """.split()  # noqa: SIM905 - as quoted words this line would be a page
)
_CARRIED = ("remote.", "user.")
_AT_WORK = "index.lock"


class OldRepo(Repo):
    """One open `.mem` of whatever format, with all of its branches."""

    def marker(self, commit: str) -> str | None:
        """What the marker of `commit` says; None where there is none."""
        data = self.file(commit, MARKER_FILE)
        return None if data is None else data.decode("utf-8", "replace").strip()

    def is_present_format(self) -> bool:
        """Whether main has the marker that is written here."""
        return self._git.references.get(MAIN) is not None and (
            self.marker(self.tip()) == MARKER.decode()
        )

    def head(self) -> EntryId | None:
        """The commit of HEAD; None where it names no commit."""
        try:
            return EntryId(str(self._git.head.target))
        except (KeyError, pygit2.GitError):
            return None

    def tips(self) -> dict[str, EntryId]:
        """The commit of each branch, in the order in which the format's reports list them; and of
        HEAD, where it stands on a commit that no branch holds."""
        names = [name for name in self._git.references if name.startswith(_HEADS)]
        names.sort(key=lambda name: name.encode("utf-16-be", "surrogatepass"))
        found: dict[str, EntryId] = {}
        for name in names:
            target = str(self._git.references[name].resolve().target)
            if not self.has(target):
                raise DamagedStore(self.mem, f"missing-commit:{target}")
            found[name.removeprefix(_HEADS)] = EntryId(target)
        head = self.head()
        if head is not None and not any(self.is_ancestor(head, tip) for tip in found.values()):
            found[HEAD] = head
        return found

    def other_refs(self) -> dict[str, str]:
        """What every other ref of the repository names: tags, remote branches, older backups."""
        refs = self._git.references
        return {
            name: str(refs[name].target)
            for name in refs
            if not name.startswith(_HEADS) and isinstance(refs[name].target, pygit2.Oid)
        }

    def entry_files(self, commit: str) -> list[str]:
        """The entry files of `commit`, in git's order."""
        found = [path for path in self.files(commit) if is_entry_path(path)]
        return sorted(found, key=os.fsencode)

    def last_touches(self, tip: str) -> dict[str, Raw]:
        """Each entry file of `tip` with the commit that `git log -1 <tip> -- <file>` shows."""
        wanted = self.entry_files(tip)
        if any(len(commit.parent_ids) > 1 for commit in self._git.walk(tip)):
            # Where history forks, git asks for each file which of its parents had it.
            touches = {path: self.last_touch(tip, path) for path in wanted}
            return {path: self.raw(id_) for path, id_ in touches.items() if id_ is not None}
        found: dict[str, Raw] = {}
        for commit in self.walk(tip):
            for path in (*commit.added, *commit.modified):
                found.setdefault(path, commit)
        return {path: found[path] for path in wanted}

    def extras(self) -> tuple[str, ...]:
        """What lies in the folder and in no history: files that git ignores, hooks, stashes, and
        whatever a repository does not usually have."""
        opening.refuse_odd_rules(self.mem)
        status = self._git.status(untracked_files="all", ignored=True)
        found = sorted(path for path, flag in status.items() if flag & FileStatus.IGNORED)
        for name in sorted(os.listdir(self.git_dir)):
            if name not in _USUAL and not name.startswith("gitmemo"):
                found.append(f".git/{name}")
        hooks = os.path.join(self.git_dir, "hooks")
        if os.path.isdir(hooks):
            named = sorted(os.listdir(hooks))
            found += [f".git/hooks/{name}" for name in named if not name.endswith(".sample")]
        if "refs/stash" in self._git.references:
            found.append("refs/stash")
        return tuple(found)

    def at_work(self) -> str | None:
        """What makes this repository busy: a merge or the like, a lock, a linked worktree."""
        state = self._git.state()
        if state != RepositoryState.NONE:
            return RepositoryState(state).name.lower()
        if os.path.lexists(os.path.join(self.git_dir, _AT_WORK)):
            return _AT_WORK
        worktrees = os.path.join(self.git_dir, "worktrees")
        return "worktrees" if os.path.isdir(worktrees) and os.listdir(worktrees) else None

    def lacking(self, new: "OldRepo") -> int:
        """How many objects of this repository `new` cannot read. Reading checks each hash."""
        return sum(not new.reads(oid) for oid in self._git)

    def reads(self, oid: pygit2.Oid) -> bool:
        """Whether the object is here and whole."""
        try:
            self._git.odb.read(oid)
        except (KeyError, pygit2.GitError):
            return False
        return True

    # -- the new one -------------------------------------------------------------------------------

    def _sync(self, name: str) -> None:
        """Nothing yet: nobody sees the new repository, and `show` brings all of it down at once."""

    def carry(self, old: "OldRepo", backups: dict[str, str]) -> None:
        """Take every object of `old` along, and put the refs `backups` on them."""
        shutil.copytree(
            os.path.join(old.git_dir, "objects"),
            os.path.join(self.git_dir, "objects"),
            copy_function=_copy_new,
            dirs_exist_ok=True,
        )
        for entry in old._git.config:
            if entry.level == ConfigLevel.LOCAL and entry.name.startswith(_CARRIED):
                self._git.config.set_multivar(entry.name, "^$", entry.value or "")
        with suppress(OSError):  # one lock for both: who waits for the old store gets the new one
            os.link(
                os.path.join(old.git_dir, "gitmemo.lock"),
                os.path.join(self.git_dir, "gitmemo.lock"),
            )
        self._git = opening.opened(self.mem, self.git_dir)  # it has packs now that it did not know
        for name, target in backups.items():
            self._git.references.create(name, target)

    def backups(self) -> dict[str, str]:
        """What every ref below `refs/gitmemo` names."""
        refs = self._git.references
        return {name: str(refs[name].target) for name in refs if name.startswith("refs/gitmemo/")}

    def show(self, tip: EntryId) -> None:
        """Make main, index and files say what `tip` says, down to the disk."""
        self._git.reset(pygit2.Oid(hex=tip), ResetMode.HARD)
        for folder, _, names in os.walk(self.mem):
            for name in names:
                with open(os.path.join(folder, name), "rb") as file:
                    os.fsync(file.fileno())


def _copy_new(source: str, target: str) -> str:
    """Copy a file of the object store, whose names tell their contents, where it is missing."""
    return target if os.path.exists(target) else str(shutil.copy2(source, target))
