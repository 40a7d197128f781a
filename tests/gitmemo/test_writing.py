"""What is asked before a plan: anchors of files, names that are taken, entries alike."""

import hashlib
import os

import pytest

from gitmemo import Anchor, Draft, writing
from tests.support.memory import draft, git, project


def test_a_file_too_big_to_hash_has_no_anchor(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "ANCHOR_LIMIT", 10)
    for name, size in (("small", 10), ("big", 11)):
        with open(f"{tmp_path}/{name}", "wb") as file:
            file.write(b"x" * size)
    asked = draft(related_paths=("small", "big"))
    digest = hashlib.sha256(b"x" * 10).hexdigest()
    assert writing.file_anchors(str(tmp_path), asked) == (Anchor(f"sha256:{digest}", "small"),)


def test_a_name_that_is_no_utf8_is_anchored_and_reads_back(tmp_path: object) -> None:
    store = project(tmp_path)
    name = os.fsdecode(b"caf\xe9 #1%.py")
    with open(os.path.join(store.root, name), "wb") as file:
        file.write(b"x")
    wrote = store.write(draft(related_paths=(name,)))
    assert [anchor.path for anchor in store.read(wrote.id).anchors] == [name]
    assert [anchor.path for anchor in store.search(["memory"]).hits[0].anchors] == [name]


def test_an_anchor_that_the_caller_gives_again_is_not_doubled(tmp_path: object) -> None:
    with open(f"{tmp_path}/a", "wb") as file:
        file.write(b"x")
    own = Anchor(f"sha256:{hashlib.sha256(b'x').hexdigest()}", "a")
    assert writing.file_anchors(str(tmp_path), draft(related_paths=("a",), anchors=(own,))) == (
        own,
    )


def test_a_name_is_taken_by_whatever_lies_there(tmp_path: object) -> None:
    os.symlink("nowhere", f"{tmp_path}/dangling")
    taken = writing.Taken(str(tmp_path))
    assert "dangling" in taken
    assert "free" not in taken


def test_entries_written_in_one_millisecond_have_names_of_their_own(tmp_path: object) -> None:
    store = project(tmp_path)
    store._clock.step = 0.0  # type: ignore[attr-defined] # the clock of the tests
    first = store.write(Draft("same", "s", ("a", "b"), "c"))
    store.delete(first.id, "to write it again")
    git(store.path, "gc", "-q", "--prune=now")
    second = store.write(Draft("same", "s", ("a", "b"), "c"))
    third = store.replace(second.id, Draft("same", "s", ("a", "b"), "c"))
    assert second.file == first.file
    assert third.file == first.file.replace(".md", "-2.md")


def test_likeness_is_by_words_and_the_replaced_entry_is_no_look_alike(tmp_path: object) -> None:
    store = project(tmp_path)
    words = "the cache evicts its oldest entries first when it is full and never the pinned ones"
    first = store.write(Draft("bound", words, ("cache", "lru"), "x"))
    store.write(Draft("bound", "the cache is bounded", ("cache", "lru"), "x"))
    again = store.replace(first.id, Draft("bound", words + " again", ("cache", "lru"), "x"))
    assert again.similar == ()
