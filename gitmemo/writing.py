"""One change of a store from the lock to the index: the order in which the rooms are called.

    lock -> recover -> main? -> index at the tip -> clean? -> plan (pure) -> objects -> carry out
         -> index brought on -> copy brought on -> unlock

Never here: how any of it is done. Tests: tests/gitmemo/test_store.py, tests/faults, tests/races.
"""

import hashlib
import os
import stat
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import NamedTuple

from gitmemo import (
    entry,
    founding,
    gate,
    indexing,
    intent,
    likeness,
    lock,
    purge,
    reading,
    redact,
    survival,
)
from gitmemo.errors import (
    DamagedStore,
    DirtyStore,
    Duplicate,
    InvalidDraft,
    NotActive,
)
from gitmemo.index import Index
from gitmemo.model import Anchor, Change, Draft, Entry, EntryId, Identity, Kind, Redaction
from gitmemo.repo import Repo, git_time, refusals
from gitmemo.seen import Seen
from gitmemo.text import iso_date, tokens

ANCHOR_LIMIT = 64 * 1024 * 1024
_RACES = 3  # how often a change is planned anew because a person committed to main meanwhile
_NAMED = 5  # how many dirty paths an error names, how many look-alikes a report

Plan = Callable[[Repo, Index], Change]


class Desk(NamedTuple):
    """What stays the same between the changes of one open store."""

    root: str
    mem: str
    identity: Identity
    clock: Callable[[], float]
    timeout_s: float
    seen: Seen


class Done(NamedTuple):
    """A change that is in history: its commit, the change, and what it resembles."""

    commit: EntryId
    change: Change
    similar: tuple[EntryId, ...]


class Taken(Container[str]):
    """The paths of `.mem` that exist, whoever made them."""

    def __init__(self, mem: str) -> None:
        self._mem = mem

    def __contains__(self, path: object) -> bool:
        return os.path.lexists(os.path.join(self._mem, str(path)))


def perform(desk: Desk, operation: str, plan: Plan, *, like: Draft | None = None) -> Done:
    """Carry out what `plan` decides, alone; `like` is the draft whose look-alikes are reported."""
    founding.refuse_tracked(desk.root)
    with (
        refusals(desk.mem),
        lock.hold(desk.root, os.path.join(desk.mem, ".git"), operation, timeout_s=desk.timeout_s),
    ):
        repo = Repo(desk.mem)
        for _ in range(_RACES):
            done = _attempt(desk, repo, plan, like)
            if done is not None:
                repo.tidy()
                survival.follow(repo, base=repo.raw(done.commit).parents[0], commit=done.commit)
                return done
    raise DirtyStore(desk.mem, "main-moved")


@contextmanager
def alone(desk: Desk, operation: str) -> Iterator[Repo]:
    """The store held, recovered and clean, for what is more than one change."""
    founding.refuse_tracked(desk.root)
    with (
        refusals(desk.mem),
        lock.hold(desk.root, os.path.join(desk.mem, ".git"), operation, timeout_s=desk.timeout_s),
    ):
        repo = Repo(desk.mem)
        _make_ready(desk, repo)
        _refuse(desk, repo.dirt())
        try:
            yield repo
        finally:
            desk.seen.forget()


def _attempt(desk: Desk, repo: Repo, plan: Plan, like: Draft | None) -> Done | None:
    tip = _make_ready(desk, repo)
    with closing(indexing.up_to_date(repo, tip)) as index:
        _refuse_dirty(desk, repo, tip, index)
        change = plan(repo, index)
        _refuse_edited(repo, tip, change)
        now_s = git_time(desk.clock())
        commit = repo.write_commit(change, base=tip, identity=desk.identity, now_s=now_s)
        prepared = intent.Prepared(commit, tip, change, desk.identity, now_s)
        similar = () if like is None else _similar(index, like, set(change.remove))
        if not intent.carry_out(
            repo,
            prepared,
            seen=desk.seen,
            created_at=iso_date(now_s * 1000),
            timeout_s=desk.timeout_s,
        ):
            return None
        indexing.advance(index, repo, commit, also=desk.seen.save)
        return Done(commit, change, similar)


def _make_ready(desk: Desk, repo: Repo) -> EntryId:
    """Recover, then refuse what no engine of the format may write on; main's commit."""
    if intent.recover(repo):
        desk.seen.forget()
    if purge.recover(desk.root, repo):
        desk.seen.forget()
    if not repo.head_is_main():
        raise DamagedStore(desk.mem, "head-elsewhere")
    tip = repo.tip()
    repo.refuse_other_format(tip)
    return tip


