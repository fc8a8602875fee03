"""Curves of runs over size, cost or time.

They have intervals of the paired difference to a reference run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from rankstudio.engine.analysis.comparisons.significance import why_unpaired
from rankstudio.engine.analysis.tried_models.run_costs import RunCosts, costs_of
from rankstudio.engine.analysis.tried_models.tried_models import (
    Part,
    TriedModel,
    best_of_sizes,
    can_measure,
    tried_models,
    values_by_query,
)
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.protocol import parse_protocol
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.language import tr
from rankstudio.engine.metrics.names import measure
from rankstudio.engine.statistics.mean_intervals import mean_intervals

By = Literal["size", "cost", "train", "seconds"]

# x axes on which a run is a single point
_AXES_OF_ONE_MODEL: tuple[By, ...] = ("train", "seconds")


@dataclass(frozen=True, eq=False)
class RunCurve:
    """The models of a run with its best combination of parameters' values, as a curve.

    The best combination has the model with the best mean of the
    validation measure.

    Attributes
    ----------
    values : tuple
        Values of that combination for the parameters with several
        values in the plan.
    lengths : tuple of int
        Number of features or round of each of the K models.
    sizes : ndarray of shape (K,)
        Number of features of each model, mean over the folds; NaN for a
        given ranking without features, which is constant over x.
    x : ndarray of shape (K,)
        x-values of the curve, ascending: size, cost, share of the
        training queries, or time.
    mean : ndarray of shape (K,)
        Mean over the folds of the measure on the validation part, or on
        the test part.
    difference, half : ndarray of shape (K,)
        Mean difference to the reference model with the largest x-value
        up to that of the model, and half the length of its 95 %
        interval, paired over the queries. NaN without a reference
        model.
    unpaired : str
        Reason why there is no reference model; otherwise "".
    model : int or None
        Position of the model whose size is nearest to the mean size of
        the models that the folds selected; None for a given ranking,
        and over time or queries.
    n_folds : int
        Number of folds behind each mean.
    own_half : ndarray of shape (K,) or None
        For the reference run: half the length of the 95 % interval of
        the difference to its own model at ``model``, paired over the
        queries. None for other runs, and without such a model or
        documents.
    """

    values: tuple[Any, ...]
    lengths: tuple[int, ...]
    sizes: Floats
    x: Floats
    mean: Floats
    difference: Floats
    half: Floats
    unpaired: str = ""
    model: int | None = None
    n_folds: int = 0
    own_half: Floats | None = None


def learning_curves(plans: Sequence[Plan]) -> list[list[int]]:
    """Return groups of plans that differ only in their share of the training queries.

    A group has the positions of plans in `plans`, in the order of this
    share. A plan without a partner is a group of its own.
    """
    protocols = [parse_protocol(plan.protocol) for plan in plans]
    # With all training queries, the plans of a group are equal.
    whole_plans = [
        plan.changed(protocol=str(replace(protocol, train=100)))
        for plan, protocol in zip(plans, protocols, strict=True)
    ]
    groups: list[list[int]] = []
    for position, plan in enumerate(whole_plans):
        group = next((group for group in groups if whole_plans[group[0]] == plan), None)
        if group is None:
            groups.append([position])
        else:
            group.append(position)
    return [
        sorted(group, key=lambda position: protocols[position].train)
        for group in groups
    ]


def run_curves(
    runs: Sequence[RunResult],
    name: str,
    reference: int | None,
    data: Sequence[FoldedDataset],
    by: By = "size",
    part: Part = "vali",
) -> tuple[RunCurve | None, ...]:
    """Return the curve of each run, a measure over x, and its difference to the reference.

    The models of a curve are selected by validation, whatever part they
    are measured on.

    Parameters
    ----------
    runs : sequence of RunResult
        Runs on one dataset.
    name : str
        Name of the measure.
    reference : int or None
        Position of the reference run; None for runs that are not compared.
    data : sequence of FoldedDataset
        Data of each run; without documents the curves have no intervals.
    by : {"size", "cost", "train", "seconds"}
        x axis: number of features, their cost (see
        :mod:`rankstudio.engine.analysis.tried_models.run_costs`),
        the percentage of the training queries, or the run time. Over
        the last two, a run has only its best model. Over the training
        queries there are no intervals: the runs of a group of
        `learning_curves` are the points of one learning curve.
    part : {"vali", "test"}
        Part on which the models are measured; for the test part the
        documents are needed.

    Returns
    -------
    tuple of RunCurve or None
        One per run; None for a run without a validation measure, or
        without the documents of the test part.
    """
    # Points of each run's curve.
    costs = costs_of(runs)
    tried = _with_constant_rankings(
        by, [_best_curve(run, name, by, costs) for run in runs]
    )

    # Intervals between points of several runs would hide a learning
    # curve; the tests of the runs show them.
    has_intervals = by != "train"

    # Values of each query, for runs with points whose intervals or test
    # values are needed.
    run_values: list[list[Floats] | None] = []
    for run, points, documents in zip(runs, tried, data, strict=True):
        if points is None or not (has_intervals or part == "test"):
            run_values.append(None)
            continue
        _, models = points
        run_values.append(_query_values(run, documents, models, name, part))
    reference_points = tried[reference] if reference is not None else None
    reference_values = run_values[reference] if reference is not None else None

    # A curve for each run: alone, or with its difference to the reference.
    curves: list[RunCurve | None] = []
    for run, points, values in zip(runs, tried, run_values, strict=True):
        if points is None or (part == "test" and values is None):
            curves.append(None)
            continue
        x, models = points
        mean = _fold_means(values) if part == "test" and values is not None else None
        if reference is None or not has_intervals or run is runs[reference]:
            curve = _run_curve(run, x, models, mean=mean)
            if reference is not None and has_intervals:  # the run is the reference
                curve = replace(curve, own_half=_own_half_widths(curve, values))
            curves.append(curve)
            continue
        reason = why_unpaired(run, runs[reference], name)
        lacks_values = (
            not values or reference_values is None or reference_points is None
        )
        if not reason and lacks_values:
            reason = tr("no validation documents")
        # The conditions are repeated for type checkers.
        if (
            reason
            or values is None
            or reference_values is None
            or reference_points is None
        ):
            curves.append(_run_curve(run, x, models, unpaired=reason, mean=mean))
            continue
        reference_x, _ = reference_points
        positions = _reference_positions(reference_x, x)
        fold_pairs = zip(values, reference_values, strict=True)
        intervals = mean_intervals(
            [
                fold_values - fold_reference[positions]
                for fold_values, fold_reference in fold_pairs
            ]
        )
        curve = _run_curve(
            run, x, models, difference=intervals.mean, half=intervals.half, mean=mean
        )
        curves.append(curve)
    return tuple(curves)


def _own_half_widths(curve: RunCurve, values: Sequence[Floats] | None) -> Floats | None:
    """Return half the interval of each model's difference to the marked model, (K,).

    All are models of one curve, which marks the model of its position
    `model`. `values` has the measure in each query, shape (K, Q), by
    fold. The result is None without values, or without a marked model.
    """
    if values is None or curve.model is None:
        return None
    position = curve.model
    return mean_intervals([fold - fold[position] for fold in values]).half


_Tried = tuple[Floats, list[TriedModel]]
"""Ascending x-values, and the model of a run at each x-value."""


def _best_curve(
    run: RunResult, name: str, by: By, costs: RunCosts | None
) -> _Tried | None:
    """Return the points of a run's curve: x-values, shape (K,), and K models.

    The models are those of the combination of parameters' values that
    has the model with the best mean of the measure `name`, one of each
    size. x is the size or the cost of the models, ascending. If x is
    the share of the training queries or the run time (`by`), a run has
    one point, its best model. The result is None if no mean is defined.
    """
    sign = 1.0 if measure(name).higher_is_better else -1.0
    paths = [path for path in tried_models(run, name) if np.isfinite(path.means).any()]
    if not paths:
        return None
    # The best combination, with its best model of each size.
    models = best_of_sizes(
        [max(paths, key=lambda path: _max_finite(sign * path.means))], name
    )
    # One point: the best model.
    if by in _AXES_OF_ONE_MODEL:
        run_x = (
            float(parse_protocol(run.plan.protocol).train)
            if by == "train"
            else run.seconds
        )
        return np.array([run_x]), [max(models, key=lambda model: sign * model.mean)]
    if by == "size":
        return np.array([model.size for model in models]), models

    # By cost; without costs every feature costs 1.
    x = np.array(
        [costs.of(model, run.feature_ids) if costs else model.size for model in models]
    )
    order = np.argsort(x, kind="stable")
    return x[order], [models[i] for i in order]


def _with_constant_rankings(by: By, tried: list[_Tried | None]) -> list[_Tried | None]:
    """Return the points of curves, with a level line for each ranking that was not learned.

    Such a ranking, for example the user's own, has one model without
    features: the model is repeated at every x-value of the other runs.
    `tried` has the x-values and the models of each run, or None.
    """
    x_of_learned = [
        x for x, models in filter(None, tried) if models[0].steps[0].learned
    ]
    if by in _AXES_OF_ONE_MODEL or not x_of_learned:
        return tried
    all_x = np.unique(np.concatenate(x_of_learned))
    curves: list[_Tried | None] = []
    for points in tried:
        if points is None:
            curves.append(None)
            continue
        x, models = points
        is_learned = models[0].steps[0].learned
        curves.append((x, models) if is_learned else (all_x, models * all_x.size))
    return curves


def _max_finite(values: Floats) -> float:
    """Return the largest finite value."""
    return float(values[np.isfinite(values)].max())


def _reference_positions(reference: Floats, x: Floats) -> Ints:
    """Return for each x-value the position of the reference's last model up to it.

    `reference` has the x-values of the reference run's models,
    ascending. For an x-value before the first model, the position is
    that of the first model.
    """
    return np.maximum(np.searchsorted(reference, x, side="right") - 1, 0)


def _query_values(
    run: RunResult,
    data: FoldedDataset,
    models: Sequence[TriedModel],
    name: str,
    part: Part,
) -> list[Floats] | None:
    """Return a measure of K models of a run in each query, shape (K, Q), by fold.

    `part` is "vali" or "test". The result is None if the measure cannot
    be computed.
    """
    if not can_measure(run, data, name, part):
        return None
    # A model has a step for each fold; this makes a list of K steps per fold.
    return values_by_query(
        run,
        data,
        list(zip(*(model.steps for model in models), strict=True)),
        name,
        part,
    )


def _fold_means(values: Sequence[Floats]) -> Floats:
    """Return the mean of each of K models over the folds, shape (K,).

    `values` has a measure in each query, shape (K, Q), by fold. The
    value of a fold is the mean over its queries.
    """
    from rankstudio.engine.metrics.evaluator import average  # noqa: PLC0415 - numba, which no window waits for

    return average(np.column_stack([average(fold) for fold in values]))


def _run_curve(
    run: RunResult,
    x: Floats,
    models: Sequence[TriedModel],
    unpaired: str = "",
    difference: Floats | None = None,
    half: Floats | None = None,
    mean: Floats | None = None,
) -> RunCurve:
    """Return the curve of K models of a run over x; arrays have the shape (K,).

    `mean` has the means to draw, by default those on the validation
    part. `difference` and `half` have the differences to the models of
    another run, and half their intervals; `unpaired` says why there are
    no differences.
    """
    all_nan = np.full(x.size, np.nan)
    # A ranking that was not learned has no number of features.
    sizes = np.array(
        [model.size if model.steps[0].learned else np.nan for model in models]
    )
    return RunCurve(
        values=run.plan.combinations[models[0].combination].values,
        lengths=tuple(model.x_value for model in models),
        sizes=sizes,
        x=x,
        mean=np.array([model.mean for model in models]) if mean is None else mean,
        difference=all_nan if difference is None else difference,
        half=all_nan if half is None else half,
        unpaired=unpaired,
        model=_selected_position(run, sizes),
        n_folds=len(run.folds),
    )


def _selected_position(run: RunResult, sizes: Floats) -> int | None:
    """Return the position of the size nearest to the mean size of the selected models.

    `sizes` has the sizes of models. The mean is over the models that
    the folds of the run selected.
    """
    if sizes.size < 2 or not run.sizes or np.isnan(sizes).any():
        return None
    return int(np.abs(sizes - np.mean(run.sizes)).argmin())
