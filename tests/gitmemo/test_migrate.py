"""Migrations of stores of every shape, judged by git: nothing lost, nothing guessed, or refused."""

import json
import os
import shutil
import subprocess
import threading
from pathlib import Path

import pytest

import gitmemo
from gitmemo import Mode, Store, legacy, migrate, swap
from gitmemo.errors import DamagedStore, MigrationRefused
from tests.support.memory import assert_sound, draft, files, git
from tests.support.oldstores import OldStore, opened


def objects(mem: str) -> set[str]:
    listed = git(mem, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)")
    return set(listed.split())


def migrated(old: OldStore) -> Store:
    """The store after a migration that kept every object and left nothing behind."""
    before, refs = objects(old.path), git(old.path, "for-each-ref", "--format=%(objectname)")
    store = old.store()
    done = store.migrate(store.migration())
    assert done is not None
    assert done.kept is None
    assert objects(old.path) >= before
    assert set(git(old.path, "for-each-ref", "--format=%(objectname)").split()) >= set(refs.split())
    assert_sound(store)
    return store


def titles(store: Store) -> set[str]:
    return {event.title for event in store.history()}


def test_every_branch_is_taken_along_and_old_hashes_stay_readable(tmp_path: Path) -> None:
    old = OldStore(tmp_path)
    first = old.entry("one.md", "on main")
    gone = old.entry("gone.md", "removed on main only")
    old.branch("feature/a/b")
    deep = old.entry("two.md", "deep")
    old.git("checkout", "-q", "main")
    old.commit("delete: remove gone.md", remove=("entries/gone.md",))
    old.branch("发布/😀")
    other = old.entry("three.md", "发布记录")
    store = migrated(old)
    assert titles(store) == {"on main", "removed on main only", "deep", "发布记录"}
    for commit, title in ((first, "on main"), (gone, "removed on main only"), (deep, "deep")):
        entry = store.read(commit)
        assert (entry.title, entry.active) == (title, False)
        assert [store.read(now).title for now in entry.current] == [title]
    assert [hit.title for hit in store.search(["发布记录"]).hits] == ["发布记录"]
    assert store.read(other).author.startswith("Somebody")


def test_a_migrated_entry_lives_on_like_any_other(tmp_path: Path) -> None:
    old = OldStore(tmp_path)
    commit = old.entry("one.md", "an old word")
    store = migrated(old)
    (hit,) = store.search(["old word"]).hits
    assert hit.related_paths == ()  # where it lay in the old store is no file of the project
    new = store.replace(hit.id, draft("a new word")).id
    assert store.read(commit).current == (new,)
    store.delete(new, "wrong")
    assert store.read(commit).current == ()
    assert_sound(store)


def test_names_and_contents_of_every_kind_are_taken_along(tmp_path: Path) -> None:
    old = OldStore(tmp_path)
    contents = {
        "entries/修复.md": b"cjk\n",
        "entries/quote\"s 'and' $(x).md": b"quotes\n",
        "entries/line\nend.md": b"newline\n",
        "entries/\udcff\udcfe.md": b"no utf-8\n",
        "entries/crlf.md": b"---\r\ntags: [win]\r\n---\r\nbody\r\n",
        "entries/bom.md": b"\xef\xbb\xbf---\ntags: [mark]\n---\nbody\n",
        "entries/wide.md": "breit\n".encode("utf-16"),
        "entries/empty.md": b"",
        "entries/nul.md": b"a\0b\n",
        "entries/big.md": b"0123456789abcde\n" * 70_000,
        "entries/sub/dir/deep.md": b"deep\n",
        "entries/readme.txt": b"no entry\n",
        "README.md": b"no entry either\n",
    }
    for path, data in contents.items():
        old.commit(f"file {len(data)}", {path: data})
    report = old.store().migration()
    assert report.found == len(report.entries) == len(contents) - 2
    store = migrated(old)
    said = {store.read(event.id).content for event in store.history()}
    wanted = {data for path, data in contents.items() if path.endswith(".md")} - {
        contents["README.md"]
    }
    assert said == {legacy.decoded(data)[0] for data in wanted}
    assert any("larger than 1 MiB" in warning for warning in report.warnings)


