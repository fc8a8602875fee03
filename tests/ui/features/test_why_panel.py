"""The map of candidates, by mouse, by keyboard, and as a screen reader has it."""

from __future__ import annotations

import numpy as np
import pytest
from candidate_paths import SCORE, WEIGHT, growing, weights
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from wording import naming

from rankstudio.engine.analysis.features.candidate_map import candidate_map
from rankstudio.ui.features.why_panel import WhyPanel

NAMES = tuple(f"feature {j}" for j in range(8))


@pytest.fixture
def panel(theme, stage):
    made = WhyPanel(theme)
    made.show_map(candidate_map(growing(3), SCORE), NAMES, SCORE)
    stage(made, 480, 320)
    return made


@pytest.fixture
def told(panel):
    heard = []
    panel.picked.connect(lambda feature, place: heard.append((feature, place)))
    return heard


def order() -> tuple[int, ...]:
    return growing(3).steps[-1].selected


def test_rows_are_in_the_order_of_the_path_and_numbers_are_scores(panel):
    header, rows = panel.plot.numbers()
    assert header == ["feature", "step 1", "step 2", "step 3", "step 4", "step 5"]
    assert [row[0] for row in rows[:5]] == [NAMES[f] for f in order()]
    np.testing.assert_array_equal([row[2] for row in rows[:5]], growing(3).steps[1].candidates[list(order())])
    assert panel.caption() == "score"
    assert panel.plot.accessibleName() == "score"


def test_ranks_are_shown_when_they_are_asked_for(panel):
    QTest.mouseClick(
        panel.switch.findChildren(type(panel.switch._buttons()[0]))[1], Qt.MouseButton.LeftButton
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
    assert 4 in shown.places


def test_iterations_are_called_so(panel):
    panel.show_map(candidate_map(weights(3), WEIGHT), NAMES, WEIGHT, "iteration")
    assert panel.plot.numbers()[0][1] == "iteration 1"
    assert panel.plot.key() == ("greatest", "half of it", "none")


def test_without_scores_there_is_a_hint(panel):
    panel.show_map(None, (), None)
    assert panel.plot.is_empty()
    assert panel.caption() == ""
    assert "Run a method" in panel.plot.placeholder
    panel.show_map(None, NAMES, SCORE)
    assert naming("candidate scores").search(panel.plot.placeholder)
