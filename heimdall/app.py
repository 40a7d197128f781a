"""The one composition: every act that a command, the MCP server or a test may ask for.

An App is a `Settings` and a current directory; each method is one act and returns a value, or
raises what the rooms below raise. No words for people, no printing, no exit codes. The rooms that
write are imported where they are called: a search is a whole process and must not load git, locks
and parsers in order not to use them. Held by tests/heimdall/test_app.py.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence

import gitmemo
from gitmemo.values import NamedTuple
from heimdall import hints
from heimdall import paths as names
from heimdall.config import Settings
from heimdall.errors import DamagedJournal, NoJournal, UnknownPath
from heimdall.model import Depth, Drift, PathRow, Presence, Report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypedDict, TypeVar

    from gitmemo import (
        Draft,
        Entry,
        EntryId,
        Event,
        Finding,
        Identity,
        Kind,
        Life,
        Link,
        Migrated,
        Migration,
        Place,
        PurgeReport,
        Store,
        Topic,
        Written,
    )
    from heimdall.edits import Edit
    from heimdall.githooks import Plan as HookPlan
    from heimdall.journal.read import JournalReader
    from heimdall.journal.values import Counts, Root
    from heimdall.writer import Result

    T = TypeVar("T")

    class _Habits(TypedDict):
        """How a store is opened."""

        identity: Identity | None
        clock: Callable[[], float]
        lock_timeout_s: float


Progress = Callable[[int, int], None]
"""Called with (done, total) while something long runs."""


class Opened(NamedTuple):
    """What `init` did. `store` is the `.mem`; `created` is False where it was there before;
    `indexed` is None where no indexing was asked for."""

    root: str
    store: str
    created: bool
    indexed: Result | None


class Changes(NamedTuple):
    """What a replacement says anew; None takes the old entry's value. `related` are paths as the
    caller wrote them, `path` or `path#symbol`."""

    title: str | None = None
    summary: str | None = None
    keywords: tuple[str, ...] | None = None
    content: str | None = None
    kind: Kind | None = None
    related: tuple[str, ...] | None = None


class Reached(NamedTuple):
    """How deep one path, or the files below one directory, are indexed. `rows` are those of the
    path itself, or below a directory those that did not reach the depth asked of them."""

    path: str
    directory: bool
    counts: dict[str, int]
    rows: tuple[PathRow, ...]


class Examined(NamedTuple):
    """What a doctor found about one memory: the project's top, its `.mem`, and every check."""

    root: str
    store: str
    findings: tuple[Finding, ...]


class Standing(NamedTuple):
    """How things are. `journal` is ok, behind or absent; `counts` is None where it is absent."""

    home: str
    journal: str
    roots: tuple[Root, ...]
    counts: Counts | None
    project: str | None
    store: str | None


class Revived(NamedTuple):
    """A memory that was missed while its copy lies at `copy`: brought back with `entries` living
    entries, or not, and `trouble` says why."""

    store: str
    copy: str
    entries: int
    trouble: gitmemo.GitMemoError | None = None


class Reconciled(NamedTuple):
    """What a reconcile came to; `registered` are roots that it met for the first time."""

    result: Result
    registered: tuple[str, ...]


class Rooted(NamedTuple):
    """A watched project: its own depth (None: the default), how many of its files are indexed, and
    whether it is there to be looked at."""

    path: str
    depth: Depth | None
    files: int
    there: bool


