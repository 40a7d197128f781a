"""An old store becomes one of the present format: first what would happen, then the act.

    survey   read-only: what each file of each branch says, conflicts, warnings
    apply    locks -> survey again -> refuse what is not clean -> build aside -> check -> swap

Nothing is migrated unless a person asks for it, nothing is guessed (one path with two contents
blocks all of it), and every object of the old repository is in the new one before the old folder
goes: below `refs/gitmemo/backup/<time>/` old hashes stay readable. Tests:
tests/gitmemo/test_migrate.py, test_legacy_golden.py, tests/faults/test_migration_crashes.py.
"""

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from typing import NamedTuple

from gitmemo import founding, indexing, legacy, lock, repo, swap, trailers
from gitmemo.errors import DamagedStore, GitMemoError, LegacyStore, MigrationRefused, NoStore
from gitmemo.intent import RECORD
from gitmemo.legacy import Conflict, Migrated, Migration, OldEntry, Source
from gitmemo.model import EntryId, Identity
from gitmemo.oldrepo import BACKUP, KEPT, OldRepo
from gitmemo.place import STORE_DIR
from gitmemo.repo import refusals
from gitmemo.text import iso_date

_NAMED = 5  # how many dirty paths or conflicts an error names


# -- what would happen -----------------------------------------------------------------------------


def survey(root: str, *, now_ms: int) -> Migration:
    """What a migration of `<root>/.mem` would do. Takes no lock and changes nothing. Raises
    OtherFormat for a marker that is not known here, DamagedStore where there is no branch."""
    mem = os.path.join(root, STORE_DIR)
    with repo.refusals(mem):
        return _survey(OldRepo(mem), now_ms)


def _survey(old: OldRepo, now_ms: int) -> Migration:
    tips = old.tips()
    if not tips:
        raise DamagedStore(old.mem, "no-main")
    main = tips.get("main", old.head() or next(iter(tips.values())))
    try:
        old.refuse_other_format(main)
    except LegacyStore:
        pass
    else:
        return Migration(old.mem, False, now_ms)
    notes, marked = _Notes(), []
    first: dict[str, OldEntry] = {}
    places: dict[str, list[Source]] = {}
    doubles: list[tuple[Source, OldEntry]] = []
    found = 0
    for branch, tip in tips.items():
        for path, touch in old.last_touches(tip).items():
            data = old.file(tip, path)
            if data is None:  # a link to another repository
                continue
            found += 1
            digest = hashlib.sha256(data).hexdigest()
            source = Source(branch, path, touch.id, touch.time, touch.author, digest)
            places.setdefault(path, []).append(source)
            # Two empty files say nothing twice, but their commits may say different things.
            key = digest if data.strip() else f"{digest} {touch.message}"
            if key in first:
                if first[key].source.path != path:
                    doubles.append((source, first[key]))
                continue
            said = legacy.read(data, touch.message)
            notes.add(source, said.warnings)
            if trailers.parse(touch.message).type is not None:
                marked.append(_named(source))
            first[key] = legacy.planned(source, said)
    conflicts = [
        Conflict(path, tuple(variants))
        for path, variants in sorted(places.items())
        if len({one.digest for one in variants}) > 1
    ]
    # A content that somewhere contradicts another is left out wherever it lies.
    disputed = {one.digest for conflict in conflicts for one in conflict.variants}
    kept = tuple(one for one in first.values() if one.source.digest not in disputed)
    notes.lines += [
        f"{name}: not a branch; kept below {KEPT}, its entries are not migrated"
        for name, target in old.other_refs().items()
        if name.startswith("refs/remotes/") and not _held(old, target, tips)
    ]
    return Migration(
        old.mem,
        True,
        now_ms,
        tuple(tips.items()),
        found,
        kept,
        tuple(conflicts),
        tuple(notes.lines),
        tuple((_named(source), _named(one.source)) for source, one in doubles),
        tuple(marked),
    )


class _Made(NamedTuple):
    """A commit of the new repository: the bytes of its file, and the entry that it stands for."""

    commit: EntryId
    data: bytes
    entry: OldEntry


