"""Base classes of methods that learn from pairs of documents, which labels or preferences define."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from rankstudio.engine.arithmetic.pair_cost.cost import (
    CostName,
    PairCost,
    WeightingName,
)
from rankstudio.engine.arithmetic.pair_cost.pair_rows import PairRows
from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.data.preferences import Preferences
from rankstudio.engine.errors import DatasetError, ParameterError
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.steps import Step


class PreferenceLearner(LinearRanker):
    """Base class of methods that learn from pairs of documents, given by labels or preferences."""

    def steps(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        preferences: Preferences | None = None,
    ) -> Iterator[Step]:
        """Train step by step; parameters as in :meth:`fit`.

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
        """Fit to documents and queries with labels or preferences.

        Parameters
        ----------
        X, y, qid
            As in :meth:`rankstudio.engine.methods.base.LinearRanker.steps`.
        preferences : Preferences, optional
            Preferences, each between rows of X of one query, instead of y.

        Returns
        -------
        self
        """
        data = self._validated(X, labels_or_zeros(X, y, preferences), qid)
        return self._fit(preferring(data, preferences))


def labels_or_zeros(X: Any, y: Any, preferences: Preferences | None) -> Any:
    """Return the labels y, or zeros (m,) if preferences between documents replace labels.

    The zeros satisfy checks that need labels; they are not used. Raises
    a ParameterError for both labels and preferences, or for
    ``preferences`` of another type, and a DatasetError for an X without
    rows.
    """
    if preferences is None:
        return y
    if not isinstance(preferences, Preferences):
        raise ParameterError("preferences", preferences, "a value of Preferences")
    if y is not None:
        raise ParameterError(
            "preferences", preferences, "either preferences or labels y"
        )
    shape = np.shape(X)
    if not shape:
        raise DatasetError(
            f"X: expected a matrix with rows and columns, got shape {shape}."
        )
    return np.zeros(shape[0])


def preferring(data: Any, preferences: Preferences | None) -> Any:
    """Return grouped data with preferences added; without preferences, return the data themselves.

    Grouped data have the documents of each query together. Preferences
    are pairs of rows in the original order, and are translated to the
    new one: ``data.order`` (m,) are the original rows of the documents,
    or None for the same order.

    Raises
    ------
    DatasetError
        For rows that do not exist, or belong to different queries.
    """
    if preferences is None:
        return data
    # The query of each grouped row, then of each original row. A copy,
    # because the array is read and written.
    query = np.repeat(np.arange(data.ptr.size - 1), np.diff(data.ptr))
    if data.order is not None:
        query[data.order] = query.copy()
    preferences.check_queries(query)  # called for its errors only
    return replace(data, preferences=preferences.in_order(data.order))


@dataclass(eq=False, repr=False, kw_only=True)
class PairwiseLeastSquares(PreferenceLearner):
    """Base class of methods that minimise the squared errors of pairs.

    The class has the parameters of this loss.
    """

    cost: CostName = "magnitude"
    ties: bool | None = None
    weighting: WeightingName = "size"

    def pair_cost(self) -> PairCost:
        """Return the loss of a pair of documents, from the parameters of the estimator.

        Raises a ParameterError if a parameter is out of range or does
        not fit the others.
        """
        cost = self.checked("cost")
        weighting = self.checked("weighting")
        ties = cost == "magnitude" if self.ties is None else self.checked("ties")
        return PairCost(cost, ties, weighting)


def held_out_weighting(cost: PairCost) -> str:
    """Return the weighting of a loss in predictions of held-out documents: "size" or "none".

    ``cost`` is the loss of a pair.

    Raises
    ------
    ParameterError
        For a loss for which held-out documents have no closed form.
    """
    if not cost.ties or cost.weighting == "pairs":
        name = non_default_parameter(cost)
        expected = "the cost magnitude with ties and weighting size or none when pairs or sets are left out"
        raise ParameterError(name, getattr(cost, name), expected)
    return cost.weighting


def pair_rows(data: Any, cost: PairCost) -> Any:
    """Return rows whose sum of squared errors is the loss of the pairs, in place of the documents.

    Algorithms for least squares then minimise this loss, of which
    ``cost`` has the parameters. With labels and the default loss, the
    rows are the documents, and the data themselves are returned.
    ``data`` are QueryData, or their counterpart with sparse features.

    Raises
    ------
    ParameterError
        For sparse features with labels and a loss other than the default.
    """
    if isinstance(data, QueryData):
        return PairRows.of(data, cost)
    # Sparse features.
    if data.preferences is not None:
        from rankstudio.engine.arithmetic.pair_cost.preference_rows import (  # noqa: PLC0415 - scipy
            sparse_preference_rows,
        )

        return sparse_preference_rows(data, cost)
    refuse_non_default_loss(cost)  # called for its error only
    return data


def refuse_non_default_loss(cost: PairCost) -> None:
    """Raise a ParameterError for a loss of labels other than the default, which sparse features need.

    ``cost`` is the loss of a pair.
    """
    if name := non_default_parameter(cost):
        expected = "the defaults (cost magnitude, ties True, weighting size) for a sparse X, or a dense X"
        raise ParameterError(name, getattr(cost, name), expected)


def non_default_parameter(cost: PairCost) -> str:
    """Return the name of the first parameter of a pairwise loss that differs from its default, "" for none."""
    default = PairCost()
    names = [
        name
        for name in ("cost", "ties", "weighting")
        if getattr(cost, name) != getattr(default, name)
    ]
    return names[0] if names else ""
