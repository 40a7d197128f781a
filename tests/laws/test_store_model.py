"""A store equals a list: whatever is written, replaced and withdrawn, in whatever order, by
whichever of two open stores, with or without its index, and git agrees with all of it."""

import os
import tempfile
from contextlib import suppress
from typing import NamedTuple

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
)

import gitmemo
from gitmemo import Act, Draft, Kind, Mode, Store
from tests.support.memory import Clock, assert_sound, git, project, reopened

TITLES = st.sampled_from(["[cache] bound", "drain Queue", "排空 队列", "ÄRGER straße", "x", "ﬁne"])
WORDS = st.sampled_from(["memory", "cache", "Queue", "队列", "STRASSE", "retry_count", "ﬁ", "a b"])
DRAFTS = st.builds(
    lambda title, words, n, kind: Draft(title, f"About {title} {n}.", tuple(words), f"{n}\n", kind),
    TITLES,
    st.lists(WORDS, min_size=2, max_size=4, unique_by=gitmemo.norm),
    st.integers(0, 3),
    st.sampled_from([None, Kind.TASK, Kind.TOPIC]),
)


class Known(NamedTuple):
    """An entry as the model holds it."""

    draft: Draft
    kind: Kind
    replaces: str | None


def same(one: object, other: object) -> None:
    assert one == other


class StoreAgainstList(RuleBasedStateMachine):
    ids = Bundle("ids")

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.known: dict[str, Known] = {}
        self.living: list[str] = []
        self.events: list[tuple[str, Act, str | None]] = []

    @initialize()
    def found(self) -> None:
        self.clock = Clock()
        self.store = project(self.folder.name, clock=self.clock)
        self.other = reopened(self.store, clock=self.clock)

    def teardown(self) -> None:
        if hasattr(self, "store"):
            assert_sound(self.store)
        self.folder.cleanup()

    def pick(self, other: bool) -> Store:
        return self.other if other else self.store

    def twin(self, draft: Draft, kind: Kind, *, but: str | None = None) -> str | None:
        def said(draft: Draft, kind: Kind) -> object:
            words = frozenset(map(gitmemo.norm, draft.keywords))
            return draft.title, draft.summary, words, draft.content, kind

        for entry_id in self.living:
            held = self.known[entry_id]
            if entry_id != but and said(held.draft, held.kind) == said(draft, kind):
                return entry_id
        return None

    @rule(target=ids, draft=DRAFTS, other=st.booleans())
    def write(self, draft: Draft, other: bool) -> object:
        kind = draft.kind or Kind.TASK
        twin = self.twin(draft, kind)
        try:
            wrote = self.pick(other).write(draft)
        except gitmemo.Duplicate as refused:
            same(refused.entry_id, twin)
            return multiple()
        assert twin is None
        self.known[wrote.id] = Known(draft, kind, None)
        self.living.append(wrote.id)
        self.events.append((wrote.id, Act.ADD, None))
        return wrote.id

    @rule(target=ids, old=ids, draft=DRAFTS, other=st.booleans())
    def replace(self, old: str, draft: Draft, other: bool) -> object:
        kind = draft.kind or self.known[old].kind
        try:
            wrote = self.pick(other).replace(old, draft)
        except gitmemo.NotActive:
            assert old not in self.living
            return multiple()
        except gitmemo.Duplicate as refused:
            same(refused.entry_id, self.twin(draft, kind, but=old))
            return multiple()
        self.known[wrote.id] = Known(draft, kind, old)
        self.living[self.living.index(old)] = wrote.id
        self.events.append((wrote.id, Act.REPLACE, old))
        return wrote.id

    @rule(old=consumes(ids), other=st.booleans())
    def delete(self, old: str, other: bool) -> None:
        try:
            gone = self.pick(other).delete(old, "no longer")
        except gitmemo.NotActive:
            assert old not in self.living
            return
        self.living.remove(old)
        self.events.append((gone, Act.DELETE, old))

    @rule(how=st.sampled_from(["lose", "spoil", "old"]))
    def harm_the_index(self, how: str) -> None:
        path = os.path.join(self.store.path, ".git", "gitmemo-index.db")
        with suppress(FileNotFoundError):
            if how == "lose":
                os.unlink(path)
            else:
                with open(path, "r+b") as file:
                    file.seek(4096 if how == "spoil" else 60)
                    file.write(b"\xff" * (8192 if how == "spoil" else 4))

    @precondition(lambda self: self.living)
    @rule()
    def another_engine_gets_the_store_packed(self) -> None:
        git(self.store.path, "gc", "-q")

    @invariant()
    def the_same_entries_live(self) -> None:
        if not hasattr(self, "store"):
            return
        page = self.store.search(["about"], limit=1000)
        assert sorted(hit.id for hit in page.hits) == sorted(self.living)
        for hit in page.hits:
            draft, kind, _ = self.known[hit.id]
            assert (hit.title, hit.summary, hit.keywords, hit.kind) == (
                draft.title,
                draft.summary,
                draft.keywords,
                kind,
            )
        everything = self.store.search(
            ["about"], mode=Mode.TRAILER, include_inactive=True, limit=1000
        )
        assert {hit.id: hit.active for hit in everything.hits} == {
            entry_id: entry_id in self.living for entry_id in self.known
        }

    @invariant()
    def the_same_history_is_told(self) -> None:
        if hasattr(self, "store"):
            told = [(event.id, event.act, event.target) for event in self.store.history()]
            assert told == self.events[::-1]

    @precondition(lambda self: self.known)
    @rule(data=st.data())
    def reading_follows_the_chain(self, data: st.DataObject) -> None:
        entry_id = data.draw(st.sampled_from(sorted(self.known)))
        entry = self.store.read(entry_id[: data.draw(st.integers(16, 40))])
        draft, kind, replaces = self.known[entry_id]
        assert (entry.id, entry.title, entry.content) == (entry_id, draft.title, draft.content)
        assert (entry.kind, entry.replaces) == (kind, replaces)
        assert entry.active == (entry_id in self.living)
        assert entry.current == tuple(self.ends(entry_id))

    def ends(self, entry_id: str) -> list[str]:
        if entry_id in self.living:
            return [entry_id]
        after = [id_ for id_, known in self.known.items() if known.replaces == entry_id]
        return [end for id_ in after for end in self.ends(id_)]


TestStoreAgainstList = StoreAgainstList.TestCase
TestStoreAgainstList.settings = settings(
    max_examples=12,
    stateful_step_count=12,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
