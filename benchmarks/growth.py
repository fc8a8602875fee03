"""How the time of an algorithm grows with documents, features and steps, as exponents with intervals.

    python benchmarks/growth.py [--quick]

For each claim one size grows in steps of a factor while the others stay; the exponent is the slope of log
seconds over log size, with the 95 % interval of least squares. Times are seconds of the processor on one
thread, the median of three, and the sizes take turns, so that a machine that is slow for a while is slow for
all of them. ``--quick`` takes small sizes, at which the time that does not grow still shows: exponents come
out too low.
"""

from __future__ import annotations

import os

if __name__ == "__main__":  # before NumPy and numba read them
    os.environ |= dict.fromkeys(
        ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
    )

import time
import warnings
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from record import Record, parser
from scipy.stats import t as student
from sklearn.exceptions import ConvergenceWarning

from rankstudio.engine import GreedyRankRLS, RankRLS, RankSVM
from rankstudio.engine.methods.holdout import HeldOutPredictor, KernelDecomposition

ROUNDS = 3
PER_QUERY = 20  # documents


class Growth(NamedTuple):
    """An exponent and the half length of its 95 % interval."""

    exponent: float
    half: float


def fitted_growth(sizes: Iterable[float], seconds: Iterable[float]) -> Growth:
    """Return the slope of log seconds over log sizes, of at least three sizes."""
    x, y = (
        np.log(np.array(list(sizes), dtype=float)),
        np.log(np.array(list(seconds), dtype=float)),
    )
    x, y = x - x.mean(), y - y.mean()
    slope = float(x @ y / (x @ x))
    free = x.size - 2
    error = np.sqrt(float(((y - slope * x) ** 2).sum()) / free / float(x @ x))
    return Growth(slope, float(student.ppf(0.975, free) * error))


def drawn(
    m: int, n: int, per_query: int = PER_QUERY
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return m documents with n features and labels 0 to 2 that some of them explain."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(m, n))
    hidden = X[:, : min(n, 8)].sum(axis=1) + 2.0 * rng.normal(size=m)
    return (
        X,
        np.digitize(hidden, np.quantile(hidden, (0.6, 0.9))).astype(float),
        np.arange(m) // per_query,
    )


def greedy(algorithm: str, m: int, n: int, k: int) -> Callable[[], object]:
    """Return a greedy selection of k features."""
    X, y, qid = drawn(m, n)
    return lambda: GreedyRankRLS(k, algorithm=algorithm).fit(X, y, qid=qid)


def ranksvm(m: int, loss: str) -> Callable[[], object]:
    """Return ten Newton steps of RankSVM on one ranking, where a list of pairs would be quadratic."""
    X, y, _ = drawn(m, 10)
    model = RankSVM(C=1.0 / m, loss=loss, max_iter=10)

    def fit() -> None:
        with warnings.catch_warnings():
            # as many steps at each size
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, y, qid=np.zeros(m))

    return fit


def rankrls(m: int, n: int) -> Callable[[], object]:
    """Return RankRLS with its leave-query-out error."""
    X, y, qid = drawn(m, n)
    return lambda: RankRLS().fit(X, y, qid=qid)


def all_pairs(m: int) -> Callable[[], object]:
    """Return the predictions of every pair left out, from a decomposition that is there."""
    X, y, _ = drawn(m, 50)
    predictor = HeldOutPredictor(KernelDecomposition.of(X), y, 1.0)
    return predictor.all_pairs


class Claim(NamedTuple):
    """What is said to grow how: the size that grows, its values, and the work at each."""

    name: str
    grows: str
    exponent: str
    sizes: tuple[int, ...]
    work: Callable[[int], Callable[[], object]]


def claims(quick: bool) -> tuple[Claim, ...]:
    """Return what is measured."""
    # Each size is large enough that what it multiplies outweighs what a fit costs whatever its size.
    doubled = np.array([1, 2, 4, 8])
    documents = tuple(doubled * (1_000 if quick else 10_000))
    features = tuple(doubled * (16 if quick else 64))
    steps = tuple(doubled * (2 if quick else 8))
    pairs = tuple(doubled * (125 if quick else 500))
    kept_m, kept_n, kept_k = (4_000, 32, 8) if quick else (10_000, 64, 16)
    rows = []
    for algorithm in ("algorithm1", "auto"):
        label = (
            "greedy RankRLS, Algorithm 1"
            if algorithm == "algorithm1"
            else "greedy RankRLS, auto"
        )
        rows += [
            Claim(
                label,
                "m",
                "1",
                documents,
                lambda m, a=algorithm: greedy(a, m, kept_n, kept_k),
            ),
            Claim(
                label,
                "n",
                "1",
                features,
                lambda n, a=algorithm: greedy(a, kept_m, n, kept_k),
            ),
            Claim(
                label,
                "k",
                "1",
                steps,
                lambda k, a=algorithm: greedy(a, kept_m, max(steps) + 8, k),
            ),
        ]
    return (
        *rows,
        Claim(
            "RankRLS with leave-query-out",
            "m",
            "1",
            documents,
            lambda m: rankrls(m, kept_n),
        ),
        Claim(
            "RankRLS with leave-query-out",
            "n",
            "2 to 3",
            features,
            lambda n: rankrls(kept_m, n),
        ),
        Claim(
            "RankSVM, squared hinge, one ranking",
            "m",
            "1, times log m",
            documents,
            squared,
        ),
        Claim("RankSVM, hinge, one ranking", "m", "1, times log m", documents, hinge),
        Claim("all pairs left out", "m", "2", pairs, all_pairs),
    )


def squared(m: int) -> Callable[[], object]:
    """Return RankSVM with the squared hinge."""
    return ranksvm(m, "squared_hinge")


def hinge(m: int) -> Callable[[], object]:
    """Return RankSVM with the hinge."""
    return ranksvm(m, "hinge")


def measured(claim: Claim) -> list[float]:
    """Return the median seconds of the processor at each size; sizes take turns."""
    works = [claim.work(size) for size in claim.sizes]
    works[0]()  # kernels are compiled
    times = np.empty((ROUNDS, len(works)))
    for turn in range(ROUNDS):
        for at, work in enumerate(works):
            began = time.process_time()
            work()
            times[turn, at] = time.process_time() - began
    found: list[float] = np.median(times, axis=0).tolist()
    return found


def main() -> None:
    """Measure every claim."""
    arguments = parser(__doc__)
    arguments.add_argument(
        "--quick", action="store_true", help="small sizes: some seconds"
    )
    args = arguments.parse_args()
    record = Record(args.json)
    print(f"{'':<38} {'grows':<6} {'expected':<15} {'exponent':>8}  95 % interval")
    for claim in claims(args.quick):
        seconds = measured(claim)
        found = fitted_growth(claim.sizes, seconds)
        low, high = found.exponent - found.half, found.exponent + found.half
        sizes = f"{claim.grows} = {claim.sizes[0]:,} … {claim.sizes[-1]:,}"
        times = f"{seconds[0]:.3g} … {seconds[-1]:.3g} s"
        print(
            f"{claim.name:<38} {claim.grows:<6} {claim.exponent:<15} {found.exponent:8.2f}  "
            f"{low:.2f} … {high:.2f}   {sizes}, {times}",
            flush=True,
        )
        values = {"exponent": found.exponent, "low": low, "high": high}
        record.add(claim.name, claim.grows, **values, expected=claim.exponent)
    record.save()


if __name__ == "__main__":
    main()
