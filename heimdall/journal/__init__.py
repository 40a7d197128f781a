"""The journal: what is known of every path, in one SQLite file.

`read` opens it without changing a byte, `write` is the single writer's pen, `schema` owns the
tables and the version, `settle` binds references across files. Values are in `values`. Nothing is
imported here, so that a search never loads the pen.
"""
