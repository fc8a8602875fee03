"""The rows of a study, each with a digest of its values.

A row whose digest does not match is damaged.

A digest shows damage, but not values that were invalid when they were
stored, so values are checked as well.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.support.frozen_mapping import FrozenMapping

_DATASET = (
    "name",
    "place",
    "checksum",
    "files",
    "folds",
    "feature_ids",
    "feature_names",
)
_ADDED_COLUMNS = {"dataset": "first_file", "seal": "datasets"}
"""Text column of each table that an older study lacks.

It is added when something is stored in the study.
"""
_RUN_TEXT_COLUMNS = ("plan", "same", "versions", "created")

COLUMNS: Mapping[str, Mapping[str, Any]] = {
    "study": {"title": str, "created": str, "versions": str},
    "dataset": {"id": int, **dict.fromkeys(_DATASET, str), "first_file": str | None},
    "run": {
        **{"id": int, "dataset": int, **dict.fromkeys(_RUN_TEXT_COLUMNS, str)},
        **{"finished": str | None, "seconds": float | None},
    },
    "unit": {
        "run": int,
        "fold": int,
        "position": int,
        "setting": str,
        "seconds": float,
        "payload": bytes,
    },
    "fold": {"run": int, "fold": int, "payload": str},
    "removed": {"run": int},
    "label": {"run": int, "name": str, "note": str, "tags": str, "hidden": int},
    "seal": {"id": int, "sealed": int, "happened": str, "datasets": str | None},
    "report": {"id": int, "question": str, "notes": str, "sections": str},
}
"""The columns of each table, besides the digest, with their types.

SQLite itself does not enforce the types.
"""

_ORIGIN = """(SELECT run.plan || run.versions || dataset.checksum
    FROM run JOIN dataset ON dataset.id = run.dataset WHERE run.id = {})"""
"""Plan, versions and data of a run.

The digests of its units and folds cover them, too.
"""

_USED_NUMBERS = {
    "dataset": "SELECT id FROM dataset",
    "seal": "SELECT id FROM seal",
    "run": "SELECT id FROM run UNION ALL SELECT run FROM unit UNION ALL SELECT run FROM fold "
    "UNION ALL SELECT run FROM removed UNION ALL SELECT run FROM label",
}
"""Queries for the numbers in use, by table.

