"""Tests a selection made on other data: measures its model, and compares it with a selection made here."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from rankstudio.engine.analysis.comparisons.significance import compare_with
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.data.splitting.splits import whole
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.refit import refit
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.experiment.runner import open_data, run_plan
from rankstudio.engine.experiment.units.given_fold import (
    n_shared,
    plan_of_given,
    queries_of,
)
from rankstudio.engine.export.models import save_model
from rankstudio.engine.methods.catalog import GIVEN_MODEL
from rankstudio.engine.statistics.paired import PairedComparison
from rankstudio.plugins.drift.shared_features import plan_with_columns_of


@dataclass(frozen=True, eq=False)
class Transfer:
    """A model trained on other data and a selection made on these data, measured in the same queries.

    Attributes
    ----------
    transferred_run : RunResult
        The run that measures the model in every fold of these data.
    own_run : RunResult
        The run of the same plan on these data.
    features : tuple of int
        Ids in these data of the features of the model.
    training_counts : dict
        For each fold number, the number of measured queries on which
        the model was trained, because they are also in the other data,
        and the number of all measured queries.
    """

    transferred_run: RunResult
    own_run: RunResult
    features: tuple[int, ...]
    training_counts: dict[int, tuple[int, int]]

    @property
    def n_queries_of_training(self) -> int:
        """Number of measured queries on which the model was trained."""
        return sum(count for count, _ in self.training_counts.values())

    def compared(self, name: str) -> PairedComparison:
        """Compare the model with the own selection by a measure, query by query."""
        return compare_with(self.transferred_run, self.own_run, name)

    def folds_of_features(self) -> Counter[int]:
        """Return the number of folds of the own run that select each feature, by id."""
        return Counter(int(i) for fold in self.own_run.folds for i in fold.selected)


def transfer(result: RunResult, dataset: FoldedDataset, data: str) -> Transfer:
    """Measure the model of a run on other data, and carry out the run's plan on the other data.

    Parameters
    ----------
    result : RunResult
        Finished run on the first data.
    dataset : FoldedDataset
        Data of the run.
    data : str
        Path of the other data. The model's features are found there by
        the names of columns in tables, and by id in other data.

    Returns
    -------
    Transfer
        The measured model is the final model of the run: trained on all
        its documents, with the parameters and the number of features
        that its folds selected.

    Raises
    ------
    PlanError, DataError
        If the run has no model, or its model or plan does not fit the other data.

    Notes
    -----
    The cost is that of one unit on the first data and of the run on the other data.
    """
    # Without numbers of folds, the plan uses all folds of the other
    # data. The file of the model is only needed while it is measured.
    plan = result.plan.changed(data=data, folds=())
    other = open_data(plan)
    aligned_plan = plan_with_columns_of(plan, dataset, other)
    if aligned_plan is not plan:
        plan = aligned_plan
        other = open_data(plan)
    with TemporaryDirectory() as folder:
        given_plan, counts = saved_model_plan(
            result, dataset, plan, other, Path(folder) / "model.json"
        )
        measured = run_plan(given_plan, other)
    features = tuple(map(int, measured.folds[0].selected))
    return Transfer(
        transferred_run=measured,
        own_run=run_plan(plan, other),
        features=features,
        training_counts=counts,
    )


def saved_model_plan(
    result: RunResult,
    dataset: FoldedDataset,
    plan: Plan,
    other: FoldedDataset,
    model_path: Path,
) -> tuple[Plan, dict[int, tuple[int, int]]]:
    """Save the model of a run, and return the plan that measures it on other data.

    Parameters
    ----------
    result : RunResult
        The finished run.
    dataset : FoldedDataset
        Data of the run.
    plan : Plan
        Plan on the other data whose protocol, measures and convention are used.
    other : FoldedDataset
        Data of that plan.
    model_path : Path
        File for the model, which is overwritten.

    Returns
    -------
    Plan
        Plan that measures the saved model in each fold of the other data.
    dict
        For each fold number, the number of measured queries on which
        the model was trained, and the number of all measured queries.
    """
    # `refit` trains the run's model on all its documents. The second
    # result of `plan_of_given` are folds without a file; here one file
    # is for all folds.
    save_model(model_path, refit(result, dataset))
    given_plan, _ = plan_of_given(
        GIVEN_MODEL.key, plan, result.data_name, model_path, other
    )
    train_queries = queries_of(whole(dataset))

    # Models are measured on the test part or, without one, on the validation part.
    parts = {fold.number: fold.test or fold.vali for fold in other.folds}
    counts = {
        number: (n_shared(part, train_queries), part.n_queries)
        for number, part in parts.items()
        if part is not None
    }
    return given_plan, counts
