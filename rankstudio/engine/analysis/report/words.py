"""What a person wrote, put into a report that is there already: nothing else of it is made anew."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rankstudio.engine.analysis.report.document import SECTIONS, Paragraph, Report, ReportSection
from rankstudio.engine.experiment.storage.study_contents import ReportSettings

_KEY = "question"


def words(settings: ReportSettings) -> Iterator[Paragraph]:
    """Yield question and notes, where there are any."""
    for text in (settings.question, settings.notes):
        if text.strip():
            yield Paragraph(text)


def with_words(report: Report, settings: ReportSettings) -> Report:
    """Return a report that says what is written now.

    Parameters
    ----------
    report : Report
    settings : ReportSettings
        Its question and notes count here; the notes on runs stay.
    """
    before = [block for section in report.sections if section.key == _KEY for block in section.blocks]
    kept = (block for block in before if not isinstance(block, Paragraph))
    section = ReportSection(_KEY, SECTIONS[_KEY], (*words(settings), *kept))
    others = tuple(other for other in report.sections if other.key != _KEY)
    return replace(report, sections=(section, *others) if section.blocks else others)
