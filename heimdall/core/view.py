"""What the resolver may ask of the index, and nothing else."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from heimdall.model import Binding, Edge, NodeRef


class View(Protocol):
    """The index as the resolver sees it. "Present" paths are those whose surface is not None.

    Answers must not change during a resolver's life. Sequences come in any order but `bindings`
    and `bases`, which keep the file's.
    """

    def root(self, path: str) -> str:
        """The root that owns a path. Edges never leave their root."""
        ...

    def language(self, path: str) -> str:
        """The language of a present path."""
        ...

    def tails(self, tail: str) -> Sequence[str]:
        """All present paths, of any root and language, whose `modules.tail(path)` is `tail`."""
        ...

    def members(self, path: str) -> Mapping[str, NodeRef]:
        """Qualified name -> its first definition in the file, without the file's own node."""
        ...

    def bindings(self, path: str) -> Sequence[Binding]:
        """What the file imports, as extracted."""
        ...

    def exports(self, path: str) -> tuple[str, ...] | None:
        """`Facts.exports` of the file."""
        ...

    def bases(self, path: str, key: str) -> Sequence[Edge]:
        """The inherits edges of the class `key`, in order, as extracted."""
        ...

    def package(self, path: str) -> str:
        """`Facts.package` of the file."""
        ...

    def siblings(self, path: str) -> Sequence[str]:
        """Present paths of the same root and language in the same directory (Go) or with the same
        package (Java); asked of no other language. May include `path`."""
        ...

    def globals(self, root: str, name: str) -> Sequence[NodeRef]:
        """First definitions with the qualified name `name` in the C and C++ files of `root`; where
        there are more than 16, at least 17 of them."""
        ...
