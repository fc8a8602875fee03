"""Methods that also learn from preferences between documents, without labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from rankstudio.engine.data.preferences.preferences import Preferences
from rankstudio.engine.errors import DatasetError, ParameterError
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.steps import Step


class PreferenceLearner(LinearRanker):
    """Base of the methods that learn from labels or from preferences, a pair of documents each."""

    def steps(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        preferences: Preferences | None = None,
    ) -> Iterator[Step]:
        """Learn step by step; parameters as for :meth:`fit`.

        Yields
        ------
        Step
        """
        data = self._group(X, labels_or_zeros(X, y, preferences), qid)
        yield from self.learn(preferring(data, preferences))

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        preferences: Preferences | None = None,
    ) -> Self:
        """Learn from documents and queries, and from labels or preferences.

        Parameters
        ----------
        X, y, qid
            As for :meth:`rankstudio.engine.methods.base.LinearRanker.steps`.
        preferences : Preferences, optional
            Between rows of X of one query each, in place of y.

        Returns
        -------
        self
        """
        data = self._validated(X, labels_or_zeros(X, y, preferences), qid)
        return self._fit(preferring(data, preferences))


def labels_or_zeros(X: Any, y: Any, preferences: Preferences | None) -> Any:
    """Return the labels, zeros beside preferences; ParameterError where there are both."""
    if preferences is None:
        return y
    if not isinstance(preferences, Preferences):
        raise ParameterError("preferences", preferences, "a value of Preferences")
    if y is not None:
        raise ParameterError("preferences", preferences, "either preferences or labels y")
    shape = np.shape(X)
    if not shape:
        raise DatasetError(f"X: expected a matrix with rows and columns, got shape {shape}.")
    return np.zeros(shape[0])


def preferring(data: Any, preferences: Preferences | None) -> Any:
    """Return grouped data with preferences between the rows as they were given.

    Raises
    ------
    DatasetError
        For rows that are not there, or of different queries.
    """
    if preferences is None:
        return data
    query = np.repeat(np.arange(data.ptr.size - 1), np.diff(data.ptr))
    if data.order is not None:
        query[data.order] = query.copy()
    preferences.check_queries(query)
    return replace(data, preferences=preferences.in_order(data.order))
