"""MAP, NDCG@10 and P@10 of 1,700 queries, side by side with what a user would take instead.

    python benchmarks/measures.py

Peers that are not installed are left out with a line. All compute the same numbers, those of trec_eval's
convention, and that is checked. What a peer wants prepared (pytrec_eval's and ranx's dictionaries, ranx's
sorted runs) is prepared before the clock starts; of ours, both a prepared evaluator and the one call from raw
arrays are timed. Then the window's cases: all 46 models of a path on a validation part like MQ2008's, and ten
finished runs of the sample by another measure or convention.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import numpy as np
from record import Record, parser

from rankstudio.engine.metrics.evaluation import evaluate
from rankstudio.engine.metrics.evaluator import Evaluator

QUERIES, MEAN_LENGTH, RUNS = 1_700, 25, 7
MEASURES = ("MAP", "NDCG@10", "P@10")
Means = tuple[float, ...]


class Problem:
    """Labels 0 to 2 and scores without ties for queries of 2 to some hundred documents."""

    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        lengths = 2 + rng.geometric(1 / (MEAN_LENGTH - 1), QUERIES)
        self.ptr = np.append(0, np.cumsum(lengths))
        self.qid = np.repeat(np.arange(QUERIES), lengths)
        self.y = rng.choice([0, 0, 0, 1, 2], self.ptr[-1])
        self.scores = rng.normal(size=self.y.size) + 0.5 * self.y

    def queries(self) -> list[slice]:
        """Return the rows of each query."""
        return [slice(a, b) for a, b in zip(self.ptr[:-1], self.ptr[1:], strict=True)]

    def dictionary(self, values: np.ndarray) -> dict[str, dict[str, float]]:
        """Return values as {query: {document: value}}, which is how pytrec_eval and ranx take them."""
        return {
            f"q{q}": {
                f"d{row:07d}": values[row].item()
                for row in range(rows.start, rows.stop)
            }
            for q, rows in enumerate(self.queries())
        }


def prepared(problem: Problem) -> Callable[[], Means]:
    """Return our evaluator, which has seen the labels before."""
    evaluator = Evaluator(problem.y, problem.ptr, "trec_eval", MEASURES)
    return lambda: tuple(evaluator.evaluate(problem.scores).values())


def from_arrays(problem: Problem) -> Callable[[], Means]:
    """Return our one call that has seen nothing before."""
    call = partial(evaluate, convention="trec_eval", measures=MEASURES)
    return lambda: tuple(call(problem.y, problem.scores, problem.qid).values())


def pytrec_eval(problem: Problem) -> Callable[[], Means]:
    """Return trec_eval's C code behind its Python interface."""
    import pytrec_eval

    names = ("map", "ndcg_cut_10", "P_10")
    evaluator = pytrec_eval.RelevanceEvaluator(
        problem.dictionary(problem.y), {"map", "ndcg_cut.10", "P.10"}
    )
    run = problem.dictionary(problem.scores)

    def call() -> Means:
        results = evaluator.evaluate(run).values()
        return tuple(
            float(np.mean([query[name] for query in results])) for name in names
        )

    return call


def ranx(problem: Problem) -> Callable[[], Means]:
    """Return ranx, compiled with numba and parallel over queries."""
    from ranx import Qrels, Run, evaluate

    qrels, run = (
        Qrels(problem.dictionary(problem.y)),
        Run(problem.dictionary(problem.scores)),
    )
    names = ["map", "ndcg@10", "precision@10"]

    def call() -> Means:
        results = evaluate(qrels, run, names)
        return tuple(float(results[name]) for name in names)

    return call


def scikit_learn(problem: Problem) -> Callable[[], Means]:
    """Return scikit-learn's functions, a query at a time, and NumPy for P@10, which it does not have."""
    from sklearn.metrics import average_precision_score, ndcg_score

    def one(y: np.ndarray, scores: np.ndarray) -> Means:
        relevant = y >= 1
        precision = relevant[np.argsort(-scores)[:10]].sum() / 10
        average_precision = (
            average_precision_score(relevant, scores) if relevant.any() else 0.0
        )
        return average_precision, ndcg_score([y], [scores], k=10), precision

    def call() -> Means:
        values = [
            one(problem.y[rows], problem.scores[rows]) for rows in problem.queries()
        ]
        return tuple(np.mean(values, axis=0).tolist())

    return call


