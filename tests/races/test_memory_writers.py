"""Real processes on one store: many at once, and some of them killed at any moment."""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from typing import NoReturn

import pytest

from gitmemo import Act, Mode, Store, copy_dir
from tests.support.foreign import Engine
from tests.support.memory import assert_sound, draft, git, project, reopened
from tests.support.size import FULL

WRITERS, ENTRIES, CLAIMANTS, CLAIMS = (40, 25, 12, 40) if FULL else (40, 3, 5, 8)
"""Forty processes are promised; with twenty-five entries each they take a minute of two cores."""

# One writer: `name` writes `count` entries, replaces and withdraws some of its own, and prints what
# the store has promised to keep.
WRITER = """
import sys, gitmemo
root, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
store = gitmemo.Store.open(root, lock_timeout_s=300)
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


def together(program: str, *argvs: tuple[str, ...]) -> list[str]:
    """What processes print that carry out `program` at once, each with its arguments. They are
    forked, because the start of Python is not what they are here for; none may complain."""
    with ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile("w+")) for _ in argvs]
        children = []
        for file, argv in zip(files, argvs, strict=True):
            child = os.fork()
            if child == 0:
                carry_out(program, argv, file.fileno())
            children.append(child)
        codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
        for file in files:
            file.seek(0)
        outputs = [file.read() for file in files]
    assert set(codes) == {0}, outputs
    return outputs


def carry_out(program: str, argv: tuple[str, ...], output: int) -> NoReturn:
    """In a child: the program to its end, or its complaint."""
    code = 1
    try:
        os.dup2(output, 1)
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115 # the process ends with it
        sys.argv = ["-c", *argv]
        exec(program, {})
        sys.stdout.flush()
        code = 0
    except BaseException:  # noqa: BLE001 # whatever it is, the parent must see it
        os.write(1, traceback.format_exc().encode())
    finally:
        os._exit(code)


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


@pytest.mark.timeout(600)
def test_many_processes_write_at_once_and_nothing_is_lost_or_doubled(tmp_path: object) -> None:
    store = project(tmp_path)
    outputs = together(WRITER, *((store.root, f"w{n}", str(ENTRIES)) for n in range(WRITERS)))
    kept, _ = promised(outputs)
    changed = sum(n % 3 != 0 for n in range(ENTRIES))
    assert len(kept) == WRITERS * (ENTRIES - sum(n % 3 == 2 for n in range(ENTRIES)))
    assert living(store) == kept
    assert int(git(store.path, "rev-list", "--count", "main")) == 1 + WRITERS * (ENTRIES + changed)
    told = [event.id for event in store.history()]
    assert told == git(store.path, "rev-list", "main", "--", "entries/").split()[:-1]
    assert_sound(store)


# A claimant replaces or withdraws whatever lives, and so meets others who want the same entry; it
# prints what the store has granted. Between its acts it looks: what it sees must be one state.
CLAIMANT = """
import random, sys, gitmemo
root, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
chance = random.Random(name)
store = gitmemo.Store.open(root, lock_timeout_s=100)
for n in range(count):
    page = store.search(["memory"], mode=gitmemo.Mode.TRAILER, limit=1000)
    seen = [hit.id for hit in page.hits]
    again = store.search(["memory"], mode=gitmemo.Mode.TRAILER, limit=1000, snapshot=page.snapshot)
    assert [hit.id for hit in again.hits] == seen
    old = chance.choice(seen)
    draft = gitmemo.Draft(f"{name} {n}", "Claimed.", ("memory", name), "text")
    try:
        if n % 4 == 3:
            print("granted", old, store.delete(old, "claimed"), "delete")
            store.write(draft)
        else:
            print("granted", old, store.replace(old, draft).id, "replace")
    except gitmemo.NotActive as refused:
        print("refused", old, *refused.successors)
"""


@pytest.mark.timeout(600)
def test_of_all_who_change_one_entry_just_one_is_granted_it(tmp_path: object) -> None:
    store = project(tmp_path)
    first = {store.write(draft(f"entry {n}")).id for n in range(4)}
    claims = ((store.root, f"c{n}", str(CLAIMS)) for n in range(CLAIMANTS))
    lines = [line.split() for output in together(CLAIMANT, *claims) for line in output.splitlines()]
    granted = [(line[1], line[2], line[3]) for line in lines if line[0] == "granted"]
    assert len(lines) == CLAIMANTS * CLAIMS
    assert len({old for old, _, _ in granted}) == len(granted)
    events = {str(event.id): event for event in store.history()}
    for old, new, act in granted:
        assert (events[new].act.value, events[new].target) == (act, old)
    made = {id_ for id_, event in events.items() if event.act is not Act.DELETE}
    assert living(store) == made - {old for old, _, _ in granted}
    assert first <= made
    assert_sound(store)


@pytest.mark.timeout(120)
def test_both_engines_write_at_once_and_nothing_is_lost(tmp_path: object) -> None:
    store = project(tmp_path)
    ours = [start(store, f"w{n}", 5) for n in range(3)]
    engine, theirs = Engine(store.root), list[str]()
    while any(writer.poll() is None for writer in ours):
        with suppress(FileExistsError):  # their lock file is ours just now
            theirs.append(engine.write(f"theirs {len(theirs)}"))
        time.sleep(0.005)
    outputs = [writer.communicate(timeout=100) for writer in ours]
    assert [error for _, error in outputs if error] == []
    theirs.append(engine.write("theirs at last"))
    kept, _ = promised([output for output, _ in outputs])
    assert living(store) == kept | set(theirs)
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
    found = "import gitmemo, sys; print(gitmemo.Store.init(sys.argv[1]).tip())"
    assert len(set(together(found, *[(root,)] * 8))) == 1
    assert_sound(Store.open(root))


@pytest.mark.timeout(120)
def test_eight_writers_at_once_leave_a_copy_equal_to_the_store(tmp_path: object) -> None:
    store = project(tmp_path)
    together(WRITER, *((store.root, f"w{n}", "2") for n in range(8)))
    copy = f"--git-dir={copy_dir(store.root)}"
    for question in (("rev-parse", "main"), ("rev-list", "--objects", "main")):
        assert git(store.root, copy, *question) == git(store.path, *question)
    assert git(store.root, copy, "fsck", "--strict") == ""
