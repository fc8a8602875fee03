"""Preferences drawn from labels."""

import numpy as np
import pytest
from wording import naming

from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.data.preferences.preferences import sample_preferences
from rankstudio.engine.errors import DatasetError, ParameterError


def make(seed: int = 0) -> RankingDataset:
    rng = np.random.default_rng(seed)
    qid = np.sort(rng.integers(0, 12, 80))
    return RankingDataset.from_arrays(rng.random((80, 2)), rng.integers(0, 4, 80), qid)


def every(data: RankingDataset) -> set[tuple[int, int]]:
    q = data.query_index
    return set(zip(*np.nonzero((q[:, None] == q) & (data.y[:, None] > data.y)), strict=True))


def test_all_of_them_are_every_pair_of_different_labels_once() -> None:
    for seed in range(5):
        data = make(seed)
        found = sample_preferences(data)
        pairs = list(zip(found.winner, found.loser, strict=True))
        assert len(pairs) == len(set(pairs))
        assert set(pairs) == every(data)
        np.testing.assert_array_equal(found.magnitude, data.y[found.winner] - data.y[found.loser])


def test_a_share_is_drawn_without_repetition_and_alike_for_a_seed() -> None:
    data = make()
    found, again = sample_preferences(data, 0.3, seed=4), sample_preferences(data, 0.3, seed=4)
    assert len(found) == round(0.3 * len(every(data)))
    pairs = set(zip(found.winner, found.loser, strict=True))
    assert len(pairs) == len(found)
    assert pairs <= every(data)
    assert again.winner.tolist() == found.winner.tolist()
    assert sample_preferences(data, 0.3, seed=5).winner.tolist() != found.winner.tolist()
    assert len(sample_preferences(data, 1e-9)) == 1


def test_noise_turns_preferences_round() -> None:
    data = make()
    turned = sample_preferences(data, noise=1.0)
    assert set(zip(turned.loser, turned.winner, strict=True)) == every(data)
    assert (turned.magnitude > 0).all()
    some = sample_preferences(data, noise=0.25)
    share = np.mean(data.y[some.winner] < data.y[some.loser])
    assert 0.1 < share < 0.4


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"share": 0.0}, "share: expected a number greater than 0 up to 1, got 0.0."),
        ({"noise": 1.5}, "noise: expected a number from 0 up to 1, got 1.5."),
        ({"seed": -1}, "seed: expected a whole number from 0 up, got -1."),
    ],
)
def test_numbers_out_of_range_are_refused(arguments: dict[str, float], sentence: str) -> None:
    with pytest.raises(ParameterError) as refused:
        sample_preferences(make(), **arguments)  # type: ignore[arg-type]
    assert str(refused.value) == sentence


def test_equal_labels_give_no_preference() -> None:
    data = RankingDataset.from_arrays(np.eye(4), [1, 1, 0, 0], [1, 1, 2, 2])
    with pytest.raises(DatasetError, match=naming("labels")):
        sample_preferences(data)
