"""The squared loss of a pair of documents, and the total weight of the pairs of a query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from rankstudio.engine.arithmetic.magnitude import LEAST_DIFFERENCE
from rankstudio.engine.arrays import Floats
from rankstudio.engine.errors import DatasetError, ParameterError

CostName = Literal["magnitude", "unit", "inverse"]
WeightingName = Literal["size", "pairs", "none"]
COSTS: tuple[CostName, ...] = get_args(CostName)
WEIGHTINGS: tuple[WeightingName, ...] = get_args(WeightingName)


@dataclass(frozen=True)
class PairCost:
    """The squared loss ω (z - f(x_i) + f(x_j))² of a pair with y_i > y_j (Pahikkala et al. 2009, eq. (11)).

    Attributes
    ----------
    cost : {"magnitude", "unit", "inverse"}
        With the magnitude d = y_i - y_j of a pair: "magnitude" has z = d and ω
        = 1 (eq. (21)), "unit" z = 1 and ω = 1 (eq. (20)), "inverse" z = d and ω
        = 1/d² (eq. (22)).
    ties : bool
        Whether pairs of equal labels count, with z = 0 and ω = 1; only
        for "magnitude".
    weighting : {"size", "pairs", "none"}
        Whether a query's loss is divided by its number of documents, by
        its number of pairs, or not at all.

    Raises
    ------
    ParameterError
        For an unknown value, and for ties with a cost that does not
        support them.

    Examples
    --------
    >>> from rankstudio.api import PairCost
    >>> PairCost("unit", ties=False).weighting
    'size'
    """

    cost: CostName = "magnitude"
    ties: bool = True
    weighting: WeightingName = "size"

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> PairCost:
        """Return the loss defined by the parameters of a method, or the default."""
        if "cost" not in parameters:
            return cls()
        ties = parameters["cost"] == "magnitude" and parameters["ties"]
        return cls(parameters["cost"], ties, parameters["weighting"])

    def __post_init__(self) -> None:
        """Raise ParameterError for unknown values, or ties of a cost without them."""
        if self.cost not in COSTS:
            raise ParameterError("cost", self.cost, "magnitude, unit or inverse")
        if self.weighting not in WEIGHTINGS:
            raise ParameterError("weighting", self.weighting, "size, pairs or none")
        if self.ties and self.cost != "magnitude":
            raise ParameterError(
                "ties",
                self.ties,
                f"False with the cost {self.cost}, because only magnitude has ties",
            )

    @property
    def default(self) -> bool:
        """Whether it equals least squares on labels and features centred within each query."""
        return self == PairCost()

    def between(self, labels: Floats) -> tuple[Floats, Floats]:
        """Return ω and z of pairs between classes of documents with equal labels.

        Parameters
        ----------
        labels : ndarray of shape (r,)
            Labels of the classes, ascending and distinct.

        Returns
        -------
        weights : ndarray of shape (r, r)
            Weights ω of pairs of documents of two classes; symmetric,
            and 0 where pairs do not count.
        preferences : ndarray of shape (r, r)
            Target differences z; antisymmetric: the preference of the
            row's class over the column's.
        """
        difference = labels[:, None] - labels[None, :]
        weights = np.ones_like(difference)
        if self.cost == "inverse":
            check_differences(np.diff(labels))
            # Avoid a division by 0 on the diagonal.
            np.fill_diagonal(difference, 1.0)
            weights = 1.0 / difference**2
            np.fill_diagonal(difference, 0.0)
        if not self.ties:
            np.fill_diagonal(weights, 0.0)
        # With the cost "unit", a preference is 1 for any difference of labels.
        preferences = np.sign(difference) if self.cost == "unit" else difference
        return weights, preferences


def check_differences(differences: Floats) -> None:
    """Raise DatasetError if labels are too close to divide by their difference."""
    if differences.size and (least := float(differences.min())) < LEAST_DIFFERENCE:
        raise DatasetError(
            f"y: expected labels that are equal or differ by at least {LEAST_DIFFERENCE:g} with the cost "
            f"inverse, found two that differ by {least:g}."
        )
