"""Whether what the window shows belongs together: found anew from data, plan and runs, and compared.

What is shown is read off labels, tables and plots. What should be there is found from the run's record and
the data by the engine, and by nothing that the window draws with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from hands import fact_texts
from PySide6.QtWidgets import QLabel
from walks.complaints import Fault

from rankstudio.engine.analysis.comparisons.comparability import Difference, comparable
from rankstudio.engine.analysis.measurements.measurement import (
    Measurement,
    without_test,
)
from rankstudio.engine.analysis.measurements.remeasurement import Remeasurement
from rankstudio.engine.analysis.result_table.fold_table import best_of_several
from rankstudio.engine.data.dataset import Fold, FoldedDataset
from rankstudio.engine.experiment.plan.left_out_names import left_out_name
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.results import PathResult, RunResult
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.engine.steps import Step
from rankstudio.ui.background.tasks import FoldCache, PathWanted
from rankstudio.ui.compare.runs_panel import RunRow, RunsPanel
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.model.run_record import RunRecord
from rankstudio.ui.model.selected_model import LIVE, PROBE, SelectedModel
from rankstudio.ui.select.heat_map import SIZES
from rankstudio.ui.style.number_format import combination_label
from rankstudio.ui.widgets import Heading, TableView

if TYPE_CHECKING:
    from rankstudio.plugins.features.window.features_panel import FeaturesPanel

_CLOSE = 1e-9
_WRITTEN = 0.51e-4  # numbers of four decimals
_MOST_KEPT = 2000


class Truth:
    """Numbers of runs, found anew; what was found is kept for the next look."""

    def __init__(self) -> None:
        self._engine, self._folds = Remeasurement(), FoldCache()
        self._known: dict[tuple[object, ...], tuple[object, Any]] = {}

    def path(
        self, record: RunRecord, place: tuple[int, int], wanted: Measurement
    ) -> PathResult | None:
        """Return a path of a run as it is measured by what is wanted."""
        path = record.paths.get(place)
        fold = fold_of(record.dataset, place[0])
        if path is None or fold is None or wanted.plan(record.plan) is record.plan:
            return path
        return self._once(
            ("path", id(path), wanted),
            path,
            lambda: self._engine.paths([path], fold, record.plan, wanted)[0],
        )

    def averages(self, record: RunRecord, wanted: Measurement) -> dict[str, float]:
        """Return the means over the folds of a finished run."""
        return self.run(record, wanted).average

    def run(self, record: RunRecord, wanted: Measurement) -> RunResult:
        """Return a finished run as it is measured by what is wanted."""
        result, dataset = record.result, record.dataset
        assert result is not None
        has_documents = dataset.folds[0].train.n_documents > 0
        if not has_documents:  # as a study tells it
            folds = tuple(
                without_test(fold) if wanted.sealed else fold for fold in result.folds
            )
            return self._once(
                ("told", id(result), wanted),
                result,
                lambda: replace(result, folds=folds),
            )
        return self._once(
            ("run", id(result), wanted),
            result,
            lambda: self._engine.run(result, dataset, wanted),
        )

    def test(self, plan: Plan, fold: Fold, step: Step) -> dict[str, float]:
        """Return the measures of a model on the test part."""
        return self._once(
            ("test", id(step), id(fold), plan.evaluated, plan.convention),
            (step, fold),
            lambda: self._folds.test(plan, fold, step),
        )

    def live(self, model: SelectedModel) -> PathResult:
        """Return the path for the values of a model, learned anew."""
        wanted = PathWanted(model.plan, model.fold, model.values)
        return self._once(
            ("live", id(model.path)), model.path, lambda: self._folds.path(wanted).path
        )

    def _once(
        self, key: tuple[object, ...], owner: object, find: Callable[[], Any]
    ) -> Any:
        while len(self._known) > _MOST_KEPT:
            del self._known[next(iter(self._known))]
        if key not in self._known:
            # the owner stays, or another one might get its id
            self._known[key] = owner, find()
        return self._known[key][1]


def fold_of(dataset: FoldedDataset, number: int | None) -> Fold | None:
    """Return a fold by its number."""
    return next((fold for fold in dataset.folds if fold.number == number), None)


@dataclass
class Sight:
    """The window as it is seen at rest.

    Attributes
    ----------
    window : MainWindow
    truth : Truth
    """

    window: MainWindow
    truth: Truth

    @property
    def dataset(self) -> FoldedDataset:
        """What is open."""
        dataset = self.window.session.dataset
        assert dataset is not None
        return dataset

    @cached_property
    def record(self) -> RunRecord | None:
        """The run that is shown, where it is of the open data."""
        record = self.window.runs.shown
        return (
            record
            if record is not None and record.dataset is self.window.session.dataset
            else None
        )

    @property
    def plan(self) -> Plan:
        """Whose title and axes are shown: the run's, else the form's."""
        return self.record.plan if self.record is not None else self.window.session.plan

    @cached_property
    def wanted(self) -> Measurement:
        """How the run is to be measured."""
        return self.window.session.measurement(self.plan)

    @property
    def model(self) -> SelectedModel | None:
        """What the window says is the chosen model."""
        return self.window.current.model

    @property
    def inspected(self) -> SelectedModel | None:
        """What the window says is shown: the inspected model, else the chosen one."""
        return self.window.current.shown.inspected

    def path(self, place: tuple[int, int]) -> PathResult | None:
        """Return a path of the shown run as it is to be measured."""
        assert self.record is not None
        return self.truth.path(self.record, place, self.wanted)


def mismatches(window: MainWindow, truth: Truth) -> Iterator[Fault]:
    """Yield what is shown and does not belong to the rest."""
    sight = Sight(window, truth)
    yield from _title(sight)
    yield from _highlights(window)
    if window.session.dataset is None:
        return
    looks = (
        _data,
        _line,
        _model,
        _inspection,
        _chips,
        _curves,
        _map,
        _table,
        _runs,
        _groups,
        _compared,
    )
    for look in looks:
        yield from look(sight)


def _differ(what: str, shown: object, expected: object) -> Iterator[Fault]:
    if shown != expected:
        yield Fault(what, f"{what}: shown {shown!r}, expected {expected!r}")


def _title(sight: Sight) -> Iterator[Fault]:
    """The window is named after the data and the study."""
    window = sight.window
    dataset, path = window.session.dataset, window.models.study_store.path
    own = path is not None and not window.models.study_store.is_own(path)
    names = [
        dataset.name if dataset is not None else "",
        path.stem if own and path is not None else "",
    ]
    yield from _differ(
        "window title",
        window.windowTitle(),
        " – ".join(filter(None, (*names, "RankStudio"))),
    )


def _highlights(window: MainWindow) -> Iterator[Fault]:
    """In every table the chosen row is a highlighted one, and in those that lead somewhere the one shown."""
    for table in window.findChildren(TableView):
        if table.selected() and table.current() not in table.selected():
            text = f"{table.objectName()}: {table.current()} is not among {table.selected()}"
            yield Fault(
                f"no highlighted row is the chosen one, {table.objectName()}", text
            )
    runs = window.sections.compare.panel.table
    if runs.isVisible():
        shown = window.runs.shown
        listed = shown is not None and shown.key in [row.key for row in runs.rows()]
        current = runs.current()
        yield from _differ(
            "highlighted run",
            current.key if current else None,
            shown.key if shown and listed else None,
        )
    queries = window.sections.find("queries")
    if queries is not None and queries.list.table.isVisible():
        query = queries.list.table.current()
        title = _role(queries.documents, "title")
        if query is not None and not queries._ranked.waits:
            yield from _differ(
                "title of the highlighted query", title, f"Query {query.query_id}"
            )


def _data(sight: Sight) -> Iterator[Fault]:
    """The Data page counts what is open."""
    session, panel = sight.window.session, sight.window.sections.data.panel
    dataset, fold = sight.dataset, session.shown_fold
    yield from _differ("data name", _label(panel, "data-name"), dataset.name)
    if len(dataset.folds) > 1 and not panel._folds.isHidden():
        yield from _differ("data fold", panel._folds.value(), session.fold)
    if not session.has_documents:
        return
    facts = dict(fact_texts(panel._facts))
    if fold is not None:
        parts = fold.parts.values()
        documents = " / ".join(f"{part.n_documents:,}" for part in parts)
        yield from _differ(
            "data documents", facts.get(" / ".join(fold.parts)), documents
        )
        queries = " / ".join(f"{part.n_queries:,}" for part in parts)
        yield from _differ("data queries", facts.get("queries"), queries)
        counted = fold.train.n_documents
    else:
        yield from _differ("data folds", facts.get("folds"), str(len(dataset.folds)))
        tests = [one.test for one in dataset.folds if one.test is not None]
        counted = sum(part.n_documents for part in tests)
        if tests:
            yield from _differ(
                "data documents of all", facts.get("documents"), f"{counted:,}"
            )
    features = facts.get("features", "").partition(" ")[0]
    yield from _differ("data features", features, str(dataset.n_features))
    if counted:
        labelled = sum(count for _, count in panel._labels._rows)
        yield from _differ("data labels", labelled, counted)


def _line(sight: Sight) -> Iterator[Fault]:
    """The line of the toolbar names the data, the fold, and the run whose curves there are."""
    session, line, record = (
        sight.window.session,
        sight.window.toolbar.line,
        sight.record,
    )
    yield from _differ("line's data", line.text("dataset"), sight.dataset.name)
    fold = f"fold {session.fold}" if session.fold else "all folds"
    yield from _differ(
        "line's fold", line.text("fold"), fold if len(sight.dataset.folds) > 1 else ""
    )
    none = "no run" if sight.window.runs.records else ""
    run = f"run {record.key} {record.plan.title}" if record is not None else none
    yield from _differ("line's run", line.text("run"), run)
    yield from _differ(
        "title of curves",
        _role(sight.window.sections.select.curves, "title"),
        sight.plan.title,
    )


def _model(sight: Sight) -> Iterator[Fault]:
    """The current model is one of the shown run, and the one that was chosen."""
    model, record, session = sight.model, sight.record, sight.window.session
    line = sight.window.toolbar.line
    if model is None:
        yield from _differ(
            "line's model without one", line.text("parameters") + line.text("size"), ""
        )
        if record is not None and _expected(sight, record) is not None:
            yield Fault(
                "no model where the run has one",
                f"{session.choice}, fold {session.fold}",
            )
        return
    yield from _differ("model's fold", model.fold is session.shown_fold, True)
    if record is not None:
        ranks = record.plan.method, record.plan.ranker
        yield from _differ(
            "model of another method", (model.plan.method, model.plan.ranker), ranks
        )
    if model.key == LIVE:
        anew = sight.truth.live(model)
        steps = [[step.selected for step in path.steps] for path in (model.path, anew)]
        yield from _differ("live path", *steps)
        if session.choice.values is not None and _on(model.plan, session.choice.values):
            yield from _differ("live values", model.values, session.choice.values)
        if record is not None and _expected(sight, record) is not None:
            yield Fault(
                "live model where the run has one",
                f"{session.choice}, fold {session.fold}",
            )
    elif record is None:
        yield Fault("model of no run", f"{model.plan.title}, {model.values}")
        return
    else:
        yield from _differ(
            "model's values", model.values, record.combinations[int(model.key)]
        )
        path = record.paths.get((model.fold.number, int(model.key)))
        there = path is not None and path.steps[model.position] is model.step
        yield from _differ("model's step is the run's", there, True)
        expected = _expected(sight, record)
        if expected is not None:
            key, position = expected
            yield from _differ("chosen combination", model.key, key)
            if position is not None:
                yield from _differ("chosen step", model.position, position)
    axes = (
        record.plan.axes
        if record is not None and model.key != LIVE
        else model.plan.axes
    )
    label, said = combination_label(axes, model.values), line.text("parameters")
    yield from _differ("line's parameters", said[: len(label)], label)
    yield from _differ(
        "line tells a live model from a run's", said != label, model.key == LIVE
    )
    if model.path.step_kind is not StepKind.ITERATIONS and len(model.path.steps) > 1:
        word = "round" if model.path.step_kind is StepKind.ROUNDS else "k ="
        size = f"{word} {model.path.x_values[model.position]}"
        yield from _differ("line's size", line.text("size"), size)
    slider = sight.window.sections.select.curves.slider
    axis = next((axis for axis in model.plan.axes if axis.is_grid), None)
    if axis is not None and slider.isVisible():
        inspected = sight.window.current.inspected_values
        value = (inspected if inspected else model.values)[model.plan.axes.index(axis)]
        if value in slider.values():
            yield from _differ("slider", slider.value(), value)


def _inspection(sight: Sight) -> Iterator[Fault]:
    """The inspected model is the one that was clicked, and not the chosen one; both are marked as such."""
    shown, asked = sight.window.current.shown, sight.window.session.inspection
    model, record = shown.inspection, sight.record
    if model is not None and asked is None:
        yield Fault("inspected without a click", f"{model.values}, {model.x_value}")
    if model is not None and asked is not None:
        yield from _differ("inspected values", model.values, asked.values)
        yield from _differ(
            "inspected fold", model.fold is sight.window.session.shown_fold, True
        )
        nearest = int(np.abs(model.path.x_values - (asked.x_value or 0)).argmin())
        is_last = model.path.step_kind is StepKind.ITERATIONS
        if is_last or asked.x_value is not None:  # else it is the best one of the path
            yield from _differ(
                "inspected step",
                model.position,
                len(model.path.steps) - 1 if is_last else nearest,
            )
        if model.key == PROBE:
            is_new = record is not None and record.combination_of(model.values) is None
            yield from _differ("inspected path is of no run", is_new, True)
        elif model.key == LIVE:
            yield from _differ(
                "inspected live path",
                sight.model is not None and sight.model.live,
                True,
            )
        elif record is not None:
            path = record.paths.get((model.fold.number, int(model.key)))
            is_run = path is not None and path.steps[model.position] is model.step
            yield from _differ("inspected step is the run's", is_run, True)
        chosen = sight.model
        if chosen is not None and model.step is chosen.step:
            yield Fault(
                "inspected is the chosen one", f"{model.values}, {model.x_value}"
            )
    panel = sight.window.sections.select.curves
    for name, plot in panel.plots().items():
        if panel.over_grid is None and sight.window.session.fold is not None:
            marked = None if model is None else (model.key, model.x_value)
            yield from _differ(
                f"inspected point of {name}", plot.family.inspection, marked
            )
    views = sight.window.sections.compare.views
    buttons = [
        button
        for button in sight.window.sections.choose_buttons.buttons
        if button.objectName() != "results-panel-choose" or views.key() == "pareto"
    ]
    if sight.window.session.fold is not None:
        yield from _differ(
            "choose buttons", {button.isHidden() for button in buttons}, {model is None}
        )


def _chips(sight: Sight) -> Iterator[Fault]:
    """The chips say that a model was chosen by hand, and that the form is not the shown run's."""
    session, chips, record = sight.window.session, sight.window.chips, sight.record
    values, place = session.choice.values, session.choice.x_value
    is_chosen = place is not None or (
        values is not None and record is not None and _on(record.plan, values)
    )
    by_hand = record is not None and is_chosen
    yield from _differ("chip of the choice", bool(chips.choice.text()), by_hand)
    differs = record is not None and session.plan != record.plan
    yield from _differ("chip of the form", bool(chips.form.text()), differs)


