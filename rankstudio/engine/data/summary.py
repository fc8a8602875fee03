"""Summary of a dataset for the Data place: counts, relevance labels and every feature's range."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.data.dataset import FoldedDataset, RankingDataset
from rankstudio.engine.support.file_pages import release
from rankstudio.engine.support.sparse_rows import SparseRows, concatenated

MOST_SHOWN = 1_000
"""Number of features that are shown of wide data, which have too many."""

_MAX_SHOWN_FEATURES = 10_000  # dense data with more features are wide
# first documents, in which the nonzero values of wide dense data are counted
_ROWS_AT_ONCE = 1 << 12
# 8 MB of features at a time: the passes below stay in the cache
_BLOCK_VALUES = 1 << 20


@dataclass(frozen=True, eq=False)
class FeatureSummary:
    """Statistics of one feature over some documents of a dataset.

    Attributes
    ----------
    feature_id : int
        1-based id.
    name : str
        Name of the feature.
    minimum, maximum, mean : float
        Values over all documents, with missing values filled.
    zeros : float
        Share of documents with value 0, from 0 to 1.
    constant : bool
        Whether the feature is constant within every query, so that it
        cannot change any ranking.
    missing : int
        Number of missing values in the files.
    """

    feature_id: int
    name: str
    minimum: float
    maximum: float
    mean: float
    zeros: float
    constant: bool
    missing: int


@dataclass(frozen=True, eq=False)
class DatasetSummary:
    """Counts of documents, queries and labels of data, and statistics of features.

    Attributes
    ----------
    n_documents, n_queries : int
        Numbers of documents and of queries.
    labels : tuple of (float, int)
        Each relevance label with its number of documents, ascending.
    query_sizes : ndarray of shape (Q,)
        Number of documents of each query.
    without_relevant : int
        Number of queries without a label above 0.
    only_relevant : int
        Number of queries all of whose labels are above 0, so that
        binary measures are 1 for any ranking.
    features : tuple of FeatureSummary
        One per column; for wide data, only of the columns that are shown.
    n_features : int
        Number of all columns.
    """

    n_documents: int
    n_queries: int
    labels: tuple[tuple[float, int], ...]
    query_sizes: Ints
    without_relevant: int
    only_relevant: int
    features: tuple[FeatureSummary, ...]
    n_features: int = 0

    @property
    def constant(self) -> tuple[FeatureSummary, ...]:
        """Features that cannot change any ranking."""
        return tuple(f for f in self.features if f.constant)


def describe(*parts: RankingDataset) -> DatasetSummary:
    """Describe one dataset, or several parts together.

    Parameters
    ----------
    *parts : RankingDataset
        At least one part; all with the same features.

    Returns
    -------
    DatasetSummary
        Counts, the distribution of labels, and statistics of each feature.

    Notes
    -----
    O(mn) for m documents and n features; X is read in blocks and never copied.
    """
    first = parts[0]
    m = sum(part.n_documents for part in parts)
    minimum, maximum, total, zeros, constant = _column_statistics(parts)
    # Counts of missing values are empty for parts without a file.
    no_missing = np.zeros(first.n_features, dtype=np.int64)
    missing = sum((part.missing for part in parts if part.missing.size), no_missing)
    values, counts = np.unique(
        np.concatenate([part.y for part in parts]), return_counts=True
    )
    # The least and the greatest label of each query.
    worst, best = (
        np.concatenate(
            [extreme.reduceat(part.y, part.query_ptr[:-1]) for part in parts]
        )
        for extreme in (np.minimum, np.maximum)
    )
    # The fields of FeatureSummary in their order, without the name,
    # which is the second.
    columns = (
        first.feature_ids,
        minimum,
        maximum,
        total / m,  # the mean
        zeros / m,  # the share of zeros
        constant,
        missing,
    )
    ids, *numbers = (column.tolist() for column in columns)
    rows = zip(ids, first.feature_names, *numbers, strict=True)
    features = tuple(FeatureSummary(*row) for row in rows)
    return DatasetSummary(
        n_documents=m,
        n_queries=sum(part.n_queries for part in parts),
        labels=tuple(
            (float(label), int(count))
            for label, count in zip(values, counts, strict=True)
        ),
        query_sizes=np.concatenate([np.diff(part.query_ptr) for part in parts]),
        without_relevant=int(np.count_nonzero(best <= 0)),
        only_relevant=int(np.count_nonzero(worst > 0)),
        features=features,
        n_features=first.n_features,
    )


def describe_fold(dataset: FoldedDataset, number: int | None) -> DatasetSummary:
    """Describe a fold by its training documents.

    Parameters
    ----------
    dataset : FoldedDataset
        Data with folds.
    number : int or None
        Number of the fold; None for the whole dataset. The whole
        dataset is the test parts of all folds, which contain each
        document once in a fold protocol, or the training parts if no
        fold has a test part.

    Returns
    -------
    DatasetSummary
        With all features, or with 1,000 of a wide dataset, whose other
        features are shown on request only.

    Raises
    ------
    KeyError
        If the fold does not exist.
    """
    parts = described_parts(dataset, number)
    columns = shown_features(parts[0])
    summary = describe(
        *(part if columns is None else part.with_features(columns) for part in parts)
    )
    return replace(summary, n_features=dataset.n_features)


def is_wide(part: RankingDataset) -> bool:
    """Return whether a dataset has too many features, or sparse ones, to compare all pairs."""
    return part.n_features > _MAX_SHOWN_FEATURES or isinstance(part.X, SparseRows)


def shown_features(part: RankingDataset) -> Ints | None:
    """Return the columns to show of a dataset with very many features, ascending.

    The columns to show are the 1,000 columns with the most values other
    than 0. Any other column is shown on request: by its id, or if a
    model has it. Return None for any other dataset, of which all
    columns are shown.
    """
    if not is_wide(part) or part.n_features <= MOST_SHOWN:
        return None
    # Number of values other than 0 in each column, in the first rows of an array.
    X = part.X
    counts = (
        X.sizes
        if isinstance(X, SparseRows)
        else np.count_nonzero(X[:_ROWS_AT_ONCE], axis=0)
    )
    # The count of the last column to show. np.partition is faster than
    # sorting a million counts. Of the columns with just this count, the
    # first ones fill up the number.
    least = np.partition(counts, -MOST_SHOWN)[-MOST_SHOWN]
    above = np.flatnonzero(counts > least)
    at_least = np.flatnonzero(counts == least)
    return np.sort(np.concatenate([above, at_least[: MOST_SHOWN - above.size]]))


def described_parts(
    dataset: FoldedDataset, number: int | None
) -> tuple[RankingDataset, ...]:
    """Return the parts of a dataset that :func:`describe_fold` describes for a fold.

    For the fold ``number`` that is its training part; for None, all
    test parts, or the training parts if no fold has a test part. Raise
    KeyError if the fold does not exist.
    """
    if number is not None:
        return ({fold.number: fold.train for fold in dataset.folds}[number],)
    tests = [fold.test for fold in dataset.folds if fold.test is not None]
    return tuple(tests or [fold.train for fold in dataset.folds])


def _column_statistics(
    parts: tuple[RankingDataset, ...],
) -> tuple[Floats, Floats, Floats, Ints, Bools]:
    """Return statistics of each of n columns over all parts, as arrays of shape (n,).

    The arrays are minimum, maximum, sum, number of zeros, and whether
    the column is constant within each query.
    """
    if any(isinstance(part.X, SparseRows) for part in parts):
        return _sparse_columns(parts)
    n = parts[0].n_features
    minimum = np.full(n, np.inf)
    maximum = np.full(n, -np.inf)
    total = np.zeros(n)
    zeros = np.zeros(n, dtype=np.int64)
    constant = np.ones(n, dtype=np.bool_)
    for part in parts:
        # ``index`` has the query of each row of the block.
        for begin, end, index in _row_blocks(part):
            block = part.X[begin:end]
            np.minimum(minimum, block.min(axis=0), out=minimum)
            np.maximum(maximum, block.max(axis=0), out=maximum)
            total += block.sum(axis=0)
            zeros += np.count_nonzero(block == 0, axis=0)
            # Compare each document with the first of its query.
            constant &= (block == part.X[part.query_ptr[index]]).all(axis=0)
            release(block)
    return minimum, maximum, total, zeros, constant


def _sparse_columns(
    parts: tuple[RankingDataset, ...],
) -> tuple[Floats, Floats, Floats, Ints, Bools]:
    """Return the statistics of each column of sparse parts, as arrays of shape (n,).

    The arrays are minimum, maximum, sum, number of zeros, and whether
    the column is constant within each query. O(values).
    """
    csc = concatenated([part.X for part in parts]).csc
    extremes = (getattr(csc, name)(axis=0).toarray().ravel() for name in ("min", "max"))
    zeros = csc.shape[0] - np.diff(csc.indptr)
    constant = np.logical_and.reduce([part.constant_features for part in parts])
    return (*extremes, csc.sum(axis=0), zeros, constant)


def _row_blocks(part: RankingDataset) -> Iterator[tuple[int, int, Ints]]:
    """Yield (first row, row after the last, query of each row) of blocks of rows."""
    rows = max(1, _BLOCK_VALUES // max(1, part.n_features))
    index = part.query_index
    for begin in range(0, part.n_documents, rows):
        end = min(begin + rows, part.n_documents)
        yield begin, end, index[begin:end]
