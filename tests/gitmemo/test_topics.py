"""What became of the links of a page."""

import pytest

from gitmemo import EntryId, Kind, Link, LinkState, Store, stale
from gitmemo.topics import dangling
from tests.support.memory import draft, project

A, B, PAGE = (EntryId(letter * 40) for letter in "abc")


def link(
    *,
    entry: EntryId | None = A,
    active: bool = False,
    current: tuple[EntryId, ...] = (),
    withdrawn: str | None = None,
) -> Link:
    return Link("aaaaaaa", entry, active, current, "t", "s", (), Kind.TASK, withdrawn, "")


@pytest.mark.parametrize(
    ("given", "state"),
    [
        (link(active=True, current=(A,)), LinkState.FRESH),
        (link(current=(A,)), LinkState.FRESH),  # its file lives, another commit added it last
        (link(current=(B,)), LinkState.REPLACED),
        (link(withdrawn="no longer"), LinkState.WITHDRAWN),
        (link(), LinkState.GONE),
        (link(active=True, current=(A, B)), LinkState.CONTESTED),
        (link(current=(B, PAGE)), LinkState.CONTESTED),
        (dangling("aaaaaaa", "unknown"), LinkState.UNKNOWN),
        (dangling("aaaaaaa", "ambiguous"), LinkState.AMBIGUOUS),
    ],
)
def test_a_link_has_one_state(given: Link, state: LinkState) -> None:
    assert given.state is state
    assert stale([given], page=PAGE) == (() if state is LinkState.FRESH else (given,))


def test_a_page_that_names_a_former_version_of_itself_is_not_stale_for_that() -> None:
    assert stale([link(current=(PAGE,))], page=PAGE) == ()
    assert stale([link(current=(PAGE,))], page=B) != ()


def page(store: Store, *ids: str, title: str = "page") -> str:
    content = "\n".join(f"- [[{id_}]]" for id_ in ids)
    return store.write(draft(title, content=content, kind=Kind.TOPIC)).id


def test_links_are_followed_over_any_number_of_replacements(tmp_path: object) -> None:
    store = project(tmp_path)
    first = at = store.write(draft("version 0")).id
    for n in range(1, 5):
        at = store.replace(at, draft(f"version {n}")).id
    gone = store.write(draft("wrong")).id
    store.delete(gone, "it was wrong")
    topic = store.read(page(store, first[:9].upper(), at, gone, "0123456"))
    old, new, withdrawn, unknown = store.links(topic)
    assert (old.link, old.entry, old.active, old.current) == (first[:9], first, False, (at,))
    assert (old.title, old.summary) == ("version 4", "What version 4 says.")
    assert (new.entry, new.active, new.current) == (at, True, (at,))
    assert (withdrawn.title, withdrawn.withdrawn, withdrawn.current) == (
        "wrong",
        "it was wrong",
        (),
    )
    assert (unknown.entry, unknown.error) == (None, "unknown")
    (told,) = store.topics()
    assert (told.id, told.title, told.date) == (topic.id, "page", topic.date)
    assert told.links == store.links(topic)
    assert told.stale == (old, withdrawn, unknown)


def test_only_living_topics_are_listed_newest_first(tmp_path: object) -> None:
    store = project(tmp_path)
    task = store.write(draft("task")).id
    one = page(store, task, title="one")
    two = page(store, task, one, title="two")
    dead = page(store, task, title="dead")
    store.delete(dead, "not needed")
    renewed = store.replace(one, draft("one again", content=f"[[{task}]]")).id
    told = store.topics()
    assert [topic.id for topic in told] == [renewed, two]
    assert [topic.stale for topic in told] == [(), (told[1].links[1],)]


def test_a_topic_goes_before_what_became_of_the_entries_it_links(tmp_path: object) -> None:
    store = project(tmp_path)
    first = store.write(draft("retry budget host")).id
    topic = page(store, first[:12], title="resilience")
    second = store.replace(first, draft("retry budget host method")).id
    living = store.replace(second, draft("retry budget host method verb")).id
    hits = store.search(["retry", "budget", "host", "test"]).hits
    assert [hit.id for hit in hits] == [topic, living]
    assert hits[0].score < hits[1].score
