"""RankRLS with every loss of a pair, against listed pairs and retraining without each query."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pair_list_oracles import LOSSES, bounds, listed_pairs, solve
from scipy.sparse import csr_array
from strategies import Problem, problems

from rankstudio.engine import RankRLS
from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.errors import DatasetError, ParameterError
from rankstudio.engine.methods.rankers import rankrls_shards
from rankstudio.engine.methods.shards.training_data import training_data

Loss = tuple[str, bool, str]
losses = st.sampled_from(LOSSES)
some_pairs = st.sampled_from(["query", "all"])


@given(problems(), losses, some_pairs, st.integers(1, 2))
def test_the_weights_minimise_the_loss_of_all_pairs(
    problem: Problem, loss: Loss, pairs: str, often: int
) -> None:
    # documents may be there twice
    X, y, qid = (np.repeat(values, often, axis=0) for values in problem[:3])
    regularization = problem.regularization
    M, N, _ = listed_pairs(y, qid, *loss, pairs == "all")
    eps, scale = bounds(Problem(X, y, qid, regularization), M, N)
    fitted = _rankrls(regularization, loss, pairs).fit(X, y, qid=qid)
    np.testing.assert_allclose(
        fitted.coef_, solve(M, N, X, regularization), rtol=0, atol=eps * scale
    )


@given(problems(fewest_queries=2), losses, some_pairs, st.booleans())
def test_left_out_predictions_are_those_of_retraining(
    problem: Problem, loss: Loss, pairs: str, statistics: bool
) -> None:
    X, y, qid, regularization = problem
    M, N, owners = listed_pairs(y, qid, *loss)
    eps, scale = bounds(problem, *listed_pairs(y, qid, *loss, pairs == "all")[:2])
    expected, criterion = np.zeros(y.size), 0.0
    for query in np.unique(qid):
        out = qid == query
        rows, targets, _ = listed_pairs(y[~out], qid[~out], *loss, pairs == "all")
        coef = solve(rows, targets, X[~out], regularization)
        expected[out] = X[out] @ coef - (X[out] @ coef).mean()
        mine = owners == query
        criterion += float(np.sum((N[mine] - M[mine] @ X @ coef) ** 2))
    method = _rankrls(regularization, loss, pairs)
    with pytest.MonkeyPatch.context() as patch:
        if not statistics and pairs == "query":
            patch.setattr(rankrls_shards, "_FEW", 0)
            patch.setattr(rankrls_shards, "_TIMES", 0)
            patch.setattr(
                QueryData,
                "statistics",
                property(lambda _: pytest.fail("needs statistics")),
            )
        left_out = method.leave_query_out(X, y, qid=qid)
        found = method.fit(X, y, qid=qid).criterion_
    scale *= 1.0 + float(np.abs(X).sum())
    np.testing.assert_allclose(left_out, expected, rtol=0, atol=eps * scale)
    size = float(N @ N) + float(np.sum(M**2)) * scale**2
    assert found == pytest.approx(criterion, rel=1e-8, abs=eps * size)


def test_well_conditioned_problems_agree_to_eight_digits() -> None:
    rng = np.random.default_rng(5)
    qid = np.repeat(np.arange(8), rng.integers(1, 9, 8))
    X, y = rng.normal(size=(qid.size, 4)), rng.integers(0, 4, qid.size).astype(float)
    for loss in LOSSES:
        for pairs in ("query", "all"):
            M, N, _ = listed_pairs(y, qid, *loss, pairs == "all")
            for regularization in (2.0**-15, 1.0, 2.0**15):
                coef = _rankrls(regularization, loss, pairs).fit(X, y, qid=qid).coef_
                np.testing.assert_allclose(
                    coef, solve(M, N, X, regularization), rtol=1e-8
                )


@given(problems(fewest_queries=2), losses)
def test_a_path_of_nested_models_has_the_loss_of_each(
    problem: Problem, loss: Loss
) -> None:
    X, y, qid, regularization = problem
    method = _rankrls(regularization, loss, "query")
    data = training_data(method._group(X, y, qid))
    steps = method.nested(data, tuple(range(X.shape[1])))
    assert steps is not None
    eps, scale = bounds(problem, *listed_pairs(y, qid, *loss)[:2])
    for k, step in enumerate(steps, start=1):
        alone = _rankrls(regularization, loss, "query").fit(X[:, :k], y, qid=qid)
        np.testing.assert_allclose(step.coef[:k], alone.coef_, rtol=0, atol=eps * scale)
        assert step.criterion == pytest.approx(
            alone.criterion_, rel=1e-8, abs=eps * (1.0 + scale) ** 2
        )


def test_nothing_is_nested_over_all_queries() -> None:
    data = training_data(QueryData(np.eye(4), np.arange(4.0), np.array([0, 2, 4])))
    assert RankRLS(pairs="all").nested(data, (0, 1)) is None


def test_irrelevant_pairs_turn_the_sign_of_the_papers_example() -> None:
    """Pahikkala et al. 2009, Figure 2."""
    X, y, qid = (
        np.array([[0.0], [1.0], [2.0], [3.0]]),
        np.array([2.0, 1.0, 4.0, 3.0]),
        [1, 1, 2, 2],
    )
    assert RankRLS(0.1).fit(X, y, qid=qid).coef_[0] < 0
    assert RankRLS(0.1, pairs="all").fit(X, y, qid=qid).coef_[0] > 0


def test_pointwise_is_regression_with_a_bias() -> None:
    from sklearn.linear_model import Ridge  # noqa: PLC0415 - the only test that holds it against that

    rng = np.random.default_rng(0)
    X, y, qid = rng.random((40, 3)), rng.random(40), np.arange(40) // 8
    method = RankRLS(0.3, pairs="pointwise")
    np.testing.assert_allclose(
        method.fit(X, y, qid=qid).coef_, Ridge(alpha=0.3).fit(X, y).coef_, rtol=1e-10
    )
    left_out = method.leave_query_out(X, y, qid=qid)
    for query in range(5):
        out = qid == query
        expected = X[out] @ Ridge(alpha=0.3).fit(X[~out], y[~out]).coef_
        np.testing.assert_allclose(left_out[out], expected - expected.mean(), rtol=1e-9)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"cost": "hinge"}, "cost: expected magnitude, unit or inverse, got 'hinge'."),
        (
            {"cost": "inverse", "ties": True},
            "ties: expected False with the cost inverse, because only magnitude has ties, got True.",
        ),
        ({"pairs": "none"}, "pairs: expected query, all or pointwise, got 'none'."),
        (
            {"pairs": "pointwise", "cost": "unit"},
            "pairs: expected query or all with another cost, ties or weighting, because single documents "
            "have no pairs, got 'pointwise'.",
        ),
    ],
)
def test_what_does_not_go_together_is_refused(
    parameters: dict[str, object], sentence: str
) -> None:
    with pytest.raises(ParameterError) as refused:
        RankRLS(**parameters).fit(np.eye(3), np.arange(3.0), qid=[1, 1, 2])
    assert str(refused.value) == sentence


def test_one_query_has_no_left_out_predictions_with_any_cost() -> None:
    with pytest.raises(DatasetError, match="at least two queries"):
        RankRLS(cost="unit").leave_query_out(np.eye(2), [0, 1], qid=[1, 1])


def _rankrls(regularization: float, loss: Loss, pairs: str) -> RankRLS:
    cost, ties, weighting = loss
    return RankRLS(
        regularization, cost=cost, ties=ties, weighting=weighting, pairs=pairs
    )


def made() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(6)
    qid = np.repeat(np.arange(8), 6)
    return rng.normal(size=(48, 4)), rng.integers(0, 4, 48).astype(float), qid


@pytest.mark.parametrize("loss", LOSSES)
def test_conjugate_gradients_and_further_queries_end_in_the_same_weights(
    loss: Loss,
) -> None:
    X, y, qid = made()
    cost, ties, weighting = loss
    parameters = {"cost": cost, "ties": ties, "weighting": weighting}
    direct = RankRLS(0.5, **parameters).fit(X, y, qid=qid).coef_
    gradients = RankRLS(0.5, solver="cg", **parameters).fit(X, y, qid=qid)
    np.testing.assert_allclose(gradients.coef_, direct, rtol=1e-8)
    early = qid < 5
    further = RankRLS(0.5, **parameters).fit(X[early], y[early], qid=qid[early])
    further.partial_fit(X[~early], y[~early], qid=qid[~early])
    np.testing.assert_allclose(further.coef_, direct, rtol=1e-10)
    afresh = RankRLS(0.5, **parameters).partial_fit(X, y, qid=qid)
    np.testing.assert_allclose(afresh.coef_, direct, rtol=1e-10)


def test_what_knows_the_default_loss_alone_refuses_others() -> None:
    X, y, qid = made()
    both = np.column_stack((y, -y))
    with pytest.raises(
        ParameterError, match="cost: expected the default with several outputs, or"
    ):
        RankRLS(cost="unit").fit(X, both, qid=qid)
    with pytest.raises(
        ParameterError, match="pairs: expected query with several outputs"
    ):
        RankRLS(pairs="all").leave_query_out(X, both, qid=qid)
    with pytest.raises(
        ParameterError, match="weighting: expected the default with several outputs"
    ):
        RankRLS(weighting="none").partial_fit(X, both, qid=qid)
    with pytest.raises(
        ParameterError, match="pairs: expected query when further queries are added"
    ):
        RankRLS(pairs="all").fit(X, y, qid=qid).partial_fit(X, y, qid=qid + 10)
    with pytest.raises(ParameterError, match="pairs: expected query with"):
        RankRLS(pairs="all", solver="cg").fit(X, y, qid=qid)
    with pytest.raises(
        ParameterError,
        match="cost: expected the cost magnitude with ties and weighting size or",
    ):
        RankRLS(cost="inverse").leave_pair_out(X, y)
    with pytest.raises(
        ParameterError, match=r"cost: expected the defaults .* for a sparse X"
    ):
        RankRLS(cost="inverse").fit(csr_array(X), y, qid=qid)


def test_pairs_and_sets_are_left_out_with_the_weighting_and_of_regression() -> None:
    X, y, _ = made()
    X, y = X[:12], y[:12]
    rest = np.arange(12) > 1
    for parameters in (
        {"weighting": "none"},
        {"weighting": "size"},
        {"pairs": "all", "weighting": "none"},
    ):
        method = RankRLS(0.5, **parameters)
        coef = RankRLS(0.5, **parameters).fit(X[rest], y[rest], qid=np.zeros(10)).coef_
        np.testing.assert_allclose(
            method.leave_pair_out(X, y)[0, 1], (X[0] - X.mean(axis=0)) @ coef
        )
        left_out = method.leave_sets_out(X, y, [[0, 1]])[0]
        np.testing.assert_allclose(left_out, (X[:2] - X.mean(axis=0)) @ coef)
    coef = RankRLS(0.5, pairs="pointwise").fit(X[rest], y[rest], qid=np.zeros(10)).coef_
    bias = y[rest].mean() - X[rest].mean(axis=0) @ coef
    left_out = RankRLS(0.5, pairs="pointwise").leave_sets_out(X, y, [[0, 1]])[0]
    np.testing.assert_allclose(left_out, X[:2] @ coef + bias)
