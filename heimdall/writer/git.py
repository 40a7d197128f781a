"""The git program, asked which files of a work tree count.

Only questions are asked here, never a change. The user's hooks, pager and file monitor are kept
out; the user's ignore rules are let in, because they are the point: the environment is handed on
without its `GIT_*` variables, which inside a hook point at somebody's index.
"""

import os
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence

# A hostile repository may name a program as its file monitor; the answer does not need one.
_PREFIX = ("git", "-c", "core.fsmonitor=false")
_BATCH_BYTES = 96 * 1024
_PATIENCE_S = 300.0
"""After so long without an end to its answer, git hangs."""

_NOWHERE = ("not a git repository", "must be run in a work tree")


class GitRefused(Exception):  # a refusal is what it is; the walk turns it into a value
    """git is missing, or will not answer for this directory; `detail` is its own word."""

    def __init__(self, directory: str, detail: str) -> None:
        super().__init__(directory, detail)
        self.directory = directory
        self.detail = detail

    @property
    def no_repository(self) -> bool:
        """Whether there is no work tree at all: a `.git` that leads nowhere, as of a linked
        worktree whose repository was removed, makes none."""
        return any(words in self.detail for words in _NOWHERE)


def environment(inherited: Mapping[str, str]) -> dict[str, str]:
    """`inherited` without what would make git look elsewhere or write."""
    kept = {name: value for name, value in inherited.items() if not name.startswith("GIT_")}
    # Nothing is fetched for an answer: a hostile repository may say which program fetches.
    never = {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none"}
    return kept | never | {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"}


def listed(
    directory: str, among: Sequence[str] = (), *, meanwhile: Callable[[], None] = lambda: None
) -> list[str]:
    """What git counts as files below `directory`, relative to it, in git's order: tracked, or
    untracked and not ignored. `among` restricts the answer to these relative paths. A repository
    below shows as its directory, an untracked one with a slash at its end. `meanwhile` is called
    once while git is at work. Raises `GitRefused`.
    """
    arguments = ("--literal-pathspecs", "ls-files", "-z", "-c", "-o", "--exclude-standard")
    found: dict[str, None] = {}
    for batch in _batches(among) if among else ((),):
        answer = _ask(directory, (*arguments, "--", *batch), meanwhile=meanwhile)
        meanwhile = _nothing
        # An unmerged path is listed once for each of its stages.
        found.update(dict.fromkeys(answer))
    found.pop("", None)
    return list(found)


def ignored(directory: str, among: Iterable[str]) -> set[str]:
    """Which of these relative paths the ignore rules exclude and git does not track. Raises
    `GitRefused`."""
    question = os.fsencode("".join(f"{path}\0" for path in among))
    if not question:
        return set()
    answer = _ask(directory, ("check-ignore", "-z", "--stdin"), question, fine=(0, 1))
    return set(answer)


def users_ignore_file() -> str:
    """The ignore file that the user has for every tree, "" where git cannot say. It need not be
    there."""
    try:
        # Asked from where no repository has a word in it.
        answer = _ask("/", ("config", "-z", "--path", "--get", "core.excludesFile"), fine=(0, 1))
    except GitRefused:
        return ""
    if answer:
        return answer[0]
    above = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.environ.get("HOME", ""), ".config")
    return os.path.join(above, "git", "ignore") if os.path.isabs(above) else ""


def _ask(
    directory: str,
    arguments: Sequence[str],
    question: bytes = b"",
    *,
    fine: tuple[int, ...] = (0,),
    meanwhile: Callable[[], None] = lambda: None,
) -> list[str]:
    command = [*_PREFIX, "-C", directory, *arguments]
    try:
        child = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # The user's own ignore file is found through HOME and XDG_CONFIG_HOME. Nothing is
            # decided here by a variable: git alone reads them.
            env=environment(os.environ),
        )
    except OSError as error:
        meanwhile()
        raise GitRefused(directory, os.strerror(error.errno or 0)) from error
    with child:
        try:
            meanwhile()
            answer, complaint = child.communicate(question, timeout=_PATIENCE_S)
        except subprocess.TimeoutExpired as error:
            child.kill()
            raise GitRefused(directory, "git does not come to an end") from error
        except BaseException:
            child.kill()
            raise
    if child.returncode not in fine:
        raise GitRefused(directory, _refusal(complaint.decode("utf-8", "replace")))
    return os.fsdecode(answer).split("\0")[:-1]


def _refusal(complaint: str) -> str:
    """The line of git's words that says why; its advice and warnings are left out."""
    lines = complaint.strip().splitlines() or [""]
    return next((line for line in lines if line.startswith(("fatal:", "error:"))), lines[0])


def _nothing() -> None:
    """What is done meanwhile when everything was done."""


def _batches(paths: Sequence[str]) -> Iterable[tuple[str, ...]]:
    """The paths in pieces that fit on a command line."""
    batch: list[str] = []
    size = 0
    for path in paths:
        length = len(os.fsencode(path)) + 1
        if batch and size + length > _BATCH_BYTES:
            yield tuple(batch)
            batch, size = [], 0
        batch.append(path)
        size += length
    if batch:
        yield tuple(batch)
