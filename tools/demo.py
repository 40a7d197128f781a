"""The main job on real code, in half a minute: `make demo`.

A private copy of this Python's standard library and of this repository gets a memory; five memories
are written about it; then the code changes under them, and the same questions are asked again. All
of it happens in one temporary directory with its own home, through the real commands, and is gone
afterwards, also after Ctrl-C. What the demo claims it checks: a verdict that is not the promised
one makes it exit 1.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rich.console import Console
from rich.table import Table
from rich.text import Text

REPOSITORY = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ENOUGH_LINES = 300_000
SKIPPED = ("site-packages", "dist-packages", "__pycache__", "test")
"""Folders that are not copied; the library's own tests would triple the time and show no more."""
BRANCH = "experiment"
COLOURS = {
    "STRONG": "bold green",
    "WEAK": "yellow",
    "REBUILT": "bold cyan",
    "STALE": "bold red",
    "REMOVED": "dim",
}

console = Console(highlight=False, width=None if sys.stdout.isatty() else 100)


class Memory(NamedTuple):
    """One memory, the question that must find it, and what must become of it: the verdict and the
    reason after the change, and again on the old branch."""

    title: str
    summary: str
    keywords: tuple[str, ...]
    path: str
    question: str
    fate: str
    verdict: str
    reason: str
    back: str


MEMORIES = (
    Memory(
        "heapq.nsmallest switches algorithm when n reaches the size",
        "For n == 1 it calls min, for n >= size it sorts; only between does it keep a heap.",
        ("heapq", "nsmallest", "performance"),
        "lib/heapq.py#nsmallest",
        "when does nsmallest stop keeping a heap",
        "its symbol is edited",
        "WEAK",
        "symbol-drifted",
        "WEAK",
    ),
    Memory(
        "heapq.merge wants inputs that are sorted already",
        "merge never sorts: unsorted inputs give a wrong order without any error.",
        ("heapq", "merge", "sorted"),
        "lib/heapq.py#merge",
        "does heapq merge sort its inputs",
        "another symbol of its file is edited",
        "STRONG",
        "symbols-same",
        "STRONG",
    ),
    Memory(
        "Chapter titles wrap badly when a word is longer than the line",
        "Switch the breaking of long words off for titles, then shorten by hand.",
        ("wrapping", "titles", "layout"),
        "lib/textwrap.py",
        "why do chapter titles wrap badly",
        "its file is moved",
        "REBUILT",
        "moved-identical",
        "REBUILT",
    ),
    Memory(
        "Hue is a share of the circle here, not degrees",
        "Colour conversion takes and gives numbers from 0 to 1; our palette had 0 to 360.",
        ("colour", "hue", "palette"),
        "lib/colorsys.py",
        "is hue in degrees in our palette",
        "its file is deleted",
        "STALE",
        "path-missing",
        "STALE",
    ),
    Memory(
        "Timed jobs of equal priority keep the order of arrival",
        "A sequence number breaks the tie, so two jobs at one moment never swap.",
        ("timed-jobs", "priority", "order"),
        "lib/sched.py",
        "do timed jobs of equal priority keep their order",
        "its file does not exist on the other branch",
        "STALE",
        "path-missing",
        "STRONG",
    ),
)
"""Each row of the final table."""


class Answer(NamedTuple):
    """What one search said of one memory: its verdict, its reasons, where it is now."""

    verdict: str
    reasons: tuple[str, ...]
    now: str


