"""Conventions: how the order of runs depends on them, and a note where one was made for other labels."""

from __future__ import annotations

from math import nan

import pytest
from wording import naming

from rankstudio.engine.analysis.measurements.conventions import (
    convention_note,
    convention_rows,
    reversed_pairs,
)


def test_places_and_reversed_pairs() -> None:
    methods = {1: "a", 2: "b", 3: "c", 4: "d"}
    means = {
        1: {"x": 0.3, "y": 0.1},
        2: {"x": 0.2, "y": 0.2},
        3: {"x": 0.2, "y": 0.3},
        4: {"x": nan, "y": 0.0},
    }
    rows = convention_rows(methods, means, "MAP")
    assert [row.ranks for row in rows] == [
        {"x": 1, "y": 3},
        {"x": 2, "y": 2},
        {"x": 2, "y": 1},
        {"y": 4},
    ]
    assert reversed_pairs(rows, "x", "y") == (2, 3)
    assert reversed_pairs(rows, "x", "x") == (0, 3)
    lower = convention_rows(methods, means, "Disagreement")
    assert [row.ranks.get("y") for row in lower] == [2, 3, 4, 1]


def test_labels_above_two_are_named_with_the_convention_that_knows_them() -> None:
    said = convention_note(None, 4.0, "letor4")
    assert said.startswith("Labels go up to 4, but LETOR 4.0 assumes 0–2")
    assert naming("MSLR 2").search(said)


@pytest.mark.parametrize(
    ("known", "greatest", "key"),
    [
        ("mslr", 4.0, "letor4"),
        (None, 2.0, "letor4"),
        (None, 4.0, "mslr"),
        (None, 4.0, "ranklib"),
    ],
)
def test_nothing_is_said_of_labels_that_are_in_order(
    known: str | None, greatest: float, key: str
) -> None:
    assert not convention_note(known, greatest, key)
