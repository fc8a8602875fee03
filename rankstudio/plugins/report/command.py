"""The command ``rankstudio report``, which writes the report of a study as one HTML file."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from rankstudio.cli.output.text_tables import as_json
from rankstudio.cli.replacement import add_force_option, check_outputs, recorded_files
from rankstudio.cli.streams import is_standard, refuse_output_with_json, write_output
from rankstudio.cli.study_file_option import (
    add_run_choice,
    reading,
    run_choice,
    tell_others,
)
from rankstudio.cli.terminal import tell
from rankstudio.engine.errors import ParameterError, StoreError
from rankstudio.engine.language import tr
from rankstudio.engine.metrics.names import measure
from rankstudio.plugins.report.document import SECTIONS, section_keys, wanted_keys

HELP = "write the report of a study as one HTML file"
DESCRIPTION = """\
Write the report of a study: question and notes, data with checksums, methods and protocol, results with
paired tests, selected features, stability, substitutes, published numbers, uses of the test part, versions,
plans to repeat the runs, and references. It is one HTML file without network access, for screens and print.
In a browser, a click on a header sorts a table, the mouse and the arrow keys show the values of curves, and a
click on a name in the legend hides a run. All of the report is readable without scripts.

  rankstudio report results/study.rankstudio --out report.html
  rankstudio report results/study.rankstudio --out short.html --sections question,results,features
  rankstudio report results/study.rankstudio --out one.html --data Sample --runs 1,3

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
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        required=True,
        help="HTML file; - prints it",
    )
    parser.add_argument(
        "--sections",
        metavar="KEYS",
        help="comma-separated sections, in this order",
    )
    add_run_choice(parser)  # --data and --runs
    parser.add_argument(
        "--measure", help="measure to compare; the selection criterion by default"
    )
    parser.add_argument(
        "--without-data",
        action="store_true",
        help="do not read the data; omit the parts that need them",
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="print file and sections as JSON",
    )
    add_force_option(parser)  # --force


def run(args: argparse.Namespace) -> int:
    """Write the report of a study to a file or to standard output; return the exit status."""
    from rankstudio.engine.analysis.reported_runs import DataOpener, no_data, read_study
    from rankstudio.plugins.report.document import html_page
    from rankstudio.plugins.report.report import make_report

    # Wrong arguments are refused before the study is read.
    keys = section_keys(args.sections) if args.sections else ()
    name = measure(args.measure).name if args.measure else ""
    refuse_output_with_json(args)
    check_outputs([args.out], args)
    choice = run_choice(args)
    with reading(args.study) as (study, _):
        # The report must not overwrite a file that the study records.
        check_outputs([args.out], args, recorded_files(study))
        if not is_standard(args.out) and args.out.suffix.lower() not in ("", *_ENDINGS):
            expected = f"a file ending in {_ENDINGS[0]}; the window also writes PDF"
            raise ParameterError("--out", str(args.out), expected)
        source = read_study(
            study, no_data if args.without_data else DataOpener(), choice=choice
        )
    if not source.runs:
        text = tr("{study}: the study has no finished run to report.")
        raise StoreError(text.format(study=args.study))

    # A note says which datasets of the study are left out by default.
    tell_others(source, "The report covers")

    # Sections in the command replace those of the study's settings.
    report = make_report(replace(source, measure=name))
    report = report.arranged(keys or wanted_keys(source.settings.sections))
    write_output(args.out, html_page(report))
    if args.json:
        tell(
            as_json(
                {
                    "path": str(args.out),
                    "sections": [section.key for section in report.sections],
                }
            )
        )
    return 0
