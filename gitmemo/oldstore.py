"""A store without the marker, read as it is: its history told in the tables of the derived index.

What its branch HEAD holds lives; a commit that added a file is taken for an addition, one that
edited it for a replacement, one that removed it for a withdrawal. The tables are made in memory and
then searched like any other, so a search of an old store needs no rules of its own. The trailer
modes see what the format's own reader sees there (subject and body of the newest commit that
touched each living file); a text search sees what `legacy` infers, keywords and contents included.

Nothing is written, not even an index. Never here: what a single file says, migrating. Tests:
tests/gitmemo/test_oldstore.py, test_legacy_golden.py.
"""

import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

from gitmemo import chain, indexing, legacy, trailers
from gitmemo.chain import is_entry_path
from gitmemo.entry import EntryFile, digests
from gitmemo.entry import parse as parse_entry
from gitmemo.errors import AmbiguousId, UnknownId
from gitmemo.index import SCHEMA, Index
from gitmemo.legacy import Said
from gitmemo.model import Act, CodeState, Entry, EntryId, Kind, Mode
from gitmemo.oldrepo import OldRepo
from gitmemo.repo import Raw, Repo
from gitmemo.text import iso_date


class OldIndex(Index):
    """The tables of an old store, made for one way of searching."""

    legacy = True


class _Told(NamedTuple):
    """One commit of old history: its act, the entry files that it stands for, what it ended."""

    raw: Raw
    act: Act | None
    files: tuple[str, ...]
    target: EntryId | None


def head(repo: OldRepo) -> EntryId:
    """The commit that is read: HEAD's, or main's where HEAD names none."""
    return repo.head() or repo.tip()


def in_memory(repo: OldRepo, tip: EntryId, mode: Mode) -> OldIndex:
    """The tables of the old history up to `tip`."""
    told = _told(list(repo.walk(tip)))
    living = _living(repo, tip, told)
    ended = _ended(told)
    known = {one.raw.id for one in told}
    told = [*(_merge(repo, id_) for id_ in living if id_ not in known), *told]
    base = sqlite3.connect(":memory:", isolation_level=None)
    base.executescript(SCHEMA)
    base.execute("INSERT INTO meta VALUES (?, ?, 0, 0, NULL)", (tip, len(told)))
    for seq, one in enumerate(told, 1):
        raw, message = one.raw, trailers.parse(one.raw.message)
        title = message.subject
        note = (message.summary or title) if one.act is Act.DELETE else ""
        base.execute(
            "INSERT INTO commits (seq, id, time, author, act, title, target, note)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                seq,
                raw.id,
                raw.time,
                indexing.author(base, raw.author),
                one.act,
                title,
                one.target,
                note,
            ),
        )
        files = living.get(raw.id) or one.files
        if files:
            at = tip if raw.id in living else raw.id
            _add(base, repo, raw, files, at=at, seq=seq, mode=mode)
    base.executemany(
        "UPDATE entries SET until = ? WHERE seq = ?",
        ((ended.get(id_, len(told)), seq) for seq, id_ in _dead(base, living)),
    )
    indexing.count_living(base)
    return OldIndex(base)


def resolve(repo: OldRepo, index: Index, text: str) -> EntryId:
    """The one commit of an old entry whose id starts with `text`, on whatever branch. Raises
    UnknownId, AmbiguousId."""
    hits = index.entries_like(text)
    if not hits:
        hits = tuple(hit for hit in repo.find(text) if _files(repo.raw(hit)))
    if not hits:
        raise UnknownId(text)
    if len(hits) > 1:
        raise AmbiguousId(text, hits)
    return hits[0]


def load(repo: OldRepo, index: Index, entry_id: EntryId) -> Entry:
    """The old entry `entry_id`, which `resolve` gave."""
    raw = repo.raw(entry_id)
    files = _files(raw) or _shown(index, entry_id)
    said = _said(repo, raw, files, at=entry_id)
    family = chain.Family(*index.family(entry_id))
    where = chain.standing(entry_id, family)
    previous = next((event for event in family.events if event.id == entry_id), None)
    return Entry(
        id=entry_id,
        file=files[0] if files else "",
        title=said.title,
        summary=said.summary,
        keywords=said.keywords,
        kind=Kind.TASK,
        date=iso_date(raw.time * 1000),
        digest="",
        content=said.content,
        text=said.content,
        code=CodeState(),
        related_paths=said.related_paths,
        related_branches=(),
        anchors=(),
        active=where.active,
        replaces=previous.target if previous and previous.act is Act.REPLACE else None,
        replaced_by=where.replaced_by,
        current=where.current,
        withdrawn=where.withdrawn,
        author=raw.author,
    )


def became(repo: Repo, index: Index, old: EntryId, file: str) -> EntryId | None:
    """The migrated entry that says what the old commit `old` said about `file`, in a store that was
    migrated since; None where there is none. It is known by its digest, replaced since or not."""
    said = legacy.read(repo.file(old, file) or b"", repo.raw(old).message)
    wanted = digests(
        title=said.title,
        summary=said.summary,
        keywords=said.keywords,
        content=said.content,
        kind=Kind.TASK,
    )
    return index.first_digest(wanted[0])


