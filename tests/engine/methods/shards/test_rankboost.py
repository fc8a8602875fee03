"""RankBoost by shards: the thresholds and rounds of the whole."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sharded_problems import (
    assert_one_shard_is_whole,
    assert_same_bits,
    assert_same_everywhere,
    cut,
    problem,
    steps,
)

from rankstudio.engine.arrays import Floats
from rankstudio.engine.errors import FewerThresholdsWarning
from rankstudio.engine.methods.rankers.rankboost import BoostStep, RankBoost
from rankstudio.engine.methods.shards.sharded_data import ShardedQueryData
from rankstudio.engine.methods.shards.thresholds import thresholds
from rankstudio.engine.querywise.query_data import QueryData
from rankstudio.engine.steps import Note, Step, finish
from rankstudio.engine.support import threads


def rounds(found: list[Step]) -> list[BoostStep]:
    return [step for step in found if isinstance(step, BoostStep)]


@settings(max_examples=12)
@given(documents=st.integers(1, 90), seed=st.integers(0, 5))
def test_rounds_are_those_of_the_whole(documents: int, seed: int) -> None:
    data = problem(seed=seed, rounded=False)
    with threads.at_most(1):
        whole, sharded = (rounds(steps(RankBoost(8), d)) for d in (data, cut(data, documents)))
    assert [step.selected for step in sharded] == [step.selected for step in whole]
    m, before = data.y.size, 0.0
    for one, other in zip(whole[-1].thresholds, sharded[-1].thresholds, strict=True):
        assert (other.feature, other.theta) == (one.feature, one.theta)
        # Both sums of |weights| of documents are at most twice that of the pairs; each is rounded m times at
        # most, and a score that was off by d before changes the weights by 2d, the sums and so r by 4d. The
        # weight ½ ln((1 + r) / (1 - r)) = artanh r has the slope 1 / (1 - r²).
        error = (4 * m * np.finfo(float).eps + 4 * before) * np.cosh(one.weight) ** 2
        assert abs(other.weight - one.weight) <= error
        before += error
    for one, other in zip(whole, sharded, strict=True):
        assert other.criterion == pytest.approx(one.criterion, rel=2 * before)


def test_many_values_are_tried_at_ranks_as_far_apart_as_they_can_be() -> None:
    rng = np.random.default_rng(0)
    X = np.stack([rng.standard_normal(3000), rng.integers(0, 256, 3000), np.zeros(3000)], axis=1)
    X[:, 2] = np.where(rng.random(3000) < 0.9, 0.0, rng.standard_normal(3000))
    y, ptr = np.clip(np.round(X[:, 0] + rng.standard_normal(3000)), 0, 2), np.arange(0, 3001, 30)
    found = finish(thresholds(ShardedQueryData(X, y, ptr, documents=400), 255))
    sorted_ = np.sort(X, axis=0)
    assert found[0].tolist() == [sorted_[k * 3000 // 256 - 1, 0] for k in range(1, 256)]
    assert found[1].tolist() == list(range(255))
    own = found[2][np.isfinite(found[2])]
    assert (np.diff(own) > 0).all()
    assert set(own) <= set(X[:, 2])
    assert own.size < 60
    (step,) = rounds(steps(RankBoost(1), cut(QueryData(X, y, ptr), 400)))
    values, labels = X[:, 0].reshape(100, 30), y.reshape(100, 30)
    better = labels[:, :, None] > labels[:, None, :]
    won = better.sum(axis=2) - better.sum(axis=1)
    gains = [int(won[values > theta].sum()) for theta in found[0]]
    (weak,) = step.thresholds
    assert (weak.feature, weak.theta) == (0, found[0][np.argmax(gains)])
    assert np.tanh(weak.weight) == pytest.approx(max(gains) / better.sum(), rel=1e-12)


@given(st.integers(1, 120), st.integers(0, 3), st.sampled_from([3, 20, 255]))
def test_thresholds_do_not_depend_on_the_shards(documents: int, seed: int, most: int) -> None:
    data = problem(seed=seed)
    X = data.X.copy()
    X[::7, 0] *= -0.0  # and so has a sign where it is 0
    data = replace(data, X=X)

    def found(documents: int) -> Floats:
        with threads.at_most(1):
            return finish(thresholds(cut(data, documents), most))

    assert found(documents).tobytes() == found(data.y.size - 1).tobytes()
    for row, column in zip(found(documents), data.X.T, strict=True):
        values = np.unique(column)
        if values.size <= most + 1:
            assert row[np.isfinite(row)].tolist() == values[:-1].tolist()


def test_thresholds_of_some_features_are_cut_out() -> None:
    data = cut(problem(60), 40)
    narrow = data.narrowed((3, 1))
    expected = finish(thresholds(cut(problem(60), 40), 20))[[3, 1]]
    assert np.array_equal(finish(thresholds(narrow, 20)), expected)
    assert not list(thresholds(narrow.narrowed((1,)), 20))  # without another pass


def test_the_same_bits_everywhere(tmp_path: Path) -> None:
    assert_same_everywhere(RankBoost(5), problem(60), tmp_path)
    assert_one_shard_is_whole(RankBoost(5), problem())


def test_it_ends_where_every_pair_is_in_order_or_none_can_be() -> None:
    data = problem()
    easy = QueryData(data.X, (data.X[:, 2] < 0.5).astype(float), data.ptr)
    assert len(steps(RankBoost(), cut(easy, 40))) == 1
    for X, y in ((np.ones_like(data.X), data.y), (data.X, np.zeros_like(data.y))):
        same = QueryData(X, y, data.ptr)
        assert_same_bits(steps(RankBoost(), cut(same, 40)), steps(RankBoost(), same))


@pytest.mark.parametrize(("n_values", "told"), [(256, 0), (257, 1)])
def test_it_says_where_it_tries_fewer_thresholds_than_in_memory(n_values: int, told: int) -> None:
    rng = np.random.default_rng(1)
    values = np.concatenate([np.arange(n_values), rng.integers(0, n_values, 300 - n_values)])
    data = QueryData(values[:, None].astype(float), rng.integers(0, 3, 300) * 1.0, np.arange(0, 301, 30))
    for whole_or_cut, expected in ((data, 0), (cut(data, 60), told)):
        notes = [note for note in RankBoost(2).work(whole_or_cut) if isinstance(note, Note)]
        assert [note.kind for note in notes] == [FewerThresholdsWarning] * expected
