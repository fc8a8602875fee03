"""How long the paths of the evidence are."""

from __future__ import annotations

_USUAL_STEPS = 12  # of a path; more where the selection has more


def path_length(k: int, n_features: int) -> int:
    """Return the number of steps of paths for a selection of k features: beyond it, and often alike.

    Examples
    --------
    >>> path_length(3, 46), path_length(12, 46), path_length(3, 8)
    (12, 24, 8)
    """
    return min(n_features, _USUAL_STEPS * (1 + (k + 1) // _USUAL_STEPS))
