"""The figures of a report: those of the study, as wide as its page, in light colours."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from xml.etree import ElementTree

from rankstudio.engine.export.figures.files import figure_bytes
from rankstudio.engine.export.figures.style import FigureStyle
from rankstudio.engine.export.figures.values import Figure

STYLE = FigureStyle(width=540.0, font=9.0)
"""Of all of them: 720 pixels of a page, with text of 12."""

_DPI = 240.0  # of the picture; on paper one dot is a third of the width of a thin line


@dataclass(frozen=True)
class ReportFigure:
    """A drawing with what is to be read below it.

    A page of HTML has it as an element, a preview and a PDF as a picture: nobody waits for the other one.

    Attributes
    ----------
    figure : Figure
    """

    figure: Figure

    @property
    def caption(self) -> str:
        """What is to be read below it."""
        return self.figure.caption

    @cached_property
    def svg(self) -> str:
        """The whole drawing, as an element of a page."""
        return _element(figure_bytes(self.figure, STYLE, "svg"))

    @cached_property
    def png(self) -> bytes:
        """The same as a picture, as fine as paper needs it."""
        return figure_bytes(self.figure, STYLE, "png", _DPI)


def _element(file: bytes) -> str:
    """Return an SVG file as an element of a page of HTML: without metadata, its ids found nowhere else."""
    root = ElementTree.fromstring(file)
    for parent in root.iter():
        for child in [c for c in parent if c.tag.endswith(("}metadata", "}style"))]:
            parent.remove(child)
    mark = hashlib.sha256(file).hexdigest()[:8]
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        found = {name.rpartition("}")[2]: value for name, value in element.attrib.items()}
        if element.tag == "g":
            found.pop("id", None)  # which only says what it is a part of
        for name, sign in (("id", ""), ("href", "#"), ("clip-path", "url(#")):
            if name in found:
                found[name] = f"{sign}{mark}-{found[name].removeprefix(sign)}"
        element.attrib.clear()
        element.attrib.update(found)
    # What the style said of all elements; CSS in a page would be of the whole page.
    look = {"stroke-linejoin": "round", "stroke-linecap": "butt"}
    root.attrib.update({"xmlns": "http://www.w3.org/2000/svg", "role": "img", **look})
    return ElementTree.tostring(root, encoding="unicode")
