"""Formats of plug-ins: their functions are called, the results are checked, and faults are reported."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from itertools import groupby, islice
from pathlib import Path
from typing import Any

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.data.comments import TextComments
from rankstudio.engine.data.data_format import (
    Beginning,
    ContentsNeed,
    DataBlock,
    DataFormat,
    FirstRows,
)
from rankstudio.engine.data.dataset import RankingDataset, default_names
from rankstudio.engine.data.file_access import (
    packed_pieces,
    regular_file_size,
    unpacked_pieces,
    without_ending,
)
from rankstudio.engine.data.formats.format_catalog import built_in_endings
from rankstudio.engine.data.read_progress import ReadProgress
from rankstudio.engine.data.source_file import SourceFile
from rankstudio.engine.data.sparse_values import Entries, sorted_rows
from rankstudio.engine.data.table import MOST_FEATURES
from rankstudio.engine.data.table_builder import (
    DocumentPiece,
    PartFiles,
    TableBuilder,
    TableFacts,
    check_memory,
    one_run,
)
from rankstudio.engine.data.tabular.documents import ColumnsReader
from rankstudio.engine.data.tabular.recognition import clean_name, column_names
from rankstudio.engine.data.tabular.table_columns import TableColumns
from rankstudio.engine.data.tabular.vectors import with_vectors
from rankstudio.engine.errors import (
    DataError,
    DatasetError,
    MissingValueError,
    OutputError,
    shown,
    shown_path,
)
from rankstudio.engine.language import tr
from rankstudio.engine.plugins.entries import imported, warn_once
from rankstudio.engine.plugins.guard import called, yielded
from rankstudio.engine.support.file_pages import release
from rankstudio.engine.support.files import write_pieces
from rankstudio.engine.support.sparse_rows import SparseRows, worth_it

HEAD = 4096
"""Bytes of a file that a recogniser of a plug-in gets."""

_TIMEOUT = 2.0  # seconds that a recogniser may take
# seconds that the first block may take if only the columns are shown
_PREVIEW_TIMEOUT = 60.0
_CONFIDENCE_BY_MARK = 0.99
_CONFIDENCE_BY_ENDING = 0.9
# the most that the certainty of a recogniser adds to it
_MAX_ADDITION = 0.09
# of a format without an ending of its own or a mark: below the marks of other formats
_MAX_CONFIDENCE = 0.79
_CONFIDENCE_BY_OTHER_ENDING = 0.3
_PIECE_BYTES = 1 << 20

_failed_formats: set[str] = set()
"""Formats whose recogniser hung or failed in this process; it is not called again."""


def confidence(form: DataFormat, beginning: Beginning) -> float:
    """Return how certain it is, from 0 to 1, that a file has a format of a plug-in.

    The ending of the file's name, the bytes with which files of the
    format begin (its mark) and the format's own recogniser decide, as
    far as the format has these. ``beginning`` has the path and the
    first bytes of the file.
    """
    name = without_ending(beginning.path.name).lower()
    endings = [ending for ending in form.endings if ending and name.endswith(ending)]
    is_marked = bool(form.magic) and beginning.head.startswith(form.magic)
    # A format with a mark has it in every file.
    if form.magic and not is_marked:
        return 0.0
    # A mark, or an ending that no built-in format has, is the format's
    # own: without a recogniser that could deny it, the file is nearly
    # certain to have the format.
    is_own = is_marked or any(ending not in built_in_endings() for ending in endings)
    if not form.recognise and is_own:
        return _CONFIDENCE_BY_MARK
    if not form.recognise:
        return _CONFIDENCE_BY_OTHER_ENDING if endings else 0.0
    # The recogniser can also find that the file has another format.
    certainty = _recogniser_confidence(form, beginning)
    if not certainty:
        return 0.0
    # The recogniser's certainty counts little beside a mark or ending,
    # but orders formats with the same one.
    if is_own:
        return _CONFIDENCE_BY_ENDING + _MAX_ADDITION * certainty
    return _MAX_CONFIDENCE * certainty


def is_named(form: DataFormat, beginning: Beginning) -> bool:
    """Return whether a file's name or first bytes say that it has a format of a plug-in.

    ``beginning`` has the path and the first bytes of the file.
    """
    name = without_ending(beginning.path.name).lower()
    is_marked = bool(form.magic) and beginning.head.startswith(form.magic)
    return is_marked or any(ending and name.endswith(ending) for ending in form.endings)


def _recogniser_confidence(form: DataFormat, beginning: Beginning) -> float:
    """Return how certain a format's recogniser is of a file, from 0 to 1.

    A recogniser is a function of a plug-in that gets the first bytes
    and the name of the file. It runs guarded, with a limit of time: if
    it fails, warn and return 0, and do not call it again in this
    process. ``beginning`` has the path and the first bytes of the file.
    """
    # ``recorded`` identifies the format, as results record it.
    if form.recorded in _failed_formats:
        return 0.0
    try:
        function = partial(
            _import_and_call, form.recognise, beginning.head[:HEAD], beginning.path.name
        )
        certainty = called(function, seconds=_TIMEOUT)
        # The recogniser has to return a number from 0 to 1.
        if type(certainty) is bool or not isinstance(
            certainty, int | float | np.number
        ):
            raise TypeError(
                tr("expected a number from 0 to 1, got {value}").format(
                    value=shown(certainty)
                )
            )
        if not 0 <= certainty <= 1:
            raise ValueError(
                tr("expected a number from 0 to 1, got {value}").format(
                    value=shown(certainty)
                )
            )
    except (RuntimeError, TimeoutError, TypeError, ValueError) as error:
        # A recogniser that failed is not called again.
        _failed_formats.add(form.recorded)
        text = tr(
            "{file}: the format {format} of {package} could not be asked: {reason}."
        )
        fields = {
            "file": beginning.path.name,
            "format": form.label,
            "package": form.package,
        }
        warn_once(text, **fields, reason=str(error))
        return 0.0
    return float(certainty)


def _import_and_call(reference: str, *values: Any) -> Any:
    """Import the function "module:name", and return its result."""
    return imported(reference)(*values)


def need(form: DataFormat, path: Path) -> ContentsNeed:
    """Return about how much memory the contents of a file in a format of a plug-in take."""
    size = float(regular_file_size(path))
    return ContentsNeed(max(form.growth, 0.0) * size, size)


def code_digest(form: DataFormat) -> str:
    """Return the checksum of the file of a format's reader; "" if it is unknown.

    Parsed data are stored with it, so that a changed reader reads the
    data again.
    """
    with suppress(ImportError, ValueError, OSError, AttributeError):
        spec = find_spec(form.reader.partition(":")[0])
        if spec is not None and spec.origin:
            return hashlib.sha256(Path(spec.origin).read_bytes()).hexdigest()
    return ""


def read_blocks(
    part: PartFiles,
    files: Iterable[SourceFile],
    builder: TableBuilder,
    progress: ReadProgress,
) -> TableFacts:
    """Read the files of a part of a dataset with the reader of a plug-in, into a builder.

    Return facts about the whole part, such as its number of features.
    Raise DatasetError if the reader fails, or yields anything other
    than valid blocks of documents.
    """
    # Blocks of a table are named columns; other blocks have features,
    # labels and queries.
    if part.form.is_table:
        return _read_tables(part, files, builder, progress)
    shape = _Shape(part)  # checks each block, and that all have the same width
    for file in files:
        for block in _yielded_blocks(part.form, file, progress):
            piece = shape.piece(file.path, block, builder)
            # A builder that holds parts keeps all documents in memory.
            # Entries, which lack the zeros, need no check here.
            if not isinstance(piece.X, Entries) and builder.holds_parts:
                check_memory(
                    shown_path(file.path),
                    builder.n_documents + len(piece.y),
                    piece.X.shape[1],
                )
            builder.add(piece)
    if not builder.n_documents:
        raise _reader_error(part.form, part.paths[0], tr("it yields no documents"))
    return TableFacts(
        shape.width,
        dense=not shape.stores_no_zeros,
        unit="row",
        feature_names=shape.names,
    )


def _yielded_blocks(
    form: DataFormat, file: SourceFile, progress: ReadProgress
) -> Iterator[Any]:
    """Yield the blocks of a file from the reader of a plug-in, still unchecked.

    Raise DatasetError if the reader fails.
    """
    # The reader opens the file by its path. end() goes over its bytes
    # here, for the progress and the checksum, unless that was done
    # before.
    if not file.done:
        file.end()
    with _decompressed_file(file.path) as path:
        # yielded() calls the reader on a thread, and raises its errors
        # as RuntimeError.
        blocks = yielded(lambda: imported(form.reader)(path), check=progress.check)
        while True:
            try:
                block = next(blocks)
            except StopIteration:
                return
            except RuntimeError as error:
                raise _reader_error(form, file.path, str(error)) from error
            yield block


@contextmanager
def _decompressed_file(path: Path) -> Iterator[Path]:
    """Provide the path of an uncompressed copy of a file for a with statement.

    Readers of plug-ins do not decompress. A compressed file is
    decompressed into a temporary folder, which is removed in the end;
    for any other file, the path itself is provided.
    """
    name = without_ending(path.name)
    if name == path.name:
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="rankstudio-") as folder:
        plain = Path(folder, name)
        with path.open("rb") as packed, plain.open("wb") as file:
            # The inner iterator reads pieces until one is empty, at the end.
            for piece in unpacked_pieces(
                path, iter(lambda: packed.read(_PIECE_BYTES), b"")
            ):
                file.write(piece)
        yield plain


def _reader_error(form: DataFormat, path: Path, problem: str) -> DatasetError:
    """Return the error for a file that the reader of a plug-in cannot read.

    ``problem`` is the reason in words, as a sentence or part of one.
    """
    text = tr("{path}: {format} of {package} cannot read the file: {problem}.")
    return DatasetError(
        text.format(
            path=shown_path(path),
            format=form.label,
            package=form.package,
            problem=problem.rstrip("."),
        )
    )


@dataclass
class _Shape:
    """Checks the blocks that a plug-in's reader yields for a part, and converts each to a piece.

    It stores the properties that all blocks must share, such as the
    number of features.

    Parameters
    ----------
    part : PartFiles
        Files of the part, and their format.
    """

    part: PartFiles
    width: int = -1
    names: tuple[str, ...] = ()
    stores_no_zeros: bool = False
    rows: dict[Path, int] = field(default_factory=dict)

    def piece(self, path: Path, raw_block: Any, builder: TableBuilder) -> DocumentPiece:
        """Return the documents of a block that a plug-in's reader yielded, as a piece for the builder.

        Raises
        ------
        DatasetError
            If the block is invalid; the message gives the reason.
        """
        try:
            return self._checked(path, raw_block, builder)
        except _BlockError as problem:
            raise _reader_error(self.part.form, path, str(problem)) from None

    def _checked(
        self, path: Path, raw_block: Any, builder: TableBuilder
    ) -> DocumentPiece:
        """Return the documents of a block that a plug-in's reader yielded, checked.

        Store the part's number of features and the number of rows read
        so far. Raise _BlockError if the block is invalid, and
        MissingValueError for a missing value that is refused.
        """
        # Check the features, the labels and their shapes. X becomes
        # `Entries`, a sparse form, only if the builder takes it.
        block = _as_data_block(raw_block)
        # Named features need a column each, even if all their values are 0.
        takes_entries = builder.takes_entries and not len(block.feature_names)
        X = _as_matrix(block.X, takes_entries=takes_entries)
        self.stores_no_zeros |= isinstance(X, Entries)  # some block lacks the zeros
        m, width = X.shape
        y = _labels(block.y, m)
        self._check_width(width, block)
        # Count the rows of the file, for the places in messages.
        row = self.rows.get(path, 0)
        self.rows[path] = row + m
        values = X.values if isinstance(X, Entries) else X
        if np.isinf(values).any():
            raise _BlockError(tr("X has a value that is infinite"))
        if self.part.refuse and np.isnan(values).any():
            expected = tr(
                "a value for every feature, because missing values are refused"
            )
            raise MissingValueError(path, row + 1, 0, "nan", expected)
        # Successive documents with the same query id form a run: (id,
        # number of documents).
        if self.part.user_columns.no_queries:
            runs: Iterable[tuple[str, int]] = one_run(m)
        else:
            ids = _query_ids(block.qid, m)
            runs = [(query, sum(1 for _ in members)) for query, members in groupby(ids)]
        # Missing values of entries are counted when all features are known.
        missing = (
            np.zeros(0, np.int64) if isinstance(X, Entries) else np.isnan(X).sum(axis=0)
        )
        # The first row of each run within the block.
        starts = np.cumsum([0, *(n for _, n in runs)])
        comments = _documents_as_comments(block.documents, m)
        return DocumentPiece(
            X=X,
            y=y,
            comments=comments,
            missing=missing,
            runs=runs,
            # Messages count the rows of the file from 1.
            line_of_run=lambda run: row + 1 + int(starts[run]),
        )

    def _check_width(self, width: int, block: DataBlock) -> None:
        """Raise _BlockError if a block's number of features is invalid or changes.

        ``width`` is the number. The feature names of the first block
        are used for all blocks: check and store them.
        """
        if not 0 < width <= MOST_FEATURES:
            text = tr("X has {n} columns, expected 1 to {most}")
            raise _BlockError(text.format(n=width, most=MOST_FEATURES))
        # -1: no block came before.
        if self.width not in (-1, width):
            text = tr("X has {n} columns, but the blocks before have {before}")
            raise _BlockError(text.format(n=width, before=self.width))
        if self.width == -1:
            names = tuple(
                map(clean_name, _as_texts(block.feature_names, "feature_names", width))
            )
            if len(set(names)) < len(names):
                raise _BlockError(tr("feature_names has a name twice"))
            self.names = names
        self.width = width


class _BlockError(Exception):
    """A problem of a block; the message is the end of a sentence."""


def _as_data_block(raw_block: Any) -> DataBlock:
    """Convert a value that a reader yielded to a block of documents.

    The value may be a block, or (features, labels, query ids). Raise
    _BlockError for any other value.
    """
    if isinstance(raw_block, DataBlock):
        return raw_block
    if isinstance(raw_block, tuple | list) and len(raw_block) == 3:
        return DataBlock(*raw_block)
    text = tr("expected blocks (X, y, qid), got {value}")
    raise _BlockError(text.format(value=shown(type(raw_block).__name__)))


def _as_matrix(X: Any, *, takes_entries: bool) -> Any:
    """Return features as a float64 array of shape (m, n), or as `Entries`.

    Entries store only values other than 0, with ascending ids of
    features. `Entries` are used for a sparse matrix of SciPy if
    ``takes_entries`` is true and they save memory. Raise _BlockError
    for anything but a matrix of numbers.
    """
    # Recognise a sparse matrix by its attributes, as SciPy need not be installed.
    if hasattr(X, "tocsr") and hasattr(X, "nnz"):
        rows = X.tocsr()
        rows.sum_duplicates()
        values = _as_doubles(rows.data, "X")
        n_rows, width = map(int, rows.shape)
        if takes_entries and worth_it(n_rows, width, float(rows.nnz)):
            ids = (rows.indices + 1).astype(np.int32)  # from 1
            lengths = np.diff(rows.indptr).astype(np.int64)
            entries = Entries(ids, values, lengths, width)
            # No id occurs twice, after sum_duplicates().
            sorted_entries, _ = sorted_rows(entries)
            return sorted_entries
        X = rows.toarray()
    values = _as_doubles(X, "X")
    if values.ndim != 2:
        text = tr("expected X of two dimensions, got the shape {shape}")
        raise _BlockError(text.format(shape=values.shape))
    return np.ascontiguousarray(values)


def _as_doubles(values: Any, name: str) -> Floats:
    """Return numbers as a new float64 array of the same shape.

    ``name`` is the name of the values, for the message. Raise
    _BlockError for texts and other values.
    """
    try:
        array = np.asarray(values)
        # Booleans, integers, floats and objects; texts would be
        # converted, too, so that they are refused here.
        if array.dtype.kind not in "biufO":
            raise TypeError(array.dtype)
        if array.dtype.kind == "O" and any(
            isinstance(v, str | bytes) for v in array.ravel().tolist()
        ):
            raise TypeError(array.dtype)
        # a copy: the reader may use its array again
        return np.array(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        text = tr("expected numbers as {name}, got {value}")
        kind = getattr(getattr(values, "dtype", None), "name", type(values).__name__)
        raise _BlockError(text.format(name=name, value=kind)) from None


def _labels(y: Any, m: int) -> Floats:
    """Return labels as a float64 array of shape (m,).

    Raise _BlockError for another shape, or a label that is no finite number.
    """
    labels = _as_doubles(y, "y")
    if labels.shape != (m,):
        text = tr("expected y of the shape {expected}, as X has {m} rows, got {shape}")
        raise _BlockError(text.format(expected=(m,), m=m, shape=labels.shape))
    if not np.isfinite(labels).all():
        raise _BlockError(tr("y has a label that is no finite number"))
    return labels


def _query_ids(qid: Any, m: int) -> list[str]:
    """Return the ids of the queries of m documents as texts.

    A whole number may be stored as a float: 7.0 becomes "7". Raise
    _BlockError for other ids, or another number of ids than m.
    """
    # Objects keep each id as it is: an array of 7 and "7" would become one of texts.
    values = np.asarray(qid, dtype=None if hasattr(qid, "dtype") else object)
    if values.shape != (m,):
        text = tr(
            "expected qid of the shape {expected}, as X has {m} rows, got {shape}"
        )
        raise _BlockError(text.format(expected=(m,), m=m, shape=values.shape))
    return [_query_id(value) for value in values.tolist()]


def _query_id(value: Any) -> str:
    """Return the id of a query as text; _BlockError if it is no id."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = clean_name(value) if isinstance(value, str) else str(value)
    if isinstance(value, bool) or not isinstance(value, int | str) or not text:
        expected = tr("expected whole numbers or texts as qid, got {value}")
        raise _BlockError(expected.format(value=shown(value)))
    return text


