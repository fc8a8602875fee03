"""One fold, prepared for training and measuring; all units of a plan share it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from rankstudio.engine.arithmetic.magnitude import check_rows
from rankstudio.engine.arithmetic.query_data import QueryData, check_labels
from rankstudio.engine.arithmetic.sparse_query_data import SparseQueryData
from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.data.dataset import Fold
from rankstudio.engine.data.feature_groups import feature_groups_of
from rankstudio.engine.data.splitting.splits import inner_folds
from rankstudio.engine.errors import ConstantObjectiveWarning
from rankstudio.engine.experiment.plan.combinations import Unit
from rankstudio.engine.experiment.plan.left_out_names import left_out as only_left_out
from rankstudio.engine.experiment.plan.left_out_names import left_out_name, validated
from rankstudio.engine.experiment.plan.plan import CRITERION, Plan, estimator
from rankstudio.engine.experiment.plan.preference_source import preferences_of
from rankstudio.engine.experiment.plan.protocol import (
    LEAVE_QUERY_OUT,
    ONE_SE,
    parse_protocol,
)
from rankstudio.engine.experiment.results.cross_fit import (
    choose_on_subsets,
    cross_fitted_values,
    is_chosen_on_validation,
)
from rankstudio.engine.experiment.results.model_selection import best_position, p_values
from rankstudio.engine.experiment.results.path_steps import packed
from rankstudio.engine.experiment.results.results import (
    Baseline,
    Chosen,
    FoldResult,
    PathResult,
)
from rankstudio.engine.experiment.results.subset_choices import SubsetChoices
from rankstudio.engine.experiment.units.measured_part import (
    LeftOutQueries,
    MeasuredPart,
    MeasuredSteps,
    as_columns,
)
from rankstudio.engine.experiment.units.preferred import with_preferences
from rankstudio.engine.language import tr
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.engine.methods.selection.base import best_first
from rankstudio.engine.methods.selection.single_feature import measuring_features
from rankstudio.engine.methods.shards.sums import informative_columns
from rankstudio.engine.methods.shards.training_data import (
    IN_PROCESS,
    ShardExecutor,
    TrainingData,
    training_data,
)
from rankstudio.engine.methods.two_stage import (
    Columns,
    combined_steps,
    comparisons,
    selections,
    two_stage_steps,
)
from rankstudio.engine.metrics.constant_measure import is_constant
from rankstudio.engine.metrics.conventions import Ties, convention, objective
from rankstudio.engine.metrics.evaluator import average, standard_error
from rankstudio.engine.metrics.names import Measure, measure
from rankstudio.engine.steps import Step, steps_of
from rankstudio.engine.support.frozen_mapping import FrozenMapping
from rankstudio.engine.support.memory import sufficient
from rankstudio.engine.support.packed_rows import Rows, packed_rows
from rankstudio.engine.support.sparse_rows import SparseRows
from rankstudio.engine.support.threads import STEADY, steadily
from rankstudio.engine.support.work import Note, Waiting, WorkProgress, finish, followed

Measures = Mapping[str, float]


class _Selection(NamedTuple):
    """The features that a selector selected on a fold, for a final ranker.

    Attributes
    ----------
    sets : tuple of Columns
        The sets of features for the final ranker, one per step of the
        selection.
    comparison_rows : Rows
        Values by which the selector compared the features, a row per step.
    combinations : ndarray or None
        Weights of new features that are sums of features; None if the
        features themselves are selected.
    """

    sets: tuple[Columns, ...]
    comparison_rows: Rows
    combinations: Floats | None


class MeasuredPath(NamedTuple):
    """A path of K models, with values of the measure that selects in each query.

    Attributes
    ----------
    path : PathResult
        The models with their mean measures.
    queries : tuple of ndarray of shape (K, Q)
        Values of the measure in the Q queries of the validation part,
        in each inner fold, or in left-out queries; none if no measure
        selects.
    """

    path: PathResult
    queries: tuple[Floats, ...]


def group_training(fold: Fold, executor: ShardExecutor = IN_PROCESS) -> TrainingData:
    """Check the training part of a fold, and return it in the form that methods take.

    A large part is divided into shards, ranges of queries, which
    `executor` processes one by one or in several workers. The result
    also has the features of the validation part, but not its labels,
    because some methods compare the densities of training and
    validation documents.

    Raises
    ------
    DatasetError
        For features with magnitudes beyond the range of the arithmetic;
        the message names the feature.
    """
    train = fold.train
    vali = fold.vali
    # This check and those below are called for their errors only.
    check_labels(train.X.shape, train.y)
    # Sparse data.
    if isinstance(train.X, SparseRows):
        if vali is not None:
            SparseQueryData(vali.X, vali.y, vali.query_ptr).check(train.name_of)
        # `grading` describes the labels of the whole dataset.
        rows = SparseQueryData(
            train.X,
            train.y,
            train.query_ptr,
            validation=None if vali is None else vali.X,
            part_of=train.grading,
        )
        rows.check(train.name_of)
        return training_data(rows)

    # Dense data.
    check_rows(train.X, train.query_ptr, train.name_of)
    if vali is not None:
        check_rows(vali.X, vali.query_ptr, vali.name_of)
    validation = None if vali is None else vali.X
    return TrainingData(
        X=train.X,
        y=train.y,
        ptr=train.query_ptr,
        executor=executor,
        validation=validation,
        part_of=train.grading,
    )


def make_fold_context(
    plan: Plan, fold: Fold, train: TrainingData | None = None
) -> FoldContext:
    """Prepare a fold for training any number of a plan's combinations of parameters' values.

    `train` is the training part of the fold in the form that methods
    take, if it exists already. The result trains and measures models.
    """
    context_class = NestedFold if plan.inner else FoldContext
    return context_class(plan, fold, group_training(fold) if train is None else train)


class FoldContext:
    """A fold prepared for training; it trains and measures the models of a plan.

    Results that do not depend on the parameters are shared by all
    units. A unit is one combination of parameters' values on this fold.

    Parameters
    ----------
    plan : Plan
        Plan whose methods, measures and convention are used, but not its parameters.
    fold : Fold
        Fold with its training, validation and test part.
    train : TrainingData
        Training part, which may be shared with other plans.
    """

    def __init__(self, plan: Plan, fold: Fold, train: TrainingData) -> None:
        """Prepare the data of a fold that all units share: preferences, ids and measured parts.

        `train` is the training part of the fold in the form that methods take.
        """
        self.plan = plan
        self.fold = fold
        self.train = with_preferences(plan, fold, train)
        # Compute the ranks of the document ids now: shards in other
        # processes do not have the ids.
        self.train.grading.find_now(
            by_id=convention(plan.convention).ties is Ties.DOCUMENT_ID
        )
        self._parts = {
            name: MeasuredPart(part, plan)
            for name, part in fold.parts.items()
            if name != "train"
        }
        # Selection measure in each query, shape (Q,), for each step of
        # a unit, by the position of the unit's combination.
        self._queries: dict[int, list[Floats]] = {}
        self._left_out_queries: LeftOutQueries | None = None
        if plan.leaves_out:
            self._left_out_queries = LeftOutQueries(plan, fold.train, self.train)
        # Results that units share: selections of features by a key for
        # the parameters of the selector, and whether a measure is the
        # same for every ranking of the training documents.
        self._selections: dict[str, _Selection] = {}
        self._is_constant_objective: dict[Measure, bool] = {}
        self._baseline: Baseline | None = None
        # known after the baseline is found
        self._constant_columns: Ints = np.empty(0, dtype=np.int64)

    @property
    def whole_train(self) -> QueryData:
        """The training part for methods that need all documents at once.

        Raises
        ------
        OutOfMemoryError
            If the documents exceed the memory limit.
        """
        query_data: QueryData = self.train.for_method(False).whole(
            self.plan.entry.label
        )
        return query_data

    @property
    def divisor(self) -> float:
        """Divisor of criteria; see :class:`PathResult`."""
        entry = self.plan.ranker_entry or self.plan.entry
        return (
            float(self.fold.train.n_documents) if entry.criterion.per_document else 1.0
        )

    @property
    def baseline(self) -> Baseline:
        """The feature that ranks the training documents best alone, with its measures."""
        if self._baseline is None:
            finish(self.find_baseline())
        assert self._baseline is not None  # found just now
        return self._baseline

    def find_baseline(self) -> Waiting[None]:
        """Find the baseline, and yield progress, because this takes time."""
        yield from steadily(self._find_baseline())

    def _find_baseline(self) -> Waiting[None]:
        """Find the best single feature, and the features constant within every query.

        Both are stored in attributes of this object. The generator
        yields progress, and its result is None.
        """
        plan = self.plan
        train = self.fold.train
        chooser = () if plan.select_by == CRITERION else (plan.chosen_by,)

        # A measure of the ranking is needed: the squared difference of
        # a feature and labels means nothing. MAP is a measure of the
        # ranking in any case.
        name = next(
            name for name in (*chooser, *plan.measures, "MAP") if measure(name).by_rank
        )

        # The best feature in its better direction, among those that are not constant.
        values, directions = yield from measuring_features(
            self.train, name, plan.convention
        )
        # Larger is better in `gains`; an undefined value is worse than any other.
        gains = np.nan_to_num(
            values if measure(name).higher_is_better else -values, nan=-np.inf
        )
        varies = yield from informative_columns(self.train)
        self._constant_columns = np.flatnonzero(~varies)
        # The column with the largest gain; constant ones are behind all others.
        column = int(best_first(np.where(varies, gains, -np.inf), 1)[0])

        # Its ranking as a model with one weight: 1, or -1 if small values are good.
        coef = np.zeros(values.size)
        coef[column] = directions[column]
        step = Step(
            number=1,
            selected=(column,),
            coef=coef,
            criterion=float("nan"),
            candidates=np.empty(0),
        )
        self._baseline = Baseline(
            feature=int(train.feature_ids[column]),
            name=train.feature_names[column],
            descending=bool(directions[column] > 0),
            validation=FrozenMapping(self.evaluate(step, "vali")),
            test=FrozenMapping(self.evaluate(step, "test")),
        )

    def work(self, unit: Unit) -> Iterator[WorkProgress | tuple[Step, Measures]]:
        """Train a unit step by step; yield progress, and each step with its validation measures.

        A unit is one combination of parameters' values. A step is a
        model with one more feature or iteration. Measures of left-out
        queries are included if they select the model.
        """
        # The selection measure in each validation query is kept for
        # each step: the rule that chooses the model needs it later.
        vali = self._parts.get("vali")
        left_out = self._left_out_measures(unit)
        queries = self._queries[unit.position] = []
        scores: Floats | None = None
        # BLAS has one thread while it works, so that results have the same bits.
        for event in steadily(self._learn(unit)):
            if isinstance(event, WorkProgress):
                yield event
                continue
            # Measure the step on the validation part, if the model can score it.
            measures: Measures = {}
            if vali is not None and vali.can_be_scored_by(event):
                # An additive model adds a term to the scores of the step before.
                scores = vali.scores(event, scores)
                per_query = vali.measure_queries(scores)
                measures = {
                    name: float(average(values)) for name, values in per_query.items()
                }
                if self.plan.select_by in per_query:
                    queries.append(per_query[self.plan.select_by])
            # `left_out` yields its progress, and returns the measures
            # on left-out queries, or {}.
            yield event, {**measures, **(yield from left_out(event))}

    def path(
        self, unit: Unit, follow: Callable[[Step | WorkProgress], None] = lambda _: None
    ) -> PathResult:
        """Train a unit to the end, then measure all its steps at once, and return the path.

        The path has a model per step; its numbers are those of
        :meth:`work`.

        ``follow`` receives every step and progress event, and ends the work by raising.
        """
        return self._with_tests(self.measured_path(unit, follow))

    def collect(
        self, unit: Unit, measured_steps: Sequence[tuple[Step, Measures]]
    ) -> PathResult:
        """Combine the steps of a unit and their measures to a path."""
        return self._with_tests(self.collected(unit, measured_steps))

    def measured_path(
        self, unit: Unit, follow: Callable[[Step | WorkProgress], None] = lambda _: None
    ) -> MeasuredPath:
        """Train a unit to the end, and return its path of all models with their measures.

        `follow` receives every step and progress event, and ends the
        work by raising. The p values of the models are added later, by
        `_with_tests`.
        """
        # Learn all steps, with the measures of each on left-out
        # queries, if such a measure selects.
        steps: list[Step] = []
        rows: list[Measures] = []
        left_out = self._left_out_measures(unit)
        # BLAS has one thread, so that the results have the same bits everywhere.
        with STEADY:
            for event in self._learn(unit):
                follow(event)
                if isinstance(event, Step):
                    steps.append(event)
                    rows.append(followed(left_out(event), follow))
        # Measure all steps at once, which is faster than one by one.
        vali = self._parts.get("vali")
        measured_steps = MeasuredSteps({}, None)
        # A model of an earlier study or of another program may lack what scoring needs.
        if vali and all(map(vali.can_be_scored_by, steps)):
            measured_steps = vali.measure_all(steps, self.plan.select_by)
        values = {**measured_steps.means, **as_columns(rows)}
        return self._combined(unit, steps, values, measured_steps.queries)

    def collected(
        self, unit: Unit, measured_steps: Sequence[tuple[Step, Measures]]
    ) -> MeasuredPath:
        """Return the steps of a unit, each a model, and their measures as a path.

        `measured_steps` has the steps and measures that
        :meth:`work` has yielded. The p values of the models are
        added later, by `_with_tests`.
        """
        _, first_measures = measured_steps[0]
        names = first_measures.keys()
        queries = self._queries.pop(unit.position)
        values = {
            name: np.array([validation[name] for _, validation in measured_steps])
            for name in names
        }
        steps = [step for step, _ in measured_steps]
        return self._combined(
            unit, steps, values, np.array(queries) if queries else None
        )

    def _combined(
        self,
        unit: Unit,
        steps: Sequence[Step],
        values: Mapping[str, Floats],
        queries: Floats | None,
    ) -> MeasuredPath:
        """Return a path of K steps with their measures, and the selection measure in each query.

        `values` has shape (K,) for each measure, and `queries` shape
        (K, Q) for K steps and Q queries, or is None if no measure
        selects. If left-out queries select, their values take the place
        of ``queries``.
        """
        errors: Mapping[str, Floats] = {}
        if self._left_out_queries:
            errors = self._left_out_queries.standard_errors(unit)
            queries = self._left_out_queries.queries(unit)
        # The values by which a selector compared features are stored
        # once for all paths with the same selection.
        path = PathResult(
            unit=unit,
            steps=packed(steps, self._comparison_rows(unit)),
            validation=FrozenMapping(values),
            divisor=self.divisor,
            step_kind=self.plan.step_kind,
            standard_errors=FrozenMapping(errors),
        )
        return MeasuredPath(path, () if queries is None else (queries,))

    def _with_tests(self, measured: MeasuredPath) -> PathResult:
        """Return a path with what the rules need to choose a model.

        Added are the p value of each model against the best one, the
        choices on subsets of the queries, and for the rule "one-se" the
        standard error of the best model. The path alone then determines
        which of its models a rule chooses, so that a study can keep
        only this model of a boosting.
        """
        path, queries = measured
        plan = self.plan
        name = plan.select_by
        path = replace(
            path,
            p_values=p_values(plan, path, queries),
            choices=self._choices(path, queries),
        )
        # Only this rule needs a standard error, and inner folds have
        # computed their own: there, `queries` has an entry per inner
        # fold.
        best = (
            best_position(plan, path)
            if plan.rule == ONE_SE and len(queries) == 1
            else None
        )
        if best is None or name in path.standard_errors:
            return path
        errors = np.full(len(path.steps), np.nan)
        # The rule uses the error of the best model only; the others stay NaN.
        errors[best] = standard_error(queries[0][best])
        return replace(
            path, standard_errors=FrozenMapping({**path.standard_errors, name: errors})
        )

    def _choices(
        self, path: PathResult, queries: Sequence[Floats]
    ) -> SubsetChoices | None:
        """Return which models of a path the rule would choose on subsets of validation queries.

        `queries` has the selection measure in each query, shape (K, Q),
        for K steps. The choices show later how much the choice depends
        on the queries. The result is None if validation queries do not
        choose.

        Models that a study does not store completely are measured here,
        so that a resumed run has the same values.
        """
        if not queries or not is_chosen_on_validation(self.plan):
            return None
        choices = choose_on_subsets(self.plan, path, queries)
        if choices is None:
            return None
        positions = choices.distinct.tolist()
        # Linear models are stored, and can be measured later.
        if all(path.steps[position].linear for position in positions):
            return choices
        return replace(
            choices, per_query=FrozenMapping(self.validation_queries(path, positions))
        )

    def validation_queries(
        self, path: PathResult, positions: Sequence[int]
    ) -> dict[str, Floats]:
        """Return each measure of D steps of a path in each validation query, shape (D, Q).

        `positions` are those of the steps on the path.
        """
        vali = self._parts["vali"]
        if all(path.steps[position].linear for position in positions):
            return vali.table([path.steps[position] for position in positions])
        return vali.at_positions(path.steps, positions)

    def _left_out_measures(self, unit: Unit) -> Callable[[Step], Waiting[Measures]]:
        """Return a function that measures a step, a model of a unit, on left-out queries.

        The function is a generator: it yields progress, and returns the
        measures. They are {} unless a measure on left-out queries
        selects the model.
        """
        left_out = self._left_out_queries
        if left_out is None:
            return lambda _: _no_measures()
        ranker = self.ranker(unit)
        # Discard what an interrupted attempt at this unit has stored.
        left_out.begin(unit)
        return lambda step: left_out.measure(unit, ranker, step)

    def measure_left_out(
        self, path: PathResult, names: Sequence[str], convention: str, first: int = 0
    ) -> Iterator[WorkProgress | dict[str, float]]:
        """Measure the steps of a path, which are models, on left-out training queries.

        Each query is ranked by a model that is trained on the features
        of the step without this query. Yield progress, and the measures
        of each step.

        Parameters
        ----------
        path : PathResult
            Path trained on this fold; the plan's selection is ignored.
        names : sequence of str
            Names of measures, such as "MAP".
        convention : str
            Key of the convention of the measures.
        first : int, default 0
            Position of the first step to measure.

        Yields
        ------
        WorkProgress or dict of str to float
            Progress events, and the measures of each step by names such
            as "leave-query-out MAP". They are identical to those of a
            run with one of these measures as its criterion.
        """
        # Only the convention and the measures of this changed plan are
        # used; it does not matter which of them selects.
        select_by = left_out_name(names[0])
        plan = self.plan.changed(
            convention=convention, measures=tuple(names), select_by=select_by
        )
        left_out = LeftOutQueries(plan, self.fold.train, self.train)
        ranker = self.ranker(path.unit)
        left_out.begin(path.unit)
        for step in path.steps[first:]:
            # Its progress first, then the measures that it returns.
            yield (yield from left_out.measure(path.unit, ranker, step))

    def ranker(self, unit: Unit) -> LinearRanker:
        """Return the untrained ranker with the parameters' values of a unit.

        The ranker is the plan's final ranker, or, if the plan has none,
        the method itself.
        """
        parameters = (
            unit.combination.ranker if self.plan.ranker_entry else unit.parameters
        )
        ids = self.fold.train.feature_ids
        return estimator(
            self.plan, self.plan.ranker_entry or self.plan.entry, parameters, ids
        )

    def evaluate(self, step: Step, part: str = "test") -> dict[str, float]:
        """Return the measures of a step's model on a part, such as "test", by name.

        The result is {} if the fold has no such part, or the model
        cannot score its documents.
        """
        data = self._parts.get(part)
        return (
            {}
            if data is None or not data.can_be_scored_by(step)
            else data.measure(data.scores(step))
        )

    def result(self, chosen: Chosen, paths: Sequence[PathResult]) -> FoldResult:
        """Measure the selected model on the test part, and return the results of the fold.

        `chosen` is the selected model. `paths` has the path of each
        combination of parameters' values, in order.
        """
        # Features that are constant within every query, and that the
        # paths leave out for this reason.
        ids = self.fold.train.feature_ids
        selected = chosen.step.selected
        # Only some methods end their paths before such features.
        is_ended_early = _leaves_out_constants(self.plan, chosen.unit.parameters)
        omitted_columns = (
            np.setdiff1d(self._constant_columns, list(selected))
            if is_ended_early
            else ()
        )
        # If all features are constant, any selection is arbitrary: report all.
        if self._constant_columns.size == ids.size:
            omitted_columns = self._constant_columns
        vali = self._parts.get("vali")
        return FoldResult(
            fold=self.fold.number,
            chosen=chosen,
            selected=tuple(int(ids[column]) for column in selected),
            validation=FrozenMapping(self.evaluate(chosen.step, "vali")),
            test=FrozenMapping(self.evaluate(chosen.step, "test")),
            paths=tuple(paths),
            baseline=self.baseline,
            per_query=FrozenMapping(self.per_query(chosen.step)),
            greatest_grade=self.fold.train.greatest_grade,
            constant=tuple(int(ids[column]) for column in omitted_columns),
            cross_fitted=FrozenMapping(self.cross_fitted(chosen, paths)),
            n_validation_queries=0 if vali is None else vali.n_queries,
        )

    def cross_fitted(
        self, chosen: Chosen, paths: Sequence[PathResult]
    ) -> dict[str, Floats]:
        """Return each measure in each validation query, by models chosen without this query.

        `chosen` is the model that all queries chose, and `paths` are
        those of all combinations of parameters. Each array has shape
        (Q,) for Q queries. The result is {} without a validation part,
        or if `chosen` cannot score it.
        """
        # A model of an earlier study or of another program may lack
        # what scoring needs, and scores of the user may lack those of
        # this part.
        vali = self._parts.get("vali")
        if vali is None or not vali.can_be_scored_by(chosen.step):
            return {}

        def measure_models(
            path: PathResult, positions: Sequence[int]
        ) -> Mapping[str, Floats]:
            """Return each measure of D models of a path in each of Q queries, shape (D, Q).

            `positions` has the positions of the models on the path. The
            queries are those of `vali`, the validation part, in the
            enclosing method.
            """
            return vali.table([path.steps[position] for position in positions])

        return cross_fitted_values(
            self.plan, chosen, paths, vali.n_queries, measure_models
        )

    def per_query(self, step: Step) -> dict[str, Floats]:
        """Return a model's measures in each query of the test part, or else the validation part.

        The result is {} without either part, or if the model cannot score it.
        """
        part = self._parts.get("test") or self._parts.get("vali")
        if part is None or not part.can_be_scored_by(step):
            return {}
        return part.per_query(step)

    def _learn(self, unit: Unit) -> Generator[Step | WorkProgress, None, None]:
        """Train the models of a unit; yield progress and the steps, not yet measured.

        A unit is one combination of parameters' values; each step is a model.

        An OutOfMemoryError names the method and the data.
        """
        size = f"{self.fold.train.n_documents:,} documents with {self.fold.train.feature_ids.size:,} features"
        with sufficient(f"{self.plan.entry.label} on fold {self.fold.number}, {size}"):
            yield from self._learn_steps(unit)

    def _learn_steps(self, unit: Unit) -> Generator[Step | WorkProgress, None, None]:
        """Train the models of a unit; yield progress and the steps, not yet measured.

        The steps are the models of the method. With a final ranker, the
        steps are models of the ranker, one for each set of features
        that the method selects. The `candidates` of a step are the
        values by which the method compared features.
        """
        # Without a final ranker the method's own models are the steps.
        entry = self.plan.ranker_entry
        ids = self.fold.train.feature_ids
        selector = estimator(self.plan, self.plan.entry, unit.parameters, ids)
        yield from self._constant_objective(selector)
        if entry is None:
            steps = selector.work(self.train.for_method(selector.accepts_sparse))
            yield from _until_constant(
                steps, self.plan, unit.parameters, self.train, ids
            )
            return

        # The method selects sets of features, on each of which the ranker is trained.
        ranker = estimator(self.plan, entry, unit.combination.ranker, ids)
        yield from self._constant_objective(ranker)
        # Some methods select sums of features; `combinations` has their weights.
        sets, comparison_rows, combinations = yield from self._select(selector, unit)
        if combinations is None:
            ranker_steps = two_stage_steps(ranker, self.train, sets)
        else:
            ranker_steps = combined_steps(
                ranker, self.train.for_method(accepts_sparse=False), sets, combinations
            )

        # Scores of the candidates are those of the method, not of the ranker.
        for event in ranker_steps:
            if isinstance(event, Step):
                yield replace(event, candidates=comparison_rows.row(event.number - 1))
            else:
                yield event

    def _constant_objective(self, learner: LinearRanker) -> Iterator[Note]:
        """Yield a note if the measure by which a method learns is the same for all rankings.

        Such a method has nothing to learn. `learner` is the method's estimator.
        """
        # Only some methods learn by a measure.
        name = getattr(learner, "measure", None)
        if (
            name is None
            # A measure has a convention; other parameters may have the same name.
            or "convention" not in learner.entry.takes
            or preferences_of(self.plan)
        ):
            return

        # The answer is the same for all units, so it is found once for each measure.
        learned_measure = measure(name)
        if learned_measure not in self._is_constant_objective:
            train = self.fold.train
            rules = objective(self.plan.convention)
            self._is_constant_objective[learned_measure] = (
                learned_measure.by_rank
                and is_constant(
                    train.y, train.query_ptr, learned_measure.name, rules, train.grading
                )
            )
        if self._is_constant_objective[learned_measure]:
            text = tr(
                "{method} learns by {measure}, which is the same for every ranking of the training documents "
                "of fold {fold}: they are alike in it within each query. Choose another measure or check the "
                "relevance labels."
            )
            sentence = text.format(
                method=learner.entry.label,
                measure=learned_measure.name,
                fold=self.fold.number,
            )
            yield Note(sentence, kind=ConstantObjectiveWarning)

    def _select(self, selector: LinearRanker, unit: Unit) -> Waiting[_Selection]:
        """Yield progress, and return a selector's sets of features for the final ranker.

        There is one set per step of the selection. Combinations of
        parameters' values that differ only in parameters of the ranking
        share one selection: it is made for the first of them, and
        stored for the others.
        """
        entry = self.plan.entry
        key = self._selection_key(unit)
        ids = self.fold.train.feature_ids
        if key not in self._selections:
            selector_steps = selector.work(
                self.train.for_method(selector.accepts_sparse)
            )
            steps = yield from steps_of(
                _until_constant(
                    selector_steps, self.plan, unit.parameters, self.train, ids
                ),
                lambda step: WorkProgress(
                    tr("selecting features"),
                    min(1.0, len(step.selected) / step.coef.size),
                ),
            )
            # Steps of features are growing sets; iterations only order the features.
            is_growing = entry.step_kind is StepKind.FEATURES
            divisor = (
                float(self.fold.train.n_documents)
                if entry.criterion.per_document
                else 1.0
            )
            comparison_values = comparisons(
                steps, is_growing, entry.candidate_score, divisor
            )
            # Only estimators whose catalog entry "combines" have this
            # attribute: the weights of their sums of features. As many
            # are used as there are steps: the path may have ended
            # early.
            sums = selector.combinations_[: len(steps)] if entry.combines else None  # type: ignore[attr-defined]
            self._selections[key] = _Selection(
                sets=selections(steps, is_growing),
                comparison_rows=packed_rows(comparison_values, np.nan),
                combinations=sums,
            )
        return self._selections[key]

    def _comparison_rows(self, unit: Unit) -> Mapping[str, Rows]:
        """Return the values by which the selector of a unit compared features, one row per step.

        The rows are in a dict with the key "candidates". All paths with
        the same selection share them. The result is {} if nothing was
        selected for a final ranker.
        """
        selection = self._selections.get(self._selection_key(unit))
        return {} if selection is None else {"candidates": selection.comparison_rows}

    def _selection_key(self, unit: Unit) -> str:
        """Return a text that is equal for units with the same selection of features.

        The text has all values of the method's parameters, except those
        that only concern the method's own ranking, which a final ranker
        replaces.
        """
        ranking_names = {p.name for p in self.plan.entry.parameters if p.ranks}
        return repr(
            [
                (name, value)
                for name, value in unit.parameters.items()
                if name not in ranking_names
            ]
        )


class NestedFold(FoldContext):
    """A fold whose models are validated by inner folds.

    The models of the fold are trained on its whole training part.

    The path of a unit has the steps of the whole training part. The
    validation measures of each step are averages over the models of the
    same size in the inner folds, each trained without its validation
    queries. Selecting among steps by their measures is therefore a
    cross-validation, and the selected model is already trained.

    Notes
    -----
    O(k m n) memory for k inner folds while the fold is processed, and k + 1 times the time.
    """

    def work(self, unit: Unit) -> Iterator[WorkProgress | tuple[Step, Measures]]:
        """Train the models of a unit on the inner folds and measure them, then on all queries.

        Yield progress, and each step that was trained on all queries
        with its measures, as means over the inner folds.
        """
        # Paths on all inner folds. Their steps are reported as progress only.
        paths: list[MeasuredPath] = []
        for index, fold in enumerate(self._inner_contexts):
            measured_steps: list[tuple[Step, Measures]] = []
            for event in fold.work(unit):
                if isinstance(event, WorkProgress):
                    yield self._inner_progress(index, event)
                else:
                    measured_steps.append(event)
                    step, _ = event
                    yield self._inner_progress(index, step)
            paths.append(fold.collected(unit, measured_steps))
        inner = self._inner_paths[unit.position] = _InnerPaths(paths)

        def validated_step(
            step: Step, measures: Measures, *, last: bool = False
        ) -> tuple[Step, Measures]:
            """Return a step with its measures on left-out queries, and its means over inner folds.

            `measures` are those on left-out queries. The means are
            those of the corresponding models in `inner`, a variable of
            the enclosing method. `last` is True for the last step of
            the path.
            """
            means = inner.means(step, self.plan.step_kind, last=last)
            return step, {**means, **only_left_out(measures)}

        # Train on all queries; validation measures are means over the
        # inner folds. The last iteration of an optimiser corresponds to
        # the last one on each inner fold, so a step is pending until
        # the next one shows that it is not the last.
        pending: tuple[Step, Measures] | None = None
        for event in super().work(unit):
            if isinstance(event, WorkProgress):
                yield event
                continue
            if pending is not None:
                yield validated_step(*pending)
            pending = event
        if pending is not None:
            yield validated_step(*pending, last=True)

    def measured_path(
        self, unit: Unit, follow: Callable[[Step | WorkProgress], None] = lambda _: None
    ) -> MeasuredPath:
        """Train on the inner folds and on all queries, and return the path with inner measures.

        The inner measures are means over the validation queries of the
        inner folds, the same numbers as those of
        :meth:`work`. `follow` receives every step and progress
        event, and ends the work by raising.
        """
        paths: list[MeasuredPath] = []
        for index, fold in enumerate(self._inner_contexts):
            # A default value keeps the present index for the function.
            def follow_inner(
                event: Step | WorkProgress, inner_index: int = index
            ) -> None:
                """Pass an event of an inner fold on to `follow`, as progress of the whole fold."""
                follow(self._inner_progress(inner_index, event))

            paths.append(fold.measured_path(unit, follow_inner))
        self._inner_paths[unit.position] = _InnerPaths(paths)
        return self._with_inner_measures(super().measured_path(unit, follow))

    def collected(
        self, unit: Unit, measured_steps: Sequence[tuple[Step, Measures]]
    ) -> MeasuredPath:
        """Combine the steps of a unit, with the standard errors of their measures."""
        return self._with_inner_measures(super().collected(unit, measured_steps))

    def result(self, chosen: Chosen, paths: Sequence[PathResult]) -> FoldResult:
        """Measure the selected model on the test part, and return the results of the fold.

        `chosen` is the selected model, and `paths` has the path of each
        combination of parameters' values. The validation measures of
        the model are the means over the inner folds that its path has.
        """
        path = next(path for path in paths if path.unit == chosen.unit)
        position = path.steps.position(chosen.step.number)
        measured = {
            name: float(values[position])
            for name, values in validated(path.validation).items()
        }
        return replace(
            super().result(chosen, paths), validation=FrozenMapping(measured)
        )

    def cross_fitted(
        self, chosen: Chosen, paths: Sequence[PathResult]
    ) -> dict[str, Floats]:
        """Return each measure in each query, by models chosen without this query.

        Each array has shape (Q,) for the Q validation queries of all
        inner folds. A query is measured by the models of its inner
        fold, which were also trained without the query. The result is
        {} if the paths do not keep these measures.
        """
        measures_by_path = [
            path.choices.per_query for path in paths if path.choices is not None
        ]
        # Every path must have them: the chosen model may be on any path.
        if len(measures_by_path) < len(paths) or not all(measures_by_path):
            return {}
        # Each measure has shape (D, Q) for D models and Q queries.
        n_queries = next(iter(measures_by_path[0].values())).shape[1]
        return cross_fitted_values(self.plan, chosen, paths, n_queries, _kept_measures)

    def _choices(
        self, path: PathResult, queries: Sequence[Floats]
    ) -> SubsetChoices | None:
        """Return which models of a path the rule would choose on subsets of validation queries.

        The validation queries are those of all inner folds. For each
        chosen model, the models of the same length on the inner folds
        are measured in each of the folds' validation queries. The
        result is None if validation queries do not choose.

        `queries` has the selection measure in each query, shape (K, Q),
        for each inner fold. The paths on the inner folds are discarded.
        """
        inner = self._inner_paths.pop(path.unit.position)
        # In leave-query-out each query is a fold: measures in each
        # query would take too much memory.
        is_too_large = parse_protocol(self.plan.protocol).kind == LEAVE_QUERY_OUT
        if not queries or not is_chosen_on_validation(self.plan) or is_too_large:
            return None
        choices = choose_on_subsets(self.plan, path, queries)
        if choices is None or not choices.distinct.size:
            return choices
        # `steps_at` has, for each inner fold, the positions of the
        # steps that correspond to the chosen models.
        parts = [
            _inner_fold_measures(fold, measured.path, steps)
            for fold, measured, steps in zip(
                self._inner_contexts,
                inner.measured,
                inner.steps_at(path, choices.distinct),
                strict=True,
            )
        ]
        # Shape (D, Q): the queries of all inner folds side by side.
        values = {
            name: np.concatenate([part[name] for part in parts], axis=1)
            for name in parts[0]
        }
        return replace(choices, per_query=FrozenMapping(values))

    @cached_property
    def _inner_contexts(self) -> tuple[FoldContext, ...]:
        """The inner folds, each ready for any number of units."""
        plan = self.plan
        folds = inner_folds(self.fold, plan.inner, plan.seed)
        # A leave-query-out measure is that of the whole training part:
        # inner folds have the plain measure.
        validation_plan = plan.changed(select_by=plan.chosen_by)
        return tuple(
            FoldContext(validation_plan, fold, group_training(fold)) for fold in folds
        )

    @cached_property
    def _inner_paths(self) -> dict[int, _InnerPaths]:
        """Paths of the inner folds for the units in progress, by the unit's position."""
        return {}

    def _inner_progress(self, index: int, event: Step | WorkProgress) -> WorkProgress:
        """Return the progress of one inner fold as progress of the unit.

        `index` is the index of the inner fold, and `event` its latest
        progress or step.
        """
        label = f"inner fold {index + 1} of {len(self._inner_contexts)}"
        if isinstance(event, WorkProgress):
            return WorkProgress(f"{label}: {event.what}", event.share)
        return WorkProgress(label, index / len(self._inner_contexts))

    def _with_inner_measures(self, measured: MeasuredPath) -> MeasuredPath:
        """Return a path with the measures of the inner folds, and their standard errors."""
        path, queries = measured
        inner = self._inner_paths[path.unit.position]
        means, errors = inner.averages(path)
        # Left-out measures of the whole training part are kept beside
        # those of the inner folds. They have other names, so that
        # nothing is replaced.
        validated_path = replace(
            path,
            validation=FrozenMapping({**means, **only_left_out(path.validation)}),
            standard_errors=FrozenMapping({**errors, **path.standard_errors}),
        )
        # Left-out queries, if they select; otherwise the validation
        # queries of the inner folds.
        return MeasuredPath(validated_path, queries or inner.queries(path))

    def _find_baseline(self) -> Waiting[None]:
        """Find the single feature of the fold that ranks best alone, and its measures.

        Both are stored, not returned. The validation measures are the
        means over the inner folds, each with a best feature of its own.
        """
        for fold in self._inner_contexts:
            yield from fold.find_baseline()
        yield from super()._find_baseline()
        assert self._baseline is not None  # found just now
        rows = [fold.baseline.validation for fold in self._inner_contexts]
        means = {
            name: float(average(np.array([row[name] for row in rows])))
            for name in rows[0]
        }
        self._baseline = replace(self._baseline, validation=FrozenMapping(means))


