"""Where do the journal and the disk disagree?

Keeps `audit-backstop`: rows are compared with a walk of their root, and the walk with the rows, so
that what was never indexed shows as surely as what changed. `Audit` tells a pass which paths to
look at again; `verify` tells people which drifts there are, reads no more than it must (or with
`deep` everything), changes nothing and takes no lock.
"""

from collections.abc import Iterator, Set
from typing import NamedTuple

from heimdall import paths
from heimdall.config import Settings
from heimdall.core.decide import decide, must_read, named_already
from heimdall.core.drift import drift
from heimdall.journal.read import JournalReader, open_reader
from heimdall.journal.values import Root
from heimdall.model import Action, Depth, Drift, Observed, PathRow, Presence, Stat
from heimdall.writer import proof
from heimdall.writer.content import digest_of
from heimdall.writer.desired import Desired, extractor_of
from heimdall.writer.ground import IGNORED, Ground
from heimdall.writer.walk import Listing, walk

MOUNT = "mount"
"""The reason under which the journal remembers a mount point of a root."""


class Suspects(NamedTuple):
    """What an audit of a tree wants looked at: `paths` for ordinary reasons, `rewritten` although
    their stat has not changed."""

    paths: list[str]
    rewritten: list[str]


def mounts_of(journal: JournalReader) -> tuple[str, ...]:
    """The mount points that earlier walks met."""
    return tuple(skip.path for skip in journal.skips() if skip.reason == MOUNT)


class Audit:
    """The comparison of one root's rows with a walk of it. Made before the walk, so that the rows
    can be fetched while git is at work."""

    def __init__(self, journal: JournalReader, desired: Desired, root: str) -> None:
        self._journal = journal
        self._desired = desired
        self._root = root
        self._asked = desired.depth(root)
        self._proven: dict[str, tuple[int, int, int]] = {}
        self._unproven: frozenset[str] = frozenset()

    def fetch(self) -> None:
        """Read what is known: of most paths their stat is enough."""
        # Of the languages that are here: finding out the version of a grammar takes a while.
        languages = self._journal.languages(self._root)
        versions = {name: extractor_of(name, self._asked) for name in languages}
        self._proven, self._unproven = self._journal.proven(self._root, self._asked, versions)

    def compare(self, listing: Listing, *, deep: bool) -> Suspects:
        """The paths of the root, below the listing's top, on which rows and listing disagree."""
        files, skips, proven = listing.files, listing.skips, self._proven
        suspects: set[str] = set()
        # One comparison in C settles what has not changed, which is nearly always everything.
        if files != proven:
            get = proven.get
            moved = [path for path, stat in files.items() if get(path) != stat]
            suspects = {path for path in moved if self._doubts(path, listing)}
            suspects |= self._unseen(proven.keys(), listing)
        suspects |= {path for path in skips if self._doubts(path, listing)}
        suspects |= self._unseen(self._unproven, listing)
        for inner in self._desired.inner(self._root):
            suspects = {path for path in suspects if not paths.under(path, inner)}
        rewritten = self._rewritten(listing, suspects) if deep else []
        return Suspects(sorted(suspects), rewritten)

    def _unseen(self, known: Set[str], listing: Listing) -> set[str]:
        """The known paths below the listing's top that it does not mention."""
        unseen = known - listing.files.keys() - listing.skips.keys()
        return {path for path in unseen if paths.under(path, listing.top)}

    def _doubts(self, path: str, listing: Listing) -> bool:
        """Whether looking alone cannot prove that the row is what the path wants it to be."""
        row = self._journal.path(path) if path in self._unproven else None
        if row is None:
            # Nothing is known of it, or it was proven under another stat.
            return True
        seen = seen_in(listing, path)
        if seen is None or seen.reason:
            return seen is None or not _named(row, seen, self._asked)
        return _differs(row, seen, self._asked)

    def _rewritten(self, listing: Listing, suspects: set[str]) -> list[str]:
        """The files whose bytes are others under an equal stat."""
        return [
            row.path
            for row in self._journal.paths(self._root)
            if row.path in listing.files
            and row.path not in suspects
            and row.state is Presence.PRESENT
            and row.digest is not None
            and digest_of(row.path) != row.digest
        ]


def seen_in(listing: Listing, path: str) -> Observed | None:
    """What the listing says of a path; None where it does not mention it."""
    stat = listing.files.get(path)
    if stat is not None:
        return Observed(path, Presence.PRESENT, Stat(*stat), "")
    reason = listing.skips.get(path)
    if reason is None:
        return None
    if reason.startswith("unreadable"):
        return Observed(path, Presence.UNREADABLE, None, reason)
    return Observed(path, Presence.PRESENT, None, reason)


def _differs(row: PathRow, seen: Observed, asked: Depth) -> bool:
    """Whether looking alone cannot prove that the row is what the file wants it to be."""
    if row.state is Presence.UNREADABLE:  # it can be looked at again: the row must say so
        return True
    extractor = extractor_of(row.language, asked)
    if must_read(row, seen, asked=asked, extractor=extractor):
        return True
    return decide(row, seen, None, asked=asked, extractor=extractor) is not Action.UNCHANGED


def _named(row: PathRow, seen: Observed, asked: Depth) -> bool:
    if seen.presence is Presence.UNREADABLE:
        return row.state is Presence.UNREADABLE and row.reason == seen.reason
    return named_already(row, seen, asked)


# -- for people ------------------------------------------------------------------------------------


def verify(settings: Settings, *, deep: bool = False) -> tuple[Drift, ...]:
    """Every drift, sorted by path; `deep` reads, hashes and parses every file again, and compares
    every row. Changes nothing, takes no lock. Raises `NoJournal` where nothing was indexed."""
    with open_reader(settings.home) as journal:
        roots = journal.roots()
        desired = Desired(roots, settings.depth)
        ground = Ground(desired.roots, mounts_of(journal))
        found = [
            one for root in roots for one in _verify_root(journal, root, desired, ground, deep=deep)
        ]
        if deep:
            # What is known to differ by its bytes need not be parsed to be found different.
            known = {drift.path for drift in found}
            found += proof.of_facts(journal, settings.jobs, known)
            found += proof.of_structure(settings.home, journal)
        found += proof.of_rows(settings.home, journal, desired)
        found += proof.of_sink(settings.home, journal, deep=deep)
    return tuple(sorted(set(found)))


def _verify_root(
    journal: JournalReader, root: Root, desired: Desired, ground: Ground, *, deep: bool
) -> Iterator[Drift]:
    audit = Audit(journal, desired, root.path)
    listing = walk(root.path, meanwhile=audit.fetch)
    if listing.failure:
        yield Drift(root.path, proof.of_root(root.path))
        return
    ground.learn(listing)
    suspects = audit.compare(listing, deep=deep)
    seen = ground.look(suspects.paths + suspects.rewritten)
    asked = desired.depth(root.path)
    for path in suspects.paths + suspects.rewritten:
        row = journal.path(path)
        extractor = extractor_of(row.language if row else "", asked)
        digest = digest_of(path) if row is not None and row.digest is not None else None
        now = seen[path]
        ignored = now.reason == IGNORED
        if ignored:
            now = now._replace(presence=Presence.PRESENT)
        found = drift(row, now, asked=asked, extractor=extractor, digest=digest, ignored=ignored)
        if found is not None:
            yield found
