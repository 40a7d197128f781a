"""What is known of the working tree without looking at every file, and when it is not believed."""

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable

import pytest

from gitmemo import DirtyStore, Store
from gitmemo.repo import Repo
from gitmemo.seen import DAY_NS, Seen
from tests.support.memory import Clock, assert_sound, draft, git, project, reopened

TICK_S = 0.03  # longer than a tick of the clock that stamps files


@pytest.fixture
def store(tmp_path: object) -> Store:
    """Three entries of two days, older than the last tick, and noted."""
    store = project(tmp_path, clock=Clock(step=80_000.0))
    for n in range(3):
        store.write(draft(f"entry {n}"))
    time.sleep(TICK_S)
    store.write(draft("last"))
    time.sleep(TICK_S)
    return store


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """One item for each full status."""
    full: list[str] = []
    real = Repo.dirt

    def counted(repo: Repo) -> tuple[str, ...]:
        full.append(repo.mem)
        return real(repo)

    monkeypatch.setattr(Repo, "dirt", counted)
    return full


def base_of(store: Store) -> sqlite3.Connection:
    return sqlite3.connect(f"{store.path}/.git/gitmemo-index.db", isolation_level=None)


def knows(store: Store) -> bool:
    return Seen(store.path).holds(store.tip(), base_of(store))


def entry_file(store: Store, n: int = 0) -> str:
    names = git(store.path, "ls-files", "-z", "entries").split("\0")[:-1]
    return f"{store.path}/{[name for name in names if name.endswith('.md')][n]}"


def test_the_first_write_of_a_process_believes_what_the_last_writer_noted(
    store: Store, looks: list[str]
) -> None:
    reopened(store).write(draft("by another"))
    reopened(store).write(draft("and another"))
    store.write(draft("by the first again"))
    assert looks == []
    assert_sound(store)


def add_stray(store: Store) -> None:
    with open(f"{os.path.dirname(entry_file(store))}/stray.md", "w", encoding="utf-8"):
        pass


def add_stray_at_the_top(store: Store) -> None:
    with open(f"{store.path}/notes.txt", "w", encoding="utf-8"):
        pass


def add_folder(store: Store) -> None:
    os.makedirs(f"{store.path}/entries/2031/01")
    with open(f"{store.path}/entries/2031/01/x.md", "w", encoding="utf-8"):
        pass


def save_by_rename(store: Store) -> None:
    path = entry_file(store)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(f"{path}~", "w", encoding="utf-8") as file:
        file.write(text[:-2] + "!\n")
    os.replace(f"{path}~", path)


def remove_an_entry(store: Store) -> None:
    os.unlink(entry_file(store))


def remove_a_folder(store: Store) -> None:
    path = entry_file(store, -1)
    os.unlink(path)
    os.rmdir(os.path.dirname(path))


def stage_a_removal(store: Store) -> None:
    git(store.path, "rm", "-q", "--cached", entry_file(store))


def step_back_softly(store: Store) -> None:
    git(store.path, "reset", "-q", "--soft", "HEAD~1")


def put_a_link_in_its_place(store: Store) -> None:
    path = entry_file(store)
    os.rename(path, f"{store.root}/elsewhere.md")
    os.symlink(f"{store.root}/elsewhere.md", path)


def make_executable_by_rename(store: Store) -> None:
    path = entry_file(store)
    os.rename(path, f"{path}~")
    os.rename(f"{path}~", path)
    os.chmod(path, 0o755)


BY_HAND = (
    add_stray,
    add_stray_at_the_top,
    add_folder,
    save_by_rename,
    remove_an_entry,
    remove_a_folder,
    stage_a_removal,
    step_back_softly,
    put_a_link_in_its_place,
    make_executable_by_rename,
)


@pytest.mark.parametrize("act", BY_HAND)
@pytest.mark.parametrize("process", ["same", "other"])
def test_what_a_person_did_by_hand_is_seen_by_the_next_write(
    store: Store, act: Callable[[Store], None], process: str
) -> None:
    writer = store if process == "same" else reopened(store)
    act(store)
    before = git(store.path, "status", "--porcelain")
    with pytest.raises(DirtyStore):
        writer.write(draft("next"))
    assert git(store.path, "status", "--porcelain") == before


@pytest.mark.parametrize("act", [add_stray, save_by_rename, remove_an_entry])
def test_a_change_in_the_same_tick_as_our_own_is_seen(
    tmp_path: object, act: Callable[[Store], None]
) -> None:
    store = project(tmp_path)
    store.write(draft("one"))
    for n in range(10):
        store.write(draft(f"more {n}"))
        act(store)
        with pytest.raises(DirtyStore):
            store.write(draft("next"))
        git(store.path, "clean", "-fdq")
        git(store.path, "checkout", "-q", "--", ".")


def test_what_is_the_same_again_is_taken_back_without_a_full_look(
    store: Store, looks: list[str]
) -> None:
    path = entry_file(store)
    with open(path, "rb") as file:
        data = file.read()
    os.unlink(path)
    with open(path, "wb") as file:  # another file with the same bytes
        file.write(data)
    reopened(store).write(draft("next"))
    assert looks == []
    assert_sound(store)


