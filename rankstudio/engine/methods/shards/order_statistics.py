"""Exact order statistics of the features, and thresholds of the features, by counts over shards."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arithmetic.shared import once
from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.methods.shards.sums import summed
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.support.sparse_rows import SparseRows
from rankstudio.engine.support.work import Waiting

Keys = NDArray[np.uint64]

_SIGN_BIT = np.uint64(1 << 63)
_MOST_COUNTS = 2_000_000  # maximum size of the counts that a shard returns


def order_statistics(
    data: TrainingData, ranks: Ints, activity: str, features: Ints | None = None
) -> Waiting[Floats]:
    """Return the values of each feature at some ranks, as sorting would give them, shape (n, ranks).

    Rank 0 is the smallest value. With the columns ``features`` (n,),
    the result has rows only for these. ``activity`` describes the work
    in progress events. The generator yields progress events, and then
    returns the result.

    Notes
    -----
    O(n m log m) per pass, with 8 passes; up to 64 passes for many
    ranks. A single pass of O(nm) for a single shard.

    Examples
    --------
    >>> import numpy as np
    >>> from rankstudio.api import QueryData, finish, order_statistics, training_data
    >>> X = np.array([[0.0, 3.0], [1.0, 2.0], [2.0, 1.0], [4.0, 0.0]])
    >>> data = training_data(QueryData(X, np.array([0.0, 1.0, 0.0, 2.0]), np.array([0, 2, 4])))
    >>> finish(order_statistics(data, np.array([0, 3]), "sorting")).tolist()
    [[0.0, 4.0], [0.0, 3.0]]
    """
    features = np.arange(data.X.shape[1]) if features is None else features
    if not data.several:  # a single shard
        (values,) = yield from summed(data, activity, _partitioned, features, ranks)
        return np.asarray(values)
    # A value is stored as an integer of 64 bits, its key, which has the
    # same order. Each pass over the shards finds the next digit of all
    # keys, from the front. A digit has 8 bits, or fewer if the counts
    # of all digits would take too much memory.
    keys = np.zeros((features.size, ranks.size), dtype=np.uint64)
    # A digit of b bits has 2^b counts for each key.
    bits = next(b for b in (8, 4, 2, 1) if keys.size << b <= _MOST_COUNTS or b == 1)
    for shift in range(64 - bits, -1, -bits):
        (counts,) = yield from summed(
            data, activity, _counts, features, keys, shift, bits
        )
        # counts (n, ranks, digits) are the numbers of documents with
        # keys up to each digit. The key at a rank has the smallest
        # digit whose count exceeds the rank.
        digits = np.count_nonzero(counts <= ranks[:, None], axis=-1)
        keys |= digits.astype(np.uint64) << np.uint64(shift)
    return _values(keys)


def _partitioned(data: QueryData, features: Ints, ranks: Ints) -> tuple[Floats]:
    """Return the values at some ranks of each of ``features``, from all documents at once, (n, ranks)."""
    if data.sparse:
        return (_sparse_values_at_ranks(data.X.kept(features), ranks),)
    columns = (np.ascontiguousarray(data.X[:, j]) for j in features)
    return (np.stack([np.partition(column, ranks)[ranks] for column in columns]),)


def _sparse_values_at_ranks(X: SparseRows, ranks: Ints) -> Floats:
    """Return the values at some ranks (r,) of each sparse column, shape (n, r), O(N log N) for N entries.

    In the order of a column's values, its zeros come after the negative
    and before the positive entries.
    """
    csc = X.csc
    n = X.shape[1]
    column = np.repeat(np.arange(n), np.diff(csc.indptr))
    n_entries = np.diff(csc.indptr)[:, None]
    sorted_entries = csc.data[np.lexsort((csc.data, column))]  # within each column
    n_negative = np.bincount(column[csc.data < 0], minlength=n)[:, None]
    n_zeros = len(X) - n_entries
    is_negative = ranks < n_negative
    is_positive = ranks >= n_negative + n_zeros
    # Position of each rank in the sorted entries of all columns. Zeros
    # are not stored, so that positive entries are further to the front.
    index = np.where(is_positive, ranks - n_zeros, ranks) + csc.indptr[:-1, None]
    is_nonzero = is_negative | is_positive
    # Ranks of zeros have no entry: they read the 0 that is appended.
    index = np.where(is_nonzero, index, sorted_entries.size)
    return np.where(is_nonzero, np.append(sorted_entries, 0.0)[index], 0.0)


def _counts(
    data: QueryData, features: Ints, prefixes: Keys, shift: int, bits: int
) -> tuple[Floats]:
    """Return the number of documents with keys up to each prefix followed by each digit, (n, ranks, digits).

    A key is an unsigned integer in the order of a feature's values.
    ``prefixes`` (n, ranks) are the digits of keys that earlier passes
    have determined. A key's digit has ``bits`` bits, of which the
    lowest is at ``shift``; lower bits are all counted. The greatest
    digit is omitted, because its count is not needed. ``data`` has the
    documents.
    """
    digits = np.arange((1 << bits) - 1, dtype=np.uint64) << np.uint64(shift)
    all_lower_bits = np.uint64((1 << shift) - 1)
    out = np.empty((*prefixes.shape, digits.size))
    # A binary search in the sorted keys of a feature counts those up to
    # a number. All lower bits are 1 in this number, so that keys with
    # the same digit are counted.
    for row, j, prefix in zip(out, features, prefixes, strict=True):
        keys = np.sort(_keys(np.ascontiguousarray(data.X[:, j])))
        row[:] = np.searchsorted(
            keys, prefix[:, None] | digits | all_lower_bits, side="right"
        )
    return (out,)


def _keys(values: Floats) -> Keys:
    """Return unsigned integers with the same order as the values: all bits of negative values are inverted.

    Of other values, only the sign bit is inverted, so that they come
    after the negative ones.
    """
    bits = values.view(np.uint64)
    return np.where(bits & _SIGN_BIT, ~bits, bits | _SIGN_BIT)


def _values(keys: Keys) -> Floats:
    """Return the values whose keys, unsigned integers with the same order, these are."""
    return np.where(keys & _SIGN_BIT, keys ^ _SIGN_BIT, ~keys).view(np.float64)


_PROGRESS_TEXT = "finding thresholds"


@dataclass(frozen=True, eq=False)
class Thresholds:
    """Ascending thresholds of each feature, concatenated.

    Attributes
    ----------
    values : ndarray of shape (t,)
    starts : ndarray of shape (n + 1,)
        Feature j has the thresholds ``values[starts[j]:starts[j +
        1]]``; a constant feature has none.
    fewer : ndarray of shape (n,), bool
        Mask of the features with more distinct values than the thresholds separate.
    """

    values: Floats
    starts: Ints
    fewer: Bools

    def of(self, feature: int) -> Floats:
        """Return the thresholds of one feature, a column, ascending."""
        return self.values[self.starts[feature] : self.starts[feature + 1]]

    def narrowed(self, columns: tuple[int, ...]) -> Thresholds:
        """Return the thresholds of some features, in the order of ``columns``."""
        return _joined_thresholds(
            [self.of(column) for column in columns], self.fewer[list(columns)]
        )


@dataclass(frozen=True, eq=False)
class FewValues:
    """Distinct values of each feature, if they are few: a summand that is combined over shards by union.

    A shard is a part of the data with whole queries.

    Attributes
    ----------
    most : int
        Maximum number of values of a feature.
    values : tuple of ndarray
        Distinct values of each feature, ascending; empty for a feature
        with more than ``most`` values.
    """

    most: int
    values: tuple[Floats, ...]

    def __add__(self, other: FewValues) -> FewValues:
        pairs = zip(self.values, other.values, strict=True)
        return FewValues(
            self.most, tuple(self._union(left, right) for left, right in pairs)
        )

    def _union(self, left: Floats, right: Floats) -> Floats:
        """Return the distinct values of a feature in both parts; empty if there are too many.

        ``left`` and ``right`` are the distinct values of each part; an
        empty one has too many.
        """
        # One part has too many by itself.
        if not (left.size and right.size):
            return np.empty(0)
        return _values_if_few(np.union1d(left, right), self.most)


def thresholds(data: TrainingData, max_values: int, ranks: int) -> Waiting[Thresholds]:
    """Return the thresholds of each feature, at which weak rankers or trees may divide the documents.

    The generator yields progress events, and then returns the result.
    Thresholds are values of documents. A feature with up to
    ``max_values`` distinct values has all of these except the largest.
    For other features, they are the values at ``ranks`` evenly spaced
    ranks. The thresholds of all features are cached, also for data with
    some of the features.

    Notes
    -----
    O(nm log m) per pass, with a single pass if no feature has many values.
    """
    # Data with some of the features take them from the data with all features.
    if data.source is not None:
        return (yield from thresholds(data.source, max_values, ranks)).narrowed(
            data.columns
        )
    return (
        yield from once(
            data.shared.of(_FoundThresholds).found,
            (max_values, ranks),
            _find_thresholds(data, max_values, ranks),
        )
    )


def even_thresholds(data: TrainingData, intervals: int) -> Waiting[Thresholds]:
    """Return the thresholds that divide the range of each feature into intervals of equal width.

    The thresholds are cached. For data with some of the features, the
    thresholds come from the data with all features. The generator
    yields progress events, and then returns the result.

    Notes
    -----
    O(nm) for a single shard, for m documents and n features; 8 passes
    of O(nm log m) otherwise.
    """
    # `source` are the data with all features, `columns` those of these data.
    if data.source is not None:
        return (yield from even_thresholds(data.source, intervals)).narrowed(
            data.columns
        )
    cached_thresholds = data.shared.of(_FoundThresholds).even
    return (
        yield from once(
            cached_thresholds, intervals, _find_even_thresholds(data, intervals)
        )
    )


@dataclass
class _FoundThresholds:
    """Cache of one dataset's thresholds.

    Attributes
    ----------
    found : dict of (int, int) to Thresholds
        Thresholds at values of documents, by the arguments
        ``max_values`` and ``ranks``.
    even : dict of int to Thresholds
        Evenly spaced thresholds, by the number of intervals.
    """

    found: dict[tuple[int, int], Thresholds] = field(default_factory=dict)
    even: dict[int, Thresholds] = field(default_factory=dict)


def _find_thresholds(
    data: TrainingData, max_values: int, ranks: int
) -> Waiting[Thresholds]:
    """Return the thresholds of all features.

    The thresholds of a feature are all of its distinct values but the
    largest. If it has more than ``max_values`` distinct values, the
    thresholds are those at ``ranks`` evenly spaced ranks of the sorted
    documents. ``data`` are the training documents. The generator yields
    progress events, and then returns the result.
    """
    # The distinct values of each feature with few, united over the
    # shards; above the largest, there is nothing to divide.
    (distinct,) = yield from summed(data, _PROGRESS_TEXT, _few_values, max_values)
    feature_thresholds = [values[:-1] for values in distinct.values]
    # Features with many values, for which the distinct values are empty.
    many: Ints = np.flatnonzero([not values.size for values in distinct.values])
    if many.size:
        rank_positions = np.arange(1, ranks + 1) * data.y.size // (ranks + 1) - 1
        at_ranks = yield from order_statistics(
            data, rank_positions, _PROGRESS_TEXT, many
        )
        for feature, values in zip(many.tolist(), at_ranks, strict=True):
            # + 0.0 turns -0 into 0.
            feature_thresholds[feature] = np.unique(values + 0.0)
    # The mask of the features with fewer thresholds than different values.
    fewer = np.zeros(len(feature_thresholds), dtype=np.bool_)
    fewer[many] = True
    return _joined_thresholds(feature_thresholds, fewer)


def _find_even_thresholds(data: TrainingData, intervals: int) -> Waiting[Thresholds]:
    """Return the thresholds between intervals of equal width of each feature; none where a feature is constant."""
    ranks_of_extremes = np.array([0, data.y.size - 1])  # least and greatest value
    extremes = yield from order_statistics(data, ranks_of_extremes, _PROGRESS_TEXT)
    shares = np.arange(1, intervals) / intervals
    # Between the smallest and the largest value; rounding may make thresholds equal.
    feature_thresholds = [
        np.unique((1.0 - shares) * low + shares * high) if low < high else np.empty(0)
        for low, high in extremes.tolist()
    ]
    # All features are marked as having more values than the thresholds separate.
    return _joined_thresholds(
        feature_thresholds, np.ones(len(feature_thresholds), dtype=np.bool_)
    )


def _joined_thresholds(feature_thresholds: list[Floats], fewer: Bools) -> Thresholds:
    """Return the thresholds of n features, an array for each, as one object.

    ``fewer`` (n,) is True for features with more values than the
    thresholds separate. In the object, the thresholds of all features
    follow one another.
    """
    starts = np.cumsum([0, *(values.size for values in feature_thresholds)]).astype(
        np.int64
    )
    return Thresholds(
        values=np.concatenate(feature_thresholds), starts=starts, fewer=fewer
    )


def _few_values(data: QueryData, max_values: int) -> tuple[FewValues]:
    """Return the distinct values of each feature, or none if there are more than ``max_values``.

    The result can be added to those of other shards, which unites the
    values. ``data`` has the documents of the shard. A shard is a part
    of the data with whole queries.
    """
    columns = (np.ascontiguousarray(data.X[:, j]) for j in range(data.X.shape[1]))
    return (
        FewValues(
            max_values,
            tuple(_values_if_few(np.unique(column), max_values) for column in columns),
        ),
    )


def _values_if_few(values: Floats, max_values: int) -> Floats:
    """Return the values of a feature, with -0 as 0, or none if there are too many.

    ``values`` are the distinct values, ascending. If there are more
    than ``max_values``, the result is an empty array.
    """
    return values + 0.0 if values.size <= max_values else np.empty(0)
