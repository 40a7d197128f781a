"""What became of each anchor: facts from the disk, with the index as a guide to where to look.

An anchor is SAME because its own bytes were read a moment ago and have the recorded hash, never
because the index says so. A missing one is MOVED only to a place whose bytes were read as well.
Nothing is decided here beyond single anchors: `heimdall.core.rehome` chooses among places and
`heimdall.core.verdict` makes the verdict. Never writes.
Held by tests/heimdall/search/test_evidence.py and tests/laws/test_strong_is_true.py.
"""

import hashlib
import os
from collections.abc import Iterable, Mapping

from gitmemo import Found
from gitmemo.values import NamedTuple
from heimdall.core import rehome
from heimdall.core.coverage import answers
from heimdall.model import AnchorFact, AnchorState, Evidence, Node, PathRow
from heimdall.search.disk import Seen, text_of
from heimdall.search.scene import Definitions, Scene

HOPS = 16
"""Moves of one file that are followed at most."""

READ = 1024 * 1024
"""Bytes of anchored content, all files of an entry together, that are searched for the query."""

MANY = 32
"""Equal places that are looked at one by one; what is in more of them is boilerplate."""

_EMPTY = hashlib.sha256(b"").digest()
_LIVING = frozenset({AnchorState.SAME, AnchorState.DRIFTED, AnchorState.MOVED})


Ends = Mapping[str, float]
"""Absolute paths where a file was seen going, with the least similarity on the way."""


class Target(NamedTuple):
    """What an entry pins at one path: raw hashes of the file (none: only named), and of each
    symbol all that were recorded under its name. `date` is the entry's own: whatever moved away
    from the path before was not what the entry is about."""

    path: str
    files: frozenset[bytes]
    symbols: dict[str, frozenset[bytes]]
    date: str


def targets(found: Found) -> tuple[Target, ...]:
    """The paths of an entry, each once, in the order of its related paths."""
    files: dict[str, set[bytes]] = {path: set() for path in found.related_paths}
    symbols: dict[str, dict[str, set[bytes]]] = {}
    for anchor in found.anchors:
        digest = _raw(anchor.hash)
        files.setdefault(anchor.path, set())
        if anchor.symbol is not None:
            symbols.setdefault(anchor.path, {}).setdefault(anchor.symbol, set()).add(digest)
        else:
            files[anchor.path].add(digest)
    return tuple(
        Target(
            path,
            frozenset(hashes),
            {name: frozenset(known) for name, known in symbols.get(path, {}).items()},
            found.date,
        )
        for path, hashes in files.items()
    )


