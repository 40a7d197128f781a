"""Walking a root: every file that counts, with its stat, and everything passed over, with a reason.

Inside a repository git says which files count, and its answer is completed by what it never
mentions: pipes, sockets, devices and directories that cannot be opened. Outside, the ignore files
are read by `heimdall.writer.ignore`. Nested repositories, submodules and linked worktrees are
boundaries: named, never entered. No link is ever followed. Serves `no-silent-skip` and
`three-outcomes`: what cannot be looked at stands in the listing as unreadable, and a root that
cannot be walked at all is a listing with a `failure`, from which nothing may be concluded.
"""

import os
import stat as modes
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from heimdall import disk, paths
from heimdall.writer import git
from heimdall.writer.ignore import Rules, users_rules

RawStat = tuple[int, int, int]
"""The fields of a `Stat`, without the price of one for each of a hundred thousand files."""

_GIT_FILE_LIMIT = 4096


class Listing(NamedTuple):
    """What lies below `top` (the root, or a directory in it) at one moment.

    `files` are the regular files that count, with size, mtime_ns and inode; `skips` maps what
    counts and is not a regular file, or could not be looked at, to its reason; `closed` are
    directories that could not be listed: what is missing below them is not known to be gone.
    `failure` is "" or why nothing could be listed;
    `mounts` are the mount points met, `top` itself among them if it is one.
    """

    top: str
    files: dict[str, RawStat]
    skips: dict[str, str]
    closed: frozenset[str]
    failure: str = ""
    mounts: tuple[str, ...] = ()


def walk(
    root: str, top: str | None = None, *, meanwhile: Callable[[], None] = lambda: None
) -> Listing:
    """List `root`, or only what lies below its directory `top`: nothing where a walk of the root
    would not come to it. `meanwhile` is called once, at the latest before this returns, where
    waiting for git can be put to use."""
    top = root if top is None else top
    failure = _unwalkable(top)
    if failure:
        meanwhile()
        return Listing(top, {}, {}, frozenset({top}), failure)
    try:
        inside = in_git(root)
        if not _is_entered(root, top, outside_git=not inside):
            meanwhile()
            return Listing(top, {}, {}, frozenset())
        if inside:
            return _walk_git(root, top, meanwhile)
        meanwhile()
        return _walk_plain(root, top)
    except git.GitRefused as refused:
        if refused.no_repository:
            return _walk_plain(root, top)
        # Another set of rules would take in what git ignores and drop it again later.
        return Listing(top, {}, {}, frozenset({top}), f"git-refused:{refused.detail}")


def in_git(root: str) -> bool:
    """Whether git decides what counts below `root`: it lies in a work tree, and not in a directory
    which that work tree ignores (whoever names such a directory wants it all the same). Raises
    `GitRefused`."""
    top = paths.repository_top(root)
    while top is not None and not _git_looks_at(top):
        above = os.path.dirname(top)
        top = paths.repository_top(above) if above != top else None
    if top is None:
        return False
    return top == root or not git.ignored(top, [paths.relative(root, top)])


def boundary(directory: str) -> str:
    """What kind of foreign tree begins at `directory`, "" where none does. As for git itself, a
    `.git` that leads nowhere makes none."""
    entry = os.path.join(directory, ".git")
    try:
        mode = os.lstat(entry).st_mode
    except OSError:
        return "bare-repository" if _is_git_directory(directory) else ""
    if not modes.S_ISREG(mode):
        return "nested-repository" if _is_git_directory(entry) else ""
    text = _start_of(entry)
    target = os.fsdecode(text.removeprefix(b"gitdir:").strip())
    if not text.startswith(b"gitdir:") or not _is_git_directory(os.path.join(directory, target)):
        return ""
    # A worktree of a submodule lies at .git/modules/x/worktrees/y: the innermost word decides.
    if b"/worktrees/" in text:
        return "worktree"
    return "submodule" if b"/modules/" in text else "nested-repository"


def _git_looks_at(directory: str) -> bool:
    """Whether git ends its search for a repository here; a file named `.git` ends it anyway."""
    entry = os.path.join(directory, ".git")
    return _is_git_directory(entry) or not os.path.isdir(entry)


