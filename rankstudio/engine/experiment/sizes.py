"""How many features are worth it: the measure of every size of model, and the models that no other beats."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.experiment.results import FoldResult, RunResult
from rankstudio.engine.metrics.names import measure
from rankstudio.engine.statistics.front import one_standard_error, pareto_front

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SizeCurve:
    """What models of every size are worth, over the folds.

    Attributes
    ----------
    sizes : ndarray of shape (K,)
        Numbers of features, ascending: those that there are in every fold.
    means, errors : ndarray of shape (K,)
        Of the measure on the validation part: the mean over the folds, and its standard error, NaN with
        one fold. In each fold it is the best that any setting reaches with a model of this size.
    """

    sizes: NDArray[np.int64]
    means: Floats
    errors: Floats


@dataclass(frozen=True)
class Sized:
    """One model of the front.

    Attributes
    ----------
    run : int
        The place of its run.
    size : int
        Its number of features.
    mean, error : float
        As in :class:`SizeCurve`.
    chosen : bool
        Whether it is the smallest one within a standard error of the best.
    """

    run: int
    size: int
    mean: float
    error: float
    chosen: bool


def size_curve(result: RunResult, name: str) -> SizeCurve | None:
    """Return what each number of features is worth on the validation parts.

    Parameters
    ----------
    result : RunResult
    name : str
        A measure of the plan's.

    Returns
    -------
    SizeCurve or None
        None where no fold has a validation part, or where no size occurs in all of them.
    """
    better: Callable[[float, float], float] = max if measure(name).higher_is_better else min
    folds = [_best_by_size(fold, name, better) for fold in result.folds]
    common = sorted(set.intersection(*(set(fold) for fold in folds))) if folds else []
    if not common:
        return None
    values = np.array([[fold[size] for size in common] for fold in folds])
    spread = values.std(axis=0, ddof=1) if len(folds) > 1 else np.full(len(common), np.nan)
    return SizeCurve(np.array(common), values.mean(axis=0), spread / np.sqrt(len(folds)))


def _best_by_size(fold: FoldResult, name: str, better: Callable[[float, float], float]) -> dict[int, float]:
    """Return the best value of each size of model, over the settings."""
    found: dict[int, float] = {}
    for path in fold.paths if fold.validation else ():
        values = path.validation[name]
        for size, value in zip(path.sizes[path.models].tolist(), values[path.models].tolist(), strict=True):
            if value == value:  # noqa: PLR0124 - not NaN
                found[size] = better(found.get(size, value), value)
    return found


def size_front(runs: Sequence[RunResult], name: str) -> tuple[Sized, ...]:
    """Return the models, of any run and size, than which no other is both smaller and better.

    Parameters
    ----------
    runs : sequence of RunResult
    name : str
        A measure that all of them have.

    Returns
    -------
    tuple of Sized
        By ascending size. Empty where no run has a validation part.
    """
    models = [
        Sized(run, int(size), float(mean), float(error), False)
        for run, result in enumerate(runs)
        if (curve := size_curve(result, name)) is not None
        for size, mean, error in zip(curve.sizes, curve.means, curve.errors, strict=True)
    ]
    if not models:
        return ()
    sizes, means = [model.size for model in models], [model.mean for model in models]
    higher = measure(name).higher_is_better
    chosen = one_standard_error(means, [model.error for model in models], sizes, higher)
    front = pareto_front(sizes, means, higher).tolist()
    return tuple(replace(models[place], chosen=place == chosen) for place in front)
