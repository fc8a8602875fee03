"""Size against worth, by brute force over every model that was tried."""

from __future__ import annotations

from math import sqrt
from statistics import mean, stdev

import numpy as np
import pytest
from experiment.runs import fold, path, result
from experiment.small import dataset

from rankstudio.engine.analysis.pareto import pareto_front_of
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.events import RunFinished
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.experiment.runner import run


@pytest.fixture(scope="module")
def runs() -> list[RunResult]:
    data = dataset(3)
    plans = [
        Plan("small", parameters={"regularization": (0.25, 1.0, 4.0)}),
        Plan("small", "rankrls", {"regularization": (0.5, 8.0)}),
    ]
    return [e.result for plan in plans for e in run(plan, data) if isinstance(e, RunFinished)]


def every_model(runs: list[RunResult], name: str) -> list[tuple[int, float, int, float, float]]:
    """Run, λ, size, mean and standard error of everything."""
    return [
        (number, folds[0].unit.values[0], int(folds[0].sizes[k]), mean(values), stdev(values) / sqrt(3))
        for number, one in enumerate(runs)
        for folds in zip(*(f.paths for f in one.folds), strict=True)
        for k in range(len(folds[0].steps))
        for values in [[float(p.validation[name][k]) for p in folds]]
    ]


@pytest.mark.parametrize("name", ["MAP", "MeanNDCG"])
def test_every_size_has_its_best_setting_and_the_front_is_what_nothing_beats(
    runs: list[RunResult], name: str
) -> None:
    found = pareto_front_of(runs, name)
    assert found is not None
    tried = every_model(runs, name)
    for model in found.models:
        kin = [m for m in tried if m[0] == model.run and m[2] == model.size]
        at = max(kin, key=lambda m: m[3])
        assert (model.values[0], model.step) == (at[1], at[2])
        assert (model.mean, model.error) == pytest.approx(at[3:])
    assert len(found.models) == len({(m[0], m[2]) for m in tried})
    on_front = [found.models[i] for i in found.optimal]
    for model in found.models:
        beaten = any(m[2] <= model.size and m[3] > model.mean + 1e-12 for m in tried)
        assert not (model in on_front and beaten)
    assert [m.size for m in on_front] == sorted(m.size for m in on_front)


def test_the_smallest_model_within_a_standard_error_is_suggested(runs: list[RunResult]) -> None:
    found = pareto_front_of(runs, "MAP")
    assert found is not None
    tried = every_model(runs, "MAP")
    top = max(m[3] for m in tried)
    best = min((m for m in tried if m[3] == top), key=lambda m: m[2])
    assert (found.models[found.best].size, found.models[found.best].mean) == (best[2], pytest.approx(top))
    assert found.enough == pytest.approx(best[3] - best[4])
    smallest = min(m[2] for m in tried if m[3] >= best[3] - best[4] - 1e-12)
    assert found.models[found.suggested].size == smallest


def test_of_an_error_the_front_goes_down() -> None:
    values = ([0.4, 0.3, 0.32], [0.5, 0.35, 0.3])
    folds = [fold(i, [0.5], paths=(path(i, v),)) for i, v in enumerate(values, 1)]
    for one in folds:
        for p in one.paths:
            p.validation["Disagreement"] = p.validation["MAP"]  # type: ignore[index]
    found = pareto_front_of([result(folds)], "Disagreement")
    assert found is not None
    assert [found.models[i].mean for i in found.optimal] == pytest.approx([0.45, 0.325, 0.31])
    assert found.enough == pytest.approx(0.31 + stdev([0.32, 0.3]) / sqrt(2))


def test_one_fold_has_no_standard_error_so_the_best_is_suggested() -> None:
    found = pareto_front_of([result([fold(1, [0.5], paths=(path(1, [0.4, 0.6, 0.6]),))])], "MAP")
    assert found is not None
    assert np.isnan(found.models[0].error)
    assert (found.best, found.suggested, found.enough) == (1, 1, 0.6)


def test_folds_in_which_a_measure_is_not_defined_do_not_count() -> None:
    values = ([0.4, np.nan], [0.6, np.nan], [np.nan, np.nan])
    found = pareto_front_of(
        [result([fold(i, [0.5], paths=(path(i, v),)) for i, v in enumerate(values, 1)])], "MAP"
    )
    assert found is not None
    [model] = found.models
    assert (model.size, model.mean) == (1, pytest.approx(0.5))
    assert model.error == pytest.approx(stdev([0.4, 0.6]) / sqrt(2))


def test_an_optimiser_s_last_iteration_is_its_model_though_folds_have_unequal_many() -> None:
    plan = Plan("small", "ranksvm", {"C": 1.0, "max_iter": 40})
    [one] = [e.result for e in run(plan, dataset()) if isinstance(e, RunFinished)]
    found = pareto_front_of([one], "MAP")
    assert found is not None
    [model] = found.models
    assert model.size == 6
    assert model.mean == pytest.approx(mean(float(f.paths[0].validation["MAP"][-1]) for f in one.folds))


def test_without_a_validation_part_there_is_nothing_to_hold_against_size(runs: list[RunResult]) -> None:
    assert pareto_front_of(runs, "P@3") is None
    assert pareto_front_of([], "MAP") is None
