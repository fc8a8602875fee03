"""How much the features selected in several folds agree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.errors import ParameterError, between
from rankstudio.engine.statistics._checks import checked_level

Sets = Sequence[Iterable[int]]

INDICES = ("Jaccard", "Kuncheva", "Lustgarten")


class Nogueira(NamedTuple):
    """An estimate of the stability of a selection of features, by Nogueira's index.

    Attributes
    ----------
    value : float
        The estimate.
    variance : float
        Variance of the estimate.
    low, high : float
        Ends of the confidence interval of the stability.
    """

    value: float
    variance: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Stability:
    """Agreement of M feature sets out of d features.

    Attributes
    ----------
    nogueira : Nogueira
        Nogueira's index, the one to report: corrected for chance, for
        sets of any sizes, and with an interval.
    consistency : float
        Mean of the index ``corrected`` over the pairs of sets.
    index : {"Kuncheva", "Lustgarten"}
        Kuncheva's index if all sets have the same size, otherwise
        Lustgarten's. The two have different scales and must not be
        compared.
    jaccard : float
        Mean over the pairs of sets of the size of the intersection
        divided by that of the union. It is not corrected for chance:
        large sets appear stable.
    similarity : ndarray of shape (M, M)
        Jaccard's index of each pair of sets, for a heat map.
    corrected : ndarray of shape (M, M)
        Index of each pair of sets that is corrected for chance, as
        named by ``index``.
    sizes : ndarray of shape (M,)
        Sizes of the sets.
    """

    nogueira: Nogueira
    consistency: float
    index: str
    jaccard: float
    similarity: Floats
    corrected: Floats
    sizes: Ints


def stability(sets: Sets, n_features: int, level: float = 0.95) -> Stability:
    """Return the agreement of the features selected in several folds.

    Parameters
    ----------
    sets : sequence of iterables of int
        Features of each fold, 0 to d - 1, in any order. A set may be empty.
    n_features : int
        Number of candidate features, d.
    level : float, default 0.95
        Confidence of the interval, between 0 and 1.

    Returns
    -------
    Stability
        With a single set only sizes and similarities are defined; the rest is NaN.

    Raises
    ------
    ParameterError
        Without a set, for features out of range or repeated in a set,
        or a level out of range.

    Notes
    -----
    O(M² d) for M sets.
    """
    member = membership(sets, n_features)
    sizes = member.sum(axis=1)
    # Kuncheva's index is defined for sets of one size only.
    index = "Kuncheva" if (sizes == sizes[0]).all() else "Lustgarten"
    jaccard = similarity(member, "Jaccard")
    corrected = similarity(member, index)
    return Stability(
        nogueira=nogueira(member, level),
        consistency=_mean_of_pairs(corrected),
        index=index,
        jaccard=_mean_of_pairs(jaccard),
        similarity=jaccard,
        corrected=corrected,
        sizes=sizes,
    )


def similarity(member: Bools, index: str = "Jaccard") -> Floats:
    """Return the similarity of each pair of sets.

    For sets of sizes k and l with r common features out of d, it is

    - "Jaccard": r / (k + l - r), from 0 to 1; 1 for two empty sets.
    - "Kuncheva": (r d - k²) / (k (d - k)), from -1 to 1, for sets of one size k (Kuncheva 2007).
    - "Lustgarten": (r - k l / d) / (min(k, l) - max(0, k + l - d)), from -1 to 1, for sets of any sizes
      (Lustgarten, Gopalakrishnan & Visweswaran 2009). For sets of equal
      size it is Kuncheva's index with another denominator: min(k, d -
      k) instead of k (d - k) / d, so equal sets have less than 1.

    The latter two are 0 for an agreement expected by chance. For empty
    sets, or sets of all features, the quotient is 0 / 0 and defined as
    0, as Kuncheva proposes: the agreement is that of chance.

    Parameters
    ----------
    member : ndarray of bool of shape (M, d)
        Whether each of M sets has each of d features.
    index : {"Jaccard", "Kuncheva", "Lustgarten"}, default "Jaccard"
        Index to compute.

    Returns
    -------
    ndarray of shape (M, M)
        Index of each pair of sets. The matrix is symmetric; the
        diagonal compares each set with itself.

    Raises
    ------
    ParameterError
        For an unknown index, and for Kuncheva's index of sets with
        different sizes.

    Notes
    -----
    Quotients of integers, each rounded once.
    """
    if index not in INDICES:
        raise ParameterError(
            "index", index, ", ".join(INDICES[:-1]) + f" or {INDICES[-1]}"
        )
    d = member.shape[1]
    indicator = member.astype(np.float64)
    common = indicator @ indicator.T  # r of each pair of sets
    k = indicator.sum(axis=1)
    # The values where the denominator is 0: two empty sets are equal,
    # and have the agreement of chance.
    similar = np.ones_like(common) if index == "Jaccard" else np.zeros_like(common)
    if index == "Jaccard":
        numerator = common
        denominator = k[:, None] + k - common
    else:
        # Both sides of the quotient are multiplied by d.
        numerator = common * d - k[:, None] * k
        denominator = _chance_scale(k, d, index)
    np.divide(numerator, denominator, out=similar, where=denominator > 0)
    return similar


def nogueira(member: Bools, level: float = 0.95) -> Nogueira:
    """Estimate the stability of a selection with its confidence interval.

    Φ = 1 - (1/d Σ_f s_f²) / (k̄/d (1 - k̄/d)), where s_f² = M/(M - 1)
    p_f (1 - p_f) is the sample variance of the selection of feature f,
    with share p_f, and k̄ the mean size of the sets. It is 1 for equal
    sets and 0 on average for random sets; for sets of equal size it is
    the mean of Kuncheva's index. With

        φ_i = [1/d Σ_f z_if p_f - k_i k̄/d² + Φ/2 (2 k_i k̄/d² - k_i/d - k̄/d + 1)] / (k̄/d (1 - k̄/d))

    for set i of size k_i and features z_i, its variance is v = 4/M² Σ_i
    (φ_i - mean φ)², and Φ ± z √v with the quantile z of the normal
    distribution is a confidence interval of the stability.

    Parameters
    ----------
    member : ndarray of bool of shape (M, d)
        Whether each of M sets has each of d features.
    level : float, default 0.95
        Confidence of the interval, between 0 and 1.

    Returns
    -------
    Nogueira
        Index from -1/(M - 1) to 1. The interval is not truncated at 1.
        All 0 if every set is empty or contains every feature: the
        formula is then 0 / 0, and this agrees with Kuncheva's index,
        which is 0 there by definition. NaN for a single set.

    Raises
    ------
    ParameterError
        For a level out of range.

    Notes
    -----
    O(Md). The interval is valid for many independently drawn sets. The
    sets of a few folds are neither many nor independent, and their
    interval is too narrow: of 95 % intervals for independent sets of 12
    features, each selected with a probability from 0.1 to 0.9, 15 %
    contained the stability with 2 sets, 55 % with 3, 73 % with 5, 87 %
    with 10 and 94 % with 50. In addition, the training data of folds
    overlap.

    References
    ----------
    Nogueira, Sechidis & Brown (2018), On the stability of feature
    selection algorithms, JMLR 18(174): Definition 4 (formula 4) and
    Corollary 9.
    """
    from scipy.special import ndtri  # noqa: PLC0415 - scipy, where it is needed

    level = checked_level(level)
    n_sets, d = member.shape
    if n_sets == 1:
        return Nogueira(np.nan, np.nan, np.nan, np.nan)
    if member.all() or not member.any():
        return Nogueira(0.0, 0.0, 0.0, 0.0)
    share = member.mean(axis=0)  # p_f
    size = member.mean(axis=1)  # k_i / d
    mean = float(member.mean())  # k̄ / d
    scale = mean * (1.0 - mean)
    value = 1.0 - n_sets / (n_sets - 1) * float(np.mean(share * (1.0 - share))) / scale
    # φ_i of the docstring
    phi = (member @ share) / d - size * mean
    phi = (phi + value / 2.0 * (2.0 * size * mean - size - mean + 1.0)) / scale
    variance = 4.0 / n_sets * float(phi.var())
    half_width = float(ndtri((1.0 + level) / 2.0)) * np.sqrt(variance)
    return Nogueira(value, variance, low=value - half_width, high=value + half_width)


def membership(sets: Sets, n_features: int) -> Bools:
    """Return whether each of M sets has each of d features, shape (M, d).

    ``sets`` has the numbers of the features of each set, and
    ``n_features`` is d.

    Raises
    ------
    ParameterError
        Without a set, and for features outside of 0 to d - 1 or
        repeated in a set.
    """
    n_features = between("n_features", n_features, 1)
    rows = [list(features) for features in sets]
    if not rows:
        raise ParameterError("sets", rows, "at least one set")
    member = np.zeros((len(rows), n_features), dtype=np.bool_)
    for row, features in zip(member, rows, strict=True):
        for feature in features:
            # ``row[feature]`` is true if the feature occurred in this set before.
            if between("sets", feature, 0) >= n_features or row[feature]:
                raise ParameterError(
                    "sets", feature, f"each feature once, from 0 to {n_features - 1}"
                )
            row[feature] = True
    return member


def _chance_scale(k: Floats, d: int, index: str) -> Floats:
    """Return the denominator of a similarity corrected for chance, times d.

    Parameters
    ----------
    k : ndarray of shape (M,)
        Sizes of M sets.
    d : int
        Number of features.
    index : {"Kuncheva", "Lustgarten"}
        Index that is corrected for chance.

    Returns
    -------
    ndarray of shape (M, M)
        The denominator times d for each pair of sets.

    Raises
    ------
    ParameterError
        For Kuncheva's index of sets with different sizes.
    """
    smaller: Floats = np.minimum(k[:, None], k)
    scale: Floats
    if index == "Lustgarten":
        scale = d * (smaller - np.maximum(0.0, k[:, None] + k - d))
    elif k.min() == k.max():
        scale = smaller * (d - smaller)
    else:
        raise ParameterError(
            "index", index, "Jaccard or Lustgarten for sets of different sizes"
        )
    return scale


def _mean_of_pairs(similar: Floats) -> float:
    """Return the mean above the diagonal; NaN if there is no pair."""
    pairs = similar[np.triu_indices(len(similar), 1)]
    return float(pairs.mean()) if pairs.size else np.nan
