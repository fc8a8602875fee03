"""Threads share the work of methods and change no bit, however small the work is."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from abilities import estimator_class

from rankstudio.engine import (
    FSBFS,
    GAS,
    ExpectedDivergence,
    FSMRank,
    GreedyRankRLS,
    MutualInformation,
    RankRLS,
    RankSVM,
)
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.support.threads import pool

KernelRankRLS = estimator_class("kernel-rankrls")

RankBoost = estimator_class("rankboost")
AdaRank = estimator_class("adarank")
ListNet = estimator_class("listnet")
SVMMAP = estimator_class("svm-map")
CoordinateAscent = estimator_class("coordinate-ascent")

METHODS: list[LinearRanker] = [
    AdaRank(n_rounds=3),
    CoordinateAscent(n_restarts=1, max_iter=2),
    ExpectedDivergence(3),
    FSBFS(2, subset_size=2, patience=1, max_iter=2),
    FSMRank(similarity="kendall", max_iter=5),
    GAS(4),
    GreedyRankRLS(5, 0.5, algorithm="statistics"),
    GreedyRankRLS(5, 0.5, algorithm="rows"),
    GreedyRankRLS(5, 0.5, algorithm="columns"),
    GreedyRankRLS(5, 0.5, fitting="back"),
    GreedyRankRLS(5, 0.5, groups=[(3, 9), (7, 1, 2)]),
    GreedyRankRLS(5, 0.5, search="floating"),
    GreedyRankRLS(5, 0.5, search="swap"),
    GreedyRankRLS(5, 0.5, search="best"),
    KernelRankRLS(gamma=1.0, n_basis=50),
    ListNet(max_iter=5),
    MutualInformation(3),
    RankBoost(5),
    RankRLS(),
    RankRLS(solver="cg"),
    RankSVM(C=0.01),
    SVMMAP(C=100.0),
]
SPARSE: list[LinearRanker] = [
    RankRLS(),
    RankSVM(C=0.01),
    GreedyRankRLS(5, 0.5),
    MutualInformation(3),
]


@pytest.mark.parametrize(
    ("method", "sparse"),
    [*((m, False) for m in METHODS), *((m, True) for m in SPARSE)],
    ids=str,
)
def test_threads_change_no_bit(
    method: LinearRanker, sparse: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(5)
    X, qid = rng.random((600, 12)).round(2), np.sort(rng.integers(0, 60, 600))
    y = np.clip(np.round(2 * X[:, 11] + X[:, 7] + rng.random(600)) - 1, 0, 2)
    X[rng.random(X.shape) < 0.5 * sparse] = 0.0
    documents = scipy.sparse.csr_array(X) if sparse else X
    monkeypatch.setattr("rankstudio.engine.support.threads._START_NANOSECONDS", -np.inf)
    found = []
    for count in ("1", "2", "3"):
        monkeypatch.setenv("RANKSTUDIO_THREADS", count)
        with pool() as (_, workers):
            assert workers == int(count)
        steps = list(method.steps(documents, y, qid=qid))
        numbers = [[step.criterion, *step.coef, *step.candidates] for step in steps]
        found.append(
            (
                steps[-1].selected,
                np.array(numbers),
                method.fit(documents, y, qid=qid).predict(X),
            )
        )
    for other in found[1:]:
        for one, two in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(two, one)
