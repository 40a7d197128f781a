"""Whatever lies in a store, its doctor comes to an end and says so."""

import os
import random
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmemo import Draft, Health, Store, check
from tests.support.memory import IDENTITY, NOW, Clock, draft, git, project

ROUNDS = int(os.environ.get("DOCTOR_ROUNDS", "60"))
SPARSE = 2 << 30
NOT_HISTORY = (".git/config", ".git/logs", ".git/info", ".git/objects/info")
"""Git's own settings, diary and caches."""

Damage = Callable[[str, random.Random], None]


def flip(path: str, luck: random.Random) -> None:
    data = bytearray(Path(path).read_bytes())
    for _ in range(luck.randint(1, 4)):
        if data:
            data[luck.randrange(len(data))] ^= 1 << luck.randrange(8)
    write(path, bytes(data))


def cut(path: str, luck: random.Random) -> None:
    data = Path(path).read_bytes()
    write(path, data[: luck.randrange(len(data) + 1)])


def grow(path: str, luck: random.Random) -> None:
    write(path, Path(path).read_bytes() + luck.randbytes(luck.randint(1, 40)))


def noise(path: str, luck: random.Random) -> None:
    write(path, luck.randbytes(luck.randint(0, 300)))


def remove(path: str, luck: random.Random) -> None:
    os.unlink(path)


def folder(path: str, luck: random.Random) -> None:
    os.unlink(path)
    os.mkdir(path)


def fifo(path: str, luck: random.Random) -> None:
    os.unlink(path)
    os.mkfifo(path)


def loop(path: str, luck: random.Random) -> None:
    os.unlink(path)
    os.symlink(os.path.basename(path), path)


def link_to_fifo(path: str, luck: random.Random) -> None:
    os.unlink(path)
    os.mkfifo(f"{path}.pipe")
    os.symlink(os.path.basename(path) + ".pipe", path)


def closed(path: str, luck: random.Random) -> None:
    os.chmod(path, 0)


def sparse(path: str, luck: random.Random) -> None:
    os.chmod(path, 0o644)
    os.truncate(path, SPARSE)


DAMAGES: list[Damage] = [flip, flip, cut, cut, grow, noise, remove, folder, fifo, loop]
DAMAGES += [link_to_fifo, closed]


def write(path: str, data: bytes) -> None:
    os.chmod(path, 0o644)
    with open(path, "wb") as file:
        file.write(data)


def grown(folder: Path, *, packed: bool) -> Store:
    store = project(folder / "project")
    first = store.write(draft("One"))
    store.write(Draft("Two", "Of two.", ("a", "b"), f"See [[{first.id}]].", related_paths=()))
    store.replace(first.id, draft("One again"))
    if packed:
        git(store.path, "gc", "-q")
    return store


def every_file(store: Store) -> list[str]:
    found = []
    for base, folders, names in os.walk(store.path):
        if "hooks" in folders:
            folders.remove("hooks")
        found += [os.path.join(base, name) for name in names]
    return sorted(found)


@pytest.fixture(scope="module", params=[False, True], ids=["loose", "packed"])
def sound(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Store:
    return grown(tmp_path_factory.mktemp("sound"), packed=request.param)


def examined(root: str) -> set[Health]:
    findings = check(root, identity=IDENTITY, clock=Clock(2 * NOW))
    assert len({one.check for one in findings}) > 30
    return {one.state for one in findings}


def copied(sound: Store, folder: Path) -> Store:
    root = folder / "project"
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(sound.root, root, symlinks=True)
    return Store(str(root), identity=IDENTITY, clock=Clock(), lock_timeout_s=1.0)


def test_any_damage_ends_in_findings_and_what_git_misses_is_failed(
    sound: Store, tmp_path: Path
) -> None:
    luck = random.Random(4711)
    for round_ in range(ROUNDS // 2):
        # A place of its own each time: the library keeps packs open by their paths.
        store = copied(sound, tmp_path / str(round_))
        done = []
        for _ in range(luck.randint(1, 2)):
            path, damage = luck.choice(every_file(store)), luck.choice(DAMAGES)
            if os.path.isfile(path) and not os.path.islink(path):
                damage(path, luck)
                done.append((damage.__name__, os.path.relpath(path, store.path)))
        states = examined(store.root)
        judged = not any(path.startswith(NOT_HISTORY) for _, path in done)
        if Health.FAIL not in states and judged:
            # No fault of git's own may pass for health.
            fsck = subprocess.run(
                ["git", "-C", store.path, "fsck", "--full", "--no-dangling"],
                capture_output=True,
                text=True,
                timeout=30,
                check=False,
                env={"PATH": os.environ["PATH"], "HOME": "/nonexistent"},
            )
            assert fsck.returncode == 0, (round_, done, fsck.stderr)
        shutil.rmtree(tmp_path / str(round_))


@pytest.mark.parametrize(
    "name", ["HEAD", "config", "index", "packed-refs", "refs/heads/main", "object", "entry"]
)
def test_a_file_of_two_gigabytes_of_nothing_is_named_and_not_read(
    sound: Store, tmp_path: Path, name: str
) -> None:
    store = copied(sound, tmp_path)
    paths = {
        "object": next((p for p in every_file(store) if "/objects/" in p), ""),
        "entry": next(p for p in every_file(store) if p.endswith(".md")),
    }
    path = paths.get(name, os.path.join(store.path, ".git", name))
    if not os.path.exists(path):
        Path(path).touch()
    sparse(path, random.Random(1))
    assert Health.FAIL in examined(store.root)


@pytest.mark.parametrize("damage", [remove, folder, fifo, loop, closed, noise])
@pytest.mark.parametrize("what", [".mem", ".mem/.git"])
def test_the_store_itself_may_be_anything(
    sound: Store, tmp_path: Path, what: str, damage: Damage
) -> None:
    store = copied(sound, tmp_path)
    path = os.path.join(store.root, what)
    shutil.rmtree(path)
    Path(path).touch()
    damage(path, random.Random(1))
    assert Health.FAIL in examined(store.root)
