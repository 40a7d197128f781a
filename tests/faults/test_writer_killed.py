"""kill -9 at any moment of an index run: the next run converges to the clean rebuild."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from heimdall.journal.read import open_reader
from heimdall.sinks import tantivy
from heimdall.writer import add_root, reconcile, verify
from tests.support.index import clean_graph, graph, settings
from tests.support.trees import plant

RUN = """
import sys
from heimdall.writer import drain
from heimdall.writer import reconcile
from tests.support.index import settings
drain._HANDFUL, drain._BATCH = 2, 4
print("go", flush=True)
reconcile(settings(sys.argv[1], jobs=2), None, progress=lambda done, _: print(done, flush=True))
"""

FILES = {
    f"p{n % 5}/m{n}.py": f"from p{(n + 1) % 5}.m{n + 1} import f{n + 1}\n"
    + "".join(f"def f{n}_{i}():\n    return f{n + 1}()\n" for i in range(12))
    + f"def f{n}():\n    return 1\n"
    for n in range(60)
}


@pytest.mark.parametrize("after", [0, 1, 2, 5, 9])
def test_an_index_run_killed_at_any_moment_is_finished_by_the_next(
    tmp_path: Path, after: int
) -> None:
    root, home = plant(str(tmp_path / "r"), FILES), str(tmp_path / "home")
    made = settings(home)
    add_root(made, root)
    with subprocess.Popen(
        [sys.executable, "-c", RUN, home],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.getcwd()},
        start_new_session=True,
    ) as child:
        assert child.stdout is not None
        for _ in range(after + 1):
            child.stdout.readline()
        time.sleep(0.004 * after)
        # The run and its parser processes, as a machine that loses power would take them.
        os.killpg(child.pid, signal.SIGKILL)
        child.stdout.read()
    reconcile(made, None)
    assert graph(home) == clean_graph(home, root)
    assert verify(made, deep=True) == ()
    with open_reader(home) as journal:
        sink = tantivy.open_sink_reader(home, journal.stamp())
    assert not isinstance(sink, str)
    assert len({hit.path for hit in sink.find(["return"], 500, symbols=False)}) == len(FILES)
