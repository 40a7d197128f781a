"""Bad input through the real commands: one clear sentence, the documented code, nothing lost."""

import contextlib
import hashlib
import json
import os
import re
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from heimdall.writer.lock import held
from tests.heimdall.cli.conftest import BIN, Box, Done

FINE = ("--title", "T", "--summary", "S", "-k", "one", "-k", "two")


def told(done: Done, code: int, *parts: str) -> None:
    """One sentence on standard error, at most one hint below it, and nothing else."""
    assert done.code == code, done
    assert done.out == ""
    lines = done.err.splitlines()
    assert 1 <= len(lines) <= 2, done.err
    assert lines[0].startswith(("mem: ", "heimdall: "))
    assert len(lines) == 1 or lines[1].startswith("  ")
    assert "Traceback" not in done.err
    for part in parts:
        assert part in done.err


def told_json(done: Done, code: int, name: str, *, retryable: bool = False) -> None:
    """The same as one object on standard output."""
    assert done.code == code, done
    error = done.json()["error"]
    assert set(error) == {"code", "message", "hint", "retryable"}
    assert (error["code"], error["retryable"]) == (name, retryable)
    assert done.err == ""


# -- where there is no store -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [("write", *FINE), ("read", "1234567"), ("delete", "1234567", "--reason", "r"), ("log",)],
    ids=lambda command: command[0],
)
def test_before_init_every_command_points_to_it(box: Box, command: tuple[str, ...]) -> None:
    box.git("init", "-q")
    told(box.mem(*command), 3, "no memory", "mem init")
    assert not (box.code / ".mem").exists()


def test_outside_a_repository_init_names_its_way_out(box: Box) -> None:
    told(box.mem("init"), 3, "no git repository", "--here")
    told_json(box.mem("log", "--json"), 3, "no-project")
    assert list(box.code.iterdir()) == []
    assert box.mem("init", "--here", "--no-index").code == 0
    assert box.mem("log").code == 0


def test_a_search_before_anything_exists_says_so_and_makes_nothing(box: Box) -> None:
    told_json(box.mem("search", "budget", "--json"), 3, "no-project")
    box.git("init", "-q")
    told(box.mem("search", "budget"), 3, "no memory", "mem init")
    assert not box.home.exists()
    assert os.listdir(box.code) == [".git"]


def test_a_mem_tracked_by_the_code_repository_is_refused(box: Box) -> None:
    box.git("init", "-q")
    (box.code / ".mem").mkdir()
    (box.code / ".mem" / "note.md").write_text("mine")
    box.git("add", "-f", ".mem/note.md")
    told(box.mem("init", "--no-index"), 5, "tracks files under .mem", "git rm")
    assert (box.code / ".mem" / "note.md").read_text() == "mine"


def test_a_mem_that_is_a_plain_folder_is_left_alone(box: Box) -> None:
    box.git("init", "-q")
    (box.code / ".mem").mkdir()
    (box.code / ".mem" / "note.md").write_text("mine")
    told(box.mem("init", "--no-index"), 6, "not a git repository")
    told(box.mem("write", *FINE), 6, "not a git repository")
    assert (box.code / ".mem" / "note.md").read_text() == "mine"
    assert sorted(os.listdir(box.code / ".mem")) == ["note.md"]


def test_a_removed_current_directory_is_one_sentence(box: Box) -> None:
    script = f'cd "{box.code}" && rmdir "{box.code}" && exec "$0" log'
    mem = Path(os.path.dirname(os.path.abspath(sys.executable)), "mem")
    done = subprocess.run(
        ["sh", "-c", script, mem], capture_output=True, text=True, env=box.env, check=False
    )
    told(Done(done.returncode, done.stdout, done.stderr), 3, "current directory")


# -- drafts that break a rule ----------------------------------------------------------------------


def draft(**fields: str) -> tuple[str, ...]:
    """A fine draft with some options given otherwise."""
    given = {"--title": "T", "--summary": "S", **{f"--{k}": v for k, v in fields.items()}}
    return tuple(part for pair in given.items() for part in pair)


