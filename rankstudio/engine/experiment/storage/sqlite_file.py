"""The file of a study: an SQLite database that one process at a time owns.

Commits go to a log beside the file (WAL). A commit returns only when it
is on the disk, so nothing committed is lost, even by a power cut. The
owner holds SQLite's own exclusive lock, which the operating system
releases whenever the process ends: no stale lock can remain. A small
file beside the study names the owner, for the error message of a second
owner; it locks nothing.

A file that is not a study is only read: a file that is refused keeps its bytes.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import struct
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from rankstudio.engine.errors import StoreError, StudyInUseError
from rankstudio.engine.experiment.storage import study_rows
from rankstudio.engine.experiment.storage.study_rows import TABLES, VERSION, Row
from rankstudio.engine.language import tr, translatable
from rankstudio.engine.support.files import create_file

APPLICATION_ID = 0x526B5374
"""Application id of the file: "RkSt" in ASCII."""

_SYNCHRONOUS = "FULL"
"""SQLite's setting by which a commit returns only when it is on the disk."""

_FORBIDDEN = translatable("no permission to write this file or its folder")
_DAMAGED = translatable("the file is damaged or truncated; expected a complete study")
_FOREIGN = translatable("not a RankStudio study")
_MODE = slice(18, 20)
_WAL = b"\2\2"
"""Bytes of a database that say whether it has a log, and their value for a log.

A new file has this value from the beginning, because SQLite would need
a journal to switch to a log later.
"""

_NOT_UTF8 = translatable("file names must be UTF-8, found")
_MESSAGES_BY_CODE = {
    sqlite3.SQLITE_FULL: translatable("the disk is full; data stored before are safe"),
    sqlite3.SQLITE_IOERR: translatable(
        "the disk failed or is full; data stored before are safe"
    ),
    sqlite3.SQLITE_READONLY: _FORBIDDEN,
    sqlite3.SQLITE_CANTOPEN: _FORBIDDEN,
    sqlite3.SQLITE_PERM: _FORBIDDEN,
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_NOTADB: _FOREIGN,
}

_COUNT_ACTIVE_OBJECTS = (
    "SELECT count(*) FROM sqlite_master WHERE type NOT IN ('table', 'index')"
)
"""Query for the number of objects that act by themselves, such as triggers."""
_TYPES = """
    SELECT m.name, c.name, c.type, c."notnull", c.pk
    FROM sqlite_master AS m, pragma_table_info(m.name) AS c WHERE m.type = 'table'"""
_KEYS = """
    SELECT m.name, k.seq, c.name, c.seqno, k."unique"
    FROM sqlite_master AS m, pragma_index_list(m.name) AS k, pragma_index_info(k.name) AS c
    WHERE m.type = 'table' AND k.origin <> 'c'"""
"""Queries for the columns of all tables with their types, and of all keys."""

_HEADER = struct.Struct(">8I")
"""Header of a log.

Its numbers are: magic number, version, size of a page, sequence, two
salts, and a checksum in two parts.
"""
_FRAME = struct.Struct(">6I")
"""Header of a frame of a log.

Its numbers are: page, size of the database (0 before the end of a
commit), two salts, and two checksums.
"""
_READ_MARK_OFFSET = 16
"""Offset, in SQLite's index of a log, of the number of frames that it has read."""


