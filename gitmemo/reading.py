"""Single entries and their chains, read from history: what needs git and not only the index.

Never here: searching, writing. Tests: tests/gitmemo/test_store.py, test_golden_repo.py.
"""

from collections.abc import Iterable

from gitmemo import chain, entry, idmap, trailers
from gitmemo.errors import AmbiguousId, Purged, UnknownId
from gitmemo.index import Index
from gitmemo.model import Act, Entry, EntryId, Event
from gitmemo.objects import read_map
from gitmemo.repo import Raw, Repo
from gitmemo.text import iso_date


def resolve(repo: Repo, index: Index, text: str) -> EntryId:
    """The one entry whose id starts with `text`. Ids that main has left (kept by backup refs of a
    migration, or on the other side of a merge) and entries that no search finds (a foreign line
    below their trailers) are found too. Raises UnknownId, AmbiguousId."""
    hits = index.entries_like(text)
    if not hits:
        hits = tuple(hit for hit in repo.find(text) if _file(repo.raw(hit)) is not None)
    # An id from before a purge names what its entry is called now; one that is there names itself.
    # The map is written before main moves: until then an entry is there under its old id.
    known = idmap.like(read_map(repo.git_dir), text)
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
    events = index.events()
    trail = _trail(index, events, entry_id)
    reasons = {event.id: event.note for event in events if event.act is Act.DELETE}
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
        related_paths=said.related_paths,
        related_branches=said.related_branches,
        anchors=index.anchors_of(entry_id) or message.anchors or said.anchors,
        active=entry_id in trail.ends,
        replaces=message.replaces if message.type is Act.REPLACE else None,
        replaced_by=index.successors(entry_id),
        current=trail.ends,
        withdrawn=None if trail.ends or not trail.withdrawn else reasons[trail.withdrawn[0]],
        author=raw.author,
    )
    if message.type is None and is_last_word(repo, index.tip, found):
        return found._replace(active=True, current=(entry_id,))
    return found


def is_last_word(repo: Repo, tip: EntryId, found: Entry) -> bool:
    """Whether the file of `found` is still there and no later commit touched it."""
    there = repo.file(tip, found.file) is not None
    return there and repo.last_touch(tip, found.file) == found.id


def chain_events(events: Iterable[Event], start: EntryId) -> list[Event]:
    """Those of `events` that belong to the chain of `start`, forwards and backwards."""
    events = list(events)
    beside: dict[str, set[str]] = {}
    for event in events:
        if event.target is not None:
            beside.setdefault(event.id, set()).add(event.target)
            beside.setdefault(event.target, set()).add(event.id)
    members: set[str] = set()
    waiting: list[str] = [start]
    while waiting:
        at = waiting.pop()
        if at not in members:
            members.add(at)
            waiting.extend(beside.get(at, ()))
    return [event for event in events if event.id in members]


def _trail(index: Index, events: Iterable[Event], start: EntryId) -> chain.Trail:
    following: dict[EntryId, tuple[EntryId, ...]] = {}
    withdrawn: dict[EntryId, EntryId] = {}
    for event in events:  # newest first
        if event.target is None:
            continue
        if event.act is Act.REPLACE:
            following[event.target] = (event.id, *following.get(event.target, ()))
        else:
            withdrawn.setdefault(event.target, event.id)
    return chain.follow(
        start,
        following=following,
        living=index.entry_ids(living=True),
        known=index.entry_ids(living=False),
        withdrawn=withdrawn,
    )


def _file(raw: Raw) -> str | None:
    """The one entry file that a commit added, whatever its message says."""
    files = [path for path in raw.added if chain.is_entry_path(path)]
    return files[0] if len(files) == 1 else None