def _is_git_directory(directory: str) -> bool:
    """Whether git would take this for the place where it keeps a repository."""
    if not os.path.lexists(os.path.join(directory, "HEAD")):
        return False
    if os.path.lexists(os.path.join(directory, "commondir")):
        return True
    return all(os.path.isdir(os.path.join(directory, name)) for name in ("objects", "refs"))


def _is_entered(root: str, top: str, *, outside_git: bool) -> bool:
    """Whether a walk of `root` comes into its directory `top`, as far as git is not the one to
    say."""
    if top == root:
        return True
    rules = (rules_above(root) if outside_git else Rules()).deeper(root, outside_git=outside_git)
    for directory in (*paths.parents(top, root), top):
        name = os.path.basename(directory)
        if name in paths.NEVER or (outside_git and name in paths.DERIVED):
            return False
        if not device(directory) or boundary(directory):
            return False
        if rules.ignores(directory, is_directory=True):
            return False
        rules = rules.deeper(directory, outside_git=outside_git)
    return True


def _start_of(path: str) -> bytes:
    try:
        descriptor = disk.open_to_read(path)
    except OSError:
        return b""
    try:
        return os.read(descriptor, _GIT_FILE_LIMIT)
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def _unwalkable(top: str) -> str:
    """Why a directory cannot be walked, "" where it can."""
    if os.path.islink(top):
        # Whatever it leads to now, it is not what was put under watch.
        return "unreadable:ENOTDIR"
    try:
        with os.scandir(top) as entries:
            next(entries, None)
    except OSError as error:
        return disk.unreadable(error)
    return ""


class Mounts:
    """The directories of one walk that lie on another device than the one above them."""

    def __init__(self, top: str) -> None:
        self._devices: dict[str, int] = {}
        self._found: set[str] = set()
        self._enter(top)

    def device(self, directory: str) -> int:
        """The number of the device that `directory` lies on; 0 where it is no directory (a link to
        one is none). Its parents were asked about before."""
        known = self._devices.get(directory)
        return self._enter(directory) if known is None else known

    def found(self) -> tuple[str, ...]:
        """The mount points, sorted."""
        return tuple(sorted(self._found))

    def _enter(self, directory: str) -> int:
        number = device(directory)
        above = os.path.dirname(directory)
        if above not in self._devices:
            self._devices[above] = device(above)
        if number and number != self._devices[above]:
            self._found.add(directory)
        self._devices[directory] = number
        return number


def device(directory: str) -> int:
    """The device that `directory` lies on, 0 where there is no such directory."""
    try:
        status = os.lstat(directory)
    except OSError:
        return 0
    return status.st_dev if modes.S_ISDIR(status.st_mode) else 0


# -- outside git -----------------------------------------------------------------------------------


def _walk_plain(root: str, top: str) -> Listing:
    files: dict[str, RawStat] = {}
    skips: dict[str, str] = {}
    closed: set[str] = set()
    waiting = [(top, _rules_at(root, top))]
    # Bind mounts can make a tree contain itself.
    entered: set[tuple[int, int]] = set()
    mounts = Mounts(top)
    while waiting:
        directory, rules = waiting.pop()
        for entry in _entries(directory, skips, closed):
            if entry.name in paths.NEVER or entry.name in paths.DERIVED:
                continue
            is_directory = entry.is_dir(follow_symlinks=False)
            if rules.ignores(entry.path, is_directory=is_directory):
                continue
            if not is_directory:
                _file(entry.path, files, skips)
            elif reason := boundary(entry.path):
                skips[entry.path] = reason
            elif (entry.inode(), mounts.device(entry.path)) not in entered:
                entered.add((entry.inode(), mounts.device(entry.path)))
                waiting.append((entry.path, rules.deeper(entry.path, outside_git=True)))
    return Listing(top, files, skips, frozenset(closed), "", mounts.found())


def rules_above(root: str) -> Rules:
    """The rules that hold in a root outside git before its own files are read: the user's."""
    return users_rules(root, git.users_ignore_file())


def _rules_at(root: str, directory: str) -> Rules:
    """The rules that hold inside `directory`, outside git."""
    rules = rules_above(root)
    for between in _down_to(root, directory):
        rules = rules.deeper(between, outside_git=True)
    return rules


