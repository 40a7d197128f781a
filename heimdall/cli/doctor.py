"""`mem doctor`: what the checks of a memory found, in words, with what to do about each.

The findings are facts of gitmemo; their sentences and advice live in the one table below, keyed by
check and fault. `findings_value` and `findings_text` know nothing of memories, so whatever else is
examined one day can be shown by them. Tests: tests/heimdall/cli/test_doctor.py.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, NamedTuple

import typer

from gitmemo import Finding, Health, Subject
from heimdall.app import Examined
from heimdall.cli import progress, session, views
from heimdall.cli.exits import ExitCode
from heimdall.cli.render import clean
from heimdall.cli.typed import AsJson

_SHOWN = 5
"""How many subjects a line of text names; JSON names all of them."""


class Words(NamedTuple):
    """A sentence about a finding and what to do. `{what}` are its subjects, `{rest}` those
    after the first, `{path}`, `{id}` and `{note}` parts of the first, `{n}` how many there are."""

    sentence: str
    advice: str = ""


def doctor(
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="Neither read every object of history nor compare the search index with it.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Examine the memory here and say what to do about each finding.

    Looks at the folder, the git repository in it and every entry; changes nothing, takes no lock,
    and works on a damaged memory and on a read-only disk. Exit 1 where something is lost, wrong or
    refused until somebody acts; 0 with warnings only.

    \b
    Example:
      mem doctor
      mem doctor --quick --json
    """
    with progress.bar("reading history") as shown:
        examined = session.open_app().doctor(quick=quick, progress=shown)
    value = views.dumps(doctor_value(examined)) if as_json else doctor_text(examined)
    session.say(value)
    return ExitCode.FINDINGS if worst(examined.findings) is Health.FAIL else ExitCode.OK


def worst(findings: Sequence[Finding]) -> Health:
    """FAIL before WARN before OK; what was skipped counts for nothing."""
    states = {one.state for one in findings}
    return next((one for one in (Health.FAIL, Health.WARN) if one in states), Health.OK)


def doctor_value(examined: Examined) -> views.Value:
    """An examination as mem.doctor/1."""
    return {
        "schema": "mem.doctor/1",
        "root": examined.root,
        "store": examined.store,
        "state": worst(examined.findings),
        "checks": findings_value(examined.findings),
    }


def doctor_text(examined: Examined) -> str:
    """An examination for people: the all-clear, or a line a check."""
    where = f"the memory at {clean(examined.store)}"
    if worst(examined.findings) is Health.OK:
        checks = len({one.check for one in examined.findings if one.state is Health.OK})
        notes = [one for one in examined.findings if (one.check, one.fault) in _NOTED]
        lines = [f"{where} is well: {checks} checks found nothing to do"]
        lines += [f"note: {one.check}: {explain(one).sentence}" for one in notes]
        return "\n".join(lines)
    return "\n".join([findings_text(examined.findings), _summed(examined.findings, where)])


def _summed(findings: Sequence[Finding], where: str) -> str:
    counts = Counter(one.state for one in findings)
    said = {Health.FAIL: "to mend", Health.WARN: "to know of", Health.SKIP: "not asked"}
    parts = [f"{counts[state]} {words}" for state, words in said.items() if counts[state]]
    return f"{where}: {', '.join(parts)}"


def findings_value(findings: Sequence[Finding]) -> list[dict[str, object]]:
    """Findings as JSON, with their words."""
    return [
        {
            "check": one.check,
            "state": one.state,
            "fault": one.fault or None,
            "subjects": [
                {name: value for name, value in subject._asdict().items() if value}
                for subject in one.subjects
            ],
            "message": explain(one).sentence,
            "advice": explain(one).advice or None,
        }
        for one in findings
    ]


