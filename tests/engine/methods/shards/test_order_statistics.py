"""Order statistics by counts: the values that sorting finds, whatever they are."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rankstudio.engine.arrays import Floats
from rankstudio.engine.methods.shards.order_statistics import order_statistics
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.support import threads
from rankstudio.engine.support.work import finish


@given(
    arrays(np.float64, (25, 2), elements=st.floats(allow_nan=False)), st.integers(1, 26)
)
def test_they_are_those_of_the_sorted_values(X: Floats, documents: int) -> None:
    data = TrainingData(X, np.zeros(25), np.arange(0, 26, 5), documents=documents)
    ranks = np.array([0, 3, 12, 12, 23, 24])
    with threads.at_most(1):
        found = finish(order_statistics(data, ranks, "sorting"))
    assert np.array_equal(found, np.sort(X, axis=0)[ranks].T)


def test_many_of_them_are_found_in_more_passes() -> None:
    X = np.random.default_rng(0).standard_normal((4000, 5))
    data = TrainingData(X, np.zeros(4000), np.arange(0, 4001, 100), documents=1000)
    ranks = np.arange(4000)
    assert np.array_equal(
        finish(order_statistics(data, ranks, "sorting")), np.sort(X, axis=0).T
    )
