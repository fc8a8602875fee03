"""Builders of a table from pieces of documents: in memory, or in files of the store that are mapped.

Readers of formats need not know which of both: they pass pieces to a
builder, and return facts on all documents at the end.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.data import store
from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.data.comments import TakenComments, TextComments
from rankstudio.engine.data.data_format import DataFormat
from rankstudio.engine.data.kept_tables import find_mapped, mapped_folder, table_text
from rankstudio.engine.data.read_progress import ReadProgress
from rankstudio.engine.data.source_file import SourceFile, TextFile
from rankstudio.engine.data.sparse_values import Entries
from rankstudio.engine.data.store import ArrayFile, NewEntry
from rankstudio.engine.data.table import (
    Scattered,
    Table,
    fill_missing,
    normalize_queries,
)
from rankstudio.engine.errors import DatasetError, FileAccessError, shown_path
from rankstudio.engine.language import tr
from rankstudio.engine.support import memory
from rankstudio.engine.support.blocks import group_blocks
from rankstudio.engine.support.file_pages import release
from rankstudio.engine.support.sparse_rows import Features

_GROWTH = 1.5  # least factor by which a matrix is widened: growing ids cause few copies
# of the expected rows: an estimate that is slightly too low causes no copy
_CAPACITY_FACTOR = 1.02
_PER_DOCUMENT = 40  # bytes of memory needed to group the documents by query


def _no_integers() -> Ints:
    """Return an empty array of integers."""
    return np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class Treatment:
    """How the values of features are changed after reading.

    Attributes
    ----------
    missing : {"query_min", "zero", "refuse"}
        Whether a missing value becomes the smallest value in the query,
        becomes 0, or is an error.
    normalize : bool
        Whether features are scaled to [0, 1] within each query.
    """

    missing: str = "query_min"
    normalize: bool = False


@dataclass(frozen=True, eq=False)
class PartFiles:
    """Files that form one part of a fold, and how they are read.

    Attributes
    ----------
    paths : tuple of Path
        Files in order; a query may continue in the next file.
    form : DataFormat
    user_columns : DataColumns
        Specified columns of tables, and the first feature id of text.
    sizes : int64 array of shape (Q,), optional
        Number of documents per query, if the lines do not contain their query.
    refuse : bool
        Whether a missing value is an error.
    most_features : int, optional
        Maximum feature id: a larger id in text is an error.
    judgments : tuple of TextFile
        Files of judgments that are joined with logs, one per judge.
    """

    paths: tuple[Path, ...]
    form: DataFormat
    user_columns: DataColumns = field(default_factory=DataColumns)
    sizes: Ints | None = None
    refuse: bool = False
    most_features: int | None = None
    judgments: tuple[TextFile, ...] = ()

    @property
    def first_id(self) -> int:
        """First feature id in text: 1, or 0, which becomes 1."""
        return 1 if self.user_columns.ids_from is None else self.user_columns.ids_from


@dataclass(frozen=True, eq=False)
class DocumentPiece:
    """Some documents of a file, in order, which a reader passes to a table builder.

    Attributes
    ----------
    X : ndarray of shape (m, n), or Entries
        Features; NaN for missing values.
    y : ndarray of shape (m,) or (m, J)
        Labels. With several judges, one column for each judge, with NaN
        for documents that the judge has not judged.
    comments : TextComments
        Comment of each document.
    missing : ndarray of shape (n,)
        Number of missing values of each feature; for `Entries` they are
        counted in the end.
    runs : iterable of (str, int)
        Query id and length of each run of consecutive documents of a query.
    line_of_run : callable
        Function that returns the line of a run's first document, by the
        position of the run; called at most once.
    parts : ndarray of shape (m,), or (0,)
        Part of each document, if there is a part column.
    columns : tuple of int
        Index of each column of ``X`` among the features of the whole
        table. A feature that one piece lacks is dropped in the end.
    """

    X: Any  # a union would need a check of the type at each use
    y: Floats
    comments: TextComments
    missing: Ints
    runs: Iterable[tuple[str, int]]
    line_of_run: Callable[[int], int]
    parts: Ints = field(default_factory=_no_integers)
    columns: tuple[int, ...] = ()


def one_run(n_documents: int) -> tuple[tuple[str, int], ...]:
    """Return the runs of documents that are all one ranking: a single run of the query "1"."""
    return (("1", n_documents),) if n_documents else ()


@dataclass(frozen=True, eq=False)
class GatheredRows:
    """The rows that belong to a table, among all rows that a reader has written, query by query.

    Attributes
    ----------
    order : ndarray of shape (m,)
        Positions of the table's rows among the written rows.
    query_ptr : ndarray of shape (Q + 1,)
        First row of each query, followed by m.
    query_ids : tuple of str
        Ids of the queries.
    without : tuple of int
        Positions of columns that are left out.
    """

    order: Ints
    query_ptr: Ints
    query_ids: tuple[str, ...]
    without: tuple[int, ...] = ()


@dataclass(frozen=True)
class TableFacts:
    """Facts about a table that a reader knows after reading all documents.

    Attributes
    ----------
    n_features : int
        Number of features.
    dense : bool
        Whether the file has a value for every feature of every document.
    unit : str
        Unit of positions in the file: "line" or "row".
    feature_names, left_out, role_columns, remarks : tuple of str
        As the attributes of `Table`.
    rows : GatheredRows or None
        The rows of the table, if these are not all rows that were
        written; missing values of the table are then counted in the
        end.
    """

    n_features: int
    dense: bool
    unit: str = "line"
    feature_names: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    role_columns: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    rows: GatheredRows | None = None


class QueryRuns:
    """Collects the queries of documents that are read, and numbers them in order of first appearance.

    A run contains consecutive documents of one query.
    """

    def __init__(self) -> None:
        """Begin without queries."""
        # The number of each query, by its id.
        self._numbers: dict[str, int] = {}
        # Queries with several runs: the first with the line or row
        # where it recurs, all others with 0.
        self._recurrences: dict[int, int] = {}
        # A run is successive documents of one query: the number of its
        # query, and its number of documents.
        self._runs = array("q")  # integers of 64 bits
        self._lengths = array("q")

    def add(
        self, runs: Iterable[tuple[str, int]], line_of_run: Callable[[int], int]
    ) -> None:
        """Add runs of documents of a query: (query id, number of documents).

        ``line_of_run`` returns the line or row of the first document of
        a run, by the position of the run. This function may take long,
        so that it is called only once, for the first query whose
        documents are not consecutive.
        """
        for position, (query_id, length) in enumerate(runs):
            is_known = query_id in self._numbers
            query = self._numbers.setdefault(query_id, len(self._numbers))
            if self._runs and self._runs[-1] == query:
                self._lengths[-1] += length
                continue
            # The query occurred before, but another one in between.
            # Only the first such query needs the line where it recurs.
            if is_known and query not in self._recurrences:
                self._recurrences[query] = (
                    0 if self._recurrences else line_of_run(position)
                )
            self._runs.append(query)
            self._lengths.append(length)

    @property
    def query_ids(self) -> tuple[str, ...]:
        """Ids of the queries."""
        return tuple(self._numbers)

    def query_ptr(self) -> Ints:
        """Return the first row of each of Q queries after sorting the m documents by query, and then m.

        The array has shape (Q + 1,).
        """
        sizes = np.zeros(len(self._numbers) + 1, dtype=np.int64)
        queries = np.frombuffer(self._runs, np.int64)
        np.add.at(sizes, queries + 1, np.frombuffer(self._lengths, np.int64))
        return np.cumsum(sizes)

    def scattered(self, unit: str) -> Scattered | None:
        """Return the queries with scattered documents; None without such queries.

        These are queries whose documents are not consecutive. ``unit``
        is the unit of positions in the file, "line" or "row".
        """
        if not self._recurrences:
            return None
        query, line = next(iter(self._recurrences.items()))
        return Scattered(len(self._recurrences), self.query_ids[query], line, unit)

    def order(self) -> Ints:
        """Return the order of rows by query. O(m log m) for m documents."""
        runs, lengths = (
            np.frombuffer(a, np.int64) for a in (self._runs, self._lengths)
        )
        return np.argsort(np.repeat(runs, lengths), kind="stable")


def group_by_size(
    location: str, sizes: Ints, n_documents: int
) -> tuple[Ints, tuple[str, ...]]:
    """Return (first rows, ids) of queries by their numbers of documents.

    ``sizes`` has shape (Q,). The first row of each query is followed by
    the number of documents; the ids are "1", "2" …. Queries without
    documents are dropped, but keep their number. ``location`` is for
    the message.

    Raises
    ------
    DatasetError
        If the sizes do not add up to ``n_documents``.
    """
    if int(sizes.sum()) != n_documents:
        raise DatasetError(
            f"{location}: found {n_documents} documents, expected {int(sizes.sum())}, the total of the query "
            "sizes file."
        )
    nonempty = np.flatnonzero(sizes)
    query_ptr = np.concatenate(
        [np.zeros(1, dtype=np.int64), np.cumsum(sizes[nonempty])]
    )
    return query_ptr, tuple(str(i + 1) for i in nonempty.tolist())


class TableBuilder(ABC):
    """Collects the documents of one file, or of several files that form one part, into a table.

    Parameters
    ----------
    path : Path
        Source file, for messages.
    """

    holds_parts: bool
    """Whether documents may have the part that they belong to."""
    takes_entries: bool
    """Whether documents may come as entries, without their zeros."""

    padding: float = 0.0
    """Value of a document in a column that only other documents have."""

    def __init__(self, path: Path) -> None:
        """Begin a table without documents; its columns are those of the first piece."""
        self.path = path
        self.n_documents = 0
        self._runs = QueryRuns()
        self._missing = _no_integers()
        self._columns: tuple[int, ...] | None = None
        # columns that some piece does not have as features, as in ``_columns``
        self._dropped_columns: set[int] = set()

    @property
    @abstractmethod
    def width(self) -> int:
        """Number of columns so far; trailing columns may be unused."""

    @abstractmethod
    def _write(self, piece: DocumentPiece, share: float) -> None:
        """Append the documents of a piece to the rows written so far.

        ``share`` is about the share of all documents that have been read.
        """

    def add(self, piece: DocumentPiece, share: float = 1.0) -> None:
        """Append documents to the table.

        Parameters
        ----------
        piece : DocumentPiece
            Documents of the file; the caller must not use them afterwards.
        share : float
            About the share of all documents that have been read, this
            piece included, from 0 to 1; memory for the remaining
            documents is reserved accordingly.

        Raises
        ------
        DatasetError
            If the documents do not fit into memory or on the disk.
        OSError
            If the documents cannot be written to disk.
        """
        if not len(piece.y):
            return
        # Columns of a piece are the positions of its features in a table of the file.
        if self._columns is None:
            self._columns = piece.columns
        if piece.columns != self._columns:
            piece = self._with_first_columns(piece, self._columns)
        self._write(piece, share)
        # A later piece may be wider.
        if len(piece.missing) > len(self._missing):
            self._missing = np.pad(
                self._missing, (0, len(piece.missing) - len(self._missing))
            )
        self._missing[: len(piece.missing)] += piece.missing
        self._runs.add(piece.runs, piece.line_of_run)
        self.n_documents += len(piece.y)

    def features(self) -> tuple[int, ...]:
        """Return the indices of the features that all pieces have."""
        return tuple(
            column
            for column in self._columns or ()
            if column not in self._dropped_columns
        )

    def _with_first_columns(
        self, piece: DocumentPiece, columns: tuple[int, ...]
    ) -> DocumentPiece:
        """Return a piece of documents with ``columns``, the columns of the first piece.

        A column that the piece lacks is 0 for now; the column is
        dropped in the end, as a table has only features of all pieces.
        """
        self._dropped_columns |= set(columns) - set(piece.columns)
        X = np.zeros((len(piece.y), len(columns)))
        missing = np.zeros(len(columns), dtype=np.int64)
        # ``index`` is the position in X, ``column`` that in the table of the file.
        for index, column in enumerate(columns):
            if column in piece.columns:
                X[:, index] = piece.X[:, piece.columns.index(column)]
                missing[index] = piece.missing[piece.columns.index(column)]
        return replace(piece, X=X, missing=missing, columns=columns)

    def _kept_columns(self, width: int) -> slice | list[int]:
        """Return the positions of the written columns that belong to the table.

        If no column is dropped, the result is a slice of all columns,
        at most ``width``.
        """
        if not self._dropped_columns:
            return slice(min(self.width, width))
        return [
            i
            for i, column in enumerate(self._columns or ())
            if column not in self._dropped_columns
        ]

    def _queries(
        self, facts: TableFacts, sizes: Ints | None
    ) -> tuple[Ints, tuple[str, ...], Scattered | None]:
        """Return (first rows, ids, scattered queries or None) of the queries of the table.

        The first row of each query is followed by the number of
        documents. ``sizes`` are the numbers of documents of the
        queries, if the documents do not contain their query. If the
        reader has gathered rows, the columns that it leaves out are
        dropped here, and counts of missing values reset.
        """
        # The reader has gathered the rows itself, and knows their
        # queries and the columns that are left out (``without``); all
        # others stay. Missing values are counted later, in the rows of
        # the table.
        if facts.rows is not None:
            self._dropped_columns = set(facts.rows.without)
            self._columns = tuple(range(facts.n_features + len(self._dropped_columns)))
            self._missing = np.zeros(len(self._columns), dtype=np.int64)
            return facts.rows.query_ptr, facts.rows.query_ids, None
        if sizes is not None:
            return *group_by_size(shown_path(self.path), sizes, self.n_documents), None
        return (
            self._runs.query_ptr(),
            self._runs.query_ids,
            self._runs.scattered(facts.unit),
        )


class TableInMemory(TableBuilder):
    """Assembles the pieces of a table in memory; see `TableBuilder`."""

    holds_parts = True
    takes_entries = True

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._X: Floats = np.zeros((0, 0))
        self._entries: list[Entries] = []
        self._pieces: list[DocumentPiece] = []

    @property
    def width(self) -> int:
        """Number of columns so far."""
        return int(self._X.shape[1])

    def finish(self, facts: TableFacts, sizes: Ints | None = None) -> Table:
        """Return the table, with the documents of each query in consecutive rows.

        Parameters
        ----------
        facts : TableFacts
            Facts that the reader knows in the end, such as names.
        sizes : ndarray of shape (Q,), optional
            Number of documents per query, if the documents do not
            contain their query.

        Raises
        ------
        DatasetError
            If the sizes do not add up to the number of documents.
        """
        # Find the order in which queries are contiguous, as positions
        # of rows; empty if they already are.
        query_ptr, ids, scattered = self._queries(facts, sizes)
        order = (
            _order_of_rows(facts, self.n_documents)
            if scattered is None
            else self._runs.order()
        )
        # Join the pieces, then sort their rows.
        columns = self._kept_columns(self.width)
        y = _joined_arrays([piece.y for piece in self._pieces])
        X, feature_ids, missing = self._features(columns)
        # Codes of train, vali and test; empty without a column of parts.
        parts = _joined_arrays([piece.parts for piece in self._pieces])
        if order.size:
            X = X[order]
            y = y[order]
            parts = parts[order] if parts.size else parts
        # The counts so far are of all rows that were written, of which
        # the table may have only some.
        if facts.rows is not None:
            missing = np.isnan(X).sum(axis=0).astype(np.int64)
        comments = _joined_comments([piece.comments for piece in self._pieces])
        return Table(
            X=X,
            y=y,
            query_ptr=query_ptr,
            query_ids=ids,
            comments=TakenComments(comments, order) if order.size else comments,
            missing=missing,
            dense=facts.dense,
            feature_ids=feature_ids,
            scattered=scattered,
            file_rows=order,
            feature_names=facts.feature_names,
            left_out=facts.left_out,
            role_columns=facts.role_columns,
            remarks=facts.remarks,
            parts=parts,
        )

    def _features(self, columns: slice | list[int]) -> tuple[Features, Ints, Ints]:
        """Return (X, ids, missing): the features, their ids, and the number of missing values of each.

        X has shape (m, n), the others (n,). The array of ids is empty
        if the ids are 1 … n. ``columns`` are the positions of the
        written columns that stay; entries, the values other than 0 with
        their ids, have no columns yet.
        """
        if self._entries:
            sparse, feature_ids = Entries.joined(self._entries).matrix()
            # The columns of the missing values.
            absent = sparse.csr.indices[np.isnan(sparse.csr.data)]
            missing = np.bincount(absent, minlength=feature_ids.size).astype(np.int64)
            return sparse, feature_ids, missing
        X = self._X[: self.n_documents]
        if self._dropped_columns:
            X = np.ascontiguousarray(X[:, columns])
        return X, _no_integers(), self._missing[columns]

    def _write(self, piece: DocumentPiece, share: float) -> None:
        """Append the documents of a piece to the table in memory.

        The features of the first piece, usually the only one, are not
        copied. A piece that is narrower than the table gets ``padding``
        in its last columns. ``share`` is about the share of all
        documents that have been read, this piece included.
        """
        if isinstance(piece.X, Entries) or self._entries:
            # Once one piece comes as entries, all are kept as entries,
            # those before included.
            if self._pieces and not self._entries:
                self._entries.append(Entries.of_array(self._X[: self.n_documents]))
                self._X = np.zeros((0, 0))
            self._entries.append(
                piece.X if isinstance(piece.X, Entries) else Entries.of_array(piece.X)
            )
        elif not self._pieces:
            self._X = piece.X
        else:
            rows = self.n_documents + len(piece.y)
            width = max(self.width, piece.X.shape[1])
            if rows > len(self._X) or width > self.width:
                self._grow(rows, width, share)
            self._X[self.n_documents : rows, : piece.X.shape[1]] = piece.X
            self._X[self.n_documents : rows, piece.X.shape[1] :] = self.padding
        # Keep the rest of the piece without its features and runs,
        # which would hold memory; int() stands for the function that it
        # needs no more.
        self._pieces.append(
            replace(piece, X=np.zeros((0, 0)), runs=(), line_of_run=int)
        )

    def _grow(self, rows: int, width: int, share: float) -> None:
        """Enlarge the matrix to a number of rows and columns, and for those expected.

        If ``share`` of all documents has ``rows`` rows, the others need
        as much in proportion; they get no memory in advance if it is
        scarce.
        """
        # Reserve a little more than expected. The share of a tiny piece
        # of a file may be rounded to 0.
        capacity = max(rows, int(_CAPACITY_FACTOR * rows / max(share, 1e-9)))
        if 8.0 * capacity * width > memory.available():
            check_memory(self.path, rows, width)
            capacity = rows
        # Rows that are never written to take no memory.
        larger = np.empty((capacity, width))
        larger[: self.n_documents, : self.width] = self._X[: self.n_documents]
        larger[: self.n_documents, self.width :] = self.padding
        self._X = larger


class TableOnDisk(TableBuilder):
    """Writes a table of documents to disk, with at most one piece of documents in memory.

    Parameters
    ----------
    path : Path
        Source file, for messages.
    treatment : Treatment
        How values are filled and scaled in the end.
    """

    holds_parts = False
    takes_entries = False

    def __init__(self, path: Path, treatment: Treatment) -> None:
        """Begin a table in the cache, with a treatment of missing values."""
        super().__init__(path)
        self._treatment = treatment
        self._folder = store.writable(mapped_folder())
        self._new = NewEntry(self._folder)
        self._X: ArrayFile | None = None  # begun by the first piece
        self._copies = 0  # number of files of X, as each wider one is a copy
        self._comments_end = 0  # bytes of all comments so far
        self._y: ArrayFile | None = None
        self._comments = self._new.file("comments", np.uint8)
        # The first comment begins at 0; the end of each one follows.
        self._offsets = self._new.file("comment_offsets", np.int64)
        self._offsets.append(np.zeros(1, dtype=np.int64))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._new.__exit__()

    @property
    def width(self) -> int:
        """Number of columns of the file; trailing ones may be unused."""
        return 0 if self._X is None or self._X.width is None else self._X.width

    def finish(
        self,
        facts: TableFacts,
        key: str,
        sources: Sequence[tuple[int, str]],
        *,
        n_features: int,
        sizes: Ints | None = None,
    ) -> Table:
        """Sort the written documents, fill missing values, scale features, and return the table.

        Parameters
        ----------
        facts : TableFacts
            Facts that the reader knows in the end, such as names.
        key : str
            Key of the table in the cache.
        sources : sequence of (int, str)
            Size and checksum of each source file.
        n_features : int
            Minimum number of columns.
        sizes : ndarray of shape (Q,), optional
            Number of documents per query, if the documents do not
            contain their query.

        Raises
        ------
        DatasetError
            If there is not enough memory or disk space.
        OSError
            If the table cannot be written.
        """
        assert self._X is not None
        n_features = max(facts.n_features, n_features)
        # Find the order in which queries are contiguous. ``scattered``
        # is None if they are so already, or the reader itself ordered
        # the rows.
        query_ptr, ids, scattered = self._queries(facts, sizes)
        if scattered is None:
            order = _order_of_rows(facts, self.n_documents)
        else:
            order = self._order_by_query(scattered)
        # Count the missing values of each feature. If the table has
        # only some of the written rows (facts.rows), the counts so far
        # are of too many.
        columns = self._kept_columns(n_features)
        # Columns beyond the written ones have no missing values.
        missing = np.zeros(n_features, dtype=np.int64)
        all_counts = (
            self._missing
            if facts.rows is None
            else self._count_missing(facts.rows.order)
        )
        counts = all_counts[columns]
        missing[: len(counts)] = counts
        # X is written again only if its order, values or columns change.
        is_filled = self._treatment.missing != "refuse" and bool(missing.any())
        changes_values = is_filled or self._treatment.normalize
        if (
            order.size
            or changes_values
            or self._dropped_columns
            or self.width != n_features
        ):
            self._rewrite(n_features, query_ptr, order, missing if is_filled else None)
        else:  # the file is already the final array
            self._new.add_file("X", self._X)
        # Labels are few enough to be sorted in memory.
        assert self._y is not None
        if order.size:
            self._y.finish(durable=False)
            y = np.array(self._y.content())[order]
            self._y.path.unlink()
            self._new.save("y", y)
        else:
            self._new.add_file("y", self._y)
        # Write the other arrays and facts, then map the finished table.
        self._new.add_file("comments", self._comments)
        self._new.add_file("comment_offsets", self._offsets)
        small_arrays = {"query_ptr": query_ptr, "missing": missing, "file_rows": order}
        small_arrays |= {"feature_ids": _no_integers(), "parts": _no_integers()}
        for name, values in small_arrays.items():
            self._new.save(name, values)
        text = table_text(
            facts, ids, scattered, is_reordered=bool(order.size), sources=sources
        )
        folder = self._new.finish(text, key)
        # Nothing can stop this: the table has been written.
        table = find_mapped(folder, lambda: None)
        if table is None:
            raise OSError(f"{folder} cannot be read")
        return table

    def _write(self, piece: DocumentPiece, share: float) -> None:
        """Append the documents of a piece to the files of the table.

        ``share`` is about the share of all documents that have been
        read, this piece included.
        """
        X = piece.X
        # The first piece begins the file, and a wider piece widens it.
        if self._X is None or X.shape[1] > self.width:
            n_expected_rows = (self.n_documents + len(piece.y)) / max(share, 1e-9)
            self._grow(X.shape[1], n_expected_rows)
        if self._y is None:
            self._y = self._new.file(
                "y", np.float64, piece.y.shape[1] if piece.y.ndim > 1 else None
            )
        assert self._X is not None
        # Pad a piece that is narrower than the file with the value of
        # columns that only other documents have.
        if X.shape[1] < self.width:
            X = np.pad(
                X, ((0, 0), (0, self.width - X.shape[1])), constant_values=self.padding
            )
        self._X.append(X)
        self._y.append(piece.y)
        # The offsets continue behind the last written comment.
        content = piece.comments.content
        offsets = piece.comments.offsets
        self._comments.append(content)
        self._offsets.append(offsets[1:] + (self._comments_end - offsets[0]))
        self._comments_end += int(offsets[-1] - offsets[0])

    def _grow(self, width: int, rows: float) -> None:
        """Widen the file of X to ``width`` columns or more, by a copy.

        Raise DatasetError if the disk lacks space for ``rows`` rows.
        """
        # Each copy takes long: widen by more than is needed now.
        if self._X is not None:
            width = max(width, int(self.width * _GROWTH))
        purpose = f"{rows:,.0f} documents with {width} features"
        store.make_room(self._folder, self.path, 8.0 * width * rows, purpose)
        self._copies += 1
        new = self._new.file(f"X-{self._copies}", np.float64, width)
        self._X = new if self._X is None else store.widened(self._X, new, self.padding)

    def _count_missing(self, order: Ints) -> Ints:
        """Return the number of missing values in each column, of shape (columns,).

        ``order`` has the positions of the rows that belong to the table.
        """
        assert self._X is not None
        raw = self._X.content()
        counts = np.zeros(self.width, dtype=np.int64)
        # Rows of about the bytes of a block of the store at a time.
        step = max(1, store.BLOCK // (8 * max(self.width, 1)))
        for begin in range(0, order.size, step):
            counts += np.isnan(raw[order[begin : begin + step]]).sum(axis=0)
            release(raw)
        return counts

    def _order_by_query(self, scattered: Scattered) -> Ints:
        """Return the positions of all rows, query by query, as an array of shape (m,).

        Raise DatasetError if sorting the rows exceeds the memory limit;
        the message names the first query whose documents are scattered.
        """
        needed = _PER_DOCUMENT * self.n_documents
        if needed > memory.budget():
            raise DatasetError(
                tr(
                    "{path}: query {query} occurs again on {unit} {line}. Grouping its "
                    "documents needs {needed}, but the memory limit is {budget}. Sort the file "
                    "by query or raise the limit."
                ).format(
                    path=shown_path(self.path),
                    query=scattered.query_id,
                    unit=scattered.unit,
                    line=scattered.line,
                    needed=memory.size(needed),
                    budget=memory.size(memory.budget()),
                )
            )
        return self._runs.order()

    def _rewrite(
        self, width: int, query_ptr: Ints, order: Ints, missing: Ints | None
    ) -> None:
        """Write X again in its final order, width and values, some whole queries at a time.

        The features of the largest query must fit into the memory limit
        three times.

        Parameters
        ----------
        width : int
            Number of columns.
        query_ptr : ndarray of shape (Q + 1,)
            First row of each query, followed by the number of rows.
        order : ndarray of shape (m,) or (0,)
            Old position of each row; empty if rows stay in order.
        missing : ndarray of shape (n,) or None
            Number of missing values of each feature; None if they are
            not filled.
        """
        assert self._X is not None
        # The largest query needs three numbers of 8 bytes for each value.
        largest = int(np.diff(query_ptr).max())
        if 24.0 * largest * width > memory.budget():
            raise DatasetError(
                tr(
                    "{path}: one query has {n} documents; filling in or scaling their features "
                    "needs {needed}, but the memory limit is {budget}. Raise the limit or "
                    "split the query."
                ).format(
                    path=shown_path(self.path),
                    n=largest,
                    needed=memory.size(24.0 * largest * width),
                    budget=memory.size(memory.budget()),
                )
            )
        # The old and the new file both need space on the disk.
        purpose = f"{self.n_documents:,} documents with {width} features"
        store.make_room(
            self._folder, self.path, 8.0 * width * self.n_documents, purpose
        )
        self._X.finish(durable=False)
        raw = self._X.content()
        # Copy blocks of whole queries, in their final order.
        columns = self._kept_columns(width)
        out = self._new.file("X", np.float64, width)
        for first, last in group_blocks(query_ptr, width):
            begin = int(query_ptr[first])
            end = int(query_ptr[last])
            rows = (raw[order[begin:end]] if order.size else raw[begin:end])[:, columns]
            # Columns beyond the written ones remain 0.
            block = np.zeros((end - begin, width))
            block[:, : rows.shape[1]] = rows
            block_ptr = query_ptr[first : last + 1] - begin
            if missing is not None:
                fill_missing(block, block_ptr, missing, self._treatment.missing)
            if self._treatment.normalize:
                normalize_queries(block, block_ptr)
            out.append(block)
            release(raw)
        self._new.add_file("X", out)
        del raw  # Windows does not remove a mapped file
        self._X.path.unlink()


def _order_of_rows(facts: TableFacts, n_documents: int) -> Ints:
    """Return the order in which a reader put the rows of a table.

    The order is an array of row numbers; it is empty if the order is
    that of the file. ``facts`` are what the reader knows about all
    ``n_documents`` rows.
    """
    if facts.rows is None or np.array_equal(facts.rows.order, np.arange(n_documents)):
        return _no_integers()
    return facts.rows.order


def unreadable(path: Path, error: OSError) -> FileAccessError:
    """Return the error of a table that was to be mapped, but could not be written."""
    return FileAccessError(
        path,
        tr(
            "it exceeds the memory limit, and its data could not be written to disk: {reason}."
        ).format(reason=error.strerror or error),
    )


def check_memory(path: object, rows: int, width: int) -> None:
    """Raise DatasetError if the features of some documents do not fit into memory.

    ``rows`` and ``width`` are the numbers of documents and features;
    ``path`` is the file, for the message.
    """
    needed = 8.0 * rows * width
    free = memory.available()
    if rows < 0 or needed > free:  # a damaged file may state a negative number of rows
        raise too_large(path, rows, width, needed, free)


def too_large(
    path: object, rows: int, width: int, needed: float, free: float
) -> DatasetError:
    """Return the DatasetError for documents whose features do not fit into memory.

    ``rows`` and ``width`` are the numbers of documents and features,
    ``needed`` and ``free`` are bytes; ``path`` is the file, for the
    message.
    """
    return DatasetError(
        tr(
            "{path}: {rows} documents with {width} features need {needed:.1f} GB of memory, "
            "but {size} are free. Every feature becomes a column: leave out unused features or "
            "renumber them."
        ).format(
            path=path,
            rows=rows,
            width=width,
            needed=needed / 1e9,
            size=memory.size(free),
        )
    )


def _joined_arrays(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Return the arrays one after the other; a single one as it is."""
    return arrays[0] if len(arrays) == 1 else np.concatenate([*arrays])


def _joined_comments(pieces: Sequence[TextComments]) -> TextComments:
    """Return the comments of all pieces, one after the other."""
    if len(pieces) == 1:
        return pieces[0]
    # Offsets, where comments begin, are different in the joined bytes.
    content = np.concatenate([piece.content for piece in pieces])
    lengths = np.concatenate([np.diff(piece.offsets) for piece in pieces])
    return TextComments(
        content, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    )


FormatReader = Callable[
    [PartFiles, Iterable[SourceFile], TableBuilder, ReadProgress], TableFacts
]
"""Reads the files of a part in one format: passes the documents to a builder piece by piece, and returns
facts on all of them. It raises DataError if a file cannot be read or is invalid, and MissingExtraError if the
library of the format is missing."""
