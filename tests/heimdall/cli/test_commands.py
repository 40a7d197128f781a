"""The commands as a person and as a program meet them: shapes, streams, colours, endings."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.heimdall.cli.conftest import BIN, Box

ANSI = re.compile(r"\x1b\[")


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Box:
    """An indexed project with one memory about one symbol; `box.entry` is not kept: ask the log."""
    box = Box(tmp_path_factory.mktemp("lived"))
    box.git("init", "-q", "-b", "main")
    (box.code / "budget.py").write_text('"""Budgets."""\n\n\ndef take(n):\n    return n\n')
    (box.code / "notes.bin").write_bytes(b"\0\1\2" * 100)
    box.git("add", "-A")
    box.git("commit", "-qm", "code")
    done = box.mem("init")
    assert done.code == 0, done
    box.write("Budget", "--path", "budget.py#take")
    return box


# -- shapes ----------------------------------------------------------------------------------------


def test_init_twice_is_once(project: Box) -> None:
    first = project.mem("init", "--json").json()
    again = project.mem("init", "--json").json()
    assert first["schema"] == "mem.init/1"
    assert (first["created"], again["created"]) == (False, False)
    assert first["store"] == str(project.code / ".mem")
    assert first["index"]["counts"] == {"indexed": 1}
    assert again["index"]["counts"].get("indexed", 0) == 0
    assert project.git("status", "--porcelain") == "?? budget.py\n"


def test_a_write_answers_with_id_file_redactions_and_similar(project: Box) -> None:
    secret = "ghp_" + "a1B2" * 9
    done = project.mem(
        "write",
        "--json",
        "--title",
        "Budget",
        "--summary",
        f"Use {secret} there.",
        "-k",
        "a",
        "-k",
        "b",
    )
    value = done.json()
    assert set(value) == {"schema", "id", "file", "redactions", "similar"}
    assert value["schema"] == "mem.write/1"
    assert value["id"] == project.tip()
    assert (project.code / ".mem" / value["file"]).is_file()
    assert {one["field"] for one in value["redactions"]} >= {"summary"}
    assert all(set(one) == {"kind", "field", "count"} for one in value["redactions"])
    assert secret not in (project.code / ".mem" / value["file"]).read_text()
    text = project.mem("read", value["id"]).out
    assert secret not in text
    assert "[redacted:" in text


def test_reading_gives_back_what_was_written(project: Box) -> None:
    body = project.code / "body.md"
    body.write_text("# Heading\n\nline ☃\n")
    words = ("--title", "缓存 title", "--summary", "two\nlines", "-k", "缓存", "-k", "LRU")
    rest = ("--kind", "topic", "--content", "body.md", "--path", "budget.py")
    done = project.mem("write", "--json", *words, *rest)
    value = project.mem("read", "--json", done.json()["id"]).json()
    assert value["schema"] == "mem.read/1"
    assert (value["title"], value["summary"]) == ("缓存 title", "two\nlines")
    assert (value["kind"], value["keywords"]) == ("topic", ["缓存", "LRU"])
    assert value["content"].strip() == "# Heading\n\nline ☃"
    assert value["related_paths"] == ["budget.py"]
    assert value["code"]["branch"] == "main"
    assert value["anchors"][0]["path"] == "budget.py"
    assert value["anchors"][0]["hash"].startswith("sha256:")
    assert (value["active"], value["replaced_by"], value["withdrawn"]) == (True, [], None)


def test_a_replacement_inherits_what_it_does_not_say(project: Box) -> None:
    old = project.write("Budget", "--path", "budget.py#take", "--kind", "topic")
    new = project.mem("replace", "--json", old, "--summary", "It changed.").json()["id"]
    before, after = (project.mem("read", "--json", one).json() for one in (old, new))
    for field in ("title", "keywords", "kind", "related_paths", "anchors"):
        assert after[field] == before[field], field
    assert after["summary"] == "It changed."
    assert "See take." not in after["content"]
    bare = project.mem("replace", "--json", new, "--no-paths").json()["id"]
    assert project.mem("read", "--json", bare).json()["related_paths"] == []


def test_a_replacement_whose_inherited_path_is_gone_must_name_it_anew(project: Box) -> None:
    old = project.write("Budget", "--path", "budget.py")
    (project.code / "budget.py").rename(project.code / "moved.py")
    done = project.mem("replace", old, "--summary", "It changed.")
    assert (done.code, "--path" in done.err) == (5, True), done
    assert project.mem("replace", old, "--summary", "It changed.", "--path", "moved.py").code == 0


def test_the_log_is_the_life_of_the_store_newest_first(project: Box) -> None:
    one = project.write("One")
    two = project.mem("replace", "--json", one, "--title", "Two").json()["id"]
    gone = project.mem("delete", "--json", two, "--reason", "over").json()
    assert gone == {"schema": "mem.delete/1", "id": project.tip(), "deleted": two, "redactions": []}
    events = project.mem("log", "--json").json()["events"]
    assert [event["act"] for event in events] == ["delete", "replace", "add"]
    assert events[0]["note"] == "over"
    assert [event["id"] for event in project.mem("log", "--json", one).json()["events"]][-1] == one
    assert len(project.mem("log", "--json", "-n", "1").json()["events"]) == 1


def test_the_index_commands_have_their_schemas(lived: Box) -> None:
    for name, arguments in {
        "reconcile": (),
        "verify": (),
        "status": (),
        "depth": ("budget.py",),
        "hint": ("budget.py",),
    }.items():
        done = lived.heimdall(name, *arguments, "--json")
        assert done.code == 0, done
        assert done.json()["schema"] == f"heimdall.{name}/1"
    assert lived.heimdall("depth", "budget.py").out.startswith("graph")
    skipped = lived.heimdall("depth", ".", "--json").json()
    assert [row["path"] for row in skipped["rows"]] == [str(lived.code / "notes.bin")]
    assert skipped["rows"][0]["reason"] == "binary"
    assert lived.heimdall("depth", "nowhere.py").code == 3
    assert lived.heimdall("depth", "/etc/passwd").code == 3


def test_the_graph_is_one_object_a_line_and_relative_on_wish(lived: Box) -> None:
    lines = lived.heimdall("graph", "--jsonl", "--root", ".", "--relative").out.splitlines()
    kinds = {next(iter(json.loads(line))) for line in lines}
    assert kinds <= {"node", "edge", "pending", "skip"}
    nodes = [json.loads(line)["node"] for line in lines if line.startswith('{"node"')]
    assert {node["id"] for node in nodes} >= {"budget.py", "budget.py#take"}
    assert str(lived.code) not in "\n".join(lines)
    assert lived.heimdall("graph", "--root", "/etc").code == 3


def test_verify_finds_drift_and_reconcile_mends_it(project: Box) -> None:
    assert project.mem("init").code == 0
    (project.code / "new.py").write_text("x = 1\n")
    found = project.heimdall("verify", "--json")
    assert found.code == 1, found
    assert [Path(one["path"]).name for one in found.json()["drift"]] == ["new.py"]
    planned = project.heimdall("reconcile", "--all", "--dry-run", "--json").json()
    assert planned["dry_run"] is True
    assert project.heimdall("verify").code == 1
    assert project.heimdall("reconcile", "new.py").code == 0
    assert project.heimdall("verify").code == 0


def test_reconciling_everything_registers_the_project_and_says_so(project: Box) -> None:
    done = project.heimdall("reconcile", "--all", "--json")
    assert done.json()["registered"] == [str(project.code)]
    assert project.heimdall("reconcile", "--all", "--json").json()["registered"] == []


def test_a_bare_reconcile_finds_what_nobody_hinted_at(project: Box) -> None:
    (project.code / "new.py").write_text("def give(n):\n    return n\n")
    first = project.heimdall("reconcile", "--json").json()
    assert len(first["registered"]) == 1
    (project.code / "later.py").write_text("x = 1\n")
    planned = project.heimdall("reconcile", "--dry-run", "--json", "later.py").json()
    assert planned["counts"] == {"indexed": 1}
    assert project.heimdall("reconcile", "--json").json()["counts"]["indexed"] == 1
    assert project.heimdall("verify").code == 0


def test_a_rewrite_under_an_equal_size_and_date_is_found(project: Box) -> None:
    path = project.code / "budget.py"
    os.utime(path, ns=(10**18, 10**18))
    assert project.mem("init").code == 0
    path.write_text(path.read_text().replace("n", "m"))
    os.utime(path, ns=(10**18, 10**18))
    assert project.heimdall("verify").code == 1
    assert project.heimdall("reconcile", "--json").json()["counts"]["updated"] == 1
    assert project.heimdall("verify", "--deep").code == 0


def test_a_hint_is_looked_at_whatever_else_is_asked(project: Box) -> None:
    assert project.mem("init").code == 0
    (project.code / "budget.py").write_text("def give(n):\n    return n\n")
    assert project.heimdall("hint", "budget.py") == (0, "", "")
    assert project.heimdall("reconcile", "--json").json()["counts"] == {"updated": 1}
    listed = b"budget.py\0other.py\0"
    assert project.heimdall("hint", "--stdin", "--json", stdin=listed).json()["written"] == 2
    assert project.heimdall("hint", "--stdin", stdin=b"budget.py\n").code == 0
    assert project.heimdall("hint").code == 2
    both = project.heimdall("hint", "--stdin", "--json", "budget.py", stdin=b"other.py")
    assert both.json()["written"] == 2


def test_both_commands_search_alike(lived: Box) -> None:
    ours, theirs = (lived.run(name, "search", "budget", "--json") for name in ("mem", "heimdall"))
    assert ours.json() == theirs.json()
    value = ours.json()
    assert value["schema"] == "mem.search/1"
    assert list(value) == ["schema", "query", "snapshot", "total", "next", "sources", "hits"]
    top = value["hits"][0]
    assert (top["title"], top["verdict"], top["kind"]) == ("Budget", "STRONG", "task")
    assert set(top["anchors"][0]) == {"path", "symbol", "state", "now"}
    kinds = lived.mem("search", "budget", "--json", "--kind", "topic").json()["hits"]
    assert kinds == []


def test_pages_follow_each_other_by_cursor(project: Box) -> None:
    for number in range(5):
        project.write(f"Budget {number}")
    first = project.mem("search", "budget", "--json", "-n", "2", "--kind", "task").json()
    again = project.mem(
        "search", "budget", "--json", "-n", "2", "--cursor", first["next"], "--kind", "task"
    ).json()
    seen = [hit["id"] for page in (first, again) for hit in page["hits"]]
    assert len(set(seen)) == 4
    assert first["total"] == 5


# -- streams and endings ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [("search", "budget"), ("log",), ("--help",), ("search", "--help"), ("read", "zz")],
    ids=" ".join,
)
def test_nothing_is_coloured_where_nobody_looks(lived: Box, arguments: tuple[str, ...]) -> None:
    done = lived.mem(*arguments, FORCE_TERMINAL="1")
    assert not ANSI.search(done.out + done.err)


def on_terminal(box: Box, *command: str, **env: str) -> str:
    """What a person would see: both streams on one terminal."""
    ours, theirs = pty.openpty()
    kept = {k: v for k, v in box.env.items() if k != "NO_COLOR"}
    with subprocess.Popen(
        [os.path.join(BIN, command[0]), *command[1:]],
        cwd=box.code,
        env={**kept, "TERM": "xterm-256color", **env},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        seen = b""
        while select.select([ours], [], [], 30)[0]:
            try:
                data = os.read(ours, 65536)
            except OSError:
                break
            if not data:
                break
            seen += data
        assert process.wait(30) == 0, seen
    os.close(ours)
    return seen.decode()


def test_a_terminal_gets_colours_unless_they_are_unwanted(lived: Box) -> None:
    coloured = on_terminal(lived, "mem", "search", "budget")
    assert "STRONG" in coloured
    assert ANSI.search(coloured)
    plain = on_terminal(lived, "mem", "search", "budget", NO_COLOR="1")
    assert "STRONG" in plain
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]", plain)
    assert not ANSI.search(on_terminal(lived, "mem", "search", "budget", TERM="dumb"))


def test_an_index_run_shows_a_bar_on_a_terminal_only(project: Box) -> None:
    assert "indexing" in on_terminal(project, "mem", "init")
    assert project.mem("init").err == ""


def test_a_reader_that_goes_away_is_no_failure(lived: Box) -> None:
    command = f'"{BIN}/heimdall" graph --jsonl | head -n 1; exit "${{PIPESTATUS[0]}}"'
    for number in range(400):
        (lived.code / f"many{number}.py").write_text("def some_long_name(): pass\n" * 20)
    assert lived.heimdall("reconcile", "--all").code == 0
    done = subprocess.run(
        ["bash", "-c", command], cwd=lived.code, env=lived.env, capture_output=True, check=False
    )
    assert done.returncode == 141
    assert done.stderr == b""


@pytest.mark.parametrize("command", ["mem log --json", "mem read zz", "heimdall roots"])
def test_a_command_ends_alike_started_afresh_or_forked(shared: Box, command: str) -> None:
    """What all other tests of the commands stand on (tests/support/warm.py)."""
    program, *arguments = command.split()
    forked = shared.run(program, *arguments)
    assert shared.run(program, *arguments, PYTHONHASHSEED="0") == forked


def test_an_interrupt_ends_quietly_with_130(project: Box) -> None:
    os.mkfifo(project.code / "slow")
    with subprocess.Popen(
        [os.path.join(BIN, "mem"), "write", "--title", "T", "--summary", "S", "--content", "slow"],
        cwd=project.code,
        env=project.env,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        try:
            # The pipe can be opened for writing only once the command has opened it for reading.
            writer = opened_for_writing(project.code / "slow")
            process.send_signal(signal.SIGINT)
            # Python sees a signal between two steps. One that comes just before the read begins
            # would wait for the read's end: so the read ends now, and finds the signal there.
            os.close(writer)
            out, err = process.communicate(timeout=30)
        finally:
            process.kill()
    assert (process.returncode, out, err) == (130, b"", b"")


def opened_for_writing(pipe: Path) -> int:
    """The named pipe's end for writing, as soon as somebody reads."""
    deadline = time.monotonic() + 30
    while True:
        try:
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            if time.monotonic() > deadline:
                raise
        time.sleep(0.02)


