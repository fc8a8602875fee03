"""The smallest model of the chosen path that is not significantly worse than its best one."""

from __future__ import annotations

from dataclasses import dataclass

from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.model_selection import best_position, smallest_position
from rankstudio.engine.experiment.results.results import PathResult
from rankstudio.ui.model.run_record import RunRecord
from rankstudio.ui.model.selected_model import SelectedModel


@dataclass(frozen=True)
class SmallestModel:
    """Where on its path it stands, and how it differs from the best one.

    Attributes
    ----------
    x_value, best : int
        Of it and of the best model: how many features, or which round.
    difference, p : float
        Its measure less that of the best, and the p of that difference.
    """

    x_value: int
    best: int
    difference: float
    p: float


def smallest_model(model: SelectedModel, record: RunRecord | None) -> SmallestModel | None:
    """Return the smallest model of a chosen model's path; None where the best one is it, or nothing tested.

    What chooses decides: where another measure is only looked at, that of the run.
    """
    plan, path = _tested(model, record)
    smallest = smallest_position(plan, path)
    best = None if smallest is None else best_position(plan, path)
    if smallest is None or best is None or path.sizes[smallest] == path.sizes[best]:
        return None
    values, p = path.validation[plan.select_by], path.p_values[plan.select_by]
    x = path.x_values
    difference = float(values[smallest] - values[best])
    return SmallestModel(int(x[smallest]), int(x[best]), difference, float(p[smallest]))


def _tested(model: SelectedModel, record: RunRecord | None) -> tuple[Plan, PathResult]:
    """Return the path with p-values and the plan that says what chooses: as measured now, else as run."""
    own = None if record is None else record.paths.get((model.fold.number, model.path.unit.position))
    if model.path.p_values or model.live or own is None or record is None:
        return model.plan, model.path
    return record.plan, own
