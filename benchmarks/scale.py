"""The greedy path by shards of 2^16 documents: seconds, bytes on the wire and of the driver, as data grow.

    python benchmarks/scale.py [--shards 2,4,8,16] [--features 136] [--k 10] [--figures FOLDER]

Documents are made at random and mapped from files in a temporary folder; the path for one λ is learned on 1,
2 … processes of this machine, with every call to a worker and every answer counted as it is pickled. Beside
the bytes stands the formula: a step tells every shard the selected feature and its row of X^'X^, and hears
one criterion for each feature, 8 (2 n k) bytes a shard in all; before the first, each shard tells its share
of X^'X^, 8 (n + 1)² bytes. What is measured is extrapolated to 10^9 documents on 100 machines, whose driver
has a link of 1 Gbit/s.
"""

from __future__ import annotations

import os
import pickle
import tempfile
import time
import tracemalloc
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from record import Record, parser

from rankstudio.engine.experiment.execution.executors import on_processes
from rankstudio.engine.experiment.execution.shard_calls import PartFile, ShardCall
from rankstudio.engine.experiment.execution.shard_executors import (
    Elsewhere,
    ShardWorkers,
)
from rankstudio.engine.methods.selection.greedy_rankrls.estimator import GreedyRankRLS
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.steps import Step
from rankstudio.engine.support.shard import DOCUMENTS

QUERY = 120  # documents
LINK = 125e6  # bytes a second
MACHINES, CORES, FUTURE = 100, 2, 1e9


class CountedWorkers:
    """Workers whose calls and answers are counted as bytes.

    Parameters
    ----------
    workers : ShardWorkers
    """

    def __init__(self, workers: ShardWorkers) -> None:
        self._workers, self.lost, self.count = workers, workers.lost, workers.count
        self.asked = self.answered = self.calls = 0

    def room(self) -> float | None:
        """Return what the workers say."""
        return self._workers.room()

    def give(self, part: PartFile) -> None:
        """Pass a part on."""
        self._workers.give(part)

    def forget(self, session: str) -> None:
        """Pass the end of a session on."""
        self._workers.forget(session)

    def ask(self, call: ShardCall) -> Future:
        """Pass a call on, and count its bytes and those of its answer."""
        self.calls += 1
        self.asked += len(pickle.dumps(call))
        future = self._workers.ask(call)
        future.add_done_callback(self._hear)
        return future

    def stranded(self, pending_answer: Future) -> bool:
        """Return what the workers say."""
        return self._workers.stranded(pending_answer)

    def _hear(self, future: Future) -> None:
        if not future.cancelled() and future.exception() is None:
            self.answered += len(pickle.dumps(future.result()))


@dataclass(frozen=True)
class Row:
    """What one size of data took on some processes.

    Attributes
    ----------
    shards, processes : int
    seconds, again : float
        For the path of one λ, and for that of another one on the same data.
    wire, driver : int
        Bytes on the wire for the first of them, and of this process at most.
    """

    shards: int
    processes: int
    seconds: float
    again: float
    wire: int
    driver: int


def make_data(folder: Path, shards: int, n: int) -> TrainingData:
    """Write random documents to a file, a shard at a time, and return them mapped."""
    size = DOCUMENTS // QUERY * QUERY
    X = np.lib.format.open_memmap(
        folder / f"X{shards}.npy", "w+", np.float64, (shards * size, n)
    )
    y = np.empty(shards * size)
    weights = np.random.default_rng(7).standard_normal(n) * (np.arange(n) % 4 == 0)
    for shard in range(shards):
        rng, rows = (
            np.random.default_rng(shard),
            slice(shard * size, (shard + 1) * size),
        )
        X[rows] = rng.standard_normal((size, n))
        y[rows] = np.clip(
            np.round(X[rows] @ weights / 4 + rng.standard_normal(size)), 0, 4
        )
    X.flush()
    del X
    mapped = np.load(folder / f"X{shards}.npy", mmap_mode="r")
    return TrainingData(mapped, y, np.arange(0, shards * size + 1, QUERY))


def measure(data: TrainingData, processes: int, k: int) -> Row:
    """Learn two paths, and count the bytes of the first."""
    with on_processes(processes) as executor:
        counted = CountedWorkers(executor.shard_executor()._workers)
        spread = TrainingData(data.X, data.y, data.ptr, Elsewhere(counted))
        # the processes start, the data are written for them
        list(GreedyRankRLS(1, 3.0).work(spread))
        counted.asked = counted.answered = 0
        spread = replace(spread)  # of which nothing was computed before
        seconds = []
        tracemalloc.start()
        for regularization in (1.0, 2.0):
            began = time.perf_counter()
            steps = [
                told
                for told in GreedyRankRLS(k, regularization).work(spread)
                if isinstance(told, Step)
            ]
            seconds.append(time.perf_counter() - began)
            if regularization == 1.0:
                wire = counted.asked + counted.answered
        driver = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert len(steps) == k
    return Row(len(data.shards), processes, *seconds, wire, driver)


