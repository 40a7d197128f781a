"""The front of a memory store: search, read, history, write, replace, delete.

Reads touch nothing on the disk and take no lock; a search whose derived index fits main needs no
git at all. Writes go one at a time through `_changing`: lock, recover, check, plan (pure), carry
out. The rooms that cost a process its first tenth of a second (git, locks, planning) are imported
where a write or a rare read needs them. Tests: tests/gitmemo/test_store.py, tests/laws, faults,
races.
"""

from __future__ import annotations

import errno
import os
import re
import sqlite3
import time
from collections.abc import Callable, Sequence

from gitmemo import gate, searching
from gitmemo.errors import (
    CallerError,
    DamagedStore,
    InvalidDraft,
    InvalidId,
    IoRefused,
    LegacyStore,
    NoProject,
    NoStore,
    PlainFolder,
    StaleSnapshot,
)
from gitmemo.index import GARBLED, Index, open_reader
from gitmemo.model import (
    Change,
    Draft,
    Entry,
    EntryId,
    Event,
    Finding,
    Found,
    Identity,
    Kind,
    Life,
    Mode,
    Page,
    PurgeReport,
    Written,
)
from gitmemo.place import STORE_DIR, code_state, locate, main_tip
from gitmemo.text import iso_date, path_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import TypeVar

    from gitmemo.legacy import Migrated, Migration
    from gitmemo.repo import Repo
    from gitmemo.topics import Link, Topic
    from gitmemo.writing import Desk

    _T = TypeVar("_T")

KEYWORDS_LIMIT = 15
_SHA1 = 40
_FAR = 2**62  # what SQLite can still compare
_AGAIN = 3
_AT_WORK = 100  # twentieths of a second: clearing a large store takes a while
_PURGE_RECORD = "gitmemo-purge.json"
_ID = re.compile(r"[0-9a-f]{7,64}")
_JOURNAL = ".mem.gitmemo-migration.json"  # `swap` has it too, and needs git
_NOT_REFUSED = frozenset((errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EINVAL, errno.EFBIG))
_MARKER_FILE = ".gitmemo-format"  # `repo` has it too, and needs git


