"""The front door of extraction: bytes in, nodes and edges out.

Here live only the names that other rooms may use; each is loaded when it is first asked for, so
that a search, which seldom parses, does not pay for tree-sitter. What a file says depends on its
bytes, its name and the extractor's version, never on where it lies or on when it is read.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from heimdall.extract.facts import facts
    from heimdall.extract.grammar import extractor
    from heimdall.extract.languages import detect
    from heimdall.extract.pool import Pool
    from heimdall.extract.read import Extracted, extract

__all__ = ["Extracted", "Pool", "detect", "extract", "extractor", "facts"]

_HOMES = {
    "Extracted": "read",
    "Pool": "pool",
    "detect": "languages",
    "extract": "read",
    "extractor": "grammar",
    "facts": "facts",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(name)
    return getattr(import_module(f"heimdall.extract.{_HOMES[name]}"), name)
