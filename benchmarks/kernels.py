"""Learning with kernels, and what leaving queries out takes.

    python benchmarks/kernels.py [--data MQ2008/Fold1/train.txt] [--widths 9] [--one-thread]

- All documents: 3,000 of them, a Gaussian kernel, 31 λ, each query's scores by the model without it; beside
  one eigendecomposition of that kernel by SciPy. It is to take at most 1.5 times as long.
- 500 basis vectors on the training part of a fold of MQ2008, 31 λ × 9 γ, every measure of the left-out
  scores; beside scikit-learn's Nystroem and Ridge with GroupKFold(5) on the same grid, whose folds are fewer
  than the queries. It is to take less than 60 s, and 4 times less than scikit-learn.
- The features of the Nyström map without the basis vectors of a query, for every eighth query in turn, beside
  mapping anew (Paper III of the thesis, Table 1: 7 times less at 598 basis vectors). It is to take 5 times
  less.

Ours and the other take turns; shown are the least and the median time. ``--one-thread`` holds BLAS to one
thread for both, which tells more where other programs keep the processors busy.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.linalg
from record import Record, parser

from rankstudio.engine import KernelRankRLS, load_letor
from rankstudio.engine.arithmetic.kernel_functions import Kernel
from rankstudio.engine.methods.kernels.nystrom import NystromFeatures, NystromMap
from rankstudio.engine.metrics.evaluator import Evaluator
from rankstudio.engine.support.threads import blas

LAMBDAS = 2.0 ** np.arange(-15, 16)
GAMMAS = 2.0 ** np.arange(-10, -1)
MEASURES = (
    *(f"{name}@{k}" for name in ("NDCG", "P") for k in range(1, 11)),
    *("MAP", "MeanNDCG"),
)
FOLD = (
    Path(__file__).parents[1].parent
    / "shared"
    / "letor"
    / "MQ2008"
    / "Fold1"
    / "train.txt"
)
Works = dict[str, Callable[[], object]]


def in_turns(works: Works, rounds: int) -> dict[str, list[float]]:
    """Return the times of each work, one after the other and again."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            began = time.perf_counter()
            work()
            times[name].append(time.perf_counter() - began)
    return times


def compare(table: str, works: Works, rounds: int, record: Record) -> None:
    """Time works in turns and print them; the first one is ours."""
    print(f"\n{table}")
    times = in_turns(works, rounds)
    ours = next(iter(times.values()))
    for name, seconds in times.items():
        ratio = float(np.median(seconds) / np.median(ours))
        print(
            f"  {name:<46} {min(seconds):8.3f} {np.median(seconds):8.3f} s  {ratio:6.2f}x ours"
        )
        record.add(
            table,
            name,
            least_s=min(seconds),
            median_s=float(np.median(seconds)),
            ratio=ratio,
        )


def all_documents(record: Record, rounds: int) -> None:
    """Time the exact model with all its λ against one decomposition."""
    rng = np.random.default_rng(0)
    m = 3000
    X, qid = rng.random((m, 46)), np.arange(m) // 20
    y = np.round(3 * X[:, 0] * X[:, 1])
    K = Kernel("rbf", 2.0**-4).matrix(X, X)

    def ours() -> object:
        return KernelRankRLS(gamma=2.0**-4).leave_query_out(
            X, y, qid=qid, regularization=LAMBDAS
        )

    works: Works = {"RankStudio, 31 λ with leave-query-out": ours}
    works["scipy.linalg.eigh(K) alone"] = lambda: scipy.linalg.eigh(K)
    compare(f"all of {m:,} documents, Gaussian kernel", works, rounds, record)


def basis_vectors(path: Path, widths: int, record: Record) -> None:
    """Time a grid of λ and γ with 500 basis vectors against scikit-learn's."""
    data = load_letor(path)
    measures = Evaluator(data.y, data.query_ptr, "letor4", MEASURES)

    def ours() -> None:
        for gamma in GAMMAS[:widths]:
            method = KernelRankRLS(gamma=gamma, n_basis=500)
            scores = method.leave_query_out(
                data.X, data.y, qid=data.qid, regularization=LAMBDAS
            )
            measures.evaluate_many(scores)

    def theirs() -> None:
        from sklearn.kernel_approximation import Nystroem
        from sklearn.linear_model import Ridge
        from sklearn.model_selection import GroupKFold

        for gamma in GAMMAS[:widths]:
            scores = np.empty((LAMBDAS.size, data.y.size))
            for train, test in GroupKFold(5).split(data.X, data.y, data.qid):
                mapping = Nystroem(gamma=gamma, n_components=500, random_state=0).fit(
                    data.X[train]
                )
                Z, new = (
                    mapping.transform(data.X[train]),
                    mapping.transform(data.X[test]),
                )
                for row, value in zip(scores, LAMBDAS, strict=True):
                    row[test] = Ridge(alpha=value).fit(Z, data.y[train]).predict(new)
            measures.evaluate_many(scores)

    works: Works = {
        "RankStudio, leave-query-out": ours,
        "scikit-learn, GroupKFold(5)": theirs,
    }
    table = f"500 basis vectors, {data.y.size:,} documents, 31 λ × {widths} γ, {len(MEASURES)} measures"
    compare(table, works, 1, record)


def removed(path: Path, record: Record, rounds: int) -> None:
    """Time the map without the basis vectors per query against mapping anew."""
    data = load_letor(path)
    whole = NystromMap(gamma=2.0**-4, n_basis=598, basis="per_query").map(
        data.X, qid=data.qid
    )
    kernel = Kernel("rbf", 2.0**-4).matrix(data.X[whole.basis], data.X)
    ptr = data.query_ptr
    queries = [
        q
        for q in range(0, ptr.size - 1, 8)
        if np.isin(np.arange(*ptr[q : q + 2]), whole.basis).any()
    ]

    def ours() -> None:
        for q in queries:
            whole.without(np.arange(ptr[q], ptr[q + 1]))

    def anew() -> None:
        for q in queries:
            left = (whole.basis < ptr[q]) | (whole.basis >= ptr[q + 1])
            NystromFeatures.of(kernel[left], whole.basis[left])

    works: Works = {
        "RankStudio, without(rows)": ours,
        "mapping anew, the kernel being there": anew,
    }
    compare(
        f"{whole.basis.size} basis vectors, without those of {len(queries)} queries",
        works,
        rounds,
        record,
    )


def main() -> None:
    """Print the tables."""
    arguments = parser(__doc__)
    arguments.add_argument(
        "--data", type=Path, default=FOLD, help="LETOR file (default %(default)s)"
    )
    arguments.add_argument(
        "--widths", type=int, default=len(GAMMAS), help="γ of the grid that are timed"
    )
    arguments.add_argument(
        "--rounds", type=int, default=3, help="times that each work is timed"
    )
    arguments.add_argument(
        "--one-thread", action="store_true", help="hold BLAS to one thread"
    )
    args = arguments.parse_args()
    record = Record(args.json)
    with blas().limit(limits=1 if args.one_thread else None):
        all_documents(record, args.rounds)
        if args.data.exists():
            removed(args.data, record, args.rounds)
            basis_vectors(args.data, args.widths, record)
        else:
            print(f"\n{args.data}: left out (not there)")
    record.save()


if __name__ == "__main__":
    main()
