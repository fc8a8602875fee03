import numpy as np
import pytest
from PySide6.QtCore import QCoreApplication

from rankstudio.engine.analysis.features.candidate_map import step_margin
from rankstudio.engine.methods.catalog.method import (
    CandidateScore,
    ScoreSource,
    StepKind,
)
from rankstudio.engine.steps import Step
from rankstudio.ui.select.candidates_view import CandidatesView, verdict
from rankstudio.ui.select.heat_map import SIZES, HeatView

IDS = np.array([10, 20, 30, 40])
NAMES = ("ten", "twenty", "thirty", "forty")
NAN = float("nan")
DROP = CandidateScore("drop in error", "per document", ScoreSource.CRITERION)


def closing(widget):
    yield widget
    widget.close()
    widget.deleteLater()
    QCoreApplication.sendPostedEvents()


@pytest.fixture
def candidates(app, theme):
    yield from closing(CandidatesView(theme))


@pytest.fixture
def heat(app, theme):
    yield from closing(HeatView(theme))


def step(number, candidates, taken, before=1.0):
    return Step(
        number, (taken,), np.zeros(4), before, np.array(candidates), before=before
    )


def show(panel, shown, score=DROP):
    panel.show_step(score, score.of(shown), step_margin(score, shown), IDS, NAMES)


def test_bars_are_drops_sorted_and_what_was_no_candidate_is_out(candidates):
    candidates.resize(400, 260)
    show(candidates, step(3, [0.9, NAN, 0.6, 0.8], 2))
    assert candidates.accessibleName() == "Candidates at step 3"
    header, rows = candidates.plot.numbers()
    assert header == ["id", "name", "drop in error per document"]
    assert [(row[0], row[1]) for row in rows] == [
        ("30", "thirty"),
        ("40", "forty"),
        ("10", "ten"),
    ]
    assert [row[2] for row in rows] == pytest.approx([0.4, 0.2, 0.1])
    assert candidates.verdict.text() == "Step 3: thirty, ahead of forty by 50 %"
    assert not candidates.verdict.isHidden()


def test_scores_of_any_method_bear_their_name(candidates):
    score = CandidateScore("mutual information", "in nats")
    show(candidates, step(1, [0.2, 0.5, NAN, 0.4], 1), score)
    header, rows = candidates.plot.numbers()
    assert header[2] == "mutual information in nats"
    assert [row[2] for row in rows] == [0.5, 0.4, 0.2]
    assert candidates.verdict.text() == "Step 1: twenty, ahead of forty by 20 %"


def test_what_differs_by_rounding_only_is_no_drop(candidates):
    show(candidates, step(3, [0.3, NAN, 0.3 + 1e-16, 0.2], 3, before=0.1 + 0.2))
    _, rows = candidates.plot.numbers()
    assert [row[2] for row in rows] == pytest.approx([0.1, 0.0, 0.0])
    assert [row[2] for row in rows][1:] == [0.0, 0.0]


def test_a_step_without_candidates_shows_none(candidates):
    show(candidates, step(1, [0.9, 0.5, 0.7, 0.8], 1))
    show(candidates, step(2, [], 1))
    assert candidates.plot.is_empty()
    assert candidates.plot.placeholder == "This step compared no candidates."
    assert candidates.verdict.isHidden()
    assert candidates.accessibleName() == "Candidates at step 2"


def test_a_bar_that_is_clicked_is_told_by_its_feature(candidates):
    told = []
    candidates.picked.connect(told.append)
    show(candidates, step(1, [0.9, 0.5, 0.7, 0.8], 1))
    candidates.plot.picked.emit(40)
    assert told == [40]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.5, 0.4, NAN, NAN], "twenty, behind ten by 20 %"),
        ([0.5, 0.5, NAN, NAN], "twenty, tied with ten"),
        ([NAN, 0.5, NAN, NAN], "twenty, the last candidate"),
        ([0.5, NAN, NAN, NAN], "twenty, without a comparison"),
        ([0.997, 1.0, 0.2, NAN], "twenty, ahead of ten by 0.3 %"),
    ],
)
def test_the_verdict_names_the_rival(values, expected):
    score = CandidateScore("score", "")
    assert verdict(score, step_margin(score, step(1, values, 1)), NAMES) == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([-0.4, -0.2, NAN, NAN], "twenty: no candidate lowers the error"),
        ([0.0, -0.2, NAN, NAN], "twenty: no candidate lowers the error"),
        ([-0.1, 0.2, NAN, NAN], "twenty: no other candidate lowers the error"),
        ([0.2, -0.1, NAN, NAN], "twenty, though ten would lower the error"),
        ([0.4, 0.5, NAN, NAN], "twenty, ahead of ten by 20 %"),
    ],
)
def test_no_lead_is_told_where_a_candidate_does_not_lower_the_criterion(
    values, expected
):
    score = CandidateScore("drop in error", "", ScoreSource.CRITERION)
    taken = step(1, 1.0 - np.array(values), 1)
    assert verdict(score, step_margin(score, taken), NAMES) == expected


