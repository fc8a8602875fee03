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

HELP = "put the runs of studies side by side, with paired tests"
DESCRIPTION = """\
Compare the finished runs of studies, a table for each dataset: averages over the folds, and paired tests over
all test queries against the run with the best average, or the one that is named.

  rankstudio compare results/study.rankstudio
  rankstudio compare a.rankstudio b.rankstudio --measure NDCG@10 --against 2
  rankstudio compare results/study.rankstudio --out tests.md
  rankstudio compare a.rankstudio b.rankstudio --measures MAP,NDCG@10,ERR --bold --marks --out table.tex

Under it stand how much the features that the folds selected agree, the models that no other one beats in both
size and measure, and what pinned and banned features changed, where there are runs with them and without.

With one of the options of a table for print it is one table instead, as papers have it: a row for each
method, a column for each measure, fold or dataset, several datasets side by side."""

EPILOG = """\
columns:
  k                   features of the chosen models, over the folds
  difference          the run's mean over the queries minus that of the reference
  95 % interval       of the difference, by a bootstrap over the queries
  p (t)               two-sided, of Student's paired t
  p (W)               two-sided, of Wilcoxon's signed ranks; queries without a difference are left out
  p                   two-sided, of Fisher's randomisation test
  p (t, Holm),
  p (W, Holm),        each corrected by Holm for all runs that are compared with the reference by this measure
  p (Holm)
  better/equal/worse  in how many queries the run is so

CSV has one row a run with all digits, and JSON has everything; LaTeX needs the package booktabs. Runs that
are one and the same, run twice or in two studies, count once in Holm's family.

a table for print:
  A mark says how sure the difference to one row is, by Fisher's randomisation over all test queries or what
  --test names, corrected by Holm for the rows of the column; test, correction and number of hypotheses stand
  in a note under the table. That row is the best of the first column, or what --against names: its number,
  its title or its method. Measures that a run did not report are computed from the scores of its models on
  the data where the run had them. While the test part of a study is sealed, its numbers are of the
  validation part.
  In CSV, TSV, Excel and Parquet numbers have all digits unless --digits says how many; Excel and Parquet need
  the extras excel and parquet."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("studies", nargs="+", type=Path, metavar="STUDY", help="a study's file")
    parser.add_argument("--measure", help="what to compare by; the measure that chose by default")
    parser.add_argument(
        "--against",
        metavar="RUN",
        help="the run to compare with: its number in the table, or its method, such as gas or gas/ranksvm "
        "(ranked by RankSVM); the best by default",
    )
    parser.add_argument("--data", metavar="NAME", help="only the runs on the dataset of this name")
    parser.add_argument("--seed", type=int, default=0, help="of the randomisation and the bootstrap")
    add_table_options(parser)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--format", choices=FORMATS, help="what to print or write; text by default")
    form.add_argument("--markdown", action="store_const", const="markdown", dest="format", help="in Markdown")
    form.add_argument("--json", action="store_const", const="json", dest="format", help="as JSON")
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help=f"write it to a file; its ending, one of {', '.join(FORMATS.values())}, or of a table for print "
        "one of --to, says how; - prints it",
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
    raise PlanError(f"--out: expected a file that ends with one of {endings}, or a --format, got {out}.")


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
        print(f"Note: {name} has one finished run, and nothing to compare it with.", file=sys.stderr)
    if not several:
        compare_runs(next(iter(chosen.values()), []))  # says what is missing
    return [compare_runs(own, args.measure, against, args.seed) for own in several.values()]
