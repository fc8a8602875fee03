"""The report of a study: all its sections, of which a reader may ask for some in another order."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rankstudio.engine.analysis.report import (
    feature_sections,
    origin_sections,
    result_sections,
    setup_sections,
)
from rankstudio.engine.analysis.report.document import SECTIONS, Block, Paragraph, Report, ReportSection
from rankstudio.engine.analysis.report.source import ReportSource
from rankstudio.engine.analysis.report.texts import listed
from rankstudio.engine.language import in_english

_MAKERS: dict[str, Callable[[ReportSource], Iterator[Block]]] = {
    "data": setup_sections.data_blocks,
    "plan": setup_sections.plan_blocks,
    "protocol": setup_sections.protocol_blocks,
    "results": result_sections.result_blocks,
    "tests": result_sections.paired_test_blocks,
    "features": feature_sections.feature_blocks,
    "stability": feature_sections.stability_blocks,
    "substitutes": feature_sections.substitute_blocks,
    "published": result_sections.published_blocks,
    "versions": origin_sections.version_blocks,
    "rerun": origin_sections.rerun_blocks,
}
"""What makes the sections that need a finished run; the others are of the study."""


@in_english()
def make_report(source: ReportSource) -> Report:
    """Return the report of a study with all its sections, in their usual order.

    Parameters
    ----------
    source : ReportSource
        Where its test part is sealed, no number of that is in the report.

    Notes
    -----
    The same source gives the same report, whoever asks: it has no date and no place of its own,
    and it is in English in a window in any language.
    """
    shown = source.shown
    sections = []
    for key in SECTIONS:
        if key == "question":
            section = _section(key, tuple(setup_sections.question_blocks(shown)))
        elif key == "seal":
            section = _section(key, tuple(origin_sections.seal_blocks(shown)))
        elif shown.runs:
            section = _section(key, tuple(_MAKERS[key](shown)))
        else:
            section = _section(key, (Paragraph("The study has no completed run.", muted=True),))
        if section.blocks:
            sections.append(section)
    return Report(source.title, _subtitle(shown), tuple(sections))


def _section(key: str, blocks: tuple[Block, ...]) -> ReportSection:
    return ReportSection(key, SECTIONS[key], blocks)


def _subtitle(source: ReportSource) -> str:
    """Return what the report is of: "3 finished runs on MQ2008 and OHSUMED"."""
    n = len(source.runs)
    on = f" on {listed(source.datasets())}" if n else ""
    return f"{n} finished run{'' if n == 1 else 's'}{on}"
