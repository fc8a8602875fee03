"""``rankstudio benchmark``: the same methods on all datasets below folders."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from rankstudio.cli.code_options import allow_named_code
from rankstudio.cli.interrupts import INTERRUPTED, say_how_to_go_on
from rankstudio.cli.memory_option import add_memory_option
from rankstudio.cli.output.text_tables import as_json, document
from rankstudio.cli.progress_bar import preparation
from rankstudio.cli.replacement import add_force_option, check_outputs
from rankstudio.cli.run_options import plan_file
from rankstudio.cli.streams import write_output
from rankstudio.cli.study_file_option import reading, study_path
from rankstudio.cli.terminal import Block, tell
from rankstudio.cli.worker_options import add_worker_options, workers
from rankstudio.engine.errors import DatasetError, PlanError
from rankstudio.engine.metrics.names import measure
from rankstudio.engine.support.files import make_folder
from rankstudio.engine.support.resources import resource

if TYPE_CHECKING:
    from rankstudio.engine.analysis.comparisons.batch import Comparison
    from rankstudio.engine.analysis.reported_runs import ReportSource
    from rankstudio.engine.experiment.plan.plan import Plan
    from rankstudio.plugins.benchmark.planned_benchmark import (
        PlannedBenchmark,
        StoredRuns,
    )
    from rankstudio.plugins.method_ranks.mean_ranks import MethodRanking

FOLDER = "rankstudio-benchmark"
"""Default folder of the results."""

REPORT = "report.html"
PAGE = "results.md"
DIAGRAM = "ranks.pdf"
PICTURE = "ranks.png"
VALUES = "ranks.csv"
OUTPUTS = (REPORT, PAGE, DIAGRAM, PICTURE, VALUES)
"""Files in the folder of the results, beside the study."""

_COLUMN_LETTERS = 18
"""Longest name of a method that a diagram in the width of a column shows in full."""

HELP = "run the same methods on all datasets below a folder, and rank them"
DESCRIPTION = """\
Find the datasets below a folder, run the same methods on each of them, and rank the methods over the
datasets. PLAN names methods, parameters, protocol and measures; without one, five methods are compared.

  rankstudio benchmark --data letor --dry-run       datasets and estimated times, without a run
  rankstudio benchmark --data letor                 five methods on each dataset in letor
  rankstudio benchmark same-ranker --data letor     eight selectors followed by the same ranker
  rankstudio benchmark methods.toml --data letor --data more --out results

OUT receives the study, ranks.pdf and ranks.png with the critical-difference diagram, ranks.csv with all
digits, results.md with the values, tests and ranks as tables in Markdown, and report.html. The study keeps
completed units: run the same command again to resume, or to add datasets."""

EPILOG = """\
datasets:
  A folder with Fold1, Fold2 … or with training, validation and test files is a dataset, and so is every
  other data file. Collections such as LETOR, MSLR, Yahoo and Istella are recognised by names, features and
  labels, and are measured by their own conventions. Data without a validation or test part are divided into
  five folds. Of several scalings of a LETOR collection, QueryLevelNorm is used. What cannot be opened,
  repeats other data or has the name of another dataset is skipped with the reason.

While the test part of a dataset is sealed in the study, its cross-fitted validation values count. Only
comparable runs are ranked, and tests need at least five datasets."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument(
        "plan",
        metavar="PLAN",
        nargs="?",
        type=Path,
        help="TOML file with [[runs]], or the name of a bundled one; five methods by default",
    )
    parser.add_argument(
        "--data",
        action="append",
        metavar="DIR",
        help="folder with datasets, or a dataset; may be repeated",
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="OUT",
        default=Path(FOLDER),
        help=f"folder of the results; {FOLDER} by default",
    )
    parser.add_argument(
        "--study",
        type=Path,
        metavar="FILE",
        help="study that keeps the runs; study.rankstudio in OUT by default",
    )
    parser.add_argument(
        "--measure", help="measure to rank by; the selection criterion by default"
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="print datasets and estimated times, and end",
    )
    parser.add_argument(
        "--allow-code",
        action="store_true",
        help="run the Python files and programs that PLAN names",
    )
    parser.add_argument(
        "--json", action="store_true", help="print JSON instead of tables"
    )
    add_force_option(parser)  # --force
    add_worker_options(parser)  # --workers, --scheduler and --tls-…
    add_memory_option(parser)  # --memory

    # Functions that commands share read this option, which a benchmark does not have.
    parser.set_defaults(sample=False)


