"""The single writer: everything that changes the journal happens here, under one lock.

The front is five acts: `reconcile`, `verify`, `rebuild`, `mend` and the keeping of roots; each is
loaded when it is first asked for, for `verify` reads only. Nobody below the composition imports the
rooms behind it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from heimdall.writer.audit import verify
    from heimdall.writer.reconciler import Result, add_root, rebuild, reconcile, remove_root
    from heimdall.writer.recover import mend

__all__ = ["Result", "add_root", "mend", "rebuild", "reconcile", "remove_root", "verify"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(name)
    home = {"verify": "audit", "mend": "recover"}.get(name, "reconciler")
    return getattr(import_module(f"heimdall.writer.{home}"), name)