The number of a lost run is in use if rows of other tables mention it.
"""

_RESULT_TABLES = ("unit", "fold")


@dataclass(frozen=True)
class Row:
    """A row of a table in the database file of a study.

    Attributes
    ----------
    id : int
        Row id in SQLite.
    values : Mapping of str to value
        Values by column.
    sound : bool
        Whether the stored digest of the row is that of its values.
    """

    id: int
    values: Mapping[str, Any]
    sound: bool

    def __getitem__(self, column: str) -> Any:
        """Return the value of a column."""
        return self.values[column]


def select(table: str, clause: str, absent: Collection[str] = ()) -> str:
    """Return the query for the rows of a table, as expected by :func:`row_of`.

    Parameters
    ----------
    table, clause : str
        Name of the table, and end of the query, such as "WHERE run = ?".
    absent : collection of str
        Columns that the table lacks, which are read as empty. See :func:`absent_columns`.
    """
    origin = _ORIGIN.format(f"{table}.run") if table in _RESULT_TABLES else "NULL"
    cells = (f"NULL AS {name}" if name in absent else name for name in COLUMNS[table])
    return f"SELECT rowid, digest, {origin}, {', '.join(cells)} FROM {table} {clause}"


def absent_columns(db: sqlite3.Connection, table: str) -> tuple[str, ...]:
    """Return the columns that a table lacks, because they were added later."""
    column = _ADDED_COLUMNS.get(table)
    if column is None:
        return ()
    query = "SELECT 1 FROM pragma_table_info(?) WHERE name = ?"
    return () if db.execute(query, (table, column)).fetchone() else (column,)


def add_columns(db: sqlite3.Connection) -> None:
    """Add the columns that the tables of an older study lack.

    `db` is the connection to the study. The new columns are empty,
    which changes the digest of no row.
    """
    for table in _ADDED_COLUMNS:
        for column in absent_columns(db, table):
            db.execute(f"ALTER TABLE {table} ADD COLUMN {column} TEXT")


def added_columns() -> frozenset[tuple[str, str]]:
    """Return the columns that a study may lack, as pairs of a table and its column."""
    return frozenset(_ADDED_COLUMNS.items())


def row_of(table: str, record: Iterable[Any]) -> Row:
    """Return a row of a table from its cells, as the query of :func:`select` gives them.

    The row is sound if each cell has the type of its column, and the
    stored digest is that of the cells.
    """
    # The digest of a result also covers its origin: the plan, the
    # versions and the data of its run, as a cell without a name. NULL
    # in other tables.
    rowid, digest, origin, *cells = record
    values = dict(zip(COLUMNS[table], cells, strict=True))
    has_types = all(
        isinstance(values[name], kind) for name, kind in COLUMNS[table].items()
    )
    return Row(rowid, values, has_types and _digest({**values, "": origin}) == digest)


def write(db: sqlite3.Connection, table: str, **values: Any) -> None:
    """Write a row with its digest to a table; replace an existing row with the same key.

    `values` has the value of each column, by name.
    """
    # Only results have an origin.
    origin = None
    if table in _RESULT_TABLES:
        (origin,) = db.execute(
            f"SELECT {_ORIGIN.format('?')}", (values["run"],)
        ).fetchone()
    # The origin is the plan, the versions and the data of the run: the
    # digest of a result covers them as a cell without a name.
    values["digest"] = _digest({**values, "": origin})
    assignments = ", ".join(f"{name} = excluded.{name}" for name in values)
    db.execute(
        f"INSERT INTO {table} ({', '.join(values)}) VALUES ({', '.join('?' * len(values))}) "
        f"ON CONFLICT DO UPDATE SET {assignments}",
        tuple(values.values()),
    )


def next_id(db: sqlite3.Connection, table: str) -> int:
    """Return the number for a new row of a table.

    The number is one above the highest number in use; damaged numbers
    do not count.
    """
    query = f"SELECT ifnull(max(id), 0) + 1 FROM ({_USED_NUMBERS[table]}) WHERE id BETWEEN 0 AND {1 << 62}"
    return int(db.execute(query).fetchone()[0])


def as_text(raw: bytes) -> str:
    """Return a text of the file, even if damaged, so that other rows can be read."""
    return raw.decode("utf-8", "surrogateescape")


def _digest(values: Mapping[str, Any]) -> str:
    """Return the digest of the cells of a row, by the names of their columns.

    Empty cells (None) are left out, so a new, empty column changes no digest.
    """
    digest = blake2b(digest_size=16)
    for name in sorted(name for name, value in values.items() if value is not None):
        value = values[name]
        kind = type(value).__name__
        raw = (
            value
            if isinstance(value, bytes)
            else str(value).encode("utf-8", "surrogateescape")
        )
        # Type and length make the cells unambiguous: "1" is not 1.
        digest.update(f"{name} {kind} {len(raw)} ".encode())
        digest.update(raw)
    return digest.hexdigest()


VERSION = 7
"""Version of the tables; a study of another one is not read."""

TABLES = """
    CREATE TABLE study (
        title TEXT NOT NULL, created TEXT NOT NULL, versions TEXT NOT NULL, digest TEXT NOT NULL DEFAULT '');
    CREATE TABLE dataset (
        id INTEGER PRIMARY KEY, name TEXT NOT NULL, place TEXT NOT NULL, checksum TEXT NOT NULL,
        files TEXT NOT NULL, folds TEXT NOT NULL, feature_ids TEXT NOT NULL, feature_names TEXT NOT NULL,
        digest TEXT NOT NULL DEFAULT '', UNIQUE (checksum, place));
    CREATE TABLE run (
        id INTEGER PRIMARY KEY, dataset INTEGER NOT NULL REFERENCES dataset, plan TEXT NOT NULL,
        same TEXT NOT NULL, versions TEXT NOT NULL, created TEXT NOT NULL, finished TEXT, seconds REAL,
        digest TEXT NOT NULL DEFAULT '');
    CREATE TABLE unit (
        run INTEGER NOT NULL REFERENCES run, fold INTEGER NOT NULL, position INTEGER NOT NULL,
        setting TEXT NOT NULL, seconds REAL NOT NULL, payload BLOB NOT NULL,
        digest TEXT NOT NULL DEFAULT '', PRIMARY KEY (run, fold, position));
    CREATE TABLE fold (
        run INTEGER NOT NULL REFERENCES run, fold INTEGER NOT NULL, payload TEXT NOT NULL,
        digest TEXT NOT NULL DEFAULT '', PRIMARY KEY (run, fold));
    CREATE TABLE removed (run INTEGER PRIMARY KEY REFERENCES run, digest TEXT NOT NULL);
    CREATE TABLE label (
        run INTEGER PRIMARY KEY REFERENCES run, name TEXT NOT NULL, note TEXT NOT NULL, tags TEXT NOT NULL,
        hidden INTEGER NOT NULL, digest TEXT NOT NULL);
    CREATE TABLE seal (
        id INTEGER PRIMARY KEY, sealed INTEGER NOT NULL, happened TEXT NOT NULL, digest TEXT NOT NULL);
    CREATE TABLE report (
        id INTEGER PRIMARY KEY, question TEXT NOT NULL, notes TEXT NOT NULL, sections TEXT NOT NULL,
        digest TEXT NOT NULL);
