"""Paths that end before the features that cannot change any ranking."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from typing import Any

import numpy as np

from rankstudio.engine.arrays import Bools, Ints
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.engine.methods.shards.sums import informative_columns
from rankstudio.engine.methods.shards.training_data import GivenData, training_data
from rankstudio.engine.steps import Step
from rankstudio.engine.support.work import WorkProgress


def leaves_out_constants(plan: Plan, parameters: Mapping[str, Any]) -> bool:
    """Tell whether paths with these parameters end before features that are constant within every query.

    Those of selectors that add features do, unless the number of features is given.
    """
    of_features = plan.entry.selects and plan.entry.step_kind is StepKind.FEATURES
    return of_features and parameters.get("n_features_to_select") is None


def until_constant(
    steps: Iterator[Step | WorkProgress],
    plan: Plan,
    parameters: Mapping[str, Any],
    data: GivenData,
    feature_ids: Ints,
) -> Generator[Step | WorkProgress, None, None]:
    """Yield the steps of a selector up to the one after which only constant features are left.

    Selectors put features that are constant within every query behind all others; their weights are 0.
    Pinned ones are selected all the same.

    Parameters
    ----------
    steps : iterator of Step and WorkProgress
        Of the selector, with growing sets.
    plan : Plan
        Its method and groups count.
    parameters : Mapping
        Of the unit, features by their ids.
    data : QueryData or TrainingData
    feature_ids : ndarray of shape (n,)
    """
    if not leaves_out_constants(plan, parameters):
        yield from steps
        return
    varies = yield from informative_columns(training_data(data))
    wanted = _selectable(varies, plan, parameters, feature_ids)
    for told in steps:
        yield told
        if isinstance(told, Step) and wanted <= set(told.selected):
            return


def _selectable(varies: Bools, plan: Plan, parameters: Mapping[str, Any], feature_ids: Ints) -> set[int]:
    """Return the columns that a path goes on for: those that vary and are not banned, and the pinned ones."""
    banned = {int(i) for i in parameters.get("banned", ())}
    for members in plan.groups.values():  # banned as a whole
        banned |= set(members) if banned & set(members) else set()
    wanted = varies & ~np.isin(feature_ids, list(banned))
    return set(np.flatnonzero(wanted | np.isin(feature_ids, list(parameters.get("pinned", ())))).tolist())
