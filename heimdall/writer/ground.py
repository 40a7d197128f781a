"""Where single paths stand: what `observe` sees, corrected by everything above the path.

Keeps `three-outcomes` for hints. A file behind a link that took a directory's place is gone; a file
that git ignores is gone from the index's world; a file below a root, mount or directory that cannot
be looked into is unreadable, whatever `lstat` says of it. Answers are those that `walk` would give,
one path at a time.
"""

import os
import stat as modes
from collections.abc import Iterable, Sequence

from heimdall import disk, paths
from heimdall.model import Observed, Presence
from heimdall.writer import git
from heimdall.writer.ignore import excluded
from heimdall.writer.walk import Excluder, Listing, boundary, device, in_git, rules_above

OUTSIDE = "outside"
"""No root holds the path."""

IGNORED = "ignored"
"""The path exists and does not count: ignored, behind a link, or beyond a boundary."""

_FEW = 400
"""More paths than this are cheaper to find in a listing of everything."""


class Ground:
    """Answers for the paths of `roots`; `mounts` are the mount points met by earlier walks."""

    def __init__(self, roots: Sequence[str], mounts: Iterable[str] = ()) -> None:
        self._roots = tuple(roots)
        self._lost = tuple(mount for mount in mounts if is_lost(mount))
        self._listed: set[str] = set()
        self._above: dict[str, Observed | None] = {}
        self._shut: dict[str, str] = {}
        self._bare: dict[str, bool] = {}
        self._submodules: set[str] = set()
        self._excluders: dict[str, Excluder] = {}

    def learn(self, listing: Listing) -> None:
        """Believe a walk of this pass: below its top, what it listed counts."""
        self._listed = {path for path in self._listed if not paths.under(path, listing.top)}
        self._listed.update(listing.files)
        self._listed.update(listing.skips)
        self._submodules.update(p for p, reason in listing.skips.items() if reason == "submodule")

    def look(self, wanted: Iterable[str]) -> dict[str, Observed]:
        """Each path as it is now. GONE with reason `outside` or `ignored` is nobody's
        business; PRESENT with a reason is named and not read."""
        # Directories are believed for the length of one question, not of a pass.
        self._above.clear()
        self._shut.clear()
        self._bare.clear()
        self._excluders.clear()
        answers: dict[str, Observed] = {}
        doubtful: dict[str, list[Observed]] = {}
        for path in wanted:
            root = paths.root_of(path, self._roots)
            if root is None:
                answers[path] = Observed(path, Presence.GONE, None, OUTSIDE)
                continue
            seen = self._above_of(path, root) or disk.observe(path)
            answers[path] = seen
            if seen.presence is Presence.PRESENT and path not in self._listed:
                doubtful.setdefault(root, []).append(seen)
            elif seen.reason == "directory":
                answers[path] = self._directory(seen)
        for root, seen_here in doubtful.items():
            answers.update(self._counted(root, seen_here))
        return answers

    # -- what stands above a path ------------------------------------------------------------------

    def _above_of(self, path: str, root: str) -> Observed | None:
        """What the path's parents already decide; None where nothing stands in the way."""
        if paths.never(path, root):
            return Observed(path, Presence.GONE, None, IGNORED)
        for lost in self._lost:
            if paths.under(path, lost):
                return Observed(path, Presence.UNREADABLE, None, "unmounted")
        for directory in (root, *paths.parents(path, root)):
            if directory not in self._above:
                self._above[directory] = _passable(directory, directory == root)
            if (verdict := self._above[directory]) is not None:
                return verdict._replace(path=path)
        return None

    # -- whether a path that is there counts -------------------------------------------------------

    def _counted(self, root: str, seen: Sequence[Observed]) -> dict[str, Observed]:
        try:
            counting = self._by_git(root, seen) if in_git(root) else self._by_files(root, seen)
        except git.GitRefused as refused:
            if not refused.no_repository:
                reason = f"git-refused:{refused.detail}"
                return {s.path: Observed(s.path, Presence.UNREADABLE, None, reason) for s in seen}
            counting = self._by_files(root, seen)
        return {one.path: self._verdict(one, root, one.path in counting) for one in seen}

    def _verdict(self, seen: Observed, root: str, counts: bool) -> Observed:
        if counts:
            return self._directory(seen) if seen.reason == "directory" else seen
        # git cannot list what lies in a directory that it cannot open, so its silence proves
        # nothing there.
        for directory in (root, *paths.parents(seen.path, root)):
            if reason := self._shut_reason(directory):
                return Observed(seen.path, Presence.UNREADABLE, None, reason)
        return Observed(seen.path, Presence.GONE, None, IGNORED)

    def _directory(self, seen: Observed) -> Observed:
        """A directory counts only as a boundary, or as one that cannot be opened."""
        if seen.path not in self._submodules and (reason := boundary(seen.path)):
            return seen._replace(reason=reason)
        if reason := self._shut_reason(seen.path):
            return Observed(seen.path, Presence.UNREADABLE, None, reason)
        return seen._replace(reason="submodule")

    def _shut_reason(self, directory: str) -> str:
        if directory not in self._shut:
            self._shut[directory] = _why_shut(directory)
        return self._shut[directory]

    def _by_git(self, root: str, seen: Sequence[Observed]) -> set[str]:
        names = {paths.relative(one.path, root): one for one in seen}
        among = [name for name in names if name != "."]
        answer = git.listed(root, among if len(among) <= _FEW else ())
        listed = {name.rstrip("/") for name in answer}
        base = "" if root == "/" else root
        # A directory that git lists as it lists a file is a commit that it tracks.
        asked = {name for name, one in names.items() if one.reason == "directory"}
        self._submodules.update(f"{base}/{name}" for name in asked.intersection(answer))
        # git never lists pipes, sockets and devices, nor a repository when asked for it by name;
        # whether they count its ignore rules say.
        odd = [name for name, one in names.items() if self._is_odd(one, root)]
        listed |= set(odd) - git.ignored(root, odd)
        excluder = self._excluders.setdefault(root, Excluder(root))
        return {
            one.path
            for name, one in names.items()
            if name in listed
            and not excluder.excludes(f"{base}/{name}")
            and not self._in_bare(one.path, root)
        }

    def _in_bare(self, path: str, root: str) -> bool:
        """Whether the path lies in a bare repository, which is so many files to git."""
        for directory in paths.parents(path, root):
            if directory not in self._bare:
                self._bare[directory] = boundary(directory) == "bare-repository"
            if self._bare[directory]:
                return True
        return False

    def _by_files(self, root: str, seen: Sequence[Observed]) -> set[str]:
        rules = rules_above(root)
        return {
            one.path
            for one in seen
            if paths.DERIVED.isdisjoint(paths.relative(one.path, root).split("/"))
            and not self._beyond(one.path, root)
            and (one.reason != "directory" or self._is_end(one.path))
            and not excluded(one.path, root, rules, is_directory=one.reason == "directory")
        }

    def _is_odd(self, seen: Observed, root: str) -> bool:
        """Whether git does not list such a thing by name, although it may count."""
        if seen.reason != "directory":
            return seen.reason not in ("", "link")
        return self._is_end(seen.path) and not self._beyond(seen.path, root)

    def _is_end(self, directory: str) -> bool:
        """Whether a walk ends at this directory and names it."""
        return bool(boundary(directory) or self._shut_reason(directory))

    def _beyond(self, path: str, root: str) -> bool:
        """Whether a walk from `root` ends before it comes to `path`."""
        return any(self._is_end(directory) for directory in paths.parents(path, root))


