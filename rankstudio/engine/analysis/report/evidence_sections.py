"""How sure the selections of runs are: the evidence that a study keeps with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import isfinite

from rankstudio.engine.analysis.evidence.evidence_result import SelectionEvidence
from rankstudio.engine.analysis.evidence.evidence_table import evidence_sentences
from rankstudio.engine.analysis.evidence.verdicts import FeatureEvidence
from rankstudio.engine.analysis.figures.evidence_figures import evidence_figures
from rankstudio.engine.analysis.report.document import Block, Paragraph, ReportFigure
from rankstudio.engine.analysis.report.source import NOTHING, ReportedRun, ReportSource, fixed
from rankstudio.engine.export.tables import TextTable

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

        yield _features(run, fold, found)
        sentences = evidence_sentences(found, [str(feature) for feature in ids].__getitem__)
        if sentences:
            yield Paragraph(" ".join(sentences))
        if number < _MOST:
            for figure in evidence_figures(found, f"Run {run.number}, fold {fold}, k = {found.k}", named):
                yield ReportFigure(figure)


def _features(run: ReportedRun, fold: int, found: SelectionEvidence) -> TextTable:
    """Return the evidence for each feature; columns of which nothing is known are not there."""
    ids, names = run.result.feature_ids.tolist(), run.result.feature_names
    columns: dict[str, Callable[[FeatureEvidence], str]] = {
        "selected on": lambda row: _percent(row.probability),
        "place": _place,
        "share": lambda row: _percent(row.share),
        "loss": lambda row: NOTHING if row.loss is None else fixed(row.loss.value),
        "95 %": _interval,
        "queries": lambda row: NOTHING if row.n_deciding is None else str(row.n_deciding),
        "verdict": lambda row: row.verdict.value if row.verdict is not None else NOTHING,
    }
    rows = [row for row in found.rows if row.selected]
    told = {title: [text(row) for row in rows] for title, text in columns.items()}
    there = {title: texts for title, texts in told.items() if any(text != NOTHING for text in texts)}
    measure = found.losses.measure if found.losses is not None else ""
    note = "Selected on: share of halves of the queries. Queries: how many decide the step."
    note += f" Loss: {measure} without the feature, on left-out queries." if measure else ""
    return TextTable(
        f"Run {run.number}, fold {fold}: evidence for {found.k} features",
        ("feature", "id", *there),
        [
            (names[row.column], str(ids[row.column]), *(texts[at] for texts in there.values()))
            for at, row in enumerate(rows)
        ],
        (0, 1 + len(there)),
        note,
    )


def _percent(share: float | None) -> str:
    return NOTHING if share is None else f"{100 * share:.0f} %"


def _place(row: FeatureEvidence) -> str:
    """Return the median place on the halves, and from where to where it goes."""
    if row.position is None or not isfinite(row.position[0]):
        return NOTHING
    low, median, high = (f"{one:.0f}" if isfinite(one) else "∞" for one in row.position)
    return f"{median} ({low} to {high})"


def _interval(row: FeatureEvidence) -> str:
    return NOTHING if row.loss is None else f"{fixed(row.loss.low)} to {fixed(row.loss.high)}"
