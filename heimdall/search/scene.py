"""One checkout during one search: each path is looked at once, all questions share one budget.

Between the evidence and the two that inform it, the disk and the index. What is answered here is
about single paths and always from bytes that were read; what it means for an anchor is
`heimdall.search.evidence`'s. Never writes. Held by tests/heimdall/search/test_evidence.py.
"""

import os
from collections.abc import Iterable, Mapping

from heimdall import paths as names
from heimdall.disk import stat_of
from heimdall.model import Depth, Node, Presence
from heimdall.search.around import Around, Missing
from heimdall.search.disk import KEPT, Seen, look
from heimdall.search.knowledge import Knowledge

Definitions = Mapping[str, frozenset[bytes]]
"""Each qualified name of a file with the raw digests of all its definitions."""

_FILES = frozenset({"file", "module"})


class Scene:
    """The checkout `root` (absolute, links resolved) as it is, with `knowledge` as a guide."""

    def __init__(self, root: str, knowledge: Knowledge) -> None:
        self.root = root
        self.knowledge = knowledge
        self._around = Around(root, self._answered)
        self._seen: dict[str, Seen] = {}
        self._definitions: dict[str, Definitions | None] = {}

    # -- paths -------------------------------------------------------------------------------------

    def seen(self, path: str) -> Seen:
        """The absolute `path` as it is now."""
        if path not in self._seen:
            self._seen[path] = look(path)
        return self._seen[path]

    def glance(self, path: str) -> Seen:
        """The same where no hash is to be compared: a large file is not read for its words."""
        if path in self._seen:
            return self._seen[path]
        seen = look(path, most=KEPT)
        if seen.digest is not None:
            self._seen[path] = seen
        return seen

    def whole(self, path: str) -> str | None:
        """A project-relative path of an entry in this checkout; None where it leads outside, which
        only a foreign or hostile entry does."""
        if "\0" in path:
            return None
        whole = os.path.normpath(os.path.join(self.root, path))
        return whole if whole != self.root and names.under(whole, self.root) else None

    def relative(self, path: str) -> str:
        """An absolute path of this checkout as entries name it."""
        return names.relative(path, self.root)

    def ours(self, path: str) -> bool:
        """Whether a path belongs to this checkout, and not to another one inside it."""
        if path == self.root or not names.under(path, self.root):
            return False
        if names.never(path, self.root):
            return False
        return not any(
            os.path.lexists(os.path.join(above, ".git")) for above in names.parents(path, self.root)
        )

    def holds(self, path: str, digest: bytes) -> bool:
        """Whether a file of this checkout has these bytes at this moment."""
        return self.ours(path) and self.seen(path).digest == digest

    def out_of_sight(self, path: str) -> bool:
        """Whether the writer knows that this path cannot be looked at: nothing there means nothing
        then (a disk that is not mounted)."""
        row = self.knowledge.row(path)
        return row is not None and row.state is Presence.UNREADABLE

    # -- what is missing ---------------------------------------------------------------------------

    def look_around(self, path: str, digest: bytes) -> tuple[str, ...]:
        """Where the missing bytes of `path` are, among the files that the index has not answered
        for. Where the writer has seen the path go and has nothing left to do, it has looked for
        them itself, and only a file of the same name is worth another look."""
        row = self.knowledge.row(path)
        size = row.stat.size if row and row.stat and row.digest == digest else None
        settled = row is not None and row.state is Presence.GONE and self.knowledge.state == "ok"
        return self._around.find(Missing(path, digest, size, settled))

    def look_alike(self, path: str) -> dict[str, float]:
        """Where the text of `path` may be, edited, in files that the index has never seen; each
        with its likeness to what the index last read there. Nothing once the writer has looked."""
        row = self.knowledge.row(path)
        if row is None or not row.stat or row.digest is None:
            return {}
        if row.state is Presence.GONE and self.knowledge.state == "ok":
            return {}
        missing = Missing(path, row.digest, row.stat.size)
        found = self._around.alike(missing, self.knowledge.sketch(path), self._new)
        return {path: alike for path, alike in found.items() if self.ours(path)}

    def _new(self, path: str) -> bool:
        row = self.knowledge.row(path)
        return row is None or row.state is Presence.GONE

    def unsettled(self, path: str) -> bool:
        """Whether what is missing at `path` may yet be found: the budget was spent, or the index
        has not seen it go."""
        if self._around.exhausted or self.knowledge.state != "ok":
            return True
        row = self.knowledge.row(path)
        return row is not None and row.state is Presence.PRESENT

    def _answered(self, path: str) -> bool:
        """Whether the index knows what is at `path` now, so that `by_digest` has spoken for it."""
        row = self.knowledge.row(path)
        if row is None or row.state is not Presence.PRESENT or row.digest is None or not row.stat:
            return False
        try:
            status = os.lstat(path)
        except OSError:
            return False
        return stat_of(status) == row.stat

    # -- definitions -------------------------------------------------------------------------------

    def definitions(self, path: str) -> Definitions | None:
        """The definitions of a file as it is now; None where they cannot be told."""
        if path not in self._definitions:
            nodes = self._nodes(path)
            self._definitions[path] = None if nodes is None else _by_name(nodes)
        return self._definitions[path]

    def _nodes(self, path: str) -> tuple[Node, ...] | None:
        """From the index where it has read the very bytes that are there, else from a parser."""
        seen = self.seen(path)
        if seen.digest is None:
            return None
        row = self.knowledge.row(path)
        if row is not None and row.digest == seen.digest and row.depth >= Depth.SYMBOL:
            nodes = self.knowledge.nodes(path)
            if nodes:
                return nodes
        if seen.data is None:
            return None
        from heimdall.extract.facts import facts  # noqa: PLC0415 # parsing is rare, and not free

        known = facts(path, seen.data, Depth.SYMBOL)
        return known.nodes if known.depth >= Depth.SYMBOL else None


def _by_name(nodes: Iterable[Node]) -> Definitions:
    found: dict[str, set[bytes]] = {}
    for node in nodes:
        if node.kind not in _FILES:
            found.setdefault(node.qualname, set()).add(node.digest)
    return {name: frozenset(digests) for name, digests in found.items()}
