"""The copy that survives `git clean -ffdx`: it follows the store, and the store comes back from it.

Git is the judge of both.
"""

import errno
import fcntl
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmemo import (
    DamagedStore,
    IoRefused,
    LockTimeout,
    NoStore,
    Store,
    TrackedByParent,
    copying,
    lock,
    survival,
)
from gitmemo.place import copy_dir
from gitmemo.repo import Repo
from tests.support.memory import (
    IDENTITY,
    Clock,
    assert_sound,
    draft,
    files,
    git,
    golden,
    project,
    reopened,
)


def copy_of(store: Store) -> str:
    copy = copy_dir(store.root)
    assert copy is not None
    return copy


def in_copy(store: Store, *args: str) -> str:
    """What git says of the copy as of any bare repository."""
    return git(store.root, f"--git-dir={copy_of(store)}", *args)


def standing(store: Store) -> survival.Copy:
    return survival.inspect(store.root, Repo(store.path))


def refs(text: str) -> set[str]:
    """Those that the store and its copy must share: a remote's HEAD names no object."""
    return {one for one in text.splitlines() if survival.KEPT not in one and "/HEAD" not in one}


def assert_copied(store: Store) -> None:
    """The copy is sound by git's own word, and holds every ref and object that the store needs."""
    assert in_copy(store, "fsck", "--strict", "--no-dangling") == ""
    listing = ("for-each-ref", "--format=%(objectname) %(refname)")
    assert refs(git(store.path, *listing)) <= refs(in_copy(store, *listing))
    needed = ("rev-list", "--objects", "--all")
    theirs = {line[:40] for line in git(store.path, *needed).splitlines()}
    assert theirs <= {line[:40] for line in in_copy(store, *needed).splitlines()}
    assert standing(store).state == "whole"
    assert standing(store).tip == store.tip()


def titles(store: Store) -> list[str]:
    return sorted(hit.title for hit in store.search(["memory"], limit=1000).hits)


def clean(store: Store) -> None:
    git(store.root, "clean", "-ffdxq")
    assert not os.path.lexists(store.path)


def filled(folder: object, count: int = 3) -> Store:
    store = project(folder)
    for number in range(count):
        store.write(draft(f"entry {number}"))
    return store


def back(store: Store) -> Store:
    """The same store, which was missing, brought back."""
    assert Store.restore(store.root) is not None
    again = reopened(store)
    assert_sound(again)
    return again


# -- what comes back -------------------------------------------------------------------------------


def test_a_clean_of_the_code_repository_loses_nothing(tmp_path: object) -> None:
    store = filled(tmp_path)
    replaced = store.replace(store.search(["memory"]).hits[0].id, draft("another"))
    store.delete(replaced.id, "wrong")
    tip, log, seen = store.tip(), git(store.path, "log", "--format=%H%n%B"), titles(store)
    before = set(os.listdir(store.path))
    clean(store)
    with pytest.raises(NoStore):
        Store.open(store.root)
    assert Store.restore(store.root) == tip
    again = reopened(store)
    assert_sound(again)
    assert git(again.path, "log", "--format=%H%n%B") == log
    assert titles(again) == seen
    assert set(os.listdir(store.path)) == before
    assert git(store.root, "status", "--porcelain") == ""
    again.write(draft("afterwards"))
    assert_copied(again)
    assert_sound(again)


def test_an_opening_brings_back_instead_of_founding(tmp_path: object) -> None:
    store = filled(tmp_path)
    tip = store.tip()
    shutil.rmtree(store.path)
    assert Store.init(store.root, identity=IDENTITY).tip() == tip


def test_a_store_of_which_nothing_was_written_comes_back_too(tmp_path: object) -> None:
    store = project(tmp_path)
    assert_copied(store)
    clean(store)
    assert back(store).search(["memory"]).total == 0


def test_a_store_that_had_no_copy_has_one_after_init_or_after_a_write(tmp_path: object) -> None:
    for name in ("init", "write"):
        store = filled(f"{tmp_path}/{name}")
        shutil.rmtree(copy_of(store))
        assert standing(store).state == "absent"
        if name == "init":
            Store.init(store.root)
        else:
            store.write(draft("more"))
        assert_copied(store)


