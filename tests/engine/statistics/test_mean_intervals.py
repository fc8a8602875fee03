"""The interval of a mean difference, against Student's own and against the bootstrap."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_rel

from rankstudio.engine.errors import ParameterError
from rankstudio.engine.statistics.mean_intervals import mean_intervals, mean_p_values

NAN = float("nan")


@given(
    seed=st.integers(0, 10_000),
    folds=st.integers(1, 5),
    queries=st.integers(2, 40),
    level=st.sampled_from([0.5, 0.9, 0.95]),
)
def test_with_equal_folds_it_is_the_interval_of_the_paired_t(
    seed: int, folds: int, queries: int, level: float
) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.random((2, folds, 3, queries))
    found = mean_intervals(list(a - b), level)
    for pair in range(3):
        wanted = ttest_rel(a[:, pair].ravel(), b[:, pair].ravel()).confidence_interval(
            level
        )
        assert (found.low[pair], found.high[pair]) == pytest.approx(
            (wanted.low, wanted.high)
        )
        assert found.mean[pair] == pytest.approx((a[:, pair] - b[:, pair]).mean())
        wanted_p = ttest_rel(a[:, pair].ravel(), b[:, pair].ravel()).pvalue
        assert mean_p_values(list(a - b))[pair] == pytest.approx(wanted_p)


def test_with_unequal_folds_it_is_about_the_bootstrap_of_the_mean_over_folds() -> None:
    rng = np.random.default_rng(3)
    differences = [rng.normal(0.02, 0.1, (1, size)) for size in (150, 160, 140)]
    found = mean_intervals(differences)
    means = [
        np.mean([rng.choice(one[0], one.size).mean() for one in differences])
        for _ in range(4000)
    ]
    low, high = np.quantile(means, [0.025, 0.975])
    assert found.mean[0] == pytest.approx(np.mean([one.mean() for one in differences]))
    assert (found.low[0], found.high[0]) == pytest.approx((low, high), abs=1.5e-3)


def test_queries_without_a_value_do_not_count_nor_folds_without_queries() -> None:
    whole = mean_intervals([np.array([[0.1, 0.3, 0.2]]), np.array([[0.0, 0.4]])])
    holes = [
        np.array([[0.1, NAN, 0.3, 0.2]]),
        np.array([[NAN]]),
        np.array([[0.0, 0.4, NAN]]),
    ]
    found = mean_intervals(holes)
    assert (found.mean[0], found.half[0]) == pytest.approx(
        (whole.mean[0], whole.half[0])
    )


def test_one_query_has_a_mean_and_no_interval_and_none_has_neither() -> None:
    one = mean_intervals([np.array([[0.25], [NAN]])])
    assert one.mean[0] == 0.25
    assert np.isnan(one.half).all()
    assert np.isnan(one.mean[1])


@given(seed=st.integers(0, 10_000), level=st.sampled_from([0.5, 0.9, 0.95]))
def test_p_is_below_the_level_where_the_interval_leaves_out_zero(
    seed: int, level: float
) -> None:
    rng = np.random.default_rng(seed)
    differences = [rng.normal(0.1, 0.3, (6, size)) for size in (3, 9, 20)]
    found = mean_intervals(differences, level)
    outside = (found.low > 0) | (found.high < 0)
    assert (mean_p_values(differences) < 1.0 - level).tolist() == outside.tolist()


def test_p_of_equal_models_of_a_constant_difference_and_of_one_query() -> None:
    rows = np.array(
        [
            [0.0, 0.0, 0.0],
            [0.5, 0.5, 0.5],
            [0.5, -0.5, 0.0],
            [0.5, NAN, NAN],
            [NAN, NAN, NAN],
        ]
    )
    np.testing.assert_array_equal(mean_p_values([rows]), [1.0, 0.0, 1.0, NAN, NAN])


def test_equal_models_have_an_interval_without_length() -> None:
    assert mean_intervals([np.zeros((2, 5))]).half.tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    "differences",
    [
        [],
        [np.zeros(3)],
        [np.zeros((2, 3)), np.zeros((1, 3))],
        [np.full((1, 2), np.inf)],
    ],
)
def test_what_has_no_mean_is_refused(differences: list[np.ndarray]) -> None:
    with pytest.raises(ParameterError, match="differences"):
        mean_intervals(differences)
