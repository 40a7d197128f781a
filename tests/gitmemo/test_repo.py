"""History as git tells it: the walk, the changes, the state of the tree, objects and packs."""

import os
import random

import pytest

from gitmemo import DamagedStore, Identity, PlainFolder
from gitmemo import repo as repo_room
from gitmemo.model import Change
from gitmemo.repo import Repo, tracked_under
from tests.support.memory import draft, git, project

WHO = Identity("A Tester", "tester@example.invalid")


def put(mem: str, path: str, text: str | None) -> None:
    full = os.path.join(mem, path)
    if text is None:
        os.unlink(full)
        return
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "w", encoding="utf-8") as file:
        file.write(text)


def wild_history(mem: str, seed: int) -> None:
    """Commits, branches and merges as persons make them; times that jump and repeat."""
    chance = random.Random(seed)
    git(mem, "init", "-q", "-b", "main")
    put(mem, "entries/.gitkeep", "")
    git(mem, "add", "-A")
    git(mem, "commit", "-q", "-m", "init")
    branches = ["main"]
    for n in range(24):
        branch = chance.choice(branches)
        git(mem, "switch", "-q", branch)
        act = chance.choice(["add", "add", "edit", "remove", "outside", "branch", "merge", "ours"])
        entries = [p for p in git(mem, "ls-files", "entries").split() if p.endswith(".md")]
        when = f"{1_700_000_000 + chance.randint(0, 6) * 1000} +0000"
        dated = ["-c", "user.name=x", "-c", "user.email=x@y"]
        if act == "branch":
            branches.append(f"b{n}")
            git(mem, "branch", f"b{n}")
            continue
        if act in ("merge", "ours"):
            strategy = ["-s", "ours"] if act == "ours" else ["-X", "ours"]
            other = chance.choice(branches)
            git(mem, *dated, "merge", "-q", "--no-ff", *strategy, "-m", f"m{n}", other, check=False)
            git(mem, "add", "-A")
            git(mem, *dated, "commit", "-q", "-m", f"m{n}", check=False)
            continue
        if act == "add" or not entries:
            put(mem, f"entries/2026/01/{n % 3:02}/e{n}.md", f"{n}")
        elif act == "outside":
            put(mem, "README.md", f"{n}")
        else:
            put(mem, chance.choice(entries), None if act == "remove" else f"edited {n}")
        git(mem, "add", "-A")
        git(mem, *dated, "commit", "-q", "--date", when, "-m", f"c{n}")
    git(mem, "switch", "-q", "main")


@pytest.mark.parametrize("seed", range(3))
def test_the_walk_is_git_logs_own(tmp_path: object, seed: int) -> None:
    mem = f"{tmp_path}/.mem"
    os.makedirs(mem)
    wild_history(mem, seed)
    repo = Repo(mem)
    tip = repo.tip()
    log = git(
        mem, "log", "main", "--format=%x01%H", "--name-status", "--no-renames", "--", "entries/"
    )
    wanted = []
    for record in log.split("\x01")[1:]:
        commit, *changes = record.split("\n")
        sides = {side: tuple(c[2:] for c in changes if c.startswith(side)) for side in "ADM"}
        wanted.append((commit, sides["A"], sides["D"], sides["M"]))
    assert [(r.id, r.added, r.removed, r.modified) for r in repo.walk(tip)] == wanted
    for path in git(mem, "ls-files", "entries").split():
        assert (
            repo.last_touch(tip, path)
            == git(mem, "log", "-1", "--format=%H", "main", "--", path).strip()
        )
    assert repo.files(tip) == frozenset(git(mem, "ls-files", "entries").split())


def test_what_came_since_is_told_where_history_is_one_line(tmp_path: object) -> None:
    store = project(tmp_path)
    base = store.tip()
    ids = [store.write(draft(f"entry {n}")).id for n in range(3)]
    repo = Repo(store.path)
    since = repo.since(base, ids[-1])
    assert since is not None
    assert [raw.id for raw in since] == ids[::-1]
    assert repo.since(ids[-1], base) is None
    assert repo.since(ids[0], ids[0]) == []


def test_dirt_is_what_git_status_says(tmp_path: object) -> None:
    store = project(tmp_path)
    wrote = store.write(draft("one"))
    gone = store.write(draft("two"))
    put(store.path, "entries/new/untracked.md", "x")
    put(store.path, wrote.file, "edited")
    put(store.path, gone.file, None)
    put(store.path, "staged.txt", "x")
    put(store.path, "ignored.tmp", "x")
    put(store.path, ".git/info/exclude", "*.tmp\n")
    git(store.path, "add", "staged.txt")
    said = git(store.path, "status", "--porcelain", "--untracked-files=all")
    assert set(Repo(store.path).dirt()) == {line[3:] for line in said.splitlines()}


