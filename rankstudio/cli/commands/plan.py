"""``rankstudio plan``: write the plan of a run as TOML, a command, a program or a notebook, to repeat it."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rankstudio.cli.code_options import allow_named_code
from rankstudio.cli.output.text_tables import as_json
from rankstudio.cli.replacement import add_force_option, check_outputs, inputs_of_plan
from rankstudio.cli.streams import (
    STANDARD,
    form_of_output,
    refuse_output_with_json,
    write_output,
)
from rankstudio.cli.study_file_option import add_run_number, one_run, reading
from rankstudio.cli.terminal import tell
from rankstudio.engine.experiment.plan.as_code import PLAN_FORMATS
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.toml import load_plan, with_data_beside

HELP = "write the plan of a run as TOML, a command, a program or a notebook"
DESCRIPTION = """\
Write the plan of a run, to repeat it: as TOML, as a command, as a Python program or as a Jupyter notebook.
The same data and versions give identical results.

  rankstudio plan results/study.rankstudio --run 1 --to python
  rankstudio plan results/study.rankstudio --run 1 --out run.ipynb --results again
  rankstudio plan results/plan.toml --to command"""

_FORMATS_BY_KEY = {form.key: form for form in PLAN_FORMATS}

EPILOG = (
    "formats:\n"
    + "\n".join(
        f"  {form.key:<10} {form.suffix:<7} {form.help}" for form in PLAN_FORMATS
    )
    + """

Programs and notebooks need Python with RankStudio installed; the curves of a notebook need the extra
"notebook". They create the folder of --results, and stop if it exists."""
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the study or plan to read, and of the format and file to write."""
    source: Any = parser.add_argument(
        "source", type=Path, metavar="STUDY", help="study file, or TOML plan"
    )

    # A plan is a text file. `refuse_other_kinds` reads this attribute,
    # and accepts such a file beside a study.
    source.also = ("text",)
    add_run_number(parser, "--run")
    parser.add_argument(
        "--to",
        choices=_FORMATS_BY_KEY,
        help="format; by default determined by the ending of --out, otherwise toml",
    )
    parser.add_argument(
        "--results", default="", metavar="DIR", help="new folder for the results"
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="write to a file instead of printing"
    )
    parser.add_argument(
        "--json", action="store_true", help="print format, run and text as JSON"
    )
    add_force_option(parser)


def run(args: argparse.Namespace) -> int:
    """Print or write the plan of a run in one of the formats, and return 0."""
    refuse_output_with_json(args)
    endings = {key: form.suffix for key, form in _FORMATS_BY_KEY.items()}

    # The format that an option names, or that of the file, or the first.
    form = _FORMATS_BY_KEY[
        form_of_output(args.to, args.out, endings, "--to", PLAN_FORMATS[0].key)
    ]

    # Programs and notebooks name the versions with which the run was computed.
    plan, computed_with = _plan_and_versions(args)
    if args.out is not None:
        check_outputs([args.out], args, inputs_of_plan(plan))
    text = form.text(plan, args.results, computed_with)
    if args.out is not None:
        write_output(args.out, text)
    if args.json:
        tell(as_json({"format": form.key, "title": plan.title, "text": text}))
    elif args.out is None:
        write_output(STANDARD, text)
    return 0


def _plan_and_versions(args: argparse.Namespace) -> tuple[Plan, Mapping[str, str]]:
    """Return the plan, with the path of its data, and the versions that ran it.

    The versions are those of RankStudio and of libraries, by name. For
    a plan in TOML, there are no versions.
    """
    # A plan in a file may name methods of others, whose code the user has to allow.
    if args.source.suffix.lower() == ".toml":
        allow_named_code(args, args.source)
        return with_data_beside(load_plan(args.source), args.source), {}
    with reading(args.source) as (study, runs):
        summary = one_run(args.source, runs, args.number, "--run")

        # The path of the data, or their name in the plan if the study has none.
        data_path = study.data(summary.key).path_to_open(summary.key.plan)
        return summary.key.plan.changed(data=data_path), summary.versions
