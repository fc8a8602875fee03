"""Features that two datasets share: tables by the names of their columns, other data by ids."""

from __future__ import annotations

from rankstudio.engine.data.dataset import FoldedDataset, default_names
from rankstudio.engine.errors import PlanError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.language import tr


def plan_with_columns_of(
    plan: Plan, first: FoldedDataset, other: FoldedDataset
) -> Plan:
    """Return a plan on a table, changed to read the columns in the order of the first data.

    A model knows features by their ids, and the ids of a table number
    its columns. With the same order, a name has the same id in both.

    Parameters
    ----------
    plan : Plan
        Plan on `other`.
    first : FoldedDataset
        Data with which the model is trained.
    other : FoldedDataset
        Data of the plan.

    Returns
    -------
    Plan
        The same plan for data other than tables, for equal columns, and
        if `other` lacks a column of `first`.
    """
    names = first.folds[0].train.feature_names
    other_names = other.folds[0].train.feature_names

    # Only tables have a column of labels.
    both_tables = first.origin.read_as.label and other.origin.read_as.label
    if not both_tables or names == other_names or not set(names) <= set(other_names):
        return plan
    return plan.changed(columns={**plan.columns, "features": list(names)})


def refuse_other_names(first: FoldedDataset, other: FoldedDataset) -> None:
    """Raise PlanError for other data in which a feature's id has another name than in the first data.

    Names that only number the features are no contradiction.

    Raises
    ------
    PlanError
        The message names the first such feature.
    """
    train = first.folds[0].train
    tested = other.folds[0].train
    other_names = dict(
        zip(tested.feature_ids.tolist(), tested.feature_names, strict=True)
    )
    numbered_names = default_names(train.feature_ids)
    ids = train.feature_ids.tolist()
    for feature_id, name, numbered in zip(
        ids, train.feature_names, numbered_names, strict=True
    ):
        other_name = other_names.get(feature_id, name)
        if other_name != name and numbered not in (name, other_name):
            raise PlanError(
                tr(
                    "{data}: found feature {id} named {name}, expected {expected} as in {first}. All datasets need "
                    "the same features."
                ).format(
                    data=other.name,
                    id=feature_id,
                    name=other_name,
                    expected=name,
                    first=first.name,
                )
            )
