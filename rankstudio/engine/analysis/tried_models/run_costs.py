"""Costs of the models of runs at query time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rankstudio.engine.analysis.tried_models.tried_models import TriedModel
from rankstudio.engine.arrays import Ints
from rankstudio.engine.data.feature_costs import FeatureCosts
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.methods.catalog import Kind
from rankstudio.engine.methods.catalog.parameter import MILLISECONDS


@dataclass(frozen=True)
class RunCosts:
    """Costs of features, by which the models of several runs are compared.

    Attributes
    ----------
    prices : Mapping of int to float
        Cost of each feature by the feature's id.
    milliseconds : bool
        Whether costs are milliseconds per query; otherwise features
        without a cost cost 1.
    """

    prices: Mapping[int, float]
    milliseconds: bool

    def of(self, model: TriedModel, ids: Ints) -> float:
        """Return the cost of the features of a model, as the mean over the folds.

        `ids`, shape (n,), has the feature id of each column. If costs
        are times, the result is NaN if a feature has no time; otherwise
        a feature without a cost counts 1.
        """
        default_cost = float("nan") if self.milliseconds else 1.0
        totals = [
            sum(
                self.prices.get(int(ids[column]), default_cost)
                for column in step.selected
            )
            for step in model.steps
        ]
        return float(np.mean(totals))


def costs_of(runs: Sequence[RunResult]) -> RunCosts | None:
    """Return the costs of features by which runs are compared; None if all cost 1.

    The costs are the times of the first run that has milliseconds for
    features, or else the costs of the first run that has any other than
    1. If every feature costs 1, the cost of a model is its number of
    features.
    """
    # Milliseconds.
    for run in runs:
        costs = run.plan.extension(FeatureCosts)
        if costs is not None:
            return RunCosts(
                {i: costs.milliseconds([i]) for i in costs.per_query}, milliseconds=True
            )

    # Costs that are a parameter of the method.
    for run in runs:
        for p in run.plan.entry.parameters:
            if p.kind is Kind.COSTS:
                # The first value of the parameter that is not empty.
                setting = next(
                    (v for v in p.values(run.plan.parameters[p.name]) if v), None
                )
                if setting is None or setting == MILLISECONDS:
                    continue
                if any(cost != 1.0 for _, cost in setting):
                    prices = {int(feature): float(cost) for feature, cost in setting}
                    return RunCosts(prices, milliseconds=False)
    return None
