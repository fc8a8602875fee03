"""Estimates where one quantity of a simulation takes several values."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankstudio.engine.analysis.simulation.deviations import Deviations
from rankstudio.engine.analysis.simulation.summary import DeviationSummary
from rankstudio.engine.arrays import Floats
from rankstudio.engine.errors import ParameterError

WHOLE = ("n_examples", "n_queries", "n_features", "per_query")
"""What takes whole numbers only."""


@dataclass(frozen=True, eq=False)
class VariedDeviations:
    """Summaries of simulations that differ in one quantity.

    Attributes
    ----------
    quantity : str
        An argument of the simulation.
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
        An argument of the simulation.
    values : sequence of float
    simulate : callable
        `simulate_auc`, or `selection_steps` with its dataset.
    **parameters
        Its other arguments; the seed is the same for every value.

    Yields
    ------
    VariedDeviations or None
        Of all values so far; the generator returns the last. None where the simulation yields it.

    Raises
    ------
    ParameterError
        For no value, or one that the simulation refuses.
    """
    if not values:
        raise ParameterError(quantity, values, "at least one value")
    asked = tuple(float(value) for value in values)
    finished: tuple[DeviationSummary, ...] = ()
    for value in asked:
        exact = int(value) if quantity in WHOLE and value.is_integer() else value
        for state in simulate(**{**parameters, quantity: exact}):
            if state is None:
                yield None
                continue
            growing = DeviationSummary.of(state)
            found = VariedDeviations(quantity, asked, (*finished, growing))
            yield found
        finished = found.summaries
    return found
