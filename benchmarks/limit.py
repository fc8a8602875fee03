"""Times of the engine beside those of the least work that the machine can do, in one run.

    python benchmarks/limit.py [--busy 4] [--large] [--cold]

Each row of the table has our time, the time of the least work that any program has to do for the same answer
(products of matrices, one sort per query), the ratio of both, and the ratio that is our goal. Ours and the limit
take turns, and the least time of each counts. ``--busy`` starts loops that keep processors busy, as other programs
do. ``--large`` adds a million documents, which need 4 GB of memory, and the memory that a path needs beside them.
``--cold`` adds what runs with an empty cache of kernels, in new processes.

Rows of the window, of memory and of what shards send are those of ``window_gaps.py``, ``memory.py`` and
``scale.py``.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
from record import Record, parser

from rankstudio.engine import (
    GreedyRankRLS,
    KernelRankRLS,
    LambdaMART,
    load_sample,
)
from rankstudio.engine.arithmetic.query_data import QueryData, group
from rankstudio.engine.metrics.evaluator import Evaluator
from rankstudio.engine.support.threads import STEADY, at_most

LAMBDA = 1.0
TURNS = 5


@dataclass(frozen=True)
class Row:
    """A line of the table.

    Attributes
    ----------
    name : str
    ours, limit : callable
        Each does the work once.
    work : str
        What the limit is.
    goal : float
        The greatest ratio of ours and the limit that we want.
    """

    name: str
    ours: Callable[[], object]
    limit: Callable[[], object]
    work: str
    goal: float


def least_times(row: Row, turns: int = TURNS) -> tuple[float, float]:
    """Return the least seconds of ours and of the limit, after a first call of each that does not count."""
    times: list[list[float]] = [[], []]
    for turn in range(turns + 1):
        for work, seconds in zip((row.ours, row.limit), times, strict=True):
            began = time.perf_counter()
            work()
            if turn:
                seconds.append(time.perf_counter() - began)
    return min(times[0]), min(times[1])


def documents(m: int, n: int, Q: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return random features in [0, 1], grades 0 to 2 and the query of each document."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, m).astype(float)
    return rng.random((m, n)), y, np.sort(rng.integers(0, Q, m))


def path(problem: QueryData, k: int, threads: int) -> None:
    """Select k features; what other λ could share is computed anew."""
    fresh = QueryData(problem.X, problem.y, problem.ptr)
    with at_most(threads):
        for _ in GreedyRankRLS(n_features_to_select=k, regularization=LAMBDA).work(
            fresh
        ):
            pass


def products_by_query(problem: QueryData) -> None:
    """Compute X_q'X_q of each query."""
    with STEADY:
        for first, last in pairwise(problem.ptr):
            rows = problem.X[first:last]
            rows.T @ rows


def greedy_rows() -> Iterator[Row]:
    """Yield greedy selection of 10 features among 136, on one thread."""
    problem = group(*documents(200_000, 136, 2000))
    yield Row(
        "greedy, k = 10, 200,000 × 136, one thread",
        partial(path, problem, 10, 1),
        partial(products_by_query, problem),
        "X_q'X_q of each query",
        goal=2.5,
    )
    small_problem = group(*documents(20_000, 64, 400))
    yield Row(
        "greedy, k = 64 beside k = 32, 20,000 × 64, one thread",
        partial(path, small_problem, 64, 1),
        partial(path, small_problem, 32, 1),
        "half the features",
        goal=2.1,
    )


def large_rows() -> Iterator[Row]:
    """Yield greedy selection on a million documents."""
    problem = group(*documents(1_000_000, 136, 10_000))
    yield Row(
        "greedy, k = 10, 1,000,000 × 136, two threads",
        partial(path, problem, 10, 2),
        lambda: problem.X.T @ problem.X,
        "X'X",
        goal=5.4,
    )


def lambda_rows() -> Iterator[Row]:
    """Yield another λ on documents that one λ has prepared: in two shards, beside almost as many in one."""

    def another_path(m: int) -> Callable[[], None]:
        """Return the work for another λ on m documents."""
        problem = group(*documents(m, 46, 1000))

        def select(regularization: float = LAMBDA) -> None:
            method = GreedyRankRLS(
                n_features_to_select=10, regularization=regularization
            )
            for _ in method.work(problem):
                pass

        select(4.0)
        return select

    yield Row(
        "another λ, k = 10, 66,000 × 46, two shards",
        another_path(66_000),
        another_path(65_000),
        "65,000 × 46, one shard",
        goal=1.2,
    )


def measure_rows() -> Iterator[Row]:
    """Yield three measures of 200,000 documents."""
    _, y, qid = documents(200_000, 1, 2000)
    scores = np.random.default_rng(1).random(y.size)
    ptr = np.append(np.flatnonzero(np.diff(qid, prepend=-1)), y.size)
    evaluator = Evaluator(y, ptr, "letor4", ("MAP", "NDCG@10", "P@10"))

    def sort() -> None:
        for first, last in pairwise(ptr):
            np.argsort(-scores[first:last], kind="stable")

    yield Row(
        "MAP, NDCG@10, P@10 of 200,000 documents",
        lambda: evaluator.per_query(scores),
        sort,
        "one argsort per query",
        goal=2.0,
    )


