"""Documents on which an exported model is tried: those of the test part, if there is one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from rankstudio.engine.data.dataset import Fold, FoldedDataset, RankingDataset
from rankstudio.engine.data.folders import open_dataset
from rankstudio.engine.data.table import Missing
from rankstudio.engine.errors import PlanError
from rankstudio.engine.experiment.plan.plan import SAMPLE, Plan
from rankstudio.engine.experiment.plan.toml import plan_from_dict
from rankstudio.engine.experiment.runner import open_data
from rankstudio.engine.export.models import Model
from rankstudio.engine.support.files import is_there

_PART_TITLES: Mapping[str, str] = {
    "test": "test part",
    "vali": "validation part",
    "train": "training part",
}


def trial_parts(
    model: Model, location: Path | str | None = None
) -> tuple[list[RankingDataset], str]:
    """Return documents to try a model on, a dataset per fold, and a description of them.

    Missing values are filled as the model requires, but nothing is scaled.

    Parameters
    ----------
    model : Model
        Exported model, whose file has its plan and its fold.
    location : Path or str, optional
        A file or a folder of folds, or "sample" for the built-in
        sample; by default the data of the model's plan.

    Returns
    -------
    tuple
        The documents and their description. They are the test
        part of the model's fold, or the test parts of all folds
        if the model names no fold of the data; without test
        parts, the validation part, otherwise the training part.
        The description is, for example, "the test part of fold
        1".

    Raises
    ------
    PlanError
        If the model names no data, or the data are missing.
    DataError
        If the data cannot be read.
    """
    dataset = (
        _open_data_of_plan(model)
        if location is None
        else _open_location(model, location)
    )
    # The fold of the model, or all folds; and the part: "test" if there is one.
    folds, name = _folds_and_part(dataset, model.origin.get("fold"))
    # The description names what the data could be confused with: the
    # fold if there are several, and the part if there are other ones.
    of_fold = (
        f" of fold {folds[0].number}"
        if len(dataset.folds) > 1 and len(folds) == 1
        else ""
    )
    is_only_part = len(folds[0].parts) == 1 and len(dataset.folds) == 1
    part = _PART_TITLES[name] if len(folds) == 1 else f"{_PART_TITLES[name]}s"
    description = (
        f"the {'documents' if is_only_part else part}{of_fold} of {dataset.name}"
    )
    # A fold without the named part has its training part instead.
    return [fold.parts.get(name, fold.train) for fold in folds], description


def parts_to_try(dataset: FoldedDataset, fold: object) -> list[RankingDataset]:
    """Return the documents of an open dataset on which to try a model of a fold.

    `fold` is the number of the fold. The documents are the test part of
    this fold, or those of all folds if the dataset has no such fold;
    without a test part, the validation part, otherwise the training
    part.
    """
    folds, name = _folds_and_part(dataset, fold)
    return [fold.parts.get(name, fold.train) for fold in folds]


def _folds_and_part(
    dataset: FoldedDataset, number: object
) -> tuple[Sequence[Fold], str]:
    """Return the folds with a number, or all folds if none has it, and the part to score.

    The part is a name: "test", otherwise that of the validation part,
    otherwise that of the training part.
    """
    folds = [fold for fold in dataset.folds if fold.number == number] or dataset.folds
    return folds, next(name for name in _PART_TITLES if name in folds[0].parts)


def _open_data_of_plan(model: Model) -> FoldedDataset:
    """Open the data that the plan in a model's file names, divided into its folds.

    Nothing is scaled: the model scales the values itself. PlanError is
    raised if the file has no plan, or the data are missing.
    """
    if not model.plan:
        raise PlanError(
            "The model does not record its data. Give --data with a file or folder."
        )
    plan = plan_from_dict(model.plan)
    # The sample is part of the program: its name is no path.
    if plan.data != SAMPLE and not is_there(Path(plan.data)):
        raise PlanError(
            f"{plan.data}: the data of the model were not found. Give --data with a file or folder."
        )
    return open_data(plan.changed(normalize="none"))


def _open_location(model: Model, location: Path | str) -> FoldedDataset:
    """Open a file, a folder or the sample, as the model treats missing values."""
    if location == SAMPLE:
        return open_data(Plan(SAMPLE))
    columns = model.plan.get("columns")
    return open_dataset(location, missing=cast(Missing, model.missing), columns=columns)
