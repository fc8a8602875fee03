"""What a run leaves behind: paths, the chosen model of each fold, averages."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.experiment.plan.combinations import Unit
from rankstudio.engine.experiment.plan.left_out_names import left_out, validated
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.frames import fold_frame, path_steps, step_frame
from rankstudio.engine.experiment.results.notebook import path_html, plot_path, plot_run, run_html
from rankstudio.engine.language import tr
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.engine.metrics.conventions import convention
from rankstudio.engine.steps import Note, Step

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_LEAST_GRID = 3  # values, so that not every choice is an end


@dataclass(frozen=True, eq=False)
class PathResult:
    """All steps of one unit with what they measured.

    Attributes
    ----------
    unit : Unit
    steps : sequence of Step
        K of them.
    validation : Mapping of str to ndarray of shape (K,)
        Each measure on the validation part after each step; none without a validation part. Where the plan
        chooses by a measure of left-out queries, all of those too, as "leave-query-out MAP".
    divisor : float
        What criteria are divided by so that they compare between folds: the number of training documents
        where they are sums over documents, else 1.
    step_kind : StepKind
        What the steps are.
    notes : tuple of Note
        What has to be said of it; of one from a study all are of one kind.
    standard_errors : Mapping of str to ndarray of shape (K,)
        Where inner folds validate: those of the means that `validation` then are. Of left-out queries, over
        the queries. Of a validation part, over its queries, where the rule of one standard error needs it:
        that of the best model, NaN for the others.
    """

    unit: Unit
    steps: Sequence[Step]
    validation: Mapping[str, Floats]
    divisor: float
    step_kind: StepKind = StepKind.FEATURES
    notes: tuple[Note, ...] = field(default=(), kw_only=True)
    standard_errors: Mapping[str, Floats] = field(default_factory=dict)

    @property
    def validated(self) -> bool:
        """Whether there are measures of a validation part, or of inner folds."""
        return bool(validated(self.validation))

    @cached_property
    def criterion(self) -> Floats:
        """The criterion after each step, comparable between folds, shape (K,)."""
        return np.array([step.criterion for step in self.steps], dtype=np.float64) / self.divisor

    @cached_property
    def sizes(self) -> Ints:
        """How many features each step's model uses, shape (K,)."""
        return np.array([step.n_selected for step in self.steps], dtype=np.int64)

    @cached_property
    def x_values(self) -> Ints:
        """Where each step stands on the axis that curves are drawn over, shape (K,)."""
        if self.step_kind is StepKind.FEATURES:
            return self.sizes
        return np.array([step.number for step in self.steps], dtype=np.int64)

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each step: how many features, the newest one's column, criterion and measures."""
        return path_steps(self)

    def plot(self, name: str | None = None, ax: Axes | None = None) -> Axes:
        """Draw a validation measure after each step; see :meth:`RunResult.plot`."""
        return plot_path(self, name, ax)

    def _repr_html_(self) -> str:
        """Return the table that a notebook shows."""
        return path_html(self)

    @property
    def models(self) -> slice:
        """Which steps are models to choose from: of an optimiser's iterations only the last one."""
        return slice(-1, None) if self.step_kind is StepKind.ITERATIONS else slice(None)


@dataclass(frozen=True, eq=False)
class Chosen:
    """The model that a fold's validation chose.

    Attributes
    ----------
    unit : Unit
        With which parameters.
    step : Step
        After which step.
    """

    unit: Unit
    step: Step


@dataclass(frozen=True, eq=False)
class Baseline:
    """The single feature that ranks the training documents best: what any model has to beat.

    Attributes
    ----------
    feature : int
        Its 1-based id.
    name : str
    descending : bool
        Whether its high values go first.
    validation, test : Mapping of str to float
        The measures of ranking by it alone.
    """

    feature: int
    name: str
    descending: bool
    validation: Mapping[str, float]
    test: Mapping[str, float]


@dataclass(frozen=True, eq=False)
class FoldResult:
    """One fold, done.

    Attributes
    ----------
    fold : int
        Its number, from 1.
    chosen : Chosen
        The model.
    selected : tuple of int
        1-based ids of the chosen model's features, in order of selection.
    validation, test : Mapping of str to float
        The chosen model's measures; empty where the dataset has no such part.
    paths : tuple of PathResult
        Everything that was tried, in the order of the combinations.
    baseline : Baseline
        The best single feature.
    per_query : Mapping of str to ndarray of shape (Q,)
        The chosen model's measures in each query of the test part, or of the validation part where there is
        no test part, in the order of the data: for paired tests between runs.
    greatest_grade : float
        The greatest label of the dataset, by which ERR was measured; NaN of a run of an earlier version.
    """

    fold: int
    chosen: Chosen
    selected: tuple[int, ...]
    validation: Mapping[str, float]
    test: Mapping[str, float]
    paths: tuple[PathResult, ...]
    baseline: Baseline
    per_query: Mapping[str, Floats] = field(default_factory=dict)
    greatest_grade: float = math.nan

    @property
    def left_out(self) -> dict[str, float]:
        """The chosen model's measures of left-out queries, by names as "leave-query-out MAP"; or none."""
        number, unit = self.chosen.step.number, self.chosen.unit
        path = next((path for path in self.paths if path.unit.position == unit.position), None)
        if path is None:
            return {}
        place = next(i for i, step in enumerate(path.steps) if step.number == number)
        return {name: float(values[place]) for name, values in left_out(path.validation).items()}


