"""Index files cut by bytes: git must read them as if it had written them itself."""

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmemo import worktree
from gitmemo.gitindex import Staged, folder, spliced
from tests.support.memory import git

NAMES = st.sampled_from(
    [
        f"entries/{folder}{name}.md"
        for folder in ("", "2025/12/31/", "2026/01/02/", "2026/01/03/", "2026/11/30/", "深/")
        for name in ("a", "b", "b-2", "20260102T030405.006Z-667bbe18-drain", "x" * 90, "名")
    ]
)


def put(root: str, path: str) -> None:
    full = os.path.join(root, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "w", encoding="utf-8") as file:
        file.write(path)


def staged(root: str, path: str) -> Staged:
    object_id = git(root, "hash-object", "-w", "--", path).strip()
    return Staged(path, object_id, **worktree.stats(root, path))


def index_of(root: str) -> bytes:
    with open(f"{root}/.git/index", "rb") as file:
        return file.read()


def repository(folder: object, paths: set[str]) -> str:
    root = str(folder)
    os.makedirs(root, exist_ok=True)
    git(root, "init", "-q", "-b", "main")
    for path in (".gitmemo-format", "zz-last", *paths):
        put(root, path)
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "first")
    return root


@settings(max_examples=15, deadline=None)
@given(before=st.sets(NAMES, max_size=12), data=st.data())
def test_git_reads_the_spliced_index_as_its_own(
    tmp_path_factory: pytest.TempPathFactory, before: set[str], data: st.DataObject
) -> None:
    root = repository(tmp_path_factory.mktemp("splice"), before)
    add = data.draw(st.sets(NAMES.filter(lambda name: name not in before), max_size=3))
    remove = data.draw(st.sets(st.sampled_from(sorted(before)), max_size=3)) if before else set()
    for path in add:
        put(root, path)
    new = spliced(index_of(root), add=[staged(root, path) for path in add], remove=sorted(remove))
    assert new is not None
    for path in remove:
        os.unlink(os.path.join(root, path))
    with open(f"{root}/.git/index", "wb") as file:
        file.write(new)
    listed = git(root, "ls-files", "-z").split("\0")[:-1]
    wanted = (before | add) - remove | {".gitmemo-format", "zz-last"}
    assert listed == sorted(wanted, key=str.encode)
    assert git(root, "diff-files") == ""
    assert git(root, "fsck", "--strict", "--no-dangling") == ""


def test_what_is_there_cannot_be_added_and_what_is_not_cannot_be_removed(
    tmp_path: object,
) -> None:
    root = repository(tmp_path, {"entries/a.md"})
    assert spliced(index_of(root), add=[staged(root, "entries/a.md")], remove=[]) is None
    assert spliced(index_of(root), add=[], remove=["entries/b.md"]) is None
    assert spliced(index_of(root), add=[], remove=["entries/a.md"] * 2) is None
    put(root, "entries/b.md")
    assert spliced(index_of(root), add=[staged(root, "entries/b.md")] * 2, remove=[]) is None


def test_an_index_of_another_version_is_declined(tmp_path: object) -> None:
    root = repository(tmp_path, {"entries/a.md"})
    git(root, "update-index", "--index-version", "4")
    assert spliced(index_of(root), add=[], remove=["entries/a.md"]) is None


def test_an_untracked_cache_does_not_mislead(tmp_path: object) -> None:
    root = repository(tmp_path, {"entries/a.md", "entries/2026/01/01/b.md"})
    git(root, "update-index", "--force-untracked-cache")
    git(root, "status", "--porcelain")
    put(root, "entries/2026/01/01/c.md")
    new = spliced(index_of(root), add=[staged(root, "entries/2026/01/01/c.md")], remove=[])
    assert new is not None
    with open(f"{root}/.git/index", "wb") as file:
        file.write(new)
    assert "entries/2026/01/01/c.md" in git(root, "ls-files")


def test_rubbish_is_declined() -> None:
    assert spliced(b"", add=[], remove=[]) is None
    assert spliced(b"DIRC" + b"\0" * 100, add=[], remove=["entries/a.md"]) is None
    assert folder(b"", "entries") is None
    assert folder(b"DIRC" + b"\0" * 100, "entries") is None


@settings(max_examples=15, deadline=None)
@given(paths=st.sets(NAMES, max_size=12))
def test_a_folder_of_the_index_is_what_git_lists_in_it(
    tmp_path_factory: pytest.TempPathFactory, paths: set[str]
) -> None:
    root = repository(tmp_path_factory.mktemp("folder"), paths)
    listed = git(root, "ls-files", "-z").split("\0")[:-1]
    for place in ("entries", "entries/2026", "entries/2026/01", "entries/2026/01/02", "entries/x"):
        held = folder(index_of(root), place)
        assert held is not None
        inside = [p.removeprefix(f"{place}/") for p in listed if p.startswith(f"{place}/")]
        assert {name.decode() for name in held.files} == {p for p in inside if "/" not in p}
        assert {name.decode() for name in held.folders} == {
            p.partition("/")[0] for p in inside if "/" in p
        }
        for name, kept in held.files.items():
            path = f"{place}/{name.decode()}"
            assert kept.object_id.hex() == git(root, "rev-parse", f":{path}").strip()
            assert kept.size == os.lstat(f"{root}/{path}").st_size


def test_an_entry_earlier_than_the_last_of_its_day_finds_its_place(tmp_path: object) -> None:
    days = {f"entries/2026/{m:02}/{d:02}/{x}.md" for m in (1, 2) for d in (1, 9) for x in "bdf"}
    root = repository(tmp_path, days)
    for path in ("2026/01/09/a", "2026/01/09/c", "2026/01/05/a", "2025/a", "2026/02/09/g"):
        put(root, f"entries/{path}.md")
        new = spliced(index_of(root), add=[staged(root, f"entries/{path}.md")], remove=[])
        assert new is not None
        with open(f"{root}/.git/index", "wb") as file:
            file.write(new)
    listed = git(root, "ls-files", "-z").split("\0")[:-1]
    assert listed == sorted(listed, key=str.encode)
    assert git(root, "fsck", "--strict", "--no-dangling") == ""
