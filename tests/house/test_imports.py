"""What a search and a hint load, and who may import whom."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

HEAVY = {
    "typer",
    "click",
    "rich",
    "pygit2",
    "portalocker",
    "rapidfuzz",
    "tree_sitter",
    "tree_sitter_language_pack",
    "argparse",
    "dataclasses",
    "pathlib",
    "subprocess",
    "inspect",
    "logging",
    "asyncio",
    "multiprocessing",
    "shutil",
    "tempfile",
    "pydantic",
    "heimdall.writer",
    "heimdall.journal.write",
    "gitmemo.repo",
    "gitmemo.lock",
}
"""What has no place on the way to an answer: each costs milliseconds, or can write."""

SHOW = """
import sys
before = set(sys.modules)
from heimdall.cli import main
code = main.run({program!r}, {argv!r})
print(code, *sorted(set(sys.modules) - before), file=sys.stderr)
"""


MEM = "from heimdall.cli import main; raise SystemExit(main.mem())"


def loaded(program: str, argv: list[str], cwd: Path, home: Path) -> set[str]:
    """The modules that a command loads beyond bare Python; it must have succeeded."""
    done = subprocess.run(
        [sys.executable, "-c", SHOW.format(program=program, argv=argv)],
        cwd=cwd,
        env={**os.environ, "HEIMDALL_HOME": str(home), "PYTHONPATH": ROOT},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    code, *modules = done.stderr.split()
    assert code == "0", done.stdout + done.stderr
    return set(modules)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A project with one file, one memory and an index; and the state directory."""
    top = tmp_path_factory.mktemp("imports")
    code, home = top / "code", top / "home"
    code.mkdir()
    (code / "budget.py").write_text("def take(n):\n    return n\n")
    env = {**os.environ, "HEIMDALL_HOME": str(home)}
    memory = ["write", "--title", "Budget", "--summary", "See take.", "-k", "a", "-k", "b"]
    for command in (["init", "--here"], [*memory, "--path", "budget.py"]):
        subprocess.run(
            [sys.executable, "-c", MEM, *command],
            cwd=code,
            env={**env, "PYTHONPATH": ROOT},
            check=True,
            capture_output=True,
            timeout=60,
        )
    return code, home


@pytest.mark.parametrize("flags", [[], ["--json"], ["--mode", "trailer"], ["--precise", "--all"]])
def test_a_search_loads_nothing_heavy(project: tuple[Path, Path], flags: list[str]) -> None:
    modules = loaded("mem", ["search", *flags, "budget"], *project)
    assert "heimdall.search.engine" in modules
    assert not modules & HEAVY


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_an_ordinary_search_does_without_typing(
    project: tuple[Path, Path], flags: list[str]
) -> None:
    modules = loaded("mem", ["search", *flags, "budget"], *project)
    assert not modules & {"typing", "contextlib"}


@pytest.mark.parametrize("command", ["reconcile", "verify"])
def test_an_audit_loads_no_command_library(project: tuple[Path, Path], command: str) -> None:
    modules = loaded("heimdall", [command], *project)
    assert "heimdall.writer.audit" in modules
    assert not modules & {"typer", "click", "rich", "pydantic"}


def test_a_verify_loads_no_parser_and_no_lock(project: tuple[Path, Path]) -> None:
    modules = loaded("heimdall", ["verify"], *project)
    assert not modules & {"tree_sitter", "portalocker", "importlib.metadata"}


def test_a_hint_loads_the_room_of_hints_alone(project: tuple[Path, Path]) -> None:
    modules = loaded("heimdall", ["hint", "budget.py"], *project)
    ours = {name for name in modules if name.startswith(("heimdall", "gitmemo"))}
    assert ours == {"heimdall", "heimdall.cli", "heimdall.cli.main", "heimdall.hints"}
    assert not modules & (HEAVY | {"re", "json", "typing", "sqlite3"})


def test_every_import_contract_holds() -> None:
    check = "import sys; from importlinter.cli import lint_imports_command as run; sys.exit(run())"
    done = subprocess.run(
        [sys.executable, "-c", check, "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 0, done.stdout
