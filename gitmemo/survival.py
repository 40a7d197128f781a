"""Stub: the copy of the store inside the code repository's git directory is built elsewhere."""

from gitmemo.repo import Repo


def copy_dir(root: str) -> str | None:
    """Where the copy lies; None where there is none."""
    del root
    return None


def renew(root: str, repo: Repo) -> None:
    """Make the copy anew."""
    del root, repo
