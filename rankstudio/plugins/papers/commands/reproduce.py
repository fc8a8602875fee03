"""``rankstudio reproduce``: run a paper's protocol on a dataset, and compare its tables with our results."""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankstudio.cli.interrupts import INTERRUPTED, say_how_to_go_on, stopping
from rankstudio.cli.memory_option import add_memory_option
from rankstudio.cli.output.text_tables import as_json, as_text
from rankstudio.cli.progress_bar import AllRuns
from rankstudio.cli.replacement import add_force_option, check_outputs, write_new
from rankstudio.cli.run_loop import RunInProgress, carry_on
from rankstudio.cli.streams import write_output
from rankstudio.cli.study_file_option import study_at
from rankstudio.cli.terminal import Block, tell
from rankstudio.cli.worker_options import add_worker_options, workers
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.errors import PlanError, one_line
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.export.tables import p_text
from rankstudio.engine.support.number_format import NOTHING
from rankstudio.plugins.papers.reproduction import (
    Claim,
    PaperTable,
    Reproduction,
    cells_of,
    load_reproduction,
    reproductions,
)

if TYPE_CHECKING:
    from rankstudio.plugins.papers.airola_2011 import Experiment, PrintedExperiment


_WIDTH = 110  # characters of a line
_COUNT_TEMPLATES = (
    "{} of {} cells agree to the last printed digit.",
    "{} of {} cells with an unspecified setting in the paper agree.",
)

HELP = "reproduce the tables of a paper"
DESCRIPTION = """\
Run the protocol of a paper on a dataset folder and compare its tables with our results. A tick marks cells
that agree to the last printed digit; other cells show our value in parentheses.

  rankstudio reproduce greedy-rankrls --data MQ2008
  rankstudio reproduce fsmrank --data MQ2008 --study fsmrank.rankstudio
  rankstudio reproduce airola-2011 --data MQ2008 --out airola.txt
  rankstudio reproduce fs-ed --data MQ2008 --study fs-ed.rankstudio --json
  rankstudio reproduce greedy-rankrls --data MQ2008 --figures figures

airola-2011 is a thesis: some of its experiments run on the data, others are simulated, and experiments
without available data are listed with the reason.

greedy-rankrls takes about a minute, airola-2011 and fsmrank several minutes, and fs-ed hours, because it
boosts trees for each number of features. With --study, a stopped run can be resumed."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the command's options: the paper, its data, and the output."""
    parser.add_argument(
        "paper", choices=reproductions(), help="paper to reproduce, named by its method"
    )
    parser.add_argument(
        "--data",
        type=Path,
        metavar="FOLDER",
        required=True,
        help="dataset folder with five folds",
    )
    parser.add_argument(
        "--study",
        type=Path,
        help="study file that stores completed units, so that an interrupted run can be resumed",
    )
    parser.add_argument(
        "--json", action="store_true", help="print tables, cells and notes as JSON"
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="write to a file; - prints it",
    )
    parser.add_argument(
        "--figures",
        type=Path,
        metavar="DIR",
        help="also write the figures of the paper as PDF and CSV, each with its caption",
    )
    add_force_option(parser)
    add_worker_options(parser)
    add_memory_option(parser)


