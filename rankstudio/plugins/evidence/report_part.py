"""How sure the selections of runs are: the evidence that a study keeps with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TypeVar

from rankstudio.engine.analysis.reported_runs import ReportedRun, ReportSource
from rankstudio.engine.analysis.tried_models.smallest_set import smallest_set_beside
from rankstudio.engine.data.feature_costs import FeatureCosts
from rankstudio.engine.errors import StoreError
from rankstudio.engine.export.figures.values import Figure
from rankstudio.engine.export.tables import TextTable
from rankstudio.engine.plugins.report_parts import Paragraph
from rankstudio.plugins.evidence.evidence_codec import (
    unpack_evidence,
    unpack_importance,
    unpack_validity,
)
from rankstudio.plugins.evidence.evidence_figures import (
    evidence_figures,
    importance_figure,
    validity_figure,
)
from rankstudio.plugins.evidence.evidence_result import SelectionEvidence
from rankstudio.plugins.evidence.evidence_table import (
    column_milliseconds,
    evidence_sentences,
    evidence_text,
    importance_text,
    validity_text,
)
from rankstudio.plugins.evidence.model_importance import MeasuredImportance
from rankstudio.plugins.evidence.model_validity import MeasuredValidity

Block = Paragraph | TextTable | Figure
Kind = TypeVar("Kind")

_MAX_DRAWN = 6  # number of selections, and of models, with figures
_MAX_FEATURES = 30  # rows of a model's table, with the greatest losses


def evidence_blocks(source: ReportSource) -> Iterator[Block]:
    """Yield tables, sentences and figures of the evidence stored with runs: on selections, then on models.

    Only the first few selections and models have figures; more of them
    would fill the report.
    """
    selections = _stored_evidence(source, unpack_evidence)
    importances = _stored_evidence(source, unpack_importance)
    validities = _stored_evidence(source, unpack_validity)
    if not selections and not importances and not validities:
        yield Paragraph(
            "No evidence has been gathered for a selection of these runs.", muted=True
        )
    for number, (run, fold, evidence) in enumerate(selections):
        yield from _selection_blocks(run, fold, evidence, drawn=number < _MAX_DRAWN)
    for number, (run, fold, measured) in enumerate(importances):
        yield from _model_blocks(run, fold, measured, drawn=number < _MAX_DRAWN)
    for number, (run, fold, validity) in enumerate(validities):
        yield from _validity_blocks(run, fold, validity, drawn=number < _MAX_DRAWN)


def _stored_evidence(
    source: ReportSource, unpack: Callable[[bytes, int], Kind]
) -> list[tuple[ReportedRun, int, Kind]]:
    """Return the stored evidence of one kind as triples of run, fold number and evidence.

    ``unpack`` reads the kind from bytes and the number of features.
    Entries that are of another kind or damaged are left out.
    """
    unpacked = []
    for run in source.runs:
        for fold, content in run.evidence:
            with suppress(StoreError):
                unpacked.append(
                    (run, fold, unpack(content, len(run.result.feature_ids)))
                )
    return unpacked


def _selection_blocks(
    run: ReportedRun, fold: int, evidence: SelectionEvidence, drawn: bool
) -> Iterator[Block]:
    """Yield the table, the sentences and, if drawn, the figures of one selection's evidence."""
    names = _Names(run)

    # None if the run has no result of this fold
    result = next(
        (fold_result for fold_result in run.result.folds if fold_result.fold == fold),
        None,
    )
    sets = (
        smallest_set_beside(run.plan, result, evidence.selected)
        if result is not None
        else None
    )
    if sets is not None:
        yield Paragraph(f"Run {run.number}, fold {fold}: {sets.sentence}")
    title = f"Run {run.number}, fold {fold}: evidence for {evidence.k} features"
    selected = [row for row in evidence.rows if row.selected]
    milliseconds = column_milliseconds(
        run.plan.extension(FeatureCosts), run.result.feature_ids.tolist()
    )
    yield evidence_text(title, evidence, selected, names.id, names.full, milliseconds)
    sentences = evidence_sentences(evidence, names.id)
    if sentences:
        yield Paragraph(" ".join(sentences))
    if drawn:
        figure_title = f"Run {run.number}, fold {fold}, k = {evidence.k}"
        yield from evidence_figures(evidence, figure_title, names.full)


def _model_blocks(
    run: ReportedRun, fold: int, measured: MeasuredImportance, drawn: bool
) -> Iterator[Block]:
    """Yield the table and, if drawn, the figure of a model's permutation importance."""
    names = _Names(run)
    subject = f"Run {run.number}, fold {fold}"
    n = measured.n_features
    title = f"{subject}: permutation importance in a model with {n} features"
    yield importance_text(title, measured, names.full, _MAX_FEATURES)
    if drawn:
        yield importance_figure(measured, subject, names.full)


def _validity_blocks(
    run: ReportedRun, fold: int, measured: MeasuredValidity, drawn: bool
) -> Iterator[Block]:
    """Yield the table and, if drawn, the figure of validity and completeness of a model's features."""
    subject = f"Run {run.number}, fold {fold}"
    title = f"{subject}: validity and completeness in a model with {len(measured.columns)} features"
    yield validity_text(title, measured, _Names(run).full)
    figure = validity_figure(measured, subject)
    if drawn and not figure.empty:
        yield figure


class _Names:
    """Ids and names of the features of a run."""

    def __init__(self, run: ReportedRun) -> None:
        self._ids = run.result.feature_ids.tolist()
        self._names = run.result.feature_names

    def id(self, column: int) -> str:
        """Return the id of a column as a text."""
        return str(self._ids[column])

    def full(self, column: int) -> str:
        """Return the name of a column with its id."""
        return f"{self._names[column]} ({self._ids[column]})"
