"""FS-SCPR: a feature of each cluster of a graph of features, by PageRank (Yeh and Tsai 2022)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankstudio.api import Ordering
from rankstudio_selectors import entries
from rankstudio_selectors.comparing import Floats, Ints, RelevanceSelector, best

_DECIMALS = 9
"""Coordinates, cuts and scores that agree to this many decimals tie."""


@dataclass(eq=False, repr=False)
class FSSCPR(RelevanceSelector):
    """FS-SCPR selects a relevant, typical feature of each of k clusters of features (Yeh and Tsai 2022).

    Features are the vertices of a graph whose edges have their similarities as
    weights. Spectral clustering divides the graph; PageRank, biased to features
    that rank well alone, gives each its relevance.

    Parameters
    ----------
    n_features_to_select : int, optional
        Number of features to select, k; all by default.
    measure : str, default "NDCG@10"
        Measure of ranking by a single feature: its preference in the biased
        PageRank.
    similarity : {"kendall", "spearman", "pearson"}, default "kendall"
        Correlation whose absolute value is the similarity of two features.
    convention : str, default "standard"
        Convention of the measure; k of a cut-off is at most the number of
        documents of a query.
    regularization : float, default 1.0
        λ > 0 of the RankRLS that ranks with the selected features.
    damping : float, default 0.85
        Share d of the PageRank that a feature receives from similar features, 0
        to 0.99; the rest is its preference.

    Notes
    -----
    O(n² m) for the similarities of n features on m documents, and O(n³) for
    each of at most n divisions.

    How the paper is read, whose abstract leaves these steps open:

    - A cluster is divided in two by the second generalised eigenvector of its
      graph, at the coordinate with the smallest normalised cut (Shi and
      Malik, 2000). The cluster with the smallest cut is divided next.
    - The feature of a cluster has the largest product of PageRank and mean
      similarity to the features of the cluster.
    - So that there is one order for all k, the feature of a divided cluster
      stays that of its part, and the other part gets its own.
    """

    entry = entries.FS_SCPR

    damping: float = 0.85

    def ordered(self, relevance: Floats, similarity: Floats) -> Ordering:
        """Order all features by the divisions, with the scores of a new cluster's features at its step."""
        n = relevance.size
        rank = biased_pagerank(similarity, relevance, self.checked("damping"))
        compared = np.full((n, n), np.nan)
        order = list[int]()

        def add_feature_of(cluster: Ints) -> None:
            """Append the feature of a new cluster to the order."""
            typical = similarity[np.ix_(cluster, cluster)].mean(axis=1)
            scores = np.round(rank[cluster] * typical, _DECIMALS)
            compared[len(order), cluster] = scores
            first = best(scores, np.ones(cluster.size, dtype=bool))
            order.append(int(cluster[first]))

        # the normalised cut, the cluster and the part to separate, of each cluster with several features
        divisible = list[tuple[float, Ints, Ints]]()
        new_clusters = [np.arange(n)] if n else []
        while new_clusters or divisible:
            for cluster in new_clusters:
                if not np.isin(cluster, order).any():
                    add_feature_of(cluster)
                if cluster.size > 1:
                    cut, part = smallest_cut(similarity[np.ix_(cluster, cluster)])
                    divisible.append((cut, cluster, cluster[part]))
            new_clusters = []
            if divisible:
                next_index = min(range(len(divisible)), key=lambda i: divisible[i][0])
                _, cluster, part = divisible.pop(next_index)
                new_clusters = [part, np.setdiff1d(cluster, part)]
        return Ordering(np.array(order, dtype=np.int64), compared)


def biased_pagerank(similarity: Floats, preference: Floats, damping: float) -> Floats:
    """Compute the PageRank of each feature in the graph of similarities, biased to preferred features.

    It solves r = d Pᵀ r + (1 - d) v. P divides each row of the similarities,
    without those of a feature to itself, by its sum, and v is the preference
    divided by its sum. A feature without similar ones passes its rank on by v.
    O(n³).

    Parameters
    ----------
    similarity : ndarray of shape (n, n)
        Symmetric, from 0 to 1.
    preference : ndarray of shape (n,)
        At least 0; if all are 0, no feature is preferred.
    damping : float
        d, at least 0 and less than 1.

    Returns
    -------
    ndarray of shape (n,)
        The ranks, which sum to 1.
    """
    n = preference.size
    total = preference.sum()
    v = preference / total if total > 0 else np.full(n, 1.0 / max(n, 1))
    weights = similarity - np.diag(np.diag(similarity))
    sums = weights.sum(axis=1, keepdims=True)
    transitions = np.where(sums > 0, weights / np.where(sums > 0, sums, 1.0), v)
    ranks: Floats = np.linalg.solve(
        np.eye(n) - damping * transitions.T, (1.0 - damping) * v
    )
    return ranks


def smallest_cut(weights: Floats) -> tuple[float, Ints]:
    """Divide a graph in two by the second generalised eigenvector of its Laplacian (Shi and Malik 2000).

    The eigenvector z of (D - W) z = μ D z with the second smallest μ orders the
    vertices; of the divisions of this order, the one with the smallest cut(A,
    B)/vol(A) + cut(A, B)/vol(B) is taken. O(n³).

    Parameters
    ----------
    weights : ndarray of shape (n, n)
        W, symmetric, with positive diagonal; n is at least 2.

    Returns
    -------
    cut : float
        The normalised cut.
    part : ndarray of int
        The vertices of A, ascending.
    """
    degrees = weights.sum(axis=1)
    root = np.sqrt(degrees)
    _, vectors = np.linalg.eigh(weights / np.outer(root, root))
    coordinates = np.round(vectors[:, -2] / root, _DECIMALS)
    if coordinates[np.flatnonzero(coordinates)[:1]].sum() < 0:
        coordinates = -coordinates  # eigenvectors have no sign of their own
    order = np.argsort(coordinates, kind="stable")

    # volumes and inner weights of the first 1, 2, ..., n - 1 vertices of the order
    volumes = np.cumsum(degrees[order])[:-1]
    inner = np.cumsum(
        np.cumsum(weights[np.ix_(order, order)], axis=0), axis=1
    ).diagonal()[:-1]
    between = volumes - inner
    cuts = np.round(between / volumes + between / (degrees.sum() - volumes), _DECIMALS)
    smallest = int(np.argmin(cuts))
    return float(cuts[smallest]), np.sort(order[: smallest + 1])
