"""Which models of the runs can be compared, and what they are called."""

from __future__ import annotations

from dataclasses import replace

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.experiment.results.results import Chosen
from rankstudio.ui.language import tr
from rankstudio.ui.model.measured_runs import MeasuredRun
from rankstudio.ui.model.run_queue import Runs
from rankstudio.ui.model.run_record import RunRecord
from rankstudio.ui.model.selected_model import path_position
from rankstudio.ui.model.session import Choice

ChosenModels = dict[int, Chosen]
"""The model of each fold, by the fold's number."""


def comparable(runs: Runs, dataset: FoldedDataset | None) -> list[RunRecord]:
    """Return the runs on the open data that have a finished fold."""
    return [record for record in runs.records if record.folds and record.dataset is dataset]


def chosen_models(record: RunRecord, measured: MeasuredRun, choice: Choice | None = None) -> ChosenModels:
    """Return the models of a run.

    Parameters
    ----------
    record : RunRecord
    measured : MeasuredRun
        The run by what is looked at, which may choose other models; what is not measured yet stays as it is.
    choice : Choice, optional
        Other parameters or another size than validation chose, where the run has tried them.

    Returns
    -------
    dict of int to Chosen
        Without the folds whose model the study did not keep.
    """
    folds = {**record.folds, **measured.folds}
    found = {number: result.chosen for number, result in sorted(folds.items())}
    if choice is not None and choice != Choice():
        found = {number: _other(record, number, chosen, choice) for number, chosen in found.items()}
    return {number: chosen for number, chosen in found.items() if chosen.step.whole}


def _other(record: RunRecord, fold: int, chosen: Chosen, choice: Choice) -> Chosen:
    """Return what a choice means in a fold; what validation chose where the run has no such path."""
    position = chosen.unit.position if choice.values is None else record.combination_of(choice.values)
    path = None if position is None else record.paths.get((fold, position))
    if path is None:
        return chosen
    step = path.steps[path_position(path, choice.place, None, record.plan.select_by)]
    return replace(chosen, unit=path.unit, step=step)


def run_label(record: RunRecord) -> str:
    """Return what a run is called here."""
    return tr("run {key} · {title}").format(key=record.key, title=record.plan.title)


def single_label(models: RunRecord) -> str:
    """Return what the best single feature of each fold is called."""
    names = {result.baseline.name for result in models.folds.values()}
    return (
        tr("best single feature · {names}").format(names=names.pop())
        if len(names) == 1
        else tr("best single feature of each fold")
    )
