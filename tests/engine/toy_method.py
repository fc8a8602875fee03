"""A method in one file, with its entry: all that adding a method to RankStudio takes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.catalog import (
    Criterion,
    Description,
    Kind,
    Method,
    Parameter,
)
from rankstudio.engine.steps import Step

ENTRY = Method(
    key="toy",
    label="Toy covariance",
    family="selector",
    description=Description(
        citation="Nobody 2031",
        title="On adding up whatever goes with the labels",
        summary="Adds one feature at a time: the one with the greatest covariance with the labels.",
        formula="w_i = sign(c_i) |c_i|^ρ",
    ),
    criterion=Criterion("mean squared error"),
    estimator="toy_method:Toy",
    parameters=(
        Parameter(
            name="power",
            label="power",
            kind=Kind.NUMBER,
            default=1.0,
            help="What the covariances are raised to: with 0 all features count alike.",
            symbol="ρ",
            source="Nobody 2031, eq. (7)",
            option="--toy-power",
            low=0.0,
            high=10.0,
        ),
    ),
)


class Toy(LinearRanker):
    """Add up the features that go with the labels, each with its covariance to some power as its weight."""

    entry = ENTRY

    def __init__(self, power: float = 1.0) -> None:
        self.power = power

    def learn(self, data: QueryData) -> Iterator[Step]:
        power = self.checked("power")
        X, y = data.centred
        covariance = X.T @ y / y.size
        order = np.argsort(-np.abs(covariance), kind="stable")
        for k in range(1, order.size + 1):
            used = order[:k]
            coef = np.zeros(order.size)
            coef[used] = np.sign(covariance[used]) * np.abs(covariance[used]) ** power
            error = float(np.mean((y - X @ coef) ** 2))
            yield Step(k, tuple(used.tolist()), coef, error, np.empty(0))
