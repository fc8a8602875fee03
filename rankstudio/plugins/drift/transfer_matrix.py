"""Models of several datasets, measured on each other dataset and ranked there.

References
----------
Airola, A., Pyysalo, S., Björne, J., Pahikkala, T., Ginter, F. and
Salakoski, T. (2008). All-paths graph kernel for protein-protein
interaction extraction with evaluation of cross-corpus learning. BMC
Bioinformatics 9 (S2), Table 2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from rankstudio.engine.analysis.comparisons.significance import comparing_measure
from rankstudio.engine.arrays import Floats
from rankstudio.engine.errors import DatasetError, ParameterError, PlanError, shown_path
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.experiment.runner import open_data, run_plan
from rankstudio.engine.export.tables import TextTable
from rankstudio.engine.metrics.names import measure as measure_of
from rankstudio.engine.support.number_format import NOTHING
from rankstudio.engine.support.work import WorkProgress
from rankstudio.plugins.drift.shared_features import (
    plan_with_columns_of,
    refuse_other_names,
)
from rankstudio.plugins.drift.transfer import saved_model_plan


@dataclass(frozen=True, eq=False)
class TransferMatrix:
    """The mean of a measure for the model of each of D datasets, on each of these datasets.

    Attributes
    ----------
    names : tuple of str
        Names of the datasets.
    measure : str
    values : ndarray of shape (D, D)
        Row i has the model of dataset i on each dataset, in the mean
        over its folds. The diagonal has the plan's own run, whose
        models have not seen the documents.
    """

    names: tuple[str, ...]
    measure: str
    values: Floats

    @property
    def ranks(self) -> Floats:
        """Rank of each model among the models of other datasets, shape (D, D).

        A row is the data of training. A column is the data of the
        measurement, ranked by itself: 1 is the best, and equal values
        have their mean rank. The diagonal is NaN, and so are undefined
        values.
        """
        from scipy.stats import rankdata  # noqa: PLC0415 - scipy, where it is needed

        is_ranked = ~np.eye(len(self.names), dtype=bool) & ~np.isnan(self.values)
        higher_is_better = measure_of(self.measure).higher_is_better
        losses = -self.values if higher_is_better else self.values
        ranks = np.full(self.values.shape, np.nan)
        for column, rows in enumerate(is_ranked.T):
            ranks[rows, column] = rankdata(losses[rows, column])
        return ranks

    @property
    def mean_ranks(self) -> Floats:
        """Mean of each model's ranks, shape (D,); NaN without a rank."""
        ranks = self.ranks
        counts = (~np.isnan(ranks)).sum(axis=1)
        with np.errstate(invalid="ignore"):
            means: Floats = np.nansum(ranks, axis=1) / counts
        return means

    def as_text(self) -> TextTable:
        """Return the table of models by training data, with averages and ranks on each data.

        A row has the model that is trained on one dataset, with its
        average and rank on each other dataset. The last column is its
        mean rank.
        """
        header = ["trained on"]
        for name in self.names:
            header += [name, "rank"]
        header.append("mean rank")
        ranks = self.ranks
        rows = []
        for row, name in enumerate(self.names):
            cells = [name]
            for column in range(len(self.names)):
                average = self.values[row, column]
                text = NOTHING if np.isnan(average) else f"{average:.4f}"
                cells.append(f"({text})" if row == column else text)
                cells.append(_rank_text(ranks[row, column]))
            cells.append(_rank_text(self.mean_ranks[row]))
            rows.append(tuple(cells))
        note = "In parentheses: models of the same data that have not seen the documents; they are not ranked."
        title = f"{self.measure} by training data (rows) and test data (columns)"
        return TextTable(title, tuple(header), rows, left=(0,), note=note)


def _rank_text(rank: float) -> str:
    return NOTHING if np.isnan(rank) else f"{rank:.4g}"


