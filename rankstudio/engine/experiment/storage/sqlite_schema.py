"""The tables of a study: made and brought to newer versions by migrations, and held against these."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

from rankstudio.engine.experiment.storage.study_rows import Migration

_ACTIVE = "SELECT count(*) FROM sqlite_master WHERE type NOT IN ('table', 'index')"
"""How much there is in a file that does something by itself when it is written or read."""
_TYPES = """
    SELECT m.name, c.name, c.type, c."notnull", c.pk
    FROM sqlite_master AS m, pragma_table_info(m.name) AS c WHERE m.type = 'table'"""
_KEYS = """
    SELECT m.name, k.seq, c.name, c.seqno, k."unique"
    FROM sqlite_master AS m, pragma_index_list(m.name) AS k, pragma_index_info(k.name) AS c
    WHERE m.type = 'table' AND k.origin <> 'c'"""


def apply(db: sqlite3.Connection, migration: Migration, number: int) -> None:
    """Carry out one migration, wholly or not at all."""
    with all_or_nothing(db):
        if callable(migration):
            migration(db)
        else:
            for statement in filter(str.strip, migration.split(";")):
                db.execute(statement)
        db.execute(f"PRAGMA user_version = {number}")


@contextmanager
def all_or_nothing(db: sqlite3.Connection) -> Iterator[None]:
    """Do what is within as one transaction, rolled back where it fails."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:  # SQLite itself may have rolled back
            db.execute("ROLLBACK")
        raise


def is_foreign(db: sqlite3.Connection, migrations: Sequence[Migration], version: int) -> bool:
    """Tell whether there is anything else in a file than the tables of a study of a version."""
    known = _columns(db) & _columns_of(migrations)
    return bool(db.execute(_ACTIVE).fetchone()[0]) or known != _columns_of(migrations[:version])


def _columns_of(migrations: Sequence[Migration]) -> set[tuple[Any, ...]]:
    """Return the tables that migrations make, each with every column and key."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        for number, migration in enumerate(migrations, start=1):
            apply(db, migration, number)
        return _columns(db)


def _columns(db: sqlite3.Connection) -> set[tuple[Any, ...]]:
    """Return each column of each table with its type, and its place in each key."""
    return {*db.execute(_TYPES), *db.execute(_KEYS)}
