"""The command of the terminal that carries out an analysis of a plug-in."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from importlib import import_module
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
from rankstudio.cli.interrupts import Stop, exit_status, stopping
from rankstudio.cli.memory_option import add_memory_option
from rankstudio.cli.output.text_tables import as_json, document
from rankstudio.cli.progress_bar import LiveLine, preparation
from rankstudio.cli.run_options import (
    METAVARS,
    add_method_options,
    add_reading_options,
    fold_of_data,
    plan_from,
)
from rankstudio.cli.study_file_option import add_run_number, opened_run
from rankstudio.cli.terminal import Block, tell
from rankstudio.engine.errors import (
    AnalysisError,
    Cancelled,
    ParameterError,
    RankStudioError,
)
from rankstudio.engine.language import tr
from rankstudio.engine.methods.catalog.analysis import (
    Analysis,
    AnalysisResult,
    AnalysisTable,
    Needs,
)
from rankstudio.engine.methods.catalog.parameter import Parameter
from rankstudio.engine.plugins.guard import failure
from rankstudio.engine.support.number_format import percentage
from rankstudio.engine.support.stop_request import heeding

_DEST_PREFIX = "analysis_"


class AnalysisCommand:
    """A command that carries an analysis out and prints its tables.

    Parameters
    ----------
    entry : Analysis
        The analysis, with its parameters and what it is carried out on.
    """

    def __init__(self, entry: Analysis) -> None:
        self._entry = entry

    @property
    def HELP(self) -> str:  # noqa: N802 - the name that modules of commands have, too
        """The line in the list of commands."""
        return tr(self._entry.summary)

    @property
    def DESCRIPTION(self) -> str:  # noqa: N802
        """Description of the command, with an example."""
        entry = self._entry
        if entry.description:
            return entry.description
        subject = "study.rankstudio" if entry.needs is Needs.RUN else "--sample"
        return f"{tr(entry.label)}: {tr(entry.summary)}.\n\n  rankstudio {entry.key} {subject}"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options of the analysis: its subject, its parameters, --memory and --json.

        An analysis may name a module for its command; then this module
        adds all options.
        """
        # `terminal` is the import path of the module, "" for none.
        # `_guarded` turns a failure of the code into an AnalysisError.
        entry = self._entry
        if entry.terminal:
            self._guarded(lambda: import_module(entry.terminal).add_options(parser))
            return
        add_subject(parser, entry.needs)
        if entry.parameters:
            group = parser.add_argument_group("parameters")
            for parameter in entry.parameters:
                _add_option(group, parameter)
        add_memory_option(parser)
        parser.add_argument(
            "--json", action="store_true", help="print JSON instead of tables"
        )

    def run(self, args: argparse.Namespace) -> int:
        """Carry out the analysis that the options describe, print its tables, and return the exit status."""
        # An analysis with a module for its command reads its options itself.
        entry = self._entry
        if entry.terminal:
            subject, values = self._guarded(
                lambda: _subject_and_values(entry.terminal, args)
            )
            result, stopped = _run_analysis(entry, subject, values)
        else:
            parameters = self._parameters(args)
            result, stopped = _run_analysis(
                entry, opened_subject(args, entry.needs), parameters
            )

        # Print JSON or tables, and the warnings after them.
        if args.json:
            # An analysis may have values for JSON besides its tables.
            plain: Any = {
                "analysis": entry.key,
                "tables": [table.as_dict() for table in result.tables],
            }
            tell(as_json(plain if result.values is None else result.values))
        else:
            tell(_stacked_tables(result.tables))
        for sentence in result.warnings:
            tell(f"Note: {sentence}", file=sys.stderr)
        return exit_status(stopped, "Stopped. The tables have what was finished.")

    def _guarded(self, function: Callable[[], Any]) -> Any:
        """Call a function of the analysis, and return its value.

        Raise AnalysisError where the code of another package fails.
        Errors of RankStudio's own analyses are faults of the program,
        and stay as they are.
        """
        if self._entry.is_own:
            return function()
        try:
            return function()
        except RankStudioError:
            raise
        except Exception as error:
            raise AnalysisError(self._entry.label, failure(error)) from error

    def _parameters(self, args: argparse.Namespace) -> dict[str, Any]:
        """Return the values of the parameters whose options were typed, by name.

        Without an option, the analysis uses its default. Raise
        ParameterError, with the name of the option, for an invalid
        value.
        """
        values = {}
        for parameter in self._entry.parameters:
            text = getattr(args, f"{_DEST_PREFIX}{parameter.name}")
            if text is not None:
                try:
                    values[parameter.name] = parameter.validate(text)
                except ParameterError as error:
                    raise ParameterError(
                        parameter.option, text, error.expected, error.meant
                    ) from None
        return values