class StudyFile:
    """The database file of a study, open and owned by this process.

    Parameters
    ----------
    path : str or Path
        Path of a file created by :func:`create`.
    reading : bool
        Whether to open read-only files; nothing can then be stored.
    shared : bool
        Whether to read a copy in memory, without what is only in a log
        beside the file, so that other processes can open it at the same
        time; nothing can be stored.

    Attributes
    ----------
    path : Path
        Path of the open file; another one after :meth:`move_to`.
    read_only : bool
        Whether nothing can be stored.
    written : datetime or None
        When something was written last, in local time; None before.

    Raises
    ------
    StoreError
        If the file does not exist, is not a study, is damaged or of
        another version, is owned by another process, or cannot be
        written.
    """

    def __init__(
        self, path: str | Path, *, reading: bool = False, shared: bool = False
    ) -> None:
        """Open the file of a study, and check that it is a study.

        With `reading`, a file that cannot be written is read as a copy
        in memory. With `shared`, a copy is read in any case, so that
        other processes may open the file.
        """
        # the log lies beside the file itself, not beside a link
        self.path = Path(path).resolve()
        _refuse_long_name(self.path)
        self._lock = threading.RLock()
        is_read_only_file = reading and self.path.is_file() and not _writable(self.path)
        self.read_only = shared or is_read_only_file
        self._db = (
            _memory_copy(self.path, shared=shared)
            if self.read_only
            else _open_owned(self.path)
        )
        # To notice when another file takes the path of this one.
        self._file_identity = _identity(self.path)
        self.written: datetime | None = None  # time of the last transaction
        self._closed = False

    def move_to(self, path: str | Path) -> None:
        """Copy the study to another file, replacing an existing study, and continue there.

        Threads that write meanwhile wait, and then use the other file.

        Raises
        ------
        StoreError
            If the copy cannot be written, or the target is not a study
            or is owned by another process; nothing is changed.
        """
        # Write beside the target, and replace it only when everything is on the disk.
        path = Path(path).resolve()
        _refuse_long_name(path)
        partial = path.with_name(path.name + ".part")
        with self._lock:
            if path == self.path:
                return
            try:
                partial.unlink(missing_ok=True)
                with as_store_errors(path):
                    self._db.execute("VACUUM INTO ?", (str(partial),))
                with partial.open("rb+") as file:
                    os.fsync(file.fileno())
                if path.exists():
                    # Opening fails if the target is no study or in use.
                    # Closing removes its log, which would otherwise be
                    # read as that of the new file.
                    StudyFile(path).close()
                partial.replace(path)
            except OSError as error:
                raise _write_error(path, error) from error
            finally:
                with suppress(OSError):
                    partial.unlink(missing_ok=True)
            # From here on the other file is used. The old one is closed
            # only after the other one is open.
            other = _open_owned(path)
            self.close()
            identity = _identity(path)
            self._db = other
            self.path = path
            self._file_identity = identity
            self.read_only = False
            self._closed = False

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Provide a connection inside the block; either all or none of its writes are executed.

        The writes are on disk at the end of the block.

        Yields the connection for the writes. Errors of SQLite become a
        StoreError that names the file. Afterwards, `written` is the
        present time.

        Raises
        ------
        StoreError
            If the file cannot be written, or no longer exists; none of
            the writes is then executed.
        """
        with self._lock, as_store_errors(self.path):
            if self.read_only:
                raise StoreError(f"{self.path}: {tr(_FORBIDDEN)}.")
            # SQLite would go on writing to a deleted file, without an error.
            if _identity(self.path) != self._file_identity:
                text = tr(
                    "{path}: the study was removed, moved or replaced while open; results "
                    "from now on are not stored."
                )
                raise StoreError(text.format(path=self.path))
            with _all_or_nothing(self._db):
                # A study of an earlier version first gets the columns
                # that later versions added to its tables.
                study_rows.add_columns(self._db)
                yield self._db
            self.written = datetime.now()

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a query; `values` are those of its question marks.

        Raises
        ------
        StoreError
            If the rows cannot be read.
        """
        with self._lock, as_store_errors(self.path):
            return self._db.execute(sql, values).fetchall()

    def records(self, table: str, clause: str = "", *values: Any) -> list[Row]:
        """Return the rows of a table, including damaged ones, which are marked as such.

        `clause` is the end of the query, such as "WHERE run = ?", and
        `values` has the values of its question marks.

        Raises
        ------
        StoreError
            If the rows cannot be read.
        """
        with self._lock, as_store_errors(self.path):
            # Columns that a study of an earlier version lacks are read as empty.
            absent = study_rows.absent_columns(self._db, table)
            rows = self._db.execute(
                study_rows.select(table, clause, absent), values
            ).fetchall()
        return [study_rows.row_of(table, row) for row in rows]

    def close(self) -> None:
        """Close the file, and delete the note of its owner.

        A file that is closed already stays as it is.
        """
        # SQLite raises a ProgrammingError for a closed database.
        with self._lock, as_store_errors(self.path), suppress(sqlite3.ProgrammingError):
            # Called for its error only: if the file is closed already,
            # the file beside it that names the owner may be that of the
            # next owner.
            self._db.execute("SELECT 1")
            if not self.read_only:
                with suppress(OSError):
                    _owner_file(self.path).unlink(missing_ok=True)
            self._db.close()
            self._closed = True

    @contextmanager
    def kept_open(self) -> Iterator[bool]:
        """Keep the file open during the block, if it is open.

        The block gets True if the file is open, and False if it was
        closed before.
        """
        with self._lock:
            yield not self._closed


