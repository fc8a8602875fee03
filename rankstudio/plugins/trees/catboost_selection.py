"""CatBoost's own feature selection, for comparison: trains, drops the weakest features, and repeats."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from rankstudio.engine.arrays import Ints
from rankstudio.engine.errors import Cancelled
from rankstudio.engine.language import tr
from rankstudio.engine.methods.memory_need import DataShape, MemoryNeed, sums_need
from rankstudio.engine.methods.selection.base import Ordering, PathSelector
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.support.lightgbm_library import boosting_library
from rankstudio.engine.support.work import Waiting, part_of
from rankstudio.plugins.trees.converted_trees import (
    CatBoostTrees,
    as_dataset_errors,
    can_learn,
    catboost_parameters,
    pool_of,
    run_with_progress,
    varying_columns,
)
from rankstudio.plugins.trees.entries import CATBOOST_SELECTION

_ALGORITHMS = {
    "loss": "RecursiveByLossFunctionChange",
    "shap": "RecursiveByShapValues",
    "scores": "RecursiveByPredictionValuesChange",
}


@dataclass(eq=False, repr=False)
class CatBoostSelection(PathSelector):
    """CatBoost selection drops the least important features of CatBoost, stage by stage.

    It calls ``CatBoostRanker.select_features`` for one stage at a time,
    down to one feature. The last remaining feature is the first of the
    path. Constant features come last. If no query has two different
    labels, all features come in the order of their columns.

    Parameters
    ----------
    n_features_to_select : int, optional
        Number of features to select, k; all by default.
    importance : {"loss", "shap", "scores"}, default "loss"
        CatBoost's algorithm: ``RecursiveByLossFunctionChange``,
        ``RecursiveByShapValues`` or
        ``RecursiveByPredictionValuesChange``.
    n_stages : int, default 5
        Maximum number of times that CatBoost is trained, 1 to 1000
        (``steps``). Stage s of S leaves n^(1 - s/S) of n features,
        rounded; stages that would drop no feature are skipped.
    n_rounds : int, default 100
        Number of trees of each stage, 1 to 10,000.
    learning_rate, depth, objective, seed
        As in :class:`rankstudio.plugins.trees.converted_trees.CatBoostTrees`.
    regularization : float, default 1.0
        λ > 0 of RankRLS, which ranks with the selected features.

    Attributes
    ----------
    ranking_ : ndarray of shape (n,)
        1 for the last remaining feature, n for the first dropped one.

    Notes
    -----
    The fit takes S times the time of CatBoost, plus that of the
    importances, which for Shapley values is O(m T 2^d d) with m
    documents, T trees and depth d. A request to stop waits for a tree,
    or for the importances of a stage. The attributes of the path are
    those of
    :class:`rankstudio.engine.methods.selection.base.PathSelector`.

    Examples
    --------
    >>> from rankstudio.engine.data.synthetic import make_ranking
    >>> train = make_ranking(n_queries=30, seed=0).folds[0].train
    >>> CatBoostSelection(3).fit(train.X, train.y, qid=train.qid).selection_order_.size  # doctest: +SKIP
    3
    """

    entry = CATBOOST_SELECTION

    ranking_: Ints = field(init=False)

    _: KW_ONLY
    importance: str = "loss"
    n_stages: int = 5
    n_rounds: int = 100
    learning_rate: float = 0.1
    depth: int = 6
    objective: str = "YetiRank"
    seed: int = 0
    regularization: float = 1.0

    def memory_need(self, shape: DataShape) -> MemoryNeed:  # noqa: D102 - inherited
        trees_need = CatBoostTrees().memory_need(shape)
        copied_bytes = shape.documents  # a copy of the remaining columns
        return trees_need.plus(copied_bytes + sums_need(shape).least)

    def order_features(self, data: TrainingData, k: int) -> Waiting[Ordering]:
        """Drop features in stages with CatBoost, and return the first k of the resulting order.

        The order begins with the features that no stage drops. Then
        come the dropped features, the last dropped first. Progress
        events come after each tree.
        """
        algorithm = _ALGORITHMS[self.checked("importance")]
        n_stages = self.checked("n_stages")

        # All documents at once; the label of the method is for the
        # error if they do not fit into memory.
        rows = data.whole(self.entry.label)
        parameters = catboost_parameters(self, rows.X)
        catboost = boosting_library("CatBoost", self.entry.label)

        # Constant features are dropped before the first stage. If there
        # is nothing to learn, such as with equal labels, no feature is
        # dropped at all.
        n = rows.X.shape[1]
        columns_left = varying_columns(rows.X) if can_learn(rows) else np.arange(n)
        dropped = np.setdiff1d(np.arange(n), columns_left).tolist()  # the latest first

        # The number of features after each stage falls by the same
        # factor from stage to stage.
        n_stages = min(n_stages, columns_left.size - 1) if can_learn(rows) else 0
        sizes = [
            round(columns_left.size ** (1 - s / n_stages))
            for s in range(1, n_stages + 1)
        ]

        # Each stage drops the least important of the features that are left.
        for number, size in enumerate(sizes, start=1):
            # Asked to drop no feature, CatBoost would drop all.
            if size == columns_left.size:
                continue
            pool = pool_of(catboost, rows, columns_left)

            # `run_with_progress` runs the stage on a thread, with
            # progress from tree to tree; `part_of` makes it a part of
            # the whole progress.
            stage = partial(
                _dropped_columns, catboost, parameters, pool, size, algorithm
            )
            with as_dataset_errors(self.entry.label, catboost):
                growing = run_with_progress(
                    stage, tr("eliminating features"), parameters["iterations"]
                )
                eliminated = yield from part_of(
                    growing, (number - 1) / n_stages, number / n_stages
                )

            # The least important column comes first in `eliminated`,
            # and the one dropped last comes first in `dropped`.
            dropped = [*columns_left[eliminated[::-1]].tolist(), *dropped]
            columns_left = np.delete(columns_left, eliminated)

        # The features that no stage dropped come first.
        order = np.array([*columns_left.tolist(), *dropped], dtype=np.int64)
        ranking = np.empty(n, dtype=np.int64)
        ranking[order] = np.arange(1, n + 1)

        # CatBoost gives no scores of the features that it compares: all are NaN.
        return Ordering(order[:k], np.full(n, np.nan), {"ranking_": ranking})


def _dropped_columns(
    catboost: Any,
    parameters: dict[str, Any],
    pool: Any,
    size: int,
    algorithm: str,
    go_on: Callable[[], bool],
) -> list[int]:
    """Return the columns of a pool that CatBoost drops to leave ``size``, the least important first.

    ``catboost`` is the module, and ``pool`` the training documents.
    ``parameters`` are CatBoost's, and ``algorithm`` is its measure of
    importance. ``go_on`` is called after each tree, and returns False
    to stop CatBoost: Cancelled is then raised.
    """

    class StopCheck:
        """A measure for CatBoost that is always 0, and stops CatBoost when ``go_on`` returns False.

        ``select_features`` accepts no callbacks, but evaluates a
        measure after each tree.
        """

        no_jit = True  # otherwise CatBoost compiles the measure, with warnings

        def is_max_optimal(self) -> bool:
            return True

        def get_final_error(self, error: float, _weight: float) -> float:
            return error

        def evaluate(self, *_: Any) -> tuple[float, float]:
            if not go_on():
                raise Cancelled
            return 0.0, 1.0

        evaluate.no_jit = True  # type: ignore[attr-defined]

    # CatBoost creates a folder, by default in the current one, although
    # it writes no files.
    with TemporaryDirectory(prefix="rankstudio-") as folder:
        model = catboost.CatBoostRanker(
            **parameters,
            eval_metric=StopCheck(),
            train_dir=folder,
        )
        selection = model.select_features(
            pool,
            features_for_select=list(range(pool.num_col())),
            num_features_to_select=size,
            steps=1,  # all at once
            algorithm=algorithm,
            train_final_model=False,
        )
    eliminated: list[int] = selection["eliminated_features"]
    return eliminated