def _subject_and_values(
    module: str, args: argparse.Namespace
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the subject and the parameters that the module of an analysis reads from the options."""
    subject, values = import_module(module).read(args)
    return tuple(subject), dict(values)


def _run_analysis(
    entry: Analysis, subject: tuple[Any, ...], values: Mapping[str, Any]
) -> tuple[AnalysisResult, bool]:
    """Carry out an analysis and show its progress.

    Return the result of the analysis, and whether it was stopped before
    its end. ``subject`` is what is analysed, such as a run and its
    data; ``values`` are those of the parameters. Before the first
    result, Ctrl+C ends the command at once; from then on, Ctrl+C makes
    the analysis stop with the result so far.
    """
    from rankstudio.engine.analysis.catalog_analyses.plugin_analysis import (
        analysis_steps,
    )

    line = LiveLine(None)  # on the error stream
    result: AnalysisResult | None = None
    stop: Stop | None = None

    def check() -> None:
        """Raise Cancelled if `stop` is requested by Ctrl+C; long work of the engine calls this again and again."""
        if stop is not None and stop.asked:
            raise Cancelled

    with ExitStack() as stack:
        # Print which code is being compiled, and let the engine call `check`.
        stack.enter_context(preparation())
        stack.enter_context(heeding(check))
        try:
            # A state is the progress, or a result, which may still grow.
            for state in analysis_steps(entry, subject, values):
                if isinstance(state, AnalysisResult):
                    result = state
                    if stop is None:  # from now on a stop prints the result so far
                        stop = stack.enter_context(stopping())
                elif line.is_due():
                    line.show(f"{state.what}: {percentage(state.share)}")
        except Cancelled:
            if result is None:
                raise
        line.show("")
    assert result is not None  # the last state is a result
    return result, result.is_partial


def _stacked_tables(tables: Sequence[AnalysisTable]) -> Block:
    """Return the text of the tables one below the other.

    A table may have a text (``above``), which is printed in place of its title.
    """
    parts: list[str] = []
    for table in tables:
        text = table.as_text()
        if table.above is None:
            parts.append(document([text]))
        else:
            untitled = document([replace(text, title="")])
            parts.append("\n".join(filter(None, [table.above, untitled])))
    return Block("\n\n".join(parts))


def opened_subject(args: argparse.Namespace, needs: Needs) -> tuple[Any, ...]:
    """Return the subject of an analysis, as a tuple of its arguments.

    According to what the analysis ``needs``, the arguments are the
    result of a run and its data, a plan and its data, the data with all
    folds, or the training part of one fold. Test parts that are sealed
    are left out.
    """
    from rankstudio.engine.analysis.measurements.measurement import (
        sealed_data,
        sealed_run,
    )
    from rankstudio.engine.experiment.units.single_path import training_fold

    # A run of a study, with its data. What is sealed is left out of both.
    if needs is Needs.RUN:
        run = opened_run(args.study, args.number)
        if run.sealed:
            return sealed_run(run.result), sealed_data(run.dataset)
        return run.result, run.dataset
    refuse_both(args)

    # A plan with its data.
    if needs is Needs.PLAN:
        from rankstudio.engine.experiment.runner import open_data

        # Here the data are one path, but plan_from expects a list as of --data.
        args.data = None if args.sample else [args.data]
        plan = plan_from(args)
        return plan, open_data(plan)

    # Data only: all folds, or the training part of one. "--folds" is
    # the option for errors; the third value, the names of typed
    # options, is not needed here.
    plan, dataset, _ = fold_of_data(args, "--folds")
    return (dataset,) if needs is Needs.FOLDS else (training_fold(plan, dataset).train,)


def add_subject(parser: argparse.ArgumentParser, needs: Needs) -> None:
    """Add the options that name the subject of an analysis.

    The subject is a run of a study, a plan, or data alone, as the
    analysis ``needs``.
    """
    if needs is Needs.RUN:
        parser.add_argument("study", type=Path, metavar="STUDY", help="study file")
        add_run_number(parser, "--run")
    elif needs is Needs.PLAN:
        add_plan_options(parser)
    else:
        add_data_options(parser)


def add_plan_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that name data and a plan.

    The options are DATA, --plan, --folds, and the options of reading
    and of methods.
    """
    _add_data(parser)

    # `plan_from` reads these options.
    parser.add_argument("--plan", metavar="FILE", type=Path, help="plan")
    parser.add_argument("--folds", help="folds to run, such as 1,3; all by default")
    add_reading_options(parser)
    add_column_options(parser.add_argument_group("columns of tables"))
    add_method_options(parser)


def add_data_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that name data and a fold.

    The options are DATA, --folds, --protocol, --seed and the options of
    reading.
    """
    _add_data(parser)
    parser.add_argument(
        "--folds",
        metavar="FOLD",
        help="fold whose training part is used; the first by default",
    )
    parser.add_argument("--protocol", help='protocol, as in a plan; "given" by default')
    parser.add_argument("--seed", type=int, help="seed of the protocol; 0 by default")
    parser.add_argument("--missing", **MISSING)
    parser.add_argument("--normalize", **NORMALIZE)
    add_column_options(parser.add_argument_group("columns of tables"))

    # There is no option --plan here; functions that read the options expect one.
    parser.set_defaults(plan=None)


def _add_data(parser: argparse.ArgumentParser) -> None:
    """Add the positional argument DATA, and --sample, which replaces it."""
    parser.add_argument(
        "data",
        type=place_name,  # the typed text, as it is
        metavar="DATA",
        nargs="?",
        help="data file or folder of folds",
    )
    add_sample_option(parser)


def _add_option(group: Any, parameter: Parameter) -> None:
    """Add the option of a parameter.

    ``group`` gets the option of ``parameter``. The help of the option
    is the parameter's label, allowed values and default.
    """
    # "%" begins a placeholder in helps of argparse; doubled, it is itself.
    text = f"{parameter.label}: {parameter.expected}. {parameter.help}".replace(
        "%", "%%"
    )

    # `value_as_text` returns a value as text.
    default = parameter.value_as_text(parameter.default).replace("%", "%%")
    group.add_argument(
        parameter.option,
        dest=f"{_DEST_PREFIX}{parameter.name}",
        metavar=METAVARS[parameter.kind],
        help=f"{text} Default: {default}.",
    )
