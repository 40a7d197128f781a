"""Where a pass touches the disk: every statement, commit, rename and hint of it, counted and cut
off at the n-th. And parsers that outlive a pass, so that a test of many passes starts them once."""

import os
import signal
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import pytest

from heimdall import hints
from heimdall.extract import pool as pooling
from heimdall.extract.pool import Pool
from heimdall.journal import create, write
from heimdall.journal.write import JournalWriter
from heimdall.sinks import tantivy
from heimdall.writer import follow, intake, lock, reconciler
from tests.support.failing import Countdown, FailingBase, FailingModule, FailingOs, counted

_ROOMS: tuple[ModuleType, ...] = (hints, lock, tantivy, write)
_SINK = ("replace", "remove", "clear", "commit")
_PEN = ("settle", "enqueue", "set_stamp", "record_move", "set_skips", "prune")


class _Connection(FailingBase):
    """The journal's connection with its sweeps counted as well."""

    def executemany(self, *args: Any) -> sqlite3.Cursor:
        self.countdown.step()
        return super().executemany(*args)


class _Sqlite(FailingModule):
    def connect(self, *args: Any, **named: Any) -> sqlite3.Connection:
        self._countdown.step()
        made = sqlite3.connect(*args, factory=_Connection, **named)
        made.countdown = self._countdown
        return made


def install(patch: pytest.MonkeyPatch, countdown: Countdown) -> None:
    """Count every step of the rooms through which a pass changes anything."""
    for room in _ROOMS:
        patch.setattr(room, "os", FailingOs(countdown))
    patch.setattr(write, "sqlite3", _Sqlite(sqlite3, (), countdown))
    for owner, names in ((tantivy.TantivyWriter, _SINK), (JournalWriter, _PEN)):
        for name in names:
            patch.setattr(owner, name, counted(getattr(owner, name), countdown))
    patch.setattr(intake, "taken", counted(intake.taken, countdown))
    patch.setattr(create, "prepare", counted(create.prepare, countdown))
    patch.setattr(reconciler, "follow", counted(follow.follow, countdown))


def killed_at(n: int, act: Callable[[], object]) -> bool:
    """Run `act` in a child that the kernel kills at its n-th step; False where it was done before
    that."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            with pytest.MonkeyPatch.context() as patch:
                install(patch, Countdown(n, lambda: os.kill(os.getpid(), signal.SIGKILL)))
                act()
            code = 0
        finally:
            os._exit(code)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return True
    assert os.WEXITSTATUS(status) == 0
    return False


def steps(act: Callable[[], object]) -> int:
    """How many steps `act` takes."""
    countdown = Countdown(1 << 40, lambda: None)
    with pytest.MonkeyPatch.context() as patch:
        install(patch, countdown)
        act()
    return (1 << 40) - countdown.left


class _Kept(Pool):
    """A pool that is left open."""

    def __exit__(self, *_: object) -> None:
        return

    def end(self) -> None:
        super().__exit__()


@contextmanager
def kept_parsers() -> Iterator[None]:
    """All passes of this process use one pool of parsers, ended with the body."""
    made: list[_Kept] = []

    def opened(workers: int) -> Pool:
        if not made:
            made.append(_Kept(workers))
        return made[0]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reconciler, "Pool", opened)
        patch.setattr(pooling, "Pool", opened)
        try:
            yield
        finally:
            for one in made:
                one.end()
