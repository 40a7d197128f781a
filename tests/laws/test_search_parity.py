"""One answer, however it is come by: from the index, without it, or from git itself."""

import os
import random
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmemo import Draft, Kind, Mode, Page, Store, indexing, norm
from gitmemo.repo import Repo
from tests.support.memory import NOW, Clock, git, project, reopened
from tests.support.size import FULL, examples

WORDS = ["cache", "Cache", "startup", "art", "retry_count", "parseHTTP", "排空", "队列满", "ß", "ﬁ"]
MARKS = ["a.b", "x*y", "[z]", "^q", "$", "\\d+", "'s", '"t"', "-n", "--all", "%", "a  b", "\t", "é"]
TEXTS = st.lists(st.sampled_from(WORDS + MARKS), min_size=1, max_size=6).map(" ".join)
KEYWORDS = st.lists(
    st.sampled_from(WORDS + MARKS).filter(str.strip), min_size=2, max_size=5, unique_by=norm
)
QUERIES = st.lists(
    st.sampled_from([*WORDS, *MARKS, "gitmemo-type: add", "sha256", "s", "t c", "cachee"]).filter(
        str.strip
    ),
    min_size=1,
    max_size=4,
)
SETTINGS = settings(
    max_examples=examples(8), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


class Step(NamedTuple):
    """One change: a draft's parts, and which older entry it replaces or withdraws (modulo)."""

    title: str
    summary: str
    keywords: list[str]
    kind: Kind
    act: str
    which: int
    paths: tuple[str, ...]


PATHS = ("src/a.py", "src/b.py", "src", "srcs/a.py", "deep/er/c.py")
STEPS = st.lists(
    st.builds(
        Step,
        TEXTS.filter(str.strip),
        TEXTS.filter(str.strip),
        KEYWORDS,
        st.sampled_from(Kind),
        st.sampled_from(["write", "write", "replace", "delete"]),
        st.integers(0, 9),
        st.lists(st.sampled_from(PATHS), max_size=2, unique=True).map(tuple),
    ),
    min_size=3,
    max_size=9,
)


def played(store: Store, steps: list[Step], clock: Clock | None = None) -> None:
    living: list[str] = []
    for n, step in enumerate(steps):
        if clock is not None:
            clock.now += n % 3 * 50
        links = "".join(f"[[{entry_id[:12]}]] " for entry_id in living[:3])
        draft = Draft(
            f"{step.title} {n}",
            step.summary,
            tuple(step.keywords),
            f"{links}body {n}",
            step.kind,
            related_paths=step.paths,
        )
        if not living or step.act == "write":
            living.append(store.write(draft).id)
            continue
        old = living.pop(step.which % len(living))
        if step.act == "replace":
            living.append(store.replace(old, draft).id)
        else:
            store.delete(old, "reason")


class Filter(NamedTuple):
    """What a search is kept to."""

    kinds: frozenset[Kind] | None = None
    since_s: int | None = None
    paths: tuple[str, ...] = ()


FILTERS = st.builds(
    Filter,
    st.sampled_from([None, frozenset({Kind.TASK}), frozenset(Kind)]),
    st.none() | st.integers(int(NOW) - 2, int(NOW) + 400),
    st.lists(st.sampled_from([*PATHS, "deep", ".", "gone.py"]), max_size=2).map(tuple),
)


def answers(
    store: Store, queries: list[str], snapshot: str | None, kept: Filter | None = None
) -> list[Page]:
    narrow = Filter() if kept is None else kept
    asked = [queries] if narrow == Filter() else [queries, []]
    return [
        store.search(
            words,
            mode=mode,
            snapshot=snapshot,
            include_inactive=inactive,
            limit=50,
            **narrow._asdict(),
        )
        for words in asked
        for mode in Mode
        for inactive in (False, True)
    ]


@SETTINGS
@given(steps=STEPS, queries=QUERIES, cut=st.integers(0, 9), kept=FILTERS)
def test_the_index_answers_as_history_does(
    tmp_path_factory: pytest.TempPathFactory,
    steps: list[Step],
    queries: list[str],
    cut: int,
    kept: Filter,
) -> None:
    clock = Clock(step=0.0)
    store = stocked(tmp_path_factory.mktemp("parity"), clock)
    path = os.path.join(store.path, ".git", "gitmemo-index.db")
    played(store, steps[:cut], clock)
    store.write(Draft("between", "the two", ("b1", "b2"), "x"))
    with open(path, "rb") as file:
        older = file.read()
    played(store, [step._replace(title=step.title + " later") for step in steps[cut:]], clock)
    commits = git(store.path, "rev-list", "main").split()
    snapshots = [None, commits[len(commits) // 2]]
    assert indexing.same_as_history(Repo(store.path), store.tip())

    def asked() -> list[list[Page]]:
        fresh = reopened(store, clock=clock)
        return [answers(fresh, queries, snap, only) for snap in snapshots for only in (None, kept)]

    extended = asked()
    with open(path, "wb") as back:  # as if another engine had written since
        back.write(older)
    behind = asked()
    os.unlink(path)
    without = asked()
    assert extended == behind == without
    for pages in without[1::2]:
        assert_kept(pages, kept)


def assert_kept(pages: list[Page], kept: Filter) -> None:
    """Every hit is one that was asked for."""
    for hit in (hit for page in pages for hit in page.hits):
        assert kept.kinds is None or hit.kind in kept.kinds
        if kept.since_s is not None:
            assert datetime.fromisoformat(hit.date).timestamp() >= kept.since_s
        assert not kept.paths or any(
            folder == "." or path == folder or path.startswith(f"{folder}/")
            for path in hit.related_paths
            for folder in kept.paths
        )


@SETTINGS
@given(steps=STEPS, kept=FILTERS)
def test_pages_of_a_list_are_the_list(
    tmp_path_factory: pytest.TempPathFactory, steps: list[Step], kept: Filter
) -> None:
    clock = Clock(step=0.0)
    store = stocked(tmp_path_factory.mktemp("pages"), clock)
    played(store, steps, clock)
    narrow = kept._replace(since_s=kept.since_s or 0)._asdict()
    whole = store.search([], limit=100, **narrow)
    assert [hit.date for hit in whole.hits] == sorted((h.date for h in whole.hits), reverse=True)
    store.write(Draft("later", "than the first page", ("k", "l"), "x", related_paths=PATHS))
    paged = [
        hit
        for skip in range(0, whole.total, 2)
        for hit in store.search([], limit=2, skip=skip, snapshot=whole.snapshot, **narrow).hits
    ]
    assert paged == list(whole.hits)


QUESTIONS: tuple[tuple[str, Filter], ...] = (
    ("cache", Filter()),
    ("startup art", Filter()),
    ("cachee", Filter()),
    ("", Filter(since_s=0)),
    ("", Filter(paths=("src",))),
)


COPIES = 1500 if FULL else 50


def damaged(store: Store, data: bytes, chance: random.Random, clock: Clock) -> tuple[int, int]:
    """How often, of COPIES of the index with a turned bit, an answer differed from history's;
    and how often the check did not see that the copy is another one."""
    path = os.path.join(store.path, ".git", "gitmemo-index.db")
    fresh = reopened(store, clock=clock)

    def told() -> list[Page]:
        return [fresh.search([words], **kept._asdict()) for words, kept in QUESTIONS]

    truth = told()
    lied = missed = 0
    for _ in range(COPIES):
        at = chance.randrange(len(data))
        turned = data[:at] + bytes([data[at] ^ (1 << chance.randrange(8))]) + data[at + 1 :]
        with open(path, "wb") as copy:
            copy.write(turned)
        differs = told() != truth
        lied += differs
        missed += differs and indexing.same_as_history(Repo(store.path), store.tip())
    with open(path, "wb") as copy:
        copy.write(data)
    return lied, missed


def test_what_is_shown_of_a_damaged_index_was_written_and_the_check_finds_the_rest(
    tmp_path: Path,
) -> None:
    clock = Clock(step=0.0)
    store = stocked(tmp_path, clock)
    for n in range(12):
        store.write(
            Draft(f"cache {n} startup", "art of " * n + "it", ("cache", f"k{n}"), "b", None, PATHS)
        )
    with open(os.path.join(store.path, ".git", "gitmemo-index.db"), "rb") as file:
        data = file.read()
    written = {store.read(e.id).title for e in store.history()}
    lied, missed = damaged(store, data, random.Random(7), clock)
    assert missed == 0
    assert lied <= COPIES // 10
    assert all(hit.title in written for hit in store.search(["cache"]).hits)


def stocked(folder: Path, clock: Clock) -> Store:
    """An empty store beside the files of PATHS."""
    store = project(folder, clock=clock)
    for path in PATHS:
        if path.endswith(".py"):
            os.makedirs(os.path.dirname(os.path.join(store.root, path)), exist_ok=True)
            with open(os.path.join(store.root, path), "w", encoding="utf-8") as file:
                file.write(path)
    return store


def grepped(store: Store, keyword: str) -> set[str]:
    """Commits that add a living entry and that git itself finds by `keyword`."""
    log = git(
        store.path,
        *("log", "main", "--fixed-strings", f"--grep={norm(keyword)}", "--format=%x01%H"),
        *("--name-status", "--no-renames", "-z", "--", "entries/"),
    )
    living = set(git(store.path, "ls-tree", "-rz", "--name-only", "main", "entries/").split("\0"))
    found = set()
    for record in log.split("\x01")[1:]:
        commit, *changes = record.replace("\n", "").split("\0")
        pairs = zip(changes[::2], changes[1::2], strict=False)
        if any(state == "A" and path in living for state, path in pairs):
            found.add(commit.strip())
    return found


@SETTINGS
@given(steps=STEPS, keyword=st.sampled_from([*WORDS, *MARKS, "s", "b"]).filter(str.strip))
def test_a_trailer_search_finds_what_git_log_finds_in_title_summary_and_keywords(
    tmp_path_factory: pytest.TempPathFactory, steps: list[Step], keyword: str
) -> None:
    store = stocked(tmp_path_factory.mktemp("grep"), Clock())
    played(store, steps)
    hits = store.search([keyword], mode=Mode.TRAILER, limit=100).hits
    needle = norm(keyword)
    wanted = {
        entry_id
        for entry_id in grepped(store, keyword)
        if any(
            needle in norm(text)
            for entry in [store.read(entry_id)]
            for text in (entry.title, entry.summary, *entry.keywords)
        )
    }
    assert {hit.id for hit in hits} == wanted
    # And nothing that git finds is missed for another reason than its own trailers' names.
    for missed in grepped(store, keyword) - wanted:
        message = git(store.path, "log", "-1", "--format=%B", missed)
        lines = [line for line in message.splitlines() if needle in line]
        assert all(line.startswith("GitMemo-") or needle not in norm(line) for line in lines)