def _expected(sight: Sight, record: RunRecord) -> tuple[int, int | None] | None:
    """Return combination and position that are chosen of a run; None where that is for others to say."""
    session = sight.window.session
    other = (session.plan.method, session.plan.ranker) != (
        record.plan.method,
        record.plan.ranker,
    )
    # else the form says something else of the method
    told = session.plan == record.plan or other
    if not told or session.chooses or session.fold is None or not record.state.ended:
        return None
    chosen = record.folds[session.fold].chosen if session.fold in record.folds else None
    values, place = session.choice.values, session.choice.x_value
    if values is None or not _on(record.plan, values):
        values = chosen.unit.values if chosen is not None else None
    if values is None or values not in record.combinations:
        return None
    key = record.combinations.index(values)
    path = record.paths.get((session.fold, key))
    if path is None:
        return None
    if path.step_kind is StepKind.ITERATIONS:
        return key, len(path.steps) - 1
    if place is not None:
        return key, int(np.abs(path.x_values - place).argmin())
    if chosen is not None and chosen.unit.values == values:
        return key, chosen.step.number - 1
    return key, None


def _on(plan: Plan, values: tuple[Any, ...]) -> bool:
    """Return whether values are on the axes of a plan: they may have been chosen on others."""
    pairs = zip(plan.axes, values, strict=False)
    return len(plan.axes) == len(values) and all(
        axis.allows(value) for axis, value in pairs
    )