def test_a_commit_holds_exactly_the_change(tmp_path: object) -> None:
    store = project(tmp_path)
    wrote = store.write(draft("one"))
    repo = Repo(store.path)
    change = Change(
        "replace", (("entries/2030/01/01/n.md", b"new\r\n"),), (wrote.file,), "m\n", None
    )
    commit = repo.write_commit(change, base=repo.tip(), identity=WHO, now_s=1_790_000_000)
    shown = git(
        store.path, "show", "--format=%an <%ae>%n%ct%n%B", "--name-status", "--no-renames", commit
    )
    assert shown.split("\n") == [
        "A Tester <tester@example.invalid>",
        "1790000000",
        "m",
        "",
        "",
        f"D\t{wrote.file}",
        "A\tentries/2030/01/01/n.md",
        "",
    ]
    assert repo.file(commit, "entries/2030/01/01/n.md") == b"new\r\n"
    # A folder that has lost its last file is gone, as git would have it.
    assert git(store.path, "ls-tree", "--name-only", f"{commit}:entries/") == ".gitkeep\n2030\n"
    assert repo.tip() == wrote.id


def test_many_loose_objects_are_packed_and_all_stays_readable(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repo_room, "_LOOSE_LIMIT", 1)
    store = project(tmp_path)
    ids = [store.write(draft(f"entry {n}")).id for n in range(5)]
    objects = os.path.join(store.path, ".git", "objects")
    crowd = os.path.join(objects, "17")
    repo = Repo(store.path)
    n = 0
    while not os.path.isdir(crowd):
        repo._git.create_blob(f"{n}".encode())
        n += 1
    repo.tidy()
    assert not os.path.isdir(crowd) or os.listdir(crowd) == []
    assert any(name.endswith(".pack") for name in os.listdir(f"{objects}/pack"))
    assert [store.read(id_).title for id_ in ids] == [f"entry {n}" for n in range(5)]
    store.write(draft("afterwards"))
    assert git(store.path, "fsck", "--strict", "--no-dangling") == ""


def test_what_is_no_repository_of_its_own_is_refused(tmp_path: object) -> None:
    git(str(tmp_path), "init", "-q", "-b", "main")
    os.makedirs(f"{tmp_path}/.mem")
    with pytest.raises(PlainFolder):
        Repo(f"{tmp_path}/.mem")


def test_a_main_that_names_a_missing_commit_is_damage(tmp_path: object) -> None:
    store = project(tmp_path)
    with open(os.path.join(store.path, ".git/refs/heads/main"), "w", encoding="ascii") as file:
        file.write("1" * 40 + "\n")
    with pytest.raises(DamagedStore):
        Repo(store.path).tip()
    for act in (lambda: store.search(["x"]), lambda: store.write(draft())):
        with pytest.raises(DamagedStore):
            act()


def test_a_message_in_another_encoding_is_read_as_text(tmp_path: object) -> None:
    mem = str(tmp_path)
    git(mem, "init", "-q", "-b", "main")
    git(mem, "-c", "i18n.commitEncoding=latin-1", "commit", "-q", "--allow-empty", "-m", "x")
    raw = git(mem, "cat-file", "commit", "main").replace("\nx\n", "\ncafé\n")
    path = f"{tmp_path}/raw"
    with open(path, "w", encoding="latin-1") as file:
        file.write(raw)
    commit = git(mem, "hash-object", "-t", "commit", "-w", path).strip()
    assert Repo(mem).raw(commit).message == "café\n"


def test_tracked_paths_are_named_and_lookalikes_are_not(tmp_path: object) -> None:
    root = str(tmp_path)
    git(root, "init", "-q", "-b", "main")
    for path in (".memory/x", "a/.mem/y", ".mem2"):
        put(root, path, "x")
    git(root, "add", "-A")
    assert tracked_under(os.path.join(root, ".git", "index"), ".mem") is None
    put(root, ".mem/deep/z", "x")
    git(root, "add", "-A")
    git(root, "update-index", "--index-version", "4")
    assert tracked_under(os.path.join(root, ".git", "index"), ".mem") == ".mem/deep/z"
