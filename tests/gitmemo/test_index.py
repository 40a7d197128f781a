"""The index file: made by writers, used only where it is right, thrown away where it is not."""

import json
import os
import sqlite3
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmemo import Store, entry, indexing, norm
from gitmemo.index import (
    FILE,
    FOLDED,
    VERSION,
    Index,
    open_reader,
    plainly_folded,
    short_file,
    whole_file,
)
from gitmemo.text import dated_path
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


@given(
    st.text(max_size=12) | st.sampled_from(["Why caches fail", "a-", "", "-.md", "x/y", "İ"]),
    st.text(max_size=12) | st.sampled_from(["Why caches fail", "other", ""]),
    st.sampled_from(["", "-2", "-"]),
    st.sampled_from(["dated", "flat", "odd"]),
)
def test_a_shortened_path_is_the_path_again(title: str, named: str, more: str, layout: str) -> None:
    name = entry.file_name(named, "ab" * 32, 1_790_000_000_000).removesuffix(".md") + f"{more}.md"
    file = {"dated": dated_path(name), "flat": f"entries/{name}", "odd": f"entries/{named}.md"}
    short = short_file(file[layout], title)
    assert whole_file(short, title) == file[layout]
    if layout == "dated" and named == title and not more:
        assert short == f"{name[:20]}-{'ab' * 4}-"


@given(st.lists(st.text(st.sampled_from('aBß É,"\\[]\n\t\0'), min_size=1, max_size=6), max_size=4))
def test_folded_lines_that_are_not_kept_are_found_in_the_texts(parts: list[str]) -> None:
    title, summary, *keywords = [*parts, "", ""]
    if not plainly_folded(title, summary, keywords):
        return
    with closing(sqlite3.connect(":memory:")) as base:
        found = base.execute(
            f"SELECT {FOLDED} FROM (SELECT ? AS title, ? AS summary, ? AS keywords,"
            " NULL AS folded) t, (SELECT NULL AS title) c",
            (title, summary, json.dumps(keywords)),
        ).fetchone()
    assert found == ("\n".join(map(norm, (title, summary, *keywords))),)


def test_tables_of_another_version_do_not_keep_their_room(store: Store) -> None:
    before = os.path.getsize(path_of(store))
    base = sqlite3.connect(path_of(store))
    base.execute("CREATE TABLE long_ago (data BLOB)")
    base.execute("INSERT INTO long_ago VALUES (zeroblob(1000000))")
    base.execute(f"PRAGMA user_version = {VERSION - 1}")
    base.commit()
    base.close()
    store.write(draft("four"))
    assert os.path.getsize(path_of(store)) < 2 * before
