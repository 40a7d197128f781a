"""No call waits, loops, crashes or answers wrongly, whatever lies in a store.

Each store is damaged and used in a child process that ends itself, with its stack, when a call does
not come back. DAMAGE_ROUNDS and DAMAGE_SEED make it look longer and elsewhere.
"""

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmemo import DamagedStore, Draft, GitMemoError, Store, check, locate
from gitmemo.place import code_state, main_tip
from tests.gitmemo.test_checkup_fuzz import SPARSE, copied, grown
from tests.support.memory import IDENTITY, Clock, draft, git, project, reopened

ROUNDS = os.environ.get("DAMAGE_ROUNDS", "14")
SEED = os.environ.get("DAMAGE_SEED", "4711")
LIMIT_S = 20
CHILD = """
import faulthandler, sys
faulthandler.dump_traceback_later({limit}, exit=True)
from gitmemo import Draft, GitMemoError, Store, check
root, wanted = sys.argv[1:3]
store = Store(root, identity=None, clock=lambda: 1_790_000_500.0, lock_timeout_s=0.5)
acts = {{
    "search": lambda: len(store.search(["outcome"]).hits),
    "log": lambda: len(store.history()),
    "read": lambda: [store.read(one).title for one in sys.argv[3:]],
    "short": lambda: [store.read(one[:9]).title for one in sys.argv[3:]],
    "write": lambda: store.write(Draft("New", "Is new.", ("a", "b"), "New.")).file,
    "delete": lambda: store.delete(sys.argv[3], "No longer."),
    "init": lambda: Store.init(root, lock_timeout_s=0.5).founded,
    "migration": lambda: type(store.migration(finish=True)).__name__,
    "doctor": lambda: len(check(root)),
}}
for act in wanted.split():
    try:
        print(act, "answered", acts[act]())
    except GitMemoError as error:
        print(act, type(error).__name__, *error.args)
"""


def used(root: str, acts: str, *args: str) -> str:
    """What a process says that does each of `acts` once; it must come to an end by itself."""
    done = subprocess.run(
        [sys.executable, "-c", CHILD.format(limit=LIMIT_S), root, acts, *args],
        capture_output=True,
        text=True,
        timeout=LIMIT_S + 20,
        check=False,
    )
    assert done.returncode == 0, (acts, done.stderr)
    return done.stdout


@pytest.fixture(scope="module", params=["loose", "packed"])
def sound(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Store:
    folder = tmp_path_factory.mktemp(request.param)
    return grown(folder, packed=request.param == "packed")


@pytest.fixture(scope="module")
def loose(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return grown(tmp_path_factory.mktemp("one"), packed=False)


def test_whatever_is_damaged_is_reported_or_did_not_matter(sound: Store, tmp_path: Path) -> None:
    packed = "packed" if list(Path(sound.path).glob(".git/objects/pack/*.pack")) else "loose"
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.damaged", sound.root, tmp_path, SEED, ROUNDS, packed],
        capture_output=True,
        text=True,
        timeout=60 + 30 * int(ROUNDS),
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-6000:]


@pytest.mark.parametrize("which", ["commit", "tree", "blob"])
def test_an_object_that_is_cut_off_ends_in_an_error_and_not_in_a_loop(
    loose: Store, tmp_path: Path, which: str
) -> None:
    store = copied(loose, tmp_path)
    tip = store.tip()
    name = {
        "commit": tip,
        "tree": git(store.path, "rev-parse", f"{tip}:entries").strip(),
        "blob": git(store.path, "rev-parse", f"{tip}:{store.read(tip).file}").strip(),
    }[which]
    os.unlink(os.path.join(store.path, ".git", "gitmemo-index.db"))
    path = Path(store.path, ".git", "objects", name[:2], name[2:])
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:20])
    acts = "search log read short write delete"
    said = used(store.root, f"{acts} migration doctor init", tip).splitlines()
    assert [line.split()[:2] for line in said[:6]] == [[a, "DamagedStore"] for a in acts.split()]
    assert said[-1] == "init answered False"


@pytest.mark.parametrize("ending", ["idx", "midx"])
def test_a_table_of_packs_that_lies_is_not_believed(tmp_path: Path, ending: str) -> None:
    store = grown(tmp_path, packed=True)
    git(store.path, "multi-pack-index", "write")
    folder = Path(store.path, ".git", "objects", "pack")
    table = next(folder.glob("*.idx")) if ending == "idx" else folder / "multi-pack-index"
    data = bytearray(table.read_bytes())
    data[-60] ^= 0x80  # a place in the pack, far behind its end
    table.chmod(0o644)
    table.write_bytes(data)
    os.unlink(os.path.join(store.path, ".git", "gitmemo-index.db"))
    assert "odd-file:objects/pack/" in used(store.root, "search")


