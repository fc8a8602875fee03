"""A fold on which nothing is learned: its one model was learned before, and comes from a file."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.data.dataset import Fold, FoldedDataset
from rankstudio.engine.errors import DatasetError, PlanError, shown_path
from rankstudio.engine.experiment.plan.combinations import Unit
from rankstudio.engine.experiment.plan.given_files import check_found
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.units.fold_context import FoldContext
from rankstudio.engine.experiment.units.learned_queries import overlap
from rankstudio.engine.export.model_files import find_models
from rankstudio.engine.export.model_scores import other_names
from rankstudio.engine.export.models import Model
from rankstudio.engine.language import tr
from rankstudio.engine.methods.catalog.given import GIVEN_MODEL
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.steps import Note, Step, WorkProgress
from rankstudio.engine.support.frozen_mapping import FrozenMapping

_GREATEST = 1e200  # of all weights: times the values of features, scores stay within the range of numbers


@dataclass(frozen=True, eq=False)
class ModelStep(Step):
    """A model of a file that is not linear; ``coef`` tells how much each feature is used.

    Attributes
    ----------
    model : Model
    ids : tuple of int of length n
        The 1-based id of each column.
    """

    linear: ClassVar[bool] = False

    model: Model
    ids: tuple[int, ...]

    @property
    def source(self) -> str:
        """Where it was read, for sentences about it."""
        return self.model.source

    @property
    def kernel(self) -> bool:
        """Whether the model is a sum of kernel functions."""
        return bool(self.model.beyond.get("kind") == "kernel")

    def scores(self, columns: Floats, known: Floats | None = None) -> Floats:
        """Score documents; see :meth:`rankstudio.engine.steps.Step.scores`."""
        return np.ascontiguousarray(self.model.predict(columns.T, np.array(self.ids, dtype=np.int64)))

    def beyond_weights(self, ids: Sequence[int]) -> dict[str, Any]:
        """Return the model; see :meth:`rankstudio.engine.steps.Step.beyond_weights`."""
        return dict(self.model.beyond)


class ModelFold(FoldContext):
    """A fold with a model of a file in place of a method.

    Parameters
    ----------
    plan, fold, train
        As of a `FoldContext`.
    step : Step
        The model.
    note : str
        What has to be said of it; "" for nothing.
    """

    def __init__(self, plan: Plan, fold: Fold, train: TrainingData, step: Step, note: str) -> None:
        super().__init__(plan, fold, train)
        self._step, self._note = step, note

    def _learn_steps(self, unit: Unit) -> Generator[Step | WorkProgress, None, None]:
        """Yield the one model, and what has to be said of it."""
        yield self._step
        if self._note:
            yield Note(self._note)


def models_of_plan(plan: Plan, dataset: FoldedDataset) -> tuple[dict[int, Step], str]:
    """Return the models by which a plan ranks in each fold, and what has to be said of them.

    Raises
    ------
    DataError
        Where they cannot be read, do not fit the data, or are not those of the plan any more.
    PlanError
        Where the plan names a fold that has none.
    """
    if not plan.scores:
        raise PlanError(tr("scores: expected a name and a path of models to rank by, got none."))
    found = find_models(Path(plan.scores["path"]), dataset)
    asked = plan.folds or [fold.number for fold in dataset.folds]
    check_found(plan.scores, found.checksums, asked, found.models)
    for model in {id(model): model for model in found.models.values()}.values():
        _check_reading(model, plan, dataset)
    models = {number: found.models[number] for number in asked}
    train = dataset.folds[0].train
    notes = dict.fromkeys(note for model in models.values() for note in other_names(model, train))
    said = [overlap(models, plan, dataset), *notes]
    return {n: _step(model, dataset) for n, model in models.items()}, " ".join(filter(None, said))


def plan_of_models(
    plan: Plan, name: str, place: Path, dataset: FoldedDataset
) -> tuple[Plan, tuple[int, ...]]:
    """Return the plan of a run of models of files, with their checksums, and the folds left out.

    Parameters
    ----------
    plan : Plan
        Of which data, protocol, measures and convention count.
    name : str
        What the models are called.
    place : Path
        See `find_models`.
    dataset : FoldedDataset
        Of the plan.

    Raises
    ------
    DataError
        Where they cannot be read or do not fit, or there are no documents to measure on.
    """
    if not any(fold.test or fold.vali for fold in dataset.folds):
        raise DatasetError(
            tr(
                "{data} has neither a test nor a validation part to measure a model on; expected folds, or a "
                "protocol that makes them."
            ).format(data=dataset.name)
        )
    place = place.absolute()
    found = find_models(place, dataset)
    for model in found.models.values():
        _check_reading(model, plan, dataset)
    folds = tuple(n for n in found.models if not plan.folds or n in plan.folds)
    made = plan.changed(
        method=GIVEN_MODEL.key,
        parameters={},
        ranker="",
        ranker_parameters={},
        scores={"name": name, "path": str(place), "files": FrozenMapping(dict(found.checksums))},
        folds=folds if found.left_out else plan.folds,
    )
    return made, found.left_out


def _check_reading(model: Model, plan: Plan, dataset: FoldedDataset) -> None:
    """Refuse a model that was learned from values that were made ready otherwise than those of the data."""
    fields = (("normalize", model.normalize, plan.normalize), ("missing", model.missing, plan.missing))
    for field, found, expected in fields:
        if found != expected:
            raise DatasetError(
                tr(
                    "{file}: origin: found {field} {found}, as the model's data were read, expected "
                    "{expected}, as {data} is; read it as those."
                ).format(
                    file=shown_path(model.source),
                    field=field,
                    found=found,
                    expected=expected,
                    data=dataset.name,
                )
            )


def _step(model: Model, dataset: FoldedDataset) -> Step:
    """Return a model as the one step of a path."""
    ids = tuple(dataset.feature_ids.tolist())
    place = {feature: column for column, feature in enumerate(ids)}
    known = [feature for feature in model.features if feature.id in place]
    coef = np.zeros(len(ids))
    coef[[place[feature.id] for feature in known]] = [feature.weight for feature in known]
    with np.errstate(over="ignore"):
        total = float(np.abs(coef).sum())
    if total > _GREATEST:
        raise DatasetError(
            tr("{file}: features: found weights of {total:g} in all, expected at most {most:g}.").format(
                file=shown_path(model.source), total=total, most=_GREATEST
            )
        )
    selected = tuple(place[feature.id] for feature in known)
    if not model.beyond:
        return Step(1, selected, coef, float("nan"), np.empty(0))
    return ModelStep(1, selected, coef, float("nan"), np.empty(0), model, ids)
