"""The selection of a plan or run for which evidence is gathered, and its data."""

from __future__ import annotations

from collections.abc import Container, Generator, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any

from rankstudio.engine.arrays import Ints
from rankstudio.engine.data.dataset import FoldedDataset, RankingDataset
from rankstudio.engine.errors import PlanError
from rankstudio.engine.experiment.plan.plan import Plan, estimator
from rankstudio.engine.experiment.plan.preference_source import preferences_of
from rankstudio.engine.experiment.results.results import FoldResult
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.experiment.units.fold_context import group_training
from rankstudio.engine.experiment.units.preferred import with_preferences
from rankstudio.engine.experiment.units.single_path import SinglePath, single_plan
from rankstudio.engine.language import tr
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.catalog import Method
from rankstudio.engine.methods.selection.base import GrowingSelector, Selector
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.support.work import WorkProgress
from rankstudio.plugins.evidence.decided_step import MOST_REFITS
from rankstudio.plugins.evidence.evidence_result import SelectionEvidence
from rankstudio.plugins.evidence.refitted_stability import (
    refitting_seconds,
    refitting_steps,
)
from rankstudio.plugins.evidence.selection_evidence import (
    EvidenceOptions,
    Gathering,
    evidence_steps,
)
from rankstudio.plugins.evidence.stability_selection import StabilitySelection


@dataclass(frozen=True, eq=False)
class JudgedSelection:
    """A selection with the data for its evidence.

    Attributes
    ----------
    plan : Plan
        Plan with one value of each parameter.
    fold : int
        Number of the fold of the training part.
    method : LinearRanker
        Method that selects the features.
    train : RankingDataset
        Training part of the fold.
    data : TrainingData
        Documents of the training part, as the method learns from them.
    options : EvidenceOptions
        Options with the set of the run's model, and with RankRLS as
        judge if it ranks with the features.
    """

    plan: Plan
    fold: int
    method: LinearRanker
    train: RankingDataset
    data: TrainingData
    options: EvidenceOptions

    @classmethod
    def of_plan(
        cls,
        plan: Plan,
        dataset: FoldedDataset,
        set_names: Container[str],
        options: EvidenceOptions,
    ) -> JudgedSelection:
        """Return the selection of a plan's method on the first fold of the data, ready for its evidence.

        Parameters
        ----------
        plan : Plan
        dataset : FoldedDataset
        set_names : container of str
            Names of the parameters whose values in the plan the user
            set; the others have the method's default instead of a grid.
        options : EvidenceOptions
            Options of the evidence; the judge and the number of
            trainings are added.

        Raises
        ------
        PlanError
            If the method selects no features, or a parameter has
            several values.
        DataError
            If the preferences do not fit the data.
        """
        _check_selects(plan)

        # The method is learned once, on one fold: a single combination
        # of parameters is left.
        path = SinglePath.of(plan, dataset, set_names)
        combination = path.plan.combinations[0]

        # The judge is the ranker whose exact left-out error compares
        # sets of features.
        judge = _exact_ranker(
            path.plan, combination.parameters, combination.ranker, dataset.feature_ids
        )
        train = next(fold for fold in dataset.folds if fold.number == path.fold).train
        options = replace(options, judge=judge, n_refits=refits_of(plan.entry))
        return cls(path.plan, path.fold, path.method, train, path.data, options)

    @classmethod
    def of_run(
        cls,
        plan: Plan,
        dataset: FoldedDataset,
        result: FoldResult,
        options: EvidenceOptions,
    ) -> JudgedSelection:
        """Return the selection of a run on a fold: the features of the run's model.

        If the options have a number of features, the selection has this
        number of the first features in the method's order instead.

        Parameters
        ----------
        plan : Plan
            Plan of the run.
        dataset : FoldedDataset
            Data of the run, divided as in the plan.
        result : FoldResult
            Result of the run on the fold.
        options : EvidenceOptions
            Options of the evidence; the judge and the number of
            trainings are added.

        Raises
        ------
        PlanError
            If the method selects no features.
        """
        _check_selects(plan)
        fold = next(fold for fold in dataset.folds if fold.number == result.fold)
        unit = result.chosen.unit
        selected = result.chosen.step.selected
        ids = dataset.feature_ids
        method = estimator(plan, plan.entry, unit.parameters, ids)
        judge = _exact_ranker(plan, unit.parameters, unit.combination.ranker, ids)

        # None: the method selects as many features as the options say.
        own_set = selected if options.n_features is None else None
        options = replace(
            options, judge=judge, selected=own_set, n_refits=refits_of(plan.entry)
        )

        # grouped by query, with the plan's preferences between
        # documents, if any
        data = with_preferences(plan, fold, group_training(fold))
        single = single_plan(plan, unit.parameters, fold.number)
        return cls(single, fold.number, method, fold.train, data, options)

    def steps(
        self,
        earlier: SelectionEvidence | None = None,
        study: Study | None = None,
        executor: Executor | None = None,
    ) -> Gathering:
        """Yield the evidence for the selection so far, continuing from an interrupted run.

        Parameters
        ----------
        earlier : SelectionEvidence, optional
            Evidence of the interrupted run; its complete parts are not
            computed again.
        study : Study, optional
            Study that stores each half that is done, for methods that
            are trained again on each half of the queries.
        executor : Executor, optional
            Trains on several halves at once. Without it, the halves are
            learned one after the other and not stored.

        Yields
        ------
        PartialResult
            The evidence so far.
        """

        def refit(
            method: Selector,
        ) -> Generator[WorkProgress, None, StabilitySelection]:
            """Train a method on each half of the queries, and store what each half selects.

            Yield progress, and return how often each feature is
            selected. ``study`` and ``executor`` are those of the
            enclosing
            :meth:`steps`.
            """
            n_halves = self.options.n_halves
            seed = self.options.seed
            return refitting_steps(
                self._plan_of(method), self.train, study, n_halves, seed, executor
            )

        # Halves as units of work on an executor need labels; with
        # preferences they are learned here.
        learns_here = executor is None or bool(preferences_of(self.plan))
        return evidence_steps(
            self.method,
            self.data,
            self.options,
            earlier,
            None if learns_here else refit,
        )

    def refitting_seconds(self, workers: int = 1) -> float:
        """Estimate the seconds of training again, on the halves and for deciding queries.

        ``workers`` is the number of halves that are trained on at the
        same time. The estimate is 0 if paths follow from sums over
        queries, or with preferences.
        """
        if (
            preferences_of(self.plan)
            or self.method.paths_from_sums(self.data) is not None
        ):
            return 0.0

        # the function of the module, for divisions into halves
        seconds = refitting_seconds(
            self.plan, self.train, self.options.n_halves, workers
        )

        # Deciding queries need trainings on all queries, each of which
        # takes as long as two halves (one division).
        return seconds + self.n_refits * refitting_seconds(self.plan, self.train, 1)

    @property
    def n_refits(self) -> int:
        """Maximum number of times that the method is trained again for deciding queries."""
        faster_way = self.method.paths_from_sums(
            self.data
        ) or self.method.compared_by_query(self.data, 1)
        return 0 if faster_way is not None else self.options.n_refits

    def _plan_of(self, method: Selector) -> Plan:
        """Return the plan with the number of features that the method selects."""
        if not isinstance(method, GrowingSelector):
            return self.plan
        size = {"n_features_to_select": method.n_features_to_select}
        return self.plan.changed(parameters={**self.plan.parameters, **size})


