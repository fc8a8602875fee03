"""Estimates of AUC where one quantity of the simulation takes several values."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankstudio.engine.analysis.simulation.auc_simulation import simulate_auc
from rankstudio.engine.analysis.simulation.summary import DeviationSummary
from rankstudio.engine.arrays import Floats
from rankstudio.engine.errors import ParameterError

QUANTITIES = ("n_examples", "positive", "regularization")
"""What can be varied, by the names of the arguments of `simulate_auc`."""


@dataclass(frozen=True, eq=False)
class VariedDeviations:
    """Summaries of simulations that differ in one quantity.

    Attributes
    ----------
    quantity : str
        One of :data:`QUANTITIES`.
    asked : tuple of float
        All its values.
    summaries : tuple of DeviationSummary
        Of the first of these values; the last of them may grow still.
    """

    quantity: str
    asked: tuple[float, ...]
    summaries: tuple[DeviationSummary, ...]

    @property
    def values(self) -> tuple[float, ...]:
        """The values of which there is a summary."""
        return self.asked[: len(self.summaries)]

    @property
    def bias(self) -> Floats:
        """Mean deviations, shape (V, E)."""
        return np.array([one.bias for one in self.summaries])

    @property
    def standard_error(self) -> Floats:
        """Of the bias, shape (V, E)."""
        return np.array([one.standard_error for one in self.summaries])

    @property
    def sd(self) -> Floats:
        """Conditional standard deviations, shape (V, E)."""
        return np.array([one.sd for one in self.summaries])


def simulate_auc_over(
    quantity: str, values: Sequence[float], **parameters: Any
) -> Generator[VariedDeviations, None, VariedDeviations]:
    """Estimate AUC for each value of a quantity, one after the other.

    Parameters
    ----------
    quantity : str
        One of :data:`QUANTITIES`.
    values : sequence of float
    **parameters
        The other arguments of `simulate_auc`; the seed is the same for every value.

    Yields
    ------
    VariedDeviations
        Of all values so far; the generator returns the last.

    Raises
    ------
    ParameterError
        For another quantity, no value, or one that `simulate_auc` refuses.
    """
    if quantity not in QUANTITIES:
        raise ParameterError("quantity", quantity, f"one of {', '.join(QUANTITIES)}")
    if not values:
        raise ParameterError(quantity, values, "at least one value")
    asked = tuple(float(value) for value in values)
    finished: tuple[DeviationSummary, ...] = ()
    for value in asked:
        exact = int(value) if quantity == "n_examples" and value.is_integer() else value
        for state in simulate_auc(**{**parameters, quantity: exact}):
            growing = DeviationSummary.of(state)
            found = VariedDeviations(quantity, asked, (*finished, growing))
            yield found
        finished = found.summaries
    return found
