"""The bounds of Theorems 2 and 3 on FSMRank (Lai et al. 2013), for a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankstudio.engine.analysis.features.feature_penalties import feature_penalties
from rankstudio.engine.arithmetic.pair_losses import LossName, pair_loss
from rankstudio.engine.arrays import Floats
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.errors import PlanError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.language import tr
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.metrics.evaluator import count_pairs
from rankstudio.engine.steps import Step
from rankstudio.engine.support.sparse_rows import value_range

CONFIDENCE = 0.95
"""1 - θ of Theorem 3."""


@dataclass(frozen=True)
class FSMRankBounds:
    """Bounds of two theorems on FSMRank for the objective of one model.

    Attributes
    ----------
    objective : float
        ψ of the model, eq. (2).
    above_minimum : float
        Theorem 2: after the iterations of the model, the objective is
        at most this much above the minimum. The weights of the last
        model take the place of those of the minimum, which are not
        known.
    unseen : float or None
        Theorem 3: with probability 0.95 the smooth part of the
        objective grows by at most this much on unseen pairs. It is far
        from tight, thousands of times the objective. None for the
        logistic loss, for which the paper does not prove it.
    """

    objective: float
    above_minimum: float
    unseen: float | None


def fsmrank_bounds(
    train: RankingDataset,
    step: Step,
    importance: Floats,
    lambda1: float,
    loss: LossName = "squared_hinge",
    confidence: float = CONFIDENCE,
) -> FSMRankBounds:
    """Return the bounds of both theorems for a model of FSMRank.

    Parameters
    ----------
    train : RankingDataset
        Training part, with its n features scaled to [0, 1].
    step : Step
        Last iteration of FSMRank, which started from weights of
        0.
    importance : ndarray of shape (2n,)
        Importance s of the features and of their negatives, at most 1.
    lambda1 : float
        Weight λ1 of the penalty on similar features.
    loss : {"squared_hinge", "logistic", "least_squares"}, default "squared_hinge"
        Loss of the pairs.
    confidence : float, default 0.95
        Probability 1 - θ with which Theorem 3 holds.

    Raises
    ------
    PlanError
        If features are not scaled to [0, 1], importance is above 1, or
        no query has documents with different labels: the proofs need
        all three.

    Notes
    -----
    There are p pairs, T iterations, and weights w of the 2n features
    and negatives. With the Lipschitz constant L0 = (2 b
    + 2 λ1) n and C = sum_i w_i / s_i, the bound of Theorem 2 is

        2 L0 ||w||² / (T + 1)²,

    and that of Theorem 3

        2 L0 R + ((1 + C)² + λ1/2 C² - 1) sqrt(log(1/θ) / (2p)), R = 2C
        sqrt(2n/p) + (C² + λ1/2 C²) sqrt(2 log(4n) / p).

    R is the sum of the complexities of the three terms in the proof
    (Appendix II). That of λ1/2 w'Aw is λ1/2 times that of the entropy
    bound, C² sqrt(2 log(4n) / p), because A is at most 1.

    The greatest second derivative b of the loss of a pair is 2 for the
    squared hinge (Theorem 1) and for least squares, and 1/4 for the
    logistic loss. Theorem 2 holds for every b. The proof of Theorem 3
    takes least squares in place of the squared hinge (eq. (II.11)), and
    so holds for these two losses.
    """
    # Conditions of the theorems.
    X = train.X
    n = X.shape[1]
    size = np.abs(step.coef)
    low, high = value_range(X)
    if low < 0 or high > 1 or importance.max() > 1:
        raise PlanError(
            tr(
                "The bounds of FSMRank need features scaled to [0, 1] and importance up to 1."
            )
        )

    # C is the sum of the absolute weights, each divided by its importance.
    used = np.flatnonzero(step.coef)
    # A negative weight belongs to the feature's negative, in the second half.
    s = np.where(step.coef[used] > 0, importance[used], importance[n + used])
    C = float((size[used] / s).sum())
    if not (p := int(count_pairs(train.y, train.query_ptr).sum())):
        raise PlanError(
            tr(
                "The bounds of FSMRank need a query whose documents have different labels."
            )
        )

    # Terms of the bounds, see the Notes: L0, R, and the second summand
    # of Theorem 3. `bend` is the greatest second derivative b.
    lipschitz = (2.0 * pair_loss(loss).bend + 2.0 * lambda1) * n
    complexity = 2.0 * C * np.sqrt(2.0 * n / p)
    complexity += (1.0 + lambda1 / 2.0) * C**2 * np.sqrt(2.0 * np.log(4.0 * n) / p)
    greatest_change = (1.0 + C) ** 2 + lambda1 / 2.0 * C**2 - 1.0
    tail = greatest_change * np.sqrt(-np.log(1.0 - confidence) / (2.0 * p))
    # `criterion` of the last iteration is the objective, and `number`
    # is the number T of iterations.
    return FSMRankBounds(
        objective=step.criterion,
        above_minimum=float(2.0 * lipschitz * (size @ size) / (step.number + 1) ** 2),
        unseen=(
            None if loss == "logistic" else float(2.0 * lipschitz * complexity + tail)
        ),
    )


def bounds_of(
    plan: Plan,
    parameters: Mapping[str, Any],
    step: Step,
    data: TrainingData,
    train: RankingDataset,
) -> FSMRankBounds | None:
    """Return the bounds of a run's model, by the theorems of the paper of FSMRank.

    The bounds are those of the objective that FSMRank minimises. The
    result is None for other methods, or if the bounds do not hold.

    Parameters
    ----------
    plan : Plan
        Plan of the run.
    parameters : Mapping
        Values of the parameters with which the model was trained.
    step : Step
        The model.
    data, train : TrainingData, RankingDataset
        Training part of the fold, in the form that methods take, and as
        a dataset.
    """
    if plan.method != "fsmrank" or plan.ranker:
        return None
    ids = train.feature_ids
    # Importance of all features; no similarities are needed.
    penalties = feature_penalties(plan, parameters, data, ids, range(ids.size), ())
    try:
        importance = np.concatenate((penalties.importance, penalties.of_negative))
        return fsmrank_bounds(
            train, step, importance, parameters["lambda1"], parameters["loss"]
        )
    except PlanError:
        return None
