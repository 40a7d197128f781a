"""The index file: made by writers, used only where it is right, thrown away where it is not."""

import os
import sqlite3

import pytest

from gitmemo import Store, indexing
from gitmemo.index import FILE, VERSION, Index, open_reader
from tests.support.memory import draft, project


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


@pytest.mark.parametrize(
    "content", [b"", b"not a database at all" * 300, b"SQLite format 3\0" + b"\0" * 4080]
)
def test_rubbish_in_the_place_of_the_index_is_passed_over_and_replaced(
    store: Store, content: bytes
) -> None:
    with open(path_of(store), "wb") as file:
        file.write(content)
    assert open_reader(os.path.dirname(path_of(store))) is None
    assert store.search(["memory"]).total == 2
    store.write(draft("four"))
    assert tip_of(store) == store.tip()


def test_an_index_of_another_version_is_passed_over_and_replaced(store: Store) -> None:
    base = sqlite3.connect(path_of(store))
    base.execute(f"PRAGMA user_version = {VERSION + 1}")
    base.close()
    assert open_reader(os.path.dirname(path_of(store))) is None
    store.write(draft("four"))
    assert tip_of(store) == store.tip()


def test_an_index_that_is_busy_elsewhere_is_not_thrown_away(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = store.search(["memory"]).total
    other = sqlite3.connect(path_of(store), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    monkeypatch.setattr(indexing, "_BUSY_S", 0.05)
    store.write(draft("four"))
    other.execute("ROLLBACK")
    other.close()
    assert store.search(["memory"]).total == before + 1
    store.write(draft("five"))
    assert tip_of(store) == store.tip()


def test_a_folder_whose_name_looks_like_a_query_is_opened(tmp_path: object) -> None:
    store = project(f"{tmp_path}/a?mode=rwc&x#y %41")
    store.write(draft("one"))
    opened(store).close()
    assert store.search(["one"]).total == 1
    assert os.listdir(str(tmp_path)) == ["a?mode=rwc&x#y %41"]
