import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankstudio.engine.statistics.clusters import clusters


def naive(correlations: np.ndarray, alike: float) -> set[frozenset[int]]:
    """Merge the two clusters with the greatest mean |r| while that is at least ``alike``."""
    groups = [frozenset([i]) for i in range(len(correlations))]
    while len(groups) > 1:
        pairs = [(a, b) for i, a in enumerate(groups) for b in groups[i + 1 :]]
        means = [
            np.abs(correlations[np.ix_(sorted(a), sorted(b))]).mean() for a, b in pairs
        ]
        best = int(np.argmax(means))
        if means[best] < alike:
            break
        a, b = pairs[best]
        groups = [g for g in groups if g not in (a, b)] + [a | b]
    return set(groups)


def correlated(seed: int, n: int, noise: float) -> np.ndarray:
    rng = np.random.default_rng(seed)
    sources = rng.normal(size=(200, max(1, n // 3)))
    X = sources[:, rng.integers(sources.shape[1], size=n)] * rng.choice([-1.0, 1.0], n)
    return np.corrcoef(X + noise * rng.normal(size=X.shape), rowvar=False).reshape(n, n)


@given(
    st.integers(0, 10**6),
    st.integers(1, 14),
    st.floats(0.05, 1.0),
    st.floats(0.3, 0.99),
)
def test_clusters_are_those_of_a_naive_computation(seed, n, noise, alike):
    correlations = correlated(seed, n, noise)
    found = clusters(correlations, alike)
    groups = {frozenset(found.members(column).tolist()) for column in range(n)}
    assert groups == naive(correlations, alike)


@pytest.mark.parametrize("seed", range(5))
def test_the_order_has_every_column_once_and_clusters_together(seed):
    found = clusters(correlated(seed, 30, 0.3), 0.7)
    assert sorted(found.order.tolist()) == list(range(30))
    labels = found.labels[found.order]
    assert (np.diff(labels) >= 0).all()
    assert set(np.diff(labels)) <= {0, 1}


def test_what_does_not_vary_stays_alone():
    correlations = np.array([[1.0, 0.99, 0.0], [0.99, 1.0, 0.0], [0.0, 0.0, 0.0]])
    found = clusters(correlations)
    assert found.members(2).tolist() == [2]
    assert found.members(0).tolist() == [0, 1]