def run(args: argparse.Namespace) -> int:
    """Carry out the command: plan, run and rank the benchmark; return its exit status.

    ``args`` are the command's options. The status is 0, or
    `INTERRUPTED` if the user interrupts the benchmark.
    """
    # Wrong options are refused before data are read.
    comparison = _comparison(args)
    name = measure(args.measure).name if args.measure else ""
    study = study_path(args.study, args.out)
    assert study is not None  # there is a folder: --out has a default

    # What there is to do, and how long it takes; with JSON, only the
    # results are printed to standard output.
    benchmark = _planned(args, comparison, study)
    if args.dry_run:
        _print_planning(benchmark, json=args.json)
        return 0
    _print_planning(benchmark, json=False, file=sys.stderr)
    _refuse_outputs(args, benchmark, study)

    # The runs, and their ranking. A user who interrupts them reads how
    # to continue.
    plans = _finished_plans(args, benchmark, study)
    if plans is None:
        say_how_to_go_on(args, study)
        return INTERRUPTED
    _finish(args, benchmark, study, plans, name)
    return 0


def _comparison(args: argparse.Namespace) -> Comparison:
    """Return the methods of the command's argument PLAN, or without one the bundled ones.

    Raises
    ------
    PlanError
        Without --data, or if PLAN names no methods.
    """
    from rankstudio.engine.analysis.comparisons.batch import (
        is_comparison,
        load_comparison,
    )

    path = plan_file(args)
    if not args.data:
        raise PlanError("--data: expected a folder with datasets, got none.")
    if path is None:
        return load_comparison(resource("plans", "benchmark.toml"))

    # Python files and programs that PLAN names only run if the user allows it.
    allow_named_code(args, path)
    if path.exists() and not is_comparison(path):
        raise PlanError(
            f"{path}: a benchmark needs tables [[runs]], each with a line such as method = "
            '"gas"; see rankstudio benchmark --help.'
        )
    return load_comparison(path)


def _planned(
    args: argparse.Namespace, comparison: Comparison, study: Path
) -> PlannedBenchmark:
    """Return the datasets below the folders of --data, with the runs of a comparison on each of them.

    ``study`` is the study of the benchmark, whose finished runs are not repeated.

    Raises
    ------
    DatasetError
        If there is no dataset; what is skipped is printed first.
    """
    from dataclasses import replace

    from rankstudio.plugins.benchmark.commands.benchmark_tables import skipped_text
    from rankstudio.plugins.benchmark.dataset_search import DatasetSearch
    from rankstudio.plugins.benchmark.planned_benchmark import planned_benchmark

    # The files and folders that may be datasets, by their names. The
    # folder of the results is left out, as these are no data.
    search = DatasetSearch(excluded={args.out.resolve()})
    for folder in args.data:
        search.search(Path(folder))

    # Each candidate is opened once, to see whether it is a dataset.
    # `preparation` prints which code is being compiled meanwhile.
    with preparation():
        benchmark = planned_benchmark(
            comparison, search.candidates, _stored_runs(study)
        )
    benchmark = replace(benchmark, skipped=(*search.skipped, *benchmark.skipped))
    if not benchmark.datasets:
        if benchmark.skipped:
            tell(skipped_text(benchmark.skipped), file=sys.stderr)
        folders = ", ".join(args.data)
        raise DatasetError(f"{folders}: found no dataset that a benchmark can use.")
    return benchmark


def _stored_runs(study: Path) -> StoredRuns:
    """Return the runs of the study at a path; none if it does not exist."""
    from rankstudio.plugins.benchmark.planned_benchmark import NO_RUNS, StoredRuns

    if not study.exists():
        return NO_RUNS
    with reading(study) as (opened_study, _):
        return StoredRuns.of(opened_study)


def _print_planning(
    benchmark: PlannedBenchmark, *, json: bool, file: TextIO | None = None
) -> None:
    """Print datasets, estimated times, and what is skipped, as tables or JSON.

    ``file`` is the stream to print to; by default, it is standard output.
    """
    from rankstudio.plugins.benchmark.commands.benchmark_tables import (
        benchmark_as_dict,
        planning_tables,
        skipped_text,
    )

    if json:
        tell(as_json(benchmark_as_dict(benchmark)), file=file)
        return
    texts = [document(planning_tables(benchmark))]
    texts += [skipped_text(benchmark.skipped)] if benchmark.skipped else []
    tell(Block("\n\n".join(texts)), file=file, flush=True)


def _refuse_outputs(
    args: argparse.Namespace, benchmark: PlannedBenchmark, study: Path
) -> None:
    """Refuse to replace data, the study, or files that no earlier part of the benchmark wrote."""
    from rankstudio.engine.data.fold_files import refuse_inputs

    outputs = [args.out / name for name in OUTPUTS]
    datasets = [dataset.path for dataset in benchmark.datasets]
    refuse_inputs([study], datasets)

    # If the study exists, the files are those of an earlier part of
    # this benchmark, and are replaced as with --force. `check_outputs`
    # reads only this attribute.
    may_replace = argparse.Namespace(force=args.force or study.exists())
    check_outputs(outputs, may_replace, [*datasets, study])


