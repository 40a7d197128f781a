"""What the machine must offer, and acting as somebody who is not root."""

import ctypes
import os
import subprocess
import sys
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
    """Run `act` in a child that is nobody; its failure is this test's failure."""
    _apart(_become_nobody, act)


def bound_by_modes(act: Callable[[], None]) -> None:
    """Run `act` in a child for which the modes of files count although it is root: unlike nobody
    it can start Python wherever that lies. Its failure is this test's failure."""
    need(sys.platform == "linux", "needs Linux to give up a part of root's powers")
    _apart(_give_up_powers, act)


def _become_nobody() -> None:
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


_PR_CAPBSET_DROP = 24
_CAPABILITIES_3 = 0x20080522
_DAC = (1, 2)  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH


def _give_up_powers() -> None:
    """Without the two capabilities that overrule modes, in this process and what it starts."""
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in _DAC:
        if libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "prctl")
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_3, 0)
    sets = (ctypes.c_uint32 * 6)()
    if libc.capget(header, sets):
        raise OSError(ctypes.get_errno(), "capget")
    for place in (0, 1, 2):  # effective, permitted, inheritable
        for capability in _DAC:
            sets[place] &= ~(1 << capability)
    if libc.capset(header, sets):
        raise OSError(ctypes.get_errno(), "capset")


def _apart(drop: Callable[[], None], act: Callable[[], None]) -> None:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            drop()
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
