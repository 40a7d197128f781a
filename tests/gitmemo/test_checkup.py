"""A doctor's checks: each fault is planted in a real store and is the only thing that is found."""

import json
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import gitmemo
from gitmemo import EntryId, Finding, Health, Store, checkup, contents, ground, survival
from tests.support.memory import IDENTITY, NOW, Clock, draft, files, git, project

ELSEWHERE = {"topics", "copy"}
"""Checks that other tests plant faults for: they change with every change of main."""

LATER = 2 * NOW  # after whatever git dates by the real clock
Plant = Callable[[Store], None]


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Four entries, one of them replaced and one withdrawn; copied for each fault."""
    store = project(tmp_path_factory.mktemp("grown") / "project")
    git(store.root, "commit", "-q", "--allow-empty", "-m", "code")
    first = store.write(draft("One"))
    store.write(draft("Two"))
    store.replace(first.id, draft("One again"))
    store.delete(store.write(draft("Gone")).id, "over")
    return store


@pytest.fixture
def store(grown: Store, tmp_path: Path) -> Store:
    root = tmp_path / "project"
    shutil.copytree(grown.root, root, symlinks=True)
    return Store(str(root), identity=IDENTITY, clock=Clock(LATER), lock_timeout_s=1.0)


def troubles(store: Store, *, quick: bool = False) -> dict[tuple[str, str], Finding]:
    """What a doctor warns of or fails at; never an exception of a check."""
    found = {
        (one.check, one.fault): one
        for one in store.check(quick=quick)
        if one.state in (Health.WARN, Health.FAIL) and one.check not in ELSEWHERE
    }
    assert not [one for one in found.values() if one.fault == "failed"], found
    return found


def state_of(store: Store, check: str) -> Finding:
    (found,) = [one for one in store.check() if one.check == check]
    return found


def in_git(store: Store, *path: str) -> str:
    return os.path.join(store.path, ".git", *path)


def put(path: str, text: str | bytes = "") -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(text.encode() if isinstance(text, str) else text)


def tip(store: Store) -> str:
    return git(store.path, "rev-parse", "main").strip()


def entry_paths(store: Store) -> list[str]:
    return git(store.path, "ls-files", "entries/*.md").split()


def commit_file(store: Store, path: str, text: str | bytes, message: str) -> str:
    put(os.path.join(store.path, path), text)
    git(store.path, "add", "-A")
    git(store.path, "commit", "-q", "-m", message)
    return tip(store)


def entry_text(store: Store) -> tuple[str, str]:
    """File and message of a living entry that replaced nothing."""
    entry = store.read(store.entries()[-1].id)
    return entry.text, git(store.path, "log", "-1", "--format=%B", entry.id)


def test_a_healthy_store_has_nothing_but_good_news(store: Store) -> None:
    assert troubles(store) == {}
    findings = store.check()
    assert {one.state for one in findings if one.check not in ELSEWHERE} == {Health.OK}
    assert len({one.check for one in findings}) == len(findings)


def test_looking_changes_nothing(store: Store) -> None:
    before = files(store.root)
    store.check()
    assert files(store.root) == before


# -- around the store ------------------------------------------------------------------------------


def track(store: Store) -> None:
    put(os.path.join(store.root, "x"), "x")
    blob = git(store.root, "hash-object", "-w", "x").strip()
    git(store.root, "update-index", "--add", "--cacheinfo", f"100644,{blob},.mem/x")
    os.unlink(os.path.join(store.root, "x"))


def forget_some_lines(store: Store) -> None:
    put(os.path.join(store.root, ".git", "info", "exclude"), ".mem/\n")


def undo_by_negation(store: Store) -> None:
    put(os.path.join(store.root, ".gitignore"), "!.mem\n")


def second_store(store: Store) -> None:
    linked = os.path.join(os.path.dirname(store.root), "linked")
    git(store.root, "worktree", "add", "-q", linked)
    os.mkdir(os.path.join(linked, ".mem"))


# -- the repository --------------------------------------------------------------------------------


def shallow(store: Store) -> None:
    put(in_git(store, "shallow"), tip(store) + "\n")


def graft(store: Store) -> None:
    put(in_git(store, "info", "grafts"), tip(store) + "\n")


def replace_ref(store: Store) -> None:
    git(store.path, "replace", tip(store), git(store.path, "rev-parse", "main~1").strip())


def alternate(store: Store) -> None:
    put(in_git(store, "objects", "info", "alternates"), in_git(store, "objects") + "\n")


def detach(store: Store) -> None:
    put(in_git(store, "HEAD"), tip(store) + "\n")


def half_merge(store: Store) -> None:
    put(in_git(store, "MERGE_HEAD"), tip(store) + "\n")


def lose_main(store: Store) -> None:
    os.unlink(in_git(store, "refs", "heads", "main"))


def other_format(store: Store) -> None:
    commit_file(store, ".gitmemo-format", "3\n", "newer")


def no_marker(store: Store) -> None:
    os.unlink(os.path.join(store.path, ".gitmemo-format"))
    git(store.path, "commit", "-qam", "older")


def loose(store: Store, name: str) -> str:
    return in_git(store, "objects", name[:2], name[2:])


def old_blob(store: Store) -> str:
    """An object that only history needs: of the withdrawn entry."""
    path = git(store.path, "diff-tree", "--name-only", "-r", "main~1", "main").split()[-1]
    return git(store.path, "rev-parse", f"main~1:{path}").strip()


def lose_object(store: Store) -> None:
    os.unlink(loose(store, old_blob(store)))


def swap_object(store: Store) -> None:
    path = loose(store, old_blob(store))
    os.chmod(path, 0o644)
    put(path, Path(loose(store, tip(store))).read_bytes())


def cut_object(store: Store) -> None:
    path = loose(store, tip(store))
    os.chmod(path, 0o644)
    os.truncate(path, 60)


def dangling_ref(store: Store) -> None:
    put(in_git(store, "refs", "heads", "other"), "")


# -- working tree, index, record -------------------------------------------------------------------


def edit_unseen(store: Store) -> None:
    """Same size, same times: a look at the folders and at git's index sees nothing."""
    path = os.path.join(store.path, entry_paths(store)[0])
    before = os.stat(path)
    with open(path, "r+b") as file:
        file.seek(-2, os.SEEK_END)
        file.write(b"!")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def lose_file(store: Store) -> None:
    os.unlink(os.path.join(store.path, entry_paths(store)[0]))


