"""The points of curves, for the script of a report: it shows the values at the position of the mouse."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from typing import Any
from xml.etree import ElementTree

from rankstudio.engine.export.figures.values import CurvesFigure, FigureAxis
from rankstudio.engine.support.escaping import clean_text, one_line


def points_of(figure: CurvesFigure, svg: str) -> dict[str, Any]:
    """Return the points of a figure's series, for the script that shows them on a page.

    Parameters
    ----------
    figure : CurvesFigure
    svg : str
        The figure as an SVG element.

    Returns
    -------
    dict
        "box": left, top, width and height of the area in the SVG's
        units. "x" and "y": title, range and scale of each axis.
        "series": number, name, x and y of each series, and the ends of
        intervals if there are any; missing values are None. The dict is
        empty if the SVG has no area of curves.
    """
    from rankstudio.engine.export.figures.painter import axis_ranges  # noqa: PLC0415 - brings matplotlib

    # The area is what curves are clipped to.
    rectangle = ElementTree.fromstring(svg).find(".//{*}clipPath/{*}rect")
    if rectangle is None:
        return {}
    box = [float(rectangle.attrib[name]) for name in ("x", "y", "width", "height")]
    x_range, y_range = axis_ranges(figure)
    series = [
        {
            "number": number,
            "name": _text(series.label or series.note or figure.y.title),
            "x": _numbers(series.x),
            "y": _numbers(series.y),
            "low": _numbers(series.low),
            "high": _numbers(series.high),
        }
        for number, series in enumerate(figure.series)
    ]
    return {
        "box": box,
        "x": _axis(figure.x, x_range),
        "y": _axis(figure.y, y_range),
        "series": series,
    }


def _axis(axis: FigureAxis, ends: tuple[float, float]) -> dict[str, Any]:
    """Return an axis as plain values; ``ends`` are its range, low and high."""
    low, high = ends
    return {
        "title": _text(axis.text),
        "low": low,
        "high": high,
        "logarithmic": axis.logarithmic,
    }


def _numbers(numbers: Iterable[float]) -> list[float | None]:
    """Return numbers for JSON, which has no NaN and no infinity."""
    return [float(number) if isfinite(number) else None for number in numbers]


def _text(text: str) -> str:
    """Return a name as one line without characters that reorder others."""
    return clean_text(one_line(text))
