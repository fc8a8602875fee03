"""RankRLS by shards: the model and error of the whole array, and the same bits wherever the shards lie."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import leave_query_out_error, rankrls_on_pairs
from sharded_problems import assert_same_everywhere, cut, error_bound, weights_bound
from strategies import Problem, problems, tolerance

from rankstudio.engine import RankRLS
from rankstudio.engine.arithmetic.pair_cost.pair_rows import PairRows
from rankstudio.engine.arithmetic.query_data import QueryData, group
from rankstudio.engine.errors import OutOfMemoryError
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.steps import Step
from rankstudio.engine.support import memory
from rankstudio.engine.support.shard import DOCUMENTS
from rankstudio.engine.support.work import WorkProgress


def random_data(n_queries: int = 80, n: int = 8, seed: int = 0) -> QueryData:
    """Queries of 1 to 19 documents: some have more documents than there are features, others fewer."""
    rng = np.random.default_rng(seed)
    ptr = np.cumsum([0, *rng.integers(1, 20, n_queries)])
    X = rng.standard_normal((ptr[-1], n)) + 10.0
    return QueryData(
        X, np.round(np.abs(X[:, 1] - 10.0 + rng.standard_normal(ptr[-1]))), ptr
    )


def model(data: Any, regularization: float = 1.0, **parameters: Any) -> Step:
    (step,) = RankRLS(regularization, **parameters).learn(data)
    return step


@given(problems(fewest_queries=2), st.integers(1, 30))
def test_it_is_the_model_of_all_pairs_and_its_error_that_of_retraining(
    problem: Problem, documents: int
) -> None:
    data, regularization = (
        group(problem.X, problem.y, problem.qid),
        problem.regularization,
    )
    step = model(cut(data, documents), regularization)
    relative, absolute = tolerance(problem)
    expected = rankrls_on_pairs(problem.X, problem.y, problem.qid, regularization)
    # The weights of features that barely vary are the least certain ones: ||w||² <= ||y||² / λ.
    np.testing.assert_allclose(
        step.coef,
        expected,
        rtol=relative,
        atol=relative * np.sqrt(problem.y @ problem.y / regularization),
    )
    everything = list(range(problem.X.shape[1]))
    error = leave_query_out_error(
        problem.X, problem.y, problem.qid, everything, regularization
    )
    assert step.criterion == pytest.approx(error, rel=relative, abs=absolute)


@pytest.mark.parametrize(
    "loss", [{}, {"cost": "unit"}, {"cost": "inverse", "weighting": "pairs"}], ids=str
)
@pytest.mark.parametrize("documents", [1, 30, 200])
def test_it_is_the_model_of_the_whole_array(
    documents: int, loss: dict[str, Any]
) -> None:
    data = random_data()
    step, whole = model(cut(data, documents), 0.5, **loss), model(data, 0.5, **loss)
    rows = PairRows.of(data, RankRLS(**loss).pair_cost()).centred
    assert float(np.linalg.norm(step.coef - whole.coef)) <= weights_bound(
        rows, 0.5, whole.coef
    )
    assert (step.number, step.selected) == (whole.number, whole.selected)
    assert abs(step.criterion - whole.criterion) <= error_bound(
        rows, 0.5, whole.criterion
    )


def test_memory_disk_and_threads_give_the_same_bits_for_each_regularization(
    tmp_path: Path,
) -> None:
    for regularization in (0.1, 1.0):
        assert_same_everywhere(RankRLS(regularization), random_data(), tmp_path, 50)


def test_it_gives_signs_of_life_and_reads_the_data_once_more_for_another_regularization() -> (
    None
):
    data = cut(random_data(), 50)
    count = len(data.shards)
    for rounds in (2, 1):
        *signs, step = RankRLS(float(rounds)).work(data)
        assert isinstance(step, Step)
        assert len(signs) == rounds * count
        assert all(isinstance(sign, WorkProgress) for sign in signs)


def test_several_shards_are_learned_from_by_shards_and_further_queries_later() -> None:
    data = random_data(7500)
    assert data.y.size > DOCUMENTS
    qid = np.repeat(np.arange(7500), np.diff(data.ptr))
    ranker = RankRLS().fit(data.X, data.y, qid=qid)
    assert np.array_equal(
        ranker.coef_, model(TrainingData(data.X, data.y, data.ptr)).coef
    )
    first = qid < 7400
    parts = RankRLS().fit(data.X[first], data.y[first], qid=qid[first])
    parts.partial_fit(data.X[~first], data.y[~first], qid=qid[~first])
    off = weights_bound(data.centred, 1.0, ranker.coef_)
    assert float(np.linalg.norm(parts.coef_ - ranker.coef_)) <= off


@pytest.mark.parametrize("parameters", [{"solver": "cg"}, {"pairs": "all"}], ids=str)
def test_what_needs_all_documents_at_once_has_them_where_they_fit(
    parameters: dict[str, Any], tmp_path: Path
) -> None:
    data = random_data()
    np.save(tmp_path / "X.npy", data.X)
    mapped = cut(
        QueryData(np.load(tmp_path / "X.npy", mmap_mode="r"), data.y, data.ptr), 50
    )
    *_, whole = RankRLS(**parameters).learn(data)
    *_, found = RankRLS(**parameters).learn(mapped)
    assert np.array_equal(whole.coef, found.coef)
    with (
        memory.within(1e4),
        pytest.raises(OutOfMemoryError, match="RankRLS needs all documents at once"),
    ):
        list(RankRLS(**parameters).learn(mapped))
