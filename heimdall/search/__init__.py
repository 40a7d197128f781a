"""The reader: finds in each source, looks at the disk as it is now, and judges every hit.

What may live here: everything that answers a question. What never may: a write. A search opens
journal, sink and store for reading only; the one trace it may leave is a single hint batch, when
it met an anchor that moved or died, so that the writer looks at those paths again
(`tests/laws/test_search_changes_nothing.py`).
"""

from heimdall.search.engine import search

__all__ = ["search"]
