"""The store: arrays on disk, which are used only after their digests were verified.

An entry is a folder with a file of plain numbers for each array that is
not empty, and a manifest: dtype and shape of each array, the SHA-256 of
each block of its file, and all contents that are not arrays. The
manifest begins with its own SHA-256. An entry is named after its key,
which stands for its sources, or else after the digest of its manifest,
that is, after its contents: equal contents are stored once. An entry
that has the name of another one is invalid.

A process compares each block with its digest when it first needs the
block, and remembers the result as long as the file does not change. A
damaged entry counts as missing. An entry is written under a temporary
name, and renamed when it is complete, so that no reader sees an
incomplete one. The folders of the store can be deleted at any time.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import time
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from rankstudio.engine.arrays import Bytes
from rankstudio.engine.errors import CacheWarning, DatasetError, OutputError, shown_path
from rankstudio.engine.language import tr
from rankstudio.engine.support import memory, threads
from rankstudio.engine.support.file_pages import release
from rankstudio.engine.support.files import (
    remove_abandoned,
    temporary_folder,
    write_bytes,
)

LIMIT = 4 << 30
"""Default maximum of the bytes of all entries of a folder."""

MANIFEST = "manifest.json"
BLOCK = 1 << 22
"""Bytes of a file that have a digest of their own: some milliseconds of reading."""

_VERSION = 1  # of the layout of an entry
_ENDING = ".array"
_NEW = "new-"
_FREE_BYTES_LEFT = 1 << 28  # bytes of the disk that are left to others
# of the available disk space, for all entries of data larger than memory
_MAX_DISK_SHARE = 0.5
# such an entry is not removed so soon after its last use: it may be mapped
_PROTECTED_SECONDS = 3600
# a younger file may change again without another time
_MIN_AGE_NANOSECONDS = 2_000_000_000
_MAX_REMEMBERED_FILES = 1000  # source files whose checksums are remembered

Check = Callable[[], None]
"""Called repeatedly during long reading or writing; it may raise to stop."""


def _never_stop() -> None:
    """Raise nothing: there is no request to stop."""


class EntryError(Exception):
    """An entry is missing, damaged or unreadable."""


def cache_folder() -> Path:
    """Return the folder of the stores: RANKSTUDIO_CACHE_DIR, or the user's cache folder."""
    chosen = os.environ.get("RANKSTUDIO_CACHE_DIR")
    if chosen:
        return Path(chosen)
    from platformdirs import user_cache_path  # noqa: PLC0415 - needed only when a file is opened

    return user_cache_path("rankstudio", appauthor=False)


def scratch_folder() -> Path:
    """Return the folder for files mapped by several processes, and for unnamed files.

    The folder is in the cache or, with a warning, a temporary folder if
    the cache is not writable.
    """
    return writable(cache_folder() / "mapped")


