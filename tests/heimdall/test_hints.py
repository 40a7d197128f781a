"""Hints: nothing that was appended is lost, nothing that is not a hint does harm."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heimdall import config, hints
from heimdall.errors import BadConfig
from tests.support import machine

ODD = ["/p/a b", '/p/q"uote\\', "/p/new\nline", "/p/caf\udce9", "/p/日本語", "/p/\u2028"]


def append(home: Path, *paths: str, fallback: str = "") -> int:
    return hints.append(str(home), paths, "test", at_ms=7, fallback=fallback)


def taken(home: Path, *others: str) -> list[str]:
    """Take and finish."""
    paths, done = hints.take(str(home), others)
    done()
    return paths


def test_what_was_appended_is_taken_once_in_its_order(tmp_path: Path) -> None:
    assert append(tmp_path, "/p/b", "/p/a", "/p/b") == 3
    assert append(tmp_path, *ODD) == len(ODD)
    assert taken(tmp_path) == ["/p/b", "/p/a", *ODD]
    assert taken(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def test_a_hint_is_one_line_of_json_for_its_owner_alone(tmp_path: Path) -> None:
    append(tmp_path, "/p/new\nline")
    file = tmp_path / hints.FILE_NAME
    assert json.loads(file.read_bytes()) == {"path": "/p/new\nline", "reason": "test", "at": 7}
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("path", ["", "a.py", "./a", "~/a", "/p/\0", "/" + "x" * 4096, "/\ud800"])
def test_what_can_be_no_path_is_refused_and_not_counted(tmp_path: Path, path: str) -> None:
    assert append(tmp_path, path, "/p/good") == 1
    assert taken(tmp_path) == ["/p/good"]


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"garbage",
        b"{",
        b'{"path":"relative","reason":"x","at":1}',
        b'{"path":"/nul\\u0000","reason":"x","at":1}',
        b'{"path":"/' + b"x" * 5000 + b'","reason":"x","at":1}',
        b'{"path":["/p/x"]}',
        b'{"path":null}',
        b'{"other":"/p/x"}',
        b'"/p/x"',
        b"[" * 100_000,
        b"\xff\xfe\x00",
        b'{"path":"/\\ud800","reason":"x"}',
        b'{"path":"/torn by a full di',
        b'{"path":"/p/twice"}{"path":"/p/twice"',
    ],
)
def test_a_foreign_or_torn_line_harms_no_other(tmp_path: Path, line: bytes) -> None:
    append(tmp_path, "/p/before")
    with (tmp_path / hints.FILE_NAME).open("ab") as file:
        file.write(line + b"\n")
    append(tmp_path, "/p/after")
    assert taken(tmp_path) == ["/p/before", "/p/after"]


def test_a_line_torn_without_its_end_does_not_swallow_the_next(tmp_path: Path) -> None:
    (tmp_path / hints.FILE_NAME).write_bytes(b'{"path":"/p/torn","rea')
    append(tmp_path, "/p/after")
    assert taken(tmp_path) == ["/p/after"]


def test_a_line_that_another_program_wrote_is_a_hint_like_any(tmp_path: Path) -> None:
    (tmp_path / hints.FILE_NAME).write_text('{ "at": 1, "path": "/p/by-hand" }\r\n')
    assert taken(tmp_path) == ["/p/by-hand"]


@settings(max_examples=50, deadline=None)
@given(
    names=st.lists(
        st.binary(min_size=1, max_size=60).filter(lambda b: b"\0" not in b and b[:1] != b"/")
    ),
    noise=st.binary(max_size=80),
)
def test_every_name_that_a_file_can_have_comes_back(
    tmp_path_factory: pytest.TempPathFactory, names: list[bytes], noise: bytes
) -> None:
    home = tmp_path_factory.mktemp("home")
    paths = ["/" + os.fsdecode(name) for name in names]
    (home / hints.FILE_NAME).write_bytes(noise.replace(b"{", b"(") + b"\n")
    append(home, *paths)
    assert taken(home) == list(dict.fromkeys(paths))


# -- never lost ------------------------------------------------------------------------------------


def test_what_was_taken_and_not_finished_is_taken_again(tmp_path: Path) -> None:
    append(tmp_path, "/p/1")
    hints.take(str(tmp_path))
    append(tmp_path, "/p/2")
    paths, done = hints.take(str(tmp_path))
    assert sorted(paths) == ["/p/1", "/p/2"]
    assert hints.waiting(str(tmp_path)) > 0
    done()
    assert hints.waiting(str(tmp_path)) == 0


def test_what_arrives_in_the_taken_file_goes_back_to_the_queue(tmp_path: Path) -> None:
    append(tmp_path, "/p/1")
    # A shell that opened the file before it was renamed and writes only now.
    with (tmp_path / hints.FILE_NAME).open("ab") as slow:
        paths, done = hints.take(str(tmp_path))
        slow.write(b'{"path":"/p/late"}\n')
    done()
    assert paths == ["/p/1"]
    assert taken(tmp_path) == ["/p/late"]


def test_what_a_shell_writes_after_the_taker_is_done_is_not_lost(tmp_path: Path) -> None:
    """`>>` opens, and writes a moment later: here the moment is longer than the whole taking."""
    machine.need(hasattr(fcntl, "F_SETLEASE"), "a system that tells who has a file open")
    append(tmp_path, "/p/1")
    with (tmp_path / hints.FILE_NAME).open("ab") as slow:
        paths, done = hints.take(str(tmp_path))
        done()
        assert hints.waiting(str(tmp_path)) > 0
        slow.write(b'{"path":"/p/late"}\n')
    assert paths == ["/p/1"]
    assert taken(tmp_path) == ["/p/1", "/p/late"]
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_held_open_for_long_does_not_stay_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    append(tmp_path, "/p/1")
    with (tmp_path / hints.FILE_NAME).open("ab"):
        monkeypatch.setattr(hints, "_HELD_S", 0.0)
        assert taken(tmp_path) == ["/p/1"]
        assert list(tmp_path.iterdir()) == []


def test_plain_appenders_beside_a_taker_lose_nothing(tmp_path: Path) -> None:
    """Shells that neither lock nor look again, as git's hooks are."""
    machine.need(hasattr(fcntl, "F_SETLEASE"), "a system that tells who has a file open")
    script = (
        "i=0; while [ $i -lt 300 ]; do i=$((i+1));"
        ' printf \'{"path":"/p/%s/%s"}\\n\' "$1" $i >>"$2"; done'
    )
    file = str(tmp_path / hints.FILE_NAME)
    shells = [subprocess.Popen(["sh", "-c", script, "sh", str(n), file]) for n in range(6)]
    seen: set[str] = set()
    while any(shell.poll() is None for shell in shells):
        seen |= set(taken(tmp_path))
    seen |= set(taken(tmp_path))
    assert [shell.returncode for shell in shells] == [0] * 6
    assert seen == {f"/p/{n}/{i}" for n in range(6) for i in range(1, 301)}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", [b"caf\xe9", b"\xed\xa0\x80", b"\xff\xfe", "日本".encode()])
