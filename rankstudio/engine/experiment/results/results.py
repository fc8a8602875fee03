"""Results of a run: paths, the chosen model of each fold, averages."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.data import store
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.experiment.plan.combinations import Unit
from rankstudio.engine.experiment.plan.left_out_names import (
    is_left_out,
    left_out,
    validated,
)
from rankstudio.engine.experiment.plan.plan import CRITERION, Plan
from rankstudio.engine.experiment.plan.protocol import (
    LEAVE_QUERY_OUT,
    SMALLEST,
    parse_protocol,
)
from rankstudio.engine.experiment.results.part import Part
from rankstudio.engine.experiment.results.path_steps import PathSteps, StepsFile
from rankstudio.engine.experiment.results.subset_choices import SubsetChoices
from rankstudio.engine.experiment.results.unfitted import Unfitted
from rankstudio.engine.language import tr, trn
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.engine.metrics.conventions import convention, rules_text
from rankstudio.engine.metrics.names import ByMeasure
from rankstudio.engine.metrics.short_queries import zero_measure_note
from rankstudio.engine.statistics.mean_intervals import LEAST_PAIRS
from rankstudio.engine.steps import Step
from rankstudio.engine.support.escaping import html_text
from rankstudio.engine.support.number_format import raised
from rankstudio.engine.support.work import Note

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_DECIMALS = 4
_NO_VALUES = np.empty(0)
_POWER = re.compile(r"2\^(-?\d+)")  # a power of two, such as "2^-3"

Color = tuple[float, ...]

_MIN_GRID_VALUES = 3  # with fewer values, every choice is an end of the grid


@dataclass(frozen=True, eq=False)
class PathResult:
    """The path of one unit: all its steps, each a model, with their measures.

    Attributes
    ----------
    unit : Unit
        Fold, and value of each parameter.
    steps : PathSteps
        The K steps.
    validation : Mapping of str to ndarray of shape (K,)
        Validation measures after each step; none without a validation
        part. If the criterion is a leave-query-out measure, all of
        these are included, such as "leave-query-out MAP".
    divisor : float
        Divisor that makes criteria comparable between folds: the number
        of training documents if they are sums over documents, otherwise
        1.
    step_kind : StepKind
        Kind of the steps: selected features, rounds or iterations.
    notes : tuple of Note
        Notes of the method; in a study all are of one kind.
    standard_errors : Mapping of str to ndarray of shape (K,)
        With inner folds: standard errors of the means in `validation`.
        With left-out queries: standard errors over the queries. With a
        validation part: standard errors over its queries, if the rule
        of one standard error needs them, for the best model only, NaN
        for the others.
    p_values : Mapping of str to ndarray of shape (K,)
        p of each step's model against the best one of the path, for the
        selection measure if its values in each query are known, see
        `rankstudio.engine.experiment.results.model_selection.p_values`.
        Empty in a study of an earlier version.
    choices : SubsetChoices or None
        Models that the plan's rule chooses on subsets of the validation
        queries, see `rankstudio.engine.experiment.results.cross_fit`.
        None if the validation queries do not choose, and in a study of
        an earlier version.
    """

    unit: Unit
    steps: PathSteps
    validation: Mapping[str, Floats]
    divisor: float
    step_kind: StepKind = StepKind.FEATURES
    notes: tuple[Note, ...] = field(default=(), kw_only=True)
    standard_errors: Mapping[str, Floats] = field(default_factory=dict)
    p_values: Mapping[str, Floats] = field(default_factory=dict)
    choices: SubsetChoices | None = field(default=None, kw_only=True)

    @property
    def validated(self) -> bool:
        """Whether there are measures of a validation part or of inner folds."""
        return bool(validated(self.validation))

    @cached_property
    def criterion(self) -> Floats:
        """Criterion after each step, comparable between folds, shape (K,)."""
        return self.steps.criteria / self.divisor

    @property
    def sizes(self) -> Ints:
        """Number of features used by each step's model, shape (K,)."""
        return self.steps.sizes

    @property
    def x_values(self) -> Ints:
        """Position of each step on the x axis of the curves, shape (K,)."""
        return (
            self.steps.sizes
            if self.step_kind is StepKind.FEATURES
            else self.steps.numbers
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row per step of the path, its criterion and its measures.

        "column" is the column of the newest feature in the data,
        counted from 0; -1 means that the step has no feature.
        """
        import pandas as pd  # noqa: PLC0415 - only here, and the window starts without it

        return pd.DataFrame(
            {
                "step": self.steps.numbers,
                "n_features": self.sizes,
                "column": [
                    step.selected[-1] if step.selected else -1 for step in self.steps
                ],
                "criterion": self.criterion,
                **{
                    _measure_title(name): values
                    for name, values in self.validation.items()
                },
            }
        )

    def plot(self, name: str | None = None, ax: Axes | None = None) -> Axes:
        """Draw a measure after each step of the path on axes of Matplotlib; return the axes.

        `name` is that of the measure; by default the first validation
        measure, or the method's criterion if the path has no measures.
        A new figure is made without `ax`. ParameterError is raised for
        a measure that the path does not have.
        """
        default = next(iter(self.validation), "")
        # A measure that the caller names must exist; "" is the criterion.
        measure_name = _checked_measure(
            [self], name or default, is_required=name is not None
        )
        ax = _new_axes() if ax is None else ax
        x, y = _mean_curve((self,), measure_name)
        _draw_curve(ax, x, y, label="", color=_colors(1)[0])
        _label_axes(ax, [self], measure_name, f"Fold {self.unit.fold}")
        return ax

    def _repr_html_(self) -> str:
        """Return the table that a notebook shows."""
        return _html_table(self.to_frame())

    @property
    def models(self) -> slice:
        """Steps that can be selected; for an optimiser only the last iteration."""
        return slice(-1, None) if self.step_kind is StepKind.ITERATIONS else slice(None)


Keeper = Callable[[PathResult], PathResult]
"""Returns a path as it is kept until the run ends."""


def path_keeper(plan: Plan) -> Keeper:
    """Return a function that takes each path of a run, and returns it as it is to be kept.

    A path is the sequence of models of one combination of parameters'
    values on a fold. The function leaves it in memory, or, for the
    protocol leave-query-out, writes its steps to a temporary file.
    """
    if plan.protocol != LEAVE_QUERY_OUT:
        return lambda path: path
    file = StepsFile(store.scratch_folder())
    return lambda path: replace(path, steps=file.keep(path.steps))


@dataclass(frozen=True, eq=False)
class Chosen:
    """The selected model of a fold.

    Attributes
    ----------
    unit : Unit
        Unit that trained the model: the fold, and the value of each parameter.
    step : Step
        Step of the unit's path that has the model.
    """

    unit: Unit
    step: Step


@dataclass(frozen=True, eq=False)
class Baseline:
    """The best single feature on the training documents: the baseline of any model.

    Attributes
    ----------
    feature : int
        1-based id of the feature.
    name : str
        Name of the feature.
    descending : bool
        Whether high values of the feature are ranked first.
    validation, test : Mapping of str to float
        Measures of ranking by this feature alone.
    """

    feature: int
    name: str
    descending: bool
    validation: Mapping[str, float]
    test: Mapping[str, float]


@dataclass(frozen=True, eq=False)
class FoldResult:
    """The results of a finished fold of a run.

    Attributes
    ----------
    fold : int
        Number of the fold, from 1.
    chosen : Chosen
        The selected model.
    selected : tuple of int
        1-based ids of the selected model's features, in order of selection.
    validation, test : Mapping of str to float
        Measures of the selected model; empty if the dataset has no such part.
    paths : tuple of PathResult
        The path of each combination of parameters' values, all its
        models, in the order of the combinations.
    baseline : Baseline
        The best single feature on the training documents, with its measures.
    per_query : Mapping of str to ndarray of shape (Q,)
        Measures of the selected model in each query of the test part,
        or of the validation part without one, in the order of the data:
        for paired tests between runs.
    greatest_grade : float
        Largest label of the dataset, used by ERR; NaN for a run of an earlier version.
    constant : tuple of int
        1-based ids of features that the paths leave out, because they
        are constant within every training query; of all features if
        none varies.
    cross_fitted : Mapping of str to ndarray of shape (Q,)
        Measures in each query of the validation part, of models chosen
        without this query, see
        `rankstudio.engine.experiment.results.cross_fit`. Empty without
        a validation part, and in a study of an earlier version until
        they are computed.
    data_digest : str
        Digest of the data of all folds, as in
        `rankstudio.engine.data.fingerprint.data_digest`; "" if unknown.
    n_validation_queries : int
        Queries of the validation part; 0 without one, and in a study of
        an earlier version.
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
    constant: tuple[int, ...] = ()
    cross_fitted: Mapping[str, Floats] = field(default_factory=dict)
    data_digest: str = ""
    n_validation_queries: int = 0

    def measured(self, part: Part) -> Mapping[str, float]:
        """Return the measures of a fold by name, on a part of the data; {} if they are unknown.

        `part` is the test part, the validation queries "cross-fitted",
        or the validation queries that chose the model. Cross-fitted
        measures are means over the validation queries, each measured by
        a model that was chosen without it.
        """
        match part:
            case Part.TEST:
                return self.test
            case Part.CROSS_FITTED:
                return {
                    name: _mean_defined(values)
                    for name, values in self.cross_fitted.items()
                }
            case Part.CHOSEN_ON:
                return self.validation
            case Part.NONE:
                return {}

    @property
    def left_out(self) -> dict[str, float]:
        """Measures of the selected model on left-out training queries, by name.

        A name is, for example, "leave-query-out MAP". The result is {}
        if the run has no such measures, or the path of the model is not
        stored.
        """
        number = self.chosen.step.number
        unit = self.chosen.unit
        path = next(
            (path for path in self.paths if path.unit.position == unit.position), None
        )
        if path is None:
            return {}
        position = path.steps.position(number)
        return {
            name: float(values[position])
            for name, values in left_out(path.validation).items()
        }


@dataclass(frozen=True, eq=False)
class RunResult:
    """A run: its plan and its finished folds.

    Attributes
    ----------
    plan : Plan
        Plan of the run.
    data_name : str
        Name for titles and tables.
    feature_ids, feature_names
        Ids and names of the dataset's columns.
    folds : tuple of FoldResult
        Finished folds, in order.
    complete : bool
        Whether all folds of the plan are finished.
    versions : Mapping of str to str
        Versions of RankStudio and of its libraries.
    seconds : float
        Duration in seconds.
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
        """Number of features of each fold's model; empty for a given ranking."""
        return tuple(
            len(fold.selected) for fold in self.folds if fold.chosen.step.learned
        )

    @property
    def data_digest(self) -> str:
        """Digest of the data, equal for runs on the same documents and labels; "" if unknown."""
        return next((fold.data_digest for fold in self.folds), "")

    @property
    def has_cross_fitted(self) -> bool:
        """Whether all measures of the plan are known cross-fitted in all folds."""
        return all(
            name in fold.cross_fitted
            for fold in self.folds
            for name in self.plan.evaluated
        )

    @property
    def unfitted(self) -> Unfitted | None:
        """Reason why the run has no cross-fitted values; None if it has them.

        Cross-fitted values are measures in each validation query, by
        models that were chosen without this query.
        """
        if all(fold.cross_fitted for fold in self.folds):
            return None
        # The reasons, from the protocol to what is stored.
        if parse_protocol(self.plan.protocol).kind == LEAVE_QUERY_OUT:
            return Unfitted.LEFT_OUT_ONE_BY_ONE
        if not all(fold.validation for fold in self.folds):
            return Unfitted.NO_VALIDATION
        if any(fold.n_validation_queries == 1 for fold in self.folds):
            return Unfitted.TOO_FEW
        return Unfitted.INNER_NOT_STORED if self.plan.inner else Unfitted.NOT_STORED

    @cached_property
    def part(self) -> Part:
        """Part behind `average` and `per_query`: the same one for all folds."""
        return part_of(self.folds)

    @property
    def average(self) -> dict[str, float]:
        """Mean over the folds of each measure on `part`, the part that measures the run.

        The mean is an estimate for new queries if `part.is_estimate`.
        Otherwise the model was chosen on the same part, and the mean is
        too high.
        """
        return self.average_on(self.part)

    def average_on(self, part: Part) -> dict[str, float]:
        """Return the mean over the folds of each measure, by name, on a part of the data.

        The result is {} if the measures on this part are unknown.
        """
        return _mean_measures([fold.measured(part) for fold in self.folds])

    @property
    def reported_average(self) -> dict[str, float]:
        """Mean over the folds of the measures on the test part, or else on the validation part.

        The files of a run list the values of each fold whose mean this is.
        """
        return _mean_measures([fold.test or fold.validation for fold in self.folds])

    @property
    def baseline(self) -> dict[str, float]:
        """Mean over the folds of the measures of each fold's best single feature.

        The feature is chosen on training documents. It is measured on
        the test part, or on the validation part if there is no test
        part.
        """
        return _mean_measures(
            [fold.baseline.test or fold.baseline.validation for fold in self.folds]
        )

    @property
    def greatest_grade(self) -> float:
        """The largest grade that ERR uses: that of the convention, or the largest label.

        The largest label is that of the dataset. The result is NaN if
        no fold is finished, or for a run of an earlier version.
        """
        grades = [
            fold.greatest_grade
            for fold in self.folds
            if not math.isnan(fold.greatest_grade)
        ]
        # 0 in a convention stands for the largest label of the data.
        return convention(self.plan.convention).greatest_grade or max(
            grades, default=math.nan
        )

    @property
    def notes(self) -> tuple[Note, ...]:
        """Notes for the user on the run.

        They are the notes that the methods made during training, the
        first of each kind, and those on the choices of the folds, see
        `fold_notes`.
        """
        method_notes = notes_of(path for fold in self.folds for path in fold.paths)
        return (*method_notes, *fold_notes(self.plan, self.folds))

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row per fold: its selected model and its measures.

        The index is the number of the fold. Columns are the parameters
        with several values in the plan, "n_features", and each measure
        as "validation MAP" and "test MAP".
        """
        import pandas as pd  # noqa: PLC0415 - slow to import, and not needed by runs

        rows = [
            {
                **self.plan.axis_values(fold.chosen.unit.values),
                "n_features": len(fold.selected),
                **{
                    f"validation {name}": value
                    for name, value in fold.validation.items()
                },
                **{f"test {name}": value for name, value in fold.test.items()},
                **fold.left_out,
            }
            for fold in self.folds
        ]
        return pd.DataFrame(
            rows, index=pd.Index([fold.fold for fold in self.folds], name="fold")
        )

    def path_frame(self) -> pd.DataFrame:
        """Return a table with a row per step of every path.

        The first columns are the fold and the values of the parameters
        with several values. "feature" is the id of the step's newest
        feature, and "name" its name.
        """
        import pandas as pd  # noqa: PLC0415 - slow to import, and not needed by runs

        frames = []
        for fold in self.folds:
            for path in fold.paths:
                frame = path.to_frame()
                names = {"fold": fold.fold, **self.plan.axis_values(path.unit.values)}
                # Fold and parameters become the first columns.
                for index, (name, value) in enumerate(names.items()):
                    frame.insert(index, name, value)
                # -1 for a step without a feature
                columns = [int(column) for column in frame.pop("column")]
                ids = [
                    int(self.feature_ids[column]) if column >= 0 else 0
                    for column in columns
                ]
                labels = [
                    self.feature_names[column] if column >= 0 else ""
                    for column in columns
                ]
                # Behind the columns "step" and "n_features".
                frame.insert(len(names) + 2, "feature", ids)
                frame.insert(len(names) + 3, "name", labels)
                frames.append(frame)
        return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()

    def plot(self, name: str | None = None, ax: Axes | None = None) -> Axes:
        """Plot a validation measure against model size, a curve per combination of parameters.

        The values are means over the folds.

        Parameters
        ----------
        name : str, optional
            Name of the measure; by default the selection criterion.
            Without validation it is the method's own criterion.
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; by default a new figure.

        Returns
        -------
        matplotlib.axes.Axes
            The axes with the curves.

        Raises
        ------
        ParameterError
            If the run has no validation values of this measure.
        """
        paths = [path for fold in self.folds for path in fold.paths]
        name = _checked_measure(
            paths, name or self.plan.select_by, is_required=name is not None
        )
        ax = _new_axes() if ax is None else ax
        # One color for each combination.
        paths_of_combinations = zip(*(fold.paths for fold in self.folds), strict=True)
        colors = _colors(len(self.plan.combinations))
        for color, combination_paths in zip(colors, paths_of_combinations, strict=True):
            x, y = _mean_curve(combination_paths, name)
            values = zip(self.plan.axes, combination_paths[0].unit.values, strict=True)
            label = ", ".join(
                f"{axis.label} = {axis.format(value)}" for axis, value in values
            )
            # Exponents are set as such by Matplotlib.
            _draw_curve(ax, x, y, label=_POWER.sub(r"$2^{\1}$", label), color=color)
        # Title and legend.
        mean_text = (
            f", mean over {len(self.folds)} folds" if len(self.folds) > 1 else ""
        )
        _label_axes(ax, paths, name, f"{self.data_name}: {self.plan.title}{mean_text}")
        if len(self.plan.combinations) > 1:
            ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))
        return ax

    def _repr_html_(self) -> str:
        """Return the run as HTML: a description, a table of its folds, and the mean measures.

        A notebook shows this HTML.
        """
        plan = self.plan
        # The convention of the measures, in words.
        rules = rules_text(self.plan.convention, self.plan.evaluated)
        description = (
            f"{plan.title} on {self.data_name}, chosen by {plan.select_by}, {rules}"
        )
        description += "" if self.complete else ", not finished"
        means = ", ".join(
            f"{name} {value:.{_DECIMALS}f}" for name, value in self.average.items()
        )
        table = _html_table(self.to_frame())
        return f"<p>{html_text(description)}</p>{table}<p>Mean ({self.part.label}): {html_text(means)}</p>"

    def per_query(self, name: str) -> Floats:
        """Return a measure in every query of `part`, the part that measures the run, (Q,).

        The queries of all folds follow each other. On the test part,
        the values are those of the folds' selected models. Cross-fitted
        values of validation queries are those of models that were
        chosen without the query.
        """
        if self.part is Part.CROSS_FITTED:
            return np.concatenate([fold.cross_fitted[name] for fold in self.folds])
        return np.concatenate([fold.per_query[name] for fold in self.folds])

    @property
    def queries_per_fold(self) -> tuple[int, ...]:
        """Number of queries in each fold, of the part on which the run is measured.

        The number is 0 for a fold without measures in each query.
        """
        # The part is the test part, or the validation queries
        # "cross-fitted": each is measured by a model that was chosen
        # without it.
        is_cross_fitted = self.part is Part.CROSS_FITTED
        values = [
            fold.cross_fitted if is_cross_fitted else fold.per_query
            for fold in self.folds
        ]
        return tuple(
            # All measures have the same number of queries.
            next((len(queries) for queries in measures.values()), 0)
            for measures in values
        )

    def has_per_query(self, name: str) -> bool:
        """Return whether a measure is known in each query of the part that measures the run.

        The part is the test part, or the validation queries
        "cross-fitted": each measured by a model that was chosen without
        it.
        """
        is_cross_fitted = self.part is Part.CROSS_FITTED
        values = [
            fold.cross_fitted if is_cross_fitted else fold.per_query
            for fold in self.folds
        ]
        return bool(values) and all(name in measures for measures in values)


def part_of(folds: Sequence[FoldResult]) -> Part:
    """Return the best part of the data on which all folds are measured; `NONE` without any.

    The best is the test part. Next are cross-fitted values, of
    validation queries by models that were chosen without them, and last
    the values of the queries that chose the model, which overestimate
    it.
    """
    values: dict[Part, list[Mapping[str, Any]]] = {
        Part.TEST: [fold.test for fold in folds],
        Part.CROSS_FITTED: [fold.cross_fitted for fold in folds],
        Part.CHOSEN_ON: [fold.validation for fold in folds],
    }
    return next(
        (part for part, measures in values.items() if measures and all(measures)),
        Part.NONE,
    )


def notes_of(paths: Iterable[PathResult]) -> tuple[Note, ...]:
    """Return the notes of the methods on some paths, the first of each kind."""
    first: dict[type[Warning], Note] = {}
    for path in paths:
        for note in path.notes:
            first.setdefault(note.kind, note)
    return tuple(first.values())


def fold_notes(plan: Plan, folds: Sequence[FoldResult]) -> tuple[Note, ...]:
    """Return notes for the user on the choices of the folds.

    `folds` are the finished folds of a run of the plan. The notes name
    values at the ends of grids, features that were left out, and
    choices that nothing decides.
    """
    undecided = undecided_notes(plan, folds)
    # If all features are constant, further notes would be about arbitrary choices.
    if _all_features_are_constant(folds):
        return undecided
    note_groups = constant_notes(folds), untested_notes(plan, folds), undecided
    return (
        *edge_notes(plan, folds),
        *(note for notes in note_groups for note in notes),
    )


def untested_notes(plan: Plan, folds: Sequence[FoldResult]) -> tuple[Note, ...]:
    """Return a note if too few queries could test models for the rule "smallest".

    The note says that the best model was chosen instead. The result is
    () if the rule could be applied, or the plan has another rule.
    """
    has_tests = all(
        any(plan.select_by in path.p_values for path in fold.paths) for fold in folds
    )
    if plan.rule != SMALLEST or plan.select_by == CRITERION or has_tests:
        return ()
    text = tr(
        "The rule “smallest” tests models on at least {least} validation queries. There are fewer, so the "
        "best model is chosen."
    )
    return (Note(text.format(least=LEAST_PAIRS)),)


def undecided_notes(plan: Plan, folds: Sequence[FoldResult]) -> tuple[Note, ...]:
    """Return a note if nothing distinguishes the models of a fold; otherwise ().

    This happens if no feature varies within a query, as in a table
    whose query column names the documents, or if the measure is the
    same for all models, as MAP is if all documents are relevant, and
    NDCG@10 by LETOR's conventions if all queries have fewer than 10
    documents.
    """
    # Nothing can be decided where all features are constant.
    if _all_features_are_constant(folds):
        text = tr(
            "No feature varies within a query, so no model can order documents. Check the query ids."
        )
        return (Note(text),)

    # Values of the measure that chooses, of all models of a fold: shape (n,).
    fold_values = [
        np.concatenate(
            [path.validation.get(plan.select_by, _NO_VALUES) for path in fold.paths]
        )
        for fold in folds
    ]
    if not fold_values or not all(
        len(values) > 1 and np.ptp(values) == 0.0 for values in fold_values
    ):
        return ()

    # A measure may be 0 for all models because of the convention; the
    # note says why, "" if it cannot be.
    cause = zero_measure_note(plan.convention, plan.chosen_by)
    if cause and all(values[0] == 0.0 for values in fold_values):
        return (Note(cause),)
    text = tr(
        "All models have the same {measure}, so it cannot choose one. Check the relevance labels, or choose "
        "another criterion."
    )
    return (Note(text.format(measure=plan.select_by)),)


def _all_features_are_constant(folds: Sequence[FoldResult]) -> bool:
    """Return whether no feature varies, in any fold."""
    return bool(folds) and all(
        len(fold.constant) == fold.chosen.step.coef.size for fold in folds
    )


def constant_notes(folds: Sequence[FoldResult]) -> tuple[Note, ...]:
    """Return a note on the features that all folds leave out as constant.

    Constant means: equal in all documents of each query. The result is
    () without such features.
    """
    constant_columns = (
        set.intersection(*(set(fold.constant) for fold in folds)) if folds else set()
    )
    if not constant_columns:
        return ()
    text = trn(
        "{n} feature is constant within every query and was left out.",
        "{n} features are constant within every query and were left out.",
        len(constant_columns),
    )
    return (Note(text.format(n=len(constant_columns))),)


def edge_notes(plan: Plan, folds: Sequence[FoldResult]) -> tuple[Note, ...]:
    """Return a note for each end of a grid of parameter values that a fold has chosen.

    The note says that better values may lie beyond the end. Grids of
    two values are skipped, because both values are ends.
    """
    # Two texts each: for a run of one fold, and for several folds.
    smallest = (
        tr(
            "{label} = {value} is the smallest value tried; smaller values may be better."
        ),
        tr(
            "{label} = {value}, the smallest value tried, is chosen in {n} of {total} folds."
        ),
    )
    largest = (
        tr(
            "{label} = {value} is the largest value tried; larger values may be better."
        ),
        tr(
            "{label} = {value}, the largest value tried, is chosen in {n} of {total} folds."
        ),
    )
    notes = []

    # Only an ordered grid of several values has ends.
    for index, axis in enumerate(plan.axes):
        if not axis.is_grid or len(axis.values) < _MIN_GRID_VALUES:
            continue
        for end, (of_one, of_several) in (
            (axis.values[0], smallest),
            (axis.values[-1], largest),
        ):
            # Number of folds that chose this end.
            n = sum(fold.chosen.unit.values[index] == end for fold in folds)
            text = of_one if len(folds) == 1 else of_several
            if n:
                value = raised(axis.format(end))
                notes.append(
                    Note(
                        text.format(
                            label=axis.label, value=value, n=n, total=len(folds)
                        )
                    )
                )
    return tuple(notes)


def _mean_measures(fold_measures: Sequence[Mapping[str, float]]) -> ByMeasure[float]:
    """Return the mean of each measure over the folds that define it; NaN if none does."""
    names = dict.fromkeys(name for measures in fold_measures for name in measures)
    rows = {
        name: np.array(
            [measures[name] for measures in fold_measures if name in measures]
        )
        for name in names
    }
    # A fold of one query may have an undefined measure.
    defined = {name: values[~np.isnan(values)] for name, values in rows.items()}
    means = {
        name: float(np.mean(values)) if values.size else math.nan
        for name, values in defined.items()
    }
    return ByMeasure(means)


def _mean_defined(values: Floats) -> float:
    """Return the mean of the defined values; NaN if no value is defined."""
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if defined.size else math.nan


def _measure_title(name: str) -> str:
    """Return the title of a measure of the steps of a path, for columns and axes."""
    return name if is_left_out(name) else f"validation {name}"


def _draw_curve(ax: Axes, x: Ints, y: Floats, label: str, color: Color) -> None:
    """Draw a curve through points on axes of Matplotlib; a single point has a marker."""
    ax.plot(x, y, marker="o" if x.size == 1 else "", label=label, color=color)


def _colors(n: int) -> list[Color]:
    """Return colors from dark to light, as the values of a grid ascend."""
    import matplotlib as mpl  # noqa: PLC0415 - slow to import, and not needed by runs

    return [
        mpl.colormaps["viridis"](fraction)[:3] for fraction in np.linspace(0.0, 0.9, n)
    ]


def _mean_curve(paths: tuple[PathResult, ...], name: str) -> tuple[Ints, Floats]:
    """Return the mean curve of the paths of several folds: x and value of each of K steps.

    The x of a step is its number of features or rounds. The K steps are
    those that all paths have; if steps are iterations, only the last
    step of each path is used.

    `name` is a measure, or "" for the criterion. The value is NaN where
    no path has one.
    """
    # Iterations: one point.
    if paths[0].step_kind is StepKind.ITERATIONS:
        last_values = [_curve_values(path, name)[-1] for path in paths]
        return paths[0].x_values[-1:], np.array([np.mean(last_values)])

    # Means of the values that are defined; a row of `rows` is a path.
    shared_length = min(len(path.steps) for path in paths)
    rows = np.array([_curve_values(path, name)[:shared_length] for path in paths])
    counts = np.sum(~np.isnan(rows), axis=0)
    means: Floats = np.divide(
        np.nansum(rows, axis=0),
        counts,
        out=np.full(shared_length, np.nan),
        where=counts > 0,
    )
    return paths[0].x_values[:shared_length], means


def _curve_values(path: PathResult, name: str) -> Floats:
    """Return a measure by step, or for "" the criterion."""
    return path.validation[name] if name else path.criterion


def _checked_measure(paths: list[PathResult], name: str, *, is_required: bool) -> str:
    """Return the name of the measure to draw for some paths.

    The result is `name` if all paths have this measure, otherwise
    another one that they have, or "", for the method's own criterion,
    if they have none. ParameterError is raised if the paths lack `name`
    and it is required.
    """
    name_sets = [set(path.validation) for path in paths]
    shared_names = sorted(set.intersection(*name_sets)) if name_sets else []
    if name in shared_names:
        return name
    if is_required:
        raise ParameterError(
            "name",
            name,
            f"one of {', '.join(shared_names)}"
            if shared_names
            else "none without validation",
        )
    return shared_names[0] if shared_names else ""


def _label_axes(ax: Axes, paths: list[PathResult], name: str, title: str) -> None:
    """Set the titles of axes; without a `name`, y is the criterion."""
    features = not paths or paths[0].step_kind is StepKind.FEATURES
    ax.set_xlabel("features" if features else "step")
    ax.set_ylabel(_measure_title(name) if name else "criterion")
    ax.set_title(title)


def _new_axes() -> Axes:
    """Return the axes of a new figure."""
    from matplotlib import pyplot as plt  # noqa: PLC0415 - as above

    return plt.subplots(layout="constrained")[1]


def _html_table(frame: pd.DataFrame) -> str:
    """Return a frame as HTML with rounded numbers; names in it are text."""
    return frame.to_html(
        border=0, float_format=lambda value: f"{value:.{_DECIMALS}f}", na_rep=""
    )
