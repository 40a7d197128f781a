"""Every shape of a store that the format allows, made by git alone: read, and written on.

What is not allowed is refused by its name, with nothing touched. Older formats are not here.
"""

import os
from collections.abc import Callable

import pytest

import gitmemo
from gitmemo import Kind, Mode, Store
from tests.support import foreign
from tests.support.foreign import Engine, entry_file, expect, message
from tests.support.memory import assert_sound, draft, files, git, reopened


@pytest.fixture
def engine(tmp_path: object) -> Engine:
    """A store that the other engine has founded."""
    root = f"{tmp_path}/project"
    os.makedirs(root)
    git(root, "init", "-q", "-b", "main")
    return foreign.found(root)


def add(engine: Engine, title: str, path: str = "", *, tail: str = "", **fields: str) -> str:
    """An entry by a plain commit; `tail` follows its message."""
    keys = fields.pop("keys", "")
    extra = tuple(fields.pop("extra", "").splitlines())
    said = message(title, extra=extra, **fields) + tail
    text = entry_file(title, keys=keys, **fields)
    return foreign.commit(
        engine.mem, said, add={path or f"entries/{title.replace(' ', '-')}.md": text}
    )


def found(store: Store, *, mode: Mode = Mode.TRAILER) -> set[str]:
    return {hit.id for hit in store.search(["foreign"], mode=mode, limit=100).hits}


def written_on(store: Store, engine: Engine, old: str) -> None:
    """The store takes a replacement, a withdrawal and a new entry, and the other engine agrees."""
    file = engine.active_file(old)
    new = store.replace(old, draft("replaced"))
    expect(engine, new.id, new.file, removed=[file])
    store.delete(new.id, "no longer")
    last = store.write(draft("written on"))
    expect(engine, last.id, last.file)
    assert_sound(store)


@pytest.mark.parametrize(
    "path",
    [
        "entries/flat.md",
        "entries/2026/08/23/dated.md",
        "entries/a/b/c/d/e/deep.md",
        "entries/with blank (1).md",
        "entries/记忆.md",
        "entries/.hidden.md",
    ],
)
def test_an_entry_may_lie_anywhere_below_entries(engine: Engine, path: str) -> None:
    first = add(engine, "beside", "entries/beside.md")
    entry = add(engine, "somewhere", path)
    store = Store.open(engine.root)
    for mode in Mode:
        assert found(store, mode=mode) == {first, entry}
    assert store.read(entry).file == path
    written_on(store, engine, first) if not path.isascii() else written_on(store, engine, entry)
    store.delete(entry, "done") if not path.isascii() else None
    assert not os.path.exists(os.path.join(store.path, path))
    assert_sound(store)


SAID = {
    "extra trailers": ({"extra": "GitMemo-Anchor: sha256:00 a.py\nGitMemo-X9-y: what"}, True),
    "extra keys": ({"keys": 'confidence: 0.5\nauthor: "x"\nanchors: ["sha256:00 a.py"]'}, True),
    "no kind line": ({"kind": "task", "keys": ""}, True),
    "a sign-off after the block": ({"tail": "Signed-off-by: A <a@b>\n"}, False),
    "a change id after the block": ({"tail": "\nChange-Id: I123\n"}, False),
    "a trailer in lower case": ({"extra": "gitmemo-extra: x"}, False),
}


@pytest.mark.parametrize("name", SAID)
def test_what_else_a_message_or_a_head_may_say(engine: Engine, name: str) -> None:
    fields, seen = SAID[name]
    entry = add(engine, "one", **fields)
    store = Store.open(engine.root)
    assert found(store) == ({entry} if seen else set())
    assert store.read(entry).title == "one"
    assert store.read(entry).active or not seen
    if seen:
        written_on(store, engine, entry)
    else:
        store.write(draft("beside the hidden one"))
        assert_sound(store)


def test_an_entry_of_the_first_build_has_no_kind_and_is_a_task(engine: Engine) -> None:
    said = message("early", digest_kind="")
    entry = foreign.commit(engine.mem, said, add={"entries/early.md": entry_file("early", kind="")})
    store = Store.open(engine.root)
    assert store.read(entry).kind is Kind.TASK
    assert found(store) == {entry}
    written_on(store, engine, entry)


def test_an_entry_that_a_merge_brought_itself_is_invisible_to_both(engine: Engine) -> None:
    git(engine.mem, "checkout", "-q", "-b", "side")
    side = add(engine, "side")
    git(engine.mem, "checkout", "-q", "main")
    main = add(engine, "main")
    git(engine.mem, "merge", "-q", "--no-ff", "--no-commit", "side")
    evil = add(engine, "evil")
    assert len(git(engine.mem, "show", "-s", "--format=%P", evil).split()) == 2
    git(engine.mem, "branch", "-q", "-D", "side")
    store = Store.open(engine.root)
    assert found(store) == {side, main}
    written_on(store, engine, side)


def test_an_entry_that_was_edited_by_a_commit_can_be_read_and_not_changed(engine: Engine) -> None:
    entry = add(engine, "edited", "entries/edited.md")
    foreign.commit(engine.mem, "by hand\n", add={"entries/edited.md": entry_file("changed")})
    store = Store.open(engine.root)
    assert store.read(entry).title == "edited"
    with pytest.raises(foreign.Refused):
        engine.active_file(entry)
    for act in (
        lambda: store.replace(entry, draft("x")),
        lambda: store.delete(entry, "r"),
    ):
        with pytest.raises(gitmemo.NotActive):
            act()
    store.write(draft("others can be"))
    assert_sound(store)


