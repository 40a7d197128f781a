"""A purged text is nowhere, everything else is where it was, and old ids still name it.

The judge looks for itself: git lists and unpacks every object, and every file is read.
"""

import os
import subprocess
from collections.abc import Callable

import pytest

from gitmemo import (
    Act,
    Draft,
    Duplicate,
    Entry,
    EntryId,
    Kind,
    NotPurgeable,
    Purged,
    Store,
    UnknownId,
    reading,
)
from tests.support.memory import assert_sound, draft, files, git, golden, project, reopened

SECRET = "the word is Quetzalcoatl-" + "77 and nobody may know"


def objects_of(mem: str) -> dict[str, bytes]:
    """Every object that lies in a repository, reached or not, unpacked by git."""
    asked = ["git", "-C", mem, "cat-file", "--batch-all-objects", "--batch"]
    data = subprocess.run(asked, capture_output=True, check=True).stdout
    found: dict[str, bytes] = {}
    at = 0
    while at < len(data):
        end = data.index(b"\n", at)
        oid, _, size = data[at:end].split()
        found[oid.decode()] = data[end + 1 : end + 1 + int(size)]
        at = end + 2 + int(size)
    return found


def places_of(store: Store, text: str) -> list[str]:
    """Where `text` is: objects, and files of the store, however deep."""
    needle = text.encode()
    found = [oid for oid, data in objects_of(store.path).items() if needle in data]
    for folder, _, names in os.walk(store.root):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                if needle in file.read():
                    found.append(path)
    return found


def secret_draft(title: str = "leaked") -> Draft:
    return draft(title, content=f"First line.\n{SECRET}\n")


def said(entry: Entry) -> tuple[object, ...]:
    """What an entry says, without what names it."""
    return (entry.title, entry.summary, entry.keywords, entry.content, entry.date, entry.active)


def titles(store: Store) -> list[str]:
    return sorted(hit.title for hit in store.search(["memory"], limit=100).hits)


def three(folder: object) -> tuple[Store, list[EntryId]]:
    """A store with entries before and after the leaked one."""
    store = project(folder)
    ids = [
        store.write(draft("one")).id,
        store.write(secret_draft()).id,
        store.write(draft("two")).id,
    ]
    return store, ids


def test_a_purged_text_is_nowhere_and_the_rest_is_as_it_was(tmp_path: object) -> None:
    store, (one, leaked, two) = three(tmp_path)
    before = [said(store.read(one)), said(store.read(two))]
    assert places_of(store, SECRET)
    report = store.purge(leaked)
    assert places_of(store, SECRET) == []
    assert places_of(store, "What leaked says") == []
    assert places_of(store, "-leaked") == []
    assert leaked not in objects_of(store.path)
    assert [said(store.read(one)), said(store.read(two))] == before
    assert titles(store) == ["one", "two"]
    assert (report.ids, report.rewritten, report.left_out) == ((leaked,), 1, 1)
    assert (report.elsewhere, report.left, report.tip) == ((), (), store.tip())
    assert_sound(store)
    assert git(store.path, "log", "--all", "-S", "Quetzalcoatl", "--oneline") == ""


def test_ids_from_before_still_name_their_entries(tmp_path: object) -> None:
    store, (one, leaked, two) = three(tmp_path)
    store.purge(leaked)
    now = store.search(["two"]).hits[0].id
    assert now != two
    assert store.read(two).id == store.read(two[:7]).id == now
    assert store.read(one).id == one
    replaced = store.replace(two[:9], draft("two again"))
    assert store.read(two).current == (replaced.id,)
    assert [event.id for event in store.history(two)] == [replaced.id, now]
    store.delete(one, "wrong")


def test_a_purged_id_says_so_with_the_date(tmp_path: object) -> None:
    store, (_, leaked, _) = three(tmp_path)
    store.purge(leaked[:8])
    for act in (
        lambda: store.read(leaked),
        lambda: store.read(leaked[:7]),
        lambda: store.purge(leaked),
        lambda: store.delete(leaked, "x"),
        lambda: store.history(leaked),
    ):
        with pytest.raises(Purged) as caught:
            act()
        assert caught.value.entry_id == leaked
        assert caught.value.date.startswith("2026-")
    with pytest.raises(UnknownId):
        store.read("f" * 40)


def test_maps_of_several_purges_compose(tmp_path: object) -> None:
    store = project(tmp_path)
    ids = [store.write(draft(f"entry {n}")).id for n in range(6)]
    store.purge(ids[1])
    store.purge(ids[3])
    store.purge(store.read(ids[0]).id)
    for n in (0, 1, 3):
        with pytest.raises(Purged):
            store.read(ids[n])
    assert [store.read(ids[n]).title for n in (2, 4, 5)] == ["entry 2", "entry 4", "entry 5"]
    assert_sound(store)


