"""Figures of named rows."""

from __future__ import annotations

from itertools import pairwise

import pytest

from rankstudio.engine.export.figures.painter import paper_of
from rankstudio.engine.export.figures.style import style_of
from rankstudio.engine.export.figures.values import FigureAxis, RowSeries, RowsFigure


@pytest.mark.parametrize("n_series", [2, 3, 5])
def test_marks_beside_the_bars_of_a_row_do_not_overlap(n_series: int) -> None:
    """Equal bars have their marks one below the other."""
    series = tuple(
        RowSeries(f"s{number}", (1.0, 1.0), number=number, marks=("+*", "+"))
        for number in range(n_series)
    )
    figure = RowsFigure(
        "bars", "", "", FigureAxis("value"), ("a", "b"), series, bars=True
    )
    style = style_of()
    paper = paper_of(figure, style)
    (area,) = paper.axes
    marks = [text for text in area.texts if "+" in text.get_text()]
    pixels = [area.transData.transform(mark.xy)[1] for mark in marks]  # type: ignore[attr-defined]
    points = sorted(pixel * 72 / paper.dpi for pixel in pixels)
    assert len(points) == 2 * n_series
    assert all(high - low > 0.8 * style.em for low, high in pairwise(points))
