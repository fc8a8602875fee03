"""The controller of curves, heat map and candidates, which follow the shown run and the session."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtCore import QObject, Signal, Slot

from rankstudio.engine.analysis.features.candidate_map import step_margin
from rankstudio.engine.analysis.result_table.fold_table import FoldAverage
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.data.feature_groups import feature_groups_of
from rankstudio.engine.experiment.plan.plan import Plan, longest_path
from rankstudio.engine.experiment.results.events import (
    BaselineFound,
    Event,
    FoldFinished,
    StepDone,
    UnitFinished,
    UnitStarted,
)
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.engine.steps import Step
from rankstudio.ui.language import tr
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.model.run_queue import look_at
from rankstudio.ui.model.run_record import RunRecord, RunState
from rankstudio.ui.model.selected_model import LIVE, PROBE, SelectedModel, Shown
from rankstudio.ui.page.page_controller import PageController
from rankstudio.ui.select.candidates_view import NO_STEP, CandidatesView
from rankstudio.ui.select.curves_panel import NO_CRITERION, NO_MEASURES, CurvesPanel
from rankstudio.ui.select.heat_map import HeatController
from rankstudio.ui.select.shown_paths import ShownPaths, smallest_model
from rankstudio.ui.style.theme import Theme


class RunController(PageController):
    """Fills the Select page's curves, heat map and candidates; a click on a model inspects it.

    Parameters
    ----------
    theme : Theme
    models : Models
    """

    grown = Signal(object, object)
    """The growing path (PathResult) and the groups of its plan; emitted while no model is chosen."""
    compared = Signal(bool)
    """Whether the method compares candidates, so that candidates can be shown."""
    followingChanged = Signal()
    """The value of `following` may have changed."""

    def __init__(
        self, theme: Theme, models: Models, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)

        # The parts of the application's state that this controller shows.
        session = models.session
        runs = models.runs
        current = models.current
        measured = models.measured
        left_out = models.left_out
        self._left_out = left_out

        # whether the curves were last drawn with left-out measures
        self._draws_left_out = left_out.shown
        self._session = session
        self._runs = runs
        self._measured = measured
        self._current = current

        # The two panels of the page, and the heat map, which is drawn
        # within the curves.
        self.curves = CurvesPanel(theme)
        self.candidates = CandidatesView(theme)
        self.panels = self.curves, self.candidates
        self._paths = ShownPaths(session, current, measured, left_out)
        self._heat = HeatController(theme, session, self._paths, self)
        self.heat = self._heat.panel
        self.curves.add_map(self.heat)

        # whether the run that works, and its fold, are shown as they change
        self._following = True
        self._preparation = ""  # what is being compiled before a run, as a text
        self._heat_is_old = False  # whether the heat map misses a path
        # the last step of the run, until its candidates are drawn
        self._newest: StepDone | None = None

        # the view (data, fold, run and plan) and the convention that the curves show
        self._drawn: tuple[Shown, str] | None = None
        self._absence = models.absence
        self._absence.changed.connect(self._set_empty_texts)
        self._connect_signals()

    def _connect_signals(self) -> None:
        """Connect the panels and the parts of the state with this controller."""
        session = self._session
        runs = self._runs
        current = self._current
        left_out = self._left_out

        # A click in a panel inspects a candidate or a step; a double
        # click chooses the step.
        self.curves.picked.connect(self._inspect)
        self.curves.chosen.connect(self._choose)
        self.curves.confirmed.connect(current.choose_inspected)
        self._heat.picked.connect(self._inspect)
        self._heat.confirmed.connect(current.choose_inspected)
        self.candidates.picked.connect(session.inspectAsked)

        # Changes of the session, of the current model and of the runs are drawn.
        session.inspected.connect(self.candidates.select)
        session.foldChosen.connect(self.stop_following)
        current.inspected.connect(self._show_inspected)
        current.changed.connect(self._follow)
        session.measureChanged.connect(self._show_measure)
        self._measured.changed.connect(self._show_measured)
        runs.eventNoted.connect(self._draw_event)
        runs.changed.connect(self._begin_again)
        runs.added.connect(self._follow_first)
        runs.chosen.connect(self._stop_unless_working)
        for signal in (runs.changed, runs.removed):
            signal.connect(self.followingChanged)

        # The curve of left-out measures is computed on demand.
        self.curves.left_out.clicked.connect(left_out.toggle)
        left_out.changed.connect(self._show_left_out)
        left_out.grew.connect(self._grow_left_out)

    @property
    def following(self) -> bool:
        """Whether a run works whose folds are shown as they begin; ends when the user picks another view."""
        return self._following and self._runs.current is not None

    @Slot()
    def stop_following(self) -> None:
        """Stay at the shown run and fold, whichever run and fold are being computed."""
        self._following = False
        self.followingChanged.emit()

    @Slot(bool)
    def follow(self, following: bool) -> None:
        """Begin to show the run that works and the fold it works on, or stop following it."""
        # `look_at` shows a run with its data and its plan; the method
        # of the session of the same name shows a fold.
        self._following = following
        record = self._runs.current
        if following and record is not None:
            if record is not self._runs.shown:
                look_at(self._session, self._runs, record)
            if record.unit is not None:
                self._session.show_fold(record.unit.fold)
        self.followingChanged.emit()

    @Slot(object)
    def _follow_first(self, record: RunRecord) -> None:
        """Follow a new run if no other run works or waits, unless the new run works in the background."""
        is_only_run = all(
            other is record or other.state.ended for other in self._runs.records
        )
        if is_only_run and not record.background and not record.state.ended:
            self._following = True

    @Slot(object)
    def _stop_unless_working(self, record: RunRecord) -> None:
        """Stop following if the user chose another run than the one that works."""
        if record is not self._runs.current:
            self.stop_following()

    @Slot(str)
    def show_preparation(self, sentence: str) -> None:
        """Show in the empty curves what is being compiled; "" ends that."""
        self._preparation = sentence
        self._set_empty_texts()

    @Slot()
    def _follow(self) -> None:
        """Mark the chosen model; first draw everything anew for another run, fold, plan or convention.

        A convention is a set of rules of measures, such as how
        documents without a label count.
        """
        view = self._current.shown
        convention = self._session.convention
        if self._drawn is not None:
            drawn_view, drawn_convention = self._drawn
            if view.is_of(drawn_view) and convention == drawn_convention:
                self.mark()
                return
        self._drawn = view, convention
        self.rebuild()

    @Slot(object)
    def _begin_again(self, record: RunRecord) -> None:
        """Follow a run that goes on, and redraw it: the steps of its unfinished paths come again."""
        if record.state is RunState.QUEUED:
            self._follow_first(record)
            if record is self._current.shown.record:
                self.rebuild()

    @Slot()
    def rebuild(self) -> None:
        """Draw everything anew, for other data, another fold or another run."""
        view = self._current.shown
        record = self._current.shown.record

        # The newest step belongs to the view before.
        self._newest = None
        if view.dataset is None:
            return
        plan = view.plan

        # The sentence on why the run cannot be measured; "" if it can.
        problem = self._paths.problem
        self._set_empty_texts()
        combinations = record.combinations if record else ()

        # Whether there is a validation part, of the files or from inner
        # folds, on which models are measured.
        has_validation = bool(plan.inner) or any(
            fold.vali is not None for fold in view.dataset.folds
        )
        mapped = self._heat.arrange(plan, has_validation)

        # Empty curves for the plan of the view. A method is
        # `featureless` if its models have no features, as a ranking
        # from a file. The criterion is `measured` if it is the negative
        # of a measure, which is then drawn.
        self.curves.begin(
            method_label=plan.title,
            data_label=self._data_label(view.dataset),
            axes=plan.axes,
            combinations=combinations,
            n_steps=longest_path(plan, view.dataset.n_features),
            criterion=tr(plan.criterion),
            step_kind=plan.step_kind,
            sized=not plan.entry.featureless,
            selects=plan.entry.selects,
            measured=plan.measured_criterion,
        )

        # What they show, and whether the heat map is offered.
        self.curves.set_measure(self._session.measure)
        # Left-out queries or pairs are measured by the plan, or because the user asks.
        has_left_out = plan.leaves_out or self._left_out.shown
        self.curves.set_measured(has_validation, has_left_out, pairs=plan.pairs_out)
        self.curves.offer_map(mapped)
        self.curves.set_caption(problem)

        # Draw what the run has found so far.
        if record is not None:
            for combination in range(len(combinations)):
                self._draw_combination(record, combination)
            self._draw_baseline(record)
        self._draw_heat()
        self.mark()

    @Slot()
    def mark(self) -> None:
        """Show which model is chosen, and which is inspected."""
        # The chosen model is on a path of the run, or on a "live" path
        # that was computed for it alone. While all folds are shown
        # there is none, but a mean path.
        model = self._current.model
        if model is None:
            self.curves.remove_path(LIVE)
            self._unmark()
            self._mark_mean()
            self._show_inspected()
            return
        if model.key == LIVE:
            self._draw_live(model)
            self._heat.mark(None)
        else:
            self.curves.remove_path(LIVE)
            self._heat.mark(int(model.key), model.x_value)
        self.curves.select(model.key, model.x_value)  # type: ignore[arg-type]  # a text is LIVE or PROBE
        self._mark_smallest(model)
        self._show_inspected()

    @Slot()
    def _show_inspected(self) -> None:
        """Mark the inspected model, and show the candidates of its step."""
        # A model that the run does not have gets a curve of its own
        # while it is inspected.
        inspection = self._current.shown.inspection
        if inspection is not None and inspection.key == PROBE:
            self._draw_live(inspection)
        else:
            self.curves.remove_path(PROBE)

        # Mark the inspected model, or the same place on the mean over all folds.
        if inspection is not None:
            key = inspection.key
            k = inspection.x_value
            self.curves.inspect(key, k)  # type: ignore[arg-type]  # a text is LIVE or PROBE
            self._heat.inspect(None if isinstance(key, str) else key, k)
        else:
            combination, k = self._inspected_mean()
            self.curves.inspect(combination, k)
            self._heat.inspect(combination, k)

        # The candidates of its step, or else those of the newest step;
        # without any, the text of the empty panel.
        model = self._current.shown.inspected
        if model is not None:
            self._show_step(model.step, model.plan, model.path.divisor)
        elif self._newest is None:
            self.candidates.clear(self._absence.model(NO_STEP))

    def _inspected_mean(self) -> tuple[int | None, int]:
        """Return combination and k of the inspected model while all folds are shown; else None and 0.

        The k is 0, too, if the best model of each fold is meant: then
        the choice has no ``x_value``, a k or round on the path.
        """
        record = self._current.shown.record
        # The inspected model, or None if it is the chosen one.
        choice = self._current.inspected_choice
        if (
            self._paths.fold is not None
            or record is None
            or choice is None
            or choice.values is None
        ):
            return None, 0
        return record.combination_of(choice.values), choice.x_value or 0

    def _mark_smallest(self, model: SelectedModel) -> None:
        """Mark the smallest model of the chosen path that is not significantly worse than its best one."""
        # On a path of iterations, only the last one is a model.
        has_sizes = (
            len(model.path.steps) > 1
            and model.path.step_kind is not StepKind.ITERATIONS
        )
        smallest = (
            smallest_model(model, self._current.shown.record) if has_sizes else None
        )
        mark, best = smallest or (None, 0)
        self.curves.show_smallest(mark, best)

    @Slot()
    def _show_left_out(self) -> None:
        """Show whether left-out measures are possible and their progress; redraw if they come or go."""
        left_out = self._left_out
        box = self.curves.left_out

        # A plan that selects by a left-out measure has brought it, and
        # draws it anyway, without the box.
        box.setVisible(left_out.possible and not left_out.is_in_plan)
        box.show_state(
            left_out.share,
            is_requested=left_out.asked,
            waiting=left_out.waiting,
        )
        if left_out.shown != self._draws_left_out:
            self._draws_left_out = left_out.shown
            self.rebuild()

    @Slot()
    def _grow_left_out(self) -> None:
        """Draw the new left-out measures of the path that is being measured."""
        self._show_left_out()
        if self._left_out.growing is None:
            return
        combination, is_complete = self._left_out.growing
        record = self._current.shown.record
        model = self._current.model
        if model is not None and model.key == LIVE:
            self._draw_live(model)
        if record is not None:
            self._draw_combination(record, combination, growing=False)
        # The heat map shows left-out measures if the user chose them.
        if is_complete and self.heat.left_out():
            self._draw_heat()

    def _draw_live(self, model: SelectedModel) -> None:
        """Draw the path of a model that no run has: the chosen (LIVE) or the inspected one (PROBE)."""
        path = model.path
        # its validation measures, and left-out ones as far as they are computed
        measures = self._paths.with_left_out(path)
        view = self._current.shown
        key, label = (
            (LIVE, view.model_label)
            if model.key == LIVE
            else (PROBE, view.label_of(model))
        )
        self.curves.set_path(
            key,
            path.x_values,
            path.criterion,
            measures,
            label=label,
            values=model.values,
        )

    def refresh(self) -> None:
        """Draw the heat map and the candidates of the newest step since the last call.

        The window calls it at intervals, as drawing them at each step
        of a run would take too long.
        """
        if self._heat_is_old:
            self._draw_heat()
        # The candidates of an inspected or chosen model are shown already.
        event = self._newest
        self._newest = None
        record = self._current.shown.record
        if (
            event is None
            or record is None
            or record.state.ended
            or self._current.shown.inspected is not None
        ):
            return

        # The page of features shows the selection of the path that
        # grows or, if the path has ended meanwhile, of the finished
        # path. A unit of work is a fold and the position of a
        # combination; `so_far` has its path up to now. `divisor` makes
        # the scores of candidates comparable between folds.
        unit = event.unit
        self._show_step(event.step, record.plan, event.divisor)
        path = record.so_far(unit.fold, unit.position) or record.paths.get(
            (unit.fold, unit.position)
        )
        if path is not None:
            self.grown.emit(path, feature_groups_of(self._current.shown.plan))

    def _draw_heat(self) -> None:
        self._heat_is_old = False
        self._heat.draw()

    def _data_label(self, dataset: FoldedDataset) -> str:
        """Return the name of the data with the shown fold, or with "mean over folds"."""
        if len(dataset.folds) == 1:
            return dataset.name
        fold = self._paths.fold
        if fold:
            return tr("{name} fold {fold}").format(name=dataset.name, fold=fold)
        return tr("{name}, mean over folds").format(name=dataset.name)

    def _draw_combination(
        self, record: RunRecord, combination: int, *, growing: bool = True
    ) -> None:
        """Draw the curve of a combination of parameters: on the shown fold, or the mean over folds.

        ``combination`` is its position in the plan of the run
        ``record``. A mean is over the finished folds. With ``growing``,
        the steps of an unfinished path are drawn, too.
        """
        # All folds: the mean over the folds that are finished.
        fold = self._paths.fold
        if fold is None:
            mean = self._paths.mean(record, combination)
            if mean is not None:
                # `across` has the mean of a measure over the folds, and its interval.
                means = {name: across.mean for name, across in mean.validation.items()}
                self.curves.set_path(
                    combination, mean.x_values, mean.criterion.mean, means
                )
            return

        # One fold: the finished path with the measures in use, or the
        # steps of a growing path.
        path = record.paths.get((fold, combination))
        if path is not None:
            validation = self._paths.measures(record, (fold, combination))
        else:
            path = record.so_far(fold, combination) if growing else None
            validation = (
                {}
                if path is None
                else self._paths.by_present_convention(path.validation)
            )
        if path is not None:
            self.curves.set_path(combination, path.x_values, path.criterion, validation)

    def _add(self, event: StepDone) -> None:
        """Draw the model of a new step as a point of its curves."""
        validation = self._paths.by_present_convention(event.validation)
        self.curves.add_step(
            event.unit.position, event.x_value, event.criterion, validation
        )

    def _set_empty_texts(self) -> None:
        """Set the texts of empty panels: what is being compiled, how far the run is, or what to do."""
        # `absence` turns a text on what to do into one that fits the
        # present state, for example while a study is being read.
        problem = self._paths.problem
        absence = self._absence
        unmeasured = absence.documents(problem) if problem else absence.run(NO_MEASURES)
        self.curves.explain(
            self._preparation or absence.run(NO_CRITERION),
            self._preparation or unmeasured,
        )
        self.heat.explain(absence.documents(problem) if problem else absence.run(""))
        if self._current.shown.inspected is None:
            self.candidates.clear(absence.model(NO_STEP))

    @Slot(object)
    def _show_measured(self, records: tuple[RunRecord, ...]) -> None:
        """Draw the new measures of the shown run."""
        record = self._current.shown.record
        if record is None or record not in records:
            return
        for combination in range(len(record.combinations)):
            self._draw_combination(record, combination, growing=False)
        self._draw_baseline(record)
        self._draw_heat()
        self.mark()

    def _unmark(self) -> None:
        """Remove the marks of the chosen model and the candidates of its step."""
        self.curves.select(None)
        self.curves.show_smallest(None)
        self._heat.mark(None)
        plan = self._current.shown.plan
        self.candidates.clear(self._absence.model(NO_STEP))  # with a text on why
        # whether the method compares candidates at all, for the page of features
        self.compared.emit(plan.candidate_score is not None)

    @Slot()
    def _mark_mean(self) -> None:
        """While all folds are shown, mark the chosen combination, and draw its mean and interval."""
        record = self._current.shown.record
        choice = self._session.choice
        if self._paths.fold is not None or record is None or choice.values is None:
            return
        combination = record.combination_of(choice.values)
        mean = (
            self._paths.mean(record, combination) if combination is not None else None
        )
        if mean is None or combination is None:
            self._unmark()
            return

        # Without a k, each fold has its own best model; the mark is at the first k.
        k = choice.x_value if choice.x_value is not None else int(mean.x_values[0])
        bands = {name: _interval(across) for name, across in mean.validation.items()}
        self.curves.select(combination, k)
        self.curves.set_band(mean.x_values.tolist(), _interval(mean.criterion), bands)
        self._heat.mark(combination, k)

    def _draw_baseline(self, record: RunRecord) -> None:
        """Draw a line at the measures of the best single feature of the shown fold; none for all folds."""
        # `problem` says why the run cannot be measured, or is "".
        baselines = self._measured.view(record).baselines
        baseline = (
            baselines.get(self._paths.fold) if self._paths.fold is not None else None
        )
        if baseline is not None and not self._paths.problem:
            self.curves.set_baseline(baseline.validation, baseline.name)

    def _show_step(self, step: Step, plan: Plan, divisor: float) -> None:
        """Show the candidates among which a step of selection chose a feature, with their scores.

        ``plan`` is the plan of the step's path. The scores are divided
        by ``divisor`` to be comparable between folds: the number of
        training documents if scores are sums over documents, else 1.
        """
        # A method without a score of candidates has nothing to compare.
        # The signal `compared` lets the page of features offer the
        # candidates.
        dataset = self._current.shown.dataset
        score = plan.candidate_score
        self.compared.emit(score is not None)
        if score is None:
            return
        if dataset is None or not step.selected:
            self.candidates.clear()
        else:
            # The scores of all candidates, shape (n_features,), and the
            # lead of the selected one.
            margin = step_margin(score, step, divisor=divisor)
            values = score.of(step, divisor)
            ids = dataset.feature_ids
            names = dataset.feature_names
            self.candidates.show_step(
                score,
                values,
                margin,
                ids,
                names,
                plan.step_kind,
                feature_groups_of(plan),
            )

    @Slot(object, object)
    def _draw_event(self, record: RunRecord, event: Event) -> None:
        """Draw an event of the shown run; while following it, show the fold that it works on.

        A unit is the work on one combination of parameters on one fold;
        its path has a step for each model.
        """
        if record is not self._current.shown.record:
            return
        fold = self._paths.fold
        match event:
            # A new unit: its fold is shown, unless all folds are shown.
            case UnitStarted() if self._following and fold is not None:
                self._session.show_fold(event.unit.fold)
            case BaselineFound() if event.fold == fold:
                self._draw_baseline(record)
            # A step of the shown fold extends its curve.
            case StepDone() if event.unit.fold == fold:
                self._add(event)
                self._newest = event
                self._preparation = ""
            # The mean over folds changes with each path. On one fold, a
            # path whose steps were announced is drawn already, and only
            # one that came as a whole is not.
            case UnitFinished() if fold is None or event.path.unit.fold == fold:
                self._heat_is_old = True
                if fold is None or record.came_whole:
                    self._draw_combination(record, event.path.unit.position)
            # Now the fold has its chosen model, which becomes the shown one.
            case FoldFinished() if event.result.fold == fold:
                self._current.refresh()

    @Slot(object, int)
    def _inspect(self, key: object, k: int) -> None:
        """Inspect the model with k features (or of round k) on a path, by the key of the path."""
        self.stop_following()
        values = self._values_of_path(key)
        if values is not None:
            self._session.inspect(values, k)

    @Slot(object, int)
    def _choose(self, key: object, k: int) -> None:
        """Choose the model with k features (or of round k) on a path, by the key of the path."""
        self.stop_following()
        values = self._values_of_path(key)
        if values is not None:
            self._session.select(values, k)

    def _values_of_path(self, key: object) -> tuple[Any, ...] | None:
        """Return the values of a path on the axes of the plan; None if there is no such path.

        ``key`` is the position of the path's combination, or LIVE or
        PROBE for the path of the chosen or the inspected model that no
        run has.
        """
        record = self._current.shown.record
        model = self._current.model
        if key == PROBE:
            return self._current.inspected_values
        if isinstance(key, int) and record is not None:
            return record.combinations[key]
        return None if model is None else model.values

    @Slot()
    def _show_measure(self) -> None:
        """Show another measure, or the same measure by another convention."""
        self._set_empty_texts()
        self.curves.set_measure(self._session.measure)
        record = self._current.shown.record
        if record is None:
            self._draw_heat()
            self.mark()
        else:
            self._show_measured((record,))


def _interval(across: FoldAverage) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return across.mean, across.low, across.high
