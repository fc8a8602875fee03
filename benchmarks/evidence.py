"""The proved best set of features, beside plain enumeration and the numbers of a prototype in C.

    python benchmarks/evidence.py [--data MQ2008] [--most 7] [--folds 1 2 3 4 5]

- MQ2008, λ = 64: for each size and fold how many sets there are, for how many the leave-query-out error was
  computed, how long it took, and by how much the greedy set is worse.
- The same set by enumeration with scikit-learn, a Ridge for each set and query left out, on data as small as
  that takes; and in NumPy with one solve a set and query, all queries at once. Both give the same set.
- All sets that are not significantly different from the best one, for the sizes that section 10 of the
design names.
- Stability selection, deciding queries, p of each step, the repeated left-out curve and Shapley shares beside
  the times of section 10, which are those of prototypes in C or NumPy on one thread: seconds, and those of
  the processors, which other programs do not prolong as much.
- Greedy RankRLS by its searches, and permutation importance of its model.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import combinations
from math import comb
from pathlib import Path

import numpy as np
from record import Record, parser

from rankstudio.engine import (
    GreedyRankRLS,
    best_subset,
    deciding_queries,
    load_letor,
    near_best_sets,
    permutation_importance,
    repeated_left_out,
    shapley_shares,
    stability_selection,
    step_significance,
)
from rankstudio.engine.arithmetic.query_data import QueryData, group
from rankstudio.engine.arrays import Floats

FOLDER = Path(__file__).parents[1].parent / "shared" / "letor" / "MQ2008"
LAMBDA = 64.0
Columns = tuple[int, ...]


def table(folder: Path, folds: list[int], most: int, record: Record) -> None:
    """Print the certificate of each fold and size."""
    print(
        f"MQ2008, λ = {LAMBDA:g}\n fold  k        sets  evaluated   seconds  greedy worse, %  best set (ids)"
    )
    for fold in folds:
        data = load_letor(folder / f"Fold{fold}" / "train.txt")
        # compiles
        best_subset(data.X, data.y, qid=data.qid, n_features=4, regularization=LAMBDA)
        found = best_subset(
            data.X, data.y, qid=data.qid, n_features=most, regularization=LAMBDA
        )
        for one in found.sizes[1:]:
            ids = " ".join(str(column + 1) for column in one.features)
            print(
                f"{fold:5} {one.size:2} {one.n_sets:11,} {one.n_evaluated:10,} {one.seconds:9.3f} "
                f"{100 * one.greedy_gap:19.3f}  {ids}{'' if one.proved else '  (not proved)'}"
            )
            record.add(
                "best set",
                f"fold {fold}, k = {one.size}",
                sets=one.n_sets,
                evaluated=one.n_evaluated,
                seconds=one.seconds,
                greedy_gap_percent=100 * one.greedy_gap,
                features=ids,
            )


def by_ridge(data: QueryData, size: int) -> tuple[Columns, float]:
    """Learn scikit-learn's Ridge for every set and without every query."""
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import LeaveOneGroupOut

    X, y = data.centred
    qid = np.repeat(np.arange(data.ptr.size - 1), np.diff(data.ptr))
    parts = list(LeaveOneGroupOut().split(X, y, qid))
    model = Ridge(LAMBDA, fit_intercept=False)
    best, least = (), float("inf")
    for columns in combinations(np.flatnonzero(data.informative).tolist(), size):
        own = X[:, columns]
        error = sum(
            float(
                (
                    (y[held] - model.fit(own[rest], y[rest]).predict(own[held])) ** 2
                ).sum()
            )
            for rest, held in parts
        )
        best, least = min((best, least), (columns, error), key=lambda one: one[1])
    return best, least


def by_solving(data: QueryData, size: int) -> tuple[Columns, float]:
    """Solve for every set the systems of all left-out queries at once, from their Gram matrices."""
    known = data.statistics
    rest: Floats = known.total - known.gram
    best, least = (), float("inf")
    for columns in combinations(np.flatnonzero(data.informative).tolist(), size):
        at = np.array(columns)
        left = rest[:, at[:, None], at] + LAMBDA * np.eye(size)
        w = np.linalg.solve(left, rest[:, at, -1:])
        both = np.concatenate((w, -np.ones_like(w[:, :1])), axis=1)
        kept = np.append(at, known.n_features)
        error = float((both * (known.gram[:, kept[:, None], kept] @ both)).sum())
        best, least = min((best, least), (columns, error), key=lambda one: one[1])
    return best, least


