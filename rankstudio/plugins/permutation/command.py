"""The command ``rankstudio permute``, which runs a permutation test of a selection."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankstudio.cli.command_parser import check_numbers, place_name
from rankstudio.cli.data_options import (
    add_column_options,
    add_sample_option,
    refuse_both,
)
from rankstudio.cli.interrupts import exit_status
from rankstudio.cli.memory_option import add_memory_option
from rankstudio.cli.output.text_tables import as_json, as_text
from rankstudio.cli.progress_bar import last_state
from rankstudio.cli.run_options import (
    add_costs,
    add_parameters,
    add_reading_options,
    fold_of_data,
)
from rankstudio.cli.terminal import Block, tell
from rankstudio.engine.data.dataset import FoldedDataset, id_and_name
from rankstudio.engine.experiment.plan.preference_source import preferences_of
from rankstudio.engine.methods.catalog import methods

if TYPE_CHECKING:
    from rankstudio.engine.experiment.units.single_path import SinglePath
    from rankstudio.plugins.permutation.label_permutation import PermutationTest

HELP = "run a permutation test of a selection"
DESCRIPTION = """\
Run a permutation test of a selection: repeat it N times with the labels permuted within each query, or among
all documents of one ranking (--no-queries). For each
number of features k, print the criterion, the interval that contains 95 % of the permuted criteria, and
p = (1 + number of permuted criteria at least as good) / (N + 1). With --preferences, the documents of a
query's preferences are permuted instead of labels.

  rankstudio permute --sample --features 10
  rankstudio permute train.txt --features 3 --lambda 16 --permutations 99 --json
  rankstudio permute --sample --folds 2 --method rankrls
  rankstudio permute train.txt --preferences preferences.csv

For a folder, the training part of the first fold is used, or that of the fold given by --folds. Ctrl+C stops
and prints the results of the permutations so far."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument(
        "data",
        type=place_name,
        metavar="DATA",
        nargs="?",
        help="data file or folder of folds",
    )
    add_sample_option(parser)  # --sample
    keys = [m.key for m in methods()]
    parser.add_argument(
        "--method",
        metavar="NAME",
        choices=keys,
        help=f"one of {', '.join(keys)}; greedy-rankrls by default",
    )
    parser.add_argument(
        "--permutations",
        type=int,
        default=999,
        metavar="N",
        help="number of permutations; 999 by default",
    )
    parser.add_argument(
        "--seed",
        type=int,
        help="seed of the permutations and of randomized methods; 0 by default",
    )
    parser.add_argument(
        "--folds",
        metavar="FOLD",
        help="number of the fold whose training part is used",
    )

    # How data are read (--protocol, --missing and others), costs of
    # features, and --memory.
    add_reading_options(parser)
    add_costs(parser)
    add_memory_option(parser)
    parser.add_argument(
        "--json",
        action="store_true",
        help="print JSON instead of a table",
    )

    # --qid, --label and others; and the parameters of all methods, which are
    # stored as "parameter_" and their name.
    add_column_options(parser.add_argument_group("columns of tables"))
    about = "see rankstudio methods; one value each"
    add_parameters(
        parser, "parameters of the method", methods(), "parameter_", about=about
    )

    # Functions that commands share read this option, which a test does not have.
    parser.set_defaults(plan=None)


def run(args: argparse.Namespace) -> int:
    """Run a permutation test of a method's path, and print it; return the exit status.

    ``args`` are the command's options. After Ctrl+C, the permutations
    so far are printed.
    """
    from rankstudio.engine.experiment.units.single_path import SinglePath
    from rankstudio.plugins.permutation.label_permutation import permutation_steps

    check_numbers(args, permutations=1, seed=0)
    refuse_both(args)  # the data and --sample

    # The path of the method on one fold: `explicit` are the options
    # that the user has set, which keep their values.
    plan, dataset, explicit = fold_of_data(args, "--folds")
    path = SinglePath.of(plan, dataset, explicit)
    steps = permutation_steps(path.method, path.data, args.permutations, plan.seed)

    # Shows the progress, by the number of permutations so far.
    test, stopped = last_state(
        steps, lambda state: state.permuted.shape[0], args.permutations
    )
    if args.json:
        tell(as_json(as_dict(path, test, dataset)))
    else:
        tell(*_heading_lines(path, test, dataset), "", _test_table(path, test, dataset))
    progress = f"{test.permuted.shape[0]:,} of {args.permutations:,}"
    return exit_status(stopped, f"Stopped after {progress} permutations.")


