"""Damage to studies: of SQLite's pages, of single cells, of the log beside the file."""

from __future__ import annotations

import io
import json
import random
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import numpy as np
from mutations import VALUES, flip_bits, mutated, mutated_value

from rankstudio.engine.experiment.storage.sqlite_file import APPLICATION_ID
from rankstudio.engine.experiment.storage.study_rows import (
    COLUMNS,
    row_of,
    select,
    write,
)

PAGE = 4096
TABLES = tuple(COLUMNS)
LISTS = {
    *(
        "versions",
        "files",
        "folds",
        "feature_ids",
        "feature_names",
        "plan",
        "same",
        "setting",
    ),
    *("tags", "sections", "datasets"),
}
"""Cells in JSON, besides the payload of a fold."""


def zero_page(rng: random.Random, content: bytes) -> bytes:
    """Put zeros for a page, or for the rest of one."""
    begin = PAGE * rng.randrange(len(content) // PAGE)
    end = begin + PAGE
    begin += rng.choice((0, 0, rng.randrange(PAGE)))
    return content[:begin] + bytes(end - begin) + content[end:]


def swap_pages(rng: random.Random, content: bytes) -> bytes:
    """Exchange two pages, or have one twice."""
    pages = [content[at : at + PAGE] for at in range(0, len(content), PAGE)]
    a, b = rng.randrange(len(pages)), rng.randrange(len(pages))
    if rng.random() < 0.7:
        pages[a], pages[b] = pages[b], pages[a]
    else:
        pages[a] = pages[b]
    return b"".join(pages)


def cut_pages(rng: random.Random, content: bytes) -> bytes:
    """Leave out the end, from a page on."""
    return content[: PAGE * rng.randrange(len(content) // PAGE)]


def flip_structure(rng: random.Random, content: bytes) -> bytes:
    """Flip a bit where SQLite keeps how a page is made up, which is mostly near the beginning of pages."""
    at = (
        PAGE * rng.randrange(len(content) // PAGE) + int(rng.expovariate(1 / 24)) % PAGE
    )
    return (
        content[:at]
        + bytes([content[at] ^ (1 << rng.randrange(8))])
        + content[at + 1 :]
    )


PAGE_DAMAGE = (
    flip_bits,
    flip_bits,
    flip_structure,
    flip_structure,
    zero_page,
    swap_pages,
    cut_pages,
)


def damaged_pages(rng: random.Random, content: bytes) -> bytes:
    """Return a database with damage such as disks and transfers do."""
    if rng.random() < 0.2:
        return mutated(rng, content)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        content = (
            rng.choice(PAGE_DAMAGE)(rng, content) if len(content) >= PAGE else content
        )
    return content


def damaged_log(rng: random.Random, log: bytes) -> bytes:
    """Return a log with flipped bits, zeros, or frames exchanged; its length stays."""
    start, size = 32, 24 + PAGE
    frames = [log[at : at + size] for at in range(start, len(log), size)]
    a, b = rng.randrange(len(frames)), rng.randrange(len(frames))
    match rng.randrange(6):
        case 0:
            return flip_bits(rng, log[:start]) + log[start:]
        case 1:
            frames[a], frames[b] = frames[b], frames[a]
        case 2:
            frames[a] = bytes(size)
        case 3:
            frames[a] = flip_bits(rng, frames[a][:24]) + frames[a][24:]
        case _:
            return flip_bits(rng, log)
    return log[:start] + b"".join(frames)


def edit_cells(rng: random.Random, path: Path) -> None:
    """Change rows as anybody can who has an editor for SQLite; digests stay as they were."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for _ in range(rng.choice((1, 1, 2, 3))):
            # refused, or no row is left
            with suppress(sqlite3.Error, OverflowError, IndexError):
                rng.choice(_EDITS)(rng, db)


def edit_with_digest(rng: random.Random, path: Path) -> None:
    """Put what cannot be into a row, with a digest that fits: what another program may have written."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for _ in range(rng.choice((1, 1, 2))):
            rows: list[tuple[Any, ...]] = []
            table = rng.choice((*TABLES, "unit", "fold", "run", "dataset"))
            with suppress(sqlite3.OperationalError):  # what is not text any more
                rows = db.execute(select(table, "")).fetchall()
            if not rows:
                continue
            values = dict((row := row_of(table, rng.choice(rows))).values)
            for name in rng.sample(
                list(values), rng.choice((1, 1, 2)) if len(values) > 1 else 1
            ):
                values[name] = _impossible(rng, table, name, values[name])
            with suppress(sqlite3.Error, OverflowError, UnicodeEncodeError):  # as above
                if rng.random() < 0.7:
                    db.execute(f"DELETE FROM {table} WHERE rowid = ?", (row.id,))
                write(db, table, **values)


def move_results(rng: random.Random, path: Path, other: Path) -> None:
    """Put results of the runs of another study into a study, with the digests that they had there."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("ATTACH ? AS other", (str(other),))
        table = rng.choice(("unit", "fold"))
        where = rng.choice(
            (
                "",
                f"WHERE run = {rng.randint(1, 5)}",
                f"WHERE fold = {rng.randint(1, 2)}",
            )
        )
        db.execute(f"REPLACE INTO {table} SELECT * FROM other.{table} {where}")


def make_foreign(rng: random.Random, path: Path, original: Path) -> None:
    """Write a database that says it is a study, with tables that are nearly those of one, and their rows."""
    with (
        closing(sqlite3.connect(original)) as source,
        closing(sqlite3.connect(path, isolation_level=None)) as db,
    ):
        db.execute(f"PRAGMA page_size = {rng.choice((512, 4096, 65536))}")
        db.execute(
            f"PRAGMA encoding = '{rng.choice(('UTF-8', 'UTF-8', 'UTF-16le', 'UTF-16be'))}'"
        )
        db.execute(f"PRAGMA auto_vacuum = {rng.choice((0, 1, 2))}")
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        (version,) = source.execute("PRAGMA user_version").fetchone()
        db.execute(
            f"PRAGMA user_version = {rng.choice((version, version, version, 2))}"
        )
        for name, sql in source.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'table'"
        ).fetchall():
            for _ in range(rng.choice((0, 0, 1, 2))):
                sql = sql.replace(*rng.choice(_OTHER_SCHEMA))  # noqa: PLW2901
            with suppress(sqlite3.Error):
                db.execute(sql)
                rows = source.execute(f"SELECT * FROM {name}").fetchall()
                places = ", ".join("?" * len(rows[0])) if rows else ""
                db.executemany(f"INSERT INTO {name} VALUES ({places})", rows)
        for _ in range(rng.choice((0, 0, 1, 3))):
            with suppress(sqlite3.Error):
                _schema(rng, db)
        db.execute(f"PRAGMA journal_mode = {rng.choice(('DELETE', 'WAL', 'TRUNCATE'))}")


_OTHER_SCHEMA = (
    *(
        ("TEXT NOT NULL", "TEXT"),
        ("TEXT NOT NULL", "BLOB NOT NULL"),
        ("INTEGER NOT NULL", "REAL NOT NULL"),
    ),
    *(
        ("PRIMARY KEY (run, fold", "UNIQUE (run, fold"),
        (", position)", ")"),
        ("INTEGER PRIMARY KEY", "INT"),
    ),
    *(
        ("TEXT NOT NULL", "TEXT NOT NULL COLLATE NOCASE"),
        ("REFERENCES run", "CHECK (run < 3)"),
    ),
    *(
        ("REFERENCES run", "REFERENCES run ON DELETE CASCADE"),
        ("payload BLOB", "payload TEXT"),
    ),
    *(("REAL", "TEXT"), ("))", ")) WITHOUT ROWID"), ("REAL NOT NULL", "REAL AS (1.0)")),
    *(
        ("title TEXT", "title TEXT UNIQUE"),
        ("CREATE TABLE", "CREATE TEMP TABLE"),
        ("payload", '"pay\nload"'),
    ),
)
"""Pieces of the tables of a study, and what may stand there instead."""


def _impossible(rng: random.Random, table: str, name: str, value: Any) -> Any:
    if rng.random() < 0.3:
        other = rng.choice([v for v in VALUES if not isinstance(v, list | dict)])
        return rng.choice((other, b"\xff\x00", json.dumps(rng.choice(VALUES))))
    if isinstance(value, str) and (name in LISTS or table == "fold"):
        return json.dumps(mutated_value(rng, json.loads(value)))
    if isinstance(value, bytes):
        return rng.choice((_other_arrays, _other_header, mutated))(rng, value)
    if isinstance(value, int):
        return rng.choice((value + 1, -value, value - 1, 2**62, 0))
    return mutated(rng, str(value).encode()).decode("utf-8", "surrogateescape")


def _arrays(payload: bytes) -> dict[str, Any]:
    with np.load(io.BytesIO(payload), allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}


def _packed(arrays: dict[str, Any]) -> bytes:
    out = io.BytesIO()
    np.savez_compressed(out, **arrays)
    return out.getvalue()


def _other_arrays(rng: random.Random, payload: bytes) -> bytes:
    """Change an array of a path: its values, shape, or type."""
    arrays = _arrays(payload)
    name = rng.choice(sorted(set(arrays) - {"header"}))
    array = arrays[name]
    match rng.randrange(7):
        case 0:
            del arrays[name]
        case 1:
            arrays[name] = array[:-1] if array.ndim else array
        case 2:
            arrays[name] = array.astype(
                rng.choice(("<f4", "<U8", "<c16", "<i8", "|b1", "<M8[s]"))
            )
        case 3:
            arrays[name] = np.concatenate([array.reshape(-1), array.reshape(-1)])
        case 4:
            arrays[name] = array.reshape(1, -1)
        case _ if array.size:
            kinds = (
                (-1, 0, 10**6, 2**40, 2**62)
                if array.dtype.kind == "i"
                else (np.nan, np.inf, -1e308, 0.0)
            )
            array.reshape(-1)[rng.randrange(array.size)] = rng.choice(kinds)
        case _:
            arrays[name] = np.array(rng.choice((0, 1.5, 2**62)))
    return _packed(arrays)


def _other_header(rng: random.Random, payload: bytes) -> bytes:
    """Change a value in the header of a path."""
    arrays = _arrays(payload)
    text = json.dumps(
        mutated_value(rng, json.loads(arrays["header"].tobytes()))
    ).encode()
    if rng.random() < 0.1:
        text = rng.choice((b"[" * 100_000, b"", b"\xff", b'{"a":' * 50_000))
    arrays["header"] = np.frombuffer(text, dtype=np.uint8)
    return _packed(arrays)


def _update(rng: random.Random, db: sqlite3.Connection) -> None:
    table = rng.choice(TABLES)
    column = rng.choice((*COLUMNS[table], "digest"))
    rowid, value = rng.choice(
        db.execute(f"SELECT rowid, {column} FROM {table}").fetchall()
    )
    db.execute(
        f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (_other(rng, value), rowid)
    )


def _other(rng: random.Random, value: Any) -> Any:
    plain = [v for v in VALUES if not isinstance(v, list | dict)]
    match rng.randrange(5):
        case 0 | 1 if isinstance(value, bytes | str):
            raw = value if isinstance(value, bytes) else value.encode()
            changed = mutated(rng, raw)
            return (
                changed
                if isinstance(value, bytes)
                else changed.decode("utf-8", "replace")
            )
        case 2 if isinstance(value, int | float):
            return value + rng.choice((1, -1, 0.5, 10**9))
        case 3:
            return rng.choice((b"", b"\xff\xfe", str(value), None))
        case _:
            return rng.choice(plain)


def _swap(rng: random.Random, db: sqlite3.Connection) -> None:
    """Exchange the cells of two rows."""
    table = rng.choice(TABLES)
    column = rng.choice((*COLUMNS[table], "digest"))
    rows = db.execute(f"SELECT rowid, {column} FROM {table}").fetchall()
    (a, one), (b, other) = rng.choice(rows), rng.choice(rows)
    db.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (other, a))
    db.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (one, b))


def _delete(rng: random.Random, db: sqlite3.Connection) -> None:
    table = rng.choice(TABLES)
    rowids = [row for (row,) in db.execute(f"SELECT rowid FROM {table}")]
    gone = (
        rowids
        if rng.random() < 0.1
        else rng.sample(rowids, min(len(rowids), rng.choice((1, 1, 2))))
    )
    for row in gone:
        db.execute(f"DELETE FROM {table} WHERE rowid = ?", (row,))


def _move(rng: random.Random, db: sqlite3.Connection) -> None:
    """Put a row of a run under another one, or under one that there is not."""
    table = rng.choice(("unit", "fold", "removed", "run"))
    column = (
        "id"
        if table == "run"
        else rng.choice([c for c in ("run", "fold", "position") if c in COLUMNS[table]])
    )
    rowids = [row for (row,) in db.execute(f"SELECT rowid FROM {table}")]
    to = rng.choice((0, 1, 2, 3, 4, 5, 6, -1, 2**31, 2**63 - 1))
    verb = rng.choice(("UPDATE", "UPDATE OR REPLACE"))
    db.execute(
        f"{verb} {table} SET {column} = ? WHERE rowid = ?", (to, rng.choice(rowids))
    )


def _schema(rng: random.Random, db: sqlite3.Connection) -> None:
    """Change what the tables are."""
    table = rng.choice(TABLES)
    column = rng.choice([*COLUMNS[table]])
    db.execute(
        rng.choice(
            (
                f"DROP TABLE {table}",
                f"ALTER TABLE {table} RENAME TO other",
                f"ALTER TABLE {table} RENAME COLUMN {column} TO other",
                f"ALTER TABLE {table} DROP COLUMN {column}",
                f"ALTER TABLE {table} ADD COLUMN other TEXT",
                f"CREATE INDEX other ON {table} ({column})",
                f"CREATE VIEW other AS SELECT * FROM {table}",
                f"CREATE TRIGGER other AFTER INSERT ON {table} BEGIN DELETE FROM run; END",
                f"CREATE TABLE copied AS SELECT * FROM {table}",
                f"PRAGMA user_version = {rng.choice((0, 1, 2, 3, 99, -1))}",
                f"PRAGMA application_id = {rng.choice((0, 1, -1))}",
                "VACUUM",
            )
        )
    )


def _retype(rng: random.Random, db: sqlite3.Connection) -> None:
    """Make a table anew with the same columns and without types, keys or what must not be empty."""
    table = rng.choice(TABLES)
    columns = ", ".join((*COLUMNS[table], "digest"))
    db.execute(f"ALTER TABLE {table} RENAME TO other")
    db.execute(f"CREATE TABLE {table} ({columns})")
    db.execute(f"INSERT INTO {table} ({columns}) SELECT {columns} FROM other")
    for _ in range(rng.choice((0, 1))):
        db.execute(
            f"INSERT INTO {table} ({columns}) SELECT {columns} FROM other LIMIT 1"
        )
    db.execute("DROP TABLE other")


_EDITS: tuple[Callable[[random.Random, sqlite3.Connection], None], ...] = (
    *(_update, _update, _update, _swap, _swap, _delete, _move, _move, _schema, _retype),
)