KEYS = ("-k", "one", "-k", "two")
BAD_DRAFTS = {
    "an empty title": ((*draft(title=" "), *KEYS), "title is empty"),
    "a title of two lines": ((*draft(title="a\nb"), *KEYS), "single line"),
    "a title of 201 characters": ((*draft(title="x" * 201), *KEYS), "too long"),
    "a title that is no text": (
        (*draft(title=b"\xff".decode("utf-8", "surrogateescape")), *KEYS),
        "not text",
    ),
    "an empty summary": ((*draft(summary=""), *KEYS), "summary is empty"),
    "a summary like a trailer": ((*draft(summary="a\nGitMemo-Type: add"), *KEYS), "trailer"),
    "a control character": ((*draft(summary="a\x07b"), *KEYS), "control character"),
    "no keyword": (draft(), "keywords"),
    "one keyword": ((*draft(), "-k", "one"), "keywords"),
    "one keyword twice": ((*draft(), "-k", "One", "-k", "oNE"), "same"),
    "thirteen keywords": ((*draft(), *(p for n in range(13) for p in ("-k", f"w{n}"))), "keywords"),
    "a keyword with a newline": ((*draft(), "-k", "a\nb", "-k", "two"), "single line"),
    "an escaping path": ((*draft(path="../outside.py"), *KEYS), "out of the project"),
    "an absolute path": ((*draft(path="/etc/passwd"), *KEYS), "relative"),
    "the root as a path": ((*draft(path="."), *KEYS), "root"),
    "a path that does not exist": ((*draft(path="gone.py"), *KEYS), "does not exist"),
}


@pytest.mark.parametrize("name", BAD_DRAFTS)
def test_a_bad_draft_is_refused_and_nothing_is_written(shared: Box, name: str) -> None:
    arguments, sentence = BAD_DRAFTS[name]
    before = shared.tip()
    told(shared.mem("write", *arguments), 5, sentence)
    assert shared.tip() == before
    assert shared.git("status", "--porcelain", cwd=shared.code / ".mem") == ""


def test_a_bad_draft_in_json(shared: Box) -> None:
    told_json(shared.mem("write", "--json", *draft(title=""), *KEYS), 5, "invalid-draft")


def test_two_mebibytes_of_content_are_refused(shared: Box) -> None:
    before = shared.tip()
    big = b"x" * (2 * 1024 * 1024)
    told(shared.mem("write", *FINE, "--content", "-", stdin=big), 5, "content is too long")
    assert shared.tip() == before


@pytest.mark.parametrize("data", [b"caf\xe9", b"\xff\xfe\x00"])
def test_content_that_is_no_text_is_refused(shared: Box, data: bytes) -> None:
    told(shared.mem("write", *FINE, "--content", "-", stdin=data), 2, "UTF-8")


def test_a_content_file_that_is_not_there_is_a_usage_error(shared: Box) -> None:
    told(shared.mem("write", *FINE, "--content", "nowhere.md"), 2, "nowhere.md")


def test_a_symbol_that_the_file_does_not_define_is_named(shared: Box) -> None:
    told(shared.mem("write", *FINE, "--path", "budget.py#give"), 3, "budget.py#give")


def test_a_path_is_seen_from_the_current_directory(project: Box) -> None:
    (project.code / "sub").mkdir()
    (project.code / "sub" / "deep#er.py").write_text("x = 1\n")
    sub = project.code / "sub"
    one = project.mem(
        "write", "--json", *FINE, "--path", "deep#er.py", "-p", "../budget.py#take", cwd=sub
    )
    assert one.code == 0, one
    entry = project.mem("read", "--json", one.json()["id"], cwd=sub).json()
    assert entry["related_paths"] == ["sub/deep#er.py", "budget.py"]
    assert [a["symbol"] for a in entry["anchors"] if a["path"] == "budget.py"] == [None, "take"]


# -- ids -------------------------------------------------------------------------------------------


def test_ids_unknown_short_and_odd(project: Box) -> None:
    entry = project.write()
    told(project.mem("read", "f" * 40), 3, "no entry has the id")
    told(project.mem("read", entry[:6]), 2, "is not the id")
    told(project.mem("read", "HEAD"), 2, "is not the id")
    told(project.mem("read", "-x"), 2)
    told_json(project.mem("delete", "f" * 40, "--reason", "r", "--json"), 3, "unknown-id")
    assert project.mem("read", entry[:7]).code == 0


