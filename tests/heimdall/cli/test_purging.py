"""`mem purge` as a person and as a program meet it."""

import json
import os
import pty

import pytest

from tests.heimdall.cli.conftest import BIN, Box

SECRET = "nobody must ever read of Popocatepetl again"


def leaked(project: Box) -> str:
    done = project.mem(
        *("write", "--json", "--title", "Leaked", "--summary", SECRET, "-k", "a", "-k", "b")
    )
    entry: str = done.json()["id"]
    return entry


def test_a_purge_reports_what_went_and_the_id_says_so_afterwards(project: Box) -> None:
    entry, later = leaked(project), project.write("Later")
    done = project.mem("purge", entry, "--yes", "--json")
    told = done.json()
    assert done.code == 0
    assert (told["schema"], told["dry_run"], told["purged"]) == ("mem.purge/1", False, [entry])
    assert (told["rewritten"], told["left_out"], told["tip"]) == (1, 1, project.tip())
    assert (told["elsewhere"], told["left"], told["remotes"]) == ([], [], [])
    gone = project.mem("read", entry, "--json")
    assert (gone.code, gone.json()["error"]["code"]) == (3, "purged")
    assert told["date"] in gone.json()["error"]["message"]
    assert project.mem("read", later[:8]).out.startswith("Later")


def test_without_a_terminal_nothing_is_purged_unasked(project: Box) -> None:
    entry, before = leaked(project), project.tip()
    done = project.mem("purge", entry, stdin=b"y\n")
    assert done.code == 2
    assert "--yes" in done.err
    assert project.tip() == before


def test_a_dry_run_says_what_would_go(project: Box) -> None:
    entry, before = leaked(project), project.tip()
    done = project.mem("purge", entry, "--dry-run")
    assert (done.code, project.tip()) == (0, before)
    assert done.out.startswith(f"{entry}  would be purged\n")
    assert "0 commits would be rewritten, 1 left out" in done.out


def test_the_text_is_looked_for_elsewhere_and_found_is_exit_code_one(project: Box) -> None:
    entry = leaked(project)
    project.write("Other", "--content", "-")
    project.git("remote", "add", "origin", "https://x.invalid/x.git", cwd=project.code / ".mem")
    other = project.mem("log", "--json").json()["events"][0]["id"]
    done = project.mem("purge", entry, "--yes", "--text", "-", stdin=b"See take.\n")
    assert done.code == 1
    now = project.mem("read", other, "--json").json()["id"]
    assert f"elsewhere {now[:12]}" in done.out
    assert "remote    origin" in done.out


@pytest.mark.parametrize(("answer", "code"), [(b"y\n", 0), (b"\n", 5), (b"no\n", 5)])
def test_at_a_terminal_it_asks_and_takes_only_yes(project: Box, answer: bytes, code: int) -> None:
    entry = leaked(project)
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(project.code)
        os.execve(f"{BIN}/mem", ["mem", "purge", entry], {**project.env, "TERM": "xterm"})
    os.write(terminal, answer)
    shown = b""
    try:
        while part := os.read(terminal, 4096):
            shown += part
    except OSError:  # the other side has closed
        pass
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == code
    assert b"Purge this for good? [y/N]" in shown
    assert (project.mem("read", entry).code == 3) == (code == 0)


def test_a_withdrawal_reports_what_was_redacted_in_its_reason(project: Box) -> None:
    entry = project.write()
    secret = "ghp_" + "a1B2" * 9
    done = project.mem("delete", entry, "--reason", f"it used {secret}", "--json")
    assert done.json()["redactions"] == [{"kind": "github-token", "field": "reason", "count": 1}]
    shown = project.mem("log").out
    assert secret not in shown
    entry = project.write("Again")
    done = project.mem("delete", entry, "--reason", f"it used {secret}")
    assert "redacted in reason: github-token (1)" in done.out
    assert json.dumps(secret) not in done.out