@dataclass(frozen=True)
class _InnerPaths:
    """The paths of one combination of parameters' values on the inner folds of a fold.

    A path is the sequence of models that training makes, one per step.

    A step of the whole training part has an x-value, its number of
    features or rounds. On an inner path, the last step with at most
    this x-value corresponds to it. To the last iteration of an
    optimiser corresponds the last iteration on each inner path.
    """

    measured: Sequence[MeasuredPath]

    @property
    def paths(self) -> list[PathResult]:
        """The paths alone."""
        return [inner_path.path for inner_path in self.measured]

    def means(
        self, step: Step, step_kind: StepKind, *, last: bool = False
    ) -> dict[str, float]:
        """Return the average measures of the inner folds' models for a step."""
        x_value = step.n_selected if step_kind is StepKind.FEATURES else step.number
        rows = self._rows(x_value, final=last and step_kind is StepKind.ITERATIONS)
        return {name: float(average(values)) for name, values in rows.items()}

    def averages(self, path: PathResult) -> tuple[dict[str, Floats], dict[str, Floats]]:
        """Return means and standard errors over the inner folds, of each measure at each step.

        The two results have an array of shape (K,) for each measure, by
        name, for the K steps of `path`.
        """
        # For each step: the values of each measure on the k inner
        # folds. The corresponding step of an inner path has the same
        # number of features or rounds (x value); for the last iteration
        # of an optimiser, it is the last.
        rows = [
            self._rows(x_value, final=final)
            for x_value, final in _lengths_and_ends(path)
        ]
        table = {name: np.array([row[name] for row in rows]) for name in rows[0]}
        means = {
            name: np.array([float(average(row)) for row in values])
            for name, values in table.items()
        }
        return means, {
            name: np.array([standard_error(row) for row in values])
            for name, values in table.items()
        }

    def queries(self, path: PathResult) -> tuple[Floats, ...]:
        """Return the selection measure in each query, an array of shape (K, Q) per inner fold.

        K is the number of steps of `path`, and Q that of the validation
        queries of the inner fold. The result is () if no measure
        selects.
        """
        if not all(inner_path.queries for inner_path in self.measured):
            return ()
        steps = [
            self._steps(x_value, final=final)
            for x_value, final in _lengths_and_ends(path)
        ]
        fold_values = []
        for fold, measured_path in enumerate(self.measured):
            # An inner fold has one validation part.
            (values,) = measured_path.queries
            # An inner path may have no model that is as small as that
            # of the first steps.
            undefined = np.full(values.shape[1], np.nan)
            fold_steps = [row[fold] for row in steps]
            fold_values.append(
                np.array([undefined if i is None else values[i] for i in fold_steps])
            )
        return tuple(fold_values)

    def steps_at(self, path: PathResult, positions: Ints) -> list[list[int | None]]:
        """Return for each inner fold the D steps that correspond to D steps of a path.

        `positions` has the positions of the D steps on the path of the
        whole training part. A corresponding step is given as its index
        on the path of the inner fold, None if there is none.
        """
        lengths_and_ends = _lengths_and_ends(path)
        chosen = [lengths_and_ends[i] for i in positions.tolist()]
        rows = [self._steps(x_value, final=final) for x_value, final in chosen]
        return [[row[fold] for row in rows] for fold in range(len(self.measured))]

    def _steps(self, x_value: int, *, final: bool) -> list[int | None]:
        """Return the step of each inner fold's path that corresponds to a number of features.

        `x_value` is the number of features or rounds. A step is given
        as its index, -1 for the last one, which is returned if `final`.
        It is None for a path whose first step is already larger.
        """
        return [
            -1 if final else _last_index_within(path.x_values, x_value)
            for path in self.paths
        ]

    def _rows(self, x_value: int, *, final: bool) -> dict[str, Floats]:
        """Return each measure on the k inner folds, shape (k,), for one step of the whole path.

        `x_value` is the step's number of features or rounds, and
        `final` is True for the last iteration. A value is NaN for an
        inner fold without a corresponding step.
        """
        steps = self._steps(x_value, final=final)
        pairs = list(zip(self.paths, steps, strict=True))
        return {
            name: np.array(
                [np.nan if i is None else path.validation[name][i] for path, i in pairs]
            )
            for name in self.paths[0].validation
        }