def test_after_another_engine_everything_is_looked_at_once(store: Store, looks: list[str]) -> None:
    git(store.path, "commit", "-q", "--allow-empty", "-m", "by git")
    store.write(draft("after git"))
    store.write(draft("later"))
    reopened(store).write(draft("later still"))
    assert len(looks) == 1


def test_an_edit_in_place_is_found_within_a_day(store: Store) -> None:
    with open(entry_file(store), "a", encoding="utf-8") as file:
        file.write("by hand")
    assert knows(store)
    base = base_of(store)
    base.execute("UPDATE seen SET looked = looked - ?", (DAY_NS,))
    assert not knows(store)
    with pytest.raises(DirtyStore):
        reopened(store).write(draft("next"))
    base.execute("UPDATE seen SET looked = looked + 9 * ?", (DAY_NS,))
    assert not knows(store)  # a look in the future is none


@pytest.mark.parametrize(
    "damage",
    [
        "DROP TABLE seen",
        "DROP TABLE seen_folders",
        "DELETE FROM seen",
        "DELETE FROM seen_folders WHERE path = (SELECT max(path) FROM seen_folders)",
        "UPDATE seen SET tip = 'x'",
        "UPDATE seen SET checksum = x'00'",
        "UPDATE seen SET checksum = 7",
        "UPDATE seen SET looked = 'never'",
        "DROP TABLE seen; CREATE TABLE seen (tip TEXT)",
        "UPDATE seen_folders SET path = x'ff2f00' WHERE path = x''",
        "UPDATE seen_folders SET path = 7 WHERE path = x''",
        "UPDATE seen_folders SET mtime = mtime + 1 WHERE path = x''",
    ],
)
def test_a_damaged_note_is_none(store: Store, looks: list[str], damage: str) -> None:
    assert knows(store)
    base = base_of(store)
    base.executescript(damage)
    base.close()
    assert not knows(store)
    reopened(store).write(draft("next"))
    assert len(looks) == 1
    assert_sound(store)


def test_a_note_that_is_wrong_about_a_folder_costs_a_look_at_it(
    store: Store, looks: list[str]
) -> None:
    base_of(store).execute("UPDATE seen_folders SET mtime = 1, inode = inode + 1 WHERE path <> x''")
    reopened(store).write(draft("next"))
    assert looks == []
    assert_sound(store)


def test_a_copied_store_is_looked_at_anew(store: Store, looks: list[str]) -> None:
    subprocess.run(["cp", "-a", store.root, f"{store.root}-copy"], check=True)
    copy = Store.open(f"{store.root}-copy", clock=Clock())
    copy.write(draft("next"))
    assert len(looks) == 1
    assert_sound(copy)


def test_an_index_of_another_version_works_by_the_full_look(store: Store) -> None:
    git(store.path, "update-index", "--index-version", "4")
    wrote = store.write(draft("next"))
    reopened(store).replace(wrote.id, draft("again"))
    add_stray(store)
    with pytest.raises(DirtyStore):
        store.write(draft("more"))
    os.unlink(f"{os.path.dirname(entry_file(store))}/stray.md")
    assert_sound(store)


def test_an_index_without_a_checksum_is_known_by_its_file(store: Store) -> None:
    index = f"{store.path}/.git/index"
    with open(index, "rb") as file:
        data = file.read()
    with open(index, "wb") as file:
        file.write(data[:-20] + b"\0" * 20)
    seen, base, tip = Seen(store.path), base_of(store), store.tip()
    assert seen.note(tip, tuple) == ()
    assert seen.holds(tip, base)
    with open(f"{index}.new", "wb") as file:
        file.write(b"other" + b"\0" * 20)
    os.replace(f"{index}.new", index)
    assert not seen.holds(tip, base)


def test_what_is_staged_while_a_change_is_made_is_not_lost(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A person stages something after the look and before git's index is swapped.
    real = Repo.write_commit

    def meanwhile(repo: Repo, *args: object, **named: object) -> object:
        if not os.path.exists(f"{store.root}/once"):
            os.makedirs(f"{store.root}/once")
            stage_a_removal(store)
        return real(repo, *args, **named)  # type: ignore[arg-type] # passed on as they came

    monkeypatch.setattr(Repo, "write_commit", meanwhile)
    tip = store.tip()
    with pytest.raises(DirtyStore):
        store.write(draft("next"))
    assert store.tip() == tip
    assert git(store.path, "status", "--porcelain").startswith("D  entries/")


def test_a_first_write_costs_no_more_looks_in_a_process_of_its_own(store: Store) -> None:
    code = (
        "import sys, gitmemo\nfrom gitmemo.repo import Repo\n"
        "Repo.dirt = None\n"  # it is not called
        "gitmemo.Store.open(sys.argv[1]).write(gitmemo.Draft('x', 'y', ('memory', 'k'), 'z'))\n"
    )
    subprocess.run([sys.executable, "-c", code, store.root], check=True)
    assert_sound(store)


def test_a_folder_as_young_as_the_look_at_it_is_not_known(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = os.path.dirname(entry_file(store))
    os.utime(folder)
    tick = os.stat(folder).st_mtime_ns
    monkeypatch.setattr(Seen, "_now", lambda _: tick)
    seen, base, tip = Seen(store.path), base_of(store), store.tip()
    assert seen.holds(tip, base)
    add_stray(store)
    os.utime(folder, ns=(tick, tick))  # it came in the same tick
    assert not seen.holds(tip, base)
