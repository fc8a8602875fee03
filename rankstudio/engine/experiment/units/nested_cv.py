"""A fold without a validation part: an inner cross-validation of its training part chooses the model."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.data.dataset import Fold
from rankstudio.engine.data.splitting.splits import inner_folds
from rankstudio.engine.experiment.plan.combinations import Unit
from rankstudio.engine.experiment.plan.left_out_names import left_out, validated
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.results import Chosen, FoldResult, PathResult
from rankstudio.engine.experiment.units.fold_context import FoldContext, MeasuredPath, group_training
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.metrics.evaluator import average, standard_error
from rankstudio.engine.steps import Step
from rankstudio.engine.support.frozen_mapping import FrozenMapping
from rankstudio.engine.support.work import WorkProgress

Measures = Mapping[str, float]


def make_fold_context(plan: Plan, fold: Fold, train: TrainingData | None = None) -> FoldContext:
    """Make a fold ready for any number of units of a plan; its training part may be shared with others."""
    kind = NestedFold if plan.inner else FoldContext
    return kind(plan, fold, group_training(fold) if train is None else train)


class NestedFold(FoldContext):
    """A fold whose models are validated by inner folds, and learned on its whole training part.

    A unit does both: it has the steps of the whole training part, and each measures what the models of
    its size measure on average on the validation parts of the inner folds, none of which saw any of it. So
    everything that chooses among steps by their measures chooses by cross-validation, and what it chooses
    is trained already.

    Notes
    -----
    O(k m n) memory for k inner folds, while the fold is worked on, and k + 1 times the time.
    """

    def work(self, unit: Unit) -> Iterator[WorkProgress | tuple[Step, Measures]]:
        """Validate on the inner folds, with progress events, then learn step by step."""
        paths: list[MeasuredPath] = []
        for place, fold in enumerate(self._inner):
            taken: list[tuple[Step, Measures]] = []
            for told in fold.work(unit):
                if not isinstance(told, WorkProgress):
                    taken.append(told)
                yield self._sign(place, told if isinstance(told, WorkProgress) else told[0])
            paths.append(fold.collected(unit, taken))
        inner = self._inner_paths[unit.position] = _Inner(paths)
        held: tuple[Step, Measures] | None = None  # until it is known whether it is the last one
        for told in super().work(unit):
            if isinstance(told, WorkProgress):
                yield told
                continue
            if held is not None:
                yield held[0], {**inner.means(held[0], self.plan.step_kind), **left_out(held[1])}
            held = told
        if held is not None:
            yield held[0], {**inner.means(held[0], self.plan.step_kind, last=True), **left_out(held[1])}

    def measured_path(
        self, unit: Unit, follow: Callable[[Step | WorkProgress], None] = lambda _: None
    ) -> MeasuredPath:
        """Validate and learn to the end: the same numbers as :meth:`work`, followed as the inherited one."""
        paths: list[MeasuredPath] = []
        for place, fold in enumerate(self._inner):

            def tell(told: Step | WorkProgress, place: int = place) -> None:
                follow(self._sign(place, told))

            paths.append(fold.measured_path(unit, tell))
        self._inner_paths[unit.position] = _Inner(paths)
        return self._validated(super().measured_path(unit, follow))

    def collected(self, unit: Unit, taken: Sequence[tuple[Step, Measures]]) -> MeasuredPath:
        """Put the steps of a unit together, with the standard errors of what they measured."""
        return self._validated(super().collected(unit, taken))

    def result(self, chosen: Chosen, paths: Sequence[PathResult]) -> FoldResult:
        """Test the chosen model; its validation is the inner folds', not that of a part it learned from."""
        path = next(path for path in paths if path.unit == chosen.unit)
        place = path.steps.position(chosen.step.number)
        measured = {name: float(values[place]) for name, values in validated(path.validation).items()}
        return replace(super().result(chosen, paths), validation=FrozenMapping(measured))

    @cached_property
    def _inner(self) -> tuple[FoldContext, ...]:
        plan = self.plan
        folds = inner_folds(self.fold, plan.inner, plan.seed)
        validating = plan.changed(select_by=plan.chosen_by)  # queries are left out of the whole training part
        return tuple(FoldContext(validating, fold, group_training(fold)) for fold in folds)

    @cached_property
    def _inner_paths(self) -> dict[int, _Inner]:
        """What the inner folds found for the units under way, by position."""
        return {}

    def _sign(self, place: int, told: Step | WorkProgress) -> WorkProgress:
        """Return what an inner fold tells as progress of the unit."""
        where, share = f"inner fold {place + 1} of {len(self._inner)}", place / len(self._inner)
        return (
            WorkProgress(f"{where}: {told.what}", told.share)
            if isinstance(told, WorkProgress)
            else WorkProgress(where, share)
        )

    def _validated(self, measured: MeasuredPath) -> MeasuredPath:
        path, queries = measured
        inner = self._inner_paths.pop(path.unit.position)
        means, errors = inner.averages(path)
        validated = replace(
            path,
            validation=FrozenMapping({**means, **left_out(path.validation)}),
            standard_errors=FrozenMapping({**errors, **path.standard_errors}),
        )
        return MeasuredPath(validated, queries or inner.queries(path))

    def _find_baseline(self) -> Generator[WorkProgress, None, None]:
        """Find the baseline; its validation is the mean of those that the inner folds find for themselves."""
        for fold in self._inner:
            yield from fold.find_baseline()
        yield from super()._find_baseline()
        assert self._baseline is not None  # found just now
        rows = [fold.baseline.validation for fold in self._inner]
        means = {name: float(average(np.array([row[name] for row in rows]))) for name in rows[0]}
        self._baseline = replace(self._baseline, validation=FrozenMapping(means))


