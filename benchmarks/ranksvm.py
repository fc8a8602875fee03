"""RankSVM side by side with what a user would take instead, at equal objective.

    python benchmarks/ranksvm.py [--skip-slow]

Every solver is timed at the loosest tolerance with which its model's objective is within 1e-4 of the minimum;
the minimum is known to 1e-8 from a run with that duality gap. Peers that are not installed are left out with
a line.

- scikit-learn's LinearSVC (liblinear) on the explicit differences of all pairs, squared hinge; making the
  differences is not counted. Its coordinate descent in the dual and its Newton method in the primal.
- dlib's svm_rank_trainer (optimised cutting planes, C++), hinge. Its C weighs the *mean* over the pairs, so
  ours is C divided by their number. It knows two labels: a query with labels 0, 1, 2 is given to it as
  2 against 0 and 1, and 1 against 0, which are the same pairs.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable

import numpy as np
from greedy import DOCUMENTS, FEATURES, QUERIES, problem

from rankstudio.engine import RankSVM
from rankstudio.engine.pairs import Pairs
from rankstudio.engine.querywise import group

CS = (1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0)
TOLERANCES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
CLOSE = 1e-4
Objective = Callable[[np.ndarray], float]


def objective_of(X: np.ndarray, y: np.ndarray, qid: np.ndarray, C: float, loss: str) -> Objective:
    """Return the function from weights to ½ w'w + C times the loss."""
    data = group(X, y, qid)
    pairs = Pairs(data.y, data.ptr)

    def value(w: np.ndarray) -> float:
        at = pairs.at(data.centred[0] @ w)
        total = at.hinge()[0] if loss == "hinge" else at.squared_hinge()[0]
        return 0.5 * float(w @ w) + C * total

    return value


def fastest(fit: Callable[[float], np.ndarray], objective: Objective, least: float) -> tuple[float, float]:
    """Return time and relative distance of the loosest tolerance that is close enough to the minimum."""
    for tol in TOLERANCES:
        times = []
        for _ in range(3):
            began = time.perf_counter()
            w = fit(tol)
            times.append(time.perf_counter() - began)
            if sum(times) > 3.0:
                break
        away = objective(w) / least - 1.0
        if away <= CLOSE:
            return min(times), away
    return min(times), away


def row(name: str, timing: tuple[float, float], base: float) -> None:
    """Print one solver."""
    seconds, away = timing
    missed = "" if away <= CLOSE else "   NOT WITHIN 1e-4"
    print(f"       {name:<38} {seconds:8.3f} s  {seconds / base:7.1f}x ours   {away:.0e} above{missed}")


