"""``rankstudio lab``: how far estimates are from the truth, by simulation."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankstudio.cli.data_options import (
    add_column_options,
    add_sample_option,
    columns_from,
    refuse_both,
)
from rankstudio.cli.interrupts import exit_status
from rankstudio.cli.output.text_tables import as_json, as_text
from rankstudio.cli.progress_bar import last_state
from rankstudio.cli.run_options import METAVARS
from rankstudio.cli.terminal import Block, tell
from rankstudio.engine.data.dataset import FoldedDataset, RankingDataset
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.experiment.plan.plan import SAMPLE, Plan
from rankstudio.engine.methods.catalog import Parameter
from rankstudio.engine.metrics.conventions import CONVENTIONS
from rankstudio.engine.support.number_grid import format_number
from rankstudio.plugins.lab.simulation.parameters import (
    EACH,
    PARAMETERS,
    VARIED,
    option_of,
)

if TYPE_CHECKING:
    from rankstudio.plugins.lab.simulation.deviations import (
        DeviationSummary,
        VariedDeviations,
    )
    from rankstudio.plugins.lab.simulation.simulation import Simulation


HELP = "simulate bias and variance of held-out estimates"
DESCRIPTION = """\
Simulate bias and variance of held-out estimates (Airola 2011, chapter 5). Each simulation is a subcommand.

  rankstudio lab auc --shift 0.5 --repetitions 1000
  rankstudio lab auc --examples 100 --positive 0.1 --repetitions 100 --json
  rankstudio lab auc --learner svm --repetitions 100
  rankstudio lab auc --repetitions 1000 --vary examples --values 10,20,50,100
  rankstudio lab selection --sample --queries 10 --features 3 --repetitions 5
  rankstudio lab selection all.txt --queries 10 --features 3 --measure NDCG@10 --repetitions 5 --json
  rankstudio lab selection all.txt --queries 10 --kernel rbf --measure AUC --vary lambda --values 2^-10..2^4

The bias is the mean of estimate minus truth, with its standard error. sd is the standard deviation of this
difference, for the individual model (conditional) and for the mean of all models (unconditional). --vary
repeats the simulation for other values of one quantity. Ctrl+C stops and prints the results so far."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    commands = parser.add_subparsers(
        title="simulations",
        metavar="SIMULATION",
        required=True,
        dest="what",
    )
    auc = commands.add_parser(
        "auc",
        help="six AUC estimates of a linear model on two normal classes",
    )
    _add_parameters(auc, "auc")
    selection = commands.add_parser(
        "selection",
        help=(
            "greedy RankRLS on queries drawn from real data; the true value is measured on all other queries"
        ),
    )
    selection.add_argument(
        "data",
        metavar="DATA",
        nargs="?",
        type=Path,
        help="data file or folder of folds",
    )
    add_sample_option(selection)  # --sample
    _add_parameters(selection, "selection")
    selection.add_argument(
        "--convention",
        choices=list(CONVENTIONS),
        help="evaluation convention; by default that of the data",
    )
    selection.add_argument(
        "--no-test",
        action="store_true",
        help="exclude the queries of the test part (data with one fold)",
    )
    opened = selection.add_argument_group("opening the data, as in a plan")
    opened.add_argument(
        "--missing", help='missing values: "query_min" (default), "zero" or "refuse"'
    )
    opened.add_argument("--normalize", help='"none" (default) or "query_minmax"')
    opened.add_argument(
        "--protocol",
        help='protocol, which determines document order; "given" by default',
    )
    opened.add_argument(
        "--protocol-seed",
        type=int,
        metavar="K",
        help="seed of the protocol",
    )

    # --qid, --label and others
    add_column_options(selection.add_argument_group("columns of tables"))


