"""What the λ slider asks for: the whole path of greedy RankRLS with every validation measure, at another λ.

    python benchmarks/slider.py --data MQ2008

Thirty frames a second leave 33 ms for one path; the peer is Algorithm 1 of the paper in NumPy, measured the
same way.
"""

from __future__ import annotations

import time

import numpy as np
from record import Record, parser

from rankstudio.engine import open_dataset
from rankstudio.engine.experiment.plan.combinations import Unit
from rankstudio.engine.experiment.plan.plan import SAMPLE, Plan
from rankstudio.engine.experiment.runner import open_data
from rankstudio.engine.experiment.units.fold_context import make_fold_context

FRAMES = 60


def paths(plan: Plan, data: str, fold: int, frames: int) -> np.ndarray:
    """Return the milliseconds of each path, λ sweeping from 2^-15 to 2^15; the first one is not counted."""
    dataset = open_data(plan) if data == SAMPLE else open_dataset(data)
    prepared = make_fold_context(plan, dataset.folds[fold - 1])
    times = []
    for exponent in np.linspace(-15, 15, frames + 1):
        at = plan.changed(
            parameters={**plan.parameters, "regularization": (2.0**exponent,)}
        )
        unit = Unit(fold, 0, at.combinations[0])
        began = time.perf_counter()
        prepared.path(unit)
        times.append(1e3 * (time.perf_counter() - began))
    return np.array(times[1:])


def main() -> None:
    """Print the table."""
    arguments = parser(__doc__)
    arguments.add_argument(
        "--data",
        default=SAMPLE,
        help="a folder of folds; the bundled sample when not given",
    )
    arguments.add_argument("--fold", type=int, default=1)
    args = arguments.parse_args()
    record = Record(args.json)
    ours = paths(Plan(args.data), args.data, args.fold, FRAMES)
    slow = paths(
        Plan(args.data, parameters={"algorithm": "algorithm1"}), args.data, args.fold, 5
    )
    print(
        f"whole path with validation measures, {args.data} fold {args.fold}, λ from 2^-15 to 2^15\n"
    )
    for name, times in (
        ("RankStudio", ours),
        ("Algorithm 1 of the paper, NumPy", slow),
    ):
        median, worst = np.median(times), np.percentile(times, 95)
        ratio = median / np.median(ours)
        rate = f"{1e3 / median:6.1f} a second {ratio:5.0f}x"
        print(f"{name:<34} median {median:7.1f} ms   95 % {worst:7.1f} ms   {rate}")
        record.add("whole path", name, median_ms=float(median), ratio=float(ratio))
    record.save()


if __name__ == "__main__":
    main()
