"""What a store says, judged: entries and who claims them, their digests and limits, their chains.

Pure: commits and parsed files in, findings out; nothing found means that all is well. The rules are
those of the format, so what another engine wrote well passes, and what an engine would overlook is
named. Never here: reading, words. Tests: tests/gitmemo/test_contents.py, test_checkup.py.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from gitmemo import chain, entry, redact
from gitmemo.errors import InvalidDraft
from gitmemo.model import Act, Draft, EntryId, Event, Finding, Health, Subject
from gitmemo.trailers import Message

_MARKER_FILE = ".gitmemo-format"
_KEEP = "entries/.gitkeep"
_QUOTED = re.compile(r'[^ -~]|["\\]')


class Told(NamedTuple):
    """A commit, and the entry files that it changed in place."""

    commit: chain.Commit
    modified: tuple[str, ...]


class Living(NamedTuple):
    """A living entry: its file as its commit added it, and whether main still has that file."""

    file: str
    id: EntryId
    message: Message
    said: entry.EntryFile
    same: bool


class Unclaimed(NamedTuple):
    """An entry file without a commit that stands for it: why (`trailers`, `many-files`, `merge`),
    and the commit that added it, None where only a merge can have."""

    path: str
    why: str
    commit: EntryId | None


def unclaimed(told: Sequence[Told], files: Collection[str]) -> Iterator[Unclaimed]:
    """Entry files that no search finds."""
    claimed = chain.active((one.commit for one in told), files)
    adders: dict[str, chain.Commit] = {}
    for one in told:
        for path in one.commit.added:
            adders.setdefault(path, one.commit)
    for path in sorted(filter(chain.is_entry_path, files)):
        adder = adders.get(path)
        if path in claimed:
            continue
        if adder is None:
            yield Unclaimed(path, "merge", None)
        elif adder.message.type in (Act.ADD, Act.REPLACE):
            yield Unclaimed(path, "many-files", adder.id)
        else:
            yield Unclaimed(path, "trailers", adder.id)


def edits(living: Iterable[Living], told: Sequence[Told]) -> Iterator[Finding]:
    """Entry files that are no longer what their commit added, or were changed and changed back:
    other engines refuse to replace both."""
    touched: set[str] = set()
    claimed: set[str] = set()
    for one in told:  # newest first: a touch before the file's newest claim was another entry's
        file = chain.claim(one.commit)
        touched.update(path for path in one.modified if path not in claimed)
        if file is not None:
            claimed.add(file)
    changed = [one for one in living if not one.same]
    back = [one for one in living if one.same and one.file in touched]
    if changed:
        yield Finding("edits", Health.FAIL, "edited", _subjects(changed))
    if back:
        yield Finding("edits", Health.WARN, "touched", _subjects(back))


def digests(living: Iterable[Living]) -> Iterator[Finding]:
    """Living entries whose digest is not that of their text: the duplicate guard misses them."""
    wrong = [one for one in living if one.message.digest not in _digests_of(one)]
    if wrong:
        yield Finding("digests", Health.WARN, "wrong", _subjects(wrong))


def duplicates(living: Iterable[Living]) -> Iterator[Finding]:
    """Living entries that say exactly the same."""
    twins: dict[str, list[Living]] = {}
    for one in living:
        twins.setdefault(_digests_of(one)[0], []).append(one)
    for same in twins.values():
        if len(same) > 1:
            yield Finding("duplicates", Health.WARN, "same", _subjects(same))


def _digests_of(one: Living) -> tuple[str, ...]:
    said = one.said
    return entry.digests(
        title=said.title,
        summary=said.summary,
        keywords=said.keywords,
        content=said.content,
        kind=said.kind or one.message.kind,
    )


def limits(living: Iterable[Living]) -> Iterator[Finding]:
    """Living entries that no engine would take today, with the field and the rule."""
    beyond = []
    for one in living:
        message, said = one.message, one.said
        draft = Draft(message.subject, message.summary, message.keywords, said.content)
        draft = draft._replace(
            related_paths=said.related_paths, related_branches=said.related_branches
        )
        try:
            entry.validate(draft, legacy=message.legacy)
        except InvalidDraft as error:
            beyond.append(Subject(one.file, one.id, f"{error.field}:{error.problem}"))
    if beyond:
        yield Finding("limits", Health.WARN, "beyond", tuple(beyond))


def names(files: Iterable[str]) -> Iterator[Finding]:
    """Files whose names git writes in quotes, which the format's first engine does not read; and
    files that no engine reads at all."""
    entries = sorted(filter(chain.is_entry_path, files))
    quoted = [Subject(path) for path in entries if _QUOTED.search(path)]
    strays = [Subject(path) for path in sorted({*files} - {*entries, _MARKER_FILE, _KEEP})]
    if quoted:
        yield Finding("names", Health.WARN, "quoted", tuple(quoted))
    if strays:
        yield Finding("names", Health.WARN, "strays", tuple(strays))


def secrets(living: Iterable[Living]) -> Iterator[Finding]:
    """Living entries in which redaction would replace something today: kinds and fields only."""
    holding = []
    for one in living:
        message = one.message
        draft = Draft(message.subject, message.summary, message.keywords, one.said.content)
        seen = dict.fromkeys(f"{r.kind} in {r.field}" for r in redact.redact(draft)[1])
        if seen:
            holding.append(Subject(one.file, one.id, ", ".join(seen)))
    if holding:
        yield Finding("secrets", Health.WARN, "readable", tuple(holding))


def chains(told: Sequence[Told], living: Collection[EntryId]) -> Iterator[Finding]:
    """Chains that do not lead to one end: circles, gaps, two living ends, and living entries that
    were replaced or withdrawn as well."""
    commits = [one.commit for one in told]
    known = {commit.id for commit in commits if chain.claim(commit) is not None}
    events = [event for event in map(_event, commits) if event is not None]
    following = chain.successors(events)
    withdrawn = chain.withdrawals(events)
    if circle := _circle(following):
        yield Finding("chains", Health.FAIL, "cycle", tuple(Subject(id=one) for one in circle))
    gaps = [
        Subject(id=commit.id, note=target)
        for commit in commits
        for target in (commit.message.replaces, commit.message.deletes)
        if commit.message.type in (Act.REPLACE, Act.DELETE) and target and target not in known
    ]
    gaps += [
        Subject(id=after, note=before)
        for before, successors in following.items()
        for after in successors
        if after not in known and before in known
    ]
    if gaps:
        yield Finding("chains", Health.WARN, "gap", tuple(gaps))
    beside = [
        Subject(id=one, note=(following.get(one) or (withdrawn[one],))[-1])
        for one in sorted(living)
        if one in following or one in withdrawn
    ]
    if beside:
        yield Finding("chains", Health.WARN, "living-ancestor", tuple(beside))
    for start, ends in _forks(following, living=living, known=known, withdrawn=withdrawn):
        subjects = (Subject(id=start, note="start"), *(Subject(id=end, note="end") for end in ends))
        yield Finding("chains", Health.WARN, "forked", subjects)


def _event(commit: chain.Commit) -> Event | None:
    """What a commit did to a chain, as far as that is asked about here."""
    message = commit.message
    if message.type is None:
        return None
    target = message.replaces if message.type is Act.REPLACE else message.deletes
    return Event(commit.id, message.type, "", message.subject, commit.author, target, "")


def _forks(
    following: Mapping[EntryId, tuple[EntryId, ...]],
    *,
    living: Collection[EntryId],
    known: Collection[EntryId],
    withdrawn: Mapping[EntryId, EntryId],
) -> Iterator[tuple[EntryId, tuple[EntryId, ...]]]:
    """Entries that were replaced more than once, with the living ends of all that followed; of
    forks behind one another those with more ends than the later ones have together."""
    reported: set[frozenset[EntryId]] = set()
    for start in sorted(one for one, after in following.items() if len(after) > 1):
        trail = chain.follow(
            start, following=following, living=living, known=known, withdrawn=withdrawn
        )
        if len(trail.ends) > 1 and frozenset(trail.ends) not in reported:
            reported.add(frozenset(trail.ends))
            yield start, trail.ends


def _circle(following: Mapping[EntryId, tuple[EntryId, ...]]) -> tuple[EntryId, ...]:
    """Entries that follow from themselves: what is left when ends are taken away again and again.
    Entries that only lead into a circle are left with it."""
    left = {one: set(after) for one, after in following.items()}
    before: dict[EntryId, set[EntryId]] = {}
    for one, after in following.items():
        for successor in after:
            before.setdefault(successor, set()).add(one)
    waiting = [one for one in before if one not in left]
    while waiting:
        end = waiting.pop()
        for one in before.get(end, ()):
            if one in left:
                left[one].discard(end)
                if not left[one]:
                    del left[one]
                    waiting.append(one)
    return tuple(sorted(left))


def _subjects(living: Iterable[Living]) -> tuple[Subject, ...]:
    return tuple(Subject(one.file, one.id) for one in living)
