"""``rankstudio compare``: the runs of studies side by side, with paired tests against one of them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rankstudio.cli.command_parser import check_numbers
from rankstudio.cli.output.text_tables import as_json, document
from rankstudio.cli.replacement import add_force_option, check_outputs, recorded_files
from rankstudio.cli.streams import STANDARD, form_of_output, write_output
from rankstudio.cli.study_file_option import reading
from rankstudio.cli.terminal import Block, tell
from rankstudio.engine.analysis.comparisons.significance import (
    RunComparison,
    compare_groups,
)
from rankstudio.engine.analysis.result_table.query import TESTS, TableQuery
from rankstudio.engine.errors import ParameterError, PlanError
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.export.result_table.formats import FORMATS as TABLE_FORMATS
from rankstudio.engine.export.result_table.formats import table_format
from rankstudio.engine.export.result_table.table import TableStyle
from rankstudio.engine.export.tables import csv_text
from rankstudio.engine.metrics.names import split_names
from rankstudio.engine.support.item_groups import grouped

if TYPE_CHECKING:
    from rankstudio.engine.analysis.reported_runs import (
        Opener,
        ReportedRun,
        ReportSource,
    )

FORMATS = {
    "text": ".txt",
    "markdown": ".md",
    "latex": ".tex",
    "csv": ".csv",
    "json": ".json",
}
"""How tables can be written, each with the ending of its files."""

PARTS = ("validation", "test")
"""Parts of the data that runs can be compared on."""

_COLUMN_CHOICES = ("measures", "folds", "datasets")
_SUFFIXES = {form.key: form.suffix for form in TABLE_FORMATS}
_MAX_DIGITS = 15

HELP = "compare the runs of studies, with paired tests"
DESCRIPTION = """\
Compare the completed runs of studies. Runs with the same data, label, convention, protocol, folds and part
form a group. The table of each group has averages over the folds, and paired tests over all queries against
its best run, or against the run given by --against. Runs of different groups are never ranked or tested
together; a note below each table gives the reason.

  rankstudio compare results/study.rankstudio
  rankstudio compare a.rankstudio b.rankstudio --measure NDCG@10 --against 2
  rankstudio compare results/study.rankstudio --part validation
  rankstudio compare results/study.rankstudio --out tests.md
  rankstudio compare a.rankstudio b.rankstudio --measures MAP,NDCG@10,ERR --bold --marks --out table.tex

Further tables show the selection stability across folds, the Pareto front of size and measure, and the effect
of pinned and banned features.

The options under "table for publication" print a single table instead, with one row per method and one
column per measure, fold or dataset."""

EPILOG = """\
columns:
  cross-fitted        mean on the validation part, of models chosen without the query that they rank: an
                      estimate that needs no test part
  k                   number of features of the chosen models, over the folds
  difference          mean over the queries, run minus reference
  95 % interval       bootstrap interval of the difference, over the queries
  p (t)               Student's paired t-test, two-sided
  p (W)               Wilcoxon signed-rank test, two-sided; queries without a difference are left out
  p                   Fisher's randomisation test, two-sided
  p (t, Holm),
  p (W, Holm),        Holm correction for all runs compared with the reference by this measure
  p (Holm)
  better/equal/worse  number of queries in which the run is better, equal or worse

CSV has one row per run with all digits; JSON has all values; LaTeX needs the package booktabs. Identical runs
count once in the Holm correction.

