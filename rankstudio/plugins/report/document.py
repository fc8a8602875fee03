"""Defines a report as values (sections of paragraphs, facts, tables, figures and code), and its HTML."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from xml.etree import ElementTree

from rankstudio import __version__
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.experiment.storage.study_contents import ReportSettings
from rankstudio.engine.export.figures.files import figure_bytes
from rankstudio.engine.export.figures.style import FigureStyle
from rankstudio.engine.export.figures.values import CurvesFigure, Figure
from rankstudio.engine.export.tables import TextTable
from rankstudio.engine.methods.catalog.analysis import reported_analyses
from rankstudio.engine.plugins.report_parts import Paragraph
from rankstudio.engine.support.resources import resource
from rankstudio.engine.support.templates import rendered
from rankstudio.plugins.report.curve_points import points_of

STYLE = FigureStyle(width=540.0, font=9.0)
"""Style of all figures in points, which is 720 pixels wide on a page, with text of 12 pixels."""

_SERIES_PART = re.compile(r"(?P<kind>series|name)-(?P<number>\d+)")
_DPI = 240.0  # of pictures; on paper, a dot is a third of the width of a thin line


@dataclass(frozen=True)
class ReportFigure:
    """A figure of a report with its caption.

    HTML contains the figure as an SVG element, previews and PDF contain
    it as a picture. Element and picture are created on demand.

    Attributes
    ----------
    figure : Figure
    """

    figure: Figure

    @property
    def caption(self) -> str:
        """Caption below the figure."""
        return self.figure.caption

    @cached_property
    def svg(self) -> str:
        """The figure as an SVG element of an HTML page."""
        return _element(figure_bytes(self.figure, STYLE, "svg"))

    @cached_property
    def curves(self) -> str:
        """The points of the figure's series as JSON for the page's script; "" for other figures.

        See :func:`~rankstudio.plugins.report.curve_points.points_of`.
        """
        if not isinstance(self.figure, CurvesFigure):
            return ""
        return json.dumps(points_of(self.figure, self.svg))

    @cached_property
    def png(self) -> bytes:
        """The figure as a PNG picture in print resolution."""
        return figure_bytes(self.figure, STYLE, "png", _DPI)


def _element(file: bytes) -> str:
    """Return an SVG file as an element of an HTML page.

    The element has no metadata, and its ids are unique on the page.
    """
    root = ElementTree.fromstring(file)

    # Tags have a namespace: "{http://www.w3.org/2000/svg}style".
    for parent in root.iter():
        for child in [c for c in parent if c.tag.endswith(("}metadata", "}style"))]:
            parent.remove(child)
    id_prefix = hashlib.sha256(file).hexdigest()[:8]
    for element in root.iter():
        # without the namespace, "{http://…}g"
        element.tag = element.tag.rpartition("}")[2]
        attributes = {
            name.rpartition("}")[2]: value for name, value in element.attrib.items()
        }
        if element.tag == "g":
            # Nothing refers to the ids of groups, but the script finds
            # the parts of a series by its number.
            part = _SERIES_PART.match(attributes.pop("id", ""))
            if part is not None:
                attributes[f"data-{part['kind']}"] = part["number"]

        # Ids, and the references to them, get a prefix that no other figure has.
        for name, beginning in (("id", ""), ("href", "#"), ("clip-path", "url(#")):
            if name in attributes:
                attributes[name] = (
                    f"{beginning}{id_prefix}-{attributes[name].removeprefix(beginning)}"
                )
        element.attrib.clear()
        element.attrib.update(attributes)

    # These attributes replace the removed style element, whose CSS
    # would apply to the whole page.
    style_attributes = {"stroke-linejoin": "round", "stroke-linecap": "butt"}
    root.attrib.update(
        {"xmlns": "http://www.w3.org/2000/svg", "role": "img", **style_attributes}
    )
    return ElementTree.tostring(root, encoding="unicode")


@dataclass(frozen=True)
class FactList:
    """A list of facts in a report.

    Attributes
    ----------
    rows : tuple of (str, str)
        Name and value of each fact.
    """

    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class CodeText:
    """Text that the reader can copy, such as a plan.

    Attributes
    ----------
    title : str
    text : str
    """

    title: str
    text: str


Block = Paragraph | FactList | TextTable | ReportFigure | CodeText


@dataclass(frozen=True)
class ReportSection:
    """A section of a report, which can be left out and moved.

    Attributes
    ----------
    key : str
        Key of the section: "results".
    title : str
    blocks : tuple of Block
    """

    key: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Report:
    """The complete report of a study.

    Attributes
    ----------
    title : str
        Title of the study.
    subtitle : str
        Subject of the report, such as "3 finished runs on MQ2008".
    sections : tuple of ReportSection
    """

    title: str
    subtitle: str
    sections: tuple[ReportSection, ...]

    def arranged(self, keys: Sequence[str]) -> Report:
        """Return the report with only these sections, in this order."""
        by_key = {section.key: section for section in self.sections}
        return replace(
            self,
            sections=tuple(by_key[key] for key in dict.fromkeys(keys) if key in by_key),
        )


SECTIONS: dict[str, str] = {
    "question": "Question and notes",
    "results": "Results",
    "tests": "Paired tests",
    "risk": "Risk against the best run",
    "ranks": "Methods over datasets",
    "features": "Selected features",
    "stability": "Stability of the selection",
    "evidence": "Evidence for the selection",
    "substitutes": "Substitutes",
    "analyses": "Analyses",
    "published": "Published results",
    "plan": "Methods and parameters",
    "protocol": "Protocol and measures",
    "seal": "Uses of the test part",
    "rerun": "How to reproduce",
    "versions": "Versions",
    "data": "Data",
    "references": "References",
}
"""The titles of the sections by their keys, in their usual order: from results to checksums."""


def every_section(stored: Iterable[tuple[str, bool]]) -> dict[str, bool]:
    """Return whether each section of a report is included, in the stored order; new sections come last.

    ``stored`` has key and choice of each stored section. The section of
    analyses is only available if a plug-in has an analysis for reports.
    """
    available = [key for key in SECTIONS if key != "analyses" or reported_analyses()]
    included = {key: is_included for key, is_included in stored if key in available}
    return included | {key: True for key in available if key not in included}


def wanted_keys(stored: Iterable[tuple[str, bool]]) -> tuple[str, ...]:
    """Return the keys of the included sections, in order."""
    return tuple(
        key for key, is_included in every_section(stored).items() if is_included
    )


def section_keys(text: str) -> tuple[str, ...]:
    """Return the keys of sections in a text: "question,results,features".

    Raises
    ------
    ParameterError
        For an unknown section.
    """
    keys = tuple(key.strip().lower() for key in text.split(",") if key.strip())
    wrong = next((key for key in keys if key not in SECTIONS), None)
    if wrong is not None or not keys:
        raise ParameterError(
            "sections", wrong or text, f"one or more of {', '.join(SECTIONS)}"
        )
    return keys


_QUESTION_KEY = "question"


def question_and_notes(settings: ReportSettings) -> Iterator[Paragraph]:
    """Yield the question and the notes of a study, each if it is not empty."""
    for text in (settings.question, settings.notes):
        if text.strip():
            yield Paragraph(text)


def with_words(report: Report, settings: ReportSettings) -> Report:
    """Return a report with another question and other notes on the study.

    Parameters
    ----------
    report : Report
    settings : ReportSettings
        The new question and notes; the notes on runs stay.

    Returns
    -------
    Report
        The changed report. The section with the question is left out if
        it would be empty.
    """
    old_blocks = [
        block
        for section in report.sections
        if section.key == _QUESTION_KEY
        for block in section.blocks
    ]

    # The user's words are paragraphs, and the notes on runs a table.
    run_notes = (block for block in old_blocks if not isinstance(block, Paragraph))
    section = ReportSection(
        _QUESTION_KEY,
        SECTIONS[_QUESTION_KEY],
        (*question_and_notes(settings), *run_notes),
    )
    other_sections = tuple(
        other for other in report.sections if other.key != _QUESTION_KEY
    )
    return replace(
        report,
        sections=(section, *other_sections) if section.blocks else other_sections,
    )


def html_page(report: Report) -> str:
    """Return a report as HTML.

    Parameters
    ----------
    report : Report
        Report with the included sections, in order.

    Returns
    -------
    str
        Valid HTML in UTF-8. It is readable on phones, on screens in
        both themes and on paper. Its only script makes tables sortable
        and curves readable; the page is complete without it, and the
        security policy allows no other script.
    """
    script = resource("templates", "report.js").read_text(encoding="utf-8")

    # The security policy of the page names its script by this digest.
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return rendered(
        "report.html",
        report=report,
        version=__version__,
        script=script,
        script_hash=f"sha256-{digest}",
    )
