"""What can be wrong with an index besides the files: its roots, its own rows, and its projection.

Serves `audit-backstop`, as `audit` does, which compares files. What is found here no pass can have
written (a tampered or rotten file, a fault of this program), or it waits to be done. Reads only.
Held by tests/laws/test_audit_backstop.py.
"""

import os
from collections.abc import Callable, Iterator

from heimdall import disk
from heimdall.errors import DamagedJournal
from heimdall.extract.read import Extracted
from heimdall.journal import schema
from heimdall.journal.read import JournalReader
from heimdall.model import Depth, Drift, Facts, Presence
from heimdall.sinks.base import continues
from heimdall.sinks.tantivy import FOLDER, open_sink_reader
from heimdall.writer.desired import Desired

_UNPROVEN = frozenset({"timed-out", "crashed"})
"""Reasons that the machine gives and not the bytes: where they come up now, they prove nothing."""


def of_root(root: str) -> str:
    """Why a root cannot be walked, in a word."""
    if os.path.islink(root) or (os.path.lexists(root) and not os.path.isdir(root)):
        return "root-replaced"
    seen = disk.observe(root)
    return "root-missing" if seen.presence is Presence.GONE else "unreadable"


def of_rows(home: str, journal: JournalReader, desired: Desired) -> Iterator[Drift]:
    """Paths that no root holds, or that are kept under another than their own, and whatever waits
    to be done."""
    for row in journal.paths():
        if row.state is not Presence.GONE and desired.root(row.path) != row.root:
            yield Drift(row.path, "outside")
    for path in journal.waiting():
        yield Drift(path, "queued")
    if not journal.bound():
        yield Drift(os.path.join(home, schema.FILE_NAME), "unbound")


def of_sink(home: str, journal: JournalReader, *, deep: bool) -> Iterator[Drift]:
    """Whether a search finds what the journal holds: by the stamps, with `deep` by counting."""
    folder = os.path.join(home, FOLDER)
    sink = open_sink_reader(home, journal.stamp())
    if isinstance(sink, str):
        if journal.counts().nodes:
            yield Drift(folder, f"sink-{sink}")
        return
    if not continues(sink.stamp(), journal.stamp()):
        yield Drift(folder, "sink-behind")
    if deep:
        yield from _counted(folder, journal, sink.size)


def _counted(folder: str, journal: JournalReader, size: Callable[[str], int]) -> Iterator[Drift]:
    owned = journal.owned()
    try:
        differing = [path for path, number in owned.items() if size(path) != number]
        total = size("")
    except DamagedJournal:
        yield Drift(folder, "sink-damaged")
        return
    yield from (Drift(path, "sink") for path in differing)
    if not differing and total != sum(owned.values()):
        # It holds what the journal knows nothing of.
        yield Drift(folder, "sink")


def of_facts(journal: JournalReader, jobs: int, known: set[str]) -> Iterator[Drift]:
    """Files whose rows are not what their bytes say: parsed again, as an index would."""
    from heimdall.extract.pool import Pool  # noqa: PLC0415 # an ordinary audit parses nothing

    rows = {
        row.path: row
        for row in journal.paths()
        if row.state is Presence.PRESENT and row.digest is not None and row.path not in known
    }
    with Pool(jobs) as pool:
        for extracted in pool.run((row.path, row.asked) for row in rows.values()):
            # One that has changed since it was compared is none of ours.
            if extracted.digest == rows[extracted.path].digest:
                yield from _facts(extracted, journal.facts(extracted.path))


def _facts(extracted: Extracted, stored: Facts | None) -> Iterator[Drift]:
    facts = extracted.facts
    if facts is None or facts.reason in _UNPROVEN or facts == stored:
        return
    reached = Depth.PATH if stored is None else stored.depth
    yield Drift(extracted.path, "skipped" if reached < facts.depth else "rows")


def of_structure(home: str, journal: JournalReader) -> Iterator[Drift]:
    """Rows that fit no others, and pages that are not what they must be."""
    file = os.path.join(home, schema.FILE_NAME)
    if not journal.sound():
        yield Drift(file, "damaged")
        return
    for path, why in journal.flaws():
        yield Drift(path or file, why)
