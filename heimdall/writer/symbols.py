"""Where single definitions went: out of a file that lives on, or of one that was taken apart.

A body that differs in nothing but indentation and its own name is the same; else one of the same
name that has at least half of its lines, and clearly more of them than any other. Of several equal
ones all are recorded and none is chosen. Definitions that went with their whole file are none of
this room's business. Held by tests/heimdall/writer/test_symbols.py.
"""

from collections.abc import Mapping, Sequence

from heimdall.core.rehome import EDITED, LIKE, MARGIN
from heimdall.core.shape import likeness
from heimdall.journal.adrift import Adrift, Symbol
from heimdall.journal.values import SymbolMove

OTHERWISE = 0.7
"""How alike a body must be that is no longer in the class, or no longer of the kind, it was."""

FEW = 3
"""Bodies of fewer lines are alike by chance, unless they kept their full name."""

NAMED = 5


def follow_symbols(
    adrift: Adrift, fresh: Sequence[int], moved: Mapping[int, int], at: int
) -> tuple[SymbolMove, ...]:
    """Record where definitions went. `fresh` are the owners that came to be (in a root that was
    known before), `moved` where whole files went."""
    for owner in fresh:
        adrift.brought(owner)
    for old, new in moved.items():
        adrift.stayed(old, new)
    found: list[SymbolMove] = []
    matched: set[int] = set()
    gone = {symbol.row: symbol for symbol in adrift.new(gone=True)}
    if adrift.anything_gone():
        for symbol in adrift.new(gone=False):
            gone.update((one.row, one) for one in adrift.like(symbol))
    for symbol in gone.values():
        near, alike = places(symbol, adrift.like(symbol))
        found += [SymbolMove(symbol.path, symbol.key, one.path, one.key, alike, at) for one in near]
        if near:
            matched.add(symbol.row)
        if len(near) == 1:
            matched.add(near[0].row)
    for move in found:
        adrift.record(move)
    adrift.ashore(matched)
    adrift.seen(at)
    return tuple(found)


def places(gone: Symbol, found: Sequence[Symbol]) -> tuple[list[Symbol], float]:
    """The one place of a definition, or the equal ones, and how alike they are."""
    found = [one for one in found if (one.path, one.key) != (gone.path, gone.key)]
    same = [one for one in found if one.shape.identity == gone.shape.identity]
    kept = [one for one in same if one.key == gone.key]
    named = [one for one in same if one.name == gone.name]
    if gone.shape.lines < FEW:
        return kept[:NAMED], EDITED
    if same:
        return (kept or named or same)[:NAMED], EDITED
    alike = {one: likeness(gone.shape, one.shape) for one in found if one.name == gone.name}
    alike = {one: share for one, share in alike.items() if share >= _least(gone, one)}
    if not alike:
        return [], 0.0
    top = max(alike.values())
    near = [one for one, share in alike.items() if share > top - MARGIN + 1e-9]
    if len(near) > 1:
        own = [one for one in near if one.key == gone.key]
        near = own if len(own) == 1 else near
    return near[:NAMED], round(min(max(alike[one] for one in near), EDITED - 0.01), 4)


def _least(gone: Symbol, one: Symbol) -> float:
    method = {"function": "method", "method": "method"}
    kinds = {method.get(symbol.kind, symbol.kind) for symbol in (gone, one)}
    return LIKE if gone.key == one.key and len(kinds) == 1 else OTHERWISE
