"""The set as an object: chips out and in, the exact error of each change, and a run of what was made."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from clipped_text import clipped
from evidence_page import rest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt
from PySide6.QtGui import QDrag, QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from waiting import wait_until
from windows import finish, settle

from rankstudio.engine import RankRLS, set_changes
from rankstudio.engine.experiment.plan.hand_choice import HandChoices
from rankstudio.plugins.evidence.window.set_sentences import signed_percent
from rankstudio.plugins.evidence.window.set_tray import (
    LEAST_SENTENCE_WIDTH,
    SetTray,
    SetTrayController,
    ShownSet,
)
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.plots.base import Plot
from rankstudio.ui.style.fonts import BASE
from rankstudio.ui.style.theme import Theme


def prepare(window: MainWindow) -> None:
    finish(window)
    shown(window)


@pytest.fixture
def tray(ran: MainWindow) -> SetTrayController:
    """The tray of the Features page, with the set of the first run of fold 1."""
    return shown(ran)


def shown(window: MainWindow) -> SetTrayController:
    pytest.importorskip("rankstudio.plugins.features")  # its folder may be absent
    window.session.show_fold(1)
    window.workspace.show_page("features")
    settle(window)
    made = window.sections.evidence.tray
    wait_until(
        lambda: (
            made._changes is not None and len(made.trays[0].chips) == len(made.features)
        )
    )
    return made


def known(tray: SetTrayController) -> None:
    wait_until(
        lambda: (
            tray._changes is not None
            and set(tray._changes.features) == set(tray._columns)
        )
    )


def exact(window: MainWindow, tray: SetTrayController) -> object:
    """The changes of the set, computed apart from the window."""
    model = window.models.current.model
    train, own = model.fold.train, model.plan.combination(model.values).parameters
    qid = np.repeat(np.arange(train.n_queries), np.diff(train.query_ptr))
    judge = RankRLS(own["regularization"], weighting=own["weighting"])
    return set_changes(judge, train.X, train.y, qid=qid, features=tray._columns)


def test_a_set_becomes_a_run_on_all_folds_beside_the_run_that_it_came_from(
    window: MainWindow,
) -> None:
    """A run of one fold had its mean listed above those of five, and took the place of the form's method."""
    pytest.importorskip("rankstudio.plugins.features")  # its folder may be absent
    finish(window)
    tray = shown(window)
    plan, choice, source = window.session.plan, window.session.choice, window.runs.shown
    selected = tray.features
    tray.remove(selected[0])
    left = tray.features
    window.models.marks.tick(source.key, False)
    known(tray)
    wait_until(tray.trays[0].run.isEnabled)
    QTest.mouseClick(tray.trays[0].run, Qt.MouseButton.LeftButton)
    wait_until(lambda: len(window.runs.records) == 2 and not window.runs.busy)
    record = window.runs.records[-1]
    assert record.label.name.endswith("1")
    chosen = record.plan.extension(HandChoices)  # whose queries test the other fold
    assert chosen is not None and chosen.text == f"given: {window.session.fold}"
    # λ is chosen on each fold
    assert record.plan.axes[0].values == source.plan.axes[0].values
    assert sorted(record.folds) == sorted(source.folds) == [1, 2]
    for result in record.folds.values():
        assert sorted(result.selected) == sorted(left)
    assert window.workspace.page == "compare"
    assert all(window.models.marks.is_ticked(run.key) for run in (source, record))
    assert (window.session.plan, window.session.choice, window.runs.shown) == (
        plan,
        choice,
        source,
    )
    window.workspace.show_page("features")
    settle(window)
    assert tray.features == left
    tray.run()
    settle(window)
    assert len(window.runs.records) == 2  # there is such a run