def chain_of_three(folder: object) -> tuple[Store, list[EntryId]]:
    store = project(folder)
    ids = [store.write(draft("a")).id]
    ids.append(store.replace(ids[0], secret_draft("b")).id)
    ids.append(store.replace(ids[1], draft("c")).id)
    return store, ids


def test_the_middle_of_a_chain_goes_and_its_ends_find_each_other(tmp_path: object) -> None:
    store, (a, b, c) = chain_of_three(tmp_path)
    report = store.purge(b)
    assert places_of(store, SECRET) == []
    assert report.family == (c, a)
    assert titles(store) == ["c"]
    now = store.read(c)
    assert store.read(a).current == (now.id,)
    assert now.replaces == store.read(a).id == a
    assert now.active
    assert_sound(store)


def test_a_purged_replacement_does_not_bring_the_older_entry_back(tmp_path: object) -> None:
    store = project(tmp_path)
    a = store.write(draft("a")).id
    b = store.replace(a, secret_draft("b")).id
    report = store.purge(b)
    assert (titles(store), report.withdrawn) == ([], (a,))
    old = store.read(a)
    assert (old.active, old.current) == (False, ())
    assert old.withdrawn == "The entry that had replaced it was purged."
    assert store.history(a)[0].act is Act.DELETE
    store.write(draft("a"))
    assert_sound(store)


def test_the_replacement_of_a_purged_addition_becomes_an_addition(tmp_path: object) -> None:
    store = project(tmp_path)
    a = store.write(secret_draft("a")).id
    b = store.replace(a, draft("b", keywords=("memory", "replace"))).id
    store.purge(a)
    now = store.read(b)
    assert (now.active, now.replaces, now.title) == (True, None, "b")
    assert [event.act for event in store.history(b)] == [Act.ADD]
    with pytest.raises(Duplicate):
        store.write(draft("b", keywords=("memory", "replace")))
    store.replace(b, draft("b2"))
    assert_sound(store)


def test_a_whole_chain_goes_at_once(tmp_path: object) -> None:
    store, (a, b, c) = chain_of_three(tmp_path)
    other = store.write(draft("other")).id
    report = store.purge(c, chain=True)
    assert (set(report.ids), report.family) == ({a, b, c}, ())
    assert titles(store) == ["other"]
    assert store.read(other).title == "other"
    for one in (a, b, c):
        with pytest.raises(Purged):
            store.read(one)
    for text in ("What a says", "What b says", "What c says"):
        assert places_of(store, text) == []
    assert_sound(store)


def test_a_withdrawal_goes_with_what_it_withdrew(tmp_path: object) -> None:
    store, (_, leaked, two) = three(tmp_path)
    gone = store.delete(leaked, f"because {SECRET}")
    report = store.purge(leaked)
    assert report.left_out == 2
    assert places_of(store, SECRET) == []
    with pytest.raises(UnknownId):
        store.read(gone)
    assert store.read(two).active
    assert_sound(store)


# -- histories of other engines --------------------------------------------------------------------


@pytest.mark.parametrize("name", ["repo", "merged"])
def test_any_entry_of_a_foreign_history_can_go(tmp_path: object, name: str) -> None:
    whole = golden(name, f"{tmp_path}/whole", now=1_800_000_000)
    every = [event.id for event in whole.history() if event.act is not Act.DELETE]
    texts = {one: said(whole.read(one)) for one in every}
    for n, victim in enumerate(every[:: 9 if name == "repo" else 3]):
        store = golden(name, f"{tmp_path}/{n}", now=1_800_000_000)
        file = store.read(victim).file
        report = store.purge(victim)
        assert victim in report.ids
        for one in every:
            if one in report.ids:
                with pytest.raises(Purged):
                    store.read(one)
            elif not (set(report.withdrawn) | set(report.family)):
                assert said(store.read(one)) == texts[one]
            else:
                assert said(store.read(one))[:5] == texts[one][:5]
        assert git(store.path, "log", "--all", "--oneline", "--", file) == ""
        assert git(store.path, "fsck", "--strict", "--no-dangling") == ""
        assert git(store.path, "status", "--porcelain") == ""


def test_commits_keep_author_committer_times_and_message(tmp_path: object) -> None:
    store = golden("repo", tmp_path, now=1_800_000_000)
    show = ("log", "--format=%an|%ae|%ad|%cn|%ce|%cd|%B", "--date=raw")
    events = store.history()
    lone = next(
        event.id
        for event in reversed(events)
        if event.act is Act.ADD and len(store.history(event.id)) == 1
    )
    mine = git(store.path, *show, "-1", lone)
    before = git(store.path, *show, "main")
    store.purge(lone)
    after = git(store.path, *show, "main")

    def plain(text: str) -> str:
        return "\n".join(
            line[:16] if line.startswith(("GitMemo-Replaces", "GitMemo-Deletes")) else line
            for line in text.splitlines()
        )

    assert "GitMemo-Replaces" in before
    assert plain(after) == plain(before.replace(mine, "", 1))


