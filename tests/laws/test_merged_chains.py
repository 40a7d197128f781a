"""Whatever two clones did, by engine or by hand, and however they were merged: chains, their ends,
their faults, rivals and topics are what plain lists made of `git log` and `git ls-tree` say."""

import os
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmemo import EntryId, Kind, LinkState, Store
from tests.support.memory import Clock, assert_sound, draft, git, project, reopened
from tests.support.size import examples

STRANGER = "0" * 39 + "1"


class Step(NamedTuple):
    """What is done, on which side, to which of its living entries (modulo)."""

    act: str
    side: int
    which: int


ACTS = ["write", "replace", "replace", "delete", "topic", "merge", "keep", "lost", "void", "rm"]
STEPS = st.lists(
    st.builds(Step, st.sampled_from(ACTS), st.integers(0, 1), st.integers(0, 5)),
    min_size=4,
    max_size=12,
)


class Clones:
    """Two clones of one store, and a list of what lives in each."""

    def __init__(self, folder: str) -> None:
        self.clock = Clock()
        left = project(os.path.join(folder, "left"), clock=self.clock)
        self.ids = [left.write(draft("about one")).id, left.write(draft("about two")).id]
        other = os.path.join(folder, "right")
        git(folder, "clone", "-q", left.path, os.path.join(other, ".mem"))
        right = Store.open(other, identity=left._identity, clock=self.clock, lock_timeout_s=30)
        self.stores = (left, right)
        self.alive = [list(self.ids), list(self.ids)]
        self.base = set(self.ids)
        self.n = 0

    def play(self, step: Step) -> None:
        store, alive = self.stores[step.side], self.alive[step.side]
        old = alive[step.which % len(alive)] if alive else None
        self.n += 1
        if step.act == "merge":
            self.merge()
        elif step.act == "topic":
            named = [*self.ids[step.which :][:3], self.ids[-1], STRANGER]
            links = " ".join(f"[[{id_[: 12 + step.which]}]]" for id_ in named)
            page = draft(f"about page {self.n}", content=links, kind=Kind.TOPIC)
            self.born(step.side, store.write(page).id)
        elif step.act == "write" or old is None:
            self.born(step.side, store.write(draft(f"about {self.n}")).id)
        elif step.act == "replace":
            alive.remove(old)
            self.born(step.side, store.replace(old, draft(f"about {self.n}")).id)
        elif step.act == "delete":
            alive.remove(old)
            store.delete(old, f"reason {self.n}")
        else:
            self.by_hand(step, old)

    def born(self, side: int, entry_id: EntryId) -> None:
        self.ids.append(entry_id)
        self.alive[side].append(entry_id)

    def by_hand(self, step: Step, old: EntryId) -> None:
        """Commits that no engine makes: a replacement that keeps what it replaced, one of what was
        never there, one that adds nothing, a file removed without a word."""
        store = self.stores[step.side]
        target = STRANGER if step.act == "lost" else old
        message = f"about forged {self.n}\n\nForged.\n\nGitMemo-Type: replace\n"
        message += f"GitMemo-Replaces: {target}\nGitMemo-Keyword: memory\n"
        message += f"GitMemo-Digest: sha256:{self.n:064x}\n"
        message += f"GitMemo-Search-Text: about forged {self.n}\nGitMemo-Search-Text: memory\n"
        if step.act in ("keep", "lost"):
            path = f"entries/forged-{self.n}.md"
            with open(os.path.join(store.path, path), "w", encoding="utf-8") as file:
                file.write(f"# forged {self.n}\n")
            git(store.path, "add", path)
            git(store.path, "commit", "-qm", message)
            self.born(step.side, store.tip())
        else:
            git(store.path, "rm", "-q", store.read(old).file)
            git(store.path, "commit", "-qm", message if step.act == "void" else "tidied up")
            self.alive[step.side].remove(old)

    def merge(self) -> None:
        """Git merges the right into the left, and the right follows."""
        left, right = (store.path for store in self.stores)
        git(left, "fetch", "-q", right, "main")
        git(left, "merge", "-q", "-Xfind-renames=100%", "--no-edit", "FETCH_HEAD")
        git(right, "fetch", "-q", left, "main")
        git(right, "merge", "-q", "--ff-only", "FETCH_HEAD")
        ours, theirs = map(set, self.alive)
        kept = {i for i in ours | theirs if (i in ours and i in theirs) or i not in self.base}
        self.base = kept
        self.alive = [[i for i in self.ids if i in kept] for _ in self.stores]


