"""Computations of the Evidence page on the task worker.

The engine's modules that bring compiled kernels are imported on that thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rankstudio.engine.data.dataset import Fold
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.plugins.evidence.partial_result import PartialResult
from rankstudio.ui.background.tasks import FoldCache

if TYPE_CHECKING:
    from rankstudio.engine.methods.base import LinearRanker
    from rankstudio.engine.methods.rankers.rankrls import RankRLS
    from rankstudio.plugins.evidence.best_subset import (
        BestSubset,
        SizedSubset,
        SubsetSpace,
    )
    from rankstudio.plugins.evidence.evidence_result import SelectionEvidence
    from rankstudio.plugins.evidence.set_changes import SetChanges

# exchanges of a set are not computed if the estimate is longer
_MAX_EXCHANGE_SECONDS = 10.0


@dataclass(frozen=True, eq=False)
class EvidenceWanted:
    """A request for evidence: the selection, and the parts to compute.

    Attributes
    ----------
    plan : Plan
    fold : Fold
    values : tuple
        Values on the plan's axes, which identify the model.
    selected : tuple of int
        0-based columns of the selection, in the order of selection.
    n_steps : int
        Length of the paths, which go beyond the selection.
    parts : tuple of str
        Some of :data:`rankstudio.plugins.evidence.selection_evidence.PARTS`.
    measure, convention : str
        Measure of the loss without a feature, and its convention.
    most_sets : int
        Maximum number of sets of a size that are searched for sets as
        good as the best.
    max_seconds : float
        Time limit of a search for the best set.
    """

    plan: Plan
    fold: Fold
    values: tuple[Any, ...]
    selected: tuple[int, ...]
    n_steps: int
    parts: tuple[str, ...]
    measure: str
    convention: str
    most_sets: int
    max_seconds: float


class EvidenceTasks:
    """Gathers evidence and searches for sets. All calls are made on one worker.

    Parameters
    ----------
    folds : FoldCache
        Prepared folds, shared with the computation of paths.
    """

    def __init__(self, folds: FoldCache) -> None:
        self._folds = folds

    def evidence(
        self, request: EvidenceWanted, earlier: SelectionEvidence | None
    ) -> Iterator[tuple[float, SelectionEvidence]]:
        """Yield the share of the work that is done, and the evidence for the requested selection so far.

        Evidence that is part of ``earlier`` is not computed again.
        """
        from rankstudio.plugins.evidence.judged_selection import refits_of  # noqa: PLC0415 - on the worker only
        from rankstudio.plugins.evidence.selection_evidence import (  # noqa: PLC0415 - on the worker only
            EvidenceOptions,
            evidence_steps,
        )

        plan = request.plan

        # the training part grouped by query, kept for the next call
        data = self._folds.prepared(request.plan, request.fold).train
        method = self._method(request)
        # A RankRLS that compares sets by their errors, or None.
        judge = self._final_rankrls(request)
        options = EvidenceOptions(
            n_steps=request.n_steps,
            selected=request.selected,
            judge=judge,
            measure=request.measure,
            convention=request.convention,
            seed=plan.seed,
            most_sets=request.most_sets,
            max_seconds=request.max_seconds,
            n_refits=refits_of(plan.entry),
            parts=request.parts,
        )

        # Before the first partial result, the evidence is the earlier one.
        for update in evidence_steps(method, data, options, earlier):
            evidence = update.found if isinstance(update, PartialResult) else earlier
            if evidence is not None:
                # The property is cached. Computing it takes a while, so
                # it is computed here.
                _ = evidence.losses and evidence.losses.losses
                yield update.share, evidence

    def set_changes(
        self, request: EvidenceWanted, columns: tuple[int, ...]
    ) -> SetChanges | None:
        """Return the error of a set of columns after each change by one feature.

        It is the exact leave-query-out error of RankRLS, with the λ and
        loss of the RankRLS that learns the model of the selection. The
        result is None if another method learns this model, or if the
        computation would take longer than ``_MAX_EXCHANGE_SECONDS``.
        """
        from rankstudio.engine.methods.selection.greedy_rankrls.swaps import (  # noqa: PLC0415 - on the worker only
            swap_seconds,
        )
        from rankstudio.plugins.evidence.set_changes import changes_of  # noqa: PLC0415 - on the worker only

        # RankRLS, or None if another method learns the final model.
        ranker = self._final_rankrls(request)
        data = self._folds.prepared(request.plan, request.fold).train
        n_queries = data.ptr.size - 1
        n_others = data.X.shape[1] - len(columns)
        # The seconds are estimated.
        if (
            ranker is None
            or swap_seconds(n_queries, len(columns), n_others) > _MAX_EXCHANGE_SECONDS
        ):
            return None
        return changes_of(ranker, data, columns)

    def _final_rankrls(self, request: EvidenceWanted) -> RankRLS | None:
        """Return a RankRLS with the λ and loss of the model of a selection.

        It is not trained; its exact left-out error compares sets of
        features. None if another method than RankRLS learns the model
        from the selected features.
        """
        from rankstudio.engine.experiment.units.left_out_model import regularization_of  # noqa: PLC0415 - on the worker only
        from rankstudio.engine.methods.rankers.rankrls import RankRLS  # noqa: PLC0415 - on the worker only

        plan = request.plan
        combination = request.plan.combination(request.values)
        parameters = combination.ranker if plan.ranker_entry else combination.parameters

        # λ, or None if another method than RankRLS learns the model
        regularization = regularization_of(
            plan, parameters, self._folds.prepared(plan, request.fold).train
        )
        loss = {
            name: parameters[name]
            for name in ("cost", "ties", "weighting")
            if name in parameters
        }
        return None if regularization is None else RankRLS(regularization, **loss)

    def best_with(
        self, request: EvidenceWanted, required: Sequence[int], excluded: Sequence[int]
    ) -> SizedSubset:
        """Return the best set of the selection's size, under conditions.

        The set has all ``required`` and no ``excluded`` columns. The
        result is NO_SUBSET if no set can meet these conditions and
        those of the method.
        """
        from rankstudio.engine.methods.selection.column_groups import ColumnGroups  # noqa: PLC0415 - on the worker only
        from rankstudio.plugins.evidence.best_subset import NO_SUBSET, find_best_subset  # noqa: PLC0415 - on the worker only

        base = self._subset_space(request)

        # Columns of a group are selected together, so conditions are
        # compared by group.
        units_of = ColumnGroups.of(
            request.fold.train.n_features, base.groups
        ).containing
        all_required = tuple(dict.fromkeys((*base.required, *required)))
        all_excluded = (*base.excluded, *excluded)
        has_too_many = len(units_of(all_required)) > base.n_features
        if has_too_many or set(units_of(all_required)) & set(units_of(all_excluded)):
            return NO_SUBSET
        space = replace(base, required=all_required, excluded=all_excluded)
        last = NO_SUBSET

        # The last size is that of the selection, and the last update is final.
        for update in find_best_subset(
            self._folds.prepared(request.plan, request.fold).train, space
        ):
            last = update.found.sizes[-1]

        return last

    def best_sets(self, request: EvidenceWanted, max_size: int) -> Iterator[BestSubset]:
        """Yield the best sets that are known so far, of each size up to ``max_size``."""
        from rankstudio.plugins.evidence.best_subset import find_best_subset  # noqa: PLC0415 - on the worker only

        space = replace(self._subset_space(request), n_features=max_size)
        for update in find_best_subset(
            self._folds.prepared(request.plan, request.fold).train, space
        ):
            yield update.found

    def _subset_space(self, request: EvidenceWanted) -> SubsetSpace:
        """Return the space of sets that the method may select, up to the selection's size.

        A group of columns counts as one feature.
        """
        from rankstudio.engine.methods.selection.column_groups import ColumnGroups  # noqa: PLC0415 - on the worker only
        from rankstudio.plugins.evidence.best_subset import SubsetSpace  # noqa: PLC0415 - on the worker only

        judge = self._method(request).exact_exchange()

        # the window offers best sets only for methods with exact
        # left-out errors
        assert judge is not None
        units = ColumnGroups.of(request.fold.train.n_features, judge.groups)
        return SubsetSpace.of(judge, len(units.containing(request.selected)))

    def _method(self, request: EvidenceWanted) -> LinearRanker:
        """Return the method that made the requested selection.

        If all features of the selection were pinned, as in a run of a
        set made by hand, nothing is pinned in the returned method: the
        set is then judged as if the method had selected it.
        """
        from rankstudio.engine.experiment.plan.plan import estimator  # noqa: PLC0415 - on the worker only

        plan = request.plan
        combination = request.plan.combination(request.values)
        parameters = dict(combination.parameters)
        ids = request.fold.train.feature_ids
        if set(parameters.get("pinned", ())) == {
            int(ids[column]) for column in request.selected
        }:
            parameters["pinned"] = ()
            plan = plan.changed(groups={})  # the set is one group there
        return estimator(plan, plan.entry, parameters, ids)
