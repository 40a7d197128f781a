"""The first law of a verdict: whatever happens to the files, STRONG is said only of content that is
there, unchanged, at this moment; and STALE only of what is nowhere to be seen.

The oracle knows what became of each anchor because it did it; the verdict knows only the disk and
an index that has seen some, all or nothing of it.
"""

import tempfile
from pathlib import Path
from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from heimdall.model import AnchorState, Verdict
from tests.heimdall.search.world import World

FATES = (
    "same",
    "touched",
    "edited",
    "edited around the symbol",
    "symbol removed",
    "moved",
    "moved and edited",
    "moved and edited around the symbol",
    "deleted",
    "copied, then deleted",
    "copied twice, then deleted",
    "replaced by another file",
    "replaced by a link",
    "replaced by a directory",
    "deleted and written again",
    "behind a dangling link",
)


class Truth(NamedTuple):
    """What is true of one anchor: its own bytes are at its own path; its file's bytes are somewhere
    else (whole); something is at its path."""

    intact: bool
    elsewhere: bool
    there: bool


class Anchored(NamedTuple):
    """One file with a body of its own, and whether its symbol is pinned beside it."""

    path: str
    with_symbol: bool
    fate: str


def body(number: int) -> str:
    filler = "".join(f"LINE_{number}_{line} = {line * number}\n" for line in range(12))
    thing = f"def thing_{number}(x):\n    return x + {number}\n"
    return f"{filler}\n\n{thing}\n\ndef rest():\n    return 0\n"


anchored = st.lists(st.tuples(st.booleans(), st.sampled_from(FATES)), min_size=1, max_size=3).map(
    lambda rows: [Anchored(f"d{n}/f{n}.py", *row) for n, row in enumerate(rows)]
)


def happen(world: World, number: int, file: Anchored) -> Truth:
    text = body(number)
    around = text.replace("return 0", "return 1")
    inside = text.replace(f"return x + {number}", f"return x - {number}")
    path = world.root / file.path
    kept = file.with_symbol
    match file.fate:
        case "same":
            return Truth(True, False, True)
        case "touched":
            path.touch()
            return Truth(True, False, True)
        case "edited":
            world.put(file.path, inside)
            return Truth(False, False, True)
        case "edited around the symbol":
            world.put(file.path, around)
            return Truth(kept, False, True)
        case "symbol removed":
            world.put(file.path, text.split("\n\n\ndef thing")[0])
            return Truth(False, False, True)
        case "moved":
            world.move(file.path, f"new/n{number}.py")
            return Truth(False, True, False)
        case "moved and edited":
            world.move(file.path, f"new/n{number}.py")
            world.put(f"new/n{number}.py", inside)
            return Truth(False, False, False)
        case "moved and edited around the symbol":
            world.move(file.path, f"new/n{number}.py")
            world.put(f"new/n{number}.py", around)
            return Truth(False, kept, False)
        case "deleted":
            world.remove(file.path)
            return Truth(False, False, False)
        case "copied, then deleted":
            world.put(f"copy/c{number}.py", text)
            world.remove(file.path)
            return Truth(False, True, False)
        case "copied twice, then deleted":
            world.put(f"copy/c{number}.py", text)
            world.put(f"copy/d{number}.py", text)
            world.remove(file.path)
            return Truth(False, True, False)
        case "replaced by another file":
            world.put(file.path, "other = 1\n")
            return Truth(False, False, True)
        case "replaced by a link":
            world.remove(file.path)
            world.put(f"far/l{number}.py", "other = 2\n")
            path.symlink_to(world.root / f"far/l{number}.py")
            return Truth(False, False, True)
        case "replaced by a directory":
            world.remove(file.path)
            path.mkdir()
            return Truth(False, False, True)
        case "deleted and written again":
            world.remove(file.path)
            world.put(file.path, text)
            return Truth(True, False, True)
        case "behind a dangling link":
            path.parent.rename(world.root.parent / f"away{number}")
            path.parent.symlink_to(world.root / f"nowhere{number}")
            return Truth(False, False, True)
    raise AssertionError(file.fate)


@given(
    files=anchored,
    seen=st.sampled_from(["nothing", "before", "all", "some"]),
    moves=st.booleans(),
)
@settings(max_examples=80, deadline=None)
def test_strong_is_true(files: list[Anchored], seen: str, moves: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
        for number, file in enumerate(files):
            world.put(file.path, body(number))
        entry = world.entry(*(file.path for file in files))
        named = " ".join(f"`thing_{n}`" for n, file in enumerate(files) if file.with_symbol)
        pinned = world.entry(*(file.path for file in files), text=named).anchors if named else ()
        entry = entry._replace(anchors=tuple(dict.fromkeys(entry.anchors + pinned)))
        if seen != "nothing":
            world.index()
        truths = [happen(world, number, file) for number, file in enumerate(files)]
        _catch_up(world, files, seen, moves=moves)

        evidence = world.evidence(entry)
        verdict, reasons = world.judge(entry)

        if verdict is Verdict.STRONG:
            assert all(truth.intact for truth in truths), (files, reasons)
        if all(truth.intact for truth in truths):
            assert verdict is Verdict.STRONG, (files, reasons)
        if verdict is Verdict.STALE:
            assert not any(truth.intact or truth.there for truth in truths), (files, reasons)
        if verdict is Verdict.REBUILT:
            assert all(
                t.intact or t.elsewhere or _moved(f) for f, t in zip(files, truths, strict=True)
            )
        for fact in evidence.anchors:
            if fact.state is AnchorState.MOVED:
                _is_there(world, fact.path, fact.now)


def _moved(file: Anchored) -> bool:
    return file.fate.startswith("moved")


def _catch_up(world: World, files: list[Anchored], seen: str, *, moves: bool) -> None:
    """Let the index see nothing more, everything, or only the first file's old path."""
    if seen == "some":
        world.index(files[0].path)
    if seen == "all":
        world.index(*(file.path for file in files), *world._files())
        for number, file in enumerate(files):
            if moves and _moved(file):
                alike = 1.0 if file.fate == "moved" else 0.9
                world.moved(file.path, f"new/n{number}.py", alike)


def _is_there(world: World, old: str, now: str | None) -> None:
    """A new place that is named exists, and is the one where the file was put."""
    assert now is not None
    number = old[1]
    place = now.partition("#")[0]
    assert place in {f"new/n{number}.py", f"copy/c{number}.py", f"copy/d{number}.py"}
    assert (world.root / place).is_file()
