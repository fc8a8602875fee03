"""The figures of a report: well-formed, with every name as text, and numbers where they belong."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from math import nan

import pytest

from rankstudio.engine.analysis.report import svg
from rankstudio.engine.analysis.report.document import ReportFigure
from rankstudio.engine.analysis.report.figures import (
    FigureCurve,
    FigureInterval,
    curves_figure,
    intervals_figure,
    ranks_figure,
)

HOSTILE = '</text><script>alert(1)</script>&"\x00'
SVG = "{http://www.w3.org/2000/svg}"


def read(figure: ReportFigure) -> ET.Element:
    """Return a figure's root, once its numbers are finite and inside."""
    root = ET.fromstring(figure.svg)
    assert not re.search(r'"[^"]*\b(nan|inf)\b[^"]*"', figure.svg)
    for circle in root.iter(f"{SVG}circle"):
        assert 0 <= float(circle.get("cx", "")) <= figure.width
        assert 0 <= float(circle.get("cy", "")) <= figure.height
    return root


def texts(root: ET.Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{SVG}text")]


@pytest.mark.parametrize("y", [[0.5], [0.5, 0.5, 0.5], [0.1, nan, 0.9], [0.0, 0.0]])
def test_curves_of_any_shape_are_drawn(y: list[float]) -> None:
    x = [float(i + 1) for i in range(len(y))]
    curves = [FigureCurve(1, HOSTILE, x, y, [0.1] * len(y)), FigureCurve(9, "run 9", [2.0], [0.4])]
    root = read(curves_figure(curves, "features", "MAP", "title", "caption"))
    assert "features" in texts(root)
    assert "MAP" in texts(root)
    assert not list(root.iter(f"{SVG}script"))
    assert "run 9" in texts(root)


def test_an_interval_is_where_its_numbers_are() -> None:
    rows = [FigureInterval(1, "a", -0.01, -0.02, 0.0), FigureInterval(2, HOSTILE, 0.01, 0.0, 0.02)]
    root = read(intervals_figure(rows, "difference", "title", "caption"))
    left, right = (float(c.get("cx", "")) for c in root.iter(f"{SVG}circle"))
    zero = next(line for line in root.iter(f"{SVG}line") if line.get("stroke") == svg.MUTED)
    assert float(zero.get("x1", "")) == pytest.approx((left + right) / 2, abs=0.02)
    read(intervals_figure([FigureInterval(1, "same", 0.0, 0.0, 0.0)], "difference", "t", "c"))


def test_ranks_stand_in_their_cells() -> None:
    ranks = [[1.0, 2.0, nan], [nan, 1.0, 3.0]]
    root = read(ranks_figure(["first", HOSTILE], ["1", "2", "3"], ranks, "fold", "title", "caption"))
    assert [text for text in texts(root) if text.isdigit()] == ["1", "2", "3", "1", "2", "1", "3", "1", "3"]
    many = [[float(i % 7 + 1) for i in range(40)]]
    read(ranks_figure(["one"], [str(i) for i in range(40)], many, "fold", "title", "caption"))


def test_ticks_are_round_and_told_apart() -> None:
    assert svg.tick_texts(svg.ticks(0.41, 0.62, 6)) == ["0.45", "0.50", "0.55", "0.60"]
    assert svg.tick_texts(svg.ticks(-0.021, 0.011, 4)) == ["−0.02", "−0.01", "0.00", "0.01"]
    assert svg.ticks(1.0, 1.0, 5) == [1.0]


def test_long_names_are_cut_and_colours_repeat() -> None:
    assert svg.elided("short", 100.0) == "short"
    assert svg.elided("a" * 100, 100.0).endswith("…")
    assert svg.text_width(svg.elided("漢" * 100, 100.0)) <= 100.0
    assert svg.category(1) == svg.category(8)
    assert (svg.viridis(0.0), svg.viridis(1.0)) == ("#440154", "#aadc31")