def _as_texts(values: Any, name: str, n: int) -> list[str]:
    """Return n names or ids as texts; [] if ``values`` is empty.

    ``name`` says what the values are, for the message. Raise
    _BlockError for another number of values, of which at most n + 1 are
    read.
    """
    texts = [
        value.decode("utf-8", "replace") if isinstance(value, bytes) else value
        for value in islice(iter(values), n + 1)
    ]
    if texts and len(texts) != n:
        text = tr("expected {n} texts as {name}, got {number}")
        raise _BlockError(text.format(n=n, name=name, number=len(texts)))
    return list(map(str, texts))


def _documents_as_comments(values: Any, m: int) -> TextComments:
    """Return the ids of m documents as their comments, "docid = …"; "" without ids.

    ``values`` are the ids; empty without ids. LETOR's files also have
    the ids in comments, where the program finds them.
    """
    ids = _as_texts(values, "documents", m)
    return (
        TextComments.of(f"docid = {clean_name(i)}" for i in ids)
        if ids
        else TextComments.of([""] * m)
    )


def _read_tables(
    part: PartFiles,
    files: Iterable[SourceFile],
    builder: TableBuilder,
    progress: ReadProgress,
) -> TableFacts:
    """Read the files of a part whose reader (of a plug-in) yields named columns, into a builder.

    Return facts about the whole part. The columns of query, label and
    features are recognised by their names, as in other tables.
    """
    reader = ColumnsReader(part, builder, progress)
    for file in files:
        row = 0
        for block in _yielded_blocks(part.form, file, progress):
            try:
                table = _as_columns(file.path, block, row)
            except _BlockError as problem:
                raise _reader_error(part.form, file.path, str(problem)) from None
            row += table.n_rows
            if table.n_rows:
                # Columns of vectors become a column for each element.
                reader.add(file.path, with_vectors(table))
    return reader.facts("row")


