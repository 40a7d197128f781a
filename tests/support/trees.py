"""Trees on a real disk, in one line each."""

import os
import subprocess
from collections.abc import Mapping, Sequence

Content = str | bytes

TWO_MODULES: Mapping[str, Content] = {
    "pkg/__init__.py": "",
    "pkg/low.py": (
        "def base():\n    return 1\n\n\nclass Low:\n    def act(self):\n        return base()\n"
    ),
    "pkg/high.py": (
        "from pkg.low import Low, base\n\n\n"
        "class High(Low):\n    def act(self):\n        return base() + 1\n"
    ),
}
"""Two files that call, import and inherit across."""


def plant(root: str, files: Mapping[str, Content]) -> str:
    """Write `files` (relative name -> content) below `root`; the root."""
    for name, content in files.items():
        path = os.path.join(root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        data = content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
        with open(path, "wb") as file:
            file.write(data)
    return root


def git(root: str, *arguments: str) -> str:
    """Run git there, free of the user's configuration; its output."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "T",
        "GIT_AUTHOR_EMAIL": "t@example.org",
        "GIT_COMMITTER_NAME": "T",
        "GIT_COMMITTER_EMAIL": "t@example.org",
        "LC_ALL": "C",
    }
    done = subprocess.run(
        ["git", "-C", root, "-c", "protocol.file.allow=always", *arguments],
        env=environment,
        capture_output=True,
        check=True,
    )
    return os.fsdecode(done.stdout)


def repository(root: str, files: Mapping[str, Content], *, commit: bool = False) -> str:
    """A git repository with `files`, committed or not; its root."""
    os.makedirs(root, exist_ok=True)
    git(root, "init", "-q", "-b", "main")
    plant(root, files)
    if commit:
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", "all")
    return root


def relative(paths: Sequence[str], root: str) -> set[str]:
    """Absolute paths as names below `root`."""
    return {os.path.relpath(path, root) for path in paths}
