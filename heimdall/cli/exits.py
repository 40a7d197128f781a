"""What every failure means to the person or program that called: exit code, sentence, hint.

Errors carry facts and no prose; this table is the only place where they become words. A class
without a row of its own takes the nearest ancestor's, and tests/house/test_errors_mapped.py walks
both trees to prove that no leaf needs to. Loaded only once something has gone wrong.
"""

import errno as _errno
import os
from collections.abc import Callable
from enum import IntEnum
from typing import NamedTuple

import gitmemo
from heimdall import errors


class ExitCode(IntEnum):
    """The numbers that programs may rely on; docs and README list them."""

    OK = 0
    FINDINGS = 1
    USAGE = 2
    NOT_FOUND = 3
    CONFLICT = 4
    REFUSED = 5
    DAMAGED = 6
    LOCK_TIMEOUT = 7
    MACHINE = 8
    UNFORESEEN = 70
    INTERRUPTED = 130
    BROKEN_PIPE = 141


class Explained(NamedTuple):
    """A failure as it is shown: `code` is for programs, `message` one sentence, `hint` what to do
    about it ("" for nothing), `retryable` whether the same call may succeed later."""

    exit_code: ExitCode
    code: str
    message: str
    hint: str
    retryable: bool


class Row(NamedTuple):
    """One line of the table. `message` and `hint` are templates over the error's facts, or a
    function of the error where one template is not enough."""

    exit_code: ExitCode
    code: str
    message: str | Callable[[Exception], str]
    hint: str | Callable[[Exception], str] = ""
    retryable: bool = False


_FIELDS = {
    "title": "the title",
    "summary": "the summary",
    "keywords": "a keyword",
    "keyword": "a keyword",
    "content": "the content",
    "related_paths": "a related path",
    "related_branches": "a related branch",
    "anchors": "an anchor",
    "reason": "the reason",
    "query": "the query",
    "kind": "the kind",
}

PROBLEMS = {
    "absolute": "{field} must be relative to the project ({detail})",
    "control-character": "{field} holds a control character ({detail})",
    "count": "the number of {plural} is not allowed ({detail})",
    "count-distinct": "too many {plural} mean the same; only {detail} remains",
    "empty": "{field} is empty",
    "escapes": "{field} leads out of the project ({detail})",
    "length": "{field} is too long or empty ({detail})",
    "malformed": "{field} is malformed ({detail})",
    "missing": "{field} does not exist ({detail})",
    "not-one-line": "{field} must be a single line ({detail})",
    "not-unicode": "{field} holds bytes that are not text",
    "out-of-range": "{field} is out of range",
    "reserved": "{field} holds a line that looks like a GitMemo trailer",
    "root": "{field} must name something inside the project, not its root",
    "too-long": "{field} is too long (at most {detail})",
    "type": "{field} has a wrong type",
    "unknown": "{field} is not known ({detail})",
}
"""Problems of a draft -> the sentence; tests/house finds every one that the store can raise."""

_DRAFT_HINTS = {
    "absolute": "Give the path as it is seen from the current directory.",
    "count-distinct": "Give between 2 and 12 different keywords, each with -k.",
    "escapes": "Only files of this project can be anchored.",
    "missing": "Name files of this checkout; a replacement needs --path where its old ones moved.",
    "reserved": "Begin the line with another character; lines like that belong to the store.",
}


def _draft_message(error: Exception) -> str:
    assert isinstance(error, gitmemo.InvalidDraft)
    field = _FIELDS.get(error.field, error.field)
    plural = error.field.replace("_", " ")
    text = PROBLEMS[error.problem].format(field=field, plural=plural, detail=_short(error.detail))
    return text.replace(" ()", "")


def _draft_hint(error: Exception) -> str:
    assert isinstance(error, gitmemo.InvalidDraft)
    if error.problem == "count" and error.field == "keywords":
        return _DRAFT_HINTS["count-distinct"]
    return _DRAFT_HINTS.get(error.problem, "")


