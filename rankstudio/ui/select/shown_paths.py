"""Measures of the shown run along its paths, and the smallest model that is as good as the best."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rankstudio.engine.analysis.result_table.fold_table import (
    PathAverage,
    average_paths,
)
from rankstudio.engine.analysis.tried_models.smallest_set import (
    SmallestSet,
    has_choice_of_size,
    smallest_set,
)
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.results import PathResult
from rankstudio.engine.metrics.conventions import convention
from rankstudio.ui.language import tr
from rankstudio.ui.model.left_out_measures import LeftOutMeasures
from rankstudio.ui.model.measured_runs import MeasuredRuns
from rankstudio.ui.model.run_record import RunRecord
from rankstudio.ui.model.selected_model import CurrentModel, SelectedModel
from rankstudio.ui.model.session import Session
from rankstudio.ui.plots.curves.curve_set import SmallestMark


class ShownPaths:
    """Provides the measures along the paths of the shown run, by the measures and convention in use.

    A convention is a set of rules of measures, such as how documents
    without a label count.

    Parameters
    ----------
    session, current, measured, left_out
        Determine the shown run, and its measures.
    """

    def __init__(
        self,
        session: Session,
        current: CurrentModel,
        measured: MeasuredRuns,
        left_out: LeftOutMeasures,
    ) -> None:
        self._session = session
        self.current = current
        self._measured = measured
        self.left_out = left_out

    @property
    def fold(self) -> int | None:
        """Number of the shown fold; None for all."""
        fold = self.current.shown.fold
        return fold.number if fold is not None else None

    @property
    def problem(self) -> str:
        """Why the shown run cannot be measured, as a sentence; "" if it can, or without a run.

        A run has its measures by one convention (rules of measures,
        such as how documents without a label count). To measure by
        another convention, the documents have to be open.
        """
        # `measures` returns whether the run can be measured by the convention in use.
        record = self.current.shown.record
        if record is None or self._measured.measures(record):
            return ""
        past = convention(record.plan.convention).label
        present = convention(self._session.convention).label
        return tr(
            "This run was measured by the {past} convention. Open its data to measure by {now}."
        ).format(past=past, now=present)

    def by_present_convention(self, measures: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the measures of a working run; empty if they follow another convention than the one in use.

        In one plot, curves of two conventions could be mistaken for
        better and worse models.
        """
        record = self.current.shown.record
        return (
            measures
            if record is not None and record.plan.convention == self._session.convention
            else {}
        )

    def measures(
        self, record: RunRecord, unit_key: tuple[int, int], *, complete: bool = False
    ) -> Mapping[str, Any]:
        """Return the measures of a path by the convention in use; empty until they are computed.

        ``unit_key`` is the number of the fold and the position of the
        combination. Left-out measures may cover the first steps only.
        With ``complete``, they are omitted until they cover all steps.
        """
        if self.problem:
            return {}
        path = self._measured.view(record).paths.get(unit_key)
        return {} if path is None else self.with_left_out(path, complete=complete)

    def with_left_out(
        self, path: PathResult, *, complete: bool = False
    ) -> Mapping[str, Any]:
        """Return the validation measures of a path, and its left-out measures as far as they are computed.

        With ``complete``, left-out measures are omitted until they cover all steps.
        """
        left_out = self.left_out.of(path, complete=complete)
        return {**left_out, **path.validation} if left_out else path.validation

    def mean(self, record: RunRecord, combination: int) -> PathAverage | None:
        """Return the average path of a combination over the finished folds; None if no fold is finished.

        ``combination`` is the position of the combination of parameters
        in the plan of the run ``record``.
        """
        # The keys of a run's paths are pairs: number of the fold,
        # position of the combination.
        unit_keys = [
            (fold, position)
            for fold, position in sorted(record.paths)
            if position == combination
        ]
        paths = [
            replace(
                record.paths[unit_key],
                validation=self.measures(record, unit_key, complete=True),
            )
            for unit_key in unit_keys
        ]
        return average_paths(paths) if paths else None


def smallest_model(
    model: SelectedModel, record: RunRecord | None
) -> tuple[SmallestMark, int] | None:
    """Return a mark at the smallest model not significantly worse than the best, and the best model's k.

    Both are models of the path of ``model``, the chosen model, and they
    may be the same. ``record`` is the shown run. Return None if the
    path has no p-values. The tests use the measure that chooses the
    model, even if another measure is shown.
    """
    # The two models, `smallest` and `best`, on the path whose plan
    # names the measure that chooses.
    pair = smallest_set(*_tested_path(model, record), model.position)
    if pair is None:
        return None
    smallest = pair.smallest
    best = pair.best
    mark = SmallestMark(
        key=model.key,
        x=smallest.x_value,
        difference=smallest.value - best.value,
        p=smallest.p,
    )
    return mark, best.x_value


def smallest_set_of(
    model: SelectedModel, record: RunRecord | None
) -> SmallestSet | None:
    """Return the smallest set of a model's path that is not significantly worse than the best one.

    The result also has the best and the chosen set. ``record`` is the
    shown run. Return None for a path without tests.
    """
    if not has_choice_of_size(model.plan, model.path):
        return None
    return smallest_set(*_tested_path(model, record), model.position)


def _tested_path(
    model: SelectedModel, record: RunRecord | None
) -> tuple[Plan, PathResult]:
    """Return the plan and the path of a model, as measured now or, if that has no p-values, as in the run.

    The plan belongs to the path: it names the measure that selects the
    model. A live model was computed at once, and no run has its path.
    """
    run_path = (
        None
        if record is None
        else record.paths.get((model.fold.number, model.path.unit.position))
    )
    if model.path.p_values or model.live or run_path is None or record is None:
        return model.plan, model.path
    return record.plan, run_path
