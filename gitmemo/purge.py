"""A purge: an entry leaves history for good, and every place that could hold its text is cleared.

    look (what would go; writes nothing) -> objects of the new history, one pack of all that stays
         -> record -> map, files, index, main -> other refs, logs, old objects, derived index, copy
         -> verified -> record dropped

Nothing visible happens before the record, and nothing is destroyed before main has moved. While
main is the old commit a record is undone, afterwards it is finished, by whoever writes next. What
is kept is what refs reach: everything else is removed, so that it need not be known who put it
there. The decisions lie in `rewrite` (history), `idmap` (ids) and `needles` (what the text is known
by). Tests: tests/gitmemo/test_purge.py, tests/faults/test_purge_crashes.py.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from typing import NamedTuple

from gitmemo import gate, idmap, indexing, intent, needles, reading, rewrite, survival, worktree
from gitmemo.errors import (
    DamagedStore,
    DirtyStore,
    GitMemoError,
    NotPurgeable,
    UnfinishedPurge,
)
from gitmemo.index import FILE, Index
from gitmemo.model import Act, EntryId, Identity, PurgeReport, RefChange
from gitmemo.objects import Objects, obstacle
from gitmemo.place import main_tip
from gitmemo.repo import MAIN, MAP_REF, Repo

RECORD = "gitmemo-purge.json"
_ASIDE = "gitmemo-purge.tmp"
_BESIDE = (".mem.gitmemo-old-", ".mem.gitmemo-tmp-")
_REWRITTEN = ("refs/heads/", "refs/tags/", "refs/gitmemo/kept/")
"""Refs that go on with the new history. Any other that reaches the text is removed: a remote's ref
says what the remote has, and stash, notes and backups are made to keep what was."""


class Look(NamedTuple):
    """What a purge would do. `refs` are all refs afterwards, those that go with None; `paths` the
    purged files that main has now."""

    report: PurgeReport
    base: EntryId
    tip: EntryId
    refs: dict[str, str | None]
    paths: tuple[str, ...]
    map: str
    doomed: frozenset[str]
    known_by: needles.Needles


class Record(NamedTuple):
    """The note of a purge under way; `map` is the map's commit before and afterwards."""

    base: str
    tip: str
    refs: dict[str, str | None]
    map: tuple[str | None, str]
    paths: tuple[str, ...]
    pack: str


def look(
    repo: Repo,
    index: Index,
    asked: EntryId,
    *,
    chain: bool,
    texts: Sequence[str],
    date: str,
    put: Callable[[str, bytes], str] | None = None,
) -> Look:
    """What purging `asked` comes to, with `chain` all versions of it. Objects of the new history
    are stored by `put`; without it nothing is written. Raises NotPurgeable."""
    why = obstacle(repo.git_dir)
    if why is not None:
        raise NotPurgeable(repo.mem, why)
    with worktree.refusals(repo.mem):
        return _look(repo, index, asked, chain=chain, texts=texts, date=date, put=put or _hashed)


def _look(
    repo: Repo,
    index: Index,
    asked: EntryId,
    *,
    chain: bool,
    texts: Sequence[str],
    date: str,
    put: Callable[[str, bytes], str],
) -> Look:
    objects = Objects(repo.git_dir)
    events, _, _ = index.family(asked)
    family = [event.id for event in events if event.act is not Act.DELETE and event.id != asked]
    wanted = (asked, *family) if chain else (asked,)
    files = frozenset(reading.load(repo, index, one).file for one in wanted)
    refs = objects.refs()
    lines = {name: oid for name, oid in refs.items() if _goes_on(objects, name, oid)}
    done = rewrite.Rewriting(
        files=files, names=index.entry_files(), date=date, read=objects.read, put=put
    ).run(objects.commits(lines.values()))
    victims = [one.old for one in done.moved.values() if one.state == idmap.PURGED]
    gone = {one.old for one in done.moved.values() if one.state != idmap.MOVED}
    known_by = needles.of(
        (*map(objects.read, sorted(done.blobs)), *(_message(objects, one) for one in victims)),
        given=texts,
    )
    base = repo.tip()
    after: dict[str, str | None] = {name: done.now(oid) for name, oid in lines.items()}
    main = after[MAIN]
    if main is None:
        raise DamagedStore(repo.mem, "nothing-left")
    doomed = frozenset(done.moved) | done.blobs
    common = objects.reach(lines.values())
    for name, oid in refs.items():
        if name not in lines and name != MAP_REF:
            own = objects.reach((oid,))
            holds = not doomed.isdisjoint(own) or _held(objects, own - common, known_by)
            after[name] = None if holds else oid
    stays = objects.reach(oid for name, oid in refs.items() if after.get(name) is not None)
    found = _held(objects, stays - done.blobs - gone, known_by)
    report = PurgeReport(
        ids=tuple(victims),
        files=tuple(sorted(files)),
        date=date,
        rewritten=done.count(idmap.MOVED),
        left_out=len(gone),
        withdrawn=done.withdrawn,
        refs=tuple(
            RefChange(name, None if new is None else EntryId(new))
            for name, new in sorted(after.items())
            if new != refs[name] and name != MAIN
        ),
        tip=EntryId(main),
        family=tuple(one for one in family if one not in victims),
        elsewhere=_named(repo, index, found),
        remotes=objects.remotes(),
        left=(),
    )
    there = repo.files(base)
    return Look(
        report,
        base,
        EntryId(main),
        after,
        tuple(sorted(path for path in files if path in there)),
        idmap.compose(repo.id_map(), done.moved),
        doomed,
        known_by,
    )


