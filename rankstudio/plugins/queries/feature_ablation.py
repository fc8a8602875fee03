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
    """Effect of leaving out one feature.

    Attributes
    ----------
    column : int
        0-based column of the feature.
    folds : tuple of int
        Numbers of the folds whose model contains it.
    fall : float
        Measure with the feature minus the measure without it, mean over the queries of these folds.
    low, high : float
        Its 95 % interval, by the paired bootstrap over queries.
    n_worse, n_equal, n_better : int
        Number of queries that are worse, equal and better without it.
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
    whole, without : ndarray of shape (Q,)
        The measure in each query.
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

    It may use only the other features of the model. A path is trained to its end, boosting up to the selected
    round.

    Parameters
    ----------
    plan : Plan
    train : TrainingData
        Training part of the fold. For a method that needs all documents at once, only the remaining features
        are in memory.
    feature_ids : ndarray of shape (n,)
        The 1-based id of each column.
    chosen : Chosen
        The model.
    column : int
        Feature to leave out, one of ``chosen.step.selected``.
    follow : callable, optional
        Receives every step and progress event; it ends the work by raising.

    Returns
    -------
    Step
        Step over all n features.

    Raises
    ------
    OutOfMemoryError
        If these exceed the memory limit.
    """
    rest = tuple(other for other in chosen.step.selected if other != column)
    columns = tuple(sorted(rest))
    ids = feature_ids[list(columns)]
    entry = plan.ranker_entry
    if not rest:
        return widened(None, 1, (), len(feature_ids))
    if entry is not None:
        if plan.entry.combines:
            work = _without_summand(plan, train, feature_ids, chosen, column)
        else:
            ranker = estimator(plan, entry, chosen.unit.combination.ranker, ids)
            work = two_stage_steps(ranker, train, [rest])
        for event in work:
            follow(event)
        assert isinstance(event, Step)  # the last one, of one set
        return event
    # The groups of features are of no account: what is left is the model's whole selection.
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
        if plan.step_kind is StepKind.ROUNDS and last is not None and last.number == chosen.step.number:
            break
    return widened(last, last.number if last else 1, columns, len(feature_ids))


def _without_summand(
    plan: Plan, train: TrainingData, feature_ids: Ints, chosen: Chosen, column: int
) -> Iterator[Step | WorkProgress]:
    """Rank with the new features of a model, of which one feature is left out of its sum."""
    assert plan.ranker_entry is not None
    data = train.for_method(accepts_sparse=False)
    unit = chosen.unit
    selector = estimator(plan, plan.entry, unit.parameters, feature_ids)
    for event in selector.work(data):  # the search depends on its seed alone
        if isinstance(event, WorkProgress):
            yield event
        elif event.number == chosen.step.number:
            break
    sums = selector.combinations_[: chosen.step.number].copy()  # type: ignore[attr-defined]
    sums[:, column] = 0.0
    sums = sums[sums.any(axis=1)]
    rest = tuple(other for other in chosen.step.selected if other != column)
    ranker = estimator(plan, plan.ranker_entry, unit.combination.ranker, feature_ids)
    yield from combined_steps(ranker, data, [rest] * len(sums), sums, first=len(sums))


def _parameters_for_features(entry: Method, parameters: Mapping[str, Any], ids: Ints) -> dict[str, Any]:
    """Return parameters for data that have only some features, all of which are to be used."""
    features = set(ids.tolist())
    changed = dict(parameters)
    for p in entry.parameters:
        if p.kind is Kind.FEATURES:
            changed[p.name] = tuple(feature for feature in changed[p.name] if feature in features)
        elif p.kind is Kind.COSTS:
            changed[p.name] = tuple(pair for pair in changed[p.name] if pair[0] in features)
    if StepKind.FEATURES.limit in changed:
        changed[StepKind.FEATURES.limit] = None
    return changed


def ablated_queries(
    fold: Fold, part: str, column: int, steps: tuple[Step, Step], measure: str, convention: str
) -> AblatedQueries:
    """Measure a model with and without one of its features in every query of a part.

    Parameters
    ----------
    fold : Fold
    part : str
        "test", "vali" or "train"; the fold must have the part.
    column : int
        The feature.
    steps : pair of Step
        The model, and the result of :func:`relearned`.
    measure, convention : str

    Raises
    ------
    StoreError
        If a study did not store the model.
    """
    data = fold.parts[part]
    with_feature, without = (model_scores(step, data) for step in steps)
    return AblatedQueries(
        fold.number, column, *query_measures(data, (with_feature, without), measure, convention)
    )


def n_unchanged(ablations: Sequence[AblatedQueries]) -> int:
    """Return the number of queries whose measure is the same for every left-out feature."""
    unchanged: dict[int, Bools] = {}
    for ablated in ablations:
        # Measures are from 0 to 1; two rankings of the same value may have added it up in another order.
        equal = np.isclose(ablated.whole, ablated.without, rtol=0.0, atol=1e-12, equal_nan=True)
        unchanged[ablated.fold] = unchanged.get(ablated.fold, np.ones(equal.size, dtype=np.bool_)) & equal
    return sum(int(np.count_nonzero(equal)) for equal in unchanged.values())


def feature_ablation(ablations: Sequence[AblatedQueries], measure: str) -> FeatureAblation:
    """Combine the effects of leaving out one feature over several folds.

    Parameters
    ----------
    ablations : sequence of AblatedQueries
        Queries of one feature, one entry per fold; at least one.
    measure : str
    """
    with_feature = np.concatenate([ablated.whole for ablated in ablations])
    without = np.concatenate([ablated.without for ablated in ablations])
    counts = win_tie_loss(with_feature, without, higher_is_better=find_measure(measure).higher_is_better)
    folds = tuple(ablated.fold for ablated in ablations)
    difference = mean_difference(with_feature, without)
    return FeatureAblation(ablations[0].column, folds, *difference, counts.wins, counts.ties, counts.losses)
