"""Which model of a fold's paths is chosen: the plan's measure, its rule, and ties."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.errors import PlanError
from rankstudio.engine.experiment.plan.plan import CRITERION, Plan
from rankstudio.engine.experiment.plan.protocol import ONE_SE, parse_rule
from rankstudio.engine.experiment.results.results import Chosen, PathResult
from rankstudio.engine.language import tr
from rankstudio.engine.metrics.names import measure
from rankstudio.engine.steps import Step


def select_model(
    plan: Plan, paths: Sequence[PathResult], standard_error: Callable[[Step], float] | None = None
) -> Chosen:
    """Return the model that the plan's rule chooses by its measure.

    Ties go to the earlier combination, then to the earlier step: to the smaller λ, then the fewer features.
    Of an optimiser's iterations only the last one is a model.

    Parameters
    ----------
    plan : Plan
        Its `select_by` and `rule` count here.
    paths : sequence of PathResult
        One a combination, in the order of the combinations; at least one.
    standard_error : callable, optional
        Returns that of the measure of a step's model, over the queries of the validation part, for paths
        without standard errors of their own. Without either, and where the criterion chooses, "one-se" is
        "best".

    Raises
    ------
    PlanError
        Where the rule is "at most K" and all models have more than K features.

    Notes
    -----
    The rule of one standard error is that of Breiman, Friedman, Olshen and Stone, Classification and
    Regression Trees (1984), section 3.4.3: the best value is uncertain, and what is not clearly worse and
    smaller is preferred. Theirs is over the folds of a cross-validation, and so it is here where inner folds
    validate (`PathResult.standard_errors`); where one part does, it is over its queries. Only the path of
    the best model is searched, as combinations differ in more than size.
    """
    if plan.entry.given:
        return Chosen(paths[0].unit, paths[0].steps[0])  # the one there is, validated or not
    rule = parse_rule(plan.rule)
    best: tuple[float, PathResult, int] | None = None
    for path in paths:
        position = best_position(plan, path)
        if position is not None:
            gain = float(_gains(plan, path)[position])
            if best is None or gain > best[0]:
                best = gain, path, position
    if best is None:
        least = min(int(path.sizes[path.models].min()) for path in paths)
        raise PlanError(
            tr("rule: no model has {rule}; the smallest one has {least} features.").format(
                rule=rule, least=least
            )
        )
    gain, path, position = best
    chosen = Chosen(path.unit, path.steps[position])
    if rule.kind != ONE_SE or plan.select_by == CRITERION or not np.isfinite(gain):
        return chosen
    if plan.select_by in path.standard_errors:
        return _smallest(plan, path, gain - float(path.standard_errors[plan.select_by][position]))
    return chosen if standard_error is None else _smallest(plan, path, gain - standard_error(chosen.step))


def best_position(plan: Plan, path: PathResult) -> int | None:
    """Return the position of a path's best model by what chooses, of as many features as the rule allows.

    None where there is no such model. Where none is defined it is the first one.
    """
    models = _models(path, parse_rule(plan.rule).most)
    return int(models[_gains(plan, path)[models].argmax()]) if models.size else None


def _smallest(plan: Plan, path: PathResult, enough: float) -> Chosen:
    """Return the smallest of the models that gain enough; of equal sizes the best, then the earliest."""
    gains = _gains(plan, path)
    near = (int(position) for position in _models(path) if gains[position] >= enough)
    position = min(near, key=lambda i: (path.sizes[i], -gains[i], i))
    return Chosen(path.unit, path.steps[position])


def _models(path: PathResult, most: int | None = None) -> Ints:
    """Return the positions of the steps to choose from: models, of at most so many features."""
    positions = np.arange(len(path.steps))[path.models]
    return positions if most is None else positions[path.sizes[positions] <= most]


def _gains(plan: Plan, path: PathResult) -> Floats:
    """Return what chooses after each step, more being better; -inf where it is not defined."""
    if plan.select_by == CRITERION:
        values = -path.criterion
    else:
        values = path.validation[plan.select_by]
        values = values if measure(plan.chosen_by).higher_is_better else -values
    return np.where(np.isnan(values), -np.inf, values)
