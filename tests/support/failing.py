"""Failure at the n-th step: every call by which a store touches the disk, counted and cut off."""

import builtins
import os
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from gitmemo import copying, indexing, intent, lock, repo, seen, survival, worktree

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
)
REPO_STEPS = ("write_commit", "restage", "tip", "raw", "file", "dirt", "blob_id", "tidy")


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


def counted(real: Callable[..., Any], countdown: Countdown) -> Callable[..., Any]:
    def call(*args: Any, **named: Any) -> Any:
        countdown.step()
        return real(*args, **named)

    return call


def install(patch: pytest.MonkeyPatch, countdown: Countdown) -> None:
    """Count every step of the rooms that touch the disk."""
    rooms: tuple[ModuleType, ...] = (worktree, intent, repo, lock, seen, survival, copying)
    for room in rooms:
        patch.setattr(room, "os", FailingOs(countdown))
        patch.setattr(room, "open", counted(builtins.open, countdown), raising=False)
    for name in REPO_STEPS:
        patch.setattr(repo.Repo, name, counted(getattr(repo.Repo, name), countdown))
    patch.setattr(indexing, "_extend", counted(indexing._extend, countdown))
