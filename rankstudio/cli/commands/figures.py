"""``rankstudio figures``: the figures of a study as a paper prints them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rankstudio.cli.output.text_tables import as_json
from rankstudio.cli.replacement import add_force_option, check_outputs, recorded_files
from rankstudio.cli.study_file_option import tell_damage
from rankstudio.engine.errors import ParameterError

if TYPE_CHECKING:
    from rankstudio.engine.analysis.report.study_figures import StudyFigure

HELP = "write the figures of a study for print"
DESCRIPTION = """\
Write the figures of a study as a paper prints them: of its runs on each dataset, the validation curves over
each other, size against measure, and differences with their intervals; of each run, validation and criterion
by size, a map of parameters and size, the features by fold, how alike the folds are, and the candidates.

  rankstudio figures results/study.rankstudio --list
  rankstudio figures results/study.rankstudio --width 85mm --to pdf --out figures
  rankstudio figures results/study.rankstudio --only curves,map --width page --to svg,csv --out wide

Beside each figure there is a text of the same name with its caption: data, method, parameters, measure,
convention, seed and versions. The same study gives the same bytes, here and in the window."""

EPILOG = """\
widths:
  column  85 mm, text of 8 pt        slide   254 mm, text of 18 pt
  page    178 mm, text of 8 pt       poster  400 mm, text of 28 pt

formats:
  pdf     vectors, with the font embedded; what is copied from it is what is read
  svg     vectors, with texts as texts
  png     a picture with --dpi
  csv     the values that are shown

While the test part of a study is sealed, no number of it is in a figure. Bands need the documents: they are
read from where the runs had them, and left out where they changed or are gone."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("study", type=Path, metavar="STUDY", help="a study's file")
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="the folder to write to, made where it is missing"
    )
    parser.add_argument("--list", action="store_true", help="print the names of the figures, and write none")
    parser.add_argument(
        "--only", metavar="NAMES", help="which ones, separated by commas; a name's end will do: validation"
    )
    parser.add_argument("--to", metavar="FORMATS", default="pdf", help="pdf, svg, png, csv (default: pdf)")
    parser.add_argument(
        "--width",
        default="column",
        metavar="WIDTH",
        help="a length such as 85mm or 3.5in, or a name from below (default: column)",
    )
    parser.add_argument("--height", metavar="HEIGHT", help="a length; else what suits each figure")
    parser.add_argument(
        "--font", type=float, metavar="POINTS", help="size of the text; else what suits the width"
    )
    parser.add_argument(
        "--colors",
        choices=("light", "print"),
        default="light",
        help="those of the screen, or dark ones told apart in grey too, with markers (default: light)",
    )
    parser.add_argument("--dpi", type=float, default=300.0, help="dots an inch of a PNG (default: 300)")
    parser.add_argument("--measure", help="which measure to show; the one that chose by default")
    parser.add_argument(
        "--without-data", action="store_true", help="read no documents, and leave out what needs them"
    )
    parser.add_argument("--json", action="store_true", help="print what was written as JSON")
    add_force_option(parser)


def run(args: argparse.Namespace) -> int:
    """Carry the command out."""
    from dataclasses import replace

    from rankstudio.engine.analysis.report.study_figures import made, named_figures, study_figures
    from rankstudio.engine.analysis.report.study_source import DataOpener, no_data, read_study
    from rankstudio.engine.experiment.storage.study import Study
    from rankstudio.engine.export.figures.files import figure_files, formats_of, write_figure_files
    from rankstudio.engine.export.figures.style import style_of
    from rankstudio.engine.metrics.names import measure

    formats, style = formats_of(args.to), style_of(args.width, args.font, args.colors, args.height)
    if not 30 <= args.dpi <= 2400:
        raise ParameterError("dpi", args.dpi, "a number from 30 to 2400")
    if args.out is None and not args.list:
        raise ParameterError("out", "nothing", "the folder to write to, or --list")
    name = measure(args.measure).name if args.measure else ""
    with Study.open(args.study, reading=True) as study:
        tell_damage(study, study.runs())
        recorded = recorded_files(study)
        source = read_study(study, no_data if args.without_data or args.list else DataOpener())
    found = named_figures(study_figures(replace(source, measure=name)), args.only or "")
    if args.list:
        print(
            as_json([{"name": one.name, "title": one.title} for one in found])
            if args.json
            else _listed(found)
        )
        return 0
    files = figure_files(tuple(made(found)), formats, style, args.dpi, args.out)
    check_outputs([path for path, _ in files], args, recorded)
    written = write_figure_files(files)
    if args.json:
        print(as_json({"written": [str(path) for path in written]}))
    else:
        print(f"Written: {len(written)} files in {args.out}", file=sys.stderr)
    return 0


def _listed(found: Sequence[StudyFigure]) -> str:
    wide = max((len(one.name) for one in found), default=0)
    return "\n".join(f"{one.name:<{wide}}  {one.title}" for one in found)