@cache
def writable(folder: Path) -> Path:
    """Return a folder if it is writable, otherwise a temporary one, with a warning.

    If there is no temporary folder either, return the folder itself:
    its first use will report the error. The result is cached for each
    folder.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Called for its errors only.
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        with suppress(OSError):
            temporary = temporary_folder()
            warnings.warn(
                f"{folder} cannot be written ({error.strerror or error}). Data for worker processes are kept "
                "in a temporary folder. Set RANKSTUDIO_CACHE_DIR to another folder.",
                CacheWarning,
                stacklevel=2,
            )
            return temporary
    return folder


@dataclass(frozen=True)
class ArrayDescription:
    """Description of the file of an array in an entry of the store: plain numbers.

    Attributes
    ----------
    dtype : str
        Type of the numbers, as in NumPy.
    shape : tuple of int
        Shape of the array.
    digests : tuple of str
        SHA-256 of each block of `BLOCK` bytes, and of the rest of the file.
    """

    dtype: str
    shape: tuple[int, ...]
    digests: tuple[str, ...]

    @classmethod
    def of(cls, array: NDArray[Any]) -> ArrayDescription:
        """Describe an array in memory. O(bytes)."""
        digests = _Digests()
        digests.update(_bytes_of(array))
        return cls(array.dtype.str, array.shape, digests.finish())

    @property
    def n_bytes(self) -> int:
        """Size of its file."""
        return int(np.dtype(self.dtype).itemsize * np.prod(self.shape, dtype=np.int64))

    def blocks_of(self, rows: slice | None) -> range:
        """Return the numbers of the blocks of the file that contain some rows of the array.

        Without rows, return the numbers of all blocks.
        """
        if rows is None:
            return range(len(self.digests))
        width = self.n_bytes // max(self.shape[0], 1)
        # the end is rounded up
        return range(rows.start * width // BLOCK, -(-rows.stop * width // BLOCK))


class _Digests:
    """The digests of the consecutive blocks of a stream of bytes."""

    def __init__(self) -> None:
        self._finished_digests: list[str] = []
        self._current = hashlib.sha256()
        self._filled = 0

    def update(self, content: memoryview) -> None:
        """Add the next bytes of the stream; each full block of them gets a digest."""
        while content:
            piece = content[: BLOCK - self._filled]
            self._current.update(piece)
            self._filled += len(piece)
            content = content[len(piece) :]
            if self._filled == BLOCK:
                self._end_block()

    def finish(self) -> tuple[str, ...]:
        """Return the digests of all blocks."""
        if self._filled:
            self._end_block()
        return tuple(self._finished_digests)

    def _end_block(self) -> None:
        """Store the digest of a block, and begin the next one."""
        self._finished_digests.append(self._current.hexdigest())
        self._current = hashlib.sha256()
        self._filled = 0


@dataclass(frozen=True)
class StoredEntry:
    """An entry of the store: a folder with arrays and a valid manifest.

    The digests of the arrays are verified on request.

    Attributes
    ----------
    path : Path
        Folder of the entry.
    digest : str
        Digest of the manifest.
    text : Mapping
        Contents other than arrays, as written.
    arrays : Mapping of str to ArrayDescription
        Description of the file of each array, by the array's name.
    """

    path: Path
    digest: str
    text: Mapping[str, Any]
    arrays: Mapping[str, ArrayDescription]

    @classmethod
    def open(cls, path: Path) -> StoredEntry:
        """Return the entry in a folder; its arrays are not read yet.

        Raises
        ------
        EntryError
            If the entry is missing, or its manifest is damaged, of
            another version or of another entry.
        """
        try:
            # The manifest begins with the checksum of its other lines.
            digest, _, body = (path / MANIFEST).read_bytes().partition(b"\n")
            if digest.decode() != hashlib.sha256(body).hexdigest():
                raise ValueError("its manifest is damaged")
            # The name of an entry is its key or, without a key, that checksum.
            content = json.loads(body)
            if content["version"] != _VERSION or path.name != (
                content["key"] or digest.decode()
            ):
                raise ValueError("it belongs to another entry or version")
            arrays = {
                name: ArrayDescription(
                    description["dtype"],
                    tuple(description["shape"]),
                    tuple(description["digests"]),
                )
                for name, description in content["arrays"].items()
            }
            return cls(path, digest.decode(), content["text"], arrays)
        except (
            OSError,
            ValueError,
            KeyError,
            TypeError,
            AttributeError,
            RecursionError,
        ) as error:
            raise EntryError(f"{path}: {error}") from None

    def check(
        self,
        names: Iterable[str] | None = None,
        *,
        rows: slice | None = None,
        stop_check: Check = _never_stop,
    ) -> None:
        """Compare arrays of the entry with their digests.

        Each block is compared once per process, as long as its file is
        unchanged.

        Parameters
        ----------
        names : iterable of str, optional
            Names of the arrays; all by default.
        rows : slice, optional
            Rows to verify; all by default.
        stop_check : callable, optional
            Called after each block; it may raise an error to stop.

        Raises
        ------
        EntryError
            If a file is missing or damaged.
        """
        # Only blocks that were not compared before are read: (name of
        # the array, state of its file, index of the block). Empty
        # arrays have no file.
        unread: list[tuple[str, _FileState, int]] = []
        for name in self.arrays if names is None else names:
            if self.arrays[name].n_bytes:
                state = self._state(name)
                blocks = self.arrays[name].blocks_of(rows)
                unread += [
                    (name, state, i)
                    for i in blocks
                    if not self._is_read(name, state, i)
                ]

        def read(block: tuple[str, _FileState, int]) -> None:
            """Read a block, compare its digest, and record that it is valid."""
            name, state, index = block
            size = min(BLOCK, self.arrays[name].n_bytes - index * BLOCK)
            self._read_block(name, index, memoryview(bytearray(size)))
            _VERIFIED_DIGESTS[state, index] = self.arrays[name].digests[index]

        _read_in_threads(read, unread, stop_check)

    def mapped(self, name: str) -> NDArray[Any]:
        """Return an array of the entry by its name, mapped from its file and read-only.

        Empty arrays have no file, and are not mapped.

        Raises
        ------
        EntryError
            If the file cannot be mapped.
        """
        described = self.arrays[name]
        dtype = np.dtype(described.dtype)
        try:
            if described.n_bytes:
                array = np.memmap(self._file(name), dtype, "r", shape=described.shape)
            else:
                array = np.empty(described.shape, dtype)  # type: ignore[assignment]
        except (OSError, ValueError) as error:
            raise EntryError(f"{self._file(name)}: {error}") from None
        array.flags.writeable = False
        return np.asarray(array)

    def loaded(self, name: str, stop_check: Check = _never_stop) -> NDArray[Any]:
        """Return an array of the entry by its name, read into memory and verified.

        ``stop_check`` is called after each block; it may raise an error
        to stop.

        Raises
        ------
        EntryError
            If the array's file cannot be read, or is damaged.
        """
        described = self.arrays[name]
        try:
            array = np.empty(described.shape, np.dtype(described.dtype))
        except (MemoryError, ValueError) as error:
            raise EntryError(f"{self._file(name)}: {error}") from None
        content = _bytes_of(array)
        # Called for its errors only: the file must have the size of the
        # array. An empty array has no file.
        if described.n_bytes:
            self._state(name)

        def read(index: int) -> None:
            """Read a block into ``content``, the bytes of the array, and verify it."""
            self._read_block(name, index, content[index * BLOCK : (index + 1) * BLOCK])

        _read_in_threads(read, range(len(described.digests)), stop_check)
        return array

    @property
    def n_bytes(self) -> int:
        """Total size of its arrays."""
        return sum(described.n_bytes for described in self.arrays.values())

    def files(self) -> dict[str, bytes]:
        """Return the files for transfer to another machine."""
        names = [
            MANIFEST,
            *(f"{name}{_ENDING}" for name in self.arrays if self.arrays[name].n_bytes),
        ]
        return {name: (self.path / name).read_bytes() for name in names}

    def touch(self) -> None:
        """Mark the entry as used now."""
        with suppress(OSError):  # of another user
            os.utime(self.path)

    def _file(self, name: str) -> Path:
        """Return the file of an array."""
        return self.path / f"{name}{_ENDING}"

    def _state(self, name: str) -> _FileState:
        """Return the identity of the file of an array: device, inode, size and time.

        The identity changes whenever the file changes. Raise EntryError
        if the file is missing, or its size is not that of the array.
        """
        try:
            status = self._file(name).stat()
        except OSError as error:
            raise EntryError(f"{self._file(name)}: {error}") from None
        if status.st_size != self.arrays[name].n_bytes:
            raise EntryError(f"{self._file(name)}: found {status.st_size} bytes")
        return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns

    def _is_read(self, name: str, state: _FileState, index: int) -> bool:
        """Return whether a block of a file in this state was verified."""
        return _VERIFIED_DIGESTS.get((state, index)) == self.arrays[name].digests[index]

    def _read_block(self, name: str, index: int, buffer: memoryview) -> None:
        """Read a block of an array's file into a buffer, and verify its digest.

        ``index`` is the number of the block, and the buffer has the
        size of the block. Raise EntryError if the digest differs.
        """
        try:
            with self._file(name).open("rb", buffering=0) as file:
                file.seek(index * BLOCK)
                # One call may read less than the buffer holds.
                n_read = 0
                while n_read < len(buffer) and (
                    count := file.readinto(buffer[n_read:])
                ):
                    n_read += count
        except OSError as error:
            raise EntryError(f"{self._file(name)}: {error}") from None
        if (
            n_read < len(buffer)
            or hashlib.sha256(buffer).hexdigest() != self.arrays[name].digests[index]
        ):
            raise EntryError(f"{self._file(name)}: block {index} is damaged")


_FileState = tuple[int, int, int, int]
_VERIFIED_DIGESTS: dict[tuple[_FileState, int], str] = {}
"""Digests of the blocks that this process has verified, by the state of the file and the block's index."""


