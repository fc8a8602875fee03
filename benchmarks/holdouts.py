"""Hold-outs, conjugate gradients, permutations and the AUC simulation, beside what a user would run instead.

    python benchmarks/holdouts.py [--data MQ2008/Fold1/train.txt]

Without ``--data`` the permutations are of documents shaped like that file. What a peer would take too long
for is timed on a part, and the time of all of it is that of the part times their number; such rows say so.
RLScore comes from no registry: it has rows where it is installed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.sparse
from record import Record, parser
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold, cross_val_predict

from rankstudio.engine import GreedyRankRLS, RankRLS, load_letor
from rankstudio.engine.arithmetic.query_data import centre, group
from rankstudio.engine.methods.holdout import HeldOutPredictor, KernelDecomposition
from rankstudio.engine.statistics.auc import averaged_auc, pair_auc, pooled_auc
from rankstudio.engine.support.work import finish
from rankstudio.plugins.lab.simulation.auc_simulation import TwoClasses, simulate_auc
from rankstudio.plugins.permutation.label_permutation import permutation_test

ROUNDS = 5


def median(work: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Return the median seconds of some turns."""
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return float(np.median(times))


class Table:
    """Rows of one table, each beside the first."""

    def __init__(self, title: str, record: Record) -> None:
        print(f"\n{title}")
        self._title, self._record, self._first = title, record, 0.0

    def add(self, name: str, seconds: float, note: str = "") -> None:
        """Print a row."""
        self._first = self._first or seconds
        ratio = seconds / self._first
        print(f"  {name:<52} {seconds:10.3f} s {ratio:10.1f}x  {note}")
        self._record.add(self._title, name, seconds=seconds, ratio=ratio, note=note)


def leave_pair_out(record: Record) -> None:
    """All pairs of 2,000 documents with 100 features."""
    rng = np.random.default_rng(0)
    m, n = 2_000, 100
    X = rng.normal(size=(m, n))
    y = (X[:, 0] + rng.normal(size=m) > 0).astype(float)
    pairs = m * (m - 1) // 2
    table = Table(
        f"leave-pair-out, {m:,} documents, {n} features: {pairs:,} pairs", record
    )
    kernel = KernelDecomposition.of(X)
    predictor = HeldOutPredictor(kernel, y, 1.0)
    predictor.all_pairs()
    table.add("RankStudio, Q and all pairs", median(predictor.all_pairs))
    found = predictor.all_pairs()
    table.add("RankStudio, their AUC", median(lambda: pair_auc(found, y)))
    table.add(
        "RankStudio, the decomposition before that",
        median(lambda: KernelDecomposition.of(X)),
    )
    some = rng.choice(m, (10, 2), replace=False)

    def learn_anew() -> None:
        for i, j in some:
            kept = np.delete(np.arange(m), [i, j])
            Ridge(alpha=1.0).fit(X[kept], y[kept]).predict(X[[i, j]])

    table.add(
        "scikit-learn Ridge, learned anew",
        median(learn_anew, 3) / 10 * pairs,
        "from 10 pairs",
    )
    try:
        from rlscore.learner import GlobalRankRLS
    except ImportError:
        print("  RLScore: left out (not installed)")
        return
    first, second = np.triu_indices(m, 1)
    learner = GlobalRankRLS(X, y, regparam=1.0)
    table.add(
        "RLScore GlobalRankRLS.leave_pair_out",
        median(lambda: learner.leave_pair_out(first, second), 1),
    )