def report(rows: list[Row], n: int, k: int, record: Record) -> None:
    """Print what was measured, the law that it follows, and where it leads."""
    print(
        f"\ngreedy RankRLS, k = {k}, {n} features, shards of {DOCUMENTS:,} documents, one λ"
    )
    print(
        "  shards   documents  processes  seconds  another λ    wire MB  formula MB  driver MB"
    )
    for row in rows:
        documents, formula = (
            row.shards * (DOCUMENTS // QUERY * QUERY),
            row.shards * wire_formula(n, k),
        )
        print(
            f"  {row.shards:6,} {documents:11,} {row.processes:10} {row.seconds:8.2f} {row.again:10.2f} "
            f"{row.wire / 1e6:10.3f} {formula / 1e6:11.3f} {row.driver / 1e6:10.2f}"
        )
        name = f"{row.shards} shards, {row.processes} processes"
        record.add(
            "path", name, seconds=row.seconds, another=row.again, wire_bytes=float(row.wire),
            formula_bytes=float(formula), driver_bytes=float(row.driver),
        )  # fmt: skip
    most = max(row.processes for row in rows)
    chosen = [row for row in rows if row.processes == most]
    per_worker = np.array([row.shards / most for row in chosen])
    slope, start = np.polyfit(per_worker, [row.seconds for row in chosen], 1)
    wire, _ = np.polyfit([row.shards for row in rows], [row.wire for row in rows], 1)
    driver, base = np.polyfit(
        [row.shards for row in chosen], [row.driver for row in chosen], 1
    )
    shards = FUTURE / DOCUMENTS
    seconds = start + slope * shards / (MACHINES * CORES)
    print(
        f"\n  seconds = {start:.2f} + {slope:.3f} × shards a worker; {wire / 1e3:.0f} kB on the wire a shard"
    )
    print(
        f"  {FUTURE:.0e} documents on {MACHINES} machines of {CORES} cores: {shards:,.0f} shards, "
        f"{seconds:.0f} s of work, {shards * wire / 1e9:.2f} GB on the driver's wire "
        f"({shards * wire / LINK:.0f} s at 1 Gbit/s), {(base + driver * shards) / 1e6:.0f} MB in the driver"
    )
    record.add(
        "law", f"{most} processes", start_seconds=float(start), seconds_a_shard=float(slope),
        wire_bytes_a_shard=float(wire), formula_bytes_a_shard=float(wire_formula(n, k)),
        driver_bytes_a_shard=float(driver), extrapolated_seconds=float(seconds),
        extrapolated_wire_bytes=float(shards * wire), extrapolated_driver_bytes=float(base + driver * shards),
    )  # fmt: skip


def wire_formula(n: int, k: int) -> float:
    """Return how many bytes a shard sends and is sent: totals, then a row and the criteria for each step."""
    return 8.0 * ((n + 1) ** 2 + 2 * n * k)


def draw(rows: list[Row], n: int, k: int, folder: Path) -> None:
    """Write the figures of the documentation."""
    from rankstudio.engine.export.figures.files import figure_bytes
    from rankstudio.engine.export.figures.style import FigureStyle
    from rankstudio.engine.export.figures.values import CurvesFigure, FigureAxis, Series

    def series(label: str, number: int, points: list[tuple[float, float]]) -> Series:
        x, y = zip(*points, strict=True)
        return Series(label, x, y, number=number)

    axis = FigureAxis("shards of 65,536 documents", whole=True, logarithmic=True)
    times = [
        series(
            f"{count} process{'es' if count > 1 else ''}",
            place,
            [(r.shards, r.seconds) for r in rows if r.processes == count],
        )
        for place, count in enumerate(sorted({row.processes for row in rows}))
    ]
    alone = [row for row in rows if row.processes == 1]
    wires = [
        series("counted", 0, [(row.shards, row.wire / 1e6) for row in alone]),
        series(
            "8 ((n + 1)² + 2nk) bytes a shard",
            1,
            [(row.shards, row.shards * wire_formula(n, k) / 1e6) for row in alone],
        ),
        series(
            "memory of the driver", 2, [(row.shards, row.driver / 1e6) for row in alone]
        ),
    ]
    figures = (
        CurvesFigure(
            "scale-seconds", "Seconds of a greedy path by shards", "", axis,
            FigureAxis("time", "s", logarithmic=True), tuple(times),
        ),
        CurvesFigure(
            "scale-bytes", "Bytes of a greedy path by shards", "", axis,
            FigureAxis("bytes", "MB", logarithmic=True), tuple(wires),
        ),
    )  # fmt: skip
    for figure in figures:
        (folder / f"{figure.name}.png").write_bytes(
            figure_bytes(figure, FigureStyle(), "png", 200.0)
        )


def main() -> None:
    """Measure, print and record."""
    options = parser(__doc__)
    options.add_argument(
        "--shards",
        default="2,4,8,16",
        help="how many, separated by commas (default %(default)s)",
    )
    options.add_argument(
        "--processes",
        default="1,2",
        help="how many, separated by commas (default %(default)s)",
    )
    options.add_argument("--features", type=int, default=136, metavar="N")
    options.add_argument("--k", type=int, default=10)
    options.add_argument(
        "--figures",
        type=Path,
        metavar="FOLDER",
        help="write the figures of the documentation there",
    )
    args = options.parse_args()
    record, rows = Record(args.json), []
    with tempfile.TemporaryDirectory() as folder:
        os.environ["RANKSTUDIO_CACHE_DIR"] = f"{folder}/cache"
        for shards in map(int, args.shards.split(",")):
            data = make_data(Path(folder), shards, args.features)
            rows += [
                measure(data, count, args.k)
                for count in map(int, args.processes.split(","))
            ]
            del data
            for file in Path(folder).rglob("*.npy"):
                file.unlink()
    report(rows, args.features, args.k, record)
    record.save()
    if args.figures:
        draw(rows, args.features, args.k, args.figures)


if __name__ == "__main__":
    main()
