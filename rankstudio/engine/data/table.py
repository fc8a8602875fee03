"""The table that parsing gives, its source, and the treatment of missing values.

The store keeps a table as it was parsed, before any policy is applied to it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.data import sparse_values
from rankstudio.engine.data.comments import Comments
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.language import tr, trn
from rankstudio.engine.support.blocks import group_blocks
from rankstudio.engine.support.sparse_rows import Features, SparseRows

MOST_FEATURES = 1_000_000
"""Maximum number of features of a table: each becomes a column in memory."""


SIZES_ENDINGS = (".group", ".query")
"""Endings of files with the number of documents of each query: XGBoost's, and LightGBM's."""


@dataclass(frozen=True)
class Source:
    """File that a dataset was read from.

    Attributes
    ----------
    path : Path
        The file.
    size : int
        Size in bytes.
    checksum : str
        Checksum of the file's contents, as ``algorithm:hex digits``;
        files with the same bytes have the same checksum.
    """

    path: Path
    size: int
    checksum: str


@dataclass(frozen=True)
class ReadAs:
    """How a data file was read.

    Attributes
    ----------
    format : str
        Key of the format (see `rankstudio.engine.data.formats`).
    qid, label, part : str
        Where query, label and part of a document come from: the name of
        a column, of a file of sizes, or "".
    """

    format: str = "letor"
    qid: str = ""
    label: str = ""
    part: str = ""

    @property
    def by_sizes(self) -> bool:
        """Whether the queries come from a file of sizes, so that each file numbers its own from 1."""
        return self.qid.endswith(SIZES_ENDINGS)


@dataclass(frozen=True)
class Scattered:
    """Queries whose documents are not consecutive in the file.

    Attributes
    ----------
    n_queries : int
        Number of such queries.
    query_id : str
        The first query that recurs.
    line : int
        Line where this query recurs.
    unit : str
        "line" for text, "row" for a table.
    """

    n_queries: int
    query_id: str
    line: int
    unit: str = "line"

    def sentence(self, name: str) -> str:
        """Return the warning that documents were grouped, for a file of this name."""
        text = trn(
            "{name}: the documents of {n} query are not contiguous (query {query} appears again on {unit} "
            "{line}). They were grouped, in document order.",
            "{name}: the documents of {n} queries are not contiguous (query {query} appears again on {unit} "
            "{line}). They were grouped, in document order.",
            self.n_queries,
        )
        unit = tr("row") if self.unit == "row" else tr("line")
        return text.format(
            name=name, n=self.n_queries, query=self.query_id, unit=unit, line=self.line
        )


@dataclass(frozen=True, eq=False)
class Table:
    """The contents of a data file, grouped by query.

    Attributes
    ----------
    X : ndarray of shape (m, n), or SparseRows
        Features; NaN for missing values, 0 for omitted features.
    y : ndarray of shape (m,) or (m, J)
        Labels. With several judges, one column for each judge, with NaN
        for documents that the judge has not judged.
    query_ptr : ndarray of shape (Q + 1,)
        First row of each query, followed by m.
    query_ids : tuple of str
        Query ids, in order of first appearance.
    comments : Comments
        Comment of each document: the text after "#", without trailing blanks.
    missing : ndarray of shape (n,)
        Number of missing values of each feature.
    dense : bool
        Whether the file has a value for every feature of every document.
    feature_ids : ndarray of shape (n,), or (0,)
        Ids of the columns, ascending; of size 0 if they are 1 … n.
    scattered : Scattered or None
        Queries that were scattered in the file.
    file_rows : ndarray of shape (m,), or (0,) if no query was scattered
        Position of each row among the documents of the file, from 0.
    feature_names : tuple of str
        Names of the features in the file; () if the file has none.
    left_out : tuple of str
        Unspecified columns of the file that are not features.
    role_columns : tuple of str
        Columns of query, label and part, "" for none; () if lines contain them.
    remarks : tuple of str
        Further notes, as sentences.
    parts : ndarray of shape (m,), or (0,)
        Part of each document, from 0 (train, vali, test), if the file
        has a part column.
    """

    X: Features
    y: Floats
    query_ptr: Ints
    query_ids: tuple[str, ...]
    comments: Comments
    missing: Ints
    dense: bool
    feature_ids: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    scattered: Scattered | None = None
    file_rows: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    feature_names: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    role_columns: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    parts: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @property
    def ids(self) -> Ints:
        """Ids of the columns, shape (n,); for an array, ids of the columns with a value other than 0."""
        if isinstance(self.X, SparseRows):
            return self.feature_ids
        return np.flatnonzero(self.X.any(axis=0)) + 1

    def with_ids(self, ids: Ints) -> Table:
        """Return the table with a column for each of ``ids``, with the features as a sparse matrix.

        The feature ids ascend, and include all ids of the table; new
        columns are 0.
        """
        X = self.X
        present_ids = self.feature_ids
        missing = np.zeros(ids.size, dtype=np.int64)
        counts = self.missing
        # An array has a column for each id 1 … n. Its columns of zeros
        # are dropped: self.ids are the ids of the others, all of which
        # are in ``ids``.
        if not isinstance(X, SparseRows):
            present_ids = self.ids
            X = SparseRows.of_array(X[:, present_ids - 1])
            counts = counts[present_ids - 1]
        missing[np.searchsorted(ids, present_ids)] = counts
        return replace(
            self,
            X=sparse_values.placed(X, present_ids, ids),
            feature_ids=ids,
            missing=missing,
        )

    def notes(self, name: str) -> tuple[str, ...]:
        """Return notes for users on the reading of a file, as sentences.

        ``name`` is the name of the file. The notes concern columns that
        were left out, the column of parts, and documents that were
        grouped.
        """
        text = tr('{name}: the column "{column}" is not numeric and was left out.')
        notes = [text.format(name=name, column=column) for column in self.left_out]
        if self.parts.size:
            text = tr('{name}: the parts are taken from the column "{column}".')
            _, _, part_column = self.role_columns  # of query, label and part
            notes.append(text.format(name=name, column=part_column))
        notes += [f"{name}: {sentence}" for sentence in self.remarks]
        return (
            *notes,
            *(() if self.scattered is None else (self.scattered.sentence(name),)),
        )


Missing = Literal["query_min", "zero", "refuse"]
Normalize = Literal[False, "query_minmax"]


def scaling(name: str) -> Normalize:
    """Return how to scale, by its name in plans and models: "none" or "query_minmax"."""
    return "query_minmax" if name == "query_minmax" else False


def check_options(missing: str, normalize: str | bool) -> None:
    """Raise `ParameterError` for an unknown treatment of features' values.

    ``missing`` says how missing values are treated, ``normalize`` how
    features are scaled.
    """
    if missing not in get_args(Missing):
        raise ParameterError(
            "missing", missing, tr('one of "query_min", "zero" and "refuse"')
        )
    if normalize not in get_args(Normalize):
        raise ParameterError("normalize", normalize, tr('False or "query_minmax"'))


def fill_missing(X: Floats, query_ptr: Ints, missing: Ints, policy: str) -> None:
    """Replace missing values of features, NaN, by numbers, in place.

    Parameters
    ----------
    X : ndarray of shape (m, n)
        Features, changed in place.
    query_ptr : ndarray of shape (Q + 1,)
        First row of each query.
    missing : ndarray of shape (n,)
        Number of NaN values of each feature.
    policy : {"query_min", "zero"}
        ``query_min``: the smallest value of that feature within the
        query, as in LETOR's "min" version; 0 if the query has no value.
        ``zero``: 0.

    Notes
    -----
    O(m n'), where n' is the number of features with missing values.
    """
    # Only the features with missing values are searched.
    for feature in np.flatnonzero(missing):
        column = X[:, feature]
        absent = np.isnan(column)
        filling = np.zeros(len(query_ptr) - 1)
        if policy == "query_min":
            least = np.fmin.reduceat(column, query_ptr[:-1])
            # NaN if the query has no value. Adding 0.0 turns -0.0,
            # which may be the least value, into 0.0.
            filling = np.where(np.isnan(least), 0.0, least) + 0.0
        column[absent] = np.repeat(filling, np.diff(query_ptr))[absent]


def widen(X: Floats, n_features: int) -> Floats:
    """Return X with columns of zeros appended, up to ``n_features``.

    Return X itself if it already has as many columns.
    """
    if X.shape[1] == n_features:
        return X
    wide = np.zeros((X.shape[0], n_features))
    wide[:, : X.shape[1]] = X
    return wide


def treated(
    X: Features,
    query_ptr: Ints,
    missing: Ints,
    fill_policy: str,
    n_features: int,
    *,
    normalize: bool,
) -> Features:
    """Return features with missing values filled, columns added and values scaled.

    An array is changed in place.

    Parameters
    ----------
    X : ndarray of shape (m, n), or SparseRows
        Features, NaN for missing values.
    query_ptr : ndarray of shape (Q + 1,)
        First row of each query, followed by m.
    missing : ndarray of shape (n,)
        Number of missing values of each feature.
    fill_policy : {"query_min", "zero", ""}
        Whether a missing value becomes the smallest value of the
        feature in its query, becomes 0, or stays.
    n_features : int
        Number of columns of an array, if larger than n.
    normalize : bool
        Whether to scale every feature to [0, 1] within every query.
    """
    if isinstance(X, SparseRows):
        if fill_policy and missing.any():
            X = sparse_values.fill_missing(X, query_ptr, fill_policy)
        return sparse_values.normalize_queries(X, query_ptr) if normalize else X
    if fill_policy:
        fill_missing(X, query_ptr, missing, fill_policy)
    X = widen(X, max(n_features, X.shape[1]))
    if normalize:
        normalize_queries(X, query_ptr)
    return X


def normalize_queries(X: Floats, query_ptr: Ints) -> None:
    """Scale every feature to [0, 1] within every query, in place: LETOR's QueryLevelNorm.

    A feature that is constant within a query becomes 0 there. O(m n).
    """
    for first, last in group_blocks(query_ptr, X.shape[1]):
        block_ptr = query_ptr[first : last + 1] - query_ptr[first]
        _normalize(X[query_ptr[first] : query_ptr[last]], block_ptr)


def _normalize(X: Floats, query_ptr: Ints) -> None:
    """Scale the features of some queries to [0, 1] within each query, in place.

    X has shape (rows, n), and ``query_ptr`` the first row of each
    query, then the number of rows. A feature that is constant within a
    query becomes 0 there.
    """
    rows = np.diff(query_ptr)
    low = np.minimum.reduceat(X, query_ptr[:-1], axis=0)
    with np.errstate(over="ignore"):
        span = np.maximum.reduceat(X, query_ptr[:-1], axis=0) - low
    # The difference of two huge numbers is infinite: halve them and
    # begin again, as the scale does not matter for the result.
    if not np.isfinite(span).all():
        X *= np.repeat(np.where(np.isfinite(span), 1.0, 0.5), rows, axis=0)
        _normalize(X, query_ptr)
        return
    X -= np.repeat(low, rows, axis=0)
    span[span == 0.0] = 1.0  # a constant feature is 0 now
    X /= np.repeat(span, rows, axis=0)
