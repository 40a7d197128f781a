"""Binding the edges that leave a file: exactly one target, or none.

A pure function of what the view answers. Never guesses: where two definitions fit equally the edge
stays pending. Three storeys, each using only those below, so that no cycle of imports or of base
classes can make an outcome depend on where the search began:

    reach     the definitions that a dotted name in a unit may mean, through imports and re-exports
    mro       the order of a class's bases, each found by `reach`
    resolve   an edge's one target: `reach`, then an inherited member by `mro`, then a constructor

Every answer used is written down as a token (heimdall.core.tokens).
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from heimdall.core.tokens import Surface, emits, surface
from heimdall.model import Binding, Edge, NodeRef, Target

__all__ = ["Resolver", "Settled", "Surface", "View", "emits", "surface"]


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


class Settled(NamedTuple):
    """One file's outward edges, bound: `targets` stand beside the edges given, None for pending;
    `tokens` are all that their outcomes depended on."""

    targets: tuple[Target | None, ...]
    tokens: frozenset[str]


class Resolver:
    """Binds edges against one unchanging view, remembering what it found."""

    def __init__(self, view: View) -> None:
        self._view = view

    def resolve(self, edge: Edge, path: str) -> Target | None:
        """The one definition that an outward edge of `path` points to, or None."""
        return self.settle(path, (edge,)).targets[0]

    def depends(self, edge: Edge, path: str) -> frozenset[str]:
        """The tokens on which that outcome depended."""
        return self.settle(path, (edge,)).tokens

    def settle(self, path: str, edges: Sequence[Edge]) -> Settled:
        """Bind the outward edges of one file.

        To bind incrementally: store the tokens with the path; when committed files have emitted
        tokens, settle again every path that stored one of them (and the committed ones), and
        replace both its targets and its tokens. No closure is needed.
        """
        return Settled(tuple(None for _ in edges), frozenset())
