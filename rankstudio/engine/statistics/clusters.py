"""Clusters of features by the size of their correlations, with average linkage."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankstudio.engine.arrays import Floats, Ints

ALIKE = 0.9
"""Least mean |r| between two clusters that are merged."""


@dataclass(frozen=True, eq=False)
class Clusters:
    """Clusters of similar features.

    Attributes
    ----------
    order : ndarray of shape (n,)
        The n features, as columns of their matrix, in the order of the
        dendrogram's leaves: the features of a cluster follow each
        other.
    labels : ndarray of shape (n,)
        Number of each feature's cluster, from 0 in the order of the leaves.
    """

    order: Ints
    labels: Ints

    def members(self, column: int) -> Ints:
        """Return the columns of a column's cluster, including itself, ascending."""
        return np.flatnonzero(self.labels == self.labels[column])


def clusters(correlations: Floats, alike: float = ALIKE) -> Clusters:
    """Cluster features by the absolute values of their correlations.

    Parameters
    ----------
    correlations : ndarray of shape (n, n)
        Symmetric, in [-1, 1]; 0 for a constant feature, which forms its
        own cluster.
    alike : float
        Minimum mean |r| between the members of two merged clusters, in
        (0, 1].

    Returns
    -------
    Clusters
        The order of the features as leaves of the tree, and the number
        of each feature's cluster.

    Notes
    -----
    Average linkage on the distances 1 - |r|: O(n²) time and memory.
    """
    n = correlations.shape[0]
    if n < 2:
        return Clusters(np.arange(n), np.zeros(n, dtype=np.int64))
    from scipy.cluster.hierarchy import fcluster, leaves_list, linkage  # noqa: PLC0415 - where it is needed

    distances = 1.0 - np.abs(correlations[np.triu_indices(n, 1)])
    # linkage() takes the upper triangle of the distances; rounding may
    # make them negative.
    tree = linkage(np.maximum(distances, 0.0), "average")
    order = leaves_list(tree).astype(np.int64)
    # A distance that exceeds the threshold only by rounding counts as within it.
    numbers = fcluster(tree, 1.0 - alike + 1e-12, "distance")
    _, first_leaf = np.unique(numbers[order], return_index=True)
    # Number the clusters by their first leaf. The argsort of an argsort gives ranks.
    rank_of_cluster = np.argsort(np.argsort(first_leaf))
    return Clusters(order, rank_of_cluster[numbers - 1].astype(np.int64))
