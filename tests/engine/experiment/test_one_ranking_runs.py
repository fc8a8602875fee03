"""Runs on data without queries: folds of documents, recomputed by hand, resumed, by workers, and refitted."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from abilities import estimator_class

from rankstudio.engine import GreedyRankRLS, RankRLS
from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.data.dataset import FoldedDataset, RankingDataset
from rankstudio.engine.data.formats.dataset_writer import save_dataset
from rankstudio.engine.data.formats.format_catalog import format_of_key
from rankstudio.engine.data.origin import DatasetOrigin
from rankstudio.engine.data.splitting.splits import k_fold
from rankstudio.engine.errors import ParameterError, PlanError
from rankstudio.engine.experiment.plan.plan import (
    CRITERION,
    USUAL_MEASURES,
    Plan,
    usual_measures,
)
from rankstudio.engine.experiment.refit import refit
from rankstudio.engine.experiment.results.events import RunFinished, UnitFinished
from rankstudio.engine.experiment.resume import run_stored
from rankstudio.engine.experiment.runner import open_data, run_plan, usual_choices
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.metrics.names import ONE_RANKING_MEASURES

KernelRankRLS = estimator_class("kernel-rankrls")

LAMBDAS = (0.25, 4.0)


def one_ranking() -> FoldedDataset:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(40, 4))
    y = (X[:, 1] - 0.5 * X[:, 3] + 0.5 * rng.normal(size=40) > 0.4).astype(float)
    data = FoldedDataset.of(RankingDataset.from_arrays(X, y, ["1"] * 40))
    return replace(
        data, name="Objects", origin=DatasetOrigin(columns=DataColumns(no_queries=True))
    )


def plan(**changes: object) -> Plan:
    parameters = {"regularization": LAMBDAS, "n_features_to_select": 3}
    usual = {
        "data": "objects",
        "parameters": parameters,
        "select_by": "AUC",
        "protocol": "4-fold",
    }
    columns = {"no_queries": True}
    return Plan(
        **{**usual, "measures": ONE_RANKING_MEASURES, "columns": columns, **changes}
    )  # type: ignore[arg-type]


def area(y: np.ndarray, scores: np.ndarray) -> float:
    right = [
        1.0 if scores[i] > scores[j] else 0.5 if scores[i] == scores[j] else 0.0
        for i in range(y.size)
        for j in range(y.size)
        if y[i] > y[j]
    ]
    return float(np.mean(right)) if right else np.nan


def test_folds_of_documents_are_measured_as_by_hand() -> None:
    data = one_ranking()
    result = run_plan(plan(), data)
    assert result.plan.criterion == "leave-pair-out error per document"
    everything = data.folds[0].train
    tested = []
    for fold in result.folds:
        chosen = fold.chosen
        divided = k_fold(data, 4, 0).folds[fold.fold - 1]
        model = GreedyRankRLS(3, chosen.unit.values[0]).fit(
            divided.train.X, divided.train.y, qid=one(divided.train)
        )
        coef = model.coef_path_[chosen.step.number - 1]
        np.testing.assert_allclose(
            fold.test["AUC"], area(divided.test.y, divided.test.X @ coef)
        )
        np.testing.assert_allclose(
            chosen.step.criterion, model.criterion_path_[chosen.step.number - 1]
        )
        tested += [tuple(row) for row in divided.test.X]
    assert sorted(tested) == sorted(map(tuple, everything.X))


def one(part: RankingDataset) -> np.ndarray:
    return np.zeros(part.n_documents)


@pytest.mark.parametrize(
    ("pairs", "criterion"),
    [
        ("query", "leave-pair-out error per document"),
        ("pointwise", "leave-one-out error per document"),
    ],
)
def test_the_criterion_chooses_without_queries(pairs: str, criterion: str) -> None:
    data = one_ranking()
    whole = data.folds[0].train
    parameters = {"regularization": LAMBDAS, "pairs": pairs}
    chosen_by = plan(
        method="rankrls", parameters=parameters, select_by=CRITERION, protocol="given"
    )
    assert chosen_by.criterion == criterion
    found = run_plan(chosen_by, data).folds[0].chosen
    errors = [
        RankRLS(value, pairs=pairs).fit(whole.X, whole.y, qid=one(whole)).criterion_
        for value in LAMBDAS
    ]
    assert len(set(errors)) == 2
    assert found.unit.values == (LAMBDAS[int(np.argmin(errors))],)
    assert found.step.criterion == min(errors)


def test_the_criterion_is_told_apart_by_what_is_left_out() -> None:
    pointwise = {"n_features_to_select": 2, "pairs": "pointwise"}
    assert (
        plan(parameters=pointwise).candidate_score.title
        == "drop in leave-one-out error per document"
    )  # type: ignore[union-attr]
    assert plan().candidate_score.name == "drop in leave-pair-out error"  # type: ignore[union-attr]
    with_queries = plan(columns={})
    assert with_queries.criterion == "leave-query-out error per document"
    assert (
        plan(parameters=pointwise, columns={}).criterion
        == "leave-one-out error per document"
    )


@pytest.mark.parametrize(
    "parameters",
    [{"cost": "unit"}, {"pairs": ("query", "pointwise")}, {"weighting": "pairs"}],
)
def test_what_has_no_error_cannot_choose(parameters: dict[str, object]) -> None:
    asked = plan(
        method="rankrls",
        parameters={"regularization": LAMBDAS, **parameters},
        select_by=CRITERION,
        protocol="given",
    )
    with pytest.raises(PlanError):
        run_plan(asked, one_ranking())
    assert run_plan(
        asked.changed(select_by="AUC", protocol="4-fold"), one_ranking()
    ).complete


def test_workers_and_a_study_change_nothing(tmp_path: Path) -> None:
    data, asked = one_ranking(), plan(data=str(tmp_path / "objects.txt"))
    save_dataset(data.folds[0].train, tmp_path / "objects.txt", format_of_key("letor"))
    opened = open_data(asked)
    assert opened.divided_by == "4-fold, seed 0"
    expected = run_plan(asked, opened)
    with ThreadPoolExecutor(2) as executor:
        assert run_plan(asked, opened, executor).average == expected.average
    # and so does reading them anew
    assert run_plan(asked, data).average == expected.average
    assert refit(expected, opened).plan["columns"] == {"no_queries": True}
    with Study.create(tmp_path / "study.rankstudio") as study:
        events = run_stored(asked, opened, study)
        for event in events:
            if isinstance(event, UnitFinished) and event.unit.fold == 2:
                break
        events.close()
        (*_, last) = run_stored(asked, opened, study)
    assert isinstance(last, RunFinished)
    assert last.result.average == expected.average


def test_measures_suit_the_data() -> None:
    usual = Plan("objects", select_by="MAP")
    changed = usual_measures(usual, one_ranking=True)
    assert (changed.measures, changed.select_by) == (ONE_RANKING_MEASURES, "AUC")
    assert usual_measures(changed, one_ranking=False) == usual
    own = usual.changed(measures=("P@3",), select_by="P@3")
    assert usual_measures(own, one_ranking=True) == own
    assert usual_choices(usual, one_ranking(), ()).select_by == CRITERION
    assert usual_choices(usual, one_ranking(), ("measures",)).measures == USUAL_MEASURES


@pytest.mark.parametrize("pairs", ["query", "pointwise"])
@pytest.mark.parametrize("method", ["greedy-rankrls", "rankrls", "kernel-rankrls"])
def test_leave_pair_out_chooses_as_retraining_without_each_pair(
    method: str, pairs: str
) -> None:
    data = small_ranking()
    own = {"pairs": pairs} | (
        {"n_features_to_select": 2} if method == "greedy-rankrls" else {}
    )
    parameters = {"regularization": LAMBDAS, **own}
    by = "leave-pair-out AUC"
    found = run_plan(
        plan(method=method, parameters=parameters, select_by=by, protocol="given"), data
    )
    whole = data.folds[0].train
    (fold,) = found.folds
    for path in fold.paths:
        for step, value in zip(path.steps, path.validation[by], strict=True):
            columns = sorted(step.selected)
            model = {
                "kernel-rankrls": KernelRankRLS,
                "greedy-rankrls": RankRLS,
                "rankrls": RankRLS,
            }[method]
            linear = {"regularization": path.unit.values[0], "pairs": pairs}
            ranker = model(
                **(path.unit.parameters if model is KernelRankRLS else linear)
            )
            right = []
            for i, j in combinations(range(len(whole.y)), 2):
                if whole.y[i] != whole.y[j]:
                    rest = np.delete(np.arange(len(whole.y)), [i, j])
                    X = whole.X[:, columns]
                    ranker.fit(X[rest], whole.y[rest], qid=np.zeros(rest.size))
                    a, b = ranker.predict(X[[i, j]])
                    right.append(float((a > b) == (whole.y[i] > whole.y[j])))
            assert value == pytest.approx(np.mean(right), abs=1e-12)
    best = max(float(value) for path in fold.paths for value in path.validation[by])
    assert fold.left_out[by] == best


def small_ranking() -> FoldedDataset:
    data = one_ranking()
    return replace(
        data, folds=tuple(replace(f, train=taken(f.train, 10)) for f in data.folds)
    )


def taken(part: RankingDataset, n: int) -> RankingDataset:
    rows = np.concatenate(
        (np.flatnonzero(part.y > 0)[: n // 2], np.flatnonzero(part.y <= 0)[: n // 2])
    )
    return RankingDataset.from_arrays(part.X[rows], part.y[rows], ["1"] * rows.size)


def test_left_out_pairs_of_equal_documents_are_ties() -> None:
    X = np.ones((6, 2)) * np.array([[0.1], [0.1], [0.1], [0.7], [0.7], [0.7]])
    y = np.array([0.0, 1.0, 0.0, 1.0, 0.0, 1.0])
    data = FoldedDataset.of(RankingDataset.from_arrays(X, y, ["1"] * 6))
    data = replace(data, origin=DatasetOrigin(columns=DataColumns(no_queries=True)))
    wanted = plan(
        method="rankrls", parameters={"regularization": (1.0,)}, protocol="given"
    )
    found = run_plan(wanted.changed(select_by="leave-pair-out AUC"), data)
    within = [
        (i, j) for i in range(6) for j in range(6) if y[i] > y[j] and (i < 3) == (j < 3)
    ]
    across = [
        (i, j) for i in range(6) for j in range(6) if y[i] > y[j] and (i < 3) != (j < 3)
    ]
    right = 0.0
    for i, j in across:
        rest = np.delete(np.arange(6), [i, j])
        model = RankRLS(1.0).fit(X[rest], y[rest], qid=np.zeros(4))
        a, b = model.predict(X[[i, j]])
        right += 0.5 if abs(a - b) < 1e-12 else float(a > b)
    expected = (right + 0.5 * len(within)) / (len(within) + len(across))
    assert found.folds[0].left_out["leave-pair-out AUC"] == pytest.approx(
        expected, abs=1e-12
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"select_by": "leave-query-out AUC"}, "leave-pair-out AUC"),
        (
            {"select_by": "leave-pair-out AUC", "method": "ranksvm", "parameters": {}},
            "RankSVM",
        ),
        ({"select_by": "leave-pair-out AUC", "rule": "one-se"}, "one-se"),
        ({"select_by": "leave-pair-out AUC", "columns": {}}, "queries"),
    ],
)
def test_pairs_that_cannot_choose_are_refused(
    changes: dict[str, object], said: str
) -> None:
    data = one_ranking()
    if "columns" in changes:
        data = replace(data, origin=DatasetOrigin(columns=DataColumns()))
    with pytest.raises(PlanError, match=said):
        run_plan(plan(**{"protocol": "given", **changes}), data)


def test_a_measure_of_whole_rankings_is_none_of_pairs() -> None:
    with pytest.raises(ParameterError, match="leave-pair-out AUC"):
        plan(select_by="leave-pair-out MAP")
