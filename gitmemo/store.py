"""The front of a memory store: search, read, history, write, replace, delete.

Reads touch nothing on the disk and take no lock; a search whose derived index fits main needs no
git at all. Writes go one at a time through `_changing`: lock, recover, check, plan (pure), carry
out. The rooms that cost a process its first tenth of a second (git, locks, planning) are imported
where a write or a rare read needs them. Tests: tests/gitmemo/test_store.py, tests/laws, faults,
races.
"""

from __future__ import annotations

import os
import re
import sqlite3
import time
from collections.abc import Callable, Sequence

from gitmemo import searching
from gitmemo.errors import (
    DamagedStore,
    InvalidDraft,
    InvalidId,
    IoRefused,
    NoStore,
    PlainFolder,
    StaleSnapshot,
)
from gitmemo.index import Index, open_reader
from gitmemo.model import (
    Change,
    Draft,
    Entry,
    EntryId,
    Event,
    Identity,
    Kind,
    Mode,
    Page,
    Written,
)
from gitmemo.place import STORE_DIR, code_state, main_tip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from gitmemo.repo import Repo
    from gitmemo.writing import Desk

    _T = TypeVar("_T")

KEYWORDS_LIMIT = 15
_SHA1 = 40
_ID = re.compile(r"[0-9a-f]{7,64}")


class Store:
    """One `.mem`. Made by `init` or `open`; threads may share it."""

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
        Without an `identity`, commits are made by whom git's settings name, else by gitmemo.

        Raises PlainFolder where `.mem` is something else, TrackedByParent where the code
        repository tracks it, LockTimeout, IoRefused.
        """
        from gitmemo import founding  # noqa: PLC0415 # it needs git, which a search does not

        root = os.path.abspath(root)
        founding.found(
            root,
            identity=identity,
            now_s=int(clock()),
            timeout_s=lock_timeout_s,
        )
        return Store.open(root, identity=identity, clock=clock, lock_timeout_s=lock_timeout_s)

    @staticmethod
    def open(
        root: str,
        *,
        identity: Identity | None = None,
        clock: Callable[[], float] = time.time,
        lock_timeout_s: float = 30.0,
    ) -> Store:
        """Open `<root>/.mem`; touches nothing. `clock` gives seconds since 1970.

        Raises NoStore where there is none, PlainFolder where `.mem` is no repository of its own,
        DamagedStore where it has no main, only a part of its history, or hashes of another kind.
        """
        store = Store(
            os.path.abspath(root),
            identity=identity,
            clock=clock,
            lock_timeout_s=lock_timeout_s,
        )
        store.tip()
        return store

    # -- reading ---------------------------------------------------------------------------------

    def tip(self) -> EntryId:
        """The commit of main; raises what `open` does."""
        tip = main_tip(self.path)
        if tip is not None:
            # Both would be answered in part, silently, and no other engine could write here again.
            if len(tip) != _SHA1:
                raise DamagedStore(self.path, "not-sha1")
            if os.path.lexists(os.path.join(self._git_dir, "shallow")):
                raise DamagedStore(self.path, "shallow")
            return tip
        self._refuse_unreadable()
        if not os.path.lexists(self.path):
            raise NoStore(self.root)
        if not os.path.isfile(os.path.join(self._git_dir, "HEAD")):
            raise PlainFolder(self.path)
        raise DamagedStore(self.path, "no-main")

    def _refuse_unreadable(self) -> None:
        """Raise IoRefused where it is the machine that keeps main from being read: what may not be
        looked at is neither absent nor damaged."""
        for name in ("HEAD", "refs/heads/main", "packed-refs"):
            path = os.path.join(self._git_dir, name)
            try:
                with open(path, "rb"):
                    pass
            except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
                continue
            except OSError as error:
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
    ) -> Page:
        """A page of hits, best first. In the trailer modes `words` are 1 to 15 keywords, matched
        as fixed strings; in text mode they are words or sentences. `snapshot` keeps the pages of
        one search together. Raises InvalidDraft (words, limit, skip), InvalidId and StaleSnapshot
        (snapshot).
        """
        if limit < 1 or skip < 0:
            raise InvalidDraft("skip" if skip < 0 else "limit", "out-of-range")
        asked = words if mode is Mode.TEXT else _keywords(words)
        now_ms = int(self._clock() * 1000)

        def answer(index: Index, at: int, commit: EntryId) -> Page:
            scope = searching.Scope(at, include_inactive, kinds)
            page = slice(skip, skip + limit)
            total, hits = searching.search(
                index, asked, mode=mode, scope=scope, now_ms=now_ms, page=page
            )
            more = skip + limit < total
            return Page(commit, total, skip + limit if more else None, index.found(hits, at=at))

        return self._ask(answer, snapshot and snapshot.strip())

    def read(self, entry_id: str) -> Entry:
        """One entry, also a replaced or withdrawn one, by its hash of seven digits or more.
        Raises InvalidId, UnknownId, AmbiguousId."""
        _check_id(entry_id)
        from gitmemo import reading  # noqa: PLC0415 # it needs git, which a search does not

        def answer(index: Index, _at: int, _commit: EntryId) -> Entry:
            repo = self._repo()
            return reading.load(repo, index, reading.resolve(repo, index, entry_id))

        return self._ask(answer)

    def history(
        self, entry_id: str | None = None, *, limit: int | None = None
    ) -> tuple[Event, ...]:
        """What happened, newest first: to the whole store, or to the chain of one entry (what it
        replaced, what replaced it, what withdrew it)."""
        if entry_id is None:
            return self._ask(lambda index, _at, _commit: tuple(index.events()[:limit]))
        _check_id(entry_id)
        from gitmemo import reading  # noqa: PLC0415 # it needs git, which a search does not

        def answer(index: Index, _at: int, _commit: EntryId) -> tuple[Event, ...]:
            start = reading.resolve(self._repo(), index, entry_id)
            return tuple(reading.chain_events(index.events(), start)[:limit])

        return self._ask(answer)

    def _ask(
        self, question: Callable[[Index, int, EntryId], _T], snapshot: str | None = None
    ) -> _T:
        """Answer from the index file where it is right for this, else from history in memory."""
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
            except sqlite3.Error:
                pass  # damaged inside: history gives the same answer, later
            finally:
                index.close()
        return self._ask_history(question, tip, snapshot)

    def _ask_history(
        self,
        question: Callable[[Index, int, EntryId], _T],
        tip: EntryId,
        snapshot: str | None,
    ) -> _T:
        from gitmemo import indexing  # noqa: PLC0415 # it needs git, which a search does not

        repo = self._repo()
        repo.refuse_other_format(tip)
        commit = _ancestor(repo, snapshot, tip) if snapshot else tip
        index = indexing.in_memory(repo, commit)
        try:
            at = index.seq_of(commit)
            assert at is not None  # an index knows its own commit
            return question(index, at, commit)
        finally:
            index.close()

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

    def _now_ms(self) -> int:
        return int(self._clock() * 1000)

    def _at_desk(self) -> Desk:
        from gitmemo import founding, worktree, writing  # noqa: PLC0415 # readers never write

        self.tip()
        if self._desk is None:
            self._desk = writing.Desk(
                root=self.root,
                mem=self.path,
                identity=self._identity or founding.identity_at(self._git_dir, self.root),
                clock=self._clock,
                timeout_s=self._lock_timeout_s,
                seen=worktree.Seen(self.path),
            )
        return self._desk


def _check_id(text: str) -> None:
    if not _ID.fullmatch(text):
        raise InvalidId(text)


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
    if len(commits) != 1:
        raise StaleSnapshot(text)
    return commits[0]