def is_lost(mount: str) -> bool:
    """Whether a directory that was a mount point is none now: what was below it is not gone, it is
    somewhere else."""
    here = device(mount)
    return here == 0 or here == device(os.path.dirname(mount))


def _passable(directory: str, is_root: bool) -> Observed | None:
    """None where `directory` is one; else what that makes of the paths below."""
    try:
        mode = os.lstat(directory).st_mode
    except OSError as error:
        # A root that is not there is a disk that is not mounted, until somebody removes the root.
        if is_root or not disk.is_gone(error):
            return Observed(directory, Presence.UNREADABLE, None, disk.unreadable(error))
        return Observed(directory, Presence.GONE, None, "")
    if modes.S_ISDIR(mode):
        return _why_root_is_shut(directory) if is_root else None
    if is_root:
        return Observed(directory, Presence.UNREADABLE, None, "unreadable:ENOTDIR")
    return Observed(directory, Presence.GONE, None, IGNORED if modes.S_ISLNK(mode) else "")


def _why_root_is_shut(root: str) -> Observed | None:
    reason = _why_shut(root)
    return Observed(root, Presence.UNREADABLE, None, reason) if reason else None


def _why_shut(directory: str) -> str:
    """Why a directory cannot be listed; "" where it can, or is not there."""
    try:
        with os.scandir(directory):
            return ""
    except OSError as error:
        return "" if disk.is_gone(error) else disk.unreadable(error)
