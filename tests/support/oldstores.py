"""Stores of the time before the marker, made by plain git: branches, edits in place, odd names."""

import os
from collections.abc import Mapping

from gitmemo import Store
from tests.support.memory import GOLDEN, IDENTITY, Clock, git

FIRST_S = 1_770_000_000


class OldStore:
    """An old `.mem` in a code repository at `root`; each commit is a minute later."""

    def __init__(self, root: object, *, branch: str = "main", first: bool = True) -> None:
        self.root = str(root)
        self.path = os.path.join(self.root, ".mem")
        self.at_s = FIRST_S
        os.makedirs(self.root, exist_ok=True)
        git(self.root, "init", "-q", "-b", "main")
        git(self.root, "init", "-q", "-b", branch, ".mem")
        if first:
            self.commit("init: initialize memory repo", {"entries/.gitkeep": b""})

    def git(self, *args: str) -> str:
        return git(self.path, *args)

    def commit(
        self, message: str, write: Mapping[str, bytes] = {}, remove: tuple[str, ...] = ()
    ) -> str:
        """One commit on the branch that is checked out; its hash."""
        for path, data in write.items():
            full = os.path.join(os.fsencode(self.path), os.fsencode(path))
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "wb") as file:
                file.write(data)
        for path in remove:
            os.unlink(os.path.join(self.path, path))
        self.at_s += 60
        self.git("add", "-A")
        args = ("commit", "-q", "--allow-empty", "--allow-empty-message", "-m", message)
        git(self.path, *args, date=f"{self.at_s} +0000")
        return self.git("rev-parse", "HEAD").strip()

    def entry(self, name: str, title: str = "", text: bytes = b"") -> str:
        """One entry file of this name, as the old engine added it; the commit."""
        data = text or f"What {name} says.\n".encode()
        return self.commit(title or f"note {name}", {f"entries/{name}": data})

    def branch(self, name: str, *, start: str | None = None) -> None:
        """Check out a new branch."""
        self.git("checkout", "-q", "-b", name, *([start] if start else []))

    def store(self, *, timeout_s: float = 5.0) -> Store:
        """The store as this program opens it."""
        return opened(self.root, timeout_s=timeout_s)


def opened(root: str, *, timeout_s: float = 5.0) -> Store:
    """The store at `root`, with a clock of its own."""
    return Store.open(root, identity=IDENTITY, clock=Clock(step=0.0), lock_timeout_s=timeout_s)


def recorded(name: str, root: object) -> str:
    """An old store of another engine's records, restored as its README says; the project."""
    root = str(root)
    os.makedirs(root, exist_ok=True)
    git(root, "init", "-q", "-b", "main")
    git(root, "init", "-q", "-b", "main", ".mem")
    mem, bundle = os.path.join(root, ".mem"), os.path.join(GOLDEN, f"{name}.bundle")
    git(mem, "fetch", "-q", "--update-head-ok", bundle, "refs/heads/*:refs/heads/*")
    git(mem, "reset", "-q", "--hard", "main")
    return root