def _curves(sight: Sight) -> Iterator[Fault]:
    """The curves are those of the run: one for each of its combinations, and the slider's."""
    curves, model, fold = (
        sight.window.sections.select.curves,
        sight.model,
        sight.window.session.fold,
    )
    live = model.path if model is not None and model.key == LIVE else None
    for name, plot in curves.plots().items():
        drawn = {
            key: one
            for key, one in plot.family.curves.items()
            if one.xs and not one.beside
        }
        expected: dict[object, tuple[Any, Any]] = {}
        for key, points in _curves_of(sight, name, fold).items():
            if points is not None:
                expected[key] = points
            else:
                drawn.pop(key, None)  # it is not known here
        if (
            LIVE in drawn
            and live is not None
            and name != "criterion"
            and _shows_left_out(sight)
        ):
            drawn.pop(LIVE)  # what it measures of left-out queries is not known here
        elif LIVE in drawn:
            ys = _ys(sight, name, live) if live is not None else []
            expected[LIVE] = (
                drawn[LIVE].xs if curves.over_grid else live.x_values if live else [],
                ys,
            )
        probe = sight.window.current.shown.inspection
        if PROBE in drawn:
            ys = (
                _ys(sight, name, probe.path)
                if probe is not None and probe.key == PROBE
                else []
            )
            expected[PROBE] = (drawn[PROBE].xs, ys)
        extra = [key for key in drawn if key not in expected]
        yield from _differ(f"curves of nothing, {name}", extra, [])
        for key, (xs, ys) in expected.items():
            shown = (drawn[key].xs, drawn[key].ys) if key in drawn else ([], [])
            if not (_same(shown[0], xs) and _same(shown[1], ys)):
                text = f"curve {key} of {name}: shown {shown}, expected {(list(xs), list(ys))}"
                yield Fault(f"curve of {name}" + " of the slider" * (key == LIVE), text)
        if (
            model is not None
            and curves.over_grid is None
            and model.key in drawn
            and not curves.isHidden()
        ):
            yield from _differ(
                f"mark in {name}", plot.family.choice, (model.key, model.x_value)
            )


