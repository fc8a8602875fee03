"""Arguments of ``rankstudio cascade``: a run of a study, and the costs of its features."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from rankstudio.cli.command_parser import check_numbers
from rankstudio.cli.memory_option import add_memory_option
from rankstudio.cli.run_options import add_costs, costs_from
from rankstudio.cli.study_file_option import add_run_number, opened_run
from rankstudio.engine.data.feature_costs import FeatureCosts
from rankstudio.engine.errors import ParameterError, PlanError


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command `rankstudio cascades`."""
    parser.add_argument("study", metavar="STUDY", type=Path, help="study file")
    add_run_number(parser, "--run")  # --run N, stored as `number`
    parser.add_argument(
        "--budget",
        type=float,
        metavar="MS",
        help="milliseconds per query; the best cascade within is marked",
    )
    parser.add_argument(
        "--measure",
        metavar="NAME",
        help="measure of the run; by default the one that selects, or the first",
    )
    parser.add_argument(
        "--depths",
        default="5,10,20,50,100",
        metavar="K,K",
        help="numbers of documents that are ranked again; default: 5,10,20,50,100",
    )
    add_costs(parser, "They replace the costs of the run")  # --costs
    add_memory_option(parser)  # --memory
    parser.add_argument(
        "--json",
        action="store_true",
        help="print JSON instead of a table",
    )


def read(args: argparse.Namespace) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of the analysis (run, data, costs, measure), and its other parameters."""
    from rankstudio.engine.analysis.measurements.measurement import (
        sealed_data,
        sealed_run,
    )
    from rankstudio.engine.metrics.names import measure

    # Numbers are checked before the study is opened.
    check_numbers(args, budget=0)
    depths = _parsed_depths(args.depths)
    if args.budget is not None and not args.budget > 0:
        raise ParameterError("--budget", args.budget, "milliseconds greater than 0")
    opened = opened_run(args.study, args.number)
    name = measure(args.measure).name if args.measure else ""

    # Costs of the options precede those of the plan and those of the data.
    plan = opened.plan
    costs = (
        costs_from(args, plan)
        or plan.extension(FeatureCosts)
        or opened.dataset.extension(FeatureCosts)
    )
    if costs is None:
        raise PlanError(
            f"--costs: run {opened.key.id} of {args.study} has no costs; expected a file of them."
        )

    # A sealed run is used without its test part.
    run = sealed_run(opened.result) if opened.sealed else opened.result
    data = sealed_data(opened.dataset) if opened.sealed else opened.dataset
    return (run, data, costs, name), {"budget": args.budget, "depths": depths}


def _parsed_depths(text: str) -> tuple[int, ...]:
    """Return the depths in a text such as "10,50"; ParameterError if it is invalid."""
    try:
        depths = tuple(dict.fromkeys(map(int, text.split(","))))
    except ValueError:
        depths = ()
    if not depths or min(depths) < 1:
        raise ParameterError("--depths", text, "whole numbers from 1 up, such as 10,50")
    return depths
