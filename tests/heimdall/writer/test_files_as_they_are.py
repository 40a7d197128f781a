"""Every thing that can lie in a tree: indexed, or named with its reason, and never in the way.

After each, the journal equals one built from nothing, and an audit that reads every byte is
content.
"""

import os
import socket
import time
import unicodedata
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from heimdall.disk import HUGE, stat_of
from heimdall.journal.read import open_reader
from heimdall.model import Presence
from heimdall.search.disk import look
from heimdall.writer import reconcile, verify
from heimdall.writer.content import digest_of
from tests.support.index import clean_graph, graph, index, reasons, row, settings
from tests.support.trees import git, plant, repository

CODE = "def f(text):\n    return text.strip() + 'one'\n"
OTHER = CODE.replace("one", "two")


def later(home: str, seconds: float = 60.0) -> None:
    """A pass so long after the last change that a stat is believed from now on."""
    reconcile(settings(home, now=lambda: time.time() + seconds), None)


def sound(home: str, root: str) -> None:
    """The journal is what a clean one would be."""
    assert verify(settings(home), deep=True) == ()
    assert graph(home) == clean_graph(home, root)


# -- what the clock and the stat say ---------------------------------------------------------------


def restored(path: str, before: os.stat_result) -> None:
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def set_back(path: str, _before: os.stat_result) -> None:
    os.utime(path, (1_000_000_000, 1_000_000_000))


def future(path: str, _before: os.stat_result) -> None:
    os.utime(path, (4_000_000_000, 4_000_000_000))


def untouched(_path: str, _before: os.stat_result) -> None: ...


@pytest.mark.parametrize("trick", [restored, set_back, future, untouched])
@pytest.mark.parametrize("how", ["rewritten", "replaced"])
def test_an_edit_of_the_same_size_is_seen_whatever_its_date_says(
    tmp_path: Path, how: str, trick: Callable[[str, os.stat_result], None]
) -> None:
    root = repository(str(tmp_path / "r"), {"a.py": CODE}, commit=True)
    home, path = str(tmp_path / "home"), os.path.join(root, "a.py")
    set_back(path, os.stat(path))
    index(home, root)
    later(home)
    before = os.stat(path)
    if how == "rewritten":
        Path(path).write_text(OTHER)
    else:
        Path(path + "~").write_text(OTHER)
        os.replace(path + "~", path)
    trick(path, before)
    assert git(root, "status", "--porcelain").split() == ["M", "a.py"]
    reconcile(settings(home), None)
    sound(home, root)


def test_a_file_from_the_future_is_hashed_each_time(tmp_path: Path) -> None:
    root = plant(str(tmp_path / "r"), {"a.py": CODE})
    home, path = str(tmp_path / "home"), os.path.join(root, "a.py")
    future(path, os.stat(path))
    index(home, root)
    later(home)
    Path(path).write_text(OTHER)
    future(path, os.stat(path))
    reconcile(settings(home), None)
    sound(home, root)


