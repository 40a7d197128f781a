"""The front of a store: what it promises to callers, and what it answers to bad ones."""

import errno
import hashlib
import io
import os
import sqlite3
import stat
import subprocess
import sys

import pytest

import gitmemo
from gitmemo import (
    Act,
    Anchor,
    CodeState,
    Draft,
    Kind,
    Mode,
    Store,
    intent,
)
from gitmemo.index import Index, open_reader
from gitmemo.place import STORE_DIR
from gitmemo.reading import resolve
from gitmemo.repo import Repo
from tests.support.machine import let_in
from tests.support.memory import (
    IDENTITY,
    Clock,
    assert_sound,
    draft,
    files,
    git,
    project,
    reopened,
)

NOBODY = 65534
HOSTILE = """
[user]
    name = The Person
    email = person@example.invalid
[commit]
    gpgsign = true
    template = /nonexistent/template
    cleanup = strip
[core]
    hooksPath = {hooks}
    autocrlf = true
    excludesFile = {excludes}
    quotePath = true
    fsmonitor = {hooks}/pre-commit
[init]
    templateDir = {hooks}
    defaultBranch = trunk
[log]
    showSignature = true
[gc]
    auto = 1
"""


def code_file(store: Store, path: str, text: str) -> str:
    full = os.path.join(store.root, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "w", encoding="utf-8") as file:
        file.write(text)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


# -- what is promised ------------------------------------------------------------------------------


def test_what_was_written_is_found_and_read_back(tmp_path: object) -> None:
    store = project(tmp_path)
    wrote = store.write(
        draft(
            "[queue] drain", content="Call drain(20).\n", kind=Kind.TOPIC, related_branches=("r",)
        )
    )
    entry = store.read(wrote.id)
    assert (entry.title, entry.content, entry.kind) == (
        "[queue] drain",
        "Call drain(20).\n",
        Kind.TOPIC,
    )
    assert entry.active
    assert entry.current == (wrote.id,)
    assert entry.code == CodeState("main", "unknown")
    assert entry.related_branches == ("r", "main")
    assert entry.author == f"{IDENTITY.name} <{IDENTITY.email}>"
    assert [hit.id for hit in store.search(["drain"]).hits] == [wrote.id]
    assert wrote.file.startswith("entries/20")
    assert wrote.file.count("/") == 4
    assert_sound(store)


def test_a_replacement_takes_the_place_of_the_old_entry_and_inherits_its_kind(
    tmp_path: object,
) -> None:
    store = project(tmp_path)
    first = store.write(draft("first", kind=Kind.TOPIC))
    second = store.replace(first.id[:9], draft("second"))
    old, new = store.read(first.id), store.read(second.id)
    assert (old.active, old.replaced_by, old.current) == (False, (second.id,), (second.id,))
    assert (new.active, new.replaces, new.kind) == (True, first.id, Kind.TOPIC)
    assert [hit.id for hit in store.search(["memory"]).hits] == [second.id]
    assert not os.path.exists(os.path.join(store.path, first.file))
    assert_sound(store)


def test_a_withdrawn_entry_is_read_with_its_reason_and_ranks_no_more(tmp_path: object) -> None:
    store = project(tmp_path)
    first = store.write(draft("first"))
    second = store.replace(first.id, draft("second"))
    store.delete(second.id, "It was\nwrong.")
    assert store.read(first.id).withdrawn == "It was\nwrong."
    assert store.read(first.id).current == ()
    assert store.search(["memory"]).total == 0
    hits = store.search(["memory"], include_inactive=True).hits
    assert {(hit.id, hit.active, hit.replaced_by) for hit in hits} == {
        (first.id, False, (second.id,)),
        (second.id, False, ()),
    }
    assert_sound(store)