def _message(objects: Objects, commit: str) -> bytes:
    return objects.read(commit).partition(b"\n\n")[2]


def _goes_on(objects: Objects, name: str, oid: str) -> bool:
    return name.startswith(_REWRITTEN) and objects.kind(oid) == "commit"


def _hashed(kind: str, data: bytes) -> str:
    """The hash that git gives an object."""
    return hashlib.sha1(
        b"%b %d\0" % (kind.encode(), len(data)) + data, usedforsecurity=False
    ).hexdigest()


def _held(objects: Objects, oids: Iterable[str], known_by: needles.Needles) -> list[str]:
    """Those of `oids` whose text holds one of the needles."""
    return [
        oid
        for oid in sorted(oids)
        if objects.kind(oid) != "tree" and known_by.in_text(objects.read(oid))
    ]


def _named(repo: Repo, index: Index, found: Sequence[str]) -> tuple[str, ...]:
    """Entries by their ids, whether a commit or a file of theirs was found; else the object."""
    if not found:
        return ()
    files = index.entry_files()
    blobs = {repo.blob_id(entry, file): entry for entry, file in files.items()}
    return tuple(dict.fromkeys(blobs.get(oid, oid) for oid in found))


# -- carrying out ----------------------------------------------------------------------------------


def carry_out(
    root: str,
    repo: Repo,
    asked: str,
    *,
    chain: bool,
    texts: Sequence[str],
    identity: Identity,
    now_s: int,
    date: str,
    timeout_s: float,
) -> PurgeReport:
    """Purge the entry that `asked` names; call with the store held, recovered and clean."""
    objects = Objects(repo.git_dir)
    with closing(indexing.up_to_date(repo, repo.tip())) as index:
        entry = reading.resolve(repo, index, asked)
        seen = look(repo, index, entry, chain=chain, texts=texts, date=date, put=objects.put)
    with worktree.refusals(repo.mem):
        who = f"{identity.name} <{identity.email}> {now_s} +0000".encode()
        renamed = objects.put_map(seen.map, who=who)
        tips = [oid for oid in seen.refs.values() if oid is not None]
        pack = objects.pack(objects.reach((*tips, renamed)))
    maps = (objects.refs().get(MAP_REF), renamed)
    record = Record(seen.base, seen.tip, seen.refs, maps, seen.paths, pack)
    try:
        with worktree.refusals(repo.mem):
            _write(repo.git_dir, record)
            objects.point(MAP_REF, renamed)
        moved = _move(repo, record, timeout_s)
    except GitMemoError as error:
        if record.tip != record.base and main_tip(repo.mem) == record.tip:
            raise UnfinishedPurge(repo.mem, str(error)) from error
        with suppress(GitMemoError, OSError):  # what is left, the record lets the next writer undo
            _back(repo, objects, record)
        raise
    if not moved:
        _back(repo, objects, record)
        raise DirtyStore(repo.mem, "main-moved")
    try:
        with worktree.refusals(repo.mem):
            _finish(root, repo, record)
            report = _verified(root, repo, seen)
            _drop(repo.git_dir)
    except GitMemoError as error:
        raise UnfinishedPurge(repo.mem, str(error)) from error
    return report


def recover(root: str, repo: Repo) -> bool:
    """End what an interrupted purge began; False where there is no record of one. Call with the
    store's lock held. Raises DamagedStore where the record is unreadable or does not fit main."""
    record = _read(repo.git_dir)
    if record is None:
        return False
    tip = repo.tip()
    if repo.is_ancestor(record.tip, tip):
        with worktree.refusals(repo.mem):
            _settle(repo, tip, record)
            _finish(root, repo, record)
            _drop(repo.git_dir)
    elif repo.is_ancestor(record.base, tip):
        _back(repo, Objects(repo.git_dir), record)
    else:
        raise DamagedStore(repo.mem, "interrupted-moved")
    return True


def _move(repo: Repo, record: Record, timeout_s: float) -> bool:
    """Files, index and main to the new history; False where main was moved by somebody else."""
    if record.tip == record.base:
        return True
    with worktree.refusals(repo.mem):
        worktree.prepare(repo.git_dir, worktree.MAIN, f"{record.tip}\n".encode())
        _settle(repo, record.tip, record)
        return worktree.swap(
            repo.git_dir,
            worktree.MAIN,
            timeout_s=timeout_s,
            guard=lambda: repo.tip() == record.base,
        )


