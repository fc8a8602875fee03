"""What a run must have found, by plain Python: measures from scores, and choices from measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, isnan, nan, sqrt
from typing import Any

from drawn_data import DrawnData, Query
from slow_measures import slow, slow_beyond_letor

Scores = Mapping[str, Sequence[float]]
"""Of the documents of each query, by the query's name."""

OF_LETOR = ("MAP", "P", "NDCG", "MeanNDCG", "Disagreement", "StrictDisagreement", "Tau")
LESS_IS_BETTER = ("Disagreement", "StrictDisagreement", "SquaredError")


def per_query(
    data: DrawnData, convention: str, name: str, query: str, scores: Sequence[float]
) -> float:
    """Return a measure of one query; NaN where it is not defined."""
    documents = data.queries[query].documents
    labels = [float(document.label) for document in documents]
    ids = _ids(data.queries[query])
    if name.partition("@")[0] in OF_LETOR:
        return slow(convention, name, labels, scores, ids)
    return slow_beyond_letor(
        convention, name, labels, scores, ids, float(data.greatest_label)
    )


def _ids(query: Query) -> list[str]:
    """Return the ids; of documents without one such that the last in the file comes first."""
    if all(document.name for document in query.documents):
        return [document.name for document in query.documents]
    return [f"{place:05d}" for place in range(len(query.documents))]


def measured(
    data: DrawnData, convention: str, name: str, queries: Sequence[str], scores: Scores
) -> list[float]:
    """Return a measure of each of some queries."""
    return [
        per_query(data, convention, name, query, scores[query]) for query in queries
    ]


def mean(values: Sequence[float]) -> float:
    """Return the mean of what is defined."""
    defined = [value for value in values if not isnan(value)]
    return sum(defined) / len(defined) if defined else nan


def error_of_mean(values: Sequence[float]) -> float:
    """Return s / √n of what is defined."""
    defined = [value for value in values if not isnan(value)]
    if len(defined) < 2:
        return 0.0
    middle = mean(defined)
    variance = sum((value - middle) ** 2 for value in defined) / (len(defined) - 1)
    return sqrt(variance / len(defined))


def same(one: float | None, other: float) -> bool:
    """Tell whether two measures are equal up to rounding; None is what JSON has for NaN."""
    if one is None or isnan(one) or isnan(other):
        return (one is None or isnan(one)) and isnan(other)
    return abs(one - other) <= 1e-9


def choice(plan: Any, paths: Sequence[Any], error: Any, worse: Any) -> tuple[int, int]:
    """Return which model is chosen: the position of its path, and of its step there.

    Parameters
    ----------
    plan : Plan
    paths : sequence of PathResult
        In the order of the combinations.
    error : callable
        Returns the standard error of the measure of a path's step.
    worse : callable
        Tells whether a path's step is significantly worse than another one.
    """
    by_criterion = plan.select_by == "criterion"
    most = int(plan.rule.split()[-1]) if plan.rule.startswith("at most") else inf
    candidates = []
    for number, path in enumerate(paths):
        places = range(len(path.steps))
        for place in places[-1:] if path.step_kind.name == "ITERATIONS" else places:
            size = len(path.steps[place].selected)
            value = -path.steps[place].criterion / path.divisor
            if not by_criterion:
                value = float(path.validation[plan.select_by][place])
                value = -value if plan.chosen_by in LESS_IS_BETTER else value
            if size <= most:
                candidates.append(
                    (-inf if isnan(value) else value, number, place, size)
                )
    best, number, place, _ = max(candidates, key=lambda c: (c[0], -c[1], -c[2]))
    if plan.rule not in ("one-se", "smallest") or best == -inf:
        return number, place
    near = [c for c in candidates if c[1] == number]
    if plan.rule == "smallest":
        near = [
            c for c in near if c[0] == best or not worse(paths[number], c[2], place)
        ]
    else:
        enough = best - error(paths[number], place)
        near = [c for c in near if c[0] >= enough]
    _, number, place, _ = min(near, key=lambda c: (c[3], -c[0], c[2]))
    return number, place
