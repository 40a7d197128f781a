"""One store, two engines, turn by turn: each accepts, changes and recovers what the other left.

The other engine is the small one of tests/support/foreign.py, made from the format's description
with the git program alone; the stores it begins with were recorded from the real one.
"""

import json
import os
import shutil
from datetime import datetime

import pytest

import gitmemo
from gitmemo import Draft, Store
from gitmemo.intent import RECORD
from tests.support import foreign
from tests.support.foreign import Engine, expect
from tests.support.memory import GOLDEN, assert_sound, draft, git, golden, project, reopened

UNFINISHED = foreign.PHASES[:-1]


def recorded(name: str, folder: object) -> Store:
    """A recorded store, with the clock a little after its last change."""
    with open(os.path.join(GOLDEN, f"{name}.expected.json"), encoding="utf-8") as file:
        now = datetime.fromisoformat(json.load(file)["now"]).timestamp()
    return golden(name, folder, now=now + 60)


def living(store: Store) -> set[str]:
    page = store.search(["memory", "foreign", "cache", "a"], mode=gitmemo.Mode.TRAILER, limit=500)
    return {hit.id for hit in page.hits}


def a_recorded_entry(store: Store) -> str:
    """A living entry that the other engine has written and would change."""
    for event in store.history():
        if event.act is not gitmemo.Act.DELETE and store.read(event.id).active:
            return event.id
    raise AssertionError("nothing lives")


@pytest.mark.parametrize("name", ["repo", "merged"])
def test_turn_by_turn_each_engine_changes_what_the_other_has_written(
    tmp_path: object, name: str
) -> None:
    store = recorded(name, tmp_path)
    engine = Engine(store.root)
    old = a_recorded_entry(store)
    old_file = engine.active_file(old)
    one = store.replace(old, draft("ours for theirs"))
    expect(engine, one.id, one.file, removed=[old_file])
    two = store.write(draft("ours", content="# a\n---\nGitMemo-Type: add\n\n"))
    expect(engine, two.id, two.file)
    three = engine.replace(two.id, "theirs for ours")
    assert store.read(two.id).current == (three,)
    four = store.replace(three, draft("ours again"))
    expect(engine, four.id, four.file, removed=[foreign.path_of("theirs for ours")])
    five = engine.write("theirs", folder="entries/2026/08/23")
    engine.delete(one.id)
    assert store.read(one.id).withdrawn == "no longer"
    gone = store.delete(five, "ours to say")
    engine.refuse_unfit()
    assert git(store.path, "show", "--name-status", "--format=", gone) == (
        f"D\t{foreign.path_of('theirs', 'entries/2026/08/23')}\n"
    )
    with pytest.raises(foreign.Refused, match="not the active entry"):
        engine.active_file(five)
    assert four.id in living(store)
    assert not {one.id, two.id, three, five} & living(store)
    assert_sound(store)


def test_each_engine_knows_the_others_duplicates(tmp_path: object) -> None:
    store = project(tmp_path)
    engine = Engine(store.root)
    same = Draft("twin", "About it.", ("memory", "foreign"), "text\n")
    theirs = engine.write("twin")
    with pytest.raises(gitmemo.Duplicate) as refused:
        store.write(same)
    assert refused.value.entry_id == theirs
    store.delete(theirs, "to say it again")
    ours = store.write(same)
    assert f"sha256:{foreign.digest(*same[:4], 'task')}" in git(
        store.path, "show", "-s", "--format=%B", ours.id
    )
    # The first build of the format took the digest without the kind.
    first = foreign.message("early", digest_kind="")
    early = foreign.commit(store.path, first, add={"entries/early.md": foreign.entry_file("early")})
    with pytest.raises(gitmemo.Duplicate) as refused:
        store.write(same._replace(title="early"))
    assert refused.value.entry_id == early


@pytest.mark.parametrize("folder", ["entries", "entries/2026/08/23"], ids=["flat", "dated"])
@pytest.mark.parametrize("act", ["write", "replace", "delete"])
def test_what_the_other_engine_began_is_ended_from_every_phase(
    tmp_path: object, act: str, folder: str
) -> None:
    store = project(tmp_path)
    engine = Engine(store.root)
    for phase in UNFINISHED:
        old = engine.write(f"before {phase}", folder=folder)
        base = engine.head()
        if act == "write":
            engine.write(f"new {phase}", folder=folder, until=phase)
        elif act == "replace":
            engine.replace(old, f"new {phase}", folder=folder, until=phase)
        else:
            engine.delete(old, until=phase)
        done = phase == "committed"
        again = reopened(store)
        assert (again.tip() != base) == done  # readers see one of the two at once
        assert again.read(old).active == (act == "write" or not done)
        ours = again.write(draft(f"ours after {phase}"))
        expect(engine, ours.id, ours.file)
        assert again.read(old).active == (act == "write" or not done)
        titles = {hit.title for hit in again.search(["memory"], limit=100).hits}
        assert (f"new {phase}" in titles) == (done and act != "delete")
        assert_sound(again)