def _not_active(error: Exception) -> str:
    assert isinstance(error, gitmemo.NotActive)
    if error.successors:
        return f"the entry {error.entry_id[:12]} was replaced and can no longer be changed"
    return f"the entry {error.entry_id[:12]} was withdrawn and can no longer be changed"


def _successors(error: Exception) -> str:
    assert isinstance(error, gitmemo.NotActive)
    if not error.successors:
        return "Write a new entry instead."
    return "Its place was taken by " + ", ".join(error.successors) + "."


def _candidates(error: Exception) -> str:
    assert isinstance(error, gitmemo.AmbiguousId)
    return "It could be " + ", ".join(one[:16] for one in error.candidates[:8]) + "."


def _refused(error: Exception) -> str:
    assert isinstance(error, gitmemo.IoRefused | errors.IoRefused)
    code = error.code
    why = os.strerror(code).lower() if code else error.detail or "it failed"
    return f"the machine refused at {error.path}: {why}"


def _refused_hint(error: Exception) -> str:
    assert isinstance(error, gitmemo.IoRefused | errors.IoRefused)
    if error.code in (_errno.ENOSPC, _errno.EDQUOT):
        return "Nothing was changed. Free some space and try again."
    if error.code in (_errno.EACCES, _errno.EPERM, _errno.EROFS):
        return "Nothing was changed. Reading and searching still work."
    return "Nothing was changed."


_ARGUMENTS = {
    "empty": "is empty",
    "nul": "holds a NUL byte",
    "unknown": "is not known",
    "not a cursor": "is not the cursor of an answer",
}


def _argument(error: Exception) -> str:
    assert isinstance(error, errors.BadArgument)
    problem = _ARGUMENTS.get(error.problem, error.problem)
    return f"{error.argument} {_short(error.value)!r} {problem}".replace(" '' ", " ")


def _nearest(error: Exception) -> str:
    assert isinstance(error, errors.BadConfig)
    return f"Did you mean {error.nearest}?" if error.nearest else ""


def _config(error: Exception) -> str:
    assert isinstance(error, errors.BadConfig)
    return f"{error.path}: {error.key} {error.problem}".replace(":  ", ": ")


_MIGRATIONS = {
    "moved": ("a branch moved since it was looked at", "Look again: `mem migrate`."),
    "conflicts": (
        "one entry has different contents on different branches ({detail})",
        "`mem migrate` lists them; make them equal, or remove what no longer holds.",
    ),
    "dirty": (
        "files inside it were changed by hand ({detail})",
        "`git -C .mem status` shows them; commit or remove them and try again.",
    ),
    "leftover-record": (
        "a change was interrupted ({detail})",
        "The program that began it finishes it at its next write.",
    ),
    "at-work": (
        "git is at work in it ({detail})",
        "`git -C .mem status` says at what; finish that and try again.",
    ),
    "marker-missing": (
        "it has entries of format 2 ({detail}) and lost only its marker",
        "`git -C .mem log --diff-filter=D -- .gitmemo-format` finds where; restore the file.",
    ),
}
"""Why a migration was refused -> in words, and what to do."""


def _migration(error: Exception) -> str:
    assert isinstance(error, gitmemo.MigrationRefused)
    why = _MIGRATIONS.get(error.reason, (error.reason, ""))[0].format(detail=_short(error.detail))
    return f"{error.path} was not migrated: {why}"


def _migration_hint(error: Exception) -> str:
    assert isinstance(error, gitmemo.MigrationRefused)
    hint = _MIGRATIONS.get(error.reason, ("", ""))[1]
    return f"{hint} Nothing was changed.".strip()


_WAIT = "Another command is writing. Try again in a moment."

