"""About how few queries decide the steps of a filter, by the margins of its scores in each query."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from rankstudio.engine.analysis.evidence.deciding_queries import DecidedStep
from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arrays import Floats
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.selection.base import Selector
from rankstudio.engine.methods.selection.expected_divergence import ExpectedDivergence
from rankstudio.engine.methods.selection.gas import GAS, MEASURES
from rankstudio.engine.methods.selection.single_feature import SingleFeatureRanking, measuring_features
from rankstudio.engine.methods.shards.training_data import GivenData, training_data
from rankstudio.engine.metrics.evaluator import Evaluator
from rankstudio.engine.metrics.names import measure as find_measure
from rankstudio.engine.steps import Step
from rankstudio.engine.support.work import WorkProgress, finish

_WHAT = "comparing queries by margins"
_RIVALS = 3  # features whose queries are tried: the runner-up is not always the first to win
_TIE = 1e-12  # of a score


def has_margins(estimator: LinearRanker) -> bool:
    """Return whether the scores by which a method selects are means over queries, but for a constant."""
    if isinstance(estimator, SingleFeatureRanking | ExpectedDivergence) and len(estimator.groups) > 0:
        return False
    return isinstance(estimator, GAS | SingleFeatureRanking | ExpectedDivergence)


def margin_steps(
    estimator: Selector, data: GivenData
) -> Generator[WorkProgress, None, tuple[DecidedStep, ...]]:
    """Find for each step of a filter about how few queries have to go for it to select another feature.

    Parameters
    ----------
    estimator : GAS, SingleFeatureRanking or ExpectedDivergence
        Not fitted here.
    data : QueryData or TrainingData

    Returns
    -------
    tuple of DecidedStep
        One a step. Nothing is learned again without the queries.

    Notes
    -----
    A filter compares features by the mean over queries of a measure of each feature alone, and by what is no
    such mean: GAS by similarities to the features before, FS-ED by divergences. The latter is taken to stay
    as it is without some queries, and so is the better direction of a feature. For rankings by single
    features in one direction nothing else counts, and the numbers are exact for the rival.
    """
    if not has_margins(estimator):
        raise ParameterError("estimator", type(estimator).__name__, "a filter that measures single features")
    rows: QueryData = training_data(data).whole("Deciding queries")
    steps: list[Step] = []
    for told in estimator.work(rows):
        if isinstance(told, Step):
            steps.append(told)
        else:
            yield told
    scores = _scores_by_query(estimator, rows)
    found = []
    for place, step in enumerate(steps):
        yield WorkProgress(_WHAT, place / len(steps))
        found.append(_decided(step.selected[place], step.selected[:place], step.candidates, scores))
    return tuple(found)


def _scores_by_query(estimator: Selector, data: QueryData) -> Floats:
    """Return the measure of each feature alone in each query, the greater the better, shape (n, Q)."""
    both = not isinstance(estimator, ExpectedDivergence)
    match estimator:
        case GAS():
            name = MEASURES[estimator.importance]
        case SingleFeatureRanking():
            name, both = estimator.measure, estimator.direction == "best"
        case _:
            name = "NDCG@10"
    convention = estimator.convention  # type: ignore[attr-defined] # all three have one
    _, directions = finish(measuring_features(training_data(data), name, convention, both))
    evaluator = Evaluator(data.y, data.ptr, convention, [name], grading=data.grading)
    measure = find_measure(name)
    ranked = np.ascontiguousarray((data.X * directions).T)
    values: Floats = evaluator.per_query_many(ranked)[measure.name]
    return values if measure.higher_is_better else 1.0 - values


def _decided(winner: int, before: tuple[int, ...], compared: Floats, scores: Floats) -> DecidedStep:
    """Return the fewest queries without which one of the best rivals is ahead of the winner."""
    best = DecidedStep(winner, (), None)
    rivals = np.flatnonzero(~np.isnan(compared))
    rivals = rivals[~np.isin(rivals, [winner, *before])]
    for rival in rivals[np.argsort(-compared[rivals], kind="stable")][:_RIVALS].tolist():
        lead = scores[winner] - scores[rival]
        there = np.flatnonzero(~np.isnan(lead))
        constant = compared[winner] - compared[rival] - lead[there].mean()
        order = there[np.argsort(-lead[there], kind="stable")]
        removed = np.arange(1, order.size - 1)
        rest = lead[there].sum() - np.cumsum(lead[order])[: removed.size]
        behind = np.flatnonzero(rest / (order.size - removed) + constant < -_TIE)
        if behind.size and (not best.queries or behind[0] + 1 < len(best.queries)):
            best = DecidedStep(winner, tuple(order[: behind[0] + 1].tolist()), rival)
    return best
