"""Ranking data in memory: documents grouped by query, and datasets made of folds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.data import sparse_values, store
from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.data.comments import Comments, document_id
from rankstudio.engine.data.origin import DatasetOrigin
from rankstudio.engine.data.table import (
    Source,
    Table,
    check_options,
    treated,
)
from rankstudio.engine.data.tabular.documents import frames_of_folds, table_of_frame
from rankstudio.engine.errors import DatasetError, ParameterError
from rankstudio.engine.support.blocks import group_blocks
from rankstudio.engine.support.extensions import Extensions, Value
from rankstudio.engine.support.file_pages import chosen_columns as chosen_in_file
from rankstudio.engine.support.file_pages import in_file, release
from rankstudio.engine.support.grades import STANDARD, Grading, greatest, ranks_of_ids
from rankstudio.engine.support.query_ids import checked_ids
from rankstudio.engine.support.sparse_rows import SparseRows, chosen_columns

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "Comments",
    "Fold",
    "FoldedDataset",
    "RankingDataset",
    "Source",
    "default_names",
]


@dataclass(frozen=True, eq=False)
class RankingDataset:
    """Documents with features, relevance labels and queries.

    Rows are grouped by query: the documents of query ``q`` are the rows
    ``query_ptr[q]:query_ptr[q + 1]``, in the order of the file.

    Attributes
    ----------
    X : ndarray of shape (m, n), float64, C order, read-only; or SparseRows
        Features: one row per document, one column per feature. Missing
        values are already filled (see ``missing``). If most values are
        zeros, only the others are stored (SparseRows).
    y : ndarray of shape (m,), float64, read-only
        Relevance labels.
    query_ptr : ndarray of shape (Q + 1,), int64, read-only
        First row of each query, followed by m.
    query_ids : tuple of str
        Ids of the Q queries as written in the file.
    feature_ids : ndarray of shape (n,), int64, read-only
        The 1-based ids of the columns.
    feature_names : tuple of str
        One name per column; ``"feature 7"`` if no name is known.
    comments : Comments
        Comment of each row: the text after ``#`` in the file, or "".
    source : Source or None
        Source file; None for data made in memory.
    missing : ndarray of shape (n,), int64
        Number of missing values of each feature in the file, before
        they were filled.
    warnings : tuple of str
        Corrections made by the reader, as sentences, such as grouping
        scattered queries.
    sparse : bool
        Whether lines of the file omit features, whose values are then
        0.
    file_rows : ndarray of shape (m,), int64, or None
        Position of each row in the file, from 0; None if the rows are
        in the order of the file, which is the case unless a query was
        scattered.
    greatest_grade : float
        Largest label of the whole dataset, for ERR; by default the
        largest label in ``y``.
    convention : str
        Key of the convention by which measures are computed by default:
        the one of the public dataset that the file was recognised as,
        or "standard".
    """

    X: Floats
    y: Floats
    query_ptr: Ints
    query_ids: tuple[str, ...]
    feature_ids: Ints
    feature_names: tuple[str, ...]
    comments: Comments = ()
    source: Source | None = None
    missing: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    warnings: tuple[str, ...] = ()
    sparse: bool = False
    file_rows: Ints | None = None
    greatest_grade: float = -1.0
    convention: str = STANDARD

    def __post_init__(self) -> None:
        """Take the greatest grade from the labels if none is given."""
        object.__setattr__(
            self, "greatest_grade", max(self.greatest_grade, greatest(self.y))
        )

    @classmethod
    def from_arrays(
        cls,
        X: ArrayLike,
        y: ArrayLike,
        qid: ArrayLike | None = None,
        feature_names: Sequence[str] | None = None,
        comments: Sequence[str] | None = None,
    ) -> RankingDataset:
        """Make a dataset from arrays, grouping rows by query in order of first appearance.

        Parameters
        ----------
        X : array-like of shape (m, n)
            Features, finite numbers; the columns of a pandas DataFrame
            name the features.
        y : array-like of shape (m,)
            Relevance labels, finite numbers.
        qid : array-like of shape (m,), optional
            Query of each document, integers or strings; by default all
            documents belong to one query.
        feature_names : sequence of n str, optional
            Names of the features; by default ``"feature 1"`` and so on,
            or the column names of X.
        comments : sequence of m str, optional
            Comment of each document; "" by default.

        Raises
        ------
        ParameterError
            For inconsistent shapes, empty data, or numbers that are not finite.
        DatasetError
            For missing query ids, or ids of several types.

        Notes
        -----
        O(mn + m log m). The arrays are copied.
        """
        # Copy the arrays and check that they belong together. Without
        # qid, all documents get the same query id, 0.
        features = np.array(X, dtype=np.float64, order="C", ndmin=2)
        labels = np.array(y, dtype=np.float64)
        m, n = features.shape
        keys = np.zeros(m, dtype=np.int64) if qid is None else checked_ids(qid)
        check_arrays(features, labels, keys)
        # By default, the names are those of the frame or "feature 1", ….
        if feature_names is None:
            feature_names = [
                str(name)
                for name in getattr(X, "columns", default_names(np.arange(1, n + 1)))
            ]
        names = tuple(feature_names)
        if len(names) != n:
            raise ParameterError(
                "feature_names", f"{len(names)} names", f"{n}, one for each feature"
            )
        if comments is not None and len(comments) != m:
            raise ParameterError(
                "comments", f"{len(comments)} comments", f"{m}, one for each document"
            )
        # Sort the rows by the number of their query, which counts
        # queries by first appearance; a stable sort keeps the order of
        # documents within a query. If this moves no row, their order in
        # the arrays is not stored.
        query_of, query_ids = numbered(keys)
        order = np.argsort(query_of, kind="stable")
        is_sorted = (np.diff(order) == 1).all()
        query_ptr = np.concatenate([[0], np.cumsum(np.bincount(query_of))]).astype(
            np.int64
        )
        return cls(
            X=read_only(features[order]),
            y=read_only(labels[order]),
            query_ptr=read_only(query_ptr),
            query_ids=query_ids,
            feature_ids=read_only(np.arange(1, n + 1, dtype=np.int64)),
            feature_names=names,
            comments=("",) * m
            if comments is None
            else tuple(comments[i] for i in order.tolist()),
            missing=read_only(np.zeros(n, dtype=np.int64)),
            file_rows=None if is_sorted else read_only(order),
        )

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        qid: str = "",
        label: str = "",
        features: Sequence[str] | None = None,
        ignore: Sequence[str] = (),
        no_queries: bool = False,
        missing: Literal["query_min", "zero", "refuse"] = "query_min",
    ) -> RankingDataset:
        """Make a dataset from a pandas or polars frame; its columns name the features.

        Parameters
        ----------
        frame : DataFrame
            One row per document. Scattered rows of a query are grouped,
            with a warning.
        qid, label : str
            Columns of the query and of the label; by default the usual
            names ("qid", "query_id", "label", "relevance" …).
        features : sequence of str, optional
            Feature columns; all others by default.
        ignore : sequence of str
            Columns that are not features.
        no_queries : bool
            Whether all documents are one ranking.
        missing : {"query_min", "zero", "refuse"}
            Whether a missing value becomes the smallest value of the
            feature in its query, becomes 0, or is an error.

        Raises
        ------
        DatasetError, ParameterError
            If a column is missing or occurs twice, a label is missing,
            or a feature is not numeric.

        Examples
        --------
        >>> frame = RankingDataset.from_arrays([[1.0], [2.0]], [0, 1], [7, 7], ["tf"]).to_frame()
        >>> RankingDataset.from_frame(frame, qid="qid", label="label")
        <RankingDataset: 2 documents of 1 queries, 1 features>
        """
        check_options(missing, False)  # False: the features are not scaled
        specified_columns = {
            "qid": qid,
            "label": label,
            "features": tuple(features or ()),
            "ignore": tuple(ignore),
        }
        columns = DataColumns.of({**specified_columns, "no_queries": no_queries})
        return cls.of_table(
            table_of_frame(frame, columns, refuse=missing == "refuse"), missing=missing
        )

    @classmethod
    def of_table(
        cls,
        table: Table,
        source: Source | None = None,
        *,
        missing: str = "query_min",
        normalize: str | bool = False,
        n_features: int | None = None,
    ) -> RankingDataset:
        """Make a dataset from the parsed contents of a file; the features of the table are changed in place.

        Parameters
        ----------
        table : Table
            Parsed contents.
        source : Source, optional
            Source file of the contents.
        missing : {"query_min", "zero", "refuse"}
            Whether a missing value becomes the smallest value of the
            feature in its query, or becomes 0. With "refuse" nothing is
            filled, as the reader has refused missing values.
        normalize : bool or str
            Whether to scale features to [0, 1] within each query.
        n_features : int, optional
            Number of columns of the dataset, if larger than that of the table.
        """
        # The policy "" leaves missing values as they are.
        fill_policy = missing if missing != "refuse" else ""
        X = treated(
            table.X,
            table.query_ptr,
            table.missing,
            fill_policy,
            n_features or 0,
            normalize=bool(normalize),
        )
        n = X.shape[1]
        # A table without ids has the ids 1 … n.
        feature_ids = table.feature_ids
        if not feature_ids.size:
            feature_ids = np.arange(1, n + 1, dtype=np.int64)
        # Number of missing values by feature; 0 in columns beyond the table's.
        counts = np.zeros(n, dtype=np.int64)
        counts[: len(table.missing)] = table.missing
        # Only a file that counts features from 0 has both ids and
        # names: its names are "id 0" and so on, one less than the
        # 1-based ids. Columns beyond those of the table, of wider
        # parts, are named in the same way.
        names = table.feature_names
        if table.feature_ids.size:
            names = tuple(f"id {i - 1}" for i in feature_ids.tolist()) if names else ()
        if names:
            names += tuple(f"id {i - 1}" for i in feature_ids[len(names) :].tolist())
        return cls(
            X=read_only(X),
            y=read_only(table.y),
            query_ptr=read_only(table.query_ptr),
            query_ids=table.query_ids,
            feature_ids=read_only(feature_ids),
            feature_names=names or default_names(feature_ids),
            comments=table.comments,
            source=source,
            missing=read_only(counts),
            warnings=table.notes(
                str(source.path) if source is not None else "The frame"
            ),
            sparse=not table.dense,
            # Rows are in the order of the file unless a query was scattered.
            file_rows=None if table.scattered is None else table.file_rows,
        )

    def changed(self, **values: Any) -> RankingDataset:
        """Return a copy of the dataset with some attributes replaced.

        Unlike `dataclasses.replace`, this method accepts training parts
        that assemble their rows on demand (leave-query-out), and
        returns a plain dataset. ``values`` are new values by the names
        of attributes.
        """
        unchanged = {
            f.name: getattr(self, f.name)
            for f in fields(RankingDataset)
            if f.name not in values
        }
        return RankingDataset(**unchanged, **values)

    def with_features(self, columns: Ints) -> RankingDataset:
        """Return the same documents with the features of some columns.

        ``columns`` are column numbers of X, from 0. If X lies in a file
        that is mapped into memory, the chosen columns are written to a
        temporary file, which is mapped, too.
        """
        if in_file(self.X):
            X = chosen_in_file(self.X, columns.tolist(), store.scratch_folder())
        else:
            X = chosen_columns(self.X, columns)
        return self.changed(
            X=X,
            feature_ids=self.feature_ids[columns],
            feature_names=tuple(
                self.feature_names[column] for column in columns.tolist()
            ),
            # Numbers of missing values may be unknown: then the array is empty.
            missing=self.missing[columns] if self.missing.size else self.missing,
        )

    @property
    def n_documents(self) -> int:
        """Number of documents, m."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of features, n."""
        return int(self.X.shape[1])

    @property
    def from_disk(self) -> bool:
        """Whether the features are read from a mapped file on demand."""
        return in_file(self.X)

    def __repr__(self) -> str:
        origin = f" of {self.source.path}" if self.source else ""
        return (
            f"<{type(self).__name__}: {self.n_documents} documents of {self.n_queries} queries, "
            f"{self.n_features} features{origin}>"
        )

    @property
    def n_queries(self) -> int:
        """Number of queries, Q."""
        return len(self.query_ids)

    @cached_property
    def query_index(self) -> Ints:
        """Index 0 … Q - 1 of each document's query, shape (m,)."""
        return np.repeat(
            np.arange(self.n_queries, dtype=np.int64), np.diff(self.query_ptr)
        )

    @cached_property
    def qid(self) -> Ints | NDArray[np.str_]:
        """Query id of each document, shape (m,): integers if all ids are integers, otherwise strings."""
        return self.query_keys[self.query_index]

    @cached_property
    def query_keys(self) -> Ints | NDArray[np.str_]:
        """Ids of the queries, shape (Q,): integers if all are integers, otherwise strings."""
        if all(_is_plain_integer(q) for q in self.query_ids):
            return np.array([int(q) for q in self.query_ids], dtype=np.int64)
        return np.array(self.query_ids, dtype=np.str_)

    @cached_property
    def document_ids(self) -> tuple[str, ...]:
        """Ids of the m documents from their comments (``docid = …``), or ""."""
        return tuple(document_id(comment) for comment in self.comments)

    @cached_property
    def grading(self) -> Grading:
        """Facts that measures need besides labels: the greatest grade, and the order of ids."""
        return Grading(
            self.greatest_grade, partial(_id_ranks, self.comments, self.query_ptr)
        )

    def name_of(self, column: int) -> str:
        """Return the name of a column for messages: "feature 7 (BM25 of title)"."""
        feature = f"feature {self.feature_ids[column]}"
        name = self.feature_names[column]
        return feature if name == feature else f"{feature} ({name})"

    def to_frame(self) -> pd.DataFrame:
        """Return the documents as a pandas DataFrame, one row per document, in the order of X.

        Returns
        -------
        DataFrame
            Columns ``qid`` and ``label``, then one column per feature
            with its name. Features with equal names give columns with
            equal names; ``frame.iloc[:, 2:]`` is always X. The numbers
            are copied.

        Examples
        --------
        >>> data = RankingDataset.from_arrays([[1.0, 0.5], [2.0, 0.25]], [0, 1], [7, 7], ["length", "tf"])
        >>> data.to_frame()
           qid  label  length    tf
        0    7    0.0     1.0  0.50
        1    7    1.0     2.0  0.25
        """
        import pandas as pd  # noqa: PLC0415 - it takes long, and nothing else here needs it

        frame = pd.DataFrame(self.X, columns=list(self.feature_names), copy=True)
        frame.insert(0, "label", self.y, allow_duplicates=True)
        frame.insert(0, "qid", self.qid, allow_duplicates=True)
        return frame

    @cached_property
    def constant_features(self) -> Bools:
        """Whether each feature has a single value within every query, shape (n,).

        Such a feature cannot change any ranking: centring within
        queries makes it zero.
        """
        return constant_columns(self.X, self.query_ptr)