def test_the_map_shows_measures_by_lambda_and_k(heat):
    heat.show_sizes(
        ["2⁰", "2¹"], [[0.1, 0.2, NAN], [0.3, 0.4, 0.5]], "validation NDCG@10", "λ"
    )
    assert heat.caption() == "double-click a cell to choose λ and k"
    assert heat.accessibleName() == "λ × k"
    header, rows = heat.plot.numbers()
    assert heat.plot.axes.title == "validation NDCG@10"
    assert header == ["λ", "k = 1", "k = 2", "k = 3"]
    assert rows[1] == ["2¹", 0.3, 0.4, 0.5]


def test_cells_are_picked_and_a_cleared_map_is_empty(heat):
    told = []
    heat.plot.picked.connect(lambda row, column: told.append((row, column)))
    heat.show_sizes(
        ["2⁰", "2¹"], [[0.1, 0.2, 0.3], [0.3, 0.4, 0.5]], "validation MAP", "λ1 · λ2"
    )
    assert heat.caption() == "double-click a cell to choose λ1 · λ2 and k"
    assert heat.accessibleName() == "λ1 · λ2 × k"
    heat.plot.picked.emit(0, 1)
    assert told == [(0, 1)]
    heat.clear()
    assert heat.plot.is_empty()


def test_the_map_of_two_grids_marks_the_best_cell_and_names_its_axes(heat):
    grids = ["2⁰", "2¹"], ["2⁻²", "2⁻⁴", "2⁻⁶"]
    values = np.array([[0.1, 0.2, NAN], [0.3, 0.4, 0.5]])
    heat.show_grids(*grids, values, (1, 2), "leave-query-out MAP", ("γ", "λ"), ["k"])
    assert (
        heat.caption()
        == "each cell with its best k · double-click a cell to choose its model"
    )
    assert heat.accessibleName() == "γ × λ"
    assert heat.plot.summary() == "leave-query-out MAP, best 0.5000 at λ = 2⁻⁶ · γ = 2¹"
    figure = heat.plot.figure()
    assert (figure.row_title, figure.column_title, figure.color.title) == (
        "γ",
        "λ",
        "leave-query-out MAP",
    )
    assert (figure.marked, figure.mark_label) == (((0, 2),), "best")
    assert heat.plot.numbers()[0] == ["γ", "λ = 2⁻²", "λ = 2⁻⁴", "λ = 2⁻⁶"]


def test_maps_and_measures_are_offered_where_there_are_several(heat):
    heat.offer(
        [((1, 0), "γ × λ"), (SIZES, "λ · γ × k")], both_parts=True, left_out=True
    )
    assert not heat.map_box.isHidden()
    assert not heat.part_box.isHidden()
    assert (heat.view(), heat.left_out()) == ((1, 0), True)
    heat.part_box.setCurrentIndex(0)
    assert not heat.left_out()
    heat.map_box.setCurrentIndex(1)
    heat.map_box.activated.emit(1)
    heat.offer([((1, 0), "γ × λ"), (SIZES, "λ × k")], both_parts=True, left_out=True)
    assert heat.view() == SIZES
    heat.offer([(SIZES, "λ × k")], both_parts=False, left_out=False)
    assert (heat.view(), heat.left_out()) == (SIZES, False)
    assert heat.map_box.isHidden()
    assert heat.part_box.isHidden()
    heat.offer([], both_parts=False, left_out=False)
    assert heat.view() is None


def test_an_iteration_is_called_so(candidates):
    shown = step(7, [0.9, NAN, 0.6, 0.8], 2)
    panel_step = DROP.of(shown), step_margin(DROP, shown), IDS, NAMES
    candidates.show_step(DROP, *panel_step, StepKind.ITERATIONS)
    assert candidates.accessibleName() == "Candidates at iteration 7"
    candidates.show_step(DROP, *panel_step, StepKind.ROUNDS)
    assert candidates.accessibleName() == "Candidates at round 7"


def test_an_empty_map_says_why(heat):
    heat.clear("Open its data.")
    assert heat.plot.placeholder == "Open its data."
    heat.clear()
    assert heat.plot.placeholder.startswith("Run a method to compare all combinations")


def test_before_a_run_the_map_is_called_what_it_will_be(heat: HeatView) -> None:
    heat.offer((((1, 0), "γ × λ"),), both_parts=False, left_out=False)
    heat.clear()
    assert heat.accessibleName() == "γ × λ"
    assert (
        heat.plot.placeholder
        == "Run a method to compare all combinations of its parameters."
    )
    heat.offer(((SIZES, "λ × k"),), both_parts=False, left_out=False)
    heat.clear()
    assert (
        heat.accessibleName() == "λ × k" and "parameters and k" in heat.plot.placeholder
    )
