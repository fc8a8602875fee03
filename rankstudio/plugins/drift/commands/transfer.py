"""The command ``rankstudio transfer``: models of several datasets, measured on each other."""

from __future__ import annotations

import argparse
from pathlib import Path

from rankstudio.cli.command_parser import place_name
from rankstudio.cli.data_options import add_column_options, data_place
from rankstudio.cli.memory_option import add_memory_option
from rankstudio.cli.output.text_tables import as_json, document
from rankstudio.cli.progress_bar import LiveLine, preparation
from rankstudio.cli.run_options import (
    add_method_options,
    add_reading_options,
    plan_from,
)
from rankstudio.cli.terminal import tell
from rankstudio.engine.errors import PlanError
from rankstudio.engine.support.number_format import percentage

HELP = "train a method on each of several datasets, and measure its model on the others"
DESCRIPTION = """\
Train the same method on each of several datasets, and measure each final model on the other datasets. On each
dataset, the models of the others are ranked; the mean rank of a model says how well its data serve elsewhere.

  rankstudio transfer MQ2007 MQ2008
  rankstudio transfer spring.csv summer.csv --protocol 5-fold --method rankrls --measure NDCG@10
  rankstudio transfer MQ2007 MQ2008 --plan plan.toml --json

All datasets need the same features, by their names, or by their ids if they have none. A dataset without folds
needs --protocol, such as 5-fold."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument(
        "places",
        type=place_name,
        metavar="DATA",
        nargs="+",
        help="data files or folders of folds, two or more",
    )
    parser.add_argument("--plan", metavar="FILE", type=Path, help="plan")
    parser.add_argument(
        "--measure",
        help="measure of the table; by default the one that chooses the models",
    )
    add_reading_options(parser)  # --protocol, --missing and others

    # --qid, --label and others;
    # --method and its parameters.
    add_column_options(parser.add_argument_group("columns of tables"))
    add_method_options(parser)
    add_memory_option(parser)  # --memory
    parser.add_argument(
        "--json", action="store_true", help="print JSON instead of a table"
    )

    # Functions that commands share read these options, which this one does not have.
    parser.set_defaults(sample=False, folds=None)


def run(args: argparse.Namespace) -> int:
    """Train and measure the models, and print their measures and ranks; return the exit status."""
    from rankstudio.plugins.drift.transfer_matrix import (
        TransferMatrix,
        transfer_steps,
    )

    if len(args.places) < 2:
        raise PlanError("DATA: expected two datasets or more, got one.")
    places = [data_place(Path(text)) for text in args.places]

    # The plan has one place, which is replaced by each of the others.
    args.data = [args.places[0]]
    plan = plan_from(args)
    line = LiveLine(None)
    matrix: TransferMatrix | None = None
    with preparation():
        for state in transfer_steps(plan, places, args.measure or ""):
            if isinstance(state, TransferMatrix):
                matrix = state
            else:
                line.show(f"{state.what}: {percentage(state.share)}")
        line.show("")
    assert matrix is not None  # the last state is the matrix
    if args.json:
        values = {
            "datasets": matrix.names,
            "measure": matrix.measure,
            "values": matrix.values.tolist(),
            "ranks": matrix.ranks.tolist(),
            "mean_ranks": matrix.mean_ranks.tolist(),
        }
        tell(as_json(values))
    else:
        tell(document([matrix.as_text()]))
    return 0
