"""Moves against git: `python -m benchmarks.moves REPO... [--pairs N] [--json] [--all]`.

For pairs of commits (A, B), near and far apart: check out A, reconcile, check out B, reconcile, and
compare the moves that the journal records with what git calls a rename at 50 %. A repository may be
any with history; nothing in it is changed. Exit 1 where precision or recall is below the bar.

What the words mean: `right`, git says so too; `equal`, git chose another place or none, and the
bytes at both ends are the same; `wrong`, neither. A path for which several places are recorded is
`several`: nothing is claimed of it. Of git's renames those of empty files are left out, for nothing
tells where an empty file went, and those of what is no file or not indexed.
"""

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from benchmarks.common import Place, note, private_place
from heimdall.config import Settings
from heimdall.journal.read import open_reader
from heimdall.model import Depth
from heimdall.writer import add_root, reconcile

PRECISION = 0.99
RECALL = 0.95
DISTANCES = (1, 3, 10, 30, 100, 300, 1000)


class Judged(NamedTuple):
    """One pair: counts by word, and the disagreements by name."""

    pair: str
    counts: Counter[str]
    names: list[str]


def main() -> int:
    """Measure every repository named."""
    parser = argparse.ArgumentParser(prog="benchmarks.moves", description=__doc__.split("\n")[0])
    parser.add_argument("repositories", nargs="+", metavar="REPO")
    parser.add_argument("--pairs", type=int, default=30, help="pairs of commits a repository")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--all", action="store_true", help="name every disagreement")
    asked = parser.parse_args()
    whole: Counter[str] = Counter()
    answers = []
    with private_place() as place:
        for repository in asked.repositories:
            counts: Counter[str] = Counter()
            for judged in measure(place, os.path.abspath(repository), asked.pairs):
                counts += judged.counts
                if asked.all:
                    for line in judged.names:
                        note(f"{judged.pair} {line}")
            whole += counts
            answers.append(answer(os.path.basename(repository.rstrip("/")), counts))
            note(words(answers[-1]))
    total = answer("all", whole)
    if asked.json:
        sys.stdout.write(json.dumps({"rows": answers, "all": total}) + "\n")
    else:
        sys.stdout.write(words(total) + "\n")
    return int(precision(whole) < PRECISION or recall(whole) < RECALL)


def precision(counts: Counter[str]) -> float:
    """The share of claims that are true."""
    claimed = counts["right"] + counts["equal"] + counts["other"] + counts["wrong"]
    return 1 - counts["wrong"] / claimed if claimed else 1.0


def recall(counts: Counter[str]) -> float:
    """The share of git's renames that are known, or known to another file of the same bytes."""
    found = counts["right"] + counts["other"]
    return found / (found + counts["missed"]) if found + counts["missed"] else 1.0


def answer(name: str, counts: Counter[str]) -> dict[str, object]:
    """The figures of one repository."""
    return {
        "name": name,
        **{word: counts[word] for word in WORDS},
        "precision": round(precision(counts), 4),
        "recall": round(recall(counts), 4),
    }


WORDS = ("right", "equal", "wrong", "several", "missed", "other")


def words(row: dict[str, object]) -> str:
    """A row as people read it."""
    counts = ", ".join(f"{row[word]} {word}" for word in WORDS)
    return f"{row['name']}: precision {row['precision']}, recall {row['recall']} ({counts})"


def measure(place: Place, repository: str, pairs: int) -> Iterator[Judged]:
    """One repository, pair by pair."""
    name = os.path.basename(repository.rstrip("/"))
    tree = os.path.join(place.top, "trees", name)
    os.makedirs(os.path.dirname(tree), exist_ok=True)
    place.git(place.top, "clone", "-q", "-n", "--shared", os.path.abspath(repository), tree)
    for number, (one, other) in enumerate(chosen(place, tree, pairs)):
        home = os.path.join(place.top, "homes", f"{name}-{number}")
        try:
            yield judge(place, tree, home, one, other)
        except SystemExit as missing:
            note(f"{one[:8]}..{other[:8]} left out: {str(missing)[:200]}")


