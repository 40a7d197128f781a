"""What the index should hold of a path: the depth asked of it and the version of its extractor.

Keeps `content-oracle`: together with the bytes these two decide everything, so a new grammar, query
or rule, or another depth, is a difference that the audit sees.
"""

from collections.abc import Iterable
from hashlib import sha256

from heimdall import paths
from heimdall.extract.grammar import extractor
from heimdall.extract.languages import BY_NAME
from heimdall.journal.values import Root
from heimdall.model import Depth

# A file of no known language is looked at again when the table of languages has changed.
_UNKNOWN = "-" + sha256(repr(sorted(BY_NAME.items())).encode()).hexdigest()[:8]


class Desired:
    """The wishes of one pass: `default` holds where a root has no depth of its own."""

    def __init__(self, roots: Iterable[Root], default: Depth) -> None:
        self._depths = {root.path: default if root.depth is None else root.depth for root in roots}
        self._default = default
        self.roots = tuple(sorted(self._depths))

    def root(self, path: str) -> str | None:
        """The root that `path` belongs to: the innermost."""
        return paths.root_of(path, self.roots)

    def depth(self, root: str) -> Depth:
        """The depth asked of every path of `root`."""
        return self._depths.get(root, self._default)

    def inner(self, root: str) -> tuple[str, ...]:
        """The roots that lie inside `root`: their paths are not its own."""
        return tuple(r for r in self.roots if r != root and paths.under(r, root))


def extractor_of(language: str, asked: Depth) -> str:
    """The version of what turns a file of `language` into facts at the depth `asked`; "-" where
    nothing is parsed."""
    if asked < Depth.SYMBOL:
        return "-"
    return extractor(language) if language in BY_NAME else _UNKNOWN
