"""Runs of one set of features, and what has to be said of them."""

from __future__ import annotations

from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.ui.language import tr


def is_set_run(plan: Plan) -> bool:
    """Return whether a plan has one model, that of a given set of features."""
    groups = [tuple(ids) for ids in plan.groups.values()]
    pinned = tuple(plan.parameters.get("pinned", ()))
    return bool(pinned) and groups == [pinned] and plan.parameters.get("n_features_to_select") == 1


def overlap_note(plan: Plan, fold: int, n_folds: int) -> str:
    """Return the note on a run of a set whose selection saw test queries of the run; "" if it did not.

    Parameters
    ----------
    plan : Plan
    fold : int
        Number of the fold on which the set was selected.
    n_folds : int
        Folds of the data.
    """
    if plan.folds == (fold,) or n_folds == 1:
        return ""
    text = tr(
        "Set selected on fold {fold}. Its training queries are test queries of other folds, so the measures "
        "of this run are too high."
    )
    return text.format(fold=fold)
