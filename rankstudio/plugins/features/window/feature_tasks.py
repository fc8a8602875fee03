"""Computations of the Features page on the task worker, and their cache.

The engine's modules that bring compiled kernels are imported on that thread.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rankstudio.engine.data.dataset import Fold, RankingDataset
from rankstudio.engine.data.feature_groups import feature_groups_of
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.results import PathResult
from rankstudio.engine.metrics.conventions import DEFAULT
from rankstudio.engine.steps import Step
from rankstudio.ui.background.tasks import FoldCache

if TYPE_CHECKING:
    from rankstudio.plugins.features.choice_explanation import (
        ChoiceContext,
        ChoiceExplanation,
    )
    from rankstudio.plugins.features.compared_densities import ComparedDensities
    from rankstudio.plugins.features.feature_profile import FeatureProfile, Inspector
    from rankstudio.plugins.features.substitutes import Substitutes


class FeatureTasks:
    """Computes profiles, explanations and substitutes of features; all calls are made on one worker.

    Parameters
    ----------
    folds : FoldCache
    """

    def __init__(self, folds: FoldCache) -> None:
        self._folds = folds
        self._inspector: Inspector | None = None

    def inspect(
        self,
        fold: Fold,
        column: int,
        convention: str,
        measure: str,
        selected: tuple[int, ...] = (),
        weighed: tuple[Plan, Mapping[str, Any], Step] | None = None,
    ) -> FeatureProfile:
        """Return the profile of a feature on a fold's training part.

        Parameters
        ----------
        fold : Fold
        column : int
            0-based column of the feature.
        convention, measure : str
            Measure of the ranking by the feature alone, and the key of its rules.
        selected : tuple of int
            Columns of a model, with which the feature is correlated.
        weighed : tuple, optional
            Plan, parameters and model of a method that weighs features;
            the profile then has the importance of the feature.
        """
        profile = self._inspector_of(fold, convention, measure).profile(
            column, selected
        )
        if weighed is None:
            return profile
        from rankstudio.engine.analysis.features.feature_penalties import (  # noqa: PLC0415 - on the worker only
            feature_penalties,
        )
        from rankstudio.engine.analysis.features.fsmrank_bounds import bounds_of  # noqa: PLC0415 - on the worker only

        # The method penalises features that are similar to others of
        # the model, so that the profile has the similarities to the
        # other features (`rest`).
        plan, parameters, step = weighed
        data = self._folds.prepared(plan, fold).train
        rest = [other for other in selected if other != column]
        bounds = bounds_of(plan, parameters, step, data, fold.train)
        return profile.penalised(
            feature_penalties(
                plan, parameters, data, fold.train.feature_ids, [column], rest
            ),
            bounds,
        )

    def explain(
        self, context: ChoiceContext, feature: int, fold: Fold | None, convention: str
    ) -> ChoiceExplanation:
        """Explain why the feature in a 0-based column is in a model or is not.

        ``context`` has the path of the model. Correlations are those of
        the fold's training part; without a fold, the explanation has
        none.
        """
        from rankstudio.plugins.features.choice_explanation import explain  # noqa: PLC0415 - on the worker only

        correlations = (
            None if fold is None else self._inspector_of(fold, convention).correlations
        )
        return explain(context, feature, correlations)

    def substitutes(
        self, plan: Plan, fold: Fold, path: PathResult, position: int
    ) -> Substitutes:
        """Find possible substitutes for the features of a model.

        ``position`` is that of the model on ``path``, a path of
        ``plan`` on ``fold``.
        """
        from rankstudio.engine.analysis.features.candidate_map import CandidateGroups  # noqa: PLC0415 - on the worker only
        from rankstudio.plugins.features.substitutes import substitutes  # noqa: PLC0415 - on the worker only

        inspector = self._inspector_of(fold)
        data = self._folds.prepared(plan, fold).whole_train
        train = fold.train

        # the columns that the method selects together
        groups = CandidateGroups.of(
            train.feature_ids, train.feature_names, feature_groups_of(plan)
        ).columns
        return substitutes(
            plan,
            path,
            position,
            data,
            inspector.correlations,
            inspector.clusters,
            groups,
        )

    def densities(
        self, plan: Plan, fold: Fold, path: PathResult, columns: Sequence[int]
    ) -> tuple[ComparedDensities, ...]:
        """Return the densities of features, by which the method scored them.

        ``columns`` are those of the features, and ``path`` is the path
        of the method.
        """
        from rankstudio.plugins.features.compared_densities import compared_densities  # noqa: PLC0415 - on the worker only

        train = self._folds.prepared(plan, fold).whole_train
        return compared_densities(plan, path, train, fold.train.feature_ids, columns)

    def _inspector_of(
        self, fold: Fold, convention: str = "", measure: str = ""
    ) -> Inspector:
        """Return the object that computes profiles of features on a fold, which is kept for the next call.

        A fold's correlations are computed once, whatever the measure. A
        convention is a set of rules of measures; without a convention
        or measure (""), the object may have any.
        """
        from rankstudio.plugins.features.feature_profile import Inspector  # noqa: PLC0415 - on the worker only

        inspector = self._inspector
        if inspector is None or inspector.dataset is not fold.train:
            inspector = Inspector(fold.train, convention or DEFAULT, _other_parts(fold))
        convention = convention or inspector.convention
        measure = measure or inspector.measure
        if (convention, measure) != (inspector.convention, inspector.measure):
            inspector = inspector.measured_by(convention, measure)
        self._inspector = inspector
        return inspector


def _other_parts(fold: Fold) -> dict[str, RankingDataset]:
    """Return the parts of a fold other than the training part, by their names in the window."""
    return {
        "validation" if name == "vali" else name: p
        for name, p in fold.parts.items()
        if name != "train"
    }