STATES = {
    "nothing was done": ("", "base", "back"),
    "a planned file is there": ("planned", "base", "back"),
    "a planned file is there and staged": ("staged", "base", "back"),
    "somebody's file is there too": ("foreign", "base", "refused"),
    "main is the planned commit": ("", "done", "forward"),
    "main is the planned commit and somebody's file is there": ("foreign", "done", "refused"),
    "main is another commit": ("", "other", "refused"),
    "the record is half of one": ("half", "base", "refused"),
    "the record names nothing": ("{}", "base", "refused"),
}


@pytest.mark.parametrize("name", STATES)
def test_both_engines_end_an_interrupted_change_alike(tmp_path: object, name: str) -> None:
    state, main, way = STATES[name]
    store = project(f"{tmp_path}/project")
    engine, base = Engine(store.root), store.tip()
    if main == "done":
        engine.write("planned")
    elif main == "other":
        engine.write("another")
    path = foreign.path_of("planned")
    body = {"baseHead": base, "add": [path], "delete": [], "operation": "write"}
    text = {"half": '{"baseHead": "', "{}": "{}"}.get(state, json.dumps(body))
    plant(os.path.join(engine.git_dir, RECORD), text)
    if state in ("planned", "staged"):
        plant(os.path.join(store.path, path), foreign.entry_file("planned"))
    if state == "staged":
        git(store.path, "add", path)
    if state == "foreign":
        plant(os.path.join(store.path, "entries/mine.md"), "mine")
    theirs = Engine(f"{tmp_path}/copy")
    os.makedirs(theirs.root)
    copy_tree(store.root, theirs.root)
    if way == "refused":
        with pytest.raises(foreign.Refused):
            theirs.recover()
        with pytest.raises(gitmemo.DamagedStore):
            reopened(store).write(draft("next"))
        assert os.path.exists(os.path.join(engine.git_dir, RECORD))
        return
    assert theirs.recover() == way
    reopened(store).write(draft("next"))
    listed = [
        {p for p in git(mem, "ls-files").splitlines() if p == path}
        for mem in (store.path, theirs.mem)
    ]
    assert listed[0] == listed[1] == ({path} if way == "forward" else set())
    assert_sound(store)


def plant(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def copy_tree(source: str, target: str) -> None:
    shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)


# -- two histories ---------------------------------------------------------------------------------


def test_two_clones_that_both_wrote_are_merged_by_git_and_written_on(tmp_path: object) -> None:
    store = project(f"{tmp_path}/left")
    shared = [store.write(draft(f"shared {n}")) for n in range(4)]
    os.makedirs(f"{tmp_path}/right")
    git(f"{tmp_path}/right", "init", "-q", "-b", "main")
    git(f"{tmp_path}/right", "clone", "-q", store.path, ".mem")
    right = Store.open(f"{tmp_path}/right")
    both = [clone.replace(shared[0].id, draft(f"of {n}")) for n, clone in enumerate((store, right))]
    store.delete(shared[1].id, "left says no")
    newer = right.replace(shared[1].id, draft("right says better"))
    left_new, right_new = store.write(draft("left new")), right.write(draft("right new"))
    twins = [clone.write(draft("twin", content="same\n")) for clone in (store, right)]
    git(store.path, "pull", "-q", "--no-rebase", "--no-edit", "-Xfind-renames=100%", right.path)
    assert len(git(store.path, "show", "-s", "--format=%P", "main").split()) == 2
    # What neither side has changed, both new ones, both ends of the contested chain, a replacement
    # before a withdrawal, and of one thing said twice both.
    expected = {
        *(entry.id for entry in (*shared[2:], *both, newer, left_new, right_new, *twins)),
    }
    for opened in (reopened(store), store):
        assert {hit.id for hit in opened.search(["memory"], limit=100).hits} == expected
        assert set(opened.read(shared[0].id).current) == {both[0].id, both[1].id}
        assert opened.read(shared[1].id).current == (newer.id,)
    engine = Engine(store.root)
    engine.refuse_unfit()
    for entry in (*both, newer, left_new, right_new):
        assert engine.active_file(entry.id) == entry.file
    again = store.replace(both[0].id, draft("of both"))
    expect(engine, again.id, again.file, removed=[both[0].file])
    store.delete(both[1].id, "the other one stays")
    engine.replace(right_new.id, "theirs for the right one")
    assert {hit.title for hit in store.search(["memory"], limit=100).hits} >= {
        "of both",
        "theirs for the right one",
        "left new",
    }
    assert_sound(store)
