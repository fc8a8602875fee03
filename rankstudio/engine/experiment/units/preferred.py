"""The preferences of a plan among the documents of its folds.

The plug-in that reads them finds them.
"""

from __future__ import annotations

from dataclasses import replace

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.data.dataset import Fold, FoldedDataset
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.preference_source import preferences_of
from rankstudio.engine.methods.shards.training_data import TrainingData, training_data
from rankstudio.engine.plugins.entries import imported
from rankstudio.engine.plugins.pair_sources import needed_pair_source


def check_preferences(plan: Plan, dataset: FoldedDataset) -> None:
    """Raise an error for a plan's preferences that do not fit the data, before any work.

    Raises
    ------
    DataError
        If the file cannot be read, differs from that of the plan, or
        has a query or document that does not exist.
    PlanError
        If no plug-in reads the file.
    """
    if preferences_of(plan):
        imported(needed_pair_source().check)(plan, dataset)


def preference_note(plan: Plan) -> str:
    """Return a note on the preferences of a plan, to be shown before a run; "" for none.

    Raises
    ------
    DataError, PlanError
        As in :func:`check_preferences`.
    """
    return (
        str(imported(needed_pair_source().note)(plan)) if preferences_of(plan) else ""
    )


def with_preferences(plan: Plan, fold: Fold, train: TrainingData) -> TrainingData:
    """Return the training part of a fold with the preferences of a plan, if it has any."""
    if not preferences_of(plan):
        return train
    query_data: QueryData = train.whole("Learning from preferences")
    preferences = imported(needed_pair_source().pairs)(plan, fold)
    return training_data(replace(query_data, preferences=preferences))