def run(args: argparse.Namespace) -> int:
    """Run the plans of a paper, and print or write its tables beside our numbers.

    ``args`` are the command's options. Return the exit code. If the
    user stops, finished parts of the runs stay in the study, if there
    is one.
    """
    from rankstudio.engine.experiment.plan.plan import Plan
    from rankstudio.engine.experiment.runner import open_data
    from rankstudio.plugins.papers import airola_2011
    from rankstudio.plugins.papers.paper_figures import figure_files_of, paper_figures

    paper = load_reproduction(args.paper)
    data_path = str(args.data.absolute())
    dataset = open_data(Plan(data_path).changed(normalize=paper.normalize))
    printed_tables = paper.of(dataset.name)  # those on this dataset
    paper.check_folds(dataset)
    plans = paper.plans(
        dataset.name, data_path, dataset.convention, figures=args.figures is not None
    )
    for plan in plans.values():
        for entry in filter(None, (plan.entry, plan.ranker_entry)):
            # `lacking` is the reason why a method cannot be used here.
            # The error is raised before plans that may take hours are
            # run.
            if entry.lacking:
                raise PlanError(entry.lacking)
    if args.out is not None:
        check_outputs([args.out], args)
    results = _run_plans(args, plans, dataset)
    if results is None:
        say_how_to_go_on(args, args.study)
        return INTERRUPTED

    # The thesis has experiments of its own; other papers have tables of measures.
    findings: list[PrintedExperiment] = []
    if paper.key == airola_2011.KEY:
        findings = _run_experiments(airola_2011.experiments(results, dataset))
        text = (
            as_json(_findings_as_dict(paper, dataset.name, findings))
            if args.json
            else _findings_text(paper, dataset.name, findings)
        )
    else:
        tables = [paper.table(printed, results, dataset) for printed in printed_tables]
        claims = paper.compared_claims(results)
        names_with_note = [name for name in results if "note" in paper.runs[name]]
        notes = [
            *(f"{name}: {paper.runs[name]['note']}" for name in names_with_note),
            *paper.notes,
        ]
        text = (
            as_json(_tables_as_dict(paper, dataset.name, tables, claims, notes))
            if args.json
            else _reproduction_text(paper, dataset.name, tables, claims, notes)
        )
    if args.figures is not None:
        files = figure_files_of(
            paper_figures(paper, results, dataset, findings), args.figures
        )
        write_new(files, args.figures, args)
    if args.out is None:
        tell(Block(text))  # several lines
    else:
        write_output(args.out, text + "\n")
    return 0


def _run_plans(
    args: argparse.Namespace, plans: Mapping[str, Plan], dataset: FoldedDataset
) -> dict[str, RunResult] | None:
    """Run the plans of a paper, and return the results by the paper's names.

    The result is None if the user stops.
    """
    results: dict[str, RunResult] = {}

    # training data by fold, grouped by query once for all plans
    grouped: dict[int, Any] = {}
    progress = AllRuns(len(plans))
    with workers(args) as processes, study_at(args.study) as study, stopping() as stop:
        for name, plan in plans.items():
            tell(f"{progress}: {name} ({plan.title})", file=sys.stderr, flush=True)
            work = RunInProgress(plan, dataset, grouped, study, processes, progress)

            # `carry_on` runs the plan, and returns whether it was stopped.
            if stop.asked or carry_on(work, stop):
                return None
            results[name] = work.result()
    return results


def _reproduction_text(
    paper: Reproduction,
    data: str,
    tables: Sequence[PaperTable],
    claims: Sequence[Claim],
    notes: Sequence[str],
) -> str:
    """Return the text of a reproduction.

    The text has the tables, the claims of the paper beside our tests,
    the notes, and how many cells of the tables agree with ours.
    ``data`` is the name of the dataset.
    """
    parts = [
        one_line(f"{paper.title}, on {data}"),
        *(f"{table.title}\n{_table_text(table)}" for table in tables),
    ]
    parts += map(_claim_text, claims)
    if notes:
        parts.append(_wrapped_paragraphs(f"{note}." for note in notes))

    # a line on the cells that should agree, and one on those that need not
    counts = []
    for cells, template in zip(cells_of(tables), _COUNT_TEMPLATES, strict=True):
        counts += (
            [template.format(sum(cell.agrees for cell in cells), len(cells))]
            if cells
            else []
        )
    return "\n\n".join([*parts, "\n".join(counts)])


def _claim_text(claim: Claim) -> str:
    """Return a claim of the paper, and below it the test of our two runs for each measure."""
    rows = [
        [
            name,
            f"{comparison.mean_difference:+.4f}",
            f"{comparison.low:+.4f}",
            f"{comparison.high:+.4f}",
            p_text(comparison.p_randomisation),
        ]
        for name, comparison in claim.comparisons.items()
    ]
    header = ["", "difference", "low", "high", "p"]
    ours = f"Ours: {claim.run} minus {claim.against} over the test queries, 95 % interval, randomisation test"
    printed = _wrapped_paragraphs([f"The paper: {claim.printed}."])
    return f"{printed}\n{ours}\n{as_text(header, rows, left_columns=(0,))}"


