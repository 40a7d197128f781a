"""A moved file is found again by its content, in whatever order its two ends are seen."""

import os
from pathlib import Path

import pytest

from heimdall.core.sketch import sketch
from heimdall.extract.read import extract
from heimdall.extract.wire import pack, unpack
from heimdall.journal.read import open_reader
from heimdall.model import Depth
from heimdall.writer import reconcile
from heimdall.writer.moves import Arrival, Departure, moves
from tests.support.index import index
from tests.support.trees import plant

LINES = [f"line number {n} says {n * n}\n" for n in range(40)]
TEXT = "".join(LINES)


def gone(path: str, text: str, digest: bytes = b"d") -> Departure:
    return Departure(path, "/r", digest, sketch(text.encode()))


def here(path: str, text: str, digest: bytes = b"h") -> Arrival:
    return Arrival(path, "/r", digest, sketch(text.encode()), len(text))


def found(*args: object) -> list[tuple[str, str, float]]:
    departures, arrivals = args
    assert isinstance(departures, list)
    assert isinstance(arrivals, list)
    return [(move.old, move.new, move.similarity) for move in moves(departures, arrivals, 7)]


def test_identical_bytes_are_the_same_file() -> None:
    assert found([gone("/r/a.py", TEXT)], [here("/r/b.py", TEXT, b"d")]) == [
        ("/r/a.py", "/r/b.py", 1.0)
    ]


def test_among_identical_files_the_namesake_is_meant() -> None:
    arrivals = [here("/r/x/a.py", TEXT, b"d"), here("/r/b.py", TEXT, b"d")]
    assert found([gone("/r/a.py", TEXT)], arrivals) == [("/r/a.py", "/r/x/a.py", 1.0)]


def test_tiny_files_are_alike_by_chance() -> None:
    assert found([gone("/r/a.py", "x\n")], [here("/r/b.py", "x\n", b"d")]) == []


def test_an_edited_file_is_recognised_by_its_lines() -> None:
    edited = "".join(LINES[:32]) + "another end\n"
    ((old, new, alike),) = found([gone("/r/a.py", TEXT)], [here("/r/b.py", edited)])
    assert (old, new) == ("/r/a.py", "/r/b.py")
    assert 0.5 <= alike < 1.0


def test_equal_rivals_are_both_recorded_and_none_is_chosen() -> None:
    edited = "".join(LINES[:32])
    rivals = [here("/r/b.py", edited + "one\n"), here("/r/c.py", edited + "two\n")]
    moved = found([gone("/r/a.py", TEXT)], rivals)
    assert [new for _, new, _ in moved] == ["/r/b.py", "/r/c.py"]


def test_the_path_itself_is_no_place_to_go_to() -> None:
    assert found([gone("/r/a.py", TEXT)], [here("/r/a.py", TEXT)]) == []


def test_of_equal_files_the_one_is_meant_that_lies_where_the_folder_went() -> None:
    """Packages share their licence; what else left the folder says which is whose."""
    leaving = [gone("/r/one/L", TEXT), gone("/r/one/x.py", TEXT + "x x x\n" * 9, b"x")]
    coming = [
        here("/r/uno/L", TEXT, b"d"),
        here("/r/due/L", TEXT, b"d"),
        here("/r/uno/x.py", TEXT + "x x x\n" * 9, b"x"),
    ]
    assert ("/r/one/L", "/r/uno/L", 1.0) in found(leaving, coming)
    assert len(found(leaving, coming)) == 2


def test_an_empty_file_goes_with_its_folder_and_nowhere_by_itself() -> None:
    leaving = [gone("/r/one/__init__.py", "", b""), gone("/r/one/x.py", TEXT, b"x")]
    empty = Departure("/r/one/__init__.py", "/r", b"e", b"")
    coming = [
        Arrival("/r/uno/__init__.py", "/r", b"e", b"", 0),
        Arrival("/r/due/__init__.py", "/r", b"e", b"", 0),
    ]
    assert found([empty], coming) == []
    moved = found([empty, leaving[1]], [*coming, here("/r/uno/x.py", TEXT, b"x")])
    assert ("/r/one/__init__.py", "/r/uno/__init__.py", 1.0) in moved


def test_each_place_is_given_to_what_is_most_like_it() -> None:
    half = "".join(LINES[:24])
    leaving = [gone("/r/a.py", TEXT), gone("/r/b.py", half, b"b")]
    moved = found(leaving, [here("/r/c.py", TEXT + "end of it\n")])
    assert [(old, new) for old, new, _ in moved] == [("/r/a.py", "/r/c.py")]


EDITED = "".join(LINES[:35]) + "def another(): ...\n"


@pytest.mark.parametrize("text", [TEXT, EDITED], ids=["identical", "edited"])
@pytest.mark.parametrize("order", ["together", "old first", "new first"])
def test_a_move_is_recorded_whatever_is_seen_first(tmp_path: Path, text: str, order: str) -> None:
    root = plant(str(tmp_path / "r"), {"pkg/old.py": TEXT, "pkg/other.py": "other = 1\n" * 9})
    old, new = os.path.join(root, "pkg/old.py"), os.path.join(root, "lib/new.py")
    made, _ = index(str(tmp_path / "home"), root)
    if order == "new first":
        plant(root, {"lib/new.py": text})
        reconcile(made, [new])
        os.unlink(old)
        reconcile(made, [old])
    elif order == "old first":
        os.unlink(old)
        reconcile(made, [old])
        plant(root, {"lib/new.py": text})
        reconcile(made, [new])
    else:
        os.unlink(old)
        plant(root, {"lib/new.py": text})
        assert reconcile(made, None).moves == 1
    with open_reader(made.home) as journal:
        (move,) = journal.moves_from(old)
        assert move.new == new
        assert (move.similarity == 1.0) is (text == TEXT)
        assert journal.moves_from(os.path.join(root, "pkg/other.py")) == ()


def test_extraction_brings_the_sketch_of_any_file(tmp_path: Path) -> None:
    text, noise = tmp_path / "a.py", tmp_path / "noise.py"
    text.write_bytes(b"one line\nanother line\n")
    noise.write_bytes(b"\0one line\nanother line\n")
    read = [unpack(pack(extract(str(path), Depth.GRAPH))) for path in (text, noise)]
    assert [one.sketch for one in read] == [sketch(path.read_bytes()) for path in (text, noise)]


def test_of_files_that_are_about_as_like_the_namesake_is_meant() -> None:
    """Small files share their licence, and little parts them but the name."""
    arrivals = [here("/r/new/a.py", TEXT + "one\n"), here("/r/new/b.py", TEXT + "other\n")]
    ((_, new, _),) = found([gone("/r/old/a.py", TEXT)], arrivals)
    assert new == "/r/new/a.py"
    assert len(found([gone("/r/old/c.py", TEXT)], arrivals)) == 2


def test_a_file_may_change_its_suffix_and_keep_its_name() -> None:
    ((_, new, _),) = found(
        [gone("/r/karma.conf.js", TEXT)], [here("/r/karma.conf.cjs", TEXT + "x x\n")]
    )
    assert new == "/r/karma.conf.cjs"


def test_prose_has_a_sketch_too(tmp_path: Path) -> None:
    (tmp_path / "GUIDE.rst").write_text(TEXT)
    assert extract(str(tmp_path / "GUIDE.rst"), Depth.GRAPH).sketch == sketch(TEXT.encode())