table for publication:
  Marks show significant differences from the reference row: Fisher's randomisation test over all test
  queries, or --test, with Holm correction for the rows of a column. A note under the table gives the test,
  the correction and the number of hypotheses. The reference is the best row of the first column, or the row
  given by --against: a number, title or method.
  Measures that a run did not report are computed from its models on the original data. While the test part
  of a dataset is sealed, validation measures are shown.
  CSV, TSV, Excel and Parquet have all digits unless --digits is given; Excel and Parquet need the extras
  "excel" and "parquet"."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the comparison.

    The options name the runs to compare, make a table for publication,
    and choose the output.
    """
    # Which runs are compared, and how.
    parser.add_argument(
        "studies", nargs="+", type=Path, metavar="STUDY", help="study file"
    )
    parser.add_argument(
        "--measure", help="measure to compare; the selection criterion by default"
    )
    parser.add_argument(
        "--against",
        metavar="RUN",
        help="reference run: its number in the table, or its method, such as gas or gas/ranksvm "
        "(final ranker RankSVM); the best by default",
    )
    parser.add_argument(
        "--data", metavar="NAME", help="compare only the runs on this dataset"
    )
    parser.add_argument(
        "--part",
        choices=PARTS,
        help="part of the data that the measures are from: test, or validation, where cross-fitted values "
        "rank the runs and the test part is left out; by default test, or validation for data whose test "
        "part is sealed",
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=0,
        help="seed of the randomisation and the bootstrap",
    )

    # Table for a publication.
    _add_table_options(parser)

    # Where and how the comparison is written.
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--format", choices=FORMATS, help="output format; text by default"
    )
    form.add_argument(
        "--markdown",
        action="store_const",
        const="markdown",
        dest="format",
        help="print Markdown",
    )
    form.add_argument(
        "--json", action="store_const", const="json", dest="format", help="print JSON"
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help=f"output file; its ending determines the format: {', '.join(FORMATS.values())}, or for a "
        "publication table one of the endings under --to; - prints it",
    )
    add_force_option(parser)


def _add_table_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of a table for publication.

    Any of them makes the command print such a table.
    """
    # What the cells and columns show.
    table = parser.add_argument_group("table for publication")
    table.add_argument(
        "--measures",
        metavar="NAMES",
        help="comma-separated measures; those of the first run by default",
    )
    table.add_argument(
        "--by",
        choices=_COLUMN_CHOICES,
        help="columns of the table, grouped by the others; measures by default",
    )

    # How the best and the significant cells are marked.
    table.add_argument(
        "--bold",
        action="store_true",
        help="print the best of each column bold and underline the second",
    )
    table.add_argument(
        "--marks",
        action="store_true",
        help="mark significant differences from the row of --against",
    )
    names = "; ".join(f"{key}: {name}" for key, name in TESTS.items())
    table.add_argument(
        "--test",
        choices=TESTS,
        help=f"significance test of the marks: {names}; randomisation by default",
    )
    table.add_argument(
        "--sd", action="store_true", help="add the standard deviation over the folds"
    )
    table.add_argument(
        "--digits",
        type=_number_of_digits,
        metavar="N",
        help="decimal places; 4 by default",
    )
    endings = ", ".join(f"{key} ({suffix})" for key, suffix in _SUFFIXES.items())
    table.add_argument(
        "--to",
        choices=_SUFFIXES,
        metavar="FORMAT",
        help=f"output format: {endings}; by default determined by the ending of --out, otherwise markdown",
    )


def _number_of_digits(text: str) -> int:
    """Return a typed number of decimal places; raise an error for another text."""
    if not text.isascii() or not text.isdecimal() or int(text) > _MAX_DIGITS:
        raise argparse.ArgumentTypeError(
            f"expected a number from 0 to {_MAX_DIGITS}, got {text}"
        )
    return int(text)


