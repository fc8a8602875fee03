"""Size against worth, by brute force over every model that was tried."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt
from statistics import mean, stdev

import numpy as np
import pytest
from experiment.runs import fold, path, result
from experiment.small import dataset, ended, partly_stored

from rankstudio.engine.analysis.tried_models.pareto import ParetoModel, pareto_front_of
from rankstudio.engine.data.dataset import Fold, FoldedDataset, RankingDataset
from rankstudio.engine.data.feature_costs import FeatureCosts
from rankstudio.engine.experiment.plan.combinations import ParameterCombination, Unit
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.path_steps import HeldSteps
from rankstudio.engine.experiment.results.results import PathResult, RunResult
from rankstudio.engine.experiment.runner import run
from rankstudio.engine.metrics.evaluator import Evaluator
from rankstudio.engine.statistics.mean_intervals import mean_intervals
from rankstudio.engine.steps import Step

DATA = dataset(3)


@pytest.fixture(scope="module")
def runs() -> list[RunResult]:
    plans = [
        Plan("small", parameters={"regularization": (0.25, 1.0, 4.0)}),
        Plan("small", "rankrls", {"regularization": (0.5, 8.0)}),
    ]
    return [ended(run(plan, DATA)) for plan in plans]


def every_model(
    runs: list[RunResult], name: str
) -> list[tuple[int, float, int, float, float]]:
    """Run, λ, size, mean and standard error of everything."""
    return [
        (
            number,
            folds[0].unit.values[0],
            int(folds[0].sizes[k]),
            mean(values),
            stdev(values) / sqrt(3),
        )
        for number, one in enumerate(runs)
        for folds in zip(*(f.paths for f in one.folds), strict=True)
        for k in range(len(folds[0].steps))
        for values in [[float(p.validation[name][k]) for p in folds]]
    ]


@pytest.mark.parametrize("name", ["MAP", "MeanNDCG"])
def test_every_size_has_its_best_setting_and_the_front_is_what_nothing_beats(
    runs: list[RunResult], name: str
) -> None:
    front = pareto_front_of(runs, name)
    assert front is not None
    tried = every_model(runs, name)
    for model in front.models:
        kin = [m for m in tried if m[0] == model.run and m[2] == model.size]
        at = max(kin, key=lambda m: m[3])
        assert (model.values[0], model.step) == (at[1], at[2])
        assert (model.mean, model.error) == pytest.approx(at[3:])
    assert len(front.models) == len({(m[0], m[2]) for m in tried})
    on_front = [front.models[i] for i in front.optimal]
    for model in front.models:
        beaten = any(m[2] <= model.size and m[3] > model.mean + 1e-12 for m in tried)
        assert not (model in on_front and beaten)
    assert [m.size for m in on_front] == sorted(m.size for m in on_front)


def test_the_smallest_model_within_a_standard_error_is_suggested(
    runs: list[RunResult],
) -> None:
    front = pareto_front_of(runs, "MAP")
    assert front is not None
    tried = every_model(runs, "MAP")
    top = max(m[3] for m in tried)
    best = min((m for m in tried if m[3] == top), key=lambda m: m[2])
    assert (front.models[front.best].size, front.models[front.best].mean) == (
        best[2],
        pytest.approx(top),
    )
    assert front.levels == pytest.approx([best[3] - best[4]] * len(front.optimal))
    assert not front.paired
    smallest = min(m[2] for m in tried if m[3] >= best[3] - best[4] - 1e-12)
    assert front.models[front.suggested].size == smallest


@pytest.mark.parametrize("milliseconds", [True, False])
def test_by_cost_the_front_is_what_no_model_at_all_beats(
    runs: list[RunResult], milliseconds: bool
) -> None:
    """Also of models of one size with different features, of which only one is the best of its size."""
    n = runs[0].feature_ids.size
    times = [(i, 0.01 * (i % 3), float(i % 2)) for i in range(1, n + 1)]
    costs = FeatureCosts(tuple(times), 20.0)
    told = (
        {"costs": costs.plain()}
        if milliseconds
        else {"parameters": {"costs": ((1, 5.0), (3, 0.5))}}
    )
    priced = [replace(runs[0], plan=runs[0].plan.changed(**told)), runs[1]]
    each = [
        20.0 * 0.01 * (i % 3) + i % 2 if milliseconds else {1: 5.0, 3: 0.5}.get(i, 1.0)
        for i in range(1, n + 1)
    ]
    tried = [
        (
            mean(sum(each[c] for c in p.steps[k].selected) for p in folds),
            mean(float(p.validation["MAP"][k]) for p in folds),
        )
        for one in priced
        for folds in zip(*(f.paths for f in one.folds), strict=True)
        for k in range(len(folds[0].steps))
    ]
    front = pareto_front_of(priced, "MAP", by="cost")
    assert front is not None and front.by == (
        "milliseconds" if milliseconds else "cost"
    )
    expected = {
        (round(x, 9), round(y, 9))
        for x, y in tried
        if not any(
            (a <= x + 1e-12 and b > y + 1e-12) or (a < x - 1e-12 and b >= y - 1e-12)
            for a, b in tried
        )
    }
    on_front = [front.models[i] for i in front.optimal]
    assert {(round(m.x, 9), round(m.mean, 9)) for m in on_front} == expected
    assert [m.x for m in on_front] == sorted(m.x for m in on_front)
    assert front.models[front.best].mean == pytest.approx(max(y for _, y in tried))
    paired = pareto_front_of(priced, "MAP", [DATA, DATA], "cost")
    assert paired is not None and paired.paired and paired.optimal == front.optimal
    assert pareto_front_of(runs, "MAP", by="cost") is None


def by_query(one: RunResult, model: ParetoModel, name: str) -> list[np.ndarray]:
    """A model's measure in each validation query, by retraining nothing and trusting no path."""
    at = [c.values for c in one.plan.combinations].index(model.values)
    front = []
    for done, data in zip(one.folds, DATA.folds, strict=True):
        path_there = done.paths[at]
        step = path_there.steps[path_there.x_values.tolist().index(model.step)]
        measuring = Evaluator(
            data.vali.y, data.vali.query_ptr, one.plan.convention, (name,)
        )
        front.append(
            measuring.per_query(step.scores(np.ascontiguousarray(data.vali.X.T)))[name]
        )
    return front


