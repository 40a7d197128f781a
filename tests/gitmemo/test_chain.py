"""What became of an entry: against the histories of another engine, and against a list model."""

import json
import os
import subprocess
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmemo import chain, trailers
from gitmemo.model import Act, EntryId, Event, Kind

GOLDEN = os.path.join(os.path.dirname(os.path.dirname(__file__)), "golden", "gitmemo")
Expected = dict[str, Any]


class History:
    """A golden store, read with the git program: its commits newest first, its files, and what
    the other engine said of it."""

    def __init__(self, name: str, folder: str) -> None:
        with open(os.path.join(GOLDEN, f"{name}.expected.json"), encoding="utf-8") as file:
            self.expected: Expected = json.load(file)
        run("clone", "-q", "-b", "main", os.path.join(GOLDEN, f"{name}.bundle"), folder)
        self.files = set(run("-C", folder, "ls-tree", "-rz", "--name-only", "main").split("\0"))
        log = run(
            *("-C", folder, "log", "-z", "main", "--no-renames", "--name-status"),
            "--format=%x01%H%x00%P%x00%ct%x00%an <%ae>%x00%B%x00",
        )
        self.commits = [read_commit(record) for record in log.split("\x01")[1:]]

    def id(self, name: str) -> EntryId:
        return EntryId(self.expected["names"][name])


def run(*args: str) -> str:
    env = {"PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1", "HOME": "/nonexistent"}
    done = subprocess.run(["git", *args], capture_output=True, check=True, env=env)
    return done.stdout.decode()


def read_commit(record: str) -> chain.Commit:
    hash_, parents, time, author, message, *changes = record.split("\0")
    changes = [field.lstrip("\n") for field in changes if field.strip("\n")]
    status = list(zip(changes[::2], changes[1::2], strict=True))
    return chain.Commit(
        id=EntryId(hash_),
        parents=tuple(map(EntryId, parents.split())),
        time=int(time),
        author=author,
        message=trailers.parse(message),
        added=tuple(path for letter, path in status if letter == "A"),
        removed=tuple(path for letter, path in status if letter == "D"),
    )


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> History:
    return History("repo", str(tmp_path_factory.mktemp("plain") / "mem"))


@pytest.fixture(scope="module")
def merged(tmp_path_factory: pytest.TempPathFactory) -> History:
    return History("merged", str(tmp_path_factory.mktemp("merged") / "mem"))


def events(commits: list[chain.Commit]) -> list[Event]:
    """The commits as the store tells them."""
    return [
        Event(one.id, said.type, "", said.subject, "", said.replaces or said.deletes, said.summary)
        for one in commits
        for said in [one.message]
        if said.type is not None
    ]


def trail(history: History, start: EntryId) -> chain.Trail:
    return chain.follow(
        start,
        following=chain.successors(events(history.commits)),
        living=set(chain.active(history.commits, history.files).values()),
        known={commit.id for commit in history.commits if chain.claim(commit)},
        withdrawn=chain.withdrawals(events(history.commits)),
    )


# -- a history of another engine -------------------------------------------------------------------


def test_every_active_file_has_its_commit_but_the_hidden_one(plain: History) -> None:
    living = chain.active(plain.commits, plain.files)
    listed = {path for path in plain.expected["active_files"] if chain.is_entry_path(path)}
    hidden = listed - living.keys()
    assert living.keys() < listed
    assert [path.rpartition("-hidden-")[2] for path in hidden] == ["sign-off-after-the-block.md"]
    by_name = {step["name"]: step for step in plain.expected["operations"]}
    found = {living[path] for path in living}
    assert plain.id("retry5") in found
    assert plain.id("retry1") not in found
    assert by_name["retry5"]["result"]["file"] in living


def test_a_chain_of_replacements_is_followed_to_its_end(plain: History) -> None:
    for name in ("retry1", "retry2", "retry3", "retry4", "retry5"):
        assert trail(plain, plain.id(name)) == ((plain.id("retry5"),), (), False, ())


def test_a_withdrawn_entry_ends_at_its_withdrawal(plain: History) -> None:
    gone = chain.withdrawals(events(plain.commits))
    assert gone
    for target, commit in gone.items():
        assert trail(plain, target) == ((), (commit,), False, ())


def test_every_entry_of_the_history_has_an_end(plain: History) -> None:
    for commit in plain.commits:
        if chain.claim(commit):
            found = trail(plain, commit.id)
            assert found.ends or found.withdrawn
            assert not found.cycle
            assert not found.gaps


# -- two histories merged --------------------------------------------------------------------------


