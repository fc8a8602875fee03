"""What the results of runs hold of memory, and the most that is taken while they are computed.

    python benchmarks/paths.py

carries out plans on made-up data of few documents, so that paths are what counts, and prints for each what
Python and numpy hold when it has ended (tracemalloc; the data and what was prepared of them are let go), how
much of that are arrays of the steps, and the most that was held meanwhile.
"""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
from record import Record, parser

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.data.synthetic import make_ranking
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.experiment.runner import run_plan

_LAMBDAS = tuple(2.0 ** np.arange(-5, 6))
_FINE = tuple(2.0 ** np.arange(-15, 16))
_LEFT_OUT = "leave-query-out MAP"
_WIDTHS = tuple(2.0 ** np.arange(-9, 0))


def made_up(n_features: int, n_queries: int) -> FoldedDataset:
    """Return five folds of documents with so many features."""
    return make_ranking(
        n_queries,
        n_informative=6,
        n_redundant=12,
        n_noise=n_features - 20,
        n_constant=2,
        documents=(10, 20),
    )


def plans(quick: bool) -> dict[str, tuple[Plan, Callable[[], FoldedDataset]]]:
    """Return what is run, by what it is called, and on which data."""
    kernels = {"regularization": _FINE, "gamma": _WIDTHS}
    greedy = {"regularization": _LAMBDAS, "n_features_to_select": None}
    return {
        "greedy, n = 136": (
            Plan("made up", "greedy-rankrls", greedy),
            lambda: made_up(136, 100),
        ),
        "greedy, n = 136, left out": (
            Plan(
                "made up",
                "greedy-rankrls",
                {**greedy, "regularization": _LAMBDAS[:2]},
                _LEFT_OUT,
                folds=(1,),
            ),
            lambda: made_up(136, 100),
        ),
        **(
            {}
            if quick
            else {
                "greedy, n = 700": (
                    Plan("made up", "greedy-rankrls", greedy, folds=(1,)),
                    lambda: made_up(700, 50),
                )
            }
        ),
        "RankRLS, 31 λ": (
            Plan("made up", "rankrls", {"regularization": _FINE}),
            lambda: made_up(136, 100),
        ),
        "kernel RankRLS, 9 x 31, left out": (
            Plan("made up", "kernel-rankrls", kernels, _LEFT_OUT, folds=(1, 2)),
            lambda: made_up(46, 100),
        ),
    }


def array_bytes(result: RunResult) -> int:
    """Return how many bytes the arrays take that are reached from a result, each counted once."""
    seen: dict[int, Any] = {}
    total = 0
    left: list[Any] = [fold.paths for fold in result.folds]
    while left:
        one = left.pop()
        if id(one) in seen:
            continue
        seen[id(one)] = one
        if isinstance(one, np.ndarray):
            if one.base is None:
                total += one.nbytes
            else:
                left.append(one.base)
        elif isinstance(one, (str, bytes, int, float, type)):
            total += len(one) if isinstance(one, bytes) else 0
        else:
            left.extend(
                o
                for o in gc.get_referents(one)
                if not isinstance(o, type) and not callable(o)
            )
    return total


def main() -> int:
    """Measure."""
    arguments = parser(__doc__ or "")
    arguments.add_argument("--quick", action="store_true", help="without 700 features")
    arguments.add_argument(
        "--only", default="", help="plans whose names have this in them"
    )
    args = arguments.parse_args()
    record = Record(args.json)
    for what, (plan, make) in plans(args.quick).items():
        if args.only not in what:
            continue
        data = make()
        # compiles, imports
        run_plan(plan.changed(folds=(1,), parameters=_few(plan)), data)
        gc.collect()
        tracemalloc.start()
        began = time.perf_counter()
        result = run_plan(plan, data)
        seconds = time.perf_counter() - began
        most = tracemalloc.get_traced_memory()[1]
        gc.collect()
        held, arrays = tracemalloc.get_traced_memory()[0], array_bytes(result)
        tracemalloc.stop()
        steps = sum(len(path.steps) for fold in result.folds for path in fold.paths)
        print(
            f"{what:<34} {steps:6,} steps  held {held / 1e6:8.1f} MB  arrays {arrays / 1e6:8.1f} MB  "
            f"at most {most / 1e6:8.1f} MB  {seconds:6.1f} s"
        )
        record.add(
            "paths",
            what,
            steps=steps,
            held_mb=held / 1e6,
            arrays_mb=arrays / 1e6,
            most_mb=most / 1e6,
        )
    record.save()
    return 0


def _few(plan: Plan) -> dict[str, Any]:
    """Return the parameters with the first value of each grid."""
    return {
        name: v[0] if isinstance(v, tuple) and v else v
        for name, v in plan.parameters.items()
    }


if __name__ == "__main__":
    raise SystemExit(main())
