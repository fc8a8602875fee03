"""``rankstudio lab``: how far estimates are from the truth, by simulation."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankstudio.cli.data_options import add_column_options, columns_from
from rankstudio.cli.output.text_tables import as_json, as_text
from rankstudio.cli.step_counter import last_state
from rankstudio.engine.metrics.conventions import CONVENTIONS
from rankstudio.engine.querywise.kernel_functions.kernel import NAMES

if TYPE_CHECKING:
    from rankstudio.engine.analysis.simulation.deviations import Deviations

INTERRUPTED = 130

HELP = "simulate how far held-out estimates are from the truth"
DESCRIPTION = """\
Simulate how far held-out estimates are from what they estimate (Airola 2011, chapter 5). Each has a command.

  rankstudio lab auc --shift 0.5 --repetitions 1000
  rankstudio lab auc --examples 100 --positive 0.1 --repetitions 100 --json
  rankstudio lab selection MQ2008 --queries 10 --features 3 --repetitions 5
  rankstudio lab selection all.txt --queries 10 --features 3 --measure NDCG@10 --repetitions 5 --json
  rankstudio lab selection all.txt --queries 10 --kernel rbf --lambda 0.001 --measure AUC --repetitions 5

The bias is the mean of estimate minus truth, beside it its standard error; sd is the standard deviation of
that difference, for the very model (conditional) and for the mean of all models. Ctrl+C prints what the
repetitions so far say."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    commands = parser.add_subparsers(title="simulations", metavar="SIMULATION", required=True, dest="what")
    auc = commands.add_parser(
        "auc", help="AUC of regularised least squares on two normal classes, estimated in six ways"
    )
    _number(auc, "--examples", int, 30, "documents of a training set", "M")
    _number(auc, "--positive", float, 0.5, "share of positive ones", "SHARE")
    _number(auc, "--features", int, 10, "how many features", "N")
    _number(auc, "--informative", int, None, "how many of them are shifted; all by default", "N")
    _number(auc, "--shift", float, 0.0, "by how much, between the classes, in standard deviations", "X")
    _common(auc, repetitions=10_000)
    selection = commands.add_parser(
        "selection", help="greedy RankRLS on queries drawn from real data, with all others as the truth"
    )
    selection.add_argument("data", metavar="DATA", type=Path, help="a data file, or a folder of folds")
    _number(selection, "--queries", int, 20, "how many training queries to draw", "Q")
    _number(selection, "--features", int, 10, "how many features to select", "K")
    selection.add_argument(
        "--kernel",
        choices=NAMES,
        help="in place of a selection, RankRLS with a kernel on basis vectors, some documents of each query",
    )
    _number(selection, "--gamma", float, 2.0**-6, "γ of the kernel", "X")
    _number(selection, "--basis", int, 2, "basis vectors of each query", "B")
    selection.add_argument("--measure", default="MAP", help="what is estimated; MAP by default")
    selection.add_argument(
        "--convention", choices=list(CONVENTIONS), help="whose measures; what is usual for the data else"
    )
    _common(selection, repetitions=100)
    add_column_options(selection.add_argument_group("what the columns of tables are"))


def _number(
    parser: argparse.ArgumentParser, option: str, kind: Any, usual: Any, text: str, name: str
) -> None:
    said = text if usual is None else f"{text}; {usual:g} by default"
    parser.add_argument(option, type=kind, default=usual, metavar=name, help=said)


def _common(parser: argparse.ArgumentParser, repetitions: int) -> None:
    _number(parser, "--lambda", float, 1.0, "weight of the squared norm, λ", "X")
    _number(parser, "--repetitions", int, repetitions, "training sets", "R")
    _number(parser, "--seed", int, 0, "of the random numbers", "SEED")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def run(args: argparse.Namespace) -> int:
    """Carry the command out."""
    settings, steps = _simulation(args)
    state, stopped = last_state(steps, lambda state: state.truth.size, args.repetitions)
    if args.json:
        print(as_json({**settings, **as_dict(state)}))
    else:
        said = [f"{name.removeprefix('n_')} {_shown(value)}" for name, value in settings.items()]
        print(", ".join(word for word in said if not word.endswith(" None")))
        mean, sd, models = state.truth.mean(), state.truth.std(), state.truth.size
        print(f"truth of {models:,} models: mean {mean:.4f}, sd {sd:.4f}")
        print()
        print(_table(state))
    if stopped:
        print(f"Stopped after {state.truth.size:,} of {state.asked:,}.", file=sys.stderr)
        return INTERRUPTED
    return 0


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _simulation(args: argparse.Namespace) -> tuple[Mapping[str, Any], Any]:
    """Return what is simulated, by name, and its steps."""
    common = {"regularization": getattr(args, "lambda"), "repetitions": args.repetitions, "seed": args.seed}
    if args.what == "auc":
        from rankstudio.engine.analysis.simulation.auc_simulation import simulate_auc

        settings = {
            "n_examples": args.examples,
            "positive": args.positive,
            "n_features": args.features,
            "n_informative": args.informative,
            "shift": args.shift,
            **common,
        }
        return settings, simulate_auc(**settings)
    from rankstudio.engine.analysis.simulation.selection_simulation import simulate_selection
    from rankstudio.engine.data.folders import open_dataset

    dataset = open_dataset(args.data, columns=columns_from(args))
    settings = {
        "n_queries": args.queries,
        "n_features": args.features,
        "measure": args.measure,
        "convention": args.convention or dataset.convention,
        **common,
    }
    if args.kernel is None:
        return {"data": dataset.name, **settings}, simulate_selection(dataset, **settings)
    from rankstudio.engine.analysis.simulation.kernel_learner import BASIS_ESTIMATORS, BasisRankRLS

    del settings["n_features"]
    kernel = {"kernel": args.kernel, "gamma": args.gamma, "per_query": args.basis}
    learner = BasisRankRLS.of(**kernel, regularization=common["regularization"])
    steps = simulate_selection(dataset, **settings, learner=learner, estimators=BASIS_ESTIMATORS)
    return {"data": dataset.name, **kernel, **settings}, steps


def as_dict(state: Deviations) -> dict[str, Any]:
    """Return the deviations as plain values."""
    columns = {
        "bias": state.bias,
        "standard_error": state.standard_error,
        "conditional_sd": state.conditional_sd,
        "unconditional_sd": state.unconditional_sd,
        "repetitions": state.counts,
    }
    estimators = {
        name: {column: values[place].item() for column, values in columns.items()}
        for place, name in enumerate(state.estimators)
    }
    truth = {"mean": float(state.truth.mean()), "sd": float(state.truth.std())}
    return {"done": int(state.truth.size), "truth": truth, "estimators": estimators}


def _table(state: Deviations) -> str:
    columns = state.bias, state.standard_error, state.conditional_sd, state.unconditional_sd
    rows = [
        [name, *(f"{values[place]:.4f}" for values in columns)] for place, name in enumerate(state.estimators)
    ]
    return as_text(["estimator", "bias", "± s.e.", "sd, conditional", "sd, unconditional"], rows)