@pytest.mark.parametrize("name", ["MAP", "MeanNDCG"])
def test_with_documents_the_smallest_model_not_distinguished_from_the_best_is_suggested(
    runs: list[RunResult], name: str
) -> None:
    front = pareto_front_of(runs, name, [DATA, DATA])
    assert front is not None
    assert front.paired
    best = front.models[front.best]
    top = by_query(runs[best.run], best, name)
    close = []
    for position, level in zip(front.optimal, front.levels, strict=True):
        model = front.models[position]
        own = by_query(runs[model.run], model, name)
        less = mean_intervals([(a - b)[None] for a, b in zip(top, own, strict=True)])
        assert level == pytest.approx(best.mean - less.half[0])
        if less.low[0] <= 0:
            close.append(position)
    assert front.suggested == close[0]
    without = pareto_front_of(runs, name)
    assert without is not None
    assert (without.optimal, without.best) == (front.optimal, front.best)


def test_with_a_model_that_is_not_stored_of_each_fold_folds_are_compared() -> None:
    single = ended(run(Plan("small", parameters={"regularization": 1.0}), DATA))
    whole, partly = (
        pareto_front_of([one], "MAP", [DATA]) for one in (single, partly_stored(single))
    )
    over_folds = pareto_front_of([single], "MAP")
    assert (
        whole is not None
        and partly is not None
        and over_folds is not None
        and len(whole.optimal) > 1
    )
    assert whole.paired and not partly.paired and partly.levels == over_folds.levels