def colliding(box: Box, first: str, second: str) -> tuple[str, str]:
    """Two commits like these two whose ids begin alike: their author times are tried until they
    do. Both are written; neither is on a branch yet."""
    store = box.code / ".mem"
    texts = [box.git("cat-file", "commit", one, cwd=store).encode() for one in (first, second)]
    seen: list[dict[str, bytes]] = [{}, {}]
    for second_of_time in range(200_000):
        for number, text in enumerate(texts):
            varied = re.sub(rb"(author .*> )[0-9]+", rb"\g<1>%d" % second_of_time, text, count=1)
            prefix = hashlib.sha1(b"commit %d\0%s" % (len(varied), varied)).hexdigest()[:7]
            seen[number][prefix] = varied
            if prefix in seen[1 - number]:
                pair = [seen[0][prefix], seen[1][prefix]]
                command = ["git", "hash-object", "-t", "commit", "-w", "--stdin"]
                made = [
                    subprocess.run(command, input=one, cwd=store, capture_output=True, check=True)
                    for one in pair
                ]
                return made[0].stdout.decode().strip(), made[1].stdout.decode().strip()
    raise AssertionError("no two ids begin alike; the odds were one in a million")


def test_an_id_that_fits_two_entries_is_ambiguous(project: Box) -> None:
    store = project.code / ".mem"
    base = project.tip()
    first = project.write("First")
    project.git("reset", "-q", "--hard", base, cwd=store)
    second = project.write("Second")
    first, second = colliding(project, first, second)
    project.git("reset", "-q", "--hard", first, cwd=store)
    project.git("merge", "-q", "-m", "both", second, cwd=store)
    told(project.mem("read", first[:7]), 4, "more than one entry", first[:16], second[:16])
    told_json(project.mem("delete", "--json", "--reason", "r", first[:7]), 4, "ambiguous-id")
    assert project.mem("read", first).code == 0
    assert project.mem("read", second).code == 0


def test_a_replaced_entry_can_be_read_and_not_changed(project: Box) -> None:
    old = project.write("Old")
    new = project.mem("replace", "--json", old, "--title", "New").json()["id"]
    told(project.mem("replace", old, "--title", "Newer"), 4, "replaced", new)
    told(project.mem("delete", old, "--reason", "r"), 4, "replaced", new)
    read = project.mem("read", "--json", old).json()
    assert (read["active"], read["current"]) == (False, [new])
    assert project.mem("read", "--json", new).json()["summary"] == "See take."


def test_a_withdrawn_entry_says_so(project: Box) -> None:
    entry = project.write()
    assert project.mem("delete", entry, "--reason", "the budget is gone").code == 0
    told(project.mem("delete", entry, "--reason", "again"), 4, "withdrawn")
    assert project.mem("read", "--json", entry).json()["withdrawn"] == "the budget is gone"


def test_the_same_entry_twice_is_a_conflict(project: Box) -> None:
    first = project.write()
    done = project.mem(
        "write", "--title", "Budget", "--summary", "See take.", "-k", "retry", "-k", "budget"
    )
    told(done, 4, first)


# -- usage -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ("nonsense",),
        ("read",),
        ("search",),
        ("search", "   "),
        ("search", "x", "-n", "0"),
        ("search", "x", "-n", "101"),
        ("search", "x", "--mode", "odd"),
        ("search", "x", "--cursor", "odd"),
        ("log", "-n", "none"),
        ("write", "--title", "T"),
        ("delete", "1234567"),
    ],
    ids=" ".join,
)
def test_a_call_that_cannot_be_meant_is_a_usage_error(
    shared: Box, arguments: tuple[str, ...]
) -> None:
    told(shared.mem(*arguments), 2)


def test_usage_errors_are_json_too(shared: Box) -> None:
    told_json(shared.mem("read", "--json"), 2, "usage")


def test_a_snapshot_of_another_history_is_stale(shared: Box) -> None:
    told(shared.mem("search", "x", "--snapshot", "f" * 40), 4, "not in the history")


