"""The preferences of a plan, found among the documents of its folds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rankstudio.engine.data.dataset import Fold, FoldedDataset
from rankstudio.engine.data.preferences.csv_file import PreferenceFile, read_preference_file
from rankstudio.engine.errors import DatasetError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.language import tr
from rankstudio.engine.querywise.query_data import QueryData


def preference_file(plan: Plan) -> PreferenceFile:
    """Read the file of preferences that a plan names.

    Raises
    ------
    DataError
        Where it cannot be read, or is not that of the plan any more.
    """
    file = read_preference_file(Path(plan.preferences["path"]))
    if plan.preferences.get("checksum", file.checksum) != file.checksum:
        raise DatasetError(
            tr(
                "{file}: these are not the preferences of the plan any more, as the file has other contents; "
                "add it anew."
            ).format(file=file.path)
        )
    return file


def check_preferences(plan: Plan, dataset: FoldedDataset) -> None:
    """Refuse before any work preferences that do not fit the data.

    Raises
    ------
    DataError
        As :func:`preference_file`, and for a query that no part has or a document that its query has not.
    """
    if not plan.preferences:
        return
    file = preference_file(plan)
    parts = [part for fold in dataset.folds for part in fold.parts.values()]
    known = {query for part in parts for query in part.query_ids}
    checked: set[str] = set()
    for part in parts:
        if checked.isdisjoint(part.query_ids) and file.queries.intersection(part.query_ids):
            file.of_part(part, known)
            checked.update(part.query_ids)
    if not checked:
        file.of_part(parts[0], known)


def with_preferences(plan: Plan, fold: Fold, train: QueryData) -> QueryData:
    """Return the training part of a fold with the preferences of a plan, if it has some."""
    if not plan.preferences:
        return train
    file = preference_file(plan)
    return replace(train, preferences=file.of_part(fold.train, file.queries))