@dataclass(frozen=True, eq=False)
class RunResult:
    """A run: its plan and its finished folds.

    Attributes
    ----------
    plan : Plan
    data_name : str
        As in titles and tables.
    feature_ids, feature_names
        Of the dataset's columns.
    folds : tuple of FoldResult
        The finished ones, in order.
    complete : bool
        Whether these are all folds of the plan.
    versions : Mapping of str to str
        Of RankStudio and of what it computed with.
    seconds : float
        How long it took.
    """

    plan: Plan
    data_name: str
    feature_ids: Ints
    feature_names: tuple[str, ...]
    folds: tuple[FoldResult, ...]
    complete: bool
    versions: Mapping[str, str]
    seconds: float

    @property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of features of the chosen models, a fold each; none of a ranking that was given."""
        return tuple(len(fold.selected) for fold in self.folds if fold.chosen.step.learned)

    @property
    def average(self) -> dict[str, float]:
        """Mean over the folds of each measure on the test part, or on the validation part without one."""
        return _mean([fold.test or fold.validation for fold in self.folds])

    @property
    def baseline(self) -> dict[str, float]:
        """The same mean for each fold's best single feature."""
        return _mean([fold.baseline.test or fold.baseline.validation for fold in self.folds])

    @property
    def greatest_grade(self) -> float:
        """The grade on which ERR depends: that of the convention, or the greatest label of the dataset.

        NaN where no fold is finished, or an earlier version measured.
        """
        known = [fold.greatest_grade for fold in self.folds if not math.isnan(fold.greatest_grade)]
        return convention(self.plan.convention).greatest_grade or max(known, default=math.nan)

    @property
    def notes(self) -> tuple[Note, ...]:
        """What the methods say of the results, the first of each kind, and chosen values at a grid's ends."""
        said = notes_of(path for fold in self.folds for path in fold.paths)
        return (*said, *edge_notes(self.plan, self.folds))

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each fold: what validation chose, and what the chosen model measured.

        The index is the fold; columns are the values on the plan's axes, "n_features", and each measure as
        "validation MAP" and "test MAP".
        """
        return fold_frame(self)

    def path_frame(self) -> pd.DataFrame:
        """Return a row for each step of every path, with its fold, values on the axes and newest feature."""
        return step_frame(self)

    def plot(self, name: str | None = None, ax: Axes | None = None) -> Axes:
        """Draw a validation measure over the size, mean over the folds, a curve each combination.

        Parameters
        ----------
        name : str, optional
            Of the measure; by default the one that chose. Without validation it is the criterion.
        ax : matplotlib.axes.Axes, optional
            Where to; a new figure by default.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        ParameterError
            Where nothing was validated by this measure.
        """
        return plot_run(self, name, ax)

    def _repr_html_(self) -> str:
        """Return the table that a notebook shows."""
        return run_html(self)

    def per_query(self, name: str) -> Floats:
        """Return a measure of the chosen models in every query, one fold after the other."""
        return np.concatenate([fold.per_query[name] for fold in self.folds])


def notes_of(paths: Iterable[PathResult]) -> tuple[Note, ...]:
    """Return what the methods say of some paths, the first of each kind."""
    first: dict[type[Warning], Note] = {}
    for path in paths:
        for note in path.notes:
            first.setdefault(note.kind, note)
    return tuple(first.values())


def edge_notes(plan: Plan, folds: Sequence[FoldResult]) -> tuple[Note, ...]:
    """Return a note for each end of a grid that was chosen: better values may lie beyond it.

    Of two values both are ends, which says nothing; those are left out.
    """
    smallest = (
        tr("{label} = {value} is the smallest value tried; smaller values may be better."),
        tr("{label} = {value}, the smallest value tried, is chosen in {n} of {total} folds."),
    )
    largest = (
        tr("{label} = {value} is the largest value tried; larger values may be better."),
        tr("{label} = {value}, the largest value tried, is chosen in {n} of {total} folds."),
    )
    found = []
    for place, axis in enumerate(plan.axes):
        if not axis.is_grid or len(axis.values) < _LEAST_GRID:
            continue
        for end, (of_one, of_several) in ((axis.values[0], smallest), (axis.values[-1], largest)):
            n = sum(fold.chosen.unit.values[place] == end for fold in folds)
            text = of_one if len(folds) == 1 else of_several
            if n:
                value = axis.format(end)
                found.append(Note(text.format(label=axis.label, value=value, n=n, total=len(folds))))
    return tuple(found)


def _mean(columns: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return means over the folds in which a measure is defined: in one query alone it may not be."""
    names = dict.fromkeys(name for column in columns for name in column)
    rows = {name: np.array([column[name] for column in columns if name in column]) for name in names}
    defined = {name: values[~np.isnan(values)] for name, values in rows.items()}
    return {name: float(np.mean(values)) if values.size else float("nan") for name, values in defined.items()}
