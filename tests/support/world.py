"""Surroundings of a store: a person with settings of his own, his repository, and a whole life of a
store in them, judged by his git and by a git without settings."""

import os
import subprocess
from collections.abc import Callable, Mapping
from contextlib import suppress

from gitmemo import Mode, Store
from tests.support.memory import assert_sound, draft, git

CONTENT = "windows\r\nunix\n$Id$ \t\nlast line without an end"
"""What a filter, a line-end rule or a clean-up would change."""


def person(home: str, settings: str = "", **more: str) -> dict[str, str]:
    """The environment of a person whose home is `home`, with `settings` as his git's own."""
    os.makedirs(home, exist_ok=True)
    if settings:
        with open(os.path.join(home, ".gitconfig"), "w", encoding="utf-8") as file:
            file.write(settings)
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("GIT_", "HEIMDALL_", "XDG_")) and name != "EMAIL"
    }
    return {**kept, "HOME": home, "GIT_CONFIG_NOSYSTEM": "1", **more}


def his_git(env: Mapping[str, str], folder: str, *args: str, check: bool = True) -> str:
    """What the person's git prints, with his settings, as he would call it."""
    done = subprocess.run(
        ["git", "-C", folder, *args], capture_output=True, env=dict(env), check=False
    )
    if check and done.returncode:
        raise AssertionError(f"git {args}: {done.stdout!r}{done.stderr!r}")
    return done.stdout.decode("utf-8", "surrogateescape")


def code_repository(root: str) -> str:
    """A repository with one commit, a staged and an unstaged change, a branch and a tag."""
    os.makedirs(root, exist_ok=True)
    git(root, "init", "-q", "-b", "main")
    for name in ("a.py", "b.py", "c.py"):
        put(os.path.join(root, name), f"{name} = 1\n")
    git(root, "add", "a.py", "b.py")
    git(root, "commit", "-q", "-m", "first")
    git(root, "branch", "other")
    git(root, "tag", "v1")
    put(os.path.join(root, "a.py"), "edited\n")
    git(root, "add", "a.py")
    put(os.path.join(root, "b.py"), "edited\n")
    return root


def put(path: str, text: str, mode: int = 0o644) -> str:
    """A file with `text`, and its folders; its path."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(text)
    os.chmod(path, mode)
    return path


def photograph(git_dir: str) -> dict[str, bytes]:
    """Every file of a git directory but the one line list that a store may add to, by bytes."""
    found: dict[str, bytes] = {}
    for base, _, names in os.walk(git_dir):
        for name in names:
            path = os.path.relpath(os.path.join(base, name), git_dir)
            if path.startswith((".mem", "gitmemo.git")):  # the store below a bare one, its copy
                continue
            with open(os.path.join(base, name), "rb") as file:
                found[path] = file.read()
    found.pop("info/exclude", None)
    return found


def live(root: str, between: Callable[[], object] = lambda: None) -> Store:
    """Everything that can be done to a store, with `between` called in the middle of it."""
    store = Store.init(root, lock_timeout_s=10.0)
    kept = store.write(draft("#1 kept", content=CONTENT))
    second = store.write(draft("second"))
    between()
    third = store.replace(second.id, draft("third", content=CONTENT))
    between()
    store = Store.open(root, lock_timeout_s=10.0)  # another process knows nothing
    store.delete(store.write(draft("fourth")).id, "no longer")
    between()
    for mode in Mode:
        assert {hit.id for hit in store.search(["memory"], mode=mode).hits} == {kept.id, third.id}
    assert store.read(kept.id).content.rstrip("\n") == CONTENT
    assert store.read(second.id).current == (third.id,)
    assert [event.title for event in store.history()[3:]] == ["second", "#1 kept"]
    for wrote in (kept, third):
        assert git(store.path, "log", "-1", "--format=%H", "main", "--", wrote.file) == (
            f"{wrote.id}\n"
        )
    return store


def judge(store: Store, env: Mapping[str, str]) -> None:
    """Nothing is wrong with the store, in a clean git's eyes and in the person's."""
    assert_sound(store)
    assert his_git(env, store.path, "status", "--porcelain") == ""
    # Again without what git remembers of the files: it has to compare bytes, through his filters.
    with suppress(FileNotFoundError):
        for base, _, names in os.walk(os.path.join(store.path, "entries")):
            for name in names:
                os.utime(os.path.join(base, name), (1, 1))
    assert his_git(env, store.path, "status", "--porcelain") == ""
    Store.open(store.root, lock_timeout_s=10.0).write(draft("afterwards"))
    assert_sound(store)
