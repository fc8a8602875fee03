"""The protocol: a plan becomes a stream of events that the window and the terminal both ask for."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.catalog import Kind
from rankstudio.engine.data.dataset import Fold, FoldedDataset, RankingDataset
from rankstudio.engine.errors import ParameterError, PlanError
from rankstudio.engine.estimator import LinearRanker
from rankstudio.engine.experiment.events import (
    Event,
    FoldFinished,
    RunFinished,
    RunStarted,
    StepDone,
    UnitFinished,
    UnitStarted,
)
from rankstudio.engine.experiment.plan import CRITERION, SAMPLE, Plan, Unit
from rankstudio.engine.experiment.results import Chosen, FoldResult, PathResult, RunResult
from rankstudio.engine.experiment.versions import versions
from rankstudio.engine.metrics.evaluator import Evaluator
from rankstudio.engine.metrics.names import measure
from rankstudio.engine.querywise import Grouped
from rankstudio.engine.scoring import linear_scores
from rankstudio.engine.steps import Step

Floats = NDArray[np.float64]


def open_data(plan: Plan) -> FoldedDataset:
    """Open the dataset that a plan names, prepared as the plan asks.

    Raises
    ------
    DataError
        Where it cannot be opened.
    """
    if plan.data == SAMPLE:
        from rankstudio.engine.data.sample import open_sample  # noqa: PLC0415 - only for the sample

        return open_sample()
    from rankstudio.engine.data.folders import open_dataset  # noqa: PLC0415 - numba, where it is needed

    normalize: Literal[False, "query_minmax"] = "query_minmax" if plan.normalize == "query_minmax" else False
    return open_dataset(plan.data, missing=plan.missing, normalize=normalize)


def run(plan: Plan, dataset: FoldedDataset | None = None) -> Iterator[Event]:
    """Carry out a plan.

    Parameters
    ----------
    plan : Plan
        What to run.
    dataset : FoldedDataset, optional
        The plan's data where they are open already.

    Yields
    ------
    Event
        RunStarted; for each unit UnitStarted, StepDone …, UnitFinished; FoldFinished after the units of a
        fold; RunFinished. Not to ask for the next event is to pause or to cancel.

    Raises
    ------
    DataError, PlanError, ParameterError
        Before the first event, for data that cannot be opened or a plan that does not fit them.
    """
    began = time.perf_counter()
    dataset = open_data(plan) if dataset is None else dataset
    folds = _folds(plan, dataset)
    units = tuple(
        Unit(fold.number, position, setting)
        for fold in folds
        for position, setting in enumerate(plan.settings)
    )
    yield RunStarted(
        plan,
        tuple(fold.number for fold in folds),
        units,
        _estimator(plan, units[0].parameters, dataset.feature_ids).n_steps(dataset.n_features),
        dataset.feature_ids,
        dataset.feature_names,
    )
    finished: list[FoldResult] = []
    for fold in folds:
        result = yield from _run_fold(plan, fold, [u for u in units if u.fold == fold.number])
        finished.append(result)
        yield FoldFinished(result)
    yield RunFinished(collect(plan, dataset, finished, time.perf_counter() - began))


def collect(plan: Plan, dataset: FoldedDataset, folds: Sequence[FoldResult], seconds: float) -> RunResult:
    """Put the finished folds of a run together, all of them or those there are."""
    wanted = len(plan.folds or dataset.folds)
    return RunResult(
        plan,
        dataset.name,
        dataset.feature_ids,
        dataset.feature_names,
        tuple(folds),
        len(folds) == wanted,
        versions(),
        seconds,
    )


def _folds(plan: Plan, dataset: FoldedDataset) -> list[Fold]:
    there = {fold.number: fold for fold in dataset.folds}
    for number in plan.folds:
        if number not in there:
            known = ", ".join(str(n) for n in there)
            raise PlanError(f"folds: {dataset.name} has no fold {number}; it has {known}.")
    folds = [there[number] for number in plan.folds or there]
    for fold in folds:
        if plan.select_by != CRITERION and fold.vali is None:
            raise PlanError(
                f"choose by {plan.select_by}: fold {fold.number} of {dataset.name} has no validation part; "
                f"choose by {CRITERION!r}, the method's own, instead."
            )
    return folds


def _run_fold(plan: Plan, fold: Fold, units: Sequence[Unit]) -> Generator[Event, None, FoldResult]:
    prepared = prepare_fold(plan, fold)
    paths: list[PathResult] = []
    for unit in units:
        yield UnitStarted(unit)
        taken: list[tuple[Step, Mapping[str, float]]] = []
        for step, validation in prepared.steps(unit):
            taken.append((step, validation))
            yield StepDone(unit, step, validation, prepared.n_documents)
        paths.append(prepared.collect(unit, taken))
        yield UnitFinished(unit, paths[-1])
    return prepared.result(choose(plan, paths), paths)


def choose(plan: Plan, paths: Sequence[PathResult]) -> Chosen:
    """Return the model that is best by the plan's measure.

    Ties go to the earlier setting, then to the earlier step: to the smaller λ, then the fewer features.
    """
    higher = plan.select_by != CRITERION and measure(plan.select_by).higher_is_better
    best: tuple[float, Chosen] | None = None
    for path in paths:
        values = path.criterion if plan.select_by == CRITERION else path.validation[plan.select_by]
        gains = np.where(np.isnan(values), -np.inf, values if higher else -values)
        position = int(gains.argmax())
        if best is None or gains[position] > best[0]:
            best = float(gains[position]), Chosen(path.unit, path.steps[position])
    assert best is not None  # a plan has at least one setting
    return best[1]


def prepare_fold(plan: Plan, fold: Fold) -> PreparedFold:
    """Make a fold ready for any number of units of a plan."""
    return PreparedFold(plan, fold)


class PreparedFold:
    """A fold with what does not depend on the parameters computed once and shared by every unit.

    Parameters
    ----------
    plan : Plan
        Its method, measures and convention count here, not its parameters.
    fold : Fold
        The data.
    """

    def __init__(self, plan: Plan, fold: Fold) -> None:
        self.plan = plan
        self.fold = fold
        self._train = Grouped(fold.train.X, fold.train.y, fold.train.query_ptr)
        self._parts = {name: _Part(part, plan) for name, part in fold.parts.items() if name != "train"}

    @property
    def n_documents(self) -> int:
        """Number of training documents, m."""
        return self.fold.train.n_documents

    def steps(self, unit: Unit) -> Iterator[tuple[Step, Mapping[str, float]]]:
        """Learn step by step, measuring each on the validation part."""
        for step in self._learn(unit):
            yield step, self.evaluate(step, "vali")

    def path(self, unit: Unit) -> PathResult:
        """Learn to the end, then measure all steps in one go: the same numbers as :meth:`steps`."""
        steps = tuple(self._learn(unit))
        vali = self._parts.get("vali")
        values = vali.measure(np.array([step.coef for step in steps])) if vali else {}
        return PathResult(unit, steps, MappingProxyType(values), self.n_documents)

    def collect(self, unit: Unit, taken: Sequence[tuple[Step, Mapping[str, float]]]) -> PathResult:
        """Put the steps of a unit together."""
        names = taken[0][1].keys()
        values = {name: np.array([validation[name] for _, validation in taken]) for name in names}
        steps = tuple(step for step, _ in taken)
        return PathResult(unit, steps, MappingProxyType(values), self.n_documents)

    def evaluate(self, step: Step, part: str = "test") -> dict[str, float]:
        """Return the measures of a step's model on a part, nothing where the fold has no such part."""
        data = self._parts.get(part)
        if data is None:
            return {}
        return {name: float(values[0]) for name, values in data.measure(step.coef[None, :]).items()}

    def result(self, chosen: Chosen, paths: Sequence[PathResult]) -> FoldResult:
        """Test the chosen model and put the fold's results together."""
        ids = self.fold.train.feature_ids
        return FoldResult(
            self.fold.number,
            chosen,
            tuple(int(ids[column]) for column in chosen.step.selected),
            MappingProxyType(self.evaluate(chosen.step, "vali")),
            MappingProxyType(self.evaluate(chosen.step, "test")),
            tuple(paths),
        )

    def _learn(self, unit: Unit) -> Iterator[Step]:
        return _estimator(self.plan, unit.parameters, self.fold.train.feature_ids).learn(self._train)


