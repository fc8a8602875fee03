"""Preferences as a value; drawn from labels."""

import numpy as np
import pytest
from wording import naming

from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.data.preferences import (
    Preferences,
    sample_preferences,
)
from rankstudio.engine.errors import DatasetError, ParameterError


def test_numbers_stand_for_all_and_nobody_can_write_to_them() -> None:
    winner = np.array([0, 2, 0])
    preferences = Preferences(winner, [1, 1, 1], 2.0)
    assert len(preferences) == 3
    assert preferences.magnitude.tolist() == [2.0, 2.0, 2.0]
    assert preferences.weight.tolist() == [1.0, 1.0, 1.0]
    winner[0] = 7
    assert preferences.winner.tolist() == [0, 2, 0]
    for array in (
        preferences.winner,
        preferences.loser,
        preferences.magnitude,
        preferences.weight,
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 5


def test_they_follow_rows_that_are_put_in_order() -> None:
    values = np.array([10, 11, 12, 13])
    order = np.array([2, 0, 3, 1])
    moved = Preferences([0, 3], [1, 2], [1, 2], [3, 4]).in_order(order)
    assert values[order][moved.winner].tolist() == [10, 13]
    assert values[order][moved.loser].tolist() == [11, 12]
    assert (moved.magnitude.tolist(), moved.weight.tolist()) == ([1.0, 2.0], [3.0, 4.0])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ([0.5], [1]),
            "winner: expected a list of row numbers, whole numbers from 0 up, got [0.5].",
        ),
        (
            ([True], [1]),
            "winner: expected a list of row numbers, whole numbers from 0 up, got [True].",
        ),
        (([-1], [1]), "winner: expected row numbers from 0 up, got -1."),
        (([0, 1], [1]), "loser: expected 2, one per winner, got '1 rows'."),
        (
            ([0, 1], [1, 1]),
            "loser: expected a document other than the winner in preference 1, got 1.",
        ),
        (
            ([0], [1], [0.0]),
            "magnitude: expected numbers greater than 0, from 1e-30 to 1e+30, got 0.0.",
        ),
        (
            ([0], [1], 1.0, [np.nan]),
            "weight: expected numbers greater than 0, from 1e-30 to 1e+30, got nan.",
        ),
        (([0], [1], "much"), "magnitude: expected numbers greater than 0, got 'much'."),
        (
            ([0, 2], [1, 1], [1.0]),
            "magnitude: expected a number, or 2 numbers, one per preference, got 'shape (1,)'.",
        ),
    ],
)
def test_what_is_no_preference_is_refused(
    arguments: tuple[object, ...], sentence: str
) -> None:
    with pytest.raises(ParameterError) as refused:
        Preferences(*arguments)  # type: ignore[arg-type]
    assert str(refused.value) == sentence


def make(seed: int = 0) -> RankingDataset:
    rng = np.random.default_rng(seed)
    qid = np.sort(rng.integers(0, 12, 80))
    return RankingDataset.from_arrays(rng.random((80, 2)), rng.integers(0, 4, 80), qid)


def every(data: RankingDataset) -> set[tuple[int, int]]:
    q = data.query_index
    return set(
        zip(*np.nonzero((q[:, None] == q) & (data.y[:, None] > data.y)), strict=True)
    )


def test_all_of_them_are_every_pair_of_different_labels_once() -> None:
    for seed in range(5):
        ranking = make(seed)
        drawn = sample_preferences(ranking)
        pairs = list(zip(drawn.winner, drawn.loser, strict=True))
        assert len(pairs) == len(set(pairs))
        assert set(pairs) == every(ranking)
        np.testing.assert_array_equal(
            drawn.magnitude, ranking.y[drawn.winner] - ranking.y[drawn.loser]
        )


def test_a_share_is_drawn_without_repetition_and_alike_for_a_seed() -> None:
    ranking = make()
    drawn = sample_preferences(ranking, 0.3, seed=4)
    repeated = sample_preferences(ranking, 0.3, seed=4)
    assert len(drawn) == round(0.3 * len(every(ranking)))
    pairs = set(zip(drawn.winner, drawn.loser, strict=True))
    assert len(pairs) == len(drawn)
    assert pairs <= every(ranking)
    assert repeated.winner.tolist() == drawn.winner.tolist()
    assert (
        sample_preferences(ranking, 0.3, seed=5).winner.tolist()
        != drawn.winner.tolist()
    )
    assert len(sample_preferences(ranking, 1e-9)) == 1


def test_noise_turns_preferences_round() -> None:
    ranking = make()
    turned = sample_preferences(ranking, noise=1.0)
    assert set(zip(turned.loser, turned.winner, strict=True)) == every(ranking)
    assert (turned.magnitude > 0).all()
    noisy = sample_preferences(ranking, noise=0.25)
    share = np.mean(ranking.y[noisy.winner] < ranking.y[noisy.loser])
    assert 0.1 < share < 0.4


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"share": 0.0}, "share: expected a number greater than 0 up to 1, got 0.0."),
        ({"noise": 1.5}, "noise: expected a number from 0 up to 1, got 1.5."),
        ({"seed": -1}, "seed: expected a whole number from 0 up, got -1."),
    ],
)
def test_numbers_out_of_range_are_refused(
    arguments: dict[str, float], sentence: str
) -> None:
    with pytest.raises(ParameterError) as refused:
        sample_preferences(make(), **arguments)  # type: ignore[arg-type]
    assert str(refused.value) == sentence


def test_equal_labels_give_no_preference() -> None:
    data = RankingDataset.from_arrays(np.eye(4), [1, 1, 0, 0], [1, 1, 2, 2])
    with pytest.raises(DatasetError, match=naming("labels")):
        sample_preferences(data)