def test_a_brought_back_store_is_set_up_like_a_new_one_and_has_its_index(tmp_path: object) -> None:
    store = filled(f"{tmp_path}/lost")
    fresh = git(project(f"{tmp_path}/fresh").path, "config", "--local", "--list")
    clean(store)
    again = back(store)
    assert git(again.path, "config", "--local", "--list") == fresh
    assert os.path.exists(os.path.join(again.path, ".git", "gitmemo-index.db"))
    assert "packed" not in git(again.path, "ls-files", "--debug", "-m")


def test_what_is_there_is_never_overwritten(tmp_path: object) -> None:
    store = filled(tmp_path)
    clean(store)
    makers: tuple[Callable[[], object], ...] = (
        lambda: os.symlink("nowhere", store.path),
        lambda: os.mkfifo(store.path),
        lambda: os.close(os.open(store.path, os.O_CREAT)),
        lambda: os.makedirs(f"{store.path}/entries"),
    )
    for make in makers:
        make()
        before = files(store.root)
        assert Store.restore(store.root) is None
        assert files(store.root) == before
        if os.path.isdir(store.path):
            shutil.rmtree(store.path)
        else:
            os.unlink(store.path)


def test_an_empty_folder_as_cleaners_leave_it_is_filled(tmp_path: object) -> None:
    store = filled(tmp_path)
    clean(store)
    os.mkdir(store.path)
    assert len(titles(back(store))) == 3


def test_there_is_nothing_to_bring_back_without_a_copy(tmp_path: object) -> None:
    outside = Store.init(f"{tmp_path}", identity=IDENTITY)
    assert standing(outside) == survival.Copy("", "none", None)
    shutil.rmtree(outside.path)
    assert Store.restore(outside.root) is None
    store = filled(f"{tmp_path}/code")
    assert Store.restore(store.root) is None
    for path in (store.path, copy_of(store)):
        shutil.rmtree(path)
    assert Store.restore(store.root) is None
    assert not os.path.lexists(store.path)


def test_a_copy_that_was_never_finished_is_no_store(tmp_path: object) -> None:
    store = filled(tmp_path)
    os.unlink(os.path.join(copy_of(store), "packed-refs"))
    assert standing(store).state == "absent"
    clean(store)
    assert Store.restore(store.root) is None
    assert Store.init(store.root, identity=IDENTITY).search(["memory"]).total == 0


def test_where_the_code_repository_tracks_the_store_nothing_is_brought_back(
    tmp_path: object,
) -> None:
    store = filled(tmp_path)
    clean(store)
    os.mkdir(store.path)
    open(f"{store.path}/x", "x").close()
    git(store.root, "add", "-f", ".mem/x")
    shutil.rmtree(store.path)
    with pytest.raises(TrackedByParent):
        Store.restore(store.root)


def test_a_copy_that_cannot_give_its_newest_commit_is_named_and_stays(tmp_path: object) -> None:
    store = filled(tmp_path)
    tree = git(store.path, "rev-parse", "main^{tree}").strip()
    clean(store)
    os.unlink(os.path.join(copy_of(store), "objects", tree[:2], tree[2:]))
    before = files(store.root)
    for act in (Store.restore, Store.init):
        with pytest.raises(DamagedStore) as caught:
            act(store.root)
        assert (caught.value.path, caught.value.detail) == (copy_of(store), "copy-broken")
        assert files(store.root).keys() == before.keys()
    shutil.rmtree(os.path.join(copy_of(store), "objects"))
    with pytest.raises(DamagedStore):
        Store.restore(store.root)


def test_a_held_lock_is_waited_for_and_then_named(tmp_path: object) -> None:
    store = filled(tmp_path)
    clean(store)
    with open(f"{store.root}/.mem.gitmemo.lock", "w", encoding="utf-8") as file:
        file.write('{"pid": 1, "host": "elsewhere"}')
    with pytest.raises(LockTimeout):
        Store.restore(store.root, lock_timeout_s=0.05)
    os.unlink(file.name)
    assert Store.restore(store.root, lock_timeout_s=0.05) is not None


RESTORER = "import sys, gitmemo; print(gitmemo.Store.restore(sys.argv[1]))"