def _entries(
    directory: str, skips: dict[str, str], closed: set[str]
) -> Iterator["os.DirEntry[str]"]:
    """The directory's entries; one that cannot be listed is named and closed."""
    try:
        with os.scandir(directory) as entries:
            found = list(entries)
    except OSError as error:
        # A directory that vanished between its parent's listing and now holds nothing any more.
        if not disk.is_gone(error):
            skips[directory] = disk.unreadable(error)
            closed.add(directory)
        return iter(())
    return iter(found)


def _file(path: str, files: dict[str, RawStat], skips: dict[str, str]) -> None:
    """Put one listed path where it belongs; one that vanished belongs nowhere."""
    try:
        status = os.lstat(path)
    except OSError as error:
        if not disk.is_gone(error):
            skips[path] = disk.unreadable(error)
        return
    if modes.S_ISREG(status.st_mode):
        files[path] = disk.raw_stat(status)
    elif modes.S_ISDIR(status.st_mode):
        # Listed and yet a directory: git tracks a commit of another repository here.
        skips[path] = "submodule"
    else:
        skips[path] = disk.special(status.st_mode)


# -- inside git ------------------------------------------------------------------------------------


def _walk_git(root: str, top: str, meanwhile: Callable[[], None]) -> Listing:
    base = top.rstrip("/") + "/"
    files: dict[str, RawStat] = {}
    skips: dict[str, str] = {}
    closed: set[str] = set()
    directories = _Directories(top)
    lstat, regular, never = os.lstat, modes.S_ISREG, paths.NEVER
    last, is_real = "", True
    for name in _listed_below(root, top, meanwhile):
        at = name.rfind("/")
        if at + 1 == len(name):
            _foreign(base + name[:-1], skips)
            continue
        # Files of one directory come one after the other.
        if (directory := name[:at] if at > 0 else "") != last:
            last, is_real = directory, directories.is_real(directory)
        if not is_real or name[at + 1 :] in never:
            continue
        path = base + name
        # The one call that every file of every audit costs; the rare cases go the long way round.
        try:
            status = lstat(path)
        except OSError:
            _file(path, files, skips)
            continue
        if regular(status.st_mode):
            files[path] = disk.raw_stat(status)
        else:
            _file(path, files, skips)
    real = directories.real()
    _unmentioned(root, top, real, files, skips, closed)
    files, skips = _without_bare(base, real, files, skips)
    mounts = directories.mounts.found()
    listing = Listing(top, files, skips, frozenset(closed), "", mounts)
    return _also_ignored(root, listing, [os.path.join(top, directory) for directory in real])


def _listed_below(root: str, top: str, meanwhile: Callable[[], None]) -> list[str]:
    """What git lists below `top`, relative to it."""
    if top == root:
        return git.listed(root, meanwhile=meanwhile)
    # Asked from the root: a `.git` that lies at the top may lead git astray.
    prefix = paths.relative(top, root) + "/"
    listed = git.listed(root, (prefix,), meanwhile=meanwhile)
    # A submodule at the top itself is listed as that.
    return [name[len(prefix) :] for name in listed if len(name) > len(prefix)]


def _without_bare(
    base: str, directories: set[str], files: dict[str, RawStat], skips: dict[str, str]
) -> tuple[dict[str, RawStat], dict[str, str]]:
    """The same with each bare repository, which is so many files to git, as one boundary."""
    found = [base + d for d in directories if d and f"{base}{d}/HEAD" in files]
    bare = [directory for directory in found if boundary(directory) == "bare-repository"]
    for one in bare:
        files = {path: stat for path, stat in files.items() if not paths.under(path, one)}
        skips = {path: reason for path, reason in skips.items() if not paths.under(path, one)}
    return files, skips | dict.fromkeys(bare, "bare-repository")


def _foreign(directory: str, skips: dict[str, str]) -> None:
    """An untracked repository, which git lists as its directory."""
    if os.path.basename(directory) not in paths.NEVER:
        skips[directory] = boundary(directory) or "nested-repository"


