"""``rankstudio judges``: agreement of several judges, and selections under each and with flipped labels."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankstudio.cli.command_parser import check_numbers, place_name
from rankstudio.cli.data_options import add_column_options, add_sample_option, refuse_both
from rankstudio.cli.interrupts import status
from rankstudio.cli.memory_option import add_memory_option
from rankstudio.cli.output.text_tables import as_json, document, number
from rankstudio.cli.progress_bar import last_state
from rankstudio.cli.run_options import add_choices, add_reading, plan_from
from rankstudio.cli.terminal import tell
from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.data.dataset import id_and_name
from rankstudio.engine.data.judgments import PartJudgments
from rankstudio.engine.errors import ParameterError, PlanError
from rankstudio.engine.export.tables import TextTable
from rankstudio.engine.support.number_format import percentage

if TYPE_CHECKING:
    from rankstudio.engine.data.dataset import FoldedDataset
    from rankstudio.engine.experiment.plan.plan import Plan
    from rankstudio.engine.experiment.results.results import RunResult
    from rankstudio.plugins.judges.agreement import Agreement
    from rankstudio.plugins.judges.flipped_labels import FlippedLabels

HELP = "compare the labels of several judges, and the selections under each"
DESCRIPTION = """\
Compare the labels that several judges (people, a language model, clicks) gave the same documents: the label
columns of a table, or for feature logs one file of judgments per judge. For each pair of judges, print
Kendall's tau_b within queries and Krippendorff's alpha. With --method or --plan, run the same plan under each
judge and list the features that are selected under how many of them. With --flips, repeat the run on the
label in use with a share of its labels flipped, and print the selection probability of each feature.

  rankstudio judges people.csv --labels ann,bob,clicks
  rankstudio judges people.csv --labels ann,bob,clicks --method greedy-rankrls --protocol 5-fold
  rankstudio judges logs.ndjson --judgments ann.csv --judgments model.csv --json
  rankstudio judges --sample --method greedy-rankrls --flips 5,10,20 --draws 20"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument(
        "data", metavar="DATA", type=place_name, nargs="?", help="data file, or folder of folds; or --sample"
    )
    add_sample_option(parser)
    parser.add_argument("--plan", metavar="FILE", type=Path, help="plan that is run under each judge")
    parser.add_argument(
        "--flips", metavar="PERCENT", help="percentages of flipped labels, such as 5,10,20; needs a method"
    )
    parser.add_argument(
        "--draws", type=int, default=20, metavar="N", help="runs for each percentage; 20 by default"
    )
    parser.add_argument(
        "--queries", type=int, default=5, metavar="N", help="queries to list, the least agreement first; 5"
    )
    parser.add_argument("--folds", help="folds to run, such as 1,3; all by default")
    add_reading(parser)
    add_memory_option(parser)
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    add_column_options(parser.add_argument_group("columns of tables"))
    add_choices(parser)


def run(args: argparse.Namespace) -> int:
    """Carry the command out."""
    from rankstudio.engine.experiment.runner import open_data
    from rankstudio.plugins.judges.agreement import agreement

    check_numbers(args, queries=0, draws=1)
    refuse_both(args)
    args.data = None if args.sample else [args.data]
    plan, shares = plan_from(args), _shares(args)
    judges = DataColumns.of(plan.columns).judges
    runs = args.method is not None or args.plan is not None
    if not judges and not shares:
        raise PlanError(
            "--labels: expected at least two label columns, or --judgments twice, or --flips with a method."
        )
    if shares and not runs:
        raise PlanError("--flips: expected --method or --plan, whose selection is repeated.")
    dataset = open_data(plan)
    found: dict[str, Any] = {"data": dataset.name}
    tables, stopped = [], False
    if judges:
        judged = dataset.extension(PartJudgments)
        agreed = agreement(() if judged is None else judged.parts)
        found["agreement"] = _agreement_as_dict(agreed)
        tables += [_agreement_table(agreed, dataset), *_query_tables(agreed, args.queries)]
    if judges and runs:
        results, stopped = last_state(_runs(plan, judges, args), len, len(judges))
        found["selection"], table = _selection(judges, results)
        tables.append(table)
    if shares and not stopped:
        from rankstudio.plugins.judges.flipped_labels import flip_steps

        steps = flip_steps(_usual(plan, dataset, args), dataset, shares, args.draws, plan.seed)
        flipped, stopped = last_state(steps, lambda state: state.n_draws, args.draws)
        found["flips"] = _flips_as_dict(flipped)
        tables.append(_flips_table(flipped, dataset))
    tell(as_json(found) if args.json else document(tables))
    return status(stopped, "Stopped. The tables have what was finished.")


def _shares(args: argparse.Namespace) -> tuple[float, ...]:
    """Return the shares of flipped labels; none without the option."""
    if args.draws < 1:
        raise ParameterError("--draws", args.draws, "a whole number from 1 up")
    if args.flips is None:
        return ()
    try:
        shares = tuple(float(text) / 100 for text in args.flips.split(","))
    except ValueError:
        shares = (math.nan,)
    if not all(0 < share <= 1 for share in shares):
        raise ParameterError("--flips", args.flips, "percentages above 0 and up to 100, such as 5,10,20")
    return shares


def _usual(plan: Plan, dataset: FoldedDataset, args: argparse.Namespace) -> Plan:
    """Return the plan with what is usual for the data, where nothing was said of it."""
    from rankstudio.engine.experiment.runner import usual_choices

    names = ("measures", "convention", "select_by")
    return usual_choices(plan, dataset, {n for n in names if args.plan or getattr(args, n) is not None})