def _curves_of(
    sight: Sight, name: str, fold: int | None
) -> dict[object, tuple[Any, Any] | None]:
    """Return the points of each curve: of a combination, or of all over the values of a grid."""
    record, over = sight.record, sight.window.sections.select.curves.over_grid
    n = len(record.combinations) if record is not None else 0
    found = {
        combination: _points(sight, name, (fold, combination))
        for combination in range(n)
    }
    if over is None:
        return dict(found)
    merged: dict[object, tuple[Any, Any] | None] = {}
    for curve in set(over.curves):
        members = over.combinations_of(curve)
        if any(found[one] is None for one in members):
            merged[curve] = None
            continue
        points = [(over.xs[one], found[one] or ([], [])) for one in members]
        known = [(x, ys[-1]) for x, (_, ys) in points if len(ys)]
        merged[curve] = [x for x, _ in known], [y for _, y in known]
    return merged


def _points(
    sight: Sight, plot: str, place: tuple[int | None, int]
) -> tuple[Any, Any] | None:
    """Return the points of a curve of the run; None where they are not known here."""
    record, (fold, combination) = sight.record, place
    measured = plot == "criterion" or (
        record.state.ended or sight.wanted.plan(record.plan) is record.plan
    )
    if not measured or (plot != "criterion" and _shows_left_out(sight)):
        return None
    if fold is None:
        paths = [sight.path(at) for at in sorted(record.paths) if at[1] == combination]
        return _means(sight, plot, [path for path in paths if path is not None])
    path = sight.path((fold, combination))
    return (
        _points_of_path(sight, plot, path)
        if path is not None
        else _unfinished(sight, plot, (fold, combination))
    )


