"""One pass of the reconciler, from hints to a settled journal."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from heimdall.config import Settings
from heimdall.model import Action, Depth

Progress = Callable[[int, int], None]


class Result(NamedTuple):
    """What one pass came to. `counts` maps each action that occurred to its number of paths;
    `errors` are (path, reason) of what could not be looked at or read; `roots` are the roots that
    were walked; `moves` the number of moves that were found; `behind` whether work is left."""

    counts: dict[Action, int]
    errors: tuple[tuple[str, str], ...]
    roots: tuple[str, ...]
    moves: int = 0
    behind: bool = False


def reconcile(
    settings: Settings,
    paths: Sequence[str] | None = None,
    *,
    everything: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> Result:
    """Make the journal equal to the disk. `paths` None: every root by stat; `everything`: every
    byte; a sequence: only these (and what hints name). A directory that is the top of a repository
    or holds a `.mem` becomes a root. `progress(done, total)`."""
    raise NotImplementedError


def rebuild(settings: Settings, *, progress: Progress | None = None) -> Result:
    """Throw the journal's rows and the sink away and index every root again."""
    raise NotImplementedError


def add_root(settings: Settings, path: str, *, depth: Depth | None = None) -> bool:
    """Put a directory under watch (it is indexed by the next `reconcile`); False if it was."""
    raise NotImplementedError


def remove_root(settings: Settings, path: str) -> bool:
    """Take a directory and all its rows out of the index; False if it was not a root."""
    raise NotImplementedError
