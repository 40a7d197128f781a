"""Where things are: the project of a folder, its store, the state of its code.

Plain reads of a few small files of git, by the standard library alone: a search asks here first,
and starting git or loading libgit2 would cost it more than the rest of its work. Nothing here
writes. What git would resolve from its environment (`GIT_DIR` and its kin) is not looked at: the
answer depends on the folder asked about and on nothing else.
"""

import os

from gitmemo import gate
from gitmemo.model import CodeState, EntryId
from gitmemo.values import NamedTuple

STORE_DIR = ".mem"
COPY_DIR = "gitmemo.git"
_ELSEWHERE = "refs/heads/.invalid"  # what HEAD says where refs are kept in tables of git's own
_HEX = frozenset("0123456789abcdef")
_OWN = frozenset({".git", ".gitmemo-format", "entries"})


class Place(NamedTuple):
    """A project. `root` is the top of the checkout that was asked about, `store_root` the folder
    that holds (or will hold) `.mem`: the main checkout's top where `root` is a linked worktree.
    `common_dir` is git's shared directory, None outside git; `worktree` marks a linked one."""

    root: str
    store_root: str
    common_dir: str | None
    worktree: bool


def locate(cwd: str, *, shared_worktrees: bool = True) -> Place | None:
    """The project at or above `cwd`: the nearest folder with a `.git` or a `.mem`; None if none.

    A folder inside `.mem` belongs to the project around it. With `shared_worktrees` false a linked
    worktree keeps a store of its own.
    """
    folder = os.path.abspath(cwd)
    while True:
        if os.path.basename(folder) != STORE_DIR:
            git_dir = git_dir_of(folder)
            if git_dir is not None:
                return _place(folder, git_dir, shared_worktrees)
            if os.path.isdir(os.path.join(folder, STORE_DIR)):
                return Place(folder, folder, None, worktree=False)
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def git_dir_of(folder: str) -> str | None:
    """The git directory of the checkout whose top is `folder`, following a `.git` file."""
    dot_git = os.path.join(folder, ".git")
    text = _text(dot_git)
    if text is not None and text.startswith("gitdir:"):
        dot_git = os.path.normpath(os.path.join(folder, text[len("gitdir:") :].strip()))
    return dot_git if os.path.isfile(os.path.join(dot_git, "HEAD")) else None


def copy_dir(root: str) -> str | None:
    """Where the copy of the store at `root` lies, or would lie: in the git directory of the very
    checkout whose top `root` is; None where `root` is no such top."""
    git_dir = git_dir_of(root)
    return None if git_dir is None else os.path.join(git_dir, COPY_DIR)


def is_gone(mem: str) -> bool:
    """Whether the store directory `mem` was lost: it is missing, or empty as some cleaners leave
    it, or holds no more than the remains of a store, whose repository git itself would not know as
    one (a cleaner gives up where a writer takes a file away before it does)."""
    try:
        names = set(os.listdir(mem))
    except FileNotFoundError:
        return not os.path.lexists(mem)
    except OSError:
        return False
    git_dir = os.path.join(mem, ".git")
    if os.path.islink(mem) or not names <= _OWN or os.path.islink(git_dir):
        return False
    if ".git" not in names:
        return not names
    parts = ("HEAD", "objects", "refs")
    return os.path.isdir(git_dir) and any(
        not os.path.lexists(os.path.join(git_dir, part)) for part in parts
    )


def main_tip(mem: str) -> EntryId | None:
    """The commit of `refs/heads/main` of the store directory `mem`; None if there is none."""
    return _ref(os.path.join(mem, ".git"), "refs/heads/main")


def code_state(root: str) -> CodeState:
    """Branch and commit of the checkout at `root`; `unknown` where there is no git."""
    git_dir = git_dir_of(root)
    head = None if git_dir is None else _text(os.path.join(git_dir, "HEAD"))
    if git_dir is None or head is None:
        return CodeState()
    if not head.startswith("ref:"):
        commit = head.strip()
        return CodeState(f"detached:{commit}", commit) if _is_hash(commit) else CodeState()
    name = head[len("ref:") :].strip()
    if name == _ELSEWHERE:
        return CodeState()
    commit = _ref(git_dir, name) or _ref(_common(git_dir) or git_dir, name) or "unknown"
    return CodeState(name.removeprefix("refs/heads/"), commit)


def exclude_file(place: Place) -> str | None:
    """The file that holds git's unshared ignore rules of the project; None outside git."""
    return None if place.common_dir is None else os.path.join(place.common_dir, "info", "exclude")


def _place(root: str, git_dir: str, shared: bool) -> Place:
    common = _common(git_dir)
    if common is None:
        return Place(root, root, git_dir, worktree=False)
    return Place(root, _main_top(common, root) if shared else root, common, worktree=True)


def _main_top(common: str, worktree: str) -> str:
    """The folder that all checkouts of `common` share: the main checkout's top, else (a bare
    repository) the git directory itself, so that two bare neighbours never share one store."""
    above = os.path.dirname(common)
    beside = git_dir_of(above)
    if beside is not None and _same(beside, common):
        return above
    named = _config_worktree(common)
    if named is not None and os.path.isdir(named):
        return named
    return common if _is_bare(common) else worktree


def _common(git_dir: str) -> str | None:
    """The shared directory of a linked worktree's `git_dir`; None where it is not linked."""
    text = _text(os.path.join(git_dir, "commondir"))
    return None if text is None else os.path.normpath(os.path.join(git_dir, text.strip()))


def _config(common: str) -> list[str]:
    return [line.strip() for line in (_text(os.path.join(common, "config")) or "").splitlines()]


def _is_bare(common: str) -> bool:
    return any(line.replace(" ", "").lower() == "bare=true" for line in _config(common))


def _config_worktree(common: str) -> str | None:
    """`core.worktree`, which git writes into a submodule's directory; one key, so no parser."""
    for line in _config(common):
        name, equals, value = line.partition("=")
        if equals and name.strip().lower() == "worktree":
            return os.path.normpath(os.path.join(common, value.strip().strip('"')))
    return None


def _same(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def _ref(git_dir: str, name: str) -> EntryId | None:
    path = os.path.join(git_dir, name)
    loose = (_text(path) or "").strip()
    if _is_hash(loose):
        return EntryId(loose)
    if os.path.lexists(path) and not os.path.isdir(path):
        return None  # broken: what is packed is older, and would be believed for the present
    packed = _text(os.path.join(git_dir, "packed-refs")) or ""
    for line in packed.splitlines():
        commit, _, ref = line.partition(" ")
        if ref == name and _is_hash(commit):
            return EntryId(commit)
    return None


def _is_hash(text: str) -> bool:
    return len(text) in (40, 64) and _HEX.issuperset(text)


def _text(path: str) -> str | None:
    """A small file's text, undecodable bytes kept; None where it cannot be read as a file."""
    try:
        return gate.read(path).decode("utf-8", "surrogateescape")
    except OSError:
        return None