def strange_file(store: Store) -> None:
    put(os.path.join(store.path, "entries", "notes.txt"), "mine")


def executable(store: Store) -> None:
    os.chmod(os.path.join(store.path, entry_paths(store)[0]), 0o755)


def unstage(store: Store) -> None:
    git(store.path, "rm", "-q", "--cached", entry_paths(store)[0])


def split_index(store: Store) -> None:
    git(store.path, "update-index", "--split-index")


def write_record(store: Store, base: str, **paths: list[str]) -> None:
    body = {"baseHead": base, "add": [], "delete": [], "operation": "write", **paths}
    put(in_git(store, "gitmemo-transaction.json"), json.dumps(body))


def record_back(store: Store) -> None:
    planned = "entries/2030/01/01/planned.md"
    write_record(store, tip(store), add=[planned])
    put(os.path.join(store.path, planned), "half")


def record_forward(store: Store) -> None:
    gone = git(store.path, "diff-tree", "--name-only", "-r", "main~1", "main").split()
    write_record(store, git(store.path, "rev-parse", "main~1").strip(), delete=gone)


def record_moved(store: Store) -> None:
    write_record(store, git(store.path, "rev-parse", "main~2").strip(), add=["entries/a.md"])


def record_unreadable(store: Store) -> None:
    put(in_git(store, "gitmemo-transaction.json"), "{")


def record_fifo(store: Store) -> None:
    os.mkfifo(in_git(store, "gitmemo-transaction.json"))


# -- locks and leftovers ---------------------------------------------------------------------------


def engine_lock(store: Store, pid: object, host: str | None = None) -> None:
    body = {"pid": pid, "host": host or socket.gethostname(), "engine": "gitmemo"}
    put(os.path.join(store.root, ".mem.gitmemo.lock"), json.dumps(body))


def dead_pid() -> int:
    done = subprocess.Popen([sys.executable, "-c", ""])
    done.wait()
    return done.pid


def stale_lock(store: Store) -> None:
    engine_lock(store, dead_pid())


def far_lock(store: Store) -> None:
    engine_lock(store, 4711, "another.example")


def empty_lock(store: Store) -> None:
    put(os.path.join(store.root, ".mem.gitmemo.lock"))


def fifo_lock(store: Store) -> None:
    os.mkfifo(os.path.join(store.root, ".mem.gitmemo.lock"))


def folder_lock(store: Store) -> None:
    os.unlink(in_git(store, "gitmemo.lock"))
    os.mkdir(in_git(store, "gitmemo.lock"))


