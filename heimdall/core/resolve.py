"""Binding the edges that leave a file: exactly one target, or none.

A pure function of what the view answers. Never guesses: where two definitions fit equally the edge
stays pending. Three storeys, each using only those below, so that no cycle of imports or of base
classes can make an outcome depend on where the search began:

    reach     the definitions that a dotted name in a unit may mean, through imports and re-exports
    mro       the order of a class's bases, each found by `reach`
    resolve   an edge's one target: `reach`, then an inherited member by `mro`, then a constructor

The two lower ones are in heimdall.core.lookup. Every answer used is written down as a token
(heimdall.core.tokens).
"""

from collections.abc import Sequence
from typing import NamedTuple

from heimdall.core.lookup import CLASSES, MRO, PARTIAL, Found, Lookup, Rule
from heimdall.core.modules import family
from heimdall.core.mro import Class
from heimdall.core.tokens import Surface, emits, surface
from heimdall.core.view import View
from heimdall.model import Edge, NodeRef, Relation, Target

__all__ = ["Resolver", "Settled", "Surface", "View", "emits", "surface"]

# Strategies of extraction that say no more than that a name was written down: the rule that bound
# the edge says more.
_PLAIN = frozenset({"", "import", "name", "local"})
# Families where a bare name inside a class may be a member, or something outside.
_BARE_MEMBERS = frozenset({"java", "c"})
_CONSTRUCTORS = {"python": "__init__", "js": "constructor"}
_NAMED_LIKE_THE_CLASS = frozenset({"java", "c"})


def minds_place(language: str) -> bool:
    """Whether a bare name of the language may mean something else in one definition than in
    another; where not, an edge's target does not depend on its `src`."""
    return family(language) in _BARE_MEMBERS


_UNASKED = Found("", "", "", "", MRO)


class Settled(NamedTuple):
    """One file's outward edges, bound: `targets` stand beside the edges given, None for pending;
    `tokens` are all that their outcomes depended on."""

    targets: tuple[Target | None, ...]
    tokens: frozenset[str]


class _Question(NamedTuple):
    """All of an edge that its target depends on."""

    module: str
    name: str
    calls: bool
    above: bool  # `super()`: the class itself is passed over
    user: str  # where the name stands, if a bare name may mean a member of what is around it


class Resolver:
    """Binds edges against one unchanging view, remembering what it found."""

    def __init__(self, view: View) -> None:
        self._lookup = Lookup(view)

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
        outer, self._lookup.tokens = self._lookup.tokens, set()
        done: dict[_Question, Found | None] = {}
        bare = self._lookup.kind(path) in _BARE_MEMBERS
        targets = []
        for edge in edges:
            calls = edge.relation is Relation.CALLS
            user = edge.src if bare and not edge.module else ""
            asked = _Question(edge.module, edge.name, calls, edge.strategy == "super", user)
            found = done.get(asked, _UNASKED)
            if found is _UNASKED:
                found = done[asked] = self._shared(asked, path)
            targets.append(_target(found, edge) if found is not None else None)
        tokens, self._lookup.tokens = self._lookup.tokens, outer
        return Settled(tuple(targets), frozenset(tokens))

    def forget(self) -> None:
        """Let go of what was found; nothing is to be asked afterwards."""
        self._lookup.forget()

    def _shared(self, asked: _Question, path: str) -> Found | None:
        """What a name of a foreign unit means, remembered for all files that say it in the same
        place; what stands without a unit is the file's own affair."""
        if not asked.module:
            return self._answer(asked, path)
        place, world = self._lookup.origin(path)
        key = ("answer", place, world.root, world.kind, asked)
        return self._lookup.remember(key, lambda: self._answer(asked, path))

    def _answer(self, asked: _Question, path: str) -> Found | None:
        found = self._named(asked, path)
        if found is None or not asked.calls:
            return found
        if found.kind in CLASSES:
            return self._constructor(found)
        return found if found.kind != "file" else None

    def _named(self, asked: _Question, path: str) -> Found | None:
        """What the name means: as it stands, or as a bare name that may be a member."""
        name, user = asked.name, asked.user
        if asked.above:
            head, _, rest = name.rpartition(".")
            found = self._lookup.one(asked.module, head, path)
            if found is None or found.rest:
                return None
            return self._inherited(found._replace(rest=rest), above=True)
        for spelling in self._lookup.spellings(user, asked.module, name, path):
            found = self._whole(spelling, path, asked.module)
            if found is not None:
                return found
        return self._outside(name, user, path) if user else None

    def _whole(self, name: str, path: str, module: str = "") -> Found | None:
        found = self._lookup.one(module, name, path)
        return self._inherited(found) if found is not None and found.rest else found

    def _outside(self, name: str, user: str, path: str) -> Found | None:
        """A bare name that extraction took for a member of a class around it, whose bases it did
        not know: no member, so it is what stands outside. In C++ an unknown base may still have
        it; in Java only classes stand outside, which no member is mixed up with."""
        around = user
        while around and not name.startswith(f"{around}."):
            around = around.rpartition(".")[0]
        if not around:
            return None
        owner = self._lookup.one("", around, path)
        if owner is not None and self._lookup.kind(path) == "c":
            order = self._lookup.mro(Class(owner.path, owner.key))
            if not all(one.path for one in order):
                return None
        return self._whole(name.removeprefix(f"{around}."), path)

    def _inherited(self, found: Found, *, above: bool = False) -> Found | None:
        """The member `rest` of a class, from the first class in order that has it."""
        if found.kind not in CLASSES or "." in found.rest:
            return None
        order = self._lookup.mro(Class(found.path, found.key))
        rule = MRO
        for one in order[1:] if above else order:
            if not one.path:
                rule = PARTIAL
                continue
            refs = self._members(one, found.rest)
            if refs:
                return _only(refs, min(found.rule, rule))
        return None

    def _members(self, of: Class, name: str) -> tuple[NodeRef, ...]:
        """The definitions of a class's own member, wherever its family lets them stand."""
        lookup = self._lookup
        qualname = f"{of.key.partition('~')[0]}.{name}"
        kind = lookup.kind(of.path)
        files = lookup.group(of.path) if kind == "go" else (of.path,)
        refs = tuple(r for path in files if (r := lookup.member(path, qualname)) is not None)
        if not refs and kind == "c":
            return lookup.globals(lookup.view.root(of.path), qualname)
        return refs

    def _constructor(self, found: Found) -> Found:
        """What calling a class calls: its constructor, or the class where none is known."""
        kind = self._lookup.kind(found.path)
        name = _CONSTRUCTORS.get(kind, "")
        if kind in _NAMED_LIKE_THE_CLASS:
            own = found.key.partition("~")[0].rpartition(".")[2]
            refs = self._members(Class(found.path, found.key), own)
            return _only(refs, found.rule) or found
        if not name:
            return found
        return self._inherited(found._replace(rest=name)) or found


def _only(refs: Sequence[NodeRef], rule: Rule) -> Found | None:
    if len(refs) != 1:
        return None
    return Found(refs[0].path, refs[0].key, refs[0].kind, "", rule)


def _target(found: Found, edge: Edge) -> Target:
    """The edge's own strategy where it tells how a receiver was found, else the rule's name."""
    strategy = found.rule.name if edge.strategy in _PLAIN else edge.strategy
    return Target(found.path, found.key, strategy, min(edge.confidence, found.rule.confidence))
