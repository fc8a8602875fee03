"""Order statistics of the features by counts over shards: exact, digit by digit of the numbers' bits."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.methods.shards.function import summed
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.support.work import WorkProgress

Keys = NDArray[np.uint64]

_SIGN = np.uint64(1 << 63)
_MOST_COUNTS = 2_000_000  # that a shard answers with


def order_statistics(
    data: TrainingData, ranks: Ints, what: str, features: Ints | None = None
) -> Generator[WorkProgress, None, Floats]:
    """Return the values of some ranks, from 0 for the least, of each feature, shape (n, ranks).

    They are values of the documents, those that sorting would find. Where ``features`` are given there are
    rows for those columns alone.

    Notes
    -----
    O(n m log m) a pass, and 8 passes; up to 64 where many ranks are asked for. One pass of O(nm) where there
    is a single shard.
    """
    features = np.arange(data.X.shape[1]) if features is None else features
    if not data.several:
        (values,) = yield from summed(data, what, _partitioned, features, ranks)
        return np.asarray(values)
    found = np.zeros((features.size, ranks.size), dtype=np.uint64)
    bits = next(b for b in (8, 4, 2, 1) if found.size << b <= _MOST_COUNTS or b == 1)
    for shift in range(64 - bits, -1, -bits):
        (counts,) = yield from summed(data, what, _counts, features, found, shift, bits)
        # The least digit up to which there are as many documents as the rank asks for.
        digits = np.count_nonzero(counts <= ranks[:, None], axis=-1)
        found |= digits.astype(np.uint64) << np.uint64(shift)
    return _values(found)


def _partitioned(data: QueryData, features: Ints, ranks: Ints) -> tuple[Floats]:
    columns = (np.ascontiguousarray(data.X[:, j]) for j in features)
    return (np.stack([np.partition(column, ranks)[ranks] for column in columns]),)


def _counts(data: QueryData, features: Ints, prefixes: Keys, shift: int, bits: int) -> tuple[Floats]:
    """Count the documents up to each prefix with each next digit but the greatest: (n, ranks, digits)."""
    digits = np.arange((1 << bits) - 1, dtype=np.uint64) << np.uint64(shift)
    rest = np.uint64((1 << shift) - 1)
    out = np.empty((*prefixes.shape, digits.size))
    for row, j, own in zip(out, features, prefixes, strict=True):
        keys = np.sort(_keys(np.ascontiguousarray(data.X[:, j])))
        row[:] = np.searchsorted(keys, own[:, None] | digits | rest, side="right")
    return (out,)


def _keys(values: Floats) -> Keys:
    """Return whole numbers in the order of the values: their bits, all turned for negative ones."""
    bits = values.view(np.uint64)
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def _values(keys: Keys) -> Floats:
    """Return the values of :func:`_keys`."""
    return np.where(keys & _SIGN, keys ^ _SIGN, ~keys).view(np.float64)