def _check_selects(plan: Plan) -> None:
    """Raise a PlanError if the plan's method selects no features.

    Methods that learn nothing, because their ranking or model is given,
    select no features either.
    """
    if plan.entry.learns_nothing or not issubclass(plan.entry.load(), Selector):
        raise PlanError(
            tr(
                "{method} selects no features, so there is no evidence for a selection."
            ).format(method=plan.entry.label)
        )


def refits_of(entry: Method) -> int:
    """Return the maximum number of times that a method is trained again for deciding queries.

    It is 0 for the methods of RankStudio itself, which support faster
    ways or have no deciding queries.
    """
    return MOST_REFITS if entry.origin is not None else 0


def _exact_ranker(
    plan: Plan,
    parameters: Mapping[str, Any],
    ranker: Mapping[str, Any],
    feature_ids: Ints,
) -> LinearRanker | None:
    """Return the ranker of the selected features if it has exact left-out errors, otherwise None.

    It is also None for a method that selects by these errors: the
    evidence then uses the method as judge.
    """
    entry = plan.ranker_entry  # None if the method itself ranks

    # A method whose library is not installed cannot be loaded.
    if entry is None and plan.entry.lacking:
        return None
    judge = estimator(
        plan, entry or plan.entry, parameters if entry is None else ranker, feature_ids
    )
    exchange = judge.exact_exchange()
    return (
        None if exchange is None or (entry is None and exchange.is_criterion) else judge
    )