def _id_ranks(comments: Comments, query_ptr: Ints) -> Ints | None:
    """Return the ranks of document ids in comments, as `ranks_of_ids`."""
    has_comments = len(comments) == int(query_ptr[-1])
    return ranks_of_ids(map(document_id, comments), query_ptr) if has_comments else None


def default_names(feature_ids: Ints) -> tuple[str, ...]:
    """Return default names of features: "feature 7"."""
    return tuple(f"feature {i}" for i in feature_ids.tolist())


def id_and_name(feature: int, name: str) -> str:
    """Return the label of a feature in a table: "25 BM25 of anchor".

    ``feature`` is the id. Without a name of its own, a feature has only
    the id as label.
    """
    return f"{feature} {name}".removesuffix(f" feature {feature}")


def _is_plain_integer(text: str) -> bool:
    """Return whether an id is an integer that prints back as it was written ("007" is a name)."""
    return (
        text.isascii() and text.isdigit() and len(text) <= 18 and str(int(text)) == text
    )


@dataclass(frozen=True, eq=False)
class Fold:
    """One fold of a protocol with its train, vali and test parts.

    Attributes
    ----------
    number : int
        Number from 1, as in the folders Fold1 … Fold5.
    train : RankingDataset
    vali, test : RankingDataset or None
        None if the dataset has no such part.
    """

    number: int
    train: RankingDataset
    vali: RankingDataset | None = None
    test: RankingDataset | None = None

    def __repr__(self) -> str:
        return f"<Fold {self.number}: {self.parts}>"

    @property
    def parts(self) -> dict[str, RankingDataset]:
        """Available parts by name: train, vali, test."""
        named = {"train": self.train, "vali": self.vali, "test": self.test}
        return {name: part for name, part in named.items() if part is not None}


