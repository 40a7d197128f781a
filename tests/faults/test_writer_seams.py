"""A pass that fails, or dies, at its n-th call of whatever touches the disk: for every n until one
runs to its end. After each the next pass comes to what a clean rebuild comes to."""

import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from heimdall import hints
from heimdall.config import Settings
from heimdall.errors import IoRefused
from heimdall.journal.read import open_reader
from heimdall.writer import reconcile, verify
from tests.support import seams
from tests.support.failing import Countdown, Killed
from tests.support.index import clean_graph, graph, index
from tests.support.trees import TWO_MODULES, plant

FULL = bool(os.environ.get("TESTS_FULL"))


@pytest.fixture(scope="module", autouse=True)
def parsers() -> Iterator[None]:
    with seams.kept_parsers():
        yield


class Bench:
    """A project that changes to and fro, so that each pass has something of everything to do."""

    def __init__(self, tmp: Path) -> None:
        self.root, self.home = plant(str(tmp / "r"), TWO_MODULES), str(tmp / "home")
        self.settings: Settings
        self.settings, _ = index(self.home, self.root)
        self._turn = 0
        self._clean: dict[int, list[str]] = {}

    def change(self) -> None:
        """An edit, a file that comes and one that goes, and hints of all and of more."""
        self._turn = 1 - self._turn
        low = "def base(): ...\n" if self._turn else TWO_MODULES["pkg/low.py"]
        here, gone = ("new.py", "old.py") if self._turn else ("old.py", "new.py")
        plant(self.root, {"pkg/low.py": low, here: "from pkg.low import base\nbase()\n"})
        if os.path.exists(os.path.join(self.root, gone)):
            os.unlink(os.path.join(self.root, gone))
        names = ("pkg/low.py", here, gone, "never.py")
        paths = [os.path.join(self.root, name) for name in names]
        hints.append(self.home, paths, "hook", at_ms=1)

    def work(self) -> None:
        reconcile(self.settings, ())

    def is_right(self) -> None:
        """What was left behind is found by the next pass: nothing was lost on the way."""
        self.work()
        if self._turn not in self._clean:
            self._clean[self._turn] = clean_graph(self.home, self.root)
        assert graph(self.home) == self._clean[self._turn]
        with open_reader(self.home) as journal:
            assert not journal.behind()

    def steps(self) -> list[int]:
        """Every step, or by default a few of them, spread evenly."""
        self.change()
        total = seams.steps(self.work)
        self.is_right()
        assert total > 40
        return list(range(1, total + 1, 1 if FULL else total // 8))


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_killed_at_any_step_the_next_pass_makes_it_good(bench: Bench) -> None:
    for n in bench.steps():
        bench.change()
        seams.killed_at(n, bench.work)
        bench.is_right()
    assert verify(bench.settings, deep=True) == ()


def _full() -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _dies() -> None:
    raise Killed


@pytest.mark.parametrize("act", [_full, _dies])
def test_failing_at_any_step_it_lets_go_and_the_next_pass_makes_it_good(
    bench: Bench, act: Callable[[], None]
) -> None:
    for n in bench.steps():
        bench.change()
        with pytest.MonkeyPatch.context() as patch:
            countdown = Countdown(n, act)
            seams.install(patch, countdown)
            try:
                bench.work()
            except (IoRefused, Killed):
                assert countdown.met
        bench.is_right()
    assert verify(bench.settings, deep=True) == ()
