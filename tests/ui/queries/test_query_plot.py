"""The plot of queries: what is under the mouse, what a drag catches, what is exported and said."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtTest import QTest

from rankstudio.engine.analysis.queries.query_comparison import ComparedQuery, QueryComparison
from rankstudio.ui.plots import export_plot
from rankstudio.ui.queries.query_plot import SCATTER, SORTED, QueryPlot

NAN = float("nan")
QUERIES = tuple(
    ComparedQuery(1, i, f"q{i}", 5, 1, a, b)
    for i, (a, b) in enumerate([(1.0, 0.2), (0.5, 0.25), (0.5, 0.5), (0.5, 0.5), (0.3, 0.9), (NAN, NAN)])
)


@pytest.fixture
def plot(theme, stage):
    made = QueryPlot(theme)
    stage(made, 480, 300)
    made.set_comparison(QueryComparison("test", "MAP", "letor4", QUERIES))
    made.flush()
    return made


@pytest.fixture
def told(plot):
    found = {"picked": [], "brushed": []}
    plot.picked.connect(found["picked"].append)
    plot.brushed.connect(found["brushed"].append)
    return found


def at(plot, position):
    xs, ys = plot.points
    return plot.frame().point(xs[position], ys[position])


@pytest.mark.parametrize("mode", [SCATTER, SORTED])
def test_every_query_is_found_by_the_mouse(plot, told, mode):
    plot.set_mode(mode)
    for position in (0, 1, 4):
        plot.click(at(plot, position) + QPointF(1, -1))
    assert told["picked"] == [0, 1, 4]


def test_queries_at_one_point_are_picked_in_turn_and_counted(plot, told):
    for _ in range(3):
        plot.click(at(plot, 2))
        plot.select(told["picked"][-1])
    assert told["picked"] == [2, 3, 2]
    plot.hover(at(plot, 2))
    assert "and 1 more query here" in [line.text for line in plot.box.lines()]


def test_the_ground_lists_all_again(plot, told):
    plot.click(plot.frame().point(0.05, 0.95))
    assert told == {"picked": [], "brushed": [()]}


def test_a_band_catches_what_lies_in_it(plot):
    def band(first, second):
        return QRectF(first - QPointF(4, 4), second + QPointF(4, 4)).normalized()

    assert plot.caught(band(at(plot, 2), at(plot, 1))) == (1, 2, 3)
    plot.set_mode(SORTED)
    assert plot.caught(plot._band(at(plot, 0) - QPointF(2, 0), at(plot, 2) + QPointF(2, 0))) == (0, 1, 2)


def test_a_query_without_a_value_is_never_met(plot, told):
    plot.set_mode(SORTED)
    plot.select(4)
    QTest.keyClick(plot, Qt.Key.Key_Right)
    assert told["picked"] == [4]
    assert 5 not in plot.caught(QRectF(plot.frame().outer))


def test_the_exact_values_are_read_and_exported(plot, tmp_path):
    plot.hover(at(plot, 4))
    lines = [(line.text, line.value) for line in plot.box.lines()]
    assert lines == [("query q4", ""), ("A", "0.3000"), ("B", "0.9000"), ("B − A", "+0.6000")]
    header, rows = plot.numbers()
    assert header[-1] == "B - A"
    assert [row[1] for row in rows] == [query.query_id for query in QUERIES]
    for mode in (SCATTER, SORTED):
        plot.set_mode(mode)
        plot.select(0)
        for ending in (".png", ".svg", ".csv"):
            export_plot(plot, tmp_path / f"{mode}{ending}")
            assert (tmp_path / f"{mode}{ending}").stat().st_size


def test_axes_and_words_count_what_is_drawn(plot):
    assert (plot.axes.title, plot.axes.x_label) == ("MAP of B: better in 1", "MAP of A: better in 2")
    plot.flush()
    assert "B is better in 1, worse in 2, equal in 2 queries" in plot.accessibleDescription()
    assert plot.accessibleName() == "A against B"
    plot.set_mode(SORTED)
    assert plot.axes.x_label == "queries, greatest loss first"


def test_of_a_measure_that_is_better_when_small_the_sides_are_exchanged(plot):
    plot.set_comparison(QueryComparison("test", "Disagreement", "letor4", QUERIES))
    assert plot.comparison.gain[0] == pytest.approx(0.8)
    assert plot.axes.title == "Disagreement of B: better in 2"


def test_without_queries_it_says_so(plot):
    plot.set_comparison(None)
    plot.placeholder = "nothing"
    assert plot.is_empty()
    assert plot.hit_test(QPointF(100, 100)) is None
    assert plot.numbers()[1] == []
    assert np.isfinite(plot.ranges()).all()