class Project:
    """The private copy: a git repository of real code, and the commands run inside it."""

    def __init__(self, scratch: str) -> None:
        self.code = os.path.join(scratch, "code")
        home = os.path.join(scratch, "home")
        os.makedirs(self.code)
        os.makedirs(home)
        kept = {name: value for name, value in os.environ.items() if not _foreign(name)}
        self.env = kept | {
            "HOME": home,
            "HEIMDALL_HOME": os.path.join(home, ".heimdall"),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "demo",
            "GIT_AUTHOR_EMAIL": "demo@localhost",
            "GIT_COMMITTER_NAME": "demo",
            "GIT_COMMITTER_EMAIL": "demo@localhost",
        }
        self.bin = os.path.dirname(os.path.abspath(sys.executable))

    def git(self, *arguments: str) -> str:
        """One git command in the copy."""
        return self._run(["git", "-c", "gc.auto=0", *arguments])

    def command(self, name: str, *arguments: str) -> str:
        """One of our two commands in the copy; its standard output. Its progress bar goes where
        ours would."""
        return self._run([os.path.join(self.bin, name), *arguments])

    def _run(self, command: Sequence[str]) -> str:
        done = subprocess.run(
            command, cwd=self.code, env=self.env, stdout=subprocess.PIPE, text=True, check=False
        )
        if done.returncode != 0:
            raise BrokenError(
                f"`{' '.join(command)}` ended with {done.returncode}: {done.stdout[:500]}"
            )
        return done.stdout

    def ask(self, question: str, entry: str) -> Answer:
        """What `mem search` says of the memory `entry` when asked `question`."""
        report = json.loads(self.command("mem", "search", "--json", "--all", question))
        hit = next((hit for hit in report["hits"] if hit["id"] == entry), None)
        if hit is None:
            return Answer("not found", (), "")
        moved = [anchor["now"] for anchor in hit["anchors"] if anchor["now"]]
        return Answer(hit["verdict"], tuple(hit["reasons"]), moved[0] if moved else "")


class BrokenError(Exception):
    """Something that the demo needs did not work."""


def main() -> int:
    """Run the demo; 0 when every promise was kept."""
    signal.signal(signal.SIGTERM, _interrupted)
    started = time.monotonic()
    with scratch_directory() as scratch:
        try:
            kept = tell(Project(scratch))
        except BrokenError as error:
            console.print(Text(str(error), style="red"))
            return 1
    console.print(f"\n{time.monotonic() - started:.0f} seconds; everything made was removed again.")
    return 0 if kept else 1


def tell(project: Project) -> bool:
    """The story, in order; whether every verdict was the promised one."""
    step("A private copy of real code")
    files, lines = copy_code(project.code)
    console.print(
        f"  {files:,} files, {lines:,} lines: this Python's standard library and this project"
    )
    commit_with_branch(project)

    step("mem init", "opens a memory beside the code and indexes all of it")
    started = time.monotonic()
    project.command("mem", "init")
    standing = json.loads(project.command("heimdall", "status", "--json"))
    counts = standing["counts"]
    console.print(
        f"  {counts['nodes']:,} definitions, {counts['edges']:,} references between them, "
        f"in {time.monotonic() - started:.1f} s"
    )

    step("mem write", "five memories, each pinned to a file or to one symbol")
    entries = [write(project, memory) for memory in MEMORIES]
    before = ask_all(project, entries)

    step("The code changes", "and nobody tells the memory")
    for line in change(project):
        console.print(f"  $ {line}")
    started = time.monotonic()
    project.command("heimdall", "reconcile", "--all")
    console.print(f"  $ heimdall reconcile --all   ({time.monotonic() - started:.1f} s)")
    after = ask_all(project, entries)

    project.git("switch", "--quiet", "main")
    console.print("  $ git switch main")
    back = ask_all(project, entries)
    console.print()
    console.print(table(before, after, back))
    return verdict_on_the_demo(before, after, back)


def step(title: str, detail: str = "") -> None:
    """The head of one part of the story."""
    line = Text(f"\n{title}", style="bold")
    if detail:
        line.append(f"  {detail}", style="not bold")
    console.print(line)


# -- the material ----------------------------------------------------------------------------------