@dataclass(frozen=True)
class _Inner:
    """The paths of one combination on the inner folds.

    Where a path has no model of a place on the axis (of a size, say), the one before it counts: the last
    with no more features, or no more rounds. Of an optimiser's iterations the last one is the model.
    """

    measured: Sequence[MeasuredPath]

    @property
    def paths(self) -> list[PathResult]:
        """The paths alone."""
        return [one.path for one in self.measured]

    def means(self, step: Step, step_kind: StepKind, *, last: bool = False) -> dict[str, float]:
        """Return what the models of a step's place measured on average."""
        place = step.n_selected if step_kind is StepKind.FEATURES else step.number
        rows = self._rows(place, final=last and step_kind is StepKind.ITERATIONS)
        return {name: float(average(values)) for name, values in rows.items()}

    def averages(self, path: PathResult) -> tuple[dict[str, Floats], dict[str, Floats]]:
        """Return means and their standard errors along a path."""
        rows = [self._rows(place, final=final) for place, final in _places(path)]
        table = {name: np.array([row[name] for row in rows]) for name in rows[0]}
        means = {name: np.array([float(average(row)) for row in values]) for name, values in table.items()}
        return means, {
            name: np.array([standard_error(row) for row in values]) for name, values in table.items()
        }

    def queries(self, path: PathResult) -> tuple[Floats, ...]:
        """Return what chooses in each query of each inner fold, along a path of K steps: (K, Q) each."""
        if not all(one.queries for one in self.measured):
            return ()
        steps = [self._steps(place, final=final) for place, final in _places(path)]
        found = []
        for fold, one in enumerate(self.measured):
            (values,) = one.queries
            none = np.full(values.shape[1], np.nan)
            found.append(np.array([none if row[fold] is None else values[row[fold]] for row in steps]))
        return tuple(found)

    def _steps(self, place: int, *, final: bool) -> list[int | None]:
        """Return which step of each inner fold's path counts at a place; None where there is none yet."""
        return [-1 if final else _last_until(path.x_values, place) for path in self.paths]

    def _rows(self, place: int, *, final: bool) -> dict[str, Floats]:
        """Return for each measure its value on every inner fold, shape (k,)."""
        steps = self._steps(place, final=final)
        pairs = list(zip(self.paths, steps, strict=True))
        return {
            name: np.array([np.nan if i is None else path.validation[name][i] for path, i in pairs])
            for name in self.paths[0].validation
        }


def _places(path: PathResult) -> list[tuple[int, bool]]:
    """Return where each step of a path stands, and whether it is the last one of an optimiser."""
    ends = len(path.steps) - 1 if path.step_kind is StepKind.ITERATIONS else -1
    return [(int(place), i == ends) for i, place in enumerate(path.x_values)]


def _last_until(places: Ints, place: int) -> int | None:
    """Return the index of the last step that stands no farther than a place; None before the first."""
    until = np.flatnonzero(places <= place)
    return int(until[-1]) if until.size else None
