"""Computations of the Queries page on the task worker, and their cache.

The engine's modules that bring compiled kernels are imported on that thread.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from rankstudio.engine.arrays import Floats
from rankstudio.engine.data.dataset import Fold, FoldedDataset
from rankstudio.engine.errors import Cancelled
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.results import Chosen
from rankstudio.engine.steps import Step
from rankstudio.ui.background.worker import CancelFlag

if TYPE_CHECKING:
    from rankstudio.engine.methods.shards.training_data import TrainingData
    from rankstudio.plugins.queries.feature_ablation import (
        AblatedQueries,
        FeatureAblation,
    )
    from rankstudio.plugins.queries.query_comparison import (
        ComparedQuery,
        QueryComparison,
    )
    from rankstudio.plugins.queries.query_paths import QueryPaths
    from rankstudio.plugins.queries.ranked_query import RankedQuery

_MAX_STORED_SCORES = (
    # models whose scores on a part are kept; of large data, these take
    # some megabytes each
    40
)
_MAX_TRAINING_PARTS = 10  # training parts that are kept ready for training
_MAX_MODELS = 2000  # models without a feature that are kept


@dataclass(frozen=True, eq=False)
class QueryRequest:
    """Request for a comparison of two models.

    Attributes
    ----------
    dataset : FoldedDataset
    folds : tuple of int
        Numbers of the folds whose queries are compared.
    part : str
        Part of the folds: "test", "vali" or "train".
    a, b : Mapping of int to Step
        Models A and B in each fold.
    measure, convention : str
    """

    dataset: FoldedDataset
    folds: tuple[int, ...]
    part: str
    a: Mapping[int, Step]
    b: Mapping[int, Step]
    measure: str
    convention: str

    def fold(self, number: int) -> Fold:
        """Return a fold by its number."""
        return next(fold for fold in self.dataset.folds if fold.number == number)


class QueryTasks:
    """Compares models, ranks queries and trains models without a feature, all on one worker."""

    def __init__(self) -> None:
        self._scored = lru_cache(_MAX_STORED_SCORES)(_model_scores)
        self._train = lru_cache(_MAX_TRAINING_PARTS)(_training_data)
        # Models without a feature, by the model and the column of the feature.
        self._models: OrderedDict[tuple[Step, int], Step] = OrderedDict()

    def compare(self, request: QueryRequest) -> QueryComparison:
        """Measure the models A and B of a request in every query of its folds."""
        from rankstudio.plugins.queries.query_comparison import compare_queries  # noqa: PLC0415 - numba

        folds = [request.fold(number) for number in request.folds]

        # Scores of models A and B by fold; `_scored` has a cache of earlier ones.
        a, b = (
            {f.number: self._scored(steps[f.number], f, request.part) for f in folds}
            for steps in (request.a, request.b)
        )
        comparison = compare_queries(
            folds, request.part, a, b, request.measure, request.convention
        )

        # These properties are cached. Computing them takes a while, so
        # they are computed here.
        _ = comparison.counts, comparison.mean_difference
        return comparison

    def rank(self, request: QueryRequest, query: ComparedQuery) -> RankedQuery:
        """Rank the documents of a query by models A and B, and split A's scores by feature."""
        from rankstudio.plugins.queries.ranked_query import ranked_query  # noqa: PLC0415 - numba

        fold = request.fold(query.fold)
        step = request.a[query.fold]
        a, b = (
            self._scored(model, fold, request.part)
            for model in (step, request.b[query.fold])
        )
        ranked = ranked_query(
            fold.parts[request.part], query.position, step, a, b, request.convention
        )

        # computed here, on the worker, and cached
        _ = ranked.above_least, ranked.by_influence
        return ranked

    def select_for(
        self,
        request: QueryRequest,
        fold: int,
        marked: Sequence[int],
        parameters: Mapping[str, Any],
    ) -> QueryPaths:
        """Return the features that greedy RankRLS selects on marked queries of a fold, and on its others.

        ``marked`` has positions of queries in the part, and
        ``parameters`` are those of greedy RankRLS.
        """
        from rankstudio.engine.arithmetic.query_data import QueryData  # noqa: PLC0415 - numba
        from rankstudio.engine.methods.selection.greedy_rankrls.estimator import (  # noqa: PLC0415 - numba
            GreedyRankRLS,
        )
        from rankstudio.plugins.queries.query_paths import query_paths  # noqa: PLC0415 - numba

        part = request.fold(fold).parts[request.part]
        return query_paths(
            GreedyRankRLS(**parameters),
            QueryData(part.X, part.y, part.query_ptr),
            marked,
        )

    def leave_out(
        self, request: QueryRequest, plan: Plan, fold: int, chosen: Chosen, column: int
    ) -> Callable[[CancelFlag], Iterator[AblatedQueries]]:
        """Return the job that trains model A again without a feature, and measures it.

        A is the first of the two compared models. It is ``chosen`` on
        the fold with the number ``fold``, and was trained by ``plan``.
        ``column`` is the column of the feature. The worker calls the
        job with a function that returns whether the job is cancelled.
        """

        def work(cancelled: CancelFlag) -> Iterator[AblatedQueries]:
            """Train model A without the feature, and yield the measures of both models, once.

            The request, plan, fold, model (``chosen``) and feature
            (``column``) are the arguments of `leave_out`, the method
            around this function. ``cancelled`` returns whether the user
            has stopped the training, which then ends with the error
            Cancelled.
            """

            def follow(_: object) -> None:
                """End the training once it is cancelled."""
                if cancelled():
                    raise Cancelled("Leaving a feature out")

            yield self._left_out(request, plan, fold, chosen, column, follow)

        return work

    def _left_out(
        self,
        request: QueryRequest,
        plan: Plan,
        fold: int,
        chosen: Chosen,
        column: int,
        follow: Callable[[object], None],
    ) -> AblatedQueries:
        """Return the measures of a fold's queries with and without a feature.

        The model without the feature is trained unless it is kept from before.
        """
        from rankstudio.plugins.queries.feature_ablation import (  # noqa: PLC0415 - numba
            ablated_queries,
            relearned,
        )

        fold_data = request.fold(fold)

        # The same model is needed again for another measure or part.
        key = chosen.step, column
        if key not in self._models:
            relearned_step = relearned(
                plan,
                self._train(fold_data),
                fold_data.train.feature_ids,
                chosen,
                column,
                follow,
            )
            self._models[key] = relearned_step

            # The oldest models are dropped.
            while len(self._models) > _MAX_MODELS:
                self._models.popitem(last=False)
        steps = chosen.step, self._models[key]
        return ablated_queries(
            fold_data, request.part, column, steps, request.measure, request.convention
        )

    @staticmethod
    def sum_up(
        of_feature: Sequence[AblatedQueries],
        ablations: Sequence[AblatedQueries],
        measure: str,
    ) -> tuple[FeatureAblation, int]:
        """Return a feature's effect on all folds, and the number of queries that never change.

        ``of_feature`` has the measures of each fold's queries with and
        without the feature, and ``ablations`` those of all features so
        far.
        """
        from rankstudio.plugins.queries.feature_ablation import (  # noqa: PLC0415 - numba
            feature_ablation,
            n_unchanged,
        )

        return feature_ablation(of_feature, measure), n_unchanged(ablations)


def _training_data(fold: Fold) -> TrainingData:
    """Return the training part of a fold, prepared for training."""
    from rankstudio.engine.experiment.units.fold_context import group_training  # noqa: PLC0415 - numba

    return group_training(fold)


def _model_scores(step: Step, fold: Fold, part: str) -> Floats:
    """Return the scores of a model on a part."""
    from rankstudio.plugins.queries.query_comparison import model_scores  # noqa: PLC0415 - numba

    return model_scores(step, fold.parts[part])