"""

EVIDENCE = """
    CREATE TABLE IF NOT EXISTS evidence (
        run INTEGER NOT NULL REFERENCES run, fold INTEGER NOT NULL, place TEXT NOT NULL,
        payload BLOB NOT NULL, digest TEXT NOT NULL, PRIMARY KEY (run, fold, place))
"""
"""Table of evidence, which is made when the first evidence is stored."""

FEATURE_SET = """
    CREATE TABLE IF NOT EXISTS feature_set (
        data TEXT PRIMARY KEY, payload TEXT NOT NULL, digest TEXT NOT NULL)
"""
"""Table of feature sets, by the checksum of the data; made when first needed."""

CHOICE = """
    CREATE TABLE IF NOT EXISTS choice (run INTEGER PRIMARY KEY, payload TEXT NOT NULL, digest TEXT NOT NULL)
"""
"""Table of the models of runs that the user chose; made when first needed."""

METHOD = """
    CREATE TABLE IF NOT EXISTS method (run INTEGER PRIMARY KEY, payload TEXT NOT NULL, digest TEXT NOT NULL)
"""
"""Table of methods that are not RankStudio's own; made when first needed.

It lets installations without these methods show them.
"""

MEASURE = """
    CREATE TABLE IF NOT EXISTS measure (run INTEGER PRIMARY KEY, payload TEXT NOT NULL, digest TEXT NOT NULL)
"""
"""Table of measures that are not RankStudio's own; made when first needed."""


def payload_digest(key: int | str, payload: str) -> str:
    """Return the digest of a row with a key and a text.

    `payload` is the text. The tables of feature sets, choices, methods
    and measures have rows of this form.
    """
    return _digest({"data": key, "payload": payload})


def evidence_digest(run: int, fold: int, key: str, payload: bytes) -> str:
    """Return the digest of a row of the table of evidence."""
    return _digest({"run": run, "fold": fold, "place": key, "payload": payload})


Value = TypeVar("Value", bool, int, str, float)

IMPOSSIBLE = (
    *(
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        IndexError,
        StopIteration,
        EOFError,
        OSError,
    ),
    *(ArithmeticError, RecursionError, NotImplementedError, RuntimeError),
)
"""Errors that an invalid value may raise. A MemoryError is no sign of damage."""

