import numpy as np
import pytest
from PySide6.QtCore import QCoreApplication

from rankstudio.ui.run.candidates_panel import CandidatesPanel, verdict
from rankstudio.ui.run.heat_panel import HeatPanel

IDS = np.array([10, 20, 30, 40])
NAMES = ("ten", "twenty", "thirty", "forty")
NAN = float("nan")


def closing(widget):
    yield widget
    widget.close()
    widget.deleteLater()
    QCoreApplication.sendPostedEvents()


@pytest.fixture
def candidates(app, theme):
    yield from closing(CandidatesPanel(theme))


@pytest.fixture
def heat(app, theme):
    yield from closing(HeatPanel(theme))


def test_bars_are_drops_sorted_and_what_was_no_candidate_is_out(candidates):
    candidates.resize(400, 260)
    candidates.show_step(3, [0.9, NAN, 0.6, 0.8], IDS, NAMES, 30, 1.0)
    assert candidates.accessibleName() == "Candidates at step 3"
    header, rows = candidates.plot.numbers()
    assert header == ["id", "name", "drop in criterion per document"]
    assert [(row[0], row[1]) for row in rows] == [("30", "thirty"), ("40", "forty"), ("10", "ten")]
    assert [row[2] for row in rows] == pytest.approx([0.4, 0.2, 0.1])
    assert candidates.verdict.text() == "thirty, ahead of forty by 25 %"
    assert not candidates.verdict.isHidden()


def test_what_differs_by_rounding_only_is_no_drop(candidates):
    candidates.show_step(3, [0.3, NAN, 0.3 + 1e-16, 0.2], IDS, NAMES, 40, 0.1 + 0.2)
    _, rows = candidates.plot.numbers()
    assert [row[2] for row in rows] == pytest.approx([0.1, 0.0, 0.0])
    assert [row[2] for row in rows][1:] == [0.0, 0.0]


def test_a_step_without_candidates_shows_none(candidates):
    candidates.show_step(1, [0.9, 0.5, 0.7, 0.8], IDS, NAMES, 20, 1.0)
    candidates.show_step(2, np.zeros(0), IDS, NAMES, 20, 1.0)
    assert candidates.plot.is_empty()
    assert candidates.verdict.isHidden()
    assert candidates.accessibleName() == "Candidates at step 2"


def test_a_bar_that_is_clicked_is_told_by_its_feature(candidates):
    told = []
    candidates.picked.connect(told.append)
    candidates.show_step(1, [0.9, 0.5, 0.7, 0.8], IDS, NAMES, 20, 1.0)
    candidates.plot.picked.emit(40)
    assert told == [40]


@pytest.mark.parametrize(
    ("criteria", "selected", "expected"),
    [
        ({10: 0.5, 20: 0.6}, 20, "twenty, behind ten by 20 %"),
        ({10: 0.5, 20: 0.5}, 20, "twenty, tied with ten"),
        ({20: 0.5}, 20, "twenty, the last candidate"),
        ({10: 0.5}, 20, "twenty, without a comparison"),
        ({10: 1.0, 20: 0.997, 30: 2.0}, 20, "twenty, ahead of ten by 0.3 %"),
    ],
)
def test_the_verdict_names_the_rival(criteria, selected, expected):
    assert verdict(criteria, dict(zip(IDS.tolist(), NAMES, strict=True)), selected) == expected


def test_the_map_shows_measures_by_lambda_and_k(heat):
    heat.set_values(["2⁰", "2¹"], [[0.1, 0.2, NAN], [0.3, 0.4, 0.5]], "NDCG@10")
    assert heat.caption() == "click a cell to choose λ and k"
    assert heat.accessibleName() == "λ × k"
    header, rows = heat.plot.numbers()
    assert heat.plot.axes.title == "validation NDCG@10"
    assert header == ["λ", "k = 1", "k = 2", "k = 3"]
    assert rows[1] == ["2¹", 0.3, 0.4, 0.5]


def test_cells_are_picked_and_chosen_by_setting_and_k(heat):
    told = []
    heat.picked.connect(lambda setting, k: told.append((setting, k)))
    heat.select(1, 3)
    heat.set_values(["2⁰", "2¹"], [[0.1, 0.2, 0.3], [0.3, 0.4, 0.5]], "MAP", "")
    assert heat.caption() == "click a cell to choose combination and k"
    assert heat.accessibleName() == "combination × k"
    assert heat.plot.chosen == (1, 2)
    heat.plot.picked.emit(0, 1)
    assert told == [(0, 2)]
    heat.select(None)
    assert heat.plot.chosen is None
    heat.clear()
    assert heat.plot.is_empty()


def test_without_a_validation_part_the_map_says_so(heat):
    heat.set_measured(False)
    assert "no validation part" in heat.plot.placeholder
    heat.set_measured(True)
    assert "no validation part" not in heat.plot.placeholder
