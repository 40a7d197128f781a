"""What the machine must offer, and acting as somebody who is not root."""

import os
import subprocess
import tempfile
import traceback
from collections.abc import Callable

import pytest

NOBODY = 65534


def need(offered: object, what: str) -> None:
    """Skip a test for want of something; a run that must be complete fails instead."""
    if offered:
        return
    if os.environ.get("TESTS_COMPLETE"):
        pytest.fail(f"this machine cannot show: {what}")
    pytest.skip(what)


def need_root() -> None:
    """Only root can drop to another user, and mount."""
    need(os.geteuid() == 0, "needs root to become somebody else, or to mount")


def as_nobody(act: Callable[[], None]) -> None:
    """Run `act` in a child that has no privileges; its failure is this test's failure."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            act()
            code = 0
        except BaseException:  # noqa: BLE001 # whatever it was, the parent shall print it
            os.write(writer, traceback.format_exc().encode()[:60000])
        finally:
            os._exit(code)
    os.close(writer)
    with open(reader, "rb") as pipe:
        report = pipe.read().decode("utf-8", "replace")
    if os.waitpid(child, 0)[1] != 0:
        pytest.fail(report)


def let_in(directory: str) -> str:
    """Let everybody reach a test's own directory; it."""
    here = directory
    while os.stat(here).st_uid == os.getuid() and here.startswith(tempfile.gettempdir() + os.sep):
        os.chmod(here, os.stat(here).st_mode | 0o055)
        here = os.path.dirname(here)
    return directory


def hand_over(root: str) -> None:
    """Give a tree to nobody."""
    subprocess.run(["chown", "-R", f"{NOBODY}:{NOBODY}", root], check=True)
