"""HCAS: the most relevant feature of each cluster of a hierarchy (Gigli et al. 2016)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankstudio.api import Ordering
from rankstudio_selectors import entries
from rankstudio_selectors.comparing import Floats, RelevanceSelector, positions_of

_TIE = 1e-12
"""Distances that differ by no more than this tie."""


@dataclass(eq=False, repr=False)
class HCAS(RelevanceSelector):
    """HCAS selects the most relevant feature of each of k clusters of features (Gigli et al. 2016).

    Features are clustered agglomeratively by the distance 1 - sim(f, g). The
    selection of k features is the most relevant feature of each cluster of the
    hierarchy cut into k.

    Parameters
    ----------
    n_features_to_select : int, optional
        Number of features to select, k; all by default.
    measure : str, default "NDCG@10"
        Measure of ranking by a single feature: its relevance.
    similarity : {"spearman", "kendall", "pearson"}, default "spearman"
        Correlation whose absolute value is the similarity of two features.
    convention : str, default "standard"
        Convention of the measure; k of a cut-off is at most the number of documents of a query.
    regularization : float, default 1.0
        λ > 0 of the RankRLS that ranks with the selected features.
    linkage : {"ward", "single"}, default "ward"
        Distance of clusters: Ward's, or that of their two closest features.

    Notes
    -----
    O(n² m) for the similarities of n features on m documents, and O(n³) for the hierarchy.

    The selections are nested, so that there is one order for all k: when a
    cluster is split, its most relevant feature remains that of one part, and
    the most relevant feature of the other part is new.

    How the paper is read: as the program that its authors published, with
    |Spearman's ρ| over all documents and NDCG@10 of single features. Ward's
    formula is applied to the distances as they are, not to their squares, as
    that program does it (``ward.D`` of R). Of equally close clusters those with
    the lowest columns are merged; of equally relevant features the lowest
    column is selected.
    """

    entry = entries.HCAS

    similarity: str = "spearman"
    linkage: str = "ward"

    def ordered(self, relevance: Floats, similarity: Floats) -> Ordering:
        """Order all features, in the reverse order of the merges."""
        ward = self.checked("linkage") == "ward"
        n = relevance.size
        positions = positions_of(relevance)
        distances = 1.0 - similarity
        distances[np.tril_indices(n)] = np.inf
        # symmetric, with infinity on the diagonal
        distances = np.fmin(distances, distances.T)
        sizes = np.ones(n)
        leaders = np.arange(n)  # the most relevant feature of each cluster
        absorbed = list[int]()
        for _ in range(n - 1):
            first, second = divmod(
                int(np.argmax(distances <= distances.min() + _TIE)), n
            )
            from_first = distances[first]
            from_second = distances[second]
            if ward:
                weighted = (sizes[first] + sizes) * from_first + (
                    sizes[second] + sizes
                ) * from_second
                joined = (weighted - sizes * from_first[second]) / (
                    sizes[first] + sizes[second] + sizes
                )
            else:
                joined = np.minimum(from_first, from_second)
            joined[[first, second]] = np.inf
            distances[first] = distances[:, first] = joined
            distances[second] = distances[:, second] = np.inf
            sizes[first] += sizes[second]
            leader, follower = sorted(
                (leaders[first], leaders[second]), key=positions.__getitem__
            )
            leaders[first] = leader
            absorbed.append(int(follower))
        order = np.array(
            [*([int(leaders[0])] if n else []), *reversed(absorbed)], dtype=np.int64
        )
        return Ordering(order, np.full((n, n), np.nan))