def test_history_tells_the_life_of_a_chain_and_of_the_store(tmp_path: object) -> None:
    store = project(tmp_path)
    first = store.write(draft("first"))
    other = store.write(draft("other"))
    second = store.replace(first.id, draft("second"))
    gone = store.delete(second.id, "wrong")
    told = [(event.id, event.act, event.target) for event in store.history()]
    assert told == [
        (gone, Act.DELETE, second.id),
        (second.id, Act.REPLACE, first.id),
        (other.id, Act.ADD, None),
        (first.id, Act.ADD, None),
    ]
    chain = [event.id for event in store.history(second.id)]
    assert chain == [gone, second.id, first.id]
    assert [event.id for event in store.history(first.id, limit=1)] == [gone]
    assert store.history()[0].note == "wrong"


def test_related_files_are_anchored_by_their_bytes(tmp_path: object) -> None:
    store = project(tmp_path)
    digest = code_file(store, "src/a.py", "x = 1\n")
    os.symlink("a.py", os.path.join(store.root, "src/link.py"))
    symbol = Anchor("sha256:" + "0" * 64, "src/a.py", "f")
    wrote = store.write(
        draft(related_paths=("src/a.py", "./src", "src/link.py"), anchors=(symbol,))
    )
    entry = store.read(wrote.id)
    assert entry.anchors == (Anchor(digest, "src/a.py"), symbol)
    assert entry.related_paths == ("src/a.py", "src", "src/link.py")
    assert store.search(["memory"]).hits[0].anchors == entry.anchors
    message = git(store.path, "log", "-1", "--format=%B")
    assert message.rstrip().endswith(
        f"GitMemo-Anchor: {digest} src/a.py\nGitMemo-Anchor: {symbol.hash} src/a.py#f"
    )


def test_the_checkout_that_asks_gives_branch_and_files(tmp_path: object) -> None:
    store = project(f"{tmp_path}/project")
    git(store.root, "commit", "-q", "--allow-empty", "-m", "first")
    linked = f"{tmp_path}/linked"
    git(store.root, "worktree", "add", "-q", "-b", "feature", linked)
    with open(f"{linked}/only-here.txt", "w", encoding="utf-8") as file:
        file.write("x")
    wrote = store.write(draft(related_paths=("only-here.txt",)), code_root=linked)
    assert store.read(wrote.id).code.branch == "feature"
    with pytest.raises(gitmemo.InvalidDraft):
        store.write(draft("again", related_paths=("only-here.txt",)))


def test_secrets_are_replaced_before_anything_is_written(tmp_path: object) -> None:
    store = project(tmp_path)
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    wrote = store.write(draft(content=f"token {secret}\n", summary=f"use {secret}"))
    assert sum(redaction.count for redaction in wrote.redactions) == 2
    store.delete(wrote.id, f"leaked {secret}")
    for path, state in files(store.path).items():
        assert state.data is None or secret.encode() not in state.data, path
    assert secret not in git(store.path, "log", "-p", "--all")


def test_look_alikes_are_reported_and_not_refused(tmp_path: object) -> None:
    store = project(tmp_path)
    words = "a long summary of how the cache evicts its oldest entries first when full"
    first = store.write(draft("bound the cache", summary=words))
    store.write(draft("something else entirely", summary="no word in common there"))
    second = store.write(draft("bound the cache", summary=words + " again"))
    assert second.similar == (first.id,)