def transfer_matrix(
    plan: Plan, places: Sequence[str], measure: str = ""
) -> TransferMatrix:
    """Train a plan's model on each dataset, and measure it on the others.

    Parameters
    ----------
    plan : Plan
        Method, parameters and protocol; its data and folds are replaced.
    places : sequence of str
        Paths of two or more datasets with the same features: tables
        with columns of the same names, in any order, and other data
        with the same ids.
    measure : str, optional
        One of the plan's measures; by default the one that chooses its models.

    Returns
    -------
    TransferMatrix
        Measures and ranks of the models.

    Raises
    ------
    ParameterError
        For fewer than two datasets, or a measure that the plan does not have.
    PlanError, DataError
        If a model does not fit other data.

    Notes
    -----
    A model is the final one of the plan's run, learned from all
    documents of its data with what its folds chose. A model is measured
    on the parts on which the own run of those data is measured. D runs,
    and D (D - 1) measurements.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from rankstudio.engine import Plan
    >>> from rankstudio.engine.data.formats.dataset_writer import save_letor
    >>> from rankstudio.engine.data.synthetic import make_ranking
    >>> with TemporaryDirectory() as folder:
    ...     places = [f"{folder}/{name}.txt" for name in "AB"]
    ...     for seed, place in enumerate(places):
    ...         save_letor(make_ranking(n_queries=20, seed=seed).folds[0].train, place)
    ...     parameters = {"regularization": 1.0}
    ...     plan = Plan(places[0], "rankrls", parameters, protocol="3-fold", measures=("MAP",))
    ...     matrix = transfer_matrix(plan, places)
    >>> matrix.values.shape, matrix.ranks[0, 1]
    ((2, 2), np.float64(1.0))
    """
    *_, matrix = transfer_steps(plan, places, measure)
    assert isinstance(matrix, TransferMatrix)
    return matrix


def transfer_steps(
    plan: Plan, places: Sequence[str], measure: str = ""
) -> Iterator[WorkProgress | TransferMatrix]:
    """Train a plan's model on each dataset, and measure it on the others.

    ``places`` are the paths of D datasets. The ``measure`` is by
    default that which chooses the models. Yield the progress before
    each of D² runs, and the matrix at last. Errors are those of
    :func:`transfer_matrix`.
    """
    if len(places) < 2:
        raise ParameterError(
            "places", list(places), "the places of two datasets or more"
        )
    name = measure_of(measure).name if measure else comparing_measure(plan)
    if name not in plan.evaluated:
        expected = f"one of {', '.join(plan.evaluated)}"
        raise ParameterError("measure", measure, expected)

    # The plan on each dataset.
    plans = [plan.changed(data=location, folds=()) for location in places]
    datasets = [open_data(own_plan) for own_plan in plans]
    for index, other in enumerate(datasets):
        aligned_plan = plan_with_columns_of(plans[index], datasets[0], other)
        if aligned_plan is not plans[index]:
            plans[index] = aligned_plan
            datasets[index] = open_data(aligned_plan)
        refuse_other_names(datasets[0], datasets[index])
    # A training on each dataset, and a measurement of each model on the others.
    n_runs = len(places) ** 2
    own_runs = list[RunResult]()
    for own_plan, dataset in zip(plans, datasets, strict=True):
        yield WorkProgress(f"Training on {dataset.name}", len(own_runs) / n_runs)
        own_runs.append(run_plan(own_plan, dataset))

    # Each model on each other dataset. The diagonal has the own runs.
    averages = np.diag([own_run.average[name] for own_run in own_runs])
    pairs = list(permutations(range(len(places)), 2))
    with TemporaryDirectory() as folder:
        model_path = Path(folder) / "model.json"
        for number, (row, column) in enumerate(pairs, start=len(places)):
            other = datasets[column]
            yield WorkProgress(f"Measuring on {other.name}", number / n_runs)
            own_run = own_runs[row]
            try:
                given_plan, _ = saved_model_plan(
                    own_run, datasets[row], plans[column], other, model_path
                )
            except DatasetError as error:
                # The user knows nothing of the file of the model.
                reason = str(error).removeprefix(f"{shown_path(model_path)}: ")
                raise PlanError(
                    f"The model of {own_run.data_name} does not fit {other.name}: {reason}"
                ) from error
            averages[row, column] = run_plan(given_plan, other).average[name]
    names = tuple(dataset.name for dataset in datasets)
    yield TransferMatrix(names, name, averages)
