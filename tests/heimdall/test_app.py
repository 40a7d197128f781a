"""The composition: where paths lead, what is registered, what is inherited; on real disks."""

import os
import subprocess
from pathlib import Path

import pytest

import gitmemo
from heimdall.app import App, Changes, related_path
from heimdall.config import Settings
from heimdall.errors import NoJournal, UnknownPath
from heimdall.model import Action, Depth


def make(tmp_path: Path, *, repository: bool = True) -> App:
    """An App in a fresh project with one file."""
    code = tmp_path / "code"
    code.mkdir()
    if repository:
        subprocess.run(["git", "init", "-q", "-b", "main", str(code)], check=True)
    (code / "budget.py").write_text("def take(n):\n    return n\n")
    return App(Settings(home=str(tmp_path / "home"), lock_timeout_s=2.0), str(code))


DRAFT = gitmemo.Draft("Budget", "See `take`.", ("budget", "retry"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a.py", ("sub/a.py", None)),
        ("./a.py#f", ("sub/a.py", "f")),
        ("../top.py#C.m", ("top.py", "C.m")),
        ("we#ird.py", ("sub/we#ird.py", None)),
        ("we#ird.py#f", ("sub/we#ird.py", "f")),
        ("a.py#", ("sub/a.py#", None)),
        ("#f", ("sub/#f", None)),
        ("../../outside.py", ("../../outside.py", None)),
        ("/etc/passwd", ("/etc/passwd", None)),
        ("/etc/passwd#root", ("/etc/passwd", "root")),
        ("", ("", None)),
    ],
)
def test_a_related_path_is_seen_from_here_and_kept_from_the_root(
    tmp_path: Path, text: str, expected: tuple[str, str | None]
) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "we#ird.py").write_text("")
    assert related_path(text, str(tmp_path / "sub"), str(tmp_path)) == expected


def test_outside_every_project_there_is_no_store(tmp_path: Path) -> None:
    app = make(tmp_path, repository=False)
    for act in (app.init, app.log):
        with pytest.raises(gitmemo.NoProject):
            act()
    assert not (tmp_path / "home").exists()


def test_here_opens_a_memory_in_a_plain_folder(tmp_path: Path) -> None:
    app = make(tmp_path, repository=False)
    opened = app.init(here=True)
    assert opened.created
    assert opened.indexed is not None
    assert opened.indexed.counts[Action.INDEXED] == 1
    assert app.write(DRAFT, ["budget.py"]).id == app.log()[0].id


def test_without_an_index_only_the_store_is_made(tmp_path: Path) -> None:
    app = make(tmp_path)
    assert app.init(index=False).indexed is None
    assert not (tmp_path / "home").exists()
    assert app.status().journal == "absent"


def test_the_symbols_that_a_text_names_are_anchored_unasked(tmp_path: Path) -> None:
    app = make(tmp_path)
    app.init(index=False)
    entry = app.read(app.write(DRAFT, ["budget.py"]).id)
    assert {anchor.symbol for anchor in entry.anchors} == {None, "take"}


def test_a_symbol_that_is_asked_for_must_be_there(tmp_path: Path) -> None:
    app = make(tmp_path)
    app.init(index=False)
    with pytest.raises(UnknownPath):
        app.write(DRAFT, ["budget.py#give"])
    assert app.log() == ()


def test_a_replacement_pins_inherited_paths_and_symbols_as_they_are_now(tmp_path: Path) -> None:
    app = make(tmp_path)
    app.init(index=False)
    old = app.read(app.write(DRAFT, ["budget.py#take"]).id)
    (tmp_path / "code" / "budget.py").write_text("def take(n):\n    return n + 1\n")
    new = app.read(app.replace(old.id, Changes(summary="Now see `take`.")).id)
    assert new.related_paths == old.related_paths
    assert {a.symbol for a in new.anchors} == {a.symbol for a in old.anchors}
    assert {a.hash for a in new.anchors}.isdisjoint(a.hash for a in old.anchors)
    (tmp_path / "code" / "budget.py").write_text("def give(n):\n    return n\n")
    with pytest.raises(UnknownPath):
        app.replace(new.id, Changes(summary="Anything."))


def test_a_linked_worktree_shares_the_store_and_pins_its_own_files(tmp_path: Path) -> None:
    app = make(tmp_path)
    code = tmp_path / "code"
    who = ["git", "-C", str(code), "-c", "user.name=t", "-c", "user.email=t@t"]
    subprocess.run([*who, "add", "-A"], check=True)
    subprocess.run([*who, "commit", "-qm", "code"], check=True)
    subprocess.run([*who, "worktree", "add", "-q", str(tmp_path / "other")], check=True)
    (tmp_path / "other" / "budget.py").write_text("def take(n):\n    return 7\n")
    app.init(index=False)
    entry = App(app.settings, str(tmp_path / "other")).write(DRAFT, ["budget.py"]).id
    assert app.read(entry).code.branch == "other"
    report = app.search(["budget"])
    assert [(hit.id, hit.verdict) for hit in report.hits] == [(entry, "WEAK")]
    apart = App(app.settings._replace(shared_worktrees=False), str(tmp_path / "other"))
    with pytest.raises(gitmemo.NoStore):
        apart.log()


