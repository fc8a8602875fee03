"""A whole experiment, from the files to the tables: one thread, all threads, processes, side by side.

    python benchmarks/experiment.py --data MQ2008

runs `rankstudio run` with greedy RankRLS for 31 values of λ on every fold, selects all features and measures
every model by all measures. Each run is a process of its own, so that loading Python and libraries counts;
they take turns, because on a shared machine the same run can take twice as long a minute later.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from record import Record, parser

GRID = "2^-15..2^15"
MEASURES = ",".join(
    [
        "MAP",
        "MeanNDCG",
        *(f"{name}@{k}" for name in ("P", "NDCG") for k in range(1, 11)),
    ]
)
WAYS = {
    "one thread": ["--workers", "1"],
    "all threads": [],
    "two processes": ["--workers", "2"],
}


def run(data: str, out: Path, options: list[str]) -> float:
    """Return the seconds that the command takes."""
    command = [
        sys.executable,
        "-m",
        "rankstudio",
        "run",
        "--data",
        data,
        "--lambda",
        GRID,
    ]
    command += ["--measures", MEASURES, "--out", str(out), *options]
    began = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - began


def main() -> None:
    """Run all ways in turn, and print the least and the median time of each."""
    arguments = parser(__doc__)
    arguments.add_argument(
        "--data", required=True, help="a folder of folds, such as MQ2008"
    )
    arguments.add_argument("--rounds", type=int, default=5)
    args = arguments.parse_args()
    record = Record(args.json)
    times: dict[str, list[float]] = {way: [] for way in WAYS}
    tables: set[bytes] = set()
    with tempfile.TemporaryDirectory() as folder:
        # kernels are compiled, and the files parsed
        run(args.data, Path(folder) / "first", [])
        for number in range(args.rounds):
            for way, options in WAYS.items():
                out = Path(folder) / f"{number} {way}"
                times[way].append(run(args.data, out, options))
                tables.add((out / "metrics.csv").read_bytes())
    alone = float(np.median(times["one thread"]))
    print(f"{'':15}{'least':>8}{'median':>8}   ratio")
    for way, taken in times.items():
        median = float(np.median(taken))
        print(f"{way:15}{min(taken):7.1f}s{median:7.1f}s{alone / median:8.2f}")
        record.add(
            "whole experiment",
            way,
            least_s=min(taken),
            median_s=median,
            ratio=alone / median,
        )
    print(
        "All tables have the same bytes." if len(tables) == 1 else "The tables DIFFER."
    )
    record.save()


if __name__ == "__main__":
    main()
