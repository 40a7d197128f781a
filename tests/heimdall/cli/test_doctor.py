"""`mem doctor` as a person and as a program meet it."""

import ast
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from gitmemo import Finding, Health, Subject
from heimdall.cli import doctor
from tests.heimdall.cli.conftest import Box

ROOT = Path(__file__).parents[3]


def test_a_healthy_memory_gets_a_short_all_clear(project: Box) -> None:
    project.write()
    done = project.mem("doctor")
    assert (done.code, done.err) == (0, "")
    first, *notes = done.out.splitlines()
    assert first.startswith(f"the memory at {project.code / '.mem'} is well: ")
    assert all(line.startswith("note: ") for line in notes)


def test_what_fails_is_told_with_what_to_do_and_an_exit_code(project: Box) -> None:
    project.write()
    (project.code / ".mem" / "mine.txt").write_text("x")
    done = project.mem("doctor")
    assert done.code == 1
    (line,) = [line for line in done.out.splitlines() if line.startswith("FAIL")]
    assert "tree" in line
    assert "mine.txt" in line
    assert "Move them out of `.mem`." in done.out
    value = project.mem("doctor", "--json", "--quick").json()
    assert (value["schema"], value["state"]) == ("mem.doctor/1", "fail")
    assert (value["root"], value["store"]) == (str(project.code), str(project.code / ".mem"))
    (found,) = [one for one in value["checks"] if one["state"] == "fail"]
    assert (found["check"], found["fault"]) == ("tree", "untracked")
    assert found["subjects"] == [{"path": "mine.txt"}]
    assert found["message"]
    assert found["advice"]
    assert {"check": "objects", "state": "skip", "fault": "quick"}.items() <= next(
        one for one in value["checks"] if one["check"] == "objects"
    ).items()


def test_a_warning_alone_is_no_failure(project: Box) -> None:
    (project.code / ".gitignore").write_text("!.mem\n")
    done = project.mem("doctor")
    assert done.code == 0
    assert "warn  ignored" in done.out


def test_a_missing_memory_is_a_finding_and_no_project_is_not_found(project: Box, box: Box) -> None:
    os.rename(project.code / ".mem", project.top / "away")
    done = project.mem("doctor")
    assert done.code == 1
    assert "there is no memory at" in done.out
    assert box.mem("doctor", cwd=box.top).code == 3


def test_the_personal_memory_is_examined_outside_any_project(box: Box) -> None:
    personal = box.home / "memory"
    personal.mkdir(parents=True)
    assert box.mem("init", "--here", "--no-index", cwd=personal).code == 0
    done = box.mem("doctor", "--json", cwd=box.code)
    assert done.code == 0
    assert done.json()["store"] == str(personal / ".mem")


def test_a_read_only_and_nearly_full_disk_is_named_and_works(
    box: Box, tiny_disk: Callable[[str], Path]
) -> None:
    disk = tiny_disk("size=4m")
    box.git("init", "-q", "-b", "main", cwd=disk)
    assert box.mem("init", "--no-index", cwd=disk).code == 0
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    value = box.mem("doctor", "--json", cwd=disk).json()
    warned = {(one["check"], one["fault"]) for one in value["checks"] if one["state"] == "warn"}
    assert {("writable", "read-only"), ("room", "little-room")} <= warned
    assert value["state"] == "warn"


def test_no_text_of_a_store_can_move_the_cursor() -> None:
    finding = Finding("tree", Health.FAIL, "gone", (Subject("a\x1b[2J\nb", note="{n}"),))
    text = doctor.findings_text([finding])
    assert "\x1b" not in text
    assert len(text.splitlines()) == 2


def raised() -> Iterator[tuple[str, str]]:
    """Check and fault of every finding that is spelled out in the rooms of the memory."""
    for name in ("checkup", "ground", "contents"):
        tree = ast.parse((ROOT / "gitmemo" / f"{name}.py").read_text(encoding="utf-8"))
        for call in ast.walk(tree):
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
                continue
            if call.func.id in ("Finding", "_found") and len(call.args) > 2:
                check, fault = call.args[0], call.args[2]
                if isinstance(check, ast.Constant) and isinstance(fault, ast.Constant):
                    yield str(check.value), str(fault.value)


def test_every_finding_has_its_words() -> None:
    found = set(raised())
    assert len(found) > 40
    missing = [key for key in found if key not in doctor.WORDS and key[1] not in doctor.ANY]
    assert missing == []
    for (check, fault), words in doctor.WORDS.items():
        said = doctor.explain(Finding(check, Health.FAIL, fault))
        assert "{" not in said.sentence + said.advice
        assert words.sentence
