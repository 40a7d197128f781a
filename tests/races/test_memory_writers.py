"""Real processes on one store: many at once, and some of them killed at any moment."""

import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from gitmemo import Mode, Store, copy_dir
from tests.support.memory import assert_sound, draft, git, project, reopened

WRITERS = 20

# One writer: `name` writes `count` entries, replaces and withdraws some of its own, and prints what
# the store has promised to keep.
WRITER = """
import sys, gitmemo
root, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
store = gitmemo.Store.open(root, lock_timeout_s=100)
for n in range(count):
    draft = gitmemo.Draft(f"{name} {n}", f"Entry {n} of {name}.", ("memory", name), "text")
    wrote = store.write(draft)
    print("kept", wrote.id, flush=True)
    if n % 3 == 1:
        again = store.replace(wrote.id, draft._replace(title=f"{name} {n} again"))
        print("gone", wrote.id, flush=True)
        print("kept", again.id, flush=True)
    if n % 3 == 2:
        print("leaving", wrote.id, flush=True)
        store.delete(wrote.id, "not needed")
        print("gone", wrote.id, flush=True)
"""


def start(store: Store, name: str, count: int) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", WRITER, store.root, name, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def promised(outputs: list[str]) -> tuple[set[str], set[str]]:
    """Ids that must live, and ids of which it is open, because their writer was killed."""
    kept: set[str] = set()
    open_: set[str] = set()
    for output in outputs:
        for line in output.splitlines():
            word, _, entry_id = line.partition(" ")
            kept.discard(entry_id)
            open_.discard(entry_id)
            if word == "kept":
                kept.add(entry_id)
            elif word == "leaving":
                open_.add(entry_id)
    return kept, open_


def living(store: Store) -> set[str]:
    page = store.search(["memory"], mode=Mode.TRAILER, limit=100_000)
    ids = [hit.id for hit in page.hits]
    assert len(ids) == len(set(ids))
    return set(ids)


@pytest.mark.timeout(120)
def test_twenty_processes_write_at_once_and_nothing_is_lost_or_doubled(tmp_path: object) -> None:
    store = project(tmp_path)
    writers = [start(store, f"w{n}", 3) for n in range(WRITERS)]
    outputs = [writer.communicate(timeout=110) for writer in writers]
    assert [error for _, error in outputs if error] == []
    kept, _ = promised([output for output, _ in outputs])
    assert len(kept) == WRITERS * 2
    assert living(store) == kept
    assert int(git(store.path, "rev-list", "--count", "main")) == 1 + WRITERS * 5
    assert_sound(store)


@pytest.mark.timeout(120)
def test_a_writer_killed_at_any_moment_loses_nothing_and_leaves_nothing_behind(
    tmp_path: object,
) -> None:
    store = project(tmp_path)
    chance = random.Random(7)
    outputs: list[str] = []
    for round_ in range(12):
        writer = start(store, f"r{round_}", 60)
        assert writer.stdout is not None
        first = writer.stdout.readline()  # it is at work now
        time.sleep(chance.uniform(0.0, 0.12))
        writer.send_signal(signal.SIGKILL)
        rest, _ = writer.communicate()
        outputs.append(first + rest)
        kept, open_ = promised(outputs)
        found = living(store)
        # One change of the killed writer may be done although it could not say so.
        assert len(kept - found) <= 1
        assert kept - found <= replaced(store, kept - found)
        assert len(found - kept - open_) <= round_ + 1
        fresh = reopened(store, timeout_s=10.0)
        mine = fresh.write(draft(f"after {round_}"))
        outputs.append(f"kept {mine.id}\n" + "".join(f"gone {id_}\n" for id_ in kept - found))
        assert_sound(fresh)


def replaced(store: Store, ids: set[str]) -> set[str]:
    """Those of `ids` that a replacement took the place of."""
    return {entry_id for entry_id in ids if store.read(entry_id).replaced_by}


def test_threads_of_one_process_share_a_store(tmp_path: object) -> None:
    store = project(tmp_path)
    with ThreadPoolExecutor(8) as pool:
        ids = [w.id for w in pool.map(lambda n: store.write(draft(f"thread {n}")), range(24))]
    assert living(store) == set(ids)
    assert_sound(store)


def test_founders_at_once_end_with_one_store(tmp_path: object) -> None:
    root = f"{tmp_path}/project"
    os.makedirs(root)
    git(root, "init", "-q")
    command = [sys.executable, "-c", f"import gitmemo; print(gitmemo.Store.init({root!r}).tip())"]
    founders = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(8)]
    tips = {founder.communicate(timeout=60)[0] for founder in founders}
    assert len(tips) == 1
    assert_sound(Store.open(root))


@pytest.mark.timeout(120)
def test_eight_writers_at_once_leave_a_copy_equal_to_the_store(tmp_path: object) -> None:
    store = project(tmp_path)
    outputs = [
        writer.communicate(timeout=110) for writer in [start(store, f"w{n}", 2) for n in range(8)]
    ]
    assert [error for _, error in outputs if error] == []
    copy = f"--git-dir={copy_dir(store.root)}"
    for question in (("rev-parse", "main"), ("rev-list", "--objects", "main")):
        assert git(store.root, copy, *question) == git(store.path, *question)
    assert git(store.root, copy, "fsck", "--strict") == ""
