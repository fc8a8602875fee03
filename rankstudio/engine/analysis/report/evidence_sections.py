"""How sure the selections of runs are: the evidence that a study keeps with them."""

from __future__ import annotations

from collections.abc import Iterator

from rankstudio.engine.analysis.evidence.evidence_table import (
    column_milliseconds,
    evidence_sentences,
    evidence_text,
)
from rankstudio.engine.analysis.figures.evidence_figures import evidence_figures
from rankstudio.engine.analysis.report.document import Block, Paragraph, ReportFigure
from rankstudio.engine.analysis.report.source import ReportSource

_MOST = 6  # selections with figures


def evidence_blocks(source: ReportSource) -> Iterator[Block]:
    """Yield the stored evidence: a table, sentences and figures for each selection."""
    kept = [(run, fold, found) for run in source.runs for fold, found in run.evidence]
    if not kept:
        yield Paragraph("No evidence has been gathered for a selection of these runs.", muted=True)
    for number, (run, fold, found) in enumerate(kept):
        ids, names = run.result.feature_ids.tolist(), run.result.feature_names

        def named(column: int, ids: list[int] = ids, names: tuple[str, ...] = tuple(names)) -> str:
            return f"{names[column]} ({ids[column]})"

        id_of = [str(feature) for feature in ids].__getitem__
        title = f"Run {run.number}, fold {fold}: evidence for {found.k} features"
        selected = [row for row in found.rows if row.selected]
        milliseconds = column_milliseconds(run.plan.feature_costs, ids)
        yield evidence_text(title, found, selected, id_of, named, milliseconds)
        sentences = evidence_sentences(found, id_of)
        if sentences:
            yield Paragraph(" ".join(sentences))
        if number < _MOST:
            for figure in evidence_figures(found, f"Run {run.number}, fold {fold}, k = {found.k}", named):
                yield ReportFigure(figure)