def findings_text(findings: Sequence[Finding]) -> str:
    """One line a finding, and below it what to do. What was skipped because of another finding is
    named in one line."""
    lines = []
    waiting: dict[str, list[str]] = {}
    for one in findings:
        words = explain(one)
        if one.fault == "needs" and one.subjects:
            waiting.setdefault(one.subjects[0].note, []).append(one.check)
            continue
        mark = one.state.upper() if one.state is Health.FAIL else one.state
        lines.append(f"{mark:<4}  {one.check:<11}  {words.sentence}".rstrip())
        if words.advice and one.state in (Health.WARN, Health.FAIL):
            lines.append(f"{'':<19}{words.advice}")
    lines += [
        f"skip  {', '.join(checks)}: not asked because of `{clean(need)}`"
        for need, checks in waiting.items()
    ]
    return "\n".join(lines)


def explain(finding: Finding) -> Words:
    """The words of a finding, on one line each."""
    words = WORDS.get((finding.check, finding.fault)) or ANY.get(finding.fault)
    if words is None:
        words = Words(finding.fault and f"{finding.fault}: {{what}}")
    subjects = finding.subjects
    first = subjects[0] if subjects else Subject()
    facts = {
        "what": _named(subjects),
        "rest": _named(subjects[1:]),
        "n": len(subjects),
        "path": first.path,
        "id": first.id[:12],
        "note": first.note,
        "check": finding.check,
    }
    return Words(clean(words.sentence.format_map(facts)), clean(words.advice.format_map(facts)))


def _named(subjects: Sequence[Subject]) -> str:
    """The first few subjects, and how many more there are."""
    shown = [_one(subject) for subject in subjects[:_SHOWN]]
    more = len(subjects) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _one(subject: Subject) -> str:
    name = " of ".join(part for part in (subject.id[:12], subject.path) if part)
    return f"{name} ({subject.note})" if name and subject.note else name or subject.note


_STATUS = "`git -C .mem status` and `git -C .mem diff` show it; undo it or move it away."
_COPY = (
    "Bring it from a clone or a backup: `git -C .mem fetch --refetch REMOTE` asks for all again."
)

ANY = {
    "": Words(""),
    "failed": Words(
        "could not be looked at: {note}", "`git -C .mem fsck --full` may say more about it."
    ),
    "at-work": Words("not asked: a writer is at work; ask again in a moment"),
    "needs": Words("not asked because of `{note}`"),
    "quick": Words("not asked (--quick)"),
}
"""What any check may have met."""