def _add_parameters(parser: argparse.ArgumentParser, kind: str) -> None:
    """Add the options of a simulation, "auc" or "selection", from its parameters."""
    for p in PARAMETERS[kind]:
        parser.add_argument(
            p.option,
            dest=p.name,
            metavar=METAVARS[p.kind],
            help=_option_help(p),
        )
    varied = parser.add_argument_group("varying one quantity")

    # the parameter with the values of each quantity that can be varied, by its option
    quantities = {
        option_of(kind, quantity): values for quantity, values in VARIED[kind].items()
    }
    help_text = f"quantity to vary: {', '.join(quantities)}; none by default"
    varied.add_argument(
        "--vary",
        metavar="NAME",
        choices=list(quantities),
        help=help_text,
    )
    defaults = "; ".join(
        f"{p.format(p.default)} for {name}" for name, p in quantities.items()
    )
    varied.add_argument(
        "--values",
        metavar="GRID",
        help=f"values to use; by default {defaults}",
    )

    # the number of repetitions for each value
    varied.add_argument(
        EACH[kind].option,
        dest="each",
        metavar="R",
        help=_option_help(EACH[kind]),
    )
    parser.add_argument(
        "--json", action="store_true", help="print JSON instead of a table"
    )


def _option_help(p: Parameter) -> str:
    """Return the help on the option of a parameter, with its default and when it has an effect.

    A percent sign is doubled, as argparse needs it.
    """
    # A default of None is written as "": its label says what it means.
    default = p.written(p.default) or p.none_label

    # Some parameters have an effect only with certain values of another one.
    only = ""
    if p.only_with:
        name, values = p.only_with
        only = f" Only with {name} {', '.join(values)}."
    return f"{p.label}: {p.expected}; default: {default}. {p.help}{only}".replace(
        "%", "%%"
    )


def run(args: argparse.Namespace) -> int:
    """Run the simulation of the command's options and print its results; return the exit code.

    After Ctrl+C, the results so far are printed.
    """
    simulation, dataset, settings = _simulation(args)
    steps = simulation.steps(dataset)

    # The last state has all results: `summary` of the simulation, and
    # `varied` for each value of the varied quantity, or None. Progress
    # is shown meanwhile.
    state, stopped = last_state(
        steps, lambda state: state.done, simulation.n_repetitions
    )
    summary = state.summary
    varied = state.varied
    if args.json:
        tell(as_json({**settings, **state.as_dict()}))
    else:
        # one line with the settings; those without a value are left out
        words = [
            f"{name.removeprefix('n_')} {_value_text(value)}"
            for name, value in settings.items()
        ]
        tell(", ".join(word for word in words if not word.endswith(" None")))
        tell(
            f"truth of {summary.done:,} models: mean {summary.truth:.4f}, sd {summary.truth_sd:.4f}"
        )
        tell()
        tell(_summary_table(summary))
        if varied is not None:
            tell(_varied_tables(simulation, varied))
    return exit_status(
        stopped,
        f"Stopped after {state.done:,} of {simulation.n_repetitions:,} repetitions.",
    )


