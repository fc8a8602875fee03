"""``rankstudio risk``: the risk of the runs of studies against a baseline, query by query."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rankstudio.cli.output.text_tables import as_json, document
from rankstudio.cli.replacement import add_force_option, check_outputs, recorded_files
from rankstudio.cli.streams import is_standard, write_output
from rankstudio.cli.study_file_option import reading
from rankstudio.cli.terminal import tell
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.metrics.names import measure
from rankstudio.engine.support.item_groups import grouped

if TYPE_CHECKING:
    from rankstudio.engine.analysis.reported_runs import ReportedRun
    from rankstudio.plugins.risk.run_risks import GroupRisk

HELP = "compare the losses of runs against a baseline, query by query"
DESCRIPTION = """\
Compare the completed runs of studies with a baseline run by criteria that weight losses more than gains:
URisk and TRisk against the baseline, and GeoRisk among all comparable runs. The mean of a measure hides
losses in some queries behind gains in others.

  rankstudio risk results/study.rankstudio
  rankstudio risk results/study.rankstudio --baseline 2 --alpha 5
  rankstudio risk a.rankstudio b.rankstudio --measure NDCG@10 --json
  rankstudio risk results/study.rankstudio --csv risk.csv --latex risk.tex

Only comparable runs are compared: those with the same data, label, convention, protocol, folds and part.
While the test part of a dataset is sealed, its cross-fitted validation values count."""

EPILOG = """\
columns:
  gain, loss   means over all queries of the improvements, and of the deteriorations, against the baseline
  URisk        gain − (1 + alpha) · loss; with alpha 0 the mean difference (Wang et al. 2012)
  TRisk        URisk divided by its standard error; below −2 the risk is significant (Dinçer et al. 2014)
  p (TRisk)    its p by Student's distribution, two-sided, not corrected for several runs
  GeoRisk      geometric mean of the run's mean and its risk against all runs of the table; larger is better
               (Dinçer et al. 2016)
  worse        queries in which the run is worse than the baseline

Runs are numbered from 1 on each dataset, as by rankstudio compare. GeoRisk needs a measure that is never
negative and of which more is better; it changes when a run is added."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command, which compares the risk of runs, to its parser."""
    parser.add_argument(
        "studies", nargs="+", type=Path, metavar="STUDY", help="study file"
    )
    parser.add_argument(
        "--measure", help="measure to compare; the selection criterion by default"
    )
    parser.add_argument(
        "--baseline",
        metavar="RUN",
        help="baseline run: its number in the table, or its method, such as gas or gas/ranksvm; the best "
        "by default",
    )
    parser.add_argument(
        "--alpha",
        type=float,
        default=1.0,
        metavar="A",
        help="risk aversion: a loss counts 1 + A times as much as a gain; 1 by default",
    )
    parser.add_argument(
        "--data", metavar="NAME", help="compare only the runs on this dataset"
    )
    parser.add_argument(
        "--csv", type=Path, metavar="FILE", help="write the table as CSV"
    )
    parser.add_argument(
        "--latex",
        type=Path,
        metavar="FILE",
        help="write the tables as LaTeX, for booktabs",
    )
    parser.add_argument(
        "--json", action="store_true", help="print JSON instead of tables"
    )
    add_force_option(parser)  # --force


def run(args: argparse.Namespace) -> int:
    """Compute the risks of the runs of studies, and write or print them, as the options say.

    ``args`` are the command's options. Return the exit status 0.
    """
    from rankstudio.engine.statistics.risk import checked_alpha
    from rankstudio.plugins.risk.risk_tables import risk_as_dict, risk_csv, risk_table

    # Check the options before the studies are read.
    checked_alpha(args.alpha)
    name = measure(args.measure).name if args.measure else ""
    outputs = [path for path in (args.csv, args.latex) if path is not None]
    n_on_standard_output = sum(map(is_standard, outputs)) + args.json
    if n_on_standard_output > 1:
        raise ParameterError("FILE", "-", "at most one output on the standard output")
    check_outputs(outputs, args)

    # The risks of each group, written and printed as asked for.
    risks = _risks(_reported_runs(args, outputs), name, args)
    tables = [risk_table(risk) for risk in risks]
    if args.csv is not None:
        write_output(args.csv, risk_csv(risks))
    if args.latex is not None:
        write_output(args.latex, f"{document(tables, 'latex')}\n")
    if args.json:
        tell(as_json([risk_as_dict(risk) for risk in risks]))
    elif not any(map(is_standard, outputs)):
        tell(document(tables))
    return 0


def _reported_runs(
    args: argparse.Namespace, outputs: Sequence[Path]
) -> list[ReportedRun]:
    """Read the studies, and return their finished runs, also hidden ones.

    The runs are without results of test parts that are sealed, that is,
    not to be seen yet. ``outputs`` are the files to write; none may be
    a study or one of its data files.
    """
    from rankstudio.engine.analysis.reported_runs import DataOpener, read_study

    opener = DataOpener()
    runs: list[ReportedRun] = []
    for path in args.studies:
        with reading(path) as (study, _):
            check_outputs(outputs, args, recorded_files(study))

            # `computes_cross_fitted` opens the data only to compute
            # values that an earlier version did not store.
            source = read_study(
                study, opener, includes_hidden=True, computes_cross_fitted=True
            )

            # `shown` is the source without the numbers of sealed test parts.
            runs += source.shown.runs
    return runs


def _risks(
    runs: Sequence[ReportedRun], name: str, args: argparse.Namespace
) -> list[GroupRisk]:
    """Return the risks of each group of comparable runs, dataset by dataset.

    The runs of a dataset are numbered from 1. ``name`` is that of the
    measure; "" for the selection criterion of the first run. ``args``
    are the options of the command, such as the baseline.
    """
    from rankstudio.plugins.risk.run_risks import risks_of_groups

    datasets = grouped(runs, lambda run: run.result.data_name)
    if datasets and args.data not in (None, *datasets):
        raise ParameterError("--data", args.data, f"one of {', '.join(datasets)}")
    chosen = {
        name_of_data: runs_on_data
        for name_of_data, runs_on_data in datasets.items()
        if args.data in (None, name_of_data)
    }
    baseline = (args.baseline or "").strip() or None
    is_number = baseline is not None and baseline.isdecimal()
    risks: list[GroupRisk] = []

    # Without any run, the loop runs once, and the call raises the error for no runs.
    for runs_on_data in chosen.values() or [[]]:
        numbered = dict(enumerate(runs_on_data, start=1))
        risks += risks_of_groups(
            {number: run.result for number, run in numbered.items()},
            {number: run.title for number, run in numbered.items()},
            name,
            baseline=int(baseline) if baseline and is_number else baseline,
            alpha=args.alpha,
        )
    return risks
