"""A purged text is nowhere, everything else is where it was, and old ids still name it.

The judge looks for itself: git lists and unpacks every object, and every file is read.
"""

import os
import subprocess
import sqlite3
from collections.abc import Callable
from typing import NamedTuple

import pytest

from gitmemo import (
    Act,
    Duplicate,
    Entry,
    NotPurgeable,
    Purged,
    Store,
    UnknownId,
)
from tests.support.memory import assert_sound, draft, git, golden, project, reopened

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


def secret_draft(title: str = "leaked", **fields: object) -> object:
    return draft(title, content=f"First line.\n{SECRET}\n", **fields)


def said(entry: Entry) -> tuple[object, ...]:
    """What an entry says, without what names it."""
    return (entry.title, entry.summary, entry.keywords, entry.content, entry.date, entry.active)


def titles(store: Store) -> list[str]:
    return sorted(hit.title for hit in store.search(["memory"], limit=100).hits)


def three(folder: object) -> tuple[Store, list[str]]:
    """A store with entries before and after the leaked one."""
    store = project(folder)
    ids = [
        store.write(draft("one")).id,
        store.write(secret_draft()).id,  # type: ignore[arg-type]
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
    now = store.purge(leaked) and store.search(["two"]).hits[0].id
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


def chain_of_three(folder: object) -> tuple[Store, list[str]]:
    store = project(folder)
    ids = [store.write(draft("a")).id]
    ids.append(store.replace(ids[0], secret_draft("b")).id)  # type: ignore[arg-type]
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
    b = store.replace(a, secret_draft("b")).id  # type: ignore[arg-type]
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
    a = store.write(secret_draft("a")).id  # type: ignore[arg-type]
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
