"""Greedy RankRLS with every loss of a pair, against listed pairs and retraining without each query."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pair_list_oracles import LOSSES, listed_pairs, solve
from scipy.sparse import csr_array
from strategies import Problem, problems

from rankstudio.engine import GreedyRankRLS
from rankstudio.engine.errors import ParameterError

Loss = tuple[str, bool, str]


def left_out_loss(problem: Problem, loss: Loss, selected: list[int]) -> float:
    """The loss of the pairs of every query by a model trained without it."""
    X, y, qid, regularization = problem
    X = X[:, selected]
    M, N, owners = listed_pairs(y, qid, *loss)
    error = 0.0
    for query in np.unique(qid):
        rows, targets, _ = listed_pairs(y[qid != query], qid[qid != query], *loss)
        coef = solve(rows, targets, X[qid != query], regularization)
        mine = owners == query
        error += float(np.sum((N[mine] - M[mine] @ X @ coef) ** 2))
    return error


@given(
    problems(most_features=5, fewest_queries=2),
    st.sampled_from(LOSSES),
    st.sampled_from(["statistics", "rows", "algorithm1", "columns"]),
)
def test_each_step_adds_the_feature_with_the_least_loss_of_left_out_queries(
    problem: Problem, loss: Loss, algorithm: str
) -> None:
    X, y, qid, regularization = problem
    cost, ties, weighting = loss
    M, N, _ = listed_pairs(y, qid, *loss)
    condition = (
        1.0 + (float(np.sum((M @ X) ** 2)) + float(np.sum(M**2))) / regularization
    )
    eps = 1024 * np.finfo(float).eps * condition
    tolerance = eps * float(N @ N) * condition
    k = min(2, X.shape[1])
    parameters = {
        "algorithm": algorithm,
        "cost": cost,
        "ties": ties,
        "weighting": weighting,
    }
    path = GreedyRankRLS(k, regularization, **parameters).fit(X, y, qid=qid)
    selected: list[int] = []
    for column, criterion in zip(
        path.selection_order_.tolist(), path.criterion_path_, strict=True
    ):
        left = [j for j in range(X.shape[1]) if j not in selected]
        losses = [left_out_loss(problem, loss, [*selected, j]) for j in left]
        selected.append(column)
        assert criterion == pytest.approx(
            left_out_loss(problem, loss, selected), rel=1e-8, abs=tolerance
        )
        # A feature that no pair sees is taken last, though it would do no harm.
        if (np.abs(M @ X[:, left]) > 1e-12).any(axis=0).all():
            assert criterion <= min(losses) * (1 + 1e-8) + tolerance


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(
    "more",
    [
        *(
            {"search": "floating"},
            {"search": "swap"},
            {"groups": ((0, 3),)},
            {"n_candidates": 3},
        ),
        {"fitting": "back"},
    ],
)
def test_other_searches_know_the_loss_too(loss: Loss, more: dict[str, object]) -> None:
    rng = np.random.default_rng(3)
    qid = np.repeat(np.arange(9), 6)
    X, y = rng.normal(size=(54, 5)), rng.integers(0, 4, 54).astype(float)
    cost, ties, weighting = loss
    for algorithm in ("auto", "columns"):
        method = GreedyRankRLS(
            3,
            0.5,
            algorithm=algorithm,
            cost=cost,
            ties=ties,
            weighting=weighting,
            **more,
        ).fit(X, y, qid=qid)
        expected = left_out_loss(
            Problem(X, y, qid, 0.5), loss, method.selection_order_.tolist()
        )
        assert method.criterion_path_[-1] == pytest.approx(expected, rel=1e-9)


def test_other_losses_of_sparse_features_are_refused_with_what_works() -> None:
    X, y, qid = csr_array(np.eye(4)), np.arange(4.0), [1, 1, 2, 2]
    assert (
        GreedyRankRLS(1, cost="magnitude", ties=True)
        .fit(X, y, qid=qid)
        .selection_order_.size
        == 1
    )
    with pytest.raises(ParameterError) as refused:
        GreedyRankRLS(1, cost="unit").fit(X, y, qid=qid)
    assert str(refused.value) == (
        "cost: expected the defaults (cost magnitude, ties True, weighting size) for a sparse X, or a dense "
        "X, got 'unit'."
    )