def _as_columns(path: Path, block: Any, first_row: int) -> TableColumns:
    """Return the columns of a reader's block, which maps names to equally many values.

    ``first_row`` is the number of rows of the file before the block,
    for messages. Raise _BlockError for any other block.
    """
    if not isinstance(block, Mapping):
        text = tr("expected a mapping of columns, got {value}")
        raise _BlockError(text.format(value=shown(type(block).__name__)))
    # The block maps names to columns of the same length.
    arrays = [np.asarray(values) for values in block.values()]
    if not arrays or any(
        array.ndim != 1 or len(array) != len(arrays[0]) for array in arrays
    ):
        # The first columns are enough for the message.
        shapes = ", ".join(str(array.shape) for array in arrays[:5])
        text = tr(
            "expected columns of one dimension and of the same length, got the shapes {shapes}"
        )
        raise _BlockError(text.format(shapes=shapes or "()"))

    # Messages count the rows of the file from 1. A missing value has an
    # error of its own; its column is not known (0).
    def error(row: int, actual: str, expected: str, missing: bool = False) -> DataError:
        """Return the error for an invalid value in a row of a plug-in's block.

        ``actual`` and ``expected`` are texts for the message, and
        ``missing`` is whether the value is missing.
        """
        if missing:
            return MissingValueError(path, first_row + row + 1, 0, actual, expected)
        text = tr("{path}, row {row}: found {found}, expected {expected}.")
        location = {"path": shown_path(path), "row": first_row + row + 1}
        return DatasetError(text.format(**location, found=actual, expected=expected))

    return TableColumns(
        where=shown_path(path),
        names=column_names([*block]),
        n_rows=len(arrays[0]),
        column=arrays.__getitem__,
        error=error,
        line=lambda row: first_row + row + 1,
    )


