"""Estimates of a selection beside the truth, for queries of real data (Airola 2011, sections 5.5-5.6)."""

from __future__ import annotations

from collections.abc import Generator, Mapping

import numpy as np

from rankstudio.engine.analysis.simulation.deviations import Deviations
from rankstudio.engine.analysis.simulation.learners import ESTIMATORS, Estimator, Learner, SelectedRankRLS
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.data.dataset import FoldedDataset, RankingDataset
from rankstudio.engine.data.splitting.splits import whole
from rankstudio.engine.errors import DatasetError
from rankstudio.engine.methods.base import MOST_SEED, between
from rankstudio.engine.methods.selection.greedy_rankrls.estimator import GreedyRankRLS
from rankstudio.engine.querywise.query_data import QueryData
from rankstudio.engine.support.threads import STEADY

_MOST = 10_000_000


def simulate_selection(
    dataset: FoldedDataset | RankingDataset,
    n_queries: int = 20,
    n_features: int | None = 10,
    regularization: float = 1.0,
    measure: str = "MAP",
    convention: str = "",
    repetitions: int = 100,
    seed: int = 0,
    learner: Learner | None = None,
    estimators: Mapping[str, Estimator] = ESTIMATORS,
) -> Generator[Deviations, None, Deviations]:
    """Estimate how well a selection from few queries ranks, with all other queries as the truth.

    Parameters
    ----------
    dataset : FoldedDataset or RankingDataset
    n_queries : int, default 20
        Training queries, drawn from all without replacement in each repetition.
    n_features : int, optional
        How many features greedy RankRLS selects, k; None for all without a selection.
    regularization : float, default 1.0
        λ > 0.
    measure : str, default "MAP"
        Of the held-out scores of the training queries, and of the model on all others.
    convention : str, optional
        Key of the convention of the measure; what is usual for the data where it is not given.
    repetitions : int, default 100
    seed : int, default 0
        Equal seeds give equal bits.
    learner : Learner, optional
        What learns in place of greedy selection with RankRLS, such as a kernel model with basis vectors.
    estimators : mapping of str to Estimator, optional
        By name; :data:`rankstudio.engine.analysis.simulation.learners.ESTIMATORS` by default.

    Yields
    ------
    Deviations
        Of all repetitions so far; the generator returns the last.

    Raises
    ------
    DatasetError
        For too few queries.
    """
    data = _documents(dataset)
    used = convention or FoldedDataset.of(dataset).convention
    drawn = between("n_queries", n_queries, 3, _MOST)
    count, start = between("repetitions", repetitions, 1, _MOST), between("seed", seed, 0, MOST_SEED)
    if data.n_queries <= drawn:
        raise DatasetError(
            f"The data have {data.n_queries} queries; expected more than the {drawn} to draw, so that "
            "some are left for the truth."
        )
    what = learner or _selection(n_features, data.n_features, regularization)
    truth, found = np.empty(count), np.empty((count, len(estimators)))
    for number in range(count):
        rng = np.random.default_rng([start, number])
        inside = np.zeros(data.n_queries, dtype=np.bool_)
        inside[rng.choice(data.n_queries, drawn, replace=False)] = True
        train, others = _part(data, np.flatnonzero(inside)), _part(data, np.flatnonzero(~inside))
        with STEADY:
            truth[number] = _measured(others, what.learn(train)(others.X), measure, used)
            for place, estimate in enumerate(estimators.values()):
                scores, fold = estimate(what, train, rng)
                found[number, place] = _measured(train, scores, measure, used, fold)
        state = Deviations(tuple(estimators), truth[: number + 1], found[: number + 1], count)
        yield state
    return state


def _selection(n_features: int | None, there: int, regularization: float) -> SelectedRankRLS:
    """Check the parameters of greedy selection."""
    size = None if n_features is None else between("n_features", n_features, 1, there)
    return SelectedRankRLS(size, GreedyRankRLS(regularization=regularization).checked("regularization"))


def _documents(dataset: FoldedDataset | RankingDataset) -> RankingDataset:
    """Return all documents of a dataset, each once."""
    if isinstance(dataset, RankingDataset):
        return dataset
    first = dataset.folds[0]
    return first.train if len(dataset.folds) == 1 and len(first.parts) == 1 else whole(dataset)


def _part(data: RankingDataset, queries: Ints) -> QueryData:
    """Return the documents of some queries."""
    ptr = data.query_ptr
    rows = np.concatenate([np.arange(ptr[q], ptr[q + 1]) for q in queries])
    sizes = np.diff(ptr)[queries]
    return QueryData(data.X[rows], data.y[rows], np.concatenate(([0], np.cumsum(sizes))).astype(np.int64))


def _measured(
    data: QueryData, scores: Floats, measure: str, convention: str, fold: Ints | None = None
) -> float:
    """Measure scores, by the documents of each query, or of each query and fold."""
    from rankstudio.engine.metrics.evaluator import Evaluator  # noqa: PLC0415 - numba, where it is needed

    y, ptr = data.y, data.ptr
    if fold is not None:
        query = np.repeat(np.arange(ptr.size - 1), np.diff(ptr))
        parts, order = query * (int(fold.max()) + 1) + fold, np.lexsort((fold, query))
        y, scores = y[order], scores[order]
        ptr = np.append(np.flatnonzero(np.diff(parts[order], prepend=-1)), y.size)
    (value,) = Evaluator(y, ptr, convention, (measure,)).evaluate(scores).values()
    return value