class Witness:
    """Says of entries and code hits what became of them in one checkout."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._knowledge = scene.knowledge
        self._content_of: dict[str, float | None] = {}
        self._lines_of: dict[str, list[str]] = {}

    # -- an entry ----------------------------------------------------------------------------------

    def of_entry(self, found: Found, query: tuple[str, ...]) -> Evidence:
        """The evidence for one memory."""
        facts = tuple(fact for target in targets(found) for fact in self._facts(target))
        missing = [fact for fact in facts if fact.state is AnchorState.MISSING]
        return Evidence(
            source="memory",
            anchors=facts,
            coverage=found.coverage,
            content=self._content(facts, query),
            superseded_by=() if found.active else found.current or found.replaced_by,
            withdrawn=not found.active and not found.current,
            index_behind=any(map(self._unsettled, missing)),
            rivals=found.rivals,
        )

    def _facts(self, target: Target) -> Iterable[AnchorFact]:
        file = self._file(target)
        yield file
        for symbol, hashes in target.symbols.items():
            yield self._symbol(target, symbol, hashes, file)

    # -- a file ------------------------------------------------------------------------------------

    def _file(self, target: Target) -> AnchorFact:
        recorded = bool(target.files)
        whole = self._scene.whole(target.path)
        if whole is None:
            return AnchorFact(target.path, None, AnchorState.UNREACHABLE, recorded=recorded)
        seen = self._scene.seen(whole) if recorded else self._scene.glance(whole)
        if seen.there is None or (seen.there is False and self._scene.out_of_sight(whole)):
            return AnchorFact(target.path, None, AnchorState.UNREACHABLE, recorded=recorded)
        if not recorded and seen.there:
            return AnchorFact(target.path, None, AnchorState.SAME, recorded=False, why=seen.why)
        if seen.digest is not None and target.files == {seen.digest}:
            return AnchorFact(target.path, None, AnchorState.SAME)
        if seen.there and not seen.why:
            return self._drifted_file(target, whole)
        return self._lost_file(target, whole, seen)

    def _drifted_file(self, target: Target, whole: str) -> AnchorFact:
        """Other bytes at its path: an edit, unless the writer saw the recorded ones leave for
        another path when something altogether different came here."""
        ends = self._follow(whole, target.date)
        places = [path for path in ends if self._scene.seen(path).digest in target.files]
        if len(places) != 1 or len(target.files) != 1:
            return AnchorFact(target.path, None, AnchorState.DRIFTED)
        now = self._scene.relative(places[0])
        return AnchorFact(target.path, None, AnchorState.MOVED, now=now)

    def _lost_file(self, target: Target, whole: str, seen: Seen) -> AnchorFact:
        """No regular file at its path. Where a link or a directory has taken its place, that is
        drift unless the bytes are found elsewhere; else they are found or the file is missing."""
        choice = self._search_file(target, whole)
        if choice.path is not None:
            return AnchorFact(
                target.path,
                None,
                AnchorState.MOVED,
                now=choice.path,
                similarity=choice.similarity,
                recorded=bool(target.files),
                why=seen.why,
            )
        return AnchorFact(
            target.path,
            None,
            AnchorState.DRIFTED if seen.there else AnchorState.MISSING,
            recorded=bool(target.files),
            candidates=choice.candidates,
            why=seen.why,
        )

    def _search_file(self, target: Target, whole: str) -> rehome.Choice:
        """Where the file's content is now: the index's clues first, then a look around."""
        ends = self._follow(whole, target.date)
        digest = next(iter(target.files)) if len(target.files) == 1 else None
        if digest == _EMPTY:
            # Nothing is in every empty file: only a move that was seen can tell.
            digest = None
        places = self._identical(target, digest, ends) if digest is not None else []
        found = [self._candidate(path, 1.0, ends) for path in places]
        if not found:
            found = [self._followed(whole, path, ends, digest) for path in ends]
        if digest is not None and not found:
            around = self._scene.look_around(whole, digest)
            found = [self._candidate(path, 1.0, ends) for path in around]
        if digest is not None and not found:
            alike = self._scene.look_alike(whole)
            found = [
                self._candidate(path, min(likeness, rehome.EDITED), ends)
                for path, likeness in alike.items()
            ]
        return rehome.choose(target.path, found)

    def _identical(self, target: Target, digest: bytes, ends: Ends) -> list[str]:
        """The files that the index knows to have these bytes, and that have them now."""
        places = [path for path in self._knowledge.by_digest(digest) if self._scene.ours(path)]
        if len(places) > MANY:
            # Only a name or a move could part so many, so only those that have one are read.
            name = os.path.basename(target.path)
            places = [path for path in places if path in ends or os.path.basename(path) == name]
        return [path for path in places if self._scene.holds(path, digest)]

    def _follow(self, whole: str, date: str) -> Ends:
        """Where the writer saw the content of `whole` go since `date`, over several moves: the
        files of this checkout that are there now. Equal bytes that turned up in two places are two
        moves, and both are ends."""
        ends: dict[str, float] = {}
        waiting = [(whole, 1.0, -1)]
        visited: set[tuple[str, int]] = set()
        for here, alike, since in waiting:
            moves = self._knowledge.moves_from(here)
            if since < 0:
                earliest = _milliseconds(date) if moves else 0
            else:
                # Two files that changed places in one pass left in the same moment.
                earliest = since + self._is_file(here)
            # What left first is what was here then; whatever left later had come after it.
            first = min((move.at for move in moves if move.at >= earliest), default=None)
            if first is None and since >= 0 and self._is_file(here):
                ends[here] = max(alike, ends.get(here, 0.0))
            for move in moves:
                place = (move.new, move.at)
                if move.at == first and place not in visited and len(visited) < HOPS:
                    visited.add(place)
                    waiting.append((move.new, min(alike, move.similarity), move.at))
        return ends

    def _is_file(self, path: str) -> bool:
        return self._scene.ours(path) and self._scene.seen(path).digest is not None

    def _followed(
        self, whole: str, path: str, ends: Ends, digest: bytes | None
    ) -> rehome.Candidate:
        """A place that a move led to. A move of identical bytes whose end holds other bytes than
        the anchor's was edited on the way, before or after: that much is known and no more."""
        alike = ends[path]
        row = self._knowledge.row(whole)
        was = digest if digest is not None or row is None else row.digest
        if self._scene.seen(path).digest == was:
            return self._candidate(path, 1.0, ends)
        return self._candidate(path, alike if alike < 1.0 else rehome.EDITED, ends)

    def _candidate(self, path: str, alike: float, ends: Ends) -> rehome.Candidate:
        return rehome.Candidate(self._scene.relative(path), alike, path in ends)

    def _unsettled(self, fact: AnchorFact) -> bool:
        """Whether a missing thing may still be found once the index has caught up."""
        whole = os.path.join(self._scene.root, fact.path)
        if fact.symbol is None or not self._scene.seen(whole).there:
            return self._scene.unsettled(whole)
        row = self._knowledge.row(whole)
        known = row is not None and row.digest == self._scene.seen(whole).digest
        return self._knowledge.state != "ok" or not known

    # -- a symbol ----------------------------------------------------------------------------------

    def _symbol(
        self, target: Target, symbol: str, hashes: frozenset[bytes], file: AnchorFact
    ) -> AnchorFact:
        """One symbol, given what became of its file. `hashes` are all definitions of that name."""
        if file.state is AnchorState.UNREACHABLE:
            return AnchorFact(target.path, symbol, AnchorState.UNREACHABLE)
        if file.state is AnchorState.SAME and file.recorded:
            return AnchorFact(target.path, symbol, AnchorState.SAME)
        if file.state is AnchorState.MOVED and file.now is not None:
            return self._symbol_in_moved(target, symbol, hashes, file)
        if file.state is AnchorState.MISSING or file.why:
            return self._lost_symbol(target, symbol, hashes)
        return self._symbol_in_place(target, symbol, hashes)

    def _symbol_in_place(self, target: Target, symbol: str, hashes: frozenset[bytes]) -> AnchorFact:
        """The file is where it was, with other bytes: all that counts is the symbol's own."""
        now = self._definitions(target.path)
        if now is not None and symbol not in now:
            return self._lost_symbol(target, symbol, hashes)
        same = now is not None and now[symbol] == hashes
        state = AnchorState.SAME if same else AnchorState.DRIFTED
        return AnchorFact(target.path, symbol, state)

    def _symbol_in_moved(
        self, target: Target, symbol: str, hashes: frozenset[bytes], file: AnchorFact
    ) -> AnchorFact:
        """The file went elsewhere, and the symbol with it: unchanged in identical bytes, else it is
        looked up in the edited file, and elsewhere where that does not hold it."""
        assert file.now is not None
        place = f"{file.now}#{symbol}"
        if file.similarity >= 1.0:
            return AnchorFact(target.path, symbol, AnchorState.MOVED, now=place)
        now = self._definitions(file.now) or {}
        if now.get(symbol) == hashes:
            return AnchorFact(target.path, symbol, AnchorState.MOVED, now=place)
        if symbol in now:
            return AnchorFact(
                target.path, symbol, AnchorState.MOVED, now=place, similarity=file.similarity
            )
        return self._lost_symbol(target, symbol, hashes)

    def _lost_symbol(self, target: Target, symbol: str, hashes: frozenset[bytes]) -> AnchorFact:
        """Its own bytes under its own or another name, in this or another file, or nowhere."""
        old = f"{target.path}#{symbol}"
        found = []
        for digest in hashes if len(hashes) == 1 else ():
            refs = self._knowledge.symbols_by_digest(digest)
            for ref in refs if len(refs) <= MANY else ():
                qualname = self._still_there(ref.path, digest)
                if qualname is not None:
                    place = f"{self._scene.relative(ref.path)}#{qualname}"
                    found.append(rehome.Candidate(place, 1.0))
        choice = rehome.choose(old, [one for one in found if one.path != old])
        if choice == rehome.NOWHERE:
            choice = rehome.choose(old, self._seen_leaving(target, symbol))
        if choice.path is None:
            return AnchorFact(
                target.path, symbol, AnchorState.MISSING, candidates=choice.candidates
            )
        return AnchorFact(
            target.path, symbol, AnchorState.MOVED, now=choice.path, similarity=choice.similarity
        )

    def _seen_leaving(self, target: Target, symbol: str) -> list[rehome.Candidate]:
        """Where the writer saw the definition go since the entry was written, as far as a
        definition of that name is there now. Its file may have moved before or after."""
        whole = os.path.join(self._scene.root, target.path)
        waiting = [(whole, symbol, rehome.EDITED, _milliseconds(target.date))]
        found: dict[tuple[str, str], float] = {}
        for path, name, alike, since in waiting[:]:
            # A file that moved took along what left it later.
            for moved, share in self._follow(path, target.date).items():
                waiting.append((moved, name, min(alike, share), since))
        visited: set[tuple[str, str, int]] = set()
        for path, name, alike, since in waiting:
            moves = self._knowledge.symbol_moves_from(path, name)
            first = min((move.at for move in moves if move.at >= since), default=None)
            now = self._scene.definitions(path) if self._scene.ours(path) else None
            if first is None and now is not None and name in now:
                found[path, name] = max(alike, found.get((path, name), 0.0))
            for move in moves:
                place = (move.new, move.now, move.at)
                if move.at == first and place not in visited and len(visited) < HOPS:
                    visited.add(place)
                    least = min(alike, move.similarity)
                    waiting.append((move.new, move.now, least, move.at + 1))
        return [
            rehome.Candidate(f"{self._scene.relative(path)}#{name}", alike, True)
            for (path, name), alike in found.items()
        ]

    def _still_there(self, path: str, digest: bytes) -> str | None:
        """The qualified name under which a file of this checkout holds these bytes now."""
        if not self._scene.ours(path):
            return None
        now = self._scene.definitions(path) or {}
        return next((name for name, known in now.items() if known == {digest}), None)

    def _definitions(self, path: str) -> Definitions | None:
        """The definitions of a project-relative path, as it is now."""
        return self._scene.definitions(os.path.join(self._scene.root, path))

    # -- content -----------------------------------------------------------------------------------

    def _content(self, facts: tuple[AnchorFact, ...], query: tuple[str, ...]) -> float | None:
        """The share of the query that the anchored files answer now, together; None where nothing
        was asked of them."""
        if not query:
            return None
        texts, left = [], READ
        for fact in facts:
            if fact.symbol is not None or fact.state not in _LIVING:
                continue
            seen = self._scene.glance(os.path.join(self._scene.root, fact.now or fact.path))
            if seen.data is None or len(seen.data) > left:
                continue
            left -= len(seen.data)
            text = text_of(seen.data)
            if text is not None:
                texts.append(text)
        return answers(query, "\n".join(texts)) if texts else None

    # -- a code hit --------------------------------------------------------------------------------

    def of_code(self, row: PathRow, node: Node, query: tuple[str, ...]) -> Evidence:
        """The evidence for a definition (or a file, whose node has the key "") of the index."""
        path = self._scene.relative(row.path)
        seen = self._scene.seen(row.path)
        state = AnchorState.DRIFTED
        if seen.there is None:
            state = AnchorState.UNREACHABLE
        elif not seen.there:
            state = AnchorState.MISSING
        elif seen.digest is not None and seen.digest == row.digest:
            state = AnchorState.SAME
        text = text_of(seen.data) if seen.data is not None else None
        if row.path not in self._content_of:
            # Several definitions of one file share its content.
            self._content_of[row.path] = None if text is None else answers(query, text)
        said = f"{path}\n{node.qualname}\n{node.signature}\n{node.doc}"
        own = "" if text is None else self._own_lines(row.path, text, node)
        fact = AnchorFact(path, node.qualname if node.key else None, state, why=seen.why)
        return Evidence(
            source="code",
            anchors=(fact,),
            coverage=answers(query, f"{said}\n{own}"),
            content=self._content_of[row.path],
            index_behind=state is not AnchorState.SAME,
        )

    def _own_lines(self, path: str, text: str, node: Node) -> str:
        """A definition's own lines; the whole text for a file, which is split once."""
        if not node.key:
            return text
        if path not in self._lines_of:
            self._lines_of[path] = text.split("\n")
        return "\n".join(self._lines_of[path][node.line - 1 : node.end_line])


def _raw(digest: str) -> bytes:
    """`sha256:<hex>` as raw bytes; b"" where it is nothing of the kind, which nothing equals."""
    kind, _, hexadecimal = digest.partition(":")
    try:
        raw = bytes.fromhex(hexadecimal)
    except ValueError:
        return b""
    return raw if kind == "sha256" and len(raw) == 32 else b""


def _milliseconds(date: str) -> int:
    """An entry's date since the epoch; 0 where it is none."""
    from datetime import datetime  # noqa: PLC0415 # only what was seen moving has a date to compare

    try:
        return int(datetime.fromisoformat(date).timestamp() * 1000)
    except (ValueError, OverflowError):
        return 0
