"""Two models query by query, from runs to the feature that decides between two documents."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QPolygonF
from PySide6.QtTest import QTest
from queries_page import look, run_with, two_runs, values
from waiting import wait_until
from windows import finish, open_window, settle, write_folds

from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.metrics.evaluation import evaluate
from rankstudio.engine.steps import Step
from rankstudio.plugins.queries.window.ablation_panel import AblationRow
from rankstudio.plugins.queries.window.comparison_panel import (
    SCATTER,
    SORTED,
    QueryPlot,
)
from rankstudio.plugins.queries.window.controller import QueriesController
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.model.run_queue import look_at
from rankstudio.ui.model.selected_model import NOT_WHOLE
from rankstudio.ui.style.theme import Theme


@pytest.fixture
def window(theme: Theme, tmp_path: Path) -> Iterator[MainWindow]:
    data = write_folds(tmp_path / "data")
    with open_window(theme, tmp_path / "config", data) as made:
        made.resize(1280, 760)
        yield made


def prepare(window: MainWindow) -> None:
    window.resize(1280, 760)
    two_runs(window)


@pytest.fixture
def page(ran: MainWindow) -> Iterator[QueriesController]:
    """The page of a window with two runs that several tests share, as it is at first."""
    found = look(ran)
    yield found
    found.list.winner.setCurrentIndex(0)
    found.list.all.click()
    for choice in (found.comparison.mode, found.bar.part, found.bar.scope):
        choice._buttons()[0].click()
        settle(ran)


def test_one_run_is_held_against_the_best_single_feature(window: MainWindow) -> None:
    finish(window)
    assert window.sections.queries.queries == (), (
        "a page that is not seen computes nothing"
    )
    page = look(window)
    rows = page.list.table.rows()
    assert sorted(row.a for row in rows) == values(window, 1)
    for fold in window.runs.record(1).folds.values():
        mean = np.mean([row.b for row in rows if row.fold == fold.fold])
        assert mean == pytest.approx(fold.baseline.test["MAP"])
    assert "best single feature" in page.bar.b.currentText()
    assert [row.difference for row in rows] == sorted(row.difference for row in rows)


def test_each_feature_left_out_is_listed_with_what_it_changes(
    window: MainWindow,
) -> None:
    finish(window)
    page = look(window)
    button = page.ablation.button
    assert button.isVisible() and button.text().startswith("Train ")
    assert page.ablation.table.rows() == []
    button.click()
    rows = ablated(page)
    assert not button.isVisible()
    used = used_columns(window)
    ids = window.session.dataset.feature_ids
    assert {row.feature for row in rows} == {int(ids[column]) for column in used}
    assert [row.fall for row in rows] == sorted(
        (row.fall for row in rows), reverse=True
    )
    assert "95 % interval" in page.ablation.sentence.text()
    queries = sum(fold.test.n_queries for fold in window.session.dataset.folds)
    for row in rows:
        n = row.effect.n_worse + row.effect.n_equal + row.effect.n_better
        assert n == queries or len(row.effect.folds) < 2


@pytest.mark.thorough
def test_a_run_in_the_background_leaves_the_models_and_the_choice(
    window: MainWindow,
) -> None:
    page = two_runs(window)
    window.session.select(None, 1)
    settle(window)
    plan = window.runs.record(1).plan.changed(seed=3)
    third = window.runs.start(plan, window.session.dataset, is_shown=False)
    wait_until(lambda: third.state.ended)
    settle(window)
    assert (page.bar.a.currentData(), page.bar.b.currentData()) == (2, 1)
    assert window.runs.shown.key == 2
    assert window.session.choice.x_value == 1
    look_at(window.session, window.runs, third)
    assert window.session.choice.x_value is None
    look_at(window.session, window.runs, window.runs.record(2))
    assert window.session.choice.x_value == 1


@pytest.mark.thorough
def test_a_removed_run_is_compared_no_more(window: MainWindow) -> None:
    page = two_runs(window)
    window.runs.remove(window.runs.record(1))
    settle(window)
    assert "best single feature" in page.bar.b.currentText()
    assert page.queries


def test_the_size_that_is_selected_is_the_one_that_is_compared(
    window: MainWindow,
) -> None:
    finish(window)
    page = look(window)
    window.session.select(None, 1)
    settle(window)
    record = window.runs.record(1)
    for fold in record.folds.values():
        path = record.paths[fold.fold, fold.chosen.unit.position]
        part = window.session.dataset.folds[fold.fold - 1].test
        scores = path.steps[0].scores(np.ascontiguousarray(part.X.T))
        found = evaluate(part.y, scores, part.qid, measures=["MAP"]).per_query["MAP"]
        kept = {q.position: q.a for q in page.queries if q.fold == fold.fold}
        assert [kept[i] for i in range(len(kept))] == pytest.approx(found)


@pytest.mark.thorough
@pytest.mark.parametrize("method", ["lambdamart", "rankboost"])
def test_models_that_are_not_linear_have_contributions_too(
    window: MainWindow, method: str
) -> None:
    few = {"n_rounds": 4} | ({"min_data_in_leaf": 5} if method == "lambdamart" else {})
    run_with(window, method=method, parameters=few)
    assert isinstance(window.runs.records[-1].plan, Plan)
    page = look(window)
    rows = page.documents.table.rows()
    offset = page.documents._query.offset
    for row in rows:
        assert sum(row.parts) + offset == pytest.approx(row.document.score_a)


def test_learning_again_stops_with_the_page_and_goes_on_with_it(
    window: MainWindow,
) -> None:
    finish(window)
    window.workspace.show_page("queries")
    page = window.sections.queries
    wait_until(lambda: page.queries)
    wait_until(page.ablation.button.isVisible)
    page.ablation.button.click()
    window.workspace.show_page("select")
    settle(window)
    window.workspace.show_page("queries")
    assert len(ablated(page)) == len(used_columns(window))


def test_of_models_that_the_study_did_not_keep_it_says_so(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish(window)
    monkeypatch.setattr(Step, "whole", property(lambda step: False))
    page = look(window)
    assert page.comparison.plot.placeholder == NOT_WHOLE
    assert page.queries == ()


def test_without_a_run_one_sentence_leads_to_a_run(window: MainWindow) -> None:
    page = look(window)
    panels = page.comparison, page.list, page.documents, page.ablation
    assert page.empty.isVisible()
    assert "Run a method" in page.empty.sentence.text()
    assert "Run a method" in page.comparison.plot.placeholder
    assert page.list.table.rows() == page.documents.table.rows() == []
    assert not any(panel.isVisible() for panel in (*panels, page.bar))
    page.empty.button.setFocus()
    QTest.keyClick(page.empty.button, Qt.Key.Key_Space)
    assert window.workspace.page == "select"
    finish(window)
    look(window)
    assert not page.empty.isVisible()
    assert all(panel.isVisible() for panel in (*panels, page.bar))
    assert page.list.table.rows()


def test_a_query_chosen_while_other_models_are_compared_is_ranked_by_those_that_are_shown(
    window: MainWindow,
) -> None:
    two_runs(window)
    page, failures = window.sections.queries, list[str]()
    page.failed.connect(failures.append)
    last = max(range(len(page.queries)), key=lambda place: page.queries[place].fold)
    shown = page.queries[last]
    record = window.runs.record(2)
    # as a run that was stopped after its first fold
    for part in (record.folds, record.paths):
        for key in [
            key
            for key in part
            if key not in (1,) and not (isinstance(key, tuple) and key[0] == 1)
        ]:
            del part[key]
    page._compare()  # has been asked for, and is not there yet
    page._on_picked(last)
    settle(window)
    assert failures == []
    assert shown.fold > 1
    page.update()
    settle(window)
    assert {query.fold for query in page.queries} == {1}


def test_a_drag_on_the_plot_lists_what_it_catches(page: QueriesController) -> None:
    plot, table = page.comparison.plot, page.list.table
    everything = len(table.rows())
    frame = plot.frame()
    found = plot.comparison
    target = frame.point(found.a[0], found.b[0])
    line = [target + QPointF(x, y) for x, y in ((-9, -9), (9, -9), (9, 9), (-9, 9))]
    inside = plot.caught(QPolygonF(line))
    assert 0 in inside
    drag(plot, line)
    assert {(r.fold, r.position) for r in table.rows()} == {
        (found.queries[i].fold, found.queries[i].position) for i in inside
    }
    assert plot.is_listed.sum() == len(inside)
    page.list.all.click()
    assert len(table.rows()) == everything
    assert plot.is_listed.all()
    drag(plot, line)
    assert len(table.rows()) == len(inside)
    plot.setFocus()
    QTest.keyClick(plot, Qt.Key.Key_Escape)
    assert len(table.rows()) == everything


def test_the_queries_that_one_model_wins_are_listed_and_selected_for(
    page: QueriesController,
) -> None:
    winner, table = page.list.winner, page.list.table
    gain = page.comparison.plot.comparison.gain
    for at, won in (
        (1, gain > 0),
        (2, gain < 0),
        (3, gain == 0),
        (0, np.ones(gain.size, dtype=bool)),
    ):
        winner.setCurrentIndex(at)
        assert str(won.sum()) in winner.currentText() or not at
        listed = {(row.fold, row.position) for row in table.rows()}
        assert listed == {
            (q.fold, q.position)
            for q, one in zip(page.queries, won, strict=True)
            if one
        }
        assert (page.comparison.plot.is_listed == won).all()
        assert page.list.all.isVisible() is bool(at)
    winner.setCurrentIndex(1)
    positive, negative = (
        int(np.flatnonzero(gain > 0)[0]),
        int(np.flatnonzero(gain < 0)[0]),
    )
    page.list.brush((positive, negative))
    assert [(row.fold, row.position) for row in table.rows()] == [
        (page.queries[positive].fold, page.queries[positive].position)
    ]
    page.list.all.click()
    assert winner.currentIndex() == 0 and len(table.rows()) == gain.size


def drag(plot: QueryPlot, line: list[QPointF]) -> None:
    view = plot.viewport()
    left = Qt.MouseButton.LeftButton
    QTest.mousePress(view, left, pos=line[0].toPoint())
    for pixel in line[1:]:
        QTest.mouseMove(view, pixel.toPoint())
    QTest.mouseRelease(view, left, pos=line[-1].toPoint())


def test_a_click_picks_and_the_arrow_keys_move_on(
    ran: MainWindow, page: QueriesController
) -> None:
    plot = page.comparison.plot
    page.comparison.mode._buttons()[1].click()
    assert plot.mode == SORTED
    frame = plot.frame()
    at = frame.point(4.0, 0.0)
    QTest.mouseClick(
        plot.viewport(),
        Qt.MouseButton.LeftButton,
        pos=QPoint(round(at.x()), round(at.y())),
    )
    settle(ran)
    assert plot.chosen == 3
    assert page.list.table.current() == plot.comparison.queries[3]
    QTest.keyClick(plot, Qt.Key.Key_Right)
    settle(ran)
    assert plot.chosen == 4
    assert (
        page.documents._title.text() == f"Query {plot.comparison.queries[4].query_id}"
    )
    QTest.keyClick(plot, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClick(plot, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    assert [plot.comparison.queries.index(row) for row in page.list.table.rows()] == [
        4,
        5,
        6,
    ]
    page.comparison.mode._buttons()[0].click()
    assert plot.mode == SCATTER


def test_part_fold_and_measure_change_what_is_compared(
    ran: MainWindow, page: QueriesController
) -> None:
    in_all = len(page.queries)
    page.bar.part._buttons()[1].click()
    settle(ran)
    folds = ran.session.dataset.folds
    assert len(page.queries) == sum(fold.vali.n_queries for fold in folds)
    page.bar.part._buttons()[0].click()
    page.bar.scope._buttons()[1].click()
    settle(ran)
    assert {query.fold for query in page.queries} == {ran.session.fold}
    assert len(page.queries) < in_all
    ran.session.show_measure("NDCG@10")
    settle(ran)
    kept = ran.runs.record(2).folds[ran.session.fold].per_query["NDCG@10"]
    assert sorted(query.a for query in page.queries) == sorted(kept)


def test_the_part_stays_when_the_seal_is_broken(
    ran: MainWindow, page: QueriesController
) -> None:
    page.bar.part._buttons()[1].click()
    settle(ran)
    ran.session.seal(True)
    settle(ran)
    assert [text for _, text in page.bar.part.options()] == ["validation", "training"]
    assert page.bar.part.value() == "vali"
    ran.session.seal(False)
    settle(ran)
    assert page.bar.part.value() == "vali"
    folds = ran.session.dataset.folds
    wait_until(lambda: len(page.queries) == sum(fold.vali.n_queries for fold in folds))


def ablated(page: QueriesController) -> list[AblationRow]:
    """Wait until A was trained without each of its features."""
    wait_until(
        lambda: "·" not in page.ablation.caption() and page.ablation.table.rows()
    )
    return page.ablation.table.rows()


def used_columns(window: MainWindow) -> set[int]:
    models = [fold.chosen.step for fold in window.runs.record(1).folds.values()]
    return {column for step in models for column in step.selected}


def test_the_palette_finds_a_query(ran: MainWindow, page: QueriesController) -> None:
    wanted = page.queries[5]
    ran.workspace.show_page("select")
    ran._open_palette()
    ran.palette_dialog.field.setText(f"query {wanted.query_id}")
    QTest.keyClick(ran.palette_dialog.field, Qt.Key.Key_Return)
    settle(ran)
    assert ran.workspace.page == "queries"
    assert page.list.table.current().query_id == wanted.query_id


def test_the_keyboard_stays_where_it_changes_part_and_folds(
    ran: MainWindow, page: QueriesController
) -> None:
    for choice, value in ((page.bar.part, "vali"), (page.bar.scope, "one")):
        before = choice._buttons()
        before[0].setFocus(Qt.FocusReason.TabFocusReason)
        QTest.keyClick(before[0], Qt.Key.Key_Right)
        settle(ran)
        assert choice.value() == value
        assert choice._buttons() == before


@pytest.mark.thorough
def test_the_second_model_has_the_folds_of_the_first_where_one_has(
    window: MainWindow,
) -> None:
    finish(window)
    run_with(window, parameters={"regularization": (2.0,)})
    run_with(window, folds=(1,))
    look_at(window.session, window.runs, window.runs.record(1))
    page = look(window)
    assert (page.bar.a.currentData(), page.bar.b.currentData()) == (1, 2)
    assert not page.bar.scope.isHidden()
    page.bar.scope._buttons()[1].click()
    page.bar.b.setCurrentIndex(page.bar.b.findData(3))
    page.bar.b.activated.emit(page.bar.b.currentIndex())
    settle(window)
    assert page.bar.b.currentData() == 3
    # they have one fold in common, whatever fold is looked at
    assert page.bar.scope.isHidden()
    assert {query.fold for query in page.queries} == {1}