# -- history told anew -----------------------------------------------------------------------------


def _told(commits: Sequence[Raw]) -> list[_Told]:
    """The commits (newest first) as acts, oldest first."""
    last: dict[str, EntryId] = {}
    told: list[_Told] = []
    for raw in reversed(commits):
        added, modified, removed = (
            [path for path in paths if is_entry_path(path)]
            for paths in (raw.added, raw.modified, raw.removed)
        )
        files = (*added, *modified)
        act = Act.ADD if added else Act.REPLACE if modified else Act.DELETE if removed else None
        ended = modified if act is Act.REPLACE else removed if act is Act.DELETE else []
        target = next((last[path] for path in ended if path in last), None)
        told.append(_Told(raw, act, files, target))
        last.update(dict.fromkeys(files, raw.id))
    return told


def _living(repo: OldRepo, tip: EntryId, told: Sequence[_Told]) -> dict[EntryId, tuple[str, ...]]:
    """Commits that stand for living files, the newest that touched each; and the files."""
    newest: dict[str, EntryId] = {}
    for one in told:
        newest.update(dict.fromkeys(one.files, one.raw.id))
    living: dict[EntryId, tuple[str, ...]] = {}
    for path in repo.entry_files(tip):
        claim = newest.get(path)
        if claim is None or repo.file(claim, path) != repo.file(tip, path):
            # A merge settled it by itself, and is in no list of changes.
            claim = repo.last_touch(tip, path)
        if claim is not None:
            living[claim] = (*living.get(claim, ()), path)
    return living


def _ended(told: Sequence[_Told]) -> dict[EntryId, int]:
    """Where each commit's files were touched again: commit -> place in history."""
    ended: dict[EntryId, int] = {}
    last: dict[str, EntryId] = {}
    for seq, one in enumerate(told, 1):
        for path in (*one.raw.removed, *one.files):
            if path in last:
                ended[last[path]] = seq
        last.update(dict.fromkeys(one.files, one.raw.id))
    return ended


def _merge(repo: OldRepo, id_: EntryId) -> _Told:
    return _Told(repo.raw(id_), None, (), None)


def _dead(
    base: sqlite3.Connection, living: dict[EntryId, tuple[str, ...]]
) -> list[tuple[int, EntryId]]:
    rows = base.execute("SELECT seq, id FROM entries JOIN commits USING (seq)").fetchall()
    return [(seq, EntryId(id_)) for seq, id_ in rows if id_ not in living]


def _add(
    base: sqlite3.Connection,
    repo: OldRepo,
    raw: Raw,
    files: Sequence[str],
    *,
    at: EntryId,
    seq: int,
    mode: Mode,
) -> None:
    """One row: a commit stands for all of its files, because its hash is the id of one entry."""
    said = _said(repo, raw, files, at=at)
    message = trailers.parse(raw.message)
    if mode is not Mode.TEXT:
        said = said._replace(title=message.subject, summary=message.summary, keywords=())
    message = message._replace(
        subject=said.title,
        summary=said.summary,
        keywords=said.keywords,
        kind=Kind.TASK,
        type=Act.ADD,
        digest=None,
        anchors=(),
    )
    file = EntryFile(
        title=said.title,
        summary=said.summary,
        content=said.content,
        date="",
        kind=None,
        code=CodeState(),
        related_branches=(),
        related_paths=said.related_paths,
        keywords=said.keywords,
        anchors=(),
    )
    indexing.add_entry(base, repo, raw, message, file=files[0], seq=seq, said=file)


def _said(repo: Repo, raw: Raw, files: Sequence[str], *, at: EntryId) -> Said:
    """What a commit and its files say: the files one after the other."""
    found = [repo.file(at, path) or b"" for path in files] or [b""]
    said = [legacy.read(data, raw.message) for data in found]
    if len(said) == 1:
        return _unwrapped(said[0], found[0])
    return said[0]._replace(
        keywords=tuple(dict.fromkeys(word for one in said for word in one.keywords)),
        content="\n".join(one.content for one in said),
        related_paths=tuple(dict.fromkeys(path for one in said for path in one.related_paths)),
    )


def _unwrapped(said: Said, data: bytes) -> Said:
    """The same where the file is one of the present format: a store that lost its marker."""
    file = parse_entry(data)
    if not file.title:
        return said
    return said._replace(summary=file.summary, keywords=file.keywords or said.keywords)


def _files(raw: Raw) -> tuple[str, ...]:
    return tuple(path for path in (*raw.added, *raw.modified) if is_entry_path(path))


def _shown(index: Index, entry_id: EntryId) -> tuple[str, ...]:
    file = index.file_of(entry_id)
    return () if file is None else (file,)
