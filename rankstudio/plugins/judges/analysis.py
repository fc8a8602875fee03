"""The analysis of judges: tables of agreement, of selections under each judge and with flipped labels."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from rankstudio.engine.analysis.measurements.measurement import (
    is_divided,
    sealed_plan_data,
)
from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.data.dataset import FoldedDataset, id_and_name
from rankstudio.engine.data.judgments import PartJudgments
from rankstudio.engine.errors import PlanError
from rankstudio.engine.experiment.plan.as_code import (
    column_words,
    data_word,
    field_words,
    plan_words,
)
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.experiment.runner import open_data, run_plan, usual_choices
from rankstudio.engine.language import tr
from rankstudio.engine.methods.catalog.analysis import (
    AnalysisResult,
    AnalysisTable,
    Cell,
    cell_text,
    formatted,
)
from rankstudio.engine.support.number_format import percentage
from rankstudio.engine.support.work import WorkProgress
from rankstudio.plugins.judges.agreement import (
    Agreement,
    JudgeSelections,
    agreement,
    selection_by_judge,
)
from rankstudio.plugins.judges.flipped_labels import FlippedLabels, flip_steps

_CHOSEN_FIELDS = ("measures", "convention", "select_by")


def judges_result(
    plan: Plan,
    data: FoldedDataset,
    chosen: Collection[str] = _CHOSEN_FIELDS,
    /,
    *,
    agrees: bool = True,
    selects: bool = False,
    flips: bool = False,
    shares: Sequence[float] = (5, 10, 20),
    n_draws: int = 20,
    n_queries: int = 5,
) -> Generator[WorkProgress | AnalysisResult, None, AnalysisResult]:
    """Compare the labels of several judges, the selections under each judge, and those with flipped labels.

    Parameters
    ----------
    plan : Plan
        Plan of the runs; its columns name the judges, whose labels the data have.
    data : FoldedDataset
        Data of the plan.
    chosen : collection of str
        Fields of the plan that keep their values; the others are
        replaced by values usual for the data.
    agrees : bool
        Whether the labels of the judges are compared with each other.
    selects : bool
        Whether the plan is carried out under each judge.
    flips : bool
        Whether the plan is carried out with flipped labels.
    shares : sequence of float
        Percentages of flipped labels.
    n_draws : int
        Number of runs for each percentage.
    n_queries : int
        Number of queries to list.

    Yields
    ------
    WorkProgress or AnalysisResult
        Progress, and the tables so far; the last result has all of them.

    Raises
    ------
    PlanError
        If there is nothing to compare.
    """
    judges = DataColumns.of(plan.columns).judges

    # The labels of all judges, for each part of the data; None for one judge.
    judged = data.extension(PartJudgments)
    if not flips and (judged is None or not (agrees or selects)):
        raise PlanError(
            tr(
                "The data have the labels of one judge. Open them with two label columns."
            )
        )
    values: dict[str, Any] = {"data": data.name}
    tables: list[AnalysisTable] = []

    # Agreement of the labels: one table, and one for the queries with
    # the least agreement.
    if agrees and judged is not None:
        agreed = agreement(judged.parts)
        values["agreement"] = _agreement_as_dict(agreed)
        tables += [_agreement_table(agreed, data), *_query_tables(agreed, n_queries)]
        yield AnalysisResult(tuple(tables), dict(values))

    # Each further run replaces the table of the selections.
    n_before = len(tables)
    if selects and judged is not None:
        for results in _runs_by_judge(plan, judges, data, chosen):
            values["selection"], table = _selection_table(judges, results)
            tables[n_before:] = [table]
            yield WorkProgress(
                tr("running the plan under each judge"), len(results) / len(judges)
            )
            yield AnalysisResult(tuple(tables), dict(values))

    # Runs with flipped labels; each draw replaces their table.
    n_before = len(tables)
    if flips:
        fractions = tuple(share / 100 for share in shares)
        n_done = 0
        for state in flip_steps(
            usual_choices(plan, data, chosen), data, fractions, n_draws, plan.seed
        ):
            # The state is None within a draw.
            n_done = n_done if state is None else state.n_draws
            yield WorkProgress(tr("running with flipped labels"), n_done / n_draws)
            if state is not None:
                values["flips"] = _flips_as_dict(state)
                tables[n_before:] = [_flips_table(state, data)]
                yield AnalysisResult(tuple(tables), dict(values))
    return AnalysisResult(tuple(tables), values)


def judges_words(plan: Plan, values: Mapping[str, Any]) -> list[str] | None:
    """Return the words of a command line that does this analysis, after the command's name.

    ``values`` are the parameters of the analysis. Return None if there
    is nothing to compare.
    """
    if not values["flips"] and not DataColumns.of(plan.columns).judges:
        return None

    # The data; then the plan that is run, or how the data are read.
    words = [data_word(plan)]
    if values["selects"] or values["flips"]:
        words += plan_words(plan)
    else:
        words += [*field_words(plan, ("missing", "normalize")), *column_words(plan)]
    if values["flips"]:
        shares = ",".join(f"{share:g}" for share in values["shares"])
        words += ["--flips", shares, "--draws", str(values["n_draws"])]
    return [
        *words,
        *(["--queries", str(values["n_queries"])] if values["agrees"] else []),
    ]


def _runs_by_judge(
    plan: Plan, judges: Sequence[str], data: FoldedDataset, chosen: Collection[str]
) -> Iterator[list[RunResult]]:
    """Run the plan under each judge; yield the list of results after each run.

    ``chosen`` are the fields of the plan that keep their values; others
    get values usual for the data. If the test parts of ``data`` are
    left out because they are sealed, the runs have no test parts
    either.
    """
    results: list[RunResult] = []

    # Data with the folds of the plan but no test part: that part is sealed.
    is_sealed = is_divided(plan, data) and all(fold.test is None for fold in data.folds)
    for judge in judges:
        # the same data with the judge's column as the label
        judge_plan = plan.changed(columns={**plan.columns, "label": judge})
        dataset = open_data(judge_plan)

        # All runs have the usual fields of the first judge's data.
        if not results:
            plan = usual_choices(judge_plan, dataset, chosen)
        judge_plan = plan.changed(columns=judge_plan.columns)
        dataset = sealed_plan_data(judge_plan, dataset) if is_sealed else dataset
        results = [*results, run_plan(judge_plan, dataset)]
        yield results


def _agreement_as_dict(agreed: Agreement) -> dict[str, Any]:
    """Return the agreement of the judges as plain values for JSON, with τ_b of each query."""
    return {
        "alpha": agreed.alpha,
        "pairs": [
            {
                "judges": [pair.first, pair.second],
                "tau": pair.mean_tau,
                "alpha": pair.alpha,
                "documents": pair.n_documents,
                "queries": pair.n_queries,
                "tau_by_query": [
                    [query, tau]
                    for query, tau in zip(
                        agreed.query_ids, pair.tau.tolist(), strict=True
                    )
                ],
            }
            for pair in agreed.pairs
        ],
    }


def _agreement_table(agreed: Agreement, data: FoldedDataset) -> AnalysisTable:
    """Return the table of the agreement of each pair of judges on the labels of the data."""
    # One row for each pair of judges; the note is on all of them.
    rows = tuple(
        (
            f"{pair.first}, {pair.second}",
            formatted(pair.n_documents, ",d"),
            formatted(pair.n_queries, ",d"),
            formatted(pair.mean_tau, "+.3f"),
            formatted(pair.alpha, "+.3f"),
        )
        for pair in agreed.pairs
    )
    text = tr("alpha of all judges: {alpha}; it assumes that they use one scale.")
    note = text.format(alpha=cell_text(formatted(agreed.alpha, "+.3f")))
    title = tr("Agreement of {count} judges on {data}").format(
        count=len(agreed.names), data=data.path.name if data.path else data.name
    )
    header = (tr("judges"), tr("documents"), tr("queries"), "tau_b", "alpha")
    return AnalysisTable(title, header, rows, note)


def _query_tables(agreed: Agreement, n: int) -> list[AnalysisTable]:
    """Return a list with the table of the n queries in which the judges agree least.

    ``agreed`` has the agreement in each query. Return [] if no query
    can be listed.
    """
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (query, *(formatted(tau, "+.3f") for tau in (mean, *taus)))
        for query, mean, taus in agreed.least(n)
    )
    header = (
        tr("query"),
        tr("mean tau_b"),
        *(f"{pair.first}, {pair.second}" for pair in agreed.pairs),
    )
    return (
        [AnalysisTable(tr("Queries in which the judges agree least"), header, rows)]
        if rows
        else []
    )


def _selection_as_dict(selection: JudgeSelections) -> dict[str, Any]:
    """Return the selections under the judges as plain values, the most selected features first."""
    return {
        "nogueira": selection.nogueira,
        "jaccard": selection.jaccard.tolist(),
        "features": [
            {
                "feature": int(selection.feature_ids[column]),
                "name": selection.feature_names[column],
                "judges": int(selection.n_judges[column]),
                "shares": selection.shares[column].tolist(),
            }
            for column in selection.order().tolist()
        ],
    }


def _selection_table(
    judges: Sequence[str], results: Sequence[RunResult]
) -> tuple[dict[str, Any], AnalysisTable]:
    """Return the selected features and measures of the runs under the judges so far.

    The selections and measures are returned as plain values and as a
    table. ``results`` has the runs of the first of the ``judges``;
    later judges may be missing.
    """
    first = results[0]
    finished = list(judges[: len(results)])
    values: dict[str, Any] = {
        "judges": finished,
        "measures": [run.average for run in results],
    }

    # The measures alone are the table if there is nothing to compare:
    # one judge so far, or no selection.
    measured: list[tuple[Cell, ...]] = [
        (name, *(formatted(run.average[name], ".4f") for run in results))
        for name in first.plan.measures
    ]
    title = tr("{plan} under {judges}").format(
        plan=first.plan.title, judges=", ".join(finished)
    )
    if len(finished) < 2 or not first.plan.entry.selects:
        return values, AnalysisTable(title, (tr("measure"), *finished), tuple(measured))

    # One row for each feature, the most selected ones first.
    selection = selection_by_judge(results)
    values |= _selection_as_dict(selection)
    rows: list[tuple[Cell, ...]] = [
        (
            id_and_name(
                int(selection.feature_ids[column]), selection.feature_names[column]
            ),
            *(
                formatted(share, percentage)
                for share in selection.shares[column].tolist()
            ),
            int(selection.n_judges[column]),
        )
        for column in selection.order().tolist()
    ]

    # The index of each pair of judges once: the entries above the diagonal.
    pairs = selection.jaccard[np.triu_indices(len(finished), 1)]
    text = tr(
        "Share of the folds that select a feature under each judge, and number of judges with at least half "
        "of the folds. Selections across judges: Nogueira's index {nogueira}, Jaccard {jaccard}."
    )
    note = text.format(
        nogueira=f"{selection.nogueira:.3f}", jaccard=f"{pairs.mean():.3f}"
    )

    # The rows of the measures have no number of judges.
    rows += [(*row, None) for row in measured]
    return values, AnalysisTable(
        title, (tr("feature"), *finished, tr("judges")), tuple(rows), note
    )


def _flips_as_dict(flipped: FlippedLabels) -> dict[str, Any]:
    """Return the selections and measures under flipped labels as plain values."""
    return {
        "draws": flipped.n_draws,
        "shares": list(flipped.shares),
        "jaccard": flipped.jaccard.tolist(),
        "measures": {name: values.tolist() for name, values in flipped.values.items()},
        "features": [
            {
                "feature": int(flipped.feature_ids[column]),
                "name": flipped.feature_names[column],
                "probability": flipped.selected[:, column].tolist(),
            }
            for column in flipped.order().tolist()
        ],
    }


def _flips_table(flipped: FlippedLabels, data: FoldedDataset) -> AnalysisTable:
    """Return the table of selection probabilities and measures by the share of flipped labels."""
    # The rows: first the features, then the similarity of the
    # selections, then the measures.
    rows: list[tuple[Cell, ...]] = [
        (
            id_and_name(
                int(flipped.feature_ids[column]), flipped.feature_names[column]
            ),
            *(
                formatted(share, percentage)
                for share in flipped.selected[:, column].tolist()
            ),
        )
        for column in flipped.order().tolist()
    ]
    similarities = (formatted(value, ".3f") for value in flipped.jaccard.tolist())
    rows.append((tr("Jaccard with 0 %"), *similarities))

    # `values` has a row for each share, and a column for each draw.
    for name, values in flipped.values.items():
        rows.append(
            (name, *(formatted(value, ".4f") for value in values.mean(axis=1).tolist()))
        )
    text = tr(
        "Selection probability over {draws} draws and the folds, by the share of flipped labels in the "
        "training and validation parts. Measures are means on the test part, whose labels are kept."
    )
    title = tr("{plan} on {data} with flipped labels").format(
        plan=flipped.plan.title, data=data.name
    )
    header = (tr("feature"), *(f"{100 * share:g} %" for share in flipped.shares))
    return AnalysisTable(title, header, tuple(rows), text.format(draws=flipped.n_draws))
