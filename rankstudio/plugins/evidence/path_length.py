"""How long the paths of the evidence are."""

from __future__ import annotations

_USUAL_STEPS = 12  # steps of a path; longer paths have a multiple of this number


def path_length(k: int, n_features: int) -> int:
    """Return how many features are selected in the computed orders, for a selection of k of n features.

    A path is an order of selected features. The paths go beyond the k
    features of the selection. Selections of similar sizes have paths of
    the same length.

    Examples
    --------
    >>> path_length(3, 46), path_length(12, 46), path_length(3, 8)
    (12, 24, 8)
    """
    return min(n_features, _USUAL_STEPS * (1 + (k + 1) // _USUAL_STEPS))