def preview(form: DataFormat, path: Path, _beginning: bytes, n_rows: int) -> FirstRows:
    """Return the first rows of a table, from the first block that a plug-in's reader yields.

    ``path`` is the file, and ``n_rows`` the greatest number of rows.
    The first bytes of the file, which other formats need, are not used.

    Raises
    ------
    DataError
        If the reader fails.
    """
    with _decompressed_file(path) as plain:
        blocks = yielded(lambda: imported(form.reader)(plain), _PREVIEW_TIMEOUT)
        try:
            block: Any = next(blocks, {})  # {} without blocks: refused below
            table = _as_columns(path, block, 0)
        except (RuntimeError, TimeoutError) as error:
            raise _reader_error(form, path, str(error)) from error
        except _BlockError as problem:
            raise _reader_error(form, path, str(problem)) from None
        finally:
            blocks.close()  # type: ignore[attr-defined]
    columns = [table.column(i)[:n_rows].tolist() for i in range(len(table.names))]
    return FirstRows(table.names, [list(row) for row in zip(*columns, strict=True)])


def write_file(
    form: DataFormat, dataset: RankingDataset, path: Path, comments: bool
) -> None:
    """Write a dataset with the writer of a plug-in, completely or not at all.

    ``form`` is a format of the plug-in. If ``comments`` is true, the
    ids of documents, which LETOR's comments have, are written, too.

    Raises
    ------
    OutputError
        If the writer fails, or writes no file.
    """
    # Only names other than the default ones, "feature 1" …, are passed to the writer.
    is_named = dataset.feature_names != default_names(dataset.feature_ids)
    block = DataBlock(
        X=dataset.X.csr if isinstance(dataset.X, SparseRows) else np.array(dataset.X),
        y=np.array(dataset.y),
        qid=np.array(dataset.qid),
        feature_names=dataset.feature_names if is_named else (),
        documents=dataset.document_ids
        if comments and all(dataset.document_ids)
        else (),
    )
    # The writer writes one file in a new folder; its bytes are then packed.
    try:
        with tempfile.TemporaryDirectory(
            prefix=".rankstudio-", dir=path.parent
        ) as folder:
            new_file = Path(folder, without_ending(path.name))
            # The writer runs guarded: its errors become RuntimeError.
            called(lambda: imported(form.writer)(new_file, block))
            if [child.name for child in Path(folder).iterdir()] != [new_file.name]:
                raise RuntimeError(tr("it did not write this one file"))
            # The inner iterator reads pieces until one is empty, at the end.
            with new_file.open("rb") as file:
                write_pieces(
                    path,
                    packed_pieces(path, iter(lambda: file.read(_PIECE_BYTES), b"")),
                )
    except (RuntimeError, OSError) as error:
        text = tr("{path}: {format} of {package} cannot write the file: {problem}.")
        problem = str(error).rstrip(".")
        raise OutputError(
            text.format(
                path=path, format=form.label, package=form.package, problem=problem
            )
        ) from error
    release(dataset.X)
