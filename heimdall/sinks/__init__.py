"""Projections of the journal for search: `base` is the seam, `tantivy` the default, `memory` the
one that leaves no trace (tests, dry runs). Nothing is imported here: a search opens one of them.
"""