def test_equal_contents_become_one_entry_and_the_report_names_both(tmp_path: Path) -> None:
    old = OldStore(tmp_path)
    old.entry("one.md", "one", b"the same\n")
    old.entry("two.md", "two", b"the same\n")
    old.entry("empty1.md", "first empty one", b" ")
    old.entry("empty2.md", "second empty one", b" ")
    report = old.store().migration()
    assert report.doubles == (("main:entries/two.md", "main:entries/one.md"),)
    assert titles(migrated(old)) == {"one", "first empty one", "second empty one"}


@pytest.mark.parametrize("head", ["detached", "trunk"])
def test_what_only_head_holds_is_taken_along(tmp_path: Path, head: str) -> None:
    old = OldStore(tmp_path, branch="trunk")
    old.entry("one.md", "one")
    if head == "detached":
        old.git("checkout", "-q", "--detach")
        old.entry("two.md", "two")
        old.git("checkout", "-q", "--detach", "HEAD")
    report = old.store().migration()
    assert [name for name, _ in report.tips] == ["trunk", "HEAD"][: 1 + (head == "detached")]
    store = migrated(old)
    assert titles(store) == {"one", "two"} if head == "detached" else {"one"}


def test_merged_histories_are_dated_as_git_dates_them(tmp_path: Path) -> None:
    old = OldStore(tmp_path)
    old.entry("one.md", "one")
    old.branch("side")
    old.entry("two.md", "two")
    old.git("checkout", "-q", "main")
    old.entry("three.md", "three")
    old.git("merge", "-q", "-m", "merge side", "side")
    wanted = {
        path: old.git("log", "-1", "--format=%H", "main", "--", f"entries/{path}").strip()
        for path in ("one.md", "two.md", "three.md")
    }
    report = old.store().migration()
    assert {
        one.source.path.removeprefix("entries/"): one.source.commit for one in report.entries
    } == wanted
    migrated(old)


def test_a_conflict_blocks_all_of_it_and_making_them_equal_frees_it(tmp_path: Path) -> None:
    old = OldStore(tmp_path)
    old.entry("one.md", "one")
    old.entry("fine.md", "fine")
    old.branch("side")
    old.entry("one.md", "one edited", b"edited\n")
    store = old.store()
    report = store.migration()
    (conflict,) = report.conflicts
    assert [one.branch for one in conflict.variants] == ["main", "side"]
    assert [one.said.title for one in report.entries] == ["fine"]
    with pytest.raises(MigrationRefused) as refused:
        store.migrate(report)
    assert refused.value.reason == "conflicts"
    old.git("checkout", "-q", "main")
    old.git("merge", "-q", "side")
    assert titles(migrated(old)) == {"one edited", "fine"}


def untracked(old: OldStore) -> None:
    Path(old.path, "entries", "draft.md").write_text("not committed\n")


def edited(old: OldStore) -> None:
    Path(old.path, "entries", "one.md").write_text("edited\n")


def record(old: OldStore) -> None:
    Path(old.path, ".git", "gitmemo-transaction.json").write_text("{}")


def index_lock(old: OldStore) -> None:
    Path(old.path, ".git", "index.lock").write_text("")


def worktree(old: OldStore) -> None:
    old.git("worktree", "add", "-q", "--detach", f"{old.root}-linked")


