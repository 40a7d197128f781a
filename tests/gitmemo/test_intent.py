"""The record of what was about to happen: ours, the other engine's, and rubbish."""

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmemo import DamagedStore, Store
from gitmemo.intent import RECORD, Intent, Way, decide, drop, read, write
from gitmemo.model import EntryId
from gitmemo.repo import Raw
from tests.support.memory import assert_sound, draft, git, project, reopened

PATHS = st.lists(
    st.sampled_from(["entries/a.md", "entries/b.md", "entries/2026/01/01/c.md"]), unique=True
).map(tuple)


def tip(**fields: object) -> Raw:
    base = Raw(EntryId("1" * 40), (EntryId("0" * 40),), 0, "", "", (), (), ())
    return base._replace(**fields)  # type: ignore[arg-type] # fields of a test's own


def planted(store: Store, **fields: object) -> None:
    """A record as the other engine writes it."""
    body = {
        "operationId": "6c1f",
        "operation": "write",
        "phase": "prepared",
        "baseHead": store.tip(),
        "add": [],
        "delete": [],
        "createdAt": "2026-08-23T11:36:12.123Z",
        **fields,
    }
    with open(os.path.join(store.path, ".git", RECORD), "w", encoding="utf-8") as file:
        json.dump(body, file, indent=2)


@given(add=PATHS, remove=PATHS)
def test_a_record_reads_back_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, add: tuple[str, ...], remove: tuple[str, ...]
) -> None:
    folder = str(tmp_path_factory.getbasetemp())
    intent = Intent("0" * 40, add, remove, "replace")
    write(folder, intent, digest="d", created_at="2026-08-23T11:36:12.123Z")
    assert read(folder) == intent
    drop(folder)
    assert read(folder) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"baseHead": 1, "add": [], "delete": []}',
        '{"baseHead": "x", "add": "entries/a.md", "delete": []}',
        '{"baseHead": "x", "add": ["../outside"], "delete": []}',
        '{"baseHead": "x", "add": ["entries/../../outside"], "delete": []}',
        '{"baseHead": "x", "add": [".git/config"], "delete": []}',
        '{"baseHead": "x", "add": [7], "delete": []}',
    ],
)
def test_an_unreadable_record_is_damage_and_never_none(tmp_path: object, text: str) -> None:
    store = project(tmp_path)
    with open(os.path.join(store.path, ".git", RECORD), "w", encoding="utf-8") as file:
        file.write(text)
    with pytest.raises(DamagedStore) as refused:
        store.write(draft())
    assert refused.value.detail == "unreadable-record"
    assert store.search(["memory"]).total == 0


def test_every_way_an_interrupted_change_can_end() -> None:
    intent = Intent("0" * 40, ("entries/a.md",), ("entries/b.md",))
    done = tip(added=intent.add, removed=intent.remove)
    assert decide(intent, tip(id=EntryId("0" * 40)), ["entries/a.md"]) is Way.BACK
    assert decide(intent, done, []) is Way.FORWARD
    assert decide(intent, done, ["entries/b.md"]) is Way.FORWARD
    assert decide(intent, tip(id=EntryId("0" * 40)), ["entries/z.md"]) is Way.FOREIGN
    assert decide(intent, done, ["notes.txt"]) is Way.FOREIGN
    assert decide(intent, tip(added=intent.add), []) is Way.MOVED
    assert decide(intent, done._replace(modified=("entries/z.md",)), []) is Way.MOVED
    assert decide(intent, done._replace(parents=(EntryId("9" * 40),)), []) is Way.MOVED


def test_what_another_engine_began_is_taken_back(tmp_path: object) -> None:
    store = project(tmp_path)
    kept = store.write(draft("kept"))
    planted(store, add=["entries/new.md"], delete=[kept.file])
    with open(os.path.join(store.path, "entries/new.md"), "w", encoding="utf-8") as file:
        file.write("half")
    git(store.path, "add", "entries/new.md")
    git(store.path, "rm", "-q", kept.file)
    again = reopened(store)
    again.write(draft("next"))
    assert {hit.title for hit in again.search(["memory"]).hits} == {"kept", "next"}
    assert_sound(again)


def test_what_another_engine_finished_but_did_not_tick_off_is_accepted(tmp_path: object) -> None:
    store = project(tmp_path)
    base = store.tip()
    wrote = store.write(draft("done"))
    planted(store, baseHead=base, add=[wrote.file])
    reopened(store).write(draft("next"))
    assert {hit.title for hit in store.search(["memory"]).hits} == {"done", "next"}
    assert_sound(store)


def test_a_record_that_does_not_fit_main_stops_writers_and_not_readers(tmp_path: object) -> None:
    store = project(tmp_path)
    wrote = store.write(draft("one"))
    planted(store, baseHead="7" * 40, add=[wrote.file])
    with pytest.raises(DamagedStore) as refused:
        reopened(store).write(draft("two"))
    assert refused.value.detail == "interrupted-moved"
    assert store.read(wrote.id).active


def test_files_of_somebody_else_are_never_taken_back(tmp_path: object) -> None:
    store = project(tmp_path)
    planted(store, add=["entries/new.md"])
    precious = os.path.join(store.path, "entries", "precious.md")
    with open(precious, "w", encoding="utf-8") as file:
        file.write("by hand")
    with pytest.raises(DamagedStore) as refused:
        reopened(store).write(draft("two"))
    assert refused.value.detail == "interrupted-foreign"
    assert os.path.exists(precious)


def test_a_planned_name_that_the_disk_cannot_hold_does_not_close_the_store(
    tmp_path: object,
) -> None:
    store = project(tmp_path)
    planted(store, add=["entries/" + "i-" * 200 + ".md"])
    reopened(store).write(draft())
    assert_sound(store)
