"""The risk of the runs of a report against the best run of each group."""

from __future__ import annotations

from collections.abc import Iterator

from rankstudio.engine.analysis.reported_runs import ReportSource
from rankstudio.engine.export.tables import TextTable
from rankstudio.engine.plugins.report_parts import Paragraph
from rankstudio.engine.statistics.risk import ALPHA
from rankstudio.plugins.risk.risk_tables import risk_table
from rankstudio.plugins.risk.run_risks import group_risk


def risk_blocks(source: ReportSource) -> Iterator[Paragraph | TextTable]:
    """Yield for a report a table of risks for each group of comparable runs, or a paragraph on why it has none.

    The baseline of a group is the run with the best average.
    """
    for reported_group in source.groups:
        titles = {run.number: run.title for run in reported_group.runs}
        risk = group_risk(
            reported_group.group,
            titles,
            reported_group.measure,
            baseline=None,
            alpha=ALPHA,
        )
        if risk.baseline is None:
            text = f"{reported_group.title}: {' '.join(risk.notes)}"
            yield Paragraph(text, muted=True)
        else:
            yield risk_table(risk)