class Store:
    """One `.mem`. Made by `init` or `open`; threads may share it. `founded` tells of `init` that
    there was none before, and that nobody else made it meanwhile."""

    def __init__(
        self,
        root: str,
        *,
        identity: Identity | None,
        clock: Callable[[], float],
        lock_timeout_s: float,
    ) -> None:
        self.root = root
        self.path = os.path.join(root, STORE_DIR)
        self.founded = False
        self._git_dir = os.path.join(self.path, ".git")
        self._identity = identity
        self._clock = clock
        self._lock_timeout_s = lock_timeout_s
        self._desk: Desk | None = None

    @staticmethod
    def init(
        root: str,
        *,
        identity: Identity | None = None,
        clock: Callable[[], float] = time.time,
        lock_timeout_s: float = 30.0,
    ) -> Store:
        """Create `<root>/.mem` where there is none, and open it; a second time changes nothing.
        One that was lost comes back from its copy instead. Without an `identity`, commits are
        made by whom git's settings name, else by gitmemo.

        Raises PlainFolder where `.mem` is something else, TrackedByParent where the code
        repository tracks it, LockTimeout, IoRefused, and what `restore` does.
        """
        from gitmemo import (  # noqa: PLC0415 # they need git, which a search does not
            founding,
            survival,
        )

        root = os.path.abspath(root)
        if os.path.lexists(os.path.join(root, _JOURNAL)):
            from gitmemo import migrate  # noqa: PLC0415 # a rare act

            migrate.recover(root, timeout_s=lock_timeout_s)
        restored = survival.restore(root, timeout_s=lock_timeout_s)
        founded = founding.found(
            root,
            identity=identity,
            now_s=int(clock()),
            timeout_s=lock_timeout_s,
        )
        survival.catch_up(root, timeout_s=lock_timeout_s)
        store = Store.open(root, identity=identity, clock=clock, lock_timeout_s=lock_timeout_s)
        store.founded = founded or restored is not None
        return store

    @staticmethod
    def restore(root: str, *, lock_timeout_s: float = 30.0) -> EntryId | None:
        """Bring `<root>/.mem` back where it was lost (`git clean -ffdx`, `rm -rf`) and the code
        repository's git directory holds its copy; the commit of main, None where there is nothing
        to bring back. A `.mem` that holds anything is never touched.

        Raises DamagedStore where the copy cannot give back its newest commit, TrackedByParent,
        LockTimeout, IoRefused.
        """
        from gitmemo import survival  # noqa: PLC0415 # it needs git, which a search does not

        return survival.restore(os.path.abspath(root), timeout_s=lock_timeout_s)

    @staticmethod
    def open(
        root: str,
        *,
        identity: Identity | None = None,
        clock: Callable[[], float] = time.time,
        lock_timeout_s: float = 30.0,
    ) -> Store:
        """Open `<root>/.mem`; touches nothing. `clock` gives seconds since 1970. Where a migration
        was interrupted while `.mem` had no name, whoever reads is told and whoever writes ends it.

        Raises NoStore where there is none, PlainFolder where `.mem` is no repository of its own,
        DamagedStore where it has no main, only a part of its history, or hashes of another kind.
        """
        store = Store(
            os.path.abspath(root),
            identity=identity,
            clock=clock,
            lock_timeout_s=lock_timeout_s,
        )
        if os.path.lexists(store.path) or not os.path.lexists(os.path.join(store.root, _JOURNAL)):
            store.tip()
        return store

    @staticmethod
    def find(
        folder: str = ".",
        *,
        shared_worktrees: bool = True,
        identity: Identity | None = None,
        clock: Callable[[], float] = time.time,
        lock_timeout_s: float = 30.0,
    ) -> Store:
        """Open the store of the project that holds `folder`; a linked worktree shares that of its
        main checkout unless told otherwise. Raises NoProject outside one, and what `open` does."""
        place = locate(folder, shared_worktrees=shared_worktrees)
        if place is None:
            raise NoProject(os.path.abspath(folder))
        return Store.open(
            place.store_root, identity=identity, clock=clock, lock_timeout_s=lock_timeout_s
        )

    def __repr__(self) -> str:
        return f"Store({self.root!r})"

    # -- reading ---------------------------------------------------------------------------------

    def tip(self) -> EntryId:
        """The commit of main, in a store of the time before the marker that has none, of HEAD;
        raises what `open` does."""
        tip = main_tip(self.path) or self._old_tip()
        if tip is not None:
            # Both would be answered in part, silently, and no other engine could write here again.
            if len(tip) != _SHA1:
                raise DamagedStore(self.path, "not-sha1")
            if os.path.lexists(os.path.join(self._git_dir, "shallow")):
                raise DamagedStore(self.path, "shallow")
            return tip
        self._refuse_unreadable()
        if not os.path.lexists(self.path):
            if os.path.lexists(os.path.join(self.root, _JOURNAL)):
                raise DamagedStore(self.path, "interrupted-migration")
            raise NoStore(self.root)
        if not os.path.isfile(os.path.join(self._git_dir, "HEAD")):
            raise PlainFolder(self.path)
        raise DamagedStore(self.path, "no-main")

    def _old_tip(self) -> EntryId | None:
        """The commit of HEAD where no marker lies in the folder; None where HEAD names none."""
        if os.path.lexists(os.path.join(self.path, _MARKER_FILE)):
            return None
        commit = code_state(self.path).commit
        return None if commit == "unknown" else EntryId(commit)

    def _refuse_unreadable(self) -> None:
        """Raise IoRefused where it is the machine that keeps main from being read: what may not be
        looked at is neither absent nor damaged."""
        for name in ("HEAD", "refs/heads/main", "packed-refs"):
            path = os.path.join(self._git_dir, name)
            try:
                with gate.opened(path):
                    pass
            except OSError as error:
                if error.errno not in _NOT_REFUSED:
                    raise IoRefused(path, error.errno or 0, error.strerror or "") from error

    def search(
        self,
        words: Sequence[str],
        *,
        mode: Mode = Mode.TEXT,
        limit: int = 20,
        skip: int = 0,
        snapshot: str | None = None,
        include_inactive: bool = False,
        kinds: frozenset[Kind] | None = None,
        since_s: int | None = None,
        paths: tuple[str, ...] = (),
    ) -> Page:
        """A page of hits, best first. In the trailer modes `words` are 1 to 15 keywords, matched
        as fixed strings; in text mode they are words or sentences. `snapshot` keeps the pages of
        one search together. `since_s` (seconds since 1970) and `paths` (project-relative files and
        folders, "." for the project) keep the entries written since, and those about one of them;
        with them or `kinds` there need be no words, and what fits is listed, the newest first.
        Raises InvalidDraft (words, limit, skip, paths), InvalidId and StaleSnapshot (snapshot).
        """
        if limit < 1 or skip < 0:
            raise InvalidDraft("skip" if skip < 0 else "limit", "out-of-range")
        blank = not any(word.strip() for word in words)
        listing = blank and (kinds is not None or since_s is not None or bool(paths))
        asked = words if listing or mode is Mode.TEXT else _keywords(words)
        keys = tuple(map(_inside, paths))
        since = None if since_s is None else max(-_FAR, min(since_s, _FAR))
        now_ms = int(self._clock() * 1000)

        def answer(index: Index, at: int, commit: EntryId) -> Page:
            scope = searching.Scope(at, include_inactive, kinds, since, keys)
            page = slice(skip, skip + limit)
            total, hits = searching.search(
                index, asked, mode=mode, scope=scope, now_ms=now_ms, page=page
            )
            more = skip + limit < total
            found = index.found(hits, at=at)
            return Page(commit, total, skip + limit if more else None, found, index.legacy)

        return self._ask(answer, snapshot and snapshot.strip(), mode)

    def entries(self) -> tuple[Found, ...]:
        """Every active entry, newest first, with score 0; `read` gives one whole."""
        return self._ask(lambda index, at, _commit: index.found(index.living(), at=at))

    def read(self, entry_id: str) -> Entry:
        """One entry, also a replaced or withdrawn one, by its hash of seven digits or more.
        Raises InvalidId, UnknownId, AmbiguousId."""
        _check_id(entry_id)
        from gitmemo import reading  # noqa: PLC0415 # it needs git, which a search does not

        def answer(index: Index, _at: int, _commit: EntryId) -> Entry:
            if index.legacy:
                return self._read_old(index, entry_id)
            repo = self._repo()
            entry = reading.load(repo, index, reading.resolve(repo, index, entry_id))
            now = None if entry.digest or entry.active else self._migrated(repo, index, entry)
            if now is None:
                return entry
            return entry._replace(
                replaced_by=(now,), current=reading.load(repo, index, now).current
            )

        return self._ask_git(answer)

    def history(
        self, entry_id: str | None = None, *, limit: int | None = None
    ) -> tuple[Event, ...]:
        """What happened, newest first: to the whole store, or to the chain of one entry (what it
        replaced, what replaced it, what withdrew it)."""
        if entry_id is None:
            return self._ask(lambda index, _at, _commit: tuple(index.events()[:limit]))
        return self.life(entry_id).events[:limit]

    def life(self, entry_id: str) -> Life:
        """The whole life of one entry. Raises what `read` does."""
        _check_id(entry_id)
        from gitmemo import reading  # noqa: PLC0415 # it needs git, which a search does not

        def answer(index: Index, _at: int, _commit: EntryId) -> Life:
            repo = self._repo()
            if index.legacy:
                start = self._read_old(index, entry_id).id
            else:
                start = reading.resolve(repo, index, entry_id)
                if not index.entries_like(start):
                    entry = reading.load(repo, index, start)
                    start = self._migrated(repo, index, entry) or start
            return reading.life(repo, index, start)

        return self._ask_git(answer)

    def links(self, entry: Entry) -> tuple[Link, ...]:
        """What became of the entries that `entry` links as `[[hash]]`, in its order; the first 32
        different ones count."""
        from gitmemo import reading  # noqa: PLC0415 # it needs git, which a search does not
        from gitmemo.entry import links  # noqa: PLC0415 # a search reads no bodies

        texts = links(entry.content)
        return self._ask_git(lambda index, _at, _commit: reading.links(self._repo(), index, texts))

    def topics(self) -> tuple[Topic, ...]:
        """The living topics, newest first, and which of their links no longer hold."""
        from gitmemo import reading  # noqa: PLC0415 # it needs git, which a search does not

        return self._ask_git(lambda index, _at, _commit: reading.all_topics(self._repo(), index))

    def check(
        self,
        *,
        shared_worktrees: bool = True,
        quick: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> tuple[Finding, ...]:
        """How this store is: every check, in a fixed order, with what it found. Touches nothing,
        takes no lock, raises nothing. `shared_worktrees` false: linked worktrees have stores of
        their own on purpose. `quick` neither reads every object of history nor compares the
        derived index with it; `progress` is called with (done, known so far) while it reads."""
        from gitmemo import checkup  # noqa: PLC0415 # it needs git, which a search does not

        return checkup.examine(
            checkup.Case(
                root=self.root,
                identity=self._identity,
                now_s=self._clock(),
                shared_worktrees=shared_worktrees,
                quick=quick,
                progress=progress,
                topics=self.topics,
            )
        )

    def _ask(
        self,
        question: Callable[[Index, int, EntryId], _T],
        snapshot: str | None = None,
        mode: Mode = Mode.TEXT,
    ) -> _T:
        """Answer from history as it is now, also where a purge takes the old one away meanwhile:
        objects that an open repository knows go, and opened anew it has what took their place."""
        tried = 0
        while True:
            tip = main_tip(self.path)
            try:
                return self._ask_once(question, snapshot, mode)
            except Exception as error:
                if main_tip(self.path) != tip:
                    continue
                at_work = os.path.lexists(os.path.join(self._git_dir, _PURGE_RECORD))
                tried += 1
                if isinstance(error, CallerError) or tried >= (_AT_WORK if at_work else _AGAIN):
                    raise
                time.sleep(0.05)

    def _ask_once(
        self, question: Callable[[Index, int, EntryId], _T], snapshot: str | None, mode: Mode
    ) -> _T:
        """Answer from the index file where it is right for this, else from history in memory."""
        believed = True
        index = open_reader(self._git_dir)
        # Main is looked at after the index is held: a writer moves main first, so an index that
        # seems ahead would only be a look at main that came too early.
        tip = self.tip()
        if index is not None:
            try:
                commit = _one_commit(index, snapshot) if snapshot else tip
                at = index.seq_of(commit) if commit is not None and index.tip == tip else None
                if commit is not None and at is not None:
                    return question(index, at, commit)
            except (sqlite3.Error, DamagedStore, *GARBLED):
                believed = False  # damaged inside: history gives the same answer, later
            finally:
                index.close()
        if believed:
            try:
                return self._ask_history(question, tip, snapshot, mode)
            except (sqlite3.Error, DamagedStore, *GARBLED):
                pass  # a copy of the file was brought on, and its damage with it
        return self._ask_history(question, tip, snapshot, mode, believed=False)

    def _ask_history(
        self,
        question: Callable[[Index, int, EntryId], _T],
        tip: EntryId,
        snapshot: str | None,
        mode: Mode,
        *,
        believed: bool = True,
    ) -> _T:
        from gitmemo import indexing  # noqa: PLC0415 # it needs git, which a search does not

        with self._refusals():
            repo = self._repo()
            try:
                repo.refuse_other_format(tip)
            except LegacyStore:
                commit, index = self._old_index(snapshot, mode)
            else:
                repo.tip()  # a commit of HEAD will not do for a store of the present format
                commit = _ancestor(repo, snapshot, tip) if snapshot else tip
                index = indexing.in_memory(repo, commit, believed=believed)
            try:
                at = index.seq_of(commit)
                assert at is not None  # an index knows its own commit
                return question(index, at, commit)
            finally:
                index.close()

    def _refusals(self) -> AbstractContextManager[None]:
        """What git makes of a damaged store, as errors of ours."""
        from gitmemo import repo  # noqa: PLC0415 # it needs git, which a search does not

        return repo.refusals(self.path)

    def _ask_git(self, question: Callable[[Index, int, EntryId], _T]) -> _T:
        """`_ask` for a question that reads history too."""

        def guarded(index: Index, at: int, commit: EntryId) -> _T:
            with self._refusals():
                return question(index, at, commit)

        return self._ask(guarded)

    def _old_index(self, snapshot: str | None, mode: Mode) -> tuple[EntryId, Index]:
        """A store of the time before the marker, as its HEAD has it."""
        from gitmemo import oldrepo, oldstore  # noqa: PLC0415 # few stores are that old

        repo = oldrepo.OldRepo(self.path)
        head = oldstore.head(repo)
        commit = _ancestor(repo, snapshot, head) if snapshot else head
        return commit, oldstore.in_memory(repo, commit, mode)

    def _read_old(self, index: Index, entry_id: str) -> Entry:
        from gitmemo import oldrepo, oldstore  # noqa: PLC0415 # few stores are that old

        repo = oldrepo.OldRepo(self.path)
        return oldstore.load(repo, index, oldstore.resolve(repo, index, entry_id))

    def _migrated(self, repo: Repo, index: Index, entry: Entry) -> EntryId | None:
        """What became of a commit of the time before the marker."""
        from gitmemo import oldstore  # noqa: PLC0415 # few stores are that old

        return oldstore.became(repo, index, entry.id, entry.file)

    def _repo(self) -> Repo:
        from gitmemo import repo  # noqa: PLC0415 # 125 ms that a search has no use for

        return repo.Repo(self.path)

    # -- writing ---------------------------------------------------------------------------------

    def write(self, draft: Draft, *, code_root: str | None = None) -> Written:
        """Add an entry. `code_root` is the checkout whose branch, commit and related files count,
        the store's root if not given. Raises InvalidDraft, Duplicate, StoreError, WorldError."""
        from gitmemo import plan, writing  # noqa: PLC0415 # readers never plan

        root = code_root or self.root
        clean, redactions = writing.cleaned(draft)
        anchors = writing.file_anchors(root, clean)

        def decide(_repo: Repo, index: Index) -> Change:
            writing.refuse_duplicate(index, clean, clean.kind or Kind.TASK)
            return plan.add(
                clean,
                now_ms=self._now_ms(),
                code=code_state(root),
                anchors=anchors,
                taken=writing.Taken(self.path),
            )

        done = writing.perform(self._at_desk(), "write", decide, like=clean)
        return Written(done.commit, done.change.add[0][0], redactions, done.similar)

    def replace(self, entry_id: str, draft: Draft, *, code_root: str | None = None) -> Written:
        """Put a new entry in the place of a living one, in one commit. A kind of None is
        inherited. Raises what `write` does, and InvalidId, UnknownId, AmbiguousId, NotActive."""
        _check_id(entry_id)
        from gitmemo import plan, writing  # noqa: PLC0415 # readers never plan

        root = code_root or self.root
        clean, redactions = writing.cleaned(draft)
        anchors = writing.file_anchors(root, clean)

        def decide(repo: Repo, index: Index) -> Change:
            old = writing.living(repo, index, entry_id)
            writing.refuse_duplicate(index, clean, clean.kind or old.kind, but=old.id)
            return plan.replace(
                old,
                clean,
                now_ms=self._now_ms(),
                code=code_state(root),
                anchors=anchors,
                taken=writing.Taken(self.path),
            )

        done = writing.perform(self._at_desk(), "replace", decide, like=clean)
        return Written(done.commit, done.change.add[0][0], redactions, done.similar)

    def delete(self, entry_id: str, reason: str) -> EntryId:
        """Withdraw a living entry; the commit that did. Its text stays in history. Raises
        InvalidDraft (reason), and what `replace` does."""
        _check_id(entry_id)
        from gitmemo import plan, writing  # noqa: PLC0415 # readers never plan

        clean = writing.cleaned_reason(reason)

        def decide(repo: Repo, index: Index) -> Change:
            return plan.delete(writing.living(repo, index, entry_id), clean)

        return writing.perform(self._at_desk(), "delete", decide).commit

    # -- older formats ---------------------------------------------------------------------------

    def migration(self, *, finish: bool = False) -> Migration:
        """What a migration to the present format would do; changes nothing, but that `finish` ends
        what an interrupted one began. Raises OtherFormat for a marker that is not known here."""
        from gitmemo import migrate  # noqa: PLC0415 # a rare act

        if finish:
            self._finish_migration()
        self.tip()
        with self._refusals():
            return migrate.survey(self.root, now_ms=self._now_ms())

    def migrate(self, expected: Migration | None = None) -> Migrated | None:
        """Migrate; None where there is nothing to do. `expected` is a survey that was looked at:
        if a branch moved since, or anything in the store is not clean, MigrationRefused is raised
        and nothing was changed."""
        from gitmemo import migrate, survival  # noqa: PLC0415 # a rare act

        self._desk = None
        with self._refusals():
            done = migrate.apply(
                self.root,
                expected=expected,
                identity=self._identity,
                now_ms=self._now_ms(),
                timeout_s=self._lock_timeout_s,
            )
        survival.catch_up(self.root, timeout_s=self._lock_timeout_s)
        return done

    def _finish_migration(self) -> None:
        """End what an interrupted migration began."""
        if os.path.lexists(os.path.join(self.root, _JOURNAL)):
            from gitmemo import migrate  # noqa: PLC0415 # a rare act

            migrate.recover(self.root, timeout_s=self._lock_timeout_s)

    def purge(
        self,
        entry_id: str,
        *,
        chain: bool = False,
        texts: Sequence[str] = (),
        dry_run: bool = False,
    ) -> PurgeReport:
        """Remove an entry's text from history and from every place that could hold it, for good;
        with `chain` all versions of it. Later commits get new ids, and old ids still name their
        entries. `texts` are what to look for elsewhere, the entry's own lines if not given; a dry
        run writes nothing. Raises InvalidId, UnknownId, AmbiguousId, Purged, StoreError,
        WorldError."""
        _check_id(entry_id)
        from gitmemo import purge, reading, writing  # noqa: PLC0415 # rare

        date = iso_date(self._now_ms())

        def look(index: Index, _at: int, _commit: EntryId) -> PurgeReport:
            repo = self._repo()
            asked = reading.resolve(repo, index, entry_id)
            return purge.look(repo, index, asked, chain=chain, texts=texts, date=date).report

        if dry_run:
            return self._ask(look)
        desk = self._at_desk()
        with writing.alone(desk, "purge") as repo:
            return purge.carry_out(
                self.root,
                repo,
                entry_id,
                chain=chain,
                texts=texts,
                identity=desk.identity,
                now_s=self._now_ms() // 1000,
                date=date,
                timeout_s=self._lock_timeout_s,
            )

    def _now_ms(self) -> int:
        return int(self._clock() * 1000)

    def _at_desk(self) -> Desk:
        from gitmemo import founding, seen, writing  # noqa: PLC0415 # readers never write

        self._finish_migration()
        tip = self.tip()
        if self._desk is None:
            with self._refusals():
                self._repo().refuse_other_format(tip)
            self._desk = writing.Desk(
                root=self.root,
                mem=self.path,
                identity=self._identity or founding.identity_at(self._git_dir, self.root),
                clock=self._clock,
                timeout_s=self._lock_timeout_s,
                seen=seen.Seen(self.path),
            )
        return self._desk


def check(
    root: str,
    *,
    shared_worktrees: bool = True,
    identity: Identity | None = None,
    clock: Callable[[], float] = time.time,
    quick: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Finding, ...]:
    """`Store.check` for a store that may be too damaged to open, or not there at all."""
    store = Store(os.path.abspath(root), identity=identity, clock=clock, lock_timeout_s=0.0)
    return store.check(shared_worktrees=shared_worktrees, quick=quick, progress=progress)


def _check_id(text: str) -> None:
    if not _ID.fullmatch(text):
        raise InvalidId(text)


def _inside(path: str) -> bytes:
    """The key of a path of the project that is asked about; it need not exist."""
    if path.startswith("/"):
        raise InvalidDraft("related_paths", "absolute", path)
    if ".." in path.split("/"):
        raise InvalidDraft("related_paths", "escapes", path)
    return path_key(path)


def _keywords(words: Sequence[str]) -> tuple[str, ...]:
    """The keywords of a trailer search in the format's folded form."""
    from gitmemo.entry import query_keyword  # noqa: PLC0415 # a text search validates nothing

    folded = tuple(dict.fromkeys(map(query_keyword, words)))
    if not 1 <= len(folded) <= KEYWORDS_LIMIT:
        raise InvalidDraft("keywords", "count", str(len(folded)))
    return folded


def _one_commit(index: Index, text: str) -> EntryId | None:
    """The commit of main that `text` names, if the index knows just one."""
    _check_id(text)
    commits = index.commits_like(text)
    return commits[0] if len(commits) == 1 else None


def _ancestor(repo: Repo, text: str, tip: EntryId) -> EntryId:
    """The commit that `text` names, which must lie in the history of `tip`."""
    _check_id(text)
    commits = [commit for commit in repo.find(text) if repo.is_ancestor(commit, tip)]
    if not commits:  # a snapshot from before a purge goes on as what stands for it now
        from gitmemo import idmap  # noqa: PLC0415 # it needs git, which a search does not

        renamed = {one.new for one in idmap.like(repo.id_map(), text) if one.new}
        commits = [commit for commit in renamed if repo.is_ancestor(commit, tip)]
    if len(commits) != 1:
        raise StaleSnapshot(text)
    return commits[0]
