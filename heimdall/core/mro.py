"""The order in which a class and its bases are searched for a member."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

# Hierarchies of more classes than this are searched depth first: the exact order recurses.
_DEEP = 400


class Class(NamedTuple):
    """A class in an order of classes; one that is not in the index has the path ""."""

    path: str
    key: str


def linearize(of: Class, parents: Callable[[Class], Sequence[Class]]) -> tuple[Class, ...]:
    """Python's C3 order, or depth first from the left where that has no answer or is a circle."""
    order = _c3(of, parents, {})
    return order if order is not None else tuple(_depth_first(of, parents))


def _c3(
    of: Class,
    parents: Callable[[Class], Sequence[Class]],
    held: dict[Class, tuple[Class, ...] | None],
) -> tuple[Class, ...] | None:
    """None for a hierarchy without a consistent order."""
    if of in held or len(held) > _DEEP:
        return held.get(of)
    held[of] = None  # met again on the way down, this class is its own ancestor
    orders = [_c3(base, parents, held) for base in parents(of)]
    known = [list(order) for order in orders if order is not None]
    if len(known) == len(orders):
        merged = _merge([*known, list(parents(of))])
        held[of] = (of, *merged) if merged is not None else None
    return held[of]


def _merge(rows: list[list[Class]]) -> list[Class] | None:
    merged: list[Class] = []
    rows = [row for row in rows if row]
    while rows:
        heads = (row[0] for row in rows if not any(row[0] in other[1:] for other in rows))
        head = next(heads, None)
        if head is None:
            return None
        merged.append(head)
        rows = [rest for row in rows if (rest := row[1:] if row[0] == head else row)]
    return merged


def _depth_first(of: Class, parents: Callable[[Class], Sequence[Class]]) -> list[Class]:
    order: dict[Class, None] = {}
    todo = [of]
    while todo:
        one = todo.pop()
        if one not in order:
            order[one] = None
            todo += reversed(parents(one))
    return list(order)