class Told:
    """A store as git alone tells it, in lists."""

    def __init__(self, mem: str) -> None:
        field = "%(trailers:key=GitMemo-{},valueonly,separator=%x2C)"
        shape = "%x00".join(["%x01%H", *map(field.format, ("Type", "Replaces", "Deletes")), ""])
        log = git(mem, "log", "main", f"--format={shape}", *_STATUS)
        files = git(mem, "ls-tree", "-r", "--name-only", "main", "entries/").split("\n")
        self.order: list[str] = []
        self.entries: list[str] = []
        self.living: list[str] = []
        self.replaced: dict[str, str] = {}
        self.withdrawn: dict[str, str] = {}
        self.deletes: list[tuple[str, str]] = []
        for record in log.split("\x01")[1:]:
            id_, act, replaces, deletes, changes = record.split("\0")
            added = [line[2:] for line in changes.split("\n") if line.startswith("A\t")]
            self.order.insert(0, id_)
            if act in ("add", "replace") and len(added) == 1:
                self.entries.insert(0, id_)
                if added[0] in files:
                    self.living.insert(0, id_)
            if act == "replace":
                self.replaced[id_] = replaces
            if act == "delete":
                self.withdrawn.setdefault(deletes, id_)
                self.deletes.append((deletes, id_))
        every = git(mem, "log", "--full-history", "main", "--format=%x01%H", *_STATUS)
        self.somewhere = {
            record[:40] for record in every.split("\x01")[1:] if record.count("\nA\t") == 1
        }

    def after(self, id_: str) -> list[str]:
        return [new for new in self.order if self.replaced.get(new) == id_]

    def ends(self, id_: str) -> list[str]:
        """Living ends, each once."""
        if id_ in self.living:
            return [id_]
        return [end for new in self.after(id_) for end in self.ends(new)]

    def withdrawals(self, id_: str) -> list[str]:
        after = self.after(id_)
        if after:
            return [gone for new in after for gone in self.withdrawals(new)]
        return [self.withdrawn[id_]] if id_ in self.withdrawn else []

    def family(self, id_: str) -> set[str]:
        while id_ in self.replaced:
            id_ = self.replaced[id_]
        found = [id_]
        for member in found:
            found += self.after(member)
        return set(found)

    def rivals(self, id_: str) -> set[str]:
        return self.family(id_) & set(self.living) - {id_}

    def faults(self, id_: str) -> set[str]:
        family = self.family(id_)
        known = {*self.entries, *self.somewhere}
        forked = {"forked"} if len(family & set(self.living)) > 1 else set()
        return forked | {f"gap:{one}" for one in family if one not in known}

    def state(self, id_: str) -> LinkState:
        ends = self.ends(id_)
        if ends and self.rivals(ends[0]):
            return LinkState.CONTESTED
        if id_ in self.living:
            return LinkState.FRESH
        if ends:
            return LinkState.REPLACED
        return LinkState.WITHDRAWN if self.withdrawals(id_) else LinkState.GONE


_STATUS = ("--name-status", "--no-renames", "--", "entries/")


@settings(max_examples=examples(8), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=STEPS)
def test_chains_of_merged_clones_are_what_git_says_of_them(
    tmp_path_factory: pytest.TempPathFactory, steps: list[Step]
) -> None:
    clones = Clones(str(tmp_path_factory.mktemp("clones")))
    for step in steps:
        clones.play(step)
    clones.merge()
    left, right = clones.stores
    told = Told(left.path)
    assert set(told.living) == set(clones.alive[0])
    without_index = rivals_of(right)
    wanted = {id_: told.rivals(id_) for id_ in told.living}
    assert without_index == wanted, (without_index, wanted)
    last = left.write(draft("brings the index up")).id
    store = reopened(left, clock=clones.clock)
    assert rivals_of(store) == {**without_index, last: set()}
    for id_ in told.entries:
        check_entry(store, told, id_)
    for page in store.topics():
        stale = [link for link in page.links if not holds(told, link.link, page.id)]
        assert list(page.stale) == stale
    assert_sound(left)


def rivals_of(store: Store) -> dict[str, set[str]]:
    return {hit.id: set(hit.rivals) for hit in store.search(["memory"], limit=99).hits}


def check_entry(store: Store, told: Told, id_: str) -> None:
    entry = store.read(id_)
    ends = told.ends(id_)
    assert entry.active == (id_ in told.living)
    assert list(entry.current[: len(ends)]) == ends
    assert set(entry.current) == (told.family(id_) & set(told.living) if ends else set())
    assert entry.replaced_by == tuple(told.after(id_))
    assert (entry.withdrawn is not None) == (not ends and bool(told.withdrawals(id_)))
    assert set(entry.faults) == told.faults(id_)
    life = store.life(id_)
    family = told.family(id_)
    gone = {commit for target, commit in told.deletes if target in family}
    assert {event.id for event in life.events} == (family | gone) & set(told.order)
    assert set(life.living) == family & set(told.living)
    place = {event.id: at for at, event in enumerate(life.events)}
    assert all(place[e.id] < place.get(e.target or e.id, 99) or not e.target for e in life.events)


def holds(told: Told, link: str, page: str) -> bool:
    named = [id_ for id_ in told.order if id_.startswith(link) and id_ in told.entries]
    if not named:
        return False
    return told.state(named[0]) is LinkState.FRESH or told.ends(named[0]) == [page]
