"""Why these features: the map of candidates by hand, and the panel in the real window, with densities."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from candidate_paths import SCORE, WEIGHT, growing, weights
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QFontMetricsF
from PySide6.QtTest import QTest
from waiting import wait_until
from windows import finish, settle
from wording import naming

from rankstudio.engine.analysis.features.candidate_map import (
    Margin,
    candidate_map,
    margins,
)
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.plugins.features.window.why_panel import WhyPanel, _margin_note
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.model.session import NOTHING_CHOSEN
from rankstudio.ui.plots.axes import AIR
from rankstudio.ui.style.fonts import TINY, font

NAMES = tuple(f"feature {j}" for j in range(8))


prepare = settle


@pytest.fixture
def panel(theme, stage):
    made = WhyPanel(theme)
    made.show_map(candidate_map(growing(3), SCORE), NAMES, SCORE)
    stage(made, 480, 320)
    return made


@pytest.fixture
def told(panel):
    heard = []
    panel.plot.cellPicked.connect(lambda feature, place: heard.append((feature, place)))
    return heard


def order() -> tuple[int, ...]:
    return growing(3).steps[-1].selected


def test_rows_are_in_the_order_of_the_path_and_numbers_are_scores(panel):
    header, rows = panel.plot.numbers()
    assert header == ["feature", "step 1", "step 2", "step 3", "step 4", "step 5"]
    assert [row[0] for row in rows[:5]] == [NAMES[f] for f in order()]
    np.testing.assert_array_equal(
        [row[2] for row in rows[:5]], growing(3).steps[1].candidates[list(order())]
    )
    assert panel.caption() == "score"
    assert panel.plot.accessibleName() == "score"


def test_the_longest_name_has_room_when_it_is_marked(panel):
    widest = max(map(QFontMetricsF(font(TINY, bold=True)).horizontalAdvance, NAMES))
    assert panel.plot.frame().area.left() - AIR >= widest


def test_ranks_are_shown_when_they_are_asked_for(panel):
    QTest.mouseClick(
        panel.switch.findChildren(type(panel.switch._buttons()[0]))[1],
        Qt.MouseButton.LeftButton,
    )
    _, rows = panel.plot.numbers()
    assert [row[1] for row in rows if row[0] == NAMES[order()[0]]] == [1.0]
    assert panel.plot.key() == ("first", "middle", "last")
    assert panel.plot.values[-1, 0] == 1.0


def test_a_click_tells_feature_and_step_and_a_name_keeps_the_step(panel, told):
    plot = panel.plot
    plot.mark(None, 2)
    shown, frame = plot.shown, plot.frame()
    rect = plot.cell_rect(frame, len(shown.features) - 1 - 1, 3)
    for at in (rect.center().toPoint(), QPoint(10, round(rect.center().y()))):
        QTest.mouseClick(plot.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert told == [(shown.features[1], 3), (shown.features[1], 2)]


def test_arrow_keys_go_from_cell_to_cell(panel, told):
    plot = panel.plot
    plot.mark(order()[0], 0)
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Right, Qt.Key.Key_Left, Qt.Key.Key_Up):
        QTest.keyClick(plot, key)
    assert told == [(order()[1], 0), (order()[0], 1), (order()[0], 0), (order()[0], 0)]


def test_the_marked_cell_is_said(panel):
    panel.mark(order()[1], 0)
    panel.plot.flush()
    said = panel.plot.accessibleDescription()
    value = growing(3).steps[0].candidates[order()[1]]
    assert said.startswith("score: 8 candidates at 5 steps")
    assert f"score {value:.3g}. {NAMES[order()[1]]} at step 1" in said
    panel.mark(order()[0], 4)
    panel.plot.flush()
    assert said != panel.plot.accessibleDescription()
    assert "no candidate" in panel.plot.accessibleDescription()


def test_a_small_plot_shows_the_chosen_step_and_the_inspected_feature(panel):
    panel.plot.resize(170, 90)
    last = candidate_map(growing(3), SCORE).features[-1]
    panel.mark(last, 4)
    shown = panel.plot.shown
    assert len(shown.features) < 8
    assert last in shown.features
    assert 4 in shown.step_positions


def test_iterations_are_called_so(panel):
    panel.show_map(candidate_map(weights(3), WEIGHT), NAMES, WEIGHT, "iteration")
    assert panel.plot.numbers()[0][1] == "iteration 1"
    assert panel.plot.key() == ("maximum", "half", "none")


def test_without_scores_there_is_a_hint(panel):
    panel.show_map(None, (), None)
    assert panel.plot.is_empty()
    assert panel.caption() == ""
    assert "Run a method" in panel.plot.placeholder
    panel.show_map(None, NAMES, SCORE)
    assert naming("candidate scores").search(panel.plot.placeholder)


# which is looked at
LISTS = {"parameters": {}, "ranker": "", "ranker_parameters": {}, "folds": (1,)}


def run_method(window: MainWindow, method: str, **parameters: object) -> None:
    window.session.change(
        "editing", **{**LISTS, "method": method, "parameters": parameters}
    )
    finish(window)
    window.session.show_fold(1)
    window.workspace.show_page("features")
    # the run brings a feature of its own
    wait_until(lambda: not window.refresh_timer.is_active)
    settle(window)
    inspect = window.sections.features  # the marked row is inspected a moment later
    wait_until(
        lambda: (
            not (inspect._inspect_timer.isActive() or inspect._model_timer.isActive())
        )
    )


def texts(window: MainWindow) -> list[str]:
    return window.sections.features.profile.why.text().split("\n")


@pytest.mark.parametrize(
    ("method", "parameters"),
    [
        ("greedy-rankrls", {}),
        pytest.param("gas", {}, marks=pytest.mark.thorough),
        pytest.param("rfe", {}, marks=pytest.mark.thorough),
        pytest.param("mutual-information", {}, marks=pytest.mark.thorough),
        ("fsmrank", {"max_iter": 9}),
    ],
)
def test_what_a_method_compared_is_shown(
    ran: MainWindow, method: str, parameters: dict
) -> None:
    run_method(ran, method, **parameters)
    model, why = ran.current.model, ran.sections.features.why
    assert model is not None
    score = model.plan.candidate_score
    assert score is not None
    wait_until(lambda: why.panel.caption() == score.title)
    assert why.panel.isVisible()
    path = ran.sections.features.path
    leads = [
        lead for lead in margins(model.path, score).values() if lead.rival is not None
    ]
    ids = ran.session.dataset.feature_ids
    rows = {row.feature_id: row for row in path.table.rows()}
    assert {i: row.margin for i, row in rows.items() if row.margin == row.margin} == {
        int(ids[lead.feature]): lead.share for lead in leads
    }
    assert path._note.text().startswith("The margin is the lead over the next ")
    wait_until(lambda: ran.sections.features.profile.why_title.text().startswith("Why"))
    assert ran.sections.features.feature is not None
    ran.workspace.show_page("select")
    settle(ran)
    ran.sections.features.inspector.switch._buttons()[1].click()
    assert ran.sections.select.candidates.isVisible()
    assert ran.sections.select.candidates.plot.axes.title == score.title


@pytest.mark.thorough
def test_where_another_method_ranks_the_selectors_scores_are_shown(
    ran: MainWindow,
) -> None:
    shown: dict[str, list[object]] = {}
    for ranker in ("", "ranksvm"):
        ran.session.change(
            "editing", **{**LISTS, "method": "greedy-rankrls", "ranker": ranker}
        )
        few = {"C": (0.1,), "max_iter": 20} if ranker else {}
        greedy = {"regularization": (1.0,), "n_features_to_select": 3}
        ran.session.change("editing", parameters=greedy, ranker_parameters=few)
        finish(ran)
        ran.session.show_fold(1)
        ran.workspace.show_page("features")
        settle(ran)
        plot = ran.sections.features.why.panel.plot
        wait_until(
            lambda plot=plot: (
                plot.shown is not None
                and ran.sections.features.why.panel.caption() != ""
            )
        )
        shown[ranker] = [row[:4] for row in plot.numbers()[1][:3]]
    assert repr(shown["ranksvm"]) == repr(shown[""])


@pytest.mark.thorough
def test_a_ranker_has_no_such_panels(ran: MainWindow) -> None:
    run_method(ran, "rankrls")
    why = ran.sections.features.why.panel
    wait_until(lambda: not why.isVisible())
    # which has the column alone then
    assert ran.sections.features.substitutes.panel.isVisible()
    assert ran.sections.features.profile.why.text() == ""
    columns = [
        column.key for column in ran.sections.features.path.table.rows_model.columns
    ]
    assert "margin" not in columns
    assert ran.sections.features.path._note.isHidden()
    ran.workspace.show_page("select")
    settle(ran)
    assert not ran.sections.features.inspector.switch.isVisible()
    run_method(ran, "gas")
    assert ran.sections.features.why.panel.isVisible()
    ran.workspace.show_page("select")
    assert ran.sections.features.inspector.switch.isVisible()


def test_a_picked_cell_is_marked_everywhere(ran: MainWindow) -> None:
    run_method(ran, "gas")
    why, inspect = ran.sections.features.why, ran.sections.features
    wait_until(lambda: why.panel.plot.shown is not None)
    ids = ran.session.dataset.feature_ids
    column = int(why.panel.plot.shown.features[2])  # the next one after two steps
    why.panel.plot.cellPicked.emit(column, 1)
    settle(ran)
    assert ran.session.choice == NOTHING_CHOSEN
    assert ran.current.shown.inspected.x_value == 2
    assert inspect.feature == int(ids[column])
    assert inspect.path.table.current().feature_id == int(ids[column])
    wait_until(
        lambda: (
            inspect.profile.why_title.text() == "Why it is not in the model with k = 2"
        )
    )
    assert any("Closest at step" in text for text in texts(ran))
    why.panel.plot.flush()
    assert (
        why.panel.plot.accessibleDescription().count(
            ran.session.dataset.feature_names[column]
        )
        == 1
    )


def test_nothing_is_computed_for_a_page_that_is_not_seen(ran: MainWindow) -> None:
    run_method(ran, "gas")
    wait_until(lambda: ran.sections.features.why.panel.caption() != "")
    ran.workspace.show_page("select")
    before = ran.sections.features.why.panel.caption()
    ran.session.change("editing", method="mutual-information", parameters={})
    finish(ran)
    settle(ran)
    assert ran.sections.features.why.panel.caption() == before
    ran.workspace.show_page("features")
    wait_until(
        lambda: (
            ran.sections.features.why.panel.caption() == "mutual information in nats"
        )
    )


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("method", "parameters"), [("fsmrank", {"max_iter": 9}), ("gas", {})]
)
def test_the_measure_stands_in_the_path_only_where_a_row_has_one(
    ran: MainWindow, method: str, parameters: dict
) -> None:
    run_method(ran, method, **parameters)
    table = ran.sections.features.path.table
    keys = [column.key for column in table.rows_model.columns]
    hidden = table.isColumnHidden(keys.index("after"))
    assert hidden == (method == "fsmrank")
    assert hidden or not any(row.after != row.after for row in table.rows())


def test_groups_are_rows_of_the_map_and_are_named_in_sentences(ran: MainWindow) -> None:
    names = ran.session.dataset.feature_names
    ran.session.change("groups", groups={"First": (1, 2, 3), "Second": (4, 5)})
    run_method(ran, "greedy-rankrls", n_features_to_select=3)
    plot = ran.sections.features.why.panel.plot
    wait_until(lambda: plot.shown is not None)
    rows = [row[0] for row in plot.numbers()[1]]
    assert {"First", "Second"} <= set(rows)
    assert not {names[0], names[2], names[4]} & set(rows)
    assert len(rows) == len(names) - 3
    assert plot.shown.n_candidates[0] <= len(names) - 3
    ran.sections.features.inspect(2)
    wait_until(
        lambda: texts(ran)[0] == "All 3 features of First are taken or left together."
    )
    assert plot._feature == 0
    margin = {
        row.feature_id: row.margin for row in ran.sections.features.path.table.rows()
    }
    assert repr(margin.get(1)) == repr(margin.get(3))


@pytest.mark.parametrize("kind", StepKind)
@pytest.mark.parametrize(
    ("share", "near"), [(0.0, True), (0.004, True), (-0.004, True), (0.2, False)]
)
def test_the_note_on_margins_names_the_closest_choice_where_it_is_a_near_tie(
    kind: StepKind, share: float, *, near: bool
) -> None:
    names, path = ("one", "two"), SimpleNamespace(step_kind=kind)

    def said(rival: int | None) -> str:
        leads: Any = {0: Margin(3, 0, 1.0, rival, 1.0, share)}
        return _margin_note(leads, names, path)  # type: ignore[arg-type]

    assert "{" not in said(1)
    assert ("one" in said(1) and "two" in said(1)) is near
    assert ("0.4\u00a0%" in said(1).replace("0.4 %", "0.4\u00a0%")) is (
        near and share != 0
    )
    assert said(None) == ""


def ways(window: MainWindow) -> list[str]:
    return [text for _, text in window.sections.features.why.panel.switch.options()]


def show_densities(window: MainWindow) -> None:
    wait_until(lambda: "densities" in ways(window))
    switch = window.sections.features.why.panel.switch
    next(button for button in switch._buttons() if button.text() == "densities").click()


def test_two_features_stand_side_by_side_with_their_divergence(ran: MainWindow) -> None:
    run_method(ran, "expected-divergence")
    show_densities(ran)
    view, model = ran.sections.features.why.panel.densities, ran.current.model
    assert model is not None
    assert view.isVisible()
    assert not ran.sections.features.why.panel.plot.isVisible()
    order, names = model.path.steps[-1].selected, ran.session.dataset.feature_names
    ids = ran.session.dataset.feature_ids
    ran.sections.features.inspect(int(ids[order[0]]))
    wait_until(
        lambda: view.name.text() == names[order[0]] and not view.plots[0].is_empty()
    )
    assert view.choice.currentText() == f"{names[order[1]]} (next)"
    lines = view.sentence.text().split("\n")
    scores = model.path.steps[0].candidates
    for place, (line, plot) in enumerate(zip(lines, view.plots, strict=True)):
        shown = float(plot.axes.title.removeprefix("d = "))
        alone = float(line.split(": importance ")[1].split(" + ")[0])
        assert alone + shown == pytest.approx(float(scores[order[place]]), abs=2e-4)
        assert line.startswith(names[order[place]])
        assert line.endswith(f"; step {place + 1}")
        assert len(plot.densities) == 3


def test_another_feature_can_be_put_beside(ran: MainWindow) -> None:
    run_method(ran, "expected-divergence")
    show_densities(ran)
    view, model = ran.sections.features.why.panel.densities, ran.current.model
    assert model is not None
    order, names = model.path.steps[-1].selected, ran.session.dataset.feature_names
    wait_until(lambda: view.choice.count() == len(order) + 1)
    view.choice.setCurrentIndex(view.choice.findData(order[3]))
    view.choice.activated.emit(view.choice.currentIndex())
    wait_until(lambda: names[order[3]] in view.plots[1].accessibleName())
    # another model of the path keeps what was chosen
    ran.session.select(model.values, 2)
    settle(ran)
    assert view.choice.currentData() == order[3]


@pytest.mark.thorough
def test_other_methods_have_no_such_view(ran: MainWindow) -> None:
    run_method(ran, "expected-divergence")
    show_densities(ran)
    run_method(ran, "gas")
    wait_until(lambda: ways(ran) == ["scores", "ranks"])
    assert ran.sections.features.why.panel.plot.isVisible()
    assert not ran.sections.features.why.panel.densities.isVisible()
