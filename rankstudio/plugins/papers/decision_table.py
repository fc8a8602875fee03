"""The decisions of a run by thresholds, as tables of an analysis and as a table on the run's folds."""

from __future__ import annotations

from dataclasses import asdict
from math import isnan

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.errors import one_line
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.language import tr
from rankstudio.engine.methods.catalog.analysis import (
    AnalysisResult,
    AnalysisTable,
    Cell,
    formatted,
)
from rankstudio.engine.plugins.run_tables import RunTableRow, RunTableRows
from rankstudio.plugins.papers.decision_thresholds import (
    DecisionRow,
    Decisions,
    decision_rows,
    run_decisions,
)


def decision_table(run: RunResult, data: FoldedDataset, sealed: bool) -> RunTableRows:
    """Return decisions which documents are relevant, by thresholds of a run's scores, as rows of a table.

    Raises
    ------
    PlanError
        If the run has no decisions, as :func:`run_decisions` states.
    """
    decisions = run_decisions(run, data, sealed=sealed)
    return RunTableRows(
        tuple(map(_decision_row, decision_rows(decisions))), _auc_sentence(decisions)
    )


def decisions(run: RunResult, data: FoldedDataset) -> AnalysisResult:
    """Return the decisions of a run by thresholds, and the areas under its curves, as tables.

    A decision takes all documents with scores of at least a threshold.

    Raises
    ------
    PlanError
        If a fold has no documents to judge by a threshold, or no complete model.
    """
    fold_decisions = run_decisions(run, data)
    tables = [_decisions_table(run, fold_decisions)]

    # NaN: an interval of the AUC is defined only for parts that are one ranking each.
    low, _ = fold_decisions.mean_auc_interval
    if not isnan(low):
        tables.append(_auc_table(fold_decisions))
    return AnalysisResult(tuple(tables), asdict(fold_decisions))


def _decisions_table(run: RunResult, fold_decisions: Decisions) -> AnalysisTable:
    """Return the table of the decisions by thresholds on each fold."""
    text = tr("{run} on {data}: {part} documents of a fold pooled")
    title = text.format(
        run=run.plan.title,
        data=run.data_name,
        part=tr(fold_decisions.part),
    )
    about = tr(
        "Thresholds of the training part; the greatest F is that of any threshold on the judged documents"
    )
    header = (
        tr("fold"),
        tr("threshold by"),
        tr("threshold"),
        tr("precision"),
        tr("recall"),
        "F",
        tr("greatest F"),
        tr("difference"),
    )
    rows = tuple(_decision_cells(row) for row in decision_rows(fold_decisions))
    return AnalysisTable(
        tr("Decisions by thresholds"),
        header,
        rows,
        above=f"{one_line(title)}\n{about}\n",
    )


def _decision_cells(row: DecisionRow) -> tuple[Cell, ...]:
    """Return the cells of a row: fold, rule, threshold, and the quality of the decision.

    The threshold is None in the row of the mean over the folds.
    """
    decision = row.decision
    threshold = (
        None if isnan(decision.threshold) else formatted(decision.threshold, ".4g")
    )
    values = (
        decision.precision,
        decision.recall,
        decision.f,
        row.greatest,
        row.difference,
    )
    return (
        row.label,
        row.rule,
        threshold,
        *(formatted(value, ".4f") for value in values),
    )


def _auc_table(fold_decisions: Decisions) -> AnalysisTable:
    """Return the table of the AUC of each fold and its mean, with intervals."""
    areas = [
        (str(fold.fold), fold.auc, fold.auc_interval) for fold in fold_decisions.folds
    ]
    if len(areas) > 1:
        areas.append(
            (tr("mean"), fold_decisions.mean_auc, fold_decisions.mean_auc_interval)
        )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (name, *(formatted(value, ".4f") for value in (auc, *interval)))
        for name, auc, interval in areas
    )
    note = tr("95 % intervals by DeLong, for the models as they are")
    return AnalysisTable(
        "AUC", (tr("fold"), "AUC", tr("low"), tr("high")), rows, note, above=""
    )


def _decision_row(row: DecisionRow) -> RunTableRow:
    """Return a decision as a row of a table of the run, with its numbers by name."""
    values: dict[str, float | str] = {
        "rule": row.rule,
        "threshold": row.decision.threshold,
        "precision": row.decision.precision,
        "recall": row.decision.recall,
        "f": row.decision.f,
        "greatest": row.greatest,
        "difference": row.difference,
    }
    return RunTableRow(row.label, row.fold, values)


def _auc_sentence(decisions: Decisions) -> str:
    """Return the sentence on the mean AUC of a run's models over the folds.

    If the judged parts have several queries, the sentence says that
    their documents are pooled.
    """
    low, high = decisions.mean_auc_interval
    text = tr(
        "Mean {part} AUC {auc:.4f}, 95 % interval {low:.4f} to {high:.4f} (DeLong)"
    )
    if isnan(low):
        text = tr("All documents of the {part} part are pooled, whatever their query.")
    return text.format(
        part=tr(decisions.part),
        auc=decisions.mean_auc,
        low=low,
        high=high,
    )