def chosen(place: Place, tree: str, pairs: int) -> list[tuple[str, str]]:
    """Pairs of commits in which files were deleted and added, spread over the history."""
    history = place.git(tree, "rev-list", "--first-parent", "HEAD").decode().split()[::-1]
    found: dict[tuple[str, str], None] = {}
    for step in range(pairs * 40):
        distance = DISTANCES[step % len(DISTANCES)]
        at = step * 7919 % max(1, len(history) - distance)
        one, other = history[at], history[min(len(history) - 1, at + distance)]
        if one == other or (one, other) in found:
            continue
        status = place.git(tree, "diff", "--no-renames", "--name-status", one, other).decode(
            "utf-8", "replace"
        )
        kinds = {line[:1] for line in status.splitlines()}
        if {"A", "D"} <= kinds:
            found[one, other] = None
        if len(found) >= pairs:
            break
    return list(found)


def judge(place: Place, tree: str, home: str, one: str, other: str) -> Judged:
    """What the journal says became of A's files in B, against git."""
    settings = Settings(home=home, jobs=1, lock_timeout_s=5.0, depth=Depth.FILE)
    place.git(tree, "checkout", "-q", "-f", "--detach", one)
    place.git(tree, "clean", "-q", "-ffdx")
    add_root(settings, tree)
    reconcile(settings, None)
    place.git(tree, "checkout", "-q", "-f", "--detach", other)
    place.git(tree, "clean", "-q", "-ffdx")
    reconcile(settings, None)
    git = renames(place, tree, one, other)
    ours = recorded(home, tree, [*blobs(place, tree, one)])
    before, after = blobs(place, tree, one), blobs(place, tree, other)
    counts: Counter[str] = Counter()
    names: list[str] = []
    for old, places in ours.items():
        wanted = git.get(old)
        if len(places) > 1:
            word = "several"
        elif places[0] == wanted:
            word = "right"
        else:
            word = "equal" if before[old] == after.get(places[0]) else "wrong"
        # Those that git has a place for are counted below.
        if word in {"wrong", "several"} or (word == "equal" and wanted is None):
            counts[word] += 1
        if word != "right":
            names.append(f"{word}: {old} -> {places}, git: {wanted}")
    for old, new in git.items():
        if old not in before or new not in after or before[old] == _EMPTY:
            continue
        places = ours.get(old, [])
        if places == [new]:
            counts["right"] += 1
        elif len(places) == 1 and before[old] == after.get(places[0]):
            counts["other"] += 1
        else:
            counts["missed"] += 1
            names.append(f"missed: {old} -> {new}, ours: {places}")
    return Judged(f"{one[:8]}..{other[:8]}", counts, names)


def renames(place: Place, tree: str, one: str, other: str) -> dict[str, str]:
    """What git calls a rename at 50 %."""
    command = ("diff", "--raw", "-z", "-M50%", "-l0", "--diff-filter=R", one, other)
    parts = place.git(tree, *command).decode("utf-8", "surrogateescape").split("\0")
    found = {}
    for at in range(0, len(parts) - 2, 3):
        old_mode, new_mode = parts[at].lstrip(":").split(" ")[:2]
        if old_mode.startswith("100") and new_mode.startswith("100"):
            found[parts[at + 1]] = parts[at + 2]
    return found


def recorded(home: str, tree: str, names: list[str]) -> dict[str, list[str]]:
    """Where the journal says that each of the files went."""
    found: dict[str, list[str]] = {}
    with open_reader(home) as journal:
        for name in names:
            whole = os.path.join(tree, name)
            if os.path.lexists(whole):
                continue
            places = [os.path.relpath(move.new, tree) for move in journal.moves_from(whole)]
            if places:
                found[name] = places
    return found


def blobs(place: Place, tree: str, commit: str) -> dict[str, str]:
    """Every regular file of a commit with the name of its content."""
    lines = place.git(tree, "ls-tree", "-r", "-z", commit).decode("utf-8", "surrogateescape")
    found = {}
    for line in filter(None, lines.split("\0")):
        head, _, path = line.partition("\t")
        mode, _, blob = head.split(" ")
        if mode.startswith("100"):
            found[path] = blob
    return found


_EMPTY = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"


if __name__ == "__main__":
    sys.exit(main())