def test_a_setting_that_no_one_knows_is_named_with_its_nearest(shared: Box, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("jbos = 2\n")
    told(shared.mem("log", HEIMDALL_HOME=str(tmp_path)), 2, "jbos", "jobs")


# -- the machine says no ---------------------------------------------------------------------------


def test_a_lock_held_by_another_process_times_out(project: Box) -> None:
    before = project.tip()
    lock = {"pid": os.getpid(), "host": socket.gethostname(), "operation": "write"}
    path = project.code / ".mem.gitmemo.lock"
    path.write_text(
        json.dumps({**lock, "startedAt": "2026-01-01T00:00:00.000Z", "operationId": "x"})
    )
    short = {"HEIMDALL_LOCK_TIMEOUT_S": "0.2"}
    told(project.mem("write", *FINE, **short), 7, "was held by", "Try again")
    told_json(project.mem("write", "--json", *FINE, **short), 7, "lock-timeout", retryable=True)
    assert project.tip() == before
    assert path.exists()
    assert project.mem("log").code == 0
    path.unlink()
    assert project.mem("write", *FINE).code == 0


def test_a_busy_writer_times_out_and_a_search_does_not_wait(project: Box) -> None:
    assert project.mem("init").code == 0
    with held(str(project.home), 1.0):
        short = {"HEIMDALL_LOCK_TIMEOUT_S": "0.2"}
        told(project.heimdall("reconcile", "--all", **short), 7, "was held by")
        assert project.mem("search", "take").code == 0
        assert project.heimdall("hint", "budget.py").code == 0
    assert project.heimdall("reconcile").code == 0


def on_disk(disk: Path) -> Box:
    """A project with one memory on that disk."""
    box = Box(disk)
    box.git("init", "-q", "-b", "main")
    (box.code / "budget.py").write_text("def take(n):\n    return n\n")
    assert box.mem("init").code == 0
    return box


def test_a_full_disk_loses_nothing(tiny_disk: Callable[[str], Path]) -> None:
    disk = tiny_disk("size=3m")
    box = on_disk(disk)
    entry = box.write()
    with open(disk / "filler", "wb", buffering=0) as filler, contextlib.suppress(OSError):
        while filler.write(b"x" * 4096):
            pass
    done = box.mem("write", *FINE, "--content", "-", stdin=os.urandom(30_000).hex().encode())
    told(done, 8, "refused")
    assert box.mem("read", entry).code == 0
    assert box.mem("search", "budget").code == 0
    (disk / "filler").unlink()
    assert box.mem("write", *FINE).code == 0
    assert box.tip() != entry
    assert box.git("fsck", "--strict", cwd=box.code / ".mem") == ""
    assert box.git("status", "--porcelain", cwd=box.code / ".mem") == ""


def test_on_a_read_only_disk_searching_still_works(tiny_disk: Callable[[str], Path]) -> None:
    disk = tiny_disk("size=20m")
    box = on_disk(disk)
    entry = box.write("Budget", "--path", "budget.py")
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    answer = box.mem("search", "budget", "take", "--json")
    assert answer.code == 0, answer
    hits = answer.json()["hits"]
    assert (hits[0]["id"], hits[0]["verdict"]) == (entry, "STRONG")
    assert "code" in {hit["source"] for hit in hits}
    assert box.mem("read", entry).code == 0
    assert box.heimdall("status").code == 0
    told(box.mem("write", *FINE), 8, "read-only")
    told(box.heimdall("reconcile", "--all"), 8, "read-only")
    assert box.heimdall("hint", "budget.py").code == 0


# -- journals that cannot be used ------------------------------------------------------------------


def damage_newer(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 9999")
    db.close()


def damage_truncated(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2 + 100])


def damage_foreign(path: Path) -> None:
    path.write_bytes(b"this is not a database, it is a shopping list\n" * 200)


@pytest.mark.parametrize(
    ("damage", "code"),
    [
        (damage_newer, "newer-journal"),
        (damage_truncated, "damaged-journal"),
        (damage_foreign, "damaged-journal"),
    ],
    ids=["newer", "truncated", "foreign"],
)
def test_a_journal_that_cannot_be_used_is_named_and_kept(
    project: Box, damage: Callable[[Path], None], code: str
) -> None:
    assert project.mem("init").code == 0
    entry = project.write("Budget", "--path", "budget.py")
    journal = project.home / "journal.db"
    for extra in ("journal.db-wal", "journal.db-shm"):
        (project.home / extra).unlink(missing_ok=True)
    damage(journal)
    kept = journal.read_bytes()
    told_json(project.heimdall("status", "--json"), 6, code)
    told_json(project.heimdall("verify", "--json"), 6, code)
    answer = project.mem("search", "budget", "--json")
    assert answer.code == 0, answer
    assert answer.json()["sources"]["code"] == "error"
    assert [(hit["id"], hit["verdict"]) for hit in answer.json()["hits"]] == [(entry, "STRONG")]
    assert journal.read_bytes() == kept
    if code == "newer-journal":
        told_json(project.heimdall("reconcile", "--all", "--json"), 6, code)
        assert journal.read_bytes() == kept
        return
    done = project.heimdall("reconcile", "--all", "--json")
    assert done.code == 0
    (aside,) = project.home.glob("journal.db.damaged-*")
    assert aside.read_bytes() == kept
    assert os.fspath(aside) in done.out
    assert project.heimdall("verify", "--deep").code == 0


def test_a_body_from_a_standard_input_that_is_closed_is_refused(box: Box) -> None:
    box.git("init", "-q")
    assert box.mem("init", "--no-index").code == 0
    line = f"exec {BIN}/mem write --title T --summary S -k one -k two --content - <&-"
    done = subprocess.run(
        ["sh", "-c", line], cwd=box.code, env=box.env, capture_output=True, text=True, check=False
    )
    told(Done(done.returncode, done.stdout, done.stderr), 2, "--content", "closed")


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (("symbolic-ref", "HEAD", "refs/heads/other"), "HEAD is not on main"),
        (("update-ref", "-d", "refs/heads/main"), "no branch main"),
        (("update-index", "--split-index"), "--no-split-index"),
    ],
    ids=["head", "main", "split"],
)
def test_what_is_damaged_is_said_in_words(box: Box, damage: tuple[str, ...], words: str) -> None:
    box.git("init", "-q")
    assert box.mem("init", "--no-index").code == 0
    box.git("-C", ".mem", *damage)
    told(box.mem("write", *FINE), 6, words)