def differences(X: np.ndarray, y: np.ndarray, qid: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the differences of all pairs, every second one turned round, and their classes +1 and -1."""
    rows = []
    for query in np.unique(qid):
        inside = np.flatnonzero(qid == query)
        i, j = np.nonzero(np.subtract.outer(y[inside], y[inside]) > 0)
        rows.append(X[inside[i]] - X[inside[j]])
    D = np.vstack(rows)
    sign = np.where(np.arange(len(D)) % 2, 1.0, -1.0)
    return D * sign[:, None], sign


def linear_svc(D: np.ndarray, sign: np.ndarray, C: float, dual: bool) -> Callable[[float], np.ndarray]:
    """Return the function from a tolerance to liblinear's weights."""
    from sklearn.svm import LinearSVC

    def fit(tol: float) -> np.ndarray:
        method = LinearSVC(C=C, tol=tol, dual=dual, fit_intercept=False, max_iter=200, random_state=0)
        return method.fit(D, sign).coef_[0]

    return fit


def dlib_queries(X: np.ndarray, y: np.ndarray, qid: np.ndarray) -> object:
    """Return the pairs as dlib wants them; ImportError where it is not installed."""
    import dlib

    queries = dlib.ranking_pairs()
    for query in np.unique(qid):
        inside = np.flatnonzero(qid == query)
        for label in np.unique(y[inside])[1:]:
            pair = dlib.ranking_pair()
            for i in inside[y[inside] == label]:
                pair.relevant.append(dlib.vector(X[i]))
            for i in inside[y[inside] < label]:
                pair.nonrelevant.append(dlib.vector(X[i]))
            queries.append(pair)
    return queries


def dlib_trainer(queries: object, C: float) -> Callable[[float], np.ndarray]:
    """Return the function from a tolerance to dlib's weights."""
    import dlib

    def fit(tol: float) -> np.ndarray:
        trainer = dlib.svm_rank_trainer()
        trainer.c, trainer.epsilon = C, tol
        return np.array(list(trainer.train(queries).weights))

    return fit


def squared_hinges(X: np.ndarray, y: np.ndarray, qid: np.ndarray, skip_slow: bool) -> None:
    """Print the table of the squared hinge."""
    D, sign = differences(X, y, qid)
    print(f"\nsquared hinge, C weighs the sum over the {len(sign):,} pairs")
    for C in CS:
        least = RankSVM(C=C, tol=1e-8).fit(X, y, qid=qid).objective_
        objective = objective_of(X, y, qid, C, "squared_hinge")
        base = fastest(lambda tol, C=C: RankSVM(C=C, tol=tol).fit(X, y, qid=qid).coef_, objective, least)
        print(f"C = {C:g}")
        row("RankStudio", base, base[0])
        row(
            "LinearSVC on the pairs, primal",
            fastest(linear_svc(D, sign, C, False), objective, least),
            base[0],
        )
        if not skip_slow:
            timing = fastest(linear_svc(D, sign, C, True), objective, least)
            row("LinearSVC on the pairs, dual", timing, base[0])


def hinges(X: np.ndarray, y: np.ndarray, qid: np.ndarray) -> None:
    """Print the table of the hinge."""
    n_pairs = Pairs(group(X, y, qid).y, group(X, y, qid).ptr).n_pairs
    try:
        queries = dlib_queries(X, y, qid)
    except ImportError:
        queries = None
        print("\ndlib svm_rank_trainer: left out (not installed; pip install dlib-bin)")
    print("\nhinge, C weighs the mean over the pairs")
    for mean_C in CS:
        C = mean_C / n_pairs
        least = RankSVM(C=C, loss="hinge", tol=1e-8).fit(X, y, qid=qid).objective_
        objective = objective_of(X, y, qid, C, "hinge")
        print(f"C = {mean_C:g}")
        timings = {
            solver: fastest(
                lambda tol, C=C, s=solver: (
                    RankSVM(C=C, loss="hinge", solver=s, tol=tol).fit(X, y, qid=qid).coef_
                ),
                objective,
                least,
            )
            for solver in ("auto", "bundle")
        }
        base = timings["auto"][0]
        for solver, timing in timings.items():
            row("RankStudio" if solver == "auto" else "RankStudio, bundle alone", timing, base)
        if queries is not None:
            row("dlib svm_rank_trainer", fastest(dlib_trainer(queries, mean_C), objective, least), base)


def many_labels() -> None:
    """Print how long one query of 20,000 documents takes, all labels distinct: 200 million pairs."""
    rng = np.random.default_rng(0)
    m = 20_000
    X = rng.random((m, FEATURES))
    y = np.argsort(np.argsort(X @ rng.normal(size=FEATURES) + rng.normal(size=m))).astype(float)
    print(f"\none query of {m:,} documents, all labels distinct: {m * (m - 1) // 2:,} pairs")
    for loss in ("squared_hinge", "hinge"):
        for C in (1e-6, 1e-3, 1.0):
            began = time.perf_counter()
            fitted = RankSVM(C=C, loss=loss, tol=CLOSE).fit(X, y)
            seconds = time.perf_counter() - began
            gap = fitted.gap_ / fitted.objective_
            print(
                f"       RankStudio, {loss:<14} C = {C:<6g} {seconds:8.3f} s   gap {gap:.0e} of the objective"
            )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--skip-slow", action="store_true", help="leave out liblinear's dual")
    parser.add_argument("--hinge-only", action="store_true", help="leave out the squared hinge")
    args = parser.parse_args()
    warnings.filterwarnings("ignore", message=".*(failed to converge|increase the number of iterations).*")
    X, y, qid = problem()
    print(f"{DOCUMENTS:,} documents x {FEATURES} features, {QUERIES} queries")
    for loss in ("squared_hinge", "hinge"):
        RankSVM(loss=loss).fit(X[:50], y[:50], qid=qid[:50])  # compiles
    many_labels()
    hinges(X, y, qid)
    if not args.hinge_only:
        squared_hinges(X, y, qid, args.skip_slow)


if __name__ == "__main__":
    main()
