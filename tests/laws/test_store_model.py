"""A store equals a list: whatever is written, replaced and withdrawn, in whatever order, by
whichever of two open stores, by processes that die at any step, by another engine, with or without
its index, page by page, and git agrees with all of it."""

import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

import pytest
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
from tests.support.failing import Countdown, install
from tests.support.foreign import Engine
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


def die_at(n: int, act: Callable[[], None]) -> None:
    """In a child: end at the n-th step, with no handler run, or after the act."""
    try:
        with pytest.MonkeyPatch.context() as patch:
            install(patch, Countdown(n, lambda: os._exit(9)))
            act()
    except BaseException:  # noqa: BLE001 # whatever it is, the parent must see that it happened
        os._exit(7)
    os._exit(0)


class StoreAgainstList(RuleBasedStateMachine):
    ids = Bundle("ids")

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.known: dict[str, Known] = {}
        self.living: list[str] = []
        self.events: list[tuple[str, Act, str | None]] = []
        self.shots: dict[str, list[str]] = {}
        self.count = 0

    @initialize()
    def found(self) -> None:
        self.clock = Clock()
        self.store = project(self.folder.name, clock=self.clock)
        self.other = reopened(self.store, clock=self.clock)

    def teardown(self) -> None:
        if hasattr(self, "store"):
            assert_sound(self.store)
            self.git_tells_the_same()
        self.folder.cleanup()

    def git_tells_the_same(self) -> None:
        mem = self.store.path
        commits = git(mem, "rev-list", "main", "--", "entries/").split()[:-1]
        assert commits == [entry_id for entry_id, _, _ in self.events[::-1]]
        keys = ("Type", "Replaces", "Deletes")
        form = "|".join(f"%(trailers:key=GitMemo-{key},valueonly,separator=)" for key in keys)
        told = git(mem, "log", f"--format={form}", "main", "--", "entries/").splitlines()[:-1]
        assert told == [
            f"{act.value}|{target if act is Act.REPLACE else ''}"
            f"|{target if act is Act.DELETE else ''}"
            for _, act, target in self.events[::-1]
        ]
        searched = ["log", "--format=%H", "--fixed-strings", "--grep=about", "main", "--"]
        added = set(self.known)
        assert set(git(mem, *searched, "entries/").split()) == added
        listed = git(mem, "ls-tree", "-r", "--name-only", "main", "entries/").splitlines()
        assert len(listed) == 1 + len(self.living)

    def unique(self, word: str) -> Draft:
        self.count += 1
        return Draft(
            f"{word} {self.count}", f"About {word} {self.count}.", ("memory", word), "text\n"
        )

    def note(self, entry_id: str, draft: Draft, kind: Kind, old: str | None) -> str:
        self.known[entry_id] = Known(draft, kind, old)
        if old is None:
            self.living.append(entry_id)
        else:
            self.living[self.living.index(old)] = entry_id
        self.events.append((entry_id, Act.ADD if old is None else Act.REPLACE, old))
        return entry_id

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

    @rule()
    def open_anew(self) -> None:
        self.store, self.other = (
            reopened(self.store, clock=self.clock),
            self.store,
        )

    @rule(target=ids, n=st.integers(1, 160), data=st.data())
    def another_process_dies_at_a_step_or_ends(self, n: int, data: st.DataObject) -> object:
        draft, base = self.unique("killed"), self.store.tip()
        old = data.draw(st.sampled_from(sorted(self.living))) if self.living else None
        child = os.fork()
        if child == 0:
            die_at(n, lambda: self.change(old, draft))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) in (0, 9)
        made = []
        if self.store.tip() != base:
            kind = Kind.TASK if old is None else self.known[old].kind
            made.append(self.note(self.store.tip(), draft, kind, old))
        after = self.unique("after")
        wrote = reopened(self.store, clock=self.clock, timeout_s=5.0).write(after)
        made.append(self.note(wrote.id, after, Kind.TASK, None))
        return multiple(*made)

    def change(self, old: str | None, draft: Draft) -> None:
        store = reopened(self.store, clock=self.clock, timeout_s=5.0)
        if old is None:
            store.write(draft)
        else:
            store.replace(old, draft)

    @rule(target=ids, folder=st.sampled_from(["entries", "entries/2026/08/23"]))
    def another_engine_writes(self, folder: str) -> str:
        draft = self.unique("foreign")
        made = Engine(self.store.root).write(draft.title, folder=folder, summary=draft.summary)
        return self.note(made, draft, Kind.TASK, None)

    @precondition(lambda self: self.living)
    @rule(target=ids, data=st.data())
    def another_engine_replaces(self, data: st.DataObject) -> str:
        old, draft = data.draw(st.sampled_from(sorted(self.living))), self.unique("foreign")
        kind = self.known[old].kind
        made = Engine(self.store.root).replace(
            old, draft.title, summary=draft.summary, kind=kind.value
        )
        return self.note(made, draft, kind, old)

    @precondition(lambda self: self.living)
    @rule(data=st.data())
    def another_engine_withdraws(self, data: st.DataObject) -> None:
        old = data.draw(st.sampled_from(sorted(self.living)))
        gone = Engine(self.store.root).delete(old)
        self.living.remove(old)
        self.events.append((gone, Act.DELETE, old))

    @rule(limit=st.integers(1, 4))
    def pages_fit_each_other_and_an_old_snapshot_stays(self, limit: int) -> None:
        seen: list[str] = []
        page = self.store.search(["about"], limit=limit)
        while True:
            seen += [hit.id for hit in page.hits]
            if page.next_skip is None:
                break
            page = self.other.search(
                ["about"], limit=limit, skip=page.next_skip, snapshot=page.snapshot
            )
        assert sorted(seen) == sorted(self.living)
        self.shots.setdefault(page.snapshot, seen)
        for snapshot, shown in self.shots.items():
            again = self.other.search(["about"], limit=1000, snapshot=snapshot)
            assert sorted(hit.id for hit in again.hits) == sorted(shown)

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
    max_examples=10,
    stateful_step_count=12,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