def _open_owned(path: Path) -> sqlite3.Connection:
    """Open an undamaged study, and return a connection to its database.

    Until the connection is closed, no other process can open the study.
    StoreError is raised for a file that is damaged or no study, and
    StudyInUseError if another process has it open.
    """
    # A journal must be rolled back before the study can be checked, so
    # a copy is checked.
    has_journal = Path(f"{path}-journal").exists()
    with _file_copy(path) if has_journal else nullcontext() as copy:
        # Nothing is written before the file is known to be a study.
        _check_study_file(path, copy)
    if not _writable(path):
        # Without this check, SQLite would report a fault of the disk.
        raise StoreError(f"{path}: {tr(_FORBIDDEN)}.")
    with as_store_errors(path):
        # Threads share the connection: a lock of the study lets one of
        # them use it at a time.
        db = sqlite3.connect(
            path, timeout=0, isolation_level=None, check_same_thread=False
        )
        # A damaged text is read, too, so that other rows can be.
        db.text_factory = study_rows.as_text
    try:
        with as_store_errors(path):
            _take_ownership(db, path)
        _note_owner(path)
    except BaseException:
        db.close()
        raise
    return db


def _writable(path: Path) -> bool:
    """Return whether a file and its folder can be written."""
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


def _memory_copy(path: Path, *, shared: bool) -> sqlite3.Connection:
    """Return a connection to a copy in memory of the database of an undamaged study.

    A log beside the file has the latest results. The log is read, too,
    unless the study is `shared`: other processes may have it open.

    SQLite reads a log only in a folder in which it may write, so a
    study with a log is first copied to a temporary folder.
    """
    needs_copy = _has_log(path) and not shared
    with _file_copy(path) if needs_copy else nullcontext() as copy:
        _check_study_file(path, copy, shared=shared)
        uri = f"{path.as_uri()}?immutable=1" if copy is None else copy.as_uri()
        with as_store_errors(path), closing(sqlite3.connect(uri, uri=True)) as source:
            db = sqlite3.connect(
                ":memory:", isolation_level=None, check_same_thread=False
            )
            db.text_factory = study_rows.as_text
            source.backup(db)
    return db


