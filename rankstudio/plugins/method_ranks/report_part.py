"""The ranks of methods over the datasets of a report."""

from __future__ import annotations

from collections.abc import Iterator

from rankstudio.engine.analysis.reported_runs import ReportSource
from rankstudio.engine.errors import PlanError
from rankstudio.engine.export.figures.values import Figure
from rankstudio.engine.export.tables import TextTable
from rankstudio.engine.plugins.report_parts import Paragraph
from rankstudio.plugins.method_ranks.mean_ranks import study_ranking
from rankstudio.plugins.method_ranks.rank_diagram import rank_diagram
from rankstudio.plugins.method_ranks.ranking_tables import ranking_tables

Block = Paragraph | TextTable | Figure


def rank_blocks(source: ReportSource) -> Iterator[Block]:
    """Yield the diagram and tables of the ranking of methods, or why there is none."""
    try:
        ranking = study_ranking([source], source.measure)
    except PlanError as error:
        yield Paragraph(str(error), muted=True)
        return
    first, *other_tables = ranking_tables(ranking)
    yield first
    yield rank_diagram(ranking)
    yield from other_tables