def _finished_plans(
    args: argparse.Namespace, benchmark: PlannedBenchmark, study: Path
) -> list[Plan] | None:
    """Run the benchmark and return the plans of the finished runs; None if the user stopped it."""
    from rankstudio.cli.run_loop import run_comparison

    # Processes of this machine, or a cluster, as the options say.
    with workers(args) as computation_workers:
        make_folder(args.out)
        outcome = run_comparison(
            benchmark.comparison, benchmark.data, study, computation_workers
        )
    return None if outcome.stopped else [run.plan for run in outcome.results]


def _finish(
    args: argparse.Namespace,
    benchmark: PlannedBenchmark,
    study: Path,
    plans: Collection[Plan],
    name: str,
) -> None:
    """Write the files of a finished benchmark, and print its tables.

    ``plans`` are those of its runs in the study, and ``name`` is the
    measure to rank by; "" for the criterion that selects the models.
    """
    from rankstudio.engine.analysis.reported_runs import (
        ALL_DATA,
        RunChoice,
        read_study,
    )

    # Only the runs of this benchmark, by their plans; a study may have
    # others. Runs that the user has hidden count, too.
    with reading(study) as (opened_study, summaries):
        numbers = tuple(
            summary.key.id
            for summary in summaries
            if summary.finished
            and not summary.damage
            and any(summary.key.plan.agrees(plan) for plan in plans)
        )
        choice = RunChoice(ALL_DATA, numbers)
        source = read_study(opened_study, choice=choice, includes_hidden=True)
    ranking = _ranking(source, name)
    _write_files(args.out, benchmark.comparison.title, source, ranking, name)
    _print_results(args, benchmark, ranking)


def _ranking(source: ReportSource, name: str) -> MethodRanking | None:
    """Return the ranking of the methods by a measure, "" for the criterion; if there is none, print why."""
    from rankstudio.plugins.method_ranks.mean_ranks import study_ranking

    try:
        return study_ranking([source], name)
    except PlanError as error:
        tell(f"Note: {error}", file=sys.stderr)
        return None


def _write_files(
    out: Path,
    title: str,
    source: ReportSource,
    ranking: MethodRanking | None,
    name: str,
) -> None:
    """Write the report and the page into a folder and, if there is a ranking, its values and diagram.

    ``out`` is the folder, ``title`` that of the benchmark, and
    ``source`` has the runs to report. ``name`` is the measure of the
    report; "" for the measure that the runs select by.
    """
    from dataclasses import replace

    from rankstudio.engine.export.figures.files import figure_bytes
    from rankstudio.engine.export.figures.style import style_of
    from rankstudio.plugins.benchmark.commands.results_page import results_page
    from rankstudio.plugins.method_ranks.rank_diagram import rank_diagram
    from rankstudio.plugins.method_ranks.ranking_tables import values_csv
    from rankstudio.plugins.report.document import html_page, wanted_keys
    from rankstudio.plugins.report.report import make_report

    # The report with the sections that the settings of the study include.
    source = replace(source, measure=name)
    report = make_report(source).arranged(wanted_keys(source.settings.sections))
    files: dict[Path, str | bytes] = {
        out / REPORT: html_page(report),
        out / PAGE: results_page(title, source, ranking, PICTURE),
    }
    if ranking is not None:
        diagram = rank_diagram(ranking)
        longest = max(map(len, ranking.methods))
        style = style_of("column" if longest <= _COLUMN_LETTERS else "page")
        files |= {
            out / DIAGRAM: figure_bytes(diagram, style, "pdf"),
            out / PICTURE: figure_bytes(diagram, style, "png"),
            out / VALUES: values_csv(ranking),
        }
    for path, text in files.items():
        write_output(path, text)


def _print_results(
    args: argparse.Namespace, benchmark: PlannedBenchmark, ranking: MethodRanking | None
) -> None:
    """Print the table of methods and datasets, the tests of pairs, and what is left out."""
    from rankstudio.plugins.benchmark.commands.benchmark_tables import (
        benchmark_as_dict,
        result_table,
        skipped_text,
    )
    from rankstudio.plugins.method_ranks.ranking_tables import (
        left_out_table,
        pairs_table,
        ranking_as_dict,
    )

    if args.json:
        ranks = ranking_as_dict(ranking) if ranking is not None else None
        tell(as_json({**benchmark_as_dict(benchmark), "ranking": ranks}))
        return
    tables = []
    if ranking is not None:
        tables.append(result_table(ranking))
        tables += [pairs_table(ranking)] if ranking.tests is not None else []
        tables += [left_out_table(ranking)] if ranking.table.left_out else []
    texts = [document(tables)] if tables else []
    texts += [skipped_text(benchmark.skipped)] if benchmark.skipped else []
    tell(Block("\n\n".join(texts)))
