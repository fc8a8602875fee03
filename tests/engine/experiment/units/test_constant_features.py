"""Paths end before features that are constant within every query; feature 2 of the small data is one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from experiment.small import assert_same, dataset, ended, quick
from representatives import every

from rankstudio.engine.data.dataset import Fold, FoldedDataset
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.results import FoldResult, RunResult
from rankstudio.engine.experiment.resume import run_stored
from rankstudio.engine.experiment.runner import run_plan
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.methods.catalog import Method, methods
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.engine.methods.selection.greedy_rankrls.estimator import GreedyRankRLS

PLAN = Plan("small", parameters={"regularization": (0.5, 2.0)})
GROWING = {
    entry.key: entry
    for entry in methods()
    if entry.selects and entry.step_kind is StepKind.FEATURES
}


def folds(plan: Plan) -> tuple[FoldResult, ...]:
    return run_plan(plan, dataset()).folds


def texts(result: RunResult) -> str:
    return " ".join(note.what for note in result.notes)


def test_a_path_is_that_of_the_method_up_to_where_only_constant_features_are_left() -> (
    None
):
    result = run_plan(PLAN, dataset())
    for fold, data in zip(result.folds, dataset().folds, strict=True):
        train = data.train
        for path in fold.paths:
            whole = GreedyRankRLS(regularization=path.unit.parameters["regularization"])
            expected = list(whole.steps(train.X, train.y, qid=train.query_index))
            assert expected[-1].selected[-1] == 1, "the constant feature comes last"
            assert [step.selected for step in path.steps] == [
                step.selected for step in expected[:-1]
            ]
            np.testing.assert_array_equal(path.steps[-1].coef, expected[-1].coef)
        assert fold.constant == (2,)
    assert "1 feature is constant" in texts(result)


@every("entry", GROWING)
def test_no_selector_fills_its_path_with_them(entry: Method) -> None:
    if entry.lacking:
        pytest.skip(entry.lacking)
    for fold in folds(Plan("small", entry.key, quick(entry))):
        for path in fold.paths:
            assert all(1 not in step.selected for step in path.steps)


def test_a_ranker_gets_the_same_sets() -> None:
    for fold in folds(
        PLAN.changed(ranker="rankrls", ranker_parameters={"regularization": (1.0,)})
    ):
        assert [len(path.steps) for path in fold.paths] == [5, 5]


@pytest.mark.parametrize("parameters", [{"n_features_to_select": 6}, {"pinned": (2,)}])
def test_asked_for_they_are_selected(parameters: dict[str, object]) -> None:
    plan = PLAN.changed(parameters={**PLAN.parameters, **parameters})
    result = run_plan(plan, dataset())
    for fold in result.folds:
        assert all(1 in path.steps[-1].selected for path in fold.paths)
    assert ("constant" in texts(result)) == (
        parameters == {"pinned": (2,)} and result.folds[0].constant != ()
    )


def test_a_banned_feature_is_not_waited_for_and_a_group_is_a_whole() -> None:
    banned = PLAN.changed(
        parameters={**PLAN.parameters, "banned": (3,)}, groups={"a": (3, 4)}
    )
    assert [len(fold.paths[0].steps) for fold in folds(banned)] == [3, 3]
    mixed = PLAN.changed(groups={"a": (1, 2)})
    for fold in folds(mixed):
        assert len(fold.paths[0].steps) == 5
        assert set(fold.paths[0].steps[-1].selected) == set(range(6))


def test_data_of_constant_features_alone_have_a_path_of_one_step() -> None:
    def flat(fold: Fold) -> Fold:
        return Fold(
            fold.number,
            **{n: replace(p, X=np.full_like(p.X, 0.5)) for n, p in fold.parts.items()},
        )

    data = FoldedDataset("Flat", None, tuple(map(flat, dataset().folds)))
    for fold in run_plan(PLAN, data).folds:
        assert [len(path.steps) for path in fold.paths] == [1, 1]


def test_a_study_knows_which_they_are(tmp_path: Path) -> None:
    with Study.create(tmp_path / "a.rankstudio") as study:
        ran = ended(run_stored(PLAN, dataset(), study))
        stored = study.result(study.runs()[0].key)
    assert_same(ran, run_plan(PLAN, dataset()))
    assert [fold.constant for fold in stored.folds] == [(2,), (2,)]
    assert texts(stored) == texts(ran)
