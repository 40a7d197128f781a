"""Entries, their chains and what names them, as they are read from history."""

import os
import sqlite3

import pytest

import gitmemo
from gitmemo import Store
from tests.support.memory import draft, git, project, reopened


def test_a_chain_is_told_whole_from_whichever_end_one_asks(tmp_path: object) -> None:
    store = project(tmp_path)
    first = store.write(draft("first")).id
    other = store.write(draft("other")).id
    second = store.replace(first, draft("second")).id
    third = store.replace(second, draft("third")).id
    gone = store.delete(third, "no longer")
    for start in (first, second, third):
        life = store.life(start)
        assert (life.id, life.living, life.faults) == (start, (), ())
        assert [event.id for event in life.events] == [gone, third, second, first]
        assert store.history(start, limit=2) == life.events[:2]
    assert [event.id for event in store.life(other).events] == [other]


def test_reading_costs_what_the_chain_has_and_not_what_the_store_has(tmp_path: object) -> None:
    """Every row that SQLite looks at costs it a few steps, so steps tell a walk of the store."""
    store = project(tmp_path)
    old = store.write(draft("old")).id
    new = store.replace(old, draft("new")).id
    few = steps_of_reading(store, new)
    for n in range(60):
        store.write(draft(f"another {n}"))
    assert steps_of_reading(store, new) < few + 60


def steps_of_reading(store: Store, entry_id: str) -> int:
    from gitmemo import reading  # noqa: PLC0415 # beside what it is measured with
    from gitmemo.index import open_reader  # noqa: PLC0415 # the same
    from gitmemo.repo import Repo  # noqa: PLC0415 # the same

    index = open_reader(os.path.join(store.path, ".git"))
    assert index is not None
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    index.base.set_progress_handler(count, 1)
    found = reading.load(Repo(store.path), index, gitmemo.EntryId(entry_id))
    index.base.set_progress_handler(None, 1)
    index.close()
    assert found.active
    return steps


def test_a_hash_that_names_no_entry_says_what_it_names(tmp_path: object) -> None:
    store = project(tmp_path)
    entry = store.write(draft("short-lived")).id
    gone = store.delete(entry, "no longer")
    for act in (store.read, store.history, lambda id_: store.replace(id_, draft("x"))):
        with pytest.raises(gitmemo.WithdrawalId) as refused:
            act(gone[:9])
        assert (refused.value.text, refused.value.withdrew) == (gone[:9], entry)
    root = git(store.path, "rev-list", "--max-parents=0", "main").strip()
    blob = git(store.path, "rev-parse", "main:.gitmemo-format").strip()
    for hash_ in (root, blob, "0123456", "f" * 40, "f" * 64):
        with pytest.raises(gitmemo.UnknownId) as unknown:
            store.read(hash_)
        assert type(unknown.value) is gitmemo.UnknownId


def test_a_hash_that_could_be_several_entries_lists_them(tmp_path: object) -> None:
    store = project(tmp_path)
    one, two = (store.write(draft(f"entry {n}")).id for n in range(2))
    # Seven equal digits of two commits take minutes to find; a forged row of the index does not.
    twin = one[:8] + ("0" if one[8] != "0" else "1") + one[9:]
    with sqlite3.connect(os.path.join(store.path, ".git", "gitmemo-index.db")) as base:
        base.execute("UPDATE commits SET id = ? WHERE id = ?", (twin, two))
    with pytest.raises(gitmemo.AmbiguousId) as refused:
        store.read(one[:8])
    assert refused.value.candidates == tuple(sorted((one, twin)))
    assert store.read(one[:9]).id == one


def test_a_circle_in_the_index_is_a_fault_and_ends_every_walk(tmp_path: object) -> None:
    """Hashes make a circle in history impossible; tables can be damaged."""
    store = project(tmp_path)
    first = store.write(draft("first")).id
    second = store.replace(first, draft("second")).id
    third = store.replace(second, draft("third")).id
    topic = store.write(draft("page", content=f"[[{first}]]", kind=gitmemo.Kind.TOPIC)).id
    with sqlite3.connect(os.path.join(store.path, ".git", "gitmemo-index.db")) as base:
        base.execute("UPDATE commits SET act = 'replace', target = ? WHERE id = ?", (second, first))
    for id_ in (first, second):
        assert store.read(id_).faults == ("cycle",)
        assert store.read(id_).current == (third,)
    assert {event.id for event in store.life(third).events} == {first, second, third}
    assert {hit.id for hit in store.search(["first", "second", "third", "page"]).hits} == {
        third,
        topic,
    }
    assert [page.id for page in store.topics()] == [topic]


def test_an_entry_whose_file_was_removed_by_hand_is_gone_without_a_word(tmp_path: object) -> None:
    store = project(tmp_path)
    wrote = store.write(draft("by hand"))
    git(store.path, "rm", "-q", wrote.file)
    git(store.path, "commit", "-qm", "tidied up")
    entry = reopened(store).read(wrote.id)
    assert (entry.active, entry.current, entry.withdrawn, entry.faults) == (False, (), None, ())


def hidden(store: Store) -> str:
    """An entry that a sign-off below its trailers hides from every search."""
    wrote = store.write(draft("hidden"))
    message = git(store.path, "log", "-1", "--format=%B").rstrip("\n")
    git(store.path, "commit", "-q", "--amend", "-m", f"{message}\nSigned-off-by: A <a@b>")
    assert store.tip() != wrote.id
    return store.tip()


def test_an_entry_hidden_from_search_is_read_by_its_file(tmp_path: object) -> None:
    store = project(tmp_path)
    entry_id = hidden(store)
    assert store.search(["hidden"]).total == 0
    entry = store.read(entry_id)
    assert (entry.title, entry.keywords, entry.active) == ("hidden", ("memory", "test"), True)


def test_an_entry_that_main_has_left_is_still_read_by_its_hash(tmp_path: object) -> None:
    store = project(tmp_path)
    wrote = store.write(draft("left behind"))
    git(store.path, "branch", "backup")
    git(store.path, "reset", "-q", "--hard", "main~1")
    entry = store.read(wrote.id[:12])
    assert (entry.id, entry.title, entry.active, entry.current) == (
        wrote.id,
        "left behind",
        False,
        (),
    )
