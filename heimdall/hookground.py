"""Looking at a repository for its hooks: git is asked, files are read, nothing is changed.

What follows from it is decided in `heimdall.githooks`. Held by tests/heimdall/cli/test_initing.py.
"""

import os
import re
import stat as modes
import subprocess
from collections.abc import Mapping

from heimdall import disk
from heimdall.errors import IoRefused, UnknownPath
from heimdall.githooks import EVENTS, Found, Ground

_SETTINGS = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH")
"""Variables that say where the person keeps their settings. The other GIT_* ones are not let in:
inside a hook they point at somebody's repository."""

_TOLD = ("lefthook.yml", ".lefthook.yml", "lefthook.yaml", ".pre-commit-config.yaml", "prek.toml")
"""Files of other programs in which a person may have named us, below the top."""


def look(cwd: str, env: Mapping[str, str]) -> Ground:
    """The repository whose work tree holds `cwd`. Raises `UnknownPath` where there is none, or git
    will not speak of it."""
    outside = {key: value for key, value in env.items() if not key.startswith("GIT_")}
    kept = {key: env[key] for key in _SETTINGS if key in env}
    calm = {**outside, **kept, "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"}

    def asked(where: str, *question: str) -> str:
        return _ask(where, calm, *question)

    top = asked(cwd, "rev-parse", "--show-toplevel")
    if not top:
        raise UnknownPath(cwd, "lies in no git work tree")
    common = os.path.normpath(os.path.join(top, asked(top, "rev-parse", "--git-common-dir")))
    named = asked(top, "rev-parse", "--git-path", "hooks")
    directory, own = os.path.normpath(os.path.join(top, named)), os.path.join(common, "hooks")
    setting = asked(top, "config", "--show-scope", "--get", "core.hooksPath")
    version = re.search(r"(\d+)\.(\d+)", asked(top, "version"))
    husky = [os.path.join(top, ".husky", event) for event in EVENTS]
    return Ground(
        top=top,
        common=common,
        version=(int(version[1]), int(version[2])) if version else (0, 0),
        directory=directory,
        own=own,
        scope=setting.split("\t", 1)[0],
        config=find(os.path.join(common, "config")),
        used={event: find(os.path.join(directory, event)) for event in EVENTS},
        kept={} if directory == own else {e: find(os.path.join(own, e)) for e in EVENTS},
        told=[find(path) for path in (*husky, *(os.path.join(top, name) for name in _TOLD))],
    )


def find(path: str) -> Found:
    """One file, or what there is in its place."""
    try:
        handle = disk.open_to_read(path)
    except OSError as error:
        if os.path.islink(path):
            return Found(path, "link")
        return Found(path, "missing" if disk.is_gone(error) else "unreadable")
    status = os.fstat(handle)
    if not modes.S_ISREG(status.st_mode):
        os.close(handle)
        return Found(path, "other")
    with open(handle, "rb") as file:
        return Found(path, "file", file.read(), modes.S_IMODE(status.st_mode))


def _ask(where: str, env: Mapping[str, str], *question: str) -> str:
    """Git's answer, "" where it refuses; without the end of its line."""
    try:
        done = subprocess.run(
            ["git", *question], cwd=where, env=dict(env), capture_output=True, check=False
        )
    except OSError as error:
        raise IoRefused("git", error.errno or 0, "run") from error
    return "" if done.returncode else os.fsdecode(done.stdout.removesuffix(b"\n"))
