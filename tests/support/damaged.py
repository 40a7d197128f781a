"""A child process of tests/gitmemo/test_damaged.py: damages stores and uses each in every way.

Run with: the sound store's root, a folder to work in, the seed, how many rounds. What happens is
printed round by round; a call that does not come back in time ends the process with its stack.
"""

import faulthandler
import json
import os
import random
import shutil
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from gitmemo import GitMemoError, Health, Store, check
from tests.gitmemo.test_checkup_fuzz import DAMAGES, Damage, cut, every_file, flip, grow, noise
from tests.support.memory import IDENTITY, Clock, draft, git

LIMIT_S = 30
_INDEX = "gitmemo-index"


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def opened(root: str) -> Store:
    return Store(root, identity=IDENTITY, clock=Clock(), lock_timeout_s=0.5)


def reads(store: Store, ids: Sequence[str]) -> dict[str, Callable[[], object]]:
    """The questions whose answers must be what they were before the damage."""
    asked: dict[str, Callable[[], object]] = {
        "search": lambda: sorted(hit.id for hit in store.search(["outcome"]).hits),
        "all": lambda: sorted(hit.id for hit in store.search(["says"], include_inactive=True).hits),
        "log": store.history,
        "topics": store.topics,
    }
    for one in ids:
        asked[f"read {one}"] = lambda one=one: store.read(one)  # type: ignore[misc]
        asked[f"short {one}"] = lambda one=one: store.read(one[:9])  # type: ignore[misc]
        asked[f"life {one}"] = lambda one=one: store.life(one)  # type: ignore[misc]
    return asked


def attempt(call: Callable[[], object]) -> tuple[object, GitMemoError | None]:
    faulthandler.dump_traceback_later(LIMIT_S, exit=True)
    try:
        return call(), None
    except GitMemoError as error:
        return None, error
    finally:
        faulthandler.cancel_dump_traceback_later()


def damaged(store: Store, luck: random.Random, *, packed: bool) -> list[str]:
    done = []
    for _ in range(luck.randint(1, 2)):
        path, damage = luck.choice(every_file(store)), luck.choice(DAMAGES)
        name = os.path.relpath(path, store.path)
        # What nobody can see: rows of derived data changed into other good ones, an older main.
        hidden = _INDEX in name and damage in (flip, grow, noise, cut)
        older = packed and name == ".git/refs/heads/main"
        if os.path.isfile(path) and not os.path.islink(path) and not hidden and not older:
            damage(path, luck)
            done.append(f"{damage.__name__} {name}")
    return done


def one_round(sound: str, folder: str, luck: random.Random, *, packed: bool) -> list[str]:
    """What went wrong."""
    root = os.path.join(folder, "project")
    shutil.copytree(sound, root, symlinks=True)
    store = opened(root)
    before = opened(sound)
    ids = [event.id for event in before.history() if event.act.value in ("add", "replace")]
    if luck.random() < 0.5:  # a store whose derived index does not answer
        with suppress(FileNotFoundError):
            os.unlink(os.path.join(root, ".mem", ".git", "gitmemo-index.db"))
    done = damaged(store, luck, packed=packed)
    say(f"damaged: {done}")
    wrong = []
    truth = {name: call() for name, call in reads(before, ids).items()}
    for name, call in reads(store, ids).items():
        answer, error = attempt(call)
        if error is None and answer != truth[name]:
            wrong.append(f"{done}: {name} answered {answer!r}, not {truth[name]!r}")
    findings, _ = attempt(lambda: check(root, identity=IDENTITY, clock=Clock()))
    assert isinstance(findings, tuple)
    said = []
    for name, act in (
        ("write", lambda: opened(root).write(draft("Three")).id),
        ("replace", lambda: opened(root).replace(ids[-2], draft("Two again")).id),
        ("delete", lambda: opened(root).delete(ids[0], "No longer.")),
        ("init", lambda: Store.init(root, identity=IDENTITY, lock_timeout_s=0.5).path),
    ):
        made, error = attempt(act)
        said.append(f"{name} {type(error).__name__ if error else 'done'}")
        if name in ("write", "replace") and error is None:
            if not git(store.path, "show", f"{made}:./", check=False):
                wrong.append(f"{done}: {name} made {made}, which git cannot show")
            entry, lost = attempt(lambda made=made: opened(root).read(str(made)))  # type: ignore[misc]
            if entry is None:
                wrong.append(f"{done}: {name} made {made}, which reads as {lost!r}")
    say(json.dumps([*said, any(one.state is Health.FAIL for one in findings)]))
    return wrong


def main(sound: str, folder: str, seed: str, rounds: str, packed: str) -> int:
    wrong = []
    for number in range(int(rounds)):
        luck = random.Random(f"{seed}.{number}")
        place = Path(folder) / f"{seed}-{number}"
        place.mkdir()
        say(f"round {number}")
        found = one_round(sound, str(place), luck, packed=packed == "packed")
        sys.stderr.write("".join(f"{one}\n" for one in found))
        wrong += found
        shutil.rmtree(place, ignore_errors=True)
    return 1 if wrong else 0


_ = Damage
if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