def test_dates_and_inodes_that_no_database_holds_are_cut(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(CODE)
    real = os.lstat(path)
    fields = list(real)
    fields[1] = (1 << 64) - 3
    there = os.stat_result([*fields, 0.0, 0.0, 0.0], {"st_mtime_ns": 1 << 66, "st_ctime_ns": 5})
    assert max(stat_of(there)) < 1 << 63
    os.utime(path, ns=(0, 10**19))
    root, home = str(tmp_path), str(tmp_path.parent / "home")
    index(home, root)
    assert verify(settings(home), deep=True) == ()


# -- names -----------------------------------------------------------------------------------------


def test_any_name_that_a_disk_takes_is_a_name(tmp_path: Path) -> None:
    composed = "caf\u00e9.py"
    names = {
        composed,
        unicodedata.normalize("NFD", composed),
        "Case.py",
        "case.py",
        "two\nlines.py",
        "tab\tand space .py",
        "\u65e5\u672c\u8a9e.py",
        "\U0001f600.py",
        "-n.py",
        '"quoted".py',
        "n" * 252 + ".py",
        os.fsdecode(b"no\xffutf8.py"),
    }
    for make in (plant, repository):
        base = tmp_path / make.__name__
        root = make(str(base / "r"), dict.fromkeys(names, CODE))
        home = str(base / "home")
        index(home, root)
        with open_reader(home) as journal:
            assert {os.path.relpath(one.path, root) for one in journal.paths()} == names
        os.rename(os.path.join(root, "Case.py"), os.path.join(root, "cASE.py"))
        os.unlink(os.path.join(root, composed))
        reconcile(settings(home), None)
        sound(home, root)


def test_what_lies_deeper_than_a_path_can_be_long_is_no_obstacle(tmp_path: Path) -> None:
    root, home = plant(str(tmp_path / "r"), {"a.py": CODE}), str(tmp_path / "home")
    here = os.getcwd()
    try:
        os.chdir(root)
        for _ in range(24):
            os.mkdir("d" * 200)
            os.chdir("d" * 200)
        Path("deep.py").write_text(CODE)
    finally:
        os.chdir(here)
    made, _ = index(home, root)
    assert row(home, os.path.join(root, "a.py")) is not None
    reconcile(made, None)
    assert graph(home) == clean_graph(home, root)


# -- what is no plain file -------------------------------------------------------------------------


@pytest.mark.parametrize("make", [plant, repository])
def test_what_is_no_file_is_named_and_never_opened(
    tmp_path: Path, make: Callable[..., str]
) -> None:
    root, home = make(str(tmp_path / "r"), {"a.py": CODE}), str(tmp_path / "home")
    os.mkfifo(os.path.join(root, "fifo.py"))
    os.symlink("b", os.path.join(root, "a"))
    os.symlink("a", os.path.join(root, "b"))
    os.symlink("..", os.path.join(root, "up"))
    with closing(socket.socket(socket.AF_UNIX)) as end:
        here = os.getcwd()
        os.chdir(root)
        end.bind("socket.py")
        os.chdir(here)
        index(home, root)
        found = {os.path.relpath(path, root): why for path, why in reasons(home).items()}
        links = dict.fromkeys(["a", "b", "up"], "link")
        assert found == {"fifo.py": "fifo", "socket.py": "socket", **links}
        sound(home, root)


@pytest.mark.parametrize("make", [plant, repository])
def test_a_link_in_the_place_of_a_directory_hides_what_was_below_it(
    tmp_path: Path, make: Callable[..., str]
) -> None:
    root = make(str(tmp_path / "r"), {"pkg/a.py": CODE, "b.py": CODE})
    home = str(tmp_path / "home")
    made, _ = index(home, root)
    os.rename(os.path.join(root, "pkg"), os.path.join(root, "real"))
    os.symlink("real", os.path.join(root, "pkg"))
    reconcile(made, [os.path.join(root, "pkg/a.py")])
    reconcile(made, None)
    gone = row(home, os.path.join(root, "pkg/a.py"))
    assert gone is not None
    assert gone.state is Presence.GONE
    sound(home, root)


def test_hard_links_are_two_files_with_one_content(tmp_path: Path) -> None:
    root, home = plant(str(tmp_path / "r"), {"a.py": CODE}), str(tmp_path / "home")
    os.link(os.path.join(root, "a.py"), os.path.join(root, "b.py"))
    made, _ = index(home, root)
    later(home)
    Path(root, "a.py").write_text(OTHER)  # both change, and only one is told of
    reconcile(made, None)
    sound(home, root)
    os.unlink(os.path.join(root, "a.py"))
    reconcile(made, None)
    sound(home, root)


# -- editors ---------------------------------------------------------------------------------------


def test_what_editors_do_when_they_save_leaves_nothing_behind(tmp_path: Path) -> None:
    root = repository(str(tmp_path / "r"), {"a.py": CODE}, commit=True)
    home, path = str(tmp_path / "home"), os.path.join(root, "a.py")
    made, _ = index(home, root)
    temporary = (".a.py.swp", "4913", "#a.py#", "a.py___jb_tmp___", "a.py___jb_old___", "a.py~")
    plant(root, dict.fromkeys(temporary, CODE))
    os.symlink("user@host.1234:1", os.path.join(root, ".#a.py"))
    reconcile(made, [os.path.join(root, name) for name in (*temporary, ".#a.py")])
    sound(home, root)
    Path(path + "___jb_tmp___").write_text(OTHER)
    os.replace(path, path + "~")
    os.replace(path + "___jb_tmp___", path)
    for name in (*temporary, ".#a.py"):
        Path(root, name).unlink(missing_ok=True)
    reconcile(made, None)
    sound(home, root)
    with open_reader(home) as journal:
        assert journal.moves_from(path) == ()


# -- content ---------------------------------------------------------------------------------------


def test_a_sparse_file_of_ten_gigabytes_is_named_and_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, home = plant(str(tmp_path / "r"), {"a.py": CODE}), str(tmp_path / "home")
    path = os.path.join(root, "disk.img")
    with open(path, "wb") as file:
        file.truncate(10 << 30)
    assert os.path.getsize(path) > HUGE
    made, _ = index(home, root)
    assert reasons(home)[path] == "huge"
    reconcile(made, None, everything=True)
    assert verify(made, deep=True) == ()
    monkeypatch.setattr(os, "read", lambda *_: pytest.fail("it was read"))
    assert digest_of(path) is None
    assert look(path).there is None


def test_text_of_every_kind_is_indexed(tmp_path: Path) -> None:
    files = {
        "utf16.py": CODE.encode("utf-16"),
        "bom.py": b"\xef\xbb\xbf" + CODE.encode(),
        "crlf.py": CODE.replace("\n", "\r\n").encode(),
        "nul.py": b"x = 1\0\n",
        "empty.py": b"",
        "long.py": b"x = '" + b"a" * (3 << 20) + b"'\n",
    }
    root, home = plant(str(tmp_path / "r"), files), str(tmp_path / "home")
    index(home, root)
    found = {os.path.relpath(path, root): why for path, why in reasons(home).items()}
    assert found == {"nul.py": "binary", "long.py": "minified"}
    with open_reader(home) as journal:
        for name in ("utf16.py", "bom.py", "crlf.py"):
            keys = [node.key for node in journal.nodes(os.path.join(root, name))]
            assert keys == ["", "f"]
    sound(home, root)


def test_a_file_that_grows_while_it_is_hashed_has_no_hash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"x" * 100)
    real = os.read

    def beside_a_writer(handle: int, length: int) -> bytes:
        with path.open("ab") as file:
            file.write(b"more")
        return real(handle, length)

    monkeypatch.setattr(os, "read", beside_a_writer)
    assert digest_of(str(path)) is None
