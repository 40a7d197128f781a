"""What is measured on: real code, many small files, many memories. All made, none downloaded."""

import functools
import itertools
import os
import random
import re
import shutil
import sysconfig
from collections.abc import Iterator

from benchmarks.common import Place, note
from gitmemo import CodeState, Draft, Kind
from gitmemo.plan import add

HOUR_MS = 3_600_000
LAST_MS = 1_736_000_000_000
MEMORIES = 10_000
SOURCES = ("argparse", "datetime", "inspect", "pickle", "subprocess", "tarfile", "turtle", "typing")
"""Modules whose text gives the memories their words."""


@functools.cache
def vocabulary() -> tuple[str, ...]:
    """Some thousand words of code and prose, in a fixed order."""
    words: set[str] = set()
    for name in SOURCES:
        path = os.path.join(sysconfig.get_paths()["stdlib"], f"{name}.py")
        with open(path, encoding="utf-8") as file:
            words.update(word.lower() for word in re.findall(r"\b[A-Za-z]{4,12}\b", file.read()))
    return tuple(random.Random(7).sample(sorted(words), len(words)))


def standard_library(target: str) -> tuple[int, int]:
    """A copy of this Python's own library; its Python files and lines."""
    source = sysconfig.get_paths()["stdlib"]
    files = lines = 0
    for folder, folders, names in os.walk(source):
        folders[:] = [n for n in folders if n not in ("site-packages", "__pycache__")]
        place = os.path.normpath(os.path.join(target, os.path.relpath(folder, source)))
        for name in names:
            if name.endswith(".py"):
                os.makedirs(place, exist_ok=True)
                copied = shutil.copyfile(os.path.join(folder, name), os.path.join(place, name))
                with open(copied, "rb") as file:
                    lines += file.read().count(b"\n")
                files += 1
    return files, lines


def code_repository(place: Place, name: str) -> str:
    """A git repository that holds the copy; its path."""
    top = os.path.join(place.top, name)
    files, lines = standard_library(os.path.join(top, "lib"))
    note(f"a copy of the standard library: {files:,} files, {lines:,} lines")
    place.git(top, "init", "-q", "-b", "main")
    place.git(top, "add", "-A")
    place.git(top, "commit", "-q", "-m", "real code")
    return top


def many_files(place: Place, count: int) -> str:
    """A git repository of `count` small Python files in folders of a hundred; its path."""
    top = os.path.join(place.top, f"files-{count}")
    for number in range(count):
        folder = os.path.join(top, f"package{number // 100:03}")
        if number % 100 == 0:
            os.makedirs(folder)
        with open(os.path.join(folder, f"module{number:05}.py"), "w", encoding="utf-8") as file:
            file.write(f"def work_{number}(value):\n    return value + {number}\n")
    place.git(top, "init", "-q", "-b", "main")
    place.git(top, "add", "-A")
    place.git(top, "commit", "-q", "-m", "many files")
    return top


def drafts(count: int) -> Iterator[Draft]:
    """Different memories in words of code, the same ones at every run. Words are as uneven as in
    life: the n-th most common one is n times as rare as the first."""
    chance = random.Random(7)
    words = vocabulary()
    weights = list(itertools.accumulate(1 / (rank + 10) for rank in range(len(words))))
    for number in range(count):
        some = chance.choices(words, cum_weights=weights, k=11)
        yield Draft(
            title=f"{some[0]} {some[1]} {some[2]} of number{number}",
            summary=f"The {some[3]} waits for the {some[4]}; case{number % 997} has the {some[5]}.",
            keywords=(*dict.fromkeys(some[6:9]), f"case{number % 997}"),
            content=f"Measured on {number}: "
            + " ".join(chance.choices(words, cum_weights=weights, k=120)),
            kind=Kind.TASK,
        )


def questions() -> tuple[str, ...]:
    """Questions to a store of these: of common words, of middling ones, of a rare and a unique
    one; and one that the code answers."""
    words = vocabulary()
    return (
        " ".join(words[100:104]),
        " ".join(words[150:800:130]),
        f"{words[1500]} case512",
        "number4711",
        "where is the url parsed",
    )


def fill_store(place: Place, root: str, count: int) -> None:
    """Open a memory in `root` and put `count` entries into it, one commit each as ever, but in one
    stream: what is measured is not how they came there."""
    place.command(root, "mem", "init", "--no-index")
    store = os.path.join(root, ".mem")
    tip = place.git(store, "rev-parse", "main").decode().strip()
    place.git(store, "fast-import", "--quiet", data=b"".join(_stream(tip, count)))
    place.git(store, "reset", "-q", "--hard", "main")
    # One write by the front door lets the derived index catch up, as it would have all along.
    more = ("--title", "the last one", "--summary", "It is here.", "-k", "last", "-k", "one")
    place.command(root, "mem", "write", *more)


def _stream(tip: str, count: int) -> Iterator[bytes]:
    parent = tip
    for number, draft in enumerate(drafts(count)):
        # One an hour, the last of them in the past: what is written later comes last, as in life.
        when = LAST_MS - (count - number) * HOUR_MS
        change = add(draft, now_ms=when, code=CodeState(), anchors=(), taken=())
        message = change.message.encode()
        who = f"bench <bench@localhost> {when // 1000} +0000"
        yield f"commit refs/heads/main\nmark :{number + 1}\nauthor {who}\n".encode()
        yield f"committer {who}\ndata {len(message)}\n".encode() + message
        yield f"\nfrom {parent}\n".encode()
        for path, data in change.add:
            yield f"M 100644 inline {path}\ndata {len(data)}\n".encode() + data + b"\n"
        parent = f":{number + 1}"
