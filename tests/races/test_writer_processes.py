"""Several reconcilers at once: one works, the others wait; nothing is lost, nothing doubled."""

import os
import subprocess
import sys
from pathlib import Path

from heimdall.writer import add_root, reconcile, verify
from tests.support.index import clean_graph, graph, settings
from tests.support.trees import plant

RUN = """
import os, sys
from heimdall.writer import reconcile
from tests.support.index import settings
home, root, mine = sys.argv[1:]
for number in range(5):
    path = os.path.join(root, f"{mine}_{number}.py")
    with open(path, "w") as file:
        file.write(f"from {mine}_{number - 1} import f\\ndef f(): return {number}\\n")
    reconcile(settings(home)._replace(lock_timeout_s=60.0), [path])
"""


def test_reconcilers_at_once_end_in_the_graph_that_one_would_have_made(tmp_path: Path) -> None:
    root, home = str(tmp_path / "r"), str(tmp_path / "home")
    os.makedirs(root)
    add_root(settings(home), root)
    children = [
        subprocess.Popen(
            [sys.executable, "-c", RUN, home, root, f"m{number}"],
            env={**os.environ, "PYTHONPATH": os.getcwd()},
            stderr=subprocess.PIPE,
        )
        for number in range(6)
    ]
    for child in children:
        _, complaint = child.communicate(timeout=100)
        assert child.returncode == 0, complaint.decode()
    assert graph(home) == clean_graph(home, root)
    assert verify(settings(home), deep=True) == ()


def test_files_that_come_and_go_while_they_are_indexed_leave_no_ghost(tmp_path: Path) -> None:
    root, home = str(tmp_path / "r"), str(tmp_path / "home")
    plant(root, {f"s{n}.py": f"def s{n}(): ...\n" for n in range(50)})
    made = settings(home)
    add_root(made, root)
    storm = (
        "import os, sys, time\n"
        "end = time.time() + 1.5\n"
        "n = 0\n"
        "while time.time() < end:\n"
        "    n += 1\n"
        "    p = os.path.join(sys.argv[1], f's{n % 60}.py')\n"
        "    open(p + '~', 'w').write(f'def v{n}(): ...\\n')\n"
        "    os.replace(p + '~', p)\n"
        "    if n % 7 == 0: os.unlink(p)\n"
    )
    with subprocess.Popen([sys.executable, "-c", storm, root]) as child:
        while child.poll() is None:
            reconcile(made, None)
    reconcile(made, None)
    assert verify(made, deep=True) == ()
    assert graph(home) == clean_graph(home, root)
