"""Choice of the number of features to keep, from the sizes of models and their values of a measure."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.statistics._checks import EPS, checked_row


def pareto_front(
    sizes: ArrayLike, values: ArrayLike, higher_is_better: bool = True
) -> Ints:
    """Return the Pareto-optimal models, those that no other one dominates.

    A model dominates another if it is no larger and no worse, and
    smaller or better.

    Parameters
    ----------
    sizes : array-like of shape (c,)
        Numbers of features, or costs.
    values : array-like of shape (c,)
        Values of the measure; models with NaN are excluded.
    higher_is_better : bool, default True
        Whether larger values of the measure are better.

    Returns
    -------
    ndarray of int64
        Positions of the optimal models in ``sizes``, by ascending size;
        their values strictly improve. Of equal models the first is
        returned.

    Raises
    ------
    ParameterError
        For rows of different lengths or infinite values.

    Notes
    -----
    O(c log c).
    """
    size, gain = _sizes_and_gains(sizes, values, higher_is_better)
    # Sort by size, then by falling gain. The sort is stable, so that
    # the first of equal models comes first.
    order = np.lexsort((-gain, size))
    order = order[np.isfinite(gain[order])]  # NaN has become -inf
    if order.size == 0:
        return order
    # A model is on the front if it is better than all before it, as the first is.
    best_before = np.maximum.accumulate(gain[order])[:-1]
    return order[np.concatenate(([True], gain[order][1:] > best_before))]


def one_standard_error(
    means: ArrayLike, errors: ArrayLike, sizes: ArrayLike, higher_is_better: bool = True
) -> int:
    """Return the smallest model whose mean is within one standard error of the best mean.

    The rule of Breiman, Friedman, Olshen & Stone (1984), Classification
    and Regression Trees, section 3.4.3: the standard error is that of
    the best model, the smallest of the best if there are several.

    Parameters
    ----------
    means, errors : array-like of shape (c,)
        Means of the measure over the folds, and standard deviations
        over √folds. Models with a NaN mean are excluded. A NaN error,
        as for a single fold, counts as 0: only models as good as the
        best qualify.
    sizes : array-like of shape (c,)
        Numbers of features, or costs.
    higher_is_better : bool, default True
        Whether larger means are better.

    Returns
    -------
    int
        Position of the model in ``means``. Of several models of the
        smallest size, it is the best, then the first.

    Raises
    ------
    ParameterError
        For rows of different lengths, infinite values, a negative
        error, or only NaN means.
    """
    size, gain = _sizes_and_gains(sizes, means, higher_is_better, "means")
    error = checked_row("errors", errors, size.size)
    if np.any(error < 0):
        raise ParameterError(
            "errors", float(np.nanmin(error)), "standard errors, from 0 up"
        )
    if gain.max(initial=-np.inf) == -np.inf:
        raise ParameterError("means", gain.size, "at least one value that is not NaN")
    # The smallest of the models with the greatest gain.
    best = _smallest_model(size, gain, gain == gain.max())
    best_error = float(np.nan_to_num(error[best]))
    # Then the smallest of the models within one error. A mean exactly
    # one error below counts, although the difference is rounded.
    rounding = 4.0 * EPS * (abs(gain[best]) + best_error)
    return _smallest_model(size, gain, gain >= gain[best] - best_error - rounding)


def _sizes_and_gains(
    sizes: ArrayLike, values: ArrayLike, higher_is_better: bool, name: str = "values"
) -> tuple[Floats, Floats]:
    """Return (sizes, gains) of c models as arrays of shape (c,).

    The gains are the values, negated if lower is better, and -inf, the
    worst gain, for NaN. ``name`` is the name of the parameter with the
    values, for the message. Raise ParameterError for rows of different
    lengths, infinite values, or a missing size.
    """
    value_row = checked_row(name, values)
    size = checked_row("sizes", sizes, value_row.size)
    if np.isnan(size).any():
        raise ParameterError("sizes", np.nan, "numbers")
    return size, np.where(
        np.isnan(value_row), -np.inf, value_row if higher_is_better else -value_row
    )


def _smallest_model(size: Floats, gain: Floats, allowed: Bools) -> int:
    """Return the position of the smallest of the allowed models.

    ``size`` and ``gain`` have a number for each model, and ``allowed``
    whether each may be returned. Of models of equal size, it is the one
    with the greatest gain, then the first.
    """
    candidates = np.flatnonzero(allowed)
    return int(candidates[np.lexsort((-gain[candidates], size[candidates]))[0]])
