"""What a random walk can do in the window: each step a name and drawn numbers, so that it can be done again.

A number means one of what there is to choose from at that moment. A step for which there is nothing to choose
is skipped, so that a walk from which steps are taken out is a walk still.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from walks.stage import Stage

from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.errors import ParameterError, PlanError
from rankstudio.engine.experiment.plan.preference_source import preferences_of
from rankstudio.engine.methods.catalog import methods
from rankstudio.engine.metrics.conventions import CONVENTIONS
from rankstudio.engine.metrics.names import OFFERED
from rankstudio.ui.model.run_queue import Runs
from rankstudio.ui.model.run_record import RunRecord
from rankstudio.ui.shell.pages import PAGES
from rankstudio.ui.widgets import CoveredNumber, Heading, Panel, TableView
from rankstudio.ui.widgets.columns import ROW_ROLE

T = TypeVar("T")
_REGULARIZATION = {"regularization": (0.25, 1.0, 4.0)}
_FSM = {"lambda1": (0.1, 1.0), "lambda2": 1e-4, "max_iter": 9}
_TREES = {"n_rounds": 4, "num_leaves": 4, "min_data_in_leaf": 2}
_SUBSETS = {"n_features_to_select": 2, "measure": "MAP", "patience": 1, "max_iter": 2}

KINDS: dict[str, dict[str, Any]] = {
    "greedy": {"method": "greedy-rankrls", "parameters": _REGULARIZATION},
    "greedy, many": {
        "method": "greedy-rankrls",
        "parameters": {"regularization": tuple(2.0**power for power in range(-2, 8))},
    },
    "greedy, short": {
        "method": "greedy-rankrls",
        "parameters": {"regularization": (1.0,), "n_features_to_select": 3},
    },
    "greedy, two axes": {
        "method": "greedy-rankrls",
        "parameters": {"regularization": (0.5, 2.0), "n_features_to_select": (2, None)},
    },
    "greedy, sampled": {
        "method": "greedy-rankrls",
        "parameters": {"regularization": (1.0, 2.0), "n_candidates": (3, 4)},
    },
    "floating": {
        "method": "greedy-rankrls",
        "parameters": {"regularization": (1.0,), "search": ("forward", "floating")},
    },
    "rankrls": {"method": "rankrls", "parameters": _REGULARIZATION},
    "l1": {"method": "l1-path", "parameters": _REGULARIZATION},
    "l1, ranked": {
        "method": "l1-path",
        "parameters": {"scaling": ["none", "unit"]},
        "ranker": "rankrls",
        "ranker_parameters": _REGULARIZATION,
    },
    "single": {
        "method": "single-feature",
        "parameters": {"regularization": (1.0,), "measure": "MAP"},
    },
    "information": {
        "method": "mutual-information",
        "parameters": {"regularization": (1.0, 4.0)},
    },
    "elimination": {"method": "rfe", "parameters": {"regularization": (1.0, 4.0)}},
    "gas": {"method": "gas", "parameters": {"regularization": (1.0, 4.0)}},
    "gas, ranked": {
        "method": "gas",
        "ranker": "ranksvm",
        "ranker_parameters": {"C": (0.1, 1.0), "max_iter": 9},
    },
    "gas, boosted": {
        "method": "gas",
        "ranker": "rankboost",
        "ranker_parameters": {"n_rounds": 3},
    },
    "fsmrank": {"method": "fsmrank", "parameters": _FSM},
    "fsmrank, two axes": {
        "method": "fsmrank",
        "parameters": {"lambda1": (0.1, 1.0), "lambda2": (1e-4, 1e-3), "max_iter": 5},
    },
    "fsmrank, first k": {
        "method": "fsmrank-top",
        "parameters": {**_FSM, "n_features_to_select": 3},
    },
    "fsmsvm, two axes": {
        "method": "fsmsvm",
        "parameters": {"lambda1": (0.1, 1.0), "C": (0.1, 1.0), "max_iter": 9},
    },
    "divergence": {
        "method": "expected-divergence",
        "parameters": {"regularization": (1.0,)},
    },
    "subsets": {
        "method": "fs-bfs",
        "parameters": {**_SUBSETS, "regularization": (1.0, 4.0)},
    },
    "trees": {"method": "lambdamart", "parameters": _TREES},
    "trees, first k": {
        "method": "lambdamart-top",
        "parameters": {**_TREES, "n_features_to_select": 3},
    },
    "trees of XGBoost": {
        "method": "xgboost",
        "parameters": {"n_rounds": 4, "max_depth": 3},
    },
    "adarank": {"method": "adarank", "parameters": {"n_rounds": 5, "measure": "MAP"}},
    "rankboost": {"method": "rankboost", "parameters": {"n_rounds": (5, 9)}},
    "ascent": {
        "method": "coordinate-ascent",
        "parameters": {"n_restarts": 1, "max_iter": 2, "measure": "MAP"},
    },
    "ranksvm": {"method": "ranksvm", "parameters": {"C": (0.1, 1.0), "max_iter": 20}},
    "kernel": {
        "method": "kernel-rankrls",
        "parameters": {
            "regularization": (0.25, 1.0),
            "gamma": (0.0625, 0.25),
            "n_basis": 20,
        },
    },
    "listnet": {
        "method": "listnet",
        "parameters": {"regularization": (0.25, 1.0), "max_iter": 9},
    },
    "svm-map": {"method": "svm-map", "parameters": {"C": (0.1, 1.0), "max_iter": 9}},
}
"""Methods of every kind, quick on small data."""

_NO_KEY = Qt.KeyboardModifier.NoModifier
_SHIFT, _CONTROL = (
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.ControlModifier,
)

_QUICK = {
    "greedy-rankrls",
    "rankrls",
    "l1-path",
    "single-feature",
    "mutual-information",
    "rfe",
    "fsmrank",
}
_MOST_FEATURES, _MOST_FOLDS = 20, 5  # for all methods

_CHANGES: tuple[dict[str, Any], ...] = (
    {"regularization": (2.0,)},
    {"regularization": (0.5, 1.0, 2.0, 4.0)},
    {"n_features_to_select": 4},
    {"n_features_to_select": (2, 5)},
    {"n_features_to_select": None},
    {"C": (0.01, 0.1)},
    {"n_rounds": 6},
    {"pinned": (2,)},
    {"banned": (1, 3)},
    {"ties": False},
)
_OTHERS: tuple[dict[str, Any], ...] = (
    {"seed": 1},
    {"seed": 0},
    {"select_by": "NDCG@10"},
    {"select_by": "criterion"},
    {"select_by": "MAP"},
    {"rule": "one-se"},
    {"rule": "at most 3"},
    {"rule": "best"},
    {"measures": ("MAP", "P@5")},
    {"measures": ("NDCG@10", "MAP", "ERR@10")},
    {"folds": (1,)},
    {"folds": ()},
)
_PROTOCOLS = (
    "given",
    "3-fold",
    "given",
    "leave-query-out",
    "nested 20",
    "split 60/20/20",
    "nested 2-fold",
)


class ImpossibleStepError(Exception):
    """There is nothing of what a step wants to do something with."""


@dataclass(frozen=True)
class Step:
    """One step: what is done, and with which of what there is."""

    name: str
    numbers: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.numbers))})"


Act = Callable[..., object]
ACTS: dict[str, tuple[int, Act]] = {}
"""By name: how often it is drawn, and what it does."""


def step(weight: int) -> Callable[[Act], Act]:
    """Make a function a step; it is drawn so often among all."""

    def add(act: Act) -> Act:
        ACTS[act.__name__] = weight, act
        return act

    return add


def n_numbers(name: str) -> int:
    """Return how many numbers a step is drawn with."""
    return len(inspect.signature(ACTS[name][1]).parameters) - 1


def take(stage: Stage, one: Step) -> bool:
    """Do a step, and wait for what comes of it; False where it was impossible."""
    try:
        ACTS[one.name][1](stage, *one.numbers)
    except ImpossibleStepError:
        return False
    stage.rest()
    return True


def of(number: int, those: Sequence[T]) -> T:
    """Return the one of those that a number means."""
    if not those:
        raise ImpossibleStepError
    return those[number % len(those)]


def trigger(stage: Stage, name: str) -> None:
    """Carry out a command as its menu does, where it can be."""
    action = stage.window.commands[name]
    if not action.isEnabled():
        raise ImpossibleStepError
    action.trigger()


def change(stage: Stage, **changes: Any) -> None:
    """Change the plan as the form does; one that would be no plan is refused there."""
    if stage.window.session.dataset is None:
        raise ImpossibleStepError
    try:
        stage.window.session.change("editing", **changes)
    except (ParameterError, PlanError):
        raise ImpossibleStepError from None


def seen(stage: Stage, page: str, widget: QWidget) -> None:
    """Go to the page of a widget, as one does who wants to use it."""
    if stage.window.session.dataset is None:
        raise ImpossibleStepError
    if not widget.isVisible():
        stage.window.workspace.show_page(page)
    if not widget.isVisible():
        raise ImpossibleStepError


@contextmanager
def inspecting(stage: Stage) -> Iterator[None]:
    """Make sure that looking changes neither what is chosen nor what can be undone."""
    session = stage.window.session
    before = session.choice, session.plan, session.undo.index()
    yield
    assert (session.choice, session.plan, session.undo.index()) == before


def run_of(number: int, runs: Runs) -> RunRecord:
    """Return one of the runs that are listed."""
    return of(number, runs.records)


# What is open


@step(5)
def open_data(stage: Stage, choice: int) -> None:
    stage.window.open_path(of(choice, stage.places.data[:-1]))


@step(1)
def load_sample(stage: Stage) -> None:
    stage.window.open_path(stage.places.data[-1])


@step(1)
def read_again(stage: Stage, choice: int) -> None:
    name, value = of(
        choice,
        (("normalize", "query_minmax"), ("normalize", "none"), ("missing", "zero")),
    )
    entries = stage.window.commands.submenus[name].actions()
    next(entry for entry in entries if entry.data() == value).trigger()


@step(1)
def name_judges(stage: Stage) -> None:
    plan = stage.window.session.plan
    if not stage.places.judged or plan.data != stage.places.judged:
        raise ImpossibleStepError
    columns = replace(
        DataColumns.of(plan.columns), label="label", labels=("label", "second")
    )
    stage.window.open_controller._open_with(plan.data, plan, columns)


@step(1)
def other_judge(stage: Stage, choice: int) -> None:
    box = stage.window.sections.contributed.controllers["judges"].panel.label
    if not box.isVisible() or not box.count():
        raise ImpossibleStepError
    box.setCurrentIndex(choice % box.count())
    box.activated.emit(box.currentIndex())


@step(2)
def new_study(stage: Stage) -> None:
    stage.window.study_files.new()


@step(2)
def save_study(stage: Stage, choice: int) -> None:
    stage.window.study_files.save_as(
        str(stage.folder / f"{of(choice, 'ab')}.rankstudio")
    )


@step(3)
def open_study(stage: Stage, choice: int) -> None:
    path = stage.folder / f"{of(choice, 'ab')}.rankstudio"
    if not path.exists():
        raise ImpossibleStepError
    stage.window.open_path(str(path))


@step(2)
def close_and_open(stage: Stage) -> None:
    stage.close()
    stage.open()


# The plan


@step(16)
def choose_method(stage: Stage, choice: int) -> None:
    bare: dict[str, Any] = {"parameters": {}, "ranker": "", "ranker_parameters": {}}
    there = {entry.key for entry in methods() if not entry.lacking}
    kinds = [kind for kind in KINDS.values() if kind["method"] in there]
    change(stage, **{**bare, **of(choice, kinds)})


@step(6)
def change_parameter(stage: Stage, choice: int) -> None:
    plan = stage.window.session.plan
    fitting = [one for one in _CHANGES if set(one) <= set(plan.parameters)]
    change(stage, parameters={**plan.parameters, **of(choice, fitting)})


@step(4)
def change_plan(stage: Stage, choice: int) -> None:
    change(stage, **of(choice, _OTHERS))


@step(3)
def choose_protocol(stage: Stage, choice: int) -> None:
    change(stage, protocol=of(choice, _PROTOCOLS))


@step(2)
def pin_or_ban(stage: Stage, choice: int, verb: int) -> None:
    features = stage.window.sections.features.features
    seen(stage, "select", features)
    row = of(choice, features.table.rows())
    if not features._pins:
        raise ImpossibleStepError
    features.table.select(row)
    features.toggled.emit(of(verb, ("pinned", "banned")), row.feature_id)


@step(1)
def preferences(stage: Stage) -> None:
    if preferences_of(stage.window.session.plan):
        stage.window.sections.contributed.controllers["preferences"].remove()
    elif stage.window.commands["open_preferences"].isEnabled():
        stage.window.open_path(str(stage.places.preferences))
    else:
        raise ImpossibleStepError


@step(2)
def import_costs(stage: Stage, choice: int) -> None:
    dataset = stage.window.session.dataset
    if dataset is None or dataset.n_features > _MOST_FEATURES:
        raise ImpossibleStepError
    path = stage.places.preferences.parent / "costs-of-features.csv"
    rows = [
        f"{i},{0.01 * (i % 3)},{1 + (i + choice) % 4}"
        for i in dataset.feature_ids.tolist()
    ]
    path.write_text("\n".join(["feature,per_document,per_query", *rows]))
    stage.window.open_path(str(path))


# Runs


def start(stage: Stage, command: str) -> None:
    """Run the plan, unless that takes long: the sample and a fold for each query are for quick methods."""
    session = stage.window.session
    plan, dataset = session.plan, session.dataset
    large = dataset is not None and (
        dataset.n_features > _MOST_FEATURES or len(dataset.folds) > _MOST_FOLDS
    )
    if large and (plan.ranker or plan.method not in _QUICK or plan.inner):
        raise ImpossibleStepError
    trigger(stage, command)


@step(18)
def run(stage: Stage) -> None:
    start(stage, "run")


@step(5)
def run_and_hold(stage: Stage, n_events: int) -> None:
    if stage.gate.holds or stage.window.runs.busy:
        raise ImpossibleStepError
    # before it starts: a worker may be quicker than this thread
    stage.gate.hold_after(1 + n_events % 40)
    try:
        start(stage, "run")
    except ImpossibleStepError:
        stage.gate.hold_after(None)
        raise


@step(4)
def let_go_on(stage: Stage) -> None:
    if not stage.gate.holds:
        raise ImpossibleStepError
    stage.gate.open()


@step(3)
def pause(stage: Stage) -> None:
    trigger(stage, "pause")


@step(4)
def one_step(stage: Stage) -> None:
    start(stage, "step")


@step(3)
def stop(stage: Stage) -> None:
    trigger(stage, "stop")


@step(2)
def stop_all(stage: Stage) -> None:
    trigger(stage, "stop_all")


@step(1)
def go_on(stage: Stage, choice: int) -> None:
    left = [record for record in stage.window.runs.records if record.can_go_on]
    stage.window.restorer.go_on(of(choice, left))


@step(3)
def compare(stage: Stage, first: int, second: int, data: int) -> None:
    session = stage.window.session
    if session.dataset is None:
        raise ImpossibleStepError
    bare: dict[str, Any] = {
        "parameters": {},
        "ranker": "",
        "ranker_parameters": {},
        "folds": (),
    }
    bare |= {"groups": {}, "preferences": {}}
    there = {entry.key for entry in methods() if not entry.lacking}
    kinds = [kind for kind in KINDS.values() if kind["method"] in there]
    place = of(
        data,
        (session.plan.data, session.plan.data, session.plan.data, stage.places.data[1]),
    )
    try:
        chosen = (of(first, kinds), of(second, kinds))
        plans = [
            session.plan.changed(**{**bare, **kind, "data": place}) for kind in chosen
        ]
    except (ParameterError, PlanError):
        raise ImpossibleStepError from None
    stage.window.comparison.start(plans)


@step(1)
def given_order(stage: Stage) -> None:
    trigger(stage, "add_order")


@step(1)
def given_scores(stage: Stage) -> None:
    if not stage.window.commands["add_scores"].isEnabled():
        raise ImpossibleStepError
    stage.window.given_scores.read(stage.places.scores, "neural")


@step(4)
def remove_run(stage: Stage, choice: int) -> None:
    stage.window.sections.compare.changes.ask_removal(run_of(choice, stage.window.runs))


@step(1)
def act_on_message(stage: Stage) -> None:
    notice = stage.window.notice.newest
    if notice is None or not notice._actions:
        raise ImpossibleStepError
    notice._buttons[0].click()


# What is looked at


@step(14)
def look_at_run(stage: Stage, choice: int, by: int) -> None:
    window = stage.window
    record = run_of(choice, window.runs)
    if of(by, ("table", "strip", "line")) == "table":
        window.sections.compare.panel.selected.emit(record.key)
    elif of(by, ("table", "strip", "line")) == "strip":
        window.sections.select.strip.selected.emit(record.key)
    else:
        window.toolbar.line.picked.emit("run", record.key)


@step(10)
def look_at_fold(stage: Stage, choice: int, by: int) -> None:
    window = stage.window
    if window.session.dataset is None:
        raise ImpossibleStepError
    fold = of(choice, [*(fold.number for fold in window.session.dataset.folds), None])
    if of(by, ("data", "line", "next", "previous")) == "data":
        window.sections.data.panel.foldChosen.emit(fold)
    elif of(by, ("data", "line", "next", "previous")) == "line":
        window.toolbar.line.picked.emit("fold", fold)
    else:
        trigger(stage, f"{of(by, ('data', 'line', 'next', 'previous'))}_fold")


@step(12)
def move_slider(stage: Stage, first: int, second: int) -> None:
    slider = stage.window.sections.select.curves.slider
    seen(stage, "select", slider)
    if not slider.isEnabled() or not slider._slider.isEnabled():
        raise ImpossibleStepError
    for place in (first, second)[: 1 + second % 2]:
        slider._slider.setValue(place % len(slider.values()))


@step(12)
def pick_point(stage: Stage, choice: int, curve: int, point: int) -> None:
    plots = stage.window.sections.select.curves.plots()
    plot = of(
        choice, [plots[name] for name in sorted(plots) if not plots[name].isHidden()]
    )
    seen(stage, "select", plot)
    curves = [
        key for key, one in plot.family.curves.items() if one.xs and not one.beside
    ]
    key = of(curve, curves)
    with inspecting(stage):
        plot.picked.emit(key, of(point, plot.family[key].xs))


@step(3)
def move_on_plot(stage: Stage, choice: int, direction: int) -> None:
    plots = stage.window.sections.select.curves.plots()
    plot = of(
        choice, [plots[name] for name in sorted(plots) if not plots[name].isHidden()]
    )
    seen(stage, "select", plot)
    with inspecting(stage):
        QTest.keyClick(
            plot,
            of(
                direction,
                (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down),
            ),
        )


@step(8)
def choose_inspected(stage: Stage, by: int) -> None:
    """Choose what is inspected, by a button or by Enter in a plot or a table."""
    window, sections = stage.window, stage.window.sections
    if window.current.shown.inspection is None:
        raise ImpossibleStepError
    inspected = window.session.inspection
    way = of(by, ("button", "plot", "table"))
    if way == "plot":
        plot = sections.select.curves.criterion_plot
        seen(stage, "select", plot)
        QTest.keyClick(plot, Qt.Key.Key_Return)
    elif way == "table":
        seen(stage, "select", sections.features.features.table)
        sections.features.features.confirmed.emit()
    else:
        seen(stage, "select", sections.select.curves)
        button = of(
            by, [one for one in sections.choose_buttons.buttons if one.isVisible()]
        )
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert window.session.choice == inspected
    assert window.session.inspection is None


@step(4)
def follow_chip(stage: Stage, choice: int, link: int) -> None:
    """Take a way out that a chip offers."""
    chips = stage.window.chips
    chip = of(choice, [one for one in (chips.choice, chips.form) if one.text()])
    QTest.mouseClick(of(link, chip.links()), Qt.MouseButton.LeftButton)


def see_as(stage: Stage, view: str) -> None:
    """See the validation as curves or as a map, by the switch below it."""
    switch = stage.window.sections.select.curves.view
    seen(stage, "select", switch)
    values = [value for value, _ in switch.options()]
    switch._buttons()[values.index(view)].click()


@step(2)
def switch_view(stage: Stage, choice: int) -> None:
    see_as(stage, of(choice, ("curves", "map")))


@step(2)
def switch_inspector(stage: Stage, choice: int) -> None:
    switch = stage.window.sections.features.inspector.switch
    seen(stage, "select", switch)
    of(choice, switch._buttons()).click()


@step(4)
def pick_cell(stage: Stage, row: int, column: int) -> None:
    heat = stage.window.sections.select.heat
    see_as(stage, "map")
    seen(stage, "select", heat)
    values = heat.plot.values
    if not values.size:
        raise ImpossibleStepError
    with inspecting(stage):
        heat.plot.picked.emit(row % values.shape[0], column % values.shape[1])


@step(2)
def choose_map(stage: Stage, choice: int) -> None:
    views = stage.window.sections.select.heat.map_box
    see_as(stage, "map")
    seen(stage, "select", views)
    views.setCurrentIndex(choice % views.count())
    views.activated.emit(views.currentIndex())


@step(8)
def move_in_table(stage: Stage, choice: int, key: int, times: int) -> None:
    page, table = of(choice, _pages_with_tables(stage)[:-1])
    seen(stage, page, table)
    if not table.rows():
        raise ImpossibleStepError
    keys = (Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_Home, Qt.Key.Key_End)
    for _ in range(1 + times % 3):
        if page == "compare":  # another run is shown, with what was chosen of it
            QTest.keyClick(table, of(key, keys))
            continue
        with inspecting(stage):
            QTest.keyClick(table, of(key, keys))


def _pages_with_tables(stage: Stage) -> tuple[tuple[str, TableView], ...]:
    sections = stage.window.sections
    return (
        ("select", sections.features.features.table),
        ("features", sections.features.path.table),
        ("compare", sections.compare.panel.table),
        ("queries", sections.queries.list.table),
        ("data", sections.data.statistics.table),
        ("evidence", sections.evidence.panel.table),
    )


@step(10)
def click_in_table(
    stage: Stage, choice: int, scrolled: int, height: int, several: int
) -> None:
    """Scroll a table and click on a row, which has to be highlighted and to stay under the mouse."""
    page, table = of(choice, _pages_with_tables(stage))
    seen(stage, page, table)
    bar = table.verticalScrollBar()
    bar.setValue(round(bar.maximum() * (scrolled % 11) / 10))
    view = table.viewport()
    point = QPoint(view.width() // 2, height % max(1, view.height()))
    index = table.indexAt(point)
    row, before = index.data(ROW_ROLE), table.selected()
    if (
        row is None
        or isinstance(row, Heading)
        or table.column_at(index.column()).kind == "tick"
    ):
        raise ImpossibleStepError
    keys = of(several, (_NO_KEY, _NO_KEY, _NO_KEY, _SHIFT, _CONTROL))
    QTest.mouseClick(view, Qt.MouseButton.LeftButton, keys, point)
    if keys == _NO_KEY or row not in before:
        current = table.current()
        identity = table.rows_model.identities
        assert current is not None and identity([current]) == identity([row]), (
            "another row is chosen"
        )
        assert identity([row])[0] in identity(table.selected()), (
            "another row is highlighted"
        )
    if keys == _NO_KEY:
        assert len(table.selected()) == 1, (
            "more rows than the one under the mouse are highlighted"
        )


@step(2)
def delete_highlighted(stage: Stage) -> None:
    """Press Delete in the table of the runs: those that are highlighted go, and no others."""
    table = stage.window.sections.compare.panel.table
    seen(stage, "compare", table)
    table.activateWindow()  # which may be popped out
    table.setFocus()
    if not table.hasFocus():
        raise ImpossibleStepError
    keys = {row.key for row in table.selected()}
    before = {record.key for record in stage.window.runs.records}
    table.setFocus()  # a key of the table is none of the window
    QTest.keyClick(table, Qt.Key.Key_Delete)
    after = {record.key for record in stage.window.runs.records}
    assert after == before - keys, (
        f"of {before} those left are {after}, highlighted were {keys}"
    )


@step(8)
def choose_in_line(stage: Stage, part: int, entry: int) -> None:
    line = stage.window.toolbar.line
    key = of(
        part, [key for key in ("parameters", "size", "run", "fold") if line.text(key)]
    )
    value, _ = of(entry, line._parts[key].entries())
    line.picked.emit(key, value)


@step(4)
def best(stage: Stage) -> None:
    trigger(stage, "best")


@step(5)
def show_measure(stage: Stage, choice: int) -> None:
    names = [
        entry.data()
        for entry in stage.window.commands.submenus["measure"].actions()
        if entry.data()
    ]
    wanted = of(
        choice, [name for name in names if name in OFFERED or name in ("MAP", "P@5")]
    )
    next(
        e
        for e in stage.window.commands.submenus["measure"].actions()
        if e.data() == wanted
    ).trigger()


@step(4)
def show_convention(stage: Stage, choice: int) -> None:
    wanted = of(choice, sorted(CONVENTIONS))
    next(
        e
        for e in stage.window.commands.submenus["convention"].actions()
        if e.data() == wanted
    ).trigger()


@step(2)
def choose_by_measure(stage: Stage) -> None:
    trigger(stage, "choose_by")


@step(3)
def seal(stage: Stage) -> None:
    trigger(stage, "seal")


@step(3)
def unseal(stage: Stage, choice: int) -> None:
    covered = [
        button
        for button in stage.window.findChildren(CoveredNumber)
        if button.isVisible()
    ]
    of(choice, covered).click()


@step(3)
def follow(stage: Stage) -> None:
    trigger(stage, "follow")


@step(1)
def close_message(stage: Stage) -> None:
    if stage.window.notice.newest is None:
        raise ImpossibleStepError
    stage.window.notice.close_newest()


@step(3)
def left_out(stage: Stage) -> None:
    trigger(stage, "left_out")


@step(1)
def chance(stage: Stage) -> None:
    trigger(stage, "chance")
    trigger(stage, "chance")  # to the end it takes long


@step(1)
def flip_labels(stage: Stage) -> None:
    trigger(stage, "flips")
    trigger(stage, "flips")  # to the end it takes long


@step(2)
def gather_evidence(stage: Stage, choice: int) -> None:
    """Begin a package of the evidence, or stop what is gathered."""
    page = stage.window.sections.evidence
    seen(stage, "evidence", page.panel)
    work = page.panel.work, page.best.work, page.sets.work, page.stop.work
    buttons = [
        button
        for row in work
        for button in (row.button, row.stop)
        if button.isVisible()
    ]
    of(choice, buttons).click()


@step(2)
def use_evidence(stage: Stage, choice: int) -> None:
    """Move the threshold, ask for a feature in the sets, or use or compare the best set."""
    page = stage.window.sections.evidence
    seen(stage, "evidence", page.panel)
    buttons = [
        button for button in (page.best.use, page.best.compare) if button.isVisible()
    ]
    buttons += page.stop.view._group.buttons() if page.stop.view.isVisible() else []
    if choice % 3 == 0:
        page.panel.table.thresholdMoved.emit(0.51 + (choice % 50) / 100)
    elif choice % 3 == 1:
        page.sets.plot.picked.emit(of(choice, page.sets.plot.columns).feature)
    else:
        of(choice, buttons).click()


@step(12)
def show_page(stage: Stage, choice: int) -> None:
    trigger(stage, f"page_{of(choice, PAGES).key}")


@step(3)
def choose_view(stage: Stage, choice: int) -> None:
    views = stage.window.sections.compare.views
    seen(stage, "compare", views)
    of(choice, views._choice._group.buttons()).click()
    parts = views._part._group.buttons()
    if views._part.isVisible():
        of(choice // 4, parts).click()


@step(2)
def tick_run(stage: Stage, choice: int) -> None:
    panel = stage.window.sections.compare.panel
    seen(stage, "compare", panel)
    panel.ticked.emit(run_of(choice, stage.window.runs).key)


@step(2)
def choose_models(stage: Stage, choice: int, entry: int) -> None:
    bar = stage.window.sections.queries.bar
    box = of(choice, (bar.a, bar.b))
    seen(stage, "queries", box)
    if not box.count():
        raise ImpossibleStepError
    box.setCurrentIndex(entry % box.count())
    box.activated.emit(box.currentIndex())


@step(3)
def inspect_feature(stage: Stage, choice: int) -> None:
    dataset = stage.window.session.dataset
    if dataset is None:
        raise ImpossibleStepError
    stage.window.sections.features.inspect(
        int(of(choice, dataset.feature_ids.tolist()))
    )


# The window


@step(14)
def undo(stage: Stage) -> None:
    trigger(stage, "undo")


@step(8)
def redo(stage: Stage) -> None:
    trigger(stage, "redo")


@step(2)
def maximise(stage: Stage, choice: int) -> None:
    if stage.window.session.dataset is None:
        raise ImpossibleStepError
    pages = stage.window.workspace._pages
    page = pages[stage.window.workspace.page]
    page.toggle(
        of(choice, [panel for panel in page.findChildren(Panel) if panel.isVisible()])
    )


@step(2)
def pop_out(stage: Stage, choice: int) -> None:
    if stage.window.session.dataset is None:
        raise ImpossibleStepError
    page = stage.window.workspace._pages[stage.window.workspace.page]
    page.pop_out(
        of(choice, [panel for panel in page.findChildren(Panel) if panel.isVisible()])
    )


@step(2)
def bring_back(stage: Stage) -> None:
    stage.window.workspace.bring_back()


@step(1)
def other_theme(stage: Stage) -> None:
    stage.window.menus.toggle_theme()


@step(1)
def copy_plan(stage: Stage, choice: int) -> None:
    trigger(stage, of(choice, ("copy_command", "copy_python")))


@step(1)
def sort_table(stage: Stage, choice: int, column: int) -> None:
    if stage.window.session.dataset is None:
        raise ImpossibleStepError
    tables = [
        table
        for table in stage.window.workspace.findChildren(TableView)
        if table.isVisible()
    ]
    table = of(choice, tables)
    table.horizontalHeader().sectionClicked.emit(
        column % max(1, table.model().columnCount())
    )