def test_folds_that_are_hard_for_all_models_hide_no_difference() -> None:
    """Between the folds the measure varies by far more than the models differ, in every query alike."""
    rng = np.random.default_rng(0)
    parts = []
    for number in range(1, 5):
        y = np.array([1.0, 0, 0, 0, 0, 0] * 60)
        better = y + rng.normal(0, 0.7 * number - 0.6, y.size)
        X = np.stack([better + rng.normal(0, 0.3, y.size), better], axis=1)
        ptr = np.arange(0, y.size + 1, 6)
        ids = tuple(str(q) for q in range(60))
        parts.append(
            Fold(
                number,
                *[RankingDataset(X, y, ptr, ids, np.array([1, 2]), ("a", "b"))] * 3,
            )
        )
    data = FoldedDataset("Hard", None, tuple(parts))
    folds = []
    for one in data.folds:
        steps = (
            Step(1, (0,), np.array([1.0, 0.0]), 0.0, np.zeros(0)),
            Step(2, (0, 1), np.array([0.0, 1.0]), 0.0, np.zeros(0)),
        )
        measuring = Evaluator(one.vali.y, one.vali.query_ptr, "letor4", ("MAP",))
        columns = np.ascontiguousarray(one.vali.X.T)
        worth = [measuring.evaluate(s.scores(columns))["MAP"] for s in steps]
        unit = Unit(one.number, 0, ParameterCombination(values=(1.0,)))
        folds.append(
            fold(
                one.number,
                [0.5],
                paths=(
                    PathResult(unit, HeldSteps(steps), {"MAP": np.array(worth)}, 1.0),
                ),
            )
        )
    results = [result(folds, convention="letor4")]
    over_folds, over_queries = (
        pareto_front_of(results, "MAP"),
        pareto_front_of(results, "MAP", [data]),
    )
    assert over_folds is not None
    assert over_queries is not None
    assert over_folds.models[over_folds.suggested].size == 1
    assert over_queries.models[over_queries.suggested].size == 2


def test_of_an_error_the_front_goes_down() -> None:
    values = ([0.4, 0.3, 0.32], [0.5, 0.35, 0.3])
    folds = [fold(i, [0.5], paths=(path(i, v),)) for i, v in enumerate(values, 1)]
    for one in folds:
        for p in one.paths:
            p.validation["Disagreement"] = p.validation["MAP"]  # type: ignore[index]
    front = pareto_front_of([result(folds)], "Disagreement")
    assert front is not None
    assert [front.models[i].mean for i in front.optimal] == pytest.approx(
        [0.45, 0.325, 0.31]
    )
    assert front.levels[0] == pytest.approx(0.31 + stdev([0.32, 0.3]) / sqrt(2))


def test_one_fold_has_no_standard_error_so_the_best_is_suggested() -> None:
    front = pareto_front_of(
        [result([fold(1, [0.5], paths=(path(1, [0.4, 0.6, 0.6]),))])], "MAP"
    )
    assert front is not None
    assert np.isnan(front.models[0].error)
    assert (front.best, front.suggested, front.levels) == (1, 1, (0.6, 0.6))


def test_folds_in_which_a_measure_is_not_defined_do_not_count() -> None:
    values = ([0.4, np.nan], [0.6, np.nan], [np.nan, np.nan])
    front = pareto_front_of(
        [
            result(
                [fold(i, [0.5], paths=(path(i, v),)) for i, v in enumerate(values, 1)]
            )
        ],
        "MAP",
    )
    assert front is not None
    [model] = front.models
    assert (model.size, model.mean) == (1, pytest.approx(0.5))
    assert model.error == pytest.approx(stdev([0.4, 0.6]) / sqrt(2))


def test_an_optimiser_s_last_iteration_is_its_model_though_folds_have_unequal_many() -> (
    None
):
    plan = Plan("small", "ranksvm", {"C": 1.0, "max_iter": 40})
    one = ended(run(plan, dataset()))
    front = pareto_front_of([one], "MAP")
    assert front is not None
    [model] = front.models
    assert model.size == 6
    assert model.mean == pytest.approx(
        mean(float(f.paths[0].validation["MAP"][-1]) for f in one.folds)
    )


def test_without_a_validation_part_there_is_nothing_to_hold_against_size(
    runs: list[RunResult],
) -> None:
    assert pareto_front_of(runs, "P@3") is None
    assert pareto_front_of([], "MAP") is None
