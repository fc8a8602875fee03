"""Models of several datasets on each other: against doing it by hand, and the printed ranks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from letor_folder import save_folds

from rankstudio.engine import Plan, open_dataset, run_plan
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.experiment.refit import refit
from rankstudio.engine.metrics.evaluation import evaluate
from rankstudio.plugins.drift.transfer_matrix import (
    TransferMatrix,
    transfer_matrix,
)

NAN = np.nan
CORPORA = ("AImed", "BioInfer", "HPRD50", "IEPA", "LLL")
PRINTED = np.array(
    [
        [NAN, 67.7, 82.4, 76.1, 77.8],
        [77.8, NAN, 75.2, 79.3, 83.3],
        [72.5, 61.8, NAN, 74.9, 64.0],
        [70.2, 72.2, 80.0, NAN, 82.5],
        [61.8, 61.0, 69.4, 74.8, NAN],
    ]
)
RANKS = np.array(
    [
        [NAN, 2, 1, 2, 3],
        [1, NAN, 3, 1, 1],
        [2, 3, NAN, 3, 4],
        [3, 1, 2, NAN, 2],
        [4, 4, 4, 4, NAN],
    ]
)


def test_ranks_are_those_of_the_paper() -> None:
    matrix = TransferMatrix(CORPORA, "AUC", PRINTED)
    np.testing.assert_array_equal(matrix.ranks, RANKS)
    assert matrix.mean_ranks.tolist() == [2, 1.5, 3, 2, 4]
    table = matrix.as_text()
    assert len(table.rows) == 5
    assert table.rows[1][-1] == "1.5"
    assert table.rows[1][1:3] == ("77.8000", "1")


def test_equal_values_share_a_rank_and_less_error_is_better() -> None:
    values = np.array([[9.0, 0.2, 0.1], [0.3, 9.0, 0.1], [0.1, 0.4, 9.0]])
    matrix = TransferMatrix(("a", "b", "c"), "Disagreement", values)
    np.testing.assert_array_equal(
        matrix.ranks,
        [[NAN, 1, 1.5], [2, NAN, 1.5], [1, 2, NAN]],
    )


def test_values_are_those_of_doing_it_by_hand(tmp_path: Path) -> None:
    places = [
        str(save_folds(tmp_path / name, 1, n_queries=18, seed=seed))
        for seed, name in enumerate(("A", "B", "C"))
    ]
    parameters = {"n_features_to_select": 3}
    plan = Plan(places[0], parameters=parameters, measures=("MAP", "AUC"))
    matrix = transfer_matrix(plan, places, "AUC")
    assert matrix.names == ("A", "B", "C") and matrix.measure == "AUC"
    for row, trained in enumerate(places):
        data = open_dataset(trained)
        result = run_plan(plan.changed(data=trained), data)
        assert matrix.values[row, row] == result.average["AUC"]
        model = refit(result, data)
        weights = {weight.id: weight.weight for weight in model.features}
        for column, tested in enumerate(places):
            if row == column:
                continue
            means = []
            for fold in open_dataset(tested).folds:
                coef = [weights.get(int(i), 0.0) for i in fold.test.feature_ids]
                measured = evaluate(
                    fold.test.y,
                    fold.test.X @ coef,
                    qid=fold.test.qid,
                    measures=["AUC"],
                    convention=plan.convention,
                )
                means.append(np.nanmean(measured.per_query["AUC"]))
            # the same values, summed in another order
            assert matrix.values[row, column] == pytest.approx(
                float(np.mean(means)), rel=1e-12
            )


def test_what_cannot_be_measured_is_refused(tmp_path: Path) -> None:
    plan = Plan(str(tmp_path), measures=("MAP",))
    with pytest.raises(ParameterError, match="two datasets"):
        transfer_matrix(plan, [str(tmp_path)])
    with pytest.raises(ParameterError, match="one of MAP"):
        transfer_matrix(plan, [str(tmp_path)] * 2, "AUC")