class App:
    """Everything this program can do, seen from the directory `cwd`."""

    def __init__(self, settings: Settings, cwd: str) -> None:
        self.settings = settings
        self.cwd = cwd

    # -- the question ------------------------------------------------------------------------------

    def search(
        self,
        words: Sequence[str],
        *,
        limit: int = 20,
        skip: int = 0,
        snapshot: str | None = None,
        cursor: str | None = None,
        mode: str = "text",
        precise: bool = False,
        show_all: bool = False,
        kinds: frozenset[str] | None = None,
        since: str | None = None,
        paths: Sequence[str] = (),
    ) -> Report:
        """The answer to `words` for the checkout that holds the current directory; `since` is a
        date or an age, `paths` are seen from that directory."""
        from heimdall.search import engine  # noqa: PLC0415 # the other commands do without it

        return engine.search(
            self.settings,
            self.cwd,
            words,
            limit=limit,
            skip=skip,
            snapshot=snapshot,
            cursor=cursor,
            mode=mode,
            precise=precise,
            show_all=show_all,
            kinds=kinds,
            since=since,
            paths=paths,
        )

    # -- the memory --------------------------------------------------------------------------------

    def init(
        self, *, here: bool = False, index: bool = True, progress: Progress | None = None
    ) -> Opened:
        """Open a memory at the project's root (or `here`) and index the project; twice is once.

        Raises NoProject outside a repository, and what the store and the writer raise.
        """
        place = self._place_or_none()
        if here:
            place = gitmemo.Place(self.cwd, self.cwd, None, worktree=False)
        if place is None:
            raise gitmemo.NoProject(self.cwd)
        store = gitmemo.Store.init(place.store_root, **self._habits())
        if not index:
            return Opened(place.root, store.path, store.founded, None)
        from heimdall import writer  # noqa: PLC0415 # reading commands do without it

        root = names.normal(".", place.root)
        writer.add_root(self.settings, root, depth=None)
        result = writer.reconcile(self.settings, (root,), progress=progress)
        return Opened(place.root, store.path, store.founded, result)

    def revive(self) -> Revived | None:
        """Bring the memory of the project here back where it was lost and its copy is there; None
        where nothing is missed. Costs one look where it is there."""
        place = self._place_or_none()
        if place is None or not gitmemo.is_gone(os.path.join(place.store_root, ".mem")):
            return None
        copy = gitmemo.copy_dir(place.store_root)
        if copy is None or not os.path.isdir(copy):
            return None
        store, wait_s = os.path.join(place.store_root, ".mem"), self.settings.lock_timeout_s
        try:
            tip = gitmemo.Store.restore(place.store_root, lock_timeout_s=wait_s)
        except gitmemo.GitMemoError as error:
            return Revived(store, copy, 0, error)
        return None if tip is None else Revived(store, copy, _entries_in(store))

    def write(self, draft: Draft, related: Sequence[str] = ()) -> Written:
        """One new entry. `related` are `path` or `path#symbol` as seen from the current directory;
        the symbols of those files that the text names are anchored without being asked."""
        place, store = self._store()
        wanted = [related_path(text, self.cwd, place.root) for text in related]
        return store.write(_anchored(draft, wanted, place.root), code_root=place.root)

    def read(self, entry_id: str) -> Entry:
        """One entry whole, active or not."""
        return self._store()[1].read(entry_id)

    def expanded(self, entry_id: str) -> tuple[Entry, tuple[Link, ...]]:
        """The same with what became of the entries that it links."""
        store = self._store()[1]
        entry = store.read(entry_id)
        return entry, store.links(entry)

    def topics(self) -> tuple[Topic, ...]:
        """The living topics, newest first, and which of their links no longer hold."""
        return self._store()[1].topics()

    def stale_links(self, entry_id: str) -> tuple[Link, ...]:
        """The links of one topic that no longer hold; none of what is no living topic."""
        store = self._store()[1]
        entry = store.read(entry_id)
        if entry.kind is not gitmemo.Kind.TOPIC or not entry.active:
            return ()
        return gitmemo.stale(store.links(entry), page=entry.id)

    def replace(self, entry_id: str, changes: Changes) -> Written:
        """Put a new entry in the place of an active one; what `changes` leaves out is inherited.

        Inherited paths and symbols are pinned anew, so one that is gone by now is refused and must
        be named anew: a replacement says what holds today.
        """
        place, store = self._store()
        old = store.read(entry_id)
        # An entry without a body of its own repeats its summary there, and goes on doing so.
        kept = "" if old.content.strip() == old.summary else old.content
        draft = gitmemo.Draft(
            title=_either(changes.title, old.title),
            summary=_either(changes.summary, old.summary),
            keywords=_either(changes.keywords, old.keywords),
            content=_either(changes.content, kept),
            kind=changes.kind,
            related_branches=old.related_branches,
        )
        wanted: list[tuple[str, str | None]]
        if changes.related is None:
            wanted = [(path, None) for path in old.related_paths]
            wanted += [(one.path, one.symbol) for one in old.anchors if one.symbol is not None]
        else:
            wanted = [related_path(text, self.cwd, place.root) for text in changes.related]
        return store.replace(entry_id, _anchored(draft, wanted, place.root), code_root=place.root)

    def delete(self, entry_id: str, reason: str) -> EntryId:
        """Withdraw an active entry; the id of the commit that did it."""
        return self._store()[1].delete(entry_id, reason)

    def purge(
        self,
        entry_id: str,
        *,
        chain: bool = False,
        texts: Sequence[str] = (),
        dry_run: bool = False,
    ) -> PurgeReport:
        """Remove an entry's text for good; what that came to, or with `dry_run` would."""
        return self._store()[1].purge(entry_id, chain=chain, texts=texts, dry_run=dry_run)

    def log(self, entry_id: str | None = None, *, limit: int | None = None) -> tuple[Event, ...]:
        """The life of one entry, or of the store, newest first."""
        return self._store()[1].history(entry_id, limit=limit)

    def life(self, entry_id: str) -> Life:
        """The whole life of one entry."""
        return self._store()[1].life(entry_id)

    def migration(self, *, finish: bool = False) -> Migration:
        """What a migration of the store here to the present format would do; with `finish` what an
        interrupted one began is ended first."""
        return self._store()[1].migration(finish=finish)

    def migrate(self, expected: Migration | None = None) -> Migrated | None:
        """Migrate the store here as `expected` says; None where it has the format already."""
        return self._store()[1].migrate(expected)

    def doctor(self, *, quick: bool = False, progress: Progress | None = None) -> Examined:
        """Every check of the memory here, or of the personal one outside any project. A memory
        that is damaged or missing is an answer; no project at all raises NoProject."""
        from heimdall.search.sources import personal  # noqa: PLC0415 # the other commands do without

        place = self._place_or_none()
        if place is None:
            place = personal(self.settings)
            if not os.path.lexists(os.path.join(place.store_root, ".mem")):
                raise gitmemo.NoProject(self.cwd)
        findings = gitmemo.check(
            place.store_root,
            shared_worktrees=self.settings.shared_worktrees,
            identity=self.settings.identity,
            clock=self.settings.now,
            quick=quick,
            progress=progress,
        )
        return Examined(place.root, os.path.join(place.store_root, ".mem"), findings)

    # -- the index ---------------------------------------------------------------------------------

    def hint(self, paths: Sequence[str], reason: str = "hook") -> int:
        """Say that `paths` may have changed; the number of hints that were written."""
        seen = [hints.absolute(path, self.cwd) for path in paths]
        home, at_ms = self.settings.home, int(self.settings.now() * 1000)
        written = hints.append(home, seen, reason, at_ms=at_ms)
        if seen and not written:
            fallback = hints.fallback_for(self.cwd)
            written = hints.append(home, seen, reason, at_ms=at_ms, fallback=fallback)
        return written

    def reconcile(
        self,
        paths: Sequence[str] = (),
        *,
        everything: bool = False,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> Reconciled:
        """Make the index equal to the disk: `paths`, or the project here by its stats, or with
        `everything` every root by its bytes. Hints and queue are taken along each time.

        The project of the current directory (without `paths`) and of each directory in `paths`
        becomes a root where it is none yet; a directory outside every project becomes one itself,
        because whoever names it wants it. A dry run registers nothing.
        """
        from heimdall import writer  # noqa: PLC0415 # reading commands do without it

        wanted = [names.normal(path, self.cwd) for path in paths]
        here = None if wanted else self._place_or_none()
        if here is not None:
            wanted = [names.normal(".", here.root)]
        aside = "" if dry_run else self._mended()
        registered = () if dry_run else self._register(wanted)
        result = writer.reconcile(
            self.settings,
            None if everything else wanted,
            everything=everything,
            dry_run=dry_run,
            progress=progress,
        )
        return Reconciled(result._replace(set_aside=result.set_aside or aside), registered)

    def roots(self) -> tuple[Rooted, ...]:
        """The watched projects by path; none where nothing was ever indexed."""
        try:
            with _reader(self.settings) as journal:
                files = journal.files_by_root()
                return tuple(
                    Rooted(one.path, one.depth, files.get(one.path, 0), os.path.isdir(one.path))
                    for one in journal.roots()
                )
        except NoJournal:
            return ()

    def add_roots(
        self, paths: Sequence[str], *, depth: Depth | None = None, progress: Progress | None = None
    ) -> Reconciled:
        """Watch these very directories from now on, as deep as `depth` (None: the default), and
        index them. One that is watched already gets the new depth. Raises UnknownPath for what is
        no directory, before anything is done."""
        from heimdall import writer  # noqa: PLC0415 # reading commands do without it

        wanted = [names.normal(path, self.cwd) for path in paths]
        for path in wanted:
            if not os.path.isdir(path) or os.path.islink(path):
                raise UnknownPath(path, "is not a directory")
        new = [path for path in wanted if writer.add_root(self.settings, path, depth=depth)]
        return Reconciled(writer.reconcile(self.settings, wanted, progress=progress), tuple(new))

    def remove_roots(self, paths: Sequence[str]) -> tuple[str, ...]:
        """Watch these projects no more and forget what was indexed of them; they need not exist.
        Memories are not touched. Raises UnknownPath for what is not watched, before anything is
        done."""
        from heimdall import writer  # noqa: PLC0415 # reading commands do without it

        known = _roots(self.settings)
        wanted = [names.normal(path, self.cwd) for path in paths]
        for path in wanted:
            if path not in known:
                raise UnknownPath(path, "is not a watched project")
        return tuple(path for path in wanted if writer.remove_root(self.settings, path))

    def verify(self, *, deep: bool = False) -> tuple[Drift, ...]:
        """Every place where the index and the disk disagree."""
        from heimdall import writer  # noqa: PLC0415 # reading commands do without it

        return writer.verify(self.settings, deep=deep)

    def depth(self, path: str) -> Reached:
        """How deep `path` is indexed, and why no deeper; raises UnknownPath outside the index."""
        wanted = names.normal(path, self.cwd)
        with _reader(self.settings) as journal:
            row = journal.path(wanted)
            if row is not None and not os.path.isdir(wanted):
                return Reached(wanted, False, {row.depth.name.lower(): 1}, (row,))
            root = names.root_of(wanted, [one.path for one in journal.roots()])
            if root is None:
                raise UnknownPath(wanted, "lies in no indexed project")
            below = [row for row in journal.paths(root) if names.under(row.path, wanted)]
        if not below:
            raise UnknownPath(wanted, "is not indexed")
        there = [row for row in below if row.state is not Presence.GONE]
        counts = {
            level.name.lower(): sum(row.depth is level for row in there)
            for level in Depth
            if any(row.depth is level for row in there)
        }
        return Reached(wanted, True, counts, tuple(row for row in there if row.depth < row.asked))

    def graph(
        self, root: str | None = None, *, relative: bool = False
    ) -> Iterator[dict[str, object]]:
        """The whole index, or one root's, line by line in a fixed order."""
        wanted = None if root is None else names.normal(root, self.cwd)
        with _reader(self.settings) as journal:
            if wanted is not None and wanted not in [one.path for one in journal.roots()]:
                raise UnknownPath(wanted, "is not an indexed project")
            yield from journal.graph(wanted, relative=relative)

    def status(self) -> Standing:
        """What is indexed, and whether it is behind. An index that was never made is an answer; one
        that cannot be used raises."""
        place = self._place_or_none()
        home = self.settings.home
        store = os.path.join(place.store_root, ".mem") if place else None
        known = store if store and os.path.isdir(store) else None
        project = place.root if place else None
        try:
            with _reader(self.settings) as journal:
                behind = journal.behind() or hints.waiting(home) > 0
                state = "behind" if behind else "ok"
                return Standing(home, state, journal.roots(), journal.counts(), project, known)
        except NoJournal:
            return Standing(home, "absent", (), None, project, known)

    def rebuild(self, *, progress: Progress | None = None) -> Result:
        """Throw the index away and make it again from the disk, keeping a copy of it until the new
        one has been verified.

        A journal that cannot even be read is set aside. Where its roots are known no more, the
        project here is all that is indexed again.
        """
        from heimdall import writer  # noqa: PLC0415 # reading commands do without it

        result = writer.rebuild(self.settings, progress=progress)
        if not result.set_aside or self.roots():
            return result
        again = self.reconcile(everything=True, progress=progress).result
        return again._replace(set_aside=result.set_aside)

    def git_hooks(self, env: Mapping[str, str], *, remove: bool = False) -> HookPlan:
        """How git's hooks stand in the repository here, and what installs or removes ours. `env` is
        what git is asked with."""
        from heimdall import githooks, hookground  # noqa: PLC0415 # the other commands do without

        ground = hookground.look(self.cwd, env)
        return githooks.remove(ground) if remove else githooks.install(ground)

    def edit(self, planned: Sequence[Edit]) -> None:
        """Carry out edits that were planned and maybe shown."""
        from heimdall import edits  # noqa: PLC0415 # the other commands do without

        edits.apply(planned)

    # -- what they share ---------------------------------------------------------------------------

    def _place_or_none(self) -> Place | None:
        return gitmemo.locate(self.cwd, shared_worktrees=self.settings.shared_worktrees)

    def _habits(self) -> _Habits:
        return {
            "identity": self.settings.identity,
            "clock": self.settings.now,
            "lock_timeout_s": self.settings.lock_timeout_s,
        }

    def _store(self) -> tuple[Place, Store]:
        """The project here and its store; raises NoProject or what opening a store raises."""
        place = self._place_or_none()
        if place is None:
            raise gitmemo.NoProject(self.cwd)
        return place, gitmemo.Store.open(place.store_root, **self._habits())

    def _mended(self) -> str:
        """Have a journal that cannot be opened made anew, so that its roots can be asked for; where
        it was put aside, "" where nothing was wrong."""
        try:
            _roots(self.settings)
        except DamagedJournal:
            from heimdall import writer  # noqa: PLC0415 # reading commands do without it

            return writer.mend(self.settings)
        return ""

    def _register(self, wanted: Sequence[str]) -> tuple[str, ...]:
        """Put projects under watch that are not yet; the roots that are new."""
        from heimdall import writer  # noqa: PLC0415 # reading commands do without it

        folders = [path for path in wanted if os.path.isdir(path) and not os.path.islink(path)]
        new: dict[str, None] = {}
        roots = _roots(self.settings)
        for folder in folders:
            place = gitmemo.locate(folder, shared_worktrees=self.settings.shared_worktrees)
            root = names.normal(".", place.root) if place else folder
            covered = root in roots if place else names.root_of(folder, roots) is not None
            if not covered and writer.add_root(self.settings, root, depth=None):
                new[root] = None
        return tuple(new)


def _entries_in(store: str) -> int:
    """How many entry files a store holds that was just checked out."""
    walked = os.walk(os.path.join(store, "entries"))
    return sum(name.endswith(".md") for _, _, names in walked for name in names)


def related_path(text: str, cwd: str, root: str) -> tuple[str, str | None]:
    """`path` or `path#symbol`, seen from `cwd`, as a project-relative path and a symbol.

    A file whose own name holds `#` is taken whole. What is absolute, or leads out of the project,
    is handed on as it was written: the store refuses it in its own words.
    """
    path, symbol = text, None
    if "#" in text and not os.path.lexists(os.path.join(cwd, text)):
        head, _, tail = text.rpartition("#")
        path, symbol = (head, tail) if head and tail else (text, None)
    if not path or os.path.isabs(path) or "\0" in path:
        return path, symbol
    seen = os.path.normpath(os.path.join(cwd, path))
    top = os.path.normpath(root)
    return (names.relative(seen, top) if names.under(seen, top) else path), symbol


def _anchored(draft: Draft, wanted: Sequence[tuple[str, str | None]], root: str) -> Draft:
    """The draft with its related paths, and with anchors for the symbols named or asked for."""
    from heimdall.anchors import anchor_symbols  # noqa: PLC0415 # the parsers behind it are heavy

    related = tuple(dict.fromkeys(path for path, _ in wanted))
    files = [path for path in related if _inside(path) and os.path.isfile(os.path.join(root, path))]
    explicit: dict[str, list[str]] = {}
    for path, symbol in wanted:
        if symbol is not None and path in files:
            explicit.setdefault(path, []).append(symbol)
    text = "\n".join((draft.title, draft.summary, *draft.keywords, draft.content))
    anchors = anchor_symbols(root, text, files, explicit) if files else ()
    return draft._replace(related_paths=related, anchors=anchors)


def _inside(path: str) -> bool:
    """Whether a path is relative and does not climb."""
    return bool(path) and not os.path.isabs(path) and os.pardir not in path.split("/")


def _either(new: T | None, old: T) -> T:
    return old if new is None else new


def _reader(settings: Settings) -> JournalReader:
    from heimdall.journal.read import open_reader  # noqa: PLC0415 # SQLite, where it is needed

    return open_reader(settings.home)


def _roots(settings: Settings) -> list[str]:
    """The roots under watch; none where nothing was ever indexed."""
    try:
        with _reader(settings) as journal:
            return [one.path for one in journal.roots()]
    except NoJournal:
        return []
