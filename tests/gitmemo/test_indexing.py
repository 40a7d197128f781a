"""The index made: grown commit by commit, or from all of history, it is the same."""

import os

import pytest

from gitmemo import Store, indexing
from gitmemo.index import FILE, Index, open_reader
from gitmemo.repo import Repo
from tests.support.memory import draft, git, project, reopened


@pytest.fixture
def store(tmp_path: object) -> Store:
    made = project(tmp_path)
    made.write(draft("one"))
    made.replace(made.write(draft("two")).id, draft("three"))
    return made


def path_of(store: Store) -> str:
    return os.path.join(store.path, ".git", FILE)


def opened(store: Store) -> Index:
    index = open_reader(os.path.dirname(path_of(store)))
    assert index is not None
    return index


def tip_of(store: Store) -> str:
    index = opened(store)
    index.close()  # an open reader keeps writers from the file
    return index.tip


def tables(index: Index) -> dict[str, list[object]]:
    names = ("meta", "authors", "commits", "entries", "texts", "vocabulary", "places")
    found = {name: index.base.execute(f"SELECT * FROM {name}").fetchall() for name in names}
    index.close()
    return found


def test_an_index_that_grew_equals_one_that_was_built(store: Store) -> None:
    grown = tables(opened(store))
    os.unlink(path_of(store))
    indexing.up_to_date(Repo(store.path), store.tip()).close()
    assert tables(opened(store)) == grown
    assert tables(indexing.in_memory(Repo(store.path), store.tip())) == grown


def test_what_another_engine_committed_is_taken_in_by_the_next_writer(store: Store) -> None:
    folder = os.path.join(store.path, "entries")
    with open(f"{folder}/20260101T000000.000Z-00000000-flat.md", "w", encoding="utf-8") as file:
        file.write('---\nkind: "task"\n---\n\n# flat\n\n## Summary\n\ns\n\n## Final Outcome\n\nc\n')
    message = (
        "flat\n\nfrom elsewhere\n\nGitMemo-Type: add\nGitMemo-Keyword: memory\n"
        "GitMemo-Keyword: b\nGitMemo-Digest: sha256:00\nGitMemo-Search-Text: flat\n"
    )
    git(store.path, "add", "-A")
    git(store.path, "commit", "-q", "-m", message)
    assert tip_of(store) != store.tip()
    assert "flat" in {hit.title for hit in store.search(["memory"]).hits}
    reopened(store).write(draft("four"))
    assert tip_of(store) == store.tip()
    grown = tables(opened(store))
    os.unlink(path_of(store))
    indexing.up_to_date(Repo(store.path), store.tip()).close()
    assert tables(opened(store)) == grown


def test_history_that_was_rewritten_is_indexed_anew(store: Store) -> None:
    git(store.path, "reset", "-q", "--hard", "main~1")
    assert {hit.title for hit in store.search(["memory"]).hits} == {"one", "two"}
    reopened(store).write(draft("five"))
    assert {hit.title for hit in store.search(["memory"]).hits} == {"one", "two", "five"}
    assert tip_of(store) == store.tip()


def test_anchors_that_another_engine_dropped_are_taken_from_the_entry_before(
    store: Store,
) -> None:
    with open(f"{store.root}/a.py", "w", encoding="utf-8") as file:
        file.write("x")
    old = store.write(draft("anchored", related_paths=("a.py",)))
    text = store.read(old.id).text
    lines = [line for line in text.splitlines(keepends=True) if not line.startswith("anchors:")]
    new = "entries/20270101T000000.000Z-11111111-anchored.md"
    with open(os.path.join(store.path, new), "w", encoding="utf-8") as file:
        file.writelines(lines)
    git(store.path, "rm", "-q", old.file)
    git(store.path, "add", new)
    message = (
        f"anchored\n\nagain\n\nGitMemo-Type: replace\nGitMemo-Replaces: {old.id}\n"
        "GitMemo-Keyword: memory\nGitMemo-Keyword: b\nGitMemo-Digest: sha256:11\n"
    )
    git(store.path, "commit", "-q", "-m", message)
    anchors = store.read(old.id).anchors
    assert len(anchors) == 1
    assert store.read(store.tip()).anchors == anchors