def test_an_entry_replaced_on_both_sides_has_two_ends(merged: History) -> None:
    after = chain.successors(events(merged.commits))
    forked = [old for old, new in after.items() if len(new) == 2]
    assert forked
    for old in forked:
        assert set(trail(merged, old).ends) == set(after[old])


def test_a_replacement_beats_a_withdrawal_of_the_other_side(merged: History) -> None:
    both = (
        chain.withdrawals(events(merged.commits)).keys()
        & chain.successors(events(merged.commits)).keys()
    )
    assert both
    for old in both:
        found = trail(merged, old)
        assert found.ends
        assert found.withdrawn == ()


def test_a_file_added_on_both_sides_is_the_newest_commits(merged: History) -> None:
    living = chain.active(merged.commits, merged.files)
    left, right = merged.id("TL"), merged.id("TR")
    assert right in living.values()
    assert left not in living.values()


# -- damage, and a model ---------------------------------------------------------------------------


def commit(n: int, act: Act | None = Act.ADD, old: int | None = None, *files: str) -> chain.Commit:
    message = trailers.parse("")._replace(
        type=act,
        replaces=hex_id(old) if act is Act.REPLACE and old is not None else None,
        deletes=hex_id(old) if act is Act.DELETE and old is not None else None,
        kind=Kind.TASK,
    )
    return chain.Commit(hex_id(n), (), n, "", message, files or (f"entries/{n}.md",), ())


def hex_id(n: int) -> EntryId:
    return EntryId(f"{n:040x}")


def test_a_circle_is_a_value_and_ends_the_walk() -> None:
    following = {hex_id(1): (hex_id(2),), hex_id(2): (hex_id(1), hex_id(3))}
    found = chain.follow(
        hex_id(1), following=following, living={hex_id(3)}, known=set(), withdrawn={}
    )
    assert found == ((hex_id(3),), (), True, ())


def test_a_successor_that_history_lacks_is_a_gap() -> None:
    found = chain.follow(
        hex_id(1), following={hex_id(1): (hex_id(9),)}, living=(), known={hex_id(1)}, withdrawn={}
    )
    assert found == ((), (), False, (hex_id(9),))


def test_a_very_long_chain_is_followed() -> None:
    following = {hex_id(n): (hex_id(n + 1),) for n in range(5000)}
    found = chain.follow(
        hex_id(0), following=following, living={hex_id(5000)}, known=(), withdrawn={}
    )
    assert found.ends == (hex_id(5000),)


@pytest.mark.parametrize(
    ("made", "file"),
    [
        (commit(1), "entries/1.md"),
        (commit(1, Act.REPLACE, 0), "entries/1.md"),
        (commit(1, Act.ADD, None, "entries/2026/09/01/x.md"), "entries/2026/09/01/x.md"),
        (commit(1, Act.ADD, None, "entries/.gitkeep", "entries/a.md"), "entries/a.md"),
        (commit(1, Act.ADD, None, "entries/a.md", "entries/b.md"), None),
        (commit(1, Act.ADD, None, "notes/a.md"), None),
        (commit(1, Act.ADD, None, "entries/.md"), None),
        (commit(1, Act.DELETE, 0), None),
        (commit(1, None), None),
    ],
)
def test_a_commit_claims_the_one_entry_it_adds(made: chain.Commit, file: str | None) -> None:
    assert chain.claim(made) == file


@given(st.lists(st.tuples(st.sampled_from(Act), st.integers(0, 30)), max_size=25))
def test_a_linear_history_equals_a_list_of_living_entries(steps: list[tuple[Act, int]]) -> None:
    """The model: a list that each step appends to, or takes its own target out of."""
    alive: list[int] = []
    became: dict[int, int | None] = {}
    commits: list[chain.Commit] = []
    for n, (act, pick) in enumerate(steps, start=1):
        old = alive.pop(pick % len(alive)) if act is not Act.ADD and alive else None
        act_ = act if old is not None else Act.ADD
        commits.insert(0, commit(n, act_, old))
        if old is not None:
            became[old] = n if act_ is Act.REPLACE else None
        if act_ is not Act.DELETE:
            alive.append(n)
    living = chain.active(commits, {f"entries/{n}.md" for n in alive})
    assert living == {f"entries/{n}.md": hex_id(n) for n in alive}
    for n in range(1, len(steps) + 1):
        at: int | None = n
        while at in became and at is not None:
            at = became[at]
        if chain.claim(commits[len(steps) - n]):
            found = chain.follow(
                hex_id(n),
                following=chain.successors(events(commits)),
                living=set(living.values()),
                known={c.id for c in commits},
                withdrawn=chain.withdrawals(events(commits)),
            )
            assert found.ends == (() if at is None else (hex_id(at),))
            assert bool(found.withdrawn) == (at is None)