class _Notes:
    """The warnings of a survey, each with its place."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def add(self, source: Source, warnings: tuple[str, ...]) -> None:
        self.lines += [f"{_named(source)}: {warning}" for warning in warnings]


def _named(source: Source) -> str:
    return f"{source.branch}:{source.path}"


def _held(old: OldRepo, target: str, tips: dict[str, EntryId]) -> bool:
    return not old.has(target) or any(old.is_ancestor(target, tip) for tip in tips.values())


# -- the act ---------------------------------------------------------------------------------------


def apply(
    root: str,
    *,
    expected: Migration | None,
    identity: Identity | None,
    now_ms: int,
    timeout_s: float,
) -> Migrated | None:
    """Migrate `<root>/.mem`; None where it has the present format already.

    `expected` is the survey that was looked at: branches that moved since are refused. Raises
    MigrationRefused (moved, conflicts, dirty, leftover-record, at-work, marker-missing), and what
    `survey` raises; then nothing was changed.
    """
    recover(root, timeout_s=timeout_s)
    mem = os.path.join(root, STORE_DIR)
    if not os.path.lexists(mem):
        raise NoStore(root)
    founding.found(root, identity=identity, now_s=now_ms // 1000, timeout_s=timeout_s)
    with (
        refusals(mem),
        repo.refusals(mem),
        lock.hold(root, os.path.join(mem, ".git"), "migrate", timeout_s=timeout_s),
    ):
        old = OldRepo(mem)
        report = _survey(old, now_ms)
        if not report.legacy:
            return None
        _refuse(old, report, expected)
        who = identity or founding.identity_at(old.git_dir, root)
        founding.sweep(root)
        with _aside(root) as tmp:
            stamp = _free_stamp(root, now_ms)
            tip = _build(old, os.path.join(root, tmp), report, stamp, who)
            left = swap.perform(
                root,
                tmp,
                old=f"{swap.OLD}{stamp}",
                operation=os.urandom(16).hex(),
                created_at=iso_date(now_ms),
            )
    branches = tuple(branch for branch, _ in report.tips)
    return Migrated(tip, len(report.entries), branches, f"{BACKUP}/{stamp}", left.kept, left.why)


def recover(root: str, *, timeout_s: float) -> bool:
    """End what an interrupted migration of whatever engine began; False where there was none."""
    if not swap.pending(root):
        return False
    git_dir = os.path.join(root, STORE_DIR, ".git")
    held = git_dir if os.path.isdir(git_dir) else None
    with (
        refusals(root),
        repo.refusals(root),
        lock.hold(root, held, "migrate", timeout_s=timeout_s),
    ):
        done = swap.recover(root)
        founding.sweep(root)
        return done


def _refuse(old: OldRepo, report: Migration, expected: Migration | None) -> None:
    """Raise MigrationRefused for what only a person can decide."""
    if expected is not None and expected.tips != report.tips:
        raise MigrationRefused(old.mem, "moved")
    if report.marked:
        raise MigrationRefused(old.mem, "marker-missing", report.marked[0])
    if report.conflicts:
        paths = [conflict.path for conflict in report.conflicts]
        raise MigrationRefused(old.mem, "conflicts", ", ".join(paths[:_NAMED]))
    if os.path.lexists(os.path.join(old.git_dir, RECORD)):
        raise MigrationRefused(old.mem, "leftover-record", RECORD)
    busy = old.at_work()
    if busy is not None:
        raise MigrationRefused(old.mem, "at-work", busy)
    dirt = old.dirt()
    if dirt:
        raise MigrationRefused(old.mem, "dirty", ", ".join(dirt[:_NAMED]))


@contextmanager
def _aside(root: str) -> Iterator[str]:
    """The base name of a folder to build in; it is gone afterwards, unless a swap knows of it."""
    path = lock.private_name(root)
    try:
        yield os.path.basename(path)
    except Exception:
        # A swap that the machine refused in the middle is taken back at once, as far as that goes.
        if swap.pending(root):
            with suppress(GitMemoError, OSError):
                swap.recover(root)
        raise
    finally:
        if os.path.isdir(path) and not swap.pending(root):
            shutil.rmtree(path)


def _free_stamp(root: str, now_ms: int) -> str:
    stamp = iso_date(now_ms)[:19].replace("-", "").replace(":", "") + "Z"
    tries = (stamp if n == 1 else f"{stamp}-{n}" for n in count(1))
    return next(one for one in tries if not os.path.lexists(os.path.join(root, swap.OLD + one)))


def _build(old: OldRepo, path: str, report: Migration, stamp: str, who: Identity) -> EntryId:
    """The new repository at `path`, whole and checked; its tip."""
    repo.create(path, founding.FIRST, identity=who, now_s=report.scanned_ms // 1000)
    new = OldRepo(path)
    tip = new.tip()
    made: dict[str, _Made] = {}
    for one in legacy.in_order(report.entries):
        change = legacy.change(one, made)
        (file, data) = change.add[0]
        author = _identity(one.source.author) or who
        tip = new.write_commit(change, base=tip, identity=author, now_s=one.source.time_s)
        made[file] = _Made(tip, data, one)
    backups: dict[str, str] = {f"{BACKUP}/{stamp}/{name}": target for name, target in report.tips}
    for name, target in old.other_refs().items():
        own = name.startswith("refs/gitmemo/")
        backups[name if own else f"{KEPT}/{stamp}/{name.removeprefix('refs/')}"] = target
    # The library makes no ref whose name is no UTF-8, though it reads them.
    backups = {
        os.fsencode(name).decode("utf-8", "replace"): target for name, target in backups.items()
    }
    new.tidy()
    new.carry(old, backups)
    indexing.up_to_date(new, tip).close()  # so that the first search need not walk all of it
    new.show(tip)
    _check(old, OldRepo(path), tip, made, backups)
    return tip


def _identity(author: str) -> Identity | None:
    """Who wrote the old entry; None where git would not take the name again."""
    name, _, mail = author.removesuffix(">").rpartition(" <")
    return Identity(name, mail) if name.strip() and mail.strip() else None


def _check(
    old: OldRepo,
    new: OldRepo,
    tip: EntryId,
    made: dict[str, _Made],
    backups: dict[str, str],
) -> None:
    """Raise DamagedStore unless the new repository is what the report promised: every entry under
    its digest, nothing else, every old object and ref, and nothing that a writer would refuse."""
    whole = (
        new.tip() == tip
        and new.head_is_main()
        and new.is_present_format()
        and new.backups() == backups
        and set(new.entry_files(tip)) == set(made)
        and all(_is_there(new, tip, file, one) for file, one in made.items())
        and not new.dirt()
        and not old.lacking(new)
    )
    if not whole:
        raise DamagedStore(new.mem, "migration-incomplete")


def _is_there(new: OldRepo, tip: EntryId, file: str, one: _Made) -> bool:
    raw = new.raw(one.commit)
    message = trailers.parse(raw.message)
    return (
        raw.added == (file,)
        and not raw.removed
        and not raw.modified
        and raw.time == one.entry.source.time_s
        and message.legacy
        and message.digest == one.entry.digest
        and new.file(tip, file) == one.data
    )