def is_there(path: Path) -> bool:
    """Return whether an entry exists; its arrays may be damaged."""
    try:
        StoredEntry.open(path)
    except EntryError:
        return False
    return True


def is_whole(path: Path) -> bool:
    """Return whether an entry exists, and all its arrays agree with their digests."""
    try:
        StoredEntry.open(path).check()
    except EntryError:
        return False
    return True


def entry_of(**arrays: NDArray[Any]) -> StoredEntry | None:
    """Return the undamaged entry of the store whose files these arrays map into memory.

    Each array must be the whole file of its name. Return None if an
    array is not, or if the arrays are from several entries.
    """
    files = {name: _mapped_file(array) for name, array in arrays.items()}
    folders = {file.parent for file in files.values() if file is not None}
    # In an entry, each file has the name of its array.
    are_named_files = all(
        file is not None and file.name == f"{name}{_ENDING}"
        for name, file in files.items()
    )
    if len(folders) != 1 or not are_named_files:
        return None
    try:
        entry = StoredEntry.open(folders.pop())
        entry.check(arrays)
    except (EntryError, KeyError):
        return None
    return entry


class ArrayFile:
    """A file of plain numbers that grows by rows and is never in memory.

    Parameters
    ----------
    path : Path
        Path of the new file.
    dtype : dtype
        Type of the numbers.
    width : int, optional
        Number of columns; by default the array has one dimension.

    Raises
    ------
    OSError
        When the object is made or used, if the file cannot be written.
    """

    def __init__(self, path: Path, dtype: DTypeLike, width: int | None = None) -> None:
        """Create the file of numbers of a type; it must not exist.

        ``width`` is the number of columns, None for a vector. The
        attribute ``rows`` is the number of rows written so far.
        """
        self.path = path
        self.width = width
        self.rows = 0
        self._dtype = np.dtype(dtype)
        self._digests = _Digests()
        self._file = path.open("xb", buffering=0)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def append(self, rows: NDArray[Any]) -> None:
        """Append rows."""
        content = _bytes_of(np.ascontiguousarray(rows, dtype=self._dtype))
        self._digests.update(content)
        while content:
            content = content[self._file.write(content) :]
        self.rows += len(rows)

    def finish(self, *, durable: bool = True) -> ArrayDescription:
        """Flush the file, and return its description.

        Parameters
        ----------
        durable : bool
            Whether to wait for the disk. The digests detect incomplete
            files in any case; but without waiting, pages of a mapped
            file could be lost if the disk is full.
        """
        if durable:
            os.fsync(self._file.fileno())
        self._file.close()
        shape = (self.rows,) if self.width is None else (self.rows, self.width)
        return ArrayDescription(self._dtype.str, shape, self._digests.finish())

    def content(self) -> NDArray[Any]:
        """Return the finished file, mapped into memory."""
        shape = (self.rows,) if self.width is None else (self.rows, self.width)
        is_empty = not self.rows or self.width == 0  # which cannot be mapped
        array = (
            np.empty(shape)
            if is_empty
            else np.memmap(self.path, self._dtype, "r", shape=shape)
        )
        return np.asarray(array)