def _means(sight: Sight, plot: str, found: list[PathResult]) -> tuple[Any, Any]:
    if not found:
        return [], []
    length = min(len(path.steps) for path in found)
    lines = [_ys(sight, plot, path) for path in found]
    if not all(len(line) for line in lines):
        return [], []
    return found[0].x_values[:length], np.mean(
        [line[:length] for line in lines], axis=0
    )


def _unfinished(sight: Sight, plot: str, place: tuple[int, int]) -> tuple[Any, Any]:
    """Return the points of a path that has no end: it is not measured by another convention."""
    record = sight.record
    if (
        plot != "criterion"
        and record.plan.convention != sight.window.session.convention
    ):
        return [], []
    left, events = record.unfinished_paths.get(place), record.growing.get(place, [])
    if left is not None:
        return _points_of_path(sight, plot, left)
    if plot == "criterion":
        return [event.x_value for event in events], [
            _sign(sight) * event.criterion for event in events
        ]
    name = sight.window.session.measure
    known = [event for event in events if name in event.validation]
    return [event.x_value for event in known], [
        event.validation[name] for event in known
    ]


def _points_of_path(sight: Sight, plot: str, path: PathResult) -> tuple[Any, Any]:
    ys = _ys(sight, plot, path)
    return path.x_values[: len(ys)], ys


