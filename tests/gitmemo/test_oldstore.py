"""Stores without the marker, read as they are: searches, single entries, lives; nothing changes."""

import os
from pathlib import Path

import pytest

import gitmemo
from gitmemo import Act, Mode
from tests.support.memory import files
from tests.support.oldstores import OldStore


@pytest.fixture
def old(tmp_path: Path) -> OldStore:
    made = OldStore(tmp_path)
    text = "---\ntags: [cache, LRU]\nrelated_paths: [src/cache.py]\n---\n\nEvict the oldest one.\n"
    made.entry("one.md", "Bound the cache\n\nCap is 512 entries.", text.encode())
    return made


def test_words_of_every_field_find_an_old_entry(old: OldStore) -> None:
    store = old.store()
    for words in ("bound", "cap entries", "lru", "evict oldest"):
        page = store.search([words])
        assert [hit.title for hit in page.hits] == ["Bound the cache"]
        assert page.legacy
    (hit,) = store.search(["cache"]).hits
    assert (hit.keywords, hit.related_paths) == (("cache", "LRU"), ("src/cache.py",))
    assert store.search(["nothing-of-it"]).total == 0


def test_reading_an_old_store_changes_nothing(old: OldStore) -> None:
    commit = old.entry("two.md")
    before = files(old.root)
    store = old.store()
    store.search(["cache"])
    store.search(["cache"], mode=Mode.TRAILER)
    store.read(commit)
    store.history()
    store.migration()
    for act in (
        lambda: store.write(gitmemo.Draft("title", "summary", ("one", "two"), "content")),
        lambda: store.delete(commit, "reason"),
    ):
        with pytest.raises(gitmemo.LegacyStore):
            act()
    assert files(old.root) == before


def test_an_edit_in_place_takes_the_place_of_what_it_edited(old: OldStore) -> None:
    first = old.entry("two.md", "first wording")
    second = old.entry("two.md", "second wording", b"Changed.\n")
    store = old.store()
    assert [hit.id for hit in store.search(["wording"]).hits] == [second]
    assert {hit.id for hit in store.search(["wording"], include_inactive=True).hits} == {
        first,
        second,
    }
    entry = store.read(first)
    assert (entry.active, entry.current, entry.replaced_by) == (False, (second,), (second,))
    assert store.read(second).replaces == first
    assert [event.id for event in store.history(first)] == [second, first]


def test_a_removed_file_is_withdrawn(old: OldStore) -> None:
    commit = old.entry("two.md", "soon gone")
    removal = old.commit("delete: remove two.md", remove=("entries/two.md",))
    store = old.store()
    assert store.search(["gone"]).total == 0
    entry = store.read(commit)
    assert (entry.active, entry.current) == (False, ())
    assert entry.withdrawn == "delete: remove two.md"
    assert store.history(commit)[0].id == removal
    assert store.history()[0].act is Act.DELETE
    with pytest.raises(gitmemo.UnknownId):
        store.read(removal)


def test_head_is_read_and_not_main(old: OldStore) -> None:
    old.branch("feature/😀")
    there = old.entry("two.md", "only over there")
    assert [hit.id for hit in old.store().search(["over"]).hits] == [there]
    old.git("checkout", "-q", "main")
    store = old.store()
    assert store.search(["over"]).total == 0
    assert store.read(there).title == "only over there"
    old.git("checkout", "-q", "--detach", there)
    assert old.store().search(["over"]).total == 1


def test_a_store_without_main_is_read_at_its_head(tmp_path: Path) -> None:
    old = OldStore(tmp_path, branch="trunk")
    commit = old.entry("one.md", "on the trunk")
    page = old.store().search(["trunk"])
    assert ([hit.id for hit in page.hits], page.snapshot) == ([commit], commit)


def test_a_snapshot_keeps_the_pages_of_an_old_store_together(old: OldStore) -> None:
    before = old.store().search(["cache"]).snapshot
    old.entry("two.md", "another cache")
    assert old.store().search(["cache"]).total == 2
    assert old.store().search(["cache"], snapshot=before).total == 1


def test_a_commit_of_several_files_is_one_entry_of_all_of_them(old: OldStore) -> None:
    commit = old.commit("both", {"entries/a.md": b"apple\n", "entries/b.md": b"pear\n"})
    store = old.store()
    for word in ("apple", "pear"):
        assert [hit.id for hit in store.search([word]).hits] == [commit]
    assert store.read(commit).content == "apple\n\npear\n"
    old.entry("a.md", "apple anew", b"cherry\n")
    assert [hit.id for hit in old.store().search(["pear"]).hits] == [commit]
    assert old.store().search(["apple"]).hits[0].title == "apple anew"


def test_a_file_that_only_a_merge_settled_is_found(old: OldStore) -> None:
    old.branch("side")
    old.entry("one.md", "side", b"side says\n")
    old.git("checkout", "-q", "main")
    old.entry("one.md", "mine", b"mine says\n")
    old.git("merge", "-q", "--no-commit", "-s", "ours", "side")
    merge = old.commit("settled at last", {"entries/one.md": b"settled peacefully\n"})
    store = old.store()
    assert [hit.id for hit in store.search(["peacefully"]).hits] == [merge]
    assert store.search(["says"]).total == 0
    assert store.read(merge).content == "settled peacefully\n"


def test_a_damaged_store_of_the_present_format_is_not_taken_for_an_old_one(tmp_path: Path) -> None:
    old = OldStore(tmp_path)
    old.commit("marker", {".gitmemo-format": b"2\n"})
    old.branch("elsewhere")
    old.git("branch", "-q", "-D", "main")
    os.unlink(os.path.join(old.path, ".gitmemo-format"))
    with pytest.raises(gitmemo.DamagedStore) as refused:
        old.store().search(["marker"])
    assert refused.value.detail == "no-main"


def test_a_repository_without_a_commit_is_named_as_such(tmp_path: Path) -> None:
    with pytest.raises(gitmemo.DamagedStore) as refused:
        OldStore(tmp_path, first=False).store()
    assert refused.value.detail == "no-main"