CONTROL = (
    *("HEAD", "config", "index", "packed-refs", "refs/heads/main", "refs/tags/odd", "commondir"),
    *("info/exclude", "info/attributes", "objects/info/alternates", "objects/info/commit-graph"),
    *("gitmemo-transaction.json", "gitmemo.lock", "gitmemo-lock.tmp", "gitmemo-index.db"),
    *("gitmemo-index.db-journal", "gitmemo-index.db-wal", "gitmemo-index.old", "logs/HEAD"),
    *("../.gitignore", "../entries/.gitattributes", "../../.mem.gitmemo-migration.json"),
    *("../../.git/HEAD", "../../.git/index", "../../.git/commondir", "../../.git/info/exclude"),
    *("../../.git/gitmemo.git/packed-refs", "../../.git/gitmemo.git/gitmemo-copy.tmp"),
    *("../../.git/packed-refs", "../../.git/config", "../../.mem.gitmemo.lock", ""),
)


def test_a_fifo_in_the_place_of_any_file_makes_nobody_wait(loose: Store, tmp_path: Path) -> None:
    code = (
        "import sys, os, faulthandler\n"
        "from tests.gitmemo.test_damaged import in_the_place_of_each\n"
        "in_the_place_of_each(sys.argv[1], sys.argv[2])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, loose.root, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-500:] + done.stderr[-4000:]


def in_the_place_of_each(sound: str, folder: str) -> None:
    """Run in the child: every act with a FIFO, a folder, and gigabytes in the place of a file."""
    import faulthandler  # noqa: PLC0415 # of the child alone
    import shutil  # noqa: PLC0415 # of the child alone

    def fifo(path: str) -> None:
        os.mkfifo(path)

    def huge(path: str) -> None:
        Path(path).touch()
        os.truncate(path, SPARSE)

    makers: tuple[Callable[[str], None], ...] = (os.mkdir, huge)
    for number, (name, make) in enumerate(
        (name, make)
        for place, name in enumerate(CONTROL)
        for make in (fifo, makers[place % len(makers)])
    ):
        root = os.path.join(folder, str(number))
        shutil.copytree(sound, root, symlinks=True)
        store = Store(root, identity=IDENTITY, clock=Clock(), lock_timeout_s=0.2)
        path = os.path.normpath(os.path.join(store.path, ".git", name))
        if os.path.isdir(path):
            shutil.rmtree(path)
        elif os.path.lexists(path):
            os.unlink(path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        make(path)
        sys.stdout.write(f"{name} {make.__name__}\n")
        sys.stdout.flush()
        faulthandler.dump_traceback_later(LIMIT_S, exit=True)
        acts: tuple[Callable[[], object], ...] = (
            lambda root=root: locate(root),  # type: ignore[misc]
            lambda root=root: code_state(root),  # type: ignore[misc]
            lambda store=store: store.search(["outcome"]),  # type: ignore[misc]
            lambda store=store: store.history(),  # type: ignore[misc]
            lambda store=store: store.write(draft("New")),  # type: ignore[misc]
            lambda store=store: store.delete(store.entries()[0].id, "Old."),  # type: ignore[misc]
            lambda root=root: Store.init(root, identity=IDENTITY, lock_timeout_s=0.2),  # type: ignore[misc]
            lambda root=root: check(root, identity=IDENTITY, clock=Clock()),  # type: ignore[misc]
        )
        for act in acts:
            try:
                act()
            except GitMemoError:
                continue
        faulthandler.cancel_dump_traceback_later()
        shutil.rmtree(root)


def test_an_older_packed_main_is_not_taken_for_a_broken_one(tmp_path: Path) -> None:
    store = grown(tmp_path, packed=True)
    store.write(draft("Newer"))
    Path(store.path, ".git", "refs", "heads", "main").write_bytes(b"\0" * 41)
    assert main_tip(store.path) is None
    with pytest.raises(DamagedStore):
        store.search(["outcome"])


def test_a_write_does_not_lean_on_a_broken_object_that_was_there_before(tmp_path: Path) -> None:
    store = project(tmp_path / "project")
    store.write(draft("One"))
    two = store.write(draft("Two"))
    tree = git(store.path, "rev-parse", f"{two.id}^:entries").strip()
    path = Path(store.path, ".git", "objects", tree[:2], tree[2:])
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:-9])
    again = reopened(store)
    with pytest.raises(DamagedStore):
        again.delete(two.id, "Back to the tree of before.")
    assert again.tip() == two.id
    assert git(store.path, "status", "--porcelain") == ""


def test_a_damaged_index_of_the_code_repository_stops_nobody(tmp_path: Path) -> None:
    store = project(tmp_path / "project")
    Path(store.root, ".git", "index").write_bytes(b"DIRC mem" + hashlib.sha1(b"").digest())
    assert not Store.init(store.root, identity=IDENTITY).founded
    assert store.write(Draft("New", "Is new.", ("a", "b"), "New.")).id == store.tip()


def test_of_many_founders_only_one_says_so(tmp_path: Path) -> None:
    git(str(tmp_path), "init", "-q")
    code = "import sys; from gitmemo import Store; print(Store.init(sys.argv[1]).founded)"
    founders = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True
        )
        for _ in range(6)
    ]
    said = [founder.communicate(timeout=60)[0].strip() for founder in founders]
    assert sorted(said) == ["False"] * 5 + ["True"]
