"""The current view: a run or the form's plan, a fold of the open data, and a model of one path.

All panels read the view from one frozen value, `Shown`, so that they
show parts of the same state. A path that the shown run has is taken
from the run. Any other path (for a λ between two values of the grid, or
for a feature pinned after the run) is computed on the task worker; only
the last requested path counts. Until that path is computed, either the
previous view stays as a whole, or the new view is shown without a
model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from PySide6.QtCore import QObject, Signal, Slot

from rankstudio.engine.data.dataset import Fold, FoldedDataset
from rankstudio.engine.data.feature_costs import FeatureCosts
from rankstudio.engine.data.feature_groups import feature_groups_of
from rankstudio.engine.experiment.plan.combinations import Axis
from rankstudio.engine.experiment.plan.left_out_names import plain_name
from rankstudio.engine.experiment.plan.plan import Plan, path_plan
from rankstudio.engine.experiment.plan.preference_source import preferences_of
from rankstudio.engine.experiment.results.results import Baseline, PathResult
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.engine.methods.catalog.parameter import MILLISECONDS
from rankstudio.engine.metrics.names import measure
from rankstudio.engine.steps import Step
from rankstudio.engine.support.shard import DOCUMENTS
from rankstudio.ui.background.tasks import FoldCache, LivePath, PathWanted
from rankstudio.ui.background.worker import CancelFlag, Ending, Job, Outcome, Worker
from rankstudio.ui.language import tr
from rankstudio.ui.model.measured_runs import MeasuredRuns
from rankstudio.ui.model.run_queue import Runs
from rankstudio.ui.model.run_record import RunRecord
from rankstudio.ui.model.session import NOTHING_CHOSEN, Choice, Session, reading
from rankstudio.ui.style.number_format import combination_label

LIVE: Literal["live"] = "live"
"""Key of the path at the slider's λ, if the run has no path for that λ."""
PROBE: Literal["inspected"] = "inspected"
"""Key of a path that no run has, while its model is inspected and not chosen."""

NOT_WHOLE = tr(
    "The study stores only the best model of this path. Run the plan again to test or export another one."
)
SEALED = tr(
    "The test part is sealed. To show its results, switch off View › Seal test part."
)
NO_DOCUMENTS = tr(
    "The data are not open, so only the models selected by the run have test measures."
)


@dataclass(frozen=True, eq=False)
class SelectedModel:
    """The shown path, and the step on it that is the current model.

    Attributes
    ----------
    key : int or str
        The run's combination, or `LIVE` or `PROBE` for a path that no run has.
    values : tuple
        Values of the model on the plan's axes, the parameters of which
        the plan tries several values, such as λ.
    plan : Plan
        The plan with which the path was computed.
    fold : Fold
    path : PathResult
    position : int
        Position of the current step in ``path.steps``.
    """

    key: int | str
    values: tuple[Any, ...]
    plan: Plan
    fold: Fold
    path: PathResult
    position: int

    @property
    def step(self) -> Step:
        """The current step."""
        return self.path.steps[self.position]

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The method's parameters at these values."""
        return self.plan.combination(self.values).parameters

    @property
    def learned_by(self) -> tuple[str, int, str]:
        """A key that is equal for paths that were learned in the same way.

        The key consists of the method, the number of the fold, and a
        text of all other settings.
        """
        plan = self.plan
        # The plan may have several values of a parameter; those of this
        # model's combination replace them.
        parameters = {**self.plan.parameters, **self.parameters}
        data_settings = (
            plan.protocol,
            plan.missing,
            plan.normalize,
            plan.seed,
            plan.columns,
            feature_groups_of(plan),
        )
        description = repr(
            (
                sorted(parameters.items()),
                *data_settings,
                preferences_of(plan),
                plan.ranker,
            )
        )
        return plan.method, self.fold.number, description

    @property
    def x_value(self) -> int:
        """Coordinate of the model on the path: its number of features, or its round."""
        return int(self.path.x_values[self.position])

    @property
    def live(self) -> bool:
        """Whether no run has the model's path: it was computed for the slider or for changed settings."""
        return isinstance(self.key, str)


