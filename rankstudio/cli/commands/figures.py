"""``rankstudio figures``: write the figures of a study for publication."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rankstudio.cli.output.text_tables import as_json
from rankstudio.cli.replacement import add_force_option, recorded_files, write_new
from rankstudio.cli.study_file_option import (
    add_run_choice,
    reading,
    run_choice,
    tell_others,
)
from rankstudio.cli.terminal import Block, tell
from rankstudio.engine.errors import ParameterError, StoreError, one_line
from rankstudio.engine.metrics.names import measure

if TYPE_CHECKING:
    from rankstudio.engine.analysis.figures.study_figures import StudyFigure

HELP = "write the figures of a study for publication"
DESCRIPTION = """\
Write the figures of a study for publication. Per dataset: validation and test curves of the runs, size
against measure, learning curves, and differences with intervals. Per run: validation measure and criterion by
size, a map of parameters and size, features by fold, similarity of the folds, and candidates.

  rankstudio figures results/study.rankstudio --list
  rankstudio figures results/study.rankstudio --width 85mm --to pdf --out figures
  rankstudio figures results/study.rankstudio --only curves,map --width page --to svg,csv --out wide
  rankstudio figures results/study.rankstudio --data Sample --runs 1,3 --out some

The figures show the runs on one dataset, by default on that of the latest run.
Each figure has a text file of the same name with its caption: data, method, parameters, measure, convention,
seed and versions. The window writes identical files."""

EPILOG = """\
widths:
  column  85 mm, 8 pt text        slide   254 mm, 18 pt text
  page    178 mm, 8 pt text       poster  400 mm, 28 pt text

formats:
  pdf     vector graphics with embedded fonts and selectable text
  svg     vector graphics with editable text
  png     image with the resolution of --dpi
  csv     the plotted values

While the test part of a dataset is sealed, the figures show no test measures. Confidence bands need the data:
they are read from their original location, and the bands are left out if the data changed or are missing."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the study, the choice of figures, and their look."""
    # Which figures, and where to.
    parser.add_argument("study", type=Path, metavar="STUDY", help="study file")
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="output folder; created if it does not exist",
    )
    parser.add_argument(
        "--list",
        action="store_true",
        help="list the names of the figures without writing",
    )
    parser.add_argument(
        "--only",
        metavar="NAMES",
        help="comma-separated names of figures; the end of a name is enough, such as validation",
    )

    # How the figures look.
    parser.add_argument(
        "--to",
        metavar="FORMATS",
        default="pdf",
        help="pdf, svg, png, csv (default: pdf)",
    )
    parser.add_argument(
        "--width",
        default="column",
        metavar="WIDTH",
        help="length such as 85mm or 3.5in, or one of the names below (default: column)",
    )
    parser.add_argument(
        "--height", metavar="HEIGHT", help="length; by default it depends on the figure"
    )
    parser.add_argument(
        "--font",
        type=float,
        metavar="POINTS",
        help="text size; by default it depends on the width",
    )
    parser.add_argument(
        "--colors",
        choices=("light", "print"),
        default="light",
        help="light: screen colors; print: dark colors and markers, readable in grayscale (default: light)",
    )
    parser.add_argument(
        "--dpi", type=float, default=300.0, help="PNG resolution (default: 300)"
    )

    # What the figures show.
    add_run_choice(parser)
    parser.add_argument(
        "--measure", help="measure to show; the selection criterion by default"
    )
    parser.add_argument(
        "--without-data",
        action="store_true",
        help="do not read the data; omit the bands that need them",
    )
    parser.add_argument(
        "--json", action="store_true", help="print the written files as JSON"
    )
    add_force_option(parser)


def run(args: argparse.Namespace) -> int:
    """Draw the figures of a study and write them into a folder, or list them; return 0."""
    from rankstudio.engine.analysis.figures.study_figures import (
        made,
        named_figures,
        study_figures,
    )
    from rankstudio.engine.analysis.reported_runs import DataOpener, no_data, read_study
    from rankstudio.engine.export.figures.files import figure_files, formats_of
    from rankstudio.engine.export.figures.style import style_of

    # Check the options before the study is read.
    formats = formats_of(args.to)
    style = style_of(args.width, args.font, args.colors, args.height)
    if not 30 <= args.dpi <= 2400:
        raise ParameterError("--dpi", args.dpi, "a number from 30 to 2400")
    if args.out is None and not args.list:
        raise ParameterError("--out", "nothing", "an output folder, or --list")

    # Read the runs. Their documents are needed only for the bands of
    # intervals around the curves.
    name = measure(args.measure).name if args.measure else ""
    choice = run_choice(args)
    with reading(args.study) as (study, _):
        recorded = recorded_files(study)
        opener = no_data if args.without_data or args.list else DataOpener()
        source = read_study(study, opener, choice=choice)

    # A note, if the study has runs on other datasets.
    tell_others(source, "The figures show")

    # List the figures, or draw and write them.
    figures = named_figures(
        study_figures(replace(source, measure=name)), args.only or ""
    )
    if args.list:
        tell(
            as_json(
                [{"name": figure.name, "title": figure.title} for figure in figures]
            )
            if args.json
            else _figure_list(figures)
        )
        return 0
    drawn = tuple(made(figures))  # without the figures that would be empty
    if not drawn:
        raise StoreError(f"{args.study}: the study has no results to draw.")
    files = figure_files(drawn, args.out, formats, style, args.dpi)
    written = write_new(files, args.out, args, recorded)
    if args.json:
        tell(as_json({"written": [str(path) for path in written]}))
    return 0


def _figure_list(figures: Sequence[StudyFigure]) -> Block:
    """Return the names and titles of figures as text, in two columns."""
    width = max((len(figure.name) for figure in figures), default=0)
    return Block(
        "\n".join(
            one_line(f"{figure.name:<{width}}  {figure.title}") for figure in figures
        )
    )
