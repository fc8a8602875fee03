"""The table of a paper in the terminal: its options, and what writes it."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from pathlib import Path

from rankstudio.cli.replacement import check_outputs, recorded_files
from rankstudio.cli.standard_streams import STANDARD, is_standard, write_output
from rankstudio.cli.study_file_option import tell_damage
from rankstudio.engine.analysis.result_table.query import TESTS
from rankstudio.engine.errors import PlanError
from rankstudio.engine.export.result_table.formats import FORMATS, table_format
from rankstudio.engine.export.result_table.table import TableStyle

_BY = ("measures", "folds", "datasets")
_TO = {form.key: form.suffix for form in FORMATS}
_MOST_DIGITS = 15


def add_table_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of a table for print; with any of them it is one."""
    table = parser.add_argument_group("table for publication")
    table.add_argument(
        "--measures",
        metavar="NAMES",
        help="comma-separated measures; those of the first run by default",
    )
    table.add_argument(
        "--by",
        choices=_BY,
        help="columns of the table, grouped by the others; measures by default",
    )
    table.add_argument(
        "--bold", action="store_true", help="print the best of each column bold and underline the second"
    )
    table.add_argument(
        "--marks", action="store_true", help="mark significant differences from the row of --against"
    )
    names = "; ".join(f"{key}: {name}" for key, name in TESTS.items())
    table.add_argument(
        "--test", choices=TESTS, help=f"significance test of the marks: {names}; randomisation by default"
    )
    table.add_argument("--sd", action="store_true", help="add the standard deviation over the folds")
    table.add_argument("--digits", type=_digits, metavar="N", help="decimal places; 4 by default")
    endings = ", ".join(f"{key} ({suffix})" for key, suffix in _TO.items())
    table.add_argument(
        "--to",
        choices=_TO,
        metavar="FORMAT",
        help=f"output format: {endings}; by default that of --out's ending, else markdown",
    )


def is_table_wanted(args: argparse.Namespace, suffixes: Collection[str]) -> bool:
    """Tell whether a table for print is asked for: by an option, or by a suffix that nothing else has."""
    asked = (args.measures, args.by, args.bold, args.marks, args.test, args.sd, args.to)
    suffix = args.out.suffix.lower() if args.out else ""
    return (
        any(asked)
        or args.digits is not None
        or (not args.format and suffix in _TO.values() and suffix not in suffixes)
    )


def write_table(args: argparse.Namespace) -> int:
    """Write the table for print that was asked for.

    Raises
    ------
    PlanError
        Where the options do not go together.
    """
    from rankstudio.engine.analysis.report.source import read_study
    from rankstudio.engine.analysis.result_table.builder import result_table, table_runs
    from rankstudio.engine.analysis.result_table.query import TableQuery
    from rankstudio.engine.experiment.storage.study import Study

    if args.measure and args.measures:
        raise PlanError("--measure and --measures: expected one of them, got both.")
    form = table_format(_form(args))
    if args.out is not None:
        check_outputs([args.out], args)
    elif form.text is None:
        raise PlanError(f"--to {form.key}: expected --out FILE, because {form.label} is binary, got none.")
    sources = []
    for path in args.studies:
        with Study.open(path, reading=True) as study:
            tell_damage(study, study.runs())
            if args.out is not None:
                check_outputs([args.out], args, recorded_files(study))
            sources.append(read_study(study))
    runs = [run for run in table_runs(sources) if args.data in (None, run.result.data_name)]
    names = tuple(name.strip() for name in (args.measures or args.measure or "").split(",") if name.strip())
    against = int(args.against) if (args.against or "").isdecimal() else args.against or ""
    marks = args.marks or args.test is not None
    query = TableQuery(names, args.by or "measures", against, marks, args.seed, args.test or "randomisation")
    style = TableStyle(args.digits, args.bold, marks, args.sd)
    content = form.content(result_table(runs, query), style)
    write_output(args.out or STANDARD, content)
    return 0


def _form(args: argparse.Namespace) -> str:
    """Return the format: as was said, else as the file's ending says."""
    if args.to or args.format in _TO:
        return str(args.to or args.format)
    if args.format:
        raise PlanError(
            f"--format: expected one of {', '.join(_TO)} for a table for publication, got {args.format}."
        )
    if args.out is None or is_standard(args.out):
        return "markdown"
    suffix = Path(args.out).suffix.lower()
    if suffix not in _TO.values():
        endings = ", ".join(_TO.values())
        raise PlanError(f"--out: expected a file ending in one of {endings}, or --to, got {args.out}.")
    return suffix


def _digits(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or int(text) > _MOST_DIGITS:
        raise argparse.ArgumentTypeError(f"expected a number from 0 to {_MOST_DIGITS}, got {text}")
    return int(text)
