"""The parameters and the size that a whole protocol chooses.

The plan's rule chooses them by the means over the folds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.experiment.plan.plan import CRITERION, Plan
from rankstudio.engine.experiment.results.model_selection import select_model
from rankstudio.engine.experiment.results.path_steps import PathSteps
from rankstudio.engine.experiment.results.results import FoldResult, PathResult
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.engine.metrics.evaluator import average, standard_error
from rankstudio.engine.steps import Step
from rankstudio.engine.support.frozen_mapping import FrozenMapping

_NO_VALUES = np.empty(0)


@dataclass(frozen=True)
class ProtocolChoice:
    """The parameters' values and the length of a model that all folds choose together.

    Attributes
    ----------
    values : tuple
        Value on each axis of the plan, a parameter with several values.
    length : int or None
        Number of features, or of rounds, of the model; None for an
        optimiser, whose last iteration is the model.
    folds : tuple of int
        Numbers of the folds that have chosen.
    """

    values: tuple[Any, ...]
    length: int | None
    folds: tuple[int, ...]


def choose_by_protocol(plan: Plan, folds: Sequence[FoldResult]) -> ProtocolChoice:
    """Choose the parameters' values and a length of the path by the means over the folds.

    A path is the sequence of models of one combination of parameters'
    values. Its length is a number of features or rounds.

    Parameters
    ----------
    plan : Plan
        Plan whose `select_by` and `rule` are used.
    folds : sequence of FoldResult
        Finished folds, at least one.

    Raises
    ------
    PlanError
        If the rule is "at most K" and all models have more than K features.

    Notes
    -----
    Let v_f(c, k) be the selection measure of fold f for the combination
    c of parameters and the model with k features (after k rounds; for
    an optimiser there is only the last iteration). The plan's rule, see
    :func:`rankstudio.engine.experiment.results.model_selection.select_model`, is applied to

        v(c, k) = (v_1(c, k) + … + v_F(c, k)) / F,

    so that "best" and "at most K" take its largest value (its smallest,
    for errors and the criterion). With several folds, the standard
    error of "one-se" is that over the folds, s / √F, as in Breiman,
    Friedman, Olshen and Stone (1984), and the p value of "smallest" is
    the median of the p values of the folds, in each of which a model is
    tested against the best one of its path. The folds of a protocol may
    share queries; twice the median p value is valid under any
    dependence (Meinshausen, Meier and Bühlmann
    2009), so the level of the rule is at most twice the nominal one.

    Of several models of one size on a path, as with a floating search,
    the last one counts. Where a path has no model of a size, the
    largest model below it counts, as for inner folds; sizes below the
    first model of a fold are left out. With one fold, this is the
    choice of the fold.

    O(FCK) for F folds, C combinations and paths of K steps.
    """
    # Every fold has a path for each combination, in the same order.
    paths = [
        mean_path(paths) for paths in zip(*(fold.paths for fold in folds), strict=True)
    ]
    chosen = select_model(plan, paths)
    # An optimiser has no length: its last iteration is the model.
    length = None
    if plan.step_kind is not StepKind.ITERATIONS:
        path = next(path for path in paths if path.unit == chosen.unit)
        length = int(path.x_values[path.steps.position(chosen.step.number)])
    return ProtocolChoice(
        chosen.unit.values, length, tuple(fold.fold for fold in folds)
    )


def mean_path(paths: Sequence[PathResult]) -> PathResult:
    """Return one path with the means over the folds, from the paths of one combination.

    `paths` has the path of each fold. The steps of the result have
    numbers and mean criteria, and the largest size of the folds, but no
    models. A single path is returned as it is.
    """
    first = paths[0]
    if len(paths) == 1:
        return first

    # Steps of the same length on the paths of all folds.
    lengths = _shared_lengths(paths)
    # For each fold: the positions of the models that count for these lengths.
    positions = [_counting_positions(path, lengths) for path in paths]

    # Means of the criterion and measures over the folds; the size is the largest.
    path_positions = list(zip(paths, positions, strict=True))
    criteria = average(
        np.array([path.criterion[rows] for path, rows in path_positions]).T
    )
    sizes = np.max([path.sizes[rows] for path, rows in path_positions], axis=0)
    measures = _measures_by_fold([path.validation for path in paths], positions)
    p_values = _measures_by_fold([path.p_values for path in paths], positions)
    return PathResult(
        first.unit,
        _MeanSteps(lengths, criteria, sizes),
        FrozenMapping({name: average(values) for name, values in measures.items()}),
        divisor=1.0,  # the criteria are already divided by those of the folds
        step_kind=first.step_kind,
        standard_errors=FrozenMapping(
            {
                name: np.array([standard_error(row) for row in values])
                for name, values in measures.items()
            }
        ),
        p_values=FrozenMapping(
            {name: np.median(values, axis=1) for name, values in p_values.items()}
        ),
    )


def last_within(lengths: Ints, max_length: int) -> int | None:
    """Return the position of the greatest length up to a maximum, None if all exceed it.

    Of equal lengths, the position of the last one is returned.
    """
    positions = np.flatnonzero(lengths <= max_length)
    if not positions.size:
        return None
    is_greatest = lengths[positions] == lengths[positions].max()
    return int(positions[is_greatest][-1])


def _shared_lengths(paths: Sequence[PathResult]) -> Ints:
    """Return the lengths at which every path has a model, ascending.

    A length is a number of features or rounds. Where a path has no step
    of a length, its largest model below it counts. An optimiser has one
    model, with the length 1.
    """
    if paths[0].step_kind is StepKind.ITERATIONS:
        return np.array([1], dtype=np.int64)
    shortest = max(int(path.x_values.min()) for path in paths)
    # Below its first model, a path has none.
    lengths: Ints = np.unique(np.concatenate([path.x_values for path in paths]))
    return lengths[lengths >= shortest]


def _counting_positions(path: PathResult, lengths: Ints) -> list[int]:
    """Return the position on a path of the model that counts for each of some lengths.

    A length is a number of features or rounds. The model that counts is
    the last one of this length, or the largest model below it.

    Of an optimiser, the last model counts, whatever the lengths.
    """
    if path.step_kind is StepKind.ITERATIONS:
        return [len(path.steps) - 1]
    positions = [last_within(path.x_values, length) for length in lengths.tolist()]
    return [position for position in positions if position is not None]


def _measures_by_fold(
    measures: Sequence[Mapping[str, Floats]], rows: Sequence[list[int]]
) -> dict[str, Floats]:
    """Return each measure that all folds have, shape (K, F) for K models in F folds.

    ``measures`` has, for each fold, the measures of all models of its
    path by name, and ``rows`` the positions of the K models on this
    path.
    """
    names = [name for name in measures[0] if all(name in values for values in measures)]
    return {
        name: np.array(
            [values[name][row] for values, row in zip(measures, rows, strict=True)]
        ).T
        for name in names
    }


class _MeanSteps(PathSteps):
    """Steps that have numbers, criteria and sizes only."""

    def __init__(self, numbers: Ints, criteria: Floats, sizes: Ints) -> None:
        """Hold the numbers, criteria and sizes of K steps."""
        self._numbers = numbers
        self._criteria = criteria
        self._sizes = sizes

    def __len__(self) -> int:
        return self._numbers.size

    @cached_property
    def numbers(self) -> Ints:
        return self._numbers

    @cached_property
    def criteria(self) -> Floats:
        return self._criteria

    @cached_property
    def sizes(self) -> Ints:
        return self._sizes

    def _make_step(self, position: int) -> Step:
        """Return a step without a model: a mean over folds has none."""
        number = int(self._numbers[position])
        criterion = float(self._criteria[position])
        return Step(
            number,
            selected=(),
            coef=_NO_VALUES,
            criterion=criterion,
            candidates=_NO_VALUES,
        )


def choice_text(plan: Plan, choice: ProtocolChoice) -> str:
    """Return how values were chosen, in English: "best by mean validation MAP over 5 folds"."""
    has_several_folds = len(choice.folds) > 1
    measure_name = {CRITERION: "training criterion"}.get(plan.select_by, plan.select_by)
    if plan.select_by != CRITERION and not plan.leaves_out:
        measure_name = f"validation {measure_name}"
    folds_text = (
        f"{len(choice.folds)} folds" if has_several_folds else f"fold {choice.folds[0]}"
    )
    if has_several_folds:
        return f"{plan.rule} by mean {measure_name} over {folds_text}"
    return f"{plan.rule} by {measure_name} of {folds_text}"
