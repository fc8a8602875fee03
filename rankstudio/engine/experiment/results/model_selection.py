"""Choice among the models of a fold's paths: the plan's measure, its rule, and ties."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.errors import PlanError
from rankstudio.engine.experiment.plan.plan import CRITERION, Plan
from rankstudio.engine.experiment.plan.protocol import SMALLEST, parse_rule
from rankstudio.engine.experiment.results.results import Chosen, PathResult
from rankstudio.engine.language import tr
from rankstudio.engine.metrics.names import measure
from rankstudio.engine.statistics.mean_intervals import LEAST_PAIRS, mean_p_values
from rankstudio.engine.steps import Step
from rankstudio.engine.support.frozen_mapping import FrozenMapping

SIGNIFICANCE = 0.05
"""Level of the test of the rule "smallest".

A model with a smaller p is significantly worse.
"""


def select_model(
    plan: Plan,
    paths: Sequence[PathResult],
    standard_error: Callable[[Step], float] | None = None,
) -> Chosen:
    """Return the model of a fold that the plan's rule and measure select.

    Ties go to the earlier combination, then to the earlier step: to the
    smaller λ, then to fewer features. For an optimiser only the last
    iteration is a model.

    Parameters
    ----------
    plan : Plan
        Plan whose `select_by` and `rule` are used.
    paths : sequence of PathResult
        One path per combination of parameters' values, in order; at
        least one. A path has the models of its steps.
    standard_error : callable, optional
        Returns the standard error of a step's measure over the
        validation queries, for paths without standard errors of their
        own. Without standard errors, or with the criterion, "one-se"
        equals "best"; so does "smallest" if the path has no p values of
        the measure.

    Raises
    ------
    PlanError
        If the rule is "at most K" and all models have more than K features.

    Notes
    -----
    The rule of one standard error is that of Breiman, Friedman, Olshen
    and Stone, Classification and Regression Trees (1984), section
    3.4.3: the best value is uncertain, so a smaller model that is not
    clearly worse is preferred. Their standard error is over the folds
    of a cross-validation, as here with inner folds
    (`PathResult.standard_errors`); with a validation part, it is over
    its queries.

    "smallest" compares the models query by query, see :func:`p_values`:
    a query that is hard for all models increases the standard error,
    but not the difference.

    Both rules search only the path of the best model, because
    combinations differ in more than size.
    """
    if plan.entry.learns_nothing:
        # the only model, with or without a validation part
        return Chosen(paths[0].unit, paths[0].steps[0])

    # The best model of each path, and the best of these.
    rule = parse_rule(plan.rule)
    best: tuple[float, PathResult, int] | None = None
    for path in paths:
        position = best_position(plan, path, rule.most)
        if position is not None:
            gain = float(_gains(plan, path)[position])
            # of equal gains, the earlier combination
            if best is None or gain > best[0]:
                best = gain, path, position
    if best is None:
        # The rule "at most K features" allows no model of any path.
        least = min(int(path.sizes[path.models].min()) for path in paths)
        text = tr("rule: no model has {rule}; the smallest one has {least} features.")
        raise PlanError(text.format(rule=rule, least=least))

    # The other rules choose a smaller model on the path of the best model.
    gain, path, position = best
    chosen = Chosen(path.unit, path.steps[position])
    if not rule.needs_queries or plan.select_by == CRITERION or not np.isfinite(gain):
        return chosen
    if rule.kind == SMALLEST:
        smallest = smallest_position(plan, path)
        return chosen if smallest is None else Chosen(path.unit, path.steps[smallest])

    # Without a standard error the best model is chosen.
    if plan.select_by in path.standard_errors:
        error = float(path.standard_errors[plan.select_by][position])
    elif standard_error is not None:
        error = standard_error(chosen.step)
    else:
        return chosen
    is_good_enough = _gains(plan, path) >= gain - error
    return Chosen(
        path.unit, path.steps[_smallest_good_enough(plan, path, is_good_enough)]
    )


def selectable_positions(path: PathResult, max_features: int | None = None) -> Ints:
    """Return the positions of the steps of a path that may be selected, ascending.

    A path is the sequence of models of one combination of parameters'
    values. Steps with models of at most ``max_features`` features may
    be selected, by default of any number. Of an optimiser, only the
    last step is a model.
    """
    # `models` is the slice of the steps that are models.
    positions = np.arange(len(path.steps))[path.models]
    return (
        positions
        if max_features is None
        else positions[path.sizes[positions] <= max_features]
    )


def best_position(
    plan: Plan, path: PathResult, max_features: int | None = None
) -> int | None:
    """Return the position of a path's best model by the plan's selection criterion.

    A path is the sequence of models of one combination of parameters' values.

    Only models of up to `max_features` features count, by default all.
    The result is None if there is no such model, and the position of
    the first model if the criterion is undefined for all.
    """
    models = selectable_positions(path, max_features)
    return int(models[_gains(plan, path)[models].argmax()]) if models.size else None


def smallest_position(plan: Plan, path: PathResult) -> int | None:
    """Return the position of a path's smallest model that is not worse than the best one.

    Not worse means: not significantly worse, by the path's p values of
    each model against the best one. The result is None if the path has
    no p values of the measure that selects, or no model has a value of
    it.
    """
    # Shape (K,) for K steps.
    model_p_values = path.p_values.get(plan.select_by)
    best = None if model_p_values is None else best_position(plan, path)
    if model_p_values is None or best is None:
        return None
    gains = _gains(plan, path)
    # No model has a defined value.
    if not np.isfinite(gains[best]):
        return None
    return _smallest_good_enough(
        plan, path, (gains >= gains[best]) | (model_p_values >= SIGNIFICANCE)
    )


def p_values(
    plan: Plan, path: PathResult, queries: Sequence[Floats]
) -> Mapping[str, Floats]:
    """Test each model of a path against its best one, by the measure that selects.

    The test compares the values of both models in each query.

    Parameters
    ----------
    plan : Plan
        Plan whose `select_by` is a measure of the path's `validation`.
    path : PathResult
        Path of K steps.
    queries : sequence of ndarray of shape (K, Q)
        Measure in each query: one array for a validation part, several
        for inner folds; none if unknown.

    Returns
    -------
    Mapping of str to ndarray of shape (K,)
        For `PathResult.p_values`: p of each model by measure; 1 for the
        best one. Empty with fewer than `LEAST_PAIRS` queries.

    Notes
    -----
    The test is Student's paired t over the queries, two-sided. The page
    of the Pareto front uses the same test, so both show the same
    result. It needs no random numbers, takes O(KQ) for all models
    together, and agrees closely with Fisher's randomisation test on
    such data (Smucker, Allan & Carterette
    2007). p is not corrected for the number of models: the best of many is
    overestimated, so the test of its lead is already strict, and a
    correction would only select smaller models.
    """
    best = best_position(plan, path) if queries else None
    if (
        best is None
        or sum(np.count_nonzero(~np.isnan(rows[best])) for rows in queries)
        < LEAST_PAIRS
    ):
        return FrozenMapping({})  # too few queries for a test
    return FrozenMapping(
        {plan.select_by: mean_p_values([rows - rows[best] for rows in queries])}
    )


def _smallest_good_enough(plan: Plan, path: PathResult, enough: Bools) -> int:
    """Return the position of the smallest of a path's models that are good enough.

    `enough`, shape (K,), says which of the K models are good enough. Of
    several models of this size, the best one counts, and of equally
    good ones the first.
    """
    gains = _gains(plan, path)
    good_positions = (
        int(position) for position in selectable_positions(path) if enough[position]
    )
    return min(good_positions, key=lambda i: (path.sizes[i], -gains[i], i))


def _gains(plan: Plan, path: PathResult) -> Floats:
    """Return the value by which a plan selects a model, for each of a path's K steps, (K,).

    The value is the validation measure or the method's own criterion
    that the plan selects by, with the sign by which larger is better:
    measures of errors and the criterion change their sign. An undefined
    value is -inf.
    """
    if plan.select_by == CRITERION:
        values = -path.criterion
    else:
        values = path.validation[plan.select_by]
        values = values if measure(plan.chosen_by).higher_is_better else -values
    return np.where(np.isnan(values), -np.inf, values)
