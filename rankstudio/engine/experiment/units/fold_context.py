"""One fold, ready to learn from and to measure on: what every unit of a plan shares."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from rankstudio.engine.arithmetic.magnitude import check_rows
from rankstudio.engine.arithmetic.query_data import QueryData, check_labels
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.data.dataset import Fold
from rankstudio.engine.errors import ParameterError, PlanError
from rankstudio.engine.experiment.plan.combinations import Unit
from rankstudio.engine.experiment.plan.plan import CRITERION, Plan
from rankstudio.engine.experiment.plan.protocol import ONE_SE
from rankstudio.engine.experiment.plan.refusals import refusal
from rankstudio.engine.experiment.results.model_selection import best_position, p_values
from rankstudio.engine.experiment.results.path_steps import packed
from rankstudio.engine.experiment.results.results import Baseline, Chosen, FoldResult, PathResult
from rankstudio.engine.experiment.units.constant_features import leaves_out_constants, until_constant
from rankstudio.engine.experiment.units.left_out import LeftOutQueries, as_columns
from rankstudio.engine.experiment.units.measured_part import MeasuredPart, MeasuredSteps
from rankstudio.engine.experiment.units.preferred import with_preferences
from rankstudio.engine.language import tr
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.catalog import Kind, Method
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.engine.methods.catalog.parameter import Parameter
from rankstudio.engine.methods.selection.base import best_first
from rankstudio.engine.methods.selection.single_feature import measuring_features
from rankstudio.engine.methods.shards.sums import informative_columns
from rankstudio.engine.methods.shards.training_data import IN_PROCESS, ShardExecutor, TrainingData
from rankstudio.engine.methods.two_stage import Columns, comparisons, selections, two_stage_steps
from rankstudio.engine.metrics.conventions import Ties, convention
from rankstudio.engine.metrics.evaluator import average, standard_error
from rankstudio.engine.metrics.names import measure
from rankstudio.engine.steps import Step
from rankstudio.engine.support.frozen_mapping import FrozenMapping
from rankstudio.engine.support.memory import sufficient
from rankstudio.engine.support.packed_rows import Rows, packed_rows
from rankstudio.engine.support.threads import STEADY, steadily
from rankstudio.engine.support.work import WorkProgress, finish, followed

Measures = Mapping[str, float]


class MeasuredPath(NamedTuple):
    """A path, and what chooses in each query after each of its K steps.

    Attributes
    ----------
    path : PathResult
    queries : tuple of ndarray of shape (K, Q)
        Of the validation part, of each inner fold's, or of left-out queries; none where no measure chooses.
    """

    path: PathResult
    queries: tuple[Floats, ...]


def group_training(fold: Fold, executor: ShardExecutor = IN_PROCESS) -> TrainingData:
    """Return a fold's training part, knowing the features of the validation part too.

    Several shards are worked on by ``executor``.

    Raises
    ------
    DatasetError
        For a feature of a magnitude that the methods' arithmetic does not carry; the text names it.
    """
    train, vali = fold.train, fold.vali
    check_labels(train.X.shape, train.y)
    check_rows(train.X, train.query_ptr, train.name_of)
    if vali is not None:
        check_rows(vali.X, vali.query_ptr, vali.name_of)
    validation = None if vali is None else vali.X
    return TrainingData(
        train.X,
        train.y,
        train.query_ptr,
        executor,
        validation=validation,
        part_of=train.grading,
    )


class FoldContext:
    """A fold with what does not depend on the parameters computed once and shared by every unit.

    Parameters
    ----------
    plan : Plan
        Its methods, measures and convention count here, not its parameters.
    fold : Fold
        The data.
    train : TrainingData
        Its training part, which may be shared with other plans.
    """

    def __init__(self, plan: Plan, fold: Fold, train: TrainingData) -> None:
        self.plan = plan
        self.fold = fold
        self.train = with_preferences(plan, fold, train)
        # Shards of other processes have no comments to find them in.
        self.train.grading.find_now(by_id=convention(plan.convention).ties is Ties.DOCUMENT_ID)
        self._parts = {name: MeasuredPart(part, plan) for name, part in fold.parts.items() if name != "train"}
        self._queries: dict[int, list[Floats]] = {}  # what chooses in each query, by position of the unit
        self._left_out: LeftOutQueries | None = None
        if plan.leaves_out:
            self._left_out = LeftOutQueries(plan, fold.train, self.train)
        self._selected: dict[str, tuple[tuple[Columns, ...], Rows]] = {}
        self._baseline: Baseline | None = None
        self._constant: Ints = np.empty(0, dtype=np.int64)  # columns, as far as they have been looked for

    @property
    def whole_train(self) -> QueryData:
        """The training part for what looks at all of its documents at once.

        Raises
        ------
        OutOfMemoryError
            Where they are larger than the memory budget.
        """
        whole: QueryData = self.train.whole(self.plan.entry.label)
        return whole

    @property
    def divisor(self) -> float:
        """What criteria are divided by; see :class:`PathResult`."""
        entry = self.plan.ranker_entry or self.plan.entry
        return float(self.fold.train.n_documents) if entry.per_document else 1.0

    @property
    def baseline(self) -> Baseline:
        """The single feature that ranks the training documents best by what chooses, and its measures."""
        if self._baseline is None:
            finish(self.find_baseline())
        assert self._baseline is not None  # found just now
        return self._baseline

    def find_baseline(self) -> Generator[WorkProgress, None, None]:
        """Find the baseline, with signs of life: many features of many documents take their time."""
        yield from steadily(self._find_baseline())

    def _find_baseline(self) -> Generator[WorkProgress, None, None]:
        plan, train = self.plan, self.fold.train
        name = plan.measures[0] if plan.select_by == CRITERION else plan.chosen_by
        values, directions = yield from measuring_features(self.train, name, plan.convention)
        gains = np.nan_to_num(values if measure(name).higher_is_better else -values, nan=-np.inf)
        varies = yield from informative_columns(self.train)
        self._constant = np.flatnonzero(~varies)
        column = int(best_first(np.where(varies, gains, -np.inf), 1)[0])
        coef = np.zeros(values.size)
        coef[column] = directions[column]
        step = Step(1, (column,), coef, float("nan"), np.empty(0))
        self._baseline = Baseline(
            int(train.feature_ids[column]),
            train.feature_names[column],
            bool(directions[column] > 0),
            FrozenMapping(self.evaluate(step, "vali")),
            FrozenMapping(self.evaluate(step, "test")),
        )

    def work(self, unit: Unit) -> Iterator[WorkProgress | tuple[Step, Measures]]:
        """Learn step by step, measuring each on the validation part; signs of life in between."""
        vali, left_out = self._parts.get("vali"), self._left_out_measures(unit)
        queries = self._queries[unit.position] = []
        known: Floats | None = None
        for told in steadily(self._learn(unit)):
            if isinstance(told, WorkProgress):
                yield told
                continue
            measures: Measures = {}
            if vali is not None and vali.covered(told):
                known = vali.scores(told, known)
                found = vali.measure_queries(known)
                measures = {name: float(average(values)) for name, values in found.items()}
                queries += [found[self.plan.select_by]] if self.plan.select_by in found else []
            yield told, {**measures, **(yield from left_out(told))}

    def path(self, unit: Unit, follow: Callable[[Step | WorkProgress], None] = lambda _: None) -> PathResult:
        """Learn to the end, then measure all steps in one go: the same numbers as :meth:`work`.

        ``follow`` is told of every step and sign of life, and ends the work by raising.
        """
        return self._tested(self.measured_path(unit, follow))

    def collect(self, unit: Unit, taken: Sequence[tuple[Step, Measures]]) -> PathResult:
        """Put the steps of a unit together."""
        return self._tested(self.collected(unit, taken))

    def measured_path(
        self, unit: Unit, follow: Callable[[Step | WorkProgress], None] = lambda _: None
    ) -> MeasuredPath:
        """Do as :meth:`path` does, before models are held against the best one."""
        steps: list[Step] = []
        rows: list[Measures] = []
        left_out = self._left_out_measures(unit)
        with STEADY:
            for told in self._learn(unit):
                follow(told)
                if isinstance(told, Step):
                    steps.append(told)
                    rows.append(followed(left_out(told), follow))
        vali, found = self._parts.get("vali"), MeasuredSteps({}, None)
        if vali and all(map(vali.covered, steps)):
            found = vali.measure_all(steps, self.plan.select_by)
        return self._measured(unit, steps, {**found.means, **as_columns(rows)}, found.queries)

    def collected(self, unit: Unit, taken: Sequence[tuple[Step, Measures]]) -> MeasuredPath:
        """Do as :meth:`collect` does, before models are held against the best one."""
        names, queries = taken[0][1].keys(), self._queries.pop(unit.position)
        values = {name: np.array([validation[name] for _, validation in taken]) for name in names}
        return self._measured(
            unit, [step for step, _ in taken], values, np.array(queries) if queries else None
        )

    def _measured(
        self, unit: Unit, steps: Sequence[Step], values: Mapping[str, Floats], queries: Floats | None
    ) -> MeasuredPath:
        errors: Mapping[str, Floats] = {}
        if self._left_out:
            errors, queries = self._left_out.standard_errors(unit), self._left_out.queries(unit)
        path = PathResult(
            unit,
            packed(steps, self._compared(unit)),
            FrozenMapping(values),
            self.divisor,
            self.plan.step_kind,
            standard_errors=FrozenMapping(errors),
        )
        return MeasuredPath(path, () if queries is None else (queries,))

    def _tested(self, measured: MeasuredPath) -> PathResult:
        """Return a path with the p of each model against the best one, and what "one-se" asks for.

        These belong to the path, so that the path alone determines which of its models a rule may choose: a
        study keeps only that one of a boosting.
        """
        path, queries = measured
        name, plan = self.plan.select_by, self.plan
        path = replace(path, p_values=p_values(plan, path, queries))
        best = best_position(plan, path) if plan.rule == ONE_SE and len(queries) == 1 else None
        if best is None or name in path.standard_errors:
            return path
        errors = np.full(len(path.steps), np.nan)
        errors[best] = standard_error(queries[0][best])
        return replace(path, standard_errors=FrozenMapping({**path.standard_errors, name: errors}))

    def _left_out_measures(self, unit: Unit) -> Callable[[Step], Generator[WorkProgress, None, Measures]]:
        """Return what measures the steps of a unit on left-out queries; nothing where none are asked for."""
        left_out = self._left_out
        if left_out is None:
            return lambda _: _nothing()
        ranker = self.ranker(unit)
        left_out.begin(unit)
        return lambda step: left_out.measure(unit, ranker, step)

    def ranker(self, unit: Unit) -> LinearRanker:
        """Return what ranks in a unit, with its parameters: the ranker, else the method."""
        given = unit.combination.ranker if self.plan.ranker_entry else unit.parameters
        ids = self.fold.train.feature_ids
        return estimator(self.plan, self.plan.ranker_entry or self.plan.entry, given, ids)

    def evaluate(self, step: Step, part: str = "test") -> dict[str, float]:
        """Return the measures of a step's model on a part, nothing where the fold has no such part."""
        data = self._parts.get(part)
        return {} if data is None or not data.covered(step) else data.measure(data.scores(step))

    def result(self, chosen: Chosen, paths: Sequence[PathResult]) -> FoldResult:
        """Test the chosen model and put the fold's results together."""
        ids = self.fold.train.feature_ids
        ended_early = leaves_out_constants(self.plan, chosen.unit.parameters)
        left_out = np.setdiff1d(self._constant, list(chosen.step.selected)) if ended_early else ()
        return FoldResult(
            self.fold.number,
            chosen,
            tuple(int(ids[column]) for column in chosen.step.selected),
            FrozenMapping(self.evaluate(chosen.step, "vali")),
            FrozenMapping(self.evaluate(chosen.step, "test")),
            tuple(paths),
            self.baseline,
            FrozenMapping(self.per_query(chosen.step)),
            self.fold.train.greatest_grade,
            tuple(int(ids[column]) for column in left_out),
        )

    def per_query(self, step: Step) -> dict[str, Floats]:
        """Return a model's measures in each query of the test part, or of the validation part without one."""
        part = self._parts.get("test") or self._parts.get("vali")
        return {} if part is None or not part.covered(step) else part.per_query(step)

    def _learn(self, unit: Unit) -> Generator[Step | WorkProgress, None, None]:
        size = f"{self.fold.train.n_documents:,} documents with {self.fold.train.feature_ids.size:,} features"
        with sufficient(f"{self.plan.entry.label} on fold {self.fold.number}, {size}"):
            yield from self._learn_steps(unit)

    def _learn_steps(self, unit: Unit) -> Generator[Step | WorkProgress, None, None]:
        entry, ids = self.plan.ranker_entry, self.fold.train.feature_ids
        selector = estimator(self.plan, self.plan.entry, unit.parameters, ids)
        if entry is None:
            yield from until_constant(selector.work(self.train), self.plan, unit.parameters, self.train, ids)
            return
        ranker = estimator(self.plan, entry, unit.combination.ranker, ids)
        sets, compared = yield from self._select(selector, unit)
        for told in two_stage_steps(ranker, self.train, sets):
            yield replace(told, candidates=compared.row(told.number - 1)) if isinstance(told, Step) else told

    def _select(
        self, selector: LinearRanker, unit: Unit
    ) -> Generator[WorkProgress, None, tuple[tuple[Columns, ...], Rows]]:
        """Select features, and return the sets and by what they were compared, as steps keep it.

        Once for all combinations that differ only in how to rank with them.
        """
        entry, key, ids = self.plan.entry, self._selecting(unit), self.fold.train.feature_ids
        if key not in self._selected:
            steps: list[Step] = []
            selecting = selector.work(self.train)
            for told in until_constant(selecting, self.plan, unit.parameters, self.train, ids):
                if isinstance(told, Step):
                    steps.append(told)
                    yield WorkProgress(
                        tr("selecting features"), min(1.0, len(told.selected) / told.coef.size)
                    )
                else:
                    yield told
            growing = entry.step_kind is StepKind.FEATURES
            divisor = float(self.fold.train.n_documents) if entry.per_document else 1.0
            compared = comparisons(steps, growing, entry.candidate_score, divisor)
            self._selected[key] = selections(steps, growing), packed_rows(compared, np.nan)
        return self._selected[key]

    def _compared(self, unit: Unit) -> Mapping[str, Rows]:
        """Return by what a selector compared features, which all paths of its selection share."""
        found = self._selected.get(self._selecting(unit))
        return {} if found is None else {"candidates": found[1]}

    def _selecting(self, unit: Unit) -> str:
        """Return what tells a unit's selection from others: all but how to rank with it."""
        ranking = {p.name for p in self.plan.entry.parameters if p.ranks}
        return repr([(name, value) for name, value in unit.parameters.items() if name not in ranking])