@contextmanager
def _file_copy(path: Path) -> Iterator[Path]:
    """Provide the path of a temporary copy of a study and its logs inside the block.

    SQLite may write in the folder of the copy, as it must to read a
    log. The copy is deleted at the end of the block.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="rankstudio-") as folder:
            copy = Path(folder) / "study"
            for end in ("", "-wal", "-journal"):
                with suppress(FileNotFoundError):
                    shutil.copyfile(f"{path}{end}", f"{copy}{end}")
            yield copy
    except OSError as error:
        raise StoreError(
            tr("{path}: the study cannot be read: {strerror}.").format(
                path=path, strerror=error.strerror
            )
        ) from error


def _has_log(path: Path) -> bool:
    """Return whether a log or a journal beside the study has changes that the study lacks.

    SQLite writes changes there first. A file that is not empty may have some.
    """
    for end in ("-wal", "-journal"):
        with suppress(FileNotFoundError):
            if Path(f"{path}{end}").stat().st_size > 0:
                return True
    return False


def _take_ownership(db: sqlite3.Connection, path: Path) -> None:
    """Lock a study until its connection `db` is closed: no other process can open it.

    The study also gets a log, to which SQLite appends changes. An error
    of sqlite3 is raised if another process has the study open.
    """
    db.execute("PRAGMA locking_mode = EXCLUSIVE")
    db.execute("PRAGMA journal_mode = WAL")
    db.execute(f"PRAGMA synchronous = {_SYNCHRONOUS}")
    db.execute("BEGIN EXCLUSIVE")  # takes the lock, which outlasts the transaction
    db.execute("COMMIT")
    # "-shm" is an index of the log for several readers; the only owner needs none.
    with suppress(OSError):
        Path(f"{path}-shm").unlink(missing_ok=True)


def create(
    path: str | Path, fill: Callable[[sqlite3.Connection], None] = lambda _: None
) -> None:
    """Create the database file of a study with its initial contents.

    The file is built in memory and named in one step, only if the name
    is free, so that neither a second process nor an interruption leaves
    half a study.

    Parameters
    ----------
    path : str or Path
        File to create.
    fill : callable
        Writes the initial contents of a study; nothing by default.

    Raises
    ------
    StoreError
        If a file already exists, or cannot be written.
    """
    path = Path(path).absolute()
    _refuse_long_name(path)
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        _make_tables(db)
        fill(db)
        content = db.serialize()
    try:
        # A database in memory has no log: set the bytes that say that the file has one.
        create_file(path, content[: _MODE.start] + _WAL + content[_MODE.stop :])
    except FileExistsError as error:
        raise StoreError(
            tr("{path}: the file already exists.").format(path=path)
        ) from error
    except OSError as error:
        raise _write_error(path, error) from error


def _write_error(path: Path, error: OSError) -> StoreError:
    """Return the error for a study that cannot be written."""
    text = tr("{path}: the study could not be written: {strerror}.")
    return StoreError(text.format(path=path, strerror=error.strerror))


@contextmanager
def as_store_errors(path: Path) -> Iterator[None]:
    """Convert SQLite's errors in the block to a StoreError whose message names the file."""
    try:
        yield
    except sqlite3.ProgrammingError:
        raise  # a fault of this program, not of the file
    except UnicodeDecodeError as error:  # SQLite quotes what is damaged
        raise StoreError(f"{path}: {tr(_DAMAGED)}.") from error
    except UnicodeEncodeError as error:
        raise StoreError(f"{path}: {tr(_NOT_UTF8)}: {error.object!a}.") from error
    except sqlite3.Error as error:
        # The low byte is the kind of error; the others are details.
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise StudyInUseError(
                tr(
                    "{path}: the study is in use by {owner}. Close it there first."
                ).format(path=path, owner=_owner_text(path))
            ) from error
        raise StoreError(
            f"{path}: {tr(_MESSAGES_BY_CODE.get(code, str(error)))}."
        ) from error


