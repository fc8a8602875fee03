"""The order of runs by several conventions."""

from __future__ import annotations

from math import nan

from rankstudio.engine.analysis.convention_order import convention_rows, reversed_pairs


def test_places_and_reversed_pairs() -> None:
    methods = {1: "a", 2: "b", 3: "c", 4: "d"}
    means = {
        1: {"x": 0.3, "y": 0.1},
        2: {"x": 0.2, "y": 0.2},
        3: {"x": 0.2, "y": 0.3},
        4: {"x": nan, "y": 0.0},
    }
    rows = convention_rows(methods, means, "MAP")
    assert [row.places for row in rows] == [{"x": 1, "y": 3}, {"x": 2, "y": 2}, {"x": 2, "y": 1}, {"y": 4}]
    assert reversed_pairs(rows, "x", "y") == (2, 3)
    assert reversed_pairs(rows, "x", "x") == (0, 3)
    lower = convention_rows(methods, means, "Disagreement")
    assert [row.places.get("y") for row in lower] == [2, 3, 4, 1]