def moved(old: OldStore) -> None:
    old.entry("later.md", "later")


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (untracked, "dirty"),
        (edited, "dirty"),
        (record, "leftover-record"),
        (index_lock, "at-work"),
        (worktree, "at-work"),
        (moved, "moved"),
    ],
)
def test_what_is_not_clean_is_refused_and_left_alone(
    tmp_path: Path, spoil: object, reason: str
) -> None:
    old = OldStore(tmp_path / "project")
    old.entry("one.md", "one")
    store = old.store()
    report = store.migration()
    assert callable(spoil)
    spoil(old)
    before = files(os.path.join(old.path, "entries"))
    refs = git(old.path, "for-each-ref")
    with pytest.raises(MigrationRefused) as refused:
        store.migrate(report)
    assert refused.value.reason == reason
    assert (files(os.path.join(old.path, "entries")), git(old.path, "for-each-ref")) == (
        before,
        refs,
    )
    assert [name for name in os.listdir(old.root) if name.startswith(".mem.")] == []


def test_a_store_that_only_lost_its_marker_keeps_its_chains(tmp_path: Path) -> None:
    store = Store.init(str(tmp_path))
    store.write(draft("one"))
    git(store.path, "rm", "-q", ".gitmemo-format")
    git(store.path, "commit", "-q", "-m", "oops")
    assert [hit.title for hit in store.search(["one"]).hits] == ["one"]
    with pytest.raises(MigrationRefused) as refused:
        store.migrate()
    assert refused.value.reason == "marker-missing"


@pytest.mark.parametrize("marker", ["3", "two", ""])
def test_a_marker_that_is_not_known_is_never_migrated(tmp_path: Path, marker: str) -> None:
    old = OldStore(tmp_path)
    old.commit("another format", {".gitmemo-format": f"{marker}\n".encode()})
    store = old.store()
    for act in (store.migration, store.migrate, lambda: store.search(["x"]), store.history):
        with pytest.raises(gitmemo.OtherFormat) as refused:
            act()
        assert refused.value.detail == marker


def test_a_store_of_the_present_format_has_nothing_to_migrate(tmp_path: Path) -> None:
    store = Store.init(str(tmp_path))
    tip = store.tip()
    assert not store.migration().legacy
    assert store.migrate() is None
    assert store.tip() == tip


def test_a_second_migration_finds_nothing_to_do(tmp_path: Path) -> None:
    old = OldStore(tmp_path)
    old.entry("one.md")
    store = migrated(old)
    tip = store.tip()
    assert store.migrate() is None
    assert store.tip() == tip


def test_tags_stashes_remotes_and_older_backups_are_kept(tmp_path: Path) -> None:
    old = OldStore(tmp_path / "p")
    one = old.entry("one.md")
    old.git("tag", "v1")
    old.git("update-ref", "refs/gitmemo/backup/earlier/main", one)
    old.git("remote", "add", "origin", "https://example.invalid/mem.git")
    old.branch("theirs")
    theirs = old.entry("two.md", "only on the remote")
    old.git("update-ref", "refs/remotes/origin/theirs", theirs)
    old.git("checkout", "-q", "main")
    old.git("branch", "-q", "-D", "theirs")
    report = old.store().migration()
    assert any("refs/remotes/origin/theirs: not a branch" in line for line in report.warnings)
    store = migrated(old)
    assert store.read(theirs).title == "only on the remote"
    refs = git(store.path, "for-each-ref", "--format=%(refname)")
    assert "refs/gitmemo/backup/earlier/main" in refs
    assert git(store.path, "remote", "get-url", "origin").strip().endswith("/mem.git")


@pytest.mark.parametrize("extra", ["entries/ignored.tmp", ".git/hooks/post-commit"])
def test_an_old_folder_that_holds_more_than_history_stays(tmp_path: Path, extra: str) -> None:
    old = OldStore(tmp_path)
    old.commit("one", {".gitignore": b"*.tmp\n", "entries/one.md": b"one\n"})
    Path(old.path, extra).write_text("precious\n")
    done = old.store().migrate()
    assert done is not None
    assert done.why == (extra,)
    assert done.kept is not None
    assert Path(done.kept, extra).read_text() == "precious\n"
    assert not swap.pending(old.root)
    store = opened(old.root)
    store.write(draft("goes on"))
    assert titles(store) == {"one", "goes on"}


def test_a_store_without_entries_becomes_an_empty_one(tmp_path: Path) -> None:
    store = migrated(OldStore(tmp_path))
    assert store.history() == ()
    store.write(draft("the first"))


