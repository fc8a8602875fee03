"""MMR and MSD: methods of result diversification, with features in place of documents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankstudio.api import Ordering
from rankstudio_selectors import entries
from rankstudio_selectors.comparing import Floats, RelevanceSelector, best, positions_of

_TIE = 1e-12
"""Values of pairs that differ by no more than this tie."""


@dataclass(eq=False, repr=False)
class MMR(RelevanceSelector):
    """MMR adds the feature with the largest marginal relevance (Naini and Altıngövde 2014).

    The first feature is the most relevant one. Then the feature f with the
    largest (1 - c) rel(f) + c / |S| Σ_{s in S} (1 - sim(f, s)) is added to the
    set S, until all are selected.

    Parameters
    ----------
    n_features_to_select : int, optional
        Number of features to select, k; all by default.
    measure : str, default "NDCG@10"
        Measure of ranking by a single feature, rel(f).
    similarity : {"kendall", "spearman", "pearson"}, default "kendall"
        Correlation whose absolute value is sim(f, g).
    convention : str, default "standard"
        Convention of the measure; k of a cut-off is at most the number of documents of a query.
    regularization : float, default 1.0
        λ > 0 of the RankRLS that ranks with the selected features.
    trade_off : float, default 0.5
        Weight of dissimilarity, c, from 0 to 1; the paper calls it λ.

    Notes
    -----
    O(n² m log |q|) for the similarities of n features on m documents, and O(nk) for k steps.

    How the paper is read: features take the place of documents, and the mean
    dissimilarity that of the maximum similarity of Carbonell and Goldstein
    (1998), as in Vieira et al. (2011), from which the paper takes MMR and MSD.
    The paper compares the ten best documents of two features by Kendall's τ;
    here τ-b is taken over all documents of a query, as in RankStudio's GAS.
    Both directions of a feature count as one, so that the similarity is its
    absolute value. Ties go to the lowest column.
    """

    entry = entries.MMR

    trade_off: float = 0.5

    def ordered(self, relevance: Floats, similarity: Floats) -> Ordering:
        """Order all features, with the scores of the candidates at each step."""
        c = self.checked("trade_off")
        n = relevance.size
        order = np.empty(n, dtype=np.int64)
        compared = np.full((n, n), np.nan)
        remaining = np.ones(n, dtype=bool)
        distances = np.zeros(n)
        for step in range(n):
            scores = (1 - c) * relevance + c * distances / step if step else relevance
            order[step] = best(scores, remaining)
            compared[step, remaining] = scores[remaining]
            remaining[order[step]] = False
            distances += 1.0 - similarity[order[step]]
        return Ordering(order, compared)


@dataclass(eq=False, repr=False)
class MSD(RelevanceSelector):
    """MSD adds the best pair of the remaining features, again and again (Naini and Altıngövde 2014).

    The value of a pair is (1 - c) (rel(f) + rel(g)) + 2c (1 - sim(f, g)): the
    greedy solution of maximum sum dispersion by Gollapudi and Sharma (2009).

    Parameters
    ----------
    n_features_to_select : int, optional
        Number of features to select, k; all by default.
    measure : str, default "NDCG@10"
        Measure of ranking by a single feature, rel(f).
    similarity : {"kendall", "spearman", "pearson"}, default "kendall"
        Correlation whose absolute value is sim(f, g).
    convention : str, default "standard"
        Convention of the measure; k of a cut-off is at most the number of documents of a query.
    regularization : float, default 1.0
        λ > 0 of the RankRLS that ranks with the selected features.
    trade_off : float, default 0.5
        Weight of dissimilarity, c, from 0 to 1; the paper calls it λ.

    Notes
    -----
    O(n² m log |q|) for the similarities of n features on m documents, and O(n³) for the pairs.

    How the paper is read: as in :class:`MMR`. The more relevant feature of a
    pair comes first. An odd number of features is then the best pairs and the
    more relevant feature of the next one, where Gollapudi and Sharma take any
    feature. The last feature of an odd total remains on its own. Ties go to the
    pair with the lowest columns.
    """

    entry = entries.MSD

    trade_off: float = 0.5

    def ordered(self, relevance: Floats, similarity: Floats) -> Ordering:
        """Order all features, with the best value of each candidate at each step."""
        c = self.checked("trade_off")
        n = relevance.size
        values = (1 - c) * (relevance[:, None] + relevance) + 2 * c * (1.0 - similarity)
        values[np.tril_indices(n)] = -np.inf
        positions = positions_of(relevance)
        order = list[int]()
        compared = np.full((n, n), np.nan)
        while len(order) + 1 < n:
            step = len(order)
            # Of values within rounding of the largest one, the first in the order of rows and columns.
            first, second = divmod(int(np.argmax(values >= values.max() - _TIE)), n)
            symmetric = np.fmax(values, values.T)
            largest = symmetric.max(axis=1)
            compared[step] = np.where(np.isfinite(largest), largest, np.nan)
            pair = sorted((first, second), key=positions.__getitem__)
            partner = symmetric[pair[0]]
            compared[step + 1] = np.where(np.isfinite(partner), partner, np.nan)
            order += pair
            values[pair] = -np.inf
            values[:, pair] = -np.inf
        if len(order) < n:
            last = next(iter(set(range(n)) - set(order)))
            compared[n - 1, last] = (1 - c) * relevance[last]
            order.append(last)
        return Ordering(np.array(order, dtype=np.int64), compared)
