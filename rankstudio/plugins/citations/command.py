"""The command ``rankstudio cite``, which prints what runs use as BibTeX."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankstudio.cli.code_options import allow_named_code
from rankstudio.cli.output.text_tables import as_json
from rankstudio.cli.replacement import add_force_option, check_outputs, recorded_files
from rankstudio.cli.streams import STANDARD, refuse_output_with_json, write_output
from rankstudio.cli.study_file_option import add_run_number, reading
from rankstudio.cli.terminal import tell
from rankstudio.engine.errors import ParameterError, StoreError
from rankstudio.engine.language import tr

if TYPE_CHECKING:
    from rankstudio.engine.analysis.references import Reference

HELP = "print what runs use as BibTeX: program, methods, data, measures and tests"
DESCRIPTION = """\
Print the papers and programs that runs use as entries of BibTeX: RankStudio, the methods, the public dataset
if it is recognised, the measures and their convention, the selection rule, and the tests that compare runs.
A comment above each entry says what it is used for.

  rankstudio cite
  rankstudio cite results/study.rankstudio --out references.bib
  rankstudio cite results/study.rankstudio --run 1
  rankstudio cite results/plan.toml --json

Without a study or plan, print the entry of RankStudio. The keys are those of the citations in LaTeX tables of
rankstudio compare."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    source: Any = parser.add_argument(
        "source", type=Path, metavar="STUDY", nargs="?", help="study file, or TOML plan"
    )

    # The check of file kinds, which reads this attribute, then accepts
    # a text file, as a plan is, and not only a study.
    source.also = ("text",)
    add_run_number(parser, "--run")  # --run N, stored as `number`
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="write to a .bib file instead of printing",
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="print keys, uses and entries as JSON",
    )
    add_force_option(parser)  # --force


def run(args: argparse.Namespace) -> int:
    """Carry out the command: write or print the references; return its exit status."""
    from rankstudio.engine.analysis.references import bibtex_of

    refuse_output_with_json(args)

    # The output must not replace a file that was read, and another
    # existing file only with --force.
    references, read_files = _references(args)
    if args.out is not None:
        check_outputs([args.out], args, read_files)
    text = bibtex_of(references)
    if args.out is not None:
        write_output(args.out, text)
    if args.json:
        listed_references = [
            {
                "key": reference.entry.key,
                "uses": list(reference.uses),
                "bibtex": reference.entry.text,
            }
            for reference in references
        ]
        tell(as_json(listed_references))
    elif args.out is None:
        write_output(STANDARD, text)
    return 0


def _references(
    args: argparse.Namespace,
) -> tuple[tuple[Reference, ...], list[Path]]:
    """Return the references of the command's study or plan, and the data files that the study records.

    Without a study or plan, the reference is that of RankStudio.

    Raises
    ------
    ParameterError
        If a run is named without a study.
    StoreError
        If the study has no finished run.
    """
    from rankstudio.engine.analysis.references import (
        plan_references,
        program_reference,
        references_of_runs,
    )
    from rankstudio.engine.analysis.reported_runs import (
        EVERY_RUN,
        RunChoice,
        read_study,
    )
    from rankstudio.engine.experiment.plan.toml import load_plan, with_data_beside

    is_plan = args.source is not None and args.source.suffix.lower() == ".toml"
    if args.number is not None and (args.source is None or is_plan):
        raise ParameterError("--run", args.number, "a study with the run")
    if args.source is None:
        return (program_reference(),), []
    if is_plan:
        # Code that the plan names needs the user's permission. Data are
        # looked for beside the plan.
        allow_named_code(args, args.source)
        plan = with_data_beside(load_plan(args.source), args.source)
        return plan_references(plan), []

    # A study: all of its finished runs, or the one with the number.
    # Runs that the user has hidden are cited, too.
    choice = EVERY_RUN if args.number is None else RunChoice(numbers=(args.number,))
    with reading(args.source) as (study, _):
        source = read_study(study, choice=choice, includes_hidden=True)
        files = recorded_files(study)
    if not source.runs:
        text = tr("{study}: the study has no finished run to cite.")
        raise StoreError(text.format(study=args.source))
    return references_of_runs([run.result for run in source.runs]), files