def _sign(sight: Sight) -> float:
    """Return -1 for a criterion that is the negative of a measure, which is what is drawn."""
    return -1.0 if sight.window.current.shown.plan.measured_criterion else 1.0


def _ys(sight: Sight, plot: str, path: PathResult) -> Any:
    if plot == "criterion":
        return _sign(sight) * np.asarray(path.criterion)
    name = sight.window.session.measure
    return path.validation.get(
        left_out_name(name) if _shows_left_out(sight) else name, []
    )


def _shows_left_out(sight: Sight) -> bool:
    """Return whether the plot says that it shows left-out queries: there is no validation part."""
    return sight.window.sections.select.curves.validation_plot.axes.title.startswith(
        "leave-query-out"
    )


def _map(sight: Sight) -> Iterator[Fault]:
    """The map shows the run's values, or nothing."""
    panel, record, fold = (
        sight.window.sections.select.heat,
        sight.record,
        sight.window.session.fold,
    )
    if panel.isHidden():
        return
    if record is None:
        yield from _differ("map of no run", panel.plot.values.size, 0)
        return
    of_sizes = panel.view() == SIZES and not panel.left_out() and fold is not None
    if not of_sizes or not record.state.ended or panel.plot.values.size == 0:
        return
    yield from _differ(
        "rows of the map", panel.plot.values.shape[0], len(record.combinations)
    )
    for combination, row in enumerate(panel.plot.values):
        path = sight.path((fold, combination)) if fold is not None else None
        values = (
            path.validation.get(sight.window.session.measure)
            if path is not None
            else None
        )
        expected = np.full(len(row), np.nan)
        if path is not None and values is not None:
            there = path.x_values > 0
            expected[path.x_values[there] - 1] = values[there]
        if not _same(row, expected):
            yield Fault(
                "map",
                f"row {combination}: shown {list(row)}, expected {list(expected)}",
            )
            return


def _table(sight: Sight) -> Iterator[Fault]:
    """Path and test line are those of the model that is shown; only the chosen one is tested."""
    inspect = sight.window.sections.features
    for panel in (inspect.features, inspect.path):
        if panel.isVisible():
            yield from _path(sight, panel)
            yield from _test(sight, panel)


def _path(sight: Sight, panel: FeaturesPanel) -> Iterator[Fault]:
    model, record, rows = sight.inspected, sight.record, panel.table.rows()
    if model is None:
        if record is None or record.state.ended:
            yield from _differ(
                "path without a model", [row.feature_id for row in rows], []
            )
        return
    ids = sight.dataset.feature_ids
    expected = {
        int(ids[column]): float(model.step.coef[column])
        for column in model.step.selected
    }
    shown = {row.feature_id: row.weight for row in rows if row.chosen}
    yield from _differ("features of the path", sorted(shown), sorted(expected))
    if shown.keys() == expected.keys() and any(
        not _same([shown[key]], [expected[key]]) for key in shown
    ):
        yield Fault("weights of the path", f"shown {shown}, expected {expected}")
    arrived = {
        int(ids[column]) for step in _models(model.path) for column in step.selected
    }
    listed = {row.feature_id for row in rows if row.rank is not None}
    yield from _differ("arrivals of the path", sorted(listed), sorted(arrived))
    if model.step.learned:
        size = f"k = {len(model.step.selected)} "
        yield from _differ("caption of the path", panel.caption()[: len(size)], size)