def _nothing() -> Generator[WorkProgress, None, Measures]:
    return {}
    yield


def n_steps(plan: Plan, feature_ids: Ints) -> int:
    """Return how many steps a unit of a plan has at most on data with these features.

    Raises
    ------
    ParameterError, PlanError
        As :func:`estimator`, of the method and of the ranker: before any work.
    """
    if plan.entry.given:
        return 1
    most = 0
    for combination in plan.combinations:
        chosen = estimator(plan, plan.entry, combination.parameters, feature_ids)
        if plan.ranker_entry is not None:
            estimator(plan, plan.ranker_entry, combination.ranker, feature_ids)
        most = max(most, chosen.n_steps(feature_ids.size))
    return feature_ids.size if plan.ranker and plan.entry.step_kind is not StepKind.FEATURES else most


def estimator(plan: Plan, entry: Method, parameters: Mapping[str, Any], feature_ids: Ints) -> LinearRanker:
    """Make an estimator with one value of each parameter, feature ids turned into columns.

    Raises
    ------
    ParameterError
        For a feature that the data do not have.
    PlanError
        Where something is not installed that the method needs, or it cannot honour the plan's groups or
        learn from its preferences.
    """
    if why := refusal(plan, entry, selects=entry.key == plan.method):
        raise PlanError(why)
    columns = {int(i): column for column, i in enumerate(feature_ids)}
    groups = tuple(
        tuple(_column(f"group {name!r}", i, columns) for i in ids) for name, ids in plan.groups.items()
    )
    arguments: dict[str, Any] = {
        p.name: _in_columns(p, parameters[p.name], columns) for p in entry.parameters if p.counts(parameters)
    }
    arguments |= {name: getattr(plan, name) for name in entry.takes}
    if "groups" in arguments:
        arguments["groups"] = groups
    made: LinearRanker = entry.load()(**arguments)
    return made


def _in_columns(parameter: Parameter, value: Any, columns: Mapping[int, int]) -> Any:
    """Return the value of a parameter with the ids of features turned into columns."""
    if parameter.kind is Kind.FEATURES:
        return tuple(_column(parameter.label, i, columns) for i in value)
    if parameter.kind is not Kind.COSTS:
        return value
    if not value:
        return None
    costs = np.ones(len(columns))
    for i, cost in value:
        costs[_column(parameter.label, i, columns)] = cost
    return costs


def _column(what: str, feature: int, columns: Mapping[int, int]) -> int:
    """Return the column of a feature's id; ParameterError where the data have no such feature."""
    if feature not in columns:
        expected = tr("ids of the dataset's features, {first} to {last}").format(
            first=min(columns), last=max(columns)
        )
        raise ParameterError(what, feature, expected)
    return columns[feature]
