"""``rankstudio thresholds``: precision, recall and F of a run's models by thresholds on their scores."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import asdict
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING

from rankstudio.cli.memory_option import add_memory_option
from rankstudio.cli.output.text_tables import as_json, as_text
from rankstudio.cli.study_file_option import add_run_number, opened_run
from rankstudio.cli.terminal import tell

if TYPE_CHECKING:
    from rankstudio.engine.experiment.results.results import RunResult
    from rankstudio.plugins.papers.decision_thresholds import DecisionRow, Decisions

HELP = "show precision, recall and F by thresholds chosen on training"
DESCRIPTION = """\
Print precision, recall and F of the models of a run, which take all documents with scores of at least a
threshold. It is chosen on the training part: with the greatest F ("best F"), or so that as many documents are
taken as are relevant ("class share"). The documents of a test part are pooled, whatever their query; the
greatest F that any threshold reaches there stands beside it. If each part is one ranking, the AUC and its
mean have 95 % intervals by DeLong.

  rankstudio thresholds results/study.rankstudio --run 1
  rankstudio thresholds results/study.rankstudio --run 1 --json"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("study", metavar="STUDY", type=Path, help="study file")
    add_run_number(parser, "--run")
    add_memory_option(parser)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def run(args: argparse.Namespace) -> int:
    """Carry the command out."""
    from rankstudio.plugins.papers.decision_thresholds import run_decisions

    opened = opened_run(args.study, args.number)
    found = run_decisions(opened.result, opened.dataset, sealed=opened.sealed)
    tell(*([as_json(asdict(found))] if args.json else _lines(opened.result, found)))
    return 0


def _lines(result: RunResult, found: Decisions) -> Iterator[str]:
    from rankstudio.plugins.papers.decision_thresholds import decision_rows

    yield f"{result.plan.title} on {result.data_name}: {found.part} documents of a fold pooled"
    yield "Thresholds of the training part; the greatest F is that of any threshold on the judged documents"
    yield ""
    rows = [_row(row) for row in decision_rows(found)]
    header = ["fold", "threshold by", "threshold", "precision", "recall", "F", "greatest F", "difference"]
    yield as_text(header, rows, left=(0, 1))
    if not isnan(found.mean_auc_interval[0]):
        yield ""
        areas = [(str(one.fold), one.auc, one.auc_interval) for one in found.folds]
        areas += [("mean", found.mean_auc, found.mean_auc_interval)] if len(areas) > 1 else []
        cells = [[name, *(f"{value:.4f}" for value in (auc, *interval))] for name, auc, interval in areas]
        yield as_text(["fold", "AUC", "low", "high"], cells)
        yield "95 % intervals by DeLong, for the models as they are"


def _row(row: DecisionRow) -> list[str]:
    one = row.decision
    threshold = "" if isnan(one.threshold) else f"{one.threshold:.4g}"
    values = one.precision, one.recall, one.f, row.greatest, row.difference
    return [row.label, row.rule, threshold, *(f"{value:.4f}" for value in values)]