def old_git_lock(store: Store) -> None:
    put(in_git(store, "index.lock"))
    os.utime(in_git(store, "index.lock"), (NOW, NOW))


def half_made(store: Store) -> None:
    os.mkdir(os.path.join(store.root, f".mem.gitmemo-tmp-{dead_pid()}-0123abcd"))


def old_store(store: Store) -> None:
    os.mkdir(os.path.join(store.root, ".mem.gitmemo-old-1"))


def migration(store: Store) -> None:
    put(os.path.join(store.root, ".mem.gitmemo-migration.json"), "{}")


def temporary(store: Store) -> None:
    put(in_git(store, "gitmemo-entry.tmp"), "half")


# -- entries ---------------------------------------------------------------------------------------


def signed_off(store: Store) -> None:
    text, message = entry_text(store)
    signed = message.rstrip("\n") + "\n\nSigned-off-by: Somebody <somebody@example.invalid>\n"
    commit_file(store, "entries/signed.md", text, signed)


def two_at_once(store: Store) -> None:
    text, message = entry_text(store)
    put(os.path.join(store.path, "entries/a.md"), text)
    commit_file(store, "entries/b.md", text, message)


def by_a_merge(store: Store) -> None:
    git(store.path, "checkout", "-q", "-b", "side", "main~1")
    commit_file(store, "readme", "x", "side")
    git(store.path, "checkout", "-q", "main")
    git(store.path, "merge", "-q", "--no-commit", "--no-ff", "side")
    git(store.path, "rm", "-qf", "readme")
    commit_file(store, "entries/merged.md", "text", "merge")
    git(store.path, "branch", "-qD", "side")


def edit_by_commit(store: Store) -> None:
    commit_file(store, entry_paths(store)[0], "other words", "edit")


def edit_and_back(store: Store) -> None:
    path = entry_paths(store)[0]
    before = Path(store.path, path).read_bytes()
    commit_file(store, path, "other words", "edit")
    commit_file(store, path, before, "back")


def wrong_digest(store: Store) -> None:
    text, message = entry_text(store)
    text = text.replace("The outcome.", "Another outcome.")
    commit_file(store, "entries/wrong.md", text, message)


def twin(store: Store) -> None:
    text, message = entry_text(store)
    commit_file(store, "entries/twin.md", text, message)


def unseen_name(store: Store) -> None:
    text, message = entry_text(store)
    git(store.path, "rm", "-q", store.entries()[-1].file)
    commit_file(store, "entries/über.md", text, message)


def stray(store: Store) -> None:
    commit_file(store, "README", "hello", "a readme")


def written_by_another(store: Store, title: str, content: str, **fields: str) -> str:
    """An entry that only an engine without our rules would have taken."""
    from gitmemo import entry, trailers  # noqa: PLC0415 # the format's own words, below the door

    summary = fields.get("summary", "A summary.")
    words = tuple(fields.get("keywords", "one,two").split(","))
    digest = entry.digest(
        title=title, summary=summary, keywords=words, content=content, kind=gitmemo.Kind.TASK
    )
    text = entry.render(
        title=title,
        summary=summary,
        content=content,
        keywords=words,
        kind=gitmemo.Kind.TASK,
        epoch_ms=int(NOW * 1000),
        code=gitmemo.CodeState(),
    )
    message = trailers.build(
        title=title,
        summary=summary,
        keywords=words,
        digest=digest,
        replaces=fields.get("replaces"),
    )
    return commit_file(store, f"entries/{digest[:8]}.md", text, message)


def too_long(store: Store) -> None:
    written_by_another(store, "x" * 201, "text")


def secret(store: Store) -> None:
    written_by_another(store, "Key", "token ghp_" + "a1B2" * 9)


def gap(store: Store) -> None:
    written_by_another(store, "Follows", "text", replaces="a" * 40)


def beside_its_ancestor(store: Store) -> None:
    written_by_another(store, "Follows", "text", replaces=store.entries()[0].id)


def forked(store: Store) -> None:
    one = store.write(draft("Root")).id
    store.replace(one, draft("First answer"))
    written_by_another(store, "Second answer", "text", replaces=one)


# -- the derived index -----------------------------------------------------------------------------


def index_path(store: Store) -> str:
    return in_git(store, "gitmemo-index.db")


def change_index(store: Store, statement: str) -> None:
    base = sqlite3.connect(index_path(store))
    base.execute(statement)
    base.commit()
    base.close()


