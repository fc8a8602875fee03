"""Chosen values at the ends of a grid are told: better ones may lie beyond."""

from __future__ import annotations

import pytest
from experiment.runs import fold, path, result

from rankstudio.cli.output.run_summary import summary

GRID = (0.25, 1.0, 4.0)


@pytest.mark.parametrize(
    ("chosen", "told"),
    [
        ((0.25,), ["λ = 2^-2 is the smallest value tried"]),
        ((4.0,), ["λ = 2^2 is the largest value tried"]),
        ((1.0,), []),
        ((0.25, 1.0, 0.25), ["smallest value tried, is chosen in 2 of 3 folds"]),
        (
            (0.25, 4.0),
            ["smallest value tried, is chosen in 1 of 2", "largest value tried, is chosen in 1 of 2"],
        ),
    ],
)
def test_ends_of_a_grid_are_told(chosen: tuple[float, ...], told: list[str]) -> None:
    folds = [
        fold(number, [0.5], paths=(path(number, [0.5], at=value),)) for number, value in enumerate(chosen, 1)
    ]
    run = result(folds, parameters={"regularization": GRID})
    assert len(run.notes) == len(told)
    for note, text in zip(run.notes, told, strict=True):
        assert text in note.what.replace("\u207b\u00b2", "^-2").replace("\u00b2", "^2")
    assert summary(run).count("Note: ") == len(told)


@pytest.mark.parametrize("values", [1.0, (0.25, 1.0)])
def test_fewer_than_three_values_have_no_ends_to_tell(values: object) -> None:
    run = result([fold(1, [0.5], paths=(path(1, [0.5], at=0.25),))], parameters={"regularization": values})
    assert run.notes == ()