def copy_code(target: str) -> tuple[int, int]:
    """Copy the standard library and this repository; how many Python files and lines there are."""
    standard = sysconfig.get_paths()["stdlib"]
    total = _copy_python(standard, os.path.join(target, "lib"))
    own = _copy_own(os.path.join(target, "heimdall-mem"))
    total = (total[0] + own[0], total[1] + own[1])
    if total[1] < ENOUGH_LINES:
        # Some systems ship a smaller library; the installed packages fill it up.
        more = _copy_python(sysconfig.get_paths()["purelib"], os.path.join(target, "packages"))
        total = (total[0] + more[0], total[1] + more[1])
    if total[1] < ENOUGH_LINES:
        raise BrokenError(
            f"only {total[1]:,} lines of code were found; the demo wants {ENOUGH_LINES:,}"
        )
    return total


def _copy_python(source: str, target: str) -> tuple[int, int]:
    """Copy every Python file below `source`, but not the folders in `SKIPPED`."""
    files = lines = 0
    for folder, folders, filenames in os.walk(source):
        folders[:] = [
            name
            for name in folders
            if name not in SKIPPED and not os.path.islink(os.path.join(folder, name))
        ]
        place = os.path.normpath(os.path.join(target, os.path.relpath(folder, source)))
        for name in filenames:
            if name.endswith(".py") and os.path.isfile(os.path.join(folder, name)):
                os.makedirs(place, exist_ok=True)
                shutil.copyfile(os.path.join(folder, name), os.path.join(place, name))
                files += 1
                lines += _lines(os.path.join(place, name))
    return files, lines


def _copy_own(target: str) -> tuple[int, int]:
    """Copy this repository's own files: the tracked ones, in an unpacked archive the packages."""
    listed = subprocess.run(
        ["git", "-C", REPOSITORY, "ls-files", "-z", "--cached"], capture_output=True, check=False
    )
    if listed.returncode != 0:
        parts = [
            _copy_python(os.path.join(REPOSITORY, name), os.path.join(target, name))
            for name in ("gitmemo", "heimdall", "tests")
        ]
        return sum(part[0] for part in parts), sum(part[1] for part in parts)
    files = lines = 0
    for name in os.fsdecode(listed.stdout).split("\0"):
        source = os.path.join(REPOSITORY, name)
        if name and os.path.isfile(source) and not os.path.islink(source):
            place = os.path.join(target, name)
            os.makedirs(os.path.dirname(place), exist_ok=True)
            shutil.copyfile(source, place)
            if name.endswith(".py"):
                files += 1
                lines += _lines(place)
    return files, lines


def _lines(path: str) -> int:
    with open(path, "rb") as file:
        return file.read().count(b"\n")


def commit_with_branch(project: Project) -> None:
    """Two commits: all of the code on `main`, and a branch on which one file does not exist."""
    project.git("init", "--quiet", "-b", "main")
    project.git("add", "--all")
    project.git("commit", "--quiet", "-m", "real code")
    project.git("switch", "--quiet", "-c", BRANCH)
    project.git("rm", "--quiet", "lib/sched.py")
    project.git("commit", "--quiet", "-m", "an experiment without the scheduler")
    project.git("switch", "--quiet", "main")


# -- the story's acts ------------------------------------------------------------------------------


def write(project: Project, memory: Memory) -> str:
    """Write one memory; its id."""
    keywords = [part for word in memory.keywords for part in ("-k", word)]
    printed = project.command(
        "mem",
        "write",
        "--json",
        "--title",
        memory.title,
        "--summary",
        memory.summary,
        "--path",
        memory.path,
        *keywords,
    )
    entry: str = json.loads(printed)["id"]
    return entry


def ask_all(project: Project, entries: Sequence[str]) -> list[Answer]:
    """One search for each memory."""
    return [
        project.ask(memory.question, entry) for memory, entry in zip(MEMORIES, entries, strict=True)
    ]


