"""A look around for what is missing."""

import hashlib
import os
from pathlib import Path

import pytest

from heimdall.core.sketch import sketch
from heimdall.search import around
from heimdall.search.around import Around, Missing

DATA = b"def f():\n    return 1\n"


def missing(root: Path, name: str, *, size: int | None = len(DATA)) -> Missing:
    return Missing(str(root / name), hashlib.sha256(DATA).digest(), size)


def put(root: Path, name: str, data: bytes = DATA) -> str:
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return str(file)


def unknown(_path: str) -> bool:
    return False


def test_a_file_with_the_very_bytes_is_found_under_any_name(tmp_path: Path) -> None:
    new = put(tmp_path, "lib/other.txt")
    put(tmp_path, "lib/same_size.py", b"x" * len(DATA))
    assert Around(str(tmp_path), unknown).find(missing(tmp_path, "src/a.py")) == (new,)


def test_without_a_size_only_its_name_and_its_suffix_are_tried(tmp_path: Path) -> None:
    new = put(tmp_path, "lib/b.py")
    put(tmp_path, "lib/b.txt")
    found = Around(str(tmp_path), unknown).find(missing(tmp_path, "src/a.py", size=None))
    assert found == (new,)


def test_what_the_index_has_answered_for_is_not_read_again(tmp_path: Path) -> None:
    new = put(tmp_path, "lib/b.py")
    assert Around(str(tmp_path), lambda path: path == new).find(missing(tmp_path, "a.py")) == ()


def test_all_equal_places_are_found(tmp_path: Path) -> None:
    one, two = put(tmp_path, "x/a.py"), put(tmp_path, "y/a.py")
    assert sorted(Around(str(tmp_path), unknown).find(missing(tmp_path, "a.py"))) == [one, two]


def test_stores_links_and_other_checkouts_are_not_looked_into(tmp_path: Path) -> None:
    put(tmp_path, ".git/a.py")
    put(tmp_path, ".mem/a.py")
    put(tmp_path, "build/lib/a.py")
    put(tmp_path, "inner/.git/HEAD")
    put(tmp_path, "inner/a.py")
    outside = put(tmp_path.parent / "outside", "a.py")
    (tmp_path / "link.py").symlink_to(outside)
    (tmp_path / "linked").symlink_to(tmp_path.parent / "outside")
    assert Around(str(tmp_path), unknown).find(missing(tmp_path, "src/a.py")) == ()


def test_the_budget_ends_the_looking_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(around, "ENTRIES", 10)
    for number in range(30):
        put(tmp_path, f"d{number}/f.py", b"x")
    looking = Around(str(tmp_path), unknown)
    put(tmp_path, "zz/a.py")
    assert looking.find(missing(tmp_path, "a.py")) == ()
    assert looking.exhausted


def test_it_begins_where_the_file_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(around, "ENTRIES", 40)
    for number in range(60):
        put(tmp_path, f"d{number}/f.py", b"x")
    new = put(tmp_path, "z/deep/b.py")
    looking = Around(str(tmp_path), unknown)
    assert looking.find(missing(tmp_path, "z/deep/a.py")) == (new,)


def test_a_listing_is_paid_for_once(tmp_path: Path) -> None:
    for number in range(20):
        put(tmp_path, f"f{number}.py", os.urandom(8))
    looking = Around(str(tmp_path), unknown)
    looking.find(missing(tmp_path, "a.py"))
    left = looking._entries
    looking.find(missing(tmp_path, "b.py"))
    assert looking._entries == left


LINES = [f"line number {n} says {n * n}\n".encode() for n in range(40)]
TEXT = b"".join(LINES)
EDITED = b"".join(LINES[:35]) + b"and an end of its own\n"


def anything(_path: str) -> bool:
    return True


def alike(root: Path, name: str, new: object = anything) -> dict[str, float]:
    lost = Missing(str(root / name), hashlib.sha256(TEXT).digest(), len(TEXT))
    return Around(str(root), unknown).alike(lost, sketch(TEXT), new)  # type: ignore[arg-type] # a predicate


def test_moved_and_edited_is_found_by_its_lines(tmp_path: Path) -> None:
    new = put(tmp_path, "lib/b.py", EDITED)
    put(tmp_path, "lib/other.py", b"nothing\nof\nthe\nkind\n" * 60)
    put(tmp_path, "lib/b.txt", EDITED)
    assert list(alike(tmp_path, "src/a.py")) == [new]


def test_the_same_name_as_another_kind_may_be_it(tmp_path: Path) -> None:
    new = put(tmp_path, "karma.conf.cjs", EDITED)
    assert list(alike(tmp_path, "karma.conf.js")) == [new]


def test_what_the_index_knew_before_is_nobodys_new_place(tmp_path: Path) -> None:
    put(tmp_path, "lib/b.py", EDITED)
    assert alike(tmp_path, "src/a.py", lambda _path: False) == {}


def test_where_a_rival_cannot_be_read_any_more_none_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, "src/b.py", EDITED)
    put(tmp_path, "lib/c.py", EDITED)
    monkeypatch.setattr(around, "SKETCHED", len(EDITED) + 1)
    assert alike(tmp_path, "src/a.py") == {}
