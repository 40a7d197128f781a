"""Single entries, their chains and links, read from history: what needs git and not only the index.

Reading one entry costs what its chain has, never what the store has. `resolve` is the one place
that says which entry a hash names. Never here: searching, writing, what a chain or a link comes to
(`chain`, `topics`). Tests: tests/gitmemo/test_reading.py, test_store.py, test_golden_repo.py.
"""

from collections.abc import Iterable, Sequence

from gitmemo import chain, entry, idmap, legacy, topics, trailers
from gitmemo.errors import AmbiguousId, Purged, UnknownId, WithdrawalId
from gitmemo.index import Index
from gitmemo.model import Act, Entry, EntryId, Life
from gitmemo.repo import Raw, Repo
from gitmemo.text import iso_date
from gitmemo.topics import Link, Topic

_SHA1 = 40


def resolve(repo: Repo, index: Index, text: str) -> EntryId:
    """The one entry whose id starts with `text`. Ids that main has left (kept by backup refs of a
    migration, or on the other side of a merge) and entries that no search finds (a foreign line
    below their trailers) are found too. Raises AmbiguousId, UnknownId, and of the latter
    WithdrawalId where `text` names the commit that withdrew one."""
    hits = index.entries_like(text)
    if not hits:
        found = repo.find(text)
        hits = tuple(hit for hit in found if _file(repo.raw(hit)) is not None)
        if not hits and len(found) == 1:
            message = trailers.parse(repo.raw(found[0]).message)
            if message.type is Act.DELETE and message.deletes is not None:
                raise WithdrawalId(text, message.deletes)
    # An id from before a purge names what its entry is called now; one that is there names itself.
    # The map is written before main moves: until then an entry is there under its old id.
    known = idmap.like(repo.id_map(), text)
    renamed = [one for one in known if one.old not in hits]
    hits = tuple(dict.fromkeys((*hits, *_present(repo, renamed))))
    if not hits:
        for one in renamed:
            if one.state == idmap.PURGED:
                raise Purged(one.old, one.date)
        raise UnknownId(text)
    if len(hits) > 1:
        raise AmbiguousId(text, hits)
    return hits[0]


def _present(repo: Repo, renamed: Iterable[idmap.Moved]) -> Iterable[EntryId]:
    """The entries among what these are called now."""
    for one in renamed:
        there = one.state == idmap.MOVED and one.new is not None and repo.has(one.new)
        if there and one.new is not None and _file(repo.raw(one.new)) is not None:
            yield one.new


def load(repo: Repo, index: Index, entry_id: EntryId) -> Entry:
    """The entry `entry_id`, which `resolve` gave."""
    raw = repo.raw(entry_id)
    file = _file(raw) or ""
    data = repo.file(entry_id, file) or b""
    message = trailers.parse(raw.message)
    said = entry.parse(data, digest=message.digest)
    if message.type is None:  # the file knows better than a message that does not parse
        message = message._replace(
            summary=said.summary or message.summary,
            keywords=said.keywords,
            kind=said.kind or message.kind,
        )
    where = _standing(repo, index, entry_id)
    found = Entry(
        id=entry_id,
        file=file,
        title=message.subject,
        summary=message.summary,
        keywords=message.keywords,
        kind=message.kind,
        date=iso_date(raw.time * 1000),
        digest=message.digest or "",
        content=said.content,
        text=data.decode("utf-8", "replace"),
        code=said.code,
        related_paths=legacy.project_paths(said.related_paths)
        if message.legacy
        else said.related_paths,
        related_branches=said.related_branches,
        anchors=index.anchors_of(entry_id) or message.anchors or said.anchors,
        active=where.active,
        replaces=message.replaces if message.type is Act.REPLACE else None,
        replaced_by=where.replaced_by,
        current=where.current,
        withdrawn=where.withdrawn,
        author=raw.author,
        faults=where.faults,
    )
    if message.type is None and is_last_word(repo, index.tip, found):
        return found._replace(active=True, current=(entry_id,))
    return found


def life(repo: Repo, index: Index, entry_id: EntryId) -> Life:
    """The life of the entry `entry_id`, which `resolve` gave."""
    family = chain.Family(*index.family(entry_id))
    where = _standing(repo, index, entry_id)
    return Life(entry_id, tuple(chain.drawn(family.events)), family.living, where.faults)


def links(repo: Repo, index: Index, texts: Sequence[str]) -> tuple[Link, ...]:
    """What became of the entries that `texts` (hashes of seven digits or more) name."""
    return tuple(_link(repo, index, text) for text in texts)


def all_topics(repo: Repo, index: Index) -> tuple[Topic, ...]:
    """The living topics, newest first, with what became of their links."""
    return tuple(
        topics.topic(page, title=title, date=date, links=links(repo, index, texts))
        for page, title, date, texts in index.topics()
    )


def is_last_word(repo: Repo, tip: EntryId, found: Entry) -> bool:
    """Whether the file of `found` is still there and no later commit touched it."""
    there = repo.file(tip, found.file) is not None
    return there and repo.last_touch(tip, found.file) == found.id


def _link(repo: Repo, index: Index, text: str) -> Link:
    try:
        entry_id = resolve(repo, index, text)
    except AmbiguousId:
        return topics.dangling(text, "ambiguous")
    except UnknownId:
        return topics.dangling(text, "unknown")
    card = index.card(entry_id)
    if card is None:  # no search finds it: only its file knows
        found = load(repo, index, entry_id)
        card = (found.title, found.summary, found.keywords, found.kind)
        active, current, withdrawn = found.active, found.current, found.withdrawn
    else:
        where = _standing(repo, index, entry_id)
        active, current, withdrawn = where.active, where.current, where.withdrawn
    if not active and current:
        card = index.card(current[-1]) or card
    # Of two commits that added one file only the last one may be replaced or withdrawn.
    if active and index.twins(entry_id):
        active = is_last_word(repo, index.tip, load(repo, index, entry_id))
    return Link(text, entry_id, active, current, *card, withdrawn, "")


def _standing(repo: Repo, index: Index, entry_id: EntryId) -> chain.Standing:
    """Where an entry stands. One whose file another commit added too is what that one is: the
    index lets a single commit stand for a living file."""
    family = chain.Family(*index.family(entry_id))
    lost = [id_ for id_ in chain.strangers(family) if not _is_entry(repo, id_)]
    where = chain.standing(entry_id, family, lost=lost)
    if where.current or where.withdrawn is not None:
        return where
    for twin in index.twins(entry_id):
        other = chain.standing(twin, chain.Family(*index.family(twin)), lost=lost)
        if other.current or other.withdrawn is not None:
            current = tuple(entry_id if end == twin else end for end in other.current)
            return other._replace(current=current)
    return where


def _is_entry(repo: Repo, commit: EntryId) -> bool:
    """Whether `commit`, which no search finds, is there and added an entry file all the same."""
    return len(commit) == _SHA1 and repo.has(commit) and _file(repo.raw(commit)) is not None


def _file(raw: Raw) -> str | None:
    """The one entry file that a commit added, whatever its message says; in old history, which
    edited files in place, also the one that it edited."""
    files = [path for path in raw.added if chain.is_entry_path(path)]
    if not files and trailers.parse(raw.message).type is None:
        files = [path for path in raw.modified if chain.is_entry_path(path)]
    return files[0] if len(files) == 1 else None
