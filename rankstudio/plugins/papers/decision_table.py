"""The decisions of a run by thresholds, as a table beside its folds."""

from __future__ import annotations

from math import isnan

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.language import tr
from rankstudio.engine.plugins.run_tables import RunTableRow, RunTableRows
from rankstudio.plugins.papers.decision_thresholds import DecisionRow, Decisions, decision_rows, run_decisions


def decision_table(run: RunResult, data: FoldedDataset, sealed: bool) -> RunTableRows:
    """Return the decisions of a run by thresholds as rows.

    Raises
    ------
    PlanError
        If there are none.
    """
    decisions = run_decisions(run, data, sealed=sealed)
    return RunTableRows(tuple(map(_row, decision_rows(decisions))), _sentence(decisions))


def _row(row: DecisionRow) -> RunTableRow:
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


def _sentence(decisions: Decisions) -> str:
    low, high = decisions.mean_auc_interval
    text = tr("Mean {part} AUC {auc:.4f}, 95 % interval {low:.4f} to {high:.4f} (DeLong)")
    if isnan(low):
        text = tr("All documents of the {part} part are pooled, whatever their query.")
    return text.format(part=tr(decisions.part), auc=decisions.mean_auc, low=low, high=high)
