"""A measure laid out by two grids: the best of all else in each cell, as by hand."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from rankstudio.engine.analysis.tried_models.grid_map import grid_map, grid_pairs
from rankstudio.engine.experiment.plan.plan import Plan

NAN = float("nan")
JUDGED = Plan(
    "small",
    "greedy-rankrls",
    {"regularization": (1.0, 2.0)},
    ranker="kernel-rankrls",
    ranker_parameters={"regularization": (0.5, 1.0, 2.0), "gamma": (0.25, 4.0)},
)


def test_pairs_are_those_of_grids_with_several_values_one_methods_first() -> None:
    assert grid_pairs(JUDGED.axes) == ((2, 1), (1, 0), (2, 0))
    assert grid_pairs(Plan("small", "rankrls").axes) == ()
    one = {"regularization": (1.0,), "gamma": (0.5, 1.0)}
    assert grid_pairs(Plan("small", "kernel-rankrls", one).axes) == ()


@pytest.mark.parametrize("higher", [True, False])
def test_each_cell_has_the_best_of_everything_else(higher: bool) -> None:
    rng = np.random.default_rng(3)
    combinations = [one.values for one in JUDGED.combinations]
    curves = [(np.arange(1, 5), np.round(rng.random(4), 1)) for _ in combinations]
    curves[2][1][:] = NAN
    curves[5] = np.empty(0, dtype=np.int64), np.empty(0)
    best = max if higher else min
    found = grid_map(JUDGED.axes, combinations, (2, 1), lambda at: curves[at], higher)
    for (i, gamma), (j, value) in product(
        enumerate((0.25, 4.0)), enumerate((0.5, 1.0, 2.0))
    ):
        inside = [
            at for at, one in enumerate(combinations) if one[1:] == (value, gamma)
        ]
        seen = [
            (v, at, k)
            for at in inside
            for k, v in zip(*curves[at], strict=True)
            if not np.isnan(v)
        ]
        worth = best(v for v, _, _ in seen)
        _, position, place = next(one for one in seen if one[0] == worth)
        assert found.values[i, j] == worth
        assert (found.combinations[i, j], found.lengths[i, j]) == (position, place)
        assert found.cell((gamma, value)) == (i, j)
    assert found.best is not None
    assert found.values[found.best] == (np.nanmax if higher else np.nanmin)(
        found.values
    )
    assert found.cell((0.3, 1.0)) is None


def test_nothing_measured_is_an_empty_map() -> None:
    combinations = [one.values for one in JUDGED.combinations]
    found = grid_map(
        JUDGED.axes,
        combinations,
        (2, 1),
        lambda _: (np.empty(0, dtype=np.int64), np.empty(0)),
    )
    assert np.isnan(found.values).all()
    assert (found.combinations == -1).all()
    assert found.best is None