def changed_parts(
    folds: Iterable[Fold], change: Callable[[RankingDataset], RankingDataset]
) -> tuple[Fold, ...]:
    """Return folds whose parts are replaced by ``change(part)``.

    Parts are train, vali and test. A part that several folds share is
    changed once.
    """
    changed = cache(change)
    return tuple(
        Fold(fold.number, **{name: changed(part) for name, part in fold.parts.items()})
        for fold in folds
    )


@dataclass(frozen=True, eq=False)
class FoldedDataset:
    """A dataset of folds with train, vali and test parts, such as MQ2008.

    Attributes
    ----------
    name : str
        Name for titles and tables.
    path : Path or None
        The opened file or folder; None for data made in memory.
    folds : tuple of Fold
        At least one fold.
    convention : str
        Key of the convention by which measures are computed by default
        (see ``rankstudio.engine.metrics``); by default that of the
        first training part.
    divided_by : str
        How the folds were created, if not from files: "10-fold, seed
        0"; otherwise "".
    origin : DatasetOrigin
        The files that were read, and how.
    extensions : Extensions
        Values that abilities (removable plug-ins) have added to the
        data, such as `FeatureCosts`; see :meth:`extension`.
    """

    name: str
    path: Path | None
    folds: tuple[Fold, ...]
    convention: str = ""
    divided_by: str = ""
    origin: DatasetOrigin = field(default_factory=DatasetOrigin)
    extensions: Extensions = field(default_factory=Extensions)

    def __post_init__(self) -> None:
        """Give every part the greatest grade of all parts, and fill in the convention.

        The measure ERR depends on the greatest grade, and must not
        depend on how data are divided. The convention, by which
        measures are computed, is by default that of the first training
        part.
        """
        grades = {
            part.greatest_grade for fold in self.folds for part in fold.parts.values()
        }
        grade = max(grades, default=0.0)

        def graded(part: RankingDataset) -> RankingDataset:
            """Return a part with the greatest grade of all parts."""
            return (
                part
                if part.greatest_grade == grade
                else replace(part, greatest_grade=grade)
            )

        # The class is frozen, hence __setattr__.
        if len(grades) > 1:
            object.__setattr__(self, "folds", changed_parts(self.folds, graded))
        if not self.convention:
            object.__setattr__(self, "convention", self.folds[0].train.convention)

    @property
    def greatest_grade(self) -> float:
        """Largest label of all parts of all folds, for ERR; 0 or more."""
        return self.folds[0].train.greatest_grade

    def extension(self, kind: type[Value]) -> Value | None:
        """Return the value of a type that an ability has added to the data; None without one.

        An ability is a removable plug-in; an example of a type is
        `FeatureCosts`.
        """
        return self.extensions.find(kind)

    def extended(self, *values: object) -> FoldedDataset:
        """Return the dataset with values of abilities, which replace those of the same types."""
        return replace(self, extensions=self.extensions.extended(*values))

    @cached_property
    def query_sizes(self) -> Ints:
        """Number of documents of each query in the parts of the first fold."""
        sizes = [np.diff(part.query_ptr) for part in self.folds[0].parts.values()]
        return np.concatenate([np.zeros(0, dtype=np.int64), *sizes])

    @classmethod
    def of(cls, data: FoldedDataset | RankingDataset) -> FoldedDataset:
        """Return a FoldedDataset unchanged; make a RankingDataset the training part of one fold.

        The name of the new dataset is that of its file up to the first dot.

        Raises
        ------
        ParameterError
            For an object of another class.
        """
        if isinstance(data, FoldedDataset):
            return data
        if not isinstance(data, RankingDataset):
            raise ParameterError("dataset", data, "a FoldedDataset or a RankingDataset")
        path = data.source.path if data.source else None
        return cls(path.name.split(".")[0] if path else "Data", path, (Fold(1, data),))

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        part: str,
        fold: str = "",
        name: str = "Data",
        ignore: Sequence[str] = (),
        **options: Any,
    ) -> FoldedDataset:
        """Make folds from a pandas or polars frame with a column for the part of each document.

        Parameters
        ----------
        frame : DataFrame
            A row is a document.
        part : str
            Column with the values "train", "vali" or "test".
        fold : str
            Column of the fold, for several folds; a document in several
            folds has a row in each.
        name : str
            Name of the dataset.
        ignore : sequence of str
            Other columns that are not features.
        **options
            Options of :meth:`RankingDataset.from_frame`, such as
            ``qid`` and ``label``; the same exceptions are raised.
        """
        # Each fold comes with its name, and a frame for each part by its name.
        folds = []
        for number, (fold_name, frame_of_part) in enumerate(
            frames_of_folds(frame, part, fold), start=1
        ):
            # The columns of part and fold are not features.
            other_columns = (*ignore, part, *([fold] if fold else ()))
            parts = {
                kind: RankingDataset.from_frame(
                    part_frame, ignore=other_columns, **options
                )
                for kind, part_frame in frame_of_part.items()
            }
            if len({data.feature_names for data in parts.values()}) > 1:
                raise DatasetError(
                    f"The frame: the parts of fold {fold_name} have different features; expected the same "
                    "features in all parts."
                )
            folds.append(Fold(number, **parts))
        return cls(name, None, tuple(folds))

    def __repr__(self) -> str:
        folds = f"{len(self.folds)} folds{f' by {self.divided_by}' if self.divided_by else ''}"
        return f"<FoldedDataset {self.name}: {folds}, {self.n_features} features>"

    @property
    def n_features(self) -> int:
        """Number of features, n; the same in every part."""
        return self.folds[0].train.n_features

    @property
    def feature_ids(self) -> Ints:
        """The 1-based ids of the features, shape (n,)."""
        return self.folds[0].train.feature_ids

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the features."""
        return self.folds[0].train.feature_names

    @property
    def from_disk(self) -> bool:
        """Whether documents are read from mapped files on demand."""
        return any(
            part.from_disk for fold in self.folds[:1] for part in fold.parts.values()
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings of the reader, over all parts."""
        parts = [part for fold in self.folds for part in fold.parts.values()]
        return tuple(warning for part in parts for warning in part.warnings)