def run(args: argparse.Namespace) -> int:
    """Print or write the comparison of the runs of studies, or a table for publication; return 0."""
    check_numbers(args, seed=0)  # 0 is the least seed
    if _is_table_wanted(args):
        return _write_table(args)
    from rankstudio.cli.output.comparison_tables import (
        as_dict,
        group_tables,
        tests_table,
    )

    # Compare the runs of the studies. The format is that of --format,
    # or else that of the file's ending, or text.
    form = form_of_output(args.format, args.out, FORMATS, "--format", "text")
    if args.out is not None:
        check_outputs([args.out], args)
    compared = _compare_runs(_compared_runs(_report_sources(args), args), args)

    # The comparison in the wanted form. `compared` has a group of
    # comparable runs in each entry; a single one is a JSON object,
    # several are a list.
    text: str
    match form:
        case "json":
            documents = [as_dict(comparison, args.seed) for comparison in compared]
            text = as_json(documents[0] if len(documents) == 1 else documents)
        case "csv":
            text = csv_text(*tests_table(compared)).rstrip("\n")
        case _:
            tables = (
                table
                for comparison in compared
                for table in group_tables(comparison, args.seed)
            )
            text = document(tables, form)

    # A Block is made for the terminal; other texts are printed byte for byte.
    if args.out is None and isinstance(text, Block):
        tell(text)
    else:
        write_output(args.out or STANDARD, text + "\n")
    return 0


def _report_sources(args: argparse.Namespace) -> list[ReportSource]:
    """Return the finished runs of each study.

    Raise an error if the output would replace the data of a run.
    """
    from rankstudio.engine.analysis.reported_runs import read_study

    # A table for publication leaves out runs that the user has hidden.
    opener = _data_opener(args.data)
    sources = []
    for path in args.studies:
        with reading(path) as (study, _):
            if args.out is not None:
                check_outputs([args.out], args, recorded_files(study))
            is_table = _is_table_wanted(args)

            # With `computes_cross_fitted`, missing cross-fitted values
            # of any run are computed, and only for these are the data
            # opened.
            sources.append(
                read_study(
                    study,
                    opener,
                    includes_hidden=not is_table,
                    computes_cross_fitted=True,
                )
            )
    return sources


def _data_opener(name: str | None) -> Opener:
    """Return a function that opens the data of a run.

    The returned function takes the plan of the run and the study's
    record of its data, and returns the dataset, or None for data that
    are not opened: with a ``name``, only the dataset of this name is
    opened.
    """
    from rankstudio.engine.analysis.reported_runs import DataOpener

    opener = DataOpener()
    return lambda plan, recorded: (
        opener(plan, recorded) if name in (None, recorded.name) else None
    )


def _compared_runs(
    sources: Sequence[ReportSource], args: argparse.Namespace
) -> list[RunResult]:
    """Return the runs with their measures on the part that ``--part`` names.

    Without the option, the part is the test part, or the validation
    part where the test part is sealed; a note says so. ``sources`` has
    the runs of each study, with and without their sealed parts.
    """
    runs: list[RunResult] = []
    sealed: dict[str, None] = {}  # names of sealed data, a set that keeps the order
    for source in sources:
        # The runs as stored, and as they may be shown: without sealed parts.
        for run, visible in zip(source.runs, source.shown.runs, strict=True):
            has_test = any(fold.test for fold in run.result.folds)
            if args.part is None and source.is_sealed(run) and has_test:
                sealed[run.result.data_name] = None
            runs.append(_run_on_part(run, visible, args.part).result)

    # Say once for each dataset why the validation part is used.
    for name in sealed:
        tell(
            f"Note: The test part of {name} is sealed, so its runs are compared on the validation part. "
            "--part test compares the test parts.",
            file=sys.stderr,
        )
    return runs


def _run_on_part(
    run: ReportedRun, reported: ReportedRun, part: str | None
) -> ReportedRun:
    """Return a run with or without its test part, as ``part`` says.

    ``reported`` is the run as its study shows it, without a sealed test
    part; ``reported`` is returned if ``part`` is None.
    """
    match part:
        case "test":
            return run
        case "validation":
            return run.without_test
        case _:
            return reported


