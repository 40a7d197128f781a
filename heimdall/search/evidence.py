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
from typing import NamedTuple

from gitmemo import Found
from heimdall import paths as names
from heimdall.core import rehome
from heimdall.core.coverage import answers
from heimdall.model import AnchorFact, AnchorState, Depth, Evidence, Node, PathRow, Presence
from heimdall.search.around import Around, Missing
from heimdall.search.disk import Seen, look, text_of
from heimdall.search.knowledge import Knowledge

HOPS = 8
"""Moves of one file that are followed, one after the other."""

READ = 1024 * 1024
"""Bytes of anchored content, all files of an entry together, that are searched for the query."""

_EMPTY = hashlib.sha256(b"").digest()
_FILES = frozenset({"file", "module"})

Definitions = Mapping[str, frozenset[bytes]]
"""Each qualified name of a file with the raw digests of all its definitions."""


class Target(NamedTuple):
    """What an entry pins at one path: raw hashes of the file (none: only named), and of each
    symbol all that were recorded under its name."""

    path: str
    files: frozenset[bytes]
    symbols: dict[str, frozenset[bytes]]


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
        )
        for path, hashes in files.items()
    )


class Scene:
    """The checkout `root` during one search: every path is looked at once, and all missing things
    share one budget for looking around."""

    def __init__(self, root: str, knowledge: Knowledge) -> None:
        self.root = root
        self.knowledge = knowledge
        self.around = Around(root, self._answered)
        self._seen: dict[str, Seen] = {}
        self._definitions: dict[str, Definitions | None] = {}

    def seen(self, path: str) -> Seen:
        """The absolute `path` as it is now."""
        if path not in self._seen:
            self._seen[path] = look(path)
        return self._seen[path]

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
            superseded_by=() if found.active else found.replaced_by,
            withdrawn=not found.active and not found.replaced_by,
            index_behind=any(self._unsettled(fact) for fact in missing),
        )

    def _facts(self, target: Target) -> Iterable[AnchorFact]:
        file = self._file(target)
        yield file
        for symbol, hashes in target.symbols.items():
            yield self._symbol(target, symbol, hashes, file)

    def _absolute(self, path: str) -> str | None:
        """A project-relative path of an entry in this checkout; None where it leads outside, which
        only a foreign or hostile entry does."""
        whole = os.path.normpath(os.path.join(self.root, path))
        return whole if whole != self.root and names.under(whole, self.root) else None

    # -- a file ------------------------------------------------------------------------------------

    def _file(self, target: Target) -> AnchorFact:
        recorded = bool(target.files)
        whole = self._absolute(target.path)
        if whole is None or "\0" in target.path:
            return AnchorFact(target.path, None, AnchorState.UNREACHABLE, recorded=recorded)
        seen = self.seen(whole)
        if seen.there is None or (seen.there is False and self._out_of_sight(whole)):
            return AnchorFact(target.path, None, AnchorState.UNREACHABLE, recorded=recorded)
        if not recorded and seen.there:
            return AnchorFact(target.path, None, AnchorState.SAME, recorded=False, why=seen.why)
        if seen.digest is not None and target.files == {seen.digest}:
            return AnchorFact(target.path, None, AnchorState.SAME)
        if seen.there and not seen.why:
            return AnchorFact(target.path, None, AnchorState.DRIFTED)
        return self._lost_file(target, whole, seen)

    def _out_of_sight(self, whole: str) -> bool:
        """Whether the writer knows that this path cannot be looked at: nothing there means nothing
        then (a disk that is not mounted)."""
        row = self.knowledge.row(whole)
        return row is not None and row.state is Presence.UNREADABLE

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
        followed = self._follow(whole)
        found: list[rehome.Candidate] = []
        digest = next(iter(target.files)) if len(target.files) == 1 else None
        if digest is not None and digest != _EMPTY:
            for path in self.knowledge.by_digest(digest):
                if self._holds(path, digest):
                    found.append(self._candidate(path, 1.0, followed))
        elif digest == _EMPTY:
            digest = None
        if followed is not None and not found:
            found.append(self._followed(whole, followed, digest))
        if digest is not None and not found:
            row = self.knowledge.row(whole)
            size = row.stat.size if row and row.stat and row.digest == digest else None
            for path in self.around.find(Missing(whole, digest, size)):
                found.append(self._candidate(path, 1.0, followed))
        return rehome.choose(target.path, found)

    def _follow(self, whole: str) -> tuple[str, float] | None:
        """Where the writer saw the content of `whole` go, over several moves, if it is a file of
        this checkout now; with the least similarity on the way."""
        here, alike = whole, 1.0
        visited = {whole}
        for _ in range(HOPS):
            moves = self.knowledge.moves_from(here)
            if not moves:
                break
            last = max(moves, key=lambda move: (move.at, move.similarity, move.new))
            if last.new in visited:
                break
            visited.add(last.new)
            here, alike = last.new, min(alike, last.similarity)
            if self._ours(here) and self.seen(here).digest is not None:
                return here, alike
        return None

    def _followed(
        self, whole: str, followed: tuple[str, float], digest: bytes | None
    ) -> rehome.Candidate:
        """The place a move led to. A move of identical bytes whose end holds other bytes than the
        anchor's was edited on the way, before or after: that much is known and no more."""
        path, alike = followed
        row = self.knowledge.row(whole)
        was = digest if digest is not None or row is None else row.digest
        if self.seen(path).digest == was:
            return self._candidate(path, 1.0, followed)
        return self._candidate(path, alike if alike < 1.0 else rehome.EDITED, followed)

    def _candidate(
        self, path: str, alike: float, followed: tuple[str, float] | None
    ) -> rehome.Candidate:
        moved_there = followed is not None and followed[0] == path
        return rehome.Candidate(names.relative(path, self.root), alike, moved_there)

    def _holds(self, path: str, digest: bytes) -> bool:
        """Whether a file of this checkout has these bytes at this moment."""
        return self._ours(path) and self.seen(path).digest == digest

    def _ours(self, path: str) -> bool:
        """Whether a path belongs to this checkout, and not to another one inside it."""
        if path == self.root or not names.under(path, self.root):
            return False
        if names.never(path, self.root):
            return False
        return not any(
            os.path.lexists(os.path.join(above, ".git")) for above in names.parents(path, self.root)
        )

    def _answered(self, path: str) -> bool:
        """Whether the index knows what is at `path` now, so that `by_digest` has spoken for it."""
        row = self.knowledge.row(path)
        if row is None or row.state is not Presence.PRESENT or row.digest is None or not row.stat:
            return False
        try:
            status = os.lstat(path)
        except OSError:
            return False
        return (status.st_size, status.st_mtime_ns, status.st_ino) == tuple(row.stat)

    def _unsettled(self, fact: AnchorFact) -> bool:
        """Whether a missing thing may still be found: the index has not seen it go."""
        if self.around.exhausted or self.knowledge.state != "ok":
            return True
        row = self.knowledge.row(os.path.join(self.root, fact.path))
        return row is not None and row.state is Presence.PRESENT and fact.symbol is None

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
        now = self._definitions_of(os.path.join(self.root, target.path))
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
        now = self._definitions_of(os.path.join(self.root, file.now)) or {}
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
            for ref in self.knowledge.symbols_by_digest(digest):
                qualname = self._still_there(ref.path, digest)
                if qualname is not None:
                    place = f"{names.relative(ref.path, self.root)}#{qualname}"
                    found.append(rehome.Candidate(place, 1.0))
        choice = rehome.choose(old, [one for one in found if one.path != old])
        if choice.path is None:
            return AnchorFact(
                target.path, symbol, AnchorState.MISSING, candidates=choice.candidates
            )
        return AnchorFact(target.path, symbol, AnchorState.MOVED, now=choice.path)

    def _still_there(self, path: str, digest: bytes) -> str | None:
        """The qualified name under which a file of this checkout holds these bytes now."""
        if not self._ours(path):
            return None
        now = self._definitions_of(path) or {}
        return next((name for name, known in now.items() if known == {digest}), None)

    def _definitions_of(self, path: str) -> Definitions | None:
        """Each qualified name of a file as it is now, with the digests of its definitions; None
        where it cannot be told. The index may answer only for the very bytes that are there."""
        if path not in self._definitions:
            nodes = self._nodes_of(path)
            self._definitions[path] = None if nodes is None else _by_name(nodes)
        return self._definitions[path]

    def _nodes_of(self, path: str) -> tuple[Node, ...] | None:
        seen = self.seen(path)
        if seen.digest is None:
            return None
        row = self.knowledge.row(path)
        if row is not None and row.digest == seen.digest and row.depth >= Depth.SYMBOL:
            return self.knowledge.nodes(path) or None
        if seen.data is None:
            return None
        from heimdall.extract.facts import facts  # noqa: PLC0415 # parsing is rare; tree-sitter is not free

        known = facts(path, seen.data, Depth.SYMBOL)
        return known.nodes if known.depth >= Depth.SYMBOL else None

    # -- content -----------------------------------------------------------------------------------

    def _content(self, facts: tuple[AnchorFact, ...], query: tuple[str, ...]) -> float | None:
        """The share of the query that the anchored files answer now, together."""
        texts, left = [], READ
        for fact in facts:
            if fact.symbol is not None or fact.state is AnchorState.MISSING:
                continue
            seen = self.seen(os.path.join(self.root, fact.now or fact.path))
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
        path = names.relative(row.path, self.root)
        seen = self.seen(row.path)
        state = AnchorState.DRIFTED
        if seen.there is None:
            state = AnchorState.UNREACHABLE
        elif not seen.there:
            state = AnchorState.MISSING
        elif seen.digest is not None and seen.digest == row.digest:
            state = AnchorState.SAME
        text = text_of(seen.data) if seen.data is not None else None
        said = f"{path}\n{node.qualname}\n{node.signature}\n{node.doc}"
        own = _lines(text, node) if text is not None else ""
        fact = AnchorFact(path, node.qualname if node.key else None, state, why=seen.why)
        return Evidence(
            source="code",
            anchors=(fact,),
            coverage=answers(query, f"{said}\n{own}"),
            content=None if text is None else answers(query, text),
            index_behind=state is not AnchorState.SAME,
        )


def _raw(digest: str) -> bytes:
    """`sha256:<hex>` as raw bytes; b"" where it is nothing of the kind, which nothing equals."""
    kind, _, hexadecimal = digest.partition(":")
    try:
        raw = bytes.fromhex(hexadecimal)
    except ValueError:
        return b""
    return raw if kind == "sha256" and len(raw) == 32 else b""


def _by_name(nodes: Iterable[Node]) -> Definitions:
    found: dict[str, set[bytes]] = {}
    for node in nodes:
        if node.kind not in _FILES:
            found.setdefault(node.qualname, set()).add(node.digest)
    return {name: frozenset(digests) for name, digests in found.items()}


def _lines(text: str, node: Node) -> str:
    """A definition's own lines; the whole text for a file."""
    if not node.key:
        return text
    return "\n".join(text.splitlines()[node.line - 1 : node.end_line])
