"""What holds for a run of every method of the catalog, and of every ranker after a selector."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from experiment.small import dataset, quick
from wording import naming

from rankstudio.engine.errors import DatasetError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.events import (
    RunFinished,
    RunStarted,
    StepDone,
    UnitProgress,
    UnitStarted,
)
from rankstudio.engine.experiment.results.results import PathResult, RunResult
from rankstudio.engine.experiment.runner import run
from rankstudio.engine.experiment.units.fold_context import make_fold_context
from rankstudio.engine.methods.catalog import Method, methods
from rankstudio.engine.methods.catalog.method import StepKind

every_method = pytest.mark.parametrize("entry", methods(), ids=lambda entry: entry.key)
every_ranker = pytest.mark.parametrize(
    "ranker",
    [entry for entry in methods() if not entry.selects],
    ids=lambda entry: entry.key,
)


def plan_for(entry: Method) -> Plan:
    return Plan("small", entry.key, quick(entry))


def ranked_by(
    ranker: Method, method: str = "single-feature", **parameters: object
) -> Plan:
    return Plan(
        "small", method, parameters, ranker=ranker.key, ranker_parameters=quick(ranker)
    )


def finished(plan: Plan, folds: int = 1) -> tuple[RunStarted, RunResult]:
    started, *_, ended = run(plan, dataset(folds))
    assert isinstance(started, RunStarted)
    assert isinstance(ended, RunFinished)
    return started, ended.result


@cache
def ran(key: str) -> tuple[RunStarted, RunResult]:
    """The run of a method over two folds."""
    return finished(
        plan_for(next(entry for entry in methods() if entry.key == key)), folds=2
    )


def check_path(path: PathResult, plan: Plan, most: int) -> None:
    """Steps are counted from 1, no more than were announced, and every one is measured."""
    assert path.step_kind is plan.step_kind
    assert [step.number for step in path.steps] == list(range(1, len(path.steps) + 1))
    assert 1 <= len(path.steps) <= most
    assert (np.diff(path.x_values) > 0).all()
    for name in plan.evaluated:
        assert path.validation[name].shape == (len(path.steps),)
        assert np.isfinite(path.validation[name]).all()
    for step in path.steps:
        assert len(set(step.selected)) == len(step.selected)
        assert set(np.flatnonzero(step.coef)) <= set(step.selected)
        assert np.isfinite(step.criterion)


@every_method
def test_a_run_finishes_with_measures(entry: Method) -> None:
    plan, (started, result) = plan_for(entry), ran(entry.key)
    assert result.complete
    for fold in result.folds:
        assert len(fold.paths) == 1
        check_path(fold.paths[0], plan, started.steps_per_unit)
        assert fold.selected
        for measures in (
            fold.validation,
            fold.test,
            fold.baseline.validation,
            fold.baseline.test,
        ):
            assert set(measures) == set(plan.evaluated)
            assert np.isfinite(list(measures.values())).all()
    assert set(result.average) == set(result.baseline) == set(plan.evaluated)


@every_method
def test_a_run_that_is_not_asked_for_more_stops(entry: Method) -> None:
    events = run(plan_for(entry), dataset(2))
    for event in events:
        if isinstance(event, StepDone):
            break
    events.close()  # threads that were left would fail the test
    assert list(events) == []


@every_method
def test_a_path_at_once_has_the_bits_of_the_path_step_by_step(entry: Method) -> None:
    by_step = ran(entry.key)[1].folds[0].paths[0]
    at_once = make_fold_context(plan_for(entry), dataset(2).folds[0]).path(by_step.unit)
    assert [step.selected for step in at_once.steps] == [
        step.selected for step in by_step.steps
    ]
    np.testing.assert_array_equal(at_once.criterion, by_step.criterion)
    for name, values in by_step.validation.items():
        np.testing.assert_array_equal(at_once.validation[name], values)


@every_method
def test_of_iterations_the_last_is_the_model_of_all_others_the_best(
    entry: Method,
) -> None:
    fold = ran(entry.key)[1].folds[0]
    path = fold.paths[0]
    best = int(path.validation["MAP"].argmax())
    position = len(path.steps) - 1 if entry.step_kind is StepKind.ITERATIONS else best
    assert fold.chosen.step is path.steps[position]
    assert fold.validation["MAP"] == path.validation["MAP"][position]


@pytest.mark.parametrize(("part", "factor"), [("train", 1e160), ("vali", 1e-200)])
@every_method
def test_a_feature_beyond_the_arithmetic_is_named_before_any_work(
    entry: Method, factor: float, part: str
) -> None:
    data = dataset(1)
    bad = getattr(data.folds[0], part)
    X = bad.X.copy()
    X[:, 4] *= factor
    names = (*bad.feature_names[:4], "BM25", bad.feature_names[5])
    fold = replace(data.folds[0], **{part: replace(bad, X=X, feature_names=names)})
    with pytest.raises(DatasetError, match=naming("5 BM25")):
        list(run(plan_for(entry), replace(data, folds=(fold,))))


@every_ranker
def test_every_ranker_ranks_with_what_another_method_selects(ranker: Method) -> None:
    plan = ranked_by(ranker)
    started, result = finished(plan)
    _, own = finished(Plan("small", "single-feature", {"regularization": 1.0}))
    path = result.folds[0].paths[0]
    check_path(path, plan, started.steps_per_unit)
    assert path.sizes.tolist() == path.x_values.tolist() == [1, 2, 3, 4, 5]
    # Who ranks has no say in what is selected.
    assert path.steps[-1].selected == own.folds[0].paths[0].steps[-1].selected
    assert np.isfinite(list(result.folds[0].test.values())).all()
    fresh = make_fold_context(plan, dataset(1).folds[0]).path(path.unit)
    np.testing.assert_array_equal(fresh.validation["MAP"], path.validation["MAP"])


@pytest.mark.parametrize(
    "entry",
    [entry for entry in methods() if entry.selects],
    ids=lambda entry: entry.key,
)
@pytest.mark.parametrize("ranker", ["rankrls", "ranksvm"])
def test_what_any_method_selects_is_ranked_with(entry: Method, ranker: str) -> None:
    ranker = next(m for m in methods() if m.key == ranker)
    plan = ranked_by(ranker, entry.key, **quick(entry))
    started, result = finished(plan)
    path = result.folds[0].paths[0]
    check_path(path, plan, started.steps_per_unit)
    assert plan.step_kind is StepKind.FEATURES
    last = path.steps[-1].selected
    assert all(step.selected == last[: len(step.selected)] for step in path.steps)


def test_features_are_selected_once_for_all_settings_of_the_ranker() -> None:
    plan = Plan(
        "small",
        "gas",
        ranker="ranksvm",
        ranker_parameters={"C": (0.1, 1.0), "max_iter": 3},
    )
    selecting, at = [], -1
    for event in run(plan, dataset(1)):
        if isinstance(event, UnitStarted):
            at = event.unit.position
        if (
            isinstance(event, UnitProgress)
            and event.working.what == "selecting features"
        ):
            selecting.append(at)
    assert set(selecting) == {0}