def _table_text(table: PaperTable) -> str:
    """Return the text of a table of printed values and ours.

    A cell has the printed value, with a tick if ours agrees, else with
    ours in parentheses.
    """
    rows = [
        [
            label,
            *(
                f"{c.printed} ✓" if c.agrees else f"{c.printed} ({c.ours or NOTHING})"
                for c in cells
            ),
        ]
        for label, cells in table.rows
    ]

    # Cells without values are blank.
    texts = [
        ["" if cell in (" ✓", " ()") else cell.strip() for cell in row] for row in rows
    ]
    return as_text(["", *table.columns], texts, left_columns=(0,))


def _tables_as_dict(
    paper: Reproduction,
    data: str,
    tables: Sequence[PaperTable],
    claims: Sequence[Claim],
    notes: Sequence[str],
) -> dict[str, Any]:
    """Return the tables, the notes and the numbers of cells that agree as plain values.

    In the result, "promised" counts the cells that should agree, and
    "open" those that need not, as the paper does not say everything
    about the experiment.
    """
    counts = {
        name: {"cells": len(cells), "agree": sum(cell.agrees for cell in cells)}
        for name, cells in zip(("promised", "open"), cells_of(tables), strict=True)
    }
    plain = [
        {
            "title": table.title,
            "columns": list(table.columns),
            "rows": [
                {
                    "label": label,
                    "cells": [
                        {**asdict(cell), "agrees": cell.agrees} for cell in cells
                    ],
                }
                for label, cells in table.rows
            ],
        }
        for table in tables
    ]
    content = {
        "paper": paper.title,
        "data": data,
        "tables": plain,
        "claims": [asdict(claim) for claim in claims],
        "notes": list(notes),
    }
    return content | counts


def _run_experiments(experiments: Mapping[str, Experiment]) -> list[PrintedExperiment]:
    """Run experiments, and write the name of each to the error stream before it begins."""
    findings: list[PrintedExperiment] = []
    for name, work in experiments.items():
        tell(name, file=sys.stderr, flush=True)
        findings += work()
    return findings


def _findings_text(
    paper: Reproduction, data: str, findings: Sequence[PrintedExperiment]
) -> str:
    """Return the text of the findings, the notes on them, and the parts without available data.

    A finding is a table of our numbers next to the printed ones, with conclusions.
    """
    from rankstudio.plugins.papers.airola_2011 import absent

    parts = [
        one_line(f"{paper.title}, on {data}"),
        *(_finding_text(finding) for finding in findings),
    ]
    parts.append(_wrapped_paragraphs(f"{note}." for note in paper.notes))
    missing = [f"{name}: {reason}." for name, reason in absent().items()]
    parts.append("Not run:\n" + _wrapped_paragraphs(missing))
    cells = [agrees for finding in findings for agrees in finding.agrees]
    if cells:
        parts.append(
            f"{sum(cells)} of {len(cells)} cells agree to the last printed digit."
        )
    return "\n\n".join(parts)


def _finding_text(finding: PrintedExperiment) -> str:
    """Return the text of a finding: its title, table and conclusions.

    Columns of texts are aligned to the left.
    """
    header = [column.title for column in finding.columns]
    text_columns = [
        index
        for index, values in enumerate(zip(*finding.rows, strict=True))
        if isinstance(values[0], str)
    ]
    table = as_text(header, finding.text_rows(), text_columns)
    return f"{finding.source}: {finding.title}\n{table}\n{_wrapped_paragraphs(finding.said)}"


def _wrapped_paragraphs(sentences: Iterable[str]) -> str:
    """Return sentences as wrapped paragraphs, indented after the first line."""
    return "\n".join(
        textwrap.fill(sentence, _WIDTH, subsequent_indent="  ")
        for sentence in sentences
    )


def _findings_as_dict(
    paper: Reproduction, data: str, findings: Sequence[PrintedExperiment]
) -> dict[str, Any]:
    """Return the findings, the notes and the parts without available data as plain values."""
    from rankstudio.plugins.papers.airola_2011 import absent

    cells = [agrees for finding in findings for agrees in finding.agrees]
    return {
        "paper": paper.title,
        "data": data,
        "findings": [finding.as_dict() for finding in findings],
        "notes": list(paper.notes),
        "absent": absent(),
        "promised": {"cells": len(cells), "agree": sum(cells)},
    }
