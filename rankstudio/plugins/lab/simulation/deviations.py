"""Deviations of estimates from the truth, their summary, and summaries for the values of a quantity."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from math import floor, log10
from typing import Any

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.errors import ParameterError


@dataclass(frozen=True, eq=False)
class Deviations:
    """Estimates of performance by several estimators, for models whose true performance is known.

    Attributes
    ----------
    estimators : tuple of str
        Names of the estimators.
    truth : ndarray of shape (R,)
        True performance of the model of each repetition, A(f_Z).
    estimates : ndarray of shape (R, E)
        Estimates by repetition and estimator; NaN if undefined.
    n_repetitions : int
        Total number of repetitions.
    """

    estimators: tuple[str, ...]
    truth: Floats
    estimates: Floats
    n_repetitions: int

    @property
    def conditional(self) -> Floats:
        """Estimate minus the performance of the same model, (5.1) of Airola 2011, shape (R, E)."""
        deviations: Floats = self.estimates - self.truth[:, None]
        return deviations

    @property
    def unconditional(self) -> Floats:
        """Estimate minus the mean performance of all models, (5.2) of Airola 2011, shape (R, E)."""
        deviations: Floats = self.estimates - self.truth.mean()
        return deviations

    @property
    def counts(self) -> Ints:
        """Number of repetitions with a value of each estimator, shape (E,)."""
        return np.asarray((~np.isnan(self.estimates)).sum(axis=0), dtype=np.int64)

    @property
    def bias(self) -> Floats:
        """Mean of estimate minus truth for each estimator, shape (E,).

        The mean is NaN for an estimator without a value.
        """
        return _defined_means(self.conditional)

    @property
    def standard_error(self) -> Floats:
        """Standard error of the bias, shape (E,)."""
        with np.errstate(invalid="ignore", divide="ignore"):
            error: Floats = self.conditional_sd / np.sqrt(self.counts)
        return error

    @property
    def conditional_sd(self) -> Floats:
        """Standard deviation of the conditional deviations, shape (E,)."""
        return _defined_sds(self.conditional)

    @property
    def unconditional_sd(self) -> Floats:
        """Standard deviation of the unconditional deviations, shape (E,)."""
        return _defined_sds(self.unconditional)


def _defined_means(values: Floats) -> Floats:
    """Return the mean of each column over its values that are not NaN.

    ``values`` has a row for each repetition. The mean is NaN for a
    column without any value.
    """
    is_defined = ~np.isnan(values)

    # 0 / 0 is NaN, as it should be, without a warning.
    with np.errstate(invalid="ignore"):
        mean: Floats = np.where(is_defined, values, 0.0).sum(axis=0) / is_defined.sum(
            axis=0
        )
    return mean


def _defined_sds(values: Floats) -> Floats:
    """Return the standard deviation of each column over its values that are not NaN."""
    return np.sqrt(_defined_means((values - _defined_means(values)) ** 2))


# the best width of bins for a normal distribution is 3.49 sd R^(-1/3)
_SCOTT_FACTOR = 3.49
# more than pixels; an outlier makes the bins wider instead of more numerous
_MAX_BINS = 2000
_USUAL_WIDTH = 0.02  # width of bins if nothing varies


@dataclass(frozen=True, eq=False)
class DeviationSummary:
    """How far estimates are from the truth: means, standard deviations and histograms by estimator.

    Attributes
    ----------
    estimators : tuple of str
    done, n_repetitions : int
        Number of repetitions so far, and in total.
    truth, truth_sd : float
        Mean and standard deviation of the true performance of the models.
    bias, standard_error, sd, unconditional_sd : ndarray of shape (E,)
        As in
        :class:`~rankstudio.plugins.lab.simulation.deviations.Deviations`;
        NaN for an estimator without a value.
    counts : ndarray of shape (E,)
        Number of repetitions with a value.
    edges : ndarray of shape (B + 1,)
        Edges of the bins, ascending, including 0.
    shares : ndarray of shape (E, B)
        Share of the values of each estimator in each bin; 0 for an
        estimator without a value.
    """

    estimators: tuple[str, ...]
    done: int
    n_repetitions: int
    truth: float
    truth_sd: float
    bias: Floats
    standard_error: Floats
    sd: Floats
    unconditional_sd: Floats
    counts: Ints
    edges: Floats
    shares: Floats

    @classmethod
    def of(cls, state: Deviations) -> DeviationSummary:
        """Return the summary of deviations: bias, standard deviations and a histogram.

        Notes
        -----
        O(RE) for R repetitions and E estimators.
        """
        # Estimates minus the performance of the same model.
        deviations = state.conditional
        sd = state.conditional_sd
        edges = bin_edges(deviations, sd)
        return cls(
            estimators=state.estimators,
            done=state.truth.size,
            n_repetitions=state.n_repetitions,
            truth=float(state.truth.mean()),
            truth_sd=float(state.truth.std()),
            bias=state.bias,
            standard_error=state.standard_error,
            sd=sd,
            unconditional_sd=state.unconditional_sd,
            counts=state.counts,
            edges=edges,
            shares=binned_shares(deviations, edges),
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers of every estimator as plain values."""
        columns = {
            "bias": self.bias,
            "standard_error": self.standard_error,
            "conditional_sd": self.sd,
            "unconditional_sd": self.unconditional_sd,
            "repetitions": self.counts,
        }
        estimators = {
            name: {column: values[index].item() for column, values in columns.items()}
            for index, name in enumerate(self.estimators)
        }
        truth = {"mean": self.truth, "sd": self.truth_sd}
        return {"done": self.done, "truth": truth, "estimators": estimators}


