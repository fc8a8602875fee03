"""``rankstudio report``: a study as one HTML file that a colleague reads anywhere."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rankstudio.cli.output.text_tables import as_json
from rankstudio.cli.replacement import add_force_option, check_outputs, recorded_files
from rankstudio.cli.streams import is_standard, refuse_output_with_json, write_output
from rankstudio.cli.study_file_option import reading
from rankstudio.cli.terminal import tell
from rankstudio.engine.analysis.report.document import SECTIONS, section_keys, wanted_keys
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.metrics.names import measure

if TYPE_CHECKING:
    from rankstudio.engine.analysis.report.source import ReportSource

_ALL = "all"

HELP = "write the report of a study as one HTML file"
DESCRIPTION = """\
Write the report of a study: question and notes, data with checksums, methods and protocol, results with
paired tests, selected features, stability, substitutes, published numbers, uses of the test part, versions,
and plans to repeat the runs. It is one HTML file without scripts or network access, for screens and print.

  rankstudio report results/study.rankstudio --out report.html
  rankstudio report results/study.rankstudio --out short.html --sections question,results,features
  rankstudio report results/study.rankstudio --out one.html --data MQ2008 --runs 1,3

The report covers the runs on one dataset, by default on that of the latest run. Its results have a chapter
for each group of comparable runs. By default it has the sections and order set in the window, otherwise all
sections."""

EPILOG = (
    "sections:\n"
    + "\n".join(f"  {key:<12} {title}" for key, title in SECTIONS.items())
    + """

While the test part of a dataset is sealed, the report shows no test measures of it. Substitutes and paired
bands need the data, read from their original location. If the data changed or are missing, both are left
out."""
)


_ENDINGS = (".html", ".htm", ".xhtml")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("study", type=Path, metavar="STUDY", help="study file")
    parser.add_argument("--out", type=Path, metavar="FILE", required=True, help="HTML file; - prints it")
    parser.add_argument(
        "--sections",
        metavar="KEYS",
        help="comma-separated sections, in this order",
    )
    parser.add_argument(
        "--data",
        metavar="NAME",
        help="report the runs on this dataset, or on all of them; by default on that of the latest run",
    )
    parser.add_argument("--runs", metavar="NUMBERS", help="report these runs only, such as 1,3")
    parser.add_argument("--measure", help="measure to compare; the selection criterion by default")
    parser.add_argument(
        "--without-data", action="store_true", help="do not read the data; omit the parts that need them"
    )
    parser.add_argument("--json", action="store_true", help="print file and sections as JSON")
    add_force_option(parser)


def run(args: argparse.Namespace) -> int:
    """Carry the command out."""
    from rankstudio.engine.analysis.report.document import html_page
    from rankstudio.engine.analysis.report.report import make_report
    from rankstudio.engine.analysis.report.source import DataOpener, no_data, read_study

    keys = section_keys(args.sections) if args.sections else ()
    name = measure(args.measure).name if args.measure else ""
    refuse_output_with_json(args)
    check_outputs([args.out], args)
    with reading(args.study) as (study, _):
        check_outputs([args.out], args, recorded_files(study))
        if not is_standard(args.out) and args.out.suffix.lower() not in ("", *_ENDINGS):
            expected = f"a file ending in {_ENDINGS[0]}; the window also writes PDF"
            raise ParameterError("--out", str(args.out), expected)
        source = read_study(study, no_data if args.without_data else DataOpener())
    report = make_report(replace(_chosen(source, args), measure=name))
    report = report.arranged(keys or wanted_keys(source.settings.sections))
    write_output(args.out, html_page(report))
    if args.json:
        tell(as_json({"path": str(args.out), "sections": [section.key for section in report.sections]}))
    return 0


def _chosen(source: ReportSource, args: argparse.Namespace) -> ReportSource:
    """Return the runs that are asked for; by default those on the dataset of the latest run."""
    if args.runs is not None:
        source = source.of_runs(_numbers(args.runs))
    if args.data == _ALL or not source.runs:
        return source
    if args.data is not None:
        return source.on_dataset(args.data)
    if args.runs is not None:
        return source
    name = source.runs[-1].result.data_name
    others = [data for data in source.datasets() if data != name]
    if others:
        tell(
            f"Note: The report covers the runs on {name}. For those on {', '.join(others)} use --data NAME "
            f"or --data {_ALL}.",
            file=sys.stderr,
        )
    return source.on_dataset(name)


def _numbers(text: str) -> list[int]:
    numbers = [part.strip() for part in text.split(",") if part.strip()]
    if not numbers or not all(number.isdecimal() for number in numbers):
        raise ParameterError("--runs", text, "comma-separated numbers of runs")
    return [int(number) for number in numbers]
