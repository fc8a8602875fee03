"""What is measured on left-out queries takes memory of the documents, not of documents times steps or λ."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from abilities import estimator_class

from rankstudio.engine import RankRLS
from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.methods.kernels.shared_work import KernelWork
from rankstudio.engine.methods.left_out import left_out_scores
from rankstudio.engine.methods.rankers import rankrls_shards
from rankstudio.engine.methods.rankers.rankrls_shards import models_without
from rankstudio.engine.steps import Step

KernelRankRLS = estimator_class("kernel-rankrls")

QUERIES, SIZE, FEATURES = 400, 20, 12
DOCUMENTS = QUERIES * SIZE
GRID = 2.0 ** np.arange(-3, 4)


def documents(queries: int = QUERIES, features: int = FEATURES) -> QueryData:
    rng = np.random.default_rng(0)
    m = queries * SIZE
    return QueryData(
        rng.random((m, features)),
        rng.integers(0, 3, m).astype(float),
        np.arange(0, m + 1, SIZE),
    )


def most(call: Callable[[], Any]) -> int:
    """How many bytes are taken at the most, beside those that were taken before."""
    gc.collect()
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "columns", [(3,), (5, 2, 11), tuple(range(FEATURES)), tuple(range(FEATURES))[::-1]]
)
@pytest.mark.parametrize("at_once", [1, 1000, 1 << 22])
def test_queries_in_pieces_score_as_all_at_once(
    columns: tuple[int, ...], at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rankrls_shards, "_AT_ONCE", at_once)
    data = documents(60)
    narrow = data.narrowed(sorted(columns))
    expected = left_out_scores(
        narrow,
        next(models_without(narrow.statistics.gram, narrow.statistics.total, (2.0,))),
    )
    np.testing.assert_allclose(
        RankRLS(2.0).left_out(data, columns), expected, rtol=1e-9
    )


def test_a_path_takes_memory_of_the_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    at_once = 1 << 13
    monkeypatch.setattr(rankrls_shards, "_AT_ONCE", at_once)
    data = documents()
    path = [tuple(range(k)) for k in range(1, FEATURES + 1)]
    # compiles, and makes the statistics that all steps share
    RankRLS(1.0).left_out(data, path[0])

    def measure() -> None:
        for value in GRID:
            for columns in path:
                RankRLS(value).left_out(data, columns)

    scores, gram = 8 * DOCUMENTS, 8 * at_once
    # Weights for documents and their products: of the queries that are in hand, at most all documents. Gram
    # matrices as they are cut out and as they are laid out. The models without each query in hand, which are
    # fewer than their Gram matrices. Objects of Python.
    bound = 3 * scores + 3 * gram + 100_000
    assert most(measure) <= bound
    # which the documents with the features of a step took
    assert bound < 8 * DOCUMENTS * FEATURES


def test_several_values_of_lambda_take_their_result_and_one_query_more() -> None:
    data = documents()
    qid = np.repeat(np.arange(QUERIES), SIZE)

    def predict(values: int) -> int:
        return most(
            lambda: RankRLS().leave_query_out(
                data.X, data.y, qid=qid, regularization=GRID[:values]
            )
        )

    predict(1)
    # A value more takes a row of the result more, which is made in place; a doubling while it grows is not.
    assert predict(7) - predict(1) <= 6 * 8 * DOCUMENTS + 50_000


def test_predictions_by_a_kernel_are_kept_once_for_all_settings() -> None:
    data = documents(30, 4)
    columns = [(0,), (0, 1), (0, 1, 2), (0, 1, 2, 3)]
    methods = [
        KernelRankRLS(regularization=v, gamma=g, n_basis=10)
        for g in (0.5, 1.0)
        for v in GRID
    ]
    rows = [method.left_out(data, own) for method in methods for own in columns]
    again = [
        method.left_out(documents(30, 4), own) for method in methods for own in columns
    ]
    assert [row.tobytes() for row in rows] == [row.tobytes() for row in again]
    kept = data.shared.of(KernelWork).left_out
    assert kept is not None
    assert kept[1].shape == (30 * SIZE,)


def test_models_of_one_basis_share_its_vectors_as_long_as_there_is_one() -> None:
    data = documents(30, 4)
    steps = [
        step
        for value in GRID
        for gamma in (0.5, 1.0)
        for step in KernelRankRLS(regularization=value, gamma=gamma, n_basis=10).work(
            data
        )
        if isinstance(step, Step)
    ]
    assert len({id(step.model.vectors) for step in steps}) == 1  # type: ignore[attr-defined]
    assert steps[0].model.vectors.tobytes() == data.X[steps[0].basis].tobytes()  # type: ignore[attr-defined]
    assert len(data.shared.of(KernelWork).basis_vectors) == 1
    del steps
    gc.collect()
    assert len(data.shared.of(KernelWork).basis_vectors) == 0