def shaped_like_mq2007() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return 42,158 documents of 1,017 queries with 46 features in [0, 1], labels 0 to 2."""
    rng = np.random.default_rng(0)
    hidden = rng.random((42_158, 12))
    X = np.clip(
        hidden @ rng.random((12, 46)) / 6 + 0.3 * rng.random((42_158, 46)), 0, 1
    )
    y = np.clip(
        np.round(
            1.5 * hidden[:, 0] + hidden[:, 1] + 0.5 * rng.normal(size=42_158) - 0.7
        ),
        0,
        2,
    )
    return X, y, np.sort(rng.integers(0, 1_017, 42_158))


def conjugate_gradients(record: Record) -> None:
    """RankRLS on sparse X: the shape of MQ2007, and one that no dense matrix has."""
    X, y, qid = shaped_like_mq2007()
    sparse = scipy.sparse.csr_array(X)
    direct = RankRLS().fit(X, y, qid=qid)
    fitted = RankRLS().fit(sparse, y, qid=qid)
    away = np.abs(fitted.coef_ - direct.coef_).max() / np.abs(direct.coef_).max()
    table = Table("RankRLS, 42,158 documents of 1,017 queries, 46 features", record)
    note = f"{fitted.n_iter_} iterations, {away:.0e} from the direct solution"
    table.add(
        "RankStudio, conjugate gradients, sparse X",
        median(lambda: RankRLS().fit(sparse, y, qid=qid)),
        note,
    )
    table.add(
        "RankStudio, conjugate gradients, dense X",
        median(lambda: RankRLS(solver="cg").fit(X, y, qid=qid)),
    )
    table.add(
        "RankStudio, direct, with leave-query-out",
        median(lambda: RankRLS().fit(X, y, qid=qid)),
    )
    data = group(X, y, qid)

    def ridge() -> None:
        centred, labels = (
            centre(data.X, data.ptr),
            centre(data.y[:, None], data.ptr)[:, 0],
        )
        Ridge(alpha=1.0, solver="sparse_cg", tol=1e-10, fit_intercept=False).fit(
            centred, labels
        )

    table.add("scikit-learn Ridge, sparse_cg, on centred X", median(ridge))
    try:
        from rlscore.learner import CGRankRLS
    except ImportError:
        print("  RLScore: left out (not installed)")
    else:
        csr = scipy.sparse.csr_matrix(X)
        table.add(
            "RLScore CGRankRLS",
            median(lambda: CGRankRLS(csr, y, regparam=1.0, qids=qid)),
        )
    rng, m = np.random.default_rng(1), 100_000
    columns = rng.integers(0, m, 20 * m)
    large = scipy.sparse.csr_array(
        (rng.random(20 * m), (np.repeat(np.arange(m), 20), columns)), shape=(m, m)
    )
    labels, queries = rng.integers(0, 3, m), np.arange(m) // 40
    table = Table(
        "RankRLS, 100,000 documents of 2,500 queries, 100,000 features, 20 entries a document",
        record,
    )
    fitted = RankRLS(tol=1e-8).fit(large, labels, qid=queries)
    seconds = median(lambda: RankRLS(tol=1e-8).fit(large, labels, qid=queries), 3)
    table.add(
        "RankStudio, conjugate gradients", seconds, f"{fitted.n_iter_} iterations"
    )


def permutations(data: Path | None, record: Record) -> None:
    """999 permuted greedy paths of 10 features."""
    if data is not None:
        part = load_letor(data)
        X, y, qid = part.X, part.y, np.asarray(part.qid)
    else:
        X, y, qid = (array[:9_630] for array in shaped_like_mq2007())
        qid = np.arange(9_630) // 20
    size = (
        f"{y.size:,} documents of {np.unique(qid).size} queries, {X.shape[1]} features"
    )
    table = Table(f"999 permuted greedy paths, k = 10, {size}", record)
    method = GreedyRankRLS(n_features_to_select=10)
    permutation_test(method, X, y, qid, n_permutations=2)
    table.add("RankStudio", median(lambda: permutation_test(method, X, y, qid), 1))
    rng = np.random.default_rng(0)

    def one_by_one() -> None:
        for _ in range(5):
            order = np.lexsort((rng.random(y.size), qid))
            method.fit(X, y[order], qid=qid)

    table.add(
        "RankStudio, fitted to each permutation",
        median(one_by_one, 3) / 5 * 999,
        "from 5 of them",
    )
    rankrls = RankRLS()
    permutation_test(rankrls, X, y, qid, n_permutations=2)
    table.add(
        "RankStudio, RankRLS with all features",
        median(lambda: permutation_test(rankrls, X, y, qid), 1),
    )
    ptr = group(X, y, qid).ptr
    centred, labels = centre(X, ptr), centre(y[:, None], ptr)[:, 0]

    def ridge() -> None:
        cross_val_predict(
            Ridge(alpha=1.0, fit_intercept=False),
            centred,
            labels,
            groups=qid,
            cv=GroupKFold(5),
        )

    table.add(
        "scikit-learn Ridge, GroupKFold(5), all features",
        median(ridge, 3) * 999,
        "from 1 of them",
    )


def simulation(record: Record) -> None:
    """10,000 repetitions of 30 documents, six estimators."""
    table = Table(
        "10,000 training sets of 30 documents, 10 features, six estimates of AUC",
        record,
    )
    finish(simulate_auc(repetitions=10))
    table.add("RankStudio", median(lambda: finish(simulate_auc()), 3))
    data, m = TwoClasses(), 30
    y, folds = data.labels, {5: data.folds(5), 10: data.folds(10), m: np.arange(m)}

    def learn_anew() -> None:
        X = data.draw(1, np.random.default_rng(0))[0]
        for count, fold in folds.items():
            scores = np.empty(m)
            for number in range(count):
                held = fold == number
                scores[held] = Ridge(alpha=1.0).fit(X[~held], y[~held]).predict(X[held])
            pooled_auc(scores, y), averaged_auc(scores, y, fold)
        for i in range(data.n_positive):
            for j in range(data.n_positive, m):
                kept = np.delete(np.arange(m), [i, j])
                Ridge(alpha=1.0).fit(X[kept], y[kept]).predict(X[[i, j]])

    table.add(
        "scikit-learn Ridge, learned anew",
        median(learn_anew, 3) * 10_000,
        "from 1 of them",
    )


def main() -> None:
    """Print the tables."""
    made = parser(__doc__ or "")
    made.add_argument(
        "--data", type=Path, help="a training part, such as MQ2008/Fold1/train.txt"
    )
    args = made.parse_args()
    record = Record(args.json)
    leave_pair_out(record)
    conjugate_gradients(record)
    permutations(args.data, record)
    simulation(record)
    record.save()


if __name__ == "__main__":
    main()