def _settle(repo: Repo, commit: str, record: Record) -> None:
    intent.settle(repo, commit, intent.Intent(record.base, (), record.paths))


def _back(repo: Repo, objects: Objects, record: Record) -> None:
    """As if nothing had been begun; what was stored of a new history is nobody's and harmless."""
    with worktree.refusals(repo.mem):
        worktree.sweep(repo.git_dir)
        objects.point(MAP_REF, record.map[0])
        _settle(repo, repo.tip(), record)
        _drop(repo.git_dir)


def _finish(root: str, repo: Repo, record: Record) -> None:
    """Clear every place; main has moved. May be interrupted and repeated."""
    objects = Objects(repo.git_dir)
    for name, oid in record.refs.items():
        if name != MAIN and objects.refs().get(name) != oid:
            objects.point(name, oid)
    objects.point(MAP_REF, record.map[1])
    objects.forget()
    after = {name: oid for name, oid in record.refs.items() if oid is not None}
    after[MAP_REF] = record.map[1]
    refs, pack = objects.refs(), record.pack
    # Somebody else may have gone on since: then the pack made before is not all that stays.
    if refs != after or not objects.has_pack(pack):
        pack = objects.pack(objects.reach(refs.values()))
    objects.keep(pack)
    worktree.drop_spare(repo.git_dir)
    for name in os.listdir(repo.git_dir):
        if name.startswith(FILE):
            os.unlink(os.path.join(repo.git_dir, name))
    with suppress(GitMemoError, OSError):  # what is left in a copy is looked for, and reported
        survival.renew(root, Repo(repo.mem))


def _verified(root: str, repo: Repo, seen: Look) -> PurgeReport:
    """The report of what is there now. Raises UnfinishedPurge where an object that had to go is
    still there."""
    repo, objects = Repo(repo.mem), Objects(repo.git_dir)
    everything = objects.every()
    stays = objects.reach(objects.refs().values())
    still = (seen.doomed & everything) - stays
    if still:
        raise UnfinishedPurge(repo.mem, min(still))
    found = _held(objects, everything, seen.known_by)
    files = (path for path in _files(repo.git_dir) if os.path.basename(path) != RECORD)
    left = [path for path in files if _holds(path, seen.known_by)]
    left += [os.path.join(repo.mem, path) for path in seen.paths if _there(repo.mem, path)]
    left += [os.path.join(root, name) for name in os.listdir(root) if name.startswith(_BESIDE)]
    copy = survival.copy_dir(root)
    if copy is not None and os.path.isdir(copy) and _copied(copy, seen, stays):
        left.append(copy)
    with closing(indexing.up_to_date(repo, repo.tip())) as index:
        elsewhere = _named(repo, index, found)
    return seen.report._replace(elsewhere=elsewhere, left=tuple(left))


def _copied(copy: str, seen: Look, stays: set[str]) -> bool:
    """Whether a copy of the store holds what had to go."""
    objects = Objects(copy)
    everything = objects.every()
    if (seen.doomed & everything) - stays or _held(objects, everything - stays, seen.known_by):
        return True
    return any(_holds(path, seen.known_by) for path in _files(copy))


def _files(git_dir: str) -> Iterable[str]:
    """Every file of a git directory that is no object."""
    for folder, folders, names in os.walk(git_dir):
        if folder == git_dir:
            folders[:] = [name for name in folders if name != "objects"]
        yield from (os.path.join(folder, name) for name in names)


def _holds(path: str, known_by: needles.Needles) -> bool:
    if not os.path.isfile(path):
        return False
    with gate.opened(path) as file:
        return known_by.in_file(file.read())


def _there(mem: str, path: str) -> bool:
    return os.path.lexists(os.path.join(mem, path))


# -- the record ------------------------------------------------------------------------------------


def _write(git_dir: str, record: Record) -> None:
    data = (json.dumps(record._asdict(), indent=2) + "\n").encode()
    os.replace(worktree.write_aside(git_dir, _ASIDE, data), os.path.join(git_dir, RECORD))


def _drop(git_dir: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(os.path.join(git_dir, RECORD))


def _read(git_dir: str) -> Record | None:
    """The record, None if there is none; DamagedStore if it cannot be read as one."""
    path = os.path.join(git_dir, RECORD)
    try:
        return _record(json.loads(gate.read(path)))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise DamagedStore(path, "unreadable-record") from error


def _record(body: Mapping[str, object]) -> Record:
    """The record of its JSON; ValueError where recovery may not do what it says."""
    refs, paths, maps = body["refs"], body["paths"], body["map"]
    if not (isinstance(refs, dict) and isinstance(paths, list) and isinstance(maps, list)):
        raise TypeError("not a record")
    for path in paths:
        if not path.startswith("entries/") or ".." in path.split("/"):
            raise ValueError(path)
    before, after = maps
    return Record(
        str(body["base"]),
        str(body["tip"]),
        {name: None if oid is None else str(oid) for name, oid in refs.items()},
        (None if before is None else str(before), str(after)),
        tuple(paths),
        os.path.basename(str(body["pack"])),
    )
