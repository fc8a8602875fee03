"""Learners of the simulation on real data, and the ways in which estimators hold documents out."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np

from rankstudio.engine.arithmetic.kernel_functions import Kernel
from rankstudio.engine.arithmetic.query_data import (
    MadeStatistics,
    QueryData,
    QueryStatistics,
)
from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.errors import between
from rankstudio.engine.methods.kernels.nystrom import basis_rows, independent, kernel_of
from rankstudio.engine.methods.selection.greedy_rankrls.estimator import GreedyRankRLS
from rankstudio.engine.support.blocks import solve_lower
from rankstudio.plugins.kernels.kernel_rankrls import KernelRankRLS
from rankstudio.plugins.lab.simulation.parameters import BASIS_KEPT, SELECTED_ONCE

Scorer = Callable[[Floats], Floats]
"""A trained model: returns the scores (m,) of documents from their features (m, n)."""


class Learner(Protocol):
    """A learner that may make choices, such as features, from training documents."""

    def learn(self, data: QueryData) -> Scorer:
        """Train on documents, including all choices; return a function that scores."""

    def fixed(self, data: QueryData) -> Learner:
        """Return a learner whose choices are fixed to those made from some documents.

        The choices are the features of a selection, or the basis
        vectors of a kernel model.
        """


@dataclass(frozen=True)
class SelectedRankRLS:
    """A learner: RankRLS with features selected by greedy RankRLS, or with given features.

    Attributes
    ----------
    n_features : int or None
        Number of features to select; None for all.
    regularization : float
        λ of the selection and of the model.
    columns : tuple of int or None
        0-based columns of given features; None to select them.
    """

    n_features: int | None = 10
    regularization: float = 1.0
    columns: tuple[int, ...] | None = None

    def learn(self, data: QueryData) -> Scorer:
        """Select features, unless they are given, and train a linear model on them.

        Return a function from features (m, n) to scores (m,).
        """
        columns = self.selected(data)
        weights = data.statistics.weights(columns, self.regularization)
        return lambda X: X @ weights

    def selected(self, data: QueryData) -> tuple[int, ...]:
        """Return the 0-based columns of the features that the learner uses.

        If the learner has no given columns, features are selected from
        the documents ``data``.
        """
        if self.columns is not None:
            return self.columns
        if self.n_features is None:
            return tuple(range(data.X.shape[1]))

        # "statistics": by the sums of products
        search = GreedyRankRLS(
            self.n_features, self.regularization, algorithm="statistics"
        )
        *_, last = search.learn(data)  # the last step has all selected features
        return last.selected

    def fixed(self, data: QueryData) -> SelectedRankRLS:
        """Return the learner with the features selected from these documents."""
        return SelectedRankRLS(
            self.n_features, self.regularization, self.selected(data)
        )


class HeldOutScores(NamedTuple):
    """Scores of documents by models trained without them.

    Attributes
    ----------
    scores : ndarray of shape (m,)
    fold : ndarray of shape (m,) or None
        Fold of each document if only documents of one fold are ranked
        together; a query then counts once per fold.
    """

    scores: Floats
    fold: Ints | None = None


Estimating = Generator[None, None, HeldOutScores]
"""A generator that yields None after each trained model, and returns the held-out scores."""

Estimator = Callable[[Learner, QueryData, np.random.Generator], Estimating]
"""Computes a held-out score of each document from a learner, training documents and random numbers."""


def leave_query_out(
    learner: Learner, data: QueryData, rng: np.random.Generator
) -> Estimating:
    """Score each document with the model trained without its query."""
    return (yield from _scores_by_fold(learner, data, np.arange(data.ptr.size - 1)))


def folds_of_queries(
    learner: Learner, data: QueryData, rng: np.random.Generator, count: int = 5
) -> Estimating:
    """Score each document with the model trained without its fold, a random share of the queries."""
    n_queries = data.ptr.size - 1
    fold = rng.permutation(np.arange(n_queries) % min(count, n_queries))
    return (yield from _scores_by_fold(learner, data, fold))


def folds_of_documents(
    learner: Learner,
    data: QueryData,
    rng: np.random.Generator,
    count: int = 5,
    averaged: bool = True,
) -> Estimating:
    """Score each document with the model that is trained without the document's fold.

    A fold is one of ``count`` random shares of the documents. The
    scores are the result of a generator, which yields between
    trainings.

    Documents of the same query are then in training and test, of which
    Airola (2011, section 5.5) warns. If ``averaged``, only scores of
    the same model are ranked together. Otherwise a query is ranked by
    the pooled scores of several models, which hides how optimistic the
    estimate is.
    """
    m = data.y.size

    # fold and query of each document, (m,)
    fold = rng.permutation(np.arange(m) % min(count, m))
    query = np.repeat(np.arange(data.ptr.size - 1), np.diff(data.ptr))
    scores = np.empty(m)
    for number in range(int(fold.max()) + 1):
        is_held_out = fold == number

        # number of remaining documents of each query; queries without any are gone
        sizes = np.bincount(query[~is_held_out])
        ptr = np.concatenate(([0], np.cumsum(sizes[sizes > 0]))).astype(np.int64)
        rest = QueryData(data.X[~is_held_out], data.y[~is_held_out], ptr)
        if data.has_statistics:
            # Read only to compute and store the statistics, which the
            # learner uses. If those of all documents fit into memory,
            # these do, too.
            _ = rest.statistics
        scores[is_held_out] = learner.learn(rest)(data.X[is_held_out])
        yield  # the caller can stop after each model
    return HeldOutScores(scores, fold if averaged else None)


def once(
    estimator: Estimator, learner: Learner, data: QueryData, rng: np.random.Generator
) -> Estimating:
    """Score held-out documents by an estimator, with the learner's choices made once from all documents.

    The choices are features or basis vectors. They are made from all
    documents, also from held-out ones, and all models of the
    ``estimator`` have the same choices.
    """
    fixed = learner.fixed(data)
    yield
    return (yield from estimator(fixed, data, rng))


_REFITTING: Mapping[str, Estimator] = {
    "leave-query-out": leave_query_out,
    "5-fold by query": folds_of_queries,
    "5-fold of documents, pooled": partial(folds_of_documents, averaged=False),
    "5-fold of documents, averaged": folds_of_documents,
}


def estimators(fixed: str) -> dict[str, Estimator]:
    """Return the estimators by name.

    An estimator scores held-out documents. Each estimator is followed
    by its variant, in which the learner's choices are made only once.

    Parameters
    ----------
    fixed : str
        Ending of the names of the variants.
    """
    by_name: dict[str, Estimator] = {}
    for name, estimator in _REFITTING.items():
        by_name[name] = estimator
        by_name[f"{name}, {fixed}"] = partial(once, estimator)
    return by_name


ESTIMATORS: Mapping[str, Estimator] = estimators(SELECTED_ONCE)
"""Estimators of a selection by name; "selected once" means a selection outside of the cross-validation."""


def _scores_by_fold(learner: Learner, data: QueryData, fold: Ints) -> Estimating:
    """Score each document with the model trained on the queries of all other folds.

    ``fold`` (Q,) is the fold of each query, from 0. Yield None after
    each model, and return the scores.
    """
    fold_of_document = np.repeat(fold, np.diff(data.ptr))
    scores = np.empty(data.y.size)
    for number in range(int(fold.max()) + 1):
        is_held_out = fold_of_document == number
        scores[is_held_out] = learner.learn(documents_of_queries(data, fold != number))(
            data.X[is_held_out]
        )
        yield
    return HeldOutScores(scores)


def documents_of_queries(data: QueryData, chosen: Bools) -> QueryData:
    """Return the documents of some queries, with their sums of products if these sums are known.

    ``chosen``, (Q,), says which queries. A learner needs the products
    of the features summed over each query. These sums are taken from
    ``data`` if they are already computed.
    """
    part = data.taken(np.flatnonzero(chosen))

    # Stored with the part, where its property `statistics` finds them.
    if data.has_statistics:
        gram = data.statistics.gram[chosen]
        part.shared.of(MadeStatistics).whole = QueryStatistics(
            gram, gram.sum(axis=0), part.y.size
        )
    return part


_MAX_PER_QUERY = 1_000_000

BASIS_ESTIMATORS: Mapping[str, Estimator] = estimators(BASIS_KEPT)
"""Estimators of kernel models by name.

