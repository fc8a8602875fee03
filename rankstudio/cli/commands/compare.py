"""``rankstudio compare``: the runs of studies side by side, with paired tests against one of them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rankstudio.cli.output.printed_table import add_table_options, is_table_wanted, write_table
from rankstudio.cli.output.text_tables import as_json, document
from rankstudio.cli.replacement import add_force_option, check_outputs, recorded_files
from rankstudio.cli.standard_streams import is_standard, write_output
from rankstudio.cli.study_file_option import tell_damage
from rankstudio.engine.errors import PlanError

if TYPE_CHECKING:
    from rankstudio.engine.analysis.significance import RunComparison
    from rankstudio.engine.experiment.results.results import RunResult

FORMATS = {"text": ".txt", "markdown": ".md", "latex": ".tex", "csv": ".csv", "json": ".json"}
"""How tables can be written, each with the ending of its files."""

HELP = "compare the runs of studies, with paired tests"
DESCRIPTION = """\
Compare the completed runs of studies. The table of each dataset has averages over the folds and paired tests
over all test queries against the best run, or against the run given by --against.

  rankstudio compare results/study.rankstudio
  rankstudio compare a.rankstudio b.rankstudio --measure NDCG@10 --against 2
  rankstudio compare results/study.rankstudio --out tests.md
  rankstudio compare a.rankstudio b.rankstudio --measures MAP,NDCG@10,ERR --bold --marks --out table.tex

Further tables show the selection stability across folds, the Pareto front of size and measure, and the effect
of pinned and banned features.

The options under "table for publication" print a single table instead, with one row per method and one
column per measure, fold or dataset."""

EPILOG = """\
columns:
  k                   number of features of the chosen models, over the folds
  difference          mean over the queries, run minus reference
  95 % interval       bootstrap interval of the difference, over the queries
  p (t)               Student's paired t-test, two-sided
  p (W)               Wilcoxon signed-rank test, two-sided; queries without a difference are left out
  p                   Fisher's randomization test, two-sided
  p (t, Holm),
  p (W, Holm),        Holm correction for all runs compared with the reference by this measure
  p (Holm)
  better/equal/worse  number of queries in which the run is better, equal or worse

CSV has one row per run with all digits; JSON has all values; LaTeX needs the package booktabs. Identical runs
count once in the Holm correction.

table for publication:
  Marks show significant differences from the reference row: Fisher's randomization test over all test
  queries, or --test, with Holm correction for the rows of a column. A note under the table gives the test,
  the correction and the number of hypotheses. The reference is the best row of the first column, or the row
  given by --against: a number, title or method.
  Measures that a run did not report are computed from its models on the original data. While the test part
  of a study is sealed, validation measures are shown.
  CSV, TSV, Excel and Parquet have all digits unless --digits is given; Excel and Parquet need the extras
  "excel" and "parquet"."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("studies", nargs="+", type=Path, metavar="STUDY", help="study file")
    parser.add_argument("--measure", help="measure to compare; the selection criterion by default")
    parser.add_argument(
        "--against",
        metavar="RUN",
        help="reference run: its number in the table, or its method, such as gas or gas/ranksvm "
        "(final ranker RankSVM); the best by default",
    )
    parser.add_argument("--data", metavar="NAME", help="compare only the runs on this dataset")
    parser.add_argument("--seed", type=int, default=0, help="seed of the randomization and the bootstrap")
    add_table_options(parser)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--format", choices=FORMATS, help="output format; text by default")
    form.add_argument(
        "--markdown", action="store_const", const="markdown", dest="format", help="print Markdown"
    )
    form.add_argument("--json", action="store_const", const="json", dest="format", help="print JSON")
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help=f"write to a file; its ending determines the format: {', '.join(FORMATS.values())}, or for a "
        "table for publication the endings under --to; - prints it",
    )
    add_force_option(parser)


def run(args: argparse.Namespace) -> int:
    """Carry the command out."""
    if is_table_wanted(args, FORMATS.values()):
        return write_table(args)
    from rankstudio.cli.output.comparison_tables import as_dict, sections, tests_table
    from rankstudio.engine.export.tables import csv_text

    form = _form(args.format, args.out)
    if args.out is not None:
        check_outputs([args.out], args)
    compared = _compare(_finished(args), args)
    match form:
        case "json":
            found = [as_dict(c, args.seed) for c in compared]
            text = as_json(found[0] if len(found) == 1 else found)
        case "csv":
            text = csv_text(*tests_table(compared)).rstrip("\n")
        case _:
            text = document((section for c in compared for section in sections(c, args.seed)), form)
    if args.out is None:
        print(text)
    else:
        write_output(args.out, text + "\n")
    return 0


def _form(given: str | None, out: Path | None) -> str:
    """Return how to write it: as was said, else as the file's ending says."""
    if given is not None or out is None or is_standard(out):
        return given or "text"
    for form, ending in FORMATS.items():
        if out.suffix.lower() == ending:
            return form
    endings = ", ".join(FORMATS.values())
    raise PlanError(f"--out: expected a file ending in one of {endings}, or --format, got {out}.")


def _finished(args: argparse.Namespace) -> list[RunResult]:
    from rankstudio.engine.experiment.storage.study import Study

    runs: list[RunResult] = []
    for path in args.studies:
        with Study.open(path, reading=True) as study:
            stored = study.runs()
            tell_damage(study, stored)
            if args.out is not None:
                check_outputs([args.out], args, recorded_files(study))
            runs += study.finished(stored)
    return runs


def _compare(runs: Sequence[RunResult], args: argparse.Namespace) -> list[RunComparison]:
    """Compare the runs on each dataset; where there are several, one run alone is passed over."""
    from rankstudio.engine.analysis.significance import by_dataset, compare_runs

    against = int(args.against) if args.against and args.against.isdecimal() else args.against
    chosen = {name: own for name, own in by_dataset(runs).items() if args.data in (None, name)}
    several = {name: own for name, own in chosen.items() if len(own) > 1}
    for name in chosen.keys() - several.keys() if several else ():
        print(f"Note: {name} is left out: it has only one completed run.", file=sys.stderr)
    if not several:
        compare_runs(next(iter(chosen.values()), []))  # says what is missing
    return [compare_runs(own, args.measure, against, args.seed) for own in several.values()]
