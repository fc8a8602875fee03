"""RankBoost by shards: the thresholds and rounds of the whole."""

from __future__ import annotations

from dataclasses import fields, replace
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

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.errors import FewerThresholdsWarning
from rankstudio.engine.methods.shards.order_statistics import Thresholds, thresholds
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.steps import Step
from rankstudio.engine.support import threads
from rankstudio.engine.support.work import Note, finish
from rankstudio.plugins.baselines import rankboost
from rankstudio.plugins.baselines.rankboost import BoostStep, RankBoost


def rounds(found: list[Step]) -> list[BoostStep]:
    return [step for step in found if isinstance(step, BoostStep)]


@pytest.mark.parametrize("n_thresholds", [None, 6])
@settings(max_examples=6)
@given(documents=st.integers(1, 90), seed=st.integers(0, 5))
def test_rounds_are_those_of_the_whole(
    n_thresholds: int | None, documents: int, seed: int
) -> None:
    data = problem(seed=seed, rounded=False)
    method = RankBoost(8, n_thresholds=n_thresholds)
    with threads.at_most(1):
        whole, sharded = (
            rounds(steps(method, d)) for d in (data, cut(data, documents))
        )
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


def test_many_values_are_tried_at_ranks_as_far_apart_as_they_can_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(0)
    X = np.stack(
        [rng.standard_normal(3000), rng.integers(0, 256, 3000), np.zeros(3000)], axis=1
    )
    X[:, 2] = np.where(rng.random(3000) < 0.9, 0.0, rng.standard_normal(3000))
    y, ptr = (
        np.clip(np.round(X[:, 0] + rng.standard_normal(3000)), 0, 2),
        np.arange(0, 3001, 30),
    )
    found = finish(thresholds(TrainingData(X, y, ptr, documents=400), 256, 255))
    sorted_ = np.sort(X, axis=0)
    assert found.of(0).tolist() == [
        sorted_[k * 3000 // 256 - 1, 0] for k in range(1, 256)
    ]
    assert found.of(1).tolist() == list(range(255))
    assert found.fewer.tolist() == [True, False, True]
    own = found.of(2)
    assert (np.diff(own) > 0).all()
    assert set(own) <= set(X[:, 2])
    assert own.size < 60
    monkeypatch.setattr(rankboost, "MOST_VALUES", 256)
    (step,) = rounds(steps(RankBoost(1), cut(QueryData(X, y, ptr), 400)))
    values, labels = X[:, 0].reshape(100, 30), y.reshape(100, 30)
    better = labels[:, :, None] > labels[:, None, :]
    won = better.sum(axis=2) - better.sum(axis=1)
    gains = [int(won[values > theta].sum()) for theta in found.of(0)]
    (weak,) = step.thresholds
    assert (weak.feature, weak.theta) == (0, found.of(0)[np.argmax(gains)])
    assert np.tanh(weak.weight) == pytest.approx(max(gains) / better.sum(), rel=1e-12)


@given(st.integers(1, 120), st.integers(0, 3), st.sampled_from([3, 20, 255]))
def test_thresholds_do_not_depend_on_the_shards(
    documents: int, seed: int, most: int
) -> None:
    data = problem(seed=seed)
    X = data.X.copy()
    X[::7, 0] *= -0.0  # and so has a sign where it is 0
    data = replace(data, X=X)

    def found(documents: int) -> Thresholds:
        with threads.at_most(1):
            return finish(thresholds(cut(data, documents), most, most - 1))

    assert_same_thresholds(found(documents), found(data.y.size))
    for j, column in enumerate(data.X.T):
        values = np.unique(column)
        if values.size <= most:
            assert found(documents).of(j).tolist() == values[:-1].tolist()


def assert_same_thresholds(one: Thresholds, other: Thresholds) -> None:
    for field in fields(Thresholds):
        assert (
            getattr(one, field.name).tobytes() == getattr(other, field.name).tobytes()
        )


def test_thresholds_of_some_features_are_cut_out() -> None:
    data = cut(problem(60), 40)
    narrow = data.narrowed((3, 1))
    expected = finish(thresholds(cut(problem(60), 40), 20, 19)).narrowed((3, 1))
    assert_same_thresholds(finish(thresholds(narrow, 20, 19)), expected)
    assert not list(thresholds(narrow.narrowed((1,)), 20, 19))  # without another pass


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


@pytest.mark.parametrize(("n_values", "told"), [(100, 0), (101, 1)])
def test_the_number_of_values_alone_decides_whether_all_are_tried(
    n_values: int, told: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rankboost, "MOST_VALUES", 100)
    rng = np.random.default_rng(1)
    values = np.concatenate(
        [np.arange(n_values), rng.integers(0, n_values, 300 - n_values)]
    )
    data = QueryData(
        values[:, None].astype(float),
        rng.integers(0, 3, 300) * 1.0,
        np.arange(0, 301, 30),
    )
    for whole_or_cut in (data, cut(data, 60)):
        notes = [
            note for note in RankBoost(2).work(whole_or_cut) if isinstance(note, Note)
        ]
        assert [note.kind for note in notes] == [FewerThresholdsWarning] * told