def _value_text(value: Any) -> str:
    """Return a value as a text, with numbers as short as possible."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def _simulation(
    args: argparse.Namespace,
) -> tuple[Simulation, FoldedDataset | RankingDataset | None, dict[str, Any]]:
    """Return the simulation of the options, its data (None without data), and its settings by name.

    Raises
    ------
    ParameterError
        For an invalid option, by its name on the command line.
    """
    from rankstudio.plugins.lab.simulation.simulation import Simulation

    kind = args.what
    values = {p.name: _single_value(p, getattr(args, p.name)) for p in PARAMETERS[kind]}
    _refuse_unused_options(kind, args, values)

    # the quantity that is varied, by its option; "" for none
    quantity = {option_of(kind, name): name for name in VARIED[kind]}.get(args.vary, "")
    varied_values: tuple[float, ...] = ()
    if quantity:
        values_parameter = VARIED[kind][quantity]
        varied_values = (
            values_parameter.default
            if args.values is None
            else values_parameter.validate(args.values)
        )

        # γ, for instance, has an effect only with some kernels.
        if not values_parameter.counts(values):
            raise ParameterError(
                "--vary", args.vary, f"a quantity used with --kernel {values['kernel']}"
            )
    elif args.values is not None:
        raise ParameterError(
            "--values", args.values, "--vary with the name of a quantity"
        )
    n_each = _single_value(EACH[kind], args.each) if quantity else 0
    dataset = None
    data = {}
    if kind == "selection":
        from rankstudio.engine.experiment.runner import open_data
        from rankstudio.plugins.lab.simulation.simulation import without_test

        opened = open_data(_data_plan(args))
        data = {"data": opened.name}
        values["convention"] = args.convention or opened.convention
        dataset = without_test(opened) if args.no_test else opened
    simulation = Simulation(
        kind,
        values,
        quantity=quantity,
        values=varied_values,
        each=n_each,
    )

    # The check names parameters; the user knows their options.
    try:
        simulation.check(dataset)
    except ParameterError as error:
        options = {"values": "--values", **{p.name: p.option for p in PARAMETERS[kind]}}
        raise ParameterError(
            options[error.name], error.value, error.expected, error.meant
        ) from None

    # The settings that have an effect, by name; no kernel is no setting.
    settings = {
        name: value
        for name, value in simulation.counting.items()
        if (name, value) != ("kernel", "none")
    }
    return simulation, dataset, {**data, **settings}


def _data_plan(args: argparse.Namespace) -> Plan:
    """Return a plan that determines which data are opened, and how; its method is not used."""
    refuse_both(args)  # raises an error for both --sample and a file
    options = {
        name: getattr(args, name) for name in ("missing", "normalize", "protocol")
    }
    options |= {"seed": args.protocol_seed, "columns": columns_from(args) or None}
    location = SAMPLE if args.sample else str(args.data)
    return Plan(
        location,
        **{name: value for name, value in options.items() if value is not None},
    )


def _refuse_unused_options(
    kind: str, args: argparse.Namespace, values: Mapping[str, Any]
) -> None:
    """Raise ParameterError for options that have no effect with the values of the others.

    Raises
    ------
    ParameterError
        For the first such option.
    """
    for p in PARAMETERS[kind]:
        argument = getattr(args, p.name)
        if argument is not None and p.only_with and not p.counts(values):
            name, needed = p.only_with
            raise ParameterError(
                p.option,
                argument,
                f"this option only with --{name} {' or '.join(needed)}",
            )


def _single_value(p: Parameter, text: str | None) -> Any:
    """Return the value of an option that takes a single value.

    Raises
    ------
    ParameterError
        If the text has no valid value, or several.
    """
    if text is None:
        return p.default
    try:
        value = p.validate(text)
    except ParameterError as error:
        raise ParameterError(p.option, text, error.expected, error.meant) from None

    # A parameter with a grid also accepts several values.
    if p.several(value):
        raise ParameterError(p.option, text, p.expected)
    return value


def _summary_table(summary: DeviationSummary) -> Block:
    """Return a table to print, with bias and standard deviations of each estimator.

    A conditional deviation is an estimate minus the performance of the
    same model. From an unconditional one, the mean performance of all
    models is subtracted instead.

    A dash stands for a standard deviation of fewer than two values.
    """
    columns = summary.standard_error, summary.sd, summary.unconditional_sd
    rows = [
        [
            name,
            f"{summary.bias[index]:.4f}",
            *(
                f"{values[index]:.4f}" if summary.counts[index] > 1 else "–"
                for values in columns
            ),
        ]
        for index, name in enumerate(summary.estimators)
    ]
    return as_text(
        ["estimator", "bias", "± s.e.", "sd, conditional", "sd, unconditional"], rows
    )


def _varied_tables(simulation: Simulation, varied: VariedDeviations) -> Block:
    """Return tables of the estimators' bias and standard deviation, with a column per value."""
    name = option_of(simulation.kind, varied.quantity)
    header = ["estimator", *(format_number(value) for value in varied.values)]
    parts = []

    # (values, estimators) each; a row of the table is an estimator
    for title, numbers in (("bias", varied.bias), ("sd, conditional", varied.sd)):
        rows = [
            [estimator, *(f"{value:.4f}" for value in column)]
            for estimator, column in zip(
                varied.summaries[0].estimators, numbers.T.tolist(), strict=True
            )
        ]
        parts.append(
            f"\n{title} against {name}, {simulation.each:,} training sets each\n{as_text(header, rows)}"
        )
    return Block("\n".join(parts))
