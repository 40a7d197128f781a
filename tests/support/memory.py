"""Small memory stores for tests: a project with a clock of its own, and git as the judge of it."""

import os
import subprocess
from typing import Any, NamedTuple

from gitmemo import Draft, Identity, Store

NOW = 1_790_000_000.0
IDENTITY = Identity("A Tester", "tester@example.invalid")
GOLDEN = os.path.join(os.path.dirname(os.path.dirname(__file__)), "golden", "gitmemo")


class Clock:
    """Seconds that move only when told, or by `step` with each question."""

    def __init__(self, now: float = NOW, step: float = 1.0) -> None:
        self.now = now
        self.step = step

    def __call__(self) -> float:
        self.now += self.step
        return self.now


class FileState(NamedTuple):
    """What a read could have changed about a file."""

    data: bytes | None
    mtime_ns: int
    inode: int


def git(
    folder: str,
    *args: str,
    check: bool = True,
    date: str | None = None,
    stdin: str | None = None,
) -> str:
    """What the git program prints, free of the settings of whoever runs the tests."""
    env = {
        "PATH": os.environ["PATH"],
        "HOME": "/nonexistent",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        **{f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in _WHO},
    }
    if date is not None:
        env["GIT_AUTHOR_DATE"] = env["GIT_COMMITTER_DATE"] = date
    done = subprocess.run(
        ["git", "-C", folder, *args],
        capture_output=True,
        env=env,
        input=None if stdin is None else stdin.encode(),
        check=False,
    )
    stdout, stderr = (os.fsdecode(data) for data in (done.stdout, done.stderr))
    if check and done.returncode:
        raise AssertionError(f"git {args}: {stdout}{stderr}")
    return stdout


_WHO = (("NAME", "Somebody"), ("EMAIL", "somebody@example.invalid"))


def project(folder: object, *, clock: Clock | None = None, timeout_s: float = 30.0) -> Store:
    """A code repository at `folder` with an empty store."""
    root = os.fspath(str(folder))
    os.makedirs(root, exist_ok=True)
    git(root, "init", "-q", "-b", "main")
    return Store.init(root, identity=IDENTITY, clock=clock or Clock(), lock_timeout_s=timeout_s)


def reopened(store: Store, *, clock: Clock | None = None, timeout_s: float = 30.0) -> Store:
    """The same store as another process would open it."""
    return Store.open(
        store.root, identity=IDENTITY, clock=clock or Clock(), lock_timeout_s=timeout_s
    )


def golden(name: str, folder: object, *, now: float) -> Store:
    """The recorded store `name` of another engine, its clock standing at `now`."""
    root = os.fspath(str(folder))
    os.makedirs(root, exist_ok=True)
    git(root, "init", "-q", "-b", "main")
    bundle = os.path.join(GOLDEN, f"{name}.bundle")
    git(root, "clone", "-q", "-b", "main", bundle, os.path.join(root, ".mem"))
    return Store.open(root, identity=IDENTITY, clock=Clock(now, step=0.0))


def draft(title: str = "[cache] bound the LRU", **fields: Any) -> Draft:
    """A draft that differs from others by its title."""
    base = Draft(title, f"What {title} says.", ("memory", "test"), "The outcome.\n")
    return base._replace(**fields)


def files(folder: str) -> dict[str, FileState]:
    """Every file and folder below `folder`, with all that a read could change about it."""
    found: dict[str, FileState] = {}
    for base, folders, names in os.walk(folder):
        for name in (*folders, *names):
            path = os.path.join(base, name)
            status = os.lstat(path)
            data = None
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    data = file.read()
            found[path] = FileState(data, status.st_mtime_ns, status.st_ino)
    return found


def assert_sound(store: Store, *, swept: bool = True) -> None:
    """Git finds nothing to complain about, and nobody left anything behind (`swept`)."""
    git_dir = os.path.join(store.path, ".git")
    assert git(store.path, "fsck", "--strict", "--no-dangling") == ""
    assert git(store.path, "status", "--porcelain") == ""
    assert git(store.path, "symbolic-ref", "HEAD") == "refs/heads/main\n"
    if not swept:
        return
    left = [name for name in os.listdir(git_dir) if name.endswith((".tmp", ".lock", ".json"))]
    assert [name for name in left if name != "gitmemo.lock"] == []
    beside = [name for name in os.listdir(store.root) if name.startswith(".mem.")]
    assert beside == [], beside
