"""Selection by the gain of features in LambdaMART's trees; LambdaMART is trained again for every size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any

import numpy as np

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arrays import Floats
from rankstudio.engine.language import tr
from rankstudio.engine.methods.base import prices_of
from rankstudio.engine.methods.memory_need import DataShape, MemoryNeed
from rankstudio.engine.methods.selection.base import GrowingSelector, without
from rankstudio.engine.methods.shards.training_data import GivenData, training_data
from rankstudio.engine.methods.two_stage import Narrowed, two_stage_steps
from rankstudio.engine.steps import Step, steps_of
from rankstudio.engine.support.work import WorkProgress
from rankstudio.plugins.trees.entries import LAMBDAMART_TOP
from rankstudio.plugins.trees.lambdamart import LambdaMART, LeafwiseTrees, TreeStep


@dataclass(eq=False, repr=False)
class LambdaMARTTop(GrowingSelector, LeafwiseTrees):
    """LambdaMART retrained on the k features with the largest total split gain.

    A single LambdaMART with all features gives the order. Its trees cannot be reused
    with k features: a split on a removed feature would leave its documents without a
    branch. LambdaMART is therefore trained for every k with the same parameters. To use
    only the order, choose another method as the final ranker.

    Parameters
    ----------
    n_features_to_select : int, optional
        Maximum number of features, k; by default all features that occur in a split. No
        others are selected.
    learning_rate, num_leaves, min_data_in_leaf, ndcg_at, feature_fraction, seed
        As in :class:`LambdaMART`.
    costs : array-like of shape (n,), optional
        Cost of each feature. ``cost_weight`` times the cost is subtracted from the gain
        of the first split on a feature in LambdaMART with all features (LightGBM's
        ``cegb`` parameters), so that expensive features need a larger gain.
    n_rounds : int, default 30
        Number of trees of every model, 1 to 10,000. All trees are used.
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
        Total gain of the splits on each feature in LambdaMART with all features, which
        determines the order.
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

    booster_: Any = field(init=False)
    gains_: Floats = field(init=False)

    _: KW_ONLY
    n_rounds: int = 30
    cost_weight: float = 1.0

    def memory_need(self, shape: DataShape) -> MemoryNeed:  # noqa: D102 - inherited
        # a copy with the selected features
        narrowed_copy = 0.0 if shape.on_disk else shape.documents
        return self._ranker().memory_need(shape).plus(narrowed_copy)

    def work(self, data: GivenData) -> Iterator[Step | WorkProgress]:
        """Yield one step per selected feature: LambdaMART with this feature and all earlier ones.

        If no split has a gain, the only step is the model without features.
        """
        data = training_data(data)
        n_wanted = self._n_to_select(data.X.shape[1])
        # Invalid parameters are refused before the long fit begins.
        for name in (
            "n_rounds",
            "learning_rate",
            "num_leaves",
            "min_data_in_leaf",
            "ndcg_at",
        ):
            self.checked(name)
        ranker = self._ranker()
        # Only the model with all features takes the costs into account.
        costs = None
        weight = self.checked("cost_weight")
        if self.costs is not None:
            costs = weight * prices_of(self.costs, data.X.shape[1])
        # The model with all features orders them by their gains.
        stage = tr("growing trees with all features")
        work = replace(ranker, costs=costs).work(data)
        grown = yield from steps_of(
            work, lambda step: WorkProgress(stage, step.number / self.n_rounds)
        )
        self.gains_ = gains = grown[-1].coef
        by_gain = np.argsort(-gains, kind="stable").tolist()
        # Features without a gain are never selected.
        order = [j for j in by_gain if gains[j] > 0][:n_wanted]
        # One model for each number of features; the candidates
        # are the gains of the features that are left.
        sets = [tuple(order[:k]) for k in range(1, len(order) + 1)] or [()]
        for event in two_stage_steps(ranker, data, sets):
            if isinstance(event, Step):
                yield replace(
                    event, candidates=without(gains, list(event.selected[:-1]))
                )
            else:
                yield event

    def _ranker(self) -> LambdaMART:
        parameters = self.get_params()
        for name in ("n_features_to_select", "costs", "cost_weight"):
            del parameters[name]
        return LambdaMART(**parameters)

    def _finish(self, data: QueryData, steps: list[Step]) -> None:
        super()._finish(data, steps)
        last = steps[-1]
        self.booster_ = None
        if isinstance(last, Narrowed) and isinstance(last.inner, TreeStep):
            self.booster_ = last.inner.detached()

    def _score(self, X: Floats) -> Floats:
        if self.booster_ is None:  # the model without features
            return np.zeros(X.shape[0])
        scores: Floats = self.booster_.predict(
            X[:, np.sort(self.selection_order_)], raw_score=True, num_threads=1
        )
        return scores