def test_a_cursor_beside_what_it_says_itself_is_refused(box: Box) -> None:
    box.git("init", "-q")
    box.mem("init", "--no-index")
    page = f"{'a' * 40}:1"
    told(box.mem("search", "x", "--cursor", page, "--skip", "2"), 2, "--skip")
    told(box.mem("search", "x", "--cursor", page, "--snapshot", "a" * 40), 2, "--snapshot")


def test_an_entry_made_by_hand_moves_no_cursor_of_a_terminal(box: Box) -> None:
    box.git("init", "-q")
    box.mem("init", "--no-index")
    (box.code / ".mem" / "entries" / "odd.md").write_text("# \x1b[31mT\n\nbo\x1b[2Jdy\n")
    box.git("-C", ".mem", "add", "-A")
    message = (
        "T\x1b[31m\n\nsum\x1b[2Jmary\n\nGitMemo-Type: add\nGitMemo-Kind: task\nGitMemo-Keyword: k"
    )
    box.git("-C", ".mem", "commit", "-qm", message)
    tip = box.git("-C", ".mem", "rev-parse", "HEAD").strip()
    done = box.mem("read", tip)
    assert done.code == 0
    assert "\x1b" not in done.out
    assert "dy" in done.out


def test_a_reason_of_several_lines_is_shown_in_one(box: Box) -> None:
    box.git("init", "-q")
    box.mem("init", "--no-index")
    entry = box.mem("write", *FINE).out.split()[0]
    box.mem("delete", entry, "--reason", "one\ntwo")
    assert "withdrawn: one two" in box.mem("read", entry).out
    assert "(one two)" in box.mem("log").out
    assert "one two" in box.mem("log", entry).out