# -- every place that could hold it ----------------------------------------------------------------


def test_refs_that_reach_the_text_move_or_go_and_are_reported(tmp_path: object) -> None:
    store, (one, leaked, two) = three(tmp_path)
    mem = store.path
    git(mem, "branch", "side", two)
    git(mem, "branch", "before", one)
    git(mem, "tag", "light", two)
    git(mem, "tag", "-m", SECRET, "heavy", leaked)
    git(mem, "update-ref", "refs/remotes/origin/main", two)
    git(mem, "update-ref", "refs/gitmemo/backup/1/main", leaked)
    git(mem, "notes", "add", "-m", SECRET, one)
    git(mem, "replace", two, leaked)
    git(mem, "pack-refs", "--all")
    report = store.purge(leaked)
    assert places_of(store, SECRET) == []
    now = store.tip()
    assert {change.name: change.now for change in report.refs} == {
        "refs/heads/side": now,
        "refs/tags/light": now,
        "refs/tags/heavy": None,
        "refs/remotes/origin/main": None,
        "refs/gitmemo/backup/1/main": None,
        "refs/notes/commits": None,
        f"refs/replace/{two}": None,
    }
    assert git(mem, "rev-parse", "before").strip() == one
    assert_sound(store)


def test_nothing_that_git_keeps_aside_holds_the_text(tmp_path: object) -> None:
    store, (_, leaked, _) = three(tmp_path)
    mem = store.path
    git(mem, "gc", "-q")
    git(mem, "commit-graph", "write", "--reachable")
    git(mem, "repack", "-q", "-a", "-d", "--write-bitmap-index", "--write-midx")
    with open(os.path.join(mem, "entries", "draft.md"), "w", encoding="utf-8") as file:
        file.write(SECRET)
    git(mem, "add", "-A")
    git(mem, "stash", "-q", "-u")
    for name in ("ORIG_HEAD", "COMMIT_EDITMSG", "FETCH_HEAD", "gitmemo-aside.tmp"):
        with open(os.path.join(mem, ".git", name), "w", encoding="utf-8") as file:
            file.write(SECRET)
    assert len(places_of(store, SECRET)) > 5
    report = reopened(store).purge(leaked)
    assert places_of(store, SECRET) == []
    assert "refs/stash" in [change.name for change in report.refs]
    assert_sound(store)


def test_what_else_holds_the_text_is_named(tmp_path: object) -> None:
    store, (_, leaked, _) = three(tmp_path)
    twin = store.write(secret_draft("told again")).id
    report = store.purge(leaked)
    assert report.elsewhere == (store.read(twin).id,)
    other = store.write(draft("other", summary="There hunter22 stood alone.")).id
    seen = store.purge(twin, texts=("hunter22",), dry_run=True)
    assert seen.elsewhere == (other,)


def test_a_random_word_is_found_in_other_words_of_another_entry(tmp_path: object) -> None:
    word = "q8Zk21xxP" + "mL04vTb"
    store = project(tmp_path)
    leaked = store.write(draft("a", content=f"The code was {word} then.\n")).id
    again = store.write(draft("b", summary=f"We found {word}, oddly.")).id
    report = store.purge(leaked)
    assert report.elsewhere == (store.read(again).id,)


def test_a_file_that_cannot_be_known_is_reported_and_stays(tmp_path: object) -> None:
    store, (_, leaked, _) = three(tmp_path)
    hook = os.path.join(store.path, ".git", "hooks", "mine")
    os.makedirs(os.path.dirname(hook), exist_ok=True)
    with open(hook, "w", encoding="utf-8") as file:
        file.write(f"echo {SECRET}\n")
    beside = os.path.join(store.root, ".mem.gitmemo-old-1")
    os.mkdir(beside)
    assert store.purge(leaked).left == (hook, beside)


def test_a_dry_run_says_the_same_and_changes_nothing(tmp_path: object) -> None:
    store, (one, leaked, _) = three(tmp_path)
    git(store.path, "update-ref", "refs/remotes/origin/main", leaked)
    git(store.path, "remote", "add", "origin", "https://example.invalid/x.git")
    before = files(store.root)
    told = store.purge(leaked, dry_run=True)
    assert files(store.root) == before
    done = store.purge(leaked)
    assert told._replace(date=done.date) == done
    assert done.remotes == ("origin",)
    del one


