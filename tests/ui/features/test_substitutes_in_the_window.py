"""Substitutes on the Features page of the real window."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from waiting import wait_until
from windows import finish, open_window, settle, write_folds, write_item
from wording import naming

from rankstudio.engine.methods.rankers.rankrls import RankRLS
from rankstudio.ui.export.items import export_items
from rankstudio.ui.features.substitutes_panel import SubstitutesPanel, swap_sentence
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.style.theme import Theme


@pytest.fixture
def window(theme: Theme, tmp_path: Path):
    with open_window(theme, tmp_path / "config", write_folds(tmp_path / "data")) as made:
        yield made


def panel(window: MainWindow) -> SubstitutesPanel:
    return window.sections.substitutes.panel


def look(window: MainWindow) -> None:
    window.workspace.show_page("features")
    wait_until(lambda: panel(window).plot.shown is not None)
    settle(window)


def look_at_first(window: MainWindow) -> None:
    finish(window)
    window.session.look_at(1)
    look(window)


def retrained(window: MainWindow, removed: set[int], added: set[int]) -> float:
    """Return by how much the error per document grows where the model is trained with other columns."""
    model = window.current.model
    train = model.fold.train

    def error(columns: set[int]) -> float:
        ranker = RankRLS(model.path.unit.parameters["regularization"])
        return ranker.fit(train.X[:, sorted(columns)], train.y, qid=train.qid).criterion_ / train.n_documents

    before = set(model.step.selected)
    return error(before - removed | added) - error(before)


def test_the_swap_that_is_told_is_what_retraining_gives(window):
    look_at_first(window)
    wait_until(lambda: panel(window)._found is not None)
    found, model = panel(window)._found, window.current.model
    assert found.selected == model.step.selected
    swap = next(swap for group in found.groups for swap in group.swaps)
    assert swap.change == pytest.approx(retrained(window, {swap.removed}, {swap.added}))
    ids = model.fold.train.feature_ids
    said = " ".join(panel(window).sentences())
    assert swap_sentence(swap.change, f"({ids[swap.added]})", str(ids[swap.removed])) in said


def test_nothing_is_looked_for_while_the_page_is_not_seen(window):
    finish(window)
    window.session.look_at(1)
    settle(window)
    assert panel(window)._found is None


def test_while_they_are_looked_for_it_is_said(window):
    finish(window)
    window.session.look_at(1)
    said = []
    show_nothing = panel(window).plot.show_nothing
    panel(window).plot.show_nothing = lambda why: (said.append(why), show_nothing(why))
    look(window)
    assert said[-1] == "Computing substitutes …"


def test_a_row_of_the_map_is_inspected_by_keyboard_and_marked(window):
    look_at_first(window)
    plot = panel(window).plot
    QTest.keyClick(plot, Qt.Key.Key_Down)
    QTest.keyClick(plot, Qt.Key.Key_Down)
    second = plot.features[1].feature_id
    assert window.sections.features.feature == second
    assert plot.marked == second


def test_the_map_of_runs_has_a_column_for_every_fold_of_every_run(window):
    finish(window)
    window.session.change("editing", method="fsmrank", parameters={})
    look_at_first(window)
    button = panel(window).switch._buttons()[2]
    button.click()
    plot = panel(window).plot
    wait_until(lambda: plot.shown is not None and plot.shown.groups)
    assert [(group.label, group.size) for group in plot.shown.groups] == [("run 1", 2), ("run 2", 2)]
    order = [feature.feature_id for feature in plot.features]
    for place, result in enumerate(f for r in window.runs.records for f in r.folds.values()):
        ranked = np.argsort(plot.shown.values[:, place])[: len(result.selected)]
        assert tuple(order[row] for row in ranked) == result.selected
    said = " ".join(panel(window).sentences())
    assert naming("RankRLS swap").search(said)


def test_all_folds_have_no_substitutes_in_common(window):
    look_at_first(window)
    window.session.look_at(None)
    wait_until(lambda: panel(window).plot.shown is None)
    assert naming("single fold").search(panel(window).plot.placeholder)


def test_the_map_is_offered_for_export_where_it_is_seen(window, tmp_path):
    def offered():
        items = export_items(window.models, window.sections)
        return next((item for item in items if item.key == "plot-substitutes"), None)

    finish(window)
    window.session.look_at(1)
    settle(window)
    assert offered() is None
    look(window)
    assert offered() is None, "the list is seen"
    panel(window).switch._buttons()[1].click()
    for suffix in (".png", ".csv"):
        write_item(offered(), tmp_path / f"map{suffix}")
    header, *rows = (tmp_path / "map.csv").read_text(encoding="utf-8").splitlines()
    columns = header.partition(",")[2]
    assert all(
        row.partition(",")[0].endswith(name) for row, name in zip(rows, columns.split(","), strict=True)
    )


def test_moving_the_slider_brings_the_substitutes_of_the_new_model(window):
    look_at_first(window)
    wait_until(lambda: panel(window)._found is not None)
    for value in (0.3, 0.5, 3.0):
        window.session.select((value,), 2, gliding=True)
    wait_until(lambda: panel(window)._found.selected == window.current.model.step.selected)
    window.session.select((3.0,), 4)
    wait_until(lambda: len(panel(window)._found.selected) == 4)


def test_a_group_is_swapped_as_a_whole_by_what_retraining_gives(window):
    groups = {"First": (1, 2), "Second": (3, 4)}
    window.session.change("groups", groups=groups)
    window.session.change("fewer", parameters={**window.session.plan.parameters, "n_features_to_select": 1})
    look_at_first(window)
    wait_until(lambda: panel(window)._found is not None and panel(window)._found.group_swaps)
    swap = panel(window)._found.group_swaps[0]
    assert swap.change == pytest.approx(retrained(window, set(swap.removed), set(swap.added)))
    of_group = swap_sentence(swap.change, "", "").removeprefix(" instead of  ")
    assert of_group in " ".join(panel(window).sentences())