def test_a_branch_whose_name_is_no_utf8_is_kept_under_a_readable_one(tmp_path: Path) -> None:
    old = OldStore(tmp_path)
    old.branch("side")
    old.entry("one.md", "one")
    old.git("checkout", "-q", "main")
    old.git("branch", "-m", "side", "s\udcff")
    store = migrated(old)
    assert titles(store) == {"one"}
    assert "/s\ufffd" in git(store.path, "for-each-ref", "--format=%(refname)")


def test_a_branch_whose_commit_is_missing_is_damage_and_not_left_out(tmp_path: Path) -> None:
    old = OldStore(tmp_path)
    old.entry("one.md")
    Path(old.path, ".git", "refs", "heads", "broken").write_text("1" * 40 + "\n")
    with pytest.raises(DamagedStore):
        old.store().migrate()
    assert old.git("log", "--format=%s", "main").startswith("note one.md")


def test_packed_repositories_are_carried_whole(tmp_path: Path) -> None:
    old = OldStore(tmp_path)
    for n in range(5):
        old.entry(f"{n}.md")
    old.git("gc", "-q", "--aggressive", "--prune=now")
    old.git("pack-refs", "--all")
    assert len(titles(migrated(old))) == 5


def test_the_trailer_search_finds_migrated_entries(tmp_path: Path) -> None:
    old = OldStore(tmp_path)
    old.entry("one.md", "Mixed Case", b"---\ntags: [Zebra]\n---\n")
    store = migrated(old)
    for word in ("mixed case", "zebra"):
        assert store.search([word], mode=Mode.TRAILER).total == 1


def test_the_code_repository_does_not_see_any_of_it(tmp_path: Path) -> None:
    old = OldStore(tmp_path)
    old.entry("one.md")
    migrated(old)
    assert git(old.root, "status", "--porcelain") == ""


def test_a_writer_that_waited_for_the_old_store_writes_into_the_new_one(tmp_path: Path) -> None:
    old = OldStore(tmp_path)
    for n in range(20):
        old.entry(f"{n}.md")
    store = old.store(timeout_s=30.0)
    refused: list[Exception] = []

    def write() -> None:
        while True:
            try:
                opened(old.root, timeout_s=30.0).write(draft("meanwhile"))
            except (gitmemo.StoreError, gitmemo.WorldError) as error:
                refused.append(error)
                continue
            return

    waiting = threading.Thread(target=write)
    waiting.start()
    store.migrate()
    waiting.join(30)
    assert not waiting.is_alive()
    assert len(titles(store)) == 21
    assert_sound(store)


def test_both_stores_have_one_lock(tmp_path: Path) -> None:
    # Else one who waited at the old one and one who came later would both be alone.
    old = OldStore(tmp_path)
    lock = Path(old.path, ".git", "gitmemo.lock")
    lock.touch()
    before = lock.stat().st_ino
    store = migrated(old)
    assert Path(store.path, ".git", "gitmemo.lock").stat().st_ino == before


# -- journals that somebody left -------------------------------------------------------------------


def journal(root: str, phase: str) -> None:
    """The journal as the other engine writes it."""
    body = {
        "operationId": "x",
        "sourceDir": f"{root}/.mem",
        "targetDir": f"{root}/.mem",
        "oldDir": f"{root}/.mem.gitmemo-old-1",
        "tmpDir": f"{root}/.mem.gitmemo-tmp-9-ab",
        "phase": phase,
        "createdAt": "2026-01-01T00:00:00.000Z",
    }
    Path(root, swap.JOURNAL).write_text(json.dumps(body, indent=2))


@pytest.fixture
def halves(tmp_path: Path) -> tuple[str, str, str]:
    """A root with an old store and, aside, what it would become; the three folders."""
    old = OldStore(tmp_path / "p")
    old.entry("one.md", "one")
    shutil.copytree(old.root, tmp_path / "copy")
    opened(str(tmp_path / "copy")).migrate()
    mem, aside = old.path, f"{old.path}.gitmemo-old-1"
    tmp = f"{old.path}.gitmemo-tmp-9-ab"
    shutil.move(str(tmp_path / "copy" / ".mem"), tmp)
    return mem, aside, tmp


