"""Contributions sum to the scores, for every method; what is said of two documents is in the numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from experiment.small import dataset, ended, quick
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.errors import StoreError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.reports import MODELS, write_results
from rankstudio.engine.experiment.results.results import FoldResult
from rankstudio.engine.experiment.runner import run
from rankstudio.engine.experiment.storage.codec import pack_path, unpack_path
from rankstudio.engine.experiment.units.given_fold import plan_of_given
from rankstudio.engine.methods.catalog import GIVEN_MODEL, methods
from rankstudio.engine.steps import Step
from rankstudio.plugins.queries.query_comparison import model_scores
from rankstudio.plugins.queries.ranked_query import ranked_query
from rankstudio.plugins.queries.score_contributions import score_contributions

DATA = dataset(1)
FOLD = DATA.folds[0]
KEYS = [entry.key for entry in methods() if not entry.lacking]
NOT_LINEAR = ["rankboost", "lambdamart"]


def fold_of(plan: Plan) -> FoldResult:
    return ended(run(plan, DATA)).folds[0]


def plan_of(key: str) -> Plan:
    entry = next(entry for entry in methods() if entry.key == key)
    return Plan("small", key, quick(entry))


@pytest.mark.parametrize("key", KEYS)
def test_contributions_sum_to_the_scores(key: str) -> None:
    result = fold_of(plan_of(key))
    step, test = result.chosen.step, FOLD.test
    found = score_contributions(step, test.X, test.feature_ids)
    np.testing.assert_allclose(
        found.scores, model_scores(step, test), rtol=1e-9, atol=1e-9
    )
    assert set(found.columns) <= set(step.selected)


@pytest.mark.parametrize("key", NOT_LINEAR)
def test_contributions_of_two_stage_and_stored_models(key: str) -> None:
    ranker = quick(next(entry for entry in methods() if entry.key == key))
    result = fold_of(Plan("small", "gas", ranker=key, ranker_parameters=ranker))
    ids, test, step = DATA.feature_ids.tolist(), FOLD.test, result.chosen.step
    path = next(path for path in result.paths if path.unit == result.chosen.unit)
    stored = unpack_path(pack_path(path, step, ids), path.unit, ids)
    again = next(other for other in stored.steps if other.number == step.number)
    for one in (step, again):
        found = score_contributions(one, test.X, test.feature_ids)
        np.testing.assert_allclose(
            found.scores, model_scores(step, test), rtol=1e-9, atol=1e-9
        )
    lost = [other for other in stored.steps if not other.whole]
    with pytest.raises(StoreError):
        score_contributions(lost[0], test.X, test.feature_ids)


def test_contributions_of_kernels_on_few_features_and_of_sums() -> None:
    settings = {
        "kernel": "rbf",
        "gamma": [0.25],
        "n_basis": 20,
        "regularization": [0.1],
    }
    kernel = {"ranker": "kernel-rankrls", "ranker_parameters": settings}
    boosted = {"ranker": "rankboost", "ranker_parameters": {"n_rounds": 9}}
    of_sums = {"subset_size": 2, "max_iter": 3, "n_features_to_select": 3}
    for plan in (
        Plan("small", "gas", {"n_features_to_select": 3}, **kernel),
        Plan("small", "fs-bfs", of_sums, **kernel),
        Plan("small", "fs-bfs", of_sums, **boosted),
    ):
        step, test = fold_of(plan).chosen.step, FOLD.test
        found = score_contributions(step, test.X, test.feature_ids)
        assert found.columns == tuple(sorted(step.selected))
        np.testing.assert_allclose(
            found.scores, model_scores(step, test), rtol=1e-9, atol=1e-9
        )


@pytest.mark.parametrize("key", ["greedy-rankrls", "kernel-rankrls"])
def test_contributions_of_models_of_files(key: str, tmp_path: Path) -> None:
    write_results(ended(run(plan_of(key), DATA)), tmp_path)
    plan, _ = plan_of_given(
        GIVEN_MODEL.key, Plan("small"), "former", tmp_path / MODELS, DATA
    )
    step, test = fold_of(plan).chosen.step, FOLD.test
    found = score_contributions(step, test.X, test.feature_ids)
    np.testing.assert_allclose(
        found.scores, model_scores(step, test), rtol=1e-9, atol=1e-9
    )


@given(
    arrays(float, (9, 4), elements=st.floats(-10, 10)),
    arrays(float, 4, elements=st.floats(-5, 5)),
)
def test_of_a_linear_model_weights_times_values(
    X: np.ndarray, coef: np.ndarray
) -> None:
    step = Step(1, (0, 1, 2, 3), coef, float("nan"), np.empty(0))
    found = score_contributions(step, X, np.arange(1, 5))
    np.testing.assert_array_equal(found.values, (X * coef)[:, coef != 0])
    np.testing.assert_allclose(found.scores, X @ coef, atol=1e-9)


@pytest.mark.parametrize("key", ["greedy-rankrls", *NOT_LINEAR])
@pytest.mark.parametrize("convention", ["letor4", "trec_eval"])
def test_a_query_stands_as_it_is_measured(key: str, convention: str) -> None:
    result, test = fold_of(plan_of(key)), FOLD.test
    step = result.chosen.step
    of_a, of_b = model_scores(step, test), np.round(test.X[:, 2], 1)
    for position in range(test.n_queries):
        found = ranked_query(test, position, step, of_a, of_b, convention)
        documents = found.documents
        begin, end = test.query_ptr[position : position + 2]
        assert sorted(d.row for d in documents) == list(range(end - begin))
        assert [d.rank_a for d in documents] == list(range(1, end - begin + 1))
        assert sorted(d.rank_b for d in documents) == list(range(1, end - begin + 1))
        given_a = [d.score_a for d in documents]
        assert given_a == sorted(given_a, reverse=True)
        by_b = [d.score_b for d in sorted(documents, key=lambda d: d.rank_b)]
        assert by_b == sorted(by_b, reverse=True)
        assert (found.above_least >= 0).all()
        np.testing.assert_allclose(
            found.above_least.sum(axis=1) + found.offset, given_a, atol=1e-9
        )
        assert [d.label for d in documents] == [
            test.y[begin + d.row] for d in documents
        ]


def test_which_feature_decides_between_two_documents() -> None:
    X = np.array([[1.0, 0.0], [0.0, 0.5], [0.2, 0.9]])
    data = RankingDataset.from_arrays(
        X, [1, 0, 2], [7, 7, 7], ["x", "y"], ["docid = A 1", "seen", ""]
    )
    step = Step(2, (0, 1), np.array([2.0, 1.0]), float("nan"), np.empty(0))
    scores = model_scores(step, data)
    found = ranked_query(data, 0, step, scores, -scores, "letor4")
    assert [(d.name, d.rank_a, d.rank_b) for d in found.documents] == [
        ("A", 1, 3),
        ("document 3", 2, 2),
        ("seen", 3, 1),
    ]
    assert found.names == ("x", "y")
    assert found.decisive_feature(0, 1) == (0, pytest.approx(1.6), pytest.approx(0.7))
    assert found.decisive_feature(1, 0) == (0, pytest.approx(-1.6), pytest.approx(-0.7))
    assert found.decisive_feature(0, 0) is None
    assert found.by_influence[0] == 0
