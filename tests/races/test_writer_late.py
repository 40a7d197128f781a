"""Real processes that come too late, and many at once."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from heimdall import hints
from heimdall.journal.read import open_reader
from heimdall.journal.write import open_writer
from heimdall.model import Presence
from heimdall.writer import reconcile, verify
from tests.support.index import clean_graph, graph, index, row
from tests.support.trees import TWO_MODULES, plant

LATE = """
import os, sys
from heimdall.extract.pool import Pool
from heimdall.writer import reconcile
from tests.support.index import settings

run = Pool.run
def slow(self, jobs):
    for extracted in run(self, jobs):
        # What was read is in hand and not committed.
        print("read", flush=True)
        sys.stdin.readline()
        yield extracted
Pool.run = slow
done = reconcile(settings(sys.argv[1]), [sys.argv[2]])
print(sorted(str(action) for action in done.counts), flush=True)
"""

MANY = """
import os, sys, time
from heimdall import hints
from heimdall.errors import WriterBusy
from heimdall.writer import reconciler
from tests.support.index import settings
home, root, number = sys.argv[1], sys.argv[2], int(sys.argv[3])
children = []
for mine in range(number):
    child = os.fork()
    if child == 0:
        path = os.path.join(root, f"m{mine % 10}.py")
        with open(f"{path}.{mine}", "w") as file:
            file.write(f"from m{mine % 9} import f\\ndef f(): return {mine}\\n")
        os.replace(f"{path}.{mine}", path)
        try:
            reconciler.reconcile(settings(home)._replace(lock_timeout_s=0.2), [path])
        except WriterBusy:
            os._exit(7)
        except BaseException:
            import traceback
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    children.append(child)
codes = {os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children}
sys.exit(0 if codes <= {0, 7} else 1)
"""


@contextmanager
def late(home: str, path: str) -> Iterator["subprocess.Popen[str]"]:
    """A process that has read `path`, and is stopped before it commits."""
    with subprocess.Popen(
        [sys.executable, "-c", LATE, home, path],
        env={**os.environ, "PYTHONPATH": os.getcwd()},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "read\n"
        child.send_signal(signal.SIGSTOP)
        try:
            yield child
        finally:
            child.send_signal(signal.SIGCONT)
            child.kill()


def _go_on(child: "subprocess.Popen[str]") -> str:
    child.send_signal(signal.SIGCONT)
    return child.communicate("\n" * 9, timeout=60)[0].splitlines()[-1]


def test_a_late_reconcile_cannot_bring_back_a_deleted_symbol(tmp_path: Path) -> None:
    root, home = plant(str(tmp_path / "r"), TWO_MODULES), str(tmp_path / "home")
    made, _ = index(home, root)
    path = os.path.join(root, "pkg/low.py")
    plant(root, {"pkg/low.py": "def doomed(): ...\n"})
    with late(home, path) as child:
        os.unlink(path)
        # The path moves on while its old bytes are in another's hand; what a lock would forbid is
        # done here past it, for a lock on a disk of the network may forbid nothing.
        with open_writer(home, now=made.now) as journal:
            journal.enqueue([path], "hook")
        assert "stale" in _go_on(child)
    with open_reader(home) as journal:
        assert journal.node(path, "doomed") is None
        assert journal.behind()
    reconcile(made, ())
    found = row(home, path)
    assert found is not None
    assert found.state is Presence.GONE
    assert graph(home) == clean_graph(home, root)


def test_what_is_deleted_and_hinted_while_a_pass_is_stopped_is_gone_after_it(
    tmp_path: Path,
) -> None:
    root, home = plant(str(tmp_path / "r"), TWO_MODULES), str(tmp_path / "home")
    made, _ = index(home, root)
    path = os.path.join(root, "pkg/low.py")
    plant(root, {"pkg/low.py": "def doomed(): ...\n"})
    with late(home, path) as child:
        os.unlink(path)
        hints.append(home, [path], "hook", at_ms=1)
        _go_on(child)
    with open_reader(home) as journal:
        assert journal.node(path, "doomed") is None
    assert graph(home) == clean_graph(home, root)
    assert verify(made) == ()


def test_forty_processes_at_once_end_in_one_set_of_rows(tmp_path: Path) -> None:
    root, home = str(tmp_path / "r"), str(tmp_path / "home")
    os.makedirs(root)
    made, _ = index(home, root)
    subprocess.run(
        [sys.executable, "-c", MANY, home, root, "40"],
        env={**os.environ, "PYTHONPATH": os.getcwd()},
        check=True,
    )
    reconcile(made, ())
    assert graph(home) == clean_graph(home, root)
    assert verify(made, deep=True) == ()
