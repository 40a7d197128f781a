"""The single writer: everything that changes the journal happens here, under one lock.

The front is four acts: `reconcile`, `verify`, `rebuild` and the keeping of roots. Nobody below the
composition imports the rooms behind it.
"""

from heimdall.writer.audit import verify
from heimdall.writer.reconciler import Result, add_root, rebuild, reconcile, remove_root

__all__ = ["Result", "add_root", "rebuild", "reconcile", "remove_root", "verify"]
