"""Preferences as a value: what they hold, and what they refuse."""

import numpy as np
import pytest

from rankstudio.engine.data.preferences.preferences import Preferences
from rankstudio.engine.errors import ParameterError


def test_numbers_stand_for_all_and_nobody_can_write_to_them() -> None:
    winner = np.array([0, 2, 0])
    preferences = Preferences(winner, [1, 1, 1], 2.0)
    assert len(preferences) == 3
    assert preferences.magnitude.tolist() == [2.0, 2.0, 2.0]
    assert preferences.weight.tolist() == [1.0, 1.0, 1.0]
    winner[0] = 7
    assert preferences.winner.tolist() == [0, 2, 0]
    for array in (preferences.winner, preferences.loser, preferences.magnitude, preferences.weight):
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
        (([0.5], [1]), "winner: expected a list of row numbers, whole numbers from 0 up, got [0.5]."),
        (([True], [1]), "winner: expected a list of row numbers, whole numbers from 0 up, got [True]."),
        (([-1], [1]), "winner: expected row numbers from 0 up, got -1."),
        (([0, 1], [1]), "loser: expected 2, one per winner, got '1 rows'."),
        (([0, 1], [1, 1]), "loser: expected a document other than the winner in preference 1, got 1."),
        (
            ([0], [1], [0.0]),
            "magnitude: expected numbers greater than 0, from 1e-30 to 1e+30, got 0.0.",
        ),
        (([0], [1], 1.0, [np.nan]), "weight: expected numbers greater than 0, from 1e-30 to 1e+30, got nan."),
        (([0], [1], "much"), "magnitude: expected numbers greater than 0, got 'much'."),
        (
            ([0, 2], [1, 1], [1.0]),
            "magnitude: expected a number, or 2 numbers, one per preference, got 'shape (1,)'.",
        ),
    ],
)
def test_what_is_no_preference_is_refused(arguments: tuple[object, ...], sentence: str) -> None:
    with pytest.raises(ParameterError) as refused:
        Preferences(*arguments)  # type: ignore[arg-type]
    assert str(refused.value) == sentence
