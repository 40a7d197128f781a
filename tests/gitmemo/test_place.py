"""Where things are, in every shape that git gives a checkout, with git as the oracle."""

import os

from gitmemo.model import CodeState
from gitmemo.place import Place, code_state, exclude_file, locate, main_tip
from tests.support.memory import git


def repository(path: str, *, commit: bool = True) -> str:
    os.makedirs(path)
    git(path, "init", "-q", "-b", "main")
    if commit:
        git(path, "commit", "-q", "--allow-empty", "-m", "first")
    return path


def test_a_folder_inside_a_repository_belongs_to_its_top(tmp_path: object) -> None:
    root = repository(f"{tmp_path}/project")
    os.makedirs(f"{root}/a/b")
    assert locate(f"{root}/a/b") == Place(root, root, f"{root}/.git", worktree=False)


def test_outside_of_git_the_nearest_store_makes_the_project(tmp_path: object) -> None:
    os.makedirs(f"{tmp_path}/notes/.mem/.git")
    os.makedirs(f"{tmp_path}/notes/deep")
    assert locate(f"{tmp_path}/notes/deep") == Place(
        f"{tmp_path}/notes", f"{tmp_path}/notes", None, worktree=False
    )


def test_nothing_above_is_no_project(tmp_path: object) -> None:
    assert locate(str(tmp_path)) is None


def test_a_folder_inside_the_store_belongs_to_the_project_around_it(tmp_path: object) -> None:
    root = repository(f"{tmp_path}/project")
    repository(f"{root}/.mem")
    os.makedirs(f"{root}/.mem/entries/2026")
    for inside in (".mem", ".mem/entries/2026"):
        place = locate(f"{root}/{inside}")
        assert place is not None
        assert place.root == root


def test_an_empty_dot_git_is_no_repository(tmp_path: object) -> None:
    root = repository(f"{tmp_path}/project")
    os.makedirs(f"{root}/sub/.git")
    place = locate(f"{root}/sub")
    assert place is not None
    assert place.root == root


def test_a_linked_worktree_shares_the_store_of_the_main_checkout(tmp_path: object) -> None:
    root = repository(f"{tmp_path}/project")
    git(root, "worktree", "add", "-q", f"{tmp_path}/linked")
    linked = f"{tmp_path}/linked"
    assert locate(linked) == Place(linked, root, f"{root}/.git", worktree=True)
    assert locate(linked, shared_worktrees=False) == Place(
        linked, linked, f"{root}/.git", worktree=True
    )


def test_worktrees_of_a_bare_repository_share_a_store_inside_it(tmp_path: object) -> None:
    bare = f"{tmp_path}/server/code.git"
    git(str(tmp_path), "init", "-q", "--bare", "-b", "main", bare)
    source = repository(f"{tmp_path}/source")
    git(source, "push", "-q", bare, "main")
    git(bare, "worktree", "add", "-q", f"{tmp_path}/one", "main")
    place = locate(f"{tmp_path}/one")
    assert place is not None
    assert place.store_root == bare


def test_a_hidden_bare_repository_with_a_dot_git_file_beside_it_uses_that_folder(
    tmp_path: object,
) -> None:
    top = f"{tmp_path}/project"
    os.makedirs(top)
    git(top, "init", "-q", "--bare", "-b", "main", f"{top}/.bare")
    with open(f"{top}/.git", "w", encoding="utf-8") as file:
        file.write("gitdir: ./.bare\n")
    source = repository(f"{tmp_path}/source")
    git(source, "push", "-q", f"{top}/.bare", "main")
    git(top, "worktree", "add", "-q", f"{top}/trunk", "main")
    place = locate(f"{top}/trunk")
    assert place is not None
    assert place.store_root == top


def test_a_submodule_is_a_project_of_its_own(tmp_path: object) -> None:
    library = repository(f"{tmp_path}/library")
    root = repository(f"{tmp_path}/project")
    git(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library, "lib")
    place = locate(f"{root}/lib")
    assert place is not None
    assert (place.root, place.store_root, place.worktree) == (f"{root}/lib", f"{root}/lib", False)


def test_a_worktree_of_a_submodule_finds_the_submodules_checkout(tmp_path: object) -> None:
    library = repository(f"{tmp_path}/library")
    root = repository(f"{tmp_path}/project")
    git(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library, "lib")
    git(f"{root}/lib", "worktree", "add", "-q", f"{tmp_path}/linked")
    place = locate(f"{tmp_path}/linked")
    assert place is not None
    assert place.store_root == f"{root}/lib"


def test_the_code_state_is_what_git_says(tmp_path: object) -> None:
    root = repository(f"{tmp_path}/project")
    head = git(root, "rev-parse", "HEAD").strip()
    assert code_state(root) == CodeState("main", head)
    git(root, "switch", "-q", "-c", "feature/深")
    git(root, "pack-refs", "--all")
    assert code_state(root) == CodeState("feature/深", head)
    git(root, "switch", "-q", "--detach")
    assert code_state(root) == CodeState(f"detached:{head}", head)
    git(root, "worktree", "add", "-q", "-b", "other", f"{tmp_path}/linked")
    assert code_state(f"{tmp_path}/linked") == CodeState("other", head)


def test_an_unborn_branch_has_a_name_and_no_commit(tmp_path: object) -> None:
    root = repository(f"{tmp_path}/project", commit=False)
    assert code_state(root) == CodeState("main", "unknown")
    assert code_state(f"{tmp_path}") == CodeState()


def test_the_tip_of_main_is_read_loose_and_packed(tmp_path: object) -> None:
    mem = repository(f"{tmp_path}/.mem", commit=False)
    assert main_tip(mem) is None
    git(mem, "commit", "-q", "--allow-empty", "-m", "first")
    first = git(mem, "rev-parse", "main").strip()
    assert main_tip(mem) == first
    git(mem, "pack-refs", "--all")
    assert main_tip(mem) == first
    git(mem, "commit", "-q", "--allow-empty", "-m", "second")
    assert main_tip(mem) == git(mem, "rev-parse", "main").strip() != first


def test_the_exclude_file_is_the_one_git_reads(tmp_path: object) -> None:
    root = repository(f"{tmp_path}/project")
    git(root, "worktree", "add", "-q", f"{tmp_path}/linked")
    for checkout in (root, f"{tmp_path}/linked"):
        place = locate(checkout)
        assert place is not None
        named = git(checkout, "rev-parse", "--git-path", "info/exclude").strip()
        path = exclude_file(place)
        assert path is not None
        assert os.path.normpath(os.path.join(checkout, named)) == os.path.normpath(path)


def test_a_repository_that_keeps_its_refs_in_tables_has_no_known_state(tmp_path: object) -> None:
    root = repository(f"{tmp_path}/project", commit=False)
    with open(f"{root}/.git/HEAD", "w", encoding="utf-8") as file:
        file.write("ref: refs/heads/.invalid\n")
    assert code_state(root) == CodeState()
