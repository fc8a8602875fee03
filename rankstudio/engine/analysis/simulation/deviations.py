"""Estimates beside what they estimate, and by how much they deviate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankstudio.engine.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class Deviations:
    """What several estimators said of models of which the truth is known.

    Attributes
    ----------
    estimators : tuple of str
        Their names.
    truth : ndarray of shape (R,)
        The performance of the model of each repetition, A(f_Z).
    estimates : ndarray of shape (R, E)
        NaN where an estimator says nothing.
    asked : int
        How many repetitions there will be at the end.
    """

    estimators: tuple[str, ...]
    truth: Floats
    estimates: Floats
    asked: int

    @property
    def conditional(self) -> Floats:
        """Estimate minus the performance of the very model, (5.1) of Airola 2011, shape (R, E)."""
        found: Floats = self.estimates - self.truth[:, None]
        return found

    @property
    def unconditional(self) -> Floats:
        """Estimate minus the mean performance of all models, (5.2) of Airola 2011, shape (R, E)."""
        found: Floats = self.estimates - self.truth.mean()
        return found

    @property
    def counts(self) -> Ints:
        """How many repetitions have a value of each estimator, shape (E,)."""
        return np.asarray((~np.isnan(self.estimates)).sum(axis=0), dtype=np.int64)

    @property
    def bias(self) -> Floats:
        """The mean deviation of each estimator, shape (E,); NaN for one without a value."""
        return _means(self.conditional)

    @property
    def standard_error(self) -> Floats:
        """Of the bias, shape (E,)."""
        with np.errstate(invalid="ignore", divide="ignore"):
            error: Floats = self.conditional_sd / np.sqrt(self.counts)
        return error

    @property
    def conditional_sd(self) -> Floats:
        """The standard deviation of the conditional deviations, shape (E,)."""
        return _sds(self.conditional)

    @property
    def unconditional_sd(self) -> Floats:
        """The standard deviation of the unconditional deviations, shape (E,)."""
        return _sds(self.unconditional)


def _means(values: Floats) -> Floats:
    there = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        mean: Floats = np.where(there, values, 0.0).sum(axis=0) / there.sum(axis=0)
    return mean


def _sds(values: Floats) -> Floats:
    """Return the root of the mean squared distance from the mean, over values that are there."""
    return np.sqrt(_means((values - _means(values)) ** 2))
