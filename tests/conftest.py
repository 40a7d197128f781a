"""What holds for the whole suite, and nothing that one folder alone needs.

Hundreds of tests start the real commands as processes. Where the environment forbids Python to
keep its bytecode (containers do), each of these processes would compile the project and all that
it imports anew, which takes longer than what it is started for. So the bytecode of one run is kept
in a folder of that run, which goes with it.
"""

import os
import shutil
import sys
import tempfile

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Before xdist starts its workers: they and their children inherit the environment."""
    if not sys.dont_write_bytecode or hasattr(config, "workerinput"):
        return
    folder = tempfile.mkdtemp(prefix="bytecode-")
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = folder
