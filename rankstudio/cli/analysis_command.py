"""The command that an analysis of a plug-in makes of itself."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from rankstudio.cli.command_parser import place_name
from rankstudio.cli.data_options import (
    MISSING,
    NORMALIZE,
    add_column_options,
    add_sample_option,
    refuse_both,
)
from rankstudio.cli.memory_option import add_memory_option
from rankstudio.cli.output.text_tables import as_json, document
from rankstudio.cli.progress_bar import LiveLine
from rankstudio.cli.run_options import METAVARS, fold_of_data
from rankstudio.cli.study_file_option import add_run_number, opened_run
from rankstudio.cli.terminal import tell
from rankstudio.engine.language import tr
from rankstudio.engine.methods.catalog.analysis import Analysis, AnalysisTable, Needs
from rankstudio.engine.methods.catalog.parameter import Parameter
from rankstudio.engine.support.number_format import percentage

_DEST = "analysis_"


class AnalysisCommand:
    """A command that carries an analysis out and prints its tables.

    Parameters
    ----------
    entry : Analysis
    """

    def __init__(self, entry: Analysis) -> None:
        self._entry = entry

    @property
    def HELP(self) -> str:  # noqa: N802 - as modules of commands have it
        """The line in the list of commands."""
        return tr(self._entry.summary)

    @property
    def DESCRIPTION(self) -> str:  # noqa: N802
        """What the command does, with an example."""
        entry = self._entry
        subject = "--sample" if entry.needs is Needs.DATA else "study.rankstudio"
        return f"{tr(entry.label)}: {tr(entry.summary)}.\n\n  rankstudio {entry.key} {subject}"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's options."""
        if self._entry.needs is Needs.RUN:
            parser.add_argument("study", type=Path, metavar="STUDY", help="study of the run")
            add_run_number(parser, "--run")
        else:
            add_data_options(parser)
        if self._entry.parameters:
            group = parser.add_argument_group("parameters")
            for parameter in self._entry.parameters:
                _add_option(group, parameter)
        add_memory_option(parser)
        parser.add_argument("--json", action="store_true", help="print JSON instead of tables")

    def run(self, args: argparse.Namespace) -> int:
        """Carry the command out."""
        from rankstudio.engine.analysis.plugin_analysis import analysis_steps

        values = {
            name.removeprefix(_DEST): value
            for name, value in vars(args).items()
            if name.startswith(_DEST) and value is not None
        }
        parameters = self._entry.validate(values)
        tables: tuple[AnalysisTable, ...] = ()
        line = LiveLine(None)
        for state in analysis_steps(self._entry, self._subject(args), parameters):
            if isinstance(state, tuple):
                tables = state
            elif line.is_due():
                line.show(f"{state.what}: {percentage(state.share)}")
        line.show("")
        if args.json:
            tell(as_json({"analysis": self._entry.key, "tables": [table.as_dict() for table in tables]}))
        else:
            tell(document(table.as_text() for table in tables))
        return 0

    def _subject(self, args: argparse.Namespace) -> tuple[Any, ...]:
        """Return what is analysed: the training part of a fold, or a run and its data."""
        from rankstudio.engine.analysis.measurements.measurement import sealed_data, sealed_run
        from rankstudio.engine.analysis.permutation.criterion_band import training_fold

        if self._entry.needs is Needs.RUN:
            run = opened_run(args.study, args.number)
            if run.sealed:
                return sealed_run(run.result), sealed_data(run.dataset)
            return run.result, run.dataset
        refuse_both(args)
        plan, dataset, _ = fold_of_data(args, "--folds")
        return (training_fold(plan, dataset).train,)


def add_data_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that name the training part of a fold."""
    parser.add_argument(
        "data", type=place_name, metavar="DATA", nargs="?", help="data file or folder of folds"
    )
    add_sample_option(parser)
    parser.add_argument(
        "--folds", metavar="FOLD", help="fold whose training part is used; the first by default"
    )
    parser.add_argument("--protocol", help='protocol, as in a plan; "given" by default')
    parser.add_argument("--missing", **MISSING)
    parser.add_argument("--normalize", **NORMALIZE)
    add_column_options(parser.add_argument_group("columns of tables"))
    parser.set_defaults(plan=None)


def _add_option(group: Any, parameter: Parameter) -> None:
    text = f"{parameter.label}: {parameter.expected}. {parameter.help}".replace("%", "%%")
    default = parameter.said(parameter.default).replace("%", "%%")
    group.add_argument(
        parameter.option,
        dest=f"{_DEST}{parameter.name}",
        metavar=METAVARS[parameter.kind],
        help=f"{text} Default: {default}.",
    )
