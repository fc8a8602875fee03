"""Curves of runs: their points are the paths', their intervals Student's over the queries."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from experiment.small import dataset, ended, partly_stored
from scipy.stats import ttest_rel

from rankstudio.engine import evaluate
from rankstudio.engine.analysis.tried_models.run_costs import RunCosts, costs_of
from rankstudio.engine.analysis.tried_models.run_curves import (
    learning_curves,
    run_curves,
)
from rankstudio.engine.analysis.tried_models.tried_models import (
    tried_models,
    values_by_query,
)
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.experiment.runner import run

DATA = dataset(3)
COSTS = ((1, 5.0), (3, 0.5), (5, 2.0))


@pytest.fixture(scope="module")
def runs() -> list[RunResult]:
    plans = [
        Plan("small", parameters={"regularization": (0.25, 4.0), "costs": COSTS}),
        Plan("small", parameters={"regularization": 1.0, "pinned": (2, 4)}),
        Plan("small", "ranksvm", {"C": 1.0, "max_iter": 20}),
    ]
    return [ended(run(plan, DATA)) for plan in plans]


def test_a_curve_is_the_path_of_the_combination_with_the_best_mean(
    runs: list[RunResult],
) -> None:
    curves = run_curves(runs, "MAP", 0, [DATA] * 3)
    for one, curve in zip(runs, curves, strict=True):
        assert curve is not None
        means = {
            values: dict(zip(sizes, mean, strict=True))
            for values, sizes, mean in (
                (
                    one.plan.combinations[number].values,
                    [model.size for model in path],
                    [model.mean for model in path],
                )
                for number, path in enumerate(tried_models(one, "MAP"))
            )
        }
        assert max(means[curve.values].values()) == max(
            m for path in means.values() for m in path.values()
        )
        assert dict(zip(curve.x, curve.mean, strict=True)) == means[curve.values]
    assert len(curves[2].x) == 1  # an optimiser ends in one model
    assert np.isnan(curves[0].half).all()


def test_a_ranking_without_features_is_the_same_at_every_size(
    runs: list[RunResult],
) -> None:
    given = ended(run(Plan("small", "given-order"), DATA))
    reference, flat = run_curves([runs[0], given], "MAP", 0, [DATA] * 2)
    assert flat is not None and reference is not None
    assert (
        flat.x.tolist() == reference.x.tolist()
        and set(flat.lengths) == {0}
        and np.isnan(flat.sizes).all()
    )
    assert len(set(flat.mean)) == 1 and np.isfinite(flat.half).all()
    assert flat.difference == pytest.approx(flat.mean - reference.mean, abs=1e-12)
    (alone,) = run_curves([given], "MAP", 0, [DATA])
    assert alone is not None and alone.x.tolist() == [0.0]


@pytest.mark.parametrize("by", ["size", "cost", "seconds"])
def test_the_interval_is_that_of_the_paired_t_against_the_reference_no_further(
    runs: list[RunResult], by: str
) -> None:
    reference, curve = run_curves(runs[:2], "MAP", 0, [DATA] * 2, by)
    assert list(curve.x) == sorted(curve.x)
    worth = []
    for one, of in ((runs[0], reference), (runs[1], curve)):
        number = [c.values for c in one.plan.combinations].index(of.values)
        path = {model.x_value: model for model in tried_models(one, "MAP")[number]}
        steps = list(zip(*(path[place].steps for place in of.lengths), strict=True))
        worth.append(np.concatenate(values_by_query(one, DATA, steps, "MAP"), axis=1))
    for position, x in enumerate(curve.x):
        beside = max(
            [i for i, other in enumerate(reference.x) if other <= x], default=0
        )
        tested = ttest_rel(worth[1][position], worth[0][beside]).confidence_interval(
            0.95
        )
        assert curve.difference[position] == pytest.approx(
            curve.mean[position] - reference.mean[beside]
        )
        low, high = (
            curve.difference[position] + sign * curve.half[position] for sign in (-1, 1)
        )
        if not np.isnan(tested.low):
            assert (low, high) == pytest.approx((tested.low, tested.high))


def test_the_reference_has_the_interval_to_its_own_model_of_the_table(
    runs: list[RunResult],
) -> None:
    reference, other = run_curves(runs[:2], "MAP", 0, [DATA] * 2)
    assert reference is not None and other is not None and other.own_half is None
    assert reference.model is not None and reference.own_half is not None
    number = [c.values for c in runs[0].plan.combinations].index(reference.values)
    path = {model.x_value: model for model in tried_models(runs[0], "MAP")[number]}
    steps = list(zip(*(path[place].steps for place in reference.lengths), strict=True))
    worth = np.concatenate(values_by_query(runs[0], DATA, steps, "MAP"), axis=1)
    assert reference.own_half[reference.model] == 0
    for position in range(reference.x.size):
        tested = ttest_rel(worth[position], worth[reference.model]).confidence_interval(
            0.95
        )
        if not np.isnan(tested.low):
            assert reference.own_half[position] == pytest.approx(
                (tested.high - tested.low) / 2
            )
    (alone,) = run_curves(runs[:1], "MAP", None, [DATA])
    assert alone is not None and alone.own_half is None


def test_a_model_that_is_not_stored_of_each_fold_has_no_interval(
    runs: list[RunResult],
) -> None:
    single = replace(
        runs[1],
        folds=tuple(replace(fold, paths=fold.paths[:1]) for fold in runs[1].folds),
    )
    whole = run_curves([runs[0], single], "MAP", 0, [DATA] * 2)[1]
    partly = run_curves([runs[0], partly_stored(single)], "MAP", 0, [DATA] * 2)[1]
    assert whole is not None and partly is not None and np.isfinite(whole.half).all()
    assert (
        partly.mean.tolist() == whole.mean.tolist()
        and partly.half[-1] == whole.half[-1]
    )
    assert np.isnan(partly.half[:-1]).all() and np.isnan(partly.difference[:-1]).all()


def test_costs_are_those_that_a_plan_gives_and_1_for_the_others(
    runs: list[RunResult],
) -> None:
    assert costs_of(runs) == RunCosts(dict(COSTS), False)
    assert costs_of(runs[1:]) is None
    ones = runs[0].plan.changed(
        parameters={**runs[0].plan.parameters, "costs": ((1, 1.0),)}
    )
    assert costs_of([replace(runs[0], plan=ones)]) is None, (
        "then it is the number of features"
    )
    curve = run_curves(runs, "MAP", 0, [DATA] * 3, "cost")[0]
    number = [c.values for c in runs[0].plan.combinations].index(curve.values)
    path = {model.x_value: model for model in tried_models(runs[0], "MAP")[number]}
    for place, x in zip(curve.lengths, curve.x, strict=True):
        wanted = [
            sum(dict(COSTS).get(c + 1, 1.0) for c in step.selected)
            for step in path[place].steps
        ]
        assert x == pytest.approx(np.mean(wanted))


def test_over_seconds_each_run_is_its_best_model(runs: list[RunResult]) -> None:
    curves = run_curves(runs, "MAP", 1, [DATA] * 3, "seconds")
    sizes = run_curves(runs, "MAP", 1, [DATA] * 3)
    for one, curve, whole in zip(runs, curves, sizes, strict=True):
        assert list(curve.x) == [one.seconds]
        assert list(curve.mean) == [max(whole.mean)]


def test_what_cannot_be_paired_has_a_curve_and_says_why_there_is_no_interval(
    runs: list[RunResult],
) -> None:
    bare = FoldedDataset(
        "Small", None, tuple(replace(fold, vali=None) for fold in DATA.folds)
    )
    apart = replace(runs[1], data_name="Other")
    curves = run_curves([runs[0], apart, runs[1]], "MAP", 0, [DATA, DATA, bare])
    assert [curve.unpaired for curve in curves] == [
        "",
        "on Other, not on Small",
        "no validation documents",
    ]
    assert all(np.isnan(curve.half).all() and curve.x.size for curve in curves)
    without = run_curves([runs[0], runs[1]], "MAP", 0, [bare, DATA])
    assert without[1].unpaired == "no validation documents"
    assert run_curves(runs, "P@3", 0, [DATA] * 3) == (None, None, None)


def test_runs_that_differ_only_in_the_share_of_the_queries_are_a_learning_curve() -> (
    None
):
    plan = Plan("small", "single-feature", {"n_features_to_select": 2})
    plans = [
        plan,
        plan.changed(protocol="train 50%"),
        plan.changed(protocol="train 50%", seed=1),
        plan.changed(method="gas", parameters={}),
        plan.changed(protocol="train 60%"),
    ]
    assert learning_curves(plans) == [[1, 4, 0], [2], [3]]
    runs = [ended(run(one, DATA)) for one in (plans[0], plans[4])]
    whole, part = run_curves(runs, "MAP", 0, [DATA] * 2, "train")
    assert whole is not None and part is not None
    assert (whole.x.tolist(), part.x.tolist()) == ([100.0], [60.0])
    assert part.unpaired == "" and np.isnan(part.half).all()
    assert part.mean == pytest.approx(
        max(float(m.mean) for path in tried_models(runs[1], "MAP") for m in path)
    )


def test_on_the_test_part_the_models_are_those_of_validation_measured_anew(
    runs: list[RunResult],
) -> None:
    on_validation = run_curves(runs, "MAP", 0, [DATA] * 3)
    on_test = run_curves(runs, "MAP", 0, [DATA] * 3, part="test")
    for result, one, other in zip(runs, on_validation, on_test, strict=True):
        assert one is not None and other is not None
        assert (one.values, one.lengths) == (other.values, other.lengths)
        number = [c.values for c in result.plan.combinations].index(one.values)
        path = {model.x_value: model for model in tried_models(result, "MAP")[number]}
        for point, place in enumerate(one.lengths):
            folds = [
                evaluate(part.y, part.X @ step.coef, part.qid, measures=["MAP"])["MAP"]
                for part, step in zip(
                    (fold.test for fold in DATA.folds), path[place].steps, strict=True
                )
            ]
            assert other.mean[point] == pytest.approx(np.mean(folds), abs=1e-12)
    assert np.isfinite(on_test[1].half).all()
    untested = replace(
        DATA, folds=tuple(replace(fold, test=None) for fold in DATA.folds)
    )
    assert run_curves(runs[:1], "MAP", 0, [untested], part="test") == (None,)