def test_a_directory_of_a_project_registers_the_project(tmp_path: Path) -> None:
    app = make(tmp_path)
    (tmp_path / "code" / "sub").mkdir()
    (tmp_path / "code" / "sub" / "a.py").write_text("x = 1\n")
    done = app.reconcile(["sub"])
    assert done.registered == (os.path.realpath(tmp_path / "code"),)
    assert app.reconcile(["sub"]).registered == ()


def test_a_directory_outside_every_project_becomes_a_root_itself(tmp_path: Path) -> None:
    app = make(tmp_path, repository=False)
    done = app.reconcile(["."])
    assert done.registered == (os.path.realpath(tmp_path / "code"),)
    (tmp_path / "code" / "sub").mkdir()
    assert app.reconcile(["sub"]).registered == ()
    assert app.depth("budget.py").counts == {"graph": 1}


def test_a_file_in_no_indexed_project_is_refused(tmp_path: Path) -> None:
    app = make(tmp_path)
    with pytest.raises(UnknownPath):
        app.reconcile(["budget.py"])


def test_a_dry_run_registers_and_writes_nothing(tmp_path: Path) -> None:
    app = make(tmp_path)
    app.init()
    (tmp_path / "code" / "new.py").write_text("x = 1\n")
    before = (tmp_path / "home" / "journal.db").read_bytes()
    done = app.reconcile(everything=True, dry_run=True)
    assert done.registered == ()
    assert done.result.counts[Action.INDEXED] == 1
    assert (tmp_path / "home" / "journal.db").read_bytes() == before


def test_status_tells_behind_from_ok(tmp_path: Path) -> None:
    app = make(tmp_path)
    app.init()
    assert app.status().journal == "ok"
    assert app.hint(["budget.py"]) == 1
    assert app.status().journal == "behind"
    app.reconcile()
    standing = app.status()
    assert standing.journal == "ok"
    assert standing.store == str(tmp_path / "code" / ".mem")
    assert [root.path for root in standing.roots] == [os.path.realpath(tmp_path / "code")]


def test_what_needs_an_index_says_that_there_is_none(tmp_path: Path) -> None:
    app = make(tmp_path)
    with pytest.raises(NoJournal):
        app.depth("budget.py")
    with pytest.raises(NoJournal):
        list(app.graph())
    with pytest.raises(NoJournal):
        app.verify()


def test_a_rebuild_gives_the_same_graph(tmp_path: Path) -> None:
    app = make(tmp_path)
    app.init()
    before = list(app.graph(relative=True))
    assert app.rebuild().counts[Action.INDEXED] == 1
    assert list(app.graph(relative=True)) == before


def test_a_root_that_is_added_is_indexed_and_one_that_is_removed_is_forgotten(
    tmp_path: Path,
) -> None:
    app = make(tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    (other / "b.py").write_text("def b():\n    return 1\n")
    assert app.roots() == ()
    added = app.add_roots([".", str(other)], depth=Depth.SYMBOL)
    assert added.registered == (app.cwd, str(other))
    assert [(one.path, one.depth, one.files) for one in app.roots()] == [
        (app.cwd, Depth.SYMBOL, 1),
        (str(other), Depth.SYMBOL, 1),
    ]
    # A deeper look at one of them leaves the other alone.
    assert app.add_roots(["."], depth=Depth.GRAPH).result.counts == {Action.UPDATED: 1}
    # A project that went away keeps what is known of it until somebody says otherwise.
    (other / "b.py").unlink()
    other.rmdir()
    app.reconcile(everything=True)
    assert [(one.files, one.there) for one in app.roots()] == [(1, True), (1, False)]
    assert app.remove_roots([str(other)]) == (str(other),)
    assert [one.path for one in app.roots()] == [app.cwd]
    assert all(str(other) not in str(line) for line in app.graph())


def test_a_wrong_root_is_refused_before_anything_is_done(tmp_path: Path) -> None:
    app = make(tmp_path)
    for wrong in ("nowhere", "budget.py"):
        with pytest.raises(UnknownPath):
            app.add_roots([".", wrong])
    assert app.roots() == ()
    app.add_roots(["."])
    with pytest.raises(UnknownPath):
        app.remove_roots([".", "nowhere"])
    assert [one.path for one in app.roots()] == [app.cwd]
