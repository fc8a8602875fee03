"""Drift of features against scipy, feature by feature and query by query."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, ks_2samp

from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.errors import DatasetError
from rankstudio.engine.support.work import finish
from rankstudio.plugins.drift.feature_drift import distribution_distance, feature_drift

samples = st.lists(st.integers(-3, 3).map(float), min_size=1, max_size=12).map(np.array)


@given(samples, samples)
def test_the_distance_is_that_of_scipy(first: np.ndarray, second: np.ndarray) -> None:
    assert distribution_distance(first, second) == pytest.approx(
        ks_2samp(first, second).statistic, abs=1e-12
    )


def drawn(
    seed: int, names: tuple[str, ...] = (), n: int = 11, shift: float = 0.0
) -> RankingDataset:
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(9), rng.integers(2, 7, 9))
    X = np.round(rng.normal(shift, 1 + shift, (qid.size, n)), 1)
    X[:, 2] = 4.0
    X[:, 3] = qid
    labels = rng.integers(0, 3, qid.size)
    return RankingDataset.from_arrays(
        X, labels, qid, **({"feature_names": names} if names else {})
    )


def taus(part: RankingDataset, column: int) -> float:
    """Return the mean of scipy's τ over the queries that have one."""
    found = []
    for begin, end in zip(part.query_ptr[:-1], part.query_ptr[1:], strict=True):
        values, labels = np.asarray(part.X)[begin:end, column], part.y[begin:end]
        if np.ptp(values) > 0 and np.ptp(labels) > 0:
            found.append(kendalltau(values, labels).statistic)
    return float(np.mean(found)) if found else float("nan")


def test_every_number_is_that_of_a_loop() -> None:
    first, second = drawn(1), drawn(2, shift=0.7)
    found = finish(feature_drift(first, second))
    assert sorted(one.feature for one in found) == list(range(1, 12))
    assert [one.distance for one in found] == sorted(
        (one.distance for one in found), reverse=True
    )
    for one in found:
        values = [np.asarray(part.X)[:, one.feature - 1] for part in (first, second)]
        assert one.distance == pytest.approx(ks_2samp(*values).statistic)
        deviation = values[0].std()
        if deviation:
            assert one.shift == pytest.approx(
                (values[1].mean() - values[0].mean()) / deviation
            )
            assert one.scale == pytest.approx(values[1].std() / deviation)
        else:
            assert np.isnan(one.shift) and np.isnan(one.scale) and one.feature == 3
        for part, own, share in zip((first, second), values, one.constant, strict=True):
            spans = zip(part.query_ptr[:-1], part.query_ptr[1:], strict=True)
            assert share == np.mean(
                [np.ptp(own[begin:end]) == 0 for begin, end in spans]
            )
        if one.feature not in (3, 4):
            expected = [taus(part, one.feature - 1) for part in (first, second)]
            assert one.correlation == pytest.approx(expected)


def test_the_same_data_have_no_drift() -> None:
    for one in finish(feature_drift(drawn(1), drawn(1))):
        assert one.distance == 0.0 and (
            one.feature == 3 or (one.shift, one.scale) == (0.0, 1.0)
        )


def test_features_are_matched_by_id_or_by_name() -> None:
    names = tuple(f"f{i}" for i in range(11))
    moved = drawn(2, names[::-1])
    by_name = {one.name: one for one in finish(feature_drift(drawn(1, names), moved))}
    assert by_name["f0"].distance == pytest.approx(
        ks_2samp(np.asarray(drawn(1).X)[:, 0], np.asarray(moved.X)[:, 10]).statistic
    )
    fewer = finish(feature_drift(drawn(1), drawn(2, n=5)))
    assert sorted(one.feature for one in fewer) == [1, 2, 3, 4, 5]
    other = drawn(2, tuple(f"g{i}" for i in range(11))).changed(
        feature_ids=np.arange(100, 111)
    )
    with pytest.raises(DatasetError):
        finish(feature_drift(drawn(1), other))