"Basis vectors kept" means that models keep the basis vectors from
queries that are held out.
"""


@dataclass(frozen=True, eq=False)
class BasisRankRLS:
    """A learner: RankRLS with a kernel, with documents of each training query or given basis vectors.

    Attributes
    ----------
    kernel : Kernel
    per_query : int
        Number of basis vectors per training query.
    regularization : float
        λ > 0.
    seed : int
        Seed of the draw of basis vectors.
    vectors : ndarray of shape (r, n) or None
        Given basis vectors; None to draw them.
    """

    kernel: Kernel = field(default_factory=Kernel)
    per_query: int = 2
    regularization: float = 1.0
    seed: int = 0
    vectors: Floats | None = None

    @classmethod
    def of(
        cls, kernel: str, gamma: float, per_query: int, regularization: float
    ) -> BasisRankRLS:
        """Return the learner with checked parameters.

        A parameter out of range raises ParameterError.
        """
        method = KernelRankRLS(kernel, gamma=gamma, regularization=regularization)
        count = between("per_query", per_query, 1, _MAX_PER_QUERY)
        return cls(kernel_of(method), count, method.checked("regularization"))

    def learn(self, data: QueryData) -> Scorer:
        """Train a model that is a sum of kernel functions of basis vectors.

        The basis vectors are drawn from the documents, unless the
        learner has its own.

        Return a function from features (m, n) to scores (m,).

        Notes
        -----
        With K = LL' the kernel matrix of the basis vectors, a linear
        model w is trained on the features L^-1 k(x). The weights of the
        kernel functions are L'^-1 w. O(mr² + r³) for r basis vectors.
        """
        from scipy.linalg import solve_triangular  # noqa: PLC0415 - where it is needed

        basis = self._basis(data)

        # Vectors that depend linearly on others are dropped; the factor is L.
        chosen, factor = independent(self.kernel.matrix(basis, basis))
        vectors = basis[chosen]
        features = np.ascontiguousarray(
            solve_lower(factor, self.kernel.matrix(vectors, data.X)).T
        )
        mapped = QueryData(features, data.y, data.ptr)

        # the linear model with all of these features
        weights = mapped.statistics.weights(
            tuple(range(chosen.size)), self.regularization
        )
        dual = solve_triangular(
            factor,
            weights,
            lower=True,
            trans="T",
            check_finite=False,
        )
        return lambda X: self.kernel.matrix(np.ascontiguousarray(X), vectors) @ dual

    def fixed(self, data: QueryData) -> BasisRankRLS:
        """Return the learner with basis vectors drawn from these documents."""
        return replace(self, vectors=self._basis(data))

    def _basis(self, data: QueryData) -> Floats:
        """Return the basis vectors of the learner, shape (r, n).

        If it has none, they are some of these documents.

        The given vectors are returned, if there are any.
        """
        if self.vectors is not None:
            return self.vectors
        count = self.per_query * (data.ptr.size - 1)
        return np.ascontiguousarray(
            data.X[basis_rows(data.ptr, count, "per_query", self.seed)]
        )
