"""From hints and arguments to paths and trees that have to be looked at.

Keeps `level-triggered`: of a hint nothing is believed but its path. A hinted directory means all
below it; a hinted ignore file, or anything of git's own, means that other files may count now,
hence the whole root.
"""

import os
import stat as modes
from collections.abc import Callable, Iterable
from typing import NamedTuple

from heimdall import hints, paths
from heimdall.errors import BadArgument
from heimdall.journal.read import JournalReader
from heimdall.writer.desired import Desired

_REDRAWING = frozenset({".gitignore", paths.IGNORE_FILE, ".gitmodules", ".git"})


class Intake(NamedTuple):
    """`single` paths to look at and `trees` to walk, as (root, directory); `outside` are paths that
    no root holds."""

    single: list[str]
    trees: list[tuple[str, str]]
    outside: list[str]


def sort(wanted: Iterable[str], desired: Desired, holds_rows: Callable[[str], bool]) -> Intake:
    """Sort normal paths by what has to be done. `holds_rows(path)` tells whether the journal knows
    anything below a path that is no directory (any more)."""
    intake = Intake([], [], [])
    for path in dict.fromkeys(wanted):
        root = desired.root(path)
        if root is None:
            intake.outside.append(path)
        elif path == root or redraws(path, root):
            intake.trees.append((root, root))
        elif paths.never(path, root):
            continue
        else:
            intake.single.append(path)
            if _is_directory(path):
                intake.trees.append((root, path))
            elif holds_rows(path):
                intake.trees.append((root, root))
    return intake


def redraws(path: str, root: str) -> bool:
    """Whether a change of `path` may change which files of `root` count."""
    parts = paths.relative(path, root).split("/")
    return parts[-1] in _REDRAWING or parts[0] == ".git"


def taken(journal: JournalReader, home: str) -> tuple[list[str], Callable[[], None]]:
    """The hinted paths, normal, and what to call once they are safe in the queue."""
    stores = [store.path for store in journal.stores()]
    found, done = hints.take(home, fallbacks(stores))
    return [path for hint in found if (path := _normal(hint))], done


def fallbacks(stores: Iterable[str]) -> list[str]:
    """The hint files of stores, where a sandbox forbade the home."""
    return [os.path.join(store, ".git", hints.FALLBACK_NAME) for store in stores]


def _normal(path: str) -> str:
    try:
        return paths.normal(path, "/")
    except (BadArgument, OSError):
        return ""


def _is_directory(path: str) -> bool:
    try:
        return modes.S_ISDIR(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False