class NewEntry:
    """A context in which an entry of the store, a folder with arrays, is written.

    The folder is removed on exit unless the entry was finished.

    Parameters
    ----------
    folder : Path
        Folder of the entries, created if missing.
    durable : bool
        Whether to flush the files to disk before the entry gets its name.

    Raises
    ------
    OSError
        When the object is made or used, if the entry cannot be written.
    """

    def __init__(self, folder: Path, *, durable: bool = True) -> None:
        """Create a temporary folder for the entry in the folder of all entries.

        ``durable`` is whether the files must have reached the disk when
        the entry is finished.
        """
        self._folder = folder
        self._durable = durable
        folder.mkdir(parents=True, exist_ok=True)
        remove_abandoned(folder, f"{_NEW}*")  # folders of processes that ended early
        self.path = Path(tempfile.mkdtemp(dir=folder, prefix=_NEW))
        self._opened = ExitStack()
        self._arrays: dict[str, ArrayDescription] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()
        # a finished entry was renamed before
        shutil.rmtree(self.path, ignore_errors=True)

    def file(self, name: str, dtype: DTypeLike, width: int | None = None) -> ArrayFile:
        """Return a new file in the entry's folder, for an array or temporary.

        The file is closed when the with statement of the entry ends.
        ``dtype`` is the type of its numbers, ``width`` the number of
        columns, None for a vector.
        """
        file = ArrayFile(self.path / f"{name}{_ENDING}", dtype, width)
        self._opened.callback(file.close)
        return file

    def add_file(self, name: str, file: ArrayFile) -> None:
        """Register a finished file as the array with a name."""
        self._arrays[name] = file.finish(durable=self._durable)
        if not self._arrays[name].n_bytes:
            file.path.unlink()
        elif file.path != self.path / f"{name}{_ENDING}":
            file.path.rename(self.path / f"{name}{_ENDING}")

    def save(
        self, name: str, array: NDArray[Any], stop_check: Check = _never_stop
    ) -> None:
        """Write an array of shape (m,) or (m, n) from memory under a name, in blocks of rows.

        ``stop_check`` is called before each block; it may raise an
        error to stop.
        """
        file = self.file(name, array.dtype, array.shape[1] if array.ndim > 1 else None)
        # Rows of about BLOCK bytes, at least one.
        step = max(1, BLOCK // max(1, array.itemsize * int(np.prod(array.shape[1:]))))
        for begin in range(0, len(array), step):
            stop_check()
            file.append(array[begin : begin + step])
        self.add_file(name, file)

    def link(self, name: str, entry: StoredEntry) -> None:
        """Link an array of another entry on the same disk, without copying."""
        self._arrays[name] = entry.arrays[name]
        if entry.arrays[name].n_bytes:
            os.link(entry.path / f"{name}{_ENDING}", self.path / f"{name}{_ENDING}")

    def finish(self, text: Mapping[str, Any], key: str = "") -> Path:
        """Write the manifest, give the entry its name, and return its folder.

        Parameters
        ----------
        text : Mapping
            JSON contents other than arrays.
        key : str
            Name of the entry; by default the name is derived from the contents.
        """
        manifest = _manifest(text, self._arrays, key)
        _write_file(self.path / MANIFEST, manifest, durable=self._durable)
        return self._rename(key or manifest.partition(b"\n")[0].decode())

    def receive(self, name: str, files: Mapping[str, bytes]) -> Path:
        """Write the files of an entry received from another machine, and return its folder."""
        for file, content in files.items():
            _write_file(self.path / Path(file).name, content, durable=self._durable)
        return self._rename(name)

    def _rename(self, name: str) -> Path:
        """Give the entry its final name, and return its folder.

        The temporary folder is renamed, in one step. If an undamaged
        entry has this name already, that entry stays. A damaged entry,
        or a file, is replaced.
        """
        final = self._folder / name
        try:
            self.path.rename(final)
        except OSError:
            # Another process was faster: the temporary folder is removed on exit.
            if is_whole(final):
                return final
            shutil.rmtree(final, ignore_errors=True)
            with suppress(OSError):  # a file in its place
                final.unlink()
            self.path.rename(final)
        if self._durable:
            _sync(self._folder)
        return final


def name_of(text: Mapping[str, Any], arrays: Mapping[str, ArrayDescription]) -> str:
    """Return the name of a stored entry that has no key: a digest of its contents.

    ``text`` has the other contents of the entry's manifest.
    """
    return _manifest(text, arrays, "").partition(b"\n")[0].decode()


def prune(folder: Path, limit: float, keep: Collection[str] = ()) -> None:
    """Remove the least recently used entries of a store until the others take at most ``limit`` bytes.

    Parameters
    ----------
    folder : Path
        Folder of the entries.
    limit : float
        Maximum total size in bytes.
    keep : collection of str
        Names of entries to keep in any case.
    """
    remove_abandoned(folder, f"{_NEW}*")  # folders of processes that ended early
    entries = _oldest_entries_first(folder)
    total = sum(size for _, size, path in entries if path.name in keep)
    # The entries used last are counted first: once the limit is
    # reached, all older ones are removed.
    for _, size, path in reversed(entries):
        if path.name not in keep:
            total += size
            if total > limit:
                shutil.rmtree(path, ignore_errors=True)


def make_room(folder: Path, path: Path, needed: float, purpose: str) -> None:
    """Remove the least recently used entries of a store until enough space is free on the disk.

    Entries used within an hour are kept, because other processes may
    have mapped them.

    Parameters
    ----------
    folder : Path
        Folder of the entries.
    path : Path
        Source file, for messages.
    needed : float
        Bytes of the new entry.
    purpose : str
        Description of the new entry, for the message: "3 documents with
        2 features".

    Raises
    ------
    DatasetError
        If there is not enough space.
    """
    # Entries that may be removed, the least recently used one first.
    removable = [
        (last_use, size, entry)
        for last_use, size, entry in _oldest_entries_first(folder)
        if time.time() - last_use > _PROTECTED_SECONDS
    ]
    removable_size = sum(size for _, size, _ in removable)
    # Remove entries until the new one fits on the disk and into their share.
    while True:
        free = shutil.disk_usage(folder).free
        is_free = free >= needed + _FREE_BYTES_LEFT
        is_within_share = removable_size + needed <= _MAX_DISK_SHARE * (
            removable_size + free
        )
        if not removable or (is_free and is_within_share):
            break
        _, size, entry = removable.pop(0)
        removable_size -= size
        shutil.rmtree(entry, ignore_errors=True)
    if free < needed + _FREE_BYTES_LEFT:
        raise DatasetError(
            tr(
                "{path}: not enough disk space: {what} exceed the memory limit and need "
                "{needed} in {folder}, which has {free} free. Free disk space, choose another "
                "folder (RANKSTUDIO_CACHE_DIR), raise the memory limit or leave out unused "
                "features."
            ).format(
                path=shown_path(path),
                what=purpose,
                needed=memory.size(needed),
                folder=folder,
                free=memory.size(free),
            )
        )


def widened(file: ArrayFile, to: ArrayFile, padding: float = 0.0) -> ArrayFile:
    """Copy the rows of a matrix on disk to a wider, empty file, and return the new file.

    New columns are filled with ``padding``. The original file is removed.
    """
    # The original file is removed in the end, and need not reach the disk.
    file.finish(durable=False)
    X = file.content()
    # About BLOCK bytes of 8-byte numbers at a time.
    width = to.width or 1
    rows = max(1, BLOCK // (8 * width))
    for begin in range(0, len(X), rows):
        block = np.full((min(rows, len(X) - begin), width), padding)
        block[:, : X.shape[1]] = X[begin : begin + rows]
        to.append(block)
        release(X)
    file.path.unlink()
    return to


# Reading gigabytes again only to learn that they are unchanged would
# make every start slow. Therefore the checksum of a large source file
# is remembered with the file's path and state: device, inode, size,
# time of modification (mtime), and time of any change (ctime), which a
# program that resets mtime changes, too. The checksum is not remembered
# if the file was changed just before it was read: within the resolution
# of its times it could be changed again unnoticed.

SourceState = tuple[int, ...]


def source_state(path: Path) -> SourceState:
    """Return the state of a file: device, inode, size and times of change.

    A file that changes gets another state. Return () if the file
    changed so recently that another change could have the same time.

    Raises
    ------
    OSError
        If the file does not exist.
    """
    status = path.stat()
    latest = max(status.st_mtime_ns, status.st_ctime_ns)
    if time.time_ns() - latest < _MIN_AGE_NANOSECONDS:
        return ()
    return (
        status.st_dev,
        status.st_ino,
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
    )


def recalled_checksum(path: Path) -> str:
    """Return the checksum of a source file that was remembered for its current state.

    Return "" if no checksum is stored for this state. The file itself
    is not read.
    """
    with suppress(OSError, ValueError, KeyError, TypeError):
        content = json.loads(_checksum_file(path).read_text(encoding="utf-8"))
        state = source_state(path)
        if (
            state
            and content["path"] == _ascii(path)
            and tuple(content["state"]) == state
        ):
            # Mark it as used now: those that are used last are kept.
            os.utime(_checksum_file(path))
            return str(content["checksum"])
    return ""


def remember_checksum(path: Path, state: SourceState, checksum: str) -> None:
    """Store the checksum of a source file, if the file did not change during reading.

    ``state`` is the file's state before the reading, () if the file was
    too recent to be sure. Only the most recently used checksums are
    kept; errors are ignored.
    """
    with suppress(OSError, OutputError):
        if not state or source_state(path) != state:
            return
        # A file in the cache, whose name is derived from the path.
        memory_file = _checksum_file(path)
        memory_file.parent.mkdir(parents=True, exist_ok=True)
        content = {"path": _ascii(path), "state": state, "checksum": checksum}
        write_bytes(memory_file, json.dumps(content).encode())
        remembered = sorted(
            memory_file.parent.glob("*.json"), key=lambda file: file.stat().st_mtime
        )
        for file in remembered[:-_MAX_REMEMBERED_FILES]:
            file.unlink(missing_ok=True)


def _checksum_file(path: Path) -> Path:
    """Return the file in the cache for the checksum of a source file."""
    name = hashlib.sha256(_ascii(path).encode()).hexdigest()
    return cache_folder() / "checksums" / f"{name}.json"


def _ascii(path: Path) -> str:
    """Return an absolute path as ASCII, also if it is not UTF-8."""
    return ascii(str(path.absolute()))


def _manifest(
    text: Mapping[str, Any], arrays: Mapping[str, ArrayDescription], key: str
) -> bytes:
    """Return the bytes of a manifest, after a line with their digest."""
    described = {name: asdict(arrays[name]) for name in sorted(arrays)}
    body = json.dumps(
        {"version": _VERSION, "key": key, "text": text, "arrays": described}
    ).encode()
    return hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def _oldest_entries_first(folder: Path) -> list[tuple[float, int, Path]]:
    """Return (time of last use, bytes, folder) of each entry of a store, the oldest use first.

    Entries that are being written are left out.
    """
    entries = []
    with suppress(OSError):
        for path in folder.iterdir():
            # Another process may remove an entry, and a file in the folder is no entry.
            with suppress(OSError):
                size = sum(file.lstat().st_size for file in path.iterdir())
                if not path.name.startswith(_NEW):
                    entries.append((path.stat().st_mtime, size, path))
    return sorted(entries)


def _read_in_threads(
    read: Callable[[Any], None], blocks: Collection[Any], stop_check: Check
) -> None:
    """Call ``read`` for each block, in several threads if there is more than one block.

    ``stop_check`` is called after each block; it may raise an error to stop.
    """
    with threads.pool(len(blocks) > 1) as (executor, _):
        for _ in (map if executor is None else executor.map)(read, blocks):
            stop_check()


def _bytes_of(array: NDArray[Any]) -> memoryview:
    """Return the bytes of an array, without copying if possible."""
    content: Bytes = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return content.data


def _mapped_file(array: NDArray[Any]) -> Path | None:
    """Return the file that an array maps into memory as a whole; None for other arrays."""
    # Views have the array that they are a view of as their base.
    base: Any = array
    while base is not None and not isinstance(base, np.memmap):
        base = getattr(base, "base", None)
    if base is None or base.filename is None:
        return None
    if (base.shape, base.dtype) != (array.shape, array.dtype):
        return None
    is_whole_file = array.flags.c_contiguous and array.ctypes.data == base.ctypes.data
    return Path(base.filename) if is_whole_file else None


def _write_file(path: Path, content: bytes, *, durable: bool) -> None:
    """Write a file; if ``durable``, wait until it has reached the disk."""
    with path.open("wb") as file:
        file.write(content)
        if durable:
            file.flush()
            os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    """Make the system write the names in a folder to the disk; only POSIX systems can."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