def act(way: str, root: str) -> None:
    if way == "init":
        Store.init(root)
    elif way == "migrate":
        opened(root).migrate()
    else:
        try:
            opened(root).write(draft("afterwards"))
        except gitmemo.LegacyStore:
            return


@pytest.mark.parametrize("way", ["init", "migrate", "write"])
@pytest.mark.parametrize("phase", ["prepared", "old-renamed", "new-installed"])
def test_a_swap_that_another_engine_left_is_ended(
    halves: tuple[str, str, str], phase: str, way: str
) -> None:
    mem, aside, tmp = halves
    root = os.path.dirname(mem)
    if phase != "prepared":
        os.rename(mem, aside)
    if phase == "new-installed":
        os.rename(tmp, mem)
    journal(root, phase)
    if phase == "old-renamed":
        with pytest.raises(DamagedStore) as refused:
            opened(root).search(["one"])
        assert refused.value.detail == "interrupted-migration"
    act(way, root)
    store = opened(root)
    assert store.search(["one"]).hits[0].title == "one"
    assert store.migration().legacy == (phase != "new-installed" and way != "migrate")
    assert [name for name in os.listdir(root) if name.startswith(".mem.")] == []


def test_where_only_the_new_folder_is_left_it_takes_the_place(halves: tuple[str, str, str]) -> None:
    mem, _, _ = halves
    shutil.rmtree(mem)
    journal(os.path.dirname(mem), "prepared")
    assert opened(Store.init(os.path.dirname(mem)).root).search(["one"]).total == 1


def test_two_stores_that_claim_the_place_are_both_left_alone(halves: tuple[str, str, str]) -> None:
    mem, aside, _ = halves
    root = os.path.dirname(mem)
    shutil.copytree(mem, aside)
    journal(root, "old-renamed")
    before = files(root)
    with pytest.raises(DamagedStore) as refused:
        migrate.recover(root, timeout_s=5.0)
    assert refused.value.detail == "migration-doubled"
    kept = {path: at.data for path, at in before.items()}
    assert kept.items() <= {path: at.data for path, at in files(root).items()}.items()


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"oldDir": "/etc", "tmpDir": "/home"}', '{"oldDir": 1}']
)
def test_a_journal_that_cannot_be_read_is_damage_and_never_none(tmp_path: Path, text: str) -> None:
    old = OldStore(tmp_path)
    Path(old.root, swap.JOURNAL).write_text(text)
    with pytest.raises(DamagedStore) as refused:
        old.store().migrate()
    assert refused.value.detail == "unreadable-record"
    assert os.path.isdir(old.path)


def test_an_old_folder_that_the_other_engine_had_begun_to_remove_is_let_be(
    halves: tuple[str, str, str],
) -> None:
    mem, aside, tmp = halves
    os.rename(mem, aside)
    os.rename(tmp, mem)
    os.unlink(os.path.join(aside, ".git", "HEAD"))
    journal(os.path.dirname(mem), "new-installed")
    opened(os.path.dirname(mem)).write(draft("goes on"))
    assert os.path.isdir(aside)
    assert not swap.pending(os.path.dirname(mem))


def test_a_project_outside_of_git_is_migrated_too(tmp_path: Path) -> None:
    old = OldStore(tmp_path)
    shutil.rmtree(tmp_path / ".git")
    old.entry("one.md", "one")
    assert titles(migrated(old)) == {"one"}


def test_what_git_itself_says_of_the_new_store_is_nothing(tmp_path: Path) -> None:
    old = OldStore(tmp_path)
    old.entry("one.md")
    store = migrated(old)
    done = subprocess.run(
        ["git", "-C", store.path, "fsck", "--full", "--strict", "--unreachable"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == ""
