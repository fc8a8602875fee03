"""Elimination with LambdaMART: drop the least important features, and grow trees again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, field, replace

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.language import tr
from rankstudio.engine.methods.selection.elimination import eliminate
from rankstudio.engine.methods.shards.training_data import (
    GivenData,
    TrainingData,
    training_data,
)
from rankstudio.engine.methods.two_stage import Columns, two_stage_steps, widened
from rankstudio.engine.steps import Step, steps_of
from rankstudio.engine.support.work import Waiting, WorkProgress
from rankstudio.plugins.trees.entries import LAMBDAMART_ELIMINATION
from rankstudio.plugins.trees.lambdamart import TreeStep, importances_in_trees
from rankstudio.plugins.trees.retrained_trees import RetrainedTrees


@dataclass(eq=False, repr=False)
class LambdaMARTElimination(RetrainedTrees):
    """LambdaMART elimination drops the least important features, and trains LambdaMART again.

    Pan et al. 2009 call it feature-importance-based backward
    elimination. They start it from random subsets of the features; here
    it starts from all features, like the elimination of Guyon et al.
    2002. The last remaining feature is the first of the path, and
    LambdaMART ranks with the first 1, 2, … k features. Of equally
    important features, such as those without a split, the later column
    is dropped first.

    Parameters
    ----------
    n_features_to_select : int, optional
        Number of features to select, k; all by default.
    learning_rate, num_leaves, min_data_in_leaf, ndcg_at, feature_fraction, seed
        As in :class:`rankstudio.plugins.trees.lambdamart.LambdaMART`.
    n_rounds : int, default 30
        Number of trees of every model, 1 to 10,000. All trees are used.
    importance : {"gain", "split"}, default "gain"
        Importance by which features are dropped: the total gain of the
        splits on a feature, or their number.
    dropped_share : float, optional
        Share of the remaining features that a round drops, rounded
        down; greater than 0, up to 1. At least one feature is dropped,
        and at least one is kept: 1 uses only the importances of the
        model with all features. By default, every round drops one
        feature.

    Attributes
    ----------
    booster_ : lightgbm.Booster
        Model with all selected features, in ascending order of their columns.
    coef_ : ndarray of shape (n,)
        Total gain of the splits on each feature. The model is not linear.
    support_, selection_order_ : ndarray
        As in :class:`rankstudio.engine.methods.selection.base.Selector`.
    ranking_ : ndarray of shape (n,)
        1 for the last remaining feature, n for the first dropped one.
    criterion_path_ : ndarray of shape (k,)
        Negative NDCG of the training documents by the model of each size.
    coef_path_ : ndarray of shape (k, n)
        ``coef_`` of the models of each size.

    Notes
    -----
    The fit costs as much as n fits of LambdaMART for n features, or
    fewer with ``dropped_share`` and k < n. A model that was trained to
    drop features is also the model of its size.

    Examples
    --------
    >>> from rankstudio.engine.data.synthetic import make_ranking
    >>> train = make_ranking(n_queries=30, seed=0).folds[0].train
    >>> selector = LambdaMARTElimination(3, n_rounds=3, dropped_share=0.5)
    >>> selector.fit(train.X, train.y, qid=train.qid).selection_order_.size
    3
    """

    entry = LAMBDAMART_ELIMINATION

    ranking_: Ints = field(init=False)

    _: KW_ONLY
    dropped_share: float | None = None

    def work(self, data: GivenData) -> Iterator[Step | WorkProgress]:
        """Eliminate features, and yield one step per selected feature, after progress events.

        The model of a step is LambdaMART with this feature and all
        earlier ones.
        """
        data = training_data(data)
        n = data.X.shape[1]
        k = self._n_to_select(n)

        # Invalid parameters are refused before the long fit begins.
        self._check_parameters()
        share = self.checked("dropped_share") or 0.0

        # The last model of each round, by its number of features.
        models: dict[int, Step] = {}

        def importances(columns: Ints) -> Waiting[Floats]:
            """Train LambdaMART with r columns; yield progress, and return their importances (r,).

            Models with at most k features are stored in ``models`` of
            the enclosing method.
            """
            model = yield from self._grown(data, tuple(columns.tolist()))
            if columns.size <= k:
                models[columns.size] = model
            return importances_in_trees(model, self.importance)

        # The features, the last remaining one first; and for each of
        # the first k, all importances in the round that dropped it.
        # Only importances that are exactly equal are ties. Each round
        # drops a share of the features, and at least one.
        order, candidate_importances = yield from eliminate(
            importances, np.arange(n), n, k, tie=0.0, share=share
        )
        self.ranking_ = np.empty(n, dtype=np.int64)
        self.ranking_[order] = np.arange(1, n + 1)

        # A model of each size. Rounds that drop several features skip
        # sizes: these models are trained now.
        for size in range(1, k + 1):
            columns = tuple(order[:size].tolist())
            if size in models:
                # The model knows the columns of its set only. `widened`
                # makes it a step with a model of all n columns.
                step = widened(models[size], size, columns, n)
            else:
                (step,) = yield from steps_of(
                    two_stage_steps(self._ranker(), data, [columns])
                )
            yield replace(step, number=size, candidates=candidate_importances[size - 1])

    def _grown(self, data: TrainingData, columns: Columns) -> Waiting[TreeStep]:
        """Train LambdaMART with some columns, in ascending order, and return its last step, which has all trees."""
        # The share of features that are eliminated already. It is the
        # progress reported after each tree.
        share = 1.0 - len(columns) / data.X.shape[1]
        rounds = yield from steps_of(
            self._ranker().work(data.narrowed(columns)),
            lambda _: WorkProgress(tr("eliminating features"), share),
        )
        last_round = rounds[-1]
        assert isinstance(last_round, TreeStep)
        return last_round
