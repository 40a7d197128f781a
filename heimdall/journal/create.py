"""Making the journal's tables, and making them anew when their version has changed.

All that an older journal holds is derived from the disk and is derived again, but for what people
told it (`sql.CARRIED`). A newer one is never touched.
Held by tests/heimdall/journal/test_connect.py.
"""

import sqlite3

from heimdall.journal import connect, schema, sql

_PRAGMAS = (
    "PRAGMA journal_mode=WAL",
    # A crash of the machine may lose the last commits, never the file; what was lost shows as
    # drift at the next audit.
    "PRAGMA synchronous=NORMAL",
    "PRAGMA cache_size=-65536",
    "PRAGMA temp_store=MEMORY",
)


def prepare(connection: sqlite3.Connection, path: str) -> None:
    """Make the tables where there are none of this version, all of them or none."""
    found = connect.version(connection, path)
    for pragma in _PRAGMAS:
        connection.execute(pragma)
    if found == schema.SCHEMA_VERSION:
        return
    connection.execute("BEGIN IMMEDIATE")
    # Another process may have made them while this one waited for the lock.
    if connect.version(connection, path) != schema.SCHEMA_VERSION:
        carried = _emptied(connection) if found else {}
        for statement in schema.TABLES.split(";\n"):
            connection.execute(statement)
        for insert, rows in carried.items():
            connection.executemany(insert, rows)
        connection.execute(f"PRAGMA user_version={schema.SCHEMA_VERSION}")
    connection.execute("COMMIT")


def _emptied(connection: sqlite3.Connection) -> dict[str, list[tuple[object, ...]]]:
    """Drop an older version's tables; the answer is what is to be put into the new ones, by the
    statement that does it."""
    carried = {insert: connection.execute(ask).fetchall() for ask, insert in sql.CARRIED.items()}
    for kind, name in connection.execute(sql.OBJECTS).fetchall():
        connection.execute(f"DROP {kind} {name}")
    return carried