def _refuse_dirty(desk: Desk, repo: Repo, tip: EntryId, index: Index) -> None:
    if desk.seen.holds(tip, index.base):
        return
    _refuse(desk, desk.seen.note(tip, repo.dirt))


def _refuse(desk: Desk, dirt: Sequence[str]) -> None:
    if dirt:
        raise DirtyStore(desk.mem, ", ".join(dirt[:_NAMED]))


def _refuse_edited(repo: Repo, tip: EntryId, change: Change) -> None:
    """Raise DirtyStore where a file that `change` removes was edited in place: what is noted of the
    folders does not show that, and the edit would go with the file."""
    for path in change.remove:
        try:
            held = gate.read(os.path.join(repo.mem, path))
        except OSError:
            held = None
        if held is None or held != repo.file(tip, path):
            raise DirtyStore(repo.mem, path)


# -- what is asked before a plan -------------------------------------------------------------------


def cleaned(draft: Draft) -> tuple[Draft, tuple[Redaction, ...]]:
    """`draft` validated and without secrets, and what was replaced."""
    clean, redactions = redact.redact(entry.validate(draft))
    # A placeholder may be longer than the secret, and two keywords may have become one.
    return (entry.validate(clean) if redactions else clean), redactions


def cleaned_reason(reason: str) -> str:
    """A withdrawal's reason, validated and without secrets."""
    clean, redactions = redact.redact_text(entry.validate_reason(reason), "reason")
    return entry.validate_reason(clean) if redactions else clean


def file_anchors(root: str, draft: Draft) -> tuple[Anchor, ...]:
    """An anchor for each related path under `root` that is a readable file, then the draft's own.
    Raises InvalidDraft for a path that does not exist or leads out of the project."""
    real_root = os.path.realpath(root)
    anchors: list[Anchor] = []
    for path in draft.related_paths:
        full = os.path.join(root, path)
        if not os.path.lexists(full):
            raise InvalidDraft("related_paths", "missing", path)
        if os.path.commonpath((real_root, os.path.realpath(full))) != real_root:
            raise InvalidDraft("related_paths", "escapes", path)
        digest = _file_digest(full)
        if digest is not None:
            anchors.append(Anchor(f"sha256:{digest}", path))
    return tuple(dict.fromkeys((*anchors, *draft.anchors)))


def _file_digest(path: str) -> str | None:
    """SHA-256 of a regular file of at most ANCHOR_LIMIT bytes, in hex; None for anything else."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        # Looked at before it is opened: opening a device or a FIFO may do something.
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return None
        with open(os.open(path, flags), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_size > ANCHOR_LIMIT:
                return None
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def refuse_duplicate(index: Index, draft: Draft, kind: Kind, *, but: EntryId | None = None) -> None:
    """Raise Duplicate where a living entry other than `but` says exactly what `draft` says."""
    digests = entry.digests(
        title=draft.title,
        summary=draft.summary,
        keywords=draft.keywords,
        content=draft.content,
        kind=kind,
    )
    twin = index.living_digest(digests, but=but)
    if twin is not None:
        raise Duplicate(twin, digests[0])


def living(repo: Repo, index: Index, text: str) -> Entry:
    """The living entry that `text` names; NotActive with what to change instead where it is
    not: the living ends of its chain, and where none lives its direct successors.

    It must also be the last commit that touched its file, as every engine of the format demands:
    where two histories added one file, one of the two commits stands for it and the other does not.
    """
    entry_id = reading.resolve(repo, index, text)
    found = reading.load(repo, index, entry_id)
    last = index.is_last_word(entry_id)
    if last is None:
        last = found.digest != "" and reading.is_last_word(repo, index.tip, found)
    if not last:
        twin = repo.last_touch(index.tip, found.file) if found.active else None
        raise NotActive(
            entry_id, (twin,) if twin is not None else found.current or found.replaced_by
        )
    return found


def _similar(index: Index, draft: Draft, leaving: set[str]) -> tuple[EntryId, ...]:
    """Living entries that say nearly the same, nearest first; those whose files are `leaving` are
    left out."""
    own = likeness.head(draft.title, draft.summary, draft.keywords)
    words = tokens("\n".join((draft.title, draft.summary, *draft.keywords)))
    scored: list[tuple[float, EntryId]] = []
    for entry_id, file, title, summary, keywords in index.sharing_rare(dict.fromkeys(words)):
        near = likeness.likeness(own, likeness.head(title, summary, keywords))
        if near and file not in leaving:
            scored.append((near, entry_id))
    return tuple(entry_id for _, entry_id in sorted(scored, reverse=True)[:_NAMED])