def index_of_tomorrow(store: Store) -> None:
    change_index(store, "PRAGMA user_version = 99")


def index_of_elsewhere(store: Store) -> None:
    change_index(store, f"UPDATE meta SET tip = '{'b' * 40}'")


def index_that_lies(store: Store) -> None:
    change_index(store, "UPDATE texts SET title = 'Lie' WHERE seq = 2")


def index_that_forgot_words(store: Store) -> None:
    change_index(store, "INSERT INTO words (words) VALUES ('delete-all')")


def index_cut(store: Store) -> None:
    os.truncate(index_path(store), os.path.getsize(index_path(store)) // 2)


def index_fifo(store: Store) -> None:
    os.unlink(index_path(store))
    os.mkfifo(index_path(store))


FAULTS: list[tuple[Plant, str, str, Health]] = [
    (track, "tracked", "tracked", Health.FAIL),
    (forget_some_lines, "exclude", "lines-missing", Health.WARN),
    (undo_by_negation, "ignored", "not-ignored", Health.WARN),
    (second_store, "worktrees", "second-store", Health.WARN),
    (shallow, "repository", "shallow", Health.FAIL),
    (graft, "repository", "grafts", Health.FAIL),
    (replace_ref, "repository", "replaced", Health.FAIL),
    (alternate, "repository", "alternates", Health.WARN),
    (detach, "head", "elsewhere", Health.FAIL),
    (half_merge, "head", "unfinished", Health.WARN),
    (lose_main, "main", "absent", Health.FAIL),
    (other_format, "marker", "other", Health.FAIL),
    (no_marker, "marker", "old", Health.FAIL),
    (lose_object, "objects", "missing", Health.FAIL),
    (swap_object, "loose", "broken", Health.FAIL),
    (cut_object, "loose", "broken", Health.FAIL),
    (dangling_ref, "objects", "ref", Health.FAIL),
    (edit_unseen, "tree", "changed", Health.FAIL),
    (executable, "tree", "changed", Health.FAIL),
    (lose_file, "tree", "gone", Health.FAIL),
    (strange_file, "tree", "untracked", Health.FAIL),
    (unstage, "tree", "staged", Health.FAIL),
    (split_index, "tree", "split-index", Health.FAIL),
    (record_back, "record", "back", Health.WARN),
    (record_forward, "record", "forward", Health.WARN),
    (record_moved, "record", "moved", Health.FAIL),
    (record_unreadable, "record", "unreadable", Health.FAIL),
    (record_fifo, "record", "unreadable", Health.FAIL),
    (stale_lock, "lock", "stale", Health.WARN),
    (far_lock, "lock", "elsewhere", Health.WARN),
    (empty_lock, "lock", "nobodys", Health.WARN),
    (fifo_lock, "lock", "nobodys", Health.WARN),
    (folder_lock, "lock", "not-a-file", Health.FAIL),
    (old_git_lock, "git-locks", "left", Health.FAIL),
    (half_made, "leftovers", "half-made", Health.WARN),
    (old_store, "leftovers", "old", Health.WARN),
    (migration, "leftovers", "migration", Health.WARN),
    (temporary, "leftovers", "temporary", Health.WARN),
    (signed_off, "claims", "trailers", Health.WARN),
    (two_at_once, "claims", "many-files", Health.WARN),
    (by_a_merge, "claims", "merge", Health.WARN),
    (edit_by_commit, "edits", "edited", Health.FAIL),
    (edit_and_back, "edits", "touched", Health.WARN),
    (wrong_digest, "digests", "wrong", Health.WARN),
    (twin, "duplicates", "same", Health.WARN),
    (unseen_name, "names", "quoted", Health.WARN),
    (stray, "names", "strays", Health.WARN),
    (too_long, "limits", "beyond", Health.WARN),
    (secret, "secrets", "readable", Health.WARN),
    (gap, "chains", "gap", Health.WARN),
    (beside_its_ancestor, "chains", "living-ancestor", Health.WARN),
    (forked, "chains", "forked", Health.WARN),
    (index_of_tomorrow, "index", "other-version", Health.WARN),
    (index_of_elsewhere, "index", "other-history", Health.WARN),
    (index_that_lies, "index", "wrong", Health.FAIL),
    (index_that_forgot_words, "index", "wrong", Health.FAIL),
    (index_cut, "index", "damaged", Health.FAIL),
    (index_fifo, "index", "damaged", Health.FAIL),
]


@pytest.mark.parametrize(
    ("plant", "check", "fault", "state"), FAULTS, ids=lambda x: getattr(x, "__name__", str(x))
)
def test_a_planted_fault_is_all_that_is_found(
    store: Store, plant: Plant, check: str, fault: str, state: Health
) -> None:
    plant(store)
    found = troubles(store)
    assert set(found) == {(check, fault)}, found
    assert found[check, fault].state is state
    assert found[check, fault].subjects


# -- what is only to be known, and what no store can be brought to --------------------------------


def test_what_a_living_writer_holds_is_only_noted(store: Store) -> None:
    engine_lock(store, os.getpid())
    record_moved(store)
    assert troubles(store) == {}
    assert (state_of(store, "lock").fault, state_of(store, "record").fault) == ("held", "at-work")


def test_a_git_at_work_is_only_noted_and_a_lock_of_ours_is_known(store: Store) -> None:
    put(in_git(store, "index.lock"))
    os.utime(in_git(store, "index.lock"), (LATER, LATER))
    assert state_of(store, "git-locks")[1:3] == (Health.OK, "git")
    put(in_git(store, "gitmemo-ref.tmp"))
    os.unlink(in_git(store, "index.lock"))
    os.link(in_git(store, "gitmemo-ref.tmp"), in_git(store, "refs", "heads", "main.lock"))
    assert set(troubles(store)) == {("git-locks", "ours"), ("leftovers", "temporary")}


def test_an_index_that_is_absent_or_behind_is_fine(store: Store) -> None:
    commit_file(store, ".gitmemo-format", "2", "touch")
    behind = state_of(store, "index")
    assert (behind.fault, behind.subjects[0].note) == ("behind", "1")
    os.unlink(index_path(store))
    assert state_of(store, "index").fault == "absent"


def test_quick_leaves_out_objects_and_the_comparison(store: Store) -> None:
    index_that_lies(store)
    assert troubles(store, quick=True) == {}


def test_the_machine_is_asked(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    mounts = "a / ext4 rw 0 0\nb /mnt/a\\040b vfat rw 0 0\n"
    assert ground.file_system("/mnt/a b/x", mounts) == "vfat"
    assert ground.file_system("/mnt/a bc", mounts) == "ext4"
    (found,) = ground.hard_links("/", "x / vfat rw 0 0")
    assert found.fault == "none"
    (found,) = ground.clock(newest_s=100, now_s=40.0)
    assert (found.fault, found.subjects[0].note) == ("behind", "60")
    monkeypatch.setenv("PATH", "/nonexistent")
    assert set(troubles(store)) == {("git-program", "absent")}
    assert state_of(store, "ignored").fault == "no-answer"


def test_a_copy_is_judged_by_its_state() -> None:
    states = {}
    for state in ("none", "whole", "absent", "behind", "broken"):
        (found,) = checkup.judge_copy(survival.Copy("/c", state, None, (), ()))
        states[state] = found.state.value
    assert states == {
        "none": "skip",
        "whole": "ok",
        "absent": "warn",
        "behind": "warn",
        "broken": "fail",
    }
    left = EntryId("1" * 40)
    _, kept = checkup.judge_copy(survival.Copy("/c", "whole", None, (left,), ()))
    assert (kept.state, kept.fault, kept.subjects[0].id) == (Health.WARN, "kept", left)


def test_a_circle_is_found_and_a_line_is_not() -> None:
    one, two, three = (EntryId(letter * 40) for letter in "abc")
    assert contents._circle({one: (two,), two: (three,)}) == ()
    assert set(contents._circle({one: (two,), two: (one, three)})) == {one, two}


@pytest.mark.parametrize(
    ("make", "fault"),
    [
        (lambda mem: None, "absent"),
        (put, "not-a-folder"),
        (os.mkdir, "plain-folder"),
        (lambda mem: put(os.path.join(mem, ".git"), "gitdir: /nowhere"), "git-elsewhere"),
    ],
)
def test_what_is_no_store_is_named(store: Store, make: Callable[[str], None], fault: str) -> None:
    shutil.rmtree(store.path)
    make(store.path)
    assert set(troubles(store)) == {("store", fault)}


def test_a_store_of_other_hashes_is_named(store: Store) -> None:
    shutil.rmtree(store.path)
    git(store.root, "init", "-q", "--object-format=sha256", "-b", "main", ".mem")
    assert set(troubles(store)) == {("repository", "not-sha1")}