_DAMAGES = {
    "copy-broken": (
        "this copy cannot give back its newest commit",
        "`git --git-dir` with that path reads what is left of it. Once it is moved out of the way,"
        " `mem init` opens a new memory.",
    ),
    "head-elsewhere": (
        "HEAD is not on main",
        "`git -C .mem symbolic-ref HEAD refs/heads/main` puts it back; look at `git -C .mem status`"
        " first.",
    ),
    "no-main": ("it has no branch main with a commit", ""),
    "not-sha1": ("its hashes are not SHA-1", "Move it out of the way, then `mem init` opens one."),
    "shallow": ("a part of its history is missing", "`git -C .mem fetch --unshallow` brings it."),
    "split-index": (
        "git keeps its index in two files",
        "`git -C .mem update-index --no-split-index` joins them.",
    ),
    "interrupted-migration": (
        "a migration was interrupted while it had no name",
        "`mem migrate --apply` or `mem init` finishes or undoes it; nothing was lost.",
    ),
    "migration-doubled": (
        "a migration was interrupted and another memory was made in its place",
        "The old one is in .mem.gitmemo-old-*; move one of the two away.",
    ),
    "migration-incomplete": ("its copy is not what it must be", "Nothing was changed."),
    "interrupted-moved": ("an interrupted change does not fit its newest commit", ""),
    "interrupted-foreign": ("files beside those of an interrupted change were changed", ""),
    "being-removed": ("something else is removing it right now", "Nothing was lost; try again."),
    "broken-object": ("the object {} is broken", ""),
    "missing-commit": ("the commit {} is missing", ""),
    "odd-file": ("{} is not a file as git keeps it there", ""),
    "unreadable-record": ("the record of an interrupted change cannot be read", ""),
}
"""What is damaged -> in words, and what to do where that can be said."""


def _damaged(error: Exception) -> str:
    assert isinstance(error, gitmemo.DamagedStore)
    kind, _, fact = error.detail.partition(":")
    what = _DAMAGES[kind][0].format(fact) if kind in _DAMAGES else error.detail
    return f"the memory at {error.path} is not as it must be: {_short(what)}"


def _damaged_hint(error: Exception) -> str:
    assert isinstance(error, gitmemo.DamagedStore)
    seen = "`mem doctor` shows all that is wrong and what helps; nothing was changed."
    return _DAMAGES.get(error.detail.partition(":")[0], ("", ""))[1] or seen


def _no_store_hint(error: Exception) -> str:
    assert isinstance(error, gitmemo.NoStore)
    copy = gitmemo.copy_dir(error.path)
    if copy is None or not os.path.isdir(copy):
        return "`mem init` opens one."
    return f"There was one, and its copy is at {copy}: `mem init` brings it back or says why not."


_OBSTACLES = {
    "worktrees": (
        "it has linked worktrees, which share its objects",
        "`git -C .mem worktree list` shows them, `worktree remove` or `prune` ends them.",
    ),
    "alternates": (
        "it borrows objects of another repository",
        "`git -C .mem repack -a -d` and removing .git/objects/info/alternates make it whole.",
    ),
    "grafts": ("its history is grafted", "Remove .git/info/grafts."),
    "partial": ("it is a partial clone", "Purge in a full clone of it."),
    "unfinished": (
        "a merge, rebase or the like is under way in it",
        "`git -C .mem status` tells which; end it first.",
    ),
}
"""What stands against a purge -> in words, and what to do."""


def _unpurgeable(error: Exception) -> str:
    assert isinstance(error, gitmemo.NotPurgeable)
    what = _OBSTACLES.get(error.detail, (error.detail, ""))[0]
    return f"nothing can be purged from {error.path}: {what}"


def _unpurgeable_hint(error: Exception) -> str:
    assert isinstance(error, gitmemo.NotPurgeable)
    return _OBSTACLES.get(error.detail, ("", ""))[1] or "Nothing was changed."


