"""Reading of documents from the columns of a table, which may be a frame of pandas or polars."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.data.comments import TextComments
from rankstudio.engine.data.data_format import DataFormat
from rankstudio.engine.data.read_progress import ReadProgress
from rankstudio.engine.data.table import MOST_FEATURES, Table
from rankstudio.engine.data.table_builder import (
    DocumentPiece,
    PartFiles,
    TableBuilder,
    TableFacts,
    TableInMemory,
    check_memory,
    one_run,
)
from rankstudio.engine.data.tabular.recognition import (
    PART_EXPECTED,
    PART_WORDS,
    RecognisedColumns,
    clean_name,
    column_names,
    listed,
    part_code,
    recognise_columns,
    says_parts,
    short,
)
from rankstudio.engine.data.tabular.table_columns import TableColumns
from rankstudio.engine.data.tabular.vectors import with_vectors
from rankstudio.engine.errors import (
    ColumnValueError,
    DataError,
    DatasetError,
    ParameterError,
    shown_path,
)
from rankstudio.engine.language import tr, translatable, trn
from rankstudio.engine.support.name_lists import joined_names

MISSING = (
    "",
    "NULL",
    "null",
    "Null",
    "NaN",
    "nan",
    "NAN",
    "NA",
    "N/A",
    "n/a",
    "None",
    "<NA>",
    "#N/A",
)
"""Texts that mean a missing value."""


def read_documents(
    table: TableColumns,
    specified: DataColumns,
    *,
    with_sizes: bool = False,
    refuse: bool = False,
    check: Callable[[], None] = lambda: None,
) -> tuple[DocumentPiece, RecognisedColumns]:
    """Convert all or some rows of a table to documents.

    Parameters
    ----------
    table : TableColumns
        Columns of some or all rows.
    specified : DataColumns
        Columns that the user specified.
    with_sizes : bool
        Whether queries come from a file of sizes if no column contains them.
    refuse : bool
        Whether a missing value is an error.
    check : callable, optional
        Called between columns; it may raise an error.

    Returns
    -------
    piece : DocumentPiece
        Documents in the order of the table, NaN for missing values.
    roles : RecognisedColumns
        Columns of query, label, features and so on, by position.

    Raises
    ------
    DatasetError, FormatError
        If columns are ambiguous, or a value is invalid for its column.

    Notes
    -----
    O(mn) for m rows and n features.
    """
    # Find the columns of labels, queries, parts and features.
    table = replace(table, missing_texts=specified.missing_texts)
    roles = recognise_columns(
        table.where,
        table.names,
        specified,
        with_sizes=with_sizes,
        has_header=table.has_header,
        says_parts=lambda position: says_parts(table.column(position)),
    )
    if len(roles.features) > MOST_FEATURES:
        raise DatasetError(
            tr("{where}: found {n} features, expected at most {most}.").format(
                where=table.where, n=len(roles.features), most=MOST_FEATURES
            )
        )
    check_memory(table.where, table.n_rows, len(roles.features))
    # Read the values; without a column of labels, labels are 0.
    has_labels = not specified.no_labels and roles.label is not None
    y = _labels(table, roles) if has_labels else np.zeros(table.n_rows)
    # Without a column of queries, a file of query sizes determines the runs later.
    starts, runs = (
        (np.zeros(0, np.int64), ())
        if roles.qid is None
        else _query_runs(table, roles.qid)
    )
    # A run is successive documents of a query. All documents are one
    # ranking: one run, whatever queries there are.
    if specified.no_queries:
        runs = one_run(table.n_rows)
    parts = _part_codes(table, roles.part)
    X, numeric_features = _features(table, roles, check)
    missing = np.isnan(X).sum(axis=0).astype(np.int64)
    # Report the first missing value if missing values are refused.
    if refuse and missing.any():
        row, column = (int(indices[0]) for indices in np.nonzero(np.isnan(X)))
        expected = tr("a value for every feature, because missing values are refused")
        # Columns of X are those of numeric features among the feature
        # columns. True says that the value is missing.
        position = roles.features[numeric_features[column]]
        raise table.error(
            row, _cell_text(table, position, tr("nothing")), expected, True
        )
    comments = _comments(table, roles)
    piece = DocumentPiece(
        X=X,
        y=y,
        comments=comments,
        missing=missing,
        runs=runs,
        line_of_run=lambda run: table.line(int(starts[run])),
        parts=parts,
        columns=numeric_features,
    )
    return piece, roles


def _labels(table: TableColumns, roles: RecognisedColumns) -> Floats:
    """Return the labels of documents, of shape (m,), or (m, J) with J judges.

    A judge's label may be missing, NaN; a missing label without judges
    is an error. ``roles`` has the columns of labels.
    """
    expected = tr("a finite number as the relevance label")
    if roles.judges:  # a judge may have left documents out
        return np.column_stack(
            [_numbers(table, position, expected) for position in roles.judges]
        )
    assert roles.label is not None
    y = _numbers(table, roles.label, expected)
    if np.isnan(y).any():
        row = int(np.isnan(y).argmax())
        expected = tr("a number as the relevance label")
        raise table.error(row, _cell_text(table, roles.label, tr("nothing")), expected)
    return y


class ColumnsReader:
    """Passes the rows of tables with the same columns to a builder, in pieces.

    Parameters
    ----------
    part : PartFiles
        Files of the part, and columns that the user specified.
    builder : TableBuilder
        Collects the documents.
    progress : ReadProgress
        Reports how much is read, and checks for a stop.
    """

    def __init__(
        self, part: PartFiles, builder: TableBuilder, progress: ReadProgress
    ) -> None:
        self._part = part
        self._builder = builder
        self._progress = progress
        self._first_header: _Header | None = None

    def add(self, path: Path, table: TableColumns, share: float = 1.0) -> None:
        """Add some rows of a file to the table that is built.

        ``share`` is about the share of all documents that have been
        read, these rows included.

        Raises
        ------
        DataError
            If columns are ambiguous, a value is invalid for its column,
            or the columns differ from those of earlier rows.
        """
        part = self._part
        piece, roles = read_documents(
            table,
            part.user_columns,
            with_sizes=part.sizes is not None,
            refuse=part.refuse,
            check=self._progress.check,
        )
        # All rows and files of a part need the same features. ``used``
        # are the names of the columns with a role or feature.
        header = _Header(table.where, table.names, table.has_header, roles)
        self._first_header = self._first_header or header
        if header.used() != self._first_header.used():
            raise DatasetError(
                tr(
                    "{path}: the features change from row {row} on; expected the same numeric "
                    "columns in all rows and files of a part."
                ).format(
                    path=shown_path(path),
                    row=table.line(0)
                    if table.unit == "row"
                    else self._builder.n_documents + 1,
                )
            )
        # Only a table in memory can be divided by a column of parts.
        # Here there is one: "or 0" is only for the type checker.
        if piece.parts.size and not self._builder.holds_parts:
            raise DatasetError(
                tr(
                    "{path}: the column {column} gives the part of each document, and the file "
                    "exceeds the memory limit. Write each part to its own file, raise the "
                    "limit, or ignore the column."
                ).format(
                    path=shown_path(path), column=f'"{table.names[roles.part or 0]}"'
                )
            )
        self._builder.add(piece, share)

    def facts(self, unit: str) -> TableFacts:
        """Return facts about the whole table, such as the names of its features.

        ``unit`` is the unit of positions in the file, "line" or "row".

        Raises
        ------
        DatasetError
            If there are no rows, or no column is numeric in all of them.
        """
        header = self._first_header
        if header is None:
            raise _no_rows(shown_path(self._part.paths[0]))
        names = header.names
        roles = header.roles
        # The builder knows the columns that are numeric in all rows.
        feature_columns = [roles.features[i] for i in self._builder.features()]
        if not feature_columns:
            location = header.where
            raise (
                no_features(location)
                if self._builder.n_documents
                else _no_rows(location)
            )
        # Columns that number rows or queries are left out with a note.
        text = tr('the column "{column}" numbers rows or queries and was left out.')
        numbering = [names[i] for i in roles.ignored if names[i]]
        qid, label, part, *_ = header.used()  # judges and features follow
        return TableFacts(
            n_features=len(feature_columns),
            dense=True,
            unit=unit,
            feature_names=tuple(names[i] for i in feature_columns)
            if header.has_header
            else (),
            left_out=tuple(
                names[i] for i in roles.features if i not in feature_columns
            ),
            remarks=tuple(text.format(column=name) for name in numbering),
            role_columns=(qid, label, part),
        )


@dataclass(frozen=True)
class _Header:
    """The columns of some rows of a table, and their roles."""

    where: str
    names: tuple[str, ...]
    has_header: bool
    roles: RecognisedColumns

    def used(self) -> tuple[str, ...]:
        """Return the names of the columns that are used.

        The names are those of the columns of query, label and part (""
        for a missing column), then of the judges and of the features.
        """
        roles = self.roles
        positions = (roles.qid, roles.label, roles.part, *roles.judges, *roles.features)
        return tuple("" if i is None else self.names[i] for i in positions)


def _no_rows(location: str) -> DatasetError:
    """Return the error of a table without rows."""
    return DatasetError(
        tr("{path}: found no rows, expected at least one document.").format(
            path=location
        )
    )


def no_features(location: str) -> DatasetError:
    """Return the error of a table without features."""
    return DatasetError(
        tr(
            "{where}: found no numeric column other than query and label; expected at least one."
        ).format(where=location)
    )


def _part_codes(table: TableColumns, position: int | None) -> Ints:
    """Return the code of each document's part: 0 for train, 1 for vali, 2 for test.

    ``position`` is the position of the column with names of parts.
    Without one (None), return an empty array. Raise the error of the
    first row with another value.
    """
    if position is None:
        return np.zeros(0, dtype=np.int64)
    values = table.column(position).tolist()
    codes = [part_code(value) for value in values]
    if None in codes:
        row = codes.index(None)
        raise table.error(
            row, _cell_text(table, position, _quoted(values[row])), tr(PART_EXPECTED)
        )
    return np.array(codes, dtype=np.int64)


_WITHOUT_COMMAS = translatable("a number with a decimal point and without commas")


def _numbers(table: TableColumns, position: int, expected: str) -> Floats:
    """Return the column of a table at a position as numbers, NaN for missing values.

    Raise the error of the first value that is neither a finite number
    nor missing; ``expected`` is its text that says what was expected.
    """
    values = table.column(position)
    numbers, row = _parsed_numbers(table, values)
    if row is None:  # all values are valid
        return numbers
    # A column of numbers can only have an infinite one.
    if values.dtype.kind in "biuf":
        raise table.error(row, _cell_text(table, position, str(numbers[row])), expected)
    value = values.tolist()[row]
    # A number with commas for thousands gets a message of its own.
    has_commas = (
        isinstance(value, str) and "," in value and is_numeral(value.replace(",", ""))
    )
    expectation = tr(_WITHOUT_COMMAS) if has_commas else expected
    raise table.error(row, _cell_text(table, position, _quoted(value)), expectation)


def _parsed_numbers(
    table: TableColumns, values: NDArray[Any]
) -> tuple[Floats, int | None]:
    """Return (numbers, first invalid row) for the ``values`` of a column of a table.

    The numbers have shape (m,), with NaN for missing values. The row is
    None if all values are finite numbers or missing; otherwise the
    numbers behind this row are not set.
    """
    # Booleans, whole numbers and floats ("biuf") are valid unless infinite.
    if values.dtype.kind in "biuf":
        numbers = values.astype(np.float64)
        infinite = np.isinf(numbers)
        return numbers, int(infinite.argmax()) if infinite.any() else None
    # Other values are parsed one by one, up to the first invalid one.
    numbers = np.empty(len(values))
    for row, value in enumerate(values.tolist()):
        number = None
        if isinstance(value, str) and value.strip() in table.missing_texts:
            number = np.nan
        elif values.dtype.kind in "OUST":  # objects and texts
            number = _parsed_number(value, table.text_numbers)
        if number is None:
            return numbers, row
        numbers[row] = number
    return numbers, None


def _parsed_number(value: Any, text_numbers: bool) -> float | None:
    """Return a value as a finite number, NaN if it is missing, None for any other value.

    ``text_numbers`` is whether numbers may be written as texts, as in
    CSV.
    """
    # The types with these names are the missing values of pandas.
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return np.nan
    if isinstance(value, str):
        text = value.strip()
        if text in MISSING:
            return np.nan
        if not text_numbers or "_" in text or not text.isascii():
            return None
        if text.lower() in ("true", "false"):
            return float(text.lower() == "true")
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return None if np.isinf(number) else number


def is_numeral(text: str) -> bool:
    """Return whether a text in a table is a number or a missing value."""
    return _parsed_number(text, True) is not None


def _features(
    table: TableColumns, roles: RecognisedColumns, check: Callable[[], None]
) -> tuple[Floats, tuple[int, ...]]:
    """Return (X, indices): the values of the numeric features, and their indices.

    X has shape (m, n'), NaN for missing values; the indices count the
    columns of features in ``roles``. A column that may be no feature is
    left out if it has texts; texts in any other feature are an error.
    ``check`` is called between columns.
    """
    X = np.empty((table.n_rows, len(roles.features)))
    numeric_features: list[int] = []
    text_positions: list[int] = []
    unsure = set(roles.unsure)  # columns that may be no features, by their names
    # Write the columns of numbers side by side.
    for i, position in enumerate(roles.features):
        check()
        numbers, text_row = _parsed_numbers(table, table.column(position))
        if text_row is None:
            X[:, len(numeric_features)] = numbers
            numeric_features.append(i)
        elif position not in unsure:
            text_positions.append(position)
    if text_positions:
        raise _not_numbers(table, text_positions)
    if not numeric_features:
        raise no_features(table.where)
    # Keep the columns that were written.
    X = (
        X
        if len(numeric_features) == X.shape[1]
        else np.ascontiguousarray(X[:, : len(numeric_features)])
    )
    return X, tuple(numeric_features)


def _not_numbers(table: TableColumns, positions: Sequence[int]) -> DataError:
    """Return the error for features that are not numeric, at ``positions`` of the table.

    The message has the first invalid cell, the names of all such
    columns and, for the terminal, options that help.
    """
    names = tuple(table.names[position] for position in positions)
    text = trn(
        "a number (ignore the column {names} if it is not a feature)",
        "a number (ignore the columns {names} if they are not features)",
        len(names),
    )
    expected = text.format(names=listed(names))
    # Read the first of the features again to get its error.
    try:
        _numbers(table, positions[0], expected)
    except ColumnValueError as error:
        # Another expectation is about commas for thousands: then the
        # column is one of numbers, and leaving it out is no remedy.
        if error.expected == expected:
            error.text_columns = names
            error.cell = _text_among_numbers(table, positions)
            error.terminal_remedy = _terminal_remedy(names, error.cell)
        return error
    except DataError as error:
        return error
    raise AssertionError("a feature that was no number is one")


_MAX_NAMED_COLUMNS = 100  # columns that a suggested command names one by one


def _terminal_remedy(names: Sequence[str], cell: str) -> str:
    """Return a sentence on options of the command line that help with columns of texts.

    The options leave out the columns ``names``, or read cells such as
    ``cell`` as missing; ``cell`` is "" if there is no such cell.
    """
    remedy = "Add --columns and the names of the features, separated by commas, to leave out all others"
    if len(names) <= _MAX_NAMED_COLUMNS:
        remedy = f"Add --ignore {shlex.quote(joined_names(names))} to leave out what is no feature"
    if not cell:
        return f"{remedy}."
    return f"{remedy}, or --missing-text {shlex.quote(joined_names([cell]))} to read such cells as missing."


def _text_among_numbers(table: TableColumns, positions: Sequence[int]) -> str:
    """Return the first text in the first of some columns that has numbers, too.

    Such a text may stand for a missing value. ``positions`` are the
    positions of columns with texts. Return "" if no column has both.
    """
    for position in positions[:_MAX_NAMED_COLUMNS]:
        values = table.column(position).tolist()
        is_number = [
            _parsed_number(value, table.text_numbers) is not None for value in values
        ]
        # The column has a text: some value is no number.
        if any(is_number):
            return str(values[is_number.index(False)]).strip()
    return ""


def _query_runs(
    table: TableColumns, position: int
) -> tuple[Ints, Iterable[tuple[str, int]]]:
    """Return (first rows, runs) of consecutive documents of one query.

    The first rows are an array with one number per run; a run is (query
    id, number of documents). ``position`` is the position of the column
    of queries. Raise the error of the first row without an id.
    """
    from pandas import factorize  # noqa: PLC0415 - it takes long to import

    # Each row gets the number of its id, and -1 without one.
    codes, unique = factorize(table.column(position), use_na_sentinel=True)
    texts = [_id_text(value) for value in list(unique)]  # "" is no id
    lacks_id = (codes < 0) | np.isin(
        codes, [i for i, text in enumerate(texts) if not text]
    )
    if lacks_id.any():
        raise table.error(
            int(lacks_id.argmax()),
            _cell_text(table, position, tr("nothing")),
            tr("the id of a query"),
        )
    # A run begins where the code changes. Codes are from 0 up, so that
    # the first row differs from -1.
    starts = np.flatnonzero(np.diff(codes, prepend=-1))
    ids = (texts[code] for code in codes[starts].tolist())
    return starts, zip(ids, np.diff(starts, append=len(codes)).tolist(), strict=True)


def _id_text(value: Any) -> str:
    """Return the id of a query as text.

    7.0 gives "7", as pandas stores 7 in a column with missing ids.
    """
    if isinstance(value, float | np.floating):
        return str(int(value)) if float(value).is_integer() else repr(float(value))
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="backslashreplace").strip()
    return str(value).strip()


def _comments(table: TableColumns, roles: RecognisedColumns) -> TextComments:
    """Return the comment of each document, or its id as LETOR writes it: "docid = …".

    Without a column of comments or ids, all comments are empty.
    ``roles`` has the position of this column.
    """
    # No bytes, and offsets that are all 0.
    if roles.comment is None:
        return TextComments(
            np.zeros(0, dtype=np.uint8), np.zeros(table.n_rows + 1, dtype=np.int64)
        )
    return TextComments.of(
        _comment_text(value, roles.comment_is_id)
        for value in table.column(roles.comment).tolist()
    )


def _comment_text(value: Any, is_id: bool) -> str:
    """Return a value as comment; an id as LETOR writes it."""
    if value is None or value != value:  # noqa: PLR0124 - only NaN differs from itself
        return ""
    text = _id_text(value) if is_id else str(value)
    return f"docid = {text}" if is_id and text else " ".join(text.splitlines())


def _cell_text(table: TableColumns, position: int, description: str) -> str:
    """Return a text on a cell and its column, for messages."""
    return tr('{what} in column "{name}"').format(
        what=description, name=short(table.names[position])
    )


def _quoted(value: Any) -> str:
    """Return a value in quotes, cut short, for messages."""
    return f'"{short(str(value))}"'


_LOCATION = "The frame"
_FRAME = DataFormat("frame", _LOCATION, (), is_table=True)


def table_of_frame(frame: Any, specified: DataColumns, *, refuse: bool) -> Table:
    """Return the documents of a pandas or polars frame as a table.

    ``specified`` has the columns that the user named, and ``refuse`` is
    whether a missing value is an error. Raise DatasetError or
    ParameterError for an invalid frame.
    """
    part = PartFiles((Path(_LOCATION),), _FRAME, specified, refuse=refuse)
    builder = TableInMemory(part.paths[0])
    reader = ColumnsReader(part, builder, ReadProgress())
    reader.add(part.paths[0], with_vectors(frame_columns(frame)))
    return builder.finish(reader.facts("row"))


def frames_of_folds(
    frame: Any, part: str, fold: str
) -> list[tuple[str, dict[str, Any]]]:
    """Return (name of the fold, rows by part) of each fold in a frame.

    The rows are frames, by "train", "vali" or "test". ``part`` and
    ``fold`` are the names of the columns with part and fold of each
    row; if ``fold`` is "", there is one fold.

    Raises
    ------
    DatasetError
        If a column is missing or contains other values, or a fold has
        no training part.
    """
    columns = frame_columns(frame)
    positions = {
        column: _position(columns, column) for column in (part, fold) if column
    }
    # Each row has the name of a part.
    parts = [
        str(value).strip().lower() for value in columns.column(positions[part]).tolist()
    ]
    unknown = sorted(text for text in set(parts) if part_code(text) is None)
    if unknown:
        expected = "train, vali or test"
        raise DatasetError(
            f'{_LOCATION}: found "{short(unknown[0])}" in column "{short(part)}", expected {expected}.'
        )
    # Without a column of folds, all rows belong to fold 1.
    numbers = columns.column(positions[fold]).tolist() if fold else [1] * columns.n_rows
    fold_of_row = np.array([f"{number}" for number in numbers])
    # Sort shorter texts first, so that 2 comes before 10.
    ids = sorted(
        dict.fromkeys(fold_of_row.tolist()), key=lambda text: (len(text), text)
    )
    # The name of each row's part; a code is a position in PART_WORDS.
    # Every row has a code now: "or 0" is only for the type.
    kind_of_row = np.array(tuple(PART_WORDS))[[part_code(text) or 0 for text in parts]]
    # Select the rows of each part of each fold.
    frames = []
    for fold_id in ids:
        is_in_fold = fold_of_row == fold_id
        rows = {
            kind: np.flatnonzero(is_in_fold & (kind_of_row == kind))
            for kind in PART_WORDS
        }
        if not rows["train"].size:
            raise DatasetError(
                f"{_LOCATION}: found no training part of fold {short(fold_id)}, expected one."
            )
        frames_by_part = {
            kind: _frame_rows(frame, part_rows)
            for kind, part_rows in rows.items()
            if part_rows.size
        }
        frames.append((short(fold_id), frames_by_part))
    return frames


def _position(columns: TableColumns, name: str) -> int:
    """Return the position of a column by its name."""
    if clean_name(name) not in columns.names:
        raise DatasetError(
            f'{_LOCATION}: found no column "{short(name)}", expected one of {listed(columns.names)}.'
        )
    return columns.names.index(clean_name(name))


def _frame_rows(frame: Any, rows: Ints) -> Any:
    """Return some rows of a frame of pandas or polars."""
    return frame.iloc[rows] if hasattr(frame, "iloc") else frame[rows]


def frame_columns(frame: Any) -> TableColumns:
    """Return the columns of a pandas or polars frame, converted on demand.

    Raises
    ------
    ParameterError
        If the object is not a pandas or polars frame.
    """
    if (
        not hasattr(frame, "columns")
        or not hasattr(frame, "__getitem__")
        or not hasattr(frame, "shape")
    ):
        raise ParameterError(
            "frame", type(frame).__name__, "a frame of pandas or polars"
        )
    names = column_names(frame.columns)

    def values(position: int) -> NDArray[Any]:
        """Return a column; only frames of pandas have ``iloc``."""
        series = (
            frame.iloc[:, position] if hasattr(frame, "iloc") else frame[:, position]
        )
        return np.asarray(series.to_numpy())

    def error(
        row: int, actual: str, expected: str, _missing: bool = False
    ) -> DataError:
        """Return the error of a value in a row of the frame."""
        return DatasetError(
            f"{_LOCATION}, row {row + 1}: found {actual}, expected {expected}."
        )

    n_rows = int(frame.shape[0])
    return TableColumns(
        _LOCATION, names, n_rows, values, error, line=lambda row: row + 1
    )