BROKEN = """
import sys
from heimdall import app
from heimdall.cli import main
def broken(*_, **__): raise RuntimeError("the secret of the trace")
app.App.log = broken
sys.exit(main.run("mem", sys.argv[1:]))
"""


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_an_unforeseen_failure_is_one_sentence_and_a_file(project: Box, form: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", BROKEN, "log", *form],
        cwd=project.code,
        env=project.env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 70
    shown = done.stdout + done.stderr
    assert "Traceback" not in shown
    assert "secret of the trace" not in shown
    kept = project.home / "crash.txt"
    assert str(kept) in shown
    assert "the secret of the trace" in kept.read_text()
    assert kept.stat().st_mode & 0o777 == 0o600
    if form:
        assert json.loads(done.stdout)["error"]["code"] == "unforeseen"
    else:
        assert done.stdout == ""


def test_a_full_standard_output_is_the_machines_refusal(lived: Box) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [os.path.join(BIN, "mem"), "log"],
            cwd=lived.code,
            env=lived.env,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 8
    assert b"Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) <= 2


def test_a_name_that_is_no_text_is_printed_so_that_json_stays_json(project: Box) -> None:
    odd = os.fsencode(project.code) + b"/caf\xe9.py"
    with open(odd, "wb") as file:
        file.write(b"def only_here(): pass\n")
    assert project.mem("init").code == 0
    hits = project.mem("search", "only_here", "--json").json()["hits"]
    assert hits[0]["path"].encode("utf-8", "surrogateescape") == odd
    assert project.mem("search", "only_here", LC_ALL="C").code == 0
    assert project.heimdall("graph", "--jsonl").code == 0


def test_roots_are_listed_added_and_removed(project: Box) -> None:
    (project.code / "inner").mkdir()
    assert project.heimdall("roots").out.startswith("nothing is watched yet")
    added = project.heimdall("roots", "add", ".", "inner", "--depth", "file", "--json").json()
    assert (added["schema"], added["action"]) == ("heimdall.roots/1", "add")
    assert added["registered"] == [str(project.code), str(project.code / "inner")]
    listed = project.heimdall("roots", "--json").json()["roots"]
    assert [(one["depth"], one["there"]) for one in listed] == [("file", True), ("file", True)]
    assert project.heimdall("roots", "remove", "inner").out.startswith("no longer watching")
    for wrong in (("add",), ("list", "x"), ("remove", ".", "--depth", "file"), ("frobnicate",)):
        assert project.heimdall("roots", *wrong).code == 2
    assert project.heimdall("roots", "remove", "inner").code == 3