def test_a_name_that_a_shell_wrote_as_it_is_comes_back(tmp_path: Path, name: bytes) -> None:
    (tmp_path / hints.FILE_NAME).write_bytes(b'{"path":"/p/' + name + b'","at":0}\n')
    assert taken(tmp_path) == [os.fsdecode(b"/p/" + name)]


def test_two_takers_at_once_lose_nothing(tmp_path: Path) -> None:
    append(tmp_path, "/p/1")
    first, done_first = hints.take(str(tmp_path))
    second, done_second = hints.take(str(tmp_path))
    assert first == ["/p/1"]
    append(tmp_path, "/p/2")
    done_first()
    done_second()
    assert second == ["/p/1"]
    assert taken(tmp_path) == ["/p/2"]


_TAKES_FOR_EVER = """
import sys
from heimdall import hints
while True:
    paths, done = hints.take(sys.argv[1])
    for path in paths:
        sys.stdout.write(path + "\\n")
    sys.stdout.flush()
    done()
"""

_APPENDS = """
import sys
from heimdall import hints
home, name, count = sys.argv[1:]
for number in range(int(count)):
    assert hints.append(home, [f"/p/{name}/{number}"], "race", at_ms=number) == 1
"""


def test_twenty_processes_beside_takers_that_are_killed_lose_nothing(tmp_path: Path) -> None:
    home, log = tmp_path / "home", tmp_path / "log"
    home.mkdir()
    count = 500
    appending = [
        subprocess.Popen([sys.executable, "-c", _APPENDS, str(home), str(n), str(count)])
        for n in range(20)
    ]
    kills = 0
    with log.open("ab") as out:
        while any(process.poll() is None for process in appending):
            taker = subprocess.Popen([sys.executable, "-c", _TAKES_FOR_EVER, str(home)], stdout=out)
            time.sleep(0.06)
            taker.send_signal(signal.SIGKILL)
            taker.wait()
            kills += 1
    assert [process.returncode for process in appending] == [0] * 20
    assert kills > 1
    seen = set(log.read_text().split("\n")) | set(taken(home))
    assert {f"/p/{n}/{number}" for n in range(20) for number in range(count)} <= seen


