"""Two models query by query, held against the measures of each query alone."""

from __future__ import annotations

import numpy as np
import pytest
from experiment.small import dataset, ended
from hypothesis import given
from hypothesis import strategies as st

from rankstudio.engine.analysis.measurements.baseline_model import baseline_step
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.experiment.runner import run
from rankstudio.engine.metrics.conventions import CONVENTIONS
from rankstudio.engine.metrics.evaluation import evaluate, rank_order
from rankstudio.engine.metrics.evaluator import Evaluator
from rankstudio.plugins.queries.query_comparison import compare_queries, model_scores

DATA = dataset(2)


@pytest.fixture(scope="module")
def result() -> RunResult:
    plan = Plan("small", parameters={"regularization": (0.25, 4.0)})
    return ended(run(plan, DATA))


def scores(result: RunResult, part: str) -> tuple[dict, dict]:
    a = {
        f.fold: model_scores(f.chosen.step, DATA.folds[f.fold - 1].parts[part])
        for f in result.folds
    }
    ids = DATA.feature_ids.tolist()
    b = {
        f.fold: model_scores(
            baseline_step(f.baseline, ids), DATA.folds[f.fold - 1].parts[part]
        )
        for f in result.folds
    }
    return a, b


@pytest.mark.parametrize("measure", ["MAP", "NDCG@3", "Disagreement"])
@pytest.mark.parametrize("part", ["test", "vali", "train"])
def test_every_query_has_what_evaluate_says_of_it_alone(
    result: RunResult, part: str, measure: str
) -> None:
    a, b = scores(result, part)
    found = compare_queries(DATA.folds, part, a, b, measure, "letor4")
    assert len(found.queries) == sum(fold.parts[part].n_queries for fold in DATA.folds)
    for query in found.queries:
        data = DATA.folds[query.fold - 1].parts[part]
        rows = slice(data.query_ptr[query.position], data.query_ptr[query.position + 1])
        y = data.y[rows]
        assert (query.n_documents, query.n_relevant) == (y.size, int((y >= 1).sum()))
        assert query.query_id == data.query_ids[query.position]
        for value, of in ((query.a, a), (query.b, b)):
            alone = evaluate(
                y,
                of[query.fold][rows],
                np.zeros(y.size),
                measures=[measure],
                convention="letor4",
            )
            assert value == pytest.approx(alone[measure], nan_ok=True)
    gains = found.gain[~np.isnan(found.gain)]
    assert (np.diff(gains) >= 0).all()
    counts = found.counts
    assert counts.wins == int((gains > 1e-12).sum())
    assert counts.losses == int((gains < -1e-12).sum())
    mean, low, high = found.mean_difference
    assert mean == pytest.approx(np.nanmean(found.b - found.a))
    assert low <= mean <= high


def test_the_chosen_models_and_single_features_measure_what_their_run_has_kept(
    result: RunResult,
) -> None:
    a, b = scores(result, "test")
    found = compare_queries(DATA.folds, "test", a, b, "MAP", result.plan.convention)
    for fold in result.folds:
        own = {q.position: q.a for q in found.queries if q.fold == fold.fold}
        np.testing.assert_array_equal(
            [own[i] for i in range(len(own))], fold.per_query["MAP"]
        )
        mean = np.mean([q.b for q in found.queries if q.fold == fold.fold])
        assert mean == pytest.approx(fold.baseline.test["MAP"])


def test_a_fold_without_the_part_or_the_scores_is_left_out(result: RunResult) -> None:
    a, b = scores(result, "test")
    found = compare_queries(DATA.folds, "test", a, {2: b[2]}, "MAP", "letor4")
    assert {query.fold for query in found.queries} == {2}
    assert compare_queries(DATA.folds, "elsewhere", a, b, "MAP", "letor4").queries == ()


@given(
    st.data(),
    st.sampled_from(
        [key for key, c in CONVENTIONS.items() if c.ties.name != "AVERAGED"]
    ),
)
def test_the_ranking_is_the_one_that_is_measured(
    data: st.DataObject, convention: str
) -> None:
    sizes = data.draw(st.lists(st.integers(1, 7), min_size=1, max_size=4))
    m = sum(sizes)
    y = np.array(
        data.draw(st.lists(st.integers(0, 2), min_size=m, max_size=m)), dtype=float
    )
    given_scores = np.array(
        data.draw(
            st.lists(
                st.sampled_from([0.0, -0.0, 0.5, 1.0, np.inf, -np.inf]),
                min_size=m,
                max_size=m,
            )
        )
    )
    ptr = np.concatenate([[0], np.cumsum(sizes)])
    order = rank_order(given_scores, ptr, convention)
    k = 3
    measured = Evaluator(y, ptr, convention, [f"NDCG@{k}"]).per_query(given_scores)[
        f"NDCG@{k}"
    ]
    # Without ties any convention has to measure the same of documents in that order.
    apart = np.empty(m)
    apart[order] = -np.arange(m, dtype=float)
    again = Evaluator(y, ptr, convention, [f"NDCG@{k}"]).per_query(apart)[f"NDCG@{k}"]
    np.testing.assert_array_equal(measured, again)
    for q in range(len(sizes)):
        assert sorted(order[ptr[q] : ptr[q + 1]]) == list(range(ptr[q], ptr[q + 1]))