def change(project: Project) -> Iterator[str]:
    """Edit one file, move a second, delete a third, switch the branch; what a person would type."""
    heap = os.path.join(project.code, "lib", "heapq.py")
    with open(heap, encoding="utf-8") as file:
        text = file.read()
    start = text.find("    if n == 1:", text.find("def nsmallest("))
    if start < 0:
        raise BrokenError("lib/heapq.py is not as this demo knows it")
    with open(heap, "w", encoding="utf-8") as file:
        file.write(text[:start] + "    n = int(n)\n" + text[start:])
    yield "$EDITOR lib/heapq.py          # one line inside nsmallest"
    os.makedirs(os.path.join(project.code, "lib", "typesetting"))
    old, new = "lib/textwrap.py", "lib/typesetting/lines.py"
    os.rename(os.path.join(project.code, old), os.path.join(project.code, new))
    yield f"mv {old} {new}"
    os.unlink(os.path.join(project.code, "lib", "colorsys.py"))
    yield "rm lib/colorsys.py"
    project.git("switch", "--quiet", BRANCH)
    yield f"git switch {BRANCH}          # lib/sched.py does not exist there"


# -- the outcome -----------------------------------------------------------------------------------


def table(before: list[Answer], after: list[Answer], back: list[Answer]) -> Table:
    """Question by question: what the disk said before, what it says now, and why."""
    shown = Table(title="The same questions, before and after", title_justify="left")
    shown.add_column("question, and what happened", min_width=24)
    shown.add_column("before", no_wrap=True)
    shown.add_column("after", no_wrap=True)
    shown.add_column("why, and where it is now", overflow="fold", min_width=24)
    shown.add_column("on main", no_wrap=True)
    for memory, first, second, third in zip(MEMORIES, before, after, back, strict=True):
        why = ", ".join(second.reasons)
        shown.add_row(
            Text(memory.question).append(f"\n({memory.fate})", style="dim"),
            _coloured(first.verdict),
            _coloured(second.verdict),
            f"{why}\n-> {second.now}" if second.now else why,
            _coloured(third.verdict),
        )
    return shown


def _coloured(verdict: str) -> Text:
    return Text(verdict, style=COLOURS.get(verdict, "red"))


def verdict_on_the_demo(before: list[Answer], after: list[Answer], back: list[Answer]) -> bool:
    """Whether each answer was the promised one; what was not is said."""
    wrong = []
    for memory, first, second, third in zip(MEMORIES, before, after, back, strict=True):
        reasons = {reason.partition(":")[0] for reason in second.reasons}
        if first.verdict != "STRONG":
            wrong.append(f"{memory.question}: {first.verdict} before, promised STRONG")
        if second.verdict != memory.verdict or memory.reason not in reasons:
            promised = f"{memory.verdict} ({memory.reason})"
            got = f"{second.verdict} ({', '.join(second.reasons)})"
            wrong.append(f"{memory.question}: {got} after, promised {promised}")
        if third.verdict != memory.back:
            wrong.append(f"{memory.question}: {third.verdict} at last, promised {memory.back}")
        if memory.verdict == "REBUILT" and second.now != "lib/typesetting/lines.py":
            wrong.append(f"{memory.question}: found at {second.now or 'no place'}")
    for line in wrong:
        console.print(Text(f"not as promised: {line}", style="red"))
    if not wrong:
        console.print("Every verdict is the promised one; each was computed when it was asked for.")
    return not wrong


# -- leaving nothing behind ------------------------------------------------------------------------


@contextlib.contextmanager
def scratch_directory() -> Iterator[str]:
    """A private directory that is gone afterwards, whatever happened."""
    scratch = os.path.realpath(tempfile.mkdtemp(prefix="heimdall-demo-"))
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        # A process that was just stopped may have written once more while we removed.
        if os.path.exists(scratch):
            time.sleep(0.5)
            shutil.rmtree(scratch, ignore_errors=True)


def _foreign(name: str) -> bool:
    """Whether a variable of the caller's environment could reach into the demo."""
    return name.startswith(("GIT_", "HEIMDALL_", "PYTHON"))


def _interrupted(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        console.print("stopped; everything made was removed again.")
        sys.exit(130)