# -- where it cannot be written --------------------------------------------------------------------


def test_without_a_state_directory_hints_go_to_the_fallback_and_no_directory_is_made(
    tmp_path: Path,
) -> None:
    missing, other = tmp_path / "missing", tmp_path / "other.jsonl"
    assert append(missing, "/p/1") == 0
    assert append(missing, "/p/1", fallback=str(other)) == 1
    assert append(missing, "/p/1", fallback=str(tmp_path / "no" / "where")) == 0
    assert not missing.exists()
    assert taken(missing, str(other)) == ["/p/1"]
    assert not other.exists()


def test_a_link_in_the_place_of_the_hints_is_not_followed(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    (tmp_path / hints.FILE_NAME).symlink_to(precious)
    assert append(tmp_path, "/p/1") == 0
    assert precious.read_text() == "mine"


# -- the command -----------------------------------------------------------------------------------


def run(home: Path, *arguments: str, stdin: bytes = b"", cwd: Path | None = None) -> int:
    root = Path(hints.__file__).parents[1]
    environment = {**os.environ, "HEIMDALL_HOME": str(home), "PYTHONPATH": str(root)}
    return subprocess.run(
        [sys.executable, "-m", "heimdall.hints", *arguments],
        input=stdin,
        env=environment,
        cwd=cwd,
        check=False,
    ).returncode


def test_the_command_hints_at_its_arguments_from_where_it_runs(tmp_path: Path) -> None:
    assert run(tmp_path, "a.py", "../b.py", "/c.py", "--", "-d.py", cwd=tmp_path) == 0
    here, above = str(tmp_path), str(tmp_path.parent)
    assert taken(tmp_path) == [f"{here}/a.py", f"{above}/b.py", "/c.py", f"{here}/-d.py"]


@pytest.mark.parametrize(
    ("stdin", "paths"),
    [
        (b"/a\n/b c\n", ["/a", "/b c"]),
        (b"/a\0/b\nc\0", ["/a", "/b\nc"]),
        (b"\0/caf\xe9\0", ["/caf\udce9"]),
        (b"", []),
        (b'{"tool_input": {"file_path": "/a", "content": "/not/a/path"}}', ["/a"]),
        (b' {"edits": [{"path": "/a"}, {"path": "/b"}], "paths": ["/c"]}', ["/a", "/b", "/c"]),
        (b'{"tool_input": {"file_path": 3}, "url": "/x"}', []),
        (b'{"broken', []),
    ],
)
def test_what_is_piped_in_is_taken_as_names_or_as_a_hooks_object(
    stdin: bytes, paths: list[str]
) -> None:
    assert sorted(hints.from_stdin(stdin, "/cwd")) == sorted(paths)


def test_the_command_reads_standard_input(tmp_path: Path) -> None:
    assert run(tmp_path, "--reason", "post-commit", "--stdin", stdin=b"x.py\0", cwd=tmp_path) == 0
    line = json.loads((tmp_path / hints.FILE_NAME).read_bytes())
    assert line["reason"] == "post-commit"
    assert taken(tmp_path) == [f"{tmp_path}/x.py"]


def test_the_command_refuses_what_it_does_not_know_and_never_fails_otherwise(
    tmp_path: Path,
) -> None:
    assert run(tmp_path, "--what") == 2
    assert run(tmp_path, "/" + "x" * 5000) == 0
    assert run(tmp_path / "missing", "/a", cwd=tmp_path) == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("given", ["", "/abs/olute", "~", "~/x", "/a/../b", "relative"])
def test_the_state_directory_is_the_one_that_the_settings_name(given: str) -> None:
    env = {"HEIMDALL_HOME": given} if given else {}
    ours = hints.state_home(env, "/home/me")
    try:
        theirs = config.load(env, "/home/me").home
    except BadConfig:
        theirs = ""
    assert ours == theirs


def test_a_hint_loads_nothing_that_a_bare_interpreter_does_not(tmp_path: Path) -> None:
    code = (
        "import sys; before = set(sys.modules); from heimdall import hints;"
        "hints.append(sys.argv[1], ['/p/a'], 'x', at_ms=1);"
        "print(*sorted(set(sys.modules) - before))"
    )
    root = Path(hints.__file__).parents[1]
    loaded = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
        cwd=root,
    ).stdout.split()
    allowed = {"heimdall", "heimdall.hints", "_json", "__future__"}
    assert set(loaded) <= allowed