def _lengths_and_ends(path: PathResult) -> list[tuple[int, bool]]:
    """Return the x-value of each step of a path, with whether the step is an end.

    The x-value is a number of features or rounds. Only the last step of
    an optimiser is an end.
    """
    ends = len(path.steps) - 1 if path.step_kind is StepKind.ITERATIONS else -1
    return [(int(x_value), i == ends) for i, x_value in enumerate(path.x_values)]


def _last_index_within(x_values: Ints, x_value: int) -> int | None:
    """Return the index of the last step whose x-value is at most `x_value`.

    `x_values`, shape (K,), has the x-values of the K steps. The result
    is None if the first step's x-value is already larger.
    """
    indices = np.flatnonzero(x_values <= x_value)
    return int(indices[-1]) if indices.size else None


def _inner_fold_measures(
    fold: FoldContext, path: PathResult, steps: Sequence[int | None]
) -> dict[str, Floats]:
    """Return each measure of D steps in the Q validation queries of an inner fold, (D, Q).

    `steps` has D positions on the path of the fold: -1 for the last
    one, and None for no step, whose measures are NaN.
    """
    # Each position once; the modulus makes -1 the last position.
    positions = sorted({step % len(path.steps) for step in steps if step is not None})
    # Measure any step, for the names and the shape of the result.
    if not positions:
        positions = [0]
    values = fold.validation_queries(path, positions)
    # Row of each step in the tables; any row for None, which is overwritten below.
    rows = [
        -1 if step is None else positions.index(step % len(path.steps))
        for step in steps
    ]
    is_step = np.array([step is not None for step in steps])[:, None]
    return {
        name: np.where(is_step, table[rows], np.nan) for name, table in values.items()
    }


