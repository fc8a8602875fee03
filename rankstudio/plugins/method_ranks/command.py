"""``rankstudio rank-methods``: the methods of studies ranked over their datasets."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from rankstudio.cli.output.text_tables import as_json, document
from rankstudio.cli.replacement import add_force_option, check_outputs, recorded_files
from rankstudio.cli.streams import is_standard, write_output
from rankstudio.cli.study_file_option import reading
from rankstudio.cli.terminal import tell
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.metrics.names import measure

if TYPE_CHECKING:
    from rankstudio.engine.analysis.reported_runs import ReportSource
    from rankstudio.plugins.method_ranks.compared_methods import Exclusion
    from rankstudio.plugins.method_ranks.mean_ranks import MethodRanking

HELP = "rank the methods of studies over their datasets, with tests"
DESCRIPTION = """\
Rank several methods over several datasets: the mean rank of each method, Friedman's test with Iman and
Davenport's F, Nemenyi's critical difference, and for each pair of methods Nemenyi's p, Wilcoxon's signed
ranks with Holm's correction, and the probabilities of the Bayesian signed-rank test.

  rankstudio rank-methods results/study.rankstudio
  rankstudio rank-methods a.rankstudio b.rankstudio --measure NDCG@10 --rope 0.005
  rankstudio rank-methods results/study.rankstudio --leave-out GAS --leave-out MQ2008
  rankstudio rank-methods results/study.rankstudio --csv ranks.csv --latex ranks.tex
  rankstudio rank-methods results/study.rankstudio --figure ranks.pdf --tikz ranks-diagram.tex

A value is the mean over the queries of a dataset. On each dataset the runs of one group of comparable runs
count, and a method counts if it has a run on every dataset. What is left out is listed with the reason. Tests
need at least five datasets."""

EPILOG = """\
columns:
  mean rank           mean of the ranks on the datasets; 1 is the best, and equal values share their ranks
  best on             number of datasets on which no method is better
  group               methods with a common letter do not differ significantly (Nemenyi)
  ranks apart         difference of the mean ranks
  win/tie/loss        number of datasets on which the first method is better, equal or worse
  p (Nemenyi)         Nemenyi's test, corrected for all pairs
  p (W)               Wilcoxon signed-rank test, two-sided, exact for up to 50 datasets; datasets without a
                      difference are removed
  p (W, Holm)         the same with Holm's correction for all pairs
  P(better), P(equal), P(worse)
                      posterior probabilities of the Bayesian signed-rank test; equal means that the methods
                      differ by at most --rope

Methods of different datasets are the same if their plans agree in everything but the data, or if they have
the same name in the study. While the test part of a dataset is sealed, its cross-fitted validation values
count."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument(
        "studies", nargs="+", type=Path, metavar="STUDY", help="study file"
    )
    parser.add_argument(
        "--measure", help="measure to compare; the selection criterion by default"
    )
    parser.add_argument(
        "--alpha",
        type=float,
        default=0.05,
        metavar="A",
        help="level of significance; 0.05 by default",
    )
    parser.add_argument(
        "--rope",
        type=float,
        default=0.01,
        metavar="R",
        help="difference up to which methods are practically equal, in units of the measure; 0.01 by default",
    )
    parser.add_argument(
        "--leave-out",
        action="append",
        default=[],
        metavar="NAME",
        help="method or dataset that is not compared; may be repeated",
    )
    parser.add_argument(
        "--csv", type=Path, metavar="FILE", help="write values and ranks as CSV"
    )
    parser.add_argument(
        "--latex",
        type=Path,
        metavar="FILE",
        help="write the tables as LaTeX, for booktabs",
    )
    parser.add_argument(
        "--tikz",
        type=Path,
        metavar="FILE",
        help="write the critical-difference diagram as TikZ",
    )
    parser.add_argument(
        "--figure",
        type=Path,
        metavar="FILE",
        help="write the critical-difference diagram; the ending is pdf, svg, png or csv",
    )
    parser.add_argument(
        "--width",
        default="column",
        metavar="WIDTH",
        help="width of the figure, such as 85mm or page",
    )
    parser.add_argument(
        "--json", action="store_true", help="print JSON instead of tables"
    )
    add_force_option(parser)  # --force