def timed(work: Callable[[], Means], runs: int = RUNS) -> tuple[float, Means]:
    """Return the median time of some runs after a first one that is not counted, and the result."""
    result = work()
    times = []
    for _ in range(runs):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return float(np.median(times)), result


def one_model(record: Record) -> None:
    """Time all contenders on one ranking."""
    problem = Problem()
    print(
        f"{', '.join(MEASURES)} of one ranking: {QUERIES} queries, {problem.y.size} documents"
    )
    base, expected = timed(prepared(problem), 51)
    print(f"{'RankStudio, prepared':<28}{1e3 * base:10.2f} ms       1.0x")
    record.add("one ranking", "RankStudio, prepared", median_ms=1e3 * base, ratio=1.0)
    contenders = {
        "RankStudio, from arrays": from_arrays,
        "pytrec_eval": pytrec_eval,
        "ranx": ranx,
        "scikit-learn": scikit_learn,
    }
    for name, make in contenders.items():
        try:
            work = make(problem)
        except ImportError:
            print(f"{name:<28}not installed")
            continue
        seconds, result = timed(work)
        agrees = (
            ""
            if np.allclose(result, expected, atol=1e-6)
            else f"  DISAGREES: {result} against {expected}"
        )
        print(f"{name:<28}{1e3 * seconds:10.2f} ms {seconds / base:9.1f}x{agrees}")
        record.add("one ranking", name, median_ms=1e3 * seconds, ratio=seconds / base)


def many_models(record: Record) -> None:
    """Time what the λ slider asks for: every model of a path, measured on a validation part."""
    rng = np.random.default_rng(1)
    lengths = rng.choice(
        [7, 8, 8, 8, 15, 16, 31, 59, 118],
        157,
        p=[0.1, 0.2, 0.2, 0.15, 0.1, 0.1, 0.05, 0.06, 0.04],
    )
    ptr = np.append(0, np.cumsum(lengths))
    y, scores = rng.choice([0, 0, 0, 1, 2], ptr[-1]), rng.normal(size=(46, ptr[-1]))
    names = ("MAP", "P@10", "MeanNDCG", "NDCG@10")
    evaluator = Evaluator(y, ptr, "letor4", names)
    seconds, _ = timed(lambda: tuple(evaluator.evaluate_many(scores)["MAP"]), 51)
    print(f"\n{', '.join(names)} of 46 rankings: 157 queries, {y.size} documents each")
    print(f"{'RankStudio, prepared':<28}{1e3 * seconds:10.2f} ms")
    record.add("46 rankings", "RankStudio, prepared", median_ms=1e3 * seconds)


def ten_runs(record: Record) -> None:
    """Time what another measure in the window asks for: ten runs of the sample, measured anew."""
    from rankstudio.engine.analysis.measurements.measurement import Measurement
    from rankstudio.engine.analysis.measurements.remeasurement import Remeasurement
    from rankstudio.engine.data.synthetic import load_sample
    from rankstudio.engine.experiment.plan.plan import SAMPLE, Plan
    from rankstudio.engine.experiment.results.events import RunFinished
    from rankstudio.engine.experiment.runner import run

    data, anew = load_sample(), Remeasurement()
    results = [
        event.result
        for _ in range(10)
        for event in run(Plan(SAMPLE), data)
        if isinstance(event, RunFinished)
    ]
    n_models = sum(len(path.steps) for path in results[0].folds[0].paths)
    print(f"\nTen runs of {n_models} models on five folds, anew")
    for convention, name in (
        ("ranklib", "NDCG@10"),
        ("ranklib", "MAP"),
        ("trec_eval", "RR"),
    ):
        wanted = Measurement(convention, name)
        seconds, _ = timed(
            lambda wanted=wanted: tuple(
                anew.run(one, data, wanted).seconds for one in results
            )
        )
        print(f"{f'{name}, {convention}':<28}{1e3 * seconds:10.2f} ms")
        record.add("ten runs anew", f"{name}, {convention}", median_ms=1e3 * seconds)


if __name__ == "__main__":
    found = Record(parser(__doc__).parse_args().json)
    one_model(found)
    many_models(found)
    ten_runs(found)
    found.save()
