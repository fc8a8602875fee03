"""Rows that are kept packed come back with every bit, and take what the formula says."""

from __future__ import annotations

import pickle

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rankstudio.engine.support.packed_rows import (
    IndexTuples,
    PackedRows,
    PlainRows,
    packed_rows,
)

PATTERNS = st.sampled_from(
    [0, 1 << 63, 0x7FF8 << 48, 0xFFF8 << 48, 0x7FF8_0000_0000_0001, 0x3FF0 << 48]
)
"""Bits of 0, -0, NaN, NaN with a sign, NaN with a payload, 1."""
MATRICES = arrays(
    np.uint64,
    st.tuples(st.integers(1, 6), st.integers(0, 20)),
    elements=st.one_of(PATTERNS, st.integers(0, 2**64 - 1)),
)


def bits(row: np.ndarray) -> list[int]:
    return row.view(np.int64).tolist()


@given(MATRICES, st.sampled_from([0.0, np.nan]))
def test_every_bit_comes_back(pattern: np.ndarray, fill: float) -> None:
    rows = list(pattern.view(np.float64))
    for kept in (
        packed_rows(rows, fill),
        *([PackedRows.of(rows, fill)] if rows[0].size else []),
    ):
        for there in (kept, pickle.loads(pickle.dumps(kept))):
            assert [bits(there.row(k)) for k in range(len(rows))] == [
                bits(row) for row in rows
            ]


TUPLES = st.lists(st.integers(0, 400), max_size=6).map(tuple)
PATHS = TUPLES.flatmap(
    lambda whole: st.lists(
        st.integers(0, len(whole)).map(lambda k: whole[:k]), min_size=1
    )
)


@given(PATHS | st.lists(TUPLES, min_size=1, max_size=8))
def test_tuples_come_back(rows: list[tuple[int, ...]]) -> None:
    kept = IndexTuples.of(rows)
    found = [kept.row(k) for k in range(len(rows))]
    assert found == rows
    assert all(type(column) is int for row in found for column in row)
    for k, row in enumerate(rows):
        before, added = rows[k - 1] if k else (), kept.added(k)
        assert row in (added, before + added)
        if rows == sorted(rows, key=len) and all(
            row == rows[-1][: len(row)] for row in rows
        ):
            assert len(added) == len(row) - len(before), (
                "the shortest, as this is what is fast"
            )


def test_a_path_of_all_features_takes_what_the_formula_says() -> None:
    n = 300
    rng = np.random.default_rng(0)
    lower = np.tril(rng.random((n, n)))
    kept = packed_rows(list(lower), 0.0)
    values, places, starts, headers = (
        8 * n * (n + 1) // 2,
        n * -(-n // 8),
        8 * (n + 1),
        3 * 112,
    )
    assert kept.n_bytes == values + places + starts + headers
    assert IndexTuples.of([tuple(range(k)) for k in range(n)]).flat.nbytes == 2 * (
        n - 1
    )


def test_few_of_many_take_little() -> None:
    rows = [np.zeros(100_000) for _ in range(3)]
    for k, row in enumerate(rows):
        row[[k, 99_999]] = 0.1
    kept = packed_rows(rows, 0.0)
    assert isinstance(kept, PackedRows)
    assert kept.n_bytes < sum(row.nbytes for row in rows) / 60


def test_arrays_that_would_not_become_smaller_or_are_one_stay_the_objects_they_are() -> (
    None
):
    full = list(np.random.default_rng(0).random((3, 50)))
    assert all(packed_rows(full, 0.0).row(k) is row for k, row in enumerate(full))
    one = np.zeros(50)
    kept = packed_rows([one, one, one], 0.0)
    assert isinstance(kept, PlainRows) and kept.row(2) is one
    other = [np.zeros(50, dtype=np.float32), np.zeros(50, dtype=np.float32)]
    assert packed_rows(other, 0.0).row(0) is other[0]