def as_dict(
    path: SinglePath, test: PermutationTest, dataset: FoldedDataset
) -> dict[str, Any]:
    """Return the test of a path as plain values for JSON, with a dict for each step."""
    from rankstudio.plugins.permutation.criterion_band import CriterionBand

    # Each step has its feature, its criterion and the band of permuted
    # criteria. Criteria that are sums over documents are divided by
    # their number.
    band = CriterionBand.of(test, path.divisor).as_dict()
    features = _feature_of_each_step(path, test, dataset)
    steps = [
        {"feature": f, **step} for f, step in zip(features, band["steps"], strict=True)
    ]
    return {
        "data": dataset.name,
        "fold": path.fold,
        "method": path.plan.method,
        "parameters": path.plan.entry.validate(path.plan.parameters),
        "criterion": path.plan.own_criterion,
        "permutations": test.permuted.shape[0],
        "seed": path.plan.seed,
        "preferences": preferences_of(path.plan).get("path"),
        "steps": steps,
    }


def _feature_of_each_step(
    path: SinglePath, test: PermutationTest, dataset: FoldedDataset
) -> list[int | None]:
    """Return the id of the feature of each step; None for each step if steps do not select features."""
    selected = path.selected()
    if len(selected) != test.observed.size:
        return [None] * test.observed.size
    return [int(dataset.feature_ids[column]) for column in selected]


def _heading_lines(
    path: SinglePath, test: PermutationTest, dataset: FoldedDataset
) -> tuple[str, str]:
    """Return two lines: the method and its data, and what was permuted how often."""
    N = test.permuted.shape[0]
    part = f", training part of fold {path.fold}" if len(dataset.folds) > 1 else ""
    n_queries = path.data.ptr.size - 1

    # What is permuted. Preferences from clicks have a rule for their pairs.
    file = preferences_of(path.plan).get("path")
    kind = "clicks" if "pairs" in preferences_of(path.plan) else "preferences"
    subject = f"documents of the {kind} in {Path(file).name}" if file else "labels"

    # If all documents are one ranking, labels are permuted among all of them.
    queries = "one ranking" if path.data.one_ranking else f"{n_queries} queries"
    among = "among all documents" if path.data.one_ranking else "within each query"
    return (
        f"{path.plan.entry.label} on {dataset.name}{part}: {queries}, {path.data.y.size} documents",
        f"{path.plan.own_criterion}; {subject} permuted {among}, {N:,} times",
    )


def _test_table(
    path: SinglePath, test: PermutationTest, dataset: FoldedDataset
) -> Block:
    """Return a table with the criterion of each step, its band with permuted labels, and p.

    A row is a step of ``path``, with the name of the feature that it
    adds. A step that adds no single feature has no name. The band is
    the range of most criteria of permuted labels.
    """
    from rankstudio.plugins.permutation.criterion_band import CriterionBand

    names = dict(zip(dataset.feature_ids.tolist(), dataset.feature_names, strict=True))

    # Criteria that are sums over documents are divided by their number.
    band = CriterionBand.of(test, path.divisor)
    rows = []
    for k, feature in enumerate(_feature_of_each_step(path, test, dataset)):
        name = "" if feature is None else id_and_name(feature, names[feature])
        criteria = (
            f"{criterion:#.6g}"
            for criterion in (band.observed[k], band.low[k], band.high[k])
        )
        rows.append([str(k + 1), name, *criteria, f"{band.p_values[k]:.4g}"])
    header = ["k", "feature", "criterion", "permuted 2.5 %", "97.5 %", "p"]
    return as_text(header, rows, left_columns=(1,))
