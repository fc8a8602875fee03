"""Choosing by left-out queries: equal to retraining, kept with the results, refused where there are none."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from experiment.small import assert_same, dataset, ended, relearned, unvalidated
from kernel_oracles import kernel_matrix, left_out_by_retraining
from scipy.stats import ttest_rel
from wording import naming

from rankstudio.engine import evaluate
from rankstudio.engine.arithmetic.query_data import group
from rankstudio.engine.errors import ParameterError, PlanError
from rankstudio.engine.experiment.plan.plan import CRITERION, Plan
from rankstudio.engine.experiment.plan.toml import load_plan, save_plan
from rankstudio.engine.experiment.reports import metrics_table, results_as_dict
from rankstudio.engine.experiment.results.results import PathResult
from rankstudio.engine.experiment.resume import run_stored
from rankstudio.engine.experiment.runner import run, run_plan
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.experiment.units.fold_context import (
    FoldContext,
    make_fold_context,
)
from rankstudio.engine.methods.left_out import first_twins
from rankstudio.engine.methods.rankers import rankrls_shards

MAP = "leave-query-out MAP"
GRID = {"regularization": (0.25, 4.0)}
PLANS = {
    "RankRLS": Plan("small", "rankrls", GRID, MAP),
    "greedy": Plan("small", "greedy-rankrls", {**GRID, "n_features_to_select": 3}, MAP),
    "ranked by RankRLS": Plan(
        "small", "gas", {}, MAP, ranker="rankrls", ranker_parameters=GRID
    ),
    "ranked by a kernel": Plan(
        "small",
        "greedy-rankrls",
        {"regularization": 1.0, "n_features_to_select": 2},
        MAP,
        ranker="kernel-rankrls",
        ranker_parameters={**GRID, "gamma": (0.5, 2.0), "n_basis": 12},
    ),
    "kernel": Plan(
        "small", "kernel-rankrls", {**GRID, "gamma": (0.5, 2.0), "n_basis": 12}, MAP
    ),
}
EVERY = pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS.keys())


@pytest.mark.parametrize("name", ["RankRLS", "greedy", "ranked by RankRLS"])
@pytest.mark.parametrize("fits", [True, False])
def test_each_step_measures_what_models_learned_without_each_query_do(
    name: str, fits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not fits:
        monkeypatch.setattr(rankrls_shards, "_FEW", 0)
        monkeypatch.setattr(rankrls_shards, "_TIMES", 0)
    data, plan = unvalidated(), PLANS[name]
    train = data.folds[0].train
    qid = train.query_index
    for path in run_plan(plan, data).folds[0].paths:
        given = path.unit.combination.ranker if plan.ranker else path.unit.parameters
        for k, step in enumerate(path.steps):
            scores = relearned(
                train, train.X[:, sorted(step.selected)], given["regularization"]
            )
            expected = evaluate(
                train.y,
                scores,
                qid,
                measures=plan.evaluated,
                convention=plan.convention,
            )
            found = {
                n: float(path.validation[f"leave-query-out {n}"][k])
                for n in plan.evaluated
            }
            assert found == pytest.approx(dict(expected), abs=1e-12)


@pytest.mark.ability("kernels")
@pytest.mark.parametrize("n_basis", [12, None])
def test_a_kernel_leaves_a_querys_basis_vectors_out_with_it(
    n_basis: int | None,
) -> None:
    data = unvalidated()
    train = data.folds[0].train
    plan = PLANS["kernel"].changed(
        parameters={**PLANS["kernel"].parameters, "n_basis": n_basis}
    )
    qid = train.query_index
    for path in run_plan(plan, data).folds[0].paths:
        values, step = path.unit.parameters, path.steps[0]
        basis = None if n_basis is None else step.basis  # type: ignore[attr-defined]
        settings = {"kernel": "rbf", "gamma": values["gamma"]}
        scores = left_out_by_retraining(
            kernel_matrix(train.X, settings),
            train.y,
            qid,
            values["regularization"],
            basis,
        )
        expected = evaluate(
            train.y,
            np.round(scores, 9),
            qid,
            measures=("MAP",),
            convention=plan.convention,
        )
        assert float(path.validation[MAP][0]) == pytest.approx(
            expected["MAP"], abs=1e-12
        )


def test_equal_documents_of_a_query_are_found() -> None:
    X = np.array([[0.0, 1], [2, 3], [-0.0, 1], [2, 3], [0, 1], [2, 4]])
    data = group(X, np.arange(6.0), np.array([1, 1, 1, 1, 2, 2]))
    assert first_twins(data).tolist() == [0, 1, 0, 1, 4, 5]


@EVERY
def test_the_best_of_left_out_queries_is_chosen_without_a_validation_part(
    plan: Plan,
) -> None:
    result = run_plan(plan, unvalidated())
    fold = result.folds[0]
    best = max(float(path.validation[MAP].max()) for path in fold.paths)
    assert fold.left_out[MAP] == best
    assert not any(path.validated for path in fold.paths)
    assert not fold.validation
    assert fold.test


@EVERY
def test_results_are_the_same_step_by_step_at_once_on_other_threads_and_from_a_study(
    plan: Plan, tmp_path: Path
) -> None:
    data = dataset(2)
    expected = run_plan(plan, data)
    assert all(
        MAP in path.validation and "MAP" in path.validation
        for path in expected.folds[0].paths
    )
    with ThreadPoolExecutor(2) as executor:
        assert_same(run_plan(plan, data, executor=executor), expected)
    save_plan(plan, tmp_path / "plan.toml")
    again = load_plan(tmp_path / "plan.toml")
    assert again == plan
    with Study.create(tmp_path / "kept.rankstudio") as study:
        ended(run_stored(again, data, study))
        stored = ended(run_stored(again, data, study))
    assert_same(stored, expected)
    for fold, other in zip(stored.folds, expected.folds, strict=True):
        for path, same in zip(fold.paths, other.paths, strict=True):
            assert_same_values(path, same)


def assert_same_values(path: PathResult, same: PathResult) -> None:
    names = ("validation", "standard_errors", "p_values")
    for found, expected in (
        (getattr(path, name), getattr(same, name)) for name in names
    ):
        assert list(found) == list(expected)
        for name, values in found.items():
            np.testing.assert_array_equal(values, expected[name])


def test_results_have_the_measures_of_every_step_and_combination() -> None:
    result = run_plan(PLANS["greedy"], unvalidated())
    told = results_as_dict(result)["folds"][0]["left_out"]
    path = result.folds[0].paths[1]
    assert told["paths"][1]["regularization"] == 4.0
    assert told["paths"][1]["steps"] == [1, 2, 3]
    assert told["paths"][1]["measures"]["MAP"] == path.validation[MAP].tolist()
    assert told["chosen"]["MAP"] == result.folds[0].left_out[MAP]
    _, rows = metrics_table(result)
    assert [row[1] for row in rows if row[0] == 1] == ["test", "leave-query-out"]
    frame = result.path_frame()
    assert frame[MAP].tolist() == [
        float(v) for path in result.folds[0].paths for v in path.validation[MAP]
    ]


def test_the_rule_of_one_standard_error_is_over_the_left_out_queries() -> None:
    plan = PLANS["greedy"].changed(rule="one-se")
    fold = run_plan(plan, unvalidated()).folds[0]
    best = run_plan(plan.changed(rule="best"), unvalidated()).folds[0]
    path = best.paths[best.chosen.unit.position]
    place = best.chosen.step.number - 1
    enough = path.validation[MAP][place] - path.standard_errors[MAP][place]
    assert len(fold.selected) == int(path.sizes[path.validation[MAP] >= enough].min())


def test_the_smallest_is_compared_with_the_best_over_the_left_out_queries() -> None:
    plan = PLANS["greedy"].changed(rule="smallest")
    data = unvalidated()
    fold = run_plan(plan, data).folds[0]
    path = fold.paths[fold.chosen.unit.position]
    train = data.folds[0].train
    qid, left_out = train.query_index, []
    for step in path.steps:
        scores = relearned(
            train,
            train.X[:, sorted(step.selected)],
            path.unit.parameters["regularization"],
        )
        own = [qid == q for q in range(train.n_queries)]
        left_out.append(
            [
                evaluate(train.y[q], scores[q], qid[q], measures=("MAP",))["MAP"]
                for q in own
            ]
        )
    best = int(path.validation[MAP].argmax())
    for k, (values, p) in enumerate(zip(left_out, path.p_values[MAP], strict=True)):
        assert p == pytest.approx(
            1.0 if k == best else ttest_rel(values, left_out[best]).pvalue
        )
    allowed = (path.p_values[MAP] >= 0.05) | (
        path.validation[MAP] == path.validation[MAP].max()
    )
    assert len(fold.selected) == int(path.sizes[allowed].min())


def test_inner_folds_validate_beside_left_out_queries() -> None:
    plan, data = PLANS["greedy"].changed(protocol="nested 3-fold"), unvalidated()
    nested, plain = (
        run_plan(plan, data).folds[0],
        run_plan(PLANS["greedy"], data).folds[0],
    )
    assert nested.left_out == plain.left_out
    assert MAP not in nested.validation
    assert "MAP" in nested.validation
    path = nested.paths[0]
    assert sorted(path.standard_errors) == sorted(path.validation)


def test_what_is_not_asked_for_is_not_measured() -> None:
    plan = PLANS["greedy"].changed(select_by="MAP")
    path = run_plan(plan, dataset(1)).folds[0].paths[0]
    assert list(path.validation) == list(plan.evaluated)
    assert not path.standard_errors


def test_a_method_without_such_predictions_is_refused_before_any_work() -> None:
    for plan in (
        Plan("small", "gas", select_by=MAP),
        PLANS["greedy"].changed(ranker="ranksvm"),
    ):
        with pytest.raises(PlanError, match=naming("Greedy RankRLS")):
            next(run(plan, dataset(1)))


def test_one_training_query_leaves_nothing_to_learn_from() -> None:
    with pytest.raises(PlanError, match=naming("1 One")):
        next(run(PLANS["RankRLS"], unvalidated(1)))


def test_a_plan_has_the_measure_as_it_is_written() -> None:
    plan = Plan("small", "rankrls", select_by="Leave-Query-Out ndcg@5")
    assert (plan.select_by, plan.chosen_by, plan.leaves_out) == (
        "leave-query-out NDCG@5",
        "NDCG@5",
        True,
    )
    assert plan.evaluated[-1] == "NDCG@5"
    assert not Plan("small", select_by=CRITERION).leaves_out
    with pytest.raises(ParameterError, match="measure"):
        Plan("small", select_by="leave-query-out everything")
    with pytest.raises(ParameterError, match="measure"):
        Plan("small", measures=(MAP,))


def test_a_unit_that_was_not_carried_out_to_its_end_leaves_nothing_behind() -> None:
    data, plan = unvalidated(), PLANS["greedy"]
    fold: FoldContext = make_fold_context(plan, data.folds[0])
    unit = run_plan(plan, data).folds[0].paths[0].unit
    next(iter(fold.work(unit)))
    path = fold.path(unit)
    assert {len(values) for values in path.standard_errors.values()} == {3}
