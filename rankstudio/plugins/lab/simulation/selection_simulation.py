"""Simulation of a selection's estimated and true performance on real data (Airola 2011, 5.5-5.6)."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.data.dataset import FoldedDataset, RankingDataset
from rankstudio.engine.data.splitting.splits import whole
from rankstudio.engine.errors import DatasetError, between
from rankstudio.engine.methods.base import MOST_SEED
from rankstudio.engine.methods.selection.greedy_rankrls.estimator import GreedyRankRLS
from rankstudio.engine.support.threads import steadily
from rankstudio.plugins.lab.simulation.deviations import Deviations
from rankstudio.plugins.lab.simulation.learners import (
    BASIS_ESTIMATORS,
    ESTIMATORS,
    BasisRankRLS,
    Estimator,
    Learner,
    SelectedRankRLS,
)
from rankstudio.plugins.lab.simulation.parameters import NO_KERNEL

if TYPE_CHECKING:
    from rankstudio.engine.metrics.evaluator import Evaluator

_MAX_COUNT = 10_000_000


def simulate_selection(
    dataset: FoldedDataset | RankingDataset,
    n_queries: int = 20,
    n_features: int | None = 10,
    regularization: float = 1.0,
    measure: str = "MAP",
    convention: str = "",
    repetitions: int = 100,
    seed: int = 0,
    kernel: str = NO_KERNEL,
    gamma: float = 2.0**-6,
    per_query: int = 2,
    learner: Learner | None = None,
    estimators: Mapping[str, Estimator] | None = None,
) -> Generator[Deviations | None, None, Deviations]:
    """Estimate how well a selection from few queries ranks, and measure the truth on all other queries.

    Parameters
    ----------
    dataset : FoldedDataset or RankingDataset
        Data with more queries than are drawn; folds are ignored.
    n_queries : int, default 20
        Number of training queries, drawn without replacement in each repetition.
    n_features : int, optional
        Number of features that greedy RankRLS selects, k; None for all
        features without selection.
    regularization : float, default 1.0
        λ > 0.
    measure : str, default "MAP"
        Measure of the held-out scores of the training queries, and of
        the model on all others.
    convention : str, optional
        Key of the convention of the measure; by default the usual one of the data.
    repetitions : int, default 100
        Number of times that queries are drawn.
    seed : int, default 0
        Equal seeds give equal bits.
    kernel : {"none", "rbf", "poly", "linear"}, default "none"
        Kernel of RankRLS on basis vectors, which replaces the selection unless "none".
    gamma : float, default 2**-6
        γ of the kernel.
    per_query : int, default 2
        Number of basis vectors per training query.
    learner : Learner, optional
        Learner to use instead of the selection or the kernel.
    estimators : mapping of str to Estimator, optional
        Estimators by name; by default
        :data:`rankstudio.plugins.lab.simulation.learners.ESTIMATORS`, with a
        kernel
        :data:`rankstudio.plugins.lab.simulation.learners.BASIS_ESTIMATORS`.

    Yields
    ------
    Deviations or None
        Deviations of all repetitions so far, after each repetition; the
        generator returns the last ones. None after each of the many
        models of a repetition, so that the caller can stop in between.

    Raises
    ------
    DatasetError
        For too few queries.
    """
    data = _all_documents(dataset)
    measure_convention = convention or FoldedDataset.of(dataset).convention
    n_drawn = between("n_queries", n_queries, 3, _MAX_COUNT)
    count = between("repetitions", repetitions, 1, _MAX_COUNT)
    checked_seed = between("seed", seed, 0, MOST_SEED)
    if data.n_queries <= n_drawn:
        raise DatasetError(
            f"The data have {data.n_queries} queries; expected more than the {n_drawn} drawn for training, "
            "because the remaining queries give the true value."
        )
    if estimators is None:
        estimators = ESTIMATORS if kernel == NO_KERNEL else BASIS_ESTIMATORS
    if learner is None and kernel != NO_KERNEL:
        learner = BasisRankRLS.of(kernel, gamma, per_query, regularization)
    chosen_learner = learner or _checked_selection(
        n_features, data.n_features, regularization
    )

    # `part_of` has the grades of all data.
    documents = QueryData(
        np.asarray(data.X), data.y, data.query_ptr, part_of=data.grading
    )
    truth = np.empty(count)
    estimates = np.empty((count, len(estimators)))
    for number in range(count):
        rng = np.random.default_rng([checked_seed, number])
        is_drawn = np.zeros(data.n_queries, dtype=np.bool_)
        is_drawn[rng.choice(data.n_queries, n_drawn, replace=False)] = True
        train = documents.taken(np.flatnonzero(is_drawn))
        rest = documents.taken(np.flatnonzero(~is_drawn))

        # from documents and scores to the mean measure
        measured = partial(
            _measured_scores, measure=measure, convention=measure_convention
        )

        # steadily: the same result on any number of threads
        truth[number] = yield from steadily(
            _true_measure(chosen_learner, train, rest, measured)
        )
        for index, estimator in enumerate(estimators.values()):
            scores, fold = yield from steadily(estimator(chosen_learner, train, rng))
            estimates[number, index] = measured(train, scores, fold=fold)
        state = Deviations(
            tuple(estimators), truth[: number + 1], estimates[: number + 1], count
        )
        yield state
    return state


def _true_measure(
    learner: Learner,
    train: QueryData,
    other_queries: QueryData,
    measured: Callable[[QueryData, Floats], float],
) -> Generator[None, None, float]:
    """Train a model on some queries, and measure it on all other queries."""
    model = learner.learn(train)
    yield
    return measured(other_queries, model(other_queries.X))


def _checked_selection(
    n_features: int | None, n_available: int, regularization: float
) -> SelectedRankRLS:
    """Return the learner that selects ``n_features`` of ``n_available`` features greedily.

    If ``n_features`` is None, the learner uses all features.

    Raises
    ------
    ParameterError
        For an invalid number of features or regularization.
    """
    size = (
        None
        if n_features is None
        else between("n_features", n_features, 1, n_available)
    )

    # The greedy method checks λ.
    return SelectedRankRLS(
        size, GreedyRankRLS(regularization=regularization).checked("regularization")
    )


def _all_documents(dataset: FoldedDataset | RankingDataset) -> RankingDataset:
    """Return all documents of a dataset, each once: folds have the same documents in several parts."""
    if isinstance(dataset, RankingDataset):
        return dataset

    # A single part already has them all.
    first = dataset.folds[0]
    return (
        first.train
        if len(dataset.folds) == 1 and len(first.parts) == 1
        else whole(dataset)
    )


@dataclass
class _Evaluators:
    """Evaluators of the same documents by measure and convention, kept with the documents."""

    by_measure: dict[tuple[str, str], Evaluator] = field(default_factory=dict)


def _measured_scores(
    data: QueryData,
    scores: Floats,
    measure: str,
    convention: str,
    fold: Ints | None = None,
) -> float:
    """Return the mean measure of scores over queries.

    With the fold of each document, ``fold`` (m,), only documents of the
    same query and fold are ranked together.
    """
    from rankstudio.engine.metrics.evaluator import Evaluator  # noqa: PLC0415 - numba, where it is needed

    y = data.y
    ptr = data.ptr
    if fold is None:
        # The same documents are measured for each estimator: one
        # evaluator is enough, which is stored with the data.
        evaluators = data.shared.of(_Evaluators).by_measure
        key = (measure, convention)
        if key not in evaluators:
            evaluators[key] = Evaluator(
                y, ptr, convention, (measure,), grading=data.grading
            )
        evaluator = evaluators[key]
    else:
        query = np.repeat(np.arange(ptr.size - 1), np.diff(ptr))

        # a number for each pair of query and fold
        query_and_fold = query * (int(fold.max()) + 1) + fold
        order = np.lexsort((fold, query))
        y = y[order]
        scores = scores[order]

        # A part starts where this number changes.
        ptr = np.append(
            np.flatnonzero(np.diff(query_and_fold[order], prepend=-1)), y.size
        )
        grading = data.grading.taken(order)
        evaluator = Evaluator(y, ptr, convention, (measure,), grading=grading)
    value: float
    (value,) = evaluator.evaluate(scores).values()
    return value
