"""The pool: every job answered once, whatever becomes of the children. Real processes."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from heimdall.errors import IoRefused
from heimdall.extract.pool import Pool
from heimdall.extract.read import extract
from heimdall.extract.wire import frame, pack, unframe, unpack
from heimdall.model import Depth
from tests.heimdall.extract import golden


def tree(folder: Path, count: int, language: str = "python") -> list[str]:
    """Real sources, again and again; "" for those of every language."""
    cases = [golden.load(case) for case in golden.cases() if case.startswith(language)]
    paths = []
    for index in range(count):
        name, source, _ = cases[index % len(cases)]
        path = folder / str(index) / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(source)
        paths.append(str(path))
    return paths


def slow(folder: Path, name: str = "slow.py") -> str:
    """A file that takes a child much longer than the limits of these tests, and not for ever."""
    path = folder / name
    path.write_bytes(b"".join(b"def f%d(a, b): return f%d(a.b)\n" % (n, n) for n in range(25_000)))
    return str(path)


def jobs(paths: list[str]) -> list[tuple[str, Depth]]:
    return [(path, Depth.GRAPH) for path in paths]


def test_what_children_say_is_what_this_process_says(tmp_path: Path) -> None:
    paths = [*tree(tmp_path, 60, ""), str(tmp_path), f"{tmp_path}/absent", "p" * 5000]
    with Pool(2) as pool:
        found = {item.path: item for item in pool.run(jobs(paths))}
        assert len(pool.children()) == 2
    assert found == {path: extract(path, Depth.GRAPH) for path in paths}


def test_a_pool_runs_again_with_the_children_that_it_has(tmp_path: Path) -> None:
    paths = tree(tmp_path, 30)
    with Pool(1) as pool:
        first = sorted(pool.run(jobs(paths)))
        child = pool.children()
        assert sorted(pool.run(jobs(paths))) == first
        assert pool.children() == child


def test_even_one_small_file_is_parsed_where_it_can_be_killed(tmp_path: Path) -> None:
    with Pool(2) as pool:
        assert [item.path for item in pool.run(jobs(tree(tmp_path, 1)))] != []
        assert len(pool.children()) == 1


def test_no_jobs_have_no_results() -> None:
    with Pool(2) as pool:
        assert list(pool.run([])) == []
        assert pool.children() == ()


def test_a_job_over_the_limit_loses_its_child_and_no_other_job_is_lost(tmp_path: Path) -> None:
    paths = tree(tmp_path, 20)
    paths.insert(3, slow(tmp_path))
    with Pool(1, limit_s=0.3) as pool:
        found = {item.path: item.facts for item in pool.run(jobs(paths))}
    assert sorted(found) == sorted(paths)
    reasons = {path: facts.reason for path, facts in found.items() if facts is not None}
    assert [path for path, reason in reasons.items() if reason == "timed-out"] == [paths[3]]
    late = found[paths[3]]
    assert late is not None
    assert (late.depth, late.language) == (Depth.FILE, "python")


def test_a_killed_child_is_replaced_and_its_job_done(tmp_path: Path) -> None:
    paths = [slow(tmp_path), *tree(tmp_path, 20)]
    with Pool(1) as pool:
        results = pool.run(jobs(paths))
        killer = threading.Timer(0.4, lambda: os.kill(pool.children()[0], signal.SIGKILL))
        killer.start()
        found = {item.path: item.facts for item in results}
        killer.join()
    assert sorted(found) == sorted(paths)
    assert {facts.reason for facts in found.values() if facts is not None} == {""}


def test_a_job_whose_child_dies_twice_is_crashed(tmp_path: Path) -> None:
    paths = [slow(tmp_path), *tree(tmp_path, 20)]
    killed: list[int] = []
    done = threading.Event()
    with Pool(1) as pool:
        results = pool.run(jobs(paths))

        def kill_two() -> None:
            while len(killed) < 2 and not done.is_set():
                time.sleep(0.3)
                for child in pool.children():
                    if child not in killed:
                        killed.append(child)
                        os.kill(child, signal.SIGKILL)

        killer = threading.Thread(target=kill_two)
        killer.start()
        found = {item.path: item.facts for item in results}
        done.set()
        killer.join()
    assert sorted(found) == sorted(paths)
    reasons = {path: facts.reason for path, facts in found.items() if facts is not None}
    assert reasons.pop(paths[0]) == "crashed"
    assert set(reasons.values()) == {""}


def test_results_left_lying_are_no_fault_of_a_child(tmp_path: Path) -> None:
    paths = tree(tmp_path, 40)
    with Pool(2, limit_s=0.2) as pool:
        results = pool.run(jobs(paths))
        found = [next(results)]
        time.sleep(0.8)
        found += results
    assert {item.facts.reason for item in found if item.facts is not None} == {""}
    assert sorted(item.path for item in found) == sorted(paths)


def test_a_run_that_is_left_early_leaves_no_child_behind(tmp_path: Path) -> None:
    with Pool(2) as pool:
        results = pool.run(jobs(tree(tmp_path, 40)))
        next(results)
        results.close()  # type: ignore[attr-defined]  # a generator, promised as an iterator
        assert pool.children() == ()
        assert len(list(pool.run(jobs(tree(tmp_path, 10))))) == 10


def test_a_child_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    code = (
        "import sys, time\n"
        "from heimdall.extract.pool import Pool\n"
        "from heimdall.model import Depth\n"
        "pool = Pool(1)\n"
        "list(pool.run([(sys.argv[1], Depth.GRAPH)]))\n"
        "print(pool.children()[0], flush=True)\n"
        "time.sleep(60)\n"
    )
    path = tree(tmp_path, 1)[0]
    parent = subprocess.Popen([sys.executable, "-c", code, path], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    parent.stdout.close()
    for _ in range(100):
        if not os.path.exists(f"/proc/{child}") or _is_zombie(child):
            return
        time.sleep(0.05)
    pytest.fail("the child outlived its parent")


def _is_zombie(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] == b"Z"
    except FileNotFoundError:
        return True


def test_a_module_in_the_users_folder_does_not_get_into_a_child(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "re.py").write_text("raise SystemExit('not the library')\n")
    monkeypatch.chdir(tmp_path)
    with Pool(1) as pool:
        (found,) = pool.run([(str(tmp_path / "re.py"), Depth.GRAPH)])
    assert found.facts is not None
    assert found.facts.reason == ""


def test_where_no_child_can_start_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with Pool(1) as pool, pytest.raises(IoRefused):
        list(pool.run(jobs(tree(tmp_path, 3))))


def test_what_crosses_the_pipe_is_what_was_sent(tmp_path: Path) -> None:
    for path in [*tree(tmp_path, 30, ""), str(tmp_path), f"{tmp_path}/caf\udce9"]:
        sent = extract(path, Depth.GRAPH)
        buffer = bytearray(frame(pack(sent)) + b"rest")
        assert unpack(unframe(buffer)) == sent
        assert buffer == b"rest"
        assert unframe(buffer) is None