def _lock(error: Exception) -> str:
    assert isinstance(error, gitmemo.LockTimeout)
    since = f" since {_short(error.since)}" if error.since else ""
    holder = f"({_short(error.holder)}{since})"
    return (
        f"{error.path} was held by another process {holder} for all of {error.waited_s:.1f} seconds"
    )


def _lock_hint(error: Exception) -> str:
    assert isinstance(error, gitmemo.LockTimeout)
    if os.path.basename(error.path) == "gitmemo.lock":  # the kernel frees it with its process
        return _WAIT
    pid, at, host = error.holder.partition("@")
    if not at:
        return f"{_WAIT} If no program is at work on this memory, remove that file."
    return f"{_WAIT} If process {pid} on {_short(host)} is over, remove that file."


TABLE: dict[type[Exception], Row] = {
    gitmemo.GitMemoError: Row(ExitCode.DAMAGED, "memory-error", "the memory cannot be used"),
    gitmemo.InvalidDraft: Row(ExitCode.REFUSED, "invalid-draft", _draft_message, _draft_hint),
    gitmemo.InvalidId: Row(
        ExitCode.USAGE,
        "invalid-id",
        "{text!r} is not the id of an entry",
        "An id is seven or more lower-case hex digits, as `mem log` and `mem search` print them.",
    ),
    gitmemo.UnknownId: Row(
        ExitCode.NOT_FOUND,
        "unknown-id",
        "no entry has the id {text}",
        "`mem log` lists the entries of this store.",
    ),
    gitmemo.WithdrawalId: Row(
        ExitCode.NOT_FOUND,
        "withdrawal-id",
        "{text} is no entry but the commit that withdrew {withdrew}",
        "`mem read {withdrew}` shows what it withdrew.",
    ),
    gitmemo.Purged: Row(
        ExitCode.NOT_FOUND,
        "purged",
        "the entry {entry_id} was purged on {date}",
        "Its text was removed from history for good.",
    ),
    gitmemo.AmbiguousId: Row(
        ExitCode.CONFLICT, "ambiguous-id", "more than one entry starts with {text}", _candidates
    ),
    gitmemo.NotActive: Row(ExitCode.CONFLICT, "not-active", _not_active, _successors),
    gitmemo.Duplicate: Row(
        ExitCode.CONFLICT,
        "duplicate",
        "the active entry {entry_id} says exactly this already",
        "Nothing was written.",
    ),
    gitmemo.StaleSnapshot: Row(
        ExitCode.CONFLICT,
        "stale-snapshot",
        "the snapshot {snapshot} is not in the history of this memory",
        "Ask again without it for a fresh first page.",
    ),
    gitmemo.NoStore: Row(
        ExitCode.NOT_FOUND,
        "no-store",
        "there is no memory at {path} yet",
        _no_store_hint,
    ),
    gitmemo.NoProject: Row(
        ExitCode.NOT_FOUND,
        "no-project",
        "{path} lies in no git repository and no folder above it has a memory",
        "`mem init --here` keeps a memory in this very folder.",
    ),
    gitmemo.TrackedByParent: Row(
        ExitCode.REFUSED,
        "tracked-by-parent",
        "the repository at {path} tracks files under .mem, which must belong to the memory alone",
        "`git rm -r --cached .mem` and a commit make room; the files stay where they are.",
    ),
    gitmemo.PlainFolder: Row(
        ExitCode.DAMAGED,
        "plain-folder",
        "{path} exists and is not a git repository with a .git folder of its own",
        "Move it out of the way, then `mem init` opens a memory.",
    ),
    gitmemo.LegacyStore: Row(
        ExitCode.REFUSED,
        "legacy-store",
        "{path} is a memory of an old format: it can be searched and read, not written",
        "`mem migrate` shows what would become of it, `mem migrate --apply` does it.",
    ),
    gitmemo.OtherFormat: Row(
        ExitCode.REFUSED,
        "other-format",
        "{path} is a memory of a format that is not known here ({detail}), perhaps a newer one",
        "Update this program, or use the one that made it; nothing was changed.",
    ),
    gitmemo.MigrationRefused: Row(
        ExitCode.REFUSED, "migration-refused", _migration, _migration_hint
    ),
    gitmemo.NotPurgeable: Row(ExitCode.REFUSED, "not-purgeable", _unpurgeable, _unpurgeable_hint),
    gitmemo.DirtyStore: Row(
        ExitCode.DAMAGED,
        "dirty-store",
        "files inside {path} were changed by hand ({detail})",
        "`git -C .mem status` shows them; undo or remove them and try again.",
    ),
    gitmemo.DamagedStore: Row(
        ExitCode.DAMAGED,
        "damaged-store",
        _damaged,
        _damaged_hint,
    ),
    gitmemo.LockTimeout: Row(
        ExitCode.LOCK_TIMEOUT,
        "lock-timeout",
        _lock,
        _lock_hint,
        retryable=True,
    ),
    gitmemo.UnfinishedPurge: Row(
        ExitCode.MACHINE,
        "unfinished-purge",
        "the entry has left the history of {path}, but its old objects are still there ({detail})",
        "The next write, or the same purge again, finishes it.",
        retryable=True,
    ),
    gitmemo.IoRefused: Row(ExitCode.MACHINE, "io-refused", _refused, _refused_hint, retryable=True),
    errors.HeimdallError: Row(ExitCode.DAMAGED, "index-error", "the index cannot be used"),
    errors.BadArgument: Row(ExitCode.USAGE, "bad-argument", _argument),
    errors.UnknownPath: Row(ExitCode.NOT_FOUND, "unknown-path", "{path}: {problem}"),
    errors.BadConfig: Row(ExitCode.USAGE, "bad-config", _config, _nearest),
    errors.NoJournal: Row(
        ExitCode.NOT_FOUND,
        "no-journal",
        "nothing was indexed yet",
        "`heimdall reconcile --all` inside a project indexes it.",
    ),
    errors.NewerJournal: Row(
        ExitCode.DAMAGED,
        "newer-journal",
        "the index at {path} was written by a newer version ({detail})",
        "Update this program, or move the file away and run `heimdall rebuild`.",
    ),
    errors.DamagedJournal: Row(
        ExitCode.DAMAGED,
        "damaged-journal",
        "the index at {path} is damaged ({detail})",
        "`heimdall reconcile` sets it aside and makes it anew; memories are not in it.",
    ),
    errors.WriterBusy: Row(
        ExitCode.LOCK_TIMEOUT,
        "writer-busy",
        "{path} was held by another process ({holder}) for all of {waited_s:.1f} seconds",
        _WAIT,
        retryable=True,
    ),
    errors.IoRefused: Row(ExitCode.MACHINE, "io-refused", _refused, _refused_hint, retryable=True),
}
"""Error -> exit code, code, sentence, hint, retryable."""


def explain(error: gitmemo.GitMemoError | errors.HeimdallError) -> Explained:
    """The failure in words, by the row of its class or of the nearest ancestor."""
    row = next(TABLE[kind] for kind in type(error).__mro__ if kind in TABLE)
    return Explained(
        row.exit_code,
        row.code,
        _filled(row.message, error).replace(" ()", ""),
        _filled(row.hint, error),
        row.retryable,
    )


def _filled(
    words: str | Callable[[Exception], str], error: gitmemo.GitMemoError | errors.HeimdallError
) -> str:
    if not isinstance(words, str):
        return one_line(words(error))
    facts = {
        key: _short(value) if isinstance(value, str) else value
        for key, value in error.facts().items()
    }
    return one_line(words.format_map(facts))


def _short(text: str, limit: int = 200) -> str:
    """A fact, cut where it would bury the sentence."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def one_line(text: str) -> str:
    """`text` on one line: a control character would otherwise break the promise of one sentence."""
    return "".join(c if c.isprintable() else " " for c in text)