@pytest.mark.thorough
@pytest.mark.parametrize(
    "ranker", [{}, {"regularization": (2.0,), "weighting": "pairs"}]
)
def test_a_set_of_any_selector_is_judged_by_the_rankrls_that_ranks_with_it(
    window: MainWindow, ranker: dict[str, object]
) -> None:
    """Catches another λ or loss than that of the model, and a run with parameters of the selector."""
    pytest.importorskip("rankstudio.plugins.features")  # its folder may be absent
    finish(window)
    changes: dict[str, object] = {
        "parameters": {"n_features_to_select": 4, "regularization": (8.0,)}
    }
    if ranker:
        changes = {
            "ranker": "rankrls",
            "ranker_parameters": ranker,
            "parameters": {"n_features_to_select": 4},
        }
    window.session.change("editing", method="gas", **changes)
    finish(window)
    window.session.show_fold(1)
    window.workspace.show_page("features")
    settle(window)
    tray, model = window.sections.evidence.tray, window.models.current.model
    wait_until(lambda: tray.trays[0].isVisible() and tray._changes is not None)
    assert model.plan.method == "gas" and tray._changes.criterion == pytest.approx(
        model.step.criterion
    )
    tray.remove(tray.features[0])
    known(tray)
    error, left = tray._changes.criterion, set(tray._columns)
    tray.run()
    wait_until(lambda: len(window.runs.records) == 3 and not window.runs.busy)
    result = window.runs.records[-1].folds[1]
    assert set(result.chosen.step.selected) == left
    assert result.chosen.step.criterion == pytest.approx(error)


@pytest.mark.thorough
def test_another_fold_has_its_own_set_and_a_method_without_exact_changes_none(
    window: MainWindow,
) -> None:
    finish(window)
    tray = shown(window)
    tray.remove(tray.features[0])
    window.session.show_fold(2)
    settle(window)
    wait_until(lambda: not tray.edited)
    assert set(tray._columns) == set(window.models.current.model.step.selected)
    window.session.change("editing", method="fsmrank", parameters={})
    finish(window)
    window.session.show_fold(1)
    settle(window)
    wait_until(lambda: not tray.trays[0].isVisible())


def test_a_chip_out_and_one_in_follow_exactly(
    ran: MainWindow, tray: SetTrayController
) -> None:
    first, _ = tray.trays
    selected = tray.features
    assert not tray.edited
    assert not first.run.isEnabled()
    first.chips[-1].removed.emit(selected[-1])
    wait_until(lambda: len(first.chips) == len(selected) - 1)
    known(tray)
    assert tray.edited
    assert first.run.isEnabled()
    model = ran.models.current.model
    found = exact(ran, tray)
    assert tray._changes.criterion == pytest.approx(found.criterion, rel=1e-9)
    assert found.criterion != pytest.approx(model.step.criterion, rel=1e-6)
    tray.look_at(selected[-1])
    settle(ran)
    change = found.added[tray._session.column_of(selected[-1])] / found.criterion - 1
    assert signed_percent(change) in first.sentence.text()
    tray.undo()
    wait_until(lambda: tray.features == selected)
    assert not tray.edited
    ran.session.undo.redo()
    assert tray.features == selected[:-1]
    ran.session.select(None, 1)
    wait_until(lambda: len(tray.features) == 1)
    ran.session.undo.undo()
    # the set of this model, as it was edited
    wait_until(lambda: tray.features == selected[:-1])
    ran.session.undo.undo()
    assert tray.features == selected
    other = next(i for i in ran.session.dataset.feature_ids if i not in selected)
    tray.exchange(selected[0], int(other))
    assert tray.features == (int(other), *selected[1:])
    tray.reset()
    assert tray.features == selected


def test_tables_and_menus_offer_the_changes(
    ran: MainWindow, tray: SetTrayController
) -> None:
    selected = tray.features
    (action,) = tray.actions(selected[0])
    action.do()
    assert selected[0] not in tray.features
    known(tray)
    (action,) = tray.actions(selected[0])
    action.do()
    assert selected[0] in tray.features
    known(tray)
    tray._show_menu(selected[0], ran.pos())
    entries = [action.text() for action in tray._menu.actions()]
    inner = next(
        action.menu() for action in tray._menu.actions() if action.menu() is not None
    )
    first = tray._changes.features.index(tray._session.column_of(selected[0]))
    best = int(np.nanargmin(tray._changes.swapped[first]))
    assert len(entries) == 2
    assert inner.actions()[0].text().startswith(f"{tray._id(best)} ")
    tray._menu.close()


