"""Real files, a real journal, and an entry about them: what the tests of the reader build on."""

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

from gitmemo import Anchor, EntryId, Found, Kind
from heimdall import anchors
from heimdall.core.verdict import judge
from heimdall.disk import stat_of
from heimdall.extract.facts import facts
from heimdall.journal.values import Commit, Move, Retract, Unreadable
from heimdall.journal.write import JournalWriter, open_writer
from heimdall.model import Depth, Evidence, Judgement
from heimdall.search.evidence import Witness
from heimdall.search.knowledge import Knowledge
from heimdall.search.scene import Scene
from heimdall.sinks.base import project
from heimdall.sinks.tantivy import open_sink_writer

NOW = 1_800_000_000.0


class World:
    """A checkout under `tmp/code` and a state directory under `tmp/home`."""

    def __init__(self, tmp: Path) -> None:
        self.root = tmp / "code"
        self.home = tmp / "home"
        self.root.mkdir()

    def put(self, path: str, text: str | bytes) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)

    def move(self, old: str, new: str) -> None:
        (self.root / new).parent.mkdir(parents=True, exist_ok=True)
        (self.root / old).rename(self.root / new)

    def remove(self, path: str) -> None:
        (self.root / path).unlink()

    # -- the index ---------------------------------------------------------------------------------

    def index(self, *paths: str, sink: bool = False) -> None:
        """Commit these paths as they are (all files where none is named), gone ones retracted; with
        `sink` they can be found by a search, too."""
        whole = [str(self.root / path) for path in paths or tuple(self._files())]
        journal = open_writer(str(self.home), now=lambda: NOW)
        try:
            journal.enqueue(whole, "test")
            if sink:
                self._project(journal, whole)
            for queued in journal.take(100_000):
                self._commit(journal, queued.path, queued.generation)
            journal.settle()
        finally:
            journal.close()

    def _project(self, journal: JournalWriter, whole: list[str]) -> None:
        there = [path for path in whole if Path(path).is_file()]
        docs = [
            project(path, facts(path, data, Depth.SYMBOL), data.decode())
            for path in there
            for data in [Path(path).read_bytes()]
        ]
        stamp = journal.next_stamp()
        with open_sink_writer(str(self.home)) as pen:
            pen.remove(set(whole) - set(there))
            pen.replace(docs)
            pen.commit(stamp)
        journal.set_stamp(stamp)

    def unreadable(self, path: str) -> None:
        whole = str(self.root / path)
        journal = open_writer(str(self.home), now=lambda: NOW)
        try:
            journal.enqueue([whole], "test")
            (queued,) = journal.take(1)
            journal.keep_unreadable(
                [Unreadable(whole, str(self.root), queued.generation, "unreadable:EIO")]
            )
        finally:
            journal.close()

    def enqueue(self, path: str) -> None:
        """Let a path wait for the writer."""
        journal = open_writer(str(self.home), now=lambda: NOW)
        try:
            journal.enqueue([str(self.root / path)], "test")
        finally:
            journal.close()

    def moved(self, old: str, new: str, similarity: float = 1.0, at: float = NOW) -> None:
        """Let the writer have seen a move."""
        journal = open_writer(str(self.home), now=lambda: NOW)
        try:
            move = Move(str(self.root / old), str(self.root / new), similarity, int(at * 1000))
            journal.record_move(move)
        finally:
            journal.close()

    def _commit(self, journal: JournalWriter, path: str, generation: int) -> None:
        try:
            data = Path(path).read_bytes()
            status = os.lstat(path)
        except OSError:
            journal.retract([Retract(path, generation)])
            return
        stat = stat_of(status)
        digest = hashlib.sha256(data).digest()
        known = facts(path, data, Depth.SYMBOL)
        commit = Commit(path, str(self.root), generation, stat, digest, Depth.SYMBOL, "test", known)
        journal.commit([commit])

    def _files(self) -> Iterable[str]:
        for folder, folders, names in os.walk(self.root):
            folders[:] = [name for name in folders if name not in (".git", ".mem")]
            for name in names:
                yield os.path.relpath(os.path.join(folder, name), self.root)

    # -- the question ------------------------------------------------------------------------------

    def entry(
        self, *paths: str, text: str = "", pinned: bool = True, coverage: float = 1.0
    ) -> Found:
        """An entry about these paths as they are now; `text` may name their symbols."""
        found: list[Anchor] = []
        for path in paths if pinned else ():
            data = (self.root / path).read_bytes()
            found.append(Anchor(f"sha256:{hashlib.sha256(data).hexdigest()}", path))
        found += anchors.anchor_symbols(str(self.root), text, paths) if text else ()
        return Found(
            id=EntryId("a" * 40),
            file="entries/a.md",
            title="a title",
            summary="a summary",
            keywords=("key", "word"),
            kind=Kind.TASK,
            date="2026-01-01T00:00:00.000Z",
            score=1.0,
            matched=(),
            coverage=coverage,
            related_paths=paths,
            anchors=tuple(found),
            active=True,
            replaced_by=(),
        )

    def evidence(self, found: Found, query: tuple[str, ...] = ("alpha",)) -> Evidence:
        """What the disk says of an entry now."""
        knowledge = Knowledge(str(self.home))
        try:
            return Witness(Scene(str(self.root), knowledge)).of_entry(found, query)
        finally:
            knowledge.close()

    def judge(self, found: Found, query: tuple[str, ...] = ("alpha",)) -> Judgement:
        return judge(self.evidence(found, query))
