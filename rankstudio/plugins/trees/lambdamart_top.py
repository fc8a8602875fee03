"""Selection by the splits on features in the trees of LambdaMART with all features."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from rankstudio.engine.arrays import Floats
from rankstudio.engine.language import tr
from rankstudio.engine.methods.base import prices_of
from rankstudio.engine.methods.selection.base import without
from rankstudio.engine.methods.shards.training_data import (
    GivenData,
    TrainingData,
    training_data,
)
from rankstudio.engine.methods.two_stage import two_stage_steps
from rankstudio.engine.steps import Step, steps_of
from rankstudio.engine.support.work import Waiting, WorkProgress
from rankstudio.plugins.trees.entries import LAMBDAMART_TOP
from rankstudio.plugins.trees.lambdamart import TreeStep, importances_in_trees
from rankstudio.plugins.trees.retrained_trees import RetrainedTrees


@dataclass(eq=False, repr=False)
class LambdaMARTTop(RetrainedTrees):
    """LambdaMART retrained on the k features with the largest importance in its trees.

    A single LambdaMART with all features gives the order: by the total
    gain of the splits on each feature, its relative importance (Pan et
    al. 2009), or by the number of these splits. Its trees cannot be
    reused with k features: a split on a removed feature would leave its
    documents without a branch. LambdaMART is therefore trained for
    every k with the same parameters. To use only the order, choose
    another method as the final ranker.

    Parameters
    ----------
    n_features_to_select : int, optional
        Maximum number of features, k; by default all features that
        occur in a split. No others are selected.
    learning_rate, num_leaves, min_data_in_leaf, ndcg_at, feature_fraction, seed
        As in :class:`LambdaMART`.
    n_rounds : int, default 30
        Number of trees of every model, 1 to 10,000. All trees are used.
    importance : {"gain", "split"}, default "gain"
        Importance that orders the features: the total gain of the
        splits on a feature, or their number. Features with equal
        numbers of splits are ordered by column.
    costs : array-like of shape (n,), optional
        Cost of each feature. ``cost_weight`` times the cost is
        subtracted from the gain of the first split on a feature in
        LambdaMART with all features (LightGBM's ``cegb`` parameters),
        so that expensive features need a larger gain.
    cost_weight : float, default 1.0
        Weight of the costs against the gain; greater than 0.

    Attributes
    ----------
    booster_ : lightgbm.Booster
        Model with all selected features, in ascending order of their columns.
    coef_ : ndarray of shape (n,)
        Total gain of the splits on each feature. The model is not linear.
    support_, selection_order_ : ndarray
        As in :class:`rankstudio.engine.methods.selection.base.Selector`.
    gains_ : ndarray of shape (n,)
        Total gain of the splits on each feature in LambdaMART with all features.
    importances_ : ndarray of shape (n,)
        Importance of each feature in LambdaMART with all features,
        which determines the order.
    criterion_path_ : ndarray of shape (k,)
        Negative NDCG of the training documents by the model of each size.
    coef_path_ : ndarray of shape (k, n)
        ``coef_`` of the models of each size.

    Notes
    -----
    The fit costs as much as 1 + k fits of LambdaMART.

    Examples
    --------
    >>> from rankstudio.engine.data.synthetic import make_ranking
    >>> train = make_ranking(n_queries=30, seed=0).folds[0].train
    >>> LambdaMARTTop(3, n_rounds=5).fit(train.X, train.y, qid=train.qid).selection_order_.size
    3
    """

    entry = LAMBDAMART_TOP

    gains_: Floats = field(init=False)
    importances_: Floats = field(init=False)

    _: KW_ONLY
    costs: ArrayLike | None = None
    cost_weight: float = 1.0

    def work(self, data: GivenData) -> Iterator[Step | WorkProgress]:
        """Train LambdaMART with all features, and yield one step per feature in the order of importance.

        The model of a step is LambdaMART with this feature and all
        earlier ones. If no split has a gain, the only step is the model
        without features.
        """
        data = training_data(data)
        n_wanted = self._n_to_select(data.X.shape[1])

        # Invalid parameters are refused before the long fit begins.
        self._check_parameters()
        importances = yield from self._importances(data)
        by_importance = np.argsort(-importances, kind="stable").tolist()

        # Features without a split are never selected.
        order = [j for j in by_importance if importances[j] > 0][:n_wanted]

        # One model for each number of features. The candidates of a
        # step are the importances of the features that earlier steps
        # have not selected.
        sets = [tuple(order[:k]) for k in range(1, len(order) + 1)] or [()]

        # `two_stage_steps` trains a model with each set, in turn.
        for event in two_stage_steps(self._ranker(), data, sets):
            if isinstance(event, Step):
                candidates = without(importances, list(event.selected[:-1]))
                yield replace(event, candidates=candidates)
            else:
                yield event

    def _importances(self, data: TrainingData) -> Waiting[Floats]:
        """Train LambdaMART with all features; yield progress, and return the features' importances (n,).

        The method also sets the attributes ``gains_`` and ``importances_``.
        """
        # Only this model, with all features, takes their costs into account.
        costs = None
        weight = self.checked("cost_weight")
        if self.costs is not None:
            costs = weight * prices_of(self.costs, data.X.shape[1])
        stage = tr("growing trees with all features")
        work = replace(self._ranker(), costs=costs).work(data)

        # Progress is reported after each round, which is a step.
        grown = yield from steps_of(
            work,
            lambda step: WorkProgress(stage, step.number / self.n_rounds),
        )
        last_round = grown[-1]
        assert isinstance(last_round, TreeStep)
        self.gains_ = last_round.coef
        self.importances_ = importances_in_trees(last_round, self.importance)
        return self.importances_