def _check_study_file(
    path: Path, copy: Path | None = None, *, shared: bool = False
) -> None:
    """Raise a StoreError unless a file is a sound study of this version.

    Nothing is written near the file.

    A sound study has the application id and the version of a study, no
    damage, and a complete log. With `copy`, this copy of the file is
    inspected instead. The log of a `shared` study, which other
    processes may have open, is ignored.
    """
    opened_path = copy or path
    if not opened_path.is_file():
        problem = (
            tr("found a folder, expected a study")
            if path.is_dir()
            else tr("study not found")
        )
        raise StoreError(f"{path}: {problem}.")

    # "immutable" keeps SQLite from making files beside this one, but
    # also from reading the log that a process that was ended, or that
    # still runs, has there.
    has_log = not shared and any(
        Path(f"{opened_path}{end}").exists() for end in ("-wal", "-journal")
    )
    mode = "ro" if copy is None else "rw"  # the journal of a copy may be rolled back
    uri = f"{opened_path.as_uri()}?mode={mode}" + ("" if has_log else "&immutable=1")
    with (
        as_store_errors(path),
        closing(sqlite3.connect(uri, uri=True, timeout=0)) as db,
    ):
        db.text_factory = study_rows.as_text  # damage is reported in SQLite's own words
        application = db.execute("PRAGMA application_id").fetchone()[0]
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if application != APPLICATION_ID or version < 1:
            raise StoreError(f"{path}: {tr(_FOREIGN)}.")
        if version != VERSION:
            text = tr(
                "{path}: the study has format version {version}, written by another "
                "version of RankStudio; expected version {expected}."
            )
            raise StoreError(text.format(path=path, version=version, expected=VERSION))
        if db.execute("PRAGMA integrity_check(1)").fetchone()[0] != "ok":
            raise StoreError(f"{path}: {tr(_DAMAGED)}.")
        if has_log and not _log_is_whole(opened_path):
            text = tr(
                "{path}-wal: the log of the study, which holds the latest results, is damaged. Without "
                "this file the study opens in its earlier state."
            )
            raise StoreError(text.format(path=path))
        if _is_foreign(db):
            raise StoreError(f"{path}: {tr(_FOREIGN)}.")


def _refuse_long_name(path: Path) -> None:
    """Refuse a name to which SQLite cannot add the ending of its log."""
    try:
        Path(f"{path}-journal").exists()
    except OSError as error:
        text = tr("{path}: {strerror} for a study; use a shorter name.")
        raise StoreError(text.format(path=path, strerror=error.strerror)) from error


def _identity(path: Path) -> tuple[int, int] | None:
    """Return the device and inode of a file; None if it does not exist."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _owner_file(path: Path) -> Path:
    """Return the path of the file that names the owner."""
    return path.with_name(path.name + "-owner")


def _note_owner(path: Path) -> None:
    """Write the number of this process, the owner of a study, to a file beside the study.

    The message for another process, which cannot open the study, names
    this number. Without the file it only says "another program". A
    failure is ignored, because the file locks nothing.
    """
    note = _owner_file(path)
    try:
        note.write_text(str(os.getpid()), encoding="ascii")
    except OSError:
        pass
    except BaseException:  # an interruption
        with suppress(OSError):
            note.unlink(missing_ok=True)
        raise


def _owner_text(path: Path) -> str:
    """Return which process has a study open, as far as its owner's file says."""
    try:
        number = int(_owner_file(path).read_text(encoding="ascii"))
        return tr("process {number}").format(number=number)
    except (OSError, ValueError):
        return tr("another program")


def _make_tables(db: sqlite3.Connection) -> None:
    """Make the tables of a study in an empty database."""
    db.executescript(f"{TABLES} PRAGMA user_version = {VERSION}")
    study_rows.add_columns(db)


