"""Arguments of ``rankstudio judges``: data, and a plan that is carried out on them."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

from rankstudio.cli.command_parser import check_numbers, place_name
from rankstudio.cli.data_options import (
    add_column_options,
    add_sample_option,
    refuse_both,
)
from rankstudio.cli.memory_option import add_memory_option
from rankstudio.cli.run_options import (
    add_method_options,
    add_reading_options,
    plan_from,
)
from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.errors import ParameterError, PlanError


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument(
        "data",
        metavar="DATA",
        type=place_name,
        nargs="?",
        help="data file, or folder of folds; or --sample",
    )
    add_sample_option(parser)  # --sample
    parser.add_argument(
        "--plan",
        metavar="FILE",
        type=Path,
        help="plan that is run under each judge",
    )
    parser.add_argument(
        "--flips",
        metavar="PERCENT",
        help="percentages of flipped labels, such as 5,10,20; needs a method",
    )
    parser.add_argument(
        "--draws",
        type=int,
        default=20,
        metavar="N",
        help="runs for each percentage; 20 by default",
    )
    parser.add_argument(
        "--queries",
        type=int,
        default=5,
        metavar="N",
        help="queries to list, the least agreement first; 5",
    )
    parser.add_argument("--folds", help="folds to run, such as 1,3; all by default")
    add_reading_options(parser)  # --protocol, --missing and others
    add_memory_option(parser)  # --memory
    parser.add_argument(
        "--json",
        action="store_true",
        help="print JSON instead of tables",
    )

    # --qid, --label and others; --method and the parameters of each method.
    add_column_options(parser.add_argument_group("columns of tables"))
    add_method_options(parser)


def read(args: argparse.Namespace) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the subject of the analysis (plan, data, chosen fields), and its other parameters."""
    from rankstudio.engine.experiment.runner import open_data

    # The least allowed numbers; and not both data and --sample.
    check_numbers(args, queries=0, draws=1)
    refuse_both(args)
    args.data = None if args.sample else [args.data]  # as `plan_from` expects it
    plan = plan_from(args)
    shares = _flip_percentages(args)

    # Judges are needed for a comparison; flipped labels need a method instead.
    judges = DataColumns.of(plan.columns).judges
    has_plan = args.method is not None or args.plan is not None
    if not judges and not shares:
        raise PlanError(
            "--labels: expected at least two label columns, or --judgments twice, or --flips with a method."
        )
    if shares and not has_plan:
        raise PlanError(
            "--flips: expected --method or --plan, whose selection is repeated."
        )

    # Those of the fields that the user has chosen, by an option or a
    # plan. Defaults of the others depend on the data.
    fields = ("measures", "convention", "select_by")
    chosen = {name for name in fields if args.plan or getattr(args, name) is not None}
    values = {
        "agrees": bool(judges),
        "selects": bool(judges) and has_plan,
        "flips": bool(shares),
        "n_draws": args.draws,
        "n_queries": args.queries,
    }
    subject = (plan, open_data(plan), chosen)
    return subject, values | ({"shares": shares} if shares else {})


def _flip_percentages(args: argparse.Namespace) -> tuple[float, ...]:
    """Return the percentages of flipped labels; none without the option."""
    if args.draws < 1:
        raise ParameterError("--draws", args.draws, "a whole number from 1 up")
    if args.flips is None:
        return ()
    try:
        percentages = tuple(map(float, args.flips.split(",")))
    except ValueError:
        percentages = (math.nan,)  # is refused below
    if not all(0 < percentage <= 100 for percentage in percentages):
        raise ParameterError(
            "--flips", args.flips, "percentages above 0 and up to 100, such as 5,10,20"
        )
    return percentages