def packed_refs(engine: Engine) -> None:
    git(engine.mem, "pack-refs", "--all", "--prune")
    assert not os.path.exists(f"{engine.git_dir}/refs/heads/main")


def collected(engine: Engine) -> None:
    git(engine.mem, "gc", "-q", "--aggressive", "--prune=now")


def graphed(engine: Engine) -> None:
    git(engine.mem, "commit-graph", "write", "--reachable", "--changed-paths")
    git(engine.mem, "repack", "-q", "-adb", "--write-midx")


def borrowed(engine: Engine) -> None:
    """Its objects lie in another repository."""
    other = f"{engine.root}-objects"
    git(engine.root, "clone", "-q", "--bare", engine.mem, other)
    with open(f"{engine.git_dir}/objects/info/alternates", "w", encoding="utf-8") as file:
        file.write(f"{other}/objects\n")
    git(engine.mem, "repack", "-q", "-adl")
    git(engine.mem, "prune-packed")


def cloned(engine: Engine) -> None:
    """A clone has packed refs, a remote and none of the settings of a store founded here."""
    os.rename(engine.mem, f"{engine.root}-origin")
    git(engine.root, "clone", "-q", f"{engine.root}-origin", ".mem")


def crowded(engine: Engine) -> None:
    """Other branches, tags, notes, backups, a stash and a worktree of its own."""
    git(engine.mem, "branch", "side")
    git(engine.mem, "tag", "-a", "-m", "t", "v1")
    git(engine.mem, "update-ref", "refs/gitmemo/backup/1/main", "HEAD")
    git(engine.mem, "notes", "add", "-m", "note", "HEAD")
    git(engine.mem, "worktree", "add", "-q", f"{engine.root}-tree", "side")


def old_index(engine: Engine) -> None:
    git(engine.mem, "update-index", "--index-version=4", "--force-write-index")


def no_reflog(engine: Engine) -> None:
    git(engine.mem, "reflog", "expire", "--expire=now", "--all")
    git(engine.mem, "config", "core.logAllRefUpdates", "false")


SHAPES = (packed_refs, collected, graphed, borrowed, cloned, crowded, old_index, no_reflog)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_however_git_keeps_it_a_store_is_read_and_written(
    engine: Engine, shape: Callable[[Engine], None]
) -> None:
    flat, dated = add(engine, "flat"), add(engine, "dated", "entries/2026/08/23/dated.md")
    gone = engine.write("gone")
    engine.delete(gone)
    newer = engine.replace(flat, "newer")
    shape(engine)
    before = files(engine.mem)
    store = Store.open(engine.root)
    for mode in Mode:
        assert found(store, mode=mode) == {dated, newer}
    assert store.read(gone).withdrawn == "no longer"
    assert store.read(flat).current == (newer,)
    assert len(store.history()) == 5
    assert files(engine.mem) == before
    written_on(store, engine, newer)
    assert found(reopened(store)) == {dated}


# -- what is no store that could be read or written ------------------------------------------------


def main_lost(engine: Engine) -> None:
    os.unlink(f"{engine.git_dir}/refs/heads/main")


def main_unknown(engine: Engine) -> None:
    with open(f"{engine.git_dir}/refs/heads/main", "w", encoding="utf-8") as file:
        file.write("7" * 40 + "\n")


def main_garbage(engine: Engine) -> None:
    with open(f"{engine.git_dir}/refs/heads/main", "w", encoding="utf-8") as file:
        file.write("not a hash\n")


def main_a_blob(engine: Engine) -> None:
    blob = git(engine.mem, "rev-parse", "HEAD:.gitmemo-format").strip()
    with open(f"{engine.git_dir}/refs/heads/main", "w", encoding="utf-8") as file:
        file.write(f"{blob}\n")


@pytest.mark.parametrize(
    "harm", [main_lost, main_unknown, main_garbage, main_a_blob], ids=lambda harm: harm.__name__
)
def test_a_main_that_is_no_commit_is_damage_and_nothing_is_touched(
    engine: Engine, harm: Callable[[Engine], None]
) -> None:
    entry = add(engine, "one")
    harm(engine)
    before = files(engine.mem)
    for act in (
        lambda: Store.open(engine.root).search(["foreign"]),
        lambda: Store.open(engine.root).read(entry),
        lambda: Store.open(engine.root).write(draft("two")),
    ):
        with pytest.raises(gitmemo.DamagedStore):
            act()
    after = files(engine.mem)
    new = {os.path.basename(path) for path in after.keys() - before.keys()}
    assert new <= {"gitmemo.lock"}
    kept = {path: state.data for path, state in after.items()}
    assert {path: kept[path] for path in before} == {p: s.data for p, s in before.items()}


@pytest.mark.parametrize("head", ["detached", "another branch", "an unborn branch"])
def test_a_head_elsewhere_is_read_and_not_written(engine: Engine, head: str) -> None:
    entry = add(engine, "one")
    if head == "detached":
        git(engine.mem, "checkout", "-q", "--detach")
    elif head == "another branch":
        git(engine.mem, "checkout", "-q", "-b", "other")
    else:
        git(engine.mem, "symbolic-ref", "HEAD", "refs/heads/unborn")
    store = Store.open(engine.root)
    assert found(store) == {entry}
    assert store.read(entry).active
    with pytest.raises(gitmemo.DamagedStore) as refused:
        store.write(draft("two"))
    assert refused.value.detail == "head-elsewhere"
    git(engine.mem, "symbolic-ref", "HEAD", "refs/heads/main")
    store.write(draft("two"))
    assert_sound(store)