def _kept_measures(path: PathResult, positions: Sequence[int]) -> dict[str, Floats]:
    """Return the measures that a path keeps of D of its steps, each of shape (D, Q)."""
    return {} if path.choices is None else path.choices.measures_at(positions)


def _leaves_out_constants(plan: Plan, parameters: Mapping[str, Any]) -> bool:
    """Return whether a plan's paths end before features that are constant in every query.

    This is so for selectors that add features step by step, unless the
    method's `parameters`, by name, give the number of features.
    """
    adds_features = plan.entry.selects and plan.entry.step_kind is StepKind.FEATURES
    return adds_features and parameters.get("n_features_to_select") is None


def _until_constant(
    steps: Iterator[Step | WorkProgress],
    plan: Plan,
    parameters: Mapping[str, Any],
    data: TrainingData,
    feature_ids: Ints,
) -> Generator[Step | WorkProgress, None, None]:
    """Yield the steps and progress of a selector until only constant features are left.

    Constant features have one value within every query. Selectors put
    them behind all others, with weights of 0. Features that the user
    pinned are selected nevertheless. If the user gives the number of
    features, all events of `steps` are yielded.

    `parameters` has the method's values by name, and `feature_ids`,
    shape (n,), has the 1-based id of each column.
    """
    if not _leaves_out_constants(plan, parameters):
        yield from steps
        return
    # Shape (n,): whether each column varies within some query.
    varies = yield from informative_columns(data)
    selectable_columns = _selectable_columns(varies, plan, parameters, feature_ids)
    for event in steps:
        yield event
        if isinstance(event, Step) and selectable_columns <= set(event.selected):
            return


def _selectable_columns(
    varies: Bools, plan: Plan, parameters: Mapping[str, Any], feature_ids: Ints
) -> set[int]:
    """Return the columns of the features that a path selects before it ends.

    These features vary within queries and are not banned, or are
    pinned, by the method's `parameters`. `varies`, shape (n,), says
    which columns vary; `feature_ids`, shape (n,), has their 1-based
    ids.
    """
    banned = {int(i) for i in parameters.get("banned", ())}
    for members in feature_groups_of(plan).values():
        if banned & set(members):  # a banned feature bans its whole group
            banned |= set(members)
    is_selectable = varies & ~np.isin(feature_ids, list(banned))
    is_pinned = np.isin(feature_ids, list(parameters.get("pinned", ())))
    return set(np.flatnonzero(is_selectable | is_pinned).tolist())


def _no_measures() -> Waiting[Measures]:
    """Return no measures, without progress."""
    return {}
    yield  # never reached, but it makes this function a generator
