"""A selection made on some data, measured on others: against doing it by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from letor_folder import save_folds

from rankstudio.engine import Plan, open_dataset, run_plan
from rankstudio.engine.experiment.refit import refit
from rankstudio.engine.metrics.evaluation import evaluate
from rankstudio.engine.statistics.paired import compare_paired
from rankstudio.plugins.drift.transfer import transfer


@pytest.mark.parametrize(
    ("method", "parameters"),
    [("greedy-rankrls", {"n_features_to_select": 3}), ("rankboost", {"n_rounds": 3})],
)
def test_it_is_what_is_done_by_hand(
    tmp_path: Path, method: str, parameters: dict[str, object]
) -> None:
    first = save_folds(tmp_path / "First", 1, n_queries=20, seed=3)
    second = save_folds(tmp_path / "Second", 3, n_queries=24, seed=5)
    plan = Plan(str(first), method, parameters, measures=("NDCG@10", "MAP"))
    data = open_dataset(first)
    result = run_plan(plan, data)
    found = transfer(result, data, str(second))

    model, theirs, ours = refit(result, data), [], []
    own = run_plan(plan.changed(data=str(second)), open_dataset(second))
    for fold, learned in zip(open_dataset(second).folds, own.folds, strict=True):
        columns = np.ascontiguousarray(fold.test.X.T)
        step = found.transferred_run.folds[fold.number - 1].chosen.step
        for scores, values in (
            (step.scores(columns), theirs),
            (learned.chosen.step.scores(columns), ours),
        ):
            measured = evaluate(
                fold.test.y,
                scores,
                qid=fold.test.qid,
                measures=["MAP"],
                convention=plan.convention,
            )
            values.append(measured.per_query["MAP"])
        if not model.beyond:  # the weights of the model, without anything of the run
            weights = {weight.id: weight.weight for weight in model.features}
            by_hand = fold.test.X @ [
                weights.get(int(i), 0.0) for i in fold.test.feature_ids
            ]
            np.testing.assert_allclose(
                step.scores(columns), by_hand, rtol=1e-12, atol=1e-12
            )
    assert found.compared("MAP") == compare_paired(
        np.concatenate(theirs), np.concatenate(ours)
    )
    assert set(found.features) == {weight.id for weight in model.features}
    assert found.folds_of_features().total() == sum(
        len(fold.selected) for fold in own.folds
    )


def test_queries_that_the_model_was_trained_on_are_counted(tmp_path: Path) -> None:
    data = open_dataset(save_folds(tmp_path / "First", 1, n_queries=20, seed=3))
    result = run_plan(
        Plan(str(tmp_path / "First"), parameters={"n_features_to_select": 2}), data
    )
    found = transfer(result, data, str(tmp_path / "First"))
    assert found.n_queries_of_training == data.folds[0].test.n_queries
    assert (
        transfer(
            result, data, str(save_folds(tmp_path / "Second", 1, n_queries=20, seed=4))
        ).n_queries_of_training
        == 0
    )
