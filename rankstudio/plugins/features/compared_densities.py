"""The densities of a feature by which a method scored it, as selection by expected divergence does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.errors import PlanError
from rankstudio.engine.experiment.plan.plan import Plan, estimator
from rankstudio.engine.experiment.results.results import PathResult
from rankstudio.engine.language import tr
from rankstudio.engine.methods.capabilities import GradeDensities
from rankstudio.plugins.features.feature_profile import (
    ClassDensity,
    class_names,
    has_many_zeros,
)

MOST_POINTS = 512
"""Maximum number of values at which densities are kept; a plot has no more pixels."""


@dataclass(frozen=True, eq=False)
class ComparedDensities:
    """Densities by which a method scored one feature.

    Attributes
    ----------
    column : int
        Column of the feature, counted from 0.
    grid : ndarray of shape (g,)
        Values of the validation part, ascending, at most 512; without 0
        if zeros are separate. The grid is empty if there are fewer than
        two such values.
    classes : tuple of ClassDensity
        Densities of the method at the grid, by ascending relevance.
        ``zeros`` is the share of a class's density on documents with
        value 0.
    divergence : float
        Expected divergence, d.
    importance : float
        NDCG@10 of the feature alone, s.
    score : float
        ψ = s + d, the score for selection.
    rank : int
        Position in the order of selection, from 1; 0 for features that
        were not selected.
    """

    column: int
    grid: Floats
    classes: tuple[ClassDensity, ...]
    divergence: float
    importance: float
    score: float
    rank: int


def compared_densities(
    plan: Plan, path: PathResult, train: QueryData, ids: Ints, columns: Sequence[int]
) -> tuple[ComparedDensities, ...]:
    """Estimate the densities of some features again, as the method of a path did.

    Parameters
    ----------
    plan : Plan
        Plan of a method that compares densities (``plan.entry.compares_densities``).
    path : PathResult
        Path with the parameters and scores.
    train : QueryData
        Training part of the fold, with the features of the validation part.
    ids : ndarray of shape (n,)
        Ids of the features.
    columns : sequence of int
        0-based columns of the features.

    Returns
    -------
    tuple of ComparedDensities
        One for each of these columns.

    Raises
    ------
    PlanError
        If the method compares no densities.

    Notes
    -----
    The cost equals scoring these features once.
    """
    method = estimator(plan, plan.entry, path.unit.parameters, ids)
    scores = path.steps[0].candidates
    order = path.steps[-1].selected
    densities = []
    for column in columns:
        compared = method.densities_of(train, column)
        if compared is None:
            raise PlanError(
                tr("{method} compares no densities.").format(method=plan.entry.label)
            )
        grid, classes = _grid_and_densities(compared, train.y)
        score = float(scores[column]) if scores.size else float("nan")
        rank = order.index(column) + 1 if column in order else 0

        # The method's score of a feature is its importance plus the divergence.
        importance = score - compared.divergence
        densities.append(
            ComparedDensities(
                column, grid, classes, compared.divergence, importance, score, rank
            )
        )
    return tuple(densities)


def neighbour_on_path(path: PathResult, column: int) -> int | None:
    """Return the column of the feature with which the feature in ``column`` is compared by default.

    This is the feature of ``path`` that is selected next. For the last
    feature, it is the feature selected before it. For a feature that
    was not selected, it is the last selected one. The result is None
    without another feature.
    """
    order = path.steps[-1].selected
    if column not in order:
        return order[-1] if order else None
    index = order.index(column)
    if index + 1 < len(order):
        return order[index + 1]
    return order[index - 1] if index else None


def _grid_and_densities(
    compared: GradeDensities, y: Floats
) -> tuple[Floats, tuple[ClassDensity, ...]]:
    """Return a grid of at most 512 compared values, and the densities of the relevance classes on the grid.

    Zeros are separate if there are many: then they are not on the grid,
    and each class has their share of its density. Both results are
    empty for fewer than two values. ``y`` has the label of each
    document.
    """
    # `places` are the P different values, ascending, and `counts` the
    # numbers of documents with each. Here, each value is there as often
    # as documents have it.
    values = np.repeat(compared.places, compared.counts.astype(np.int64))
    has_zeros = has_many_zeros(values)
    is_zero = (
        compared.places == 0.0
        if has_zeros
        else np.zeros(compared.places.size, dtype=bool)
    )
    indices = np.flatnonzero(~is_zero)
    if indices.size < 2:
        return np.zeros(0), ()
    grid = compared.places[indices]

    # Of many values, the ones next to 512 evenly spaced points are enough for a plot.
    if indices.size > MOST_POINTS:
        even_points = np.linspace(grid[0], grid[-1], MOST_POINTS)
        next_to_points = np.unique(
            np.clip(np.searchsorted(grid, even_points), 0, grid.size - 1)
        )
        indices = indices[next_to_points]
        grid = grid[next_to_points]

    # Density of each class on the documents with a value, shape (R, P) for R classes.
    mass = compared.densities * compared.counts
    classes = []
    for r, (label, grade) in enumerate(
        zip(class_names(compared.grades), compared.grades, strict=True)
    ):
        total = float(mass[r].sum())
        zeros = (
            float(mass[r][is_zero].sum()) / total
            if is_zero.any() and total > 0
            else float("nan")
        )

        # `known` says whether the class has a density.
        name = (
            label
            if compared.known[r]
            else tr("{label} (no density: one value)").format(label=tr(label))
        )
        density = ClassDensity(
            label=name,
            density=compared.densities[r][indices],
            n_documents=int(np.count_nonzero(y == grade)),
            zeros=zeros,
        )
        classes.append(density)
    return grid, tuple(classes)
