"""What became of each anchor: real files, a real journal."""

import os
from pathlib import Path

import pytest

from gitmemo import Anchor
from heimdall.model import AnchorState, Verdict
from heimdall.search.evidence import MANY
from tests.heimdall.search.world import World

CODE = '''\
"""Alpha and beta."""


def alpha(value):
    return value + 1


def beta_one(value):
    return value + 2


class Gamma:
    @property
    def size(self):
        return self._size

    @size.setter
    def size(self, value):
        self._size = value
'''

STRONG, WEAK, REBUILT, STALE = Verdict.STRONG, Verdict.WEAK, Verdict.REBUILT, Verdict.STALE


@pytest.fixture(params=["indexed", "never indexed"])
def world(tmp_path: Path, request: pytest.FixtureRequest) -> World:
    """The same checkout with an index that has seen it, and with none at all."""
    made = World(tmp_path)
    made.put("src/a.py", CODE)
    made.put("src/other.py", "def other():\n    return 0\n")
    if request.param == "indexed":
        made.index()
    return made


@pytest.fixture
def indexed(tmp_path: Path) -> World:
    made = World(tmp_path)
    made.put("src/a.py", CODE)
    made.put("src/other.py", "def other():\n    return 0\n")
    made.index()
    return made


def test_the_same_bytes_are_strong(world: World) -> None:
    assert world.judge(world.entry("src/a.py")) == (STRONG, ("anchor-same",))


def test_any_edit_of_the_file_is_drift(world: World) -> None:
    entry = world.entry("src/a.py")
    world.put("src/a.py", CODE + "\n")
    assert world.judge(entry) == (WEAK, ("anchor-drifted",))


