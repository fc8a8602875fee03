"""RankSVM side by side with what a user would take instead, at equal objective.

    python benchmarks/ranksvm.py [--skip-slow] [--hinge-only]

Every solver is timed at the loosest tolerance with which its model's objective is within 1e-4 of the minimum;
the minimum is known to 1e-8 from a run with that duality gap. The solvers take turns, so that a busy machine
slows all of them; shown are the least and the median time of each. Peers that are not installed are left out
with a line.

Ours is timed from the arrays on: checks, grouping by query and all preparation are counted. What the peers
need beforehand, the differences of all pairs or a list of dlib's vectors, is not counted for them; it takes
longer than training. All use one thread: ours takes several only for more data than these.

- scikit-learn's LinearSVC (liblinear) on the explicit differences of all pairs, squared hinge. Its
  coordinate descent in the dual and its Newton method in the primal.
- dlib's svm_rank_trainer (optimised cutting planes, C++), hinge. Its C weighs the *mean* over the pairs, so
  ours is C divided by their number. It knows two labels: a query with labels 0, 1, 2 is given to it as
  2 against 0 and 1, and 1 against 0, which are the same pairs.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable

import numpy as np
from greedy import DOCUMENTS, FEATURES, QUERIES, problem
from record import Record, parser

from rankstudio.engine import RankSVM
from rankstudio.engine.arithmetic.pairs import Pairs
from rankstudio.engine.arithmetic.query_data import group

CS = (1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0)
TOLERANCES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
CLOSE = 1e-4
# times that each solver is timed, unless it takes longer than this
ROUNDS, MOST_SECONDS = 9, 3.0
Objective = Callable[[np.ndarray], float]
Fit = Callable[[float], np.ndarray]


def objective_of(
    X: np.ndarray, y: np.ndarray, qid: np.ndarray, C: float, loss: str
) -> Objective:
    """Return the function from weights to ½ w'w + C times the loss."""
    data = group(X, y, qid)
    pairs = Pairs(data.y, data.ptr)

    def value(w: np.ndarray) -> float:
        at = pairs.at(data.centred[0] @ w)
        total = at.hinge()[0] if loss == "hinge" else at.squared_hinge()[0]
        return 0.5 * float(w @ w) + C * total

    return value


def loosest(fit: Fit, objective: Objective, least: float) -> tuple[float, float]:
    """Return the loosest tolerance that is close enough to the minimum, and the relative distance to it."""
    for tol in TOLERANCES:
        away = objective(fit(tol)) / least - 1.0
        if away <= CLOSE:
            break
    return tol, away


def in_turns(works: dict[str, Callable[[], object]]) -> dict[str, list[float]]:
    """Return the times of each work, one after the other and again."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(ROUNDS):
        for name, work in works.items():
            if sum(times[name]) < MOST_SECONDS:
                began = time.perf_counter()
                work()
                times[name].append(time.perf_counter() - began)
    return times


def compare(
    fits: dict[str, Fit], objective: Objective, least: float, table: str, record: Record
) -> None:
    """Time the solvers in turns, each at its own tolerance, and print them; the first one is ours."""
    found = {name: loosest(fit, objective, least) for name, fit in fits.items()}
    times = in_turns(
        {name: lambda name=name: fits[name](found[name][0]) for name in fits}
    )
    ours = next(iter(times.values()))
    for name, seconds in times.items():
        away = found[name][1]
        print(
            f"       {name:<32} {1e3 * min(seconds):9.1f} {1e3 * float(np.median(seconds)):9.1f} ms"
            f"  {min(seconds) / min(ours):8.1f}x {np.median(seconds) / np.median(ours):8.1f}x ours"
            f"   {away:.0e} above{'' if away <= CLOSE else '   NOT WITHIN 1e-4'}"
        )
        middle = float(np.median(seconds))
        record.add(
            table,
            name,
            median_ms=1e3 * middle,
            ratio=middle / float(np.median(ours)),
            above=away,
        )


def ours(
    X: np.ndarray, y: np.ndarray, qid: np.ndarray, C: float, **parameters: str
) -> Fit:
    """Return the function from a tolerance to our weights."""
    return lambda tol: RankSVM(C=C, tol=tol, **parameters).fit(X, y, qid=qid).coef_


def differences(
    X: np.ndarray, y: np.ndarray, qid: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the differences of all pairs, every second one turned round, and their classes +1 and -1."""
    rows = []
    for query in np.unique(qid):
        inside = np.flatnonzero(qid == query)
        i, j = np.nonzero(np.subtract.outer(y[inside], y[inside]) > 0)
        rows.append(X[inside[i]] - X[inside[j]])
    D = np.vstack(rows)
    sign = np.where(np.arange(len(D)) % 2, 1.0, -1.0)
    return D * sign[:, None], sign


def linear_svc(D: np.ndarray, sign: np.ndarray, C: float, dual: bool) -> Fit:
    """Return the function from a tolerance to liblinear's weights."""
    from sklearn.svm import LinearSVC

    def fit(tol: float) -> np.ndarray:
        method = LinearSVC(
            C=C, tol=tol, dual=dual, fit_intercept=False, max_iter=200, random_state=0
        )
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