@dataclass(frozen=True, eq=False)
class Shown:
    """A view: the data, run, plan, fold and model that the pages show. It is replaced as a whole.

    Attributes
    ----------
    dataset : FoldedDataset or None
        The open dataset.
    record : RunRecord or None
        The shown run, if it is a run on the open dataset.
    plan : Plan
        The plan of the run; without a run, that of the form.
    fold : Fold or None
        The shown fold; None while all folds are shown.
    model : SelectedModel or None
        The chosen model of the run's method on this fold: a model of
        the run, or a live one.
    edited : bool
        Whether the model is a live one of the run's method with other
        settings than the run's.
    inspection : SelectedModel or None
        Another model of the run, or of the live path, that is
        inspected; None while the chosen model is shown.
    """

    dataset: FoldedDataset | None
    record: RunRecord | None
    plan: Plan
    fold: Fold | None
    model: SelectedModel | None = None
    edited: bool = False
    inspection: SelectedModel | None = None

    @property
    def inspected(self) -> SelectedModel | None:
        """The model that curves, maps and the path show: the inspected one, else the chosen one."""
        return self.inspection or self.model

    @property
    def axis(self) -> Axis | None:
        """The axis that the slider moves along: the first axis of the plan that is a grid."""
        return next((axis for axis in self.plan.axes if axis.is_grid), None)

    @property
    def model_label(self) -> str:
        """Label of the chosen model's parameters; see :meth:`label_of`."""
        return "" if self.model is None else self.label_of(self.model)

    def label_of(self, model: SelectedModel) -> str:
        """Return the label of a model's parameters, "λ = 2³"; for a live model with a note on that."""
        label = combination_label(model.plan.axes, model.values)
        if not model.live:
            return label
        note = tr("edited, not run") if self.edited else tr("not run")
        return f"{label} ({note})" if label else note

    def is_of(self, other: Shown) -> bool:
        """Return whether two views have the same data, run, fold and plan; their models may differ."""
        is_same_context = (
            self.dataset is other.dataset
            and self.record is other.record
            and self.fold is other.fold
        )
        return is_same_context and self.plan.agrees(other.plan)

    def continues(self, later: Shown, plan: Plan) -> bool:
        """Return whether this view may stay while the model of a plan is computed for a later view.

        This view may stay if both views show the same run and fold, and
        the plans of their models have the same axes. ``plan`` is the
        plan of the model being computed.
        """
        model = self.model
        return (
            model is not None
            # With the same plan in both views, only the data, run and
            # fold are compared.
            and self.is_of(replace(later, plan=self.plan))
            and model.plan.convention == plan.convention
            and _have_same_axes(model.plan, plan)
        )


