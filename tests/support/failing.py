"""Failure at the n-th step: every call by which a store touches the disk, counted and cut off."""

import builtins
import os
import shutil
import sqlite3
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pygit2
import pytest

from gitmemo import (
    copying,
    founding,
    indexing,
    intent,
    lock,
    repo,
    seen,
    survival,
    worktree,
    writing,
)

STEPS = (
    "link",
    "replace",
    "rename",
    "unlink",
    "fsync",
    "makedirs",
    "rmdir",
    "open",
    "pwrite",
    "utime",
    "listdir",
)
REPO_STEPS = ("write_commit", "restage", "tip", "raw", "file", "dirt", "blob_id", "tidy")
LIBRARY_STEPS = ("init_repository", "Repository", "IndexEntry", "Signature")


class Killed(BaseException):
    """What no handler of the store expects: the process ends here."""


class Countdown:
    """Calls `act` instead of the n-th step, counted from one; `met` tells whether it came to it."""

    def __init__(self, n: int, act: Callable[[], None]) -> None:
        self.left = n
        self.act = act

    @property
    def met(self) -> bool:
        return self.left <= 0

    def step(self) -> None:
        self.left -= 1
        if self.left == 0:
            self.act()


class FailingOs:
    """The `os` module with its disk calls counted."""

    def __init__(self, countdown: Countdown) -> None:
        self._countdown = countdown

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        return counted(real, self._countdown) if name in STEPS else real


class FailingBase(sqlite3.Connection):
    """A connection whose statements are counted, as far as they change the file."""

    countdown: Countdown

    def execute(self, *args: Any) -> sqlite3.Cursor:
        if not args[0].startswith(("SELECT", "PRAGMA")):
            self.countdown.step()
        return super().execute(*args)


class FailingModule:
    """A module some of whose functions are counted."""

    def __init__(self, real: ModuleType, names: tuple[str, ...], countdown: Countdown) -> None:
        self._real, self._names, self._countdown = real, names, countdown

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._real, name)
        return counted(found, self._countdown) if name in self._names else found


class FailingSqlite(FailingModule):
    """The `sqlite3` module with connections whose steps are counted."""

    def connect(self, *args: Any, **named: Any) -> sqlite3.Connection:
        self._countdown.step()
        base = sqlite3.connect(*args, factory=FailingBase, **named)
        base.countdown = self._countdown
        return base


def counted(real: Callable[..., Any], countdown: Countdown) -> Callable[..., Any]:
    def call(*args: Any, **named: Any) -> Any:
        countdown.step()
        return real(*args, **named)

    return call


def install(patch: pytest.MonkeyPatch, countdown: Countdown) -> None:
    """Count every step of the rooms that touch the disk."""
    rooms: tuple[ModuleType, ...] = (
        worktree,
        intent,
        repo,
        lock,
        seen,
        survival,
        copying,
        writing,
        founding,
        indexing,
    )
    for room in rooms:
        patch.setattr(room, "os", FailingOs(countdown))
        patch.setattr(room, "open", counted(builtins.open, countdown), raising=False)
    for name in REPO_STEPS:
        patch.setattr(repo.Repo, name, counted(getattr(repo.Repo, name), countdown))
    patch.setattr(repo, "pygit2", FailingModule(pygit2, LIBRARY_STEPS, countdown))
    patch.setattr(founding, "shutil", FailingModule(shutil, ("rmtree",), countdown))
    patch.setattr(indexing, "sqlite3", FailingSqlite(sqlite3, (), countdown))
    patch.setattr(indexing, "_extend", counted(indexing._extend, countdown))