class _Directories:
    """The directories (relative to `top`, "" for itself) that hold listed files and are reached
    without a link (git tracks what lay there before a link took a directory's place) and without
    a name that is never indexed."""

    def __init__(self, top: str) -> None:
        self.mounts = Mounts(top)
        self._base = top.rstrip("/") + "/"
        self._known = {"": True}

    def is_real(self, directory: str) -> bool:
        """Whether files of `directory` are where they seem to be."""
        known = self._known.get(directory)
        if known is not None:
            return known
        here, real = "", True
        # Outermost first, and in a loop: a tree may be deeper than the interpreter's stack.
        for name in directory.split("/"):
            here = f"{here}/{name}" if here else name
            if here not in self._known:
                self._known[here] = (
                    real and name not in paths.NEVER and self.mounts.device(self._base + here) != 0
                )
            real = self._known[here]
        return real

    def real(self) -> set[str]:
        """All that were asked about and are."""
        return {directory for directory, is_real in self._known.items() if is_real}


def _unmentioned(  # noqa: PLR0917 # a listing in the making, in its order
    root: str,
    top: str,
    directories: set[str],
    files: dict[str, RawStat],
    skips: dict[str, str],
    closed: set[str],
) -> None:
    """Find what git never lists: things that are neither file, link nor directory, and directories
    that it could not open. A directory without a listed file is mostly an ignored one, so git is
    asked about all of them at once before any is entered."""
    base = top.rstrip("/") + "/"
    known = {base + directory for directory in directories}
    fresh = sorted(known)
    while fresh:
        found: dict[str, str] = {}
        for directory in fresh:
            for entry in _entries(directory.rstrip("/") or "/", skips, closed):
                # First what nearly all are: this is asked of every file of every audit.
                if entry.is_file(follow_symlinks=False):
                    continue
                path = entry.path
                if path in files or path in known or path in skips:
                    continue
                if kind := _unlisted(entry):
                    found[path] = kind
        names = {path: paths.relative(path, root) for path in found}
        outside = git.ignored(root, names.values())
        kept = {path: kind for path, kind in found.items() if names[path] not in outside}
        fresh = [path for path, kind in kept.items() if kind == "directory"]
        known.update(fresh)
        skips.update((path, kind) for path, kind in kept.items() if kind != "directory")


def _unlisted(entry: "os.DirEntry[str]") -> str:
    """The kind of an entry, which is no file, that git would not have listed; "" for one that it
    would."""
    if entry.name in paths.NEVER or entry.is_symlink():
        return ""
    if entry.is_dir(follow_symlinks=False):
        return "directory"
    try:
        return disk.special(entry.stat(follow_symlinks=False).st_mode)
    except OSError:
        return ""


def _also_ignored(root: str, listing: Listing, directories: Sequence[str]) -> Listing:
    """The listing without what `.heimdallignore` files exclude; most trees have none.
    `directories` are all that hold a listed file."""
    above = [os.path.join(d, paths.IGNORE_FILE) for d in _down_to(root, listing.top)]
    inside = (os.path.join(d, paths.IGNORE_FILE) for d in directories)
    if not any(path in listing.files for path in inside) and not any(map(os.path.lexists, above)):
        return listing
    excluder = Excluder(root)
    return listing._replace(
        files={p: s for p, s in listing.files.items() if not excluder.excludes(p)},
        skips={p: s for p, s in listing.skips.items() if not excluder.excludes(p)},
    )


def _down_to(root: str, directory: str) -> tuple[str, ...]:
    if directory == root:
        return (root,)
    return (root, *paths.parents(directory, root), directory)


class Excluder:
    """`.heimdallignore` inside a repository, its rules kept by directory."""

    def __init__(self, root: str) -> None:
        self._root = root
        # None: the directory is excluded itself, and all below it.
        self._rules: dict[str, Rules | None] = {}

    def excludes(self, path: str) -> bool:
        """Whether a rule excludes `path` or a directory above it."""
        rules = self._at(os.path.dirname(path))
        return rules is None or rules.ignores(path, is_directory=False)

    def _at(self, directory: str) -> Rules | None:
        if directory in self._rules:
            return self._rules[directory]
        rules: Rules | None = Rules()
        for here in _down_to(self._root, directory):
            if here not in self._rules:
                if rules is not None and here != self._root:
                    rules = None if rules.ignores(here, is_directory=True) else rules
                if rules is not None:
                    rules = rules.deeper(here, outside_git=False)
                self._rules[here] = rules
            rules = self._rules[here]
        return rules
