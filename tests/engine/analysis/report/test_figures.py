"""The figures of a report: those of the study, as wide as its page."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from rankstudio.engine.analysis.report.figures import STYLE, report_figure
from rankstudio.engine.export.figures.values import CurvesFigure, FigureAxis, Series

HOSTILE = '</text><script>alert(1)</script>&"\x00'
SVG = "{http://www.w3.org/2000/svg}"


def test_a_figure_is_a_drawing_in_pixels_with_its_caption() -> None:
    series = (Series(HOSTILE, (1.0, 2.0), (0.4, 0.5)), Series("run 2", (1.0,), (0.4,), number=1))
    figure = CurvesFigure("curves", "title", "caption", FigureAxis("features"), FigureAxis("MAP"), series)
    made = report_figure(figure)
    root = ET.fromstring(made.svg)
    assert (made.caption, made.width) == ("caption", STYLE.width)
    assert root.get("width") == "720"
    assert {"features", "MAP", "run 2"} <= {element.text for element in root.iter(f"{SVG}text")}
    assert not list(root.iter(f"{SVG}script"))
