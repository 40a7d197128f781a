"""Where one tree ends and another begins, and what a repository may not make us do."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from heimdall.config import Settings
from heimdall.model import Presence
from heimdall.writer import add_root, git, reconcile, remove_root, verify
from heimdall.writer.ground import Ground
from heimdall.writer.walk import walk
from tests.support import trees
from tests.support.index import clean_graph, graph, index, reasons, row, settings
from tests.support.machine import need_root
from tests.support.trees import plant, relative, repository

PY = "x = 1\n"


def known(made: Settings, root: str) -> dict[str, str]:
    """Every path of the root with its reason, after a verify that found nothing."""
    assert verify(made) == ()
    found: dict[str, str] = {}
    for directory, folders, names in os.walk(root):
        for name in (*folders, *names):
            path = os.path.join(directory, name)
            if (one := row(made.home, path)) and one.state is Presence.PRESENT:
                found[os.path.relpath(path, root)] = one.reason
    return found


@pytest.mark.parametrize("start", [repository, plant])
def test_a_hint_leads_into_no_foreign_or_ignored_directory(
    tmp_path: Path, start: Callable[[str, dict[str, str]], str]
) -> None:
    files = {"a.py": PY, ".gitignore": "ig/\nnode_modules/\n", "ig/s/i.py": PY}
    root = start(str(tmp_path / "r"), {**files, ".heimdallignore": "hi/\n", "hi/s/h.py": PY})
    repository(os.path.join(root, "nested"), {"s/n.py": PY})
    repository(os.path.join(root, "node_modules/dep"), {"s/d.py": PY})
    os.symlink("ig", os.path.join(root, "way"))
    made, _ = index(str(tmp_path / "home"), root)
    before = graph(made.home)
    for name in ("ig", "hi", "nested", "node_modules/dep", "way"):
        for path in (name, f"{name}/s"):
            reconcile(made, [os.path.join(root, path)])
            assert walk(root, os.path.join(root, path)).files == {}
    assert graph(made.home) == before
    names = {".gitignore": "no-language", ".heimdallignore": "no-language", "a.py": ""}
    assert known(made, root) == {**names, "nested": "nested-repository", "way": "link"}


@pytest.mark.parametrize("start", [repository, plant])
def test_a_git_that_leads_nowhere_ends_no_tree(
    tmp_path: Path, start: Callable[[str, dict[str, str]], str]
) -> None:
    root = start(
        str(tmp_path / "r"),
        {"a.py": PY, "b/.git": "gitdir: /nowhere\n", "b/b.py": PY, "c/.git/junk": "", "c/c.py": PY},
    )
    made, _ = index(str(tmp_path / "home"), root)
    assert known(made, root) == {"a.py": "", "b/b.py": "", "c/c.py": ""}
    reconcile(made, [os.path.join(root, "b"), os.path.join(root, "c")])
    assert known(made, root) == {"a.py": "", "b/b.py": "", "c/c.py": ""}


@pytest.mark.parametrize("start", [repository, plant])
def test_a_bare_repository_is_a_boundary(
    tmp_path: Path, start: Callable[[str, dict[str, str]], str]
) -> None:
    root = start(str(tmp_path / "r"), {"a.py": PY})
    trees.git(root, "init", "-q", "--bare", "x/store.git")
    made, _ = index(str(tmp_path / "home"), root)
    assert known(made, root) == {"a.py": "", "x/store.git": "bare-repository"}
    reconcile(made, [os.path.join(root, "x/store.git", name) for name in ("HEAD", "hooks")])
    assert known(made, root) == {"a.py": "", "x/store.git": "bare-repository"}
    shutil.rmtree(os.path.join(root, "x/store.git/refs"))
    reconcile(made, None)
    assert known(made, root)["x/store.git/HEAD"] == "no-language"


def test_submodules_are_named_whatever_their_shape(tmp_path: Path) -> None:
    library = repository(str(tmp_path / "library"), {"l.py": PY}, commit=True)
    root = repository(str(tmp_path / "r"), {"a.py": PY}, commit=True)
    trees.git(root, "clone", "-q", library, "old")
    for name in ("old", "new", "empty"):
        trees.git(root, "submodule", "--quiet", "add", library, name)
    trees.git(root, "commit", "-q", "-m", "three")
    trees.git(root, "submodule", "deinit", "-q", "-f", "empty")
    made, _ = index(str(tmp_path / "home"), root)
    expected = {"a.py": "", ".gitmodules": "no-language"}
    expected |= dict.fromkeys(("old", "new", "empty"), "submodule")
    assert known(made, root) == expected
    reconcile(made, [os.path.join(root, name) for name in ("old", "new", "empty", "new/l.py")])
    assert known(made, root) == expected
    assert graph(made.home) == clean_graph(made.home, root)


def test_linked_worktrees_are_trees_of_their_own(tmp_path: Path) -> None:
    root = repository(str(tmp_path / "r"), {"a.py": PY}, commit=True)
    inside, outside = os.path.join(root, "in"), str(tmp_path / "out")
    for place in (inside, outside):
        trees.git(root, "worktree", "add", "-q", "--detach", place)
    made, _ = index(str(tmp_path / "home"), root, inside, outside)
    for one in (root, inside, outside):
        found = row(made.home, os.path.join(one, "a.py"))
        assert found is not None
        assert found.root == one
    assert reasons(made.home) == {}
    remove_root(made, inside)
    reconcile(made, None)
    assert row(made.home, os.path.join(inside, "a.py")) is None
    assert reasons(made.home) == {inside: "worktree"}


@pytest.mark.parametrize(
    "damage", ["index", "config", "owner", "missing", "hanging"], ids=lambda name: name
)
def test_where_git_will_not_answer_nothing_is_retracted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    root = repository(str(tmp_path / "r"), {"a.py": PY}, commit=True)
    made, _ = index(str(tmp_path / "home"), root)
    before = graph(made.home)
    tools = tmp_path / "bin"
    tools.mkdir()
    if damage == "index":
        Path(root, ".git/index").write_bytes(b"garbage")
    elif damage == "config":
        Path(root, ".git/config").write_text("[core\n", encoding="utf-8")
    elif damage == "owner":
        need_root()
        subprocess.run(["chown", "-R", "4321", root], check=True)
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    elif damage == "missing":
        monkeypatch.setenv("PATH", str(tools))
    else:
        (tools / "git").write_text("#!/bin/sh\nexec sleep 600\n", encoding="utf-8")
        (tools / "git").chmod(0o755)
        monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
        monkeypatch.setattr(git, "_PATIENCE_S", 0.2)
    new = plant(root, {"new.py": PY}) + "/new.py"
    result = reconcile(made, None)
    assert [path for path, _ in result.errors] == [root]
    assert result.errors[0][1].startswith("git-refused:")
    assert "\n" not in result.errors[0][1]
    assert graph(made.home) == before
    assert [(one.path, one.why) for one in verify(made)] == [(root, "unreadable")]
    # A hint does not know better.
    hinted = reconcile(made, [os.path.join(root, "a.py"), new])
    assert {reason.partition(":")[0] for _, reason in hinted.errors} == {"git-refused"}
    assert '"node"' in "".join(graph(made.home))


def test_no_program_that_a_repository_names_is_run(tmp_path: Path) -> None:
    root = repository(
        str(tmp_path / "r"), {"a.py": PY, ".gitattributes": "* filter=evil diff=evil\n"}
    )
    trees.git(root, "add", "-A")
    trees.git(root, "commit", "-q", "-m", "all")
    ran, evil = tmp_path / "ran", tmp_path / "evil"
    evil.write_text(f"#!/bin/sh\necho $0 $* >> {ran}\ncat\n", encoding="utf-8")
    evil.chmod(0o755)
    for key in (
        "core.fsmonitor",
        "core.pager",
        "core.sshCommand",
        "core.editor",
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "diff.evil.textconv",
        "diff.evil.command",
        "pager.ls-files",
        "alias.ls-files",
    ):
        trees.git(root, "config", key, str(evil))
    for name in ("post-index-change", "post-checkout", "pre-commit"):
        shutil.copy(evil, os.path.join(root, ".git/hooks", name))
    trees.git(root, "config", "core.untrackedCache", "true")
    # The content is another under the stat that git recorded: whoever compares must filter.
    plant(root, {"a.py": "y = 2\n", "new.py": PY})
    made, _ = index(str(tmp_path / "home"), root)
    reconcile(made, None, everything=True)
    assert verify(made, deep=True) == ()
    assert known(made, root)["new.py"] == ""
    assert not ran.exists()


def test_the_longer_root_owns_and_a_second_name_is_no_second_root(tmp_path: Path) -> None:
    root = repository(str(tmp_path / "r"), {"a.py": PY, "in/b.py": PY})
    inner = os.path.join(root, "in")
    made, _ = index(str(tmp_path / "home"), root, inner)
    found = row(made.home, os.path.join(inner, "b.py"))
    assert found is not None
    assert found.root == inner
    assert verify(made) == ()
    assert remove_root(made, inner)
    reconcile(made, None)
    back = row(made.home, os.path.join(inner, "b.py"))
    assert back is not None
    assert back.root == root
    assert graph(made.home) == clean_graph(made.home, root)


def test_a_root_that_is_gone_is_removed_with_all_it_held(tmp_path: Path) -> None:
    root = plant(str(tmp_path / "r"), {"a.py": PY})
    made, _ = index(str(tmp_path / "home"), root)
    shutil.rmtree(root)
    reconcile(made, None)
    assert row(made.home, os.path.join(root, "a.py")) is not None
    assert remove_root(made, root)
    assert graph(made.home) == []


def test_a_mount_of_names_is_one_tree(tmp_path: Path) -> None:
    """Two names of one directory that differ in case are two directories here."""
    root = plant(str(tmp_path / "r"), {"Case/a.py": PY, "case/a.py": PY})
    listing = walk(root)
    if len(os.listdir(root)) == 2:
        assert relative(list(listing.files), root) == {"Case/a.py", "case/a.py"}
    seen = Ground([root]).look(listing.files)
    assert {one.presence for one in seen.values()} == {Presence.PRESENT}


def test_an_exported_git_environment_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = repository(str(tmp_path / "other"), {"o.py": PY}, commit=True)
    root = repository(str(tmp_path / "r"), {"a.py": PY, "b.py": PY}, commit=True)
    made = settings(str(tmp_path / "home"))
    for name, value in {
        "GIT_DIR": f"{other}/.git",
        "GIT_WORK_TREE": other,
        "GIT_INDEX_FILE": f"{other}/.git/index",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.excludesFile",
        "GIT_CONFIG_VALUE_0": str(tmp_path / "x"),
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_CEILING_DIRECTORIES": root,
    }.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "x").write_text("*\n", encoding="utf-8")
    add_root(made, root)
    reconcile(made, None)
    assert known(made, root) == {"a.py": "", "b.py": ""}
