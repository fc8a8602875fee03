"""A report as values: sections of paragraphs, facts, tables, figures and code, without a format."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from rankstudio.engine.analysis.report.figures import ReportFigure
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.export.tables import TextTable


@dataclass(frozen=True)
class Paragraph:
    """A text; a line that is empty begins a new paragraph.

    Attributes
    ----------
    text : str
    muted : bool
        Whether it is a remark.
    """

    text: str
    muted: bool = False


@dataclass(frozen=True)
class FactList:
    """What things are, one below the other.

    Attributes
    ----------
    rows : tuple of (str, str)
        Name and value.
    """

    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class CodeText:
    """What is to be pasted.

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
    """A part of a report that can be left out and put elsewhere.

    Attributes
    ----------
    key : str
        By which it is asked for: "results".
    title : str
    blocks : tuple of Block
    """

    key: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Report:
    """Everything that a study can be reported with.

    Attributes
    ----------
    title : str
    subtitle : str
        What it is a report of.
    sections : tuple of ReportSection
        In order.
    """

    title: str
    subtitle: str
    sections: tuple[ReportSection, ...]

    def arranged(self, keys: Sequence[str]) -> Report:
        """Return the report with these sections alone, in this order."""
        by_key = {section.key: section for section in self.sections}
        return replace(self, sections=tuple(by_key[key] for key in dict.fromkeys(keys) if key in by_key))


SECTIONS: dict[str, str] = {
    "question": "Question and notes",
    "results": "Results",
    "tests": "Paired tests",
    "features": "Selected features",
    "stability": "Stability of the selection",
    "substitutes": "Substitutes",
    "published": "Published results",
    "plan": "Methods and parameters",
    "protocol": "Protocol and measures",
    "seal": "Uses of the test part",
    "rerun": "How to reproduce",
    "versions": "Versions",
    "data": "Data",
}
"""The titles of the sections by their keys, in their usual order: from results to checksums."""


def every_section(stored: Iterable[tuple[str, bool]]) -> dict[str, bool]:
    """Return all sections in the order that was stored, with whether they are wanted; new ones come last."""
    known = {key: wanted for key, wanted in stored if key in SECTIONS}
    return known | {key: True for key in SECTIONS if key not in known}


def wanted_keys(stored: Iterable[tuple[str, bool]]) -> tuple[str, ...]:
    """Return the keys of the sections that are wanted, in their order."""
    return tuple(key for key, wanted in every_section(stored).items() if wanted)


def section_keys(text: str) -> tuple[str, ...]:
    """Read sections by their keys, separated by commas: "question,results,features".

    Raises
    ------
    ParameterError
        For a section that is not there.
    """
    keys = tuple(key.strip().lower() for key in text.split(",") if key.strip())
    wrong = next((key for key in keys if key not in SECTIONS), None)
    if wrong is not None or not keys:
        raise ParameterError("sections", wrong or text, f"some of {', '.join(SECTIONS)}")
    return keys
