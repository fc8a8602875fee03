"""Deviations as what is drawn of them: their distribution, mean and standard deviation."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, log10
from typing import Any

import numpy as np

from rankstudio.engine.analysis.simulation.deviations import Deviations
from rankstudio.engine.arrays import Floats, Ints

_SCOTT = 3.49  # the best width of bins for a normal distribution is 3.49 sd R^(-1/3)
_MOST_BINS = 2000
_USUAL_WIDTH = 0.02  # of bins, where nothing varies


@dataclass(frozen=True, eq=False)
class DeviationSummary:
    """The conditional deviations of some estimators after some repetitions.

    Attributes
    ----------
    estimators : tuple of str
    done, asked : int
        Repetitions so far, and at the end.
    truth, truth_sd : float
        Mean and standard deviation of the true performance of the models.
    bias, standard_error, sd, unconditional_sd : ndarray of shape (E,)
        As of :class:`~rankstudio.engine.analysis.simulation.deviations.Deviations`; NaN for an estimator
        without a value.
    counts : ndarray of shape (E,)
        How many repetitions have a value.
    edges : ndarray of shape (B + 1,)
        Of bins, ascending; one of them is 0.
    shares : ndarray of shape (E, B)
        Of the values of each estimator that lie in each bin; 0 for one without a value.
    """

    estimators: tuple[str, ...]
    done: int
    asked: int
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
        """Summarise deviations.

        Notes
        -----
        O(RE) for R repetitions and E estimators.
        """
        found, sd = state.conditional, state.conditional_sd
        edges = bin_edges(found, sd)
        return cls(
            state.estimators,
            state.truth.size,
            state.asked,
            float(state.truth.mean()),
            float(state.truth.std()),
            state.bias,
            state.standard_error,
            sd,
            state.unconditional_sd,
            state.counts,
            edges,
            binned_shares(found, edges),
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
            name: {column: values[place].item() for column, values in columns.items()}
            for place, name in enumerate(self.estimators)
        }
        truth = {"mean": self.truth, "sd": self.truth_sd}
        return {"done": self.done, "truth": truth, "estimators": estimators}


def bin_edges(values: Floats, sd: Floats) -> Floats:
    """Return edges of bins of one round width, 1, 2 or 5 of a power of ten, that have all values.

    Parameters
    ----------
    values : ndarray of shape (R, E)
        NaN is nowhere.
    sd : ndarray of shape (E,)
        Standard deviations of the columns; the width follows Scott's rule for the widest of them.
    """
    known: Floats = values[np.isfinite(values)]
    spread: Floats = sd[np.isfinite(sd)]
    width = _round_width(_SCOTT * float(spread.max(initial=0.0)) * len(values) ** (-1 / 3))
    low, high = float(known.min(initial=0.0)), float(known.max(initial=0.0))
    while (high - low) / width > _MOST_BINS:
        width = _round_width(2.5 * width)
    first, last = floor(low / width), floor(high / width) + 1
    return np.asarray(np.arange(first, last + 1) * width, dtype=np.float64)


def binned_shares(values: Floats, edges: Floats) -> Floats:
    """Return the share of each column (R, E) in each bin, shape (E, B); a bin has its lower edge."""
    shares = np.zeros((values.shape[1], edges.size - 1))
    for column, share in zip(values.T, shares, strict=True):
        known = column[np.isfinite(column)]
        if known.size:
            at = np.clip(np.searchsorted(edges, known, side="right") - 1, 0, share.size - 1)
            share[:] = np.bincount(at, minlength=share.size) / known.size
    return shares


def _round_width(wanted: float) -> float:
    """Return the greatest of 1, 2 and 5 times a power of ten that is not above a width."""
    if not wanted > 0:
        return _USUAL_WIDTH
    power = 10.0 ** floor(log10(wanted))
    return max(step * power for step in (1, 2, 5) if step * power <= wanted * (1 + 1e-12) or step == 1)
