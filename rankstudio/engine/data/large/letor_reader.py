"""LETOR text larger than the memory budget: parsed some whole lines at a time into mapped files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from rankstudio.engine.arrays import Bytes, Ints
from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.data.dataset import Source
from rankstudio.engine.data.large import checksums, table_folder
from rankstudio.engine.data.large.table_folder import TableText
from rankstudio.engine.data.large.table_writer import TableWriter, Treatment, unreadable
from rankstudio.engine.data.large.text_chunks import PackedFile, text_chunks
from rankstudio.engine.data.letor.file_access import PADDING, regular_file_size
from rankstudio.engine.data.letor.parsed_table import Table
from rankstudio.engine.data.letor.progress import ReadProgress
from rankstudio.engine.data.letor.query_groups import group_by_size
from rankstudio.engine.data.letor.reader import derived
from rankstudio.engine.errors import FormatError, shown_path
from rankstudio.engine.support import threads


@dataclass(frozen=True, eq=False)
class LargePart:
    """Files that are one part of a fold, and how they are read.

    Attributes
    ----------
    paths : tuple of Path
        In their order; a query may go on from one to the next.
    treatment : Treatment
    variant : str
        What else says how they are read; "" for LETOR text with ids from 1.
    identity : str
        What else than the bytes says what the data are; it goes into the checksum of the source.
    first_id : int
        With what the ids of features begin in text.
    sizes : int64 array of shape (Q,), optional
        How many documents each query has, where the lines do not say their query.
    n_features : int
        Least number of columns.
    told : DataColumns
        What is known of the columns of tables.
    """

    paths: tuple[Path, ...]
    treatment: Treatment
    variant: str = ""
    identity: str = ""
    first_id: int = 1
    sizes: Ints | None = None
    n_features: int = 0
    told: DataColumns = field(default_factory=DataColumns)

    def key(self, found: Sequence[str]) -> str:
        """Return by what the table of files with these checksums is found."""
        said = [
            table_folder.VERSION,
            list(found),
            self.treatment.missing,
            self.treatment.normalize,
            self.n_features,
        ]
        return hashlib.sha256(json.dumps([*said, self.variant]).encode()).hexdigest()

    def source(self, found: Sequence[str]) -> Source:
        """Return where the part comes from, of files with these checksums."""
        size = sum(regular_file_size(path) for path in self.paths)
        whole = found[0] if len(found) == 1 else derived("", json.dumps(found))
        return Source(self.paths[0], size, derived(whole, self.identity))


Reader = Callable[[LargePart, ReadProgress, "ChecksummedFiles"], Table]


@dataclass(eq=False)
class ChecksummedFiles:
    """The checksums of files as they become known."""

    pool: Executor
    found: list[str] = field(default_factory=list)

    def open(self, path: Path, progress: ReadProgress) -> PackedFile:
        """Return a file, to be read from its beginning to its end."""
        return PackedFile(path, progress, self.pool)

    def add(self, packed: PackedFile, state: checksums.State) -> None:
        """Take in the checksum of a file that was read to its end."""
        self.found.append(packed.checksum())
        checksums.remember(packed.path, state, self.found[-1])


def read_large(part: LargePart, progress: ReadProgress, reader: Reader) -> tuple[Table, Source]:
    """Read a part into mapped files, or find what was once read of the same bytes in the same way.

    Parameters
    ----------
    part : LargePart
    progress : ReadProgress
        Told of all bytes of the files.
    reader : callable
        Reads the files where they are not known.

    Returns
    -------
    table : Table
        Its arrays mapped and read-only, its values filled in and scaled as the treatment says.
    source : Source

    Raises
    ------
    DataError
        As the reader raises it, and where what is read cannot be written.
    """
    with ThreadPoolExecutor(1, thread_name_prefix="checksum") as pool:
        found = [checksums.recall(path) for path in part.paths]
        sizes = tuple(regular_file_size(path) for path in part.paths)
        if not all(found) and sizes in table_folder.source_sizes():
            found = _checksums(part.paths, progress, pool)
        if all(found):
            table = table_folder.find(part.key(found), progress.check)
            if table is not None:
                progress.advance(sum(sizes))
                return table, part.source(found)
        files = ChecksummedFiles(pool)
        try:
            table = reader(part, progress, files)
        except OSError as error:
            raise unreadable(part.paths[0], error) from error
        return table, part.source(files.found)


def read_letor(part: LargePart, progress: ReadProgress, files: ChecksummedFiles) -> Table:
    """Read LETOR text; see `read_large`."""
    with (
        ThreadPoolExecutor(threads.available(), thread_name_prefix="letor") as pool,
        TableWriter(part.paths[0], part.treatment, "line") as writer,
    ):
        # numba is imported only now: who opens what was read before does not wait for it.
        from rankstudio.engine.data.letor.parser import refuse_nothing  # noqa: PLC0415

        reading = _Lines(part, writer, pool, progress)
        for number, path in enumerate(part.paths):
            state = checksums.state_of(path)
            packed = files.open(path, progress)
            reading.read(path, packed, (number, len(part.paths)))
            files.add(packed, state)
        refuse_nothing(part.paths[0], reading.empty, writer.n_documents, reading.width)
        queries = None
        if part.sizes is not None:
            queries = group_by_size(shown_path(part.paths[0]), part.sizes, writer.n_documents)
        dense = reading.n_values == writer.n_documents * reading.width
        sources = tuple(
            (regular_file_size(path), found) for path, found in zip(part.paths, files.found, strict=True)
        )
        names = () if part.first_id else tuple(f"id {i}" for i in range(reading.width))
        return writer.finish(
            max(reading.width, part.n_features),
            lambda: part.key(files.found),
            lambda ids, scattered: TableText(ids, dense, scattered, sources, names),
            queries,
        )


def _checksums(paths: Sequence[Path], progress: ReadProgress, pool: Executor) -> list[str]:
    """Read files for their checksums alone."""
    files = ChecksummedFiles(pool)
    for path in paths:
        state = checksums.state_of(path)
        packed = files.open(path, progress.silent())
        for _ in packed.pieces():
            pass
        files.add(packed, state)
    return files.found


class _Lines:
    """Parses the lines of files one after the other, and has their documents written."""

    def __init__(self, part: LargePart, writer: TableWriter, pool: Executor, progress: ReadProgress) -> None:
        self._part = part
        self._writer = writer
        self._pool = pool
        self._progress = progress.silent()
        self.width = 0
        self.n_values = 0
        self.empty = True

    def read(self, path: Path, packed: PackedFile, position: tuple[int, int]) -> None:
        """Read a file, which is one of so many; raise what is wrong with it as `parser.parse_text` would.

        That is a zero byte anywhere, else the first place that is wrong, else a document in a comment.
        """
        wrong: FormatError | None = None
        hidden: FormatError | None = None
        before = 0
        for number, text in enumerate(text_chunks(packed)):
            self.empty = False
            if wrong is None:
                share = (position[0] + packed.done / max(packed.size, 1)) / position[1]
                try:
                    found = self._add(path, text, before, share, begins=number == 0)
                    hidden = hidden or found
                except FormatError as error:
                    wrong = _later(error, before)
                    if text[: len(text) - PADDING].min() == 0:
                        raise wrong from None
            else:
                self._progress.check()
                _refuse_zero_byte(path, text, before)
            before += _count(text)
        if wrong or hidden:
            raise wrong or hidden  # type: ignore[misc]

    def _add(self, path: Path, text: Bytes, before: int, share: float, begins: bool) -> FormatError | None:
        """Have the documents of a chunk of text written; return what is wrong with its comments."""
        from rankstudio.engine.data.letor import _line_kernel as kernels  # noqa: PLC0415 - see read_letor
        from rankstudio.engine.data.letor.format_errors import line_of  # noqa: PLC0415
        from rankstudio.engine.data.letor.parser import parse_lines, refuse_hidden  # noqa: PLC0415
        from rankstudio.engine.data.letor.query_grouping import copy_comments  # noqa: PLC0415

        lines = parse_lines(
            path,
            text,
            self._pool,
            self._progress,
            refuse=self._part.treatment.missing == "refuse",
            first_id=self._part.first_id,
            with_query=self._part.sizes is None,
            begins=begins,
            width=self.width,
        )
        comments = copy_comments(text, lines.spans)
        hidden = None
        try:
            refuse_hidden(path, text, lines.spans, comments)
        except FormatError as error:
            hidden = _later(error, before)
        self.width = max(self.width, lines.X.shape[1])
        self.n_values += lines.n_values
        starts = np.flatnonzero(lines.new_query)
        places = lines.spans[starts][:, [kernels.QID_BEGIN, kernels.QID_END]]
        lengths = np.diff(starts, append=len(lines.y))
        self._writer.add(
            lines.X,
            lines.y,
            comments,
            lines.missing,
            zip(_ids(text, places), lengths.tolist(), strict=True),
            lambda run: before + line_of(text, int(places[run, 0])),
            share,
        )
        return hidden


def _ids(text: Bytes, places: Ints) -> Iterator[str]:
    for begin, end in places.tolist():
        yield text[begin:end].tobytes().decode("utf-8", errors="backslashreplace")


def _later(error: FormatError, lines: int) -> FormatError:
    """Return an error of a text with so many lines before it."""
    line = error.line + lines if error.line else 0
    return type(error)(error.path, line, error.column, error.found, error.expected)


def _refuse_zero_byte(path: Path, text: Bytes, before: int) -> None:
    from rankstudio.engine.data.letor.text_pieces import zero_byte_error  # noqa: PLC0415 - see read_letor

    size = len(text) - PADDING
    if text[:size].min() == 0:
        raise _later(zero_byte_error(path, text, 0, size), before)


def _count(text: Bytes) -> int:
    from rankstudio.engine.data.letor.text_pieces import count_lines  # noqa: PLC0415 - see read_letor

    return count_lines(text[: len(text) - PADDING])[0]