def _runs(plan: Plan, judges: Sequence[str], args: argparse.Namespace) -> Iterator[list[RunResult]]:
    """Run one plan under each judge, and yield the results so far."""
    from rankstudio.engine.experiment.runner import open_data, run_plan

    results: list[RunResult] = []
    for judge in judges:
        own = plan.changed(columns={**plan.columns, "label": judge})
        dataset = open_data(own)
        if not results:
            plan = _usual(own, dataset, args)
        results = [*results, run_plan(plan.changed(columns=own.columns), dataset)]
        yield results


def _agreement_as_dict(found: Agreement) -> dict[str, Any]:
    return {
        "alpha": found.alpha,
        "pairs": [
            {
                "judges": [pair.first, pair.second],
                "tau": pair.mean_tau,
                "alpha": pair.alpha,
                "documents": pair.n_documents,
                "queries": pair.n_queries,
                "tau_by_query": [
                    [query, tau] for query, tau in zip(found.query_ids, pair.tau.tolist(), strict=True)
                ],
            }
            for pair in found.pairs
        ],
    }


def _agreement_table(found: Agreement, dataset: FoldedDataset) -> TextTable:
    rows = [
        [
            f"{pair.first}, {pair.second}",
            f"{pair.n_documents:,}",
            f"{pair.n_queries:,}",
            number(pair.mean_tau, "+.3f"),
            number(pair.alpha, "+.3f"),
        ]
        for pair in found.pairs
    ]
    note = f"alpha of all judges: {number(found.alpha, '+.3f')}; it assumes that they use one scale."
    header = ["judges", "documents", "queries", "tau_b", "alpha"]
    title = f"Agreement of {len(found.names)} judges on {dataset.path.name if dataset.path else dataset.name}"
    return TextTable(title, header, rows, (0,), note)


def _query_tables(found: Agreement, n: int) -> list[TextTable]:
    """Return the queries in which the judges agree least, with tau_b of each pair, as a table, if any."""
    rows = [[query, *(number(tau, "+.3f") for tau in (mean, *taus))] for query, mean, taus in found.least(n)]
    header = ["query", "mean tau_b", *(f"{pair.first}, {pair.second}" for pair in found.pairs)]
    return [TextTable("Queries in which the judges agree least", header, rows, (0,))] if rows else []


def _selection(judges: Sequence[str], results: Sequence[RunResult]) -> tuple[dict[str, Any], TextTable]:
    """Return what is selected and measured under each judge, as far as the runs are finished."""
    from rankstudio.plugins.judges.agreement import selection_by_judge

    first, done = results[0], list(judges[: len(results)])
    found: dict[str, Any] = {"judges": done, "measures": [run.average for run in results]}
    measured = [[name, *(f"{run.average[name]:.4f}" for run in results)] for name in first.plan.measures]
    title = f"{first.plan.title} under {', '.join(done)}"
    if len(done) < 2 or not first.plan.entry.selects:
        return found, TextTable(title, ["measure", *done], measured)
    selection = selection_by_judge(results)
    order = selection.order().tolist()
    found |= {
        "nogueira": selection.nogueira,
        "jaccard": selection.jaccard.tolist(),
        "features": [
            {
                "feature": int(selection.feature_ids[column]),
                "name": selection.feature_names[column],
                "judges": int(selection.n_judges[column]),
                "shares": selection.shares[column].tolist(),
            }
            for column in order
        ],
    }
    rows = [
        [
            id_and_name(int(selection.feature_ids[column]), selection.feature_names[column]),
            *(percentage(share) for share in selection.shares[column].tolist()),
            str(selection.n_judges[column]),
        ]
        for column in order
    ]
    pairs = selection.jaccard[np.triu_indices(len(done), 1)]
    note = (
        "Share of the folds that select a feature under each judge, and number of judges with at least half "
        f"of the folds. Selections across judges: Nogueira's index {selection.nogueira:.3f}, Jaccard "
        f"{pairs.mean():.3f}."
    )
    rows += [[*row, ""] for row in measured]
    return found, TextTable(title, ["feature", *done, "judges"], rows, (0,), note)


def _flips_as_dict(found: FlippedLabels) -> dict[str, Any]:
    return {
        "draws": found.n_draws,
        "shares": list(found.shares),
        "jaccard": found.jaccard.tolist(),
        "measures": {name: values.tolist() for name, values in found.values.items()},
        "features": [
            {
                "feature": int(found.feature_ids[column]),
                "name": found.feature_names[column],
                "probability": found.selected[:, column].tolist(),
            }
            for column in found.order().tolist()
        ],
    }


def _flips_table(found: FlippedLabels, dataset: FoldedDataset) -> TextTable:
    rows = [
        [
            id_and_name(int(found.feature_ids[column]), found.feature_names[column]),
            *(percentage(share) for share in found.selected[:, column].tolist()),
        ]
        for column in found.order().tolist()
    ]
    rows.append(["Jaccard with 0 %", *(f"{value:.3f}" for value in found.jaccard.tolist())])
    rows += [[name, *(f"{value:.4f}" for value in v.mean(axis=1))] for name, v in found.values.items()]
    note = (
        f"Selection probability over {found.n_draws} draws and the folds, by the share of flipped labels in "
        "the training and validation parts. Measures are means on the test part, whose labels are kept."
    )
    title = f"{found.plan.title} on {dataset.name} with flipped labels"
    return TextTable(title, ["feature", *(f"{100 * share:g} %" for share in found.shares)], rows, (0,), note)
