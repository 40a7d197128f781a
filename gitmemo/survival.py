"""A copy of the store inside the code repository's own git directory."""

from gitmemo.repo import Repo
from gitmemo.values import NamedTuple


class Copy(NamedTuple):
    """How the copy stands: absent, whole, behind, broken, or none outside git."""

    path: str
    state: str
    tip: str | None
    kept: tuple[str, ...]
    troubles: tuple[str, ...]


def copy_dir(root: str) -> str | None:
    """Where the copy lies."""
    del root
    return None


def inspect(root: str, repo: Repo) -> Copy:
    """The copy as it is."""
    del root, repo
    return Copy("", "none", None, (), ())