def _models(path: PathResult) -> list[Step]:
    """Return the steps that are models: of iterations the last one."""
    return (
        list(path.steps)[-1:]
        if path.step_kind is StepKind.ITERATIONS
        else list(path.steps)
    )


def _test(sight: Sight, panel: FeaturesPanel) -> Iterator[Fault]:
    model, session = sight.inspected, sight.window.session
    label = panel.findChild(QLabel, "features-test")
    assert isinstance(label, QLabel)
    text = "" if label.isHidden() else label.text()
    shown = _measures(text)
    inspects = sight.window.current.shown.inspection is not None
    if model is None or inspects or session.sealed or model.fold.test is None:
        yield from _differ("test line of nothing", shown, {})
        if model is None:
            yield from _differ("sentence on a test of nothing", text, "")
        return
    if not session.has_documents or not model.step.whole:
        return
    plan = session.measurement(model.plan).plan(model.plan)
    expected = sight.truth.test(plan, model.fold, model.step)
    if shown.keys() != expected.keys() or any(
        abs(shown[name] - expected[name]) > _WRITTEN for name in shown
    ):
        yield Fault("test line", f"shown {text!r}, expected {expected}")


def _measures(text: str) -> dict[str, float]:
    """Return the measures of a line: "test: MAP 0.5 · P@5 0.3"."""
    if not text.startswith("test: "):
        return {}
    parts = [
        part.split("\N{NO-BREAK SPACE}")
        for part in text.removeprefix("test: ").split(" · ")
    ]
    return {name: float(value) for name, value in parts}


def _runs(sight: Sight) -> Iterator[Fault]:
    """The table lists all runs, with their states and means, and the strip is of the run that is shown."""
    window, rows = sight.window, sight.window.sections.compare.panel.rows()
    if window.runs.shown is not None:
        yield from _differ(
            "run of the strip",
            window.sections.select.strip._run._key,
            window.runs.shown.key,
        )
    yield from _differ(
        "listed runs",
        [row.key for row in rows],
        [one.key for one in window.runs.records],
    )
    for row, record in zip(rows, window.runs.records, strict=False):
        yield from _differ("state of a run", row.state, record.state.value)
        yield from _differ("method of a run", row.method, record.plan.title)
        yield from _differ(
            "data of a run", row.data.startswith(record.dataset.name), True
        )
        there = record.dataset.folds[0].train.n_documents > 0
        if record.result is not None and record.state.value == "done" and there:
            wanted = window.session.measurement(record.plan, record.dataset)
            # what chooses is measured, too
            reported = wanted.plan(record.plan).measures
            found = sight.truth.averages(record, wanted)
            expected = {
                name: value for name, value in found.items() if name in reported
            }
            if not _same_means(row.summary.means, expected):
                text = f"run {row.key}: shown {dict(row.summary.means)}, expected {expected}"
                yield Fault("means of a run", text)


def _results(sight: Sight) -> dict[int, RunResult]:
    """Return the complete runs as they are to be measured now, measured anew."""
    results = {}
    for record in sight.window.runs.records:
        if record.result is not None and record.result.complete:
            wanted = sight.window.session.measurement(record.plan, record.dataset)
            results[record.key] = sight.truth.run(record, wanted)
    return results


def _groups(sight: Sight) -> Iterator[Fault]:
    """Runs that may not stand side by side are in different groups, and numbers of a test in one group."""
    panel, results = sight.window.sections.compare.panel, _results(sight)
    shown = [{row.key for row in rows} for rows in _below_headings(panel)]
    listed = {row.key for row in panel.table.rows()}
    yield from _differ("runs of all groups", set().union(*shown), listed)
    for one, other in combinations(sorted(results.keys() & listed), 2):
        together = any({one, other} <= keys for keys in shown)
        answer = comparable(results[one], results[other])
        expected = answer.is_comparable or answer.difference is Difference.NO_ESTIMATE
        if together is not expected:
            yield Fault(
                "groups",
                f"runs {one} and {other} together: {together}, expected {expected}",
            )
    for rows in _below_headings(panel):
        members = [results[row.key] for row in rows if row.key in results]
        yield from _best(sight, rows, results)
        compared = {row.key: panel.comparison_of(row.key) for row in rows}
        tested = [key for key, one in compared.items() if one is not None]
        if tested and not all(
            comparable(run, other).is_comparable for run in members for other in members
        ):
            yield Fault("tests", f"runs {tested} are tested and may not be ranked")
        references = [
            key
            for key, one in compared.items()
            if one is not None and one.role == "reference"
        ]
        if len(references) > 1:
            yield Fault("references", f"several of one group: {references}")