WORDS = {
    ("project", "here"): Words("{path}"),
    ("project", "no-git"): Words("{path}, which is no git repository"),
    ("worktrees", "second-store"): Words(
        "linked worktrees share this memory, and another one lies at {what}",
        "Nothing here finds what is in it. Write anew what is worth keeping and move it away; or"
        " set `shared_worktrees = false` if each worktree shall have its own.",
    ),
    ("tracked", "tracked"): Words(
        "the code repository tracks {what}",
        "Writes are refused. `git rm -r --cached .mem` and a commit make room; the files stay.",
    ),
    ("exclude", "lines-missing"): Words(
        "info/exclude of the code repository lacks {n} of the lines that hide the memory",
        "`mem init` adds them and changes nothing else.",
    ),
    ("ignored", "not-ignored"): Words(
        "`git add -A` in the project would take {path} in",
        "`git check-ignore -v --no-index .mem/` names the rule that decides; remove a `!.mem`,"
        " then run `mem init`.",
    ),
    ("ignored", "no-answer"): Words("not asked: git gave no answer"),
    ("store", "absent"): Words(
        "there is no memory at {what}", "`mem init` opens one, from a surviving copy if there is."
    ),
    ("store", "not-a-folder"): Words(
        "{path} is not a folder", "Move it out of the way, then `mem init` opens a memory."
    ),
    ("store", "plain-folder"): Words(
        "{path} is not a git repository with a .git folder of its own",
        "Move it out of the way, then `mem init` opens a memory.",
    ),
    ("store", "git-elsewhere"): Words(
        "{path} only points to a git directory elsewhere",
        "Clone it anew into `.mem`, so that the memory is one folder.",
    ),
    ("leftovers", "temporary"): Words(
        "a killed writer left {what}", "The next write removes it; nothing else is needed."
    ),
    ("leftovers", "half-made"): Words(
        "an `init` that was killed left {what}",
        "The next `mem init` removes it, or remove it by hand.",
    ),
    ("leftovers", "old"): Words(
        "a migration, or a return after a `git clean`, left the former memory at {what}",
        "Remove it once `mem log` shows all that should be there.",
    ),
    ("leftovers", "migration"): Words(
        "a migration was interrupted; {what} says how far it came",
        "Let the program that began it end it, before anything is moved by hand.",
    ),
    ("lock", "held"): Words("a writer is at work ({note})"),
    ("lock", "stale"): Words(
        "{path} was left by a process that is gone ({note})",
        "The next write removes it, after a while if another program left it.",
    ),
    ("lock", "elsewhere"): Words(
        "{path} belongs to a process of another machine ({note})",
        "If no program is at work on this memory there, remove that file.",
    ),
    ("lock", "nobodys"): Words(
        "{path} names no process", "If no program is at work on this memory, remove it."
    ),
    ("lock", "not-a-file"): Words(
        "{path} is not a file, so nobody can write", "Remove it; the next write makes it anew."
    ),
    ("shape", "odd"): Words(
        "what git would open cannot be what it must be: {what}",
        "Nothing was opened. Move away what does not belong, and bring the rest from a clone,"
        " a backup or the surviving copy.",
    ),
    ("git-locks", "ours"): Words(
        "a killed writer left {what}", "The next write removes it; nothing else is needed."
    ),
    ("git-locks", "left"): Words(
        "a git that is gone left {what}, and every write waits for it",
        "If no git is at work in `.mem`, remove it.",
    ),
    ("git-locks", "git"): Words("a git is at work: {what}"),
    ("repository", "not-sha1"): Words(
        "the hashes of {path} are not SHA-1", "Move it away, then `mem init` opens a memory."
    ),
    ("repository", "shallow"): Words(
        "a part of its history is missing", "`git -C .mem fetch --unshallow` brings it."
    ),
    ("repository", "replaced"): Words(
        "git shows other objects than history holds: {what}",
        "`git -C .mem replace -d` with each name removes that.",
    ),
    ("repository", "grafts"): Words(
        "{path} makes git show another history than there is", "Remove that file."
    ),
    ("repository", "alternates"): Words(
        "a part of its objects lies in another repository ({path})",
        "`git -C .mem repack -a -d` brings them here; then remove that file.",
    ),
    ("head", "elsewhere"): Words(
        "HEAD is not on main ({note})",
        "`git -C .mem symbolic-ref HEAD refs/heads/main` puts it back; look at"
        " `git -C .mem status` first.",
    ),
    ("head", "unfinished"): Words(
        "a merge or rebase was begun and not ended ({what})",
        "End it or give it up: `git -C .mem status` says how.",
    ),
    ("main", "absent"): Words(
        "it has no branch main with a commit",
        "`git -C .mem reflog` and `git -C .mem fsck --lost-found` show what there is;"
        " `git -C .mem update-ref refs/heads/main COMMIT` sets it.",
    ),
    ("main", ""): Words("at {id}"),
    ("marker", "old"): Words(
        "it is of an older format: it is read as it is, and nothing is written to it",
        "`mem migrate` shows what would become of it; with --apply it does it.",
    ),
    ("marker", "other"): Words(
        "it is of another format than 2 ({note})",
        "Nothing is written here. The program that made it can read it.",
    ),
    ("loose", "broken"): Words(
        "{n} objects do not say what their name says: {what}",
        "Move those files away. " + _COPY,
    ),
    ("objects", "ref"): Words(
        "{what} leads nowhere", "`git -C .mem update-ref -d` with its name removes it."
    ),
    ("objects", "missing"): Words("{n} objects of history are missing: {what}", _COPY),
    ("objects", "broken"): Words(
        "{n} objects of history do not say what their hash says: {what}",
        "They lie in a pack, so the pack is damaged: move it away. " + _COPY,
    ),
    ("objects", "all"): Words("{note} read and hashed; {rest} more that nothing needs"),
    ("objects", "unlisted"): Words("{note} read and hashed; others could not be listed"),
    ("record", "back"): Words(
        "a change was interrupted before it happened", "The next write takes it back."
    ),
    ("record", "forward"): Words(
        "a change was interrupted after it happened", "The next write ends it."
    ),
    ("record", "moved"): Words(
        "an interrupted change does not fit the newest commit",
        "Every write is refused. Compare {path} with `git -C .mem log`; remove it once `git -C"
        " .mem status` is clean.",
    ),
    ("record", "foreign"): Words(
        "beside an interrupted change other files were changed: {what}",
        "Every write is refused. Undo or move away those files; the next write does the rest.",
    ),
    ("record", "unreadable"): Words(
        "the record of an interrupted change cannot be read ({path})",
        "Every write is refused. Remove it once `git -C .mem status` is clean.",
    ),
    ("tree", "changed"): Words("files were changed in place: {what}", _STATUS),
    ("tree", "gone"): Words(
        "files are gone: {what}", "`git -C .mem checkout main -- PATH` brings each back."
    ),
    ("tree", "untracked"): Words(
        "files are there that history does not know: {what}",
        "Every write is refused. Move them out of `.mem`.",
    ),
    ("tree", "unreadable"): Words(
        "folders cannot be looked into: {what}", "Give back the permission to read them."
    ),
    ("tree", "staged"): Words(
        "git's index says otherwise than main about {what}",
        "Every write is refused. `git -C .mem reset` makes it say the same.",
    ),
    ("tree", "split-index"): Words(
        "git keeps its index in two files",
        "`git -C .mem update-index --no-split-index` joins them.",
    ),
    ("history", "unreadable"): Words(
        "entries whose file cannot be read: {what}", "`objects` says what is lost."
    ),
    ("claims", "trailers"): Words(
        "no search finds what these commits added, for a line below their trailers or none: {what}",
        "`mem read ID` shows it; write it anew, then remove the old file by a commit.",
    ),
    ("claims", "many-files"): Words(
        "no search finds what was added by a commit with more than one entry: {what}",
        "Write each anew, then remove the old files by a commit.",
    ),
    ("claims", "merge"): Words(
        "no search finds what a merge commit itself added: {what}",
        "Write it anew, then remove the old file by a commit.",
    ),
    ("edits", "edited"): Words(
        "entries were changed by a later commit: {what}",
        "A search still shows the old words, and the other engine no longer replaces them. Write"
        " the new words as an entry of its own, then remove the file by a commit.",
    ),
    ("edits", "touched"): Words(
        "entries were changed and changed back: {what}",
        "They read well, but are no longer replaced: write such an entry anew if need be.",
    ),
    ("digests", "wrong"): Words(
        "the digest of these entries is not that of their text: {what}",
        "The guard against duplicates misses them; `mem replace ID` gives the right one.",
    ),
    ("duplicates", "same"): Words(
        "active entries say exactly the same: {what}",
        "`mem delete ID --reason duplicate` withdraws one.",
    ),
    ("limits", "beyond"): Words(
        "entries break a limit of the format: {what}", "`mem replace ID` can shorten them."
    ),
    ("names", "quoted"): Words(
        "the other engine of this format does not see {what}",
        "Write it anew if that engine is in use here; new names are plain.",
    ),
    ("names", "strays"): Words(
        "no engine reads {what}", "Harmless; remove them by a commit if nobody needs them."
    ),
    ("chains", "cycle"): Words(
        "entries replace each other in a circle: {what}", "Write what holds as a new entry."
    ),
    ("chains", "gap"): Words(
        "history lacks what these commits replaced or withdrew: {what}",
        "Fetch the history that has it, if there is one.",
    ),
    ("chains", "forked"): Words(
        "one entry was replaced twice, and both live: {what}",
        "Decide which holds and `mem delete` the other.",
    ),
    ("chains", "living-ancestor"): Words(
        "entries live beside what replaced or withdrew them: {what}",
        "A merge kept both: `mem delete` the one that no longer holds.",
    ),
    ("secrets", "readable"): Words(
        "entries hold what looks like a secret: {what}",
        "Change that secret now; `mem replace` hides it from searches, history keeps the old text.",
    ),
    ("topics", "stale-links"): Words(
        "the topic {id} links what is no longer active: {what}",
        "`mem topics` shows where each went; `mem replace {id}` brings the page up to date.",
    ),
    ("topics", "unknown"): Words("not asked"),
    ("index", "absent"): Words("there is none yet; the next write makes it"),
    ("index", "behind"): Words("{note} commits behind; searches add them, the next write too"),
    ("index", "before-a-merge"): Words(
        "made before histories were joined; searches read history, the next write makes it anew"
    ),
    ("index", "other-version"): Words(
        "the search index is of version {note}", "Searches read history; the next write makes it."
    ),
    ("index", "other-history"): Words(
        "the search index is of another history", "Searches read history; the next write makes it."
    ),
    ("index", "damaged"): Words(
        "the search index is damaged", "Delete {path}; the next write makes it anew."
    ),
    ("index", "wrong"): Words(
        "the search index says otherwise than history",
        "Delete {path}; the next write makes it anew.",
    ),
    ("copy", "none"): Words("outside git there is no place for one"),
    ("copy", "whole"): Words("whole: {what}"),
    ("copy", "absent"): Words(
        "no copy would survive `git clean -ffdx`", "The next write makes one."
    ),
    ("copy", "behind"): Words(
        "the copy that would survive `git clean -ffdx` is behind: {what}",
        "The next write brings it up to date.",
    ),
    ("copy", "broken"): Words(
        "the copy that should survive `git clean -ffdx` is not whole: {what}",
        "Move {path} away; the next write makes it anew.",
    ),
    ("copy", "kept"): Words(
        "the copy keeps another history as well: {what}",
        "`git -C .mem fetch {path} refs/gitmemo/kept/{id}`, then `git -C .mem merge"
        " -Xfind-renames=100% --allow-unrelated-histories FETCH_HEAD` joins them.",
    ),
    ("copy", "unread"): Words("not asked, because the memory cannot be read"),
    ("copy", "there"): Words("one lies at {path}; the memory cannot be read to compare them"),
    ("writable", "read-only"): Words(
        "this user cannot write to {what}", "Reading and searching work all the same."
    ),
    ("room", "little-room"): Words(
        "only {note} bytes are free on the disk of {path}", "Free some before the next write."
    ),
    ("room", "no-inodes"): Words(
        "the disk of {path} can take no more files", "Remove some before the next write."
    ),
    ("clock", "behind"): Words(
        "the clock stands {note} seconds before the newest commit",
        "Set it; new entries would seem older than those they replace.",
    ),
    ("identity", "named"): Words("commits are made by {note}"),
    ("identity", "built-in"): Words("git names nobody; commits are made by {note}"),
    ("git-program", "absent"): Words(
        "the git program is not on PATH",
        "Memories are written without it; it is asked who commits, and needed to push and pull.",
    ),
    ("hard-links", "none"): Words(
        "the file system ({note}) has no hard links",
        "Writes work; a reader may meet a new file before all of it is there.",
    ),
}
"""Check and fault -> what is so, and what to do."""

_NOTED = frozenset(
    {
        ("ignored", "no-answer"),
        ("project", "no-git"),
        ("lock", "held"),
        ("git-locks", "git"),
        ("objects", "quick"),
        ("record", "at-work"),
        ("tree", "at-work"),
        ("index", "at-work"),
        ("index", "behind"),
        ("index", "before-a-merge"),
        ("identity", "built-in"),
    }
)
"""What an all-clear still mentions."""
