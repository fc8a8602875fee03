"""Measures how long a run took for each of its selections, to estimate the time of repeated selections."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import TYPE_CHECKING

from rankstudio.ui.model.run_record import RunRecord

if TYPE_CHECKING:
    from rankstudio.engine.experiment.plan.plan import Plan


def seconds_of_selection(record: RunRecord | None) -> float:
    """Return the mean seconds that a run took for a selection and its measures.

    Return infinity if no path of the run is done, or no time is known.
    """
    if record is None or not record.paths or not record.clock.seconds:
        return inf
    return record.clock.seconds / n_selections(record.plan, record.paths)


def n_selections(plan: Plan, units: Iterable[tuple[int, int]]) -> int:
    """Return how many selections of features some units of a run made.

    A unit is a fold with one combination of parameters: the pair of the
    fold's number and of the combination's position in the plan. Units
    that differ only in parameters of the ranking, such as those of a
    final ranker, share one selection.
    """
    # Names of the parameters that only concern how a model ranks, not
    # which features it has; `ranks` says so of a parameter.
    ranks = {parameter.name for parameter in plan.entry.parameters if parameter.ranks}
    # For each combination, a text of the values of all other parameters.
    settings = [
        repr(
            sorted(
                (name, value)
                for name, value in combination.parameters.items()
                if name not in ranks
            )
        )
        for combination in plan.combinations
    ]
    return len({(fold, settings[position]) for fold, position in units})
