"""Shards are cut by the sizes of queries alone."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rankstudio.engine.support.shard import shards_of


@given(st.lists(st.integers(1, 9), min_size=1, max_size=40), st.integers(1, 12))
def test_shards_hold_all_queries_in_order_and_are_as_large_as_they_may(
    sizes: list[int], documents: int
) -> None:
    ptr = np.cumsum([0, *sizes])
    shards = shards_of(ptr, documents)
    assert (shards[0].first_query, shards[-1].end_query) == (0, len(sizes))
    assert all(
        a.end_query == b.first_query and a.end_row == b.first_row
        for a, b in pairwise(shards)
    )
    for shard in shards:
        assert (shard.first_row, shard.end_row) == (
            ptr[shard.first_query],
            ptr[shard.end_query],
        )
        assert shard.n_documents <= documents or shard.n_queries == 1
        if shard.end_query < len(sizes):
            assert ptr[shard.end_query + 1] - shard.first_row > documents
