"""Cross-fitted measures of finished runs: computed later they are those of the run itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from experiment.small import assert_same, dataset, ended, part, partly_stored, values_of
from representatives import every

from rankstudio.engine import cross_fitted
from rankstudio.engine.analysis.measurements.cross_fitting import (
    fitted_in_study,
    with_cross_fitted,
)
from rankstudio.engine.analysis.measurements.measurement import (
    Measurement,
    without_test,
)
from rankstudio.engine.analysis.measurements.remeasurement import Remeasurement
from rankstudio.engine.data.dataset import Fold, FoldedDataset
from rankstudio.engine.errors import DatasetError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.cross_fit import query_groups, query_subsets
from rankstudio.engine.experiment.results.part import Part
from rankstudio.engine.experiment.results.results import FoldResult, RunResult
from rankstudio.engine.experiment.results.unfitted import Unfitted
from rankstudio.engine.experiment.resume import run_stored
from rankstudio.engine.experiment.runner import run_plan
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.metrics.evaluator import average

GREEDY = Plan(
    "small",
    parameters={"regularization": (0.25, 4.0)},
    measures=("MAP", "P@2"),
    select_by="MAP",
)
TREES = Plan(
    "small",
    "lambdamart",
    {"n_rounds": 4, "min_data_in_leaf": 5},
    measures=("MAP", "P@2"),
)
RULES = {
    rule: GREEDY.changed(rule=rule)
    for rule in ("best", "at most 2", "one-se", "smallest")
}
KINDS = {
    **RULES,
    "trees": TREES,
    "boosting": TREES.changed(method="rankboost", parameters={"n_rounds": 5}),
}


def of_earlier_version(run: RunResult) -> RunResult:
    """A run as a study of a version without cross-fitted measures has it."""
    folds = [
        replace(
            fold,
            cross_fitted={},
            paths=tuple(replace(path, choices=None) for path in fold.paths),
        )
        for fold in run.folds
    ]
    return replace(run, folds=tuple(folds))


def sealed(run: RunResult) -> RunResult:
    return replace(run, folds=tuple(map(without_test, run.folds)))


def by_loop(fold: FoldResult, data: Fold, plan: Plan) -> np.ndarray:
    """Cross-fitted values of "best", from the scores of each model."""
    from rankstudio.engine.metrics.evaluator import Evaluator  # noqa: PLC0415 - brings numba

    assert data.vali is not None
    evaluator = Evaluator(
        data.vali.y,
        data.vali.query_ptr,
        plan.convention,
        ("MAP",),
        grading=data.vali.grading,
    )
    columns = np.ascontiguousarray(data.vali.X.T)
    rows = []
    known = None
    for path in fold.paths:
        for step in path.steps:
            known = (
                step.scores(columns, known) if step.additive else step.scores(columns)
            )
            rows.append(evaluator.per_query(known)["MAP"])
    values = np.array(rows)
    groups, subsets = query_groups(values.shape[1]), query_subsets(values.shape[1])
    fitted = np.zeros(values.shape[1])
    for split, row in enumerate(groups):
        for query, group in enumerate(row):
            subset = subsets[split * 5 + group]
            fitted[query] += values[
                average(np.ascontiguousarray(values[:, subset])).argmax(), query
            ]
    return fitted / len(groups)


@every("plan", {"best": GREEDY, "trees": TREES})
def test_a_run_has_the_values_of_a_plain_loop(plan: Plan) -> None:
    data = dataset(2)
    for fold, parts in zip(run_plan(plan, data).folds, data.folds, strict=True):
        np.testing.assert_allclose(
            fold.cross_fitted["MAP"], by_loop(fold, parts, plan), rtol=1e-12
        )


@every("plan", KINDS)
def test_computed_later_it_is_that_of_the_run(plan: Plan) -> None:
    data = dataset(2)
    run = run_plan(plan, data)
    assert sealed(run).part is Part.CROSS_FITTED
    again = cross_fitted(of_earlier_version(run), data)
    for fold, later in zip(run.folds, again.folds, strict=True):
        assert set(fold.cross_fitted) == {"MAP", "P@2"}
        assert values_of(later.cross_fitted) == values_of(fold.cross_fitted)
        assert later.test == fold.test


def test_only_the_cross_fitted_values_are_added_to_a_run_of_an_earlier_version() -> (
    None
):
    data = dataset(2)
    run = run_plan(GREEDY, data)
    earlier = of_earlier_version(run)
    again = with_cross_fitted(earlier, data)
    for fold, before, later in zip(run.folds, earlier.folds, again.folds, strict=True):
        assert values_of(later.cross_fitted) == values_of(fold.cross_fitted)
        assert replace(later, cross_fitted={}).__dict__ == before.__dict__
    assert with_cross_fitted(run, data) is run
    assert with_cross_fitted(earlier, None) is earlier
    assert with_cross_fitted(earlier, dataset(3)) is earlier


def test_another_measure_and_convention_is_that_of_a_run_with_them() -> None:
    data = dataset(2)
    run = run_plan(GREEDY, data)
    expected = run_plan(GREEDY.changed(measures=("MAP", "P@2", "ERR")), data)
    for first in (run, of_earlier_version(run)):
        again = cross_fitted(first, data, measure="ERR")
        for fold, later in zip(expected.folds, again.folds, strict=True):
            assert values_of(later.cross_fitted) == values_of(fold.cross_fitted)
    more = Remeasurement().with_measures(sealed(run), data, ["ERR"], sealed=True)
    assert more.part is Part.CROSS_FITTED
    for fold, later in zip(expected.folds, more.folds, strict=True):
        assert values_of(later.cross_fitted) == values_of(fold.cross_fitted)
    other = cross_fitted(run, data, convention="trec_eval")
    for fold, later, parts in zip(run.folds, other.folds, data.folds, strict=True):
        assert later.chosen is fold.chosen  # the run's convention still chooses
        assert parts.vali is not None
        assert later.cross_fitted["MAP"].shape == (parts.vali.n_queries,)


def test_a_sealed_study_of_an_earlier_version_is_measured_where_its_data_are() -> None:
    data = dataset(2)
    run = run_plan(GREEDY, data)
    earlier = of_earlier_version(run)
    assert sealed(earlier).part is Part.CHOSEN_ON
    measured = Remeasurement().run(
        earlier, data, Measurement("letor4", "MAP", sealed=True)
    )
    assert measured.part is Part.CROSS_FITTED
    assert measured.average == sealed(run).average


def test_models_that_are_not_stored_are_no_reason_for_an_optimistic_value() -> None:
    data = dataset(2)
    partly = partly_stored(run_plan(TREES, data))
    first = cross_fitted(of_earlier_version(partly), data).folds[0]
    assert not first.cross_fitted
    assert sealed(cross_fitted(of_earlier_version(partly), data)).part is Part.CHOSEN_ON
    anew = Remeasurement().run(
        partly, data, Measurement("letor4", "ERR", chooses=True, sealed=True)
    )
    assert not anew.folds[0].cross_fitted
    # What chooses is known by query, and the values that the path keeps are those of the run.
    kept = replace(
        partly, folds=tuple(replace(fold, cross_fitted={}) for fold in partly.folds)
    )
    again = cross_fitted(kept, data)
    for fold, later in zip(partly.folds, again.folds, strict=True):
        assert values_of(later.cross_fitted) == values_of(fold.cross_fitted)


def test_other_data_are_refused() -> None:
    run = run_plan(GREEDY, dataset(2))
    other = FoldedDataset(
        "Other", None, tuple(Fold(n, part(9), part(10), part(11)) for n in (1, 2))
    )
    with pytest.raises(DatasetError):
        cross_fitted(run, other)


def test_values_are_those_of_the_model_where_nothing_was_chosen_by_these_queries() -> (
    None
):
    data = dataset(2)
    one_model = Plan("small", "rankrls", {"regularization": (1.0,)}, measures=("MAP",))
    for plan in (
        one_model,
        GREEDY.changed(select_by="criterion", rule="best"),
        GREEDY.changed(select_by="leave-query-out MAP"),
    ):
        for fold, parts in zip(run_plan(plan, data).folds, data.folds, strict=True):
            assert parts.vali is not None
            for name, value in fold.validation.items():
                assert average(fold.cross_fitted[name]) == value


def few_queries() -> FoldedDataset:
    """A part of four queries, which any protocol divides."""
    return FoldedDataset(
        "Four queries", None, (Fold(1, part(5, queries=4), None, None),)
    )


def test_without_validation_queries_to_choose_by_nothing_is_claimed() -> None:
    data = dataset(1)
    fold = data.folds[0]
    unvalidated = FoldedDataset("No validation", None, (replace(fold, vali=None),))
    single = FoldedDataset("One query", None, (replace(fold, vali=part(4, queries=1)),))
    without = run_plan(GREEDY.changed(select_by="criterion"), unvalidated)
    alone = run_plan(GREEDY, single)
    assert sealed(without).part is Part.NONE
    assert without.unfitted is Unfitted.NO_VALIDATION
    assert sealed(alone).part is Part.CHOSEN_ON
    assert alone.unfitted is Unfitted.TOO_FEW
    earlier = of_earlier_version(alone)
    forgotten = tuple(replace(one, n_validation_queries=0) for one in earlier.folds)
    again = with_cross_fitted(replace(earlier, folds=forgotten), single)
    assert again.unfitted is Unfitted.TOO_FEW
    assert run_plan(
        GREEDY.changed(protocol="leave-query-out, nested 2-fold"), few_queries()
    ).unfitted is (Unfitted.LEFT_OUT_ONE_BY_ONE)
    few = FoldedDataset(
        "Three queries", None, (replace(fold, vali=part(4, queries=3)),)
    )
    assert sealed(run_plan(GREEDY, few)).part is Part.CROSS_FITTED


@every("plan", {"best": GREEDY, "trees": TREES})
def test_a_study_keeps_what_is_computed_later(plan: Plan, tmp_path: Path) -> None:
    data = dataset(2)
    with Study.create(tmp_path / "a.rankstudio") as study:
        run = ended(run_stored(plan, data, study))
        (summary,) = study.runs()
        key = summary.key
        stored = study.result(key)
        assert_same(stored, run)
        for fold in stored.folds:
            study.save_fold(key, replace(fold, cross_fitted={}))
        assert sealed(study.result(key)).part is Part.CHOSEN_ON
        study.save_cross_fitted(key, cross_fitted(study.result(key), data).folds)
        assert_same(study.result(key), run)
        other = replace(stored.folds[0], cross_fitted={"ERR": np.ones(3)}, selected=())
        study.save_cross_fitted(key, [other])
        assert_same(study.result(key), run)
    with Study.open(tmp_path / "a.rankstudio") as study:
        assert not study.damage()
        assert_same(study.result(key), run)


def test_a_study_computes_missing_values_once(tmp_path: Path) -> None:
    data = dataset(2)
    with Study.create(tmp_path / "a.rankstudio") as study:
        run = ended(run_stored(GREEDY, data, study))
        key = study.runs()[0].key
        for fold in run.folds:
            study.save_fold(key, replace(fold, cross_fitted={}, n_validation_queries=0))
        earlier = study.result(key)
        assert earlier.unfitted is Unfitted.NOT_STORED
        assert fitted_in_study(study, key, earlier, None) is earlier
        fitted = fitted_in_study(study, key, earlier, data)
        assert fitted.unfitted is None
        assert_same(study.result(key), fitted)
        assert fitted_in_study(study, key, study.result(key), None).unfitted is None
        for fold in run.folds:
            study.save_fold(key, replace(fold, cross_fitted={}))
        (tmp_path / "a.rankstudio").unlink()  # which cannot keep them
        assert fitted_in_study(study, key, earlier, data).unfitted is None