def _compare_runs(
    runs: Sequence[RunResult], args: argparse.Namespace
) -> list[RunComparison]:
    """Compare the runs of each group of comparable runs on each dataset.

    Runs are numbered from 1 on each dataset. The options name a
    dataset, a measure and the reference run. The runs are of several
    datasets. The result has an entry for each group.
    """
    # The reference is named by a number, or by a method.
    against = (
        int(args.against) if args.against and args.against.isdecimal() else args.against
    )

    # Called for its error: --data may name no dataset of the runs.
    _check_dataset(args, [result.data_name for result in runs])
    datasets = grouped(runs, lambda result: result.data_name)
    chosen = {
        name: dataset_runs
        for name, dataset_runs in datasets.items()
        if args.data in (None, name)
    }
    if not chosen:
        compare_groups({})  # raises the error that there are no runs to compare
    return [
        comparison
        for dataset_runs in chosen.values()
        for comparison in compare_groups(
            dict(enumerate(dataset_runs, start=1)), args.measure, against, args.seed
        )
    ]


def _check_dataset(args: argparse.Namespace, names: Sequence[str]) -> None:
    """Raise a ParameterError if ``--data`` names a dataset on which there is no completed run.

    ``names`` are the datasets of the completed runs, one for each run.
    Without any run, no error is raised here.
    """
    if names and args.data not in (None, *names):
        raise ParameterError(
            "--data", args.data, f"one of {', '.join(dict.fromkeys(names))}"
        )


def _is_table_wanted(args: argparse.Namespace) -> bool:
    """Return whether a table for publication is wanted.

    Such a table is wanted if an option of such tables is typed, or if
    the file to write has an ending that only such tables have.
    """
    # Options that only such a table has. --digits is tested apart, as 0
    # digits count, too.
    options = (
        args.measures,
        args.by,
        args.bold,
        args.marks,
        args.test,
        args.sd,
        args.to,
    )
    suffix = args.out.suffix.lower() if args.out and not args.format else ""
    suffixes_of_tables_only = set(_SUFFIXES.values()) - set(FORMATS.values())
    return any(options) or args.digits is not None or suffix in suffixes_of_tables_only


def _write_table(args: argparse.Namespace) -> int:
    """Write or print the table for publication that the options describe; return 0.

    Raises
    ------
    PlanError
        If the options contradict each other.
    """
    from rankstudio.engine.analysis.result_table.builder import result_table, table_runs

    # Check the options before the studies are read.
    if args.measure and args.measures:
        raise PlanError("--measure and --measures: expected one of them, got both.")
    if args.format and not args.to and args.format not in _SUFFIXES:
        raise PlanError(
            f"--format: expected one of {', '.join(_SUFFIXES)} for a table for publication, "
            f"got {args.format}."
        )
    form = table_format(
        form_of_output(args.to or args.format, args.out, _SUFFIXES, "--to", "markdown")
    )
    if args.out is not None:
        check_outputs([args.out], args)
    elif form.text is None:  # the function that writes the table as text
        raise PlanError(
            f"--to {form.key}: {form.label} is binary and cannot be printed; add --out FILE."
        )

    # Runs of the table, on the one dataset that the options name.
    runs = list(table_runs(_report_sources(args), args.part))

    # Called for its error: --data may name no dataset of the runs.
    _check_dataset(args, [run.result.data_name for run in runs])
    runs = [run for run in runs if args.data in (None, run.result.data_name)]
    names = split_names(args.measures or args.measure or "")

    # The reference run is a number, or the name of a method.
    against = (
        int(args.against) if (args.against or "").isdecimal() else args.against or ""
    )

    # Any option of a test asks for its marks.
    marks = args.marks or args.test is not None
    query = TableQuery(
        measures=names,
        by=args.by or "measures",
        against=against,
        tested=marks,
        seed=args.seed,
        test=args.test or "randomisation",
    )
    content = form.content(
        result_table(runs, query),
        TableStyle(digits=args.digits, bold=args.bold, marks=marks, sd=args.sd),
    )
    write_output(args.out or STANDARD, content)
    return 0
