"""The tables of a study: made, and what a file has held against them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from rankstudio.engine.experiment.storage.study_rows import TABLES, VERSION

_ACTIVE = "SELECT count(*) FROM sqlite_master WHERE type NOT IN ('table', 'index')"
"""How much there is in a file that does something by itself when it is written or read."""
_TYPES = """
    SELECT m.name, c.name, c.type, c."notnull", c.pk
    FROM sqlite_master AS m, pragma_table_info(m.name) AS c WHERE m.type = 'table'"""
_KEYS = """
    SELECT m.name, k.seq, c.name, c.seqno, k."unique"
    FROM sqlite_master AS m, pragma_index_list(m.name) AS k, pragma_index_info(k.name) AS c
    WHERE m.type = 'table' AND k.origin <> 'c'"""


def make_tables(db: sqlite3.Connection) -> None:
    """Make the tables of a study in an empty database."""
    db.executescript(f"{TABLES} PRAGMA user_version = {VERSION}")


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


def is_foreign(db: sqlite3.Connection) -> bool:
    """Tell whether a file lacks a table of a study, has it otherwise, or does something by itself."""
    with closing(sqlite3.connect(":memory:")) as empty:
        make_tables(empty)
        ours = _columns(empty)
    return bool(db.execute(_ACTIVE).fetchone()[0]) or not ours <= _columns(db)


def _columns(db: sqlite3.Connection) -> set[tuple[Any, ...]]:
    """Return each column of each table with its type, and its place in each key."""
    return {*db.execute(_TYPES), *db.execute(_KEYS)}
