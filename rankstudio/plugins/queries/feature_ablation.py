"""Effect of each feature on the queries: a model trained again without one of its features."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.data.dataset import Fold
from rankstudio.engine.experiment.plan.plan import Plan, estimator
from rankstudio.engine.experiment.results.results import Chosen
from rankstudio.engine.methods.catalog import Kind, Method
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.methods.two_stage import combined_steps, two_stage_steps, widened
from rankstudio.engine.metrics.names import measure as find_measure
from rankstudio.engine.statistics.paired import mean_difference, win_tie_loss
from rankstudio.engine.steps import Step
from rankstudio.engine.support.work import WorkProgress
from rankstudio.plugins.queries.query_comparison import model_scores, query_measures


@dataclass(frozen=True)
class FeatureAblation:
    """Effect of training a model without one of its features, over the queries of several folds.

    Attributes
    ----------
    column : int
        0-based column of the feature.
    folds : tuple of int
        Numbers of the folds whose model contains the feature.
    fall : float
        Measure with the feature minus the measure without it, mean over
        the queries of these folds.
    low, high : float
        95 % interval of the fall, by the paired bootstrap over queries.
    n_worse, n_equal, n_better : int
        Number of queries that are worse, equal and better without the feature.
    """

    column: int
    folds: tuple[int, ...]
    fall: float
    low: float
    high: float
    n_worse: int
    n_equal: int
    n_better: int


@dataclass(frozen=True, eq=False)
class AblatedQueries:
    """Measures of one fold's queries with and without a feature.

    Attributes
    ----------
    fold, column : int
        Number of the fold, and column of the feature.
    whole, without : ndarray of shape (Q,)
        Measure of each query with the feature, and without it.
    """

    fold: int
    column: int
    whole: Floats
    without: Floats


def relearned(
    plan: Plan,
    train: TrainingData,
    feature_ids: Ints,
    chosen: Chosen,
    column: int,
    follow: Callable[[object], None] = lambda _: None,
) -> Step:
    """Retrain a selected model without one of its features, with the same method and parameters.

    The retrained model may use only the other features of the model. A
    method that adds features one by one adds all of these features.
    Boosting ends at the round of the model.

    Parameters
    ----------
    plan : Plan
    train : TrainingData
        Training part of the fold. If a method needs all documents at
        once, only the remaining features are loaded into memory.
    feature_ids : ndarray of shape (n,)
        The 1-based id of each column.
    chosen : Chosen
        The model, with the parameters that it was trained with.
    column : int
        0-based column of the feature to leave out, one of ``chosen.step.selected``.
    follow : callable, optional
        Called with every step and progress event; it may raise to end the training.

    Returns
    -------
    Step
        The new model, with weights for all n features.

    Raises
    ------
    OutOfMemoryError
        If the remaining features exceed the memory limit.
    """
    rest = tuple(other for other in chosen.step.selected if other != column)
    columns = tuple(sorted(rest))
    ids = feature_ids[list(columns)]
    entry = plan.ranker_entry  # a second method that ranks with the features, or None
    if not rest:
        return widened(None, 1, (), len(feature_ids))  # scores 0 for all documents
    if entry is not None:
        # The first method makes new features of sums, or only selects features.
        if plan.entry.combines:
            work = _without_summand(plan, train, feature_ids, chosen, column)
        else:
            ranker_parameters = chosen.unit.combination.ranker
            ranker = estimator(plan, entry, ranker_parameters, ids)
            work = two_stage_steps(ranker, train, [rest])  # one set, one model
        for event in work:
            follow(event)
        assert isinstance(event, Step)  # the last event is the only model
        return event

    # Without groups: a group of the plan may lack the feature now, and
    # all remaining features are to be used.
    method = estimator(
        plan.changed(groups={}),
        plan.entry,
        _parameters_for_features(plan.entry, chosen.unit.parameters, ids),
        ids,
    )
    last: Step | None = None
    narrow = train.narrowed(columns)

    for event in method.work(narrow):
        follow(event)
        last = event if isinstance(event, Step) else last

        # More rounds of boosting would give a better model than the one compared with.
        if (
            plan.step_kind is StepKind.ROUNDS
            and last is not None
            and last.number == chosen.step.number
        ):
            break

    # The model of the remaining columns as a model of all columns of the data.
    return widened(last, last.number if last else 1, columns, len(feature_ids))


def _without_summand(
    plan: Plan, train: TrainingData, feature_ids: Ints, chosen: Chosen, column: int
) -> Iterator[Step | WorkProgress]:
    """Train the ranker again with one feature left out of each sum of features.

    The method of such a plan combines features to weighted sums, on
    which a second method, the ranker, is trained. Yield progress, and
    then the model.
    """
    assert plan.ranker_entry is not None
    data = train.for_method(accepts_sparse=False)
    unit = chosen.unit
    selector = estimator(plan, plan.entry, unit.parameters, feature_ids)

    # The search finds the same sums again, as it depends only on the data and the seed.
    for event in selector.work(data):
        if isinstance(event, WorkProgress):
            yield event
        elif event.number == chosen.step.number:
            break

    # weights of the features in each sum, a row per sum
    sums = selector.combinations_[: chosen.step.number].copy()  # type: ignore[attr-defined]
    sums[:, column] = 0.0
    sums = sums[sums.any(axis=1)]  # a sum of this feature alone is gone
    rest = tuple(other for other in chosen.step.selected if other != column)
    ranker = estimator(plan, plan.ranker_entry, unit.combination.ranker, feature_ids)

    # A model could be trained with the first 1, 2, … sums. Only the one
    # with all sums is needed, so that `first` is their number. The sets
    # of features of the models before it are not used.
    yield from combined_steps(ranker, data, [rest] * len(sums), sums, first=len(sums))


def _parameters_for_features(
    entry: Method, parameters: Mapping[str, Any], ids: Ints
) -> dict[str, Any]:
    """Return parameters for data that have only the features with some ids.

    Other features are removed from parameters that list features, and
    the number of features to select is removed: the method is to use
    all of them.
    """
    features = set(ids.tolist())
    changed = dict(parameters)

    for p in entry.parameters:
        if p.kind is Kind.FEATURES:
            changed[p.name] = tuple(
                feature for feature in changed[p.name] if feature in features
            )
        elif p.kind is Kind.COSTS:  # pairs of a feature's id and its cost
            changed[p.name] = tuple(
                pair for pair in changed[p.name] if pair[0] in features
            )

    # the parameter with the number of features to select
    if StepKind.FEATURES.limit in changed:
        changed[StepKind.FEATURES.limit] = None
    return changed


def ablated_queries(
    fold: Fold,
    part: str,
    column: int,
    steps: tuple[Step, Step],
    measure: str,
    convention: str,
) -> AblatedQueries:
    """Measure a model with and without one of its features in every query of a part.

    Parameters
    ----------
    fold : Fold
        Fold on whose training part both models were trained.
    part : str
        "test", "vali" or "train"; the fold must have the part.
    column : int
        0-based column of the feature.
    steps : pair of Step
        The model, and the model that was trained without the feature.
    measure, convention : str
        Name of the measure, and key of the convention that defines it.

    Raises
    ------
    StoreError
        If a study did not store the model.
    """
    data = fold.parts[part]
    scores_with, scores_without = (model_scores(step, data) for step in steps)
    measures_with, measures_without = query_measures(
        data, (scores_with, scores_without), measure, convention
    )
    return AblatedQueries(fold.number, column, measures_with, measures_without)


def n_unchanged(ablations: Sequence[AblatedQueries]) -> int:
    """Return the number of queries whose measure is the same for every left-out feature.

    Each of ``ablations`` has the measures of one fold's queries with a
    feature (``whole``) and without it (``without``).
    """
    # whether each query of a fold is unchanged so far, by the number of the fold
    unchanged: dict[int, Bools] = {}
    for ablated in ablations:
        # Measures are from 0 to 1. Equal measures of two rankings may
        # differ by the rounding of their sums.
        equal = np.isclose(
            ablated.whole,
            ablated.without,
            rtol=0.0,
            atol=1e-12,
            equal_nan=True,
        )
        unchanged[ablated.fold] = (
            unchanged.get(ablated.fold, np.ones(equal.size, dtype=np.bool_)) & equal
        )

    return sum(int(np.count_nonzero(equal)) for equal in unchanged.values())


def feature_ablation(
    ablations: Sequence[AblatedQueries], measure: str
) -> FeatureAblation:
    """Combine the effects of leaving out one feature over several folds.

    Parameters
    ----------
    ablations : sequence of AblatedQueries
        Queries of one feature, one entry per fold; at least one.
    measure : str
        Name of the measure, for which more or less is better.

    Returns
    -------
    FeatureAblation
        Mean fall over the queries of all folds, with its interval and counts.
    """
    with_feature = np.concatenate([ablated.whole for ablated in ablations])
    without = np.concatenate([ablated.without for ablated in ablations])

    # A query that wins with the feature is worse without it.
    counts = win_tie_loss(
        with_feature, without, higher_is_better=find_measure(measure).higher_is_better
    )
    fall, low, high = mean_difference(with_feature, without)
    return FeatureAblation(
        column=ablations[0].column,
        folds=tuple(ablated.fold for ablated in ablations),
        fall=fall,
        low=low,
        high=high,
        n_worse=counts.wins,
        n_equal=counts.ties,
        n_better=counts.losses,
    )