@contextmanager
def _all_or_nothing(db: sqlite3.Connection) -> Iterator[None]:
    """Run the block as one transaction, rolled back if it fails."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:  # SQLite itself may have rolled back
            db.execute("ROLLBACK")
        raise


def _is_foreign(db: sqlite3.Connection) -> bool:
    """Return whether a database is not a study.

    A database is no study if it lacks a column of a study, if a column
    that later versions added has another type, or if the database has
    objects that act by themselves, such as triggers.
    """
    with closing(sqlite3.connect(":memory:")) as empty_study:
        _make_tables(empty_study)
        study_columns = _columns(empty_study)
    columns = _columns(db)
    added_columns = study_rows.added_columns()
    # The first two values of a column are the names of its table and of
    # the column; the others are its type and its place in a key. A
    # column that was added later may be missing, but must not have
    # another type.
    missing_columns = {
        column for column in study_columns - columns if column[:2] not in added_columns
    }
    differing_columns = {
        column for column in columns - study_columns if column[:2] in added_columns
    }
    (n_active_objects,) = db.execute(_COUNT_ACTIVE_OBJECTS).fetchone()
    return bool(n_active_objects or missing_columns or differing_columns)


def _columns(db: sqlite3.Connection) -> set[tuple[Any, ...]]:
    """Return each column of each table with its type, and its place in each key."""
    return {*db.execute(_TYPES), *db.execute(_KEYS)}


def _log_is_whole(path: Path) -> bool:
    """Return whether SQLite found all commits in a study's log that it has just read.

    `path` is the file of the log.

    SQLite ignores a damaged frame of a log, and all frames behind it,
    without an error. See "WAL-mode File Format" and "The WAL-Index File
    Format" in its documentation.

    If the computer went down during a commit, frames of this commit may
    be behind those that SQLite has read. Frames of two commits there
    mean that the log is damaged.
    """
    try:
        with (
            Path(f"{path}-wal").open("rb") as log,
            Path(f"{path}-shm").open("rb") as index,
        ):
            header = log.read(_HEADER.size)
            if len(header) < _HEADER.size:
                return True  # nothing was committed yet
            magic, _, page_size, _, salt_1, salt_2, *checksum = _HEADER.unpack(header)
            # The checksum is that of the six numbers before it; an odd
            # magic number means big-endian. With a wrong checksum
            # SQLite reads no frame at all.
            if tuple(checksum) != _checksum(header[:24], is_big_endian=magic & 1 == 1):
                return not log.read(_FRAME.size)
            # SQLite notes there how many frames it has read.
            index.seek(_READ_MARK_OFFSET)
            n_read = int.from_bytes(index.read(4), sys.byteorder)
            return _count_unread_commits(log, n_read, page_size, (salt_1, salt_2)) < 2
    except OSError:
        return True  # there is no log


def _count_unread_commits(
    log: BinaryIO, n_read: int, page_size: int, salts: tuple[int, int]
) -> int:
    """Return the number of commits in a log behind the frames that SQLite has read.

    `n_read` is the number of frames that were read, `page_size` the
    bytes of a page, which follows the header of each frame, and `salts`
    are the two numbers in the header of the log.

    Only commits with the present salts count. SQLite overwrites a log
    from its beginning, with two new salts each time. One equal salt is
    enough to count a commit: the other salt is then damaged, in the
    frame or in the header, where two flipped bits can leave the
    checksum unchanged.
    """
    n_commits = 0
    offset = _HEADER.size + n_read * (_FRAME.size + page_size)
    while True:
        log.seek(offset)
        frame = log.read(_FRAME.size)
        if len(frame) < _FRAME.size:
            return n_commits
        _, database_size, *frame_salts, _, _ = _FRAME.unpack(frame)
        # Only the last frame of a commit has the size of the database.
        is_commit = database_size > 0
        n_commits += is_commit and (
            frame_salts[0] == salts[0] or frame_salts[1] == salts[1]
        )
        offset += _FRAME.size + page_size


def _checksum(content: bytes, *, is_big_endian: bool) -> tuple[int, int]:
    """Return the checksum that SQLite's logs have for some bytes, two 32-bit numbers.

    The numbers are two sums over pairs of 4-byte numbers, each of which
    also adds the other sum, as SQLite's documentation defines them.
    """
    s0 = s1 = 0
    for a, b in struct.iter_unpack(">2I" if is_big_endian else "<2I", content):
        s0 = (s0 + a + s1) & 0xFFFFFFFF
        s1 = (s1 + b + s0) & 0xFFFFFFFF
    return s0, s1