def beside_enumeration(folder: Path, record: Record) -> None:
    """Print how long enumeration takes for the same set."""
    whole = load_letor(folder / "Fold1" / "train.txt")
    print("\nenumeration, Fold 1: seconds for the same set")
    for what, search, size, n_queries in (
        ("scikit-learn Ridge, 30 queries", by_ridge, 2, 30),
        ("NumPy, a solve a set", by_solving, 2, 471),
        ("NumPy, a solve a set", by_solving, 3, 471),
    ):
        rows = np.isin(whole.qid, np.unique(whole.qid)[:n_queries])
        X, y, qid = whole.X[rows], whole.y[rows], whole.qid[rows]
        began = time.perf_counter()
        columns, error = search(group(X, y, qid), size)
        theirs = time.perf_counter() - began
        began = time.perf_counter()
        ours = best_subset(X, y, qid=qid, n_features=size, regularization=LAMBDA)
        seconds = time.perf_counter() - began
        assert ours.features == columns
        assert abs(ours.criterion - error) <= 1e-9 * error
        print(
            f"  {what}, k = {size}: {theirs:.2f} s; ours with reading the data anew {seconds:.3f} s "
            f"({theirs / seconds:,.0f}x)"
        )
        record.add(
            "enumeration", f"{what}, k = {size}", seconds=theirs, ours_seconds=seconds
        )


def near(folder: Path, record: Record) -> None:
    """Print how many sets are not significantly different from the best one."""
    data = load_letor(folder / "Fold1" / "train.txt")
    began = time.perf_counter()
    found = near_best_sets(
        data.X, data.y, qid=data.qid, n_features=5, regularization=LAMBDA
    )
    seconds = time.perf_counter() - began
    print(
        f"\nsets not significantly different from the best one, Fold 1, k = 1 to 5: {seconds:.2f} s"
    )
    for one in found:
        often = np.argsort(-one.inclusion, kind="stable")[:6]
        shares = ", ".join(
            f"{column + 1}: {one.inclusion[column]:.2f}" for column in often
        )
        print(
            f"  k = {one.size}: {len(one.sets):,} of {comb(40, one.size):,}, window {one.window:.1%}"
            f"{'' if one.complete else ' (not complete)'}, evaluated {one.n_evaluated:,}; {shares}"
        )
        record.add(
            "near-best sets",
            f"k = {one.size}",
            sets=len(one.sets),
            window=one.window,
            evaluated=one.n_evaluated,
        )
    record.add("near-best sets", "k = 1 to 5", seconds=seconds)


def questions(folder: Path, record: Record) -> None:
    """Print how long what else there is to ask about a path takes, on all threads, the second time."""
    data = load_letor(folder / "Fold1" / "train.txt")
    seven, ten = (GreedyRankRLS(k, LAMBDA) for k in (7, 10))
    given = data.X, data.y
    test = load_letor(folder / "Fold1" / "test.txt")
    model = GreedyRankRLS(7, LAMBDA).fit(data.X, data.y, qid=data.qid)
    works: list[tuple[str, str, Callable[[], object]]] = [
        (
            "stability selection, 100 halves, k = 7",
            "0.1-0.2",
            lambda: stability_selection(seven, *given, qid=data.qid),
        ),
        (
            "stability selection, 100 halves, k = 10",
            "0.5",
            lambda: stability_selection(ten, *given, qid=data.qid),
        ),
        (
            "deciding queries, k = 7",
            "0.07",
            lambda: deciding_queries(seven, *given, qid=data.qid),
        ),
        (
            "p of each step, 99 x 10",
            "2.1",
            lambda: step_significance(ten, *given, qid=data.qid),
        ),
        (
            "repeated left-out curve, k = 7",
            "1",
            lambda: repeated_left_out(seven, *given, qid=data.qid),
        ),
        (
            "Shapley shares, k = 7",
            "0.01",
            lambda: shapley_shares(
                seven, *given, qid=data.qid, features=model.selection_order_
            ),
        ),
        (
            "near-best sets, k = 4",
            "0.4",
            lambda: near_best_sets(
                *given, qid=data.qid, n_features=4, regularization=LAMBDA
            ),
        ),
        *(
            (
                f"search {search}, k = 6",
                "",
                lambda search=search: GreedyRankRLS(6, LAMBDA, search=search).fit(
                    *given, qid=data.qid
                ),
            )
            for search in ("forward", "floating", "swap", "best")
        ),
        (
            "permutation importance, 46 features x 10, test part",
            "",
            lambda: permutation_importance(model, test.X, test.y, qid=test.qid),
        ),
    ]
    print("\nFold 1, λ = 64: seconds, those of the processors, and those of section 10")
    for what, theirs, work in works:
        work()
        began, busy = time.perf_counter(), time.process_time()
        work()
        seconds, busy = time.perf_counter() - began, time.process_time() - busy
        print(f"  {what:52} {seconds:8.3f} {busy:8.3f}  {theirs}")
        record.add("questions", what, seconds=seconds, processor_seconds=busy)


def main() -> int:
    """Measure."""
    arguments = parser(__doc__ or "")
    arguments.add_argument(
        "--data",
        type=Path,
        default=FOLDER,
        help="folder of MQ2008 (default %(default)s)",
    )
    arguments.add_argument(
        "--most", type=int, default=7, help="greatest size (default %(default)s)"
    )
    arguments.add_argument("--folds", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    args = arguments.parse_args()
    record = Record(args.json)
    table(args.data, args.folds, args.most, record)
    beside_enumeration(args.data, record)
    near(args.data, record)
    questions(args.data, record)
    record.save()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
