"""Kernel RankRLS on basis vectors, as the simulation learns it."""

import numpy as np
import pytest

from rankstudio.engine import KernelRankRLS
from rankstudio.engine.arithmetic.kernel_functions import Kernel
from rankstudio.engine.arithmetic.query_data import QueryData, group
from rankstudio.engine.data.synthetic import make_ranking
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.support.work import finish
from rankstudio.plugins.lab.simulation.learners import BASIS_ESTIMATORS, BasisRankRLS
from rankstudio.plugins.lab.simulation.selection_simulation import simulate_selection


def problem() -> tuple[QueryData, np.ndarray]:
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(9), 7)
    return group(rng.random((63, 4)), rng.integers(0, 3, 63), qid), qid


def test_it_is_kernel_rankrls_on_as_many_basis_vectors_of_each_query() -> None:
    data, qid = problem()
    scores = BasisRankRLS(Kernel("rbf", 0.5), 2, 0.3, seed=4).learn(data)(data.X)
    method = KernelRankRLS(
        gamma=0.5, regularization=0.3, n_basis=18, basis="per_query", seed=4
    )
    fitted = method.fit(data.X, data.y, qid=qid)
    assert (np.bincount(qid[fitted.basis_]) == 2).all()
    np.testing.assert_allclose(scores, fitted.predict(data.X), rtol=1e-8, atol=1e-10)


def test_basis_vectors_that_are_fixed_stay() -> None:
    data, _ = problem()
    learner = BasisRankRLS(Kernel("rbf", 0.5), 1, 0.3)
    kept = learner.fixed(data)
    assert kept.vectors is not None and kept.vectors.shape == (9, 4)
    part = QueryData(data.X[:14], data.y[:14], data.ptr[:3])
    assert kept.fixed(part).vectors is kept.vectors
    np.testing.assert_allclose(kept.learn(data)(data.X), learner.learn(data)(data.X))
    assert (kept.learn(part)(data.X) != learner.learn(part)(data.X)).any()


def test_vectors_that_depend_on_others_change_nothing() -> None:
    data, _ = problem()
    vectors = data.X[:6]
    once = BasisRankRLS(Kernel("rbf", 0.5), 1, 0.3, vectors=vectors)
    twice = BasisRankRLS(
        Kernel("rbf", 0.5), 1, 0.3, vectors=np.vstack((vectors, vectors))
    )
    np.testing.assert_allclose(
        twice.learn(data)(data.X), once.learn(data)(data.X), rtol=1e-6, atol=1e-8
    )


def test_parameters_are_checked() -> None:
    found = BasisRankRLS.of("poly", 0.5, 3, 2.0)
    assert (found.kernel, found.per_query, found.regularization) == (
        Kernel("poly", 0.5),
        3,
        2.0,
    )
    for wrong in (
        ("rbf", 0.0, 1, 1.0),
        ("rbf", 1.0, 0, 1.0),
        ("rbf", 1.0, 1, 0.0),
        ("sinc", 1.0, 1, 1.0),
    ):
        with pytest.raises(ParameterError):
            BasisRankRLS.of(*wrong)


def test_keeping_basis_vectors_is_pessimistic_where_lambda_is_small() -> None:
    data = make_ranking(n_queries=80, documents=(8, 12), seed=3)
    costs = []
    for regularization in (2.0**-12, 2.0**6):
        found = finish(
            simulate_selection(
                data,
                12,
                measure="AUC",
                repetitions=15,
                learner=BasisRankRLS(Kernel("rbf", 2.0**-4), 3, regularization),
                estimators={
                    name: BASIS_ESTIMATORS[name] for name in list(BASIS_ESTIMATORS)[:2]
                },
            )
        )
        without, kept = found.bias
        costs.append(without - kept)
    assert costs[0] > 0.01
    assert abs(costs[1]) < costs[0] / 2
