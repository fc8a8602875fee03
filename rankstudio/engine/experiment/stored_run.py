"""A finished run of a study with its data, opened at their current location."""

from __future__ import annotations

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.errors import PlanError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.experiment.runner import open_data
from rankstudio.engine.experiment.storage.study import RunKey, Study


def run_with_data(study: Study, key: RunKey) -> tuple[RunResult, Plan, FoldedDataset]:
    """Return a finished run of a study, its plan, and its data.

    The data of the run are opened, and the plan names their present location.

    Raises
    ------
    PlanError, DataError
        If the data cannot be opened, or have changed since the run.
    """
    result = study.result(key)
    recorded_data = study.data(key)
    # `path_to_open` gives the location of the data that the study recorded.
    plan = result.plan.changed(data=recorded_data.path_to_open(result.plan))
    dataset = open_data(plan)
    if difference := recorded_data.difference(dataset):
        raise PlanError(f"{plan.data}: {difference}")
    return result, plan, dataset