def dlib_trainer(queries: object, C: float) -> Fit:
    """Return the function from a tolerance to dlib's weights."""
    import dlib

    def fit(tol: float) -> np.ndarray:
        trainer = dlib.svm_rank_trainer()
        trainer.c, trainer.epsilon = C, tol
        return np.array(list(trainer.train(queries).weights))

    return fit


def squared_hinges(
    X: np.ndarray, y: np.ndarray, qid: np.ndarray, skip_slow: bool, record: Record
) -> None:
    """Print the table of the squared hinge."""
    D, sign = differences(X, y, qid)
    print(
        f"\nsquared hinge, C weighs the sum over the {len(sign):,} pairs; least and median"
    )
    for C in CS:
        print(f"C = {C:g}")
        fits = {"RankStudio": ours(X, y, qid, C)}
        fits["LinearSVC on the pairs, primal"] = linear_svc(D, sign, C, False)
        if not skip_slow:
            fits["LinearSVC on the pairs, dual"] = linear_svc(D, sign, C, True)
        least = RankSVM(C=C, tol=1e-8).fit(X, y, qid=qid).objective_
        compare(
            fits,
            objective_of(X, y, qid, C, "squared_hinge"),
            least,
            f"squared hinge, C = {C:g}",
            record,
        )


def hinges(X: np.ndarray, y: np.ndarray, qid: np.ndarray, record: Record) -> None:
    """Print the table of the hinge."""
    data = group(X, y, qid)
    n_pairs = Pairs(data.y, data.ptr).n_pairs
    began = time.perf_counter()
    try:
        queries = dlib_queries(X, y, qid)
        print(
            f"\ndlib's list of vectors took {time.perf_counter() - began:.1f} s, which is not counted"
        )
    except ImportError:
        queries = None
        print("\ndlib svm_rank_trainer: left out (not installed; pip install dlib-bin)")
    print("\nhinge, C weighs the mean over the pairs; least and median")
    for mean_C in CS:
        print(f"C = {mean_C:g}")
        C = mean_C / n_pairs
        fits = {
            "RankStudio": ours(X, y, qid, C, loss="hinge"),
            "RankStudio, planes alone": ours(
                X, y, qid, C, loss="hinge", solver="bundle"
            ),
            "RankStudio, Newton alone": ours(
                X, y, qid, C, loss="hinge", solver="newton"
            ),
        }
        if queries is not None:
            fits["dlib svm_rank_trainer"] = dlib_trainer(queries, mean_C)
        least = RankSVM(C=C, loss="hinge", tol=1e-8).fit(X, y, qid=qid).objective_
        compare(
            fits,
            objective_of(X, y, qid, C, "hinge"),
            least,
            f"hinge, C = {mean_C:g}",
            record,
        )


def many_labels(record: Record) -> None:
    """Print how long one query of 20,000 documents takes, all labels distinct: 200 million pairs."""
    rng = np.random.default_rng(0)
    m = 20_000
    X = rng.random((m, FEATURES))
    y = np.argsort(
        np.argsort(X @ rng.normal(size=FEATURES) + rng.normal(size=m))
    ).astype(float)
    print(
        f"\none query of {m:,} documents, all labels distinct: {m * (m - 1) // 2:,} pairs"
    )
    for loss in ("squared_hinge", "hinge"):
        for C in (1e-6, 1e-3, 1.0):
            began = time.perf_counter()
            fitted = RankSVM(C=C, loss=loss, tol=CLOSE).fit(X, y, qid=np.ones(m))
            seconds = time.perf_counter() - began
            gap = fitted.gap_ / fitted.objective_
            print(
                f"       RankStudio, {loss:<14} C = {C:<6g} {seconds:8.3f} s   gap {gap:.0e} of the objective"
            )
            record.add(f"one query, {loss}", f"C = {C:g}", seconds=seconds)


def main() -> None:
    """Print the tables."""
    arguments = parser(__doc__)
    arguments.add_argument(
        "--skip-slow", action="store_true", help="leave out liblinear's dual"
    )
    arguments.add_argument(
        "--hinge-only", action="store_true", help="leave out the squared hinge"
    )
    args = arguments.parse_args()
    record = Record(args.json)
    warnings.filterwarnings(
        "ignore", message=".*(failed to converge|increase the number of iterations).*"
    )
    X, y, qid = problem()
    print(f"{DOCUMENTS:,} documents x {FEATURES} features, {QUERIES} queries")
    for loss in ("squared_hinge", "hinge"):
        RankSVM(loss=loss).fit(X[:50], y[:50], qid=qid[:50])  # compiles
    many_labels(record)
    hinges(X, y, qid, record)
    if not args.hinge_only:
        squared_hinges(X, y, qid, args.skip_slow, record)
    record.save()


if __name__ == "__main__":
    main()