def test_restorers_at_once_end_with_one_store(tmp_path: object) -> None:
    store = filled(tmp_path)
    tip = store.tip()
    clean(store)
    started = [
        subprocess.Popen(
            [sys.executable, "-c", RESTORER, store.root], stdout=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    said = sorted(one.communicate()[0].strip() for one in started)
    assert said == sorted(["None", "None", "None", tip])
    assert_sound(reopened(store))


# -- how the copy follows --------------------------------------------------------------------------


def test_the_copy_shares_the_bytes_of_the_store(tmp_path: object) -> None:
    store = filled(tmp_path)
    theirs = os.path.join(store.path, ".git", "objects")
    names = copying.loose(os.path.join(copy_of(store), "objects"))
    assert names == copying.loose(theirs)
    for name in names:
        path = os.path.join("objects", name[:2], name[2:])
        assert os.path.samefile(os.path.join(copy_of(store), path), f"{theirs[:-8]}/{path}")


def test_a_write_links_its_own_objects_and_looks_at_no_others(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = filled(tmp_path)

    def refuse(_: str) -> set[str]:
        raise AssertionError("all objects were listed")

    monkeypatch.setattr(copying, "loose", refuse)
    store.write(draft("one more"))
    store.replace(store.search(["memory"]).hits[0].id, draft("and another"))
    monkeypatch.undo()
    assert_copied(store)


@pytest.mark.parametrize("reason", [errno.EXDEV, errno.EPERM, errno.EMLINK])
def test_where_there_are_no_links_the_bytes_are_copied(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch, reason: int
) -> None:
    store = filled(tmp_path)
    real = os.link

    def link(source: str, target: str) -> None:
        if "gitmemo.git" in target:
            raise OSError(reason, os.strerror(reason))
        real(source, target)

    monkeypatch.setattr(os, "link", link)
    store.write(draft("one more"))
    git(store.path, "gc", "-q")
    store.write(draft("and another"))
    monkeypatch.undo()
    assert_copied(store)
    clean(store)
    assert len(titles(back(store))) == 5


def test_packs_are_followed_and_what_they_hold_is_dropped(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = filled(tmp_path)
    monkeypatch.setattr("gitmemo.repo._LOOSE_LIMIT", 0)
    os.makedirs(os.path.join(store.path, ".git", "objects", "17"), exist_ok=True)
    store.write(draft("that packs"))
    assert copying.loose(os.path.join(store.path, ".git", "objects")) == set()
    assert copying.loose(os.path.join(copy_of(store), "objects")) == set()
    assert_copied(store)
    monkeypatch.undo()
    store.write(draft("one more"))
    git(store.path, "gc", "-q", "--prune=now")
    store.write(draft("after a gc by hand"))
    assert_copied(store)
    assert in_copy(store, "count-objects", "-v").splitlines()[3] == "packs: 1"


@pytest.mark.parametrize("form", ["loose", "packed"])
def test_what_only_the_copy_has_stays_through_a_repack(tmp_path: object, form: str) -> None:
    store = filled(tmp_path)
    lost = store.tip()
    if form == "packed":
        in_copy(store, "gc", "-q", "--prune=now")
    git(store.path, "reset", "-q", "--hard", "HEAD~1")
    git(store.path, "reflog", "expire", "--expire=now", "--all")
    git(store.path, "gc", "-q", "--prune=now")
    reopened(store).write(draft("on an older commit"))
    assert_copied(store)
    assert standing(store).kept == (lost,)
    assert in_copy(store, "show", "-s", "--format=%H", lost).strip() == lost


def test_a_tip_that_is_merged_back_is_kept_no_longer(tmp_path: object) -> None:
    store = filled(tmp_path)
    lost = store.tip()
    git(store.path, "reset", "-q", "--hard", "HEAD~1")
    reopened(store).write(draft("on an older commit"))
    git(store.path, "fetch", "-q", copy_of(store), f"{survival.KEPT}{lost}")
    git(store.path, "merge", "-q", "-m", "both", "FETCH_HEAD")
    reopened(store).write(draft("after the merge"))
    assert standing(store).kept == ()
    assert_copied(store)


def test_another_store_in_the_place_of_the_first_loses_neither(tmp_path: object) -> None:
    store = filled(f"{tmp_path}/one")
    first = store.tip()
    other = filled(f"{tmp_path}/two", 2)
    shutil.rmtree(store.path)
    git(store.root, "clone", "-q", other.path, store.path)
    reopened(store).write(draft("of the second"))
    assert_copied(store)
    assert standing(store).kept == (first,)
    assert len(in_copy(store, "log", "--format=%H", f"{survival.KEPT}{first}").split()) == 4
    clean(store)
    again = back(store)
    assert len(titles(again)) == 3
    assert survival.KEPT not in git(again.path, "for-each-ref")
    assert standing(again).kept == (first,)


def test_all_refs_are_copied_and_come_back(tmp_path: object) -> None:
    store = filled(tmp_path)
    for name in ("refs/gitmemo/backup/1/main", "refs/gitmemo/map", "refs/tags/v1"):
        git(store.path, "update-ref", name, "main~1")
    git(store.path, "tag", "-a", "-m", "a note", "annotated", "main")
    git(store.path, "pack-refs", "--all")
    git(store.path, "update-ref", "refs/gitmemo/late", "main~2")
    store.write(draft("one more"))
    assert_copied(store)
    expected = git(store.path, "for-each-ref")
    clean(store)
    assert git(back(store).path, "for-each-ref") == expected


def test_a_ref_that_is_moved_back_or_to_a_note_is_kept_as_it_was(tmp_path: object) -> None:
    store = filled(tmp_path)
    git(store.path, "commit", "-q", "--allow-empty", "-m", "by a person")
    git(store.path, "update-ref", "refs/gitmemo/map", "main")
    store.write(draft("one more"))
    was = git(store.path, "rev-parse", "refs/gitmemo/map").strip()
    git(store.path, "tag", "-a", "-m", "a note", "noted", "main~2")
    git(store.path, "update-ref", "refs/gitmemo/map", "refs/tags/noted")
    store.write(draft("and another"))
    assert_copied(store)
    assert standing(store).kept == ()  # main leads to it
    git(store.path, "update-ref", "refs/gitmemo/map", was)
    aside = git(store.path, "commit-tree", "-m", "aside", "main^{tree}").strip()
    for target in (aside, "main~1"):
        git(store.path, "update-ref", "refs/gitmemo/map", target)
        store.write(draft(f"after {target}"))
    assert_copied(store)
    assert standing(store).kept == (aside,)


def test_commits_of_others_are_caught_up_with(tmp_path: object) -> None:
    store = filled(tmp_path)
    git(store.path, "commit", "-q", "--allow-empty", "-m", "by a person")
    assert standing(store).state == "behind"
    store.write(draft("one more"))
    assert_copied(store)


def test_a_person_at_work_in_the_copy_does_not_stop_it(tmp_path: object) -> None:
    store = filled(tmp_path)
    in_copy(store, "update-ref", "refs/heads/main", "main~1")
    store.write(draft("one more"))
    assert_copied(store)
    in_copy(store, "gc", "-q", "--prune=now")
    store.write(draft("and another"))
    assert_copied(store)


def test_the_history_of_another_clone_that_was_merged_is_copied(tmp_path: object) -> None:
    store = filled(f"{tmp_path}/mine")
    os.makedirs(f"{tmp_path}/theirs")
    git(f"{tmp_path}/theirs", "init", "-q")
    git(f"{tmp_path}/theirs", "clone", "-q", store.path, ".mem")
    theirs = Store.open(f"{tmp_path}/theirs", identity=IDENTITY, clock=Clock())
    theirs.write(draft("by a colleague"))
    store.write(draft("by me"))
    git(store.path, "pull", "-q", "--no-rebase", "--no-edit", theirs.path, "main")
    reopened(store).write(draft("after the merge"))
    assert_copied(store)
    expected = titles(reopened(store))
    clean(store)
    assert titles(back(store)) == expected


def test_a_store_of_another_engine_is_copied_whole(tmp_path: object) -> None:
    store = golden("repo", tmp_path, now=1_790_000_000.0)
    store.write(draft("by this engine"))
    assert_copied(store)
    expected = titles(store)
    clean(store)
    assert titles(back(store)) == expected


# -- the machine says no ---------------------------------------------------------------------------


def test_a_copy_that_the_machine_refuses_fails_no_write_and_is_made_later(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = filled(tmp_path)
    real = os.link

    def link(source: str, target: str) -> None:
        if "gitmemo.git" in target:
            raise OSError(errno.EROFS, "Read-only file system")
        real(source, target)

    monkeypatch.setattr(os, "link", link)
    for number in range(2):
        store.write(draft(f"not copied {number}"))
    monkeypatch.undo()
    assert standing(store).state == "behind"
    store.write(draft("copied"))
    assert_copied(store)


def test_a_file_in_the_place_of_the_copy_fails_no_write_and_is_named(tmp_path: object) -> None:
    store = filled(tmp_path)
    shutil.rmtree(copy_of(store))
    open(copy_of(store), "x").close()
    store.write(draft("one more"))
    assert standing(store).state in ("absent", "broken")
    os.unlink(copy_of(store))
    os.makedirs(os.path.join(copy_of(store), "packed-refs"))
    clean(store)
    with pytest.raises(IoRefused):
        Store.restore(store.root)


@pytest.mark.parametrize("harm", ["missing", "damaged", "unreadable"])
def test_a_broken_copy_is_told_from_a_whole_one_and_made_anew(tmp_path: object, harm: str) -> None:
    store = filled(tmp_path)
    oldest = git(store.path, "rev-list", "--max-parents=0", "main").strip()
    path = os.path.join(copy_of(store), "objects", oldest[:2], oldest[2:])
    with open(path, "rb") as file:
        data = file.read()
    os.unlink(path)
    if harm == "damaged":
        with open(path, "wb") as file:
            file.write(data[:-4] + b"oops")
    if harm == "unreadable":
        shutil.rmtree(os.path.join(copy_of(store), "objects"))
    found = standing(store)
    assert found.state == "broken"
    assert harm == "unreadable" or found.troubles == (f"{harm}:{oldest}",)
    survival.renew(store.root, Repo(store.path))
    assert_copied(store)


# -- forgetting ------------------------------------------------------------------------------------


def test_what_was_purged_is_gone_from_the_renewed_copy(tmp_path: object) -> None:
    store = filled(tmp_path)
    secret = store.tip()
    git(store.path, "reset", "-q", "--hard", "HEAD~1")
    reopened(store).write(draft("on an older commit"))
    assert standing(store).kept == (secret,)
    git(store.path, "update-ref", "-d", "ORIG_HEAD")
    git(store.path, "reflog", "expire", "--expire=now", "--all")
    git(store.path, "gc", "-q", "--prune=now")
    survival.renew(store.root, Repo(store.path))
    assert_copied(store)
    assert standing(store).kept == ()
    assert (
        git(store.root, f"--git-dir={copy_of(store)}", "cat-file", "-t", secret, check=False) == ""
    )
    clean(store)
    back(store)
    assert git(store.path, "cat-file", "-t", secret, check=False) == ""


def test_a_renewal_that_is_refused_says_so(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = filled(tmp_path)

    def refuse(*_: object) -> None:
        raise OSError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "rename", refuse)
    with pytest.raises(IoRefused):
        survival.renew(store.root, Repo(store.path))
    monkeypatch.undo()
    assert standing(store).state == "whole"


def test_what_a_killed_renewal_left_is_removed_by_the_next_write(tmp_path: object) -> None:
    store = filled(tmp_path)
    os.rename(copy_of(store), copy_of(store) + ".gone")
    store.write(draft("one more"))
    assert_copied(store)
    assert not os.path.lexists(copy_of(store) + ".gone")
    os.makedirs(copy_of(store) + ".gone/objects")
    survival.renew(store.root, Repo(store.path))
    assert_copied(store)
    assert not os.path.lexists(copy_of(store) + ".gone")


# -- every shape of a checkout ---------------------------------------------------------------------


def submodule(top: str) -> str:
    for name in ("inner", "outer"):
        os.makedirs(f"{top}/{name}")
        git(f"{top}/{name}", "init", "-q", "-b", "main")
        git(f"{top}/{name}", "commit", "-q", "--allow-empty", "-m", "first")
    add = ("-c", "protocol.file.allow=always", "submodule", "add", "-q")
    git(f"{top}/outer", *add, f"{top}/inner", "sub")
    return f"{top}/outer/sub"


def worktree(top: str) -> str:
    os.makedirs(f"{top}/main")
    git(f"{top}/main", "init", "-q", "-b", "main")
    git(f"{top}/main", "commit", "-q", "--allow-empty", "-m", "first")
    git(f"{top}/main", "worktree", "add", "-q", f"{top}/linked")
    return f"{top}/linked"


def sha256(top: str) -> str:
    os.makedirs(f"{top}/code")
    git(f"{top}/code", "init", "-q", "-b", "main", "--object-format=sha256")
    return f"{top}/code"


def odd_name(top: str) -> str:
    root = f"{top}/a b\n缓存 🧠"
    os.makedirs(root)
    git(root, "init", "-q", "-b", "main")
    return root


@pytest.mark.parametrize("shape", [submodule, worktree, sha256, odd_name])
def test_the_copy_lies_in_the_git_directory_of_the_very_checkout(
    tmp_path: object, shape: Callable[[str], str]
) -> None:
    root = shape(str(tmp_path))
    store = Store.init(root, identity=IDENTITY, clock=Clock())
    store.write(draft("one"))
    own = git(root, "rev-parse", "--absolute-git-dir").removesuffix("\n")
    assert os.path.samefile(os.path.dirname(copy_of(store)), own)
    assert_copied(store)
    clean(store)
    assert titles(back(store)) == ["one"]
    if shape is submodule:
        git(f"{tmp_path}/outer", "clean", "-ffdxq")
        git(f"{tmp_path}/outer", "submodule", "foreach", "-q", "git clean -ffdxq")
        assert titles(back(store)) == ["one"]


def test_inside_a_bare_repository_there_is_no_copy_and_no_need_of_one(tmp_path: object) -> None:
    bare = f"{tmp_path}/code.git"
    git(str(tmp_path), "init", "-q", "--bare", bare)
    store = Store.init(bare, identity=IDENTITY, clock=Clock())
    store.write(draft("one"))
    assert standing(store).state == "none"
    assert not os.path.lexists(f"{bare}/gitmemo.git")


def test_the_code_repository_does_not_notice_the_copy(tmp_path: object) -> None:
    store = filled(f"{tmp_path}/code")
    root = store.root
    with open(f"{root}/a.py", "w", encoding="utf-8") as file:
        file.write("x = 1\n")
    git(root, "add", "a.py")
    git(root, "commit", "-q", "-m", "code")
    git(root, "gc", "-q", "--prune=now")
    assert git(root, "fsck", "--strict") == ""
    assert git(root, "status", "--porcelain") == ""
    assert len(git(root, "worktree", "list").splitlines()) == 1
    assert [line.split()[1] for line in git(root, "for-each-ref").splitlines()] == ["commit"]
    git(root, "clone", "-q", root, f"{tmp_path}/clone")
    assert os.listdir(f"{tmp_path}/clone/.git").count("gitmemo.git") == 0
    assert_copied(store)


# -- whatever happens ------------------------------------------------------------------------------

ACTS = ("write", "person", "gc", "reset", "clean", "gc-copy", "lose-copy")


@settings(
    max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(acts=st.lists(st.sampled_from(ACTS), min_size=2, max_size=5))
def test_after_any_history_the_next_write_makes_the_copy_equal_to_the_store(
    tmp_path_factory: pytest.TempPathFactory, acts: list[str]
) -> None:
    store = filled(tmp_path_factory.mktemp("law"), 2)
    lost: set[str] = set()
    for number, act in enumerate(acts):
        if act == "write":
            reopened(store).write(draft(f"of act {number}"))
        elif act == "person":
            git(store.path, "commit", "-q", "--allow-empty", "-m", f"act {number}")
        elif act == "gc":
            git(store.path, "gc", "-q", "--prune=now")
        elif act == "reset" and standing(store).state == "whole":
            git(store.path, "commit", "-q", "--allow-empty", "-m", f"to be kept {number}")
            reopened(store).write(draft(f"to be kept {number}"))
            lost.add(store.tip())
            git(store.path, "reset", "-q", "--hard", "HEAD~1")
            git(store.path, "reflog", "expire", "--expire=now", "--all")
        elif act == "clean" and standing(store).state == "whole":
            clean(store)
            back(store)
        elif act == "gc-copy" and standing(store).state == "whole":
            in_copy(store, "gc", "-q", "--prune=now")
        elif act == "lose-copy" and not lost:
            shutil.rmtree(copy_of(store), ignore_errors=True)
    reopened(store).write(draft("the last"))
    assert_copied(store)
    assert_sound(store)
    assert lost <= set(in_copy(store, "rev-list", "--all").split())


# -- a cleaner and a writer at the same time -------------------------------------------------------


@pytest.mark.parametrize("lost", ["HEAD", "objects", "refs"])
def test_the_remains_of_a_clean_that_gave_up_make_way(tmp_path: object, lost: str) -> None:
    store = filled(tmp_path)
    before = titles(store)
    path = os.path.join(store.path, ".git", lost)
    shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
    assert Store.restore(store.root) is not None
    assert titles(store) == before
    assert os.path.isdir(os.path.join(store.root, ".mem.gitmemo-old-gone", ".git"))
    os.unlink(os.path.join(store.path, ".git", "HEAD"))
    assert Store.restore(store.root) is not None
    assert os.path.isdir(os.path.join(store.root, ".mem.gitmemo-old-gone-1"))


def test_remains_with_anything_of_a_person_are_left_alone(tmp_path: object) -> None:
    store = filled(tmp_path)
    os.unlink(os.path.join(store.path, ".git", "HEAD"))
    with open(os.path.join(store.path, "notes.txt"), "x") as file:
        file.write("mine")
    assert Store.restore(store.root) is None


def test_a_copy_never_stands_for_what_a_clean_took_before_it_was_linked(tmp_path: object) -> None:
    store = filled(tmp_path)
    copy, before = copy_of(store), titles(store)
    hidden = copy + ".aside"
    os.rename(copy, hidden)  # the last write is one that the copy has not seen
    late = store.write(draft("late"))
    shutil.rmtree(copy)
    os.rename(hidden, copy)
    repo = Repo(store.path)
    blob = git(store.path, "rev-parse", f"{late.id}:{late.file}").strip()
    os.unlink(os.path.join(repo.git_dir, "objects", blob[:2], blob[2:]))
    survival.follow(repo, base=repo.raw(late.id).parents[0], commit=late.id)
    clean(store)
    assert Store.restore(store.root) is not None
    assert titles(store) == before


def test_who_waited_for_a_store_that_was_taken_away_waits_for_the_one_that_came_back(
    tmp_path: object,
) -> None:
    store = filled(tmp_path)
    path = os.path.join(store.path, ".git", lock.KERNEL_LOCK)
    late = (
        "import sys; from gitmemo import Store, Draft;"
        "print(Store.open(sys.argv[1]).write(Draft('late', 's', ('a', 'b'))).id)"
    )
    with open(path, "r+b") as first:
        fcntl.flock(first, fcntl.LOCK_EX)
        writer = subprocess.Popen(
            [sys.executable, "-c", late, store.root], stdout=subprocess.PIPE, text=True
        )
        while not any(
            os.path.realpath(f"/proc/{writer.pid}/fd/{number}") == os.path.realpath(path)
            for number in os.listdir(f"/proc/{writer.pid}/fd")
        ):
            time.sleep(0.01)
        clean(store)
        assert Store.restore(store.root) is not None
    # The old lock is free now, and the new one is ours: the writer has to wait.
    with lock.hold(store.root, os.path.join(store.path, ".git"), "test", timeout_s=5):
        held = os.stat(os.path.join(store.root, lock.ENGINE_LOCK)).st_ino
        time.sleep(0.3)
        assert writer.poll() is None
        assert os.stat(os.path.join(store.root, lock.ENGINE_LOCK)).st_ino == held
    assert writer.communicate(timeout=60)[0].strip() == reopened(store).tip()
