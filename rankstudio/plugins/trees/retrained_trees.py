"""Base class of selectors that train LambdaMART again for every number of features."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field, fields
from typing import Any

import numpy as np

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arrays import Floats
from rankstudio.engine.methods.memory_need import DataShape, MemoryNeed
from rankstudio.engine.methods.selection.base import GrowingSelector
from rankstudio.engine.methods.two_stage import Narrowed
from rankstudio.engine.steps import Step
from rankstudio.plugins.trees.lambdamart import (
    Importance,
    LambdaMART,
    LeafwiseTrees,
    TreeStep,
)


@dataclass(eq=False, repr=False)
class RetrainedTrees(GrowingSelector, LeafwiseTrees):
    """Base class of selectors whose models are LambdaMART with the first 1, 2, … k features.

    Attributes
    ----------
    booster_ : lightgbm.Booster
        Model with all selected features, in ascending order of their
        columns; None for a model without features.
    """

    booster_: Any = field(init=False)

    _: KW_ONLY
    n_rounds: int = 30
    importance: Importance = "gain"

    def memory_need(self, shape: DataShape) -> MemoryNeed:  # noqa: D102 - inherited
        # a copy with the selected features
        narrowed_copy = 0.0 if shape.on_disk else shape.documents
        return self._ranker().memory_need(shape).plus(narrowed_copy)

    def _ranker(self) -> LambdaMART:
        """Return LambdaMART with the parameters of the trees, without costs."""
        names = ["n_rounds", *(parameter.name for parameter in fields(LeafwiseTrees))]
        return LambdaMART(**{name: getattr(self, name) for name in names})

    def _check_parameters(self) -> None:
        """Raise a ParameterError for an invalid parameter, before a long fit begins."""
        for name in (
            "n_rounds",
            "learning_rate",
            "num_leaves",
            "min_data_in_leaf",
            "ndcg_at",
            "feature_fraction",
            "importance",
        ):
            self.checked(name)

    def _finish(self, data: QueryData, steps: list[Step]) -> None:
        """Set ``booster_`` and the attributes of selectors, from the last step."""
        super()._finish(data, steps)
        last = steps[-1]
        self.booster_ = None
        if isinstance(last, Narrowed) and isinstance(last.inner, TreeStep):
            self.booster_ = last.inner.detached()

    def _score(self, X: Floats) -> Floats:
        """Return the scores (m,) of checked documents X (m, n) by the model with all selected features."""
        if self.booster_ is None:  # the model without features
            return np.zeros(X.shape[0])

        # The model was trained on the selected columns in ascending
        # order, and knows no others. The number of threads changes no
        # score.
        scores: Floats = self.booster_.predict(
            X[:, np.sort(self.selection_order_)], raw_score=True, num_threads=1
        )
        return scores
