"""Who may write: our own lock, the other engine's file, and files of the dead."""

import errno
import fcntl
import io
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import portalocker
import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmemo import lock
from gitmemo.errors import LockTimeout
from gitmemo.lock import ENGINE_LOCK, Holder, Met, has_ended, hold, is_stale
from tests.support.machine import bound_by_modes, need, need_root

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


def test_who_has_waited_is_served_before_who_has_just_let_go(tmp_path: object) -> None:
    root, git_dir = place(tmp_path)
    code = (
        "from gitmemo.lock import hold\n"
        f"with hold({root!r}, {git_dir!r}, 'write', timeout_s=60.0):\n"
        f"    open({root + '/served'!r}, 'w')"
    )
    with hold(root, git_dir, "write", timeout_s=1.0):
        waiting = subprocess.Popen([sys.executable, "-W", "ignore", "-c", code])
        # It is in the queue when it has the file open twice: to ask, and to wait.
        while len(opened_by(waiting.pid, lock.KERNEL_LOCK)) < 2:
            assert waiting.poll() is None
            time.sleep(0.01)
        time.sleep(0.05)
    # Each time the lock is free for far less than a pause between two questions.
    for _ in range(10):
        with hold(root, git_dir, "write", timeout_s=60.0):
            if os.path.exists(f"{root}/served"):
                break
            time.sleep(0.02)
    else:
        pytest.fail("it never came to its turn")
    waiting.wait()


def opened_by(pid: int, name: str) -> list[str]:
    folder = f"/proc/{pid}/fd"
    found = []
    for number in os.listdir(folder):
        with suppress(OSError):
            found.append(os.readlink(f"{folder}/{number}"))
    return [path for path in found if path.endswith(name)]


