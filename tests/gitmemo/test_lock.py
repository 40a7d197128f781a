"""Who may write: our own lock, the other engine's file, and files of the dead."""

import fcntl
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmemo import lock
from gitmemo.errors import LockTimeout
from gitmemo.lock import ENGINE_LOCK, Holder, Met, hold, is_stale

HOST = socket.gethostname()


def place(tmp_path: object) -> tuple[str, str]:
    root = str(tmp_path)
    git_dir = os.path.join(root, ".mem", ".git")
    os.makedirs(git_dir)
    return root, git_dir


def lock_file(root: str, text: str, *, age_s: float = 0.0) -> str:
    path = os.path.join(root, ENGINE_LOCK)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.utime(path, (time.time() - age_s,) * 2)
    return path


def said(pid: int, host: str = HOST, **more: object) -> str:
    return json.dumps({"pid": pid, "host": host, "operation": "write", **more})


def dead_pid() -> int:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    return ended.pid


def test_the_other_engine_sees_who_holds_the_store_and_nothing_stays(tmp_path: object) -> None:
    root, git_dir = place(tmp_path)
    with hold(root, git_dir, "write", timeout_s=1.0):
        with open(os.path.join(root, ENGINE_LOCK), encoding="utf-8") as file:
            body = json.load(file)
        assert body["pid"] == os.getpid()
        assert body["host"] == HOST
        assert body["operation"] == "write"
        assert set(body) >= {"startedAt", "operationId"}
    assert os.listdir(root) == [".mem"]
    assert os.listdir(git_dir) == [lock.KERNEL_LOCK]


@pytest.mark.parametrize(
    "text",
    [
        said(os.getpid()),
        said(1),
        said(0),
        said(-1),
        said(dead_pid(), "another-host"),
        said(dead_pid()),
        "{ not json",
        "",
        "[]",
        "[" * 60_000,
        '{"pid": true}',
    ],
    ids=[
        "living",
        "pid 1",
        "pid 0",
        "pid -1",
        "another host",
        "just died",
        "half written",
        "empty",
        "no object",
        "deeper than any reader",
        "no number",
    ],
)
def test_a_lock_that_may_be_alive_is_waited_for_and_left_alone(tmp_path: object, text: str) -> None:
    root, git_dir = place(tmp_path)
    path = lock_file(root, text)
    with pytest.raises(LockTimeout) as refused, hold(root, git_dir, "write", timeout_s=0.05):
        pass
    assert refused.value.path == path
    with open(path, encoding="utf-8") as file:
        assert file.read() == text


def test_the_holder_is_named(tmp_path: object) -> None:
    root, git_dir = place(tmp_path)
    lock_file(root, said(1234567, "elsewhere"))
    with pytest.raises(LockTimeout) as refused, hold(root, git_dir, "write", timeout_s=0.0):
        pass
    assert refused.value.holder == "1234567@elsewhere"


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "make",
    [os.mkdir, os.mkfifo, lambda path: os.symlink("nowhere", path)],
    ids=["directory", "fifo", "dangling link"],
)
def test_what_is_no_file_in_the_place_of_the_lock_is_waited_for(
    tmp_path: object, make: Callable[[str], None]
) -> None:
    root, git_dir = place(tmp_path)
    make(os.path.join(root, ENGINE_LOCK))
    with (
        pytest.raises(LockTimeout) as refused,
        hold(root, git_dir, "write", timeout_s=0.05),
    ):
        pass
    assert refused.value.holder == "unknown"


def test_a_kernel_lock_without_the_engines_file_is_named_itself(tmp_path: object) -> None:
    root, git_dir = place(tmp_path)
    path = os.path.join(git_dir, lock.KERNEL_LOCK)
    with open(path, "wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with (
            pytest.raises(LockTimeout) as refused,
            hold(root, git_dir, "write", timeout_s=0.05),
        ):
            pass
    assert refused.value.path == path


@pytest.mark.parametrize("text", [said(dead_pid()), ""], ids=["dead", "empty"])
def test_a_lock_of_the_dead_that_is_old_enough_is_broken(tmp_path: object, text: str) -> None:
    root, git_dir = place(tmp_path)
    lock_file(root, text, age_s=11.0)
    with hold(root, git_dir, "write", timeout_s=1.0):
        pass
    assert os.listdir(root) == [".mem"]


def test_our_own_lock_of_a_killed_process_is_broken_at_once(tmp_path: object) -> None:
    root, git_dir = place(tmp_path)
    lock_file(root, said(os.getpid(), "a-container-of-this-disk", engine="gitmemo"))
    with hold(root, git_dir, "write", timeout_s=0.5):
        pass


def test_a_lock_that_was_taken_from_us_is_not_removed_when_we_end(tmp_path: object) -> None:
    root, git_dir = place(tmp_path)
    path = os.path.join(root, ENGINE_LOCK)
    with hold(root, git_dir, "write", timeout_s=1.0):
        os.unlink(path)
        lock_file(root, said(4321))
    with open(path, encoding="utf-8") as file:
        assert json.load(file)["pid"] == 4321


def test_another_process_is_waited_for_and_its_death_frees_the_store(tmp_path: object) -> None:
    root, git_dir = place(tmp_path)
    code = (
        "import sys, time; from gitmemo.lock import hold\n"
        f"with hold({root!r}, {git_dir!r}, 'write', timeout_s=5.0):\n"
        "    print('held', flush=True); time.sleep(60)"
    )
    other = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert other.stdout is not None
    assert other.stdout.readline() == "held\n"
    with pytest.raises(LockTimeout) as refused, hold(root, git_dir, "write", timeout_s=0.1):
        pass
    assert refused.value.holder == f"{other.pid}@{HOST}"
    other.kill()
    other.communicate()
    with hold(root, git_dir, "write", timeout_s=1.0):
        pass


def test_a_thread_of_the_same_process_waits_too(tmp_path: object) -> None:
    root, git_dir = place(tmp_path)
    with (
        hold(root, git_dir, "write", timeout_s=1.0),
        pytest.raises(LockTimeout),
        hold(root, git_dir, "write", timeout_s=0.05),
    ):
        pass


HOLDERS = st.builds(
    Holder,
    pid=st.none() | st.integers(-2, 5000),
    host=st.sampled_from([HOST, "other", ""]),
    ours=st.booleans(),
    token=st.just("t"),
)
METS = st.builds(
    Met, holder=HOLDERS, inode=st.just(1), age_s=st.floats(0, 200), size=st.sampled_from([0, 90])
)


@given(found=METS, alive=st.booleans(), alone=st.booleans(), timeout_s=st.floats(0, 30))
def test_no_lock_of_a_living_foreigner_is_ever_stale(
    found: Met, alive: bool, alone: bool, timeout_s: float
) -> None:
    stale = is_stale(found, host=HOST, alive=alive, alone=alone, timeout_s=timeout_s)
    foreign = not found.holder.ours and found.size > 0
    if foreign and (alive or found.holder.host != HOST):
        assert not stale
    if stale and not found.holder.ours:
        assert found.age_s > max(10.0, 2 * timeout_s)
