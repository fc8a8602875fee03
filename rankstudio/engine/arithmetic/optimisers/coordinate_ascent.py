"""Coordinate ascent on a ranking measure: one weight at a time, along a grid of steps."""

from __future__ import annotations

from collections.abc import Generator, Iterable

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.support.work import Waiting, WorkProgress

STEPS = np.concatenate((-(2.0 ** np.arange(4, -12, -1)), 2.0 ** np.arange(-11, 5)))
"""Changes of a weight that are tried, ±2^-11 … ±2^4, if the absolute values of the weights sum to 1."""


class AscentSearch:
    """Coordinate search over the weights of a linear model, on a ranking measure.

    Weights are in units of 1 over the feature's standard deviation
    within queries, so that a step has the same meaning for every
    feature. Subclasses provide the documents. Larger values of the
    measure are better.

    Parameters
    ----------
    scale : ndarray of shape (n,)
        Standard deviations of the features within queries.
    """

    def __init__(self, scale: Floats) -> None:
        self.scale = scale
        self.informative = np.flatnonzero(scale > 0)

    def measured(self, coef: Floats) -> Waiting[float]:
        """Return the value of the measure for the model with weights ``coef`` (n,)."""
        raise NotImplementedError

    def values_after(
        self, coef: Floats, feature: int, changes: Floats
    ) -> Waiting[Floats]:
        """Return the value of the measure after each of some changes of a weight.

        ``coef`` (n,) are the weights of the model, ``changes`` (c,) are
        added to the weight of ``feature``. A generator of progress; its
        result are the values, shape (c,).
        """
        raise NotImplementedError

    def normalise(self, coef: Floats) -> Floats:
        """Return weights that rank in the same way, whose absolute values have the sum 1.

        The sum is taken in units of 1 / scale of each feature.
        """
        total = float(np.abs(coef * self.scale).sum())
        return coef / total if total > 0 else coef

    def searching(
        self, coef: Floats, value: float, feature: int
    ) -> Waiting[tuple[Floats, float]]:
        """Try changes of the weight of one feature of a model, and keep the best.

        ``coef`` (n,) are the weights, and ``value`` is the value of the
        measure for the model. A generator of progress.

        Returns
        -------
        coef, value
            Weights of the best model and its value, unchanged if no
            change is better. Of equally good changes the smallest is
            kept.
        """
        # Steps are in units of the feature's standard deviation; the
        # last change sets the weight to 0.
        scale = self.scale[feature]
        changes = np.append(STEPS / scale, -coef[feature])
        changes = changes[np.argsort(np.abs(changes), kind="stable")]
        # The value of the measure after each change.
        measured = yield from self.values_after(coef, feature, changes)
        best = coef.copy()
        best[feature] += changes[int(np.argmax(measured))]
        if not best.any():  # a model without weights ranks nothing
            return coef, value
        best = self.normalise(best)
        # Measured again: the scores above were summed in another order,
        # which may break ties another way.
        best_value = yield from self.measured(best)
        return (best, best_value) if best_value > value else (coef, value)

    def sweeping(
        self, coef: Floats, value: float, features: Iterable[int]
    ) -> Generator[WorkProgress | None, None, tuple[Floats, float]]:
        """Search along the weights of some features, one after the other.

        ``coef`` (n,) are the weights to start with, and ``value`` is
        the value of the measure for them. Yield None after every
        weight; return the weights of the best model and its value.
        """
        for feature in features:
            coef, value = yield from self.searching(coef, value, feature)
            yield None
        return coef, value
