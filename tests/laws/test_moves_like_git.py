"""What the journal records of moves, against git's own detection of renames at 50 %.

A move that git does not call a rename must be one of identical bytes, of a twin of the file that
git names, or to a copy that was made in an earlier commit; a rename of git's must be
recorded, or its path have several places that are about as like.
"""

import os
import random
from pathlib import Path

import pytest

from heimdall.journal.read import open_reader
from heimdall.model import Depth
from heimdall.writer import reconcile
from tests.support.index import index
from tests.support.trees import git, plant

SEEDS = range(60 if os.environ.get("TESTS_FULL") else 6)
FOLDERS = ("", "lib/", "pkg/", "pkg/sub/", "docs/")
KINDS = (".py", ".js", ".md", ".txt")
HEADER = "".join(f"# licence, line {n} of all files\n" for n in range(6))


def content(chance: random.Random) -> str:
    lines = [f"{chance.getrandbits(60):x} says {n}\n" for n in range(chance.randint(3, 60))]
    return (HEADER if chance.random() < 0.5 else "") + "".join(lines)


def edited(chance: random.Random, text: str) -> str:
    share = chance.choice([0.02, 0.1, 0.2, 0.35, 0.6, 0.9])
    lines = [
        f"edited {chance.getrandbits(60):x}\n" if chance.random() < share else line
        for line in text.splitlines(keepends=True)
    ]
    return "".join(lines)


def name(chance: random.Random) -> str:
    return f"{chance.choice(FOLDERS)}n{chance.getrandbits(20):x}{chance.choice(KINDS)}"


def change(chance: random.Random, tree: dict[str, str]) -> dict[str, str]:
    """The tree after a few renames, edits, splits, copies, deletions and new files."""
    after = dict(tree)
    for old in chance.sample(sorted(tree), len(tree) * 2 // 3):
        text = after[old]
        match chance.randrange(8):
            case 0:
                after[name(chance)] = after.pop(old)
            case 1 | 2:
                after[name(chance)] = edited(chance, after.pop(old))
            case 3:
                new = f"{chance.choice(FOLDERS)}{os.path.basename(old)}"
                after[new] = edited(chance, after.pop(old))
            case 4:
                half = text.splitlines(keepends=True)
                after.pop(old)
                after[name(chance)] = "".join(half[: len(half) * 2 // 3])
                after[name(chance)] = "".join(half[len(half) * 2 // 3 :])
            case 5:
                after[name(chance)] = edited(chance, text)
            case 6:
                after.pop(old)
            case _:
                after[old] = edited(chance, text)
    after[name(chance)] = content(chance)
    return after


def renames(root: str) -> dict[str, str]:
    lines = git(root, "diff", "--name-status", "-M50%", "-l0", "HEAD~", "HEAD").splitlines()
    return {
        old: new for kind, old, *rest in map(str.split, lines) if kind[0] == "R" for new in rest
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_the_journal_sees_the_moves_that_git_sees(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)  # a test that can be repeated
    tree = {name(chance): content(chance) for _ in range(24)}
    root = str(tmp_path / "r")
    os.makedirs(root)
    git(root, "init", "-q")
    home = str(tmp_path / "home")
    plant(root, tree)
    git(root, "add", "-A")
    git(root, "commit", "-qm", "0")
    made, _ = index(home, root, depth=Depth.FILE)
    claimed = known = missed = 0
    for number in range(3):
        after = change(chance, tree)
        for old in tree.keys() - after.keys():
            os.unlink(os.path.join(root, old))
        plant(root, after)
        git(root, "add", "-A")
        git(root, "commit", "-qm", str(number))
        reconcile(made, None)
        wanted = renames(root)
        with open_reader(home) as journal:
            ours = {
                old: {os.path.relpath(move.new, root) for move in journal.moves_from(path)}
                for old in tree.keys() - after.keys()
                for path in [os.path.join(root, old)]
            }
        for old, places in ours.items():
            if len(places) == 1:
                (new,) = places
                if new in tree:
                    continue  # a copy that came first, and stayed when its original went
                claimed += 1
                twin = next((one for one, place in wanted.items() if place == new), old)
                assert twin == old or tree[twin] == tree[old] or tree[old] == after[new]
                assert old in wanted or twin != old or tree[old] == after[new]
        for old, new in wanted.items():
            known += new in ours[old]
            missed += new not in ours[old]
        tree = after
    assert claimed >= 10
    assert missed == 0, f"{missed} of {known + missed}"