class CurrentModel(QObject):
    """Follows session and runs, and provides the model that the pages show."""

    changed = Signal()
    """Something else is shown: another run, fold or chosen model."""
    inspected = Signal()
    """Another model is inspected, or none any longer; the chosen model and the rest of the view stay."""
    tested = Signal()
    """The measures on the test part have been computed, or have become unknown."""
    failed = Signal(str)
    """A path could not be computed; a sentence."""
    recovered = Signal(str)
    """The path that `failed` reported is no longer requested; the sentence of `failed`."""

    def __init__(
        self,
        session: Session,
        runs: Runs,
        measured: MeasuredRuns,
        worker: Worker,
        fold_cache: FoldCache,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._runs = runs
        self._measured = measured
        self._worker = worker
        self._fold_cache = fold_cache
        # The live path, which is computed when the slider moves or a
        # feature is pinned: the last one computed, the one requested
        # last, and its job.
        self._live_path: LivePath | None = None
        self._requested: PathWanted | None = None
        self._failure = ""  # the sentence on a path that could not be computed
        self._job: Job | None = None
        # `_probe` computes paths of inspected models. `_shown` is what
        # the pages show. Either `_test_measures` has the test measures
        # of its model, or `_untested_reason` says why there are none.
        self._probe = _Probe(
            worker, fold_cache, self._show_inspection, self.failed.emit
        )
        self._shown = Shown(None, None, session.plan, None)
        self._test_measures: dict[str, float] = {}
        self._untested_reason = ""
        # The model may be another one after each of these changes.
        for signal in (
            session.datasetChanged,
            session.planChanged,
            session.choiceChanged,
            session.foldChanged,
            session.measureChanged,
            measured.changed,
            runs.shownChanged,
            runs.changed,
            runs.ended,
        ):
            signal.connect(self.refresh)
        session.inspectionChanged.connect(self._inspect)

    @property
    def shown(self) -> Shown:
        """The state that all panels show."""
        return self._shown

    @property
    def model(self) -> SelectedModel | None:
        """The chosen model; None before there is one, and while all folds are shown."""
        return self._shown.model

    @property
    def by_protocol(self) -> SelectedModel | None:
        """The model that the shown run chose on this fold by validation; None without such a model."""
        view_without_model = replace(self._shown, model=None, inspection=None)
        # NOTHING_CHOSEN stands for the values and the step that validation chose.
        chosen = self._chosen_by_validation(view_without_model)
        return (
            None
            if chosen is None
            else self._model_of_run(view_without_model, NOTHING_CHOSEN)
        )

    @property
    def is_by_hand(self) -> bool:
        """Whether a model of the shown run was chosen by hand, on the fold that is shown or on all."""
        choice = self._session.choice
        record = self._shown.record
        # Values that do not lie on the axes of the plan are those of another run.
        has_chosen_values = choice.values is not None and _are_on_axes(
            self._shown.plan.axes, choice.values
        )
        return record is not None and (has_chosen_values or choice.x_value is not None)

    @property
    def inspected_choice(self) -> Choice | None:
        """The inspected model, if choosing it would change the chosen model; else None."""
        inspection = self._session.inspection
        # A view has an inspected model only if that is not the chosen one.
        if self._shown.inspection is not None:
            return inspection
        # While all folds are shown, the view has no model, so the choices are compared.
        shows_all_folds = self._shown.fold is None and self._shown.record is not None
        return (
            inspection
            if shows_all_folds and inspection != self._session.choice
            else None
        )

    @Slot()
    def choose_inspected(self) -> None:
        """Choose the inspected model on all folds; do nothing if no model is inspected.

        A model whose values do not lie on the axes of the shown plan
        belongs to another run, and is not chosen either.
        """
        choice = self._session.inspection
        axes = self._shown.plan.axes
        if (
            choice is not None
            and choice.values is not None
            and _are_on_axes(axes, choice.values)
        ):
            self._session.select(choice.values, choice.x_value)

    @property
    def inspects(self) -> bool:
        """Whether a model that the user points to is inspected first, rather than chosen at once.

        Without a run, and with settings that no run has, the model is chosen at once.
        """
        return self._shown.record is not None and not self._shown.edited

    def inspect_or_choose(
        self, values: tuple[Any, ...], step: int | None, *, gliding: bool = False
    ) -> None:
        """Inspect a model, or choose it if `inspects` is False; choices while gliding are undone together.

        Parameters
        ----------
        values : tuple
            Values of the model on the axes of the plan, its combination of parameters.
        step : int or None
            Coordinate of the model on its path, such as its number of
            features; None for the best model of the path.
        gliding : bool
            Whether the slider is being moved.
        """
        if self.inspects:
            self._session.inspect(values, step)
        else:
            self._session.select(values, step, gliding=gliding)

    @property
    def computing(self) -> bool:
        """Whether the path of a model that no run has is being computed."""
        return self._job is not None

    @property
    def test(self) -> dict[str, float]:
        """The current model's measures on the test part; empty until they are computed."""
        return self._test_measures

    @property
    def untested(self) -> str:
        """Why the current model cannot be tested, as a sentence; "" if it can be tested."""
        return self._untested_reason

    @property
    def values(self) -> tuple[Any, ...]:
        """Values of the slider on the shown plan's axes: the chosen values, else the middle of each axis."""
        return self._values_on_axes(self._shown) or _middle_values(
            self._shown.plan.axes
        )

    @property
    def inspected_values(self) -> tuple[Any, ...]:
        """Values of the inspected model on the axes of the shown plan, else those of the chosen model."""
        inspection = self._session.inspection
        values = None if inspection is None else inspection.values
        if values is None or not _are_on_axes(self._shown.plan.axes, values):
            return self.values
        return values

    @property
    def baseline(self) -> Baseline | None:
        """The best single feature of the shown fold; None until the shown run has found it."""
        record = self._shown.record
        fold = self._shown.fold
        if record is None or fold is None:
            return None
        return self._measured.view(record).baselines.get(fold.number)

    @Slot()
    def refresh(self) -> None:
        """Find the model to show, after a change; have its path computed if no run has the path."""
        # `view` has no model yet. Its plan is that of the shown run, or
        # without one that of the form. `shown_fold` is the shown fold,
        # None for all folds.
        session = self._session
        record = self._run_on_open_data()
        plan = record.plan if record is not None else session.plan
        view = Shown(session.dataset, record, plan, fold=session.shown_fold)
        # The model of the run is shown unless the form has other settings by now.
        model = self._from_run(view)
        request = self._wanted_path(view)  # None if no path can be computed
        if request is None or (model is not None and not self._is_edited(view)):
            self._forget_live()  # no path is computed for the slider
            self._show_view(replace(view, model=model))
            return
        # Otherwise the model is on a live path, computed for the settings in the form.
        self._request(request)
        live_view = self._view_of_live_path(view)
        # The previous view stays until the new path is computed, so
        # that nothing flickers; see `Shown.continues`.
        if live_view is not None or not self._shown.continues(view, request.plan):
            self._show_view(live_view or view)

    @Slot()
    def _inspect(self) -> None:
        """Show the model that is inspected by now; have its path computed if no run has the path."""
        choice = self._session.inspection
        values = None if choice is None else choice.values
        view = self._shown
        request = None
        if values is not None and _are_on_axes(view.plan.axes, values):
            request = self._wanted_inspected_path(view, values)
        self._probe.ask(request)  # with None, it stops computing
        self._show_inspection()

    def _show_inspection(self) -> None:
        self._shown = self._with_inspection(self._shown)
        self.inspected.emit()

    def _with_inspection(self, view: Shown) -> Shown:
        """Return the view with the inspected model, without one if the inspected model is the chosen one.

        Two models are the same if they are at one position of the same path.
        """
        choice = self._session.inspection
        chosen = view.model
        inspection = None if choice is None else self._find_inspected(view, choice)
        if inspection is not None and chosen is not None:
            is_chosen = (
                inspection.path is chosen.path
                and inspection.position == chosen.position
            )
            inspection = None if is_chosen else inspection
        return replace(view, inspection=inspection)

    def _find_inspected(self, view: Shown, choice: Choice) -> SelectedModel | None:
        """Return the model that a choice means; None if its path is not computed yet.

        The model is on the live path if this path has the values of the
        choice, else on a path of the shown run. If the run has not
        tried these values, the model is on a path that `_probe` has
        computed.
        """
        live = view.model
        if choice.values is None or not _are_on_axes(view.plan.axes, choice.values):
            return None  # a model of another run
        if live is not None and live.live and live.values == choice.values:
            # Without a coordinate (`x_value`), the inspected model is
            # the chosen one, so no measure ("") has to find the best
            # step.
            return replace(
                live,
                position=path_position(live.path, choice.x_value, live.position, ""),
            )
        request = self._wanted_inspected_path(view, choice.values)
        return (
            self._model_of_run(view, choice)
            if request is None
            else self._probe.model(request, choice.x_value)
        )

    def _wanted_inspected_path(
        self, view: Shown, values: tuple[Any, ...]
    ) -> PathWanted | None:
        """Return a request for the path that an inspected model lies on.

        The model's combination of parameters is ``values``.

        Return None if the run has this path, or the path is impossible.
        """
        plan = self._live_plan(view)
        record = view.record
        # Another plan than the view's means that the form was changed
        # after the run. A path is computed only if that is fast enough
        # to follow a slider ("live").
        if (
            record is None
            or view.fold is None
            or plan is not view.plan
            or not plan.live
        ):
            return None
        if record.combination_of(values) is not None:
            return None
        # the plan with the measures and the convention in use
        measured_plan = self._session.measurement(plan).plan(plan)
        return PathWanted(measured_plan, view.fold, values)

    def _run_on_open_data(self) -> RunRecord | None:
        """Return the shown run if it belongs to the open data; None for a run on other data."""
        record = self._runs.shown
        return (
            record
            if record is not None and record.dataset is self._session.dataset
            else None
        )

    def _values_on_axes(
        self, view: Shown, choice: Choice | None = None
    ) -> tuple[Any, ...] | None:
        """Return the values of a choice on the shown plan's axes, else the values that validation chose.

        The choice is by default the session's. Values that do not lie
        on the axes, as those of another plan, do not count. Return None
        if neither the choice nor validation gives values on the axes.
        """
        # The values and the position of the step that validation chose.
        chosen = self._chosen_by_validation(view)
        validated_values = None if chosen is None else chosen[0]
        choice = self._session.choice if choice is None else choice
        for values in (choice.values, validated_values):
            if values is not None and _are_on_axes(view.plan.axes, values):
                return values
        return None

    def _chosen_by_validation(self, view: Shown) -> tuple[tuple[Any, ...], int] | None:
        """Return the values of the model that the shown run chose on this fold, and its step's position.

        Return None if the run has not finished the fold, or all folds are shown.
        """
        record = view.record
        fold = view.fold
        if record is None or fold is None:
            return None
        # The fold is measured by the measures in use; until these are
        # computed, the choice by the run's own measures counts.
        result = self._measured.view(record).folds.get(fold.number) or record.folds.get(
            fold.number
        )
        if result is None:
            return None
        # Steps are numbered from 1, positions from 0.
        return result.chosen.unit.values, result.chosen.step.number - 1

    def _live_plan(self, view: Shown) -> Plan | None:
        """Return the plan with which a path that no run has is computed; None if the open data do not fit it.

        If a run is shown, this is the run's plan with the present
        settings of the form, provided that the form has the same
        method. Settings of another method only concern the next run.
        """
        session = self._session
        form = self._session.plan
        if not session.has_documents:
            return None
        # Without a run, the plan is that of the form, unless the user
        # has changed how the data are to be read since they were read.
        if view.record is None:
            return form if session.data_match_plan else None
        # With a run, the form counts only if it has the same axes and
        # reads the data in the same way. Usually both plans are equal;
        # this is tested first, as `changed` below is too slow for a
        # slider that moves.
        is_same = form == view.plan
        if (
            is_same
            or not _have_same_axes(form, view.plan)
            or reading(form) != reading(view.plan)
        ):
            return view.plan
        # Costs of features in the form count only if the method weighs
        # them, which a parameter with the value "milliseconds" asks
        # for. Else the run's costs stay.
        by_costs = MILLISECONDS in form.parameters.values()
        return view.plan.changed(
            costs=(form if by_costs else view.plan).extension(FeatureCosts) or {},
            parameters=form.parameters,
            ranker_parameters=form.ranker_parameters,
            groups=feature_groups_of(form),
            preferences=preferences_of(form),
        )

    def _is_edited(self, view: Shown) -> bool:
        """Return whether the form now has other settings of the shown run's method than the run had."""
        plan = self._live_plan(view)
        if view.record is None or plan is None or plan is view.plan:
            return False
        return path_plan(plan) != path_plan(view.plan)

    def _wanted_path(self, view: Shown) -> PathWanted | None:
        """Return a request for the path that the slider, a pin or a ban asks for.

        Return None if the path cannot be computed.
        """
        plan = self._live_plan(view)
        fold = view.fold
        values = self._values_on_axes(view)
        if plan is None or fold is None or not plan.live:
            return None
        # Without a run, a path is computed once the user moves the
        # slider, or pins or bans a feature.
        if view.record is None:
            has_pins_or_bans = any(
                plan.parameters.get(name) for name in ("pinned", "banned")
            )
            if self._session.choice.values is None and not has_pins_or_bans:
                return None
            values = values or _middle_values(plan.axes)
        if values is None:
            return None
        # the plan with the measures and the convention in use
        measured_plan = self._session.measurement(plan).plan(plan)
        return PathWanted(measured_plan, fold, values)

    def _from_run(self, view: Shown) -> SelectedModel | None:
        """Return the chosen model; None if the shown run does not have its path."""
        return self._model_of_run(view, self._session.choice)

    def _model_of_run(self, view: Shown, choice: Choice) -> SelectedModel | None:
        """Return the model that a choice means in the shown run; None if the run does not have its path."""
        # The position, among the combinations of the plan, of the
        # values that the choice means. Without chosen values, these are
        # those that validation chose.
        record = view.record
        fold = view.fold
        values = self._values_on_axes(view, choice)
        combination = (
            record.combination_of(values)
            if record is not None and values is not None
            else None
        )
        if record is None or fold is None or values is None or combination is None:
            return None
        # The path with the measures in use; until they are computed,
        # the path of the run.
        measured = self._measured.view(record)
        unit_key = (fold.number, combination)
        path = measured.paths.get(unit_key) or record.paths.get(unit_key)
        if path is None:
            return None
        # Without a coordinate in the choice, the position that
        # validation chose is taken, which holds for the path with the
        # chosen values only.
        chosen = self._chosen_by_validation(view)
        best_position = None
        if chosen is not None:
            chosen_values, chosen_position = chosen
            best_position = chosen_position if chosen_values == values else None
        position = path_position(
            path, choice.x_value, best_position, record.plan.select_by
        )
        return SelectedModel(combination, values, measured.plan, fold, path, position)

    def _view_of_live_path(self, view: Shown) -> Shown | None:
        """Return the view with the path computed last, even if the slider has moved to another λ since.

        Return None if that path has another fold or plan than the
        requested one. The model of the view is at the chosen coordinate
        of the path, a number of features or a round, or else the best
        one of the path.
        """
        live = self._live_path
        request = self._requested
        if live is None or request is None:
            return None
        live_request = live.wanted
        if live_request.fold is not request.fold or live_request.plan != request.plan:
            return None
        # Steps are numbered from 1. As the best step is known, no
        # measure ("") has to find it.
        position = path_position(
            live.path, self._session.choice.x_value, live.best.number - 1, ""
        )
        model = SelectedModel(
            LIVE,
            live_request.values,
            live_request.plan,
            live_request.fold,
            live.path,
            position,
        )
        return replace(view, model=model, edited=self._is_edited(view))

    def _request(self, request: PathWanted) -> None:
        """Have a path computed in the background, unless it is the one that was requested last.

        A job for the previous path is abandoned if it is slow or out of date.
        """
        previous = self._requested
        if previous and (previous.fold, previous.values, previous.plan) == (
            request.fold,
            request.values,
            request.plan,
        ):
            return
        if previous and self._job:
            # A path on more documents than a shard has takes seconds,
            # and is abandoned as soon as another one is asked for. A
            # quick path of the same fold and plan is shown on the way.
            is_slow = request.fold.train.n_documents > DOCUMENTS
            if (
                is_slow
                or previous.fold is not request.fold
                or previous.plan != request.plan
            ):
                self._job.abandon()
        self._recover()  # the failure of the previous path is out of date
        self._requested = request
        label = combination_label(request.plan.axes, request.values)
        text = (
            tr("Computing the path for {at}").format(at=label)
            if label
            else tr("Computing the path")
        )

        # `work` is called on the worker; `_take` gets the path, and
        # `end` the end of the job. Of waiting jobs of one slot, only
        # the last is carried out.
        def work(cancelled: CancelFlag) -> Iterator[LivePath]:
            yield self._fold_cache.path(request, cancelled)

        def end(outcome: Outcome) -> None:
            if self._requested is request:  # else the job is that of a later request
                self._job = None
            self._end(outcome)

        self._job = self._worker.submit(
            Job(text, work, on_message=self._take, on_end=end, slot="path")
        )

    def _take(self, live: LivePath) -> None:
        # Without a request, the path is late: by now something else is shown.
        if self._requested is not None:
            self._live_path = live
            self.refresh()

    def _end(self, outcome: Outcome) -> None:
        if outcome.ending is Ending.FAILED:
            self._show_view(replace(self._shown, model=None, edited=False))
            self._failure = outcome.text
            self.failed.emit(outcome.text)

    def _recover(self) -> None:
        """Withdraw the message of a failure."""
        failure = self._failure
        self._failure = ""
        if failure:
            self.recovered.emit(failure)

    def _forget_live(self) -> None:
        """Forget the live path and its failure, and stop computing another one."""
        self._recover()
        self._requested = self._live_path = None
        if self._job is not None:
            self._job.abandon()
            self._job = None

    def _show_view(self, view: Shown) -> None:
        """Show another view with the test measures of its model; have unknown measures computed.

        Emit `changed` and `tested`, and `tested` once more when measures arrive.
        """
        # The run has test measures of its chosen models. Other models
        # can be tested only with their documents open; else
        # `_untested_reason` says why not.
        self._shown = self._with_inspection(view)
        model = view.model
        self._test_measures = self._known_test()
        self._untested_reason = (
            "" if model is None or self._test_measures else self._why_untested(model)
        )
        # While the user seals the test part, no test measure is shown,
        # even if it is known.
        if self._session.sealed and (model is None or model.fold.test is not None):
            self._test_measures = {}
            self._untested_reason = SEALED
        # Otherwise they are computed, and shown if the model is still the one in view.
        if (
            model is not None
            and model.fold.test is not None
            and not self._test_measures
            and not self._untested_reason
        ):

            def handle(measures: dict[str, float]) -> None:
                if self._shown.model is model:
                    self._test_measures = measures
                    self.tested.emit()

            self._worker.task(
                tr("Testing the model"),
                self._fold_cache.test,
                model.plan,
                model.fold,
                model.step,
                on_done=handle,
                slot="test",
            )
        self.changed.emit()
        self.tested.emit()

    def _known_test(self) -> dict[str, float]:
        """Return the test measures that the run has of its chosen model; empty for any other model."""
        record = self._shown.record
        model = self._shown.model
        if record is None or model is None:
            return {}
        result = self._measured.view(record).folds.get(model.fold.number)
        # The key of a run's model is the position of its combination of parameters.
        if result is None or result.chosen.unit.position != model.key:
            return {}
        return (
            dict(result.test) if result.chosen.step.number == model.step.number else {}
        )

    def _why_untested(self, model: SelectedModel) -> str:
        if not self._session.has_documents:
            return NO_DOCUMENTS
        return "" if model.step.whole else NOT_WHOLE


class _Probe:
    """Computes the path of an inspected model that no run has, apart from the path of the chosen model.

    Parameters
    ----------
    worker, fold_cache
        Compute the path.
    arrived : callable
        Called when the path is computed.
    failed : callable
        Called with a sentence if the path could not be computed.
    """

    def __init__(
        self,
        worker: Worker,
        fold_cache: FoldCache,
        arrived: Callable[[], None],
        failed: Callable[[str], None],
    ) -> None:
        self._worker = worker
        self._fold_cache = fold_cache
        self._arrived = arrived  # called when a path is computed
        self._failed = failed  # called with a sentence on a failure
        # The path that is wanted, the last one that was computed, and
        # the job that computes a path.
        self._wanted_path: PathWanted | None = None
        self._path: LivePath | None = None
        self._job: Job | None = None

    def model(self, request: PathWanted, step: int | None) -> SelectedModel | None:
        """Return the model at a coordinate of the requested path; None until the path is computed.

        The coordinate, ``step``, is a number of features or a round;
        None means the best model of the path.
        """
        path = self._path
        if path is None or not _is_same(path.wanted, request):
            return None
        # Steps are numbered from 1. As the best step is known, no
        # measure ("") has to find it.
        position = path_position(path.path, step, path.best.number - 1, "")
        return SelectedModel(
            PROBE, request.values, request.plan, request.fold, path.path, position
        )

    def ask(self, request: PathWanted | None) -> None:
        """Have another path computed; None to compute none and forget the last one."""
        # The same path is asked for only once.
        if (
            request is not None
            and self._wanted_path is not None
            and _is_same(self._wanted_path, request)
        ):
            return
        # A job for another path is abandoned. The last computed path
        # stays until the new one arrives; `model` returns it for its
        # own request only.
        if self._job is not None:
            self._job.abandon()
            self._job = None
        self._wanted_path = request
        if request is None:
            self._path = None
            return
        # Compute the path in the background; `_take` gets it.
        text = tr("Computing the path for {at}").format(
            at=combination_label(request.plan.axes, request.values)
        )

        # called on the worker
        def work(cancelled: CancelFlag) -> Iterator[LivePath]:
            yield self._fold_cache.path(request, cancelled)

        self._job = self._worker.submit(
            Job(
                text,
                work,
                on_message=self._take,
                on_end=self._end,
                slot="inspected path",
            )
        )

    def _take(self, path: LivePath) -> None:
        if self._wanted_path is not None and _is_same(path.wanted, self._wanted_path):
            self._path = path
            self._arrived()

    def _end(self, outcome: Outcome) -> None:
        if outcome.ending is Ending.FAILED:
            self._failed(outcome.text)


def _is_same(first: PathWanted, second: PathWanted) -> bool:
    """Return whether two requests are for the same path."""
    return first.fold is second.fold and (first.values, first.plan) == (
        second.values,
        second.plan,
    )


def _have_same_axes(plan: Plan, other: Plan) -> bool:
    """Return whether two plans have the same method, ranker and names of axes.

    An axis is a parameter of which the plan tries several values.
    """
    names = [axis.name for axis in plan.axes]
    other_names = [axis.name for axis in other.axes]
    has_same_method = (plan.method, plan.ranker) == (other.method, other.ranker)
    return has_same_method and names == other_names


def _middle_values(axes: Sequence[Axis]) -> tuple[Any, ...]:
    """Return the middle value of each axis."""
    return tuple(axis.values[len(axis.values) // 2] for axis in axes)


def _are_on_axes(axes: Sequence[Axis], values: tuple[Any, ...]) -> bool:
    """Return whether values lie on the axes of a plan; they may have been chosen with another plan."""
    return len(values) == len(axes) and all(
        axis.allows(v) for axis, v in zip(axes, values, strict=True)
    )


def path_position(
    path: PathResult, step: int | None, best: int | None, select_by: str
) -> int:
    """Return the position of a step on a path, from 0.

    On a path of iterations, only the last step is a model: the position
    is the last one. On any other path, the first of these rules that
    applies counts:

    - ``step``, a number of features or a round: the step nearest to it;
    - ``best``, a position: this one;
    - else the step with the best value of the measure ``select_by``, or with
      the least criterion if that measure was not computed.
    """
    if path.step_kind is StepKind.ITERATIONS:
        return len(path.steps) - 1
    if step is not None:
        return int(np.abs(path.x_values - step).argmin())
    if best is not None:
        return best
    # The smallest value is the best; a measure that is best when high
    # is negated, and steps without a value come last.
    values = path.validation.get(select_by, path.criterion)
    is_measured = select_by in path.validation
    if is_measured and measure(plain_name(select_by)).higher_is_better:
        values = -values
    return int(np.where(np.isnan(values), np.inf, values).argmin())