def test_a_wait_that_was_given_up_takes_nothing_later(tmp_path: object) -> None:
    root, git_dir = place(tmp_path)
    path = os.path.join(git_dir, lock.KERNEL_LOCK)
    with open(path, "wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        for _ in range(3):
            with pytest.raises(LockTimeout), hold(root, git_dir, "write", timeout_s=0.02):
                pass
    for _ in range(3):
        with hold(root, git_dir, "write", timeout_s=5.0):
            pass


HOLDERS = st.builds(
    Holder,
    pid=st.none() | st.integers(-2, 5000),
    host=st.sampled_from([HOST, "other", ""]),
    ours=st.booleans(),
    token=st.just("t"),
)
METS = st.builds(
    Met,
    holder=HOLDERS,
    inode=st.just(1),
    written_s=st.just(0.0),
    age_s=st.floats(-200, 200),
    empty=st.booleans(),
)


@given(found=METS, ended=st.booleans(), alone=st.booleans(), timeout_s=st.floats(0, 30))
def test_no_lock_of_a_living_foreigner_is_ever_stale(
    found: Met, ended: bool, alone: bool, timeout_s: float
) -> None:
    stale = is_stale(found, host=HOST, ended=ended, alone=alone, timeout_s=timeout_s)
    foreign = not found.holder.ours and not found.empty
    if foreign and (not ended or found.holder.host != HOST):
        assert not stale
    if stale and not found.holder.ours:
        assert abs(found.age_s) > max(10.0, 2 * timeout_s)


# -- a process is not its number -------------------------------------------------------------------


def test_a_number_that_somebody_younger_has_is_of_a_holder_who_is_over() -> None:
    with subprocess.Popen(["sleep", "60"]) as living:
        try:
            born = psutil.Process(living.pid).create_time()
            assert not has_ended(living.pid, born)
            assert not has_ended(living.pid, born + 3600)
            assert not has_ended(living.pid, born - 5)  # two clocks are never quite the same
            assert has_ended(living.pid, born - 120)
        finally:
            living.kill()
    assert has_ended(living.pid, born)


def test_a_zombie_holds_nothing() -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    try:
        assert has_ended(child, time.time())
    finally:
        os.waitpid(child, 0)


@pytest.mark.parametrize("pid", [None, 0, -1, 2**70])
def test_of_what_is_no_number_of_a_process_nothing_is_said(pid: int | None) -> None:
    assert not has_ended(pid, time.time())


def test_a_process_that_runs_has_not_ended() -> None:
    assert not has_ended(os.getpid(), time.time())


def test_an_engines_lock_of_a_number_that_was_given_again_is_broken(tmp_path: object) -> None:
    root, git_dir = place(tmp_path)
    age_s = time.time() - psutil.Process().create_time() + 120
    lock_file(root, said(os.getpid()), age_s=age_s)
    with hold(root, git_dir, "write", timeout_s=0.5):
        pass
    assert os.listdir(root) == [".mem"]


def test_the_first_process_of_a_container_that_was_started_again_is_another(
    tmp_path: object,
) -> None:
    root, git_dir = place(tmp_path)
    lock_file(root, said(1), age_s=time.time() - psutil.Process(1).create_time() + 120)
    with hold(root, git_dir, "write", timeout_s=0.5):
        pass


def test_a_later_date_in_the_file_than_on_it_is_believed(tmp_path: object) -> None:
    root, git_dir = place(tmp_path)
    now = datetime.now(UTC).isoformat()
    lock_file(root, said(os.getpid(), startedAt=now), age_s=10 * 365 * 86400)
    with pytest.raises(LockTimeout) as refused, hold(root, git_dir, "write", timeout_s=0.05):
        pass
    assert refused.value.since == now


def test_a_founders_lock_is_judged_by_its_process_alone(tmp_path: object) -> None:
    root = str(tmp_path)
    lock_file(root, said(os.getpid(), engine="gitmemo"))
    with pytest.raises(LockTimeout), hold(root, None, "init", timeout_s=0.05):
        pass
    lock_file(root, said(dead_pid(), engine="gitmemo"))
    with hold(root, None, "init", timeout_s=0.5):
        pass
    age_s = time.time() - psutil.Process().create_time() + 120
    lock_file(root, said(os.getpid(), engine="gitmemo"), age_s=age_s)
    with hold(root, None, "init", timeout_s=0.5):
        pass
    assert os.listdir(root) == []


def test_a_holder_whose_birth_may_not_be_seen_is_taken_for_alive(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hidden(pid: int) -> psutil.Process:
        raise psutil.AccessDenied(pid)

    monkeypatch.setattr(psutil, "Process", hidden)
    assert not has_ended(os.getpid(), 0.0)


def test_the_process_table_is_asked_only_about_a_lock_of_somebody_else(tmp_path: object) -> None:
    root, git_dir = place(tmp_path)
    lock_file(root, said(os.getpid(), engine="gitmemo"))
    code = (
        "import sys; from gitmemo.lock import hold\n"
        f"with hold({root!r}, {git_dir!r}, 'write', timeout_s=5.0): print('psutil' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


# -- clocks, odd files, odd file systems -----------------------------------------------------------


@pytest.mark.parametrize("text", [said(dead_pid()), ""], ids=["dead", "empty"])
def test_a_lock_from_the_future_was_written_before_the_clock_was_set_back(
    tmp_path: object, text: str
) -> None:
    root, git_dir = place(tmp_path)
    lock_file(root, text, age_s=-86400.0)
    with hold(root, git_dir, "write", timeout_s=0.5):
        pass


def test_a_lock_of_another_host_is_never_broken_however_old(tmp_path: object) -> None:
    root, git_dir = place(tmp_path)
    path = lock_file(root, said(dead_pid(), "elsewhere"), age_s=10 * 365 * 86400)
    with pytest.raises(LockTimeout), hold(root, git_dir, "write", timeout_s=0.05):
        pass
    assert os.path.exists(path)


def bind(path: str) -> None:
    here = os.getcwd()
    os.chdir(os.path.dirname(path))  # a socket's path must be short
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(os.path.basename(path))
    finally:
        os.chdir(here)


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "make",
    [os.mkdir, os.mkfifo, lambda path: os.symlink(path, path), bind],
    ids=["directory", "fifo", "link to itself", "socket"],
)
def test_what_no_engine_made_is_left_alone_however_old(
    tmp_path: object, make: Callable[[str], None]
) -> None:
    root, git_dir = place(tmp_path)
    path = os.path.join(root, ENGINE_LOCK)
    make(path)
    os.utime(path, (0, 0), follow_symlinks=False)
    with pytest.raises(LockTimeout) as refused, hold(root, git_dir, "write", timeout_s=0.05):
        pass
    assert (refused.value.holder, refused.value.since) == ("unknown", "1970-01-01T00:00:00.000Z")
    assert os.path.lexists(path)
    assert os.listdir(git_dir) == [lock.KERNEL_LOCK]


def test_a_lock_that_may_not_be_read_is_waited_for(tmp_path: object) -> None:
    root, git_dir = place(tmp_path)
    path = lock_file(root, said(dead_pid()), age_s=3600)
    os.chmod(path, 0)

    def wait() -> None:
        with pytest.raises(LockTimeout) as refused, hold(root, git_dir, "write", timeout_s=0.05):
            pass
        assert refused.value.holder == "unknown"

    bound_by_modes(wait)


@pytest.mark.parametrize("code", [errno.EPERM, errno.EXDEV], ids=["no links", "another disk"])
def test_where_no_link_can_be_made_the_file_is_made_by_its_name(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    root, git_dir = place(tmp_path)
    monkeypatch.setattr(os, "link", refuse(OSError(code, os.strerror(code))))
    path = os.path.join(root, ENGINE_LOCK)
    with hold(root, git_dir, "write", timeout_s=0.5), open(path, encoding="utf-8") as file:
        assert json.load(file)["pid"] == os.getpid()
    assert os.listdir(root) == [".mem"]
    assert os.listdir(git_dir) == [lock.KERNEL_LOCK]


def test_a_store_that_is_a_mount_of_its_own_is_locked_and_freed_of_the_dead(
    tmp_path: object,
) -> None:
    need_root()
    root, git_dir = place(tmp_path)
    mem = os.path.dirname(git_dir)
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", mem]
    need(not subprocess.run(mount, capture_output=True, check=False).returncode, "no tmpfs")
    try:
        os.mkdir(git_dir)
        lock_file(root, said(dead_pid()), age_s=11.0)
        with hold(root, git_dir, "write", timeout_s=1.0):
            assert os.path.exists(os.path.join(root, ENGINE_LOCK))
        assert os.listdir(root) == [".mem"]
    finally:
        subprocess.run(["umount", mem], check=True)


def test_a_lock_that_found_no_room_leaves_no_empty_file(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = str(tmp_path)
    monkeypatch.setattr(os, "link", refuse(OSError(errno.EPERM, "no links")))
    full = OSError(errno.ENOSPC, "full")
    real = open

    def opened(path: str, mode: str = "r", **more: Any) -> Any:
        file = real(path, mode, **more)
        if mode == "xb":
            file.close()
            return Full(path, full)
        return file

    monkeypatch.setattr(lock, "open", opened, raising=False)
    with pytest.raises(OSError, match="full"), hold(root, None, "init", timeout_s=0.5):
        pass
    assert os.listdir(root) == []


class Full(io.FileIO):
    """A file on a disk without room."""

    def __init__(self, path: str, error: OSError) -> None:
        super().__init__(path, "w")
        self.error = error

    def write(self, data: object) -> int:
        raise self.error


def refuse(error: Exception) -> Callable[..., None]:
    def call(*_args: object, **_named: object) -> None:
        raise error

    return call


def test_where_the_kernel_knows_no_locks_the_file_keeps_writers_apart(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, git_dir = place(tmp_path)
    unknown = portalocker.LockException(OSError(errno.ENOLCK, "No locks available"))
    monkeypatch.setattr(portalocker, "lock", refuse(unknown))
    with hold(root, git_dir, "write", timeout_s=0.5):
        child = os.fork()
        if child == 0:
            try:
                with hold(root, git_dir, "write", timeout_s=0.05):
                    os._exit(1)
            except LockTimeout:
                os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
    lock_file(root, said(dead_pid(), engine="gitmemo"))
    with hold(root, git_dir, "write", timeout_s=0.5):
        pass
    assert (os.listdir(root), os.listdir(git_dir)) == ([".mem"], [lock.KERNEL_LOCK])


def test_a_child_that_was_forked_meanwhile_neither_holds_nor_waits(tmp_path: object) -> None:
    root, git_dir = place(tmp_path)
    reader, writer = os.pipe()
    with hold(root, git_dir, "write", timeout_s=0.5):
        child = os.fork()
        if child == 0:
            os.read(reader, 1)  # until the parent has let go
            try:
                with hold(root, git_dir, "write", timeout_s=5.0):
                    os._exit(0)
            except BaseException:  # noqa: BLE001 # the parent shall see that it happened
                os._exit(1)
    with hold(root, git_dir, "write", timeout_s=0.5):  # while the child has our descriptor
        pass
    os.write(writer, b"x")
    assert os.waitpid(child, 0)[1] == 0
    os.close(reader)
    os.close(writer)
