"""Greedy selection by leave-query-out error, side by side with what a user would take instead.

    python benchmarks/greedy.py [--rlscore rlscore-0.8.1.tar.gz] [--skip-slow] [--algorithms]

First it compares every algorithm over a grid of shapes, for one λ and for eight that share what is computed
once, beside the one that ``auto`` takes; with ``--algorithms`` only that. These are times of the processor,
on one thread.

Peers that are not installed are left out with a line. RLScore's GreedyNFoldRLS is the authors' own code for
the same criterion; its package no longer builds, but that one module is plain Python: give its source archive
(``pip download --no-deps --no-binary :all: --no-build-isolation rlscore``). scikit-learn and mlxtend search
with ridge regression on the centred data and five folds of whole queries, which is less work than leaving
each query out.
"""

from __future__ import annotations

import re
import tarfile
import time
import types
from collections.abc import Callable
from pathlib import Path

import numpy as np
from record import Record, parser

from rankstudio.engine import GreedyRankRLS
from rankstudio.engine.arithmetic.query_data import QueryData, centre, group
from rankstudio.engine.methods.memory_need import DataShape
from rankstudio.engine.support.shard import DOCUMENTS as DOCUMENTS_OF_SHARD
from rankstudio.engine.support.threads import at_most

# the shape of MQ2007's training parts
DOCUMENTS, FEATURES, QUERIES, LAMBDA = 42_158, 46, 1_017, 1.0

ALGORITHMS = ("statistics", "rows", "columns", "algorithm1")
SHAPES = (  # documents, features, queries, k
    *((10_000, 46, 470, k) for k in (3, 10, 46)),
    *((40_000, 46, 1_000, k) for k in (3, 10, 46)),
    *((100_000, 136, 100, k) for k in (3, 10, 30, 136)),
    *((20_000, 136, 200, k) for k in (3, 10, 30)),
    *((20_000, 136, 2_000, k) for k in (3, 10, 30)),
    *((100_000, 136, 1_000, k) for k in (3, 10)),
    *((100_000, 136, 5_000, k) for k in (3, 10)),
    *((6_000, 400, 200, k) for k in (3, 10, 30)),
    *((2_000, 1_000, 100, k) for k in (3, 10, 90)),
    *((1_000, 3_000, 10, k) for k in (3, 10, 90)),
)
OTHERS = tuple(4.0**power for power in (-2, -1, 1, 2, 3, 4, 5))  # λ besides the first
SLOW = 6.0  # seconds for one λ, from which on an algorithm is left out