def test_an_edit_that_keeps_size_and_times_is_drift(world: World) -> None:
    entry = world.entry("src/a.py")
    path = world.root / "src/a.py"
    before = path.stat()
    path.write_text(CODE.replace("+ 1", "+ 3"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert world.judge(entry) == (WEAK, ("anchor-drifted",))


def test_an_edit_elsewhere_leaves_the_symbol_strong(world: World) -> None:
    entry = world.entry("src/a.py", text="`alpha` adds one")
    world.put("src/a.py", "import os\n" + CODE.replace("+ 2", "+ 3"))
    assert world.judge(entry) == (STRONG, ("symbols-same",))


def test_an_edit_of_the_symbol_is_drift(world: World) -> None:
    entry = world.entry("src/a.py", text="`alpha` adds one")
    world.put("src/a.py", CODE.replace("+ 1", "+ 3"))
    assert world.judge(entry) == (WEAK, ("symbol-drifted",))


def test_the_index_that_saw_the_edit_agrees_with_the_parser(indexed: World) -> None:
    entry = indexed.entry("src/a.py", text="`alpha` and `beta_one`")
    indexed.put("src/a.py", CODE.replace("+ 2", "+ 3"))
    before = indexed.judge(entry)
    indexed.index("src/a.py")
    assert indexed.judge(entry) == before == (WEAK, ("symbol-drifted",))


def test_an_edit_of_the_setter_is_an_edit_of_the_property(world: World) -> None:
    entry = world.entry("src/a.py", text="`Gamma.size` is plain")
    world.put("src/a.py", CODE.replace("self._size = value", "self._size = value + 1"))
    assert world.judge(entry) == (WEAK, ("symbol-drifted",))


def test_a_second_definition_of_the_name_is_drift(world: World) -> None:
    entry = world.entry("src/a.py", text="`alpha` adds one")
    world.put("src/a.py", CODE + "\n\ndef alpha(value):\n    return 0\n")
    assert world.judge(entry) == (WEAK, ("symbol-drifted",))


def test_a_symbol_that_is_gone_is_named(world: World) -> None:
    entry = world.entry("src/a.py", text="`alpha` adds one")
    world.put("src/a.py", CODE.replace("alpha(value)", "delta(value)"))
    verdict, reasons = world.judge(entry)
    assert (verdict, reasons[0]) == (WEAK, "symbol-missing:src/a.py#alpha")


def test_a_symbol_that_moved_to_another_file_is_found(indexed: World) -> None:
    entry = indexed.entry("src/a.py", text="`alpha` adds one")
    body = "def alpha(value):\n    return value + 1\n"
    indexed.put("src/a.py", CODE.replace(body, ""))
    indexed.put("src/b.py", "import os\n\n\n" + body)
    indexed.index("src/a.py", "src/b.py")
    evidence = indexed.evidence(entry)
    assert evidence.anchors[1].now == "src/b.py#alpha"
    assert indexed.judge(entry) == (REBUILT, ("symbol-moved",))


def test_a_symbol_whose_new_place_was_edited_since_is_not_found_there(indexed: World) -> None:
    entry = indexed.entry("src/a.py", text="`alpha` adds one")
    body = "def alpha(value):\n    return value + 1\n"
    indexed.put("src/a.py", CODE.replace(body, ""))
    indexed.put("src/b.py", body)
    indexed.index("src/a.py", "src/b.py")
    indexed.put("src/b.py", body.replace("+ 1", "+ 9"))
    assert indexed.judge(entry)[0] is WEAK


def test_a_moved_file_is_found_before_the_index_has_seen_it(world: World) -> None:
    entry = world.entry("src/a.py")
    world.move("src/a.py", "lib/deep/new.py")
    evidence = world.evidence(entry)
    assert evidence.anchors[0].now == "lib/deep/new.py"
    assert world.judge(entry) == (REBUILT, ("moved-identical",))


def test_a_moved_file_is_found_by_the_index(indexed: World) -> None:
    entry = indexed.entry("src/a.py")
    indexed.move("src/a.py", "lib/new.md")
    indexed.index("src/a.py", "lib/new.md")
    assert indexed.evidence(entry).anchors[0].now == "lib/new.md"
    assert indexed.judge(entry) == (REBUILT, ("moved-identical",))


def test_an_index_that_is_wrong_about_the_new_place_is_not_believed(indexed: World) -> None:
    entry = indexed.entry("src/a.py")
    indexed.move("src/a.py", "lib/new.py")
    indexed.index("src/a.py", "lib/new.py")
    indexed.put("lib/new.py", "something else entirely\n")
    assert indexed.judge(entry) == (STALE, ("path-missing",))


def test_a_symbol_follows_its_moved_file(world: World) -> None:
    entry = world.entry("src/a.py", text="`alpha` adds one")
    world.move("src/a.py", "lib/new.py")
    assert [fact.now for fact in world.evidence(entry).anchors] == [
        "lib/new.py",
        "lib/new.py#alpha",
    ]
    assert world.judge(entry) == (REBUILT, ("moved-identical",))


def test_moved_and_edited_is_followed_where_the_writer_saw_it(indexed: World) -> None:
    entry = indexed.entry("src/a.py")
    indexed.remove("src/a.py")
    indexed.put("lib/new.py", CODE.replace("+ 1", "+ 3"))
    indexed.index("src/a.py", "lib/new.py")
    indexed.moved("src/a.py", "lib/new.py", 0.87)
    assert indexed.judge(entry) == (REBUILT, ("moved-similar:0.87",))


def test_a_file_moved_twice_is_followed_to_the_end(indexed: World) -> None:
    entry = indexed.entry("src/a.py")
    indexed.remove("src/a.py")
    indexed.put("c.py", CODE + "# edited\n")
    indexed.moved("src/a.py", "b.py")
    indexed.moved("b.py", "c.py", 0.9)
    assert indexed.evidence(entry).anchors[0].now == "c.py"
    assert indexed.judge(entry) == (REBUILT, ("moved-similar:0.90",))


def test_a_file_seen_moving_whole_and_edited_after_says_so(indexed: World) -> None:
    entry = indexed.entry("src/a.py")
    indexed.remove("src/a.py")
    indexed.put("c.py", CODE + "# edited\n")
    indexed.moved("src/a.py", "c.py")
    assert indexed.judge(entry) == (REBUILT, ("moved-edited",))


def test_equal_bytes_that_were_seen_going_to_two_places_are_not_guessed(indexed: World) -> None:
    entry = indexed.entry("src/a.py")
    indexed.remove("src/a.py")
    indexed.put("x/one.py", CODE)
    indexed.put("y/two.py", CODE)
    indexed.index("src/a.py", "x/one.py", "y/two.py")
    indexed.moved("src/a.py", "x/one.py")
    indexed.moved("src/a.py", "y/two.py")
    assert indexed.evidence(entry).anchors[0].candidates == ("x/one.py", "y/two.py")
    assert indexed.judge(entry) == (STALE, ("path-missing", "moved-ambiguous"))
    indexed.remove("y/two.py")
    assert indexed.evidence(entry).anchors[0].now == "x/one.py"


def test_what_moved_away_before_the_entry_was_written_is_not_followed(indexed: World) -> None:
    indexed.move("src/a.py", "old.py")
    indexed.moved("src/a.py", "old.py", at=0)
    indexed.put("src/a.py", "def another():\n    return 1\n")
    entry = indexed.entry("src/a.py")
    indexed.remove("src/a.py")
    indexed.index("src/a.py", "old.py")
    assert indexed.judge(entry) == (STALE, ("path-missing",))


def test_boilerplate_is_everywhere_and_therefore_nowhere(indexed: World) -> None:
    entry = indexed.entry("src/a.py", text="`alpha`")
    for number in range(MANY + 1):
        indexed.put(f"copies/c{number}.py", CODE)
    indexed.remove("src/a.py")
    indexed.index()
    indexed.index("src/a.py")
    assert indexed.judge(entry) == (STALE, ("path-missing",))
    indexed.put("lib/a.py", CODE)
    indexed.index("lib/a.py")
    assert indexed.evidence(entry).anchors[0].now == "lib/a.py"


def test_moves_that_run_in_a_circle_end(indexed: World) -> None:
    entry = indexed.entry("src/a.py")
    indexed.remove("src/a.py")
    indexed.moved("src/a.py", "b.py")
    indexed.moved("b.py", "src/a.py")
    indexed.index("src/a.py")
    assert indexed.judge(entry) == (STALE, ("path-missing",))


def test_a_symbol_edited_in_a_moved_and_edited_file_is_rebuilt_with_its_likeness(
    indexed: World,
) -> None:
    entry = indexed.entry("src/a.py", text="`alpha` adds one")
    indexed.remove("src/a.py")
    indexed.put("lib/new.py", CODE.replace("+ 1", "+ 3"))
    indexed.moved("src/a.py", "lib/new.py", 0.87)
    assert indexed.judge(entry) == (REBUILT, ("moved-similar:0.87",))


def test_a_deleted_file_is_stale(indexed: World) -> None:
    entry = indexed.entry("src/a.py")
    indexed.remove("src/a.py")
    assert indexed.judge(entry) == (STALE, ("path-missing", "index-behind"))
    indexed.index("src/a.py")
    assert indexed.judge(entry) == (STALE, ("path-missing",))


def test_a_file_that_comes_back_is_strong_again(world: World) -> None:
    entry = world.entry("src/a.py")
    world.remove("src/a.py")
    assert world.judge(entry).verdict is STALE
    world.put("src/a.py", CODE)
    assert world.judge(entry).verdict is STRONG


def test_copied_and_then_deleted_is_rebuilt_at_the_copy(world: World) -> None:
    entry = world.entry("src/a.py")
    world.put("lib/copy.py", CODE)
    world.remove("src/a.py")
    assert world.evidence(entry).anchors[0].now == "lib/copy.py"


def test_two_equal_copies_are_named_and_none_is_guessed(world: World) -> None:
    entry = world.entry("src/a.py")
    world.put("x/one.py", CODE)
    world.put("y/two.py", CODE)
    world.remove("src/a.py")
    evidence = world.evidence(entry)
    assert evidence.anchors[0].candidates == ("x/one.py", "y/two.py")
    assert world.judge(entry).verdict is STALE
    assert "moved-ambiguous" in world.judge(entry).reasons


def test_of_two_copies_the_one_that_kept_the_name_is_it(world: World) -> None:
    entry = world.entry("src/a.py")
    world.put("x/a.py", CODE)
    world.put("y/two.py", CODE)
    world.remove("src/a.py")
    assert world.evidence(entry).anchors[0].now == "x/a.py"


def test_an_empty_file_is_not_found_in_every_other_empty_file(world: World) -> None:
    world.put("src/__init__.py", "")
    entry = world.entry("src/__init__.py")
    world.put("lib/__init__.py", "")
    world.remove("src/__init__.py")
    assert world.judge(entry).verdict is STALE


def test_one_dead_among_living_is_weak_and_named(world: World) -> None:
    entry = world.entry("src/a.py", "src/other.py")
    world.remove("src/other.py")
    verdict, reasons = world.judge(entry)
    assert verdict is WEAK
    assert reasons[0] == "path-missing:src/other.py"


@pytest.mark.parametrize("kind", ["link", "directory", "fifo"])
def test_what_is_no_file_any_more_is_not_the_same(world: World, kind: str) -> None:
    entry = world.entry("src/a.py")
    path = world.root / "src/a.py"
    path.unlink()
    if kind == "link":
        world.put("elsewhere.txt", "no")
        path.symlink_to(world.root / "elsewhere.txt")
    elif kind == "directory":
        path.mkdir()
    else:
        os.mkfifo(path)
    assert world.judge(entry) == (WEAK, ("not-a-file",))


def test_a_link_to_the_files_new_place_is_a_move(world: World) -> None:
    entry = world.entry("src/a.py")
    world.move("src/a.py", "lib/new.py")
    (world.root / "src/a.py").symlink_to(world.root / "lib/new.py")
    assert world.judge(entry) == (REBUILT, ("moved-identical",))


def test_another_file_under_the_same_name_is_drift(world: World) -> None:
    entry = world.entry("src/a.py")
    world.move("src/a.py", "lib/new.py")
    world.put("src/a.py", "something else\n")
    assert world.judge(entry) == (WEAK, ("anchor-drifted",))


def test_what_the_writer_could_not_read_is_unreachable_and_not_stale(indexed: World) -> None:
    entry = indexed.entry("src/a.py")
    indexed.remove("src/a.py")
    indexed.unreadable("src/a.py")
    assert indexed.judge(entry) == (WEAK, ("unreachable",))


def test_behind_a_dangling_link_is_unreachable(world: World) -> None:
    entry = world.entry("src/a.py")
    (world.root / "src").rename(world.root.parent / "away")
    (world.root / "src").symlink_to(world.root.parent / "not-mounted")
    assert world.judge(entry) == (WEAK, ("unreachable",))


def test_an_anchor_outside_the_checkout_is_never_looked_at(world: World, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("alpha")
    for path in ("../secret", str(tmp_path / "secret"), ".", "a\0b"):
        entry = world.entry("src/a.py")._replace(related_paths=(path,), anchors=())
        assert world.judge(entry) == (WEAK, ("unreachable",))
        assert world.evidence(entry).content is None


def test_another_checkout_inside_this_one_is_not_its_new_place(world: World) -> None:
    entry = world.entry("src/a.py")
    world.put("worktrees/one/.git", "gitdir: elsewhere\n")
    world.put("worktrees/one/src/a.py", CODE)
    world.index("worktrees/one/src/a.py")
    world.remove("src/a.py")
    assert world.judge(entry).verdict is STALE


def test_without_hashes_the_content_decides(world: World) -> None:
    entry = world.entry("src/a.py", pinned=False)
    assert world.judge(entry, ("alpha",)) == (STRONG, ("content-answers",))
    assert world.judge(entry, ("kubernetes",)) == (WEAK, ("content-low",))


def test_without_hashes_a_missing_file_is_stale(indexed: World) -> None:
    entry = indexed.entry("src/a.py", pinned=False)
    indexed.remove("src/a.py")
    indexed.index("src/a.py")
    assert indexed.judge(entry) == (STALE, ("path-missing",))


def test_without_hashes_a_file_that_was_seen_moving_is_rebuilt(indexed: World) -> None:
    entry = indexed.entry("src/a.py", pinned=False)
    indexed.move("src/a.py", "lib/new.py")
    indexed.index("src/a.py", "lib/new.py")
    indexed.moved("src/a.py", "lib/new.py")
    assert indexed.judge(entry) == (REBUILT, ("moved-identical",))


def test_a_directory_proves_nothing(world: World) -> None:
    assert world.judge(world.entry("src", pinned=False)) == (WEAK, ("not-hashed",))


def test_a_huge_file_without_a_hash_proves_nothing(world: World) -> None:
    with (world.root / "huge.txt").open("wb") as file:
        file.truncate(300 * 1024 * 1024)
    assert world.judge(world.entry("huge.txt", pinned=False)) == (WEAK, ("not-hashed",))


def test_a_hash_that_is_none_equals_nothing(world: World) -> None:
    for nonsense in ("", "sha256:", "sha256:zz", "md5:" + "0" * 64, "sha256:" + "0" * 62):
        entry = world.entry("src/a.py")._replace(anchors=(Anchor(nonsense, "src/a.py"),))
        assert world.judge(entry) == (WEAK, ("anchor-drifted",))


def test_a_file_that_the_index_skips_is_judged_all_the_same(world: World) -> None:
    world.put("vendor/lib/CHANGELOG", "1.0 alpha\n")
    entry = world.entry("vendor/lib/CHANGELOG")
    assert world.judge(entry).verdict is STRONG
    world.put("vendor/lib/CHANGELOG", "1.1 alpha\n")
    assert world.judge(entry).verdict is WEAK


def test_a_file_too_large_to_parse_drifts_with_its_symbols(world: World) -> None:
    entry = world.entry("src/a.py", text="`alpha` adds one")
    world.put("src/a.py", CODE + "#" * (5 * 1024 * 1024))
    assert world.judge(entry) == (WEAK, ("symbol-drifted",))


def test_content_coverage_is_the_share_that_the_files_answer_together(world: World) -> None:
    entry = world.entry("src/a.py", "src/other.py")
    assert world.evidence(entry, ("alpha", "other", "nowhere", "gamma")).content == 0.75


def test_a_damaged_journal_is_as_good_as_none(world: World) -> None:
    entry = world.entry("src/a.py")
    world.home.mkdir(exist_ok=True)
    (world.home / "journal.db").write_bytes(b"not a database at all" * 500)
    world.move("src/a.py", "lib/new.py")
    assert world.judge(entry) == (REBUILT, ("moved-identical",))


def test_states_are_named_for_each_anchor(world: World) -> None:
    entry = world.entry("src/a.py", "src/other.py", text="`alpha`")
    world.put("src/a.py", CODE + "\n")
    states = [(f.path, f.symbol, f.state) for f in world.evidence(entry).anchors]
    assert states == [
        ("src/a.py", None, AnchorState.DRIFTED),
        ("src/a.py", "alpha", AnchorState.SAME),
        ("src/other.py", None, AnchorState.SAME),
    ]