def test_git_of_the_person_and_of_the_environment_cannot_reach_a_store(tmp_path: object) -> None:
    home, hooks, store = f"{tmp_path}/home", f"{tmp_path}/hooks", project(f"{tmp_path}/project")
    for folder in (home, hooks):
        os.makedirs(folder)
    for hook in ("pre-commit", "commit-msg", "post-commit", "reference-transaction"):
        with open(f"{hooks}/{hook}", "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\ntouch {tmp_path}/hook-ran\nexit 1\n")
        os.chmod(f"{hooks}/{hook}", stat.S_IRWXU)
    with open(f"{home}/excludes", "w", encoding="utf-8") as file:
        file.write("*.md\n")
    with open(f"{home}/.gitconfig", "w", encoding="utf-8") as file:
        file.write(HOSTILE.format(hooks=hooks, excludes=f"{home}/excludes"))
    other = project(f"{tmp_path}/other")
    code_state = files(f"{other.root}/.git")
    env = {
        **os.environ,
        "HOME": home,
        "GIT_DIR": f"{other.root}/.git",
        "GIT_WORK_TREE": other.root,
        "GIT_INDEX_FILE": f"{other.root}/.git/index",
        "GIT_OBJECT_DIRECTORY": f"{other.root}/.git/objects",
        "GIT_AUTHOR_NAME": "Wrong Person",
        "GIT_COMMITTER_DATE": "1999-01-01T00:00:00Z",
        "GIT_TEMPLATE_DIR": hooks,
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.hooksPath",
        "GIT_CONFIG_VALUE_0": hooks,
        "GIT_NAMESPACE": "elsewhere",
    }
    code = (
        "import sys, gitmemo\n"
        "store = gitmemo.Store.open(sys.argv[1])\n"
        "draft = gitmemo.Draft('#42 a title', 'crlf\\nlines', ('a', 'b'), 'x\\n')\n"
        "one = store.write(draft)\n"
        "two = store.replace(one.id, draft._replace(title='second'))\n"
        "store.delete(two.id, 'reason')\n"
        "gitmemo.Store.init(sys.argv[2])\n"
    )
    fresh = f"{tmp_path}/fresh"
    os.makedirs(fresh)
    git(fresh, "init", "-q", "-b", "main")
    done = subprocess.run(
        [sys.executable, "-c", code, store.root, fresh],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert not os.path.exists(f"{tmp_path}/hook-ran")
    assert files(f"{other.root}/.git") == code_state
    assert [event.title for event in store.history()][2] == "#42 a title"
    # Who commits is the one thing that is taken from the person's settings.
    who = git(store.path, "log", "-3", "--format=%an|%cn").split("\n")
    assert set(who) == {"The Person|The Person", ""}
    assert "1999" not in git(store.path, "log", "--format=%cI")
    assert not os.path.exists(f"{fresh}/.mem/.git/hooks/pre-commit")
    assert_sound(store)
    assert_sound(Store.open(fresh))


def test_the_cold_rooms_stay_out_of_a_search(tmp_path: object) -> None:
    store = project(tmp_path)
    store.write(draft())
    code = (
        "import sys, gitmemo\n"
        "assert len(gitmemo.Store.open(sys.argv[1]).search(['cache']).hits) == 1\n"
        "heavy = {'pygit2', 'portalocker', 'rapidfuzz', 'typer', 'rich', 'argparse', 'dataclasses',"
        " 'pathlib', 'subprocess', 'inspect', 'logging', 'asyncio', 'multiprocessing', 'shutil',"
        " 'tempfile', 'hashlib', 'threading'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    command = [sys.executable, "-S", "-c", code, store.root]
    env = {"PYTHONPATH": os.path.dirname(os.path.dirname(gitmemo.__file__))}
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    assert (done.stdout, done.stderr) == ("[]\n", "")


# -- reading touches nothing -----------------------------------------------------------------------


def read_everything(store: Store) -> None:
    entry_id = store.search(["memory"], include_inactive=True).hits[0].id
    for mode in Mode:
        store.search(["memory"], mode=mode)
    store.search(["memoryx"])
    store.search(["memory"], snapshot=git(store.path, "rev-parse", "main~1").strip())
    store.read(entry_id)
    store.history()
    store.history(entry_id)


@pytest.mark.parametrize("index", ["right", "absent", "behind", "damaged", "newer"])
def test_reads_change_no_byte_and_no_time_whatever_the_index_is_like(
    tmp_path: object, index: str
) -> None:
    store = project(tmp_path)
    wrote = store.write(draft("one"))
    path = os.path.join(store.path, ".git", "gitmemo-index.db")
    with open(path, "rb") as file:
        old = file.read()
    store.replace(wrote.id, draft("two"))
    if index == "absent":
        os.unlink(path)
    elif index != "right":
        with open(path, "r+b") as file:
            if index == "behind":
                file.write(old)
            elif index == "damaged":
                file.seek(4096)
                file.write(b"\xff" * 8192)
            else:
                file.seek(60)
                file.write((99).to_bytes(4, "big"))
    before = files(store.root)
    read_everything(reopened(store))
    assert files(store.root) == before


@pytest.mark.skipif(os.getuid() != 0, reason="needs to become another user")
def test_a_store_that_may_only_be_read_is_searched_and_refuses_to_be_written(
    tmp_path: object,
) -> None:
    store = project(tmp_path)
    store.write(draft("one"))
    store.write(draft("two"))
    code = (
        "import os, subprocess, sys, gitmemo\n"
        "from gitmemo import plan, writing\n"  # the interpreter may lie where nobody may look
        f"os.setgid({NOBODY}); os.setuid({NOBODY})\n"
        "store = gitmemo.Store.open(sys.argv[1])\n"
        "assert store.search(['memory']).total == 2\n"
        "assert store.search(['memory'], mode=gitmemo.Mode.TRAILER).total == 2\n"
        "assert store.read(store.search(['two']).hits[0].id).title == 'two'\n"
        "try:\n    store.write(gitmemo.Draft('t', 's', ('a', 'b'), 'c'))\n"
        "except gitmemo.IoRefused as refused:\n    print(refused.code)\n"
    )
    let_in(store.root)
    before = files(store.root)
    done = subprocess.run(
        [sys.executable, "-c", code, store.root],
        capture_output=True,
        text=True,
        cwd="/",
        check=False,
    )
    assert (done.stdout, done.stderr) == ("13\n", "")
    assert files(store.root) == before


# -- bad input -------------------------------------------------------------------------------------


def test_no_store_yet(tmp_path: object) -> None:
    with pytest.raises(gitmemo.NoStore):
        Store.open(str(tmp_path))


def test_a_plain_folder_is_not_taken_for_a_store(tmp_path: object) -> None:
    os.makedirs(f"{tmp_path}/{STORE_DIR}/entries")
    for opened in (Store.open, Store.init):
        with pytest.raises(gitmemo.PlainFolder):
            opened(str(tmp_path))
    assert os.listdir(f"{tmp_path}/{STORE_DIR}") == ["entries"]


def test_a_store_without_main_is_damaged(tmp_path: object) -> None:
    git(str(tmp_path), "init", "-q", "-b", "main", STORE_DIR)
    with pytest.raises(gitmemo.DamagedStore):
        Store.open(str(tmp_path))


def test_a_store_that_the_code_repository_tracks_is_refused(tmp_path: object) -> None:
    root = str(tmp_path)
    git(root, "init", "-q", "-b", "main")
    os.makedirs(f"{root}/.mem")
    with open(f"{root}/.mem/notes.md", "w", encoding="utf-8") as file:
        file.write("x")
    git(root, "add", "-f", ".mem")
    with pytest.raises(gitmemo.TrackedByParent) as refused:
        Store.init(root)
    assert refused.value.detail == ".mem/notes.md"


def test_a_store_that_became_tracked_as_a_repository_inside_is_refused(tmp_path: object) -> None:
    store = project(tmp_path)
    git(store.root, "-c", "advice.addEmbeddedRepo=false", "add", "-f", ".mem")
    with pytest.raises(gitmemo.TrackedByParent):
        store.write(draft())


def test_files_changed_by_hand_stop_a_writer_and_are_named(tmp_path: object) -> None:
    store = project(tmp_path)
    wrote = store.write(draft("one"))
    path = os.path.join(store.path, wrote.file)
    with open(path, "a", encoding="utf-8") as file:
        file.write("by hand")
    with pytest.raises(gitmemo.DirtyStore) as refused:
        reopened(store).write(draft("two"))
    assert wrote.file in refused.value.detail
    with open(path, encoding="utf-8") as file:
        assert file.read().endswith("by hand")
    assert store.search(["memory"]).total == 1


@pytest.mark.parametrize("change", ["added", "removed", "staged"])
def test_a_long_lived_writer_sees_files_that_came_or_went(tmp_path: object, change: str) -> None:
    store = project(tmp_path)
    wrote = store.write(draft("one"))
    if change == "removed":
        os.unlink(os.path.join(store.path, wrote.file))
    else:
        with open(os.path.join(store.path, "entries", "by-hand.md"), "w", encoding="utf-8") as file:
            file.write("x")
    if change == "staged":
        git(store.path, "add", "-A")
    with pytest.raises(gitmemo.DirtyStore):
        store.write(draft("two"))


def test_a_head_that_left_main_stops_a_writer(tmp_path: object) -> None:
    store = project(tmp_path)
    git(store.path, "switch", "-q", "-c", "elsewhere")
    with pytest.raises(gitmemo.DamagedStore) as refused:
        store.write(draft())
    assert refused.value.detail == "head-elsewhere"
    git(store.path, "switch", "-q", "--detach")
    with pytest.raises(gitmemo.DamagedStore):
        store.write(draft())


def test_a_marker_of_another_format_stops_a_writer(tmp_path: object) -> None:
    store = project(tmp_path)
    with open(os.path.join(store.path, ".gitmemo-format"), "w", encoding="utf-8") as file:
        file.write("3\n")
    git(store.path, "commit", "-q", "-a", "-m", "a newer format")
    for act in (lambda: store.write(draft()), lambda: store.search(["memory"])):
        with pytest.raises(gitmemo.OtherFormat) as refused:
            act()
        assert refused.value.detail == "3"


def test_a_store_with_a_part_of_its_history_is_neither_read_nor_written(tmp_path: object) -> None:
    whole = project(f"{tmp_path}/whole")
    whole.write(draft("one"))
    root = f"{tmp_path}/part"
    git(str(tmp_path), "init", "-q", root)
    git(root, "clone", "-q", "--depth", "1", f"file://{whole.path}", ".mem")
    with pytest.raises(gitmemo.DamagedStore) as refused:
        Store.open(root)
    assert refused.value.detail == "shallow"
    git(f"{root}/.mem", "fetch", "-q", "--unshallow")
    assert [hit.title for hit in Store.open(root).search(["memory"]).hits] == ["one"]


def test_a_store_with_hashes_of_another_kind_is_named_as_that(tmp_path: object) -> None:
    git(str(tmp_path), "init", "-q")
    git(str(tmp_path), "init", "-q", "--object-format=sha256", "-b", "main", ".mem")
    git(f"{tmp_path}/.mem", "commit", "-q", "--allow-empty", "-m", "init")
    with pytest.raises(gitmemo.DamagedStore) as refused:
        Store.open(str(tmp_path))
    assert refused.value.detail == "not-sha1"


def test_an_entry_edited_by_hand_is_never_removed_with_the_edit(tmp_path: object) -> None:
    store = project(tmp_path)
    wrote = store.write(draft("one"))
    path = os.path.join(store.path, wrote.file)
    with open(path, "a", encoding="utf-8") as file:  # in place, while the store is open
        file.write("by hand\n")
    for act in (
        lambda: store.delete(wrote.id, "wrong"),
        lambda: store.replace(wrote.id, draft("two")),
    ):
        with pytest.raises(gitmemo.DirtyStore) as refused:
            act()
        assert refused.value.detail == wrote.file
    with open(path, encoding="utf-8") as file:
        assert file.read().endswith("by hand\n")
    git(store.path, "checkout", "-q", "--", wrote.file)
    store.delete(wrote.id, "wrong")
    assert_sound(store)


def test_an_index_that_git_split_stops_a_writer_until_it_is_joined(tmp_path: object) -> None:
    store = project(tmp_path)
    git(store.path, "-c", "core.splitIndex=true", "status")
    store.write(draft("one"))  # the store's own settings win
    git(store.path, "update-index", "--split-index")
    with pytest.raises(gitmemo.DamagedStore) as refused:
        reopened(store).write(draft("two"))
    assert refused.value.detail == "split-index"
    git(store.path, "update-index", "--no-split-index")
    reopened(store).write(draft("two"))
    assert_sound(store)


def test_commits_are_by_whom_git_names_else_by_the_program(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in list(os.environ):
        if name.startswith("GIT_") or name in ("EMAIL", "XDG_CONFIG_HOME"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    root = f"{tmp_path}/project"
    git(str(tmp_path), "init", "-q", "-b", "main", root)

    def author(title: str, *, at: str = "HEAD") -> str:
        if title:
            Store.init(root, clock=Clock()).write(draft(title))
        return git(f"{root}/.mem", "log", "-1", "--format=%an <%ae>|%cn <%ce>", at).strip()

    built_in = "gitmemo <gitmemo@localhost>"
    assert author("nobody") == f"{built_in}|{built_in}"
    git(root, "config", "user.name", "Pr\u00f6ject")
    assert author("half") == f"{built_in}|{built_in}"
    git(root, "config", "user.email", "p@example.invalid")
    person = "Pr\u00f6ject <p@example.invalid>"
    assert author("of the project") == f"{person}|{person}"
    with open(f"{tmp_path}/.gitconfig", "w", encoding="utf-8") as file:
        file.write("[user]\nname = Person\nemail = person@example.invalid\n")
    person = "Person <person@example.invalid>"
    assert author("of the person") == f"{person}|{person}"
    monkeypatch.setenv("GIT_DIR", "/nonexistent")
    assert author("inside a hook") == f"{person}|{person}"
    monkeypatch.setenv("PATH", str(tmp_path))
    store = Store.open(root, clock=Clock())
    store.write(draft("without git"))
    monkeypatch.undo()
    assert author("") == f"{built_in}|{built_in}"


@pytest.mark.parametrize("text", ["", "main", "abc", "ABCDEF0", "0" * 65, "0123456g", "HEAD~1"])
def test_what_is_no_hash_is_refused(tmp_path: object, text: str) -> None:
    store = project(tmp_path)
    acts = (
        lambda: store.read(text),
        lambda: store.delete(text, "reason"),
        lambda: store.replace(text, draft()),
        lambda: store.history(text or "-"),
    )
    for act in acts:
        with pytest.raises(gitmemo.InvalidId):
            act()


def test_a_hash_that_names_no_entry_is_unknown(tmp_path: object) -> None:
    store = project(tmp_path)
    wrote = store.write(draft())
    gone = store.delete(wrote.id, "reason")
    first = git(store.path, "rev-list", "--max-parents=0", "main").strip()
    blob = git(store.path, "rev-parse", "main:.gitmemo-format").strip()
    for text in ("deadbeef", "0" * 40, "0" * 64, gone, first, blob):
        with pytest.raises(gitmemo.UnknownId):
            store.read(text)


def test_a_short_hash_of_two_entries_is_ambiguous(tmp_path: object) -> None:
    store = project(tmp_path)
    first, second = store.write(draft("one")).id, store.write(draft("two")).id
    index = open_reader(os.path.join(store.path, ".git"))
    assert isinstance(index, Index)
    twin = first[:12] + second[12:]
    index.base.close()
    index.base = copied_in_memory(store)
    index.base.execute("UPDATE commits SET id = ? WHERE id = ?", (twin, second))
    with pytest.raises(gitmemo.AmbiguousId) as refused:
        resolve(Repo(store.path), index, first[:12])
    assert set(refused.value.candidates) == {first, twin}
    index.close()


def copied_in_memory(store: Store) -> sqlite3.Connection:
    held = sqlite3.connect(os.path.join(store.path, ".git", "gitmemo-index.db"))
    base = sqlite3.connect(":memory:")
    held.backup(base)
    held.close()
    return base


def test_only_a_living_entry_can_be_replaced_or_withdrawn(tmp_path: object) -> None:
    store = project(tmp_path)
    first = store.write(draft("one"))
    second = store.replace(first.id, draft("two"))
    for act in (
        lambda: store.replace(first.id, draft("three")),
        lambda: store.delete(first.id, "reason"),
    ):
        with pytest.raises(gitmemo.NotActive) as refused:
            act()
        assert refused.value.successors == (second.id,)
    third = store.replace(second.id, draft("three"))
    with pytest.raises(gitmemo.NotActive) as refused:
        store.delete(first.id, "reason")
    assert refused.value.successors == (third.id,)  # where it is now, not where it went first
    store.delete(third.id, "reason")
    with pytest.raises(gitmemo.NotActive) as refused:
        store.delete(third.id, "reason")
    assert refused.value.successors == ()
    assert_sound(store)


def test_the_same_entry_twice_is_refused_until_it_is_withdrawn(tmp_path: object) -> None:
    store = project(tmp_path)
    first = store.write(draft("one"))
    with pytest.raises(gitmemo.Duplicate) as refused:
        store.write(draft("one", keywords=("TEST", "memory")))
    assert refused.value.entry_id == first.id
    other = store.write(draft("other"))
    with pytest.raises(gitmemo.Duplicate):
        store.replace(other.id, draft("one"))
    refreshed = store.replace(first.id, draft("one"))
    store.delete(refreshed.id, "reason")
    assert store.write(draft("one")).id not in (first.id, refreshed.id)


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("nowhere.py", "missing"),
        ("../outside", "escapes"),
        ("/etc/passwd", "absolute"),
        ("inside/link/passwd", "escapes"),
    ],
)
def test_related_paths_that_lead_nowhere_or_out_are_refused(
    tmp_path: object, path: str, problem: str
) -> None:
    store = project(tmp_path)
    os.makedirs(f"{store.root}/inside")
    os.symlink("/etc", f"{store.root}/inside/link")
    with pytest.raises(gitmemo.InvalidDraft) as refused:
        store.write(draft(related_paths=(path,)))
    assert refused.value.problem == problem


def test_a_fifo_among_the_related_paths_is_not_opened(tmp_path: object) -> None:
    store = project(tmp_path)
    os.mkfifo(f"{store.root}/pipe")
    assert store.read(store.write(draft(related_paths=("pipe",))).id).anchors == ()


def test_a_snapshot_that_is_not_in_the_history_of_main_is_stale(tmp_path: object) -> None:
    store = project(f"{tmp_path}/one")
    store.write(draft())
    other = project(f"{tmp_path}/two")
    foreign = other.write(draft("another")).id
    for snapshot in (foreign, "0" * 40):
        with pytest.raises(gitmemo.StaleSnapshot):
            store.search(["memory"], snapshot=snapshot)
    with pytest.raises(gitmemo.InvalidId):
        store.search(["memory"], snapshot="main")


def test_a_page_of_an_older_snapshot_does_not_move_when_something_is_written(
    tmp_path: object,
) -> None:
    store = project(tmp_path, clock=Clock(step=0.0))
    wrote = [store.write(draft(f"entry {n}")) for n in range(7)]
    first = store.search(["memory"], limit=3)
    whole = store.search(["memory"], limit=100)
    store.replace(wrote[5].id, draft("entry 5, replaced, memory memory"))
    store.delete(wrote[6].id, "gone")
    pages = [first]
    while pages[-1].next_skip is not None:
        skip = pages[-1].next_skip
        pages.append(store.search(["memory"], limit=3, skip=skip, snapshot=first.snapshot[:10]))
    assert [hit for page in pages for hit in page.hits] == list(whole.hits)


def test_a_lock_held_elsewhere_is_reported_with_its_holder(tmp_path: object) -> None:
    store = project(tmp_path, timeout_s=0.1)
    with open(f"{store.root}/.mem.gitmemo.lock", "w", encoding="utf-8") as file:
        file.write('{"pid": 4242, "host": "elsewhere"}')
    with pytest.raises(gitmemo.LockTimeout) as refused:
        store.write(draft())
    assert refused.value.holder == "4242@elsewhere"
    assert store.search(["memory"]).total == 0


def test_a_git_that_works_on_the_index_is_waited_for_and_its_lock_left_alone(
    tmp_path: object,
) -> None:
    store = project(tmp_path, timeout_s=0.1)
    lock = os.path.join(store.path, ".git", "index.lock")
    with open(lock, "wb"):
        pass
    with pytest.raises(gitmemo.LockTimeout):
        store.write(draft())
    assert os.path.exists(lock)
    os.unlink(lock)
    assert_sound(store)
    store.write(draft())
    assert_sound(store)


def test_a_person_who_commits_between_plan_and_commit_loses_nothing(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = project(tmp_path)
    carry_out = intent.carry_out
    turns = iter([True])

    def late(*args: object, **named: object) -> bool:
        if next(turns, False):
            git(store.path, "commit", "-q", "--allow-empty", "-m", "by hand")
        return carry_out(*args, **named)  # type: ignore[arg-type] # passed through

    monkeypatch.setattr(intent, "carry_out", late)
    store.write(draft())
    assert git(store.path, "log", "--format=%s").splitlines()[:2] == [draft().title, "by hand"]
    assert_sound(store)


@pytest.mark.skipif(os.getuid() != 0, reason="needs to mount a small file system")
@pytest.mark.parametrize("act", ["write", "replace", "delete"])
def test_a_full_disk_leaves_the_store_as_it_was(tmp_path: object, act: str) -> None:
    disk = f"{tmp_path}/disk"
    os.makedirs(disk)
    mount = ["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", disk]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("this machine mounts no tmpfs")
    try:
        fill_and_try(project(f"{disk}/project"), act)
    finally:
        subprocess.run(["umount", disk], check=True)


def fill_and_try(store: Store, act: str) -> None:
    kept = store.write(draft("kept"))
    refused: list[int] = []
    # From full to nearly free, so that every step is once the one that finds no room.
    for room in range(0, 120_000, 4096):
        with open(f"{store.root}/filler", "wb", buffering=0) as file:
            fill(file)
            file.truncate(max(0, file.tell() - room))
        try:
            if act == "write":
                store.write(draft(f"more {room}", content="x" * 3000))
            elif act == "replace":
                kept = store.replace(kept.id, draft(f"kept {room}", content="x" * 3000))
            else:
                store.delete(kept.id, "no longer")
        except gitmemo.IoRefused as error:
            refused.append(error.code)
            assert store.read(kept.id).active
        assert git(store.path, "status", "--porcelain") == ""
        os.unlink(f"{store.root}/filler")
        if act == "delete" and not store.read(kept.id).active:
            kept = store.write(draft(f"kept {room}"))
    assert len(refused) > 2
    assert set(refused) == {errno.ENOSPC}
    store.write(draft("afterwards"))
    assert_sound(store)


def fill(file: io.FileIO) -> None:
    try:
        while True:
            file.write(b"\0" * 4096)
    except OSError:
        return


@pytest.mark.parametrize(
    "bad",
    [
        Draft("", "s", ("a", "b"), "c"),
        Draft("two\nlines", "s", ("a", "b"), "c"),
        Draft("x" * 201, "s", ("a", "b"), "c"),
        Draft("t", "s", ("only",), "c"),
        Draft("t", "s", ("a", "b\nc"), "c"),
        Draft("t", "ok\nGitMemo-Type: add", ("a", "b"), "c"),
        Draft("t", "s\x07", ("a", "b"), "c"),
        Draft("t", "s", ("a", "b"), "x" * (2 << 20)),
    ],
)
def test_a_draft_that_breaks_a_rule_leaves_no_trace(tmp_path: object, bad: Draft) -> None:
    store = project(tmp_path)
    before = files(store.root)
    with pytest.raises(gitmemo.InvalidDraft):
        store.write(bad)
    assert files(store.root) == before


def test_pages_and_words_out_of_range_are_refused(tmp_path: object) -> None:
    store = project(tmp_path)
    for named in ({"limit": 0}, {"skip": -1}):
        with pytest.raises(gitmemo.InvalidDraft):
            store.search(["memory"], **named)  # type: ignore[arg-type] # one of two numbers
    for words in ([], [str(n) for n in range(16)], [" "], ["a\nb"]):
        with pytest.raises(gitmemo.InvalidDraft):
            store.search(words, mode=Mode.TRAILER)
    assert store.search([]).total == 0
