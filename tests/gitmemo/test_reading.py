"""Entries and chains as they are read from history."""

from gitmemo import Act, EntryId, Event, Store
from gitmemo.reading import chain_events
from tests.support.memory import draft, git, project


def event(name: str, act: Act, target: str | None = None) -> Event:
    aim = None if target is None else EntryId(target)
    return Event(EntryId(name), act, "", name, "", aim, "")


EVENTS = [
    event("gone", Act.DELETE, "c"),
    event("c", Act.REPLACE, "b"),
    event("other2", Act.REPLACE, "other"),
    event("twin", Act.REPLACE, "a"),
    event("b", Act.REPLACE, "a"),
    event("other", Act.ADD),
    event("a", Act.ADD),
]


def test_a_chain_is_told_whole_from_whichever_end_one_asks() -> None:
    for start in ("a", "b", "c", "gone", "twin"):
        told = [found.id for found in chain_events(EVENTS, EntryId(start))]
        assert told == ["gone", "c", "twin", "b", "a"]
    assert [found.id for found in chain_events(EVENTS, EntryId("other"))] == ["other2", "other"]


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
