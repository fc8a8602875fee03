"""Coordinate ascent on a ranking measure: one weight at a time, along a grid of steps."""

from __future__ import annotations

from collections.abc import Generator, Iterable

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.metrics.evaluator import Evaluator
from rankstudio.engine.metrics.names import measure as find_measure
from rankstudio.engine.optimization.pair_problem import Waiting
from rankstudio.engine.querywise.query_data import QueryData
from rankstudio.engine.querywise.scoring import linear_scores
from rankstudio.engine.steps import WorkProgress, finish
from rankstudio.engine.support.threads import pool

STEPS = np.concatenate((-(2.0 ** np.arange(4, -12, -1)), 2.0 ** np.arange(-11, 5)))
"""Changes of a weight that are tried, of weights whose absolute values sum to 1: ±2^-11 … ±2^4."""

_WORTH_THREADS = 1e5  # documents times candidates


class AscentSearch:
    """The search along one weight of a linear model at a time, on a measure of the ranking.

    Weights count in units of 1 over the feature's standard deviation inside queries, so that a step means
    the same for every feature. A subclass knows the documents. Values are the greater the better.

    Parameters
    ----------
    scale : ndarray of shape (n,)
        The features' standard deviations inside queries.
    """

    def __init__(self, scale: Floats) -> None:
        self.scale = scale
        self.informative = np.flatnonzero(scale > 0)

    def measured(self, coef: Floats) -> Waiting[float]:
        """Return the value of one model (n,)."""
        raise NotImplementedError

    def changed(self, coef: Floats, feature: int, changes: Floats) -> Waiting[Floats]:
        """Return the value of a model (n,) with each of some changes of one weight."""
        raise NotImplementedError

    def normalise(self, coef: Floats) -> Floats:
        """Return the same ranking's weights with absolute values, in units of 1 / scale, that sum to 1."""
        total = float(np.abs(coef * self.scale).sum())
        return coef / total if total > 0 else coef

    def searching(self, coef: Floats, value: float, feature: int) -> Waiting[tuple[Floats, float]]:
        """Search along one weight.

        Returns
        -------
        coef, value
            The best model found and its value; those given where none is better. Of equally good ones that
            with the smallest change.
        """
        scale = self.scale[feature]
        changes = np.append(STEPS / scale, -coef[feature])
        changes = changes[np.argsort(np.abs(changes), kind="stable")]
        found = yield from self.changed(coef, feature, changes)
        best = coef.copy()
        best[feature] += changes[int(np.argmax(found))]
        if not best.any():
            return coef, value
        best = self.normalise(best)
        # Measured again: the scores above were summed in another order, which may break ties another way.
        better = yield from self.measured(best)
        return (best, better) if better > value else (coef, value)

    def sweeping(
        self, coef: Floats, value: float, features: Iterable[int]
    ) -> Generator[WorkProgress | None, None, tuple[Floats, float]]:
        """Search along some weights, one after the other; yield None after every weight."""
        for feature in features:
            coef, value = yield from self.searching(coef, value, feature)
            yield None
        return coef, value


class Ascent(AscentSearch):
    """A measure as a function of a linear model's weights, and the search along one of them.

    Values are those of the very scores that ``predict`` returns.

    Parameters
    ----------
    data : QueryData
        The documents to rank.
    measure, convention : str
        What to raise; one of which less is better is lowered.
    """

    def __init__(self, data: QueryData, measure: str, convention: str) -> None:
        wanted = find_measure(measure)
        self._name, self._sign = wanted.name, 1.0 if wanted.higher_is_better else -1.0
        self._evaluator = Evaluator(data.y, data.ptr, convention, [wanted], grading=data.grading)
        self._columns = np.ascontiguousarray(data.X.T)
        super().__init__(np.sqrt(np.mean(data.centred[0] ** 2, axis=0)))

    def values(self, scores: Floats) -> Floats:
        """Return the value of K models from their scores (K, m): the greater, the better; NaN counts -inf."""
        with pool(scores.size > _WORTH_THREADS) as (executor, workers):
            parts = np.array_split(scores, min(workers, scores.shape[0]))
            measured = list((executor.map if executor else map)(self._evaluator.evaluate_many, parts))
        values = self._sign * np.concatenate([part[self._name] for part in measured])
        return np.where(np.isnan(values), -np.inf, values)

    def value(self, coef: Floats) -> float:
        """Return the value of one model (n,)."""
        return float(self.values(linear_scores(self._columns, coef[None, :]))[0])

    def measured(self, coef: Floats) -> Waiting[float]:
        """Return the value of one model (n,), at once."""
        yield from ()
        return self.value(coef)

    def changed(self, coef: Floats, feature: int, changes: Floats) -> Waiting[Floats]:
        """Return the value of a model with each of some changes of one weight, at once."""
        yield from ()
        scores = linear_scores(self._columns, coef[None, :])
        return self.values(scores + changes[:, None] * self._columns[feature])

    def line(self, coef: Floats, value: float, feature: int) -> tuple[Floats, float]:
        """Do what :meth:`searching` does."""
        return finish(self.searching(coef, value, feature))

    def sweep(self, coef: Floats, value: float, features: Iterable[int]) -> tuple[Floats, float]:
        """Do what :meth:`sweeping` does."""
        return finish(self.sweeping(coef, value, features))