class _Part:
    """A part to measure models on."""

    def __init__(self, data: RankingDataset, plan: Plan) -> None:
        self._data = data
        self._plan = plan

    @cached_property
    def _evaluator(self) -> Evaluator:
        plan = self._plan
        return Evaluator(self._data.y, self._data.query_ptr, plan.convention, plan.evaluated)

    @cached_property
    def _columns(self) -> Floats:
        return np.ascontiguousarray(self._data.X.T)

    def measure(self, coefs: Floats) -> dict[str, Floats]:
        return self._evaluator.evaluate_many(linear_scores(self._columns, coefs))


def _estimator(plan: Plan, parameters: Mapping[str, Any], feature_ids: NDArray[np.int64]) -> LinearRanker:
    """Make the plan's estimator, with feature ids turned into columns."""
    columns = {int(i): column for column, i in enumerate(feature_ids)}
    arguments = dict(parameters)
    for p in plan.entry.parameters:
        if p.kind is Kind.FEATURES:
            unknown = [i for i in arguments[p.name] if i not in columns]
            if unknown:
                expected = f"ids of the dataset's features, {min(columns)} to {max(columns)}"
                raise ParameterError(p.label, unknown[0], expected)
            arguments[p.name] = tuple(columns[i] for i in arguments[p.name])
    estimator: LinearRanker = plan.entry.load()(**arguments)
    return estimator
