"""The pairwise loss of a method of least squares, as its parameters say it."""

from __future__ import annotations

from typing import Any

from rankstudio.engine.arithmetic.pair_cost.cost import PairCost
from rankstudio.engine.arithmetic.pair_cost.pair_rows import PairRows
from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.methods.preference_learner import PreferenceLearner


class PairwiseLeastSquares(PreferenceLearner):
    """Base of the methods that minimise the squared errors of pairs, with a cost and weights of queries.

    Their parameters include ``cost``, ``ties`` and ``weighting``.
    """

    cost: str
    ties: bool | None
    weighting: str

    def pair_cost(self) -> PairCost:
        """Return the loss; ParameterError where a parameter is out of range or does not go with another."""
        cost, weighting = self.checked("cost"), self.checked("weighting")
        ties = cost == "magnitude" if self.ties is None else self.checked("ties")
        return PairCost(cost, ties, weighting)


def held_out_weighting(cost: PairCost) -> str:
    """Return the weighting of :class:`rankstudio.engine.methods.holdout.predictor.HeldOutPredictor`.

    Raises
    ------
    ParameterError
        For a loss of which documents of one ranking are not left out.
    """
    if not cost.ties or cost.weighting == "pairs":
        name = unusual(cost)
        expected = "the cost magnitude with ties and weighting size or none when pairs or sets are left out"
        raise ParameterError(name, getattr(cost, name), expected)
    return cost.weighting


def pair_rows(data: Any, cost: PairCost) -> Any:
    """Return data whose squared errors are the loss: those given where it is the usual one of labels.

    Raises
    ------
    ParameterError
        For another loss of labels with sparse features.
    """
    if isinstance(data, QueryData):
        return PairRows.of(data, cost)
    if data.preferences is not None:
        from rankstudio.engine.arithmetic.pair_cost.preference_rows import sparse_preference_rows  # noqa: PLC0415 - scipy

        return sparse_preference_rows(data, cost)
    if not cost.default:
        expected = "the defaults (cost magnitude, ties True, weighting size) for a sparse X, or a dense X"
        name = unusual(cost)
        raise ParameterError(name, getattr(cost, name), expected)
    return data


def unusual(cost: PairCost) -> str:
    """Return the first parameter that is not at its default, "" where all are."""
    usual = PairCost()
    names = [name for name in ("cost", "ties", "weighting") if getattr(cost, name) != getattr(usual, name)]
    return names[0] if names else ""