def test_the_line_is_on_both_pages_and_on_no_other(
    ran: MainWindow, tray: SetTrayController
) -> None:
    first, second = tray.trays
    assert first.isVisible()
    ran.workspace.show_page("evidence")
    settle(ran)
    wait_until(second.isVisible)
    assert [chip.feature_id for chip in second.chips] == list(tray.features)[
        : len(second.chips)
    ]
    ran.workspace.show_page("data")
    settle(ran)
    wait_until(lambda: not second.isVisible())


def test_the_feature_under_the_mouse_is_said_and_a_row_is_dragged_in(
    ran: MainWindow, tray: SetTrayController
) -> None:
    pytest.importorskip("rankstudio.plugins.features")  # its folder may be absent
    first, table = tray.trays[0], ran.sections.features.path.table
    selected = tray.features
    rows = {row.feature_id: at for at, row in enumerate(table.rows())}
    other = next(feature for feature in rows if feature not in selected)
    found = exact(ran, tray)
    table._hover(rows[other])
    settle(ran)
    change = found.added[tray._session.column_of(other)] / found.criterion - 1
    assert (
        signed_percent(change) in first.sentence.text()
        and f"{other} " in first.sentence.text()
    )
    table._hover(rows[selected[0]])
    settle(ran)
    place = tray._columns.index(tray._session.column_of(selected[0]))
    assert (
        signed_percent(found.without[place] / found.criterion - 1)
        in first.sentence.text()
    )
    table._hover(-1)
    settle(ran)
    assert "%" not in first.sentence.text()
    data = table.dragged(table.rows()[rows[other]])
    action, button, key = (
        Qt.DropAction.CopyAction,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    entered = QDragEnterEvent(QPoint(5, 5), action, data, button, key)
    first.dragEnterEvent(entered)
    assert entered.isAccepted()
    first.dropEvent(QDropEvent(QPointF(5, 5), action, data, button, key))
    assert tray.features == (*selected, other)
    empty = QMimeData()  # which the event does not keep
    nothing = QDragEnterEvent(QPoint(5, 5), action, empty, button, key)
    nothing.ignore()
    first.dragEnterEvent(nothing)
    assert not nothing.isAccepted()


def test_a_feature_of_the_path_is_dragged_into_the_set_over_a_visible_target(
    ran: MainWindow, tray: SetTrayController, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The press chose the model of that size, which had the feature already: nothing was left to drop."""
    pytest.importorskip("rankstudio.plugins.features")  # its folder may be absent
    first, table = tray.trays[0], ran.sections.features.path.table
    selected, model = tray.features, ran.current.model
    ran.session.select(model.values, 2)
    settle(ran)
    known(tray)
    selected, model = tray.features, ran.current.model
    [number] = [at for at, row in enumerate(table.rows()) if row.rank == 4]
    feature = table.rows()[number].feature_id
    assert len(selected) == 2 and feature not in selected
    chosen = table.current()
    seen: list[str] = []

    def let_go(self: QDrag, *_: object) -> Qt.DropAction:
        seen.append(first.sentence.text())
        before = first.grab().toImage()
        entered = QDragEnterEvent(
            QPoint(5, 5),
            Qt.DropAction.CopyAction,
            self.mimeData(),
            LEFT,
            Qt.KeyboardModifier.NoModifier,
        )
        QApplication.sendEvent(first, entered)
        assert entered.isAccepted()
        assert first.grab().toImage() != before
        dropped = QDropEvent(
            QPointF(5, 5),
            Qt.DropAction.CopyAction,
            self.mimeData(),
            LEFT,
            Qt.KeyboardModifier.NoModifier,
        )
        QApplication.sendEvent(first, dropped)
        return Qt.DropAction.CopyAction

    monkeypatch.setattr(QDrag, "exec", let_go)
    at_rest = first.grab().toImage()
    at = table.visualRect(table.model().index(number, 1)).center()
    QTest.mousePress(table.viewport(), LEFT, pos=at)
    QTest.mouseMove(
        table.viewport(), at + QPoint(0, 2 * QApplication.startDragDistance())
    )
    assert tray.features == (*selected, feature)
    assert ran.current.model is model
    assert table.current() == chosen
    assert str(feature) in seen[0]
    settle(ran)
    known(tray)
    settle(ran)
    assert first.sentence.text() != seen[0]
    tray.undo()
    settle(ran)
    known(tray)
    settle(ran)
    assert first.grab().toImage() == at_rest


LEFT = Qt.MouseButton.LeftButton


def drop(data: QMimeData, target: QWidget) -> bool:
    """Let a drag go over a widget, as Qt does: by the first widget around it that takes it."""
    move, button, key = (
        Qt.DropAction.MoveAction,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    entered = QDragEnterEvent(QPoint(5, 5), move, data, button, key)
    entered.ignore()
    QApplication.sendEvent(target, entered)
    if entered.isAccepted():
        QApplication.sendEvent(
            target, QDropEvent(QPointF(5, 5), move, data, button, key)
        )
    return entered.isAccepted()


def drag(
    monkeypatch: pytest.MonkeyPatch, tray: SetTrayController, target: QWidget | None
) -> None:
    """Drag the first chip to a widget, or press Escape on the way."""
    chip = tray.trays[0].chips[0]
    dragged: list[bool] = []

    def let_go(self: QDrag, *_: object) -> Qt.DropAction:
        taken = target is not None and drop(self.mimeData(), target)
        dragged.append(taken)
        return Qt.DropAction.MoveAction if taken else Qt.DropAction.IgnoreAction

    monkeypatch.setattr(QDrag, "exec", let_go)
    QTest.mousePress(chip, Qt.MouseButton.LeftButton, pos=QPoint(8, 12))
    QTest.mouseMove(chip, QPoint(8 + 2 * QApplication.startDragDistance(), 12))
    assert dragged == [target is not None]


def test_only_a_chip_that_is_let_go_outside_of_the_tray_is_removed(
    ran: MainWindow, tray: SetTrayController, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("rankstudio.plugins.features")  # its folder may be absent
    selected = tray.features
    drag(monkeypatch, tray, None)
    assert tray.features == selected
    drag(monkeypatch, tray, tray.trays[0])
    assert tray.features == selected
    drag(monkeypatch, tray, ran.sections.features.path.table.viewport())
    assert tray.features == selected[1:]
    wait_until(lambda: len(tray.trays[0].chips) == len(selected) - 1)
    drag(monkeypatch, tray, ran.sections.features.why.panel.plot.viewport())
    assert tray.features == selected[2:]


def hovered_features(plot: Plot) -> dict[int, QPointF]:
    """Features that the mouse comes to on a way over a plot, with a place of each."""
    places: dict[int, QPointF] = {}
    for x in range(1, plot.width(), 5):
        for y in range(1, plot.height(), 5):
            found = plot.hit_test(QPointF(x, y))
            feature = 0 if found is None else plot.feature_of(found)
            if feature:
                places.setdefault(feature, QPointF(x, y))
    return places


@pytest.mark.parametrize(
    ("page", "kind"),
    [
        ("data", "AlonePlot"),
        ("select", "BarsPlot"),
        ("features", "CandidateMapPlot"),
        ("features", "FeatureMapPlot"),
        ("evidence", "StepCurvesPlot"),
        ("evidence", "SetMatrixPlot"),
    ],
)
def test_every_plot_of_features_says_the_exact_changes(
    ran: MainWindow, tray: SetTrayController, page: str, kind: str
) -> None:
    pytest.importorskip("rankstudio.plugins.features")  # its folder may be absent
    ran.workspace.show_page(page)
    if page == "select":
        ran.sections.features.inspector.switch.select("candidates")
        ran.sections.features.inspector.switch.chosen.emit("candidates")
    plots = ran.sections.pages[page].findChildren(Plot)
    plot = next(one for one in plots if type(one).__name__ == kind)
    if page == "evidence":
        rest(ran)
    wait_until(lambda: not ran.models.task_worker.jobs)
    settle(ran)
    wait_until(lambda: not plot.is_empty())
    settle(ran)
    places = hovered_features(plot)
    before = [one.sentence.text() for one in tray.trays]
    members = set(tray.features)
    assert len(set(places) - members) >= 1 or page in ("select", "evidence")
    for feature, at in list(places.items())[:6]:
        plot.hover(at)
        known(tray)
        settle(ran)
        found, column = exact(ran, tray), tray._session.column_of(feature)
        said = {line.text: line.value for line in plot.box.lines()}
        inside = feature in members
        alone = (
            found.without[found.features.index(column)]
            if inside
            else found.added[column]
        )
        assert signed_percent(alone / found.criterion - 1) in said.values()
        seen = [one.sentence.text() for one in tray.trays if one.isVisible()]
        (told,) = seen or [ran.status.currentMessage()]
        assert f"{feature} " in told
        if not inside:
            best = np.nanmin(found.swapped[:, column]) / found.criterion - 1
            assert signed_percent(best) in told
    plot.hover(None)
    settle(ran)
    assert not ran.status.currentMessage()
    assert [one.sentence.text() for one in tray.trays] == before


def test_each_member_shows_what_the_feature_under_the_mouse_would_change_in_its_place(
    ran: MainWindow, tray: SetTrayController
) -> None:
    pytest.importorskip("rankstudio.plugins.features")  # its folder may be absent
    table, chips = ran.sections.features.path.table, tray.trays[0].chips
    found = exact(ran, tray)
    other = next(
        at for at, row in enumerate(table.rows()) if row.feature_id not in tray.features
    )
    column = tray._session.column_of(table.rows()[other].feature_id)
    table._hover(other)
    settle(ran)
    for chip in chips:
        place = found.features.index(tray._session.column_of(chip.feature_id))
        assert chip._error_change == pytest.approx(
            found.swapped[place, column] / found.criterion - 1, abs=1e-9
        )
    table._hover(-1)
    settle(ran)
    assert all(chip._error_change is None for chip in chips)


NAMES = tuple(
    (i * 7 + 3, f"LMIR.DIR of the whole document, variant {i}") for i in range(30)
)
SAID = "left-out error 0.20817 per document"


@pytest.mark.parametrize("shares_line", [False, True])
@pytest.mark.parametrize("text_size", [BASE, 18])
def test_as_many_chips_are_shown_as_fit(
    stage: object, theme: Theme, text_size: int, *, shares_line: bool
) -> None:
    tray = SetTray(theme, "tray", shares_line=shares_line)
    stage(tray, 900, 40)
    theme.set_text_size(text_size)
    theme.finish()
    try:
        for n_features in (1, 2, 3, 4, 10, 30):
            tray.show_set(
                ShownSet(NAMES[:n_features], edited=True, sentence=SAID), undoable=True
            )
            for width in range(620, 1640, 60):
                tray.resize(width, 40)
                QApplication.processEvents()
                shown = [chip for chip in tray.chips if chip.isVisible()]
                assert shown and shown == tray.chips[: len(shown)]
                assert clipped(tray) == []
                line = [
                    *shown,
                    tray._others,
                    tray.add,
                    tray.sentence,
                    tray.undo,
                    tray.reset,
                    tray.run,
                ]
                for left, right in pairwise(
                    widget for widget in line if widget.isVisible()
                ):
                    assert left.geometry().right() < right.x()
                n_left_out = n_features - len(shown)
                assert tray._others.isVisible() == bool(n_left_out)
                assert not n_left_out or f"{n_left_out}" in tray._others.text()
                # the next one would take the room of the sentence
                if len(shown) < len(tray.chips):
                    room = tray.sentence.width() - tray.chips[len(shown)].width()
                    # but for spaces and the digits of the count
                    assert room < LEAST_SENTENCE_WIDTH + 24
    finally:
        theme.set_text_size(BASE)
        theme.finish()