def run(args: argparse.Namespace) -> int:
    """Rank the methods of studies over their datasets; print tables, and write the files asked for.

    Return the exit code.
    """
    from rankstudio.plugins.method_ranks.mean_ranks import study_ranking
    from rankstudio.plugins.method_ranks.ranking_tables import (
        ranking_as_dict,
        ranking_tables,
    )

    name = measure(args.measure).name if args.measure else ""
    outputs = [
        path
        for path in (args.csv, args.latex, args.tikz, args.figure)
        if path is not None
    ]

    # Wrong outputs are refused before anything is computed.
    _check_figure(args.figure)
    n_on_standard_output = sum(map(is_standard, outputs)) + args.json
    if n_on_standard_output > 1:
        raise ParameterError("FILE", "-", "at most one output on the standard output")
    check_outputs(outputs, args)
    sources, unfinished = _report_sources(args, outputs)
    ranking = study_ranking(
        sources,
        name,
        alpha=args.alpha,
        rope=args.rope,
        leave_out=args.leave_out,
        exclusions=unfinished,
    )
    for path, content in _files(args, ranking).items():
        write_output(path, content)
    if args.json:
        tell(as_json(ranking_as_dict(ranking)))
    elif not any(map(is_standard, outputs)):
        tell(document(ranking_tables(ranking)))
    return 0


def _check_figure(path: Path | None) -> None:
    """Raise ParameterError for a figure file whose ending is no format of figures."""
    from rankstudio.engine.export.figures.files import FORMATS

    if path is not None and path.suffix.lower().removeprefix(".") not in FORMATS:
        raise ParameterError(
            "--figure", str(path), f"a file ending in .{', .'.join(FORMATS)}"
        )


def _report_sources(
    args: argparse.Namespace, outputs: list[Path]
) -> tuple[list[ReportSource], list[Exclusion]]:
    """Return the finished runs of each study, and the runs that are damaged or not finished.

    A file among ``outputs`` that a study records is refused, as it
    would be overwritten.
    """
    from rankstudio.engine.analysis.reported_runs import DataOpener, read_study
    from rankstudio.plugins.method_ranks.compared_methods import Exclusion

    opener = DataOpener()
    sources = []
    unfinished = []
    for path in args.studies:
        with reading(path) as (study, runs):
            check_outputs(outputs, args, recorded_files(study))

            # All finished runs, also those that the user has hidden.
            # Values that an earlier version did not store are computed.
            sources.append(
                read_study(
                    study, opener, includes_hidden=True, computes_cross_fitted=True
                )
            )
            for summary in runs:
                if not summary.finished or summary.damage:
                    name = f"run {summary.key.id}, {summary.key.plan.title} on {study.data(summary.key).name}"
                    unfinished.append(
                        Exclusion(name, "damaged" if summary.damage else "not finished")
                    )
    return sources, unfinished


def _files(args: argparse.Namespace, ranking: MethodRanking) -> dict[Path, str | bytes]:
    """Return the contents of the files that are asked for, by their paths."""
    from rankstudio.engine.export.figures.files import figure_bytes
    from rankstudio.engine.export.figures.style import style_of
    from rankstudio.plugins.method_ranks.rank_diagram import rank_diagram, tikz_text
    from rankstudio.plugins.method_ranks.ranking_tables import (
        ranking_tables,
        values_csv,
    )

    files: dict[Path, str | bytes] = {}
    if args.csv is not None:
        files[args.csv] = values_csv(ranking)
    if args.latex is not None:
        files[args.latex] = f"{document(ranking_tables(ranking), 'latex')}\n"
    if args.tikz is not None:
        files[args.tikz] = tikz_text(rank_diagram(ranking))
    if args.figure is not None:
        form = args.figure.suffix.lower().removeprefix(".")
        files[args.figure] = figure_bytes(
            rank_diagram(ranking), style_of(args.width), form
        )
    return files
