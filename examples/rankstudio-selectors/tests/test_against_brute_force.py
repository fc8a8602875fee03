"""Each filter against the same algorithm in plain loops, on small random data with ties."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import log

import numpy as np
import pytest
from rankstudio_selectors.clusters import HCAS
from rankstudio_selectors.comparing import spearman
from rankstudio_selectors.diversity import MMR, MSD
from rankstudio_selectors.graph import FSSCPR, biased_pagerank, smallest_cut
from rankstudio_selectors.greedy import NGAS, XGAS
from rankstudio_selectors.mrmr import MRMR
from scipy.cluster.hierarchy import linkage
from scipy.linalg import eigh
from scipy.stats import kendalltau, spearmanr

SEEDS = range(20)
NEAR = 1e-9
"""Plain loops sum in another order: values this close tie."""


def random_data(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return X, y and qid of a few queries: some features are few-valued, equal or constant in queries."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(3, 9, size=6)
    qid = np.repeat(np.arange(6), sizes)
    y = rng.integers(0, 3, size=qid.size).astype(float)
    y[:2] = 0, 1
    X = rng.normal(size=(qid.size, 8))
    X[:, 1] = rng.integers(0, 3, size=qid.size)
    X[:, 2] = y + rng.normal(size=qid.size)
    X[:, 4] = X[:, 2] * (1 if seed % 2 else -1)
    X[:, 6] = qid
    X[:, 7] = (y > 0) * rng.integers(0, 2, size=qid.size)
    return X, y, qid


def first_best(values: dict[int, float]) -> int:
    """Return the lowest key among the largest values."""
    return min(
        key for key, value in values.items() if value >= max(values.values()) - NEAR
    )


def varying(X, qid) -> list[int]:
    """Return the features that vary within some query."""
    return [
        j
        for j in range(X.shape[1])
        if any(np.ptp(X[qid == q, j]) > 0 for q in set(qid))
    ]


def average_precision(labels: list[float]) -> float:
    relevant = [place for place, label in enumerate(labels, start=1) if label >= 1]
    return sum(count / place for count, place in enumerate(relevant, start=1)) / max(
        len(relevant), 1
    )


def map_alone(X, y, qid, j: int) -> float:
    """Return the MAP of ranking by a feature in its better direction; equal values keep their order."""
    results = []
    for sign in (1, -1):
        values = []
        for q in sorted(set(qid)):
            rows = np.flatnonzero(qid == q).tolist()
            values.append(
                average_precision(
                    [y[i] for i in sorted(rows, key=lambda i: -sign * X[i, j])]
                )
            )
        results.append(sum(values) / len(values))
    return max(results)


def kendall_alike(X, qid, i: int, j: int) -> float:
    """Return |τ-b| averaged over the queries in which both features vary."""
    values = []
    for q in sorted(set(qid)):
        first, second = X[qid == q, i], X[qid == q, j]
        if np.ptp(first) > 0 and np.ptp(second) > 0:
            values.append(abs(kendalltau(first, second).statistic))
    return sum(values) / len(values) if values else 0.0


def spearman_alike(X, i: int, j: int) -> float:
    return abs(spearmanr(X[:, i], X[:, j]).statistic)


def information(first: list[float], second: list[float]) -> float:
    total = len(first)
    rows = Counter(first)
    columns = Counter(second)
    cells = Counter(zip(first, second, strict=True))
    return sum(
        n / total * log(n * total / (rows[a] * columns[b]))
        for (a, b), n in cells.items()
    )


def binned(column: np.ndarray, n_bins: int) -> list[int]:
    """Return the bin of each value: how many different upper edges are below it."""
    ascending = sorted(column.tolist())
    places = [-(-(len(ascending) - 1) * b // n_bins) for b in range(1, n_bins)]
    edges = {ascending[place] for place in places}
    return [sum(edge < value for edge in edges) for value in column.tolist()]


def with_constant(order: list[int], n: int) -> list[int]:
    return order + [j for j in range(n) if j not in order]


def order_of(estimator, X, y, qid) -> list[int]:
    return estimator.fit(X, y, qid=qid).selection_order_.tolist()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("scheme", ["difference", "quotient"])
def test_mrmr(seed: int, scheme: str) -> None:
    X, y, qid = random_data(seed)
    n_bins = 2 + seed % 5
    bins = [binned(X[:, j], n_bins) for j in range(X.shape[1])]
    relevance = [information(column, y.tolist()) for column in bins]
    remaining, order = varying(X, qid), list[int]()
    while remaining:
        scores = {}
        for j in remaining:
            if not order:
                scores[j] = relevance[j]
                continue
            redundancy = sum(information(bins[j], bins[s]) for s in order) / len(order)
            divisor = redundancy + 0.01 * log(2)
            scores[j] = (
                relevance[j] - redundancy
                if scheme == "difference"
                else relevance[j] / divisor
            )
        order.append(first_best(scores))
        remaining.remove(order[-1])
    fitted = MRMR(scheme=scheme, n_bins=n_bins)
    assert order_of(fitted, X, y, qid)[: len(order)] == order
    np.testing.assert_allclose(fitted.relevance_, relevance, atol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_mmr_and_msd(seed: int) -> None:
    X, y, qid = random_data(seed)
    c = (0.0, 0.3, 0.5, 1.0)[seed % 4]
    features = varying(X, qid)
    rel = {j: map_alone(X, y, qid, j) for j in features}
    sim = {(i, j): kendall_alike(X, qid, i, j) for i in features for j in features}
    remaining, order = list(features), list[int]()
    while remaining:
        values = {
            j: (1 - c) * rel[j] + c * sum(1 - sim[j, s] for s in order) / len(order)
            if order
            else rel[j]
            for j in remaining
        }
        order.append(first_best(values))
        remaining.remove(order[-1])
    fitted = MMR(measure="MAP", trade_off=c)
    assert order_of(fitted, X, y, qid) == with_constant(order, X.shape[1])
    np.testing.assert_allclose(
        fitted.relevance_[features], [rel[j] for j in features], atol=1e-12
    )

    remaining, order = list(features), []
    while len(remaining) > 1:
        pairs = {
            (i, j): (1 - c) * (rel[i] + rel[j]) + 2 * c * (1 - sim[i, j])
            for i, j in combinations(remaining, 2)
        }
        pair = min(
            p for p, value in pairs.items() if value >= max(pairs.values()) - NEAR
        )
        first = first_best({j: rel[j] for j in pair})
        order += [first, pair[0] + pair[1] - first]
        remaining = [j for j in remaining if j not in pair]
    assert order_of(MSD(measure="MAP", trade_off=c), X, y, qid) == with_constant(
        order + remaining, X.shape[1]
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_ngas_and_xgas(seed: int) -> None:
    X, y, qid = random_data(seed)
    features = varying(X, qid)
    rel = {j: map_alone(X, y, qid, j) for j in features}
    sim = {(i, j): spearman_alike(X, i, j) for i in features for j in features}

    remaining, order = list(features), [first_best(rel)]
    remaining.remove(order[0])
    while remaining:
        f = first_best({j: -sim[order[-1], j] for j in remaining})
        others = {j: sim[f, j] for j in remaining if j != f}
        pair = {f, first_best(others)} if others else {f}
        order.append(first_best({j: rel[j] for j in pair}))
        remaining.remove(order[-1])
    assert order_of(NGAS(measure="MAP"), X, y, qid) == with_constant(order, X.shape[1])

    share = (0.05, 0.4, 1.0)[seed % 3]
    remaining, order = list(features), [first_best(rel)]
    remaining.remove(order[0])
    while remaining:
        alike = {j: -sim[order[-1], j] for j in remaining}
        candidates = list[int]()
        for _ in range(max(1, int(share * len(remaining) + 0.5))):
            candidates.append(
                first_best(
                    {j: value for j, value in alike.items() if j not in candidates}
                )
            )
        order.append(first_best({j: rel[j] for j in candidates}))
        remaining.remove(order[-1])
    assert order_of(XGAS(measure="MAP", share=share), X, y, qid) == with_constant(
        order, X.shape[1]
    )


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("linking", ["single", "ward"])
def test_hcas(seed: int, linking: str) -> None:
    X, y, qid = random_data(seed)
    features = varying(X, qid)
    rel = {j: map_alone(X, y, qid, j) for j in features}
    base = {(i, j): 1 - spearman_alike(X, i, j) for i in features for j in features}

    def distance(first: tuple[int, ...], second: tuple[int, ...]) -> float:
        between = [base[i, j] for i in first for j in second]
        if linking == "single":
            return min(between)
        # Ward's formula in closed form, of distances in place of squared ones.
        within = [
            sum(base[i, j] for i in part for j in part) / len(part) ** 2
            for part in (first, second)
        ]
        weight = 2 * len(first) * len(second) / (len(first) + len(second))
        return weight * (sum(between) / len(between) - sum(within) / 2)

    clusters = [(j,) for j in features]
    fitted = order_of(HCAS(measure="MAP", linkage=linking), X, y, qid)
    while True:
        leaders = {first_best({j: rel[j] for j in cluster}) for cluster in clusters}
        assert set(fitted[: len(clusters)]) == leaders
        if len(clusters) == 1:
            break
        pairs = {
            (first, second): distance(first, second)
            for first, second in combinations(sorted(clusters), 2)
        }
        first, second = min(
            pair for pair, value in pairs.items() if value <= min(pairs.values()) + NEAR
        )
        clusters = [
            *(c for c in clusters if c not in (first, second)),
            tuple(sorted((*first, *second))),
        ]
    assert sorted(fitted) == list(range(X.shape[1]))


@pytest.mark.parametrize("linking", ["single", "ward"])
def test_hcas_has_the_clusters_of_scipy(linking: str) -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 7)) @ rng.normal(size=(7, 9))
    y = np.tile([0.0, 1.0, 2.0], 20)
    fitted = HCAS(measure="MAP", linkage=linking).fit(
        X, y, qid=np.repeat(np.arange(10), 6)
    )
    distances = (1 - fitted.similarity_)[np.triu_indices(9, 1)]
    # Ward's formula of distances is that of scipy with their roots.
    merges = linkage(np.sqrt(distances) if linking == "ward" else distances, linking)
    leaders = dict(enumerate(range(9)))
    for number, (first, second, *_) in enumerate(merges, start=9):
        assert {leaders[int(first)], leaders[int(second)]} <= set(
            fitted.selection_order_[: 18 - number]
        )
        leaders[number] = max(
            leaders[int(first)],
            leaders[int(second)],
            key=lambda j: (fitted.relevance_[j], -j),
        )
    assert leaders[16] == fitted.selection_order_[0]


@pytest.mark.parametrize("seed", SEEDS)
def test_spearman(seed: int) -> None:
    X, _, _ = random_data(seed)
    similarity = spearman(X)
    for i, j in combinations(range(X.shape[1]), 2):
        assert similarity[i, j] == pytest.approx(spearman_alike(X, i, j), abs=1e-12)
    assert spearman(np.ones((4, 2))).tolist() == [[1.0, 0.0], [0.0, 1.0]]


def pagerank_by_steps(
    similarity: np.ndarray, relevance: np.ndarray, d: float
) -> list[float]:
    """Return the PageRank after many steps of a surfer who goes on to similar features, or starts anew."""
    n = len(relevance)
    total = sum(relevance)
    start = [value / total if total else 1 / n for value in relevance]
    ranks = [1 / n] * n
    for _ in range(3000):
        received = [0.0] * n
        for i in range(n):
            out = sum(similarity[i][j] for j in range(n) if j != i)
            for j in range(n):
                share = (similarity[i][j] * (i != j)) / out if out else start[j]
                received[j] += d * ranks[i] * share
        ranks = [r + (1 - d) * s for r, s in zip(received, start, strict=True)]
    return ranks


def cut_by_loops(W: np.ndarray) -> tuple[float, set[int]]:
    """Return the smallest normalised cut along the second generalised eigenvector, and its part."""
    n = len(W)
    D = np.diag(W.sum(axis=1))
    coordinates = np.round(eigh(D - W, D)[1][:, 1], 9)
    nonzero = [value for value in coordinates if value]
    sign = -1 if nonzero and nonzero[0] < 0 else 1
    order = sorted(range(n), key=lambda i: (sign * coordinates[i], i))
    cuts = {}
    for size in range(1, n):
        part = order[:size]
        rest = order[size:]
        between = sum(W[i, j] for i in part for j in rest)
        volumes = [W[p].sum() for p in (part, rest)]
        cuts[size] = -between * (1 / volumes[0] + 1 / volumes[1])
    size = first_best(cuts)
    return -cuts[size], set(order[:size])


@pytest.mark.parametrize("seed", SEEDS)
def test_fs_scpr(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    qid = np.repeat(np.arange(6), rng.integers(4, 9, size=6))
    X = rng.normal(size=(qid.size, n)) @ rng.normal(size=(n, n))
    y = rng.integers(0, 3, size=qid.size).astype(float)
    y[:2] = 0, 1
    d = (0.0, 0.5, 0.85)[seed % 3]
    fitted = FSSCPR(measure="MAP", damping=d).fit(X, y, qid=qid)
    sim = np.array([[kendall_alike(X, qid, i, j) for j in range(n)] for i in range(n)])
    rel = [map_alone(X, y, qid, j) for j in range(n)]
    rank = pagerank_by_steps(sim, rel, d)

    def feature_of(cluster: set[int]) -> int:
        return first_best(
            {
                f: rank[f] * sum(sim[f, g] for g in cluster) / len(cluster)
                for f in cluster
            }
        )

    clusters = [set(range(n))]
    order = [feature_of(clusters[0])]
    while len(order) < n:
        cuts = {}
        for number, cluster in enumerate(clusters):
            if len(cluster) > 1:
                members = sorted(cluster)
                cut, part = cut_by_loops(sim[np.ix_(members, members)])
                cuts[number] = -cut, {members[i] for i in part}
        number = first_best({key: value for key, (value, _) in cuts.items()})
        cluster = clusters.pop(number)
        part = cuts[number][1]
        new = cluster - part if part & set(order) else part
        order.append(feature_of(new))
        clusters += [part, cluster - part]
    assert fitted.selection_order_.tolist() == order


@pytest.mark.parametrize("seed", SEEDS)
def test_pagerank_with_isolated_and_equal_features(seed: int) -> None:
    rng = np.random.default_rng(seed)
    similarity = np.corrcoef(rng.normal(size=(6, 20))) ** 2
    similarity[0, 1:] = similarity[1:, 0] = 0
    similarity[2] = similarity[1]
    similarity[:, 2] = similarity[:, 1]
    relevance = rng.random(6) * (seed % 4 > 0)
    ranks = biased_pagerank(similarity, relevance, 0.85)
    assert ranks.sum() == pytest.approx(1)
    expected = pagerank_by_steps(similarity, relevance, 0.85)
    np.testing.assert_allclose(ranks, expected, atol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_smallest_cut_of_a_graph_with_uneven_degrees(seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.random((12, 12)) ** 6
    weights = (weights + weights.T) / 2
    np.fill_diagonal(weights, 1.0)
    cut, part = smallest_cut(weights)
    expected_cut, expected_part = cut_by_loops(weights)
    assert cut == pytest.approx(expected_cut, abs=NEAR)
    assert set(part) == expected_part


def test_a_cut_separates_groups_of_similar_features() -> None:
    group = np.repeat([0, 1], [3, 5])
    weights = np.where(group[:, None] == group, 0.9, 0.1)
    np.fill_diagonal(weights, 1.0)
    mixed = np.array([5, 0, 7, 3, 1, 6, 2, 4])
    _, part = smallest_cut(weights[np.ix_(mixed, mixed)])
    assert len({group[mixed[i]] for i in part}) == 1
    assert len(part) in (3, 5)
