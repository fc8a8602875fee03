"""What a method tells while it works: one immutable step per selected feature or iteration."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import nan

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Step:
    """One thing a method has learned: one more feature selected, or one more iteration done.

    Attributes
    ----------
    number : int
        Counted from 1.
    selected : tuple of int
        0-based columns of the features in use, in the order in which they were selected.
    coef : ndarray of shape (n,)
        Weights of the model as it is after this step, 0 for the features not in use.
    criterion : float
        What the method minimises; NaN for a method without one.
    candidates : ndarray of shape (n,)
        The criterion that each feature would have given had it been selected in this step, NaN for
        what was no candidate; of size 0 for a method that compares none.
    before : float
        The criterion before this step: that of the step before, in the first one that of the model that
        predicts nothing. NaN for a method that learns in one step, or has no criterion.
    """

    number: int
    selected: tuple[int, ...]
    coef: Floats
    criterion: float
    candidates: Floats
    before: float = field(default=nan, kw_only=True)


@dataclass(frozen=True, eq=False)
class Iteration(Step):
    """One iteration of an optimiser that knows how far it is from the minimum at most.

    Attributes
    ----------
    gap : float
        Duality gap: the criterion is at most this much above its minimum.
    converged : bool
        Whether that is close enough for the optimiser to stop.
    """

    gap: float
    converged: bool
