"""Rows permuted within their queries."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from rankstudio.engine.statistics.row_permutation import permuted_rows


def test_rows_stay_in_their_queries() -> None:
    ptr = np.array([0, 3, 4, 9])
    orders = [permuted_rows(ptr, 0, number) for number in range(50)]
    for order in orders:
        for first, last in pairwise(ptr):
            assert sorted(order[first:last]) == list(range(first, last))
    assert len({tuple(order) for order in orders}) > 40
    np.testing.assert_array_equal(orders[7], permuted_rows(ptr, 0, 7))