Scalar = TypeVar("Scalar", bound=np.generic)


def numbered(keys: NDArray[Any]) -> tuple[Ints, tuple[str, ...]]:
    """Return (number of each document's query, ids of the queries).

    ``keys`` has the query of each document. Queries are numbered from 0
    in order of first appearance; the numbers have shape (m,).
    """
    unique, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    appearance = np.argsort(first)
    number_of_key = np.argsort(appearance)  # the inverse permutation
    return number_of_key[inverse], tuple(str(q) for q in unique[appearance].tolist())


def check_arrays(X: Floats, y: Floats, qid: NDArray[Any]) -> None:
    """Raise `ParameterError` if arrays do not form a dataset.

    X must have shape (m, n), y and qid shape (m,), for m documents with
    n features. There must be a document and a feature, and the numbers
    of X and y must be finite.
    """
    if X.ndim != 2 or 0 in X.shape:
        raise ParameterError("X", f"shape {X.shape}", "at least one row and one column")
    for name, array in (("y", y), ("qid", qid)):
        if array.shape != X.shape[:1]:
            raise ParameterError(
                name,
                f"shape {array.shape}",
                f"shape {X.shape[:1]}, one for each row of X",
            )
    for name, array in (("X", X), ("y", y)):
        if not np.isfinite(array).all():
            raise ParameterError(name, "nan or infinity", "finite numbers")


def constant_columns(X: Floats, query_ptr: Ints) -> Bools:
    """Return whether each column is constant within every query, shape (n,).

    X has shape (m, n), one row per document. ``query_ptr``, of shape (Q
    + 1,), has the first row of each query and then m. O(mn), in blocks
    of queries to save memory.
    """
    if isinstance(X, SparseRows):
        return sparse_values.constant_columns(X, query_ptr)
    constant = np.ones(X.shape[1], dtype=np.bool_)
    for first, last in group_blocks(query_ptr, X.shape[1]):
        block = X[query_ptr[first] : query_ptr[last]]
        # The first document of each query, repeated for all its documents.
        heads = np.repeat(
            X[query_ptr[first:last]], np.diff(query_ptr[first : last + 1]), axis=0
        )
        constant &= (heads == block).all(axis=0)
        release(block)  # its memory, if X is mapped from a file
    return constant


def read_only(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """Make an array read-only, and return it."""
    array.flags.writeable = False
    return array
