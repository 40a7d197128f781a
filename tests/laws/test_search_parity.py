"""One answer, however it is come by: from the index, without it, or from git itself."""

import os
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmemo import Draft, Kind, Mode, Page, Store, norm
from tests.support.memory import Clock, git, project, reopened

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
SETTINGS = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])


class Step(NamedTuple):
    """One change: a draft's parts, and which older entry it replaces or withdraws (modulo)."""

    title: str
    summary: str
    keywords: list[str]
    kind: Kind
    act: str
    which: int


STEPS = st.lists(
    st.builds(
        Step,
        TEXTS.filter(str.strip),
        TEXTS.filter(str.strip),
        KEYWORDS,
        st.sampled_from(Kind),
        st.sampled_from(["write", "write", "replace", "delete"]),
        st.integers(0, 9),
    ),
    min_size=3,
    max_size=9,
)


def played(store: Store, steps: list[Step]) -> None:
    living: list[str] = []
    for n, step in enumerate(steps):
        links = "".join(f"[[{entry_id[:12]}]] " for entry_id in living[:3])
        draft = Draft(
            f"{step.title} {n}", step.summary, tuple(step.keywords), f"{links}body {n}", step.kind
        )
        if not living or step.act == "write":
            living.append(store.write(draft).id)
            continue
        old = living.pop(step.which % len(living))
        if step.act == "replace":
            living.append(store.replace(old, draft).id)
        else:
            store.delete(old, "reason")


def answers(store: Store, queries: list[str], snapshot: str | None) -> list[Page]:
    return [
        store.search(queries, mode=mode, snapshot=snapshot, include_inactive=inactive, limit=50)
        for mode in Mode
        for inactive in (False, True)
    ]


@SETTINGS
@given(steps=STEPS, queries=QUERIES, cut=st.integers(0, 9))
def test_the_index_answers_as_history_does(
    tmp_path_factory: pytest.TempPathFactory, steps: list[Step], queries: list[str], cut: int
) -> None:
    clock = Clock(step=0.0)
    store = project(tmp_path_factory.mktemp("parity"), clock=clock)
    path = os.path.join(store.path, ".git", "gitmemo-index.db")
    played(store, steps[:cut])
    store.write(Draft("between", "the two", ("b1", "b2"), "x"))
    with open(path, "rb") as file:
        older = file.read()
    played(store, [step._replace(title=step.title + " later") for step in steps[cut:]])
    commits = git(store.path, "rev-list", "main").split()
    snapshots = [None, commits[len(commits) // 2]]
    extended = [answers(reopened(store, clock=clock), queries, snap) for snap in snapshots]
    with open(path, "wb") as file:  # as if another engine had written since
        file.write(older)
    behind = [answers(reopened(store, clock=clock), queries, snap) for snap in snapshots]
    os.unlink(path)
    without = [answers(reopened(store, clock=clock), queries, snap) for snap in snapshots]
    assert extended == behind == without


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
    store = project(tmp_path_factory.mktemp("grep"))
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
