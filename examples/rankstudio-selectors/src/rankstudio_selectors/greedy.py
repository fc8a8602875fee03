"""NGAS and XGAS: naive greedy selection by the last feature (Gigli et al. 2016)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rankstudio.api import Ordering
from rankstudio_selectors import entries
from rankstudio_selectors.comparing import (
    Bools,
    Floats,
    Ints,
    RelevanceSelector,
    best,
    positions_of,
)


@dataclass(eq=False, repr=False)
class NGAS(RelevanceSelector):
    """NGAS adds the more relevant of a dissimilar feature and its closest one (Gigli et al. 2016).

    The first feature is the most relevant one. Then, of the remaining features,
    f is the least similar to the last one selected, and g the most similar to
    f; the more relevant of the two is added.

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

    Notes
    -----
    O(n² m) for the similarities of n features on m documents, and O(nk log n) for k steps.

    How the paper is read: as the program that its authors published, with
    |Spearman's ρ| over all documents and NDCG@10 of single features. Of equally
    relevant features the lowest column is added; the program adds f. Other ties
    go to the lowest column, too.
    """

    entry = entries.NGAS

    similarity: str = "spearman"

    def ordered(self, relevance: Floats, similarity: Floats) -> Ordering:
        """Order all features, with the relevance of the candidates at each step."""

        def candidates(last: int, remaining: Bools) -> Ints:
            dissimilar = best(-similarity[last], remaining)
            rest = remaining.copy()
            rest[dissimilar] = False
            if not rest.any():
                return np.array([dissimilar])
            return np.array([dissimilar, best(similarity[dissimilar], rest)])

        return _greedy(relevance, candidates)


@dataclass(eq=False, repr=False)
class XGAS(RelevanceSelector):
    """XGAS adds the most relevant of the features least similar to the last one (Gigli et al. 2016).

    The first feature is the most relevant one. Then, of the share p of the
    remaining features with the smallest similarity to the last one selected,
    the most relevant is added.

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
    share : float, default 0.05
        Share p of the remaining features that are candidates, 0 to 1; at least one is.

    Notes
    -----
    O(n² m) for the similarities of n features on m documents, and O(nk log n) for k steps.

    How the paper is read: as the program that its authors published, with
    |Spearman's ρ| over all documents, NDCG@10 of single features and p = 0.05;
    the number of candidates is rounded, halves upwards. Ties go to the lowest
    column.
    """

    entry = entries.XGAS

    similarity: str = "spearman"
    share: float = 0.05

    def ordered(self, relevance: Floats, similarity: Floats) -> Ordering:
        """Order all features, with the relevance of the candidates at each step."""
        share = self.checked("share")

        def candidates(last: int, remaining: Bools) -> Ints:
            columns = np.flatnonzero(remaining)
            size = max(1, int(share * columns.size + 0.5))
            return columns[np.argsort(positions_of(-similarity[last, columns]))[:size]]

        return _greedy(relevance, candidates)


def _greedy(relevance: Floats, candidates_of: Callable[[int, Bools], Ints]) -> Ordering:
    """Order features: the most relevant one first, then the most relevant candidate of each step."""
    n = relevance.size
    positions = positions_of(relevance)
    order = np.empty(n, dtype=np.int64)
    compared = np.full((n, n), np.nan)
    remaining = np.ones(n, dtype=bool)
    candidates: Ints = np.arange(n)
    for step in range(n):
        order[step] = candidates[np.argmin(positions[candidates])]
        compared[step, candidates] = relevance[candidates]
        remaining[order[step]] = False
        if remaining.any():
            candidates = candidates_of(int(order[step]), remaining)
    return Ordering(order, compared)
