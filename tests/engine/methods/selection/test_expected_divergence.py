"""Expected divergence: kernel by kernel from the paper's equations, and the fast sums against the exact."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ordering import check_conventions, ranking_problem
from scipy.stats import gaussian_kde
from strategies import Problem, problems

from rankstudio.engine import ExpectedDivergence, evaluate
from rankstudio.engine.errors import DatasetError
from rankstudio.engine.methods.selection import _divergence_kernel as kernels
from rankstudio.engine.methods.selection.expected_divergence import divergences


def density(train: np.ndarray, at: np.ndarray, reading: str) -> np.ndarray | None:
    """Eq. (4) at each validation value; None where "released" has no bandwidth."""
    M = len(train)
    sd = np.std(train, ddof=1) if len(set(train)) > 1 else 0.0
    h = 1.06 * sd * (M**-0.2 if reading == "normalised" else 1.0)
    raw = np.zeros(len(at))
    if h > 0:
        for x in train:
            raw += np.exp(-0.5 * ((at - x) / h) ** 2) / (M * h * np.sqrt(2 * np.pi))
    if reading == "released":
        return raw if h > 0 else None
    if raw.sum() == 0:
        for x in train:
            distance = np.abs(at - x)
            nearest = distance == distance.min()
            # Half for either side, however often the value there occurs.
            sides = sorted(set(at[nearest]))
            for value in sides:
                raw[at == value] += 1.0 / len(sides) / np.sum(at == value)
    return raw / raw.sum()


def jensen_shannon(p: np.ndarray, q: np.ndarray) -> float:
    average = (p + q) / 2
    kl = [np.sum(d[d > 0] * np.log(d[d > 0] / average[d > 0])) for d in (p, q)]
    return float(kl[0] + kl[1]) / 2


def slow_divergence(
    x: np.ndarray, y: np.ndarray, at: np.ndarray, reading: str
) -> float:
    """Eq. (2) and (3)."""
    classes = [density(x[y == label], at, reading) for label in sorted(set(y))]
    total = 0.0
    for (m, p), (n, q) in combinations(enumerate(classes), 2):
        if p is not None and q is not None:
            total += (n - m) * jensen_shannon(p, q)
    return total


@given(
    problems(),
    st.sampled_from(["normalised", "released"]),
    st.sampled_from(["fast", "exact"]),
    st.booleans(),
)
def test_scores_follow_the_equations(
    problem: Problem, reading: str, kde: str, validation: bool
) -> None:
    X, y, qid, _ = problem
    y = np.clip(np.round(y), 0, 4)
    at = (
        np.round(np.random.default_rng(0).random((17, X.shape[1])), 1)
        if validation
        else X
    )
    found = ExpectedDivergence(density=reading, kde=kde)
    found.fit(X, y, qid=qid, X_validation=at if validation else None)
    for j in range(X.shape[1]):
        expected = slow_divergence(X[:, j], y, at[:, j], reading)
        assert found.divergence_[j] == pytest.approx(expected, rel=1e-9, abs=1e-10)
        importance = evaluate(y, X[:, j], qid, measures=["NDCG@10"])["NDCG@10"]
        assert found.importance_[j] == pytest.approx(importance, rel=1e-12)
    np.testing.assert_allclose(found.scores_, found.importance_ + found.divergence_)
    varies = np.array(
        [
            any(np.ptp(X[qid == q, j]) > 0 for q in np.unique(qid))
            for j in range(X.shape[1])
        ]
    )
    compared = np.where(varies, found.scores_, -1e9)[found.selection_order_]
    assert (np.diff(compared) <= 0).all()


@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 300),
    st.integers(1, 300),
    st.floats(-3, 3),
    st.sampled_from([1.0, 2.0, 5.0]),
)
def test_fast_sums_keep_their_bound(
    seed: int, M: int, V: int, log_h: float, tail: float
) -> None:
    rng = np.random.default_rng(seed)
    points = np.unique(rng.standard_normal(M) ** tail)
    at = np.unique(
        np.concatenate(
            (rng.standard_normal(V) ** tail, rng.choice(points, 3), [-1e9, 1e9])
        )
    )
    weights = rng.integers(1, 50, points.size).astype(float)
    reach = float(np.ptp(points))
    h = max(10.0**log_h, reach / 1e4)
    fast, exact = np.empty(at.size), np.empty(at.size)
    kernels.fast_sums(points, weights, h, at, fast)
    kernels.exact_sums(points, weights, h, at, exact)
    assert (fast >= 0).all()
    bound = (1e-14 + 2 * np.finfo(float).eps * reach / h) * weights.sum()
    assert np.abs(fast - exact).max() <= bound


def test_exact_sums_are_scipys_density() -> None:
    values = np.sort(np.random.default_rng(3).random(50))
    at = np.linspace(-1, 2, 31)
    out = np.empty(31)
    reference = gaussian_kde(values, bw_method=0.3)
    h = 0.3 * values.std(ddof=1)
    kernels.exact_sums(values, np.ones(50), h, at, out)
    np.testing.assert_allclose(
        out / (50 * h * np.sqrt(2 * np.pi)), reference(at), rtol=1e-12
    )


def test_defined_results_where_there_is_no_density() -> None:
    y = np.repeat([0.0, 1.0, 2.0], 4)
    rng = np.random.default_rng(0)
    constant, apart = np.ones(12), y.copy()
    one_valued = np.where(y == 0, 0.25, rng.random(12))
    far = np.where(y == 0, 1e12 + rng.random(12), rng.random(12))
    X = np.column_stack((constant, apart, one_valued, far))
    d = divergences(X, y, X)
    assert d[0] == 0.0
    # Three point masses: (1 + 1 + 2) ln 2, the greatest there can be.
    assert d[1] == pytest.approx(4 * np.log(2))
    assert 0 < d[2] < 4 * np.log(2)
    released = divergences(X, y, X, normalised=False)
    assert released[0] == released[1] == 0.0
    assert np.isfinite(released).all()
    near = np.tile(np.linspace(0, 1, 5)[:, None], 4)
    for fast in (True, False):
        elsewhere = divergences(X, y, near, exact=not fast)
        assert np.isfinite(elsewhere).all()
        # All of the far grade counts for the greatest validation value.
        p = np.array([0, 0, 0, 0, 1.0])
        others = [
            density(far[y == label], near[:, 3], "normalised") for label in (1, 2)
        ]
        expected = (
            jensen_shannon(p, others[0])
            + 2 * jensen_shannon(p, others[1])
            + jensen_shannon(*others)
        )
        assert elsewhere[3] == pytest.approx(expected)


@given(problems(), st.floats(0.01, 100), st.floats(-10, 10))
def test_the_normalised_reading_does_not_depend_on_a_features_scale(
    problem: Problem, scale: float, shift: float
) -> None:
    X, y, _, _ = problem
    y, X = np.clip(np.round(y), 0, 2), np.round(X, 3)
    moved = np.round(X * scale + shift, 9)
    if len(np.unique(moved)) == len(np.unique(X)):
        np.testing.assert_allclose(
            divergences(moved, y, moved), divergences(X, y, X), atol=1e-4
        )


@pytest.mark.parametrize("density_name", ["normalised", "released"])
def test_conventions(density_name: str) -> None:
    check_conventions(ExpectedDivergence(n_features_to_select=2, density=density_name))


def test_bad_data_are_refused() -> None:
    X, y, qid = ranking_problem()
    with pytest.raises(
        DatasetError,
        match=r"X_validation: expected rows of 6 features .* shape \(3, 5\)",
    ):
        ExpectedDivergence().fit(X, y, qid=qid, X_validation=np.zeros((3, 5)))
    with pytest.raises(
        DatasetError, match="X_validation: expected finite numbers, row 1 has"
    ):
        ExpectedDivergence().fit(
            X, y, qid=qid, X_validation=np.vstack((X[:1], np.full((1, 6), np.nan)))
        )
    with pytest.raises(
        DatasetError, match="column 0 of X_validation: expected values from -1e"
    ):
        ExpectedDivergence().fit(X, y, qid=qid, X_validation=1e160 * X)
    with pytest.raises(
        DatasetError, match="y: expected at most 64 different labels, got 120"
    ):
        ExpectedDivergence().fit(X, np.arange(120.0), qid=qid)
