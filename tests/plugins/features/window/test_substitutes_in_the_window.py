"""Substitutes on the Features page of the real window."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from waiting import wait_until
from windows import finish, settle, write_item
from wording import naming

from rankstudio.engine.methods.rankers.rankrls import RankRLS
from rankstudio.plugins.features.window.substitutes_panel import (
    SubstitutesPanel,
    swap_sentence,
)
from rankstudio.ui.export.items import export_items
from rankstudio.ui.main_window import MainWindow


def panel(window: MainWindow) -> SubstitutesPanel:
    return window.sections.features.substitutes.panel


def look(window: MainWindow) -> None:
    window.workspace.show_page("features")
    panel(window).switch._buttons()[0].click()  # the list, as in a new window
    wait_until(lambda: panel(window).plot.shown is not None)
    settle(window)


def look_at_first(window: MainWindow) -> None:
    window.session.show_fold(1)
    look(window)


def retrained(window: MainWindow, removed: set[int], added: set[int]) -> float:
    """Return by how much the error per document grows where the model is trained with other columns."""
    model = window.current.model
    train = model.fold.train

    def error(columns: set[int]) -> float:
        ranker = RankRLS(model.path.unit.parameters["regularization"])
        return (
            ranker.fit(train.X[:, sorted(columns)], train.y, qid=train.qid).criterion_
            / train.n_documents
        )

    before = set(model.step.selected)
    return error(before - removed | added) - error(before)


def test_the_swap_that_is_told_is_what_retraining_gives(ran):
    look_at_first(ran)
    wait_until(lambda: panel(ran)._shown_substitutes is not None)
    found, model = panel(ran)._shown_substitutes, ran.current.model
    assert found.selected == model.step.selected
    swap = next(swap for group in found.groups for swap in group.swaps)
    assert swap.change == pytest.approx(retrained(ran, {swap.removed}, {swap.added}))
    ids = model.fold.train.feature_ids
    said = " ".join(panel(ran).sentences())
    assert (
        swap_sentence(swap.change, f"({ids[swap.added]})", str(ids[swap.removed]))
        in said
    )


def test_nothing_is_looked_for_while_the_page_is_not_seen_and_then_it_is_said(window):
    finish(window)
    window.session.show_fold(1)
    settle(window)
    assert panel(window)._shown_substitutes is None
    said = []
    show_nothing = panel(window).plot.show_nothing
    panel(window).plot.show_nothing = lambda why: (said.append(why), show_nothing(why))
    look(window)
    assert said[-1] == "Computing substitutes …"


def test_a_row_of_the_map_is_inspected_by_keyboard_and_marked(ran):
    look_at_first(ran)
    plot = panel(ran).plot
    QTest.keyClick(plot, Qt.Key.Key_Down)
    QTest.keyClick(plot, Qt.Key.Key_Down)
    second = plot.features[1].feature_id
    assert ran.sections.features.feature == second
    assert plot.marked == second


def test_the_map_of_runs_has_a_column_for_every_fold_of_every_run(ran):
    look_at_first(ran)
    panel(ran).switch._buttons()[2].click()
    few = {"lambda1": (0.1, 1.0), "lambda2": 1e-4, "max_iter": 9}
    ran.session.change("editing", method="fsmrank", parameters=few)
    finish(ran)  # while the map is seen
    ran.session.show_fold(1)
    first, second = (f"run {record.key}" for record in ran.runs.records)
    plot = panel(ran).plot
    wait_until(lambda: plot.shown is not None and len(plot.shown.groups) == 2)
    assert [(group.label, group.size) for group in plot.shown.groups] == [
        (first, 2),
        (second, 2),
    ]
    order = [feature.feature_id for feature in plot.features]
    for place, result in enumerate(
        f for r in ran.runs.records for f in r.folds.values()
    ):
        ranked = np.argsort(plot.shown.values[:, place])[: len(result.selected)]
        assert tuple(order[row] for row in ranked) == result.selected
    said = " ".join(panel(ran).sentences())
    assert naming("RankRLS swap").search(said)
    ran.runs.remove(ran.runs.records[-1])
    wait_until(lambda: len(plot.shown.groups) == 1)


def test_all_folds_have_no_substitutes_in_common(ran):
    look_at_first(ran)
    ran.session.show_fold(None)
    wait_until(lambda: panel(ran).plot.shown is None)
    assert naming("single fold").search(panel(ran).plot.placeholder)


def test_the_map_is_offered_for_export_where_it_is_seen(ran, tmp_path):
    def offered():
        items = export_items(ran.models, ran.sections)
        return next((item for item in items if item.key == "plot-substitutes"), None)

    ran.session.show_fold(1)
    settle(ran)
    assert offered() is None
    look(ran)
    assert offered() is None, "the list is seen"
    panel(ran).switch._buttons()[1].click()
    for suffix in (".png", ".csv"):
        write_item(offered(), tmp_path / f"map{suffix}")
    header, *rows = (tmp_path / "map.csv").read_text(encoding="utf-8").splitlines()
    columns = header.partition(",")[2]
    assert all(
        row.partition(",")[0].endswith(name)
        for row, name in zip(rows, columns.split(","), strict=True)
    )


def test_moving_the_slider_brings_the_substitutes_of_the_new_model(ran):
    look_at_first(ran)
    wait_until(lambda: panel(ran)._shown_substitutes is not None)
    for value in (0.3, 0.5, 3.0):
        ran.session.select((value,), 2, gliding=True)
    wait_until(lambda: ran.current.model.values == (3.0,))
    wait_until(
        lambda: (
            panel(ran)._shown_substitutes.selected == ran.current.model.step.selected
        )
    )
    settle(ran)
    ran.session.select((3.0,), 4)
    wait_until(lambda: len(panel(ran)._shown_substitutes.selected) == 4)


def test_a_group_is_swapped_as_a_whole_by_what_retraining_gives(ran):
    groups = {"First": (1, 2), "Second": (3, 4)}
    ran.session.change("groups", groups=groups)
    ran.session.change(
        "fewer", parameters={**ran.session.plan.parameters, "n_features_to_select": 1}
    )
    finish(ran)
    look_at_first(ran)
    wait_until(
        lambda: (
            panel(ran)._shown_substitutes is not None
            and panel(ran)._shown_substitutes.group_swaps
        )
    )
    swap = panel(ran)._shown_substitutes.group_swaps[0]
    assert swap.change == pytest.approx(
        retrained(ran, set(swap.removed), set(swap.added))
    )
    of_group = swap_sentence(swap.change, "", "").removeprefix(" instead of  ")
    said = " ".join(panel(ran).sentences())
    assert of_group in said and "First (1, 2) as a whole" in said
