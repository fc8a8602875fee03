"""Queries left out by shards: what retraining predicts, and the same bits wherever the shards lie."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import rankrls_on_pairs
from strategies import Problem, problems, tolerance

from rankstudio.engine import GreedyRankRLS, RankRLS
from rankstudio.engine.arithmetic.pair_cost.cost import PairCost
from rankstudio.engine.arithmetic.pair_cost.pair_rows import PairRows
from rankstudio.engine.arithmetic.query_data import QueryData, centre, group
from rankstudio.engine.errors import OutOfMemoryError
from rankstudio.engine.methods.left_out import measured_left_out
from rankstudio.engine.methods.rankers.rankrls_shards import (
    left_out_predictions,
    models_without,
)
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.metrics.evaluator import Evaluator
from rankstudio.engine.support import memory, threads
from rankstudio.engine.support.shard import DOCUMENTS
from rankstudio.engine.support.work import WorkProgress, finish

LOSSES = pytest.mark.parametrize(
    "loss",
    [
        {},
        pytest.param({"ties": False}, marks=pytest.mark.thorough),
        pytest.param({"cost": "unit", "weighting": "none"}, marks=pytest.mark.thorough),
        {"cost": "inverse", "weighting": "pairs"},
    ],
    ids=str,
)


def random_data(n_queries: int = 80, n: int = 8, seed: int = 0) -> QueryData:
    """Queries of 1 to 19 documents, every third of them there twice in its query."""
    rng = np.random.default_rng(seed)
    ptr = np.cumsum([0, *rng.integers(1, 20, n_queries)])
    X = rng.standard_normal((ptr[-1], n)) + 10.0
    y = np.round(np.abs(X[:, 1] - 10.0 + rng.standard_normal(ptr[-1])))
    for first, last in pairwise(ptr):
        X[first + 1 : last : 3] = X[first]
    return QueryData(X, y, ptr)


def sharded(data: QueryData, documents: int) -> TrainingData:
    return TrainingData(data.X, data.y, data.ptr, documents=documents)


def on_disk(data: QueryData, folder: Path) -> QueryData:
    np.save(folder / "X.npy", data.X)
    return QueryData(np.load(folder / "X.npy", mmap_mode="r"), data.y, data.ptr)


def retrained(problem: Problem, columns: list[int]) -> np.ndarray:
    """Scores by the model of all pairs of the other queries."""
    scores = np.zeros(len(problem.y))
    for query in np.unique(problem.qid):
        own, X = problem.qid == query, problem.X[:, columns]
        model = rankrls_on_pairs(
            X[~own], problem.y[~own], problem.qid[~own], problem.regularization
        )
        scores[own] = X[own] @ model
    return scores


@given(problems(fewest_queries=2), st.integers(1, 30), st.data())
def test_the_scores_are_those_of_retraining_without_the_query(
    problem: Problem, documents: int, draw: st.DataObject
) -> None:
    data, n = group(problem.X, problem.y, problem.qid), problem.X.shape[1]
    columns = draw.draw(st.lists(st.integers(0, n - 1), min_size=1, unique=True))
    shards = sharded(data, documents)
    relative, _ = tolerance(problem)
    # Weights of n features are at most ||y|| / √λ long, and so uncertain by that times the condition.
    bound = (
        relative
        * np.linalg.norm(problem.X)
        * np.linalg.norm(problem.y)
        / np.sqrt(problem.regularization)
    )
    expected = retrained(problem, columns)
    for method in (
        RankRLS(problem.regularization),
        GreedyRankRLS(regularization=problem.regularization),
    ):
        np.testing.assert_allclose(
            method.left_out(shards, columns), expected, rtol=0, atol=bound
        )
    if len(shards.shards) > 1:
        grid = problem.regularization, 2.0 * problem.regularization
        found = left_out_predictions(shards, grid, PairCost())[0]
        centred = centre(retrained(problem, list(range(n)))[:, None], data.ptr)[:, 0]
        np.testing.assert_allclose(found, centred, rtol=0, atol=2.0 * bound)


@LOSSES
@pytest.mark.parametrize("documents", [1, 30, 200])
@pytest.mark.parametrize("columns", [(0, 1, 2, 3, 4, 5, 6, 7), (5, 1), ()], ids=len)
def test_scores_and_measures_are_those_of_the_whole_array(
    documents: int, loss: dict[str, Any], columns: tuple[int, ...]
) -> None:
    data = random_data()
    shards, method = sharded(data, documents), RankRLS(0.5, **loss)
    whole = method.left_out(data, columns) if columns else np.zeros(len(data.y))
    found = method.left_out(shards, columns)
    np.testing.assert_allclose(found, whole, rtol=1e-10)
    scorer = finish(method.left_out_scorer(shards, columns))
    for names in (("MAP",), ("NDCG@5", "Disagreement")):
        table = finish(measured_left_out(shards, scorer, "letor4", names))
        expected = Evaluator(data.y, data.ptr, "letor4", names).per_query(found)
        for row, values in zip(table, expected.values(), strict=True):
            np.testing.assert_array_equal(row, values)


def test_equal_documents_of_a_query_have_equal_scores() -> None:
    data = random_data()
    scores = RankRLS(0.5).left_out(sharded(data, 30), range(8))
    for first, last in pairwise(data.ptr):
        assert (scores[first + 1 : last : 3] == scores[first]).all()


@LOSSES
def test_memory_disk_and_threads_give_the_same_bits(
    loss: dict[str, Any], tmp_path: Path
) -> None:
    data, names, columns = random_data(), ("MAP", "NDCG@5"), (6, 0, 3)
    expected: list[np.ndarray] = []
    for rows in (data, on_disk(data, tmp_path)):
        for count in (1, 2, 5):
            shards, method = (
                sharded(rows, 50),
                GreedyRankRLS(regularization=0.5, **loss),
            )
            with threads.at_most(count):
                scorer = finish(method.left_out_scorer(shards, columns))
                found = [
                    method.left_out(shards, columns),
                    finish(measured_left_out(shards, scorer, "letor4", names)),
                    left_out_predictions(shards, (0.1, 1.0), method.pair_cost()),
                ]
            expected = expected or found
            assert all(map(np.array_equal, found, expected))


def test_the_data_are_read_once_for_all_features_and_regularizations_then_once_a_model() -> (
    None
):
    data = sharded(random_data(), 50)
    count = len(data.shards)
    signs: list[WorkProgress] = []
    for regularization, columns, passes in ((1.0, (3,), 2), (2.0, (1, 3), 1)):
        asked = RankRLS(regularization).left_out_scorer(data, columns)
        signs[:] = asked
        scorer = finish(RankRLS(regularization).left_out_scorer(data, columns))
        signs += measured_left_out(data, scorer, "letor4", ("MAP",))
        assert len(signs) == passes * count
        assert all(isinstance(sign, WorkProgress) for sign in signs)


@pytest.mark.parametrize("loss", [{"cost": "inverse", "weighting": "pairs"}], ids=str)
def test_several_shards_are_left_out_by_shards_in_the_order_of_the_rows(
    loss: dict[str, Any],
) -> None:
    data = random_data(7500, 3)
    assert data.y.size > DOCUMENTS
    qid = np.repeat(np.arange(7500), np.diff(data.ptr))
    grid = [0.5, 4.0]
    predict = partial(RankRLS(**loss).leave_query_out, regularization=grid)
    found = predict(data.X, data.y, qid=qid)
    shards = TrainingData(data.X, data.y, data.ptr)
    assert np.array_equal(
        found, left_out_predictions(shards, grid, RankRLS(**loss).pair_cost())
    )
    assert np.array_equal(
        RankRLS(4.0, **loss).leave_query_out(data.X, data.y, qid=qid), found[1]
    )
    rows = PairRows.of(data, RankRLS(**loss).pair_cost())
    whole = [
        next(models_without(rows.statistics.gram, rows.statistics.total, (value,)))
        for value in grid
    ]
    expected = [np.einsum("mi,mi->m", data.centred[0], models[qid]) for models in whole]
    np.testing.assert_allclose(
        found, expected, rtol=0, atol=1e-10 * np.abs(found).max()
    )
    scattered = np.random.default_rng(1).permutation(qid.size)
    again = predict(data.X[scattered], data.y[scattered], qid=qid[scattered])
    np.testing.assert_allclose(
        again, found[:, scattered], rtol=0, atol=1e-10 * np.abs(found).max()
    )


def test_pairs_of_all_queries_need_all_documents_at_once(tmp_path: Path) -> None:
    data = random_data()
    shards, method = sharded(on_disk(data, tmp_path), 50), RankRLS(pairs="all")
    assert finish(method.left_out_scorer(shards, (0, 1))) is None
    assert np.array_equal(
        method.left_out(shards, (0, 1)), method.left_out(data, (0, 1))
    )
    with (
        memory.within(1e4),
        pytest.raises(OutOfMemoryError, match="RankRLS needs all documents at once"),
    ):
        method.left_out(sharded(on_disk(data, tmp_path), 50), (0, 1))
