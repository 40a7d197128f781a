"""Tokens: the names of the questions that binding an edge asks of other files.

The resolver writes down a token for every answer of the view that it used (`Resolver.settle`), and
`emits` says which of those answers a change of one file can have altered. An edge whose tokens were
not emitted is bound as it was, because the same questions would get the same answers; that is the
whole proof of incremental binding, and re-exports, star imports and base classes need no closure of
their own. Held by the law in tests/heimdall/core/test_resolve.py.

    u:            which paths have the unit tail `u` (their appearance, language, package)
    u:f           what `f` means in a file of tail `u`: definition, import, bases of the class
    u:*           what a star import takes from a file of tail `u`, and which stars it has
    @a.b:         which files are in the Java package `a.b`;   @a.b:C   what `C` means in them
    *:f           the global definitions named `f` of the C family
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from heimdall.core.modules import family, tail
from heimdall.model import Binding, Edge, Facts, Node, Relation


class Surface(NamedTuple):
    """All of one file that the binding of other files' edges can depend on.

    `members` maps a qualified name to the (key, kind) of its first definition; `bindings` a bound
    name to its (module, target) pairs; `bases` a class key to the (dst, module, name) of its
    inherits edges, in order.
    """

    root: str
    language: str
    package: str
    exports: tuple[str, ...] | None
    members: Mapping[str, tuple[str, str]]
    bindings: Mapping[str, tuple[tuple[str, str], ...]]
    bases: Mapping[str, tuple[tuple[str | None, str, str], ...]]


def surface(root: str, facts: Facts) -> Surface | None:
    """The surface of a present file under `root`; None where no language can import it.

    Of `facts.edges` only the inherits edges matter, so a caller that rebuilds facts from stored
    rows need not fetch the others.
    """
    if not facts.language:
        return None
    return Surface(
        root,
        facts.language,
        facts.package,
        facts.exports,
        _members(facts.nodes),
        _bindings(facts.bindings),
        _bases(facts.edges),
    )


def emits(path: str, before: Surface | None, after: Surface | None) -> frozenset[str]:
    """The tokens whose meaning may differ once `path` has the surface `after` for `before`.

    None stands for a path that is absent, or that no language can import. Equal surfaces emit
    nothing.
    """
    if before == after:
        return frozenset()
    if before is None or after is None or before[:3] != after[:3]:
        return _whole(path, before) | _whole(path, after)
    names = {
        name
        for old, new in ((before.members, after.members), (before.bindings, after.bindings))
        for name in _differing(old, new)
    }
    names |= {qualname(key) for key in _differing(before.bases, after.bases)}
    if before.exports != after.exports:
        names.add("*")
    return frozenset(_named(path, names, after) | _globals_changed(path, before, after))


def qualname(key: str) -> str:
    """The qualified name inside a node's key: `f~2` is a later definition of `f`."""
    return key.partition("~")[0]


def visible(path: str, exports: tuple[str, ...] | None, name: str) -> bool:
    """Whether a file of the C family shows its global `name` to others: a header all, a source
    what it lists (if it does), and members, whose class is declared elsewhere."""
    return exports is None or "." in name or name in exports or ".h" in path.rpartition("/")[2]


def _whole(path: str, side: Surface | None) -> frozenset[str]:
    """What a path emits that comes or goes: nobody knows its names without knowing the unit."""
    if side is None:
        return frozenset()
    tokens = {f"{tail(path)}:"}
    if family(side.language) == "java":
        tokens.add(f"@{side.package}:")
    return frozenset(tokens | _globals_changed(path, side, None))


def _named(path: str, names: Iterable[str], side: Surface) -> set[str]:
    unit = tail(path)
    tokens = {f"{unit}:{name}" for name in names}
    if family(side.language) == "java":
        tokens |= {f"@{side.package}:{name}" for name in names}
    return tokens


def _globals_changed(path: str, before: Surface, after: Surface | None) -> set[str]:
    if family(before.language) != "c":
        return set()
    old = _globals(path, before)
    new = _globals(path, after) if after is not None else {}
    return {f"*:{name}" for name in _differing(old, new)}


def _globals(path: str, side: Surface) -> dict[str, tuple[str, str]]:
    return {name: ref for name, ref in side.members.items() if visible(path, side.exports, name)}


def _differing(old: Mapping[str, object], new: Mapping[str, object]) -> set[str]:
    return {name for name in old.keys() | new.keys() if old.get(name) != new.get(name)}


def _members(nodes: Iterable[Node]) -> dict[str, tuple[str, str]]:
    found: dict[str, tuple[str, str]] = {}
    for node in nodes:
        if node.key:
            found.setdefault(node.qualname, (node.key, node.kind))
    return found


def _bindings(bindings: Iterable[Binding]) -> dict[str, tuple[tuple[str, str], ...]]:
    found: dict[str, tuple[tuple[str, str], ...]] = {}
    for binding in bindings:
        found[binding.name] = (*found.get(binding.name, ()), (binding.module, binding.target))
    return found


def _bases(edges: Iterable[Edge]) -> dict[str, tuple[tuple[str | None, str, str], ...]]:
    found: dict[str, tuple[tuple[str | None, str, str], ...]] = {}
    for edge in edges:
        if edge.relation is Relation.INHERITS:
            found[edge.src] = (*found.get(edge.src, ()), (edge.dst, edge.module, edge.name))
    return found
