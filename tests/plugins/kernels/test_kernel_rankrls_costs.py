"""Kernel RankRLS with every loss of a pair and on preferences, against listed pairs and retraining."""

import numpy as np
import pytest
from kernel_oracles import features_of, kernel_by_loops, ridge, spanned
from pair_list_oracles import LOSSES, Pairs, listed_pairs
from preference_oracles import listed_preferences

from rankstudio.engine import KernelRankRLS, RankRLS
from rankstudio.engine.data.preferences import Preferences
from rankstudio.engine.errors import ParameterError

Loss = tuple[str, bool, str]


def made(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Queries of 1 to 7 documents, of which one has labels that are all equal."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(8), [1, 3, 7, 4, 5, 2, 6, 4])
    y = rng.integers(0, 4, qid.size).astype(float)
    y[qid == 3] = 1.0
    return rng.normal(size=(qid.size, 3)), y, qid


def held_against(
    X: np.ndarray,
    qid: np.ndarray,
    pairs: Pairs,
    method: KernelRankRLS,
    **labels: object,
) -> None:
    """Hold weights, left-out predictions and the criterion against minimising anew."""
    M, N, owners = pairs
    method.fit(X, qid=qid, **labels)
    features = features_of(kernel_by_loops(X, X, "rbf", method.gamma))
    basis = method.basis_

    def learned(seen: np.ndarray, own: np.ndarray) -> np.ndarray:
        """The scores of all documents; by features, as normal equations would lose half of the digits."""
        known = features if own.size == qid.size else spanned(features, own)
        return np.asarray(
            known @ ridge(M[seen] @ known, N[seen], method.regularization)
        )

    def same(found: np.ndarray, expected: np.ndarray) -> None:
        np.testing.assert_allclose(
            found, expected, rtol=0, atol=1e-8 * np.abs(expected).max()
        )

    same(method.predict(X), learned(np.ones(N.size, dtype=bool), basis))
    left_out, criterion = np.empty(qid.size), 0.0
    for query in np.unique(qid):
        out, mine = qid == query, owners == query
        own = basis[qid[basis] != query]
        found = learned(~mine, own)
        left_out[out] = found[out] - found[out].mean()
        criterion += float(np.sum((N[mine] - M[mine] @ found) ** 2))
    assert method.criterion_ == pytest.approx(criterion, rel=1e-8)
    same(method.leave_query_out(X, qid=qid, **labels), left_out)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n_basis", [None, 12])
def test_labels_have_every_loss(loss: Loss, n_basis: int | None) -> None:
    X, y, qid = made()
    cost, ties, weighting = loss
    method = KernelRankRLS(
        gamma=0.5,
        regularization=0.2,
        n_basis=n_basis,
        cost=cost,
        ties=ties,
        weighting=weighting,
    )
    held_against(X, qid, listed_pairs(y, qid, *loss), method, y=y)


@pytest.mark.parametrize("n_basis", [None, 12])
@pytest.mark.parametrize("cost", ["magnitude", "unit", "inverse"])
def test_preferences_are_learned_from(cost: str, n_basis: int | None) -> None:
    X, _, qid = made()
    rng = np.random.default_rng(1)
    i, j = np.nonzero(
        (qid[:, None] == qid) & (rng.random((qid.size, qid.size)) < 0.6) & (qid != 3)
    )
    i, j = i[i != j], j[i != j]
    preferences = Preferences(i, j, rng.random(i.size) + 0.5, rng.random(i.size) + 0.5)
    method = KernelRankRLS(
        gamma=0.5, regularization=0.2, n_basis=n_basis, cost=cost, weighting="pairs"
    )
    pairs = listed_preferences(preferences, qid, cost, "pairs")
    held_against(X, qid, pairs, method, preferences=preferences)


def test_the_linear_kernel_is_rankrls_with_any_cost() -> None:
    X, y, qid = made()
    for cost, ties, weighting in LOSSES:
        parameters = {
            "regularization": 0.5,
            "cost": cost,
            "ties": ties,
            "weighting": weighting,
        }
        linear = RankRLS(**parameters).fit(X, y, qid=qid)
        kernel = KernelRankRLS(kernel="linear", **parameters).fit(X, y, qid=qid)
        np.testing.assert_allclose(
            kernel.predict(X), linear.predict(X), rtol=1e-8, atol=1e-10
        )
        assert kernel.criterion_ == pytest.approx(linear.criterion_, rel=1e-8)


def test_pairs_are_left_out_with_the_weighting() -> None:
    X, y, _ = made()
    linear = RankRLS(0.5, weighting="none").leave_pair_out(X, y)
    kernel = KernelRankRLS(
        kernel="linear", regularization=0.5, weighting="none"
    ).leave_pair_out(X, y)
    np.testing.assert_allclose(
        kernel, linear, rtol=1e-8, atol=1e-8 * np.nanmax(np.abs(linear))
    )
    with pytest.raises(
        ParameterError, match="cost: expected the cost magnitude with ties"
    ):
        KernelRankRLS(cost="unit").leave_pair_out(X, y)
