"""gitmemo as somebody else's library: its page runs, it is typed, heimdall is not needed."""

import ast
import inspect
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import gitmemo
from tests.support.memory import git

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)

CLIENT = '''
"""Somebody's tool that keeps notes."""

from collections.abc import Iterator

from gitmemo import (
    Draft,
    Entry,
    Finding,
    Found,
    GitMemoError,
    Health,
    Identity,
    Kind,
    Mode,
    Store,
    Written,
    check,
)


class Notes:
    def __init__(self, folder: str) -> None:
        self.store: Store = Store.init(folder, identity=Identity("n", "n@example.invalid"))

    def keep(self, title: str, text: str, *words: str) -> Written | None:
        try:
            return self.store.write(Draft(title, text, words, kind=Kind.TASK))
        except GitMemoError as error:
            facts: dict[str, object] = error.facts()
            print(facts)
            return None

    def about(self, question: str) -> Iterator[Entry]:
        hits: tuple[Found, ...] = self.store.search([question], mode=Mode.TEXT).hits
        for hit in hits:
            yield self.store.read(hit.id)


def main() -> None:
    notes = Notes(".")
    kept = notes.keep("Client", "It works.", "client", "works")
    assert kept is not None
    assert notes.keep("", "No title.", "a", "b") is None
    (found,) = notes.about("client")
    assert (found.id, found.title, found.active) == (kept.id, "Client", True)
    assert [one.title for one in Store.find(".").entries()] == ["Client"]
    faults: list[Finding] = [one for one in check(".") if one.state is Health.FAIL]
    assert not faults, faults
    assert [event.act.value for event in notes.store.history()] == ["add"]


main()
'''


@pytest.fixture
def alone(tmp_path: Path) -> dict[str, str]:
    """An environment in which `gitmemo` lies by itself, without the rest of this checkout."""
    shutil.copytree(
        ROOT / "gitmemo",
        tmp_path / "site" / "gitmemo",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    (tmp_path / "work").mkdir()
    git(str(tmp_path / "work"), "init", "-q", "-b", "main")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "PYTHON"))}
    return {**kept, "PYTHONPATH": str(tmp_path / "site"), "HOME": str(tmp_path)}


BLOCKED = """
import sys
class Nothing:
    allowed = {allowed!r}
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top not in self.allowed and top not in sys.stdlib_module_names:
            raise ModuleNotFoundError(f"{{name}} is not a dependency of gitmemo", name=name)
sys.meta_path.insert(0, Nothing())
import runpy
runpy.run_path({script!r}, run_name="__main__")
import gitmemo
assert gitmemo.__file__.startswith({site!r}), gitmemo.__file__
"""
ALLOWED = {"gitmemo", "pygit2", "_pygit2", "cffi", "_cffi_backend", "portalocker", "psutil"}


def run_alone(tmp_path: Path, env: dict[str, str], code: str) -> None:
    script = tmp_path / "script.py"
    script.write_text(code, encoding="utf-8")
    wrapped = BLOCKED.format(allowed=ALLOWED, script=str(script), site=str(tmp_path / "site"))
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", wrapped],
        cwd=tmp_path / "work",
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_block_of_the_page_runs_without_heimdall(
    tmp_path: Path, alone: dict[str, str]
) -> None:
    assert len(BLOCKS) > 8
    run_alone(tmp_path, alone, "\n".join(BLOCKS))


def test_a_client_runs_without_heimdall(tmp_path: Path, alone: dict[str, str]) -> None:
    run_alone(tmp_path, alone, CLIENT)


def test_a_client_is_checked_by_a_strict_type_checker(
    tmp_path: Path, alone: dict[str, str]
) -> None:
    (tmp_path / "client.py").write_text(CLIENT, encoding="utf-8")
    wrong = CLIENT.replace("notes = Notes(", "Store.init(1)\n    notes = Notes(")
    (tmp_path / "wrong.py").write_text(wrong, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache")]
    said = {}
    for name in ("client.py", "wrong.py"):
        done = subprocess.run(
            [*command, name],
            cwd=tmp_path,
            env={**alone, "MYPYPATH": ""},
            capture_output=True,
            text=True,
            check=False,
            timeout=110,
        )
        said[name] = (done.returncode, done.stdout)
    assert said["client.py"] == (0, "Success: no issues found in 1 source file\n")
    assert said["wrong.py"][0] == 1
    assert 'incompatible type "int"' in said["wrong.py"][1]


def test_the_package_says_that_it_is_typed() -> None:
    assert (ROOT / "gitmemo" / "py.typed").is_file()
    assert 'gitmemo = ["py.typed"]' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", gitmemo.__all__)
def test_every_public_name_is_explained_and_annotated(name: str) -> None:
    value = getattr(gitmemo, name)
    if name == "EntryId":  # a name for `str`, explained where it stands
        return
    assert value.__doc__
    assert not value.__doc__.startswith(f"{name}("), "a made-up docstring"
    members = [value, *vars(value).values()] if inspect.isclass(value) else [value]
    for member in members:
        function = member.__func__ if isinstance(member, staticmethod) else member
        if not inspect.isfunction(function) or not str(function.__module__).startswith("gitmemo"):
            continue
        if function.__name__.startswith("_") and function.__name__ != "__init__":
            continue
        if function.__module__ == "gitmemo.values":
            continue
        where = inspect.getsourcefile(function)
        assert where is not None
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
        (made,) = (node for node in tree.body if isinstance(node, ast.FunctionDef))
        asked = [*made.args.args, *made.args.kwonlyargs]
        assert made.returns is not None, function
        assert all(one.annotation for one in asked if one.arg != "self"), function
        assert function.__doc__ or function.__name__ == "__init__", function