# -- what it refuses -------------------------------------------------------------------------------


def linked(mem: str) -> None:
    git(mem, "worktree", "add", "-q", f"{mem}-linked", "-b", "linked")


def alternates(mem: str) -> None:
    with open(os.path.join(mem, ".git", "objects", "info", "alternates"), "w") as file:
        file.write("/nowhere\n")


def merging(mem: str) -> None:
    with open(os.path.join(mem, ".git", "MERGE_HEAD"), "w") as file:
        file.write(git(mem, "rev-parse", "main"))


@pytest.mark.parametrize(
    ("prepare", "why"), [(linked, "worktrees"), (alternates, "alternates"), (merging, "unfinished")]
)
def test_where_others_share_the_objects_nothing_is_purged(
    tmp_path: object, prepare: Callable[[str], None], why: str
) -> None:
    store, (_, leaked, _) = three(tmp_path)
    prepare(store.path)
    for dry_run in (True, False):
        with pytest.raises(NotPurgeable) as caught:
            store.purge(leaked, dry_run=dry_run)
        assert caught.value.detail == why
    assert store.read(leaked).active


# -- beside others ---------------------------------------------------------------------------------


def test_a_cursor_from_before_goes_on(tmp_path: object) -> None:
    store = project(tmp_path)
    ids = [store.write(draft(f"entry {n}")).id for n in range(5)]
    page = store.search(["memory"], limit=2)
    store.purge(ids[0])
    store.write(draft("later"))
    more = store.search(["memory"], limit=2, skip=2, snapshot=page.snapshot)
    assert [hit.title for hit in more.hits] == ["entry 2", "entry 1"]


def test_links_are_followed_through_the_map(tmp_path: object) -> None:
    store = project(tmp_path)
    leaked = store.write(secret_draft()).id
    proof = store.write(draft("proof")).id
    page = store.write(draft("page", content=f"[[{proof}]] holds, [[{leaked}]] held.\n")).id
    store.purge(leaked)
    assert f"[[{proof}]]" in store.read(page).content
    assert store.read(proof).title == "proof"


def test_a_topic_still_ranks_before_what_it_links_by_an_old_id(tmp_path: object) -> None:
    store = project(tmp_path)
    leaked = store.write(secret_draft()).id
    proof = store.write(draft("zebra zebra zebra", summary="zebra")).id
    page = draft("page", content=f"[[{proof}]] of a zebra\n", kind=Kind.TOPIC)
    store.write(page)
    ranked = [hit.title for hit in store.search(["zebra"]).hits]
    assert ranked[0] == "page"
    store.purge(leaked)
    assert [hit.title for hit in store.search(["zebra"]).hits] == ranked


def test_a_reader_at_work_while_history_goes_is_answered_from_the_new_one(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, (_, leaked, two) = three(tmp_path)
    reader = reopened(store)
    real = reading.load

    def late(*args: object) -> object:
        monkeypatch.setattr(reading, "load", real)
        store.purge(leaked)
        return real(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(reading, "load", late)
    assert reader.read(two).title == "two"


def test_git_goes_on_in_a_purged_store(tmp_path: object) -> None:
    store, (_, leaked, two) = three(tmp_path)
    store.purge(leaked)
    git(store.path, "gc", "-q", "--prune=now")
    git(store.path, "commit", "-q", "--allow-empty", "-m", "by hand")
    assert store.read(two).title == "two"
    git(str(tmp_path), "clone", "-q", "--mirror", store.path, f"{tmp_path}/mirror.git")
    shown = git(f"{tmp_path}/mirror.git", "show", "refs/gitmemo/map:map")
    assert f"{two} {store.read(two).id}\n" in shown
    assert f"{leaked} " in shown


def test_writers_and_readers_go_on_beside_a_purge(tmp_path: object) -> None:
    store = project(tmp_path)
    leaks = [store.write(secret_draft(f"leaked {n}")).id for n in range(3)]
    kept = store.write(draft("kept")).id
    children = []
    for act in ("write", "read"):
        child = os.fork()
        if child == 0:
            try:
                mine = reopened(store)
                for n in range(12):
                    if act == "write":
                        mine.write(draft(f"beside {n}"))
                    else:
                        assert mine.read(kept).title == "kept"
                        assert mine.search(["kept"]).total == 1
            except BaseException:  # noqa: BLE001 -- the parent must see that it happened
                os._exit(7)
            os._exit(0)
        children.append(child)
    for leaked in leaks:
        store.purge(leaked)
    assert [os.waitstatus_to_exitcode(os.waitpid(one, 0)[1]) for one in children] == [0, 0]
    assert titles(store) == sorted(["kept", *(f"beside {n}" for n in range(12))])
    assert places_of(store, SECRET) == []
    assert_sound(store)