def small_rows() -> Iterator[Row]:
    """Yield small fits, which suffer most from threads that wait for each other."""
    train = load_sample().folds[0].train
    qid = np.repeat(np.arange(train.query_ptr.size - 1), np.diff(train.query_ptr))

    def trees(threads: int) -> None:
        with at_most(threads):
            LambdaMART(n_rounds=20).fit(train.X, train.y, qid=qid)

    yield Row(
        "LambdaMART, 20 trees, the sample",
        partial(trees, os.cpu_count() or 1),
        partial(trees, 1),
        "the same on one thread",
        goal=1.2,
    )
    X, y, qid_of_few = documents(800, 20, 40)
    kernel = X @ X.T + np.eye(800)

    def decompose() -> None:
        with STEADY:
            np.linalg.eigh(kernel)

    yield Row(
        "RankRLS with a Gaussian kernel, 800 documents",
        lambda: KernelRankRLS(kernel="rbf").fit(X, y, qid=qid_of_few),
        decompose,
        "one eigh on one thread",
        goal=2.7,
    )


# Name: code, and the seconds of processor that are our goal.
COMMANDS = {
    "first run of the sample": (
        "from rankstudio.cli import main; main(['run', '--sample', '--folds', '1'])",
        6.0,
    ),
    "first best subset": (
        """
import numpy as np
from rankstudio.engine import best_subset
X, y = np.random.default_rng(0).random((400, 12)), np.arange(400.0) % 3
best_subset(X, y, qid=np.repeat(np.arange(20), 20), n_features=4, regularization=1.0)
""",
        4.0,
    ),
}

_GOAL_GIGABYTES = 0.5  # beside the documents, for a million of them
_PEAK = """
import re, sys
from pathlib import Path
sys.path.insert(0, {folder!r})
from limit import documents, group, path_by
def kilobytes(name):
    return int(re.search(name + r":\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
problem = group(*documents(1_000_000, 136, 10_000))
Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
before = kilobytes("VmRSS")
path_by({algorithm!r}, problem)
print((kilobytes("VmHWM") - before) / 2**20)
"""


def path_by(algorithm: str, problem: QueryData) -> None:
    """Select 10 features by an algorithm."""
    method = GreedyRankRLS(
        n_features_to_select=10, regularization=LAMBDA, algorithm=algorithm
    )
    for _ in method.work(problem):
        pass


def gigabytes_beside(algorithm: str) -> float:
    """Return the memory that a path needs beside a million documents, in a new process; on Linux only."""
    folder = str(Path(__file__).parent)
    code = _PEAK.format(folder=folder, algorithm=algorithm)
    run = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    return float(run.stdout)


def cold_seconds(code: str) -> tuple[float, float]:
    """Return the processor's seconds of a program with an empty cache of kernels, and with a full one."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {
            "NUMBA_CACHE_DIR": f"{folder}/kernels",
            "RANKSTUDIO_CACHE_DIR": f"{folder}/cache",
            "RANKSTUDIO_DATA_DIR": f"{folder}/data",
        }
        seconds = []
        for _ in range(2):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(
                [sys.executable, "-c", code],
                env=environment,
                cwd=folder,
                check=True,
                stdout=subprocess.DEVNULL,
            )
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            seconds.append(
                after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            )
    return seconds[0], seconds[1]


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Keep processors busy with a number of loops."""
    loops = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"])
        for _ in range(count)
    ]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def main() -> int:
    """Print the table, and record it."""
    arguments = parser(__doc__ or "")
    arguments.add_argument("--busy", type=int, default=0, help="loops beside the work")
    arguments.add_argument("--large", action="store_true", help="a million documents")
    arguments.add_argument("--cold", action="store_true", help="without kernels")
    args = arguments.parse_args()
    record = Record(args.json)
    groups = [greedy_rows, lambda_rows, measure_rows, small_rows]
    if args.large:
        groups.append(large_rows)
    table = f"limit, {args.busy} loops beside it"
    with busy(args.busy):
        for rows in groups:
            for row in rows():
                ours, limit = least_times(row)
                print(
                    f"{row.name:<55} {ours:8.3f} s {limit:8.3f} s {ours / limit:6.2f} × {row.work}"
                    f" (goal {row.goal:g} ×)",
                    flush=True,
                )
                record.add(
                    table,
                    row.name,
                    ours_s=ours,
                    limit_s=limit,
                    ratio=ours / limit,
                    goal_ratio=row.goal,
                )
        for algorithm in ("auto", "rows") if args.large else ():
            used = gigabytes_beside(algorithm)
            name = f"memory beside 1,000,000 × 136, algorithm {algorithm}"
            print(f"{name:<55} {used:8.2f} GB (goal {_GOAL_GIGABYTES:g} GB)")
            record.add(table, name, gigabytes=used, goal_gigabytes=_GOAL_GIGABYTES)
        for name, (code, goal) in COMMANDS.items() if args.cold else ():
            cold, warm = cold_seconds(code)
            print(
                f"{name:<55} {cold:8.2f} s {warm:8.2f} s {cold / warm:6.2f} × with kernels (processor; goal {goal:g} s)"
            )
            record.add(
                table, name, ours_s=cold, limit_s=warm, ratio=cold / warm, goal_s=goal
            )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"most memory of this process: {peak:,.0f} MiB")
    record.save()
    return 0


if __name__ == "__main__":
    sys.exit(main())