def bin_edges(values: Floats, sd: Floats) -> Floats:
    """Return the edges of the bins of a histogram, which contain all values and 0.

    The width of the bins is 1, 2 or 5 times a power of ten.

    Parameters
    ----------
    values : ndarray of shape (R, E)
        Values of R repetitions and E estimators; NaN is ignored.
    sd : ndarray of shape (E,)
        Standard deviations of the columns; the width follows Scott's
        rule for the largest.
    """
    finite: Floats = values[np.isfinite(values)]
    spread: Floats = sd[np.isfinite(sd)]
    width = _round_width(
        _SCOTT_FACTOR * float(spread.max(initial=0.0)) * len(values) ** (-1 / 3)
    )
    low = float(finite.min(initial=0.0))
    high = float(finite.max(initial=0.0))

    # 1, 2, 5, 10, ...: 2.5 times a width, rounded down, is the next one
    while (high - low) / width > _MAX_BINS:
        width = _round_width(2.5 * width)
    first = floor(low / width)
    last = floor(high / width) + 1
    return np.asarray(np.arange(first, last + 1) * width, dtype=np.float64)


def binned_shares(values: Floats, edges: Floats) -> Floats:
    """Return the share of each column's values in each bin, shape (E, B).

    ``values`` has the shape (R, E) for R repetitions and E estimators,
    and ``edges`` (B + 1,). Lower edges belong to their bin, and the
    last edge to the last bin; NaN is ignored.
    """
    shares = np.zeros((values.shape[1], edges.size - 1))

    # `share` is a row of the result, which is filled in place
    for column, share in zip(values.T, shares, strict=True):
        finite = column[np.isfinite(column)]
        if finite.size:
            bins = np.clip(
                np.searchsorted(edges, finite, side="right") - 1, 0, share.size - 1
            )
            share[:] = np.bincount(bins, minlength=share.size) / finite.size
    return shares


def _round_width(width: float) -> float:
    """Return the greatest of 1, 2 and 5 times a power of ten that is at most a width.

    If the width is 0, because nothing varies, return the usual width.
    """
    if not width > 0:
        return _USUAL_WIDTH
    power = 10.0 ** floor(log10(width))

    # A product that equals the width may exceed it by rounding. The
    # factor 1 is always allowed, as log10 may have rounded up.
    return max(
        step * power
        for step in (1, 2, 5)
        if step * power <= width * (1 + 1e-12) or step == 1
    )


WHOLE = ("n_examples", "n_queries", "n_features", "per_query")
"""Quantities that are whole numbers."""


@dataclass(frozen=True, eq=False)
class VariedDeviations:
    """Summaries of simulations that differ in the value of one quantity.

    Attributes
    ----------
    quantity : str
        Argument of the simulation.
    all_values : tuple of float
        All values of the argument.
    summaries : tuple of DeviationSummary
        Summaries for the first of these values; the last summary may still grow.
    """

    quantity: str
    all_values: tuple[float, ...]
    summaries: tuple[DeviationSummary, ...]

    @property
    def values(self) -> tuple[float, ...]:
        """Values with a summary."""
        return self.all_values[: len(self.summaries)]

    @property
    def bias(self) -> Floats:
        """Mean deviations, shape (V, E)."""
        return np.array([summary.bias for summary in self.summaries])

    @property
    def standard_error(self) -> Floats:
        """Standard error of the bias, shape (V, E)."""
        return np.array([summary.standard_error for summary in self.summaries])

    @property
    def sd(self) -> Floats:
        """Conditional standard deviations, shape (V, E)."""
        return np.array([summary.sd for summary in self.summaries])


def simulate_over(
    quantity: str,
    values: Sequence[float],
    simulate: Callable[..., Generator[Deviations | None, None, Deviations]],
    **parameters: Any,
) -> Generator[VariedDeviations | None, None, VariedDeviations]:
    """Simulate with each value of a quantity, one after the other.

    Parameters
    ----------
    quantity : str
        Argument of the simulation.
    values : sequence of float
        Values of the argument.
    simulate : callable
        `simulate_auc`, or `simulate_selection` with its dataset.
    **parameters
        Other arguments of the simulation; the seed is the same for every value.

    Yields
    ------
    VariedDeviations or None
        Results for all values so far; the generator returns the last
        result. None if the simulation yields None.

    Raises
    ------
    ParameterError
        Without values, or for a value that the simulation rejects.
    """
    if not values:
        raise ParameterError(quantity, values, "at least one value")
    numbers = tuple(float(value) for value in values)
    finished: tuple[DeviationSummary, ...] = ()
    for value in numbers:
        # Whole numbers stay whole: the simulation rejects 20.0 queries.
        exact = int(value) if quantity in WHOLE and value.is_integer() else value
        for state in simulate(**{**parameters, quantity: exact}):
            if state is None:
                yield None
                continue
            growing = DeviationSummary.of(state)
            varied = VariedDeviations(quantity, numbers, (*finished, growing))
            yield varied
        finished = varied.summaries
    return varied
