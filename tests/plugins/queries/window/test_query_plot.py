"""The plot of queries: what is under the mouse, what a drag catches, what is exported and said."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPolygonF
from PySide6.QtTest import QTest
from wording import naming

from rankstudio.plugins.queries.query_comparison import ComparedQuery, QueryComparison
from rankstudio.plugins.queries.window.comparison_panel import (
    LENGTH,
    SCATTER,
    SORTED,
    QueryPlot,
    inside_polygon,
)
from rankstudio.plugins.queries.window.documents_panel import FeatureLegend
from rankstudio.ui.plots import plot_writer
from rankstudio.ui.style.theme import Theme

NAN = float("nan")
QUERIES = tuple(
    ComparedQuery(1, i, f"q{i}", 5, 1, a, b)
    for i, (a, b) in enumerate(
        [(1.0, 0.2), (0.5, 0.25), (0.5, 0.5), (0.5, 0.5), (0.3, 0.9), (NAN, NAN)]
    )
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
    assert any(naming("1 query").search(line.text) for line in plot.box.lines())


def test_the_ground_lists_all_again(plot, told):
    plot.click(plot.frame().point(0.05, 0.95))
    assert told == {"picked": [], "brushed": [()]}


def drag(plot, *pixels):
    """Draw a line with the mouse, from pixel to pixel."""
    view, left = plot.viewport(), Qt.MouseButton.LeftButton
    QTest.mousePress(view, left, pos=pixels[0].toPoint())
    for pixel in pixels[1:]:
        QTest.mouseMove(view, pixel.toPoint())
    QTest.mouseRelease(view, left, pos=pixels[-1].toPoint())


def around(pixel, far=9):
    """Five pixels around one, the last where the first is."""
    return [
        pixel + QPointF(x * far, y * far)
        for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1))
    ]


def test_a_line_around_points_catches_them_though_it_ends_where_it_began(plot, told):
    drag(plot, *around(at(plot, 2)))
    assert told == {"picked": [], "brushed": [(2, 3)]}
    assert plot.outline is None


def test_a_line_that_bends_leaves_out_what_lies_in_its_bay(plot, told):
    low, high = at(plot, 1) + QPointF(-20, 20), at(plot, 4) + QPointF(-20, -20)
    right = QPointF(at(plot, 0).x() + 20, low.y())
    assert plot.caught(QPolygonF([low, high, QPointF(right.x(), high.y()), right])) == (
        0,
        1,
        2,
        3,
        4,
    )
    drag(plot, low, at(plot, 2) + QPointF(0, 8), right)
    assert told["brushed"] == [(1,)]


def test_a_drag_over_the_sorted_differences_is_a_band(plot, told):
    plot.set_mode(SORTED)
    drag(plot, at(plot, 0) - QPointF(8, 0), at(plot, 1), at(plot, 2) + QPointF(8, 0))
    assert told["brushed"] == [(0, 1, 2)]


def test_a_drag_over_lengths_catches_the_queries_with_so_many_documents(plot, told):
    sizes = [3, 9, 4, 9, 12, 7]
    queries = tuple(
        replace(q, n_documents=n) for q, n in zip(QUERIES, sizes, strict=True)
    )
    plot.set_comparison(QueryComparison("test", "MAP", "letor4", queries))
    plot.set_mode(LENGTH)
    plot.flush()
    for low, high in ((3, 9), (4, 8), (9, 9), (10, 20)):
        area, frame = plot.frame().area, plot.frame()
        left, right = (
            frame.x_px(low - 0.4),
            min(frame.x_px(high + 0.4), area.right() - 1),
        )
        drag(plot, QPointF(left, area.top() + 5), QPointF(right, area.bottom() - 5))
        known = [
            i
            for i, q in enumerate(queries)
            if low <= q.n_documents <= high and not np.isnan(q.a)
        ]
        assert told["brushed"][-1] == tuple(known)
    plot.hover(at(plot, 4))
    assert any(naming("12 documents").search(line.text) for line in plot.box.lines())


def test_a_straight_drag_across_points_catches_those_in_its_rectangle(plot, told):
    """Catches a drag that looks like a selection and lists nothing."""
    places = [at(plot, i) for i, query in enumerate(QUERIES) if not np.isnan(query.a)]
    left, top = min(p.x() for p in places) - 4, min(p.y() for p in places) - 4
    right, bottom = max(p.x() for p in places) + 4, max(p.y() for p in places) + 4
    drag(
        plot,
        QPointF(left, top),
        QPointF((left + right) / 2, (top + bottom) / 2),
        QPointF(right, bottom),
    )
    assert told["brushed"] == [
        tuple(i for i, query in enumerate(QUERIES) if not np.isnan(query.a))
    ]


def test_escape_gives_up_the_line_then_the_selection_and_is_nobody_else_s(plot, told):
    view, left, first = plot.viewport(), Qt.MouseButton.LeftButton, at(plot, 2)
    QTest.mousePress(view, left, pos=first.toPoint())
    QTest.mouseMove(view, (first + QPointF(40, 40)).toPoint())
    assert plot.outline is not None
    QTest.keyClick(plot, Qt.Key.Key_Escape)
    assert plot.outline is None
    QTest.mouseRelease(view, left, pos=(first + QPointF(40, 40)).toPoint())
    assert told == {"picked": [], "brushed": []}
    plot.keep(np.array([True, False, False, False, False, False]))
    QTest.keyClick(plot, Qt.Key.Key_Escape)
    assert told == {"picked": [], "brushed": [()]}
    plot.keep(np.ones(6, dtype=bool))
    QTest.keyClick(plot, Qt.Key.Key_Escape)
    assert told["brushed"] == [()], "where nothing is selected the key is the window's"


def test_a_query_without_a_value_is_never_met(plot, told):
    plot.set_mode(SORTED)
    plot.select(4)
    QTest.keyClick(plot, Qt.Key.Key_Right)
    assert told["picked"] == [4]
    assert 5 not in plot.caught(QPolygonF(QRectF(plot.frame().outer)))


def test_the_exact_values_are_read_and_exported(plot, tmp_path):
    plot.hover(at(plot, 4))
    lines = [(line.text, line.value) for line in plot.box.lines()]
    assert lines[:3] == [
        ("query q4: B − A", "+0.6000"),
        ("A", "0.3000"),
        ("B", "0.9000"),
    ]
    assert [
        naming("5 documents").search(text) is not None for text, _ in lines[3:]
    ] == [True]
    header, rows = plot.numbers()
    assert header[-1] == "B - A"
    assert [row[1] for row in rows] == [query.query_id for query in QUERIES]
    for mode in (SCATTER, SORTED):
        plot.set_mode(mode)
        plot.select(0)
        for ending in (".png", ".svg", ".csv"):
            plot_writer(plot, tmp_path / f"{mode}{ending}")()
            assert (tmp_path / f"{mode}{ending}").stat().st_size


def test_axes_and_words_count_what_is_drawn(plot):
    assert (plot.axes.title, plot.axes.x_label) == (
        "AP of B: better in 1",
        "AP of A: better in 2",
    )
    plot.flush()
    assert naming("1 2 queries").search(plot.accessibleDescription())
    assert plot.accessibleName() == "A against B"
    plot.set_mode(SORTED)
    assert plot.axes.x_label == "queries, largest loss first"


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


def looped(x: float, y: float, corners: list[list[float]]) -> bool:
    """Count the edges that a ray to the right crosses."""
    crossings = 0
    for (x1, y1), (x2, y2) in zip(corners, corners[1:] + corners[:1], strict=True):
        if min(y1, y2) < y <= max(y1, y2):
            share = (y - y1) / (y2 - y1)
            crossings += x < x1 + share * (x2 - x1)
    return crossings % 2 == 1


@pytest.mark.parametrize("seed", range(30))
def test_it_agrees_with_a_loop_over_edges_and_with_qt(seed: int) -> None:
    rng = np.random.default_rng(seed)
    corners = rng.uniform(0, 100, (int(rng.integers(3, 40)), 2))
    xs, ys = rng.uniform(-10, 110, (2, 200))
    found = inside_polygon(xs, ys, corners)
    outline = QPolygonF([QPointF(x, y) for x, y in corners.tolist()])
    for x, y, inside in zip(xs.tolist(), ys.tolist(), found.tolist(), strict=True):
        assert inside == looped(x, y, corners.tolist())
        assert inside == outline.containsPoint(QPointF(x, y), Qt.FillRule.OddEvenFill)


def test_a_corner_at_the_height_of_a_point_counts_once() -> None:
    diamond = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [1.0, 2.0]])
    xs, ys = (
        np.array([1.0, -1.0, 3.0, np.nan, 1.0]),
        np.array([1.0, 1.0, 1.0, 1.0, np.nan]),
    )
    assert inside_polygon(xs, ys, diamond).tolist() == [
        True,
        False,
        False,
        False,
        False,
    ]


def test_a_polygon_of_no_extent_has_nothing_in_it() -> None:
    assert not inside_polygon(np.zeros(1), np.zeros(1), np.zeros((1, 2))).any()
    assert not inside_polygon(
        np.zeros(1), np.zeros(1), np.array([[0.0, 0.0], [5.0, 0.0]])
    ).any()


def test_long_names_of_features_share_the_lines_of_their_legend(theme: Theme) -> None:
    legend = FeatureLegend(theme)
    legend.set_names(
        "Score of A, by feature:",
        [f"feature {number} " + 90 * "x" for number in range(6)],
    )
    assert legend.heightForWidth(720) < 90  # four lines