def problem() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return documents shaped like a training part of MQ2007: 46 features in [0, 1], labels 0 to 2."""
    rng = np.random.default_rng(0)
    hidden = rng.random((DOCUMENTS, 12))
    X = np.clip(
        hidden @ rng.random((12, FEATURES)) / 6
        + 0.3 * rng.random((DOCUMENTS, FEATURES)),
        0,
        1,
    )
    y = np.clip(
        np.round(
            1.5 * hidden[:, 0] + hidden[:, 1] + 0.5 * rng.normal(size=DOCUMENTS) - 0.7
        ),
        0,
        2,
    )
    return X, y, np.sort(rng.integers(0, QUERIES, DOCUMENTS))


def timed(work: Callable[[], object], runs: int = 5) -> tuple[float, object]:
    """Return the median time of some runs after a first one that is not counted, and the last result."""
    result = work()
    times = []
    for _ in range(runs):
        began = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - began)
    return float(np.median(times)), result


def once(work: Callable[[], object]) -> tuple[float, object]:
    """Return the time of one run, for what takes long, and its result."""
    began = time.perf_counter()
    result = work()
    return time.perf_counter() - began, result


def ours(
    X: np.ndarray, y: np.ndarray, qid: np.ndarray, k: int, algorithm: str
) -> list[int]:
    """Select k features; everything from the raw arrays on is counted."""
    method = GreedyRankRLS(
        n_features_to_select=k, regularization=LAMBDA, algorithm=algorithm
    )
    return method.fit(X, y, qid=qid).selection_order_.tolist()


def rlscore(
    archive: Path,
) -> Callable[[np.ndarray, np.ndarray, np.ndarray, int], list[int]]:
    """Load GreedyNFoldRLS from RLScore's source archive, with Python 2's has_key and np.mat put right."""
    with tarfile.open(archive) as tar:
        name = next(
            n for n in tar.getnames() if n.endswith("learner/greedy_nfold_rls.py")
        )
        member = tar.extractfile(name)
        assert member is not None
        source = member.read().decode()
    source = re.sub(r"([\w.]+)\.has_key\(([^)]*)\)", r"(\2 in \1)", source)
    source = source.replace("np.mat(", "np.asmatrix(").replace(
        "scipy.sparse.base.spmatrix", "sp.spmatrix"
    )
    source = re.sub(r"^(\s*)print (.*)$", r"\1pass", source, flags=re.MULTILINE)
    module = types.ModuleType("greedy_nfold_rls")
    exec(compile(source, name, "exec"), module.__dict__)

    def select(X: np.ndarray, y: np.ndarray, qid: np.ndarray, k: int) -> list[int]:
        data = group(X, y, qid)
        Xc, yc = data.centred
        learner = module.GreedyNFoldRLS()
        learner.resource_pool = {
            "X": np.asmatrix(Xc),
            "Y": np.asmatrix(yc[:, None]),
            "qids": [
                list(range(a, b)) for a, b in zip(data.ptr, data.ptr[1:], strict=False)
            ],
            "regparam": LAMBDA,
            "subsetsize": k,
        }
        learner.size = yc.size
        learner.callbackfun = None
        learner.loadResources()
        learner.train()
        return [int(i) for i in learner.selected]

    return select


def scikit_learn(X: np.ndarray, y: np.ndarray, qid: np.ndarray, k: int) -> list[int]:
    """Search forward with ridge regression, five folds of whole queries."""
    from sklearn.feature_selection import SequentialFeatureSelector
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import GroupKFold

    ptr = group(X, y, qid).ptr
    Xc, yc = centre(X, ptr), centre(y[:, None], ptr)[:, 0]
    folds = list(GroupKFold(5).split(Xc, yc, qid))
    ridge = Ridge(alpha=LAMBDA, fit_intercept=False)
    search = SequentialFeatureSelector(
        ridge, n_features_to_select=k, scoring="neg_mean_squared_error", cv=folds
    )
    return sorted(np.flatnonzero(search.fit(Xc, yc).get_support()).tolist())


def mlxtend(X: np.ndarray, y: np.ndarray, qid: np.ndarray, k: int) -> list[int]:
    """Search forward with ridge regression, five folds of whole queries."""
    from mlxtend.feature_selection import SequentialFeatureSelector
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import GroupKFold

    ptr = group(X, y, qid).ptr
    Xc, yc = centre(X, ptr), centre(y[:, None], ptr)[:, 0]
    ridge = Ridge(alpha=LAMBDA, fit_intercept=False)
    search = SequentialFeatureSelector(
        ridge,
        k_features=k,
        scoring="neg_mean_squared_error",
        cv=list(GroupKFold(5).split(Xc, yc, qid)),
    )
    return sorted(search.fit(Xc, yc).k_feature_idx_)


def seconds_of(
    data: QueryData, k: int, algorithm: str, regularization: float
) -> tuple[float, object]:
    """Return the processor's time for a path, and the path."""
    began = time.process_time()
    method = GreedyRankRLS(
        n_features_to_select=k, regularization=regularization, algorithm=algorithm
    )
    with at_most(1):
        *_, last = method.work(data)
    return time.process_time() - began, last.selected


def both_times(
    X: np.ndarray, y: np.ndarray, qid: np.ndarray, k: int, algorithm: str
) -> tuple[float, float, object]:
    """Return the least time for the first and for all eight λ, and the path of the first.

    What takes long is run once, and as soon as the other λ take long, those left are counted as those before.
    """
    firsts, alls = [], []
    while not firsts or (len(firsts) < 5 and sum(alls) < 1.5):
        data = group(X, y, qid)
        assert data.centred
        first, path = seconds_of(data, k, algorithm, LAMBDA)
        others: list[float] = []
        while len(others) < len(OTHERS) and sum(others) < 3.0:
            others.append(seconds_of(data, k, algorithm, OTHERS[len(others)])[0])
        firsts.append(first)
        alls.append(first + sum(others) * len(OTHERS) / len(others))
    return min(firsts), min(alls), path


def multiplications(m: int, n: int, Q: int, k: int) -> dict[str, float]:
    """Return how many multiplications and numbers written each algorithm takes for one λ, about."""
    path = Q * n * k**2
    return {
        "statistics": n**2 * (m / 2 + 2 * Q) + path,
        "rows": k * n * (m + 3 * Q) + path,
        "columns": m * n * (5 * k + k**2 / 2) + Q * n * k**3 / 5,
        "algorithm1": 40.0 * m * n * k,
    }


