"""What all methods share: they learn step by step, and ``fit`` is the loop that asks for every step."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from rankstudio.engine.arrays import Floats
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.methods.catalog import method_of
from rankstudio.engine.querywise.query_data import QueryData, group
from rankstudio.engine.querywise.scoring import linear_scores
from rankstudio.engine.steps import Note, Step, WorkProgress


class LinearRanker(BaseEstimator):  # type: ignore[misc]
    """Base of the methods that learn one weight a feature.

    A subclass writes :meth:`learn`, a generator of steps over grouped data. It knows no progress bar, no
    thread and no callback: to cancel it is not to ask for the next step. One that works long before a step
    writes :meth:`work` instead, and gives signs of life in between.
    """

    accepts_sparse: ClassVar[bool] = False
    """Whether X may be a sparse matrix of scipy."""

    coef_: Floats
    n_features_in_: int

    def learn(self, data: QueryData) -> Iterator[Step]:
        """Yield one :class:`Step` a feature or iteration; the last one is the model."""
        for step in self.work(data):
            if isinstance(step, Step):
                yield step
            elif isinstance(step, Note):
                warnings.warn(step.what, step.kind, stacklevel=3)

    def work(self, data: QueryData) -> Iterator[Step | WorkProgress]:
        """Yield the steps of :meth:`learn`, and signs of life between those that take long."""
        yield from self.learn(data)

    def checked(self, name: str) -> Any:
        """Return a parameter that the catalog declares; ParameterError where it is out of its range."""
        return method_of(type(self)).parameter(name).check(getattr(self, name))

    def n_steps(self, n_features: int) -> int:
        """Return how many steps :meth:`learn` takes at most on data with so many features."""
        raise NotImplementedError

    def nested(self, data: QueryData, order: tuple[int, ...]) -> Iterator[Step] | None:
        """Learn with the first feature of an order, the first two, and so on, faster than one by one.

        Returns
        -------
        iterator of Step, or None
            One step a feature of all data; None where the method knows no faster way.
        """
        return None

    def steps(self, X: ArrayLike, y: ArrayLike, *, qid: ArrayLike | None = None) -> Iterator[Step]:
        """Learn step by step.

        Parameters
        ----------
        X : array-like of shape (m, n)
            Features of the documents.
        y : array-like of shape (m,)
            Their relevance labels.
        qid : array-like of shape (m,), optional
            Query of each document; without it all documents are one query.

        Yields
        ------
        Step

        Raises
        ------
        DatasetError
            For data that do not fit together.
        ParameterError
            For a parameter outside its range.
        """
        yield from self.learn(self._group(X, y, qid))

    def fit(self, X: ArrayLike, y: ArrayLike, *, qid: ArrayLike | None = None) -> Self:
        """Learn from documents, labels and queries; parameters as for :meth:`steps`.

        Returns
        -------
        self
        """
        sparse = "csc" if self.accepts_sparse else False
        features, labels = validate_data(self, X, y, y_numeric=True, dtype=np.float64, accept_sparse=sparse)
        data = self._group(features, labels, qid)
        taken = list(self.learn(data))
        self.coef_ = taken[-1].coef
        self._finish(data, taken)
        return self

    def _group(self, X: ArrayLike, y: ArrayLike, qid: ArrayLike | None) -> Any:
        """Put the documents of each query together, as :meth:`learn` takes them."""
        return group(X, y, qid)

    def _finish(self, data: QueryData, taken: list[Step]) -> None:
        """Set the attributes of the fitted method beyond ``coef_``."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = self.accepts_sparse
        return tags

    def predict(self, X: ArrayLike) -> Floats:
        """Return a score for each document, shape (m,): the higher, the more relevant."""
        check_is_fitted(self, "coef_")
        sparse = "csr" if self.accepts_sparse else False
        features = validate_data(self, X, reset=False, dtype=np.float64, accept_sparse=sparse)
        scores: Floats
        if issparse(features):
            scores = features.dot(self.coef_)  # type: ignore[attr-defined]
        else:
            scores = linear_scores(np.ascontiguousarray(features.T), self.coef_[None, :])[0]
        return scores


def between(name: str, value: Any, low: int, high: int) -> int:
    """Return a parameter as an int; ParameterError unless it is a whole number from low to high."""
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and low <= value <= high:
        return int(value)
    raise ParameterError(name, value, f"a whole number from {low} to {high}")