_CHECKSUM = re.compile(r"sha256:[0-9a-f]{64}")
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?")
_VERSION = re.compile(r"[0-9A-Za-z](?:[0-9A-Za-z.+!_-]{0,62}[0-9A-Za-z])?")
_MAX_INTEGER = 2**63 - 1  # SQLite's integers


def sequence(values: Any, kind: type[Value]) -> tuple[Value, ...]:
    """Return a JSON list as a tuple; ValueError for elements of another type."""
    if type(values) is not list or any(type(value) is not kind for value in values):
        raise ValueError(f"expected a list of {kind.__name__}")
    return tuple(values)


def numbers(values: Any) -> tuple[int, ...]:
    """Return numbers of JSON as a tuple.

    ValueError is raised unless `values` is a list of distinct integers
    from 1 up.
    """
    parsed_numbers = sequence(values, int)
    are_distinct = len(set(parsed_numbers)) == len(parsed_numbers)
    if not are_distinct or any(
        not 1 <= value <= _MAX_INTEGER for value in parsed_numbers
    ):
        raise ValueError("expected different numbers from 1 up")
    return parsed_numbers


def exactly(value: Any, kind: type[Value]) -> Value:
    """Return a value of a type; ValueError for any other."""
    if type(value) is not kind:
        raise ValueError(f"expected {kind.__name__}")
    return value


def texts(values: Any) -> dict[str, str]:
    """Return a mapping of texts; ValueError otherwise."""
    sequence([*values.values()], str)
    return dict(values)


def recorded_versions(values: Any) -> dict[str, str]:
    """Return versions by package name; ValueError for an invalid version or name.

    `values` are plain values of JSON. They are validated, because the
    versions are written into generated programs.
    """
    versions = texts(values)
    for name, number in versions.items():
        if not (_NAME.fullmatch(name) and _VERSION.fullmatch(number)):
            raise ValueError("expected versions by the names of packages")
    return versions


def checksum(text: str) -> str:
    """Return the checksum of a file; ValueError if the text is not a checksum."""
    if not _CHECKSUM.fullmatch(text):
        raise ValueError("expected a checksum")
    return text


def moment(text: str) -> str:
    """Return a time; ValueError if the text is not a time."""
    datetime.fromisoformat(text)
    return text


def measures(values: Any, names: Collection[str]) -> FrozenMapping[str, float]:
    """Return the stored values of the measures with some names, by name; {} if none.

    `values` are plain values of JSON. ValueError is raised for other
    measures than `names`, and for a value that is no float or is
    infinite. NaN is allowed, because a measure may be undefined for a
    single query.
    """
    sequence([*values.values()], float)
    has_other_names = bool(values) and set(values) != set(names)
    if has_other_names or any(np.isinf(value) for value in values.values()):
        raise ValueError(f"expected {', '.join(names)}")
    return FrozenMapping(values)


def array(stored: NDArray[Any], dtype: str, shape: tuple[int, ...]) -> NDArray[Any]:
    """Return an array; ValueError for another type or shape."""
    if stored.dtype != np.dtype(dtype) or stored.shape != shape:
        raise ValueError(f"expected {dtype} of shape {shape}")
    return stored


def check_column_rows(joined: NDArray[Any], sizes: NDArray[Any], n: int) -> None:
    """Raise a ValueError unless each row has distinct columns from 0 to n - 1.

    `joined` has the rows one after the other, and ``sizes`` the number
    of columns of each row.
    """
    if not joined.size:
        return
    in_range = joined.min() >= 0 and joined.max() < n
    # Row r has the numbers from r n to r n + n - 1, so only equal
    # columns of one row become equal numbers.
    numbers_in_rows = np.sort(joined + n * np.repeat(np.arange(sizes.size), sizes))
    if not in_range or (numbers_in_rows[1:] == numbers_in_rows[:-1]).any():
        raise ValueError(f"expected distinct columns of {n}")
