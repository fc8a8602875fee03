"""The rows of a study, each with a digest of what it says: one that says anything else by now is damaged."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

_DATASET = ("name", "place", "checksum", "files", "folds", "feature_ids", "feature_names")
_RUN = ("plan", "same", "versions", "created")

COLUMNS: Mapping[str, Mapping[str, Any]] = {
    "study": {"title": str, "created": str, "versions": str},
    "dataset": {"id": int, **dict.fromkeys(_DATASET, str)},
    "run": {
        **{"id": int, "dataset": int, **dict.fromkeys(_RUN, str)},
        **{"finished": str | None, "seconds": float | None},
    },
    "unit": {"run": int, "fold": int, "position": int, "setting": str, "seconds": float, "payload": bytes},
    "fold": {"run": int, "fold": int, "payload": str},
    "removed": {"run": int},
    "label": {"run": int, "name": str, "note": str, "tags": str, "hidden": int},
    "seal": {"id": int, "sealed": int, "happened": str},
    "report": {"id": int, "question": str, "notes": str, "sections": str},
}
"""The columns of each table, besides the digest, with their types: SQLite lets any value into any column."""

_ORIGIN = """(SELECT run.plan || run.versions || dataset.checksum
    FROM run JOIN dataset ON dataset.id = run.dataset WHERE run.id = {})"""
"""What the results of a run are results of: the digests of its units and folds cover it, too."""

_NUMBERS = {
    "dataset": "SELECT id FROM dataset",
    "seal": "SELECT id FROM seal",
    "run": "SELECT id FROM run UNION ALL SELECT run FROM unit UNION ALL SELECT run FROM fold "
    "UNION ALL SELECT run FROM removed UNION ALL SELECT run FROM label",
}
"""Where numbers are taken: a run that is lost may have left results, or the mark of one that was removed."""

_RESULTS = ("unit", "fold")


@dataclass(frozen=True)
class Row:
    """A row as it is in the file.

    Attributes
    ----------
    id : int
        By which SQLite knows it.
    values : Mapping of str to value
        By column.
    sound : bool
        Whether it says what was written.
    """

    id: int
    values: Mapping[str, Any]
    sound: bool

    def __getitem__(self, column: str) -> Any:
        return self.values[column]


def select(table: str, where: str) -> str:
    """Return the query for the rows of a table that :func:`row_of` takes."""
    origin = _ORIGIN.format(f"{table}.run") if table in _RESULTS else "NULL"
    return f"SELECT rowid, digest, {origin}, {', '.join(COLUMNS[table])} FROM {table} {where}"


def row_of(table: str, found: Iterable[Any]) -> Row:
    """Return what a query of :func:`select` found as a row."""
    rowid, written, origin, *cells = found
    values = dict(zip(COLUMNS[table], cells, strict=True))
    typed = all(isinstance(values[name], kind) for name, kind in COLUMNS[table].items())
    return Row(rowid, values, typed and _digest({**values, "": origin}) == written)


def write(db: sqlite3.Connection, table: str, **values: Any) -> None:
    """Write a row, in place of one that has the same key."""
    origin = None
    if table in _RESULTS:
        (origin,) = db.execute(f"SELECT {_ORIGIN.format('?')}", (values["run"],)).fetchone()
    values["digest"] = _digest({**values, "": origin})
    anew = ", ".join(f"{name} = excluded.{name}" for name in values)
    db.execute(
        f"INSERT INTO {table} ({', '.join(values)}) VALUES ({', '.join('?' * len(values))}) "
        f"ON CONFLICT DO UPDATE SET {anew}",
        tuple(values.values()),
    )


def next_id(db: sqlite3.Connection, table: str) -> int:
    """Return the number of a new row, which the digest covers; a damaged row may have the greatest of all."""
    taken = f"SELECT ifnull(max(id), 0) + 1 FROM ({_NUMBERS[table]}) WHERE id BETWEEN 0 AND {1 << 62}"
    return int(db.execute(taken).fetchone()[0])


def as_text(raw: bytes) -> str:
    """Return a text of the file, even where it is damaged, so that the rows beside it can be read."""
    return raw.decode("utf-8", "surrogateescape")


def _digest(values: Mapping[str, Any]) -> str:
    """Return the digest of the cells of a row; empty ones do not count, so that a new column changes none."""
    digest = blake2b(digest_size=16)
    for name in sorted(name for name, value in values.items() if value is not None):
        value = values[name]
        kind = type(value).__name__
        raw = value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogateescape")
        digest.update(f"{name} {kind} {len(raw)} ".encode())
        digest.update(raw)
    return digest.hexdigest()


VERSION = 7
"""Of the tables; a study of another one is not read."""

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