def _below_headings(panel: RunsPanel) -> list[list[RunRow]]:
    """Return the runs of the table, each group by itself."""
    groups: list[list[RunRow]] = []
    for row in panel.table.rows_model.shown_rows():
        if isinstance(row, Heading):
            groups.append([])
        elif groups:
            groups[-1].append(row)
    return groups


def _best(
    sight: Sight, rows: list[RunRow], results: Mapping[int, RunResult]
) -> Iterator[Fault]:
    """The bold value of a group is its best one; a run that is not finished has none."""
    panel, name = sight.window.sections.compare.panel, sight.window.session.measure
    bold = {row.key for row in rows if panel._is_best(row, name)}
    unfinished = [
        row.key for row in rows if row.state != "done" and row.mean(name) is not None
    ]
    yield from _differ("numbers of unfinished runs", unfinished, [])
    group = panel.group_of(rows[0].key) if rows else None
    own = {
        key: results[key].average.get(name)
        for key in (group.measured if group else ())
        if key in results
    }
    values = {
        key: value
        for key, value in own.items()
        if value is not None and not np.isnan(value)
    }
    is_ranked = all(results[key].part.is_estimate for key in values)
    best = best_of_several(values.values(), name) if is_ranked else None
    expected = {
        key
        for key, value in values.items()
        if best is not None and abs(value - best) < _CLOSE
    }
    listed = {row.key for row in rows}
    if group is not None and values.keys() == own.keys():
        yield from _differ("best of a group", bold, expected & listed)


def _compared(sight: Sight) -> Iterator[Fault]:
    """All that plots and views show of runs is of one group of comparable runs."""
    compare, results = sight.window.sections.compare, _results(sight)
    if not compare.panel.isVisible():
        return
    keys: dict[str, set[int]] = {
        "curves": {curve.key for curve in compare.curves.plot.curves}
    }
    views = compare.views
    match views.key():
        case "pareto":
            keys["front"] = {spot.category + 1 for spot in views.pareto.plot.spots}
        case "tests":
            keys["tests"] = {row.key for row in views.tests.table.rows()}
        case "conventions" | "published":
            keys["literature"] = set()
        case _:
            pass
    everything = set().union(*keys.values())
    for one, other in combinations(sorted(everything & results.keys()), 2):
        answer = comparable(results[one], results[other])
        if not answer.is_comparable and answer.difference is not Difference.NO_ESTIMATE:
            yield Fault(
                "runs of the plots", f"{keys}: runs {one} and {other}, {answer.reason}"
            )
    for key in everything:
        record = next(
            (one for one in sight.window.runs.records if one.key == key), None
        )
        if record is None or record.dataset.name != sight.dataset.name:
            yield Fault(
                "runs of other data",
                f"{keys}: run {key} is not on {sight.dataset.name}",
            )


def _same_means(
    shown: Mapping[str, float | None], expected: Mapping[str, float]
) -> bool:
    names = [name for name in shown if name in expected]
    values = [
        [np.nan if one[name] is None else one[name] for name in names]
        for one in (shown, expected)
    ]
    # where no query defines it
    absent = [value for name, value in expected.items() if name not in shown]
    return bool(np.isnan(absent).all()) and _same(*values)


def _same(one: Any, other: Any) -> bool:
    """Return whether numbers are the same, NaN included."""
    a, b = np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)
    return a.shape == b.shape and bool(
        np.allclose(a, b, rtol=_CLOSE, atol=_CLOSE, equal_nan=True)
    )


def _label(panel: Any, name: str) -> str:
    label = panel.findChild(QLabel, name)
    assert isinstance(label, QLabel)
    return label.text()


def _role(panel: Any, role: str) -> str:
    """Return what the label of a role says: the panel's title."""
    return next(
        one.text() for one in panel.findChildren(QLabel) if one.property("role") == role
    )
