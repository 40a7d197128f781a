"""Where do the journal and the disk disagree?

Keeps `audit-backstop`: rows are compared with a walk of their root, and the walk with the rows, so
that what was never indexed shows as surely as what changed. `compare` tells a pass which paths to
look at again; `verify` tells people which drifts there are, reads no more than it must (or with
`deep` everything), changes nothing and takes no lock.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from heimdall import paths
from heimdall.config import Settings
from heimdall.core.decide import decide, must_read
from heimdall.core.drift import drift
from heimdall.journal.read import JournalReader, open_reader
from heimdall.journal.values import Root
from heimdall.model import Action, Depth, Drift, Observed, PathRow, Presence
from heimdall.writer.content import digest_of
from heimdall.writer.desired import Desired, extractor_of
from heimdall.writer.drain import named_already
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


def compare(
    rows: Iterable[PathRow], listing: Listing, desired: Desired, root: str, *, deep: bool
) -> Suspects:
    """The paths of `root` below the listing's top on which rows and listing do not agree."""
    suspects: list[str] = []
    rewritten: list[str] = []
    unknown = _own(listing, desired, root)
    asked = desired.depth(root)
    for row in rows:
        unknown.discard(row.path)
        seen = seen_in(listing, row.path)
        if seen is None:
            if row.state is not Presence.GONE and paths.under(row.path, listing.top):
                suspects.append(row.path)
        elif seen.reason:
            if not _named(row, seen, asked):
                suspects.append(row.path)
        elif _differs(row, seen, asked):
            suspects.append(row.path)
        elif deep and row.digest is not None and digest_of(row.path) != row.digest:
            rewritten.append(row.path)
    return Suspects(sorted(unknown) + suspects, rewritten)


def seen_in(listing: Listing, path: str) -> Observed | None:
    """What the listing says of a path; None where it does not mention it."""
    stat = listing.files.get(path)
    if stat is not None:
        return Observed(path, Presence.PRESENT, stat, "")
    reason = listing.skips.get(path)
    if reason is None:
        return None
    if reason.startswith("unreadable"):
        return Observed(path, Presence.UNREADABLE, None, reason)
    return Observed(path, Presence.PRESENT, None, reason)


def _own(listing: Listing, desired: Desired, root: str) -> set[str]:
    """The listed paths that are this root's and not an inner one's."""
    found = set(listing.files)
    found.update(listing.skips)
    for inner in desired.inner(root):
        found = {path for path in found if not paths.under(path, inner)}
    return found


def _differs(row: PathRow, seen: Observed, asked: Depth) -> bool:
    """Whether looking alone cannot prove that the row is what the file wants it to be."""
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
    """Every drift, sorted by path; `deep` reads and hashes every file. Changes nothing, takes no
    lock. A root that cannot be walked is one drift, `unreadable`. Raises `NoJournal` where nothing
    was indexed."""
    with open_reader(settings.home) as journal:
        roots = journal.roots()
        desired = Desired(roots, settings.depth)
        ground = Ground(desired.roots, mounts_of(journal))
        found = [
            one for root in roots for one in _verify_root(journal, root, desired, ground, deep=deep)
        ]
    return tuple(sorted(set(found)))


def _verify_root(
    journal: JournalReader, root: Root, desired: Desired, ground: Ground, *, deep: bool
) -> Iterator[Drift]:
    listing = walk(root.path)
    if listing.failure:
        yield Drift(root.path, "unreadable")
        return
    ground.learn(listing)
    rows = {row.path: row for row in journal.paths(root.path)}
    suspects = compare(rows.values(), listing, desired, root.path, deep=deep)
    seen = ground.look(suspects.paths + suspects.rewritten)
    asked = desired.depth(root.path)
    for path in suspects.paths + suspects.rewritten:
        row = rows.get(path)
        extractor = extractor_of(row.language if row else "", asked)
        digest = digest_of(path) if row is not None and row.digest is not None else None
        now = seen[path]
        ignored = now.reason == IGNORED
        if ignored:
            now = now._replace(presence=Presence.PRESENT)
        found = drift(row, now, asked=asked, extractor=extractor, digest=digest, ignored=ignored)
        if found is not None:
            yield found
