"""The risk of runs as tables, CSV and plain values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from math import isnan
from typing import Any

from rankstudio.engine.export.tables import TextTable, csv_of_values, p_text
from rankstudio.engine.language import tr
from rankstudio.engine.support.number_format import NOTHING, fixed
from rankstudio.plugins.risk.run_risks import GroupRisk, RunRisk

_CSV_HEADER = (
    "data",
    "scope",
    "measure",
    "alpha",
    "baseline",
    "run",
    "method",
    "mean",
    "gain",
    "loss",
    "urisk",
    "trisk",
    "p_trisk",
    "georisk",
    "worse_queries",
    "queries",
)


def risk_table(risk: GroupRisk) -> TextTable:
    """Return the table of the risks of a group of runs, a row per run.

    Without a baseline, the table has no rows, but notes that say why.
    """
    rows = [_table_row(run) for run in risk.runs]
    title = tr("{data}: risk by {measure}, {scope}")
    header = (
        tr("run"),
        tr("method"),
        risk.measure,
        tr("gain"),
        tr("loss"),
        tr("URisk"),
        tr("TRisk"),
        tr("p (TRisk)"),
        tr("GeoRisk"),
        tr("worse"),
    )
    return TextTable(
        title.format(
            data=risk.group.key.data_name,
            measure=risk.measure,
            scope=risk.group.scope,
        ),
        header,
        rows,
        left=(1,),  # the column of methods is aligned to the left
        note=" ".join(risk_notes(risk)),
    )


def _table_row(run: RunRisk) -> tuple[str, ...]:
    """Return the cells of a run in the table; for the baseline, the risks against the baseline are dashes."""
    risk = run.risk
    if risk is None:
        cells = (NOTHING,) * 5
    else:
        cells = (
            fixed(risk.gain),
            fixed(risk.loss),
            fixed(risk.urisk, sign=True),
            fixed(risk.trisk, 2, sign=True),
            NOTHING if isnan(risk.p) else p_text(risk.p),
        )
    n_worse = NOTHING if risk is None else str(risk.n_losses)
    first_cells = (str(run.number), run.title, fixed(run.mean))
    return (*first_cells, *cells, fixed(run.georisk), n_worse)


def risk_notes(risk: GroupRisk) -> list[str]:
    """Return the baseline, the weight of losses, and the notes of a group, as sentences."""
    if risk.baseline is None:
        return list(risk.notes)
    text = tr(
        "Baseline: {baseline}. A loss counts {weight:g} times as much as a gain (alpha = {alpha:g}), over "
        "{n} queries. GeoRisk compares each run with the {n_runs} runs of the table. p is not corrected for "
        "several runs."
    )
    sentences = text.format(
        baseline=risk.baseline_name,
        weight=1 + risk.alpha,
        alpha=risk.alpha,
        n=risk.n_queries,
        n_runs=len(risk.runs),
    )
    return [sentences, *risk.notes]


def risk_csv(risks: Sequence[GroupRisk]) -> str:
    """Return all runs with all digits as CSV; cells without a value are empty."""
    rows = [_csv_row(risk, run) for risk in risks for run in risk.runs]
    return csv_of_values(_CSV_HEADER, rows)


def _csv_row(risk: GroupRisk, run: RunRisk) -> tuple[object, ...]:
    """Return the risks of a run as a row of the CSV file, in the order of the file's header.

    For the baseline itself, the five risks against the baseline and the
    number of losses are None.
    """
    group = risk.group
    of_run = run.risk
    first_cells = (
        *(group.key.data_name, group.scope, risk.measure, risk.alpha, risk.baseline),
        *(run.number, run.title, run.mean),
    )
    if of_run is None:
        return (*first_cells, *(None,) * 5, run.georisk, None, risk.n_queries)
    against_baseline = (of_run.gain, of_run.loss, of_run.urisk, of_run.trisk, of_run.p)
    return (
        *first_cells,
        *against_baseline,
        run.georisk,
        of_run.n_losses,
        risk.n_queries,
    )


def risk_as_dict(risk: GroupRisk) -> dict[str, Any]:
    """Return the risks of a group of comparable runs as plain values for JSON.

    ``against_baseline`` is None for the baseline itself.
    """
    return {
        "data": risk.group.key.data_name,
        "scope": risk.group.scope,
        "measure": risk.measure,
        "alpha": risk.alpha,
        "baseline": risk.baseline,
        "queries": risk.n_queries,
        "runs": [
            {
                "run": run.number,
                "method": run.title,
                "mean": run.mean,
                "georisk": run.georisk,
                "against_baseline": asdict(run.risk) if run.risk else None,
            }
            for run in risk.runs
        ],
        "notes": list(risk.notes),
    }
