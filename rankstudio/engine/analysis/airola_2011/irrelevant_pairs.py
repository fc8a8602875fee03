"""Pairs of different queries turn the sign of a weight (Paper I, section 5.1 and Figure 2)."""

from __future__ import annotations

import numpy as np

from rankstudio.engine.analysis.airola_2011.experiment import ExperimentColumn, PrintedExperiment
from rankstudio.engine.methods.rankers.rankrls import RankRLS

X = np.array([[0.0], [1.0], [2.0], [3.0]])
SCORES = np.array([2.0, 1.0, 4.0, 3.0])
OBJECTS = np.array([1, 1, 2, 2])

COSTS = {"(20)": "unit", "(21)": "magnitude", "(22)": "inverse"}
"""The costs of a pair, by their equations in Paper I."""

_COLUMNS = (
    ExperimentColumn("cost", "cost"),
    ExperimentColumn("weight, relevant pairs", "relevant", "+.4f"),
    ExperimentColumn("weight, all pairs", "all", "+.4f"),
)


def irrelevant_pairs(regularization: float = 1.0) -> PrintedExperiment:
    """Learn the four inputs of Figure 2, x = 0, 1 of one object and 2, 3 of another one.

    The scores 2, 1 and 4, 3 fall inside the objects and rise from one to the other.
    """
    weights = {
        equation: (_weight(regularization, cost, "query"), _weight(regularization, cost, "all"))
        for equation, cost in COSTS.items()
    }
    turned = all(relevant < 0 < every for relevant, every in weights.values())
    said = (
        "With only the relevant pairs, the weight is negative and both pairs are ordered correctly. The four "
        f"irrelevant pairs reverse its sign{'' if turned else ' with some costs only'}, as printed."
    )
    return PrintedExperiment(
        "Paper I, Figure 2",
        "a label ranking example in which irrelevant pairs are harmful",
        _COLUMNS,
        tuple((f"RankRLS {equation}", *both) for equation, both in weights.items()),
        (said,),
    )


def _weight(regularization: float, cost: str, pairs: str) -> float:
    model = RankRLS(regularization, cost=cost, ties=False, weighting="none", pairs=pairs)
    return float(model.fit(X, SCORES, qid=OBJECTS).coef_[0])