def algorithms(record: Record) -> None:
    """Print every algorithm's time over a grid of shapes, and how far ``auto``'s choice is from the best."""
    small = group(
        np.random.default_rng(0).random((300, 8)),
        np.arange(300.0) % 3,
        np.arange(300) // 15,
    )
    for name in ALGORITHMS:
        seconds_of(small, 3, name, LAMBDA)  # compiles
    print(
        f"{'documents x features, queries, k':<36}{'λ':>3}"
        + "".join(f"{name:>12}" for name in ALGORITHMS)
    )
    for m, n, Q, k in SHAPES:
        rng = np.random.default_rng(0)
        X, y = rng.random((m, n)), rng.integers(0, 3, m).astype(float)
        found = {}
        for name in ALGORITHMS:
            if multiplications(m, n, Q, k)[name] > SLOW * 2e9:
                continue
            found[name] = both_times(X, y, np.arange(m) * Q // m, k, name)
        same = len({path for *_, path in found.values()}) == 1
        for number in (1, 8):
            total = {name: times[number == 8] for name, (*times, _) in found.items()}
            auto = (
                GreedyRankRLS(k)
                .memory_need(DataShape(m, n, Q, min(m, DOCUMENTS_OF_SHARD)))
                .algorithm
            )
            if auto not in total:
                continue
            ratio = total[auto] / min(total.values())
            print(
                f"{m:>9,} x {n:<6,}{Q:>6,}  k = {k:<7}{number:>3}"
                + "".join(
                    f"{total[name]:11.3f}s" if name in total else f"{'—':>12}"
                    for name in ALGORITHMS
                )
                + f"   auto: {auto}, {ratio:.2f}x the best{'' if same else '   ANOTHER PATH'}",
                flush=True,
            )
            shape = f"{m} x {n}, {Q} queries, k = {k}, {number} λ"
            record.add("algorithms", shape, auto=auto, ratio=ratio, **total)
    print()


def main() -> None:
    """Print the table."""
    arguments = parser(__doc__)
    arguments.add_argument("--rlscore", type=Path, help="RLScore's source archive")
    arguments.add_argument(
        "--skip-slow", action="store_true", help="leave out what takes longer than 5 s"
    )
    arguments.add_argument(
        "--algorithms", action="store_true", help="compare our own algorithms only"
    )
    args = arguments.parse_args()
    record = Record(args.json)
    algorithms(record)
    if args.algorithms:
        record.save()
        return
    X, y, qid = problem()
    print(
        f"{DOCUMENTS:,} documents x {FEATURES} features, {QUERIES} queries, λ = {LAMBDA:g}\n"
    )
    for k in (10, FEATURES):
        base, path = timed(lambda k=k: ours(X, y, qid, k, "statistics"))
        print(
            f"k = {k:<3} RankStudio                         {base:8.3f} s   path {path[:10]}"
        )
        record.add(f"k = {k}", "RankStudio", seconds=base, ratio=1.0)

        def row(
            name: str,
            seconds: float,
            found: object,
            k: int = k,
            base: float = base,
            path=path,
        ) -> None:
            """Print one peer; the two that give no order search by another criterion."""
            same = "   identical path" if found == path else "   ANOTHER PATH"
            same = "" if name.endswith("Selector") else same
            print(
                f"       {name:<40} {seconds:8.3f} s   {seconds / base:6.0f}x ours{same}"
            )
            record.add(f"k = {k}", name, seconds=seconds, ratio=seconds / base)

        row(
            "Algorithm 1 of the paper, NumPy",
            *once(lambda k=k: ours(X, y, qid, k, "algorithm1")),
        )
        if k > 10 or args.skip_slow:
            continue
        if args.rlscore:
            authors = rlscore(args.rlscore)
            row("RLScore GreedyNFoldRLS", *once(lambda k=k, s=authors: s(X, y, qid, k)))
        else:
            print(
                "       RLScore GreedyNFoldRLS: left out (give --rlscore with its source archive)"
            )
        for name, search in (("scikit-learn", scikit_learn), ("mlxtend", mlxtend)):
            try:
                row(
                    f"{name} SequentialFeatureSelector",
                    *once(lambda k=k, s=search: s(X, y, qid, k)),
                )
            except ImportError:
                print(f"       {name}: left out (not installed)")
    record.save()


if __name__ == "__main__":
    main()
