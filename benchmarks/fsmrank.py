"""FSMRank's Algorithm 1 side by side with its subgradient baseline and with a generic solver.

    python benchmarks/fsmrank.py

The paper's Fig. 5: how long each takes to come within a share of the minimum, on data shaped like MQ2007's
and, where RANKSTUDIO_LETOR_DIR tells where they are, on MQ2008 and OHSUMED, two of the paper's four. The
generic solver is scipy's L-BFGS-B, which knows bounds, on the same objective and gradient, that is with our
sums over pairs; on the explicit pairs, as it would have to be without them, it is timed once.

The paper says of its subgradient baseline only that it converges as O(1/sqrt(T)). Ours takes the plainest
steps with that rate, the subgradient over sqrt(t).
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from greedy import DOCUMENTS, FEATURES, problem
from ranksvm import differences
from record import Record, parser
from scipy.optimize import minimize

from rankstudio.engine.arithmetic.optimisers.nesterov import (
    Descent,
    FSMObjective,
    accelerated,
    subgradient,
)
from rankstudio.engine.arithmetic.optimisers.pair_problem import LocalPairs
from rankstudio.engine.arithmetic.pair_losses import LinearPairs
from rankstudio.engine.arithmetic.pairs import Pairs
from rankstudio.engine.arithmetic.query_data import QueryData, group
from rankstudio.engine.data.formats.data_file import load_letor
from rankstudio.engine.methods.selection.fsmrank import (
    importance,
    nearest_positive_semidefinite,
    similarity,
)
from rankstudio.engine.support.threads import pool
from rankstudio.engine.support.work import finish

LAMBDA1, LAMBDA2 = 0.1, 1e-4
SHARES = (1e-1, 1e-2, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
MOST_SECONDS = 10.0
FOLDER = os.environ.get("RANKSTUDIO_LETOR_DIR")
REAL = {
    "MQ2008": "MQ2008/Fold1/train.txt",
    "OHSUMED": "OHSUMED/QueryLevelNorm/Fold1/train.txt",
}


def trace(descent: Iterator[Descent]) -> list[tuple[float, float]]:
    """Return (seconds, objective) after each iteration, until the time is up."""
    began, found = time.perf_counter(), []
    for now in descent:
        found.append((time.perf_counter() - began, now.objective))
        if found[-1][0] > MOST_SECONDS:
            break
    return found


def generic(objective: FSMObjective) -> list[tuple[float, float]]:
    """Return the trace of scipy's L-BFGS-B."""
    began, found = time.perf_counter(), []

    def value(w: np.ndarray) -> tuple[float, np.ndarray]:
        smooth, at = finish(objective.at(w, objective.scores(w)))
        total = smooth + float(objective.costs @ w)
        found.append((time.perf_counter() - began, total))
        return total, objective.gradient(w, at.slopes) + objective.costs

    bounds = [(0.0, None if allowed else 0.0) for allowed in objective.allowed]
    minimize(
        value, np.zeros(2 * objective.n), jac=True, method="L-BFGS-B", bounds=bounds
    )
    return found


def explicit(D: np.ndarray, objective: FSMObjective) -> float:
    """Return the seconds scipy's L-BFGS-B takes on the list of pairs."""

    def value(w: np.ndarray) -> tuple[float, np.ndarray]:
        n = w.size // 2
        both = w[:n] + w[n:]
        u = np.maximum(0.0, 1.0 - D @ (w[:n] - w[n:]))
        similar, inward = (
            LAMBDA1 * (objective.similarity @ both),
            -2.0 * (u @ D) / len(D),
        )
        total = (
            0.5 * float(both @ similar)
            + float(objective.costs @ w)
            + float(u @ u) / len(D)
        )
        return total, np.concatenate(
            (similar + inward, similar - inward)
        ) + objective.costs

    bounds = [(0.0, None if allowed else 0.0) for allowed in objective.allowed]
    began = time.perf_counter()
    minimize(
        value, np.zeros(2 * objective.n), jac=True, method="L-BFGS-B", bounds=bounds
    )
    return time.perf_counter() - began


def compare(data: QueryData, dataset: str, record: Record) -> FSMObjective:
    """Print and record the table of one dataset, and return its objective."""
    began = time.perf_counter()
    s, A = (
        importance(data, "pearson"),
        nearest_positive_semidefinite(similarity(data, "pearson")),
    )
    print(f"importance and similarity: {time.perf_counter() - began:.3f} s\n")
    with pool() as (executor, workers):
        linear = LocalPairs(
            LinearPairs(data.X, Pairs(data.y, data.ptr, executor, workers))
        )
        objective = FSMObjective(linear, A, s, LAMBDA1, LAMBDA2)
        next(accelerated(objective, 1e-4, 1))  # compiles
        traces = {
            "Algorithm 1": trace(accelerated(objective, 1e-12, 5000)),
            "projected subgradient": trace(subgradient(objective, 100_000)),
            "L-BFGS-B on our sums": generic(objective),
        }
    least = min(value for found in traces.values() for _, value in found)
    print(f"{'seconds to within':<24}" + "".join(f"{share:>10.0e}" for share in SHARES))
    for name, found in traces.items():
        times = [
            next((t for t, v in found if v <= least * (1 + share)), None)
            for share in SHARES
        ]
        print(
            f"{name:<24}"
            + "".join("         –" if t is None else f"{t:10.3f}" for t in times)
        )
        seconds = {
            f"seconds_to_{share:.0e}": t for share, t in zip(SHARES, times, strict=True)
        }
        record.add(dataset, name, **seconds)
    return objective


def main() -> None:
    """Print the tables."""
    record = Record(parser(__doc__).parse_args().json)
    print(f"λ1 = {LAMBDA1:g}, λ2 = {LAMBDA2:g}")
    for name, path in REAL.items() if FOLDER else ():
        real = load_letor(Path(FOLDER) / path)
        print(f"\n{name}, {real.X.shape[0]:,} documents x {real.X.shape[1]} features")
        compare(group(real.X, real.y, real.query_index), name, record)
    X, y, qid = problem()
    print(f"\n{DOCUMENTS:,} documents x {FEATURES} features")
    objective = compare(group(X, y, qid), "synthetic", record)
    D, sign = differences(X, y, qid)
    seconds = explicit(D * sign[:, None], objective)
    print(f"\nL-BFGS-B on {len(D):,} explicit pairs, to its own end: {seconds:.1f} s")
    record.add("synthetic", "L-BFGS-B on the pairs", seconds=seconds)
    record.save()


if __name__ == "__main__":
    main()
