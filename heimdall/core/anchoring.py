"""Which definitions a text names, so that a memory can be pinned to them and not to whole files.

Pure. A name in prose is only believed when it cannot be an ordinary word: it is dressed as code
(in backticks, followed by a parenthesis, or built with `_`, `.`, digits or an inner capital), or
it is long and only one definition has it. A symbol pinned by mistake makes a memory blind to edits
around it, hence the caution. Held by tests/heimdall/core/test_anchoring.py.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from heimdall.model import Node

LONG = 8
"""From this many characters on, a bare lower-case word may be a definition's name by itself."""

SAME_NAME = 3
"""A name without its class that more definitions share says too little."""

LIMIT = 16
"""How many symbols one memory is pinned to at most; the first named come first."""

SELVES = frozenset({"self", "cls", "this", "super"})
"""What stands before a method without saying whose it is."""

NAMELESS = frozenset({"file", "module"})
"""Kinds that are pinned as files."""

_IDENTIFIER = re.compile(
    r"(?<![\w$])(?P<name>[^\W\d][\w$]*(?:(?:\.|::|#|->)[^\W\d][\w$]*)*)(?P<call>\()?"
)
_JOINT = re.compile(r"\.|::|#|->")
_INNER = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]|[^\W_]_+[^\W_]|^_+[^\W_]|\d")
_SPAN = re.compile(r"(?<!`)`+([^`\n]+)`+")


class Mention(NamedTuple):
    """A name as the text has it: its parts, and whether it is dressed as code."""

    parts: tuple[str, ...]
    dressed: bool


class Definition(NamedTuple):
    """One definition of one related file."""

    path: str
    node: Node


def mentions(text: str) -> tuple[Mention, ...]:
    """The identifiers of `text`, each once, in order; dressed if it is anywhere."""
    quoted = {
        match.group("name")
        for span in _SPAN.finditer(text)
        for match in _IDENTIFIER.finditer(span.group(1))
    }
    found: dict[tuple[str, ...], bool] = {}
    for match in _IDENTIFIER.finditer(text):
        name = match.group("name")
        parts = tuple(_JOINT.split(name))
        dressed = (
            len(parts) > 1
            or name in quoted
            or match.group("call") is not None
            or _INNER.search(name) is not None
        )
        found[parts] = found.get(parts, False) or dressed
    return tuple(Mention(parts, dressed) for parts, dressed in found.items())


def named(text: str, definitions: Sequence[Definition]) -> tuple[Definition, ...]:
    """The definitions that `text` names, in the order in which it does, at most `LIMIT` names.

    All definitions of one qualified name in one file come together (a property and its setter, the
    two arms of an `if`): whoever pins one of them pins what the name stands for.
    """
    by_name: dict[str, list[Definition]] = {}
    for definition in definitions:
        if definition.node.kind not in NAMELESS:
            by_name.setdefault(definition.node.name, []).append(definition)
    chosen: dict[tuple[str, str], list[Definition]] = {}
    for mention in mentions(text):
        for definition in _meant(mention, by_name):
            symbol = (definition.path, definition.node.qualname)
            if symbol not in chosen and len(chosen) >= LIMIT:
                continue
            known = chosen.setdefault(symbol, [])
            if definition not in known:
                known.append(definition)
    return tuple(definition for group in chosen.values() for definition in group)


def _meant(mention: Mention, by_name: dict[str, list[Definition]]) -> list[Definition]:
    """What one mention stands for; nothing where that is not clear enough."""
    same = by_name.get(mention.parts[-1], [])
    if len(mention.parts) > 1 and mention.parts[0] not in SELVES:
        return [definition for definition in same if _fits(mention.parts, definition)]
    symbols = {(definition.path, definition.node.qualname) for definition in same}
    if mention.dressed:
        return same if len(symbols) <= SAME_NAME else []
    return same if len(symbols) == 1 and len(mention.parts[-1]) >= LONG else []


def _fits(parts: tuple[str, ...], definition: Definition) -> bool:
    """Whether `Class.method`, an instance's `the_class.method`, or `package.module.function` names
    this definition."""
    own = _JOINT.split(definition.node.qualname)
    shorter = min(len(parts), len(own))
    if _folded(parts[-shorter:-1]) != _folded(own[-shorter:-1]):
        return False
    # What was said beyond the file's own names must be in the file's path: module and packages.
    unit = definition.path.rsplit(".", 1)[0].split("/")
    return set(parts[: len(parts) - shorter]) <= set(unit)


def _folded(parts: Sequence[str]) -> list[str]:
    """Without case and underscores: an instance is named after its class."""
    return [part.replace("_", "").lower() for part in parts]
