"""How long a run took for each of its selections, from which the time of repeated ones is known."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import TYPE_CHECKING

from rankstudio.ui.model.run_record import RunRecord

if TYPE_CHECKING:
    from rankstudio.engine.experiment.plan.plan import Plan


def seconds_of_selection(record: RunRecord | None) -> float:
    """Return how long a run took for each of its selections, with what it measured; infinity without any."""
    if record is None or not record.paths or not record.clock.seconds:
        return inf
    return record.clock.seconds / n_selections(record.plan, record.paths)


def n_selections(plan: Plan, units: Iterable[tuple[int, int]]) -> int:
    """Return how many selections some units of a run made, given by fold and position.

    One that several models share was made once: of a final ranker, or of a λ that does not select.
    """
    ranks = {parameter.name for parameter in plan.entry.parameters if parameter.ranks}
    settings = [
        repr(sorted((name, value) for name, value in combination.parameters.items() if name not in ranks))
        for combination in plan.combinations
    ]
    return len({(fold, settings[position]) for fold, position in units})
