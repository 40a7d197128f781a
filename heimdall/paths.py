"""Names of paths: the only home of skip rules, normalising, containment and ids.

A path is an absolute string as `os.fsdecode` gives it: names that are not UTF-8 carry surrogates,
newlines are ordinary characters, and NUL cannot occur. Nothing here opens a file; the two
functions that ask the disk (`normal`, `repository_top`) say so. What git ignores is git's business
and lies in `heimdall.writer`; only names that are never indexed, whatever git says, are listed
here.
"""

import os

from heimdall.errors import BadArgument

NEVER = frozenset({".git", ".mem", ".hg", ".svn", ".jj", ".heimdall"})
"""Names of stores and version control: never part of an index, at any level."""

DERIVED = frozenset(
    {
        "__pycache__",
        "node_modules",
        ".venv",
        ".tox",
        ".nox",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        ".hypothesis",
        ".DS_Store",
    }
)
"""Names ignored outside a git repository, where nobody wrote an ignore file. Inside one, git alone
decides."""

IGNORE_FILE = ".heimdallignore"
"""Patterns in git's own syntax, applied on top of git's."""


def normal(path: str, cwd: str) -> str:
    """`path` as an absolute path without `.`, `..` or doubled slashes.

    Links in the parents are resolved, so that one file has one name; the last part is kept, because
    it may itself be a link, and a link is a thing of its own. Relative paths start at `cwd`; a
    leading `~` is an ordinary character. Raises `BadArgument` for an empty path or one with NUL.
    """
    if not path:
        raise BadArgument("path", path, "empty")
    if "\0" in path:
        raise BadArgument("path", path, "nul")
    joined = os.path.join(cwd, path)
    head, tail = os.path.split(joined.rstrip("/") or "/")
    if tail in ("", ".", ".."):
        return os.path.realpath(joined)
    return os.path.join(os.path.realpath(head), tail)


def under(path: str, root: str) -> bool:
    """Whether `path` is `root` or lies inside it; both normal."""
    if root in (path, "/"):
        return True
    return path.startswith(root) and path[len(root)] == "/"


def relative(path: str, root: str) -> str:
    """`path` as seen from `root`, "." for the root itself; `path` must be `under` it."""
    if path == root:
        return "."
    return path[1:] if root == "/" else path[len(root) + 1 :]


def root_of(path: str, roots: "tuple[str, ...] | list[str]") -> str | None:
    """The innermost of `roots` that holds `path`, or None."""
    best: str | None = None
    for root in roots:
        if under(path, root) and (best is None or len(root) > len(best)):
            best = root
    return best


def never(path: str, root: str) -> bool:
    """Whether a part of `path` below `root` has a name that is never indexed. The root's own name
    is not looked at: who names a root wants it."""
    if path == root:
        return False
    return not NEVER.isdisjoint(relative(path, root).split("/"))


def parents(path: str, root: str) -> tuple[str, ...]:
    """The directories strictly between `root` and `path`, outermost first."""
    parts = relative(path, root).split("/")[:-1]
    base = "" if root == "/" else root
    return tuple(f"{base}/{'/'.join(parts[: n + 1])}" for n in range(len(parts)))


def node_id(path: str, key: str) -> str:
    """The public id of a definition: the path for the file itself, else `path#key`."""
    return path if key == "" else f"{path}#{key}"


def repository_top(path: str) -> str | None:
    """The nearest ancestor of the directory `path` (or itself) that holds a `.git`, file or
    directory. Asks the disk."""
    here = path
    while True:
        if os.path.lexists(os.path.join(here, ".git")):
            return here
        above = os.path.dirname(here)
        if above == here:
            return None
        here = above
