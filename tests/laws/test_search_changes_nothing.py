"""A search leaves journal, store, working tree and home byte for byte as they were, apart from one
batch of hints where it met an anchor that moved or died."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from heimdall.hints import take
from heimdall.model import Verdict
from tests.heimdall.search.test_engine import Desk

QUESTIONS: tuple[dict[str, object], ...] = (
    {},
    {"show_all": True},
    {"precise": True},
    {"mode": "trailer"},
    {"kinds": frozenset({"function"})},
    {"limit": 1},
)


def photograph(folder: Path) -> dict[str, tuple[object, ...]]:
    """Every path below `folder` with its type, mode, times and content; reading times left out."""
    seen: dict[str, tuple[object, ...]] = {}
    for base, folders, names in os.walk(folder):
        for name in [*folders, *names, "."]:
            path = os.path.join(base, name)
            status = os.lstat(path)
            content = ""
            if os.path.isfile(path) and not os.path.islink(path):
                content = hashlib.sha256(Path(path).read_bytes()).hexdigest()
            seen[path] = (status.st_mode, status.st_mtime_ns, status.st_ctime_ns, content)
    return seen


def differences(
    before: dict[str, tuple[object, ...]], after: dict[str, tuple[object, ...]]
) -> set[str]:
    return {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}


def furnish(desk: Desk) -> None:
    """A memory for each fate, and an index that has seen only the beginning."""
    for name in ("same", "edited", "moved", "dead"):
        desk.put(f"src/{name}.py", f"def retry_{name}():\n    return '{name}'\n")
        desk.write(f"retry of {name}", f"src/{name}.py")
    desk.index(sink=True)
    desk.put("src/edited.py", "def retry_edited():\n    return 'no'\n")


def worsen(desk: Desk) -> None:
    desk.move("src/moved.py", "lib/moved.py")
    desk.remove("src/dead.py")


def test_a_search_changes_nothing(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    furnish(desk)
    before = photograph(tmp_path)
    for options in QUESTIONS:
        desk.ask("retry", **options)
    assert differences(before, photograph(tmp_path)) == set()


def test_a_search_that_met_the_moved_and_the_dead_appends_hints_and_nothing_else(
    tmp_path: Path,
) -> None:
    desk = Desk(tmp_path)
    furnish(desk)
    worsen(desk)
    before = photograph(tmp_path)
    verdicts = {hit.verdict for hit in desk.ask("retry").hits}
    assert verdicts >= {Verdict.STRONG, Verdict.WEAK, Verdict.REBUILT, Verdict.STALE}
    changed = differences(before, photograph(tmp_path))
    # The directory's own times change with its new file.
    assert {os.path.normpath(path) for path in changed} == {
        str(desk.home),
        str(desk.home / "hints.jsonl"),
    }
    told, _ = take(str(desk.home))
    assert sorted(os.path.relpath(path, desk.root) for path in told) == [
        ".",
        "lib/moved.py",
        "src/dead.py",
        "src/moved.py",
    ]


def test_a_search_that_may_not_hint_changes_nothing_whatever_it_met(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    furnish(desk)
    worsen(desk)
    before = photograph(tmp_path)
    for options in QUESTIONS:
        desk.ask("retry", hint=False, **options)
    assert differences(before, photograph(tmp_path)) == set()


def test_a_search_without_an_index_changes_nothing_whatever_it_met(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.write("retry", "src/retry.py")
    desk.remove("src/retry.py")
    before = photograph(tmp_path)
    desk.ask("retry")
    assert differences(before, photograph(tmp_path)) == set()


@pytest.mark.parametrize("owned", ["may read", "may not write"])
def test_a_search_where_nothing_may_be_written_answers_the_same(tmp_path: Path, owned: str) -> None:
    desk = Desk(tmp_path)
    furnish(desk)
    worsen(desk)
    expected = desk.ask("retry", hint=False)
    for base, folders, names in os.walk(tmp_path):
        for name in [*folders, *names, "."]:
            path = os.path.join(base, name)
            if os.path.islink(path):
                continue
            os.chmod(path, 0o555 if os.path.isdir(path) else 0o444)
            if owned == "may not write" and os.getuid() == 0:
                os.chown(path, 65534, 65534)
    for folder in tmp_path.parents[:3]:
        folder.chmod(0o755)
    before = photograph(tmp_path)
    # Asked once before the drop, so that all is loaded: nobody may not be able to read where Python
    # itself lies.
    program = (
        "import os, sys, tempfile, heimdall.search;"
        "from heimdall.config import Settings;"
        "settings = Settings(sys.argv[1], now=lambda: 1.8e9);"
        "heimdall.search.search(settings, sys.argv[2], ['retry'], hint=False);"
        "os.getuid() or os.setuid(65534);"
        "report = heimdall.search.search(settings, sys.argv[2], ['retry']);"
        "print(report.sources);"
        "[print(hit.id, hit.verdict, hit.reasons) for hit in report.hits]"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(desk.home), str(desk.root)],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    changed = differences(before, photograph(tmp_path))
    for base, folders, _ in os.walk(tmp_path):
        for name in [*folders, "."]:
            os.chmod(os.path.join(base, name), 0o755)
    assert done.stdout.splitlines() == [
        str(expected.sources),
        *(f"{hit.id} {hit.verdict} {hit.reasons}" for hit in expected.hits),
    ], done.stderr
    assert changed == set()
