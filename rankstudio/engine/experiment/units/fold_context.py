"""One fold, ready to learn from and to measure on: what every unit of a plan shares."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rankstudio.engine.arithmetic.magnitude import check_rows
from rankstudio.engine.arithmetic.query_data import QueryData, check_labels
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.data.dataset import Fold
from rankstudio.engine.errors import ParameterError, PlanError
from rankstudio.engine.experiment.plan.combinations import Unit
from rankstudio.engine.experiment.plan.left_out_names import validated
from rankstudio.engine.experiment.plan.plan import CRITERION, Plan
from rankstudio.engine.experiment.plan.preference_files import refusal_of_preferences
from rankstudio.engine.experiment.plan.protocol import ONE_SE
from rankstudio.engine.experiment.results.model_selection import best_position
from rankstudio.engine.experiment.results.path_steps import packed
from rankstudio.engine.experiment.results.results import Baseline, Chosen, FoldResult, PathResult
from rankstudio.engine.experiment.units.left_out import LeftOutQueries, as_columns
from rankstudio.engine.experiment.units.measured_part import MeasuredPart
from rankstudio.engine.experiment.units.preferred import with_preferences
from rankstudio.engine.language import tr
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.catalog import Kind, Method, refusal_of_groups
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.engine.methods.catalog.parameter import Parameter
from rankstudio.engine.methods.selection.filter_base import best_first
from rankstudio.engine.methods.selection.single_feature import measuring_features
from rankstudio.engine.methods.shards.query_sums import informative_columns
from rankstudio.engine.methods.shards.training_data import IN_PROCESS, ShardExecutor, TrainingData
from rankstudio.engine.methods.two_stage import Columns, comparisons, selections, two_stage_steps
from rankstudio.engine.metrics.conventions import Ties, convention
from rankstudio.engine.metrics.evaluator import standard_error
from rankstudio.engine.metrics.names import measure
from rankstudio.engine.steps import Step
from rankstudio.engine.support.frozen_mapping import FrozenMapping
from rankstudio.engine.support.memory import sufficient
from rankstudio.engine.support.packed_rows import Rows, packed_rows
from rankstudio.engine.support.threads import STEADY, steadily
from rankstudio.engine.support.work import WorkProgress, finish, followed

Measures = Mapping[str, float]


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
        self._left_out: LeftOutQueries | None = None
        if plan.leaves_out:
            self._left_out = LeftOutQueries(plan, fold.train, self.train)
        self._selected: dict[str, tuple[tuple[Columns, ...], Rows]] = {}
        self._baseline: Baseline | None = None

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
        known: Floats | None = None
        for told in steadily(self._learn(unit)):
            if isinstance(told, WorkProgress):
                yield told
                continue
            measures: Measures = {}
            if vali is not None and vali.covered(told):
                known = vali.scores(told, known)
                measures = vali.measure(known)
            yield told, {**measures, **(yield from left_out(told))}

    def path(self, unit: Unit, follow: Callable[[Step | WorkProgress], None] = lambda _: None) -> PathResult:
        """Learn to the end, then measure all steps in one go: the same numbers as :meth:`work`.

        ``follow`` is told of every step and sign of life, and ends the work by raising.
        """
        steps: list[Step] = []
        rows: list[Measures] = []
        left_out = self._left_out_measures(unit)
        with STEADY:
            for told in self._learn(unit):
                follow(told)
                if isinstance(told, Step):
                    steps.append(told)
                    rows.append(followed(left_out(told), follow))
        vali = self._parts.get("vali")
        values = vali.measure_all(steps) if vali and all(map(vali.covered, steps)) else {}
        return self._path(unit, steps, {**values, **as_columns(rows)})

    def collect(self, unit: Unit, taken: Sequence[tuple[Step, Measures]]) -> PathResult:
        """Put the steps of a unit together."""
        names = taken[0][1].keys()
        values = {name: np.array([validation[name] for _, validation in taken]) for name in names}
        return self._path(unit, [step for step, _ in taken], values)

    def _path(self, unit: Unit, steps: Sequence[Step], values: Mapping[str, Floats]) -> PathResult:
        errors = self._left_out.standard_errors(unit) if self._left_out else {}
        path = PathResult(
            unit,
            packed(steps, self._compared(unit)),
            FrozenMapping(values),
            self.divisor,
            self.plan.step_kind,
            standard_errors=FrozenMapping(errors),
        )
        return self._with_standard_error(path)

    def _with_standard_error(self, path: PathResult) -> PathResult:
        """Return a path with what the rule of one standard error asks for: that of its best model.

        It belongs to the path, so that the path alone determines which of its models the rule may choose: a
        study keeps only that one of a boosting.
        """
        name, plan, vali = self.plan.select_by, self.plan, self._parts.get("vali")
        if vali is None or plan.rule != ONE_SE or name not in validated(path.validation):
            return path
        best = best_position(plan, path)
        if best is None:
            return path
        errors = np.full(len(path.steps), np.nan)
        errors[best] = standard_error(vali.per_query(path.steps[best])[name])
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
            yield from selector.work(self.train)
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
        entry, key = self.plan.entry, self._selecting(unit)
        if key not in self._selected:
            steps: list[Step] = []
            for told in selector.work(self.train):
                if isinstance(told, Step):
                    steps.append(told)
                    yield WorkProgress("selecting features", min(1.0, len(told.selected) / told.coef.size))
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
    _check_abilities(plan, entry)
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


def _check_abilities(plan: Plan, entry: Method) -> None:
    """Refuse a method that cannot learn from the plan's preferences, or honour its groups."""
    if plan.preferences and not entry.learns_preferences:
        raise PlanError(refusal_of_preferences(entry))
    joint = [ids for ids in plan.groups.values() if len(ids) > 1]
    if joint and entry.key == plan.method and not entry.groups:  # a ranker has the groups that are selected
        raise PlanError(refusal_of_groups(entry, len(joint)))


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
