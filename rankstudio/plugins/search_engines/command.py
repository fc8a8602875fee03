"""``rankstudio cascade``: a cheap model for all documents, a larger one for the first of them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankstudio.cli.command_parser import check_numbers
from rankstudio.cli.memory_option import add_memory_option
from rankstudio.cli.output.text_tables import as_json, as_text
from rankstudio.cli.run_options import add_costs, costs_from
from rankstudio.cli.study_file_option import add_run_number, opened_run
from rankstudio.cli.terminal import tell
from rankstudio.engine.errors import ParameterError, PlanError
from rankstudio.engine.support.number_format import NOTHING, significant
from rankstudio.engine.support.work import finish

if TYPE_CHECKING:
    from rankstudio.engine.experiment.results.results import RunResult
    from rankstudio.plugins.search_engines.cascades import Cascade, CascadeFront

HELP = "find two-stage cascades of a run within a time budget"
DESCRIPTION = """\
Find two-stage cascades: a model with few features ranks all documents of a query, and a larger one ranks the
first K again. Models of the best path of a run are combined; the table lists the cascades that no other one
beats in milliseconds per query and validation measure. Costs are those of the run, or of --costs.

  rankstudio cascade results/study.rankstudio --run 1 --budget 2.5 --costs costs.csv
  rankstudio cascade results/study.rankstudio --run 3 --measure MAP --depths 10,50 --costs costs.csv"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("study", metavar="STUDY", type=Path, help="study file")
    add_run_number(parser, "--run")
    parser.add_argument(
        "--budget", type=float, metavar="MS", help="milliseconds per query; the best cascade within is marked"
    )
    parser.add_argument(
        "--measure", metavar="NAME", help="measure of the run; by default the one that selects, or the first"
    )
    parser.add_argument(
        "--depths",
        default="5,10,20,50,100",
        metavar="K,K",
        help="numbers of documents that are ranked again; default: 5,10,20,50,100",
    )
    add_costs(parser, "They replace the costs of the run")
    add_memory_option(parser)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def run(args: argparse.Namespace) -> int:
    """Carry the command out."""
    from rankstudio.engine.data.feature_costs import FeatureCosts
    from rankstudio.engine.experiment.plan.plan import CRITERION
    from rankstudio.engine.metrics.names import measure
    from rankstudio.plugins.search_engines.cascades import find_cascades

    check_numbers(args, budget=0)
    depths = _depths(args.depths)
    if args.budget is not None and not args.budget > 0:
        raise ParameterError("--budget", args.budget, "milliseconds greater than 0")
    opened = opened_run(args.study, args.number)
    result, plan, dataset = opened.result, opened.plan, opened.dataset
    chosen = plan.measures[0] if plan.chosen_by == CRITERION else plan.chosen_by
    name = measure(args.measure).name if args.measure else chosen
    costs = costs_from(args, plan) or plan.extension(FeatureCosts) or dataset.extension(FeatureCosts)
    if costs is None:
        raise PlanError(
            f"--costs: run {opened.key.id} of {args.study} has no costs; expected a file of them."
        )
    found = finish(find_cascades(result, dataset, costs, name, depths, sealed=opened.sealed))
    best = found.within(args.budget) if args.budget is not None else None
    if args.json:
        tell(as_json(_as_dict(found, best)))
    else:
        tell(*_lines(result, found, best))
    if args.budget is not None and best is None:
        least = significant(found.cascades[0].milliseconds)
        tell(
            f"Note: no cascade costs at most {args.budget:g} ms; the cheapest costs {least} ms.",
            file=sys.stderr,
        )
    return 0


def _depths(text: str) -> list[int]:
    try:
        return [int(item) for item in text.split(",")]
    except ValueError:
        raise ParameterError("--depths", text, "whole numbers from 1 up, such as 10,50") from None


def _as_dict(found: CascadeFront, best: Cascade | None) -> dict[str, Any]:
    """Return a front as plain values."""
    rows = [
        {
            "first_features": one.first,
            "second_features": one.second if one.depth is not None else None,
            "depth": one.depth,
            "milliseconds": one.milliseconds,
            "validation": one.validation,
            **({} if isnan(one.test) else {"test": one.test}),
            "chosen": one is best,
            "features": [{"first": list(first), "second": list(second)} for first, second in one.features],
        }
        for one in found.cascades
    ]
    return {"measure": found.measure, "tried": found.n_tried, "cascades": rows}


def _lines(result: RunResult, found: CascadeFront, best: Cascade | None) -> Iterator[str]:
    axes = zip(result.plan.axes, found.values, strict=True)
    path = ", ".join(f"{axis.label} {axis.format(value)}" for axis, value in axes)
    yield f"{result.plan.title} on {result.data_name}: cascades that no other of {found.n_tried:,} beats"
    yield f"Models of the path with {path}" if path else "Models of its path"
    yield ""
    rows, without = [], all(isnan(one.test) for one in found.cascades)  # sealed, or there is no test part
    for one in found.cascades:
        again = [str(one.second), str(one.depth)] if one.depth is not None else [NOTHING, NOTHING]
        values = [f"{value:.4f}" for value in (one.validation, *([] if without else [one.test]))]
        rows.append(
            [significant(one.milliseconds), str(one.first), *again, *values, "chosen" if one is best else ""]
        )
    name = found.measure
    parts = ["validation", *([] if without else ["test"])]
    header = ["ms per query", "features", "then", "first K", *(f"{part} {name}" for part in parts), ""]
    yield as_text(header, rows, left=(len(header) - 1,))
